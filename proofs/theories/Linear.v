(** * Linear inequalities have finitely many least solutions, and these can be computed

    The solutions of a homogeneous inequality among the sums of some generators are
    the sums of finitely many others (Gordan's lemma).  To find these, pair a
    generator of the greatest excess with one that falls short, or one that falls
    most short with one of some excess: the extremes come closer at each round, and after
    as many rounds as they are apart nothing falls short that a solution
    needs.  So sums of [2 ^ n] generators are enough ([half_complete]).  One inequality
    after the other, and a constant as one more unknown, give all least solutions of any
    system: this is the bound on counterweights that several topology spread
    constraints need together.

    docs/theory.md, "What free deletion gives", 2. *)

From Coq Require Import NArith ZArith List Lia Bool.
From Podreach Require Import Configuration.
Import ListNotations.
Open Scope N_scope.

(** [Σ less ≤ Σ more]. *)
Record inequality (A : Type) := { less : list (A * N); more : list (A * N) }.
Arguments less {A}.  Arguments more {A}.

Section Homogeneous.
  Context {A : Type} `{Eq_dec A}.
  Implicit Types (x y g : configuration A) (gs l : list (configuration A)) (i : inequality A).

  Definition satisfies i x : Prop := total (less i) x <= total (more i) x.

  (** By how much an inequality holds, or falls short if that is negative. *)
  Definition excess i x : Z := (Z.of_N (total (more i) x) - Z.of_N (total (less i) x))%Z.

  Lemma excess_spec i x : satisfies i x <-> (0 <= excess i x)%Z.
  Proof. unfold satisfies, excess. lia. Qed.

  Lemma excess_plus i x y : excess i (plus x y) = (excess i x + excess i y)%Z.
  Proof. unfold excess. rewrite !total_plus. lia. Qed.

  Lemma excess_same i x y : x ≐ y -> excess i x = excess i y.
  Proof. intros e. unfold excess. now rewrite !(total_same _ x y e). Qed.

  (** [x] is a sum of generators. *)
  Definition generated gs x : Prop := exists l, incl l gs /\ all_of l ≐ x.

  (** ** One inequality *)

  Fixpoint sums (rounds : nat) gs : list (configuration A) :=
    match rounds with
    | O => gs
    | S rounds => sums rounds (gs ++ flat_map (fun x => map (plus x) gs) gs)
    end.

  Lemma sums_more rounds : forall gs, incl gs (sums rounds gs).
  Proof. induction rounds as [|n IH]; intros gs; [apply incl_refl|]. eapply incl_tran; [|apply IH]. now apply incl_appl. Qed.

  (** What holds of generators and of the sums of any two holds of all sums. *)
  Lemma sums_all (p : configuration A -> Prop) rounds : (forall x y, p x -> p y -> p (plus x y)) ->
    forall gs, (forall g, In g gs -> p g) -> forall x, In x (sums rounds gs) -> p x.
  Proof.
    intros closed. induction rounds as [|n IH]; intros gs each_; [assumption|]. apply IH. intros g g_in.
    apply in_app_or in g_in. destruct g_in as [|g_in]; [auto|]. apply in_flat_map in g_in. destruct g_in as [x [x_in g_in]].
    apply in_map_iff in g_in. destruct g_in as [y [<- y_in]]. auto.
  Qed.

  (** The members of two lists, added pair by pair; what is left over of one of them stays as it is. *)
  Fixpoint paired l l' : list (configuration A) :=
    match l, l' with
    | x :: rest, y :: rest' => plus x y :: paired rest rest'
    | [], _ => l'
    | _, [] => l
    end.

  Lemma paired_sum l : forall l', all_of (paired l l') ≐ plus (all_of l) (all_of l').
  Proof.
    induction l as [|x rest IH]; intros [|y rest'] a; simpl; unfold plus in *; try (unfold nothing; lia).
    rewrite IH. lia.
  Qed.

  Lemma paired_members l : forall l' z, In z (paired l l') ->
    (exists x y, In x l /\ In y l' /\ z = plus x y) \/ In z l \/ In z l'.
  Proof.
    induction l as [|x rest IH]; intros [|y rest'] z z_in; simpl in *; auto.
    destruct z_in as [<-|z_in]; [left; exists x, y; auto|].
    apply IH in z_in. destruct z_in as [[u [v [u_in [v_in e]]]]|[|]]; auto. left. exists u, v. auto.
  Qed.

  (** Of two lists at most one has something left over. *)
  Lemma paired_rest (p : configuration A -> Prop) l : forall l',
    (forall x y, In x l -> In y l' -> p (plus x y)) ->
    (forall z, In z (paired l l') -> p z \/ In z l) \/ (forall z, In z (paired l l') -> p z \/ In z l').
  Proof.
    induction l as [|x rest IH]; intros [|y rest'] ok; simpl; auto.
    destruct (IH rest') as [first|second]; [intros; apply ok; now right|left|right]; intros z [<-|z_in].
    - left. apply ok; now left.
    - apply first in z_in. tauto.
    - left. apply ok; now left.
    - apply second in z_in. tauto.
  Qed.

  Lemma all_of_app l l' : all_of (l ++ l') ≐ plus (all_of l) (all_of l').
  Proof. induction l as [|x rest IH]; intros a; simpl; unfold plus in *; [reflexivity|]. rewrite IH. lia. Qed.

  Lemma all_of_filter (p : configuration A -> bool) l :
    all_of l ≐ plus (all_of (filter p l)) (all_of (filter (fun x => negb (p x)) l)).
  Proof.
    induction l as [|x rest IH]; intros a; simpl; unfold plus in *; [reflexivity|]. rewrite IH.
    destruct (p x); simpl; unfold plus; lia.
  Qed.

  (** A list of generators told anew: those that [p] and those that [q] picks are
      paired, and the others stay. *)
  Lemma pair_off gs l (p q : configuration A -> bool) : incl l gs ->
    exists l', incl l' (gs ++ flat_map (fun x => map (plus x) gs) gs) /\ all_of l' ≐ all_of l
      /\ forall good : configuration A -> Prop,
         (forall x y, In x l -> In y l -> p x = true -> q y = true -> good (plus x y)) ->
         (forall x, In x l -> p x = false -> q x = false -> good x) ->
         (forall z, In z l' -> good z \/ In z l /\ p z = true) \/ (forall z, In z l' -> good z \/ In z l /\ q z = true).
  Proof.
    intros sub. set (others := filter (fun x => negb (p x)) l).
    exists (paired (filter p l) (filter q others) ++ filter (fun x => negb (q x)) others).
    assert (in_others : forall x, In x others -> In x l /\ p x = false).
    { intros x x_in. apply filter_In in x_in. now rewrite negb_true_iff in x_in. }
    repeat split.
    - intros z z_in. apply in_app_or in z_in. apply in_or_app. destruct z_in as [z_in|z_in].
      + apply paired_members in z_in. destruct z_in as [[x [y [x_in [y_in ->]]]]|[z_in|z_in]].
        * right. apply filter_In in x_in. apply filter_In in y_in. destruct x_in as [x_in _], y_in as [y_in _].
          apply in_others in y_in. apply in_flat_map. exists x. split; [now apply sub|]. apply in_map. now apply sub.
        * left. apply filter_In in z_in. now apply sub.
        * left. apply filter_In in z_in. destruct z_in as [z_in _]. apply in_others in z_in. now apply sub.
      + left. apply filter_In in z_in. destruct z_in as [z_in _]. apply in_others in z_in. now apply sub.
    - intros a. rewrite all_of_app. unfold plus. rewrite paired_sum. rewrite (all_of_filter p l a). fold others.
      unfold plus. rewrite (all_of_filter q others a). unfold plus. lia.
    - intros good of_two of_others.
      destruct (paired_rest good (filter p l) (filter q others)) as [first|second].
      { intros x y x_in y_in. apply filter_In in x_in. apply filter_In in y_in. destruct x_in, y_in as [y_in].
        apply in_others in y_in. now apply of_two. }
      1: left. 2: right.
      all: intros z z_in; apply in_app_or in z_in; destruct z_in as [z_in|z_in].
      all: try (apply filter_In in z_in; rewrite negb_true_iff in z_in; destruct z_in as [z_in no];
                apply in_others in z_in; left; now apply of_others).
      + apply first in z_in. destruct z_in as [|z_in]; [tauto|]. apply filter_In in z_in. tauto.
      + apply second in z_in. destruct z_in as [|z_in]; [tauto|]. apply filter_In in z_in. destruct z_in as [z_in yes].
        apply in_others in z_in. tauto.
  Qed.

  Definition holds_of i x : bool := (0 <=? excess i x)%Z.

  (** Where nothing has an excess, and the whole does not fall short, no part does. *)
  Lemma none_short i l : (forall x, In x l -> excess i x <= 0)%Z -> (0 <= excess i (all_of l))%Z ->
    forall x, In x l -> (0 <= excess i x)%Z.
  Proof.
    induction l as [|y rest IH]; simpl; intros low whole x x_in; [contradiction|]. rewrite excess_plus in whole.
    assert (rest_low : (excess i (all_of rest) <= 0)%Z).
    { clear - low. assert (low' := fun x x_in => low x (or_intror x_in)). clear low.
      induction rest as [|z rest IH]; simpl in *.
      - unfold excess, nothing. assert (E : forall ws, total ws (fun _ : A => 0) = 0).
        { induction ws as [|[a w] ws IHw]; simpl; [reflexivity|]. rewrite IHw. lia. }
        rewrite !E. lia.
      - rewrite excess_plus. pose proof (low' z (or_introl eq_refl)). specialize (IH (fun x x_in => low' x (or_intror x_in))). lia. }
    pose proof (low y (or_introl eq_refl)). destruct x_in as [<-|x_in]; [lia|]. apply IH; auto. lia.
  Qed.

  (** Excesses between [- down] and [up]: so many rounds are enough. *)
  Lemma rounds_enough i rounds : forall gs l (up down : Z),
    (0 <= up)%Z -> (0 <= down)%Z -> (up + down <= Z.of_nat rounds)%Z -> incl l gs ->
    (forall x, In x l -> - down <= excess i x <= up)%Z -> (0 <= excess i (all_of l))%Z ->
    generated (filter (holds_of i) (sums rounds gs)) (all_of l).
  Proof.
    assert (done : forall rounds gs l, incl l gs -> (forall x, In x l -> 0 <= excess i x)%Z ->
              generated (filter (holds_of i) (sums rounds gs)) (all_of l)).
    { intros n gs l sub fine. exists l. split; [|apply same_refl]. intros x x_in. apply filter_In. split.
      - now apply sums_more, sub.
      - now apply Z.leb_le, fine. }
    induction rounds as [|n IH]; intros gs l up down up_pos down_pos enough_ sub between whole.
    { apply done; [assumption|]. intros x x_in. specialize (between x x_in). lia. }
    destruct (Z.eq_dec (up + down) 0) as [none|some].
    { apply done; [assumption|]. intros x x_in. specialize (between x x_in). lia. }
    simpl. set (gs' := gs ++ flat_map (fun x => map (plus x) gs) gs).
    assert (told : forall l', all_of l' ≐ all_of l -> generated (filter (holds_of i) (sums n gs')) (all_of l') ->
              generated (filter (holds_of i) (sums n gs')) (all_of l)).
    { intros l' e [k [k_in ke]]. exists k. split; [assumption|]. eapply same_trans; eassumption. }
    destruct (Z_le_gt_dec down up) as [below|above].
    - (* the greatest excess, with whatever falls short *)
      destruct (pair_off gs l (fun x => (excess i x =? up)%Z) (fun x => (excess i x <? 0)%Z) sub) as [l' [sub' [e pairs]]].
      apply (told l' e).
      destruct (pairs (fun z => 0 <= excess i z <= up - 1)%Z) as [first|second].
      { intros x y x_in y_in px qy. rewrite Z.eqb_eq in px. rewrite Z.ltb_lt in qy. rewrite excess_plus.
        pose proof (between y y_in). lia. }
      { intros x x_in px qx. rewrite Z.eqb_neq in px. rewrite Z.ltb_ge in qx. specialize (between x x_in). lia. }
      + apply done; [assumption|]. intros z z_in. destruct (first z z_in) as [|[z_l top]]; [lia|].
        rewrite Z.eqb_eq in top. lia.
      + apply (IH gs' l' (up - 1)%Z down); try lia; [assumption| |now rewrite (excess_same i _ _ e)].
        intros z z_in. destruct (second z z_in) as [|[z_l neg]]; [lia|]. rewrite Z.ltb_lt in neg. specialize (between z z_l). lia.
    - (* what falls most short, with whatever has an excess *)
      destruct (pair_off gs l (fun x => (excess i x =? - down)%Z) (fun x => (0 <? excess i x)%Z) sub) as [l' [sub' [e pairs]]].
      apply (told l' e).
      destruct (pairs (fun z => - (down - 1) <= excess i z <= 0)%Z) as [first|second].
      { intros x y x_in y_in px qy. rewrite Z.eqb_eq in px. rewrite Z.ltb_lt in qy. rewrite excess_plus.
        pose proof (between y y_in). lia. }
      { intros x x_in px qx. rewrite Z.eqb_neq in px. rewrite Z.ltb_ge in qx. specialize (between x x_in). lia. }
      + apply done; [assumption|]. apply none_short; [|now rewrite (excess_same i _ _ e)].
        intros z z_in. destruct (first z z_in) as [|[z_l low]]; [lia|]. rewrite Z.eqb_eq in low. lia.
      + apply (IH gs' l' up (down - 1)%Z); try lia; [assumption| |now rewrite (excess_same i _ _ e)].
        intros z z_in. destruct (second z z_in) as [|[z_l pos]]; [lia|]. rewrite Z.ltb_lt in pos. specialize (between z z_l). lia.
  Qed.

  (** How far generators are from an equation. *)
  Definition extreme i gs : Z := fold_right (fun g z => Z.max (Z.abs (excess i g)) z) 0%Z gs.

  Lemma extreme_spec i gs : (0 <= extreme i gs)%Z /\ forall g, In g gs -> (Z.abs (excess i g) <= extreme i gs)%Z.
  Proof.
    induction gs as [|g rest [pos IH]]; simpl; [split; [lia|contradiction]|]. split; [lia|].
    intros x [<-|x_in]; [lia|]. specialize (IH x x_in). lia.
  Qed.

  Definition half i gs : list (configuration A) := filter (holds_of i) (sums (Z.to_nat (2 * extreme i gs)) gs).

  Theorem half_complete i gs x : generated gs x -> satisfies i x -> generated (half i gs) x.
  Proof.
    intros [l [sub e]] ok. destruct (extreme_spec i gs) as [pos far].
    destruct (rounds_enough i (Z.to_nat (2 * extreme i gs)) gs l (extreme i gs) (extreme i gs)) as [k [k_in ke]]; auto; try lia.
    - intros y y_in. specialize (far y (sub y y_in)). lia.
    - rewrite (excess_same i _ _ e). now apply excess_spec.
    - exists k. split; [assumption|]. eapply same_trans; eassumption.
  Qed.

  (** ** Several *)

  Definition unit_of (a : A) : configuration A := nothing ⊕ a.

  Fixpoint generators (atoms : list A) (is : list (inequality A)) : list (configuration A) :=
    match is with
    | [] => map unit_of atoms
    | i :: rest => half i (generators atoms rest)
    end.

  Lemma generators_sound atoms is g : In g (generators atoms is) -> forall i, In i is -> satisfies i g.
  Proof.
    revert g. induction is as [|j rest IH]; simpl; intros g g_in i i_in; [contradiction|].
    unfold half in g_in. apply filter_In in g_in. destruct g_in as [g_in here]. destruct i_in as [<-|i_in].
    - now apply excess_spec, Z.leb_le.
    - clear here. revert g g_in.
      apply (sums_all (satisfies i)); [|intros g g_in; now apply IH].
      intros x y. rewrite !excess_spec, excess_plus. lia.
  Qed.

  Lemma units_generate atoms : forall x, (forall a, ~ In a atoms -> x a = 0) -> generated (map unit_of atoms) x.
  Proof.
    induction atoms as [|a rest IH]; intros x only.
    - exists []. split; [apply incl_refl|]. intros a. now rewrite only.
    - destruct (IH (fun b => if eq_dec a b then 0 else x b)) as [l [sub e]].
      { intros b out. destruct (eq_dec a b); [reflexivity|]. apply only. simpl. tauto. }
      exists (repeat (unit_of a) (N.to_nat (x a)) ++ l). split.
      + intros y y_in. apply in_app_or in y_in. destruct y_in as [y_in|y_in]; [|right; now apply sub].
        apply repeat_spec in y_in. left. now subst.
      + intros b. rewrite all_of_app. unfold plus. rewrite e.
        assert (copies : forall n, all_of (repeat (unit_of a) n) b = if eq_dec a b then N.of_nat n else 0).
        { clear. induction n as [|n IHn]; simpl; unfold plus; [by_count|]. rewrite IHn. unfold unit_of. by_count. }
        rewrite copies. destruct (eq_dec a b) as [->|]; [|lia]. rewrite N2Nat.id. lia.
  Qed.

  Theorem generators_complete atoms is x :
    (forall a, ~ In a atoms -> x a = 0) -> (forall i, In i is -> satisfies i x) -> generated (generators atoms is) x.
  Proof.
    intros only ok. induction is as [|i rest IH]; simpl; [now apply units_generate|].
    apply half_complete; [apply IH; intros; apply ok; now right|apply ok; now left].
  Qed.
End Homogeneous.

(** ** With constants: the unknown [None] stands for one *)

Section Least.
  Context {A : Type} `{Eq_dec A}.
  Variable all : list A.
  Hypothesis listed : forall a, In a all.

  #[local] Instance option_eq_dec : Eq_dec (option A).
  Proof. unfold Eq_dec in *. decide equality. Defined.

  Definition with_one (x : configuration A) : configuration (option A) :=
    fun o => match o with None => 1 | Some a => x a end.

  Definition solves (is : list (inequality (option A))) (x : configuration A) : Prop :=
    forall i, In i is -> satisfies i (with_one x).

  Definition least_solutions (is : list (inequality (option A))) : list (configuration A) :=
    map (fun (g : configuration (option A)) a => g (Some a))
        (filter (fun g => g None =? 1) (generators (None :: map Some all) is)).

  Theorem least_solutions_sound is u : In u (least_solutions is) -> solves is u.
  Proof.
    intros u_in i i_in. apply in_map_iff in u_in. destruct u_in as [g [<- g_in]]. apply filter_In in g_in.
    destruct g_in as [g_in one]. apply N.eqb_eq in one. pose proof (generators_sound _ _ _ g_in i i_in) as ok.
    apply excess_spec. rewrite (excess_same i _ g); [now apply excess_spec|].
    intros [a|]; simpl; [reflexivity|]. now rewrite one.
  Qed.

  Theorem least_solutions_complete is x : solves is x -> exists u, In u (least_solutions is) /\ u ≼ x.
  Proof.
    intros ok. destruct (generators_complete (None :: map Some all) is (with_one x)) as [l [sub e]].
    - intros [a|] out; exfalso; apply out; [right; now apply in_map|now left].
    - exact ok.
    - assert (found : forall k : list (configuration (option A)), all_of k None = 1 -> exists g, In g k /\ g None = 1 /\ g ≼ all_of k).
      { induction k as [|g rest IH]; simpl; unfold plus; [discriminate|]. intros one.
        destruct (N.eq_dec (g None) 1) as [here|other].
        - exists g. repeat split; [now left|assumption|]. intros o. lia.
        - destruct IH as [h [h_in [h_one h_le]]]; [lia|]. exists h. repeat split; [now right|assumption|].
          intros o. specialize (h_le o). lia. }
      destruct (found l) as [g [g_in [one below]]]; [now rewrite e|].
      exists (fun a => g (Some a)). split.
      + apply (in_map (fun (g : configuration (option A)) a => g (Some a))). apply filter_In. split; [now apply sub|now apply N.eqb_eq].
      + intros a. specialize (below (Some a)). now rewrite e in below.
  Qed.
End Least.
