(** * Lists: questions about all and some of their members

    What several files need of lists and is about nothing else. *)

From Coq Require Import List Bool.
Import ListNotations.

Lemma forallb_same {B} (f g : B -> bool) l : (forall b, In b l -> f b = g b) -> forallb f l = forallb g l.
Proof. intros e. induction l as [|b rest IH]; simpl; [reflexivity|]. rewrite e, IH; auto with datatypes. Qed.

Lemma existsb_same {B} (f g : B -> bool) l : (forall b, In b l -> f b = g b) -> existsb f l = existsb g l.
Proof. intros e. induction l as [|b rest IH]; simpl; [reflexivity|]. rewrite e, IH; auto with datatypes. Qed.

(** A function that tells the members of a list apart lists none twice. *)
Lemma nodup_map {B D} (f : B -> D) l : NoDup l -> (forall b b', In b l -> In b' l -> f b = f b' -> b = b') -> NoDup (map f l).
Proof.
  induction 1 as [|b l out _ IH]; simpl; intros apart; constructor.
  - intros f_in. apply in_map_iff in f_in. destruct f_in as [b' [e b_in]]. apply out. rewrite (apart b b'); auto.
  - apply IH. intros c c' c_in c_in'. apply apart; auto.
Qed.

Lemma nodup_product {B D} (l : list B) (k : list D) : NoDup l -> NoDup k -> NoDup (list_prod l k).
Proof.
  intros nl nk. induction nl as [|b rest out _ IH]; simpl; [constructor|].
  assert (first : NoDup (map (fun d => (b, d)) k)) by (apply nodup_map; [assumption|congruence]).
  revert first. generalize (fun x (H : In x (map (fun d => (b, d)) k)) => proj1 (in_map_iff _ _ _) H). intros shape first.
  induction (map (fun d => (b, d)) k) as [|x xs IHx]; simpl; [assumption|].
  inversion first; subst. constructor.
  - intros x_in. apply in_app_or in x_in. destruct x_in as [x_in|x_in]; [contradiction|].
    destruct (shape x (or_introl eq_refl)) as [d [<- _]]. apply in_prod_iff in x_in. now destruct x_in.
  - apply IHx; [|assumption]. intros y y_in. apply shape. now right.
Qed.
