(** * Pods, labels and nodes by their numbers

    The rules know pods, nodes, keys and selectors by numbers, and the protocol
    by what they mean: so each of its words gets a number of its own. *)

From Coq Require Import NArith PArith List.
From Podreach Require Import Configuration Protocol.
Import ListNotations.

(** Two numbers as one: the first bit by bit, each behind a one, and the second behind a zero. *)
Fixpoint mark (p q : positive) : positive :=
  match p with
  | xH => xO q
  | xO p => xI (xO (mark p q))
  | xI p => xI (xI (mark p q))
  end.

Fixpoint unmark (n : positive) : positive * positive :=
  match n with
  | xO q => (xH, q)
  | xI (xO n) => let (p, q) := unmark n in (xO p, q)
  | xI (xI n) => let (p, q) := unmark n in (xI p, q)
  | _ => (xH, xH)
  end.

Lemma unmark_mark p q : unmark (mark p q) = (p, q).
Proof. induction p as [p IH|p IH|]; simpl; [now rewrite IH|now rewrite IH|reflexivity]. Qed.

Lemma mark_apart p q p' q' : mark p q = mark p' q' -> p = p' /\ q = q'.
Proof. intros e. apply (f_equal unmark) in e. rewrite !unmark_mark in e. now injection e. Qed.

#[global] Instance positive_eq_dec : Eq_dec positive := Pos.eq_dec.

Notation role := (pod positive positive).
Notation signal := (label positive positive).

Definition number (x : role) : positive :=
  match x with
  | Initial p => mark 1 p
  | Token p a => mark 2 (mark p a)
  | First_ready => mark 3 1
  | Start a => mark 4 a
  | Execute a => mark 5 a
  | End a => mark 6 a
  | Check a => mark 7 a
  | Ready a => mark 8 a
  | Goal => mark 9 1
  end.

Definition name (l : signal) : positive :=
  match l with
  | at_place p => mark 1 p
  | is_ready => mark 2 1
  | is_goal => mark 3 1
  | nobody => mark 4 1
  | is_start => mark 5 1
  | start_of a => mark 6 a
  | is_execute => mark 7 1
  | execute_of a => mark 8 a
  | is_end => mark 9 1
  | end_of a => mark 10 a
  | is_check => mark 11 1
  | check_of a => mark 12 a
  end.

Lemma numbers_apart x y : number x = number y -> x = y.
Proof.
  destruct x, y; unfold number; intros e; apply mark_apart in e; destruct e as [tag e]; try discriminate tag;
    try reflexivity; try (now subst). apply mark_apart in e. destruct e. now subst.
Qed.

Lemma names_apart l k : name l = name k -> l = k.
Proof.
  destruct l, k; unfold name; intros e; apply mark_apart in e; destruct e as [tag e]; try discriminate tag; try reflexivity; now subst.
Qed.
