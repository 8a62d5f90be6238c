(** * Where goals never grow

    Under kube-scheduler one pod must match all affinity terms of another, so where
    topology keys are nested (host within zone within region), the nearest friend
    serves for all keys at once.  Without spread and without volumes that help, one
    witness per deployment is enough: going back from a goal, the pod that came last
    leaves and at most one comes.  Goals never grow, so that a goal of [k] pods has a
    certificate of groups of at most [k] pods, of which there are polynomially many
    for a fixed [k].  Real clusters live here.

    docs/theory.md, "Petri nets", at the end; engine/direct/one_witness.rs. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Configuration Problem Guard Folding Never Search Rules Abstraction Backward Regress.
Import ListNotations.
Open Scope N_scope.

Section Nested.
  Context {A : Type} `{Eq_dec A}.
  Implicit Types (s u b : configuration A) (g : guard A).

  (** Some group is within all others. *)
  Definition nested_groups (gs : list (list A)) : Prop :=
    gs = [] \/ exists least, In least gs /\ forall l, In l gs -> incl least l.

  (** One affinity condition with nested groups, upper bounds, and nothing else that helps. *)
  Definition nested g : Prop :=
    spreads g = [] /\ (forall c, In c (distincts g) -> unless c = [])
    /\ (affinities g = [] \/ exists c, affinities g = [c] /\ nested_groups (near c)).

  Lemma bounds_below g s u :
    (forall c, In c (distincts g) -> unless c = []) -> u ≼ s -> holds g s = true ->
    forallb (fun c => at_most_holds c u) (bounds g) = true /\ forallb (fun c => distinct_holds c u) (distincts g) = true.
  Proof.
    intros none us ok. unfold holds in ok. rewrite !andb_true_iff, !forallb_forall in ok.
    destruct ok as [[[most dist] _] _]. rewrite !forallb_forall. split; intros c c_in.
    - eauto using at_most_below.
    - specialize (dist c c_in). unfold distinct_holds in *. rewrite (none c c_in) in *. simpl in *.
      rewrite orb_false_r in *. eauto using distinct_fits_below.
  Qed.

  (** At most one more pod is needed. *)
  Theorem one_witness g b s :
    nested g -> b ≼ s -> holds g s = true ->
    holds g b = true \/ exists a, b ⊕ a ≼ s /\ holds g (b ⊕ a) = true.
  Proof.
    intros [no_spread [no_help shape]] bs ok.
    assert (below : forall u, u ≼ s -> forallb (fun c => affinity_holds c u) (affinities g) = true -> holds g u = true).
    { intros u us aff. destruct (bounds_below g s u no_help us ok) as [most dist].
      unfold holds. now rewrite most, dist, aff, no_spread. }
    destruct shape as [none|[c [one groups_]]].
    { left. apply below; [assumption|]. now rewrite none. }
    assert (held : affinity_holds c s = true).
    { unfold holds in ok. rewrite one in ok. simpl in ok. rewrite !andb_true_iff in ok. tauto. }
    rewrite one in below. simpl in below. unfold affinity_holds, lonely in *.
    destruct (may_be_first c s) eqn:first.
    - left. apply below; [assumption|]. replace (may_be_first c b) with true; [reflexivity|].
      symmetry. unfold may_be_first in *. destruct (first_unless c); [|discriminate]. eapply empty_below; eassumption.
    - rewrite first_empty_none in held. rewrite forallb_forall in held.
      assert (enough_ : forall u, u ≼ s -> (forall l, In l (near c) -> is_empty l u = false) -> holds g u = true).
      { intros u us all_. apply below; [assumption|]. destruct (may_be_first c u); [reflexivity|].
        rewrite first_empty_none, andb_true_r. apply forallb_forall. intros l l_in. now rewrite (all_ l l_in). }
      destruct groups_ as [none|[least [least_in sub]]].
      { left. apply enough_; [assumption|]. rewrite none. contradiction. }
      assert (fills : forall u a, In a least -> 0 < u a -> forall l, In l (near c) -> is_empty l u = false).
      { intros u a a_in some l l_in. unfold is_empty. apply N.eqb_neq. intros zero. rewrite count_zero in zero.
        specialize (zero a (sub l l_in a a_in)). lia. }
      destruct (is_empty least b) eqn:lone.
      + right. specialize (held least least_in). apply negb_true_iff in held.
        destruct (empty_grew least b s lone held) as [a [a_in more]]. exists a.
        assert (inside : b ⊕ a ≼ s) by now apply plus_one_within.
        split; [assumption|]. apply enough_; [assumption|]. apply (fills _ a a_in).
        rewrite plus_one_same by reflexivity. lia.
      + left. apply enough_; [assumption|].
        unfold is_empty in lone. apply N.eqb_neq in lone.
        destruct (count_grew least nothing b) as [a [a_in some]].
        { assert (count least nothing = 0) by (apply count_zero; reflexivity). lia. }
        apply (fills b a a_in). exact some.
  Qed.

  (** ** Goals never grow *)

  Variable all : list A.
  Hypothesis once : NoDup all.
  Hypothesis listed : forall a, In a all.
  Variable S : system A.
  (** One witness per deployment is enough. *)
  Hypothesis one_enough : forall a g, guard_of S a = Some g -> forall b s, b ≼ s -> holds g s = true ->
    holds g b = true \/ exists w, b ⊕ w ≼ s /\ holds g (b ⊕ w) = true.

  (** How many pods a goal asks for. *)
  Definition pods_of b : N := count all b.

  Lemma pods_plus b a : pods_of (b ⊕ a) = pods_of b + 1.
  Proof.
    unfold pods_of. rewrite (count_plus_one (fun c : A => c) all b a once).
    destruct (in_dec eq_dec a all) as [_|out]; [reflexivity|]. now specialize (listed a).
  Qed.

  Lemma pods_minus b a : 0 < b a -> pods_of (b ⊖ a) + 1 = pods_of b.
  Proof.
    intros some. rewrite <- (pods_plus (b ⊖ a) a). unfold pods_of. apply count_same. by_count.
  Qed.

  (** Nothing more, or one pod more. *)
  Definition one_more g b : list (configuration A) := filter (holds g) (b :: map (plus_one b) all).

  Lemma one_more_sound g b u : In u (one_more g b) -> b ≼ u /\ holds g u = true.
  Proof.
    intros u_in. apply filter_In in u_in. destruct u_in as [u_in ok]. split; [|assumption].
    destruct u_in as [<-|u_in]; [apply within_refl|]. apply in_map_iff in u_in. destruct u_in as [a [<- _]]. apply within_plus_one.
  Qed.

  Lemma one_more_complete a' g b s : guard_of S a' = Some g -> b ≼ s -> holds g s = true -> exists u, In u (one_more g b) /\ u ≼ s.
  Proof.
    intros is bs ok. destruct (one_enough a' g is b s bs ok) as [now_|[a [inside then_]]].
    - exists b. split; [|assumption]. apply filter_In. split; [now left|assumption].
    - exists (b ⊕ a). split; [|assumption]. apply filter_In. split; [right; now apply in_map|assumption].
  Qed.

  (** No pod that is deployed has waited: what it consumes would be one more. *)
  Hypothesis nothing_waits : forall a, consumes S a = None.

  Definition back : configuration A -> list (configuration A) := regress all S one_more.

  Theorem goals_never_grow b p : In p (back b) -> pods_of p <= pods_of b.
  Proof.
    unfold back, regress. rewrite in_flat_map. intros [a [_ p_in]].
    destruct (N.eqb_spec (b a) 0) as [|some]; [contradiction|].
    pose proof (pods_minus b a ltac:(lia)) as less.
    apply in_app_or in p_in. destruct p_in as [p_in|p_in].
    - unfold before_deployment in p_in. destruct (guard_of S a) as [g|]; [|contradiction].
      unfold before_last in p_in. rewrite nothing_waits in p_in. apply filter_In in p_in. destruct p_in as [[<-|p_in] _]; [lia|].
      apply in_map_iff in p_in. destruct p_in as [w [<- _]]. rewrite pods_plus. lia.
    - unfold before_termination in p_in. destruct (former S a); [|contradiction].
      destruct p_in as [<-|[]]. rewrite pods_plus. lia.
  Qed.

  (** A goal of [k] pods that is never met has a certificate of groups of at
      most [k] pods. *)
  Theorem small_certificates k (gl : goal A) : (forall b, In b gl -> pods_of b <= k) ->
    {deployable (problem_of S) gl}
    + {exists basis, certificate (problem_of S) gl basis /\ forall b, In b basis -> pods_of b <= k}.
  Proof.
    intros small. apply (regress_decides all listed S one_more) with (tame := fun b => pods_of b <= k); auto.
    - auto using one_more_sound.
    - eauto using one_more_complete.
    - intros b p b_small p_in. apply goals_never_grow in p_in. lia.
  Defined.
End Nested.

(** Nested guards are such. *)
Corollary nested_small_certificates {A} `{Eq_dec A} (all : list A) (S : system A) k (gl : goal A) :
  NoDup all -> (forall a, In a all) -> (forall a, consumes S a = None) -> (forall a g, guard_of S a = Some g -> nested g) ->
  (forall b, In b gl -> pods_of all b <= k) ->
  {deployable (problem_of S) gl}
  + {exists basis, certificate (problem_of S) gl basis /\ forall b, In b basis -> pods_of all b <= k}.
Proof. intros once listed free shape. apply small_certificates; auto. intros a g is b s. apply one_witness. eauto. Defined.

(** ** Nested keys make nested groups *)

Section Keys.
  Variable m : model.

  (** Among some keys there is one along which near by is near by along all. *)
  Definition nested_keys (ts : list term) (n : id) : Prop :=
    ts = [] \/ exists t, In t ts /\ forall t' n', In t' ts -> near_by m (key t) n n' = true -> near_by m (key t') n n' = true.

  Theorem nested_keys_nested_groups ts n :
    nested_keys ts n -> nested_groups (map (fun t => filter (near_friend m ts t n) (atoms m)) ts).
  Proof.
    intros [->|[t [t_in nearest]]]; [now left|right].
    exists (filter (near_friend m ts t n) (atoms m)). split; [now apply (in_map (fun t => filter (near_friend m ts t n) (atoms m)))|].
    intros l l_in a a_in. apply in_map_iff in l_in. destruct l_in as [t' [<- t_in']].
    apply filter_In in a_in. destruct a_in as [a_in ok]. apply filter_In. split; [assumption|].
    unfold near_friend in *. apply andb_true_iff in ok. destruct ok as [is near_]. rewrite is. now apply nearest.
  Qed.
End Keys.
