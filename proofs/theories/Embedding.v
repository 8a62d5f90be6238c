(** * One problem within another

    A problem is told in terms of another if each of its atoms is an atom of the
    other, nothing else ever comes there, and the rules say the same.  Then
    what can be deployed in one can be deployed in the other.

    encode/, where nets and games are told as clusters. *)

From Coq Require Import NArith List Lia.
From Podreach Require Import Configuration Problem Closure.
Import ListNotations.
Open Scope N_scope.

Section Embedding.
  Context {A B : Type} `{Eq_dec A} `{Eq_dec B}.
  Variables (P : problem A) (Q : problem B).
  (** What an atom is in the other problem, and which atoms there are. *)
  Variable image : A -> B.
  Variable listed : list A.

  (** What runs in the other problem, and that nothing else does. *)
  Definition view (s : configuration B) : configuration A := fun a => s (image a).
  Definition at_home (s : configuration B) : Prop := forall b, 0 < s b -> exists a, In a listed /\ b = image a.

  Hypothesis images_apart : forall a a', image a = image a' -> a = a'.
  Hypothesis nothing_kept : forall a, kept P a = 0.
  Hypothesis nothing_kept' : forall b, kept Q b = 0.
  Hypothesis changes_alike : forall a b s, In a listed -> at_home s ->
    (becomes Q (image a) b s <-> exists d, In d listed /\ b = image d /\ becomes P a d (view s)).
  Hypothesis becomes_listed : forall a d s, becomes P a d s -> In d listed.
  Hypothesis changes_same : forall a d s t, s ≐ t -> becomes P a d s -> becomes P a d t.
  Hypothesis starts_home : at_home (start Q).
  Hypothesis starts_alike : view (start Q) ≐ start P.
  Hypothesis counts_alone : forall a s t, s ≐ t -> hard P a s -> hard P a t.
  Hypothesis rules_alike : forall s b, at_home s ->
    (hard Q b s <-> exists a, In a listed /\ b = image a /\ hard P a (view s)).
  Hypothesis hard_listed : forall a s, hard P a s -> In a listed.

  Lemma view_plus s a : view (s ⊕ image a) ≐ view s ⊕ a.
  Proof.
    intros b. unfold view, plus_one. destruct (eq_dec (image a) (image b)) as [e|other], (eq_dec a b) as [e'|other']; try reflexivity.
    - now apply images_apart in e.
    - congruence.
  Qed.

  Lemma view_minus s a : view (s ⊖ image a) ≐ view s ⊖ a.
  Proof.
    intros b. unfold view, minus_one. destruct (eq_dec (image a) (image b)) as [e|other], (eq_dec a b) as [e'|other']; try reflexivity.
    - now apply images_apart in e.
    - congruence.
  Qed.

  Lemma view_same s t : s ≐ t -> view s ≐ view t.
  Proof. intros e a. apply e. Qed.

  Theorem seen s : reachable Q s -> at_home s /\ reachable P (view s).
  Proof.
    intros r. induction r as [s e|s t _ [home_ r] st].
    - split.
      + intros b some. apply starts_home. now rewrite <- e.
      + apply at_start. eapply same_trans; [apply view_same, e|exact starts_alike].
    - destruct st as [b can e|b more e|b c more turned e].
      + apply (rules_alike s b home_) in can. destruct can as [a [a_in [-> can]]]. split.
        * intros b some. rewrite e in some. destruct (eq_dec (image a) b) as [<-|other]; [eauto|].
          apply home_. now rewrite plus_one_other in some.
        * eapply by_step; [exact r|]. apply (deploy _ _ _ a can). eapply same_trans; [apply view_same, e|apply view_plus].
      + destruct (home_ b) as [a [a_in ->]]; [lia|]. split.
        * intros b some. apply home_. rewrite e in some. pose proof (minus_one_within s (image a) b). lia.
        * eapply by_step; [exact r|]. apply (delete _ _ _ a).
          -- rewrite nothing_kept. unfold view. lia.
          -- eapply same_trans; [apply view_same, e|apply view_minus].
      + destruct (home_ b) as [a [a_in ->]]; [lia|]. apply (changes_alike a c s a_in home_) in turned.
        destruct turned as [d [d_in [-> turned]]]. split.
        * intros b some. rewrite e in some. destruct (eq_dec (image d) b) as [<-|other]; [eauto|].
          rewrite plus_one_other in some by assumption. apply home_. pose proof (minus_one_within s (image a) b). lia.
        * eapply by_step; [exact r|]. apply (change _ _ _ a d); [|assumption|].
          -- rewrite nothing_kept. unfold view. lia.
          -- eapply same_trans; [apply view_same, e|]. eapply same_trans; [apply view_plus|].
             intros b. pose proof (view_minus s a b) as M. by_count.
  Qed.

  Theorem found t : reachable P t -> exists s, reachable Q s /\ view s ≐ t.
  Proof.
    intros r. induction r as [t e|t u _ [s [r v]] st].
    - exists (start Q). split; [apply at_start, same_refl|]. eapply same_trans; [exact starts_alike|now apply same_sym].
    - pose proof (seen s r) as [home_ _].
      destruct st as [a can e|a more e|a d more turned e].
      + exists (s ⊕ image a). split.
        * eapply by_step; [exact r|]. apply (deploy _ _ _ (image a)); [|apply same_refl].
          apply (rules_alike s _ home_). exists a. repeat split; [now apply hard_listed in can|].
          eapply counts_alone; [apply same_sym; exact v|exact can].
        * eapply same_trans; [apply view_plus|]. intros b. rewrite e. unfold plus_one. now rewrite v.
      + exists (s ⊖ image a). split.
        * eapply by_step; [exact r|]. apply (delete _ _ _ (image a)); [|apply same_refl].
          rewrite nothing_kept'. rewrite nothing_kept, <- v in more. exact more.
        * eapply same_trans; [apply view_minus|]. intros b. rewrite e. unfold minus_one. now rewrite v.
      + assert (a_in : In a listed).
        { destruct (home_ (image a)) as [a' [a_in e']]; [|apply images_apart in e'; now subst].
          rewrite nothing_kept, <- v in more. exact more. }
        exists (s ⊖ image a ⊕ image d). split.
        * eapply by_step; [exact r|]. apply (change _ _ _ (image a) (image d)); [| |apply same_refl].
          -- rewrite nothing_kept'. rewrite nothing_kept, <- v in more. exact more.
          -- apply (changes_alike a _ s a_in home_). exists d. repeat split; [now apply (becomes_listed a d t)|].
             eapply changes_same; [apply same_sym; exact v|exact turned].
        * eapply same_trans; [apply view_plus|]. intros b. rewrite e. pose proof (view_minus s a b) as M. specialize (v b). by_count.
  Qed.

  (** What is asked for within what there is can be met in one exactly if it can in the other. *)
  Theorem embedded_goal g : (forall alternative, In alternative g -> at_home alternative) ->
    deployable P (map view g) <-> deployable Q g.
  Proof.
    intros within_. split.
    - intros [t [r [alternative [alt_in below]]]]. apply in_map_iff in alt_in. destruct alt_in as [alt [<- alt_in]].
      destruct (found t r) as [s [r' v]]. exists s. split; [assumption|]. exists alt. split; [assumption|].
      intros b. destruct (N.eq_0_gt_0_cases (alt b)) as [->|some]; [lia|].
      destruct (within_ alt alt_in b some) as [a [_ ->]]. specialize (below a). now rewrite <- v in below.
    - intros [s [r [alt [alt_in below]]]]. exists (view s). split; [now apply seen|].
      exists (view alt). split; [now apply in_map|]. intros a. apply below.
  Qed.

  Corollary embedded a : In a listed -> deployable P [nothing ⊕ a] <-> deployable Q [nothing ⊕ image a].
  Proof.
    intros a_in. rewrite <- embedded_goal.
    - assert (e : view (nothing ⊕ image a) ≐ nothing ⊕ a).
      { eapply same_trans; [apply view_plus|]. intros b. unfold view. by_count. }
      split; intros [s [r [alt [[<-|[]] below]]]]; exists s; (split; [assumption|]); eexists; (split; [now left|]);
        intros b; specialize (below b); rewrite (e b) in *; assumption.
    - intros alternative [<-|[]] b some. exists a. split; [assumption|]. destruct (eq_dec (image a) b) as [e|other]; [congruence|].
      rewrite plus_one_other in some by assumption. unfold nothing in some. lia.
  Qed.
End Embedding.
