(** * Clusters where goals never grow

    Under kube-scheduler, without topology spread and volume limits, with nested
    topology keys: whatever else the rules ask holds of less, and the nearest friend of
    a pod serves for all its keys at once.  So a question about a goal of [k] pods is
    decided by groups of at most [k] pods.

    docs/theory.md, "Petri nets", at the end; engine/direct/one_witness.rs. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Configuration Problem Guard Rules Compile Never Search Cluster Nested Embedding Decision.
Import ListNotations.
Open Scope N_scope.

Section Rules.
  Variable m : model.
  Variables (p n : id).
  Hypothesis no_spread : constraints m p = [].
  Hypothesis no_volumes : drivers m p = [].
  Implicit Types (s u : configuration atom).

  Lemma none_runs_below is s u : u ≼ s -> none_runs m is s = true -> none_runs m is u = true.
  Proof.
    intros us. unfold none_runs, some_runs. rewrite !negb_true_iff, <- !not_true_iff_false, !existsb_exists.
    intros none [a [a_in ok]]. apply none. exists a. split; [assumption|]. rewrite andb_true_iff, N.ltb_lt in *.
    specialize (us a). split; [tauto|lia].
  Qed.

  (** But for affinity, what is let in beside more is let in beside less. *)
  Lemma lets_in_below s u : u ≼ s -> (asks m p InterPodAffinity = true -> affine m u p n = true) ->
    lets_in m s p n = true -> lets_in m u p n = true.
  Proof.
    intros us near_ can. unfold lets_in in *. rewrite andb_true_iff, forallb_forall in *. destruct can as [place each_].
    split; [assumption|]. intros r r_in. specialize (each_ r r_in). apply orb_true_iff in each_. apply orb_true_iff.
    destruct (asks m p r) eqn:asked_; [right|now left]. destruct each_ as [|holds_]; [discriminate|]. destruct r; simpl in *.
    - eauto using none_runs_below.
    - unfold fits in *. rewrite forallb_forall in *. intros r r_in'. specialize (holds_ r r_in'). rewrite N.leb_le in *.
      pose proof (total_mono (on_node m n r) u s us). lia.
    - rewrite !andb_true_iff in *. destruct holds_ as [[a b] c]. eauto 6 using none_runs_below.
    - unfold volumes_fit in *. now rewrite no_volumes in *.
    - now rewrite no_spread.
    - rewrite !andb_true_iff in *. split; [auto|]. destruct holds_ as [_ away]. unfold keeps_away in *.
      rewrite andb_true_iff, orb_true_iff in *. destruct away as [a [b|c]]; eauto 6 using none_runs_below.
    - unfold within_quotas in *. rewrite forallb_forall in *. intros k k_in. specialize (holds_ k k_in). rewrite N.leb_le in *.
      pose proof (total_mono (charged m k) u s us). lia.
    - unfold within_limits in *. rewrite forallb_forall in *. intros l l_in. specialize (holds_ l l_in). rewrite orb_true_iff, N.ltb_lt in *.
      destruct holds_; [now left|right]. pose proof (count_mono (instances m l n) u s us). lia.
  Qed.

  Hypothesis kube : rules m = KubeScheduler.
  Hypothesis nested_ : nested_keys m (likes m p) n.

  (** At most one more pod is needed. *)
  Theorem nearest_is_enough b s : b ≼ s -> lets_in m s p n = true ->
    lets_in m b p n = true \/ exists w, In w (atoms m) /\ b ⊕ w ≼ s /\ lets_in m (b ⊕ w) p n = true.
  Proof.
    intros bs can. destruct (asks m p InterPodAffinity) eqn:asked_; [|left; apply (lets_in_below s); congruence].
    assert (affine_s : affine m s p n = true).
    { unfold lets_in in can. rewrite andb_true_iff, forallb_forall in can. destruct can as [_ each_].
      specialize (each_ InterPodAffinity ltac:(simpl; auto 10)). rewrite asked_ in each_. simpl in each_. now apply andb_true_iff in each_. }
    assert (is : forall u, affine m u p n = affine_kube m u p n) by (intros u; unfold affine, is_kube; now rewrite kube).
    assert (below : forall u, u ≼ s -> affine_kube m u p n = true -> lets_in m u p n = true).
    { intros u us near_. apply (lets_in_below s); auto. intros _. now rewrite is. }
    rewrite is in affine_s. unfold affine_kube in affine_s, below.
    apply andb_true_iff in affine_s. destruct affine_s as [keys friends_]. apply orb_true_iff in friends_.
    destruct friends_ as [near_|first].
    - destruct nested_ as [none|[t [t_in nearest]]].
      { left. apply below; [assumption|]. now rewrite none. }
      assert (serves : forall u a, In a (atoms m) -> near_friend m (likes m p) t n a = true -> 0 < u a ->
                forallb (fun t => some_runs m (near_friend m (likes m p) t n) u) (likes m p) = true).
      { intros u a a_in ok some. apply forallb_forall. intros t' t_in'. unfold some_runs. apply existsb_exists. exists a.
        split; [assumption|]. apply andb_true_iff. split; [|now apply N.ltb_lt]. unfold near_friend in *.
        rewrite andb_true_iff in *. destruct ok. split; [assumption|]. now apply (nearest t'). }
      rewrite forallb_forall in near_. specialize (near_ t t_in). unfold some_runs in near_. apply existsb_exists in near_.
      destruct near_ as [a [a_in ok]]. apply andb_true_iff in ok. destruct ok as [ok some]. apply N.ltb_lt in some.
      destruct (N.eq_0_gt_0_cases (b a)) as [zero|there].
      + right. exists a. assert (inside : b ⊕ a ≼ s) by (apply plus_one_within; [assumption|lia]).
        repeat split; try assumption. apply below; [assumption|]. rewrite keys, (serves _ a a_in ok); [reflexivity|].
        rewrite plus_one_same by reflexivity. lia.
      + left. apply below; [assumption|]. now rewrite keys, (serves _ a a_in ok there).
    - left. apply below; [assumption|]. rewrite keys. apply andb_true_iff in first. destruct first as [own none].
      rewrite own, (none_runs_below _ s b bs none). apply orb_true_r.
  Qed.
End Rules.

Section Clusters.
  Variable q : question.
  Hypothesis ok : sensible q = true.
  (** No pod has waited that is deployed. *)
  Hypothesis nothing_waits : waits q = [].
  Notation m := (cluster q).
  Hypothesis kube : rules m = KubeScheduler.
  Hypothesis no_spread : forall p, In p (pods m) -> constraints m p = [].
  Hypothesis no_volumes : forall p, In p (pods m) -> drivers m p = [].
  Hypothesis nested_ : forall p n, In p (pods m) -> In n (nodes m) -> nested_keys m (likes m p) n.

  #[local] Existing Instance listed_eq_dec.
  Notation keeps := (lookup (stays q)).

  Lemma guards_are_rules_here x g t : guard_of (finite q) x = Some g ->
    holds g t = lets_in m (plus keeps (extend (as_listed q) t)) (fst (image q x)) (snd (image q x)).
  Proof.
    simpl. destruct (negb _); [discriminate|]. intros is. destruct (parts q ok) as [_ [_ [wf _]]].
    assert (a_in : In (image q x) (atoms m)) by (apply has_spec; exact (proj2_sig x)).
    assert (W : well_formed m (fst (image q x))) by (apply wf; now apply (atom_listed q)).
    rewrite <- (guards_are_rules m keeps (has (atoms m)) _ _ _ W).
    - destruct (guard_besides _ _ _ _ _) as [h|]; [|discriminate]. injection is as <-. simpl. apply pick_holds.
    - intros a out. unfold extend. destruct (as_listed q a) as [y|] eqn:there; [|reflexivity].
      apply as_listed_some in there. subst. pose proof (proj2_sig y) as yes. simpl in yes. unfold image in out. congruence.
  Qed.

  Lemma one_enough x g : guard_of (finite q) x = Some g -> forall b s, b ≼ s -> holds g s = true ->
    holds g b = true \/ exists w, b ⊕ w ≼ s /\ holds g (b ⊕ w) = true.
  Proof.
    intros is b s bs can. rewrite !(guards_are_rules_here x g _ is) in *.
    assert (a_in : In (image q x) (atoms m)) by (apply has_spec; exact (proj2_sig x)). apply (atom_listed q) in a_in.
    destruct a_in as [p_in n_in].
    assert (grows_ : plus keeps (extend (as_listed q) b) ≼ plus keeps (extend (as_listed q) s)).
    { intros a. unfold plus, extend. destruct (as_listed q a) as [y|]; [|lia]. specialize (bs y). lia. }
    destruct (nearest_is_enough m _ _ (no_spread _ p_in) (no_volumes _ p_in) kube (nested_ _ _ p_in n_in) _ _ grows_ can)
      as [|[w [w_in [inside lets_]]]]; [now left|right].
    apply has_spec in w_in. pose (y := exist _ w w_in : listed_atom q). exists y.
    assert (e : plus keeps (extend (as_listed q) b) ⊕ w ≐ plus keeps (extend (as_listed q) (b ⊕ y))).
    { intros a. unfold plus, extend, plus_one. destruct (as_listed q a) as [z|] eqn:there.
      - apply as_listed_some in there. subst a. change w with (image q y).
        destruct (eq_dec (image q y) (image q z)) as [e|other], (eq_dec y z) as [e'|other']; try lia.
        + now apply images_apart in e.
        + congruence.
      - destruct (eq_dec w a) as [<-|other]; [|lia]. change w with (image q y) in there. rewrite as_listed_image in there. discriminate. }
    split.
    - apply plus_one_within; [assumption|]. specialize (inside w). unfold plus, extend, plus_one in inside.
      change w with (image q y) in inside. rewrite as_listed_image in inside.
      destruct (eq_dec (image q y) (image q y)); [lia|contradiction].
    - rewrite (guards_are_rules_here x g _ is). rewrite <- lets_. destruct (parts q ok) as [_ [_ [wf _]]].
      apply (lets_in_same q); [now apply wf|now apply same_sym].
  Qed.

  (** A goal of at most [k] pods besides the kept ones is met, or it is never met and
      groups of at most [k] pods show it. *)
  Theorem goals_of_clusters_never_grow k (g : list (list (atom * N))) :
    (forall b, In b (asked q g) -> pods_of (nodup eq_dec (all_listed q)) b <= k) ->
    {deployable (cluster_problem q) (map lookup g)}
    + {never (cluster_problem q) (map lookup g) /\
       exists basis, certificate (problem_of (finite q)) (asked q g) basis
                     /\ forall b, In b basis -> pods_of (nodup eq_dec (all_listed q)) b <= k}.
  Proof.
    intros small. assert (free : forall x, consumes (finite q) x = None).
    { intros x. simpl. unfold consumes_listed, consumed. now rewrite nothing_waits. }
    destruct (small_certificates (nodup eq_dec (all_listed q)) (NoDup_nodup _ _)
                (fun x => proj2 (nodup_In _ _ _) (every_listed q x)) (finite q) one_enough free k (asked q g) small) as [yes|no]; [left|right].
    - now apply same_question.
    - split; [|exact no]. apply never_not_deployable. rewrite same_question by assumption. apply never_not_deployable.
      destruct no as [basis [cert _]]. exact (certificate_sound _ _ _ cert).
  Defined.
End Clusters.
