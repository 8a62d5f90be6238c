(** * Where the question is easy

    _Without affinity_ a pod that can be deployed somewhere can be deployed into an
    empty cluster, so it is deployable if it is there already or fits when all
    else is gone: the paper's section 4, for either semantics, with capacity,
    anti-affinity, spread, quotas and declared instances.

    _Without counting_ (affinity and anti-affinity alone: the paper's section 5)
    guards look only at which pods are there, so that one copy of each is enough:
    the state space is that of the sets of atoms.

    docs/spec/fragment.md; engine/direct/mod.rs, engine/compile/slice.rs. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Lists Configuration Problem Closure Guard Rules Compile.
Import ListNotations.
Open Scope N_scope.

(** ** Without affinity *)

Section Without_affinity.
  Variable m : model.
  Variables (p n : id).
  Hypothesis no_affinity : likes m p = [].
  Hypothesis no_volumes : drivers m p = [].
  Hypothesis skews : forall c, In c (constraints m p) -> 1 <= skew c.

  Lemma total_nothing (ws : list (atom * N)) : total ws nothing = 0.
  Proof. induction ws as [|[a w] rest IH]; simpl; [reflexivity|]. rewrite IH. unfold nothing. lia. Qed.

  Lemma count_nothing (group : list atom) : count group nothing = 0.
  Proof. induction group as [|a rest IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

  Lemma none_runs_nothing kind : none_runs m kind nothing = true.
  Proof. rewrite none_runs_spec. unfold is_empty. now rewrite count_nothing. Qed.

  Theorem empty_is_best s : lets_in m s p n = true -> lets_in m nothing p n = true.
  Proof.
    unfold lets_in. rewrite !andb_true_iff. intros [placed ok]. split; [assumption|].
    rewrite forallb_forall in *. intros r r_in. specialize (ok r r_in). rewrite orb_true_iff in *.
    destruct ok as [free|ok]; [now left|right]. destruct r; simpl in *.
    - apply none_runs_nothing.
    - unfold fits in *. rewrite forallb_forall in *. intros r r_in'. specialize (ok r r_in').
      rewrite N.leb_le in *. rewrite total_nothing. lia.
    - rewrite !none_runs_nothing. rewrite !andb_true_iff in *. tauto.
    - unfold volumes_fit in *. rewrite no_volumes in *. exact ok.
    - rewrite forallb_forall in *. intros c c_in. specialize (ok c c_in). specialize (skews c c_in).
      unfold even in *. destruct (domain_of m (along c) n) as [d|]; [|discriminate].
      rewrite andb_true_iff in *. split; [tauto|]. rewrite count_nothing. apply N.leb_le.
      pose proof (joins_one m c p). lia.
    - apply andb_true_iff. split.
      + unfold affine, affine_kube, affine_paper. rewrite no_affinity. now destruct (is_kube m).
      + unfold keeps_away. rewrite !none_runs_nothing. apply andb_true_iff. split; [reflexivity|apply orb_true_r].
    - unfold within_quotas in *. rewrite forallb_forall in *. intros k k_in. specialize (ok k k_in).
      rewrite N.leb_le in *. rewrite total_nothing. lia.
    - unfold within_limits in *. rewrite forallb_forall in *. intros l l_in. specialize (ok l l_in).
      rewrite orb_true_iff in *. destruct ok as [free|ok]; [now left|right].
      rewrite N.ltb_lt in *. rewrite count_nothing. lia.
  Qed.

  (** Nothing is kept, and deletion is one step. *)
  Variable begins : configuration atom.
  Hypothesis begins_listed : forall a, begins a <> 0 -> In a (atoms m).
  Definition plain : problem atom := {|
    hard a s := In a (atoms m) /\ lets_in m s (fst a) (snd a) = true;
    becomes _ _ _ := False;
    kept := nothing;
    start := begins;
  |}.

  Theorem without_affinity : In (p, n) (atoms m) ->
    (deployable plain [nothing ⊕ (p, n)] <-> 1 <= begins (p, n) \/ lets_in m nothing p n = true).
  Proof.
    intros listed. split.
    - intros [s [r [alt [[<-|[]] covered]]]]. specialize (covered (p, n)).
      assert (some : 0 < s (p, n)) by (revert covered; by_count). clear covered.
      induction r as [s e|s t r IH st].
      + left. rewrite <- e. lia.
      + destruct st as [a [a_in ok] e|a more e|a d more [] e]; rewrite (e (p, n)) in some.
        * destruct (eq_dec a (p, n)) as [->|other]; [right; now apply (empty_is_best s)|].
          apply IH. revert some. by_count.
        * apply IH. revert some. by_count.
    - intros [there|fits_empty].
      + exists begins. split; [apply at_start, same_refl|]. exists (nothing ⊕ (p, n)). split; [now left|]. by_count.
      + exists (nothing ⊕ (p, n)). split.
        * apply (by_step plain nothing).
          -- apply (downward_closed plain begins nothing (atoms m)).
             ++ apply at_start, same_refl.
             ++ apply within_refl.
             ++ intros a. unfold nothing. lia.
             ++ intros a more. apply begins_listed. unfold nothing in more. lia.
          -- apply (deploy _ _ _ (p, n)); [now split|apply same_refl].
        * exists (nothing ⊕ (p, n)). split; [now left|apply within_refl].
  Qed.
End Without_affinity.

(** ** Without counting *)

Section Supports.
  Context {A : Type} `{Eq_dec A}.

  (** At most one copy of each. *)
  Definition support (s : configuration A) : configuration A := fun a => N.min 1 (s a).

  (** A guard that only looks for presence and absence. *)
  Definition counts_nothing (g : guard A) : Prop :=
    distincts g = [] /\ spreads g = [] /\ forall c, In c (bounds g) -> bound c = 0.

  Lemma count_support group s : is_empty group (support s) = is_empty group s.
  Proof.
    unfold is_empty. apply eq_true_iff_eq. rewrite !N.eqb_eq, !count_zero. unfold support.
    split; intros zero a a_in; specialize (zero a a_in); lia.
  Qed.

  Lemma total_support (ws : list (A * N)) s : total ws (support s) = 0 <-> total ws s = 0.
  Proof.
    induction ws as [|[a w] rest IH]; simpl; [tauto|]. unfold support at 1.
    assert (w * N.min 1 (s a) = 0 <-> w * s a = 0) by (rewrite !N.eq_mul_0; lia). lia.
  Qed.

  Theorem guards_see_supports g s : counts_nothing g -> holds g (support s) = holds g s.
  Proof.
    intros [no_distinct [no_spread zero]]. unfold holds. rewrite no_distinct, no_spread. f_equal. f_equal.
    - f_equal. apply eq_true_iff_eq. rewrite !forallb_forall.
      split; intros all c c_in; specialize (all c c_in); specialize (zero c c_in);
        unfold at_most_holds in *; rewrite zero in *; rewrite N.leb_le in *;
        pose proof (total_support (weights c) s); lia.
    - assert (F : forall gs, is_none (first_empty gs (support s)) = is_none (first_empty gs s)).
      { intros gs. unfold first_empty. induction gs as [|l rest IH]; simpl; [reflexivity|]. rewrite count_support. now destruct (is_empty l s). }
      apply eq_true_iff_eq. rewrite !forallb_forall. unfold affinity_holds, lonely, may_be_first.
      split; intros all c c_in; specialize (all c c_in); destruct (first_unless c) as [l|];
        rewrite ?count_support, ?F in *; try assumption;
        destruct (is_empty l s); rewrite ?F in *; assumption.
  Qed.

  Variable P : problem A.
  Hypothesis nothing_kept : forall a, kept P a = 0.
  Hypothesis no_shadows : forall a d s, ~ becomes P a d s.
  Hypothesis sees_supports : forall a s, hard P a s -> hard P a (support s).
  Hypothesis start_is_set : support (start P) ≐ start P.

  (** With a configuration its support is reachable. *)
  Theorem supports_reachable s : reachable P s -> reachable P (support s).
  Proof.
    intros r. induction r as [s e|s t r IH st].
    - apply at_start. intros a. rewrite <- start_is_set. unfold support. now rewrite e.
    - destruct st as [a ok e|a more e|a d more turned e]; [| |now apply no_shadows in turned].
      + destruct (N.eq_dec (s a) 0) as [zero|some].
        * eapply by_step; [exact IH|]. eapply deploy; [apply sees_supports, ok|].
          intros b. unfold support. rewrite e. by_count.
        * eapply reachable_same; [|exact IH]. intros b. unfold support. rewrite e. by_count.
      + rewrite nothing_kept in more. destruct (N.eq_dec (s a) 1) as [one|many].
        * eapply by_step; [exact IH|]. eapply (delete _ _ _ a).
          -- rewrite nothing_kept. unfold support. lia.
          -- intros b. unfold support. rewrite e. by_count.
        * eapply reachable_same; [|exact IH]. intros b. unfold support. rewrite e. by_count.
  Qed.
End Supports.

(** ** Clusters without counting

    Where affinity and anti-affinity are all that is asked, rules look at which pods are
    there, under either semantics.  So a run may be told in sets of atoms, of which there are
    finitely many, however many copies there are: the paper's support abstraction. *)

Section Logical.
  Variable m : model.
  Hypothesis only_affinity : forall p r, In p (pods m) -> asks m p r = true -> r = InterPodAffinity.
  Implicit Types (s t : configuration atom).

  Lemma some_runs_support is s : some_runs m is (support s) = some_runs m is s.
  Proof.
    unfold some_runs. induction (atoms m) as [|a rest IH]; simpl; [reflexivity|]. rewrite IH. do 2 f_equal.
    unfold support. destruct (N.ltb_spec 0 (s a)), (N.ltb_spec 0 (N.min 1 (s a))); try reflexivity; lia.
  Qed.

  Theorem lets_in_support p n s : In p (pods m) -> lets_in m (support s) p n = lets_in m s p n.
  Proof.
    intros p_in. unfold lets_in. f_equal.
    apply forallb_same. intros r _. destruct (asks m p r) eqn:asked; simpl; [|reflexivity].
    rewrite (only_affinity p r p_in asked). simpl.
    unfold affine, affine_kube, affine_paper, keeps_away, none_runs. rewrite !some_runs_support. f_equal. destruct (is_kube m).
    - f_equal. f_equal. apply forallb_same. intros x _. apply some_runs_support.
    - apply forallb_same. intros x _. now rewrite !some_runs_support.
  Qed.

  Variable begins : configuration atom.
  Hypothesis begins_listed : forall a, begins a <> 0 -> In a (atoms m).
  Notation P := (plain m begins).

  (** Runs of sets: what comes was not there. *)
  Inductive set_reachable : configuration atom -> Prop :=
  | first_set s : s ≐ support begins -> set_reachable s
  | one_comes s t a : set_reachable s -> s a = 0 -> In a (atoms m) -> lets_in m s (fst a) (snd a) = true ->
      t ≐ s ⊕ a -> set_reachable t
  | one_goes s t a : set_reachable s -> 0 < s a -> t ≐ s ⊖ a -> set_reachable t.

  Lemma set_same s t : s ≐ t -> set_reachable s -> set_reachable t.
  Proof.
    intros e r. apply same_sym in e. destruct r as [s first|u s a r zero a_in can st|u s a r some st].
    - apply first_set. eapply same_trans; eassumption.
    - eapply one_comes; eauto. eapply same_trans; eassumption.
    - eapply one_goes; eauto. eapply same_trans; eassumption.
  Qed.

  Theorem supports_are_reached s : reachable P s -> set_reachable (support s).
  Proof.
    intros r. induction r as [s e|s t r IH st].
    - apply first_set. intros a. unfold support. now rewrite e.
    - destruct st as [a [a_in can] e|a more e|a d more [] e].
      + destruct (N.eq_dec (s a) 0) as [zero|some].
        * apply (one_comes (support s) (support t) a); auto.
          -- unfold support. lia.
          -- rewrite lets_in_support; [assumption|]. destruct a. now apply in_prod_iff in a_in.
          -- intros b. unfold support. rewrite (e b). by_count.
        * eapply set_same; [|exact IH]. intros b. unfold support. rewrite (e b). by_count.
      + simpl in more. unfold nothing in more. destruct (N.eq_dec (s a) 1) as [one|many].
        * apply (one_goes (support s) (support t) a); auto; [unfold support; lia|].
          intros b. unfold support. rewrite (e b). by_count.
        * eapply set_same; [|exact IH]. intros b. unfold support. rewrite (e b). by_count.
  Qed.

  Theorem sets_are_reached s : set_reachable s -> reachable P s.
  Proof.
    intros r. induction r as [s e|s t a _ IH _ a_in can e|s t a _ IH some e].
    - apply (reachable_same P (support begins)); [now apply same_sym|].
      apply (downward_closed P begins (support begins) (atoms m)).
      + apply at_start, same_refl.
      + intros a. simpl. unfold nothing. lia.
      + intros a. unfold support. lia.
      + intros a more. apply begins_listed. unfold support in more. lia.
    - eapply by_step; [exact IH|]. apply (deploy _ _ _ a); [now split|assumption].
    - eapply by_step; [exact IH|]. apply (delete _ _ _ a); [exact some|assumption].
  Qed.

  (** The question is one about sets. *)
  Theorem support_abstraction a : deployable P [nothing ⊕ a] <-> exists s, set_reachable s /\ 0 < s a.
  Proof.
    split.
    - intros [s [r [alternative [[<-|[]] covered]]]]. exists (support s). split; [now apply supports_are_reached|].
      specialize (covered a). rewrite plus_one_same in covered by reflexivity. unfold support. lia.
    - intros [s [r some]]. exists s. split; [now apply sets_are_reached|]. exists (nothing ⊕ a). split; [now left|]. by_count.
  Qed.
End Logical.
