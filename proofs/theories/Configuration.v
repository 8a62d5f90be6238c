(** * Configurations: how many instances of each atom run

    An _atom_ is a pod type on a node.  A configuration counts the instances
    of each; counts have no upper bound.  Configurations are ordered pointwise.
    Everything here is about counts alone: atoms may be of any type with
    decidable equality.

    docs/spec/question.md, "Configurations"; state/configuration.rs. *)

From Coq Require Import NArith List Lia.
Import ListNotations.
Open Scope N_scope.

(** Sums stay sums. *)
Global Arguments N.add : simpl never.
Global Arguments N.sub : simpl never.
Global Arguments N.mul : simpl never.
Global Arguments N.leb : simpl never.
Global Arguments N.ltb : simpl never.
Global Arguments N.eqb : simpl never.

Class Eq_dec (A : Type) := eq_dec : forall a b : A, {a = b} + {a <> b}.

Definition configuration (A : Type) : Type := A -> N.

Declare Scope configuration_scope.
Delimit Scope configuration_scope with configuration.
Open Scope configuration_scope.

Section Counts.
  Context {A : Type} `{Eq_dec A}.
  Implicit Types (s t u : configuration A) (a b : A).

  (** Nothing runs. *)
  Definition nothing : configuration A := fun _ => 0.

  (** [s] is within [t]: at least as many of each run in [t]. *)
  Definition within s t : Prop := forall a, s a <= t a.

  (** The same counts.  We need no extensionality of functions. *)
  Definition same s t : Prop := forall a, s a = t a.

  (** One more instance of [a], and one less. *)
  Definition plus_one s a : configuration A := fun b => if eq_dec a b then s b + 1 else s b.
  Definition minus_one s a : configuration A := fun b => if eq_dec a b then s b - 1 else s b.

  (** Pointwise sum and difference; a difference is never below zero. *)
  Definition plus s t : configuration A := fun a => s a + t a.
  Definition minus s t : configuration A := fun a => s a - t a.

  (** The sum of several. *)
  Fixpoint all_of (l : list (configuration A)) : configuration A :=
    match l with [] => nothing | s :: rest => plus s (all_of rest) end.
End Counts.

Infix "≼" := within (at level 70) : configuration_scope.
Infix "≐" := same (at level 70) : configuration_scope.
Infix "⊕" := plus_one (at level 50, left associativity) : configuration_scope.
Infix "⊖" := minus_one (at level 50, left associativity) : configuration_scope.

(** Decides questions about counts: looks at every atom in question, then
    leaves the rest to linear arithmetic. *)
Ltac by_count :=
  intros; unfold within, same, plus_one, minus_one, plus, minus, nothing in *; intros;
  repeat match goal with
         | |- context [eq_dec ?a ?b] => destruct (eq_dec a b); subst
         | H : context [eq_dec ?a ?b] |- _ => destruct (eq_dec a b); subst
         end;
  try congruence; try lia.

Section Order.
  Context {A : Type} `{Eq_dec A}.
  Implicit Types (s t u : configuration A) (a b : A).

  Lemma within_refl s : s ≼ s.
  Proof. by_count. Qed.

  Lemma within_trans s t u : s ≼ t -> t ≼ u -> s ≼ u.
  Proof. intros st tu a. specialize (st a). specialize (tu a). lia. Qed.

  Lemma same_refl s : s ≐ s.
  Proof. by_count. Qed.

  Lemma same_sym s t : s ≐ t -> t ≐ s.
  Proof. intros st a. now rewrite st. Qed.

  Lemma same_trans s t u : s ≐ t -> t ≐ u -> s ≐ u.
  Proof. intros st tu a. now rewrite st. Qed.

  Lemma same_within s t : s ≐ t -> s ≼ t.
  Proof. intros st a. rewrite st. lia. Qed.

  Lemma plus_one_same s a b : a = b -> (s ⊕ a) b = s b + 1.
  Proof. by_count. Qed.

  Lemma plus_one_other s a b : a <> b -> (s ⊕ a) b = s b.
  Proof. by_count. Qed.

  Lemma within_plus_one s a : s ≼ s ⊕ a.
  Proof. by_count. Qed.

  Lemma minus_one_within s a : s ⊖ a ≼ s.
  Proof. by_count. Qed.

  Lemma plus_one_mono s t a : s ≼ t -> s ⊕ a ≼ t ⊕ a.
  Proof. intros st b. specialize (st b). by_count. Qed.

  (** What was covered only after [a] came was covered before, but for [a]. *)
  Lemma within_before s t a : s ≼ t ⊕ a -> s ⊖ a ≼ t.
  Proof. intros st b. specialize (st b). by_count. Qed.

  (** To have more of [a] than before is to have had one more. *)
  Lemma plus_one_within s t a : s ≼ t -> s a < t a -> s ⊕ a ≼ t.
  Proof. intros st more b. specialize (st b). by_count. Qed.
End Order.

(** ** Sums *)

Section Sums.
  Context {A : Type}.
  Implicit Types (s t : configuration A).

  (** [Σ w(a) · s(a)]. *)
  Fixpoint total (weights : list (A * N)) s : N :=
    match weights with
    | [] => 0
    | (a, w) :: rest => w * s a + total rest s
    end.

  (** [Σ s(a)] over a group of atoms. *)
  Fixpoint count (group : list A) s : N :=
    match group with
    | [] => 0
    | a :: rest => s a + count rest s
    end.

  Lemma total_mono weights s t : s ≼ t -> total weights s <= total weights t.
  Proof.
    intros st. induction weights as [|[a w] rest IH]; simpl; [lia|].
    specialize (st a). nia.
  Qed.

  Lemma count_mono group s t : s ≼ t -> count group s <= count group t.
  Proof.
    intros st. induction group as [|a rest IH]; simpl; [lia|].
    specialize (st a). lia.
  Qed.

  Lemma total_same weights s t : s ≐ t -> total weights s = total weights t.
  Proof.
    intros st. induction weights as [|[a w] rest IH]; simpl; [lia|].
    now rewrite IH, st.
  Qed.

  Lemma count_same group s t : s ≐ t -> count group s = count group t.
  Proof.
    intros st. induction group as [|a rest IH]; simpl; [lia|].
    now rewrite IH, st.
  Qed.

  (** A group that grew has a member that did. *)
  Lemma count_grew group s t :
    count group s < count group t -> exists a, In a group /\ s a < t a.
  Proof.
    induction group as [|a rest IH]; simpl; [lia|]. intros grew.
    destruct (N.lt_ge_cases (s a) (t a)) as [more|less].
    - exists a. auto.
    - destruct IH as [b [b_in b_more]]; [lia|]. exists b. auto.
  Qed.

  Lemma count_zero group s : count group s = 0 <-> forall a, In a group -> s a = 0.
  Proof.
    induction group as [|a rest IH]; simpl; [intuition|]. split.
    - intros zero b [<-|b_in]; [lia|]. apply IH; [lia|assumption].
    - intros zero. rewrite (zero a), (proj2 IH); auto.
  Qed.

  Lemma count_plus group s t : count group (plus s t) = count group s + count group t.
  Proof. induction group as [|a rest IH]; simpl; [lia|]. unfold plus in *. lia. Qed.

  Lemma total_plus weights s t : total weights (plus s t) = total weights s + total weights t.
  Proof. induction weights as [|[a w] rest IH]; simpl; [lia|]. unfold plus in *. lia. Qed.

  Lemma count_app group more s : count (group ++ more) s = count group s + count more s.
  Proof. induction group as [|a rest IH]; simpl; lia. Qed.
End Sums.
