(** * Every question about a cluster is decided

    By the rules of either semantics, with kept pods, pods that take time to be
    deleted, topology spread and no bound on anything: the atoms of a cluster are
    finitely many, its rules are guards (Compile.v), and going back through guards
    ends (Regress.v).

    docs/theory.md, "What free deletion gives", 2. *)

From Coq Require Import NArith PArith List Lia Bool Eqdep_dec.
From Podreach Require Import Configuration Problem Guard Folding Rules Compile Kept Never Search Abstraction Cluster Regress Embedding.
Import ListNotations.
Open Scope N_scope.

(** ** Guards over some of the atoms, where no other ever runs *)

Section Pick.
  Context {A F : Type}.
  Variable f : A -> option F.

  Definition extend (t : configuration F) : configuration A := fun a => match f a with Some x => t x | None => 0 end.

  Definition pick (group : list A) : list F := flat_map (fun a => match f a with Some x => [x] | None => [] end) group.
  Definition pick_weights (ws : list (A * N)) : list (F * N) :=
    flat_map (fun '(a, w) => match f a with Some x => [(x, w)] | None => [] end) ws.
  Definition pick_domain (d : domain A) : domain F := {| members := pick (members d); base := base d |}.

  Definition pick_guard (g : guard A) : guard F := {|
    bounds := map (fun c => {| weights := pick_weights (weights c); bound := bound c |}) (bounds g);
    distincts := map (fun c => {| each := pick_weights (each c); groups := map pick (groups c); room := room c; unless := map pick (unless c) |}) (distincts g);
    affinities := map (fun c => {| near := map pick (near c); first_unless := option_map pick (first_unless c) |}) (affinities g);
    spreads := map (fun c => {| domains := map pick_domain (domains c); own := pick_domain (own c); joins := joins c; max_skew := max_skew c |}) (spreads g);
  |}.

  Variable t : configuration F.

  Lemma pick_count group : count (pick group) t = count group (extend t).
  Proof.
    induction group as [|a rest IH]; simpl; [reflexivity|]. rewrite count_app, IH. unfold extend at 2. destruct (f a); simpl; lia.
  Qed.

  Lemma pick_total ws : total (pick_weights ws) t = total ws (extend t).
  Proof.
    induction ws as [|[a w] rest IH]; simpl; [reflexivity|]. unfold extend at 1. destruct (f a); simpl; rewrite IH; lia.
  Qed.

  Lemma pick_empty group : is_empty (pick group) t = is_empty group (extend t).
  Proof. unfold is_empty. now rewrite pick_count. Qed.

  Lemma pick_none gs : is_none (first_empty (map pick gs) t) = is_none (first_empty gs (extend t)).
  Proof.
    rewrite !first_empty_none. induction gs as [|l rest IH]; simpl; [reflexivity|]. now rewrite pick_empty, IH.
  Qed.

  Lemma pick_present gs : present_groups (map pick gs) t = present_groups gs (extend t).
  Proof. induction gs as [|l rest IH]; simpl; [reflexivity|]. now rewrite pick_empty, IH. Qed.

  Lemma forallb_map {B C} (h : B -> C) (p : C -> bool) (q : B -> bool) l :
    (forall b, p (h b) = q b) -> forallb p (map h l) = forallb q l.
  Proof. intros e. induction l as [|b rest IH]; simpl; [reflexivity|]. now rewrite e, IH. Qed.

  Lemma pick_holds g : holds (pick_guard g) t = holds g (extend t).
  Proof.
    unfold holds. f_equal; [f_equal; [f_equal|]|]; apply forallb_map; intros c.
    - unfold at_most_holds. simpl. now rewrite pick_total.
    - unfold distinct_holds, distinct_fits. simpl. rewrite pick_total, pick_present, pick_none. now destruct (unless c).
    - unfold affinity_holds, lonely, may_be_first. simpl. destruct (first_unless c) as [group|]; simpl; [rewrite pick_empty|].
      + destruct (is_empty group (extend t)); [reflexivity|apply pick_none].
      + apply pick_none.
    - unfold spread_holds, behind, size. simpl. rewrite pick_count.
      induction (domains c) as [|d rest IH]; simpl; [reflexivity|]. rewrite pick_count. now destruct (_ <? _).
  Qed.
End Pick.

(** ** The atoms of a cluster, as a type *)

Section Decision.
  Variable q : question.
  Hypothesis ok : sensible q = true.
  Notation m := (cluster q).

  Definition listed_atom : Type := {a : atom | has (atoms m) a = true}.

  #[local] Instance listed_eq_dec : Eq_dec listed_atom.
  Proof.
    intros [a a_in] [b b_in]. destruct (eq_dec a b) as [<-|other].
    - left. f_equal. apply UIP_dec, bool_dec.
    - right. intros e. now injection e.
  Defined.

  Definition image (x : listed_atom) : atom := proj1_sig x.

  Lemma images_apart x y : image x = image y -> x = y.
  Proof. destruct x as [a a_in], y as [b b_in]. simpl. intros <-. f_equal. apply UIP_dec, bool_dec. Qed.

  Definition as_listed (a : atom) : option listed_atom :=
    match bool_dec (has (atoms m) a) true with left a_in => Some (exist _ a a_in) | right _ => None end.

  Lemma as_listed_image x : as_listed (image x) = Some x.
  Proof.
    unfold as_listed. destruct (bool_dec _ true) as [a_in|out].
    - f_equal. now apply images_apart.
    - exfalso. apply out. exact (proj2_sig x).
  Qed.

  Lemma as_listed_some a x : as_listed a = Some x -> a = image x.
  Proof. unfold as_listed. destruct (bool_dec _ true); [now intros [= <-]|discriminate]. Qed.

  Definition all_listed : list listed_atom := flat_map (fun a => match as_listed a with Some x => [x] | None => [] end) (atoms m).

  Lemma every_listed x : In x all_listed.
  Proof.
    apply in_flat_map. exists (image x). split; [|rewrite as_listed_image; now left].
    apply has_spec. exact (proj2_sig x).
  Qed.

  (** ** Its rules as guards over them *)

  Notation keeps := (lookup (stays q)).
  Notation is_listed := (has (atoms m)).

  (** What a deployment consumes, if it is listed; otherwise it is never there. *)
  Definition consumes_listed (x : listed_atom) : option listed_atom :=
    match consumed q (fst (image x)) with Some w => as_listed w | None => None end.

  Definition can_be_bound (x : listed_atom) : bool :=
    match consumed q (fst (image x)) with Some w => is_listed w | None => true end.

  Definition finite : system listed_atom := {|
    guard_of x := if negb (can_be_bound x) then None else option_map (pick_guard as_listed) (guard_besides m keeps is_listed (fst (image x)) (snd (image x)));
    former d := match shadowed q (fst (image d)) with Some b => as_listed (b, snd (image d)) | None => None end;
    consumes := consumes_listed;
    initially x := minus (lookup (begins q)) keeps (image x);
  |}.

  Notation P := (problem_of finite).
  Notation Q := (besides (cluster_problem q)).
  Notation at_home := (at_home image all_listed).
  Notation view := (view image).

  Lemma home_listed s : at_home s <-> forall a, is_listed a = false -> s a = 0.
  Proof.
    split.
    - intros home_ a out. destruct (N.eq_0_gt_0_cases (s a)) as [|some]; [assumption|].
      destruct (home_ a some) as [x [_ ->]]. pose proof (proj2_sig x) as yes. simpl in yes. unfold image in out. congruence.
    - intros only a some. destruct (is_listed a) eqn:a_in; [|rewrite (only a a_in) in some; lia].
      exists (exist _ a a_in). split; [apply every_listed|reflexivity].
  Qed.

  Lemma extend_view s : at_home s -> extend as_listed (view s) ≐ s.
  Proof.
    intros home_ a. unfold extend. destruct (as_listed a) as [x|] eqn:is.
    - apply as_listed_some in is. now subst.
    - symmetry. apply (proj1 (home_listed s) home_). unfold as_listed in is.
      destruct (bool_dec (is_listed a) true) as [|out]; [discriminate|]. now apply not_true_is_false.
  Qed.

  Lemma rules_are_guards s x : at_home s -> can_be_bound x = true ->
    admits q (image x) (plus keeps s) <-> exists g, guard_of finite x = Some g /\ holds g (view s) = true.
  Proof.
    intros home_ bound_. destruct (parts q ok) as [_ [_ [wf _]]].
    assert (a_in : In (image x) (atoms m)) by (apply has_spec; exact (proj2_sig x)).
    assert (W : well_formed m (fst (image x))) by (apply wf; now apply (atom_listed q)).
    pose proof (guards_are_rules m keeps is_listed (fst (image x)) (snd (image x)) s W (proj1 (home_listed s) home_)) as same_.
    simpl. rewrite bound_. simpl. destruct (guard_besides m keeps is_listed (fst (image x)) (snd (image x))) as [g|]; simpl in *.
    - split.
      + intros [_ can]. exists (pick_guard as_listed g). split; [reflexivity|].
        rewrite pick_holds, (holds_same g _ s (extend_view s home_)). congruence.
      + intros [h [[= <-] holds_]]. split; [assumption|].
        rewrite pick_holds, (holds_same g _ s (extend_view s home_)) in holds_. congruence.
    - split; [intros [_ can]; congruence|]. intros [h [no _]]. discriminate.
  Qed.

  Lemma consumes_spec x w : consumes_listed x = Some w <-> consumed q (fst (image x)) = Some (image w).
  Proof.
    unfold consumes_listed. destruct (consumed q (fst (image x))) as [v|]; [|split; discriminate]. split.
    - intros is. apply as_listed_some in is. now subst.
    - intros [= ->]. apply as_listed_image.
  Qed.

  Lemma bound_if_there s x w : at_home s -> consumed q (fst (image x)) = Some w -> 0 < s w -> can_be_bound x = true.
  Proof.
    intros home_ uses some. unfold can_be_bound. rewrite uses. destruct (is_listed w) eqn:w_in; [reflexivity|].
    rewrite (proj1 (home_listed s) home_ w w_in) in some. lia.
  Qed.

  Lemma free_alike s x : at_home s -> hard Q (image x) s <-> hard P x (view s).
  Proof.
    intros home_. simpl. unfold consumes_listed. split.
    - intros [can free]. rewrite free. split; [reflexivity|]. apply rules_are_guards; auto. unfold can_be_bound. now rewrite free.
    - intros [free admitted]. assert (bound_ : can_be_bound x = true).
      { destruct admitted as [g [is _]]. simpl in is. destruct (can_be_bound x); [reflexivity|discriminate]. }
      split; [now apply rules_are_guards|]. unfold can_be_bound in bound_.
      destruct (consumed q (fst (image x))) as [w|]; [|reflexivity]. unfold as_listed in free.
      destruct (bool_dec (is_listed w) true); [discriminate|contradiction].
  Qed.

  Lemma shadowed_dying b d : shadowed q d = Some b <-> In (b, d) (dying q).
  Proof.
    destruct (parts q ok) as [_ [_ [_ [_ [_ shadows]]]]]. split; [|intros pair_in; now apply shadows].
    unfold shadowed. destruct (find _ (dying q)) as [[b' d']|] eqn:found; [|discriminate]. intros [= <-].
    apply find_some in found. destruct found as [pair_in e]. apply Pos.eqb_eq in e. now subst.
  Qed.

  Theorem finite_goal g : (forall alternative, In alternative g -> at_home alternative) ->
    deployable P (map view g) <-> deployable Q g.
  Proof.
    destruct (parts q ok) as [_ [_ [_ [listed [_ shadows]]]]].
    apply (embedded_goal P Q image all_listed images_apart).
    - reflexivity.
    - reflexivity.
    - (* changes *)
      intros x b s _ home_. split.
      + intros [[turned same_node]|[uses can]].
        2: { pose proof can as [b_in _]. apply has_spec in b_in. exists (exist _ b b_in). repeat split; [apply every_listed|].
             right. split; [now apply consumes_spec|]. apply rules_are_guards; auto. unfold can_be_bound. simpl.
             rewrite uses. exact (proj2_sig x). }
        assert (b_in : is_listed b = true).
        { apply has_spec, (atom_listed q). split; [now apply (shadows (fst (image x)))|]. rewrite <- same_node.
          pose proof (proj2_sig x) as x_in. apply has_spec, (atom_listed q) in x_in. apply x_in. }
        exists (exist _ b b_in). repeat split; [apply every_listed|]. left. simpl. rewrite (proj2 (shadowed_dying _ _) turned), <- same_node.
        rewrite <- surjective_pairing. apply as_listed_image.
      + intros [d [_ [-> [was|[uses admitted]]]]].
        * simpl in was. destruct (shadowed q (fst (image d))) as [c|] eqn:is; [|discriminate].
          apply shadowed_dying in is. apply as_listed_some in was. left. rewrite <- was. now split.
        * right. apply consumes_spec in uses. split; [exact uses|]. apply rules_are_guards; auto.
          unfold can_be_bound. rewrite uses. exact (proj2_sig x).
    - intros x d s _. apply every_listed.
    - intros x d s t e [was|[uses [g' [is holds_]]]]; [now left|right]. split; [exact uses|]. exists g'. split; [assumption|].
      now rewrite <- (holds_same g' s t e).
    - (* the start *)
      apply home_listed. intros a out. simpl. unfold minus. rewrite listed; [lia|]. intros a_in. apply has_spec in a_in. congruence.
    - intros x. reflexivity.
    - intros x s t e [free [g' [is holds_]]]. split; [assumption|]. exists g'. split; [assumption|]. now rewrite <- (holds_same g' s t e).
    - intros s b home_. split.
      + intros can. pose proof can as [[b_in _] _]. apply has_spec in b_in. exists (exist _ b b_in). repeat split; [apply every_listed| |];
          now apply (free_alike s (exist _ b b_in)).
      + intros [x [_ [-> can]]]. now apply free_alike.
    - intros x s _. apply every_listed.
  Qed.

  (** ** Every question is decided *)

  (** Alternatives that ask for pods that there are. *)
  Definition can_be (alternative : list (atom * N)) : bool :=
    forallb (fun '(a, _) => is_listed a || (lookup alternative a <=? keeps a)) alternative.

  Lemma can_be_home alternative : can_be alternative = true <-> at_home (minus (lookup alternative) keeps).
  Proof.
    unfold can_be. rewrite forallb_forall, home_listed. unfold minus. split.
    - intros each_ a out. destruct (N.eq_dec (lookup alternative a) 0) as [zero|some]; [lia|].
      apply lookup_listed, in_map_iff in some. destruct some as [[b n] [<- b_in]]. specialize (each_ _ b_in). simpl in *.
      rewrite out in each_. simpl in each_. apply N.leb_le in each_. lia.
    - intros only [a n] a_in. destruct (is_listed a) eqn:there; [reflexivity|]. simpl. apply N.leb_le. specialize (only a there). lia.
  Qed.

  Lemma besides_at_home s : reachable Q s -> at_home s.
  Proof.
    destruct (parts q ok) as [_ [_ [_ [listed [_ shadows]]]]]. intros r. apply home_listed. revert s r.
    apply (invariant Q (fun s => forall a, is_listed a = false -> s a = 0)).
    - intros s e a out. rewrite e. simpl. unfold minus. rewrite listed; [lia|]. intros a_in. apply has_spec in a_in. congruence.
    - intros s t _ only st b out. pose proof (only b out) as zero.
      destruct st as [a [[a_in _] _] e|a more e|a d more [[turned same_node]|[_ [a_in _]]] e]; rewrite (e b).
      + apply has_spec in a_in. enough (a <> b) by by_count. intros ->. congruence.
      + by_count.
      + enough (d <> b) by by_count. intros ->.
        assert (a_in : is_listed a = true).
        { destruct (is_listed a) eqn:there; [reflexivity|]. rewrite (only a there) in more. simpl in more. unfold nothing in more. lia. }
        apply has_spec, (atom_listed q) in a_in. enough (is_listed b = true) by congruence.
        apply has_spec, (atom_listed q). split; [now apply (shadows (fst a))|]. rewrite <- same_node. apply a_in.
      + apply has_spec in a_in. enough (d <> b) by by_count. intros ->. congruence.
  Qed.

  (** What a question asks of the listed atoms besides the kept pods. *)
  Definition asked (g : list (list (atom * N))) : goal listed_atom :=
    map view (map (fun alternative => minus (lookup alternative) keeps) (filter can_be g)).

  Theorem same_question g : deployable (cluster_problem q) (map lookup g) <-> deployable P (asked g).
  Proof.
    assert (low : keeps ≼ lookup (begins q)) by (destruct (parts q ok) as [_ [_ [_ [_ [low _]]]]]; exact low).
    unfold asked. rewrite finite_goal.
    2: { intros alternative alt_in. apply in_map_iff in alt_in. destruct alt_in as [alt [<- alt_in]]. apply filter_In in alt_in.
         now apply can_be_home. }
    split.
    - intros [s [r [alternative [alt_in below]]]]. apply in_map_iff in alt_in. destruct alt_in as [alt [<- alt_in]].
      exists (minus s keeps). pose proof (besides_reachable (cluster_problem q) low (hard_same q ok) (becomes_same q ok) s r) as r'. split; [exact r'|].
      assert (less : minus (lookup alt) keeps ≼ minus s keeps) by (intros a; specialize (below a); by_count).
      exists (minus (lookup alt) keeps). split; [|exact less].
      apply (in_map (fun alternative => minus (lookup alternative) keeps)), filter_In. split; [assumption|].
      apply can_be_home, home_listed. intros a out. pose proof (proj1 (home_listed _) (besides_at_home _ r') a out) as zero.
      specialize (less a). simpl in *. lia.
    - intros [s [r [alternative [alt_in below]]]]. apply in_map_iff in alt_in. destruct alt_in as [alt [<- alt_in]].
      apply filter_In in alt_in. exists (plus keeps s). split; [now apply (besides_reachable_back (cluster_problem q) low)|].
      exists (lookup alt). split; [apply in_map; tauto|]. intros a. specialize (below a). by_count.
  Qed.

  Theorem every_question_decided (g : list (list (atom * N))) :
    {deployable (cluster_problem q) (map lookup g)} + {never (cluster_problem q) (map lookup g)}.
  Proof.
    destruct (guards_decide all_listed every_listed finite (asked g)) as [yes|no]; [left|right].
    - now apply same_question.
    - apply never_not_deployable. rewrite same_question. apply never_not_deployable.
      destruct no as [basis cert]. exact (certificate_sound _ _ _ cert).
  Defined.
End Decision.
