(** * Exchanges: what holds on one node holds on those like it

    An exchange of nodes moves atoms.  If the rules do not notice it, it maps runs to
    runs, from the image of the start.  The start need not be symmetric; but what is
    never reached from more is never reached from less.  So a _never_ that was
    proved from a start above the images of the real one holds for every goal that
    the exchanges lead to.

    check/symmetry.rs, check/orbits.rs. *)

From Coq Require Import NArith List Lia.
From Podreach Require Import Configuration Problem Closure Weakening.
Import ListNotations.
Open Scope N_scope.

Section Symmetry.
  Context {A : Type} `{Eq_dec A}.
  Variable P : problem A.

  (** An exchange and the way back. *)
  Variables (to_ back_ : A -> A).
  Hypothesis there_and_back : forall a, back_ (to_ a) = a.
  Hypothesis back_and_there : forall a, to_ (back_ a) = a.

  (** What runs on a node runs where the exchange leads. *)
  Definition image (s : configuration A) : configuration A := fun a => s (back_ a).

  (** The rules do not notice. *)
  Hypothesis rules_blind : forall a s, hard P a s -> hard P (to_ a) (image s).
  Hypothesis changes_blind : forall a d s, becomes P a d s -> becomes P (to_ a) (to_ d) (image s).
  Hypothesis kept_blind : forall a, kept P (to_ a) = kept P a.

  Lemma image_at s a : image s (to_ a) = s a.
  Proof. unfold image. now rewrite there_and_back. Qed.

  Lemma image_plus s a : image (s ⊕ a) ≐ image s ⊕ to_ a.
  Proof.
    intros b. unfold image, plus_one. destruct (eq_dec a (back_ b)) as [e|other], (eq_dec (to_ a) b) as [e'|other'];
      try reflexivity; exfalso; [apply other'; rewrite e; apply back_and_there|apply other; now rewrite <- e', there_and_back].
  Qed.

  Lemma image_minus s a : image (s ⊖ a) ≐ image s ⊖ to_ a.
  Proof.
    intros b. unfold image, minus_one. destruct (eq_dec a (back_ b)) as [e|other], (eq_dec (to_ a) b) as [e'|other'];
      try reflexivity; exfalso; [apply other'; rewrite e; apply back_and_there|apply other; now rewrite <- e', there_and_back].
  Qed.

  Theorem image_reachable s : reachable P s -> reachable (starting P (image (start P))) (image s).
  Proof.
    intros r. induction r as [s e|s t r IH st].
    - apply at_start. intros a. apply e.
    - eapply by_step; [exact IH|]. destruct st as [a ok e|a more e|a d more turned e].
      + apply (deploy _ _ _ (to_ a)); [now apply rules_blind|].
        eapply same_trans; [intros b; apply e|apply image_plus].
      + apply (delete _ _ _ (to_ a)); [simpl; now rewrite kept_blind, image_at|].
        eapply same_trans; [intros b; apply e|apply image_minus].
      + apply (change _ _ _ (to_ a) (to_ d)); [simpl; now rewrite kept_blind, image_at|now apply changes_blind|].
        eapply same_trans; [intros b; apply e|]. eapply same_trans; [apply image_plus|].
        intros b. pose proof (image_minus s a b) as M. by_count.
  Qed.

  (** A goal, moved back to where the exchange came from. *)
  Definition moved_back (g : goal A) : goal A := map (fun alternative a => alternative (to_ a)) g.

  Theorem never_of_images (all : list A) (above : configuration A) g :
    (forall a, image (start P) a < above a -> In a all) ->
    kept P ≼ start P ->
    image (start P) ≼ above ->
    never (starting P above) g ->
    never P (moved_back g).
  Proof.
    intros listed low high no s r [alternative [g_in covered]].
    apply in_map_iff in g_in. destruct g_in as [alt [<- alt_in]].
    assert (no' : never (starting P (image (start P))) g).
    { apply (weaker_by_start (starting P (image (start P))) (starting P above) all); auto.
      - apply within_refl.
      - intros a. simpl. unfold image. rewrite <- (back_and_there a) at 1. rewrite kept_blind. apply low. }
    apply (no' (image s)); [now apply image_reachable|].
    exists alt. split; [assumption|]. intros a. specialize (covered (back_ a)). simpl in covered.
    now rewrite back_and_there in covered.
  Qed.
End Symmetry.
