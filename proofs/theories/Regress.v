(** * One step back through a guard, where nothing needs counterweights

    Without topology spread, a guard that does not hold lacks a member of some
    group, and a pod of that group fills it.  So going back through it ends after
    as many pods as it has groups, and every question is decided by Backward.v.

    With spread it ends as well, since the least solutions of linear inequalities
    are bounded (Pottier); that is cited and not proved here.

    engine/backward.rs; check/forbidden.rs. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Problem Guard Never Search Backward.
Import ListNotations.
Open Scope N_scope.

Section Enablers.
  Context {A : Type} `{Eq_dec A}.
  Implicit Types (s t : configuration A) (g : guard A).

  (** The groups of which a guard may ask for a member. *)
  Definition asked_groups g : list (list A) := flat_map near (affinities g) ++ flat_map unless (distincts g).

  (** How many of them have none. *)
  Definition empties g s : nat := length (filter (fun l => is_empty l s) (asked_groups g)).

  (** Least configurations above [s] where the guard holds, and others. *)
  Fixpoint enablers (fuel : nat) g s : list (configuration A) :=
    match fuel with
    | O => []
    | S fuel =>
      if exceeds g s then []
      else match needed g s with
           | None => [s]
           | Some group => flat_map (fun a => enablers fuel g (s ⊕ a)) group
           end
    end.

  Lemma enablers_sound fuel g : forall s u, In u (enablers fuel g s) -> s ≼ u /\ holds g u = true.
  Proof.
    induction fuel as [|fuel IH]; simpl; intros s u u_in; [contradiction|].
    destruct (exceeds g s) eqn:over; [contradiction|].
    destruct (needed g s) as [group|] eqn:need.
    - apply in_flat_map in u_in. destruct u_in as [a [_ u_in]]. apply IH in u_in. destruct u_in as [above ok].
      split; [|assumption]. eapply within_trans; [apply within_plus_one|exact above].
    - destruct u_in as [<-|[]]. split; [apply within_refl|]. now apply holds_otherwise.
  Qed.

  (** What is needed is a group that is asked for and has no member. *)
  Lemma needed_asked g s group :
    spreads g = [] -> needed g s = Some group -> In group (asked_groups g) /\ is_empty group s = true.
  Proof.
    intros none. unfold needed, asked_groups. rewrite none. simpl.
    destruct (first_some _ (affinities g)) as [l|] eqn:found.
    - intros [= <-]. apply first_some_some in found. destruct found as [c [c_in lone]].
      unfold lonely in lone. destruct (may_be_first c s); [discriminate|]. apply find_some in lone. destruct lone as [l_in zero].
      split; [|assumption]. apply in_or_app. left. apply in_flat_map. eauto.
    - destruct (first_some _ (distincts g)) as [l|] eqn:found'; [|discriminate].
      intros [= <-]. apply first_some_some in found'. destruct found' as [c [c_in lack]].
      unfold lacking in lack. destruct (distinct_fits c s); [discriminate|]. apply find_some in lack. destruct lack as [l_in zero].
      split; [|assumption]. apply in_or_app. right. apply in_flat_map. eauto.
  Qed.

  Lemma filled_less (gs : list (list A)) s a group :
    In group gs -> In a group -> is_empty group s = true ->
    (length (filter (fun l => is_empty l (s ⊕ a)) gs) < length (filter (fun l => is_empty l s) gs))%nat.
  Proof.
    assert (le : forall gs, (length (filter (fun l => is_empty l (s ⊕ a)) gs) <= length (filter (fun l => is_empty l s) gs))%nat).
    { induction gs0 as [|l rest IH]; simpl; [lia|].
      pose proof (empty_below l s (s ⊕ a) (within_plus_one s a)).
      destruct (is_empty l (s ⊕ a)); [rewrite H0 by reflexivity; simpl; lia|].
      destruct (is_empty l s); simpl; lia. }
    intros g_in a_in zero. induction gs as [|l rest IH]; [contradiction|]. simpl. destruct g_in as [->|g_in].
    - rewrite zero. replace (is_empty group (s ⊕ a)) with false; [simpl; specialize (le rest); lia|].
      symmetry. unfold is_empty. apply N.eqb_neq. intros none.
      rewrite count_zero in none. specialize (none a a_in). by_count.
    - specialize (IH g_in). pose proof (empty_below l s (s ⊕ a) (within_plus_one s a)) as mono.
      destruct (is_empty l (s ⊕ a)); [rewrite mono by reflexivity; simpl; lia|].
      destruct (is_empty l s); simpl; lia.
  Qed.

  Lemma enablers_complete fuel g : spreads g = [] -> forall s t,
    (empties g s < fuel)%nat -> s ≼ t -> holds g t = true -> exists u, In u (enablers fuel g s) /\ u ≼ t.
  Proof.
    intros none. induction fuel as [|fuel IH]; intros s t enough_fuel st ok; [lia|]. simpl.
    destruct (exceeds g s) eqn:over; [rewrite (exceeds_stays g s t st over) in ok; discriminate|].
    destruct (needed g s) as [group|] eqn:need.
    - destruct (needed_grew g s t group st need ok) as [a [a_in more]].
      destruct (needed_asked g s group none need) as [asked zero].
      destruct (IH (s ⊕ a) t) as [u [u_in ut]]; auto using plus_one_within.
      + pose proof (filled_less (asked_groups g) s a group asked a_in zero). unfold empties in *. lia.
      + exists u. split; [|assumption]. apply in_flat_map. eauto.
    - exists s. split; [now left|assumption].
  Qed.
End Enablers.

Section Decidable.
  Context {A : Type} `{Eq_dec A}.
  Variable all : list A.
  Hypothesis listed : forall a, In a all.
  Variable S : system A.
  Hypothesis no_spread : forall a g, guard_of S a = Some g -> spreads g = [].

  Definition before_deployment (b : configuration A) (a : A) : list (configuration A) :=
    match guard_of S a with
    | Some g => enablers (Datatypes.S (empties g (b ⊖ a))) g (b ⊖ a)
    | None => []
    end.

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
    destruct st as [a [g [is ok]] e|a more e|a d more turned e]; simpl in *.
    - destruct (N.eq_dec (b a) 0) as [zero|some].
      + left. intros c. specialize (bt c). rewrite e in bt. by_count.
      + right. destruct (enablers_complete (Datatypes.S (empties g (b ⊖ a))) g (no_spread a g is) (b ⊖ a) s) as [u [u_in us]]; auto.
        { intros c. specialize (bt c). rewrite e in bt. by_count. }
        apply (back a u); [lia| |assumption]. apply in_or_app. left. unfold before_deployment. now rewrite is.
    - left. intros c. specialize (bt c). rewrite e in bt. by_count.
    - destruct (N.eq_dec (b d) 0) as [zero|some].
      + left. intros c. specialize (bt c). rewrite e in bt. by_count.
      + right. apply (back d (b ⊖ d ⊕ a)); [lia| |].
        * apply in_or_app. right. unfold before_termination. rewrite turned. now left.
        * intros c. pose proof (bt a) as at_a. specialize (bt c). rewrite e in bt, at_a. unfold nothing in more. by_count.
  Qed.

  Lemma regress_sound b p : In p (regress b) -> exists t, step (problem_of S) p t /\ b ≼ t.
  Proof.
    unfold regress. rewrite in_flat_map. intros [a [_ p_in]].
    destruct (N.eqb_spec (b a) 0) as [|some]; [contradiction|].
    apply in_app_or in p_in. destruct p_in as [p_in|p_in].
    - unfold before_deployment in p_in. destruct (guard_of S a) as [g|] eqn:is; [|contradiction].
      apply enablers_sound in p_in. destruct p_in as [above ok]. exists (p ⊕ a). split.
      + eapply deploy; [|apply same_refl]. simpl. eauto.
      + intros c. specialize (above c). by_count.
    - unfold before_termination in p_in. destruct (former S a) as [was|] eqn:is; [|contradiction].
      destruct p_in as [<-|[]]. exists (b ⊖ a ⊕ was ⊖ was ⊕ a). split.
      + eapply terminate; [|exact is|apply same_refl]. simpl. unfold nothing. by_count.
      + intros c. by_count.
  Qed.

  (** Decidable, bounded or not, and every answer has its evidence. *)
  Theorem guards_decide (gl : goal A) :
    {deployable (problem_of S) gl} + {exists basis, certificate (problem_of S) gl basis}.
  Proof.
    apply (decide all listed (problem_of S)) with (pre := regress).
    - reflexivity.
    - exact regress_complete.
    - exact regress_sound.
  Defined.
End Decidable.
