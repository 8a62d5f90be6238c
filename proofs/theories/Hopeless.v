(** * Guards in short

    A guard that nothing can help is none, one that asks for no witness says nothing
    about witnesses, and one that counts nothing says nothing about room.  The checker in Rust tells guards so; the shorter ones hold exactly
    where the others do.

    conditions/guard.rs. *)

From Coq Require Import NArith List Bool.
From Podreach Require Import Configuration Problem Guard Folding Rules Compile Search Weakening Classes Cluster.
Import ListNotations.

(** Nobody can be near, and the pod cannot be the first of its kind. *)
Definition hopeless (c : affinity atom) : bool := existsb is_nil (near c) && is_none (first_unless c).

(** Nothing of it is ever counted, so there is always room. *)
Definition idle (c : distinct atom) : bool := forallb is_nil (groups c) && forallb (fun entry => N.eqb (snd entry) 0) (each c).

Lemma idle_holds c x : idle c = true -> distinct_holds c x = true.
Proof.
  unfold idle, distinct_holds, distinct_fits. rewrite andb_true_iff. intros [none nothing_].
  enough (total (each c) x + present_groups (groups c) x = 0)%N as -> by (apply orb_true_iff; left; apply N.leb_le, N.le_0_l).
  assert (total (each c) x = 0%N) as ->.
  { clear none. induction (each c) as [|[a w] rest IH]; [reflexivity|]. simpl in *. apply andb_true_iff in nothing_. destruct nothing_ as [zero more].
    apply N.eqb_eq in zero. now rewrite zero, IH. }
  clear nothing_. induction (groups c) as [|g rest IH]; [reflexivity|]. simpl in *. apply andb_true_iff in none. destruct none as [nil more].
  destruct g; [|discriminate]. simpl. now apply IH.
Qed.

Definition in_short (g : guard atom) : option (guard atom) :=
  if existsb hopeless (affinities g) then None
  else Some {| bounds := bounds g; distincts := filter (fun c => negb (idle c)) (distincts g);
               affinities := filter (fun c => negb (is_nil (near c))) (affinities g); spreads := spreads g |}.

Lemma first_empty_of_nil (gs : list (list atom)) x : existsb is_nil gs = true -> is_none (first_empty gs x) = false.
Proof.
  unfold first_empty. induction gs as [|g rest IH]; simpl; [discriminate|]. destruct g as [|a g]; simpl; [reflexivity|].
  intros more. destruct (is_empty (a :: g) x); [reflexivity|now apply IH].
Qed.

Lemma in_short_spec g x : holds_opt (in_short g) x = holds g x.
Proof.
  unfold in_short. destruct (existsb hopeless (affinities g)) eqn:none; simpl.
  - symmetry. unfold holds. apply existsb_exists in none. destruct none as [c [c_in no]].
    apply andb_true_iff in no. destruct no as [alone never_first]. apply is_none_true in never_first.
    enough (forallb (fun c => affinity_holds c x) (affinities g) = false) as -> by now rewrite andb_false_r.
    apply not_true_is_false. intros all. rewrite forallb_forall in all. specialize (all c c_in).
    unfold affinity_holds, lonely, may_be_first in all. rewrite never_first in all.
    rewrite (first_empty_of_nil _ _ alone) in all. discriminate.
  - assert (same_ : forallb (fun c => distinct_holds c x) (filter (fun c => negb (idle c)) (distincts g)) = forallb (fun c => distinct_holds c x) (distincts g)).
    { clear. induction (distincts g) as [|c rest IH]; simpl; [reflexivity|]. destruct (idle c) eqn:is; simpl; rewrite IH; [|reflexivity].
      now rewrite (idle_holds c x is). }
    unfold holds. simpl. rewrite same_. do 2 f_equal. clear none same_. induction (affinities g) as [|c rest IH]; simpl; [reflexivity|].
    destruct (near c) eqn:e; simpl; rewrite IH; [|reflexivity].
    unfold affinity_holds, lonely, first_empty. rewrite e. simpl. now destruct (may_be_first c x).
Qed.

Definition bind_guard (o : option (guard atom)) : option (guard atom) := match o with Some g => in_short g | None => None end.

Definition short_guards (q : question) : system atom :=
  {| guard_of a := bind_guard (guard_of (guards q) a); former := former (guards q);
     consumes := consumes (guards q); initially := initially (guards q) |}.

Lemma short_guards_tables q : sensible q = true -> tables (short_guards q) (atoms (cluster q)) (possible q).
Proof.
  intros ok. destruct (tables_hold q ok) as [once among start_ guarded shadows]. split; auto.
  intros a g short. apply (guarded a (match guard_of (guards q) a with Some g => g | None => g end)).
  simpl in short. unfold bind_guard in short. simpl. destruct (possible q a); [|discriminate].
  destruct (both_opt _ _); [reflexivity|discriminate].
Qed.

Lemma hard_short q a s : hard (problem_of (guards q)) a s -> hard (problem_of (short_guards q)) a s.
Proof.
  intros [unwaited [g [is ok]]]. split; [exact unwaited|]. simpl in *. rewrite is. simpl. rewrite <- (in_short_spec g s) in ok.
  destruct (in_short g) as [h|]; [|discriminate]. exists h. auto.
Qed.

Lemma becomes_short q a d s : becomes (problem_of (guards q)) a d s -> becomes (problem_of (short_guards q)) a d s.
Proof.
  intros [was|[uses [g [is ok]]]]; [now left|right]. split; [exact uses|]. simpl in *. rewrite is. simpl. rewrite <- (in_short_spec g s) in ok.
  destruct (in_short g) as [h|]; [|discriminate]. exists h. auto.
Qed.

Lemma short_guards_weaker q : weaker (problem_of (short_guards q)) (problem_of (guards q)).
Proof.
  apply weaker_by_rules.
  - apply hard_short.
  - apply becomes_short.
  - apply within_refl.
  - apply at_start. apply same_refl.
Qed.
