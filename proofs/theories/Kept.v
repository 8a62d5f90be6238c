(** * Kept pods are constants

    What is never deleted is there for ever, so a problem may be told in terms
    of what is there _besides_: guards look at [kept + x], and groups, goals and
    the start lose what is kept.

    docs/spec/start.md, "Pods that stay"; check/forbidden.rs, [besides_kept]. *)

From Coq Require Import NArith List Lia.
From Podreach Require Import Configuration Problem.
Import ListNotations.
Open Scope N_scope.

Section Kept.
  Context {A : Type} `{Eq_dec A}.
  Variable P : problem A.
  Hypothesis kept_at_start : kept P ≼ start P.
  (** Rules look at counts alone. *)
  Hypothesis hard_same : forall a s t, s ≐ t -> hard P a s -> hard P a t.
  Hypothesis becomes_same : forall a d s t, s ≐ t -> becomes P a d s -> becomes P a d t.

  Definition besides : problem A := {|
    hard a x := hard P a (plus (kept P) x);
    becomes a d x := becomes P a d (plus (kept P) x);
    kept := nothing;
    start := minus (start P) (kept P);
  |}.

  Definition goal_besides (g : goal A) : goal A := map (fun alt => minus alt (kept P)) g.

  Lemma besides_step s t :
    kept P ≼ s -> step P s t -> step besides (minus s (kept P)) (minus t (kept P)).
  Proof.
    intros k st.
    destruct st as [a ok e|a more e|a d more turns e].
    - apply (deploy _ _ _ a); simpl.
      + eapply hard_same; [|exact ok]. intros c. specialize (k c). by_count.
      + intros c. specialize (k c). specialize (e c). by_count.
    - apply (delete _ _ _ a); simpl.
      + by_count.
      + intros c. specialize (k c). specialize (e c). by_count.
    - apply (change _ _ _ a d); simpl; [by_count| |].
      { eapply becomes_same; [|exact turns]. intros c. specialize (k c). by_count. }
      intros c. specialize (k c). specialize (e c). by_count.
  Qed.

  Lemma besides_back x y : step besides x y -> step P (plus (kept P) x) (plus (kept P) y).
  Proof.
    intros st.
    destruct st as [a ok e|a more e|a d more turns e]; simpl in *.
    - apply (deploy _ _ _ a); [assumption|]. intros c. specialize (e c). by_count.
    - apply (delete _ _ _ a); [by_count|]. intros c. specialize (e c). by_count.
    - apply (change _ _ _ a d); [by_count|assumption|]. intros c. specialize (e c). by_count.
  Qed.

  (** The two problems are one. *)
  Theorem besides_reachable s :
    reachable P s -> reachable besides (minus s (kept P)).
  Proof.
    intros r. induction r as [s e|s t r IH st].
    - apply at_start. simpl. intros c. specialize (e c). by_count.
    - eapply by_step; [exact IH|]. apply besides_step; [|assumption]. now apply kept_stays.
  Qed.

  Theorem besides_reachable_back x : reachable besides x -> reachable P (plus (kept P) x).
  Proof.
    intros r. induction r as [x e|x y r IH st].
    - apply at_start. intros c. specialize (e c). specialize (kept_at_start c). simpl in e. by_count.
    - eapply by_step; [exact IH|]. now apply besides_back.
  Qed.

  Theorem never_besides g : never besides (goal_besides g) <-> never P g.
  Proof.
    split; intros no.
    - intros s r [alt [alt_in covered]]. eapply no; [apply besides_reachable, r|].
      exists (minus alt (kept P)). split; [now apply (in_map (fun alt => minus alt (kept P)))|].
      intros c. specialize (covered c). by_count.
    - intros x r [alt [alt_in covered]]. apply in_map_iff in alt_in. destruct alt_in as [alt' [<- alt_in]].
      eapply no; [apply besides_reachable_back, r|]. exists alt'. split; [assumption|].
      intros c. specialize (covered c). by_count.
  Qed.
End Kept.
