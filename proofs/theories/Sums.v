(** * Sums, atom by atom

    A weighted sum is told as a list of atoms with weights, where an atom may come
    more than once.  Here is what each atom counts in it, and how sums over lists go.

    state/configuration.rs. *)

From Coq Require Import NArith List Lia Permutation.
From Podreach Require Import Configuration.
Import ListNotations.
Open Scope N_scope.

Section Sum.
  Context {B : Type}.
  Implicit Types (h k : B -> N) (l : list B).

  Fixpoint sum h l : N := match l with [] => 0 | b :: rest => h b + sum h rest end.

  Lemma sum_ext h k l : (forall b, In b l -> h b = k b) -> sum h l = sum k l.
  Proof. induction l as [|b rest IH]; simpl; intros e; [reflexivity|]. rewrite e, IH; auto. Qed.

  Lemma sum_le h k l : (forall b, In b l -> h b <= k b) -> sum h l <= sum k l.
  Proof.
    induction l as [|b rest IH]; simpl; intros le; [lia|]. specialize (le b (or_introl eq_refl)) as at_b.
    specialize (IH (fun c c_in => le c (or_intror c_in))). lia.
  Qed.

  Lemma sum_app h l l' : sum h (l ++ l') = sum h l + sum h l'.
  Proof. induction l as [|b rest IH]; simpl; [reflexivity|]. rewrite IH. lia. Qed.

  Lemma sum_add h k l : sum (fun b => h b + k b) l = sum h l + sum k l.
  Proof. induction l as [|b rest IH]; simpl; [reflexivity|]. rewrite IH. lia. Qed.

  Lemma sum_times (n : N) h l : sum (fun b => n * h b) l = n * sum h l.
  Proof. induction l as [|b rest IH]; simpl; [lia|]. rewrite IH. lia. Qed.

  Lemma sum_zero h l : (forall b, In b l -> h b = 0) -> sum h l = 0.
  Proof. induction l as [|b rest IH]; simpl; intros z; [reflexivity|]. rewrite z, IH; auto. Qed.

  Lemma sum_one (eqb : forall x y : B, {x = y} + {x <> y}) h l b :
    NoDup l -> sum (fun a => if eqb b a then h a else 0) l = if in_dec eqb b l then h b else 0.
  Proof.
    induction l as [|a rest IH]; intros nodup; [reflexivity|]. inversion nodup; subst.
    cbn [sum]. rewrite IH by assumption.
    destruct (in_dec eqb b (a :: rest)) as [yes|no], (in_dec eqb b rest) as [yes'|no'], (eqb b a);
      subst; simpl in *; try lia; try tauto; intuition congruence.
  Qed.

  Lemma sum_filter (p : B -> bool) h l : sum h (filter p l) = sum (fun a => if p a then h a else 0) l.
  Proof. induction l as [|a rest IH]; simpl; [reflexivity|]. destruct (p a); simpl; rewrite IH; lia. Qed.

  Lemma sum_permutation h l l' : Permutation l l' -> sum h l = sum h l'.
  Proof. induction 1; simpl; lia. Qed.

  Lemma sum_incl h l atoms : NoDup l -> incl l atoms -> sum h l <= sum h atoms.
  Proof.
    intros once. revert atoms. induction once as [|a l out _ IH]; intros atoms sub; simpl; [lia|].
    destruct (in_split a atoms (sub a (or_introl eq_refl))) as [before [after ->]].
    assert (sub' : incl l (before ++ after)).
    { intros b b_in. specialize (sub b (or_intror b_in)). apply in_app_or in sub. apply in_or_app.
      destruct sub as [|[->|]]; auto. contradiction. }
    rewrite <- (sum_permutation h _ _ (Permutation_middle before after a)). simpl. specialize (IH _ sub'). lia.
  Qed.
End Sum.

Lemma sum_map {B C} (f : B -> C) (h : C -> N) l : sum h (map f l) = sum (fun b => h (f b)) l.
Proof. induction l as [|b rest IH]; simpl; [reflexivity|]. now rewrite IH. Qed.

Section Totals.
  Context {A : Type} `{Eq_dec A}.
  Implicit Types (s x : configuration A) (ws : list (A * N)).

  (** How much one instance of an atom counts in a sum. *)
  Fixpoint value ws (a : A) : N :=
    match ws with
    | [] => 0
    | (b, w) :: rest => (if eq_dec b a then w else 0) + value rest a
    end.

  Lemma total_plus_one ws s a : total ws (s ⊕ a) = total ws s + value ws a.
  Proof.
    induction ws as [|[b w] rest IH]; simpl; [reflexivity|]. rewrite IH.
    unfold plus_one. destruct (eq_dec a b), (eq_dec b a); try congruence; lia.
  Qed.

  Lemma total_minus_one ws s a : 0 < s a -> total ws (s ⊖ a) + value ws a = total ws s.
  Proof.
    intros some. induction ws as [|[b w] rest IH]; simpl; [reflexivity|]. rewrite <- IH.
    unfold minus_one. destruct (eq_dec a b), (eq_dec b a); subst; try congruence; [|lia].
    replace (s b) with (s b - 1 + 1) at 2 by lia. lia.
  Qed.

  Lemma count_sum (l : list A) x : count l x = sum x l.
  Proof. induction l as [|a rest IH]; simpl; [reflexivity|]. now rewrite IH. Qed.

  Lemma total_map (w : A -> N) l x : total (map (fun a => (a, w a)) l) x = sum (fun a => w a * x a) l.
  Proof. induction l as [|a rest IH]; simpl; [reflexivity|]. now rewrite IH. Qed.

  (** What the atoms of a list count in a sum is at most the sum, and all of it where
      nothing else runs. *)
  Lemma sum_of_values ws (atoms : list A) x : NoDup atoms -> sum (fun a => value ws a * x a) atoms <= total ws x.
  Proof.
    intros once. induction ws as [|[b w] rest IH]; simpl; [rewrite sum_zero; [lia|intros; lia]|].
    rewrite (sum_ext _ (fun a => (if eq_dec b a then w * x a else 0) + value rest a * x a)).
    2: { intros a _. destruct (eq_dec b a); lia. }
    rewrite sum_add, (sum_one eq_dec (fun a => w * x a) atoms b once). destruct (in_dec eq_dec b atoms); lia.
  Qed.

  Lemma total_by_atoms ws (atoms : list A) x : NoDup atoms -> (forall a, ~ In a atoms -> x a = 0) ->
    total ws x = sum (fun a => value ws a * x a) atoms.
  Proof.
    intros once only. induction ws as [|[b w] rest IH]; simpl; [rewrite sum_zero; [lia|intros; lia]|]. rewrite IH.
    rewrite (sum_ext (fun a => ((if eq_dec b a then w else 0) + value rest a) * x a)
                     (fun a => (if eq_dec b a then w * x a else 0) + value rest a * x a)).
    2: { intros a _. destruct (eq_dec b a); lia. }
    rewrite sum_add. f_equal. rewrite (sum_one eq_dec (fun a => w * x a) atoms b once).
    destruct (in_dec eq_dec b atoms) as [yes|no]; [reflexivity|]. rewrite (only b no). lia.
  Qed.
End Totals.
