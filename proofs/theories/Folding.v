(** * Kept pods and impossible atoms fold into guards

    A guard asks about all that is there.  Engines and the checker want one that
    asks about what is there _besides_ the kept pods, and that mentions only atoms
    which some configuration can contain.  Bounds get smaller by what the kept
    pods take; a group with a kept pod in it always has a member; a domain begins
    with its kept pods.

    Each shape folds to a guard, or to [None] where it can no longer hold.

    conditions/guard/guards.rs, conditions/guard/volume.rs. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Guard.
Import ListNotations.
Open Scope N_scope.

(** ** Guards as conjunctions *)

Section Conjunctions.
  Context {A : Type}.
  Implicit Types (s : configuration A) (g h : guard A).

  Definition no_condition : guard A := {| bounds := []; distincts := []; affinities := []; spreads := [] |}.
  Definition just_bound c : guard A := {| bounds := [c]; distincts := []; affinities := []; spreads := [] |}.
  Definition just_distinct c : guard A := {| bounds := []; distincts := [c]; affinities := []; spreads := [] |}.
  Definition just_affinity c : guard A := {| bounds := []; distincts := []; affinities := [c]; spreads := [] |}.
  Definition just_spread c : guard A := {| bounds := []; distincts := []; affinities := []; spreads := [c] |}.

  Definition both g h : guard A := {|
    bounds := bounds g ++ bounds h;
    distincts := distincts g ++ distincts h;
    affinities := affinities g ++ affinities h;
    spreads := spreads g ++ spreads h;
  |}.

  (** A guard that may be one that never holds. *)
  Definition holds_opt (o : option (guard A)) s : bool :=
    match o with Some g => holds g s | None => false end.

  Definition both_opt (o p : option (guard A)) : option (guard A) :=
    match o, p with Some g, Some h => Some (both g h) | _, _ => None end.

  Definition all_opt {B} (f : B -> option (guard A)) (l : list B) : option (guard A) :=
    fold_right (fun b rest => both_opt (f b) rest) (Some no_condition) l.

  Lemma holds_both g h s : holds (both g h) s = holds g s && holds h s.
  Proof.
    unfold holds, both. simpl. rewrite !forallb_app.
    repeat match goal with |- context [forallb ?p ?l] => destruct (forallb p l) end; reflexivity.
  Qed.

  Lemma holds_both_opt o p s : holds_opt (both_opt o p) s = holds_opt o s && holds_opt p s.
  Proof.
    destruct o, p; simpl; auto using holds_both; now rewrite ?andb_false_r.
  Qed.

  Lemma holds_all_opt {B} (f : B -> option (guard A)) l s :
    holds_opt (all_opt f l) s = forallb (fun b => holds_opt (f b) s) l.
  Proof.
    induction l as [|b rest IH]; [reflexivity|].
    change (all_opt f (b :: rest)) with (both_opt (f b) (all_opt f rest)).
    simpl. now rewrite holds_both_opt, IH.
  Qed.

  (** A guard is the conjunction of its conditions. *)
  Lemma holds_parts g s :
    holds g s =
      forallb (fun c => holds (just_bound c) s) (bounds g)
      && forallb (fun c => holds (just_distinct c) s) (distincts g)
      && forallb (fun c => holds (just_affinity c) s) (affinities g)
      && forallb (fun c => holds (just_spread c) s) (spreads g).
  Proof.
    unfold holds. simpl. f_equal; [f_equal; [f_equal|]|];
      (match goal with |- forallb _ ?l = _ => induction l as [|c rest IH]; simpl; [reflexivity|] end);
      rewrite IH, ?andb_true_r; reflexivity.
  Qed.
End Conjunctions.

(** ** Kept pods *)

Section Kept.
  Context {A : Type}.
  Variable k : configuration A.
  Implicit Types (x : configuration A).

  (** The groups to which no kept pod belongs. *)
  Definition open_groups (gs : list (list A)) : list (list A) := filter (fun g => is_empty g k) gs.

  Definition fold_at_most (c : at_most A) : option (guard A) :=
    if total (weights c) k <=? bound c
    then Some (just_bound {| weights := weights c; bound := bound c - total (weights c) k |})
    else None.

  Definition fold_distinct (c : distinct A) : option (guard A) :=
    let taken := total (each c) k + present_groups (groups c) k in
    let unless' := open_groups (unless c) in
    if negb (is_nil (unless c)) && is_nil unless' then Some no_condition
    else if taken <=? room c
    then Some (just_distinct
                 {| each := each c; groups := open_groups (groups c); room := room c - taken; unless := unless' |})
    else if is_nil (unless c) then None
    else Some (just_affinity {| near := unless'; first_unless := None |}).

  Definition fold_affinity (c : affinity A) : guard A :=
    just_affinity {|
      near := open_groups (near c);
      first_unless := match first_unless c with
                      | Some g => if is_empty g k then Some g else None
                      | None => None
                      end;
    |}.

  Definition fold_domain (d : domain A) : domain A := {| members := members d; base := size d k |}.

  Definition fold_spread (c : spread A) : guard A :=
    just_spread {|
      domains := map fold_domain (domains c);
      own := fold_domain (own c);
      joins := joins c;
      max_skew := max_skew c;
    |}.

  Definition fold_kept (g : guard A) : option (guard A) :=
    both_opt (all_opt fold_at_most (bounds g))
   (both_opt (all_opt fold_distinct (distincts g))
   (both_opt (all_opt (fun c => Some (fold_affinity c)) (affinities g))
             (all_opt (fun c => Some (fold_spread c)) (spreads g)))).

  Lemma is_empty_plus g x : is_empty g (plus k x) = is_empty g k && is_empty g x.
  Proof.
    unfold is_empty. rewrite count_plus. apply eq_true_iff_eq.
    rewrite andb_true_iff, !N.eqb_eq. lia.
  Qed.

  Lemma first_empty_none gs x : is_none (first_empty gs x) = forallb (fun g => negb (is_empty g x)) gs.
  Proof.
    unfold first_empty. induction gs as [|g rest IH]; simpl; [reflexivity|].
    destruct (is_empty g x); [reflexivity|exact IH].
  Qed.

  Lemma first_empty_open gs x :
    is_none (first_empty gs (plus k x)) = is_none (first_empty (open_groups gs) x).
  Proof.
    rewrite !first_empty_none. unfold open_groups. induction gs as [|g rest IH]; simpl; [reflexivity|].
    rewrite is_empty_plus. destruct (is_empty g k); simpl; now rewrite IH.
  Qed.

  Lemma present_groups_plus gs x :
    present_groups gs (plus k x) = present_groups gs k + present_groups (open_groups gs) x.
  Proof.
    unfold open_groups. induction gs as [|g rest IH]; simpl; [reflexivity|].
    rewrite is_empty_plus, IH. destruct (is_empty g k); simpl; destruct (is_empty g x); simpl; lia.
  Qed.

  Lemma fold_at_most_spec c x : holds_opt (fold_at_most c) x = at_most_holds c (plus k x).
  Proof.
    unfold fold_at_most, at_most_holds. rewrite total_plus.
    destruct (N.leb_spec (total (weights c) k) (bound c)); simpl.
    - unfold holds, at_most_holds. simpl. rewrite !andb_true_r. apply eq_true_iff_eq. rewrite !N.leb_le. lia.
    - symmetry. apply N.leb_gt. lia.
  Qed.

  Lemma fold_distinct_spec c x : holds_opt (fold_distinct c) x = distinct_holds c (plus k x).
  Proof.
    unfold fold_distinct, distinct_holds. rewrite first_empty_open.
    assert (fits : distinct_fits c (plus k x) =
              (total (each c) k + present_groups (groups c) k +
               (total (each c) x + present_groups (open_groups (groups c)) x) <=? room c)).
    { unfold distinct_fits. rewrite total_plus, present_groups_plus. f_equal. lia. }
    rewrite fits. clear fits.
    set (taken := total (each c) k + present_groups (groups c) k).
    destruct (is_nil (unless c)) eqn:nil; simpl.
    - assert (E : open_groups (unless c) = []) by (destruct (unless c); [reflexivity|discriminate]).
      rewrite E, orb_false_r. destruct (N.leb_spec taken (room c)); simpl.
      + unfold holds, distinct_holds, distinct_fits. simpl. rewrite orb_false_r, !andb_true_r.
        apply eq_true_iff_eq. rewrite !N.leb_le. lia.
      + symmetry. apply N.leb_gt. lia.
    - destruct (open_groups (unless c)) as [|g rest] eqn:E; simpl; [now rewrite orb_true_r|].
      destruct (N.leb_spec taken (room c)); simpl.
      + unfold holds, distinct_holds, distinct_fits. simpl. rewrite !andb_true_r.
        f_equal. apply eq_true_iff_eq. rewrite !N.leb_le. lia.
      + unfold holds, affinity_holds, lonely, may_be_first. simpl. rewrite !andb_true_r.
        replace (_ <=? room c) with false; [reflexivity|]. symmetry. apply N.leb_gt. lia.
  Qed.

  Lemma fold_affinity_spec c x : holds (fold_affinity c) x = affinity_holds c (plus k x).
  Proof.
    unfold fold_affinity, holds, affinity_holds, lonely, may_be_first. simpl. rewrite !andb_true_r.
    destruct (first_unless c) as [g|]; [|now rewrite first_empty_open].
    rewrite is_empty_plus. destruct (is_empty g k); simpl; [|now rewrite first_empty_open].
    destruct (is_empty g x); [reflexivity|now rewrite first_empty_open].
  Qed.

  Lemma fold_spread_spec c x : holds (fold_spread c) x = spread_holds c (plus k x).
  Proof.
    assert (S : forall d, size (fold_domain d) x = size d (plus k x)).
    { intros d. unfold size at 1 2, fold_domain. simpl. rewrite count_plus. unfold size. lia. }
    unfold fold_spread, holds, spread_holds, behind. cbn [bounds distincts affinities spreads forallb domains own joins max_skew].
    rewrite andb_true_r. simpl. rewrite S.
    induction (domains c) as [|d rest IH]; simpl; [reflexivity|].
    rewrite S. destruct (_ <? _); [reflexivity|exact IH].
  Qed.

  (** The folded guard asks about what is there besides the kept pods what the
      guard itself asks about all that is there. *)
  Theorem fold_kept_spec g x : holds_opt (fold_kept g) x = holds g (plus k x).
  Proof.
    assert (L : forall B (p q : B -> bool) l, (forall b, p b = q b) -> forallb p l = forallb q l).
    { intros B p q l pq. induction l as [|b rest IH]; simpl; [reflexivity|]. now rewrite pq, IH. }
    unfold fold_kept. rewrite !holds_both_opt, !holds_all_opt. unfold holds.
    rewrite !andb_assoc. f_equal; [f_equal; [f_equal|]|]; apply L; intros c.
    - apply fold_at_most_spec.
    - apply fold_distinct_spec.
    - apply fold_affinity_spec.
    - apply fold_spread_spec.
  Qed.
End Kept.

(** ** Atoms that no configuration contains *)

Section Possible.
  Context {A : Type}.
  Variable possible : A -> bool.

  (** Only possible atoms run. *)
  Definition supported (x : configuration A) : Prop := forall a, possible a = false -> x a = 0.

  Definition within_possible (group : list A) : list A := filter possible group.

  Definition only_possible (g : guard A) : guard A := {|
    bounds := map (fun c => {| weights := filter (fun '(a, _) => possible a) (weights c); bound := bound c |}) (bounds g);
    distincts := map (fun c => {|
      each := filter (fun '(a, _) => possible a) (each c);
      groups := map within_possible (groups c);
      room := room c;
      unless := map within_possible (unless c) |}) (distincts g);
    affinities := map (fun c => {|
      near := map within_possible (near c);
      first_unless := option_map within_possible (first_unless c) |}) (affinities g);
    spreads := map (fun c => {|
      domains := map (fun d => {| members := within_possible (members d); base := base d |}) (domains c);
      own := {| members := within_possible (members (own c)); base := base (own c) |};
      joins := joins c;
      max_skew := max_skew c |}) (spreads g);
  |}.

  Theorem only_possible_spec g x : supported x -> holds (only_possible g) x = holds g x.
  Proof.
    intros only.
    assert (C : forall group, count (within_possible group) x = count group x).
    { induction group as [|a rest IH]; simpl; [reflexivity|].
      destruct (possible a) eqn:p; simpl; rewrite IH; [reflexivity|]. now rewrite (only a p). }
    assert (T : forall ws, total (filter (fun '(a, _) => possible a) ws) x = total ws x).
    { induction ws as [|[a w] rest IH]; simpl; [reflexivity|].
      destruct (possible a) eqn:p; simpl; rewrite IH; [reflexivity|]. rewrite (only a p). lia. }
    assert (E : forall group, is_empty (within_possible group) x = is_empty group x).
    { intros group. unfold is_empty. now rewrite C. }
    assert (G : forall gs, present_groups (map within_possible gs) x = present_groups gs x).
    { induction gs as [|g' rest IH]; simpl; [reflexivity|]. now rewrite E, IH. }
    assert (F : forall gs, is_none (first_empty (map within_possible gs) x) = is_none (first_empty gs x)).
    { intros gs. rewrite !first_empty_none. induction gs as [|g' rest IH]; simpl; [reflexivity|]. now rewrite E, IH. }
    assert (L : forall B D (f : B -> D) (p : D -> bool) (q : B -> bool) l,
              (forall b, p (f b) = q b) -> forallb p (map f l) = forallb q l).
    { intros B D f p q l pq. induction l as [|b rest IH]; simpl; [reflexivity|]. now rewrite pq, IH. }
    unfold holds, only_possible. simpl. f_equal; [f_equal; [f_equal|]|]; apply L; intros c.
    - unfold at_most_holds. simpl. now rewrite T.
    - unfold distinct_holds, distinct_fits. simpl. rewrite T, G, F. do 2 f_equal. now destruct (unless c).
    - unfold affinity_holds, lonely, may_be_first. simpl.
      destruct (first_unless c); simpl; [rewrite E; destruct (is_empty l x); [reflexivity|]|]; apply F.
    - unfold spread_holds, behind, size. simpl. rewrite C.
      induction (domains c) as [|d rest IH]; simpl; [reflexivity|].
      rewrite C. destruct (_ <? _); [reflexivity|exact IH].
  Qed.
End Possible.
