(** * The search that re-proves a forbidden group

    For a group [b] and a pod [a] of it that came last, any configuration before
    contains [b − a], and what [a] consumed, if it waited until then.  If the guard of [a] does not hold there, it is exceeded,
    and no larger configuration helps; or some pod of a group is needed, and
    every configuration that helps has one more of them.  So the search branches
    on that one pod, and each branch must come to a configuration that contains
    a forbidden group or exceeds a bound.

    The search runs on [fuel]; without any left it says that there may be an
    escape, which is never wrong.

    check/forbidden.rs, [escapes]. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Problem Guard Never.
Import ListNotations.
Open Scope N_scope.

Section Search.
  Context {A : Type} `{Eq_dec A}.

  (** Says whether some group is within a configuration. *)
  Variable found : configuration A -> bool.

  Fixpoint escapes (fuel : nat) (g : guard A) (s : configuration A) : bool :=
    match fuel with
    | O => true
    | S fuel =>
      if exceeds g s then false
      else if found s then false
      else match needed g s with
           | None => true
           | Some group => existsb (fun a => escapes fuel g (s ⊕ a)) group
           end
    end.

  (** Without an escape, the guard holds only above a forbidden group. *)
  Theorem escapes_sound fuel g : forall s,
    escapes fuel g s = false ->
    forall t, s ≼ t -> holds g t = true -> exists u, u ≼ t /\ found u = true.
  Proof.
    induction fuel as [|fuel IH]; simpl; intros s no t st ok; [discriminate|].
    destruct (exceeds g s) eqn:over.
    { rewrite (exceeds_stays g s t st over) in ok. discriminate. }
    destruct (found s) eqn:f; [eauto|].
    destruct (needed g s) as [group|] eqn:need; [|discriminate].
    destruct (needed_grew g s t group st need ok) as [a [a_in more]].
    assert (branch : escapes fuel g (s ⊕ a) = false).
    { destruct (escapes fuel g (s ⊕ a)) eqn:e; [|reflexivity].
      assert (existsb (fun a => escapes fuel g (s ⊕ a)) group = true)
        by (apply existsb_exists; eauto).
      congruence. }
    eapply IH; eauto using plus_one_within.
  Qed.
End Search.

(** ** Problems whose rules are guards *)

(** Atoms without a guard are never deployed. *)
Record system (A : Type) := {
  guard_of : A -> option (guard A);
  (** What an atom that is being deleted was before. *)
  former : A -> option A;
  (** What deploying an atom consumes: a pod that waits. *)
  consumes : A -> option A;
  initially : configuration A;
}.

Arguments guard_of {A}.
Arguments former {A}.
Arguments consumes {A}.
Arguments initially {A}.

(** The problem that a system of guards is.  Kept pods are constants in the
    guards, so nothing is kept besides them (Kept.v). *)
Definition problem_of {A} (S : system A) : problem A := {|
  hard a s := consumes S a = None /\ exists g, guard_of S a = Some g /\ holds g s = true;
  becomes a d s := former S d = Some a
    \/ consumes S d = Some a /\ exists g, guard_of S d = Some g /\ holds g s = true;
  kept := nothing;
  start := initially S;
|}.

Section Check.
  Context {A : Type} `{Eq_dec A}.
  Variable S : system A.

  (** A group lists its atoms, none of them twice. *)
  Definition group : Type := list (A * N).

  Definition lookup (b : group) : configuration A := fun a =>
    fold_right (fun '(c, n) rest => if eq_dec c a then n else rest) 0 b.

  Definition contained (b : group) (s : configuration A) : bool :=
    forallb (fun '(a, _) => lookup b a <=? s a) b.

  Lemma lookup_listed b a : lookup b a <> 0 -> In a (map fst b).
  Proof.
    induction b as [|[c n] rest IH]; simpl; [congruence|].
    destruct (eq_dec c a); intuition.
  Qed.

  Lemma contained_spec b s : contained b s = true <-> lookup b ≼ s.
  Proof.
    unfold contained. rewrite forallb_forall. split.
    - intros all a. destruct (N.eq_dec (lookup b a) 0) as [->|some]; [lia|].
      apply lookup_listed, in_map_iff in some. destruct some as [[c n] [<- c_in]].
      specialize (all _ c_in). simpl in *. now apply N.leb_le in all.
    - intros all [a n] _. apply N.leb_le, all.
  Qed.

  Definition contains_one (groups : list group) (s : configuration A) : bool :=
    existsb (fun b => contained b s) groups.

  Lemma contains_one_spec groups s : contains_one groups s = true <-> forbidden (map lookup groups) s.
  Proof.
    unfold contains_one, forbidden. rewrite existsb_exists. split.
    - intros [b [b_in c]]. exists (lookup b). split; [now apply in_map|]. now apply contained_spec.
    - intros [b [b_in c]]. apply in_map_iff in b_in. destruct b_in as [b' [<- b_in]].
      exists b'. split; [assumption|]. now apply contained_spec.
  Qed.

  Variable fuel : nat.

  (** What is there of a group before an atom of it is deployed: the rest, and what that consumes. *)
  Definition before_last (b : configuration A) (a : A) : configuration A :=
    match consumes S a with Some w => b ⊖ a ⊕ w | None => b ⊖ a end.

  (** No pod of a group could have come last. *)
  Definition group_holds (groups : list group) (b : group) : bool :=
    forallb (fun '(a, _) =>
      (lookup b a =? 0)
      || (match guard_of S a with
          | None => true
          | Some g => negb (escapes (contains_one groups) fuel g (before_last (lookup b) a))
          end
          && match former S a with
             | None => true
             | Some before => contains_one groups (lookup b ⊖ a ⊕ before)
             end)) b.

  (** The checker: accepts a proof that no run meets the goal, or does not. *)
  Definition check_never (g : goal A) (groups : list group) : bool :=
    negb (contains_one groups (initially S))
    && forallb (contains_one groups) g
    && forallb (group_holds groups) groups.

  Lemma group_holds_spec groups b a :
    group_holds groups b = true -> 0 < lookup b a ->
    match guard_of S a with
    | None => True
    | Some g => escapes (contains_one groups) fuel g (before_last (lookup b) a) = false
    end /\
    match former S a with
    | None => True
    | Some before => forbidden (map lookup groups) (lookup b ⊖ a ⊕ before)
    end.
  Proof.
    intros ok some. unfold group_holds in ok. rewrite forallb_forall in ok.
    assert (listed : In a (map fst b)) by (apply lookup_listed; lia).
    apply in_map_iff in listed. destruct listed as [[c n] [<- c_in]]. simpl in *.
    specialize (ok _ c_in). simpl in ok. apply orb_true_iff in ok. destruct ok as [zero|ok].
    { apply N.eqb_eq in zero. lia. }
    apply andb_true_iff in ok. destruct ok as [guarded before]. split.
    - destruct (guard_of S c); [now apply negb_true_iff|trivial].
    - destruct (former S c); [now apply contains_one_spec|trivial].
  Qed.

  Theorem check_never_certificate g groups :
    check_never g groups = true -> certificate (problem_of S) g (map lookup groups).
  Proof.
    unfold check_never. rewrite !andb_true_iff, !forallb_forall, negb_true_iff.
    intros [[free ruled] blocks]. split; simpl.
    - intros f. apply contains_one_spec in f. congruence.
    - intros alternative a_in. now apply contains_one_spec, ruled.
    - intros b a b_in some s above [unwaited [gd [is ok]]].
      apply in_map_iff in b_in. destruct b_in as [b' [<- b_in]].
      destruct (group_holds_spec groups b' a (blocks _ b_in) some) as [no _]. rewrite is in no.
      unfold before_last in no. rewrite unwaited in no.
      destruct (escapes_sound _ _ _ _ no s above ok) as [u [us f]].
      eapply forbidden_mono; [exact us|]. now apply contains_one_spec.
    - intros b a d b_in some s above turned.
      apply in_map_iff in b_in. destruct b_in as [b' [<- b_in]].
      destruct (group_holds_spec groups b' d (blocks _ b_in) some) as [no f].
      destruct turned as [was|[uses [gd [is ok]]]].
      + rewrite was in f. eapply forbidden_mono; eassumption.
      + rewrite is in no. unfold before_last in no. rewrite uses in no.
        destruct (escapes_sound _ _ _ _ no s above ok) as [u [us found]].
        eapply forbidden_mono; [exact us|]. now apply contains_one_spec.
  Qed.

  (** What the checker accepts is so. *)
  Theorem check_never_sound g groups : check_never g groups = true -> never (problem_of S) g.
  Proof. intros ok. eapply certificate_sound, check_never_certificate, ok. Qed.
End Check.
