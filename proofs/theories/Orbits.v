(** * The checker of proofs with exchanges

    A proof may list exchanges of nodes.  Then its groups stand for all that the exchanges
    make of them, and one alternative of the goal speaks for those that it can be moved to.
    The checker tests that each is an exchange (Listing.v), and checks the groups against
    a start that has of each pod type that can matter (Helping.v), on every node,
    as much as any node it can be exchanged with.

    Exchanges may overlap, and move a class to a part of another: the groups are proved as
    they are listed, and nothing that exchanges make of them is.

    check/orbits.rs, check/symmetry.rs. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Configuration Problem Rules Search Weakening Slice Symmetry Classes Cluster Exchange Listing Helping.
Import ListNotations.
Open Scope N_scope.

(** Uses a function that remembers what it said.  In Coq that is nothing at all (Extract.v). *)
Definition remembering {K B D : Type} (f : K -> B) (use : (K -> B) -> D) : D := use f.

(** A goal's alternative, as a document lists it. *)
Notation alternative := (list (atom * N)) (only parsing).

(** ** Orbits *)

(** All parts that have a node of a pair are one. *)
Definition joined (parts : list (list id)) (pair : id * id) : list (list id) :=
  let touched part := has_id part (fst pair) || has_id part (snd pair) in
  concat (filter touched parts) :: filter (fun part => negb (touched part)) parts.

Definition orbits (nodes_ : list id) (exchanges : list listing) : list (list id) :=
  fold_left joined (concat exchanges) (map (fun n => [n]) nodes_).

(** The orbit of a node; one that no list has is alone. *)
Definition orbit_of (parts : list (list id)) (n : id) : list id :=
  match find (fun part => has_id part n) parts with Some part => part | None => [n] end.

(** Whether some exchange moves a node, and the node that its orbit goes by. *)
Definition is_moved (orbit : list id) : bool := match orbit with _ :: _ :: _ => true | _ => false end.
Definition name_of (orbit : list id) (n : id) : id := match orbit with first :: _ => first | [] => n end.

Lemma orbit_has parts n : In n (orbit_of parts n).
Proof.
  unfold orbit_of. destruct (find _ parts) as [part|] eqn:found; [|now left]. apply find_some in found. now apply has_id_spec.
Qed.

(** What leads from each node of a pair to the other leads so within orbits. *)
Section Ways.
  Variable way : id -> id -> Prop.
  Hypothesis way_refl : forall n, way n n.
  Hypothesis way_back : forall n n', way n n' -> way n' n.
  Hypothesis way_on : forall n n' n'', way n n' -> way n' n'' -> way n n''.

  Definition ways (parts : list (list id)) : Prop := forall part n n', In part parts -> In n part -> In n' part -> way n n'.

  Lemma joined_ways parts f t : way f t -> ways parts -> ways (joined parts (f, t)).
  Proof.
    intros edge all_ part n n' [<-|part_in]; [|apply filter_In in part_in; destruct part_in; now apply all_].
    assert (to_f : forall k, In k (concat (filter (fun part => has_id part f || has_id part t) parts)) -> way k f).
    { intros k k_in. apply in_concat in k_in. destruct k_in as [some [some_in k_in]]. apply filter_In in some_in.
      destruct some_in as [some_in touched]. apply orb_true_iff in touched. rewrite !has_id_spec in touched.
      destruct touched as [f_in|t_in]; [now apply (all_ some)|]. apply (way_on k t); [now apply (all_ some)|now apply way_back]. }
    simpl. intros n_in n_in'. apply (way_on n f); auto.
  Qed.

  Lemma orbits_ways nodes_ exchanges : (forall e f t, In e exchanges -> In (f, t) e -> way f t) -> ways (orbits nodes_ exchanges).
  Proof.
    intros edges. unfold orbits.
    assert (edges' : forall f t, In (f, t) (concat exchanges) -> way f t).
    { intros f t in_. apply in_concat in in_. destruct in_ as [e [e_in in_]]. eauto. }
    assert (alone : ways (map (fun n => [n]) nodes_)).
    { intros part n n' part_in. apply in_map_iff in part_in. destruct part_in as [k [<- _]]. intros [<-|[]] [<-|[]]. apply way_refl. }
    revert alone. generalize (map (fun n : id => [n]) nodes_).
    induction (concat exchanges) as [|[f t] rest IH]; simpl; intros parts all_; [assumption|].
    apply IH; [intros; apply edges'; now right|]. apply joined_ways; [apply edges'; now left|assumption].
  Qed.

  Lemma name_way parts n : ways parts -> way n (name_of (orbit_of parts n) n).
  Proof.
    intros all_. pose proof (orbit_has parts n) as n_in. destruct (orbit_of parts n) as [|first rest] eqn:is; [apply way_refl|]. simpl.
    unfold orbit_of in is. destruct (find _ parts) as [part|] eqn:found.
    - apply find_some in found. subst part. destruct found as [part_in _]. apply (all_ (first :: rest)); auto. now left.
    - injection is as <- <-. apply way_refl.
  Qed.
End Ways.

(** ** Alternatives that are alike *)

Fixpoint same_list (l l' : alternative) : bool :=
  match l, l' with
  | [], [] => true
  | (a, n) :: rest, (b, k) :: rest' => is_atom a b && (n =? k) && same_list rest rest'
  | _, _ => false
  end.

Lemma same_list_spec l l' : same_list l l' = true -> l = l'.
Proof.
  revert l'. induction l as [|[a n] rest IH]; intros [|[b k] rest']; simpl; try discriminate; [reflexivity|].
  rewrite !andb_true_iff, N.eqb_eq, is_atom_spec. intros [[-> ->] same_]. now rewrite (IH rest').
Qed.

Section Alike.
  (** The orbit of each node. *)
  Variable orbit : id -> list id.

  Definition moves (entry : atom * N) : bool := is_moved (orbit (snd (fst entry))).
  Definition same_orbit (n n' : id) : bool := Pos.eqb (name_of (orbit n) n) (name_of (orbit n') n').

  (** The same but for one entry, on a node of the same orbit; all else is on nodes that stay. *)
  Definition alternatives_alike (x y : alternative) : bool :=
    match filter moves x, filter moves y with
    | [((p, n), c)], [((p', n'), c')] =>
      Pos.eqb p p' && (c =? c') && same_orbit n n'
      && same_list (filter (fun entry => negb (moves entry)) x) (filter (fun entry => negb (moves entry)) y)
    | _, _ => same_list x y
    end.
End Alike.

Lemma lookup_filter (keep : atom -> bool) (l : alternative) a :
  lookup (filter (fun entry => keep (fst entry)) l) a = if keep a then lookup l a else 0.
Proof.
  induction l as [|[b n] rest IH]; simpl; [now destruct (keep a)|].
  destruct (keep b) eqn:kb; simpl; [destruct (eq_dec b a) as [->|]; [now rewrite kb|assumption]|].
  rewrite IH. destruct (eq_dec b a) as [->|]; [now rewrite kb|reflexivity].
Qed.

(** ** The checker *)

Section Check.
  Variable q : question.
  Notation m := (cluster q).
  (** The types that may matter to the groups; the checker tests that these are all. *)
  Variable helpers : list id.

  (** What the start has, and the orbit of each node. *)
  Variable runs : atom -> N.
  Variable orbit : id -> list id.

  (** Of each type that can matter, what some node of the orbit has; of the others, what is kept. *)
  Definition most_there (a : atom) : N :=
    if has_id helpers (fst a)
    then fold_right N.max 0 (map (fun n => runs (fst a, n)) (orbit (snd a)))
    else lookup (stays q) a.

  Definition above (most : atom -> N) : list (atom * N) :=
    flat_map (fun a => if most a =? 0 then [] else [(a, most a)]) (atoms m).

  Definition from (start_ : list (atom * N)) : question :=
    {| cluster := m; begins := start_; stays := stays q; dying := dying q; waits := waits q |}.

  (** What an alternative has of the types that matter. *)
  Definition restricted (x : alternative) : alternative := filter (fun entry => matters helpers (fst entry)) x.

  (** Exchanges stay within orbits, and the start above is the same on all nodes of one. *)
  Definition consistent (most : atom -> N) (e : listing) : bool :=
    forallb (fun '(f, t) => (Pos.eqb f t || is_moved (orbit f))
                            && forallb (fun p => most (p, t) =? most (p, f)) helpers) e.
End Check.

(** Where pods wait is no node: no exchange moves it or names it. *)
Definition stays_put (exchanges : list listing) (orbit : id -> list id) (waiting : id * atom) : bool :=
  negb (is_moved (orbit (snd (snd waiting)))) && negb (existsb (fun e => has_id (map fst e) (snd (snd waiting))) exchanges).

(** Accepts a goal, if each alternative is alike to one that is ruled out and that a
    checker accepts for the start above. *)
Definition accepts_by_orbits (q : question) (exchanges : list listing) (helpers : list id)
           (ruled_out : alternative -> bool) (accepts : question -> list alternative -> bool)
           (g : list alternative) : bool :=
  sensible q
  && forallb (is_exchange q (all_keys q) (all_matchers q)) exchanges
  && closed q helpers
  && remembering (lookup (begins q)) (fun runs =>
     remembering (orbit_of (orbits (nodes (cluster q)) exchanges)) (fun orbit =>
     remembering (most_there q helpers runs orbit) (fun most =>
     let q' := from q (above q most) in
     let chosen := filter (fun x => ruled_out (restricted helpers x)) g in
     forallb (consistent helpers orbit most) exchanges
     && forallb (stays_put exchanges orbit) (waits q)
     && forallb (fun x => existsb (alternatives_alike orbit x) chosen) g
     && accepts q' (map (restricted helpers) chosen)))).

Section Sound.
  Variables (q : question) (exchanges : list listing) (helpers : list id).
  Notation m := (cluster q).
  Notation orbit := (orbit_of (orbits (nodes m) exchanges)).
  Notation most := (most_there q helpers (lookup (begins q)) orbit).

  Hypothesis ok : sensible q = true.
  Hypothesis all_are : forallb (is_exchange q (all_keys q) (all_matchers q)) exchanges = true.
  Hypothesis is_closed : closed q helpers = true.
  Hypothesis all_consistent : forallb (consistent helpers orbit most) exchanges = true.
  Hypothesis waits_apart : forallb (stays_put exchanges orbit) (waits q) = true.

  (** An exchange that changes nothing about kept pods and the start above, and leaves nodes that do not move. *)
  Record harmless (there back : id -> id) : Prop := {
    rules_same : exchange m there back;
    kept_same : forall a, lookup (stays q) (moved there a) = lookup (stays q) a;
    most_same : forall p n, most (p, there n) = most (p, n);
    others_stay : forall n, is_moved (orbit n) = false -> there n = n;
  }.

  Definition way (n n' : id) : Prop := exists there back, harmless there back /\ there n = n'.

  Lemma way_refl n : way n n.
  Proof. exists (fun n => n), (fun n => n). split; [|reflexivity]. split; auto. - apply no_exchange. apply (parts q ok). - now intros []. Qed.

  Lemma way_back n n' : way n n' -> way n' n.
  Proof.
    intros [there [back [[E kept_ most_ stay_] is]]]. exists back, there. split; [split|].
    - now apply exchange_back.
    - intros [p k]. rewrite <- kept_. unfold moved. simpl. now rewrite (back_and_there _ _ _ E).
    - intros p k. now rewrite <- most_, (back_and_there _ _ _ E).
    - intros k out. rewrite <- (stay_ k out) at 1. apply (there_and_back _ _ _ E).
    - rewrite <- is. apply (there_and_back _ _ _ E).
  Qed.

  Lemma way_on n n' n'' : way n n' -> way n' n'' -> way n n''.
  Proof.
    intros [there [back [[E kept_ most_ stay_] is]]] [there' [back' [[E' kept_' most_' stay_'] is']]].
    exists (fun k => there' (there k)), (fun k => back (back' k)). split; [split|].
    - now apply exchange_then.
    - intros [p k]. transitivity (lookup (stays q) (p, there k)); [apply (kept_' (p, there k))|apply (kept_ (p, k))].
    - intros p k. now rewrite most_', most_.
    - intros k out. now rewrite stay_, stay_'.
    - now rewrite is.
  Qed.

  Lemma each_harmless e : In e exchanges -> harmless (goes e) (comes e).
  Proof.
    intros e_in. rewrite forallb_forall in all_are, all_consistent.
    destruct (is_exchange_spec q ok e (all_are e e_in)) as [E kept_]. specialize (all_consistent e e_in). unfold consistent in all_consistent.
    rewrite forallb_forall in all_consistent. split; auto.
    - intros p n. destruct (has_id helpers p) eqn:p_in.
      + apply (goes_same (fun n => most (p, n))). intros f t in_. specialize (all_consistent _ in_). simpl in all_consistent.
        apply andb_true_iff in all_consistent. destruct all_consistent as [_ same_]. rewrite forallb_forall in same_.
        apply N.eqb_eq, same_. now apply has_id_spec.
      + unfold most_there. simpl. rewrite p_in. apply (kept_ (p, n)).
    - intros n out. destruct (goes_spec e n) as [pair|[_ is]]; [|assumption]. specialize (all_consistent _ pair). simpl in all_consistent.
      rewrite out, orb_false_r in all_consistent. apply andb_true_iff in all_consistent. destruct all_consistent as [same_ _].
      now apply Pos.eqb_eq in same_.
  Qed.

  Lemma all_ways : ways way (orbits (nodes m) exchanges).
  Proof.
    apply (orbits_ways way way_refl way_back way_on). intros e f t e_in in_. exists (goes e), (comes e). split; [now apply each_harmless|].
    destruct (goes_spec e f) as [pair|[out _]]; [|apply (in_map fst) in in_; contradiction].
    rewrite forallb_forall in all_are. pose proof (all_are e e_in) as is. apply andb_true_iff in is. destruct is as [perm _].
    now apply (same_to e perm f).
  Qed.

  Lemma same_orbit_way n n' : same_orbit orbit n n' = true -> way n n'.
  Proof.
    unfold same_orbit. rewrite Pos.eqb_eq. intros same_. apply (way_on n (name_of (orbit n) n)).
    - apply (name_way way way_refl). exact all_ways.
    - rewrite same_. apply way_back, (name_way way way_refl). exact all_ways.
  Qed.

  (** An alternative is what some exchange leads to one that is alike. *)
  Lemma alike_led x y : alternatives_alike orbit x y = true ->
    exists there back, harmless there back /\ forall a, lookup y (moved there a) <= lookup x a.
  Proof.
    unfold alternatives_alike.
    assert (plainly : same_list x y = true -> exists there back, harmless there back /\ forall a, lookup y (moved there a) <= lookup x a).
    { intros same_. apply same_list_spec in same_. subst. exists (fun n => n), (fun n => n). split.
      - split; auto; [apply no_exchange; apply (parts q ok)|now intros []].
      - intros [p n]. unfold moved. simpl. lia. }
    destruct (filter (moves orbit) x) as [|[[p n] c] [|more xs]] eqn:fx; auto.
    destruct (filter (moves orbit) y) as [|[[p' n'] c'] [|more' ys]] eqn:fy; auto. clear plainly.
    rewrite !andb_true_iff, Pos.eqb_eq, N.eqb_eq. intros [[[<- <-] near_] rest]. apply same_list_spec in rest.
    destruct (same_orbit_way n n' near_) as [there [back [h is]]]. exists there, back. split; [assumption|]. intros [r k]. unfold moved. simpl.
    assert (moving : forall z j, lookup (filter (moves orbit) z) (r, j) = if is_moved (orbit j) then lookup z (r, j) else 0).
    { intros z j. exact (lookup_filter (fun a => is_moved (orbit (snd a))) z (r, j)). }
    assert (staying : forall z j, lookup (filter (fun entry => negb (moves orbit entry)) z) (r, j) = if negb (is_moved (orbit j)) then lookup z (r, j) else 0).
    { intros z j. exact (lookup_filter (fun a => negb (is_moved (orbit (snd a)))) z (r, j)). }
    pose proof (moving y (there k)) as moving_y. pose proof (moving x k) as moving_x.
    pose proof (staying y (there k)) as staying_y. pose proof (staying x k) as staying_x.
    rewrite fx in moving_x. rewrite fy in moving_y. rewrite rest in staying_x. simpl in moving_x, moving_y, staying_x, staying_y.
    destruct (is_moved (orbit (there k))) eqn:moves_there; simpl in *.
    - destruct (@eq_dec atom _ (p, n') (r, there k)) as [e|]; [|lia]. injection e as <- e.
      assert (n = k) as <-. { rewrite <- (there_and_back _ _ _ (rules_same _ _ h) n), is, e. apply (there_and_back _ _ _ (rules_same _ _ h)). }
      destruct (@eq_dec atom _ (p, n) (p, n)); [|contradiction].
      destruct (is_moved (orbit n)) eqn:out; [lia|]. exfalso.
      assert (moved_n : In ((p, n), c) (filter (moves orbit) x)) by (rewrite fx; now left). apply filter_In in moved_n.
      destruct moved_n as [_ moved_n]. unfold moves in moved_n. simpl in moved_n. congruence.
    - assert (back_ : there k = k).
      { pose proof (f_equal back (others_stay _ _ h _ moves_there)) as still. now rewrite !(there_and_back _ _ _ (rules_same _ _ h)) in still. }
      rewrite back_ in *. rewrite moves_there in *. simpl in *. lia.
  Qed.

  Lemma lookup_above a : In a (atoms m) -> lookup (above q most) a = most a.
  Proof.
    unfold above. induction (atoms m) as [|b rest IH]; [contradiction|]. intros a_in. cbn [flat_map].
    destruct (eq_dec b a) as [->|other].
    - destruct (most a =? 0) eqn:zero; simpl; [|destruct (eq_dec a a); [reflexivity|contradiction]].
      apply N.eqb_eq in zero. destruct (N.eq_dec (lookup (flat_map (fun a => if most a =? 0 then [] else [(a, most a)]) rest) a) 0) as [|some]; [congruence|].
      apply lookup_listed, in_map_iff in some. destruct some as [[a' n] [<- some]]. apply in_flat_map in some. destruct some as [c [_ some]].
      simpl in *. destruct (most c =? 0) eqn:zc; [contradiction|]. destruct some as [[= <- <-]|[]]. rewrite zero in zc. discriminate.
    - destruct a_in as [|a_in]; [contradiction|]. destruct (most b =? 0); simpl; [auto|]. destruct (eq_dec b a); [contradiction|auto].
  Qed.

  (** The start, as far as it matters, is led below the start above. *)
  Lemma led_below there back : harmless there back ->
    image (moved_from back) (sliced (cluster_problem q) (matters helpers) (lookup (begins q))) ≼ lookup (above q most).
  Proof.
    intros h [p n]. destruct (parts q ok) as [_ [_ [_ [listed [low _]]]]]. unfold image, sliced, moved_from. simpl.
    destruct (in_dec eq_dec (p, back n) (atoms m)) as [a_in|out].
    - assert (there_in : In (p, n) (atoms m)).
      { apply (moved_listed _ _ _ (rules_same _ _ h)) in a_in. unfold moved in a_in. simpl in a_in.
        now rewrite (back_and_there _ _ _ (rules_same _ _ h)) in a_in. }
      rewrite lookup_above by assumption. rewrite <- (back_and_there _ _ _ (rules_same _ _ h) n), (most_same _ _ h), (back_and_there _ _ _ (rules_same _ _ h)).
      unfold matters, most_there. simpl. destruct (has_id helpers p); [|lia].
      pose proof (orbit_has (orbits (nodes m) exchanges) (back n)) as n_in. induction (orbit (back n)) as [|k rest IH]; [contradiction|].
      simpl. destruct n_in as [->|n_in]; [lia|]. specialize (IH n_in). lia.
    - assert (zero : lookup (begins q) (p, back n) = 0) by now apply listed. specialize (low (p, back n)). simpl.
      destruct (matters helpers (p, back n)); lia.
  Qed.

  Lemma lookup_restricted x a : lookup (restricted helpers x) a = if matters helpers a then lookup x a else 0.
  Proof. apply lookup_filter. Qed.

  Lemma waits_still there back : harmless there back -> forall p w, consumed q p = Some w -> moved there w = w.
  Proof.
    intros h p [r n] uses. apply consumed_waits in uses. rewrite forallb_forall in waits_apart. specialize (waits_apart _ uses).
    unfold stays_put in waits_apart. apply andb_true_iff in waits_apart. destruct waits_apart as [apart _].
    apply negb_true_iff in apart. unfold moved. simpl in *. now rewrite (others_stay _ _ h n apart).
  Qed.

  (** One alternative speaks for those that are alike. *)
  Theorem never_of_alike x y : alternatives_alike orbit x y = true ->
    never (cluster_problem (from q (above q most))) [lookup (restricted helpers y)] -> never (cluster_problem q) [lookup x].
  Proof.
    intros same_ no. destruct (alike_led x y same_) as [there [back [h led_]]]. destruct (parts q ok) as [_ [_ [_ [_ [low _]]]]].
    assert (low' : lookup (stays q) ≼ sliced (cluster_problem q) (matters helpers) (lookup (begins q))).
    { intros a. unfold sliced. simpl. specialize (low a). destruct (matters helpers a); lia. }
    pose proof (never_elsewhere q there back (rules_same _ _ h) (kept_same _ _ h) (waits_still there back h) _ (above q most) _ low' (led_below there back h) no) as sliced_no.
    assert (whole : never (cluster_problem q) (moved_back (moved there) [lookup (restricted helpers y)])).
    { apply (never_of_helpers q helpers is_closed ok); [|exact sliced_no]. intros alternative a [<-|[]] out. simpl.
      rewrite lookup_restricted. unfold matters, moved in *. simpl. now rewrite out. }
    intros s r [alternative [[<-|[]] covered]]. apply (whole s r). eexists. split; [now left|]. intros a. simpl.
    rewrite lookup_restricted. specialize (led_ a). specialize (covered a). destruct (matters helpers (moved there a)); lia.
  Qed.
End Sound.

(** What it accepts is so, if what the checker that it asks accepts is. *)
Theorem accepts_by_orbits_sound q exchanges helpers ruled_out accepts g :
  (forall q' g', accepts q' g' = true -> never (cluster_problem q') (map lookup g')) ->
  accepts_by_orbits q exchanges helpers ruled_out accepts g = true -> never (cluster_problem q) (map lookup g).
Proof.
  intros sound. unfold accepts_by_orbits, remembering. rewrite !andb_true_iff. intros [[[ok all_are] is_closed] [[[consistent_ apart] each_] accepted]].
  apply sound in accepted. rewrite forallb_forall in each_. intros s r [alternative [g_in covered]].
  apply in_map_iff in g_in. destruct g_in as [x [<- x_in]]. specialize (each_ x x_in). apply existsb_exists in each_.
  destruct each_ as [y [y_in same_]].
  apply (never_of_alike q exchanges helpers ok all_are is_closed consistent_ apart x y same_) with (s := s);
    [|assumption|exists (lookup x); split; [now left|assumption]].
  intros t rt [alternative [[<-|[]] met]]. apply (accepted t rt). exists (lookup (restricted helpers y)). split; [|assumption].
  apply in_map. now apply in_map.
Qed.

(** ** The checker of clusters, with exchanges *)

Section Question.
  (** Of each class, what an alternative has besides the kept pods. *)
  Definition in_classes (of_ : atom -> atom) (kept_ : list (atom * N)) (x : alternative) : configuration atom := fun c =>
    fold_right (fun '(a, n) rest => if is_atom (of_ a) c then n - lookup kept_ a + rest else rest) 0 x.

  (** Whether some group is within an alternative.  Nothing depends on it: what is chosen by it is checked again. *)
  Definition rules_out (of_ : atom -> atom) (kept_ : list (atom * N)) (groups : list (list (atom * N))) (x : alternative) : bool :=
    contains_one groups (in_classes of_ kept_ x).

  Definition groups_of (q : question) (classes : list (list atom)) (forbidden : list (list (nat * N))) : list (list (atom * N)) :=
    match traverse (named classes) forbidden with Some groups => map (group_besides q classes) groups | None => [] end.

  Definition accepts_exchanged (q : question) (fuel : nat) (g : list alternative) (classes : list (list atom))
             (forbidden : list (list (nat * N))) (exchanges : list listing) (helpers : list id)
             (face : id -> id) (keys : list id) : bool :=
    forallb (same_faces q face keys) exchanges
    && remembering (class_of classes) (fun of_ =>
    accepts_by_orbits q exchanges helpers (rules_out of_ (stays q) (groups_of q classes forbidden))
      (fun q' g' => accepts_never q' fuel g' classes forbidden) g).

  (** An accepted _never_ with exchanges is one. *)
  Theorem accepts_exchanged_sound q fuel g classes forbidden exchanges helpers face keys :
    accepts_exchanged q fuel g classes forbidden exchanges helpers face keys = true -> never (cluster_problem q) (map lookup g).
  Proof.
    unfold accepts_exchanged. rewrite andb_true_iff. intros [_ accepted]. revert accepted.
    apply accepts_by_orbits_sound. intros q' g'. apply accepts_never_sound.
  Qed.

  (** Choices, each of which has an alternative in it. *)
  Definition covers (g choices : list alternative) : bool :=
    forallb (fun x => existsb (fun y => contained y (lookup x)) g) choices.

  Theorem covers_sound (P : problem atom) g choices :
    covers g choices = true -> never P (map lookup g) -> never P (map lookup choices).
  Proof.
    unfold covers. rewrite forallb_forall. intros each_ no s r [alternative [in_ covered]].
    apply in_map_iff in in_. destruct in_ as [x [<- x_in]]. specialize (each_ x x_in). apply existsb_exists in each_.
    destruct each_ as [y [y_in within_]]. apply contained_spec in within_. apply (no s r). exists (lookup y).
    split; [now apply in_map|]. eapply within_trans; eassumption.
  Qed.
End Question.
