(** * Guards: what the rules ask of one pod on one node, as four shapes over counts

<<
    AtMost(w, b)           Σ w(a) · s(a) ≤ b
    Distinct(w, G, b, H)   Σ w(a) · s(a) + |{ g ∈ G : Σ s(g) ≥ 1 }| ≤ b   ∨   (H ≠ ∅  ∧  ∀ h ∈ H: Σ s(h) ≥ 1)
    Affinity(L, G)         (∀ l ∈ L: Σ s(l) ≥ 1)   ∨   (the pod may be the first  ∧  Σ s(G) = 0)
    Spread(D, own, …)      s(own) + joins − min { s(d) : d ∈ D } ≤ maxSkew
>>
    Each shape can be answered in three ways where it does not hold: it is
    _exceeded_, and more pods do not help; or some pod of a group is _needed_,
    and whatever helps has one more of them.  The lemmas of this file say so,
    and the checker's search needs nothing else (Search.v).

    conditions/guard.rs. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration.
Import ListNotations.
Open Scope N_scope.

Record at_most (A : Type) := { weights : list (A * N); bound : N }.

Record distinct (A : Type) := {
  (** Atoms of which each instance counts, with how much. *)
  each : list (A * N);
  (** Atoms that share one thing, which counts once if any of them is there. *)
  groups : list (list A);
  (** The most that may be. *)
  room : N;
  (** The bound is irrelevant if each of these has a member; without any, it never is. *)
  unless : list (list A);
}.

Record affinity (A : Type) := {
  (** One group per topology key: the atoms that are near enough. *)
  near : list (list A);
  (** The atoms whose absence lets the pod be the first, where it may be. *)
  first_unless : option (list A);
}.

Record domain (A : Type) := {
  (** The atoms counted here. *)
  members : list A;
  (** Kept pods counted here. *)
  base : N;
}.

Record spread (A : Type) := {
  domains : list (domain A);
  (** The pod's own domain. *)
  own : domain A;
  (** One if the pod itself counts. *)
  joins : N;
  max_skew : N;
}.

(** What deploying an atom asks: all conditions must hold. *)
Record guard (A : Type) := {
  bounds : list (at_most A);
  distincts : list (distinct A);
  affinities : list (affinity A);
  spreads : list (spread A);
}.

Arguments weights {A}.    Arguments bound {A}.
Arguments each {A}.       Arguments groups {A}.  Arguments room {A}.  Arguments unless {A}.
Arguments near {A}.       Arguments first_unless {A}.
Arguments members {A}.    Arguments base {A}.
Arguments domains {A}.    Arguments own {A}.     Arguments joins {A}. Arguments max_skew {A}.
Arguments bounds {A}.     Arguments distincts {A}.
Arguments affinities {A}. Arguments spreads {A}.

Section Meaning.
  Context {A : Type}.
  Implicit Types (s t : configuration A) (group : list A).

  Definition is_empty group s : bool := count group s =? 0.

  Definition at_most_holds (c : at_most A) s : bool := total (weights c) s <=? bound c.

  Fixpoint present_groups (gs : list (list A)) s : N :=
    match gs with
    | [] => 0
    | g :: rest => (if is_empty g s then 0 else 1) + present_groups rest s
    end.

  Definition distinct_fits (c : distinct A) s : bool :=
    total (each c) s + present_groups (groups c) s <=? room c.

  (** The first of some groups that has no member. *)
  Definition first_empty (gs : list (list A)) s : option (list A) := find (fun g => is_empty g s) gs.

  Definition is_none {B} (o : option B) : bool := match o with None => true | Some _ => false end.
  Definition is_nil {B} (l : list B) : bool := match l with [] => true | _ => false end.

  Definition distinct_holds (c : distinct A) s : bool :=
    distinct_fits c s || (negb (is_nil (unless c)) && is_none (first_empty (unless c) s)).

  Definition may_be_first (c : affinity A) s : bool :=
    match first_unless c with None => false | Some g => is_empty g s end.

  (** A local group without a member, unless the pod may be the first. *)
  Definition lonely (c : affinity A) s : option (list A) :=
    if may_be_first c s then None else first_empty (near c) s.

  Definition affinity_holds (c : affinity A) s : bool := is_none (lonely c s).

  Definition size (d : domain A) s : N := base d + count (members d) s.

  (** A domain that is too far behind the own one. *)
  Definition behind (c : spread A) s : option (domain A) :=
    find (fun d => max_skew c + size d s <? size (own c) s + joins c) (domains c).

  Definition spread_holds (c : spread A) s : bool := is_none (behind c s).

  Definition holds (g : guard A) s : bool :=
    forallb (fun c => at_most_holds c s) (bounds g)
    && forallb (fun c => distinct_holds c s) (distincts g)
    && forallb (fun c => affinity_holds c s) (affinities g)
    && forallb (fun c => spread_holds c s) (spreads g).

  (** ** What it takes to make a guard hold *)

  (** A bound does not hold, whatever else there is. *)
  Definition exceeds (g : guard A) s : bool :=
    negb (forallb (fun c => at_most_holds c s) (bounds g)
          && forallb (fun c => distinct_fits c s || negb (is_nil (unless c))) (distincts g)).

  (** The first answer that is one. *)
  Fixpoint first_some {B C} (f : B -> option C) (l : list B) : option C :=
    match l with
    | [] => None
    | b :: rest => match f b with Some c => Some c | None => first_some f rest end
    end.

  Definition lacking (c : distinct A) s : option (list A) :=
    if distinct_fits c s then None else first_empty (unless c) s.

  (** Atoms of which one more must be there for the guard to hold. *)
  Definition needed (g : guard A) s : option (list A) :=
    match first_some (fun c => lonely c s) (affinities g) with
    | Some group => Some group
    | None =>
      match first_some (fun c => lacking c s) (distincts g) with
      | Some group => Some group
      | None => option_map members (first_some (fun c => behind c s) (spreads g))
      end
    end.
End Meaning.

(** ** Guards under growing configurations *)

Section Growth.
  Context {A : Type}.
  Implicit Types (s t : configuration A) (group : list A).

  Lemma empty_below group s t : s ≼ t -> is_empty group t = true -> is_empty group s = true.
  Proof.
    unfold is_empty. rewrite !N.eqb_eq. intros st zero.
    pose proof (count_mono group s t st). lia.
  Qed.

  Lemma present_groups_mono gs s t : s ≼ t -> present_groups gs s <= present_groups gs t.
  Proof.
    intros st. induction gs as [|g rest IH]; simpl; [lia|].
    pose proof (empty_below g s t st).
    destruct (is_empty g s), (is_empty g t); lia.
  Qed.

  Lemma at_most_below c s t : s ≼ t -> at_most_holds c t = true -> at_most_holds c s = true.
  Proof.
    unfold at_most_holds. rewrite !N.leb_le. intros st.
    pose proof (total_mono (weights c) s t st). lia.
  Qed.

  Lemma distinct_fits_below c s t : s ≼ t -> distinct_fits c t = true -> distinct_fits c s = true.
  Proof.
    unfold distinct_fits. rewrite !N.leb_le. intros st.
    pose proof (total_mono (each c) s t st). pose proof (present_groups_mono (groups c) s t st). lia.
  Qed.

  (** A group that is empty in [s] and not in [t] has a member that came. *)
  Lemma empty_grew group s t :
    is_empty group s = true -> is_empty group t = false -> exists a, In a group /\ s a < t a.
  Proof.
    unfold is_empty. rewrite N.eqb_eq, N.eqb_neq. intros zero some. apply count_grew. lia.
  Qed.

  Lemma first_empty_grew gs s t group :
    first_empty gs s = Some group -> first_empty gs t = None ->
    exists a, In a group /\ s a < t a.
  Proof.
    intros found none. apply find_some in found. destruct found as [g_in zero].
    apply (find_none _ _ none) in g_in. eauto using empty_grew.
  Qed.

  Lemma is_none_true {B} (o : option B) : is_none o = true <-> o = None.
  Proof. destruct o; simpl; intuition congruence. Qed.

  Lemma first_some_some {B C} (f : B -> option C) l c :
    first_some f l = Some c -> exists b, In b l /\ f b = Some c.
  Proof.
    induction l as [|b rest IH]; simpl; [discriminate|].
    destruct (f b) eqn:fb; [|intros found; destruct (IH found) as [b' []]; eauto].
    intros [= <-]. eauto.
  Qed.

  Lemma first_some_none {B C} (f : B -> option C) l :
    first_some f l = None <-> forall b, In b l -> f b = None.
  Proof.
    induction l as [|b rest IH]; simpl; [intuition|].
    destruct (f b) eqn:fb.
    - split; [discriminate|]. intros all. specialize (all b). intuition congruence.
    - rewrite IH. split; intros all b'; [intros [<-|]|]; auto.
  Qed.

  Lemma lonely_grew c s t group :
    s ≼ t -> lonely c s = Some group -> affinity_holds c t = true ->
    exists a, In a group /\ s a < t a.
  Proof.
    unfold affinity_holds, lonely, may_be_first. rewrite is_none_true. intros st.
    destruct (first_unless c) as [others|].
    - destruct (is_empty others s) eqn:alone; [discriminate|]. intros found.
      destruct (is_empty others t) eqn:later.
      + apply (empty_below others s t st) in later. congruence.
      + eauto using first_empty_grew.
    - eauto using first_empty_grew.
  Qed.

  Lemma lacking_grew c s t group :
    s ≼ t -> lacking c s = Some group -> distinct_holds c t = true ->
    exists a, In a group /\ s a < t a.
  Proof.
    unfold lacking, distinct_holds. intros st.
    destruct (distinct_fits c s) eqn:fits; [discriminate|]. intros found ok.
    apply orb_true_iff in ok. destruct ok as [later|ok].
    - apply (distinct_fits_below c s t st) in later. congruence.
    - apply andb_true_iff in ok. rewrite is_none_true in ok. destruct ok.
      eauto using first_empty_grew.
  Qed.

  Lemma behind_grew c s t d :
    s ≼ t -> behind c s = Some d -> spread_holds c t = true ->
    exists a, In a (members d) /\ s a < t a.
  Proof.
    unfold spread_holds. rewrite is_none_true. unfold behind. intros st found ok.
    apply find_some in found. destruct found as [d_in far].
    apply (find_none _ _ ok) in d_in. rewrite N.ltb_lt in far. rewrite N.ltb_ge in d_in.
    pose proof (count_mono (members (own c)) s t st).
    apply count_grew. unfold size in *. lia.
  Qed.

  (** Once exceeded, always exceeded. *)
  Lemma exceeds_stays g s t : s ≼ t -> exceeds g s = true -> holds g t = false.
  Proof.
    intros st over. destruct (holds g t) eqn:ok; [|reflexivity].
    unfold holds in ok. rewrite !andb_true_iff, !forallb_forall in ok.
    destruct ok as [[[most dist] _] _].
    enough (exceeds g s = false) by congruence.
    unfold exceeds. rewrite negb_false_iff, andb_true_iff, !forallb_forall. split.
    - intros c c_in. eauto using at_most_below.
    - intros c c_in. specialize (dist c c_in). unfold distinct_holds in dist.
      rewrite orb_true_iff, andb_true_iff in *.
      destruct dist as [fits|[some _]]; eauto using distinct_fits_below.
  Qed.

  (** Where a guard comes to hold, one more of the needed atoms is there. *)
  Lemma needed_grew g s t group :
    s ≼ t -> needed g s = Some group -> holds g t = true ->
    exists a, In a group /\ s a < t a.
  Proof.
    intros st need ok. unfold holds in ok.
    rewrite !andb_true_iff, !forallb_forall in ok. destruct ok as [[[_ dist] aff] spr].
    unfold needed in need.
    destruct (first_some _ (affinities g)) as [l|] eqn:found.
    { injection need as <-. apply first_some_some in found. destruct found as [c []]. eauto using lonely_grew. }
    destruct (first_some _ (distincts g)) as [l|] eqn:found'.
    { injection need as <-. apply first_some_some in found'. destruct found' as [c []]. eauto using lacking_grew. }
    destruct (first_some _ (spreads g)) as [d|] eqn:found''; [|discriminate].
    injection need as <-. apply first_some_some in found''. destruct found'' as [c []]. eauto using behind_grew.
  Qed.

  (** A guard that is not exceeded and needs nothing holds: the three answers
      are all there are, so the search is exact. *)
  Lemma holds_otherwise g s : exceeds g s = false -> needed g s = None -> holds g s = true.
  Proof.
    unfold exceeds, needed. rewrite negb_false_iff, andb_true_iff, !forallb_forall.
    intros [most dist] need.
    destruct (first_some _ (affinities g)) eqn:aff; [discriminate|].
    destruct (first_some _ (distincts g)) eqn:lack; [discriminate|].
    destruct (first_some _ (spreads g)) eqn:spr; [discriminate|].
    pose proof (proj1 (first_some_none _ _) aff) as none_lonely.
    pose proof (proj1 (first_some_none _ _) lack) as none_lacking.
    pose proof (proj1 (first_some_none _ _) spr) as none_behind.
    unfold holds. rewrite !andb_true_iff, !forallb_forall. repeat split; auto.
    - intros c c_in. specialize (none_lacking c c_in). specialize (dist c c_in).
      unfold lacking, distinct_holds in *. destruct (distinct_fits c s); [reflexivity|].
      simpl in *. now rewrite dist, none_lacking.
    - intros c c_in. unfold affinity_holds. now rewrite none_lonely.
    - intros c c_in. unfold spread_holds. now rewrite none_behind.
  Qed.

  (** Guards look at counts alone. *)
  Lemma holds_same g s t : s ≐ t -> holds g s = holds g t.
  Proof.
    intros e.
    assert (E : forall group, is_empty group s = is_empty group t).
    { intros group. unfold is_empty. now rewrite (count_same group s t e). }
    assert (F : forall gs, first_empty gs s = first_empty gs t).
    { intros gs. unfold first_empty. induction gs as [|g' rest IH]; simpl; [reflexivity|].
      now rewrite E, IH. }
    assert (N : forall gs, present_groups gs s = present_groups gs t).
    { induction gs as [|g' rest IH]; simpl; [reflexivity|]. now rewrite E, IH. }
    assert (L : forall B (p q : B -> bool) l, (forall b, p b = q b) -> forallb p l = forallb q l).
    { intros B p q l pq. induction l as [|b rest IH]; simpl; [reflexivity|]. now rewrite pq, IH. }
    unfold holds. f_equal; [f_equal; [f_equal|]|]; apply L; intros c.
    - unfold at_most_holds. now rewrite (total_same _ s t e).
    - unfold distinct_holds, distinct_fits. now rewrite (total_same _ s t e), N, F.
    - unfold affinity_holds, lonely, may_be_first. rewrite F.
      destruct (first_unless c); [now rewrite E|reflexivity].
    - unfold spread_holds, behind. f_equal. unfold size. rewrite (count_same _ s t e).
      induction (domains c) as [|d rest IH]; simpl; [reflexivity|].
      now rewrite (count_same _ s t e), IH.
  Qed.
End Growth.
