(** * Less is always reachable

    Whatever is not kept can be deleted.  So with a configuration every smaller
    one that has what is kept is reachable, and to ask for an exact
    configuration is to ask to cover it.

    docs/theory.md, "What free deletion gives", 1; question/goal.rs. *)

From Coq Require Import NArith List Lia.
From Podreach Require Import Configuration Problem.
Import ListNotations.
Open Scope N_scope.

Section Closure.
  Context {A : Type} `{Eq_dec A}.
  Variable P : problem A.
  Implicit Types (s t : configuration A).

  Lemma reachable_same s t : s ≐ t -> reachable P s -> reachable P t.
  Proof.
    intros e r. destruct r as [s es|u s r st].
    - apply at_start. eapply same_trans; [apply same_sym|]; eassumption.
    - eapply by_step; [exact r|]. apply same_sym in e.
      destruct st; [eapply deploy|eapply delete|eapply change];
        try eassumption; eapply same_trans; eassumption.
  Qed.

  (** [s] with [n] of [a], and the rest as it is. *)
  Definition set s (a : A) (n : N) : configuration A := fun b => if eq_dec a b then n else s b.

  Lemma reachable_fewer a n s :
    reachable P s -> kept P a <= n <= s a -> reachable P (set s a n).
  Proof.
    intros r. remember (s a - n) as excess eqn:is. revert s is r.
    induction excess as [|excess IH] using N.peano_ind; intros s is r between.
    - eapply reachable_same; [|exact r]. unfold set. by_count.
    - apply (reachable_same (set (s ⊖ a) a n)); [unfold set; by_count|].
      apply IH; [by_count| |by_count].
      eapply by_step; [exact r|]. eapply delete; [|apply same_refl]. lia.
  Qed.

  (** All of finitely many atoms at once. *)
  Fixpoint set_all s (atoms : list A) t : configuration A :=
    match atoms with
    | [] => s
    | a :: rest => set (set_all s rest t) a (t a)
    end.

  Lemma set_all_either s atoms t b :
    set_all s atoms t b = t b \/ set_all s atoms t b = s b /\ ~ In b atoms.
  Proof.
    induction atoms as [|a rest IH]; simpl; [tauto|]. unfold set.
    destruct (eq_dec a b); subst; intuition.
  Qed.

  Theorem downward_closed s t atoms :
    reachable P s -> kept P ≼ t -> t ≼ s -> (forall a, t a < s a -> In a atoms) -> reachable P t.
  Proof.
    intros r low high listed.
    assert (R : reachable P (set_all s atoms t)).
    { clear listed. induction atoms as [|a rest IH]; simpl; [assumption|].
      apply reachable_fewer; [assumption|]. split; [apply low|].
      destruct (set_all_either s rest t a) as [->|[-> _]]; [lia|apply high]. }
    eapply reachable_same; [|exact R]. intros b.
    destruct (set_all_either s atoms t b) as [e|[e out]]; [assumption|].
    rewrite e. specialize (high b). destruct (N.lt_trichotomy (t b) (s b)) as [lt|[eq|gt]]; auto; [|lia].
    now apply listed in lt.
  Qed.

  (** Where finitely many atoms ever run, exact reachability is coverability. *)
  Corollary exact_is_covered (all : list A) (listed : forall s a, reachable P s -> s a <> 0 -> In a all) t :
    kept P ≼ t -> (reachable P t <-> exists s, reachable P s /\ t ≼ s).
  Proof.
    intros low. split.
    - intros r. exists t. split; [assumption|apply within_refl].
    - intros [s [r high]]. apply (downward_closed s t all); auto. intros a more. apply (listed s); [assumption|lia].
  Qed.
End Closure.
