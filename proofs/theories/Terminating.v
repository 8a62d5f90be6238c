(** * A pod that is being deleted still runs

    A goal is met by pods that run, and one that is being deleted does.  A goal of
    one pod need not mention that: before its deletion began the pod was there as
    itself.  Of several pods at once each may be on its way out, and none need be
    more; so what is asked for is that each is there as what it is while it is being
    deleted, but for those that must stay.

    step.rs, [is_met] and [meant]. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Problem Closure.
Import ListNotations.
Open Scope N_scope.

Section Terminating.
  Context {A : Type} `{Eq_dec A}.
  Variable P : problem A.
  (** What an atom is while it is being deleted, where that makes a difference. *)
  Variable shadow : A -> option A.
  Hypothesis shadow_becomes : forall a d s, shadow a = Some d -> becomes P a d s.
  (** What changes otherwise is no pod that is being deleted: it is bound. *)
  Hypothesis becomes_shadow : forall a d s, becomes P a d s -> shadow a = Some d \/ forall b, shadow b <> Some d.
  Hypothesis shadows_apart : forall a b d, shadow a = Some d -> shadow b = Some d -> a = b.
  Hypothesis shadows_last : forall a d, shadow a = Some d -> shadow d = None.
  Hypothesis shadows_not_deployed : forall a d s, shadow a = Some d -> ~ hard P d s.
  Hypothesis kept_at_start : kept P ≼ start P.

  Implicit Types (s t : configuration A) (a b d : A).

  (** How many run, those that are being deleted included. *)
  Definition running s a : N := s a + match shadow a with Some d => s d | None => 0 end.

  Definition met s (alternative : configuration A) : Prop := forall a, alternative a <= running s a.

  (** ** One pod *)

  Theorem one_pod (alternative : configuration A) a :
    (forall b, shadow b <> Some a) ->
    (forall b, b <> a -> alternative b <= kept P b) ->
    alternative a <= kept P a + 1 ->
    ~ met (start P) alternative ->
    never P [alternative] ->
    forall s, reachable P s -> ~ met s alternative.
  Proof.
    intros plain others most not_yet no.
    enough (E : forall s, reachable P s -> ~ (kept P a < running s a) /\ kept P a < alternative a).
    { intros s r m. destruct (E s r) as [few asked]. specialize (m a). lia. }
    assert (asked : kept P a < alternative a).
    { destruct (N.lt_ge_cases (kept P a) (alternative a)) as [|small]; [assumption|]. exfalso. apply not_yet. intros b.
      pose proof (kept_at_start b). unfold running. destruct (eq_dec b a) as [->|o]; [|specialize (others b o)]; lia. }
    intros s r. split; [|assumption]. induction r as [s e|s t r IH st].
    - intros more. apply not_yet. intros b. destruct (eq_dec b a) as [->|o].
      + unfold running in *. rewrite (e a) in more. destruct (shadow a) as [d|]; [rewrite (e d) in more|]; lia.
      + specialize (others b o). pose proof (kept_at_start b). unfold running. lia.
    - intros more. apply IH. clear IH.
      pose proof (kept_stays P kept_at_start t (by_step P s t r st)) as low.
      assert (covered : kept P a < t a -> False).
      { intros there. apply (no t (by_step P s t r st)). exists alternative. split; [now left|]. intros b.
        destruct (eq_dec b a) as [->|o]; [lia|]. specialize (others b o). specialize (low b). lia. }
      unfold running in *.
      destruct st as [x ok e|x out e|x d out turned e].
      + destruct (shadow a) as [d|] eqn:is.
        * rewrite (e a), (e d) in more. destruct (eq_dec x d) as [->|od]; [now apply shadows_not_deployed with (a := a) in ok|].
          destruct (eq_dec x a) as [->|oa].
          -- destruct (N.lt_ge_cases (kept P a) (t a)) as [there|]; [now apply covered in there|].
             rewrite (e a) in H0. rewrite plus_one_same in H0 by reflexivity.
             rewrite plus_one_same in more by reflexivity. rewrite plus_one_other in more by assumption. pose proof (kept_stays P kept_at_start s r a). lia.
          -- rewrite !plus_one_other in more by assumption. assumption.
        * rewrite (e a) in more. destruct (N.lt_ge_cases (kept P a) (t a)) as [there|few]; [now apply covered in there|].
          rewrite (e a) in few. lia.
      + pose proof (minus_one_within s x) as less. rewrite (e a) in more.
        destruct (shadow a) as [d|]; [rewrite (e d) in more; specialize (less d) as ld|]; specialize (less a); lia.
      + apply becomes_shadow in turned. destruct turned as [turned|bound_].
        2: { pose proof (minus_one_within s x) as less. destruct (eq_dec d a) as [->|od].
             - destruct (N.lt_ge_cases (kept P a) (t a)) as [there|few]; [now apply covered in there|].
               exfalso. pose proof (kept_stays P kept_at_start s r a). rewrite (e a) in few. clear more less. by_count.
             - rewrite (e a) in more. rewrite plus_one_other in more by assumption. specialize (less a) as la.
               destruct (shadow a) as [d'|] eqn:is; [|lia].
               assert (d <> d') by (intros ->; now apply (bound_ a)).
               rewrite (e d') in more. rewrite plus_one_other in more by assumption. specialize (less d'). lia. }
        destruct (eq_dec x a) as [->|ox].
        { destruct (shadow a) as [d'|]; lia. }
        assert (d <> a) by (intros ->; now apply (plain x)).
        rewrite (e a) in more. rewrite plus_one_other in more by assumption.
        pose proof (minus_one_within s x a) as la.
        destruct (shadow a) as [d'|] eqn:is; [|lia].
        assert (d <> d') by (intros ->; apply ox; eauto).
        rewrite (e d') in more. rewrite plus_one_other in more by assumption.
        pose proof (minus_one_within s x d'). lia.
  Qed.

  (** ** Several pods *)

  (** All of an atom that may go begins to go. *)
  Definition turn s a : configuration A :=
    match shadow a with
    | None => s
    | Some d => fun b => if eq_dec a b then kept P b else if eq_dec d b then s d + (s a - kept P a) else s b
    end.

  Lemma shadow_other a d : shadow a = Some d -> a <> d.
  Proof. intros is ->. pose proof (shadows_last _ _ is). congruence. Qed.

  Lemma turn_reachable s a : reachable P s -> kept P ≼ s -> reachable P (turn s a).
  Proof.
    intros r low. unfold turn. destruct (shadow a) as [d|] eqn:is; [|assumption].
    pose proof (shadow_other a d is) as apart.
    remember (s a - kept P a) as excess eqn:e. revert s r low e.
    induction excess as [|excess IH] using N.peano_ind; intros s r low e.
    - eapply reachable_same; [|exact r]. intros b. pose proof (low a). specialize (low b). by_count.
    - pose proof (low a) as low_a.
      assert (r' : reachable P (s ⊖ a ⊕ d)).
      { eapply by_step; [exact r|]. apply (change _ _ _ a d); [lia|now apply shadow_becomes|apply same_refl]. }
      eapply reachable_same; [|apply (IH (s ⊖ a ⊕ d) r')].
      + intros b. by_count.
      + intros b. specialize (low b). by_count.
      + by_count.
  Qed.

  Fixpoint turn_all s (l : list A) : configuration A :=
    match l with [] => s | a :: rest => turn (turn_all s rest) a end.

  Lemma turn_all_reachable s l : reachable P s -> reachable P (turn_all s l).
  Proof.
    intros r. induction l as [|a rest IH]; simpl; [assumption|].
    apply turn_reachable; [assumption|]. now apply kept_stays.
  Qed.

  (** As many run as before, and what may go of a listed atom is going. *)
  Lemma turn_running s a b : kept P ≼ s -> (forall c, shadow c <> Some b) -> running (turn s a) b = running s b.
  Proof.
    intros low plain. unfold running, turn. destruct (shadow a) as [d|] eqn:is; [|reflexivity].
    pose proof (shadow_other a d is). pose proof (low a).
    destruct (eq_dec a b) as [<-|ab].
    - rewrite is. destruct (eq_dec a d); [contradiction|]. destruct (eq_dec d d); [lia|contradiction].
    - destruct (eq_dec d b) as [<-|db]; [now apply plain in is|].
      destruct (shadow b) as [d'|] eqn:is'; [|reflexivity].
      destruct (eq_dec a d') as [<-|]; [apply shadows_last in is'; congruence|].
      destruct (eq_dec d d') as [<-|]; [exfalso; apply ab; eauto|reflexivity].
  Qed.

  Lemma turn_all_running s l b : reachable P s -> (forall c, shadow c <> Some b) -> running (turn_all s l) b = running s b.
  Proof.
    intros r plain. induction l as [|a rest IH]; simpl; [reflexivity|]. rewrite turn_running; auto.
    apply kept_stays; [assumption|]. now apply turn_all_reachable.
  Qed.

  Lemma turn_all_kept s l a d : In a l -> shadow a = Some d -> turn_all s l a = kept P a.
  Proof.
    intros a_in is. induction l as [|b rest IH]; simpl in *; [contradiction|]. unfold turn.
    destruct (shadow b) as [e|] eqn:is'.
    - destruct (eq_dec b a) as [->|other]; [reflexivity|].
      destruct (eq_dec e a) as [->|]; [apply shadows_last in is'; congruence|].
      apply IH. destruct a_in; [contradiction|assumption].
    - apply IH. destruct a_in as [->|]; [congruence|assumption].
  Qed.

  (** What is meant by a goal of several pods: those that must stay, and the
      others as they are on their way out. *)
  Definition meant (alternative : configuration A) (all : list A) : configuration A := fun b =>
    match shadow b with
    | Some _ => N.min (alternative b) (kept P b)
    | None =>
      match find (fun a => match shadow a with Some d => if eq_dec d b then true else false | None => false end) all with
      | Some a => alternative a - N.min (alternative a) (kept P a)
      | None => alternative b
      end
    end.

  Lemma turn_all_other s l b : shadow b = None -> (forall a, In a l -> shadow a <> Some b) -> turn_all s l b = s b.
  Proof.
    intros last. induction l as [|a rest IH]; simpl; intros other; [reflexivity|]. unfold turn.
    destruct (shadow a) as [d|] eqn:is; [|apply IH; auto]. destruct (eq_dec a b) as [->|]; [congruence|].
    destruct (eq_dec d b) as [->|]; [now apply (other a) in is; [|left]|]. apply IH. auto.
  Qed.

  Theorem several_pods (alternative : configuration A) (all : list A) :
    (forall a, alternative a <> 0 -> In a all) ->
    never P [meant alternative all] ->
    forall s, reachable P s -> ~ met s alternative.
  Proof.
    intros listed no s r m.
    pose proof (turn_all_reachable s all r) as r'.
    apply (no _ r'). exists (meant alternative all). split; [now left|]. intros b. unfold meant.
    destruct (shadow b) as [d|] eqn:is.
    - destruct (N.eq_dec (alternative b) 0) as [->|some]; [lia|]. rewrite (turn_all_kept s all b d (listed b some) is). lia.
    - destruct (find _ all) as [a|] eqn:found.
      + apply find_some in found. destruct found as [a_in is_shadow]. destruct (shadow a) as [d|] eqn:is'; [|discriminate].
        destruct (eq_dec d b) as [->|]; [|discriminate].
        assert (plain : forall c, shadow c <> Some a) by (intros c was; apply shadows_last in was; congruence).
        pose proof (turn_all_running s all a r plain) as same_. specialize (m a).
        unfold running at 1 in same_. rewrite is', (turn_all_kept s all a b a_in is') in same_. lia.
      + rewrite turn_all_other; [|assumption|].
        * specialize (m b). unfold running in m. rewrite is in m. lia.
        * intros c c_in was. pose proof (find_none _ _ found c c_in) as none'. simpl in none'. rewrite was in none'.
          destruct (eq_dec b b); [discriminate|contradiction].
  Qed.
End Terminating.
