(** * The checker as an OCaml program

    [main.ml] reads documents for it.  The program is the one of Cluster.v with two changes.
    Guards are told as shortly as the checker in Rust tells them: one that nothing can
    help has no classes to respect.  And what is asked again and again of an atom is
    remembered: in Coq that is nothing, so that both are the same program by definition;
    in OCaml, it is a table. *)

From Coq Require Import NArith List Bool Extraction ExtrOcamlBasic.
From Podreach Require Import Configuration Problem Guard Folding Rules Compile Kept Never Search Weakening Replay Abstraction Classes Cluster.
Import ListNotations.

(** Uses a function of atoms that remembers. *)
Definition remembering {B D : Type} (f : atom -> B) (use : (atom -> B) -> D) : D := use f.

Lemma forallb_same {B} (h k : B -> bool) l : (forall b, h b = k b) -> forallb h l = forallb k l.
Proof. intros same. induction l as [|b rest IH]; simpl; [reflexivity|]. now rewrite same, IH. Qed.

Section Check.
  Variables (S : system atom) (f : atom -> atom) (atoms : list atom) (possible : atom -> bool).

  (** [check_classes], with every guard told in classes once. *)
  Definition check_remembering (fuel : nat) (g : goal atom) (groups : list (group (A := atom))) : bool :=
    remembering (fun a => match guard_of S a with
                          | None => None
                          | Some g => Some (class_guard f atoms possible g)
                          end) (fun folded =>
    remembering (class_members f atoms possible) (fun members =>
    remembering (abs f atoms (initially S)) (fun first =>
    let member_holds b c a :=
      match folded a with
      | None => true
      | Some None => false
      | Some (Some h) => negb (escapes (contains_one groups) fuel h (minus_one (lookup b) c))
      end
      && match former S a with
         | None => true
         | Some before =>
           negb (possible before) || contains_one groups (plus_one (minus_one (lookup b) c) (f before))
         end in
    negb (contains_one groups first)
    && forallb (fun alternative => contains_one groups (abs f atoms alternative)) g
    && forallb (fun b => forallb (fun '(c, _) => (lookup b c =? 0)%N || forallb (member_holds b c) (members c)) b) groups))).

  Lemma check_remembering_same fuel g groups :
    check_remembering fuel g groups = check_classes S f atoms possible fuel g groups.
  Proof.
    unfold check_remembering, remembering, check_classes, class_group_holds, member_holds.
    f_equal. apply forallb_same. intros b. apply forallb_same. intros [c n]. f_equal. apply forallb_same. intros a.
    destruct (guard_of S a) as [h|]; [|reflexivity]. now destruct (class_guard f atoms possible h).
  Qed.
End Check.

(** ** Guards in short *)

(** Nobody can be near, and the pod cannot be the first of its kind. *)
Definition hopeless (c : affinity atom) : bool := existsb is_nil (near c) && is_none (first_unless c).

Definition in_short (g : guard atom) : option (guard atom) :=
  if existsb hopeless (affinities g) then None
  else Some {| bounds := bounds g; distincts := distincts g;
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
  - unfold holds. simpl. do 2 f_equal. clear none. induction (affinities g) as [|c rest IH]; simpl; [reflexivity|].
    destruct (near c) eqn:e; simpl; rewrite IH; [|reflexivity].
    unfold affinity_holds, lonely, first_empty. rewrite e. simpl. now destruct (may_be_first c x).
Qed.

Definition bind_guard (o : option (guard atom)) : option (guard atom) := match o with Some g => in_short g | None => None end.

Definition short_guards (q : question) : system atom :=
  {| guard_of a := bind_guard (guard_of (guards q) a); former := former (guards q); initially := initially (guards q) |}.

Lemma short_guards_tables q : sensible q = true -> tables (short_guards q) (atoms (cluster q)) (possible q).
Proof.
  intros ok. destruct (tables_hold q ok) as [once among start_ guarded shadows]. split; auto.
  intros a g short. apply (guarded a (match guard_of (guards q) a with Some g => g | None => g end)).
  simpl in short. unfold bind_guard in short. simpl. destruct (possible q a); [|discriminate].
  destruct (guard_besides _ _ _ _ _); [reflexivity|discriminate].
Qed.

Lemma short_guards_weaker q : weaker (problem_of (short_guards q)) (problem_of (guards q)).
Proof.
  apply weaker_by_rules; simpl; auto.
  - intros a s [g [is ok]]. simpl in *. rewrite is. simpl. rewrite <- (in_short_spec g s) in ok.
    destruct (in_short g) as [h|]; [|discriminate]. exists h. auto.
  - apply within_refl.
  - apply at_start. apply same_refl.
Qed.

(** ** The program *)

Definition accepts_never_quickly (q : question) (fuel : nat) (g : list (list (atom * N)))
           (classes : list (list atom)) (forbidden : list (list (nat * N))) : bool :=
  sensible q && good_classes q classes
  && match traverse (named classes) forbidden with
     | None => false
     | Some groups =>
       remembering (possible q) (fun can =>
       remembering (fun a => bind_guard (if can a then guard_besides (cluster q) (lookup (stays q)) can (fst a) (snd a) else None)) (fun guarded =>
       remembering (class_of classes) (fun of_ =>
       check_remembering {| guard_of := guarded; former := former (guards q); initially := initially (guards q) |}
         of_ (atoms (cluster q)) can fuel
         (goal_besides (cluster_problem q) (map lookup g)) (map (group_besides q classes) groups))))
     end.

(** What it accepts is so. *)
Theorem accepts_never_quickly_sound q fuel g classes forbidden :
  accepts_never_quickly q fuel g classes forbidden = true -> never (cluster_problem q) (map lookup g).
Proof.
  unfold accepts_never_quickly, remembering. rewrite !andb_true_iff. intros [[ok _] accepted].
  destruct (traverse (named classes) forbidden) as [groups|]; [|discriminate].
  rewrite check_remembering_same in accepted.
  apply (check_classes_sound (short_guards q) _ _ _ (short_guards_tables q ok)) in accepted.
  destruct (parts q ok) as [_ [_ [wf [_ [low _]]]]].
  apply (never_besides (cluster_problem q)); auto.
  - intros a s t e [a_in can]. split; [assumption|]. simpl.
    rewrite <- (lets_in_same q (fst a) (snd a) s t); auto. apply wf. now apply atom_listed.
  - apply (guards_weaker q ok). now apply short_guards_weaker.
Qed.

Print Assumptions accepts_never_quickly_sound.

Extract Constant remembering =>
  "fun f use ->
     let known = Hashtbl.create 64 in
     use (fun a ->
       match Hashtbl.find_opt known a with
       | Some b -> b
       | None -> let b = f a in Hashtbl.add known a b; b)".

Extraction Language OCaml.
Extraction "proved.ml" accepts_never_quickly accepts_trace lets_in obeys lookup N.add N.mul.
