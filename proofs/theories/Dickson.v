(** * Dickson's lemma

    In every infinite sequence of configurations of finitely many atoms some
    configuration is within a later one.  We say it without infinite sequences,
    and prove it without axioms: to extend a list by a configuration above none
    of it can be done only finitely often ([bad_sequences_end]).

    The relation [R] is _almost full_ if every sequence comes to hold two related
    elements, said inductively (Coquand; Vytiniotis, Coquand and Wahlstedt, "Stop
    when you are almost full").  Almost full relations are closed under
    intersection, which is all that is needed.

    docs/theory.md, "What free deletion gives", 2. *)

From Coq Require Import NArith List Lia.
From Podreach Require Import Configuration.
Import ListNotations.
Open Scope N_scope.

Section Almost_full.
  Context {X : Type}.
  Implicit Types (R S C : X -> X -> Prop).

  Inductive almost_full : (X -> X -> Prop) -> Prop :=
  | full R : (forall x y, R x y) -> almost_full R
  | lift R : (forall x, almost_full (fun y z => R y z \/ R x y)) -> almost_full R.

  Lemma almost_full_mono R : almost_full R -> forall S, (forall x y, R x y -> S x y) -> almost_full S.
  Proof.
    induction 1 as [R all|R _ IH]; intros S sub.
    - apply full. auto.
    - apply lift. intros x. apply (IH x). intros y z [yz|xy]; auto.
  Qed.

  (** Propositions, then predicates, then relations may be intersected. *)

  Lemma intersect_propositions R : almost_full R -> forall S, almost_full S -> forall C (A B : Prop),
    (forall y z, R y z -> C y z \/ A) -> (forall y z, S y z -> C y z \/ B) ->
    almost_full (fun y z => C y z \/ (A /\ B)).
  Proof.
    induction 1 as [R all|R _ IH]; intros S s C A B inR inS.
    - apply (almost_full_mono S s). intros y z yz.
      destruct (inS _ _ yz), (inR _ _ (all y z)); tauto.
    - apply lift. intros x.
      apply (almost_full_mono (fun y z => (C y z \/ C x y) \/ (A /\ B))); [|intros; tauto].
      apply (IH x S s (fun y z => C y z \/ C x y) A B).
      + intros y z [yz|xy]; [apply inR in yz|apply inR in xy]; tauto.
      + intros y z yz. apply inS in yz. tauto.
  Qed.

  Lemma intersect_predicates R : almost_full R -> forall S, almost_full S -> forall C (A B : X -> Prop),
    (forall y z, R y z -> C y z \/ A y) -> (forall y z, S y z -> C y z \/ B y) ->
    almost_full (fun y z => C y z \/ (A y /\ B y)).
  Proof.
    induction 1 as [R all|R r IHr]; intros S s C A B inR inS.
    { apply (almost_full_mono S s). intros y z yz. destruct (inS _ _ yz), (inR _ _ (all y z)); tauto. }
    revert C A B inR inS. induction s as [S all|S s IHs]; intros C A B inR inS.
    { apply (almost_full_mono R (lift R r)). intros y z yz. destruct (inR _ _ yz), (inS _ _ (all y z)); tauto. }
    apply lift. intros x. pose (D := fun y z => (C y z \/ C x y) \/ (A y /\ B y)).
    apply (almost_full_mono (fun y z => D y z \/ (A x /\ B x))); [|unfold D; intros; tauto].
    assert (left : almost_full (fun y z => D y z \/ A x)).
    { apply (almost_full_mono (fun y z => ((C y z \/ C x y) \/ A x) \/ (A y /\ B y))); [|unfold D; intros; tauto].
      apply (IHr x S (lift S s)).
      - intros y z [yz|xy]; [apply inR in yz|apply inR in xy]; tauto.
      - intros y z yz. apply inS in yz. tauto. }
    assert (right : almost_full (fun y z => D y z \/ B x)).
    { apply (almost_full_mono (fun y z => ((C y z \/ C x y) \/ B x) \/ (A y /\ B y))); [|unfold D; intros; tauto].
      apply (IHs x).
      - intros y z yz. apply inR in yz. tauto.
      - intros y z [yz|xy]; [apply inS in yz|apply inS in xy]; tauto. }
    eapply intersect_propositions; [exact left|exact right|tauto|tauto].
  Qed.

  Lemma intersect_relations R : almost_full R -> forall S, almost_full S -> forall C (A B : X -> X -> Prop),
    (forall y z, R y z -> C y z \/ A y z) -> (forall y z, S y z -> C y z \/ B y z) ->
    almost_full (fun y z => C y z \/ (A y z /\ B y z)).
  Proof.
    induction 1 as [R all|R r IHr]; intros S s C A B inR inS.
    { apply (almost_full_mono S s). intros y z yz. destruct (inS _ _ yz), (inR _ _ (all y z)); tauto. }
    revert C A B inR inS. induction s as [S all|S s IHs]; intros C A B inR inS.
    { apply (almost_full_mono R (lift R r)). intros y z yz. destruct (inR _ _ yz), (inS _ _ (all y z)); tauto. }
    apply lift. intros x. pose (D := fun y z => (C y z \/ C x y) \/ (A y z /\ B y z)).
    apply (almost_full_mono (fun y z => D y z \/ (A x y /\ B x y))); [|unfold D; intros; tauto].
    assert (left : almost_full (fun y z => D y z \/ A x y)).
    { apply (almost_full_mono (fun y z => ((C y z \/ C x y) \/ A x y) \/ (A y z /\ B y z))); [|unfold D; intros; tauto].
      apply (IHr x S (lift S s)).
      - intros y z [yz|xy]; [apply inR in yz|apply inR in xy]; tauto.
      - intros y z yz. apply inS in yz. tauto. }
    assert (right : almost_full (fun y z => D y z \/ B x y)).
    { apply (almost_full_mono (fun y z => ((C y z \/ C x y) \/ B x y) \/ (A y z /\ B y z))); [|unfold D; intros; tauto].
      apply (IHs x).
      - intros y z yz. apply inR in yz. tauto.
      - intros y z [yz|xy]; [apply inS in yz|apply inS in xy]; tauto. }
    eapply intersect_predicates; [exact left|exact right|tauto|tauto].
  Qed.

  Theorem almost_full_and R S :
    almost_full R -> almost_full S -> almost_full (fun x y => R x y /\ S x y).
  Proof.
    intros r s. apply (almost_full_mono (fun x y => False \/ (R x y /\ S x y))); [|tauto].
    eapply intersect_relations; [exact r|exact s|tauto|tauto].
  Qed.

  (** A list grows by an element that none of it is related to. *)
  Inductive grows R : list X -> list X -> Prop :=
  | grow x l : (forall y, In y l -> ~ R y x) -> grows R (x :: l) l.

  Lemma grows_ends R S : almost_full S -> forall l,
    (forall y z, S y z -> R y z \/ exists w, In w l /\ R w y) -> Acc (grows R) l.
  Proof.
    induction 1 as [S all|S _ IH]; intros l covered; constructor; intros l' g; inversion g as [x l0 new]; subst.
    - constructor. intros l'' g'. inversion g' as [x' l1 new']; subst. exfalso.
      destruct (covered x x' (all _ _)) as [r|[w [w_in r]]].
      + apply (new' x); [now left|assumption].
      + now apply (new w).
    - apply (IH x). intros y z [yz|xy].
      + destruct (covered _ _ yz) as [r|[w [w_in r]]]; [now left|]. right. exists w. split; [now right|assumption].
      + destruct (covered _ _ xy) as [r|[w [w_in r]]].
        * right. exists x. split; [now left|assumption].
        * exfalso. now apply (new w).
  Qed.

  Corollary growing_ends R : almost_full R -> forall l, Acc (grows R) l.
  Proof. intros r l. apply (grows_ends R R r). auto. Qed.
End Almost_full.

Lemma almost_full_comap {X Y} (f : X -> Y) R : almost_full R -> almost_full (fun x y => R (f x) (f y)).
Proof.
  induction 1 as [R all|R _ IH]; [apply full; auto|]. apply lift. intros x.
  apply (almost_full_mono _ (IH (f x))). auto.
Qed.

Lemma almost_full_le : almost_full N.le.
Proof.
  apply lift. intros x. induction x as [x IH] using (well_founded_induction N.lt_wf_0).
  apply lift. intros w. destruct (N.lt_ge_cases w x) as [lt|ge].
  - apply (almost_full_mono _ (IH w lt)). tauto.
  - apply full. auto.
Qed.

(** ** For configurations *)

Section Configurations.
  Context {A : Type}.

  Lemma almost_full_on (atoms : list A) :
    almost_full (fun s t : configuration A => forall a, In a atoms -> s a <= t a).
  Proof.
    induction atoms as [|a rest IH].
    - apply full. contradiction.
    - apply (almost_full_mono (fun s t => s a <= t a /\ forall b, In b rest -> s b <= t b)).
      + apply almost_full_and; [|exact IH]. apply (almost_full_comap (fun s : configuration A => s a)), almost_full_le.
      + intros s t [at_a others] b [<-|b_in]; auto.
  Qed.

  (** Dickson's lemma. *)
  Theorem dickson (all : list A) : (forall a, In a all) -> almost_full (fun s t : configuration A => s ≼ t).
  Proof. intros listed. apply (almost_full_mono _ (almost_full_on all)). intros s t le a. auto. Qed.

  Theorem bad_sequences_end (all : list A) :
    (forall a, In a all) -> forall l, Acc (grows (fun s t : configuration A => s ≼ t)) l.
  Proof. intros listed. apply growing_ends, (dickson all listed). Qed.
End Configurations.
