(** * Few groups of few pods

    There are at most [(n + 1) ^ k] groups of at most [k] pods of [n] atoms, so a proof that has none
    else need not be longer.  With Nested.v: where goals never grow, a goal of [k] pods that
    is never met has a proof whose length is polynomial for a fixed [k].

    docs/theory.md, "Petri nets", at the end. *)

From Coq Require Import NArith Arith List Lia Bool.
From Podreach Require Import Configuration Problem Never Search Nested.
Import ListNotations.
Open Scope N_scope.

Section Few.
  Context {A : Type} `{Eq_dec A}.
  Implicit Types (b s : configuration A) (a : A).
  Variable all : list A.
  Hypothesis once : NoDup all.
  Hypothesis listed : forall a, In a all.
  Notation pods_of := (pods_of all).

  (** So many times one of the atoms, or none. *)
  Fixpoint groups_up_to (k : nat) : list (configuration A) :=
    match k with
    | O => [nothing]
    | S k => groups_up_to k ++ flat_map (fun a => map (fun b => b ⊕ a) (groups_up_to k)) all
    end.

  Lemma how_many k : length (groups_up_to k) = (S (length all) ^ k)%nat.
  Proof.
    assert (product : forall (l : list (configuration A)) (atoms : list A),
              length (flat_map (fun a => map (fun b => b ⊕ a) l) atoms) = (length atoms * length l)%nat).
    { intros l atoms. induction atoms as [|a rest IH]; [reflexivity|]. simpl. now rewrite app_length, map_length, IH. }
    induction k as [|k IH]; [reflexivity|]. cbn [groups_up_to]. rewrite app_length, product, IH. simpl. lia.
  Qed.

  Lemma some_pod (l : list A) b : count l b <> 0 -> exists a, In a l /\ 0 < b a.
  Proof.
    induction l as [|a rest IH]; simpl; [lia|]. intros some. destruct (N.eq_0_gt_0_cases (b a)) as [zero|there].
    - destruct IH as [c [c_in more]]; [lia|]. exists c. auto.
    - exists a. auto.
  Qed.

  (** Each group of so few pods is among them. *)
  Lemma all_groups k b : pods_of b <= N.of_nat k -> exists c, In c (groups_up_to k) /\ c ≐ b.
  Proof.
    revert b. induction k as [|k IH]; intros b few.
    - exists nothing. split; [now left|]. intros a. unfold nothing. symmetry. unfold Nested.pods_of in few.
      apply (proj1 (count_zero all b)); [lia|apply listed].
    - destruct (N.eq_dec (pods_of b) 0) as [none|some].
      + destruct (IH b) as [c [c_in is]]; [lia|]. exists c. split; [|assumption]. apply in_or_app. now left.
      + destruct (some_pod all b some) as [a [a_in there]]. pose proof (pods_minus all once listed b a there) as less.
        destruct (IH (b ⊖ a)) as [c [c_in is]]; [lia|]. exists (c ⊕ a). split.
        * apply in_or_app. right. apply in_flat_map. exists a. split; [assumption|]. now apply (in_map (fun b => b ⊕ a)).
        * intros x. specialize (is x). by_count.
  Qed.

  Definition is_same b b' : bool := forallb (fun a => b a =? b' a) all.

  Lemma is_same_spec b b' : is_same b b' = true <-> b ≐ b'.
  Proof.
    unfold is_same. rewrite forallb_forall. split.
    - intros same_ a. now apply N.eqb_eq, same_, listed.
    - intros same_ a _. apply N.eqb_eq, same_.
  Qed.

  (** A proof of such groups, none of them twice. *)
  Theorem few_groups (P : problem A) (g : goal A) k basis :
    certificate P g basis -> (forall b, In b basis -> pods_of b <= N.of_nat k) ->
    exists fewer, certificate P g fewer /\ (length fewer <= S (length all) ^ k)%nat /\ forall b, In b fewer -> exists b', In b' basis /\ b ≐ b'.
  Proof.
    intros C small. exists (filter (fun c => existsb (is_same c) basis) (groups_up_to k)).
    assert (are : forall c, In c (filter (fun c => existsb (is_same c) basis) (groups_up_to k)) -> exists b, In b basis /\ c ≐ b).
    { intros c c_in. apply filter_In in c_in. destruct c_in as [_ c_in]. apply existsb_exists in c_in. destruct c_in as [b [b_in is]].
      exists b. split; [assumption|]. now apply is_same_spec. }
    assert (same_ : forall s, forbidden (filter (fun c => existsb (is_same c) basis) (groups_up_to k)) s <-> forbidden basis s).
    { intros s. split; intros [b [b_in bs]].
      - destruct (are b b_in) as [c [c_in is]]. exists c. split; [assumption|]. intros a. rewrite <- (is a). apply bs.
      - destruct (all_groups k b (small b b_in)) as [c [c_in is]]. exists c. split; [|intros a; rewrite (is a); apply bs].
        apply filter_In. split; [assumption|]. apply existsb_exists. exists b. split; [assumption|]. now apply is_same_spec. }
    split; [|split; [|assumption]].
    - destruct C as [free ruled blocked_ came]. split.
      + now rewrite same_.
      + intros alternative alt_in. now apply same_, ruled.
      + intros b a b_in some s above ok. destruct (are b b_in) as [c [c_in is]]. apply same_. apply (blocked_ c a c_in); auto.
        * rewrite <- (is a). exact some.
        * intros x. specialize (above x). specialize (is x). by_count.
      + intros b a d b_in some s above turned. destruct (are b b_in) as [c [c_in is]]. apply same_. apply (came c a d c_in); auto.
        * rewrite <- (is d). exact some.
        * intros x. specialize (above x). specialize (is x). by_count.
    - rewrite <- (how_many k). clear. induction (groups_up_to k) as [|c rest IH]; simpl; [lia|]. destruct (existsb _ basis); simpl; lia.
  Qed.
End Few.

(** Where goals never grow, a goal of so few pods that is never met has a proof that is polynomial. *)
Corollary polynomial_certificates {A} `{Eq_dec A} (all : list A) (S : system A) (k : nat) (gl : goal A) :
  NoDup all -> (forall a, In a all) -> (forall a, consumes S a = None) -> (forall a g, guard_of S a = Some g -> nested g) ->
  (forall b, In b gl -> pods_of all b <= N.of_nat k) ->
  deployable (problem_of S) gl
  \/ exists basis, certificate (problem_of S) gl basis /\ (length basis <= Datatypes.S (length all) ^ k)%nat.
Proof.
  intros once listed free shape small. destruct (nested_small_certificates all S (N.of_nat k) gl once listed free shape small) as [yes|no]; [now left|right].
  destruct no as [basis [C few]]. destruct (few_groups all once listed _ _ k basis C few) as [fewer [C' [short _]]]. now exists fewer.
Qed.
