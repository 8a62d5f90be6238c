(** * A _never_ certificate: groups of pods that can never run together

    The start contains no group; every alternative of the goal contains one;
    and whichever pod of a group came last, there was a group already.  So no
    step leads from a configuration without a group to one with some.

    [Blocked] is what the checker establishes by its search (Search.v); here it
    is shown that nothing more is needed.

    docs/theory.md, "Evidence"; check/forbidden.rs. *)

From Coq Require Import NArith List Lia.
From Podreach Require Import Configuration Problem.
Import ListNotations.
Open Scope N_scope.

Section Never.
  Context {A : Type} `{Eq_dec A}.
  Implicit Types (s t b : configuration A) (groups : list (configuration A)).

  (** Some group is within a configuration. *)
  Definition forbidden groups s : Prop := exists b, In b groups /\ b ≼ s.

  Lemma forbidden_mono groups s t : s ≼ t -> forbidden groups s -> forbidden groups t.
  Proof. intros st [b [b_in bs]]. exists b. split; [assumption|]. eapply within_trans; eauto. Qed.

  Variable P : problem A.

  (** Whoever completes a group came to where a group was. *)
  Record certificate (g : goal A) groups : Prop := {
    start_free : ~ forbidden groups (start P);
    goal_ruled_out : forall alternative, In alternative g -> forbidden groups alternative;
    blocked : forall b a, In b groups -> 0 < b a ->
      forall s, b ⊖ a ≼ s -> hard P a s -> forbidden groups s;
    came_from : forall b a d, In b groups -> 0 < b d ->
      forall s, b ⊖ d ⊕ a ≼ s -> becomes P a d s -> forbidden groups s;
  }.

  (** No step leads to a group. *)
  Lemma certificate_step g groups s t : certificate g groups -> step P s t -> forbidden groups t -> forbidden groups s.
  Proof.
    intros C st [b [b_in bt]].
    destruct st as [a guard e|a more e|a d more turned e].
    - destruct (N.eq_dec (b a) 0) as [zero|some].
      + exists b. split; [assumption|]. intros c. specialize (bt c). rewrite e in bt. by_count.
      + eapply (blocked _ _ C b a); auto; [lia|].
        apply within_before. intros c. now rewrite <- e.
    - exists b. split; [assumption|]. intros c. specialize (bt c). rewrite e in bt. by_count.
    - destruct (N.eq_dec (b d) 0) as [zero|some].
      + exists b. split; [assumption|]. intros c. specialize (bt c). rewrite e in bt. by_count.
      + apply (came_from _ _ C b a d b_in ltac:(lia) s); [|assumption].
        intros c. pose proof (bt a) as at_a. specialize (bt c). rewrite e in bt, at_a. by_count.
  Qed.

  Theorem certificate_invariant g groups :
    certificate g groups -> forall s, reachable P s -> ~ forbidden groups s.
  Proof.
    intros C. apply invariant.
    - intros s e f. apply (start_free _ _ C).
      eapply forbidden_mono; [apply same_within|]; eassumption.
    - intros s t r free st bad. apply free. exact (certificate_step g groups s t C st bad).
  Qed.

  (** An accepted certificate is right: no sequence of steps, however long,
      meets the goal. *)
  Theorem certificate_sound g groups : certificate g groups -> never P g.
  Proof.
    intros C s r [alternative [g_in gs]].
    apply (certificate_invariant g groups C s r).
    eapply forbidden_mono; [exact gs|]. now apply (goal_ruled_out _ _ C).
  Qed.
End Never.
