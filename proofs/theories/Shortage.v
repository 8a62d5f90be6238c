(** * Shortages: so many pods can never be up at the same time

    A demand asks for numbers of pods and leaves open where they are.  A _choice_ that
    meets it is a configuration for each want, all of them together within what
    runs.  Two arguments show that no choice is ever within what runs: every
    choice has a configuration in it that can never be (_cover_); or laws, which are
    weighted sums that never exceed a bound, add up to too little (_sum_).

    evidence/demand.rs, check/shortage.rs. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Sums Problem.
Import ListNotations.
Open Scope N_scope.

(** ** Laws *)

Section Laws.
  Context {A : Type} `{Eq_dec A}.

  Variable P : problem A.

  (** What holds at the start, is refused where it would be broken, and does not
      grow when a deletion begins, is a law. *)
  Theorem law_holds ws b :
    total ws (start P) <= b ->
    (forall a s, value ws a <> 0 -> hard P a s -> total ws s + value ws a <= b) ->
    (forall a d s, becomes P a d s -> value ws d <= value ws a \/ total ws s + value ws d <= b) ->
    forall s, reachable P s -> total ws s <= b.
  Proof.
    intros begins refused shrinks. apply invariant.
    - intros s e. now rewrite (total_same ws s (start P) e).
    - intros s t _ le st. destruct st as [a ok e|a more e|a d more turned e]; rewrite (total_same _ _ _ e).
      + rewrite total_plus_one. destruct (N.eq_dec (value ws a) 0) as [zero|some]; [lia|]. now apply refused.
      + pose proof (total_minus_one ws s a ltac:(lia)). lia.
      + rewrite total_plus_one. pose proof (total_minus_one ws s a ltac:(lia)). destruct (shrinks a d s turned); lia.
  Qed.
End Laws.

(** ** Demands *)

(** Atoms of which a want takes at most so many together, and the price of one. *)
Record place (A : Type) := { spots : list A; at_most_here : N; price : N }.

(** So many pods in some places, and what each of them is worth. *)
Record want (A : Type) := { wanted : N; places : list (place A); worth : N }.

Arguments spots {A}.   Arguments at_most_here {A}.   Arguments price {A}.
Arguments wanted {A}.  Arguments places {A}.         Arguments worth {A}.

Section Demands.
  Context {A : Type} `{Eq_dec A}.

  Definition spots_of (w : want A) : list A := flat_map spots (places w).

  (** A want is met by a configuration of its own. *)
  Definition met_by (w : want A) (g : configuration A) : Prop :=
    wanted w <= count (spots_of w) g /\ forall q, In q (places w) -> count (spots q) g <= at_most_here q.

  (** A choice that meets a demand. *)
  Definition choice (ws : list (want A)) (gs : list (configuration A)) : Prop := Forall2 met_by ws gs.

  (** ** Cover: every choice contains what can never be. *)
  Theorem short_by_cover P ws (ruled_out : goal A) :
    never P ruled_out ->
    (forall gs, choice ws gs -> exists b, In b ruled_out /\ b ≼ all_of gs) ->
    forall s, reachable P s -> forall gs, choice ws gs -> ~ all_of gs ≼ s.
  Proof.
    intros no cover s r gs met inside. destruct (cover gs met) as [b [b_in below]].
    apply (no s r). exists b. split; [assumption|]. eapply within_trans; eassumption.
  Qed.

  (** ** Sum: laws leave too little room. *)

  (** All that the places of a demand may sell. *)
  Definition sold (w : want A) : N := fold_right (fun q sum => price q * at_most_here q + sum) 0 (places w).
  Definition asked_for (ws : list (want A)) : N := fold_right (fun w sum => worth w * wanted w + sum) 0 ws.
  Definition all_sold (ws : list (want A)) : N := fold_right (fun w sum => sold w + sum) 0 ws.

  (** What an atom still counts beyond the price of its place. *)
  Variable rest : A -> N.

  Definition beyond (l : list A) (s : configuration A) : N := sum (fun a => rest a * s a) l.

  Lemma beyond_app l k s : beyond (l ++ k) s = beyond l s + beyond k s.
  Proof. apply sum_app. Qed.

  Lemma worth_of_place (v : N) q g :
    (forall a, In a (spots q) -> v <= price q + rest a) -> count (spots q) g <= at_most_here q ->
    v * count (spots q) g <= price q * at_most_here q + beyond (spots q) g.
  Proof.
    intros enough_ most.
    assert (each_ : v * count (spots q) g <= price q * count (spots q) g + beyond (spots q) g).
    { unfold beyond. rewrite !count_sum, <- !sum_times, <- sum_add. apply sum_le. intros a a_in. specialize (enough_ a a_in). nia. }
    nia.
  Qed.

  Lemma worth_of_want w g :
    (forall q a, In q (places w) -> In a (spots q) -> worth w <= price q + rest a) -> met_by w g ->
    worth w * wanted w <= sold w + beyond (spots_of w) g.
  Proof.
    intros enough_ [many most].
    assert (all_ : worth w * count (spots_of w) g <= sold w + beyond (spots_of w) g).
    { unfold spots_of, sold. clear many. induction (places w) as [|q qs IH]; simpl; [lia|].
      rewrite count_app, beyond_app.
      pose proof (worth_of_place (worth w) q g (fun a => enough_ q a (or_introl eq_refl)) (most q (or_introl eq_refl))).
      assert (IH' := IH (fun p a p_in => enough_ p a (or_intror p_in)) (fun p p_in => most p (or_intror p_in))). nia. }
    nia.
  Qed.

  (** Laws, each with how often it is added. *)
  Definition room_of (laws : list (list (A * N) * N * N)) : N :=
    fold_right (fun '(_, b, times) sum => times * b + sum) 0 laws.

  Definition covered (laws : list (list (A * N) * N * N)) (a : A) : N :=
    fold_right (fun '(ws, _, times) sum => times * value ws a + sum) 0 laws.

  Theorem short_by_sum ws (atoms : list A) k laws x :
    NoDup atoms ->
    (** every want is at home among the atoms, none of them twice, *)
    (forall w, In w ws -> NoDup (spots_of w) /\ incl (spots_of w) atoms) ->
    (** what a pod is worth is paid by its place and by the laws, *)
    (forall w q a, In w ws -> In q (places w) -> In a (spots q) -> worth w <= price q + rest a) ->
    (forall a, In a atoms -> x a <> 0 -> rest a <= covered laws a) ->
    (** the laws hold of what is there besides the kept pods, *)
    (forall l b times, In (l, b, times) laws -> total l x <= b) ->
    (** and all together is less than what is asked for. *)
    room_of laws + all_sold ws + beyond atoms k < asked_for ws ->
    forall gs, choice ws gs -> ~ all_of gs ≼ plus k x.
  Proof.
    intros once home paid lawful laws_hold less gs met inside.
    assert (beyond_plus : forall s t, beyond atoms (plus s t) = beyond atoms s + beyond atoms t).
    { intros s t. unfold beyond, plus. rewrite <- sum_add. apply sum_ext. intros. lia. }
    assert (demand : asked_for ws <= all_sold ws + beyond atoms (all_of gs)).
    { clear less inside lawful laws_hold. induction met as [|w g ws gs m _ IH]; simpl; [lia|].
      assert (IH' := IH (fun v v_in => home v (or_intror v_in)) (fun v q a v_in => paid v q a (or_intror v_in))).
      pose proof (worth_of_want w g (fun q a => paid w q a (or_introl eq_refl)) m).
      destruct (home w (or_introl eq_refl)) as [w_once w_in].
      pose proof (sum_incl (fun a => rest a * g a) (spots_of w) atoms w_once w_in) as inside_.
      fold (beyond (spots_of w) g) in inside_. fold (beyond atoms g) in inside_. rewrite beyond_plus. lia. }
    assert (have : beyond atoms (all_of gs) <= beyond atoms k + beyond atoms x).
    { rewrite <- beyond_plus. apply sum_le. intros a _. specialize (inside a). nia. }
    assert (by_laws : beyond atoms x <= room_of laws).
    { transitivity (sum (fun a => covered laws a * x a) atoms).
      - apply sum_le. intros a a_in. destruct (N.eq_dec (x a) 0) as [->|some]; [lia|]. specialize (lawful a a_in some). nia.
      - clear - once laws_hold. induction laws as [|[[l b] times] laws IH]; simpl.
        + rewrite sum_zero; [lia|intros; lia].
        + assert (IH' := IH (fun l' b' t' l_in => laws_hold l' b' t' (or_intror l_in))).
          pose proof (laws_hold l b times (or_introl eq_refl)) as holds_. pose proof (sum_of_values l atoms x once) as values.
          rewrite (sum_ext _ (fun a => times * (value l a * x a) + covered laws a * x a)) by (intros; lia).
          rewrite sum_add, sum_times. nia. }
    lia.
  Qed.
End Demands.
