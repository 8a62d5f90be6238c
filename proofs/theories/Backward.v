(** * Goals regress to goals: backward coverability decides

    Suppose a goal is covered, and some pod of it came last.  Before, there was the
    rest of the goal and what the guard needed.  So the configurations from which a
    goal can be reached are described by goals again: [pre g] lists least ones, one
    step back.  Going back until nothing new is found ends, by Dickson's lemma, and
    what was found either has one within the start, and then there is a run; or it
    is a certificate.  Hence certificates of both kinds are complete.

    docs/theory.md, "What free deletion gives", 2; engine/backward.rs. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Problem Never Closure Dickson.
Import ListNotations.
Open Scope N_scope.

Section Backward.
  Context {A : Type} `{Eq_dec A}.
  (** Finitely many atoms. *)
  Variable all : list A.
  Hypothesis listed : forall a, In a all.

  Variable P : problem A.
  (** Kept pods are constants in the guards (Kept.v). *)
  Hypothesis nothing_kept : forall a, kept P a = 0.

  (** What must be there one step before. *)
  Variable pre : configuration A -> list (configuration A).
  Hypothesis pre_complete : forall g s t, step P s t -> g ≼ t -> g ≼ s \/ forbidden (pre g) s.
  Hypothesis pre_sound : forall g b, In b (pre g) -> exists t, step P b t /\ g ≼ t.

  Definition is_within (s t : configuration A) : bool := forallb (fun a => s a <=? t a) all.

  Lemma is_within_spec s t : is_within s t = true <-> s ≼ t.
  Proof.
    unfold is_within. rewrite forallb_forall. split.
    - intros ok a. apply N.leb_le, ok, listed.
    - intros st a _. apply N.leb_le, st.
  Qed.

  Definition covered_by (l : list (configuration A)) s : bool := existsb (fun b => is_within b s) l.

  Lemma covered_by_spec l s : covered_by l s = true <-> forbidden l s.
  Proof.
    unfold covered_by, forbidden. rewrite existsb_exists.
    split; intros [b [b_in bs]]; exists b; split; auto; now apply is_within_spec.
  Qed.

  (** Runs from any configuration. *)
  Notation from := (starting P).

  Lemma step_from x s t : step P s t <-> step (from x) s t.
  Proof.
    split; (intros [a ok e|a more e|a d more turned e]; [eapply deploy|eapply delete|eapply change]; eassumption).
  Qed.

  (** Some run from [x] meets the goal. *)
  Definition leads (gl : goal A) (x : configuration A) : Prop := deployable (from x) gl.

  Lemma run_on x y s : reachable (from x) y -> reachable (from y) s -> reachable (from x) s.
  Proof.
    intros xy ys. induction ys as [s e|s t _ IH st].
    - eapply reachable_same; [apply same_sym; exact e|assumption].
    - eapply by_step; [exact IH|]. now apply (step_from x), (step_from y).
  Qed.

  Lemma leads_goal gl g : In g gl -> leads gl g.
  Proof.
    intros g_in. exists g. split; [apply at_start, same_refl|].
    exists g. split; [assumption|apply within_refl].
  Qed.

  Lemma leads_above gl b s : b ≼ s -> leads gl b -> leads gl s.
  Proof.
    intros bs [t [r m]]. exists t. split; [|assumption].
    apply (run_on s b t); [|assumption].
    apply (downward_closed (from s) s b all); auto.
    - apply at_start, same_refl.
    - intros a. simpl. rewrite nothing_kept. lia.
  Qed.

  Lemma leads_before gl g b : In b (pre g) -> leads gl g -> leads gl b.
  Proof.
    intros b_in lead. destruct (pre_sound _ _ b_in) as [t [st gt]].
    destruct (leads_above gl g t gt lead) as [u [r m]]. exists u. split; [|assumption].
    apply (run_on b t u); [|assumption].
    eapply by_step; [apply at_start, same_refl|]. now apply (step_from b).
  Qed.

  (** ** The procedure *)

  (** Least goals found so far, and goals to look at.  What it returns contains
      what it was given and is closed under going back. *)
  Definition closed (basis : list (configuration A)) : Prop :=
    forall b p, In b basis -> In p (pre b) -> forbidden basis p.

  (** Something that goals keep when they regress. *)
  Variable tame : configuration A -> Prop.
  Hypothesis pre_tame : forall g b, tame g -> In b (pre g) -> tame b.

  Lemma saturate gl seen : Acc (grows (fun s t : configuration A => s ≼ t)) seen -> forall work,
    (forall b, In b seen -> leads gl b) ->
    (forall b, In b work -> leads gl b) ->
    (forall b, In b seen -> tame b) ->
    (forall b, In b work -> tame b) ->
    (forall b p, In b seen -> In p (pre b) -> forbidden (seen ++ work) p) ->
    {basis | incl seen basis /\ (forall w, In w work -> forbidden basis w)
             /\ (forall b, In b basis -> leads gl b) /\ closed basis /\ forall b, In b basis -> tame b}.
  Proof.
    induction 1 as [seen _ IH]. induction work as [|w rest IHw]; intros seen_leads work_leads seen_tame work_tame back.
    - exists seen. repeat split; auto; try easy.
      intros b p b_in p_in. destruct (back b p b_in p_in) as [c [c_in cp]]. rewrite app_nil_r in c_in. now exists c.
    - destruct (covered_by seen w) eqn:known.
      + apply covered_by_spec in known. destruct IHw as [basis [sub [cov [lead [cl tm]]]]]; auto.
        { intros b b_in. apply work_leads. now right. }
        { intros b b_in. apply work_tame. now right. }
        { intros b p b_in p_in. destruct (back b p b_in p_in) as [c [c_in cp]].
          apply in_app_or in c_in. destruct c_in as [c_in|[->|c_in]].
          - exists c. split; [apply in_or_app; now left|assumption].
          - destruct known as [k [k_in kw]]. exists k. split; [apply in_or_app; now left|].
            eapply within_trans; eassumption.
          - exists c. split; [apply in_or_app; now right|assumption]. }
        exists basis. repeat split; auto. intros v [<-|v_in]; auto.
        destruct known as [k [k_in kw]]. exists k. auto.
      + assert (new : grows (fun s t : configuration A => s ≼ t) (w :: seen) seen).
        { constructor. intros y y_in yw. enough (covered_by seen w = true) by congruence.
          apply covered_by_spec. exists y. auto. }
        destruct (IH (w :: seen) new (pre w ++ rest)) as [basis [sub [cov [lead [cl tm]]]]].
        { intros b [<-|b_in]; auto. apply work_leads. now left. }
        { intros b b_in. apply in_app_or in b_in. destruct b_in as [b_in|b_in].
          - eapply leads_before; [exact b_in|]. apply work_leads. now left.
          - apply work_leads. now right. }
        { intros b [<-|b_in]; auto. apply work_tame. now left. }
        { intros b b_in. apply in_app_or in b_in. destruct b_in as [b_in|b_in].
          - eapply pre_tame; [|exact b_in]. apply work_tame. now left.
          - apply work_tame. now right. }
        { intros b p [<-|b_in] p_in.
          - exists p. split; [|apply within_refl]. right. apply in_or_app. right. apply in_or_app. now left.
          - destruct (back b p b_in p_in) as [c [c_in cp]]. exists c. split; [|assumption].
            apply in_app_or in c_in. destruct c_in as [c_in|[->|c_in]].
            + right. apply in_or_app. now left.
            + now left.
            + right. apply in_or_app. right. apply in_or_app. now right. }
        exists basis. repeat split; auto.
        * intros b b_in. apply sub. now right.
        * intros v [<-|v_in]; [|apply cov, in_or_app; now right].
          exists w. split; [apply sub; now left|apply within_refl].
  Defined.

  Theorem decide_tamely (gl : goal A) : (forall g, In g gl -> tame g) ->
    {deployable P gl} + {exists basis, certificate P gl basis /\ forall b, In b basis -> tame b}.
  Proof.
    intros goals_tame.
    destruct (saturate gl [] (bad_sequences_end all listed []) gl) as [basis [_ [cov [lead [cl tm]]]]];
      try easy; [apply leads_goal|].
    destruct (covered_by basis (start P)) eqn:there.
    - left. apply covered_by_spec in there. destruct there as [b [b_in bs]].
      destruct (leads_above gl b (start P) bs (lead b b_in)) as [s [r m]]. exists s. split; [|assumption].
      clear m. induction r as [s e|s t _ IH st]; [now apply at_start|].
      eapply by_step; [exact IH|]. now apply (step_from (start P)).
    - right. exists basis. split; [|assumption].
      assert (free : ~ forbidden basis (start P)) by (rewrite <- covered_by_spec; congruence).
      assert (back : forall b s t, In b basis -> step P s t -> b ≼ t -> forbidden basis s).
      { intros b s t b_in st bt. destruct (pre_complete b s t st bt) as [bs|[p [p_in ps]]]; [now exists b|].
        eapply forbidden_mono; [exact ps|]. eapply cl; eassumption. }
      split; auto.
      + intros b a b_in some s above ok. apply (back b s (s ⊕ a) b_in).
        * eapply deploy; [exact ok|apply same_refl].
        * intros c. specialize (above c). by_count.
      + intros b a d b_in some s above turned. destruct (N.eq_dec (s a) 0) as [zero|some_a].
        { exfalso. specialize (above a). rewrite zero in above. rewrite plus_one_same in above by reflexivity. lia. }
        apply (back b s (s ⊖ a ⊕ d) b_in).
        * eapply change; [|exact turned|apply same_refl]. rewrite nothing_kept. lia.
        * intros c. pose proof (above a) as at_a. specialize (above c). by_count.
  Defined.

End Backward.

Section Decision.
  Context {A : Type} `{Eq_dec A}.
  Variable all : list A.
  Hypothesis listed : forall a, In a all.
  Variable P : problem A.
  Hypothesis nothing_kept : forall a, kept P a = 0.
  Variable pre : configuration A -> list (configuration A).
  Hypothesis pre_complete : forall g s t, step P s t -> g ≼ t -> g ≼ s \/ forbidden (pre g) s.
  Hypothesis pre_sound : forall g b, In b (pre g) -> exists t, step P b t /\ g ≼ t.

  (** Every question is decided, bounded or not, and every answer has its
      evidence: a goal that no run meets has a certificate. *)
  Theorem decide (gl : goal A) : {deployable P gl} + {exists basis, certificate P gl basis}.
  Proof.
    destruct (decide_tamely all listed P nothing_kept pre pre_complete pre_sound (fun _ => True) (fun _ _ _ _ => I) gl (fun _ _ => I))
      as [yes|no]; [now left|right]. destruct no as [basis [cert _]]. now exists basis.
  Defined.

  Corollary certificates_complete (gl : goal A) : never P gl <-> exists basis, certificate P gl basis.
  Proof.
    split.
    - intros no. destruct (decide gl) as [yes|cert]; [|assumption].
      exfalso. now apply never_not_deployable in no.
    - intros [basis cert]. eapply certificate_sound, cert.
  Qed.
End Decision.
