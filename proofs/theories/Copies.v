(** * A few nodes speak for all

    A pool adds nodes that nothing tells apart, and nobody knows how many.  A proof is about
    the few that are listed.  It is one about all of them, if wherever the search for an
    escape goes on to an atom on a node that is not listed, an exchange leads that atom to
    a listed one and moves nothing else of what is present: a listed node is free.  For then every
    branch among all nodes is an image of one that the checker saw to its end.

    This is the argument, for any rules that exchanges do not notice; [few] is what the
    search establishes.  That the rules of clusters with pools are such is not proved here.

    check/copies.rs; docs/theory.md, "Nodes that come and go". *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Problem Never Symmetry.
Import ListNotations.
Open Scope N_scope.

Section Copies.
  Context {A : Type} `{Eq_dec A}.
  Implicit Types (s t u b : configuration A) (a d x : A).

  (** Everything, on however many nodes. *)
  Variable P : problem A.
  (** What is on a node that is listed, or on one that does not come and go. *)
  Variable listed : A -> bool.

  (** Exchanges of the nodes of a shape, each with the way back. *)
  Variable exchange : (A -> A) -> (A -> A) -> Prop.
  Hypothesis there_and_back : forall to_ back_, exchange to_ back_ -> (forall a, back_ (to_ a) = a) /\ forall a, to_ (back_ a) = a.
  Hypothesis no_exchange : exchange (fun a => a) (fun a => a).
  Hypothesis exchange_back : forall to_ back_, exchange to_ back_ -> exchange back_ to_.
  Hypothesis exchange_then : forall to_ back_ to_' back_', exchange to_ back_ -> exchange to_' back_' ->
    exchange (fun a => to_' (to_ a)) (fun a => back_ (back_' a)).

  (** The rules do not notice, nothing runs on such nodes at first, and nothing on them is kept. *)
  Hypothesis rules_blind : forall to_ back_, exchange to_ back_ -> forall a s, hard P a s -> hard P (to_ a) (image back_ s).
  Hypothesis changes_blind : forall to_ back_, exchange to_ back_ -> forall a d s, becomes P a d s -> becomes P (to_ a) (to_ d) (image back_ s).
  Hypothesis start_still : forall to_ back_, exchange to_ back_ -> image back_ (start P) ≐ start P.

  (** The groups of the proof, and all that exchanges make of them. *)
  Variable groups : list (configuration A).
  Definition found s : Prop := exists to_ back_ b, exchange to_ back_ /\ In b groups /\ image back_ b ≼ s.

  Lemma image_mono (back_ : A -> A) s t : s ≼ t -> image back_ s ≼ image back_ t.
  Proof. intros st a. apply st. Qed.

  Lemma found_mono s t : s ≼ t -> found s -> found t.
  Proof. intros st [to_ [back_ [b [E [b_in bs]]]]]. exists to_, back_, b. repeat split; auto. eapply within_trans; eassumption. Qed.

  Lemma found_listed s : forbidden groups s -> found s.
  Proof. intros [b [b_in bs]]. exists (fun a => a), (fun a => a), b. auto. Qed.

  (** An image is found exactly if what it is of is. *)
  Lemma found_image to_ back_ s : exchange to_ back_ -> found (image back_ s) -> found s.
  Proof.
    intros E [to_' [back_' [b [E' [b_in bs]]]]]. destruct (there_and_back _ _ E) as [undone _].
    exists (fun a => back_ (to_' a)), (fun a => back_' (to_ a)), b. split; [now apply exchange_then; [|apply exchange_back]|].
    split; [assumption|]. intros a. specialize (bs (to_ a)). unfold image in *. now rewrite undone in bs.
  Qed.

  (** ** What the search establishes

      Of a deployment that the rules let happen where [ok] holds, and that comes upon [u]: nothing above
      is ok; or a group is there; or one more of some atoms is needed, and it is so with each of them that is
      listed, to which an exchange leads every other. *)
  Inductive few (ok : configuration A -> Prop) : configuration A -> Prop :=
  | few_over u : (forall t, u ≼ t -> ~ ok t) -> few ok u
  | few_found u : found u -> few ok u
  | few_branch u (needed : A -> Prop) :
      (forall t, u ≼ t -> ok t -> exists x, needed x /\ u ⊕ x ≼ t) ->
      (forall x, needed x -> listed x = true -> few ok (u ⊕ x)) ->
      (forall x, needed x -> listed x = false -> exists to_ back_, exchange to_ back_
         /\ (forall s, ok s -> ok (image back_ s)) /\ image back_ u ≐ u /\ needed (to_ x) /\ listed (to_ x) = true) ->
      few ok u.

  Lemma image_plus_one to_ back_ s a : exchange to_ back_ -> image back_ (s ⊕ a) ≐ image back_ s ⊕ to_ a.
  Proof. intros E. destruct (there_and_back _ _ E). now apply image_plus. Qed.

  Theorem few_enough ok u : few ok u -> forall t, u ≼ t -> ok t -> found t.
  Proof.
    intros F. induction F as [u over|u is|u needed grew _ IH moved]; intros t ut okt.
    - exfalso. exact (over t ut okt).
    - eapply found_mono; eassumption.
    - destruct (grew t ut okt) as [x [x_in more]]. destruct (listed x) eqn:there; [now apply (IH x)|].
      destruct (moved x x_in there) as [to_ [back_ [E [kept_ok [still [y_in y_there]]]]]].
      apply (found_image to_ back_ t E). apply (IH (to_ x)); auto.
      eapply within_trans; [|apply (image_mono back_ _ _ more)].
      intros a. rewrite (image_plus_one to_ back_ u x E a). unfold plus_one. now rewrite (still a).
  Qed.

  (** ** A proof about the listed nodes is one about all *)

  Record few_certificate (g : goal A) : Prop := {
    few_start_free : ~ forbidden groups (start P);
    few_goal_ruled_out : forall alternative, In alternative g -> forbidden groups alternative;
    few_blocked : forall b a, In b groups -> 0 < b a -> few (hard P a) (b ⊖ a);
    few_came_from : forall b a d, In b groups -> 0 < b d -> few (becomes P a d) (b ⊖ d ⊕ a);
  }.

  Theorem few_speak_for_all g : few_certificate g -> never P g.
  Proof.
    intros C.
    assert (free : forall s, reachable P s -> ~ found s).
    { apply invariant.
      - intros s e [to_ [back_ [b [E [b_in bs]]]]]. apply (few_start_free g C). exists b. split; [assumption|].
        intros a. destruct (there_and_back _ _ E) as [undone _]. specialize (bs (to_ a)). unfold image in bs. rewrite undone, (e (to_ a)) in bs.
        rewrite (start_still _ _ (exchange_back _ _ E) a) in bs || (rewrite <- (start_still _ _ (exchange_back _ _ E) a); exact bs).
      - intros s t _ no st [to_ [back_ [b [E [b_in bt]]]]]. apply no. clear no.
        pose proof (exchange_back _ _ E) as E'. destruct (there_and_back _ _ E) as [undone redone].
        (* Everything is looked at where the group is listed. *)
        apply (found_image back_ to_ s E').
        assert (below : b ≼ image to_ t).
        { intros a. specialize (bt (to_ a)). unfold image in *. now rewrite undone in bt. }
        destruct st as [a ok e|a more e|a d more turned e].
        + assert (e' : image to_ t ≐ image to_ s ⊕ back_ a).
          { eapply same_trans; [intros x; apply e|]. now apply image_plus_one. }
          destruct (N.eq_dec (b (back_ a)) 0) as [zero|some].
          * apply found_listed. exists b. split; [assumption|]. intros x. specialize (below x). rewrite (e' x) in below. by_count.
          * apply (few_enough (hard P (back_ a)) (b ⊖ back_ a)); [apply (few_blocked g C); [assumption|lia]| |now apply rules_blind].
            intros x. specialize (below x). rewrite (e' x) in below. by_count.
        + apply found_listed. exists b. split; [assumption|]. eapply within_trans; [exact below|].
          intros x. unfold image. rewrite (e (to_ x)). apply minus_one_within.
        + assert (there : 0 < image to_ s (back_ a)) by (unfold image; rewrite redone; lia).
          assert (e' : image to_ t ≐ image to_ s ⊖ back_ a ⊕ back_ d).
          { eapply same_trans; [intros x; apply e|]. eapply same_trans; [apply (image_plus_one back_ to_ _ d E')|].
            intros x. pose proof (image_minus back_ to_ redone undone s a x) as M. unfold plus_one. now rewrite M. }
          destruct (N.eq_dec (b (back_ d)) 0) as [zero|some].
          * apply found_listed. exists b. split; [assumption|]. intros x. specialize (below x). rewrite (e' x) in below. by_count.
          * apply (few_enough (becomes P (back_ a) (back_ d)) (b ⊖ back_ d ⊕ back_ a));
              [apply (few_came_from g C); [assumption|lia]| |now apply changes_blind].
            intros x. pose proof (below (back_ a)) as at_a. specialize (below x). rewrite (e' x) in below. rewrite (e' (back_ a)) in at_a. by_count. }
    intros s r [alternative [g_in covered]]. apply (free s r). eapply found_mono; [exact covered|].
    apply found_listed. now apply (few_goal_ruled_out g C).
  Qed.
End Copies.
