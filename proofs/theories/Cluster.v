(** * The checker of clusters

    Everything together: a question about a cluster, as a document without
    defaults, and programs that accept a certificate or do not.  They check all
    they rely on, so that the theorems have no hypotheses: an accepted _never_ is
    one, and an accepted trace is a run, by the rules of either semantics.

    check/mod.rs; docs/spec/certificates.md. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Lists Configuration Problem Closure Guard Folding Rules Compile Kept Never Search Weakening Replay Abstraction Classes AtMostOne.
Import ListNotations.
Open Scope N_scope.

Record question := {
  cluster : model;
  (** What runs at first, and what of it is never deleted; no atom twice. *)
  begins : list (atom * N);
  stays : list (atom * N);
  (** Pod types, each with what it is while it is being deleted. *)
  dying : list (id * id);
  (** Pod types of pods that wait for a node, each with what such a pod is until it is bound. *)
  waits : list (id * atom);
}.

Definition is_atom (a b : atom) : bool := Pos.eqb (fst a) (fst b) && Pos.eqb (snd a) (snd b).

Lemma is_atom_spec a b : is_atom a b = true <-> a = b.
Proof.
  unfold is_atom. rewrite andb_true_iff, !Pos.eqb_eq. destruct a, b. simpl. split; [intros [-> ->]; reflexivity|].
  now intros [= -> ->].
Qed.

Definition has (l : list atom) (a : atom) : bool := existsb (is_atom a) l.

Lemma has_spec l a : has l a = true <-> In a l.
Proof.
  unfold has. rewrite existsb_exists. split.
  - intros [b [b_in e]]. apply is_atom_spec in e. now subst.
  - intros a_in. exists a. split; [assumption|now apply is_atom_spec].
Qed.

Fixpoint no_twice (l : list id) : bool :=
  match l with [] => true | x :: rest => negb (existsb (Pos.eqb x) rest) && no_twice rest end.

Lemma no_twice_spec l : no_twice l = true -> NoDup l.
Proof.
  induction l as [|x rest IH]; simpl; [constructor|]. rewrite andb_true_iff, negb_true_iff. intros [out once].
  constructor; [|auto]. intros x_in. enough (existsb (Pos.eqb x) rest = true) by congruence.
  apply existsb_exists. exists x. split; [assumption|apply Pos.eqb_refl].
Qed.

Definition has_id (l : list id) (x : id) : bool := existsb (Pos.eqb x) l.

Lemma has_id_spec l x : has_id l x = true <-> In x l.
Proof.
  unfold has_id. rewrite existsb_exists. split.
  - intros [y [y_in e]]. apply Pos.eqb_eq in e. now subst.
  - intros x_in. exists x. split; [assumption|apply Pos.eqb_refl].
Qed.

Section Question.
  Variable q : question.
  Notation m := (cluster q).

  Definition shadow_of (p : id) : option id := option_map snd (find (fun '(b, _) => Pos.eqb b p) (dying q)).
  Definition shadowed (d : id) : option id := option_map fst (find (fun '(_, e) => Pos.eqb e d) (dying q)).

  (** What deploying a pod of a type consumes, if those that are deployed have waited. *)
  Definition consumed (p : id) : option atom := option_map snd (find (fun '(b, _) => Pos.eqb b p) (waits q)).

  Lemma consumed_waits p w : consumed p = Some w -> In (p, w) (waits q).
  Proof.
    unfold consumed. destruct (find _ (waits q)) as [[b x]|] eqn:found; [|discriminate]. intros [= <-].
    apply find_some in found. destruct found as [pair_in e]. apply Pos.eqb_eq in e. now subst.
  Qed.

  (** The rules let an atom in. *)
  Definition admits (a : atom) (s : configuration atom) : Prop := In a (atoms m) /\ lets_in m s (fst a) (snd a) = true.

  Definition dies (a d : atom) : Prop := In (fst a, fst d) (dying q) /\ snd a = snd d.

  (** Steps of the cluster, by the rules. *)
  Definition cluster_problem : problem atom := {|
    hard a s := admits a s /\ consumed (fst a) = None;
    becomes a d s := dies a d \/ consumed (fst d) = Some a /\ admits d s;
    kept := lookup (stays q);
    start := lookup (begins q);
  |}.

  (** ** What can be there at all *)

  Definition may_come p n : bool := placeable m p n || (0 <? lookup (begins q) (p, n)).

  Definition is_possible (a : atom) : bool :=
    may_come (fst a) (snd a) || match shadowed (fst a) with Some b => may_come b (snd a) | None => false end.

  Definition possible (a : atom) : bool := has (atoms m) a && is_possible a.

  (** ** Guards *)

  (** One of what is consumed must be there; nothing comes to wait that did not at first. *)
  Definition asks_for_one (can : atom -> bool) (a : atom) : option (guard atom) :=
    match consumed (fst a) with
    | None => Some no_condition
    | Some w => if can w then Some (just_affinity {| near := [[w]]; first_unless := None |}) else None
    end.

  Definition guards : system atom := {|
    guard_of a := if possible a
                  then both_opt (guard_besides m (lookup (stays q)) possible (fst a) (snd a)) (asks_for_one possible a)
                  else None;
    former d := option_map (fun b => (b, snd d)) (shadowed (fst d));
    consumes a := consumed (fst a);
    initially := minus (lookup (begins q)) (lookup (stays q));
  |}.

  (** ** Documents that make sense *)

  Definition sensible_pod (p : id) : bool :=
    forallb (fun c => 1 <=? skew c) (constraints m p)
    && forallb (fun d => no_twice (volumes m d) && no_twice (shared m p d)
                         && forallb (has_id (volumes m d)) (shared m p d)) (drivers m p).

  Definition sensible : bool :=
    no_twice (pods m) && no_twice (nodes m)
    && forallb sensible_pod (pods m)
    && forallb (fun '(a, _) => has (atoms m) a) (begins q)
    && forallb (fun '(a, _) => lookup (stays q) a <=? lookup (begins q) a) (stays q)
    && no_twice (map snd (dying q))
    && forallb (fun '(b, d) => has_id (pods m) d && is_none (shadowed b)) (dying q).

  Lemma sensible_pod_spec p : sensible_pod p = true -> well_formed m p.
  Proof.
    unfold sensible_pod. rewrite andb_true_iff, !forallb_forall. intros [skews vols]. split.
    - intros c c_in. now apply N.leb_le, skews.
    - intros d d_in. specialize (vols d d_in). rewrite !andb_true_iff in vols. now apply no_twice_spec.
    - intros d d_in. specialize (vols d d_in). rewrite !andb_true_iff in vols. now apply no_twice_spec.
    - intros d d_in v v_in. specialize (vols d d_in). rewrite !andb_true_iff in vols. destruct vols as [_ known].
      rewrite forallb_forall in known. now apply has_id_spec, known.
  Qed.

  Section Sensible.
    Hypothesis ok : sensible = true.

    Lemma parts :
      NoDup (pods m) /\ NoDup (nodes m) /\ (forall p, In p (pods m) -> well_formed m p)
      /\ (forall a, ~ In a (atoms m) -> lookup (begins q) a = 0)
      /\ lookup (stays q) ≼ lookup (begins q)
      /\ (forall b d, In (b, d) (dying q) -> shadowed d = Some b /\ In d (pods m) /\ shadowed b = None).
    Proof.
      unfold sensible in ok. rewrite !andb_true_iff, !forallb_forall in ok.
      destruct ok as [[[[[[pods_once nodes_once] wf] listed] low] shadows_once] shadows].
      refine (conj _ (conj _ (conj _ (conj _ (conj _ _))))).
      - now apply no_twice_spec.
      - now apply no_twice_spec.
      - intros p p_in. now apply sensible_pod_spec, wf.
      - intros a out. destruct (N.eq_dec (lookup (begins q) a) 0) as [zero|some]; [assumption|].
        apply lookup_listed, in_map_iff in some. destruct some as [[b n] [<- b_in]].
        exfalso. apply out. apply has_spec. exact (listed _ b_in).
      - intros a. destruct (N.eq_dec (lookup (stays q) a) 0) as [->|some]; [lia|].
        apply lookup_listed, in_map_iff in some. destruct some as [[b n] [<- b_in]].
        specialize (low _ b_in). simpl in low. now apply N.leb_le.
      - intros b d pair_in. specialize (shadows _ pair_in). simpl in shadows. apply andb_true_iff in shadows.
        destruct shadows as [d_in no_chain]. repeat split; [|now apply has_id_spec|now apply is_none_true].
        apply no_twice_spec in shadows_once. clear - shadows_once pair_in. unfold shadowed.
        induction (dying q) as [|[b' d'] rest IH]; [contradiction|]. simpl in *. inversion shadows_once; subst.
        destruct pair_in as [[= -> ->]|pair_in]; [now rewrite Pos.eqb_refl|].
        destruct (Pos.eqb_spec d' d) as [->|_]; [|now apply IH].
        exfalso. apply H1. apply in_map_iff. now exists (b, d).
    Qed.

    Lemma atom_listed a : In a (atoms m) <-> In (fst a) (pods m) /\ In (snd a) (nodes m).
    Proof. destruct a. apply in_prod_iff. Qed.

    Lemma tables_hold : tables guards (atoms m) possible.
    Proof.
      destruct parts as [pods_once [nodes_once [wf [listed [low shadows]]]]]. split.
      - now apply nodup_product.
      - intros a can. apply andb_true_iff in can. now apply has_spec.
      - intros a out. simpl. unfold minus. destruct (has (atoms m) a) eqn:there.
        + unfold possible in out. rewrite there in out. simpl in out.
          unfold is_possible, may_come in out. apply orb_false_iff in out. destruct out as [out _].
          apply orb_false_iff in out. destruct out as [_ none]. apply N.ltb_ge in none. destruct a. simpl in *. lia.
        + rewrite listed; [lia|]. intros a_in. apply has_spec in a_in. congruence.
      - intros a g. simpl. destruct (possible a); [reflexivity|discriminate].
      - intros a [d n] can. simpl. destruct (shadowed d) as [b|] eqn:was; [|discriminate]. intros [= <-].
        apply andb_true_iff in can. destruct can as [a_in can]. apply has_spec, atom_listed in a_in. simpl in a_in.
        assert (b_d : In (b, d) (dying q)).
        { unfold shadowed in was. destruct (find _ (dying q)) as [[b' d']|] eqn:found; [|discriminate].
          injection was as <-. apply find_some in found. destruct found as [pair_in e]. apply Pos.eqb_eq in e. now subst. }
        destruct (shadows b d b_d) as [_ [d_in no_chain]].
        apply andb_true_iff. split; [apply has_spec, atom_listed; simpl; tauto|].
        unfold is_possible in *. simpl in *. rewrite no_chain, orb_false_r in can. rewrite was, can. apply orb_true_r.
    Qed.

    (** Only listed atoms ever run. *)
    Lemma runs_listed s a : reachable cluster_problem s -> s a <> 0 -> In a (atoms m).
    Proof.
      destruct parts as [_ [_ [_ [listed [_ shadows]]]]]. intros r. revert a. induction r as [s e|s t r IH st]; intros a some.
      - destruct (has (atoms m) a) eqn:there; [now apply has_spec|]. exfalso. apply some. rewrite e. apply listed.
        intros a_in. apply has_spec in a_in. congruence.
      - destruct st as [b [[b_in _] _] e|b more e|b d more [[turned same_node]|[_ [d_in _]]] e]; rewrite (e a) in some.
        + destruct (eq_dec b a) as [<-|other]; [assumption|]. rewrite plus_one_other in some by assumption. auto.
        + apply IH. intros zero. apply some. by_count.
        + destruct (eq_dec d a) as [<-|other].
          * assert (b_in : In b (atoms m)) by (apply IH; simpl in more; lia). apply atom_listed in b_in. apply atom_listed.
            rewrite <- same_node. split; [now apply (shadows _ _ turned)|tauto].
          * rewrite plus_one_other in some by assumption. apply IH. intros zero. apply some. by_count.
        + destruct (eq_dec d a) as [<-|other]; [assumption|].
          rewrite plus_one_other in some by assumption. apply IH. intros zero. apply some. by_count.
    Qed.

    (** So exact reachability is coverability. *)
    Theorem exact_is_covered_in_clusters t : lookup (stays q) ≼ t ->
      (reachable cluster_problem t <-> exists s, reachable cluster_problem s /\ t ≼ s).
    Proof. apply (exact_is_covered cluster_problem (atoms m)). exact runs_listed. Qed.

    (** Rules look at counts alone. *)
    Lemma lets_in_same p n s t : well_formed m p -> s ≐ t -> lets_in m s p n = lets_in m t p n.
    Proof.
      intros W e. rewrite <- !(plain_guard_spec m p n _ W). destruct (plain_guard m p n) as [g|]; [|reflexivity].
      now apply holds_same.
    Qed.

    Lemma admits_same a s t : s ≐ t -> admits a s -> admits a t.
    Proof.
      destruct parts as [_ [_ [wf _]]]. intros e [a_in can]. split; [assumption|].
      rewrite <- (lets_in_same (fst a) (snd a) s t); auto. apply wf. now apply atom_listed.
    Qed.

    Lemma hard_same a s t : s ≐ t -> hard cluster_problem a s -> hard cluster_problem a t.
    Proof. intros e [can free]. split; [|assumption]. now apply (admits_same a s). Qed.

    Lemma becomes_same a d s t : s ≐ t -> becomes cluster_problem a d s -> becomes cluster_problem a d t.
    Proof. intros e [dies_|[uses can]]; [now left|right]. split; [assumption|]. now apply (admits_same d s). Qed.

    Lemma let_in_possible a s : admits a s -> possible a = true.
    Proof.
      intros [a_in can]. apply andb_true_iff. split; [now apply has_spec|]. unfold is_possible, may_come.
      unfold lets_in in can. apply andb_true_iff in can. destruct can as [-> _]. reflexivity.
    Qed.

    Lemma admitted_guarded a s : possible_only possible s -> admits a (plus (lookup (stays q)) s) -> holds_opt (asks_for_one possible a) s = true ->
      exists g, guard_of guards a = Some g /\ holds g s = true.
    Proof.
      destruct parts as [pods_once [nodes_once [wf [listed [low shadows]]]]].
      intros only can bound_. simpl. rewrite (let_in_possible a _ can). destruct can as [a_in can].
      rewrite <- (guards_are_rules m (lookup (stays q)) possible) in can.
      - assert (all_ : holds_opt (both_opt (guard_besides m (lookup (stays q)) possible (fst a) (snd a)) (asks_for_one possible a)) s = true).
        { rewrite holds_both_opt. now rewrite can, bound_. }
        destruct (both_opt _ _) as [g|]; [|discriminate]. exists g. auto.
      - apply wf. now apply atom_listed.
      - exact only.
    Qed.

    (** What the rules let happen the guards let happen. *)
    Lemma hard_guarded a s : possible_only possible s -> hard (besides cluster_problem) a s -> hard (problem_of guards) a s.
    Proof.
      intros only [can free_]. split; [exact free_|]. apply admitted_guarded; [assumption|assumption|].
      unfold asks_for_one. now rewrite free_.
    Qed.

    Lemma becomes_guarded a d s : possible_only possible s -> 0 < s a -> becomes (besides cluster_problem) a d s -> becomes (problem_of guards) a d s.
    Proof.
      destruct parts as [pods_once [nodes_once [wf [listed [low shadows]]]]].
      intros only there [[turned same_node]|[uses can]].
      - simpl. left. destruct (shadows _ _ turned) as [-> _]. simpl. rewrite <- same_node. now destruct a.
      - right. split; [exact uses|]. apply admitted_guarded; [assumption|assumption|].
        unfold asks_for_one. rewrite uses, (running_possible possible s a only there). simpl. rewrite holds_affinity.
        unfold affinity_holds, lonely, may_be_first, first_empty, is_empty. simpl. destruct (N.eqb_spec (s a + 0) 0); [lia|reflexivity].
    Qed.

    Lemma reached_possible s : reachable (besides cluster_problem) s -> possible_only possible s.
    Proof.
      destruct parts as [pods_once [nodes_once [wf [listed [low shadows]]]]].
      pose proof tables_hold as T. revert s. apply invariant.
      - intros s e a out. rewrite e. now apply (start_possible _ _ _ T).
      - intros s t _ only st b out. pose proof (only b out) as zero.
        destruct st as [a [can _] e|a more e|a d more [[turned same_node]|[_ can]] e]; rewrite (e b).
        + enough (a <> b) by by_count. intros ->. apply let_in_possible in can. congruence.
        + by_count.
        + pose proof (running_possible possible s a only more) as can.
          destruct (shadows _ _ turned) as [was _].
          assert (can' : possible d = true).
          { apply (shadows_possible _ _ _ T a d can). simpl. rewrite was. simpl. rewrite <- same_node. now destruct a. }
          enough (d <> b) by by_count. intros ->. congruence.
        + enough (d <> b) by by_count. intros ->. apply let_in_possible in can. congruence.
    Qed.

    Lemma guards_weaker : weaker (problem_of guards) (besides cluster_problem).
    Proof.
      apply (weaker_within _ _ (possible_only possible)).
      - exact reached_possible.
      - exact hard_guarded.
      - intros a d s only more. apply becomes_guarded; [exact only|]. simpl in more. unfold nothing in more. lia.
      - apply within_refl.
      - apply same_refl.
    Qed.
  End Sensible.

  (** ** Accepting certificates *)

  (** The class of an atom goes by its first member. *)
  Definition class_of (classes : list (list atom)) (a : atom) : atom :=
    match find (fun members => has members a) classes with
    | Some (first :: _) => first
    | _ => a
    end.

  Fixpoint disjoint (l : list atom) : bool :=
    match l with [] => true | a :: rest => negb (has rest a) && disjoint rest end.

  (** Neither a pod that waits, nor where those are. *)
  Definition is_bound (a : atom) : bool :=
    forallb (fun '(_, w) => negb (Pos.eqb (fst w) (fst a)) && negb (Pos.eqb (snd w) (snd a))) (waits q).

  (** Only what waits is where it waits, and it is nowhere else. *)
  Definition in_place (a : atom) : bool := has (map snd (waits q)) a || is_bound a.

  Definition good_classes (classes : list (list atom)) : bool :=
    forallb (fun members => negb (is_nil members) && forallb (fun a => has (atoms m) a && in_place a) members) classes
    && disjoint (concat classes).

  (** A group in terms of classes, by their numbers. *)
  Definition named (classes : list (list atom)) (b : list (nat * N)) : option (list (atom * N)) :=
    traverse (fun '(number, n) =>
      match nth_error classes number with Some (first :: _) => Some (first, n) | _ => None end) b.

  (** Of each class, what must be there besides the kept pods. *)
  Definition group_besides (classes : list (list atom)) (b : list (atom * N)) : list (atom * N) :=
    map (fun '(c, n) => (c, n - abs (class_of classes) (atoms m) (lookup (stays q)) c)) b.

  Definition accepts_never (fuel : nat) (g : list (list (atom * N)))
             (classes : list (list atom)) (forbidden : list (list (nat * N))) : bool :=
    sensible && good_classes classes
    && match traverse (named classes) forbidden with
       | None => false
       | Some groups =>
         check_classes guards (class_of classes) (atoms m) possible fuel
           (goal_besides cluster_problem (map lookup g)) (map (group_besides classes) groups)
       end.

  (** An accepted _never_ is one. *)
  Theorem accepts_never_sound fuel g classes forbidden :
    accepts_never fuel g classes forbidden = true -> never cluster_problem (map lookup g).
  Proof.
    unfold accepts_never. rewrite !andb_true_iff. intros [[ok _] accepted].
    destruct (traverse (named classes) forbidden) as [groups|]; [|discriminate].
    apply (check_classes_sound _ _ _ _ (tables_hold ok)) in accepted.
    destruct (parts ok) as [_ [_ [wf [_ [low _]]]]].
    apply (never_besides cluster_problem); auto.
    - exact (hard_same ok).
    - exact (becomes_same ok).
    - now apply (guards_weaker ok).
  Qed.

  (** ** At-most-one constraints *)

  Fixpoint no_number_twice (l : list nat) : bool :=
    match l with [] => true | x :: rest => negb (existsb (Nat.eqb x) rest) && no_number_twice rest end.

  (** The name of a class, if there is one of this number. *)
  Definition named_class (classes : list (list atom)) (number : nat) : option atom :=
    match nth_error classes number with Some (first :: _) => Some first | _ => None end.

  Definition none_kept (classes : list (list atom)) (c : atom) : bool :=
    abs (class_of classes) (atoms m) (lookup (stays q)) c =? 0.

  (** A constraint names classes that exist, each once, of which no pod is kept. *)
  Definition good_parts (classes : list (list atom)) (l : list (list nat)) : bool :=
    no_number_twice (concat l)
    && forallb (fun number => match named_class classes number with Some c => none_kept classes c | None => false end) (concat l).

  (** The checker with constraints, which stand for groups. *)
  Definition accepts_with_apart (fuel : nat) (g : list (list (atom * N))) (classes : list (list atom))
             (forbidden : list (list (nat * N))) (apart : list (list (list nat))) : bool :=
    forallb (good_parts classes) apart && accepts_never fuel g classes (with_pairs forbidden apart).

  Theorem accepts_with_apart_sound fuel g classes forbidden apart :
    accepts_with_apart fuel g classes forbidden apart = true -> never cluster_problem (map lookup g).
  Proof. unfold accepts_with_apart. rewrite andb_true_iff. intros [_ accepted]. exact (accepts_never_sound _ _ _ _ accepted). Qed.

  (** A constraint in the names of its classes; all of them exist. *)
  Definition name_in (classes : list (list atom)) (number : nat) : atom :=
    match named_class classes number with Some c => c | None => (1%positive, 1%positive) end.

  Definition parts_named (classes : list (list atom)) (l : list (list nat)) : list (list atom) := map (map (name_in classes)) l.

  Lemma traverse_app {B D} (h : B -> option D) (l l' : list B) :
    traverse h (l ++ l') = match traverse h l, traverse h l' with Some ds, Some ds' => Some (ds ++ ds') | _, _ => None end.
  Proof.
    induction l as [|b rest IH]; simpl; [now destruct (traverse h l')|]. rewrite IH. destruct (h b); [|reflexivity].
    destruct (traverse h rest); [|reflexivity]. now destruct (traverse h l').
  Qed.

  Lemma traverse_all {B D} (h : B -> option D) (k : B -> D) (l : list B) :
    (forall b, In b l -> h b = Some (k b)) -> traverse h l = Some (map k l).
  Proof.
    induction l as [|b rest IH]; intros all; simpl; [reflexivity|].
    rewrite (all b), IH; [reflexivity| |now left]. intros b' b_in. apply all. now right.
  Qed.

  Lemma good_parts_numbers classes l number : good_parts classes l = true -> In number (concat l) ->
    named_class classes number = Some (name_in classes number) /\ none_kept classes (name_in classes number) = true.
  Proof.
    unfold good_parts, name_in. rewrite andb_true_iff, forallb_forall. intros [_ all] number_in. specialize (all _ number_in).
    destruct (named_class classes number); [auto|discriminate].
  Qed.

  Lemma pairs_in_parts {C} (l : list (list C)) b : In b (pairs l) -> exists c d, b = pair_of c d /\ In c (concat l) /\ In d (concat l).
  Proof.
    intros b_in. apply pairs_spec in b_in. destruct b_in as [part [other [c [d [two [c_in [d_in ->]]]]]]].
    assert (both : In part l /\ In other l) by (induction two; simpl; tauto).
    exists c, d. split; [reflexivity|]. split; apply in_concat; [exists part|exists other]; tauto.
  Qed.

  Lemma named_pairs classes l : good_parts classes l = true -> traverse (named classes) (pairs l) = Some (pairs (parts_named classes l)).
  Proof.
    intros good. unfold parts_named. rewrite pairs_map. apply traverse_all. intros b b_in.
    apply pairs_in_parts in b_in. destruct b_in as [c [d [-> [c_in d_in]]]].
    apply (good_parts_numbers classes l) in c_in, d_in; try assumption. destruct c_in as [named_c _], d_in as [named_d _].
    unfold named, pair_of, named_class in *. simpl.
    destruct (nth_error classes c) as [[|first rest]|]; try discriminate. injection named_c as <-.
    destruct (nth_error classes d) as [[|first' rest']|]; try discriminate. now injection named_d as <-.
  Qed.

  Lemma besides_pairs classes l : good_parts classes l = true ->
    map (group_besides classes) (pairs (parts_named classes l)) = pairs (parts_named classes l).
  Proof.
    intros good. rewrite <- (map_id (pairs (parts_named classes l))) at 2. apply map_ext_in. intros b b_in.
    apply pairs_in_parts in b_in. destruct b_in as [c [d [-> both]]]. unfold parts_named in both. rewrite <- concat_map, !in_map_iff in both.
    destruct both as [[i [<- i_in]] [j [<- j_in]]].
    apply (good_parts_numbers classes l) in i_in, j_in; try assumption. destruct i_in as [_ free_i], j_in as [_ free_j].
    unfold none_kept in *. apply N.eqb_eq in free_i, free_j. unfold group_besides, pair_of. simpl. now rewrite free_i, free_j.
  Qed.

  (** Groups and constraints in names and besides the kept pods are the groups with the pairs in names and besides them. *)
  Theorem groups_with_apart classes forbidden apart : forallb (good_parts classes) apart = true ->
    option_map (map (group_besides classes)) (traverse (named classes) (with_pairs forbidden apart)) =
    option_map (fun groups => with_pairs (map (group_besides classes) groups) (map (parts_named classes) apart))
               (traverse (named classes) forbidden).
  Proof.
    intros good. unfold with_pairs. rewrite traverse_app.
    assert (rest : traverse (named classes) (flat_map pairs apart) = Some (flat_map pairs (map (parts_named classes) apart))
                   /\ map (group_besides classes) (flat_map pairs (map (parts_named classes) apart)) = flat_map pairs (map (parts_named classes) apart)).
    { induction apart as [|l rest IH]; [now split|]. simpl in good. apply andb_true_iff in good. destruct good as [good_l good].
      destruct (IH good) as [named_ besides_]. simpl. rewrite traverse_app, (named_pairs classes l good_l), named_.
      split; [reflexivity|]. now rewrite map_app, besides_, besides_pairs. }
    destruct rest as [-> besides_]. destruct (traverse (named classes) forbidden) as [groups|]; [|reflexivity].
    simpl. now rewrite map_app, besides_.
  Qed.

  Definition consumed_by (a : atom) : option atom := consumed (fst a).
  Definition may_deploy (a : atom) (s : configuration atom) : bool := has (atoms m) a && lets_in m s (fst a) (snd a).
  Definition dies_as (a : atom) : option atom := option_map (fun d => (d, snd a)) (shadow_of (fst a)).

  Definition accepts_trace (g : list (list (atom * N))) (trace : list (action atom)) : bool :=
    check_deployable may_deploy dies_as consumed_by (lookup (stays q)) (lookup (begins q)) g trace.

  (** An accepted trace is a run that meets the goal. *)
  Theorem accepts_trace_sound g trace :
    accepts_trace g trace = true ->
    exists s, reachable cluster_problem s /\
      exists alternative, In alternative g /\ forall a n, In (a, n) alternative -> n <= s a.
  Proof.
    intros accepted. apply check_deployable_sound in accepted. destruct accepted as [s [r met]].
    exists s. split; [|assumption]. clear met. induction r as [s e|s t _ IH st]; [now apply at_start|].
    eapply by_step; [exact IH|]. assert (may : forall a, may_deploy a s = true -> admits a s).
    { intros a can. unfold may_deploy in can. apply andb_true_iff in can. rewrite has_spec in can. exact can. }
    destruct st as [a [free_ can] e|a more e|a d more [turned|[uses can]] e]; simpl in *.
    - apply (deploy _ _ _ a); [|assumption]. split; [now apply may|exact free_].
    - now apply (delete _ _ _ a).
    - apply (change _ _ _ a d); [assumption| |assumption]. left. unfold dies_as, shadow_of in turned.
      destruct (find _ (dying q)) as [[b x]|] eqn:found; [|discriminate]. injection turned as <-.
      apply find_some in found. destruct found as [pair_in e']. apply Pos.eqb_eq in e'. subst. now split.
    - apply (change _ _ _ a d); [assumption| |assumption]. right. split; [exact uses|now apply may].
  Qed.
End Question.
