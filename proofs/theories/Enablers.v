(** * What a guard needs has finitely many least configurations

    Where a guard holds, it holds of less too, as long as its witnesses and
    counterweights are there: of each affinity a member of every group, unless the
    pod may be the first; of each limit on volumes a pod that uses each volume,
    unless there is room; and of each spread, enough in every domain for what is in the
    own one.  These are linear inequalities once it is settled which exceptions
    are made use of, so the least configurations above a given one where the
    guard holds can be computed (Linear.v).

    engine/backward.rs; check/forbidden.rs. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Guard Folding Linear.
Import ListNotations.
Open Scope N_scope.

Section Enablers.
  Context {A : Type} `{Eq_dec A}.
  Variable all : list A.
  Hypothesis listed : forall a, In a all.
  Implicit Types (s t u : configuration A) (g : guard A) (group : list A).

  Definition demand : Type := inequality (option A).

  Definition ones group : list (option A * N) := map (fun a => (Some a, 1)) group.

  Lemma total_ones group u : total (ones group) (with_one u) = count group u.
  Proof. unfold ones. induction group as [|a rest IH]; simpl; [reflexivity|]. rewrite IH. lia. Qed.

  (** ** Demands *)

  Definition at_least s (a : A) : demand := {| less := [(None, s a)]; more := [(Some a, 1)] |}.

  Definition has_member group : demand := {| less := [(None, 1)]; more := ones group |}.

  Definition keeps_up (c : spread A) (d : domain A) : demand := {|
    less := (None, base (own c) + joins c) :: ones (members (own c));
    more := (None, max_skew c + base d) :: ones (members d);
  |}.

  Lemma at_least_spec s a u : satisfies (at_least s a) (with_one u) <-> s a <= u a.
  Proof. unfold satisfies. simpl. lia. Qed.

  Lemma has_member_spec group u : satisfies (has_member group) (with_one u) <-> is_empty group u = false.
  Proof. unfold satisfies, is_empty. simpl. rewrite total_ones, N.eqb_neq. lia. Qed.

  Lemma keeps_up_spec c d u :
    satisfies (keeps_up c d) (with_one u) <-> size (own c) u + joins c <= max_skew c + size d u.
  Proof. unfold satisfies, size. simpl. rewrite !total_ones. lia. Qed.

  (** ** Exceptions *)

  (** All ways to leave out what some of a list demand. *)
  Fixpoint ways {B} (demands : B -> list demand) (l : list B) : list (list demand) :=
    match l with
    | [] => [[]]
    | b :: rest => ways demands rest ++ map (app (demands b)) (ways demands rest)
    end.

  Definition unless_excepted {B} (excepted : B -> bool) (demands : B -> list demand) (l : list B) : list demand :=
    flat_map (fun b => if excepted b then [] else demands b) l.

  Lemma ways_all {B} (excepted : B -> bool) demands (l : list B) :
    In (unless_excepted excepted demands l) (ways demands l).
  Proof.
    induction l as [|b rest IH]; simpl; [now left|]. apply in_or_app.
    destruct (excepted b); [now left|right]. now apply in_map.
  Qed.

  Definition friends (c : affinity A) : list demand := map has_member (near c).
  Definition volumes_used (c : distinct A) : list demand := map has_member (unless c).
  Definition counterweights g : list demand := flat_map (fun c => map (keeps_up c) (domains c)) (spreads g).

  (** Least configurations above [s] where the guard holds, and others. *)
  Definition enablers g s : list (configuration A) :=
    filter (holds g)
      (flat_map (fun fs =>
       flat_map (fun vs => least_solutions all (map (at_least s) all ++ fs ++ vs ++ counterweights g))
                (ways volumes_used (distincts g)))
                (ways friends (affinities g))).

  Theorem enablers_sound g s u : In u (enablers g s) -> s ≼ u /\ holds g u = true.
  Proof.
    unfold enablers. rewrite filter_In. intros [u_in ok]. split; [|assumption].
    apply in_flat_map in u_in. destruct u_in as [fs [_ u_in]]. apply in_flat_map in u_in. destruct u_in as [vs [_ u_in]].
    intros a. apply at_least_spec. apply (least_solutions_sound all _ _ u_in). apply in_or_app. left. now apply in_map.
  Qed.

  (** Less is enough, if it meets the demands that the exceptions leave. *)
  Lemma holds_below g t u : u ≼ t -> holds g t = true ->
    solves (unless_excepted (fun c => may_be_first c t) friends (affinities g)) u ->
    solves (unless_excepted (fun c => distinct_fits c t) volumes_used (distincts g)) u ->
    solves (counterweights g) u ->
    holds g u = true.
  Proof.
    intros ut ok near_ used even_. unfold holds in *. rewrite !andb_true_iff, !forallb_forall in *.
    destruct ok as [[[most dist] aff] spr].
    assert (all_have : forall gs, (forall group, In group gs -> satisfies (has_member group) (with_one u)) -> is_none (first_empty gs u) = true).
    { intros gs have. rewrite first_empty_none. apply forallb_forall. intros group g_in.
      apply negb_true_iff, has_member_spec. auto. }
    refine (conj (conj (conj _ _) _) _); intros c c_in.
    - eauto using at_most_below.
    - specialize (dist c c_in). unfold distinct_holds in *. destruct (distinct_fits c t) eqn:fits.
      { now rewrite (distinct_fits_below c u t ut fits). }
      simpl in dist. apply andb_true_iff in dist. destruct dist as [some _]. rewrite some, all_have; [apply orb_true_r|].
      intros group g_in. apply used. apply in_flat_map. exists c. split; [assumption|]. rewrite fits. now apply in_map.
    - unfold affinity_holds, lonely. destruct (may_be_first c t) eqn:first.
      { replace (may_be_first c u) with true; [reflexivity|]. symmetry. unfold may_be_first in *.
        destruct (first_unless c); [|discriminate]. eapply empty_below; eassumption. }
      destruct (may_be_first c u); [reflexivity|]. apply all_have.
      intros group g_in. apply near_. apply in_flat_map. exists c. split; [assumption|]. rewrite first. now apply in_map.
    - unfold spread_holds, behind. apply is_none_true. destruct (find _ (domains c)) as [d|] eqn:found; [|reflexivity].
      apply find_some in found. destruct found as [d_in far]. apply N.ltb_lt in far.
      assert (up : satisfies (keeps_up c d) (with_one u)).
      { apply even_. apply in_flat_map. exists c. split; [assumption|]. now apply in_map. }
      apply keeps_up_spec in up. lia.
  Qed.

  (** Where a guard holds, it meets these demands itself. *)
  Lemma holds_solves g t : holds g t = true ->
    solves (unless_excepted (fun c => may_be_first c t) friends (affinities g)) t
    /\ solves (unless_excepted (fun c => distinct_fits c t) volumes_used (distincts g)) t
    /\ solves (counterweights g) t.
  Proof.
    intros ok. unfold holds in ok. rewrite !andb_true_iff, !forallb_forall in ok. destruct ok as [[[_ dist] aff] spr].
    assert (have : forall gs group, is_none (first_empty gs t) = true -> In group gs -> satisfies (has_member group) (with_one t)).
    { intros gs group none g_in. rewrite first_empty_none, forallb_forall in none.
      apply has_member_spec, negb_true_iff. auto. }
    repeat split; intros i i_in; apply in_flat_map in i_in; destruct i_in as [c [c_in i_in]].
    - specialize (aff c c_in). unfold affinity_holds, lonely in aff. destruct (may_be_first c t); [contradiction|].
      apply in_map_iff in i_in. destruct i_in as [group [<- g_in]]. eauto.
    - specialize (dist c c_in). unfold distinct_holds in dist. destruct (distinct_fits c t); [contradiction|].
      apply andb_true_iff in dist. apply in_map_iff in i_in. destruct i_in as [group [<- g_in]]. apply (have (unless c)); tauto.
    - specialize (spr c c_in). unfold spread_holds, behind in spr. rewrite is_none_true in spr.
      apply in_map_iff in i_in. destruct i_in as [d [<- d_in]].
      apply (find_none _ _ spr) in d_in. rewrite N.ltb_ge in d_in. apply keeps_up_spec. lia.
  Qed.

  Theorem enablers_complete g s t : s ≼ t -> holds g t = true -> exists u, In u (enablers g s) /\ u ≼ t.
  Proof.
    intros st ok. destruct (holds_solves g t ok) as [near_ [used even_]].
    pose (fs := unless_excepted (fun c => may_be_first c t) friends (affinities g)).
    pose (vs := unless_excepted (fun c => distinct_fits c t) volumes_used (distincts g)).
    destruct (least_solutions_complete all listed (map (at_least s) all ++ fs ++ vs ++ counterweights g) t) as [u [u_in ut]].
    { intros i i_in. rewrite !in_app_iff in i_in. destruct i_in as [i_in|[i_in|[i_in|i_in]]]; auto.
      apply in_map_iff in i_in. destruct i_in as [a [<- _]]. now apply at_least_spec. }
    exists u. split; [|assumption]. apply filter_In. split.
    - apply in_flat_map. exists fs. split; [apply ways_all|]. apply in_flat_map. exists vs. split; [apply ways_all|assumption].
    - pose proof (least_solutions_sound all _ _ u_in) as good.
      apply (holds_below g t u ut ok); intros i i_in; apply good; rewrite !in_app_iff; tauto.
  Qed.
End Enablers.
