(** * What cannot matter may be left out

    An atom can help a goal only as a witness or a counterweight of something that
    helps it.  All others can only be in the way: a run is still one without them.  So
    a goal that is never met from a start without them is never met.

    docs/theory.md, "What free deletion gives", 4; engine/compile/slice.rs; check/orbits.rs, [helping]. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Problem Closure Guard Search.
Import ListNotations.
Open Scope N_scope.

Section Slice.
  Context {A : Type} `{Eq_dec A}.
  Variable P : problem A.
  Variable matters : A -> bool.
  Implicit Types (s t : configuration A) (a d : A).

  (** What matters, and what stays. *)
  Definition sliced s : configuration A := fun a => if matters a then s a else kept P a.

  (** To what matters, the rest does not. *)
  Hypothesis rest_only_hinders : forall a s, matters a = true -> kept P ≼ s -> hard P a s -> hard P a (sliced s).
  (** What is being deleted matters only if what it was does. *)
  Hypothesis former_matters : forall a d s, becomes P a d s -> matters d = true -> matters a = true.
  Hypothesis rest_only_hinders' : forall a d s, matters d = true -> kept P ≼ s -> becomes P a d s -> becomes P a d (sliced s).
  Hypothesis kept_at_start : kept P ≼ start P.

  (** What matters, by itself. *)
  Definition alone : problem A := {|
    hard a s := matters a = true /\ hard P a s;
    becomes a d s := matters d = true /\ becomes P a d s;
    kept := kept P;
    start := sliced (start P);
  |}.

  Theorem alone_reachable s : reachable P s -> reachable alone (sliced s).
  Proof.
    intros r. induction r as [s e|s t r IH st].
    - apply at_start. intros a. unfold sliced. simpl. now rewrite e.
    - assert (idle : sliced t ≐ sliced s -> reachable alone (sliced t)).
      { intros e. exact (reachable_same _ _ _ (same_sym _ _ e) IH). }
      pose proof (kept_stays P kept_at_start s r) as low.
      destruct st as [a can e|a more e|a d more turned e].
      + destruct (matters a) eqn:m.
        * eapply by_step; [exact IH|]. apply (deploy _ _ _ a); [simpl; auto|].
          intros b. unfold sliced at 1. rewrite (e b). unfold sliced. by_count. now rewrite m.
        * apply idle. intros b. unfold sliced. rewrite (e b). destruct (matters b) eqn:mb; [|reflexivity]. by_count.
      + destruct (matters a) eqn:m.
        * eapply by_step; [exact IH|]. apply (delete _ _ _ a); [simpl; unfold sliced; now rewrite m|].
          intros b. unfold sliced at 1. rewrite (e b). unfold sliced. by_count. now rewrite m.
        * apply idle. intros b. unfold sliced. rewrite (e b). destruct (matters b) eqn:mb; [|reflexivity]. by_count.
      + destruct (matters a) eqn:m.
        * eapply by_step; [exact IH|]. destruct (matters d) eqn:md.
          -- apply (change _ _ _ a d); [simpl; unfold sliced; now rewrite m|split; auto|].
             intros b. unfold sliced at 1. rewrite (e b). unfold sliced. by_count; rewrite ?m, ?md; try reflexivity; lia.
          -- apply (delete _ _ _ a); [simpl; unfold sliced; now rewrite m|].
             intros b. unfold sliced at 1. rewrite (e b). unfold sliced. destruct (matters b) eqn:mb; by_count; now rewrite mb.
        * assert (md : matters d = false).
          { destruct (matters d) eqn:md; [|reflexivity]. rewrite (former_matters a d s turned md) in m. discriminate. }
          apply idle. intros b. unfold sliced. rewrite (e b). destruct (matters b) eqn:mb; [|reflexivity]. by_count.
  Qed.

  Theorem never_of_alone g :
    (forall alternative a, In alternative g -> matters a = false -> alternative a <= kept P a) ->
    never alone g -> never P g.
  Proof.
    intros among no s r [alternative [g_in covered]]. apply (no (sliced s)); [now apply alone_reachable|].
    exists alternative. split; [assumption|]. intros a. unfold sliced. destruct (matters a) eqn:m; [apply covered|eauto].
  Qed.

  (** So it is where the rest may still come. *)
  Corollary sliced_reachable s : reachable P s -> reachable (starting P (sliced (start P))) (sliced s).
  Proof.
    intros r. apply alone_reachable in r. induction r as [t e|t u r IH st]; [now apply at_start|].
    eapply by_step; [exact IH|]. destruct st as [a [_ can] e|a more e|a d more [_ turned] e];
      [now apply (deploy _ _ _ a)|now apply (delete _ _ _ a)|now apply (change _ _ _ a d)].
  Qed.

  Corollary never_of_slice g :
    (forall alternative a, In alternative g -> matters a = false -> alternative a <= kept P a) ->
    never (starting P (sliced (start P))) g -> never P g.
  Proof.
    intros among no s r [alternative [g_in covered]]. apply (no (sliced s)); [now apply sliced_reachable|].
    exists alternative. split; [assumption|]. intros a. unfold sliced. destruct (matters a) eqn:m; [apply covered|eauto].
  Qed.
End Slice.

(** ** For guards *)

Section Asked.
  Context {A : Type} `{Eq_dec A}.
  Implicit Types (s u : configuration A).

  (** The groups of which a guard asks for members. *)
  Definition asked_groups (g : guard A) : list (list A) :=
    flat_map near (affinities g) ++ flat_map unless (distincts g) ++ flat_map (fun c => map members (domains c)) (spreads g).

  (** A guard holds of less, if no member of these groups is missing. *)
  Lemma holds_below g s u : u ≼ s ->
    (forall group b, In group (asked_groups g) -> In b group -> u b = s b) -> holds g s = true -> holds g u = true.
  Proof.
    intros below help ok.
    assert (same_count : forall group, In group (asked_groups g) -> count group u = count group s).
    { intros group g_in. specialize (help group). induction group as [|a rest IH]; simpl; [reflexivity|].
      assert (all_ : forall b, In b (a :: rest) -> u b = s b) by auto.
      rewrite (all_ a) by now left. f_equal. clear - all_. induction rest as [|b rest IH]; simpl; [reflexivity|].
      rewrite (all_ b) by (right; now left). f_equal. apply IH. intros c [<-|c_in]; apply all_; [now left|right; now right]. }
    assert (same_empty : forall gs, incl gs (asked_groups g) -> first_empty gs u = first_empty gs s).
    { intros gs sub. unfold first_empty. induction gs as [|l rest IH]; simpl; [reflexivity|].
      rewrite IH by (intros k k_in; apply sub; now right). unfold is_empty. rewrite same_count; [reflexivity|]. apply sub. now left. }
    unfold holds in *. rewrite !andb_true_iff, !forallb_forall in *. destruct ok as [[[most dist] aff] spr].
    refine (conj (conj (conj _ _) _) _); intros c c_in.
    - eauto using at_most_below.
    - specialize (dist c c_in). unfold distinct_holds in *. rewrite same_empty.
      + rewrite orb_true_iff in *. destruct dist as [fits|]; [left|now right]. eauto using distinct_fits_below.
      + intros l l_in. unfold asked_groups. rewrite !in_app_iff, !in_flat_map. right. left. eauto.
    - specialize (aff c c_in). unfold affinity_holds, lonely in *. rewrite same_empty.
      + destruct (may_be_first c u) eqn:first_u; [reflexivity|]. destruct (may_be_first c s) eqn:first; [|assumption].
        exfalso. unfold may_be_first in *. destruct (first_unless c); [|discriminate].
        rewrite (empty_below _ u s below first) in first_u. discriminate.
      + intros l l_in. unfold asked_groups. rewrite !in_app_iff, !in_flat_map. left. eauto.
    - specialize (spr c c_in). unfold spread_holds, behind in *. rewrite is_none_true in *.
      destruct (find _ (domains c)) as [d|] eqn:found in |- *; [|reflexivity]. exfalso.
      apply find_some in found. destruct found as [d_in far]. apply (find_none _ _ spr) in d_in as near_.
      rewrite N.ltb_lt in far. rewrite N.ltb_ge in near_. unfold size in *.
      rewrite same_count in far.
      + pose proof (count_mono (members (own c)) u s below). lia.
      + unfold asked_groups. rewrite !in_app_iff, !in_flat_map. right. right. exists c. split; [assumption|]. now apply in_map.
  Qed.

End Asked.

Section Guards.
  Context {A : Type} `{Eq_dec A}.
  Variable S : system A.
  Variable matters : A -> bool.

  (** What may help what matters does, too. *)
  Hypothesis helpers_matter : forall a g, matters a = true -> guard_of S a = Some g ->
    forall group b, In group (asked_groups g) -> In b group -> matters b = true.
  Hypothesis former_matters : forall a d, former S d = Some a -> matters d = true -> matters a = true.
  Hypothesis waiting_matters : forall w a, consumes S a = Some w -> matters a = true -> matters w = true.

  Theorem never_of_guards_slice g :
    (forall alternative a, In alternative g -> matters a = false -> alternative a = 0) ->
    never (starting (problem_of S) (sliced (problem_of S) matters (initially S))) g -> never (problem_of S) g.
  Proof.
    intros among no.
    assert (below : forall a s, matters a = true -> (exists g, guard_of S a = Some g /\ holds g s = true) ->
              exists g, guard_of S a = Some g /\ holds g (sliced (problem_of S) matters s) = true).
    { intros a s m [gd [is ok]]. exists gd. split; [assumption|]. apply (holds_below gd s); [| |assumption].
      - intros b. unfold sliced. simpl. unfold nothing. destruct (matters b); lia.
      - intros group b group_in b_in. unfold sliced. now rewrite (helpers_matter a gd m is group b). }
    apply (never_of_slice (problem_of S) matters).
    - intros a s m _ [unwaited admitted]. split; [assumption|]. now apply below.
    - intros a d s [was|[uses _]] m; [now apply (former_matters a d)|now apply (waiting_matters a d)].
    - intros a d s m _ [was|[uses admitted]]; [now left|right]. split; [assumption|]. now apply (below d).
    - intros a. simpl. unfold nothing. lia.
    - intros alternative a g_in m. rewrite (among alternative a g_in m). lia.
    - exact no.
  Qed.
End Guards.
