(** * At-most-one constraints: of several parts, at most one has pods at a time

    A constraint is a list of parts, each a list of classes.  It stands for groups: one pod
    each of two classes of different parts.  Where there are very many pairs, a proof
    says them so; whether one of them is there is seen from the constraint alone.

    check/at_most_one.rs, check/pairs.rs. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Problem Guard Never Search.
Import ListNotations.
Open Scope N_scope.

Section Pairs.
  Context {C : Type}.
  Implicit Types (l : list (list C)) (c d : C).

  Definition pair_of c d : list (C * N) := [(c, 1); (d, 1)].

  (** The groups that a constraint stands for. *)
  Fixpoint pairs l : list (list (C * N)) :=
    match l with
    | [] => []
    | part :: rest => flat_map (fun c => map (pair_of c) (concat rest)) part ++ pairs rest
    end.

  (** Groups, and those that constraints stand for. *)
  Definition with_pairs (groups : list (list (C * N))) (apart : list (list (list C))) : list (list (C * N)) :=
    groups ++ flat_map pairs apart.

  (** Two parts of a constraint, the former one first. *)
  Inductive two_parts : list C -> list C -> list (list C) -> Prop :=
  | two_first part other rest : In other rest -> two_parts part other (part :: rest)
  | two_later part other first rest : two_parts part other rest -> two_parts part other (first :: rest).

  (** A constraint stands for the pairs of classes of two of its parts, and for no others. *)
  Theorem pairs_spec l b :
    In b (pairs l) <-> exists part other c d, two_parts part other l /\ In c part /\ In d other /\ b = pair_of c d.
  Proof.
    induction l as [|first rest IH]; simpl.
    - split; [contradiction|]. intros [part [other [c [d [two _]]]]]. inversion two.
    - rewrite in_app_iff, in_flat_map, IH. split.
      + intros [[c [c_in b_in]]|[part [other [c [d [two more]]]]]].
        * apply in_map_iff in b_in. destruct b_in as [d [<- d_in]]. apply in_concat in d_in.
          destruct d_in as [other [other_in d_in]]. exists first, other, c, d. repeat split; auto. now constructor.
        * exists part, other, c, d. split; [now constructor|assumption].
      + intros [part [other [c [d [two [c_in [d_in ->]]]]]]]. inversion two as [? ? ? other_in|? ? ? ? later]; subst.
        * left. exists c. split; [assumption|]. apply in_map, in_concat. now exists other.
        * right. now exists part, other, c, d.
  Qed.
End Pairs.

(** Other names for the classes give other names to the pairs. *)
Lemma pairs_map {C D : Type} (h : C -> D) (l : list (list C)) :
  pairs (map (map h) l) = map (map (fun '(c, n) => (h c, n))) (pairs l).
Proof.
  induction l as [|part rest IH]; [reflexivity|]. cbn [map pairs]. rewrite map_app, <- IH, <- concat_map. f_equal.
  induction part as [|c part IH']; [reflexivity|]. cbn [map flat_map]. rewrite map_app, <- IH', !map_map. reflexivity.
Qed.

Section Broken.
  Context {C : Type} `{Eq_dec C}.
  Implicit Types (l : list (list C)) (s : configuration C).

  Definition has_pods (part : list C) s : bool := existsb (fun c => 0 <? s c) part.

  (** Whether two parts have pods. *)
  Fixpoint broken l s : bool :=
    match l with
    | [] => false
    | part :: rest => has_pods part s && existsb (fun other => has_pods other s) rest || broken rest s
    end.

  Lemma has_pods_spec part s : has_pods part s = true <-> exists c, In c part /\ 0 < s c.
  Proof.
    unfold has_pods. rewrite existsb_exists. split; intros [c [c_in some]]; exists c; (split; [assumption|]); now apply N.ltb_lt.
  Qed.

  Theorem broken_two_parts l s :
    broken l s = true <-> exists part other, two_parts part other l /\ has_pods part s = true /\ has_pods other s = true.
  Proof.
    induction l as [|first rest IH]; simpl.
    - split; [discriminate|]. intros [part [other [two _]]]. inversion two.
    - rewrite orb_true_iff, andb_true_iff, existsb_exists, IH. split.
      + intros [[here [other [other_in there]]]|[part [other [two both]]]].
        * exists first, other. split; [now constructor|auto].
        * exists part, other. split; [now constructor|assumption].
      + intros [part [other [two both]]]. inversion two; subst; [left|right].
        * split; [tauto|]. exists other. tauto.
        * now exists part, other.
  Qed.

  Lemma contained_pair c d s : contained (pair_of c d) s = true <-> 0 < s c /\ 0 < s d.
  Proof.
    rewrite contained_spec. unfold pair_of. split.
    - intros all. pose proof (all c) as at_c. pose proof (all d) as at_d. simpl in *.
      destruct (eq_dec c c); [|contradiction]. destruct (eq_dec c d), (eq_dec d d); try contradiction; lia.
    - intros both a. simpl. destruct (eq_dec c a) as [->|_]; [lia|]. destruct (eq_dec d a) as [->|_]; lia.
  Qed.

  (** That is so exactly if one of the pairs is there. *)
  Theorem broken_pairs l s : broken l s = contains_one (pairs l) s.
  Proof.
    apply eq_true_iff_eq. rewrite broken_two_parts. unfold contains_one. rewrite existsb_exists. split.
    - intros [part [other [two [here there]]]]. apply has_pods_spec in here, there.
      destruct here as [c [c_in some_c]]. destruct there as [d [d_in some_d]]. exists (pair_of c d). split.
      + apply pairs_spec. now exists part, other, c, d.
      + now apply contained_pair.
    - intros [b [b_in there]]. apply pairs_spec in b_in. destruct b_in as [part [other [c [d [two [c_in [d_in ->]]]]]]].
      apply contained_pair in there. exists part, other. rewrite !has_pods_spec. split; [assumption|].
      split; [exists c|exists d]; tauto.
  Qed.

  (** Whether a group is there, or one that a constraint stands for. *)
  Definition contains_or_breaks (groups : list (list (C * N))) (apart : list (list (list C))) s : bool :=
    contains_one groups s || existsb (fun l => broken l s) apart.

  Theorem contains_or_breaks_pairs groups apart s :
    contains_or_breaks groups apart s = contains_one (with_pairs groups apart) s.
  Proof.
    unfold contains_or_breaks, with_pairs, contains_one. rewrite existsb_app. f_equal.
    induction apart as [|l rest IH]; [reflexivity|]. simpl. now rewrite existsb_app, IH, broken_pairs.
  Qed.

  (** So where the groups and constraints of a certificate hold, at most one part of each constraint ever has pods. *)
  Theorem at_most_one (P : problem C) g groups apart :
    certificate P g (map lookup (with_pairs groups apart)) ->
    forall s l part other, reachable P s -> In l apart -> two_parts part other l ->
    has_pods part s = true -> has_pods other s = true -> False.
  Proof.
    intros holds_ s l part other r l_in two here there. apply (certificate_invariant P g _ holds_ s r).
    apply contains_one_spec. rewrite <- contains_or_breaks_pairs. apply orb_true_iff. right.
    apply existsb_exists. exists l. split; [assumption|]. apply broken_two_parts. now exists part, other.
  Qed.
End Broken.

Section Search.
  Context {A : Type} `{Eq_dec A}.

  (** The search asks what is there, and not how that is seen. *)
  Lemma escapes_same (found found' : configuration A -> bool) fuel g : (forall s, found s = found' s) ->
    forall s, escapes found fuel g s = escapes found' fuel g s.
  Proof.
    intros same_. induction fuel as [|fuel IH]; [reflexivity|]. intros s. simpl. rewrite same_.
    destruct (exceeds g s); [reflexivity|]. destruct (found' s); [reflexivity|].
    destruct (needed g s) as [group|]; [|reflexivity]. induction group as [|a rest IH']; [reflexivity|].
    simpl. now rewrite IH, IH'.
  Qed.
End Search.
