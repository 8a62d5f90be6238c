(** * One step back through the guards of a system

    Whichever pod of a goal came last, before it there were the others, what its
    guard needs, and the pod that waited, if it consumed one; or it had begun to be deleted, and was itself before.  So
    where the least configurations that enable a guard can be computed, every question is
    decided by Backward.v; and they always can (Enablers.v).

    engine/backward.rs; check/forbidden.rs. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Problem Guard Never Search Backward Enablers.
Import ListNotations.
Open Scope N_scope.

Section Regress.
  Context {A : Type} `{Eq_dec A}.
  Variable all : list A.
  Hypothesis listed : forall a, In a all.
  Variable S : system A.

  (** Configurations above a given one where a guard holds: some below each. *)
  Variable enable : guard A -> configuration A -> list (configuration A).
  Hypothesis enable_sound : forall a g, guard_of S a = Some g ->
    forall s u, In u (enable g s) -> s ≼ u /\ holds g u = true.
  Hypothesis enable_complete : forall a g, guard_of S a = Some g ->
    forall s t, s ≼ t -> holds g t = true -> exists u, In u (enable g s) /\ u ≼ t.

  Definition before_deployment (b : configuration A) (a : A) : list (configuration A) :=
    match guard_of S a with Some g => enable g (before_last S b a) | None => [] end.

  Definition before_termination (b : configuration A) (d : A) : list (configuration A) :=
    match former S d with Some a => [b ⊖ d ⊕ a] | None => [] end.

  Definition regress (b : configuration A) : list (configuration A) :=
    flat_map (fun a => if b a =? 0 then [] else before_deployment b a ++ before_termination b a) all.

  Lemma regress_complete b s t :
    step (problem_of S) s t -> b ≼ t -> b ≼ s \/ forbidden (regress b) s.
  Proof.
    intros st bt.
    assert (back : forall a p, 0 < b a -> In p (before_deployment b a ++ before_termination b a) -> p ≼ s -> forbidden (regress b) s).
    { intros a p some p_in ps. exists p. split; [|assumption]. apply in_flat_map. exists a. split; [apply listed|].
      destruct (N.eqb_spec (b a) 0); [lia|assumption]. }
    destruct st as [a [free [g [is ok]]] e|a more e|a d more [turned|[uses [g [is ok]]]] e]; simpl in *.
    - destruct (N.eq_dec (b a) 0) as [zero|some].
      + left. intros c. specialize (bt c). rewrite e in bt. by_count.
      + right. destruct (enable_complete a g is (b ⊖ a) s) as [u [u_in us]]; auto.
        { intros c. specialize (bt c). rewrite e in bt. by_count. }
        apply (back a u); [lia| |assumption]. apply in_or_app. left. unfold before_deployment, before_last. now rewrite is, free.
    - left. intros c. specialize (bt c). rewrite e in bt. by_count.
    - destruct (N.eq_dec (b d) 0) as [zero|some].
      + left. intros c. specialize (bt c). rewrite e in bt. by_count.
      + right. apply (back d (b ⊖ d ⊕ a)); [lia| |].
        * apply in_or_app. right. unfold before_termination. rewrite turned. now left.
        * intros c. pose proof (bt a) as at_a. specialize (bt c). rewrite e in bt, at_a. unfold nothing in more. by_count.
    - destruct (N.eq_dec (b d) 0) as [zero|some].
      + left. intros c. specialize (bt c). rewrite e in bt. by_count.
      + right. destruct (enable_complete d g is (b ⊖ d ⊕ a) s) as [u [u_in us]]; auto.
        { intros c. pose proof (bt a) as at_a. specialize (bt c). rewrite e in bt, at_a. unfold nothing in more. by_count. }
        apply (back d u); [lia| |assumption]. apply in_or_app. left. unfold before_deployment, before_last. now rewrite is, uses.
  Qed.

  Lemma regress_sound b p : In p (regress b) -> exists t, step (problem_of S) p t /\ b ≼ t.
  Proof.
    unfold regress. rewrite in_flat_map. intros [a [_ p_in]].
    destruct (N.eqb_spec (b a) 0) as [|some]; [contradiction|].
    apply in_app_or in p_in. destruct p_in as [p_in|p_in].
    - unfold before_deployment in p_in. destruct (guard_of S a) as [g|] eqn:is; [|contradiction].
      apply (enable_sound a g is) in p_in. destruct p_in as [above ok]. unfold before_last in above.
      destruct (consumes S a) as [w|] eqn:uses.
      + exists (p ⊖ w ⊕ a). split.
        * apply (change _ _ _ w a); [|right; eauto|apply same_refl]. specialize (above w). simpl. unfold nothing. by_count.
        * intros c. pose proof (above w) as at_w. specialize (above c). by_count.
      + exists (p ⊕ a). split.
        * eapply deploy; [|apply same_refl]. simpl. eauto.
        * intros c. specialize (above c). by_count.
    - unfold before_termination in p_in. destruct (former S a) as [was|] eqn:is; [|contradiction].
      destruct p_in as [<-|[]]. exists (b ⊖ a ⊕ was ⊖ was ⊕ a). split.
      + apply (change _ _ _ was a); [|now left|apply same_refl]. simpl. unfold nothing. by_count.
      + intros c. by_count.
  Qed.

  (** Going back decides, and stays among goals of a kind that regress to such. *)
  Theorem regress_decides (tame : configuration A -> Prop) (gl : goal A) :
    (forall b p, tame b -> In p (regress b) -> tame p) -> (forall b, In b gl -> tame b) ->
    {deployable (problem_of S) gl} + {exists basis, certificate (problem_of S) gl basis /\ forall b, In b basis -> tame b}.
  Proof.
    intros stays_tame tame_. apply (decide_tamely all listed (problem_of S)) with (pre := regress) (tame := tame); auto.
    - apply regress_complete.
    - apply regress_sound.
  Defined.
End Regress.

(** Every question about guards is decided, bounded or not, and every answer has its evidence. *)
Theorem guards_decide {A} `{Eq_dec A} (all : list A) (listed : forall a, In a all) (S : system A) (gl : goal A) :
  {deployable (problem_of S) gl} + {exists basis, certificate (problem_of S) gl basis}.
Proof.
  destruct (regress_decides all listed S (enablers all)) with (tame := fun _ : configuration A => True) (gl := gl) as [yes|no]; auto.
  - intros a g _. apply enablers_sound, listed.
  - intros a g _. now apply enablers_complete.
  - right. destruct no as [basis [C _]]. now exists basis.
Defined.
