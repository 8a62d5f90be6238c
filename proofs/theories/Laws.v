(** * Which sums are laws

    A law is a weighted sum of what runs besides the kept pods that never exceeds
    its bound, or what it is at the start if that is more.  Capacity, quotas and
    declared instances are laws of the pods that are asked about them and are not
    being deleted; a group of
    atoms is, if the guard of each refuses it where as many of them are as may be; and
    what was ruled out by a proof leaves room for one less.

    check/shortage.rs, [Sum::law]. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Lists Configuration Sums Problem Guard Rules Search Kept Cluster Shortage.
Import ListNotations.
Open Scope N_scope.

Section Weighted.
  Context {A : Type} `{Eq_dec A}.
  Variable w : A -> N.

  Definition weighted (l : list A) : list (A * N) := map (fun a => (a, w a)) l.

  Lemma value_weighted l a : NoDup l -> value (weighted l) a = if in_dec eq_dec a l then w a else 0.
  Proof.
    intros l_once. induction l_once as [|b l out _ IH]; [reflexivity|]. cbn [weighted map value]. unfold weighted in IH. rewrite IH.
    destruct (eq_dec b a) as [->|other], (in_dec eq_dec a l) as [yes|no], (in_dec eq_dec a (_ :: l)) as [yes'|no'];
      simpl in *; try contradiction; try lia; exfalso; intuition congruence.
  Qed.
End Weighted.

(** ** A bound that is asked about some atoms *)

Section Asked.
  Context {A : Type} `{Eq_dec A}.
  Variable P : problem A.
  Variables (L : list A) (w : A -> N) (asked : A -> bool) (bound : N) (k : configuration A).
  Hypothesis once : NoDup L.
  Notation weighted := (weighted w).

  (** The most that the asked ones may take, and what they take at the start. *)
  Definition law_bound : N := N.max (bound - total (weighted L) k) (total (weighted (filter asked L)) (start P)).

  Hypothesis refused : forall a x, In a L -> asked a = true -> hard P a x -> total (weighted L) (plus k x) + w a <= bound.
  (** It is not asked about what is being deleted. *)
  Hypothesis lives : forall a d, becomes P a d -> asked d = false.

  Theorem asked_law x : reachable P x -> total (weighted (filter asked L)) x <= law_bound.
  Proof.
    apply law_holds; [unfold law_bound; lia| |].
    2: { intros a d turned. rewrite (value_weighted w _ d) by now apply NoDup_filter.
         destruct (in_dec eq_dec d (filter asked L)) as [yes|]; [|lia]. apply filter_In in yes. rewrite (lives a d turned) in yes. now destruct yes. }
    intros a s some can. rewrite value_weighted in * by now apply NoDup_filter.
    destruct (in_dec eq_dec a (filter asked L)) as [yes|]; [|contradiction]. apply filter_In in yes. destruct yes as [a_in is].
    specialize (refused a s a_in is can). rewrite total_plus in refused.
    enough (total (weighted (filter asked L)) s <= total (weighted L) s) by (unfold law_bound; lia).
    unfold weighted. rewrite !total_map, sum_filter. apply sum_le. intros b _. destruct (asked b); lia.
  Qed.
End Asked.

(** ** Laws of clusters *)

Section Laws.
  Variable q : question.
  Hypothesis ok : sensible q = true.
  Notation m := (cluster q).
  Notation P := (besides (cluster_problem q)).
  Notation keeps := (lookup (stays q)).

  Lemma asked_rule a x r : hard P a x -> asks m (fst a) r = true -> obeys m (plus keeps x) (fst a) (snd a) r = true.
  Proof.
    intros [_ can] asks_. unfold lets_in in can. apply andb_true_iff in can. destruct can as [_ can].
    rewrite forallb_forall in can. specialize (can r).
    assert (every : In r every_rule) by (destruct r; simpl; auto 10). specialize (can every). now rewrite asks_ in can.
  Qed.

  (** An atom that is not what another is while it is being deleted. *)
  Definition live (a : atom) : bool := is_none (shadowed q (fst a)).

  Lemma dying_not_live a d : becomes P a d -> live d = false.
  Proof.
    intros [turned _]. destruct (parts q ok) as [_ [_ [_ [_ [_ shadows]]]]]. unfold live.
    destruct (shadows _ _ turned) as [-> _]. reflexivity.
  Qed.

  (** A node's capacity, of the pods that are asked about it. *)
  Section Capacity.
    Variables (n r : id).
    Definition on_this_node : list atom := map (fun p => (p, n)) (pods m).
    Definition asked_resource (a : atom) : bool := live a && asks m (fst a) NodeResourcesFit && has_id (checked m (fst a)) r.
    Definition takes_resource (a : atom) : N := weight m (fst a) r.

    Theorem capacity_law :
      forall x, reachable P x -> total (weighted takes_resource (filter asked_resource on_this_node)) x
                                 <= law_bound P on_this_node takes_resource asked_resource (allocatable m n r) keeps.
    Proof.
      intros x. destruct (parts q ok) as [pods_once _]. apply asked_law.
      - apply FinFun.Injective_map_NoDup; [|assumption]. intros p p'. now intros [= ->].
      - intros [p n'] s a_in is can. apply in_map_iff in a_in. destruct a_in as [p' [[= -> <-] _]].
        unfold asked_resource in is. rewrite !andb_true_iff in is. destruct is as [[_ asks_] among]. apply has_id_spec in among.
        pose proof (asked_rule _ _ NodeResourcesFit can asks_) as fit. simpl in fit, among. unfold fits in fit. rewrite forallb_forall in fit.
        specialize (fit r among). apply N.leb_le in fit. unfold weighted, on_this_node. rewrite map_map. exact fit.
      - intros a d turned. unfold asked_resource. now rewrite (dying_not_live a d turned).
    Qed.
  End Capacity.

  (** What a quota grants, of the pods that it is asked about. *)
  Section Quota.
    Variable k : id.
    Definition asked_quota (a : atom) : bool := live a && asks m (fst a) ResourceQuota && has_id (quotas m (fst a)) k.
    Definition takes_quota (a : atom) : N := takes m (fst a) k.

    Theorem quota_law :
      forall x, reachable P x -> total (weighted takes_quota (filter asked_quota (atoms m))) x
                                 <= law_bound P (atoms m) takes_quota asked_quota (grants m k) keeps.
    Proof.
      intros x. destruct (parts q ok) as [pods_once [nodes_once _]]. apply asked_law.
      - now apply nodup_product.
      - intros [p n] s a_in is can. unfold asked_quota in is. rewrite !andb_true_iff in is. destruct is as [[_ asks_] among]. apply has_id_spec in among.
        pose proof (asked_rule _ _ ResourceQuota can asks_) as fit. simpl in fit, among. unfold within_quotas in fit.
        rewrite forallb_forall in fit. specialize (fit k among). now apply N.leb_le in fit.
      - intros a d turned. unfold asked_quota. now rewrite (dying_not_live a d turned).
    Qed.
  End Quota.

  (** Declared instances, wherever they are. *)
  Section Limit.
    Variable l : limit.
    Hypothesis declared : In l (limits m).
    Hypothesis anywhere : per_node l = false.
    Hypothesis types_once : NoDup (limited l).
    Definition its_atoms : list atom := list_prod (limited l) (nodes m).
    Definition asked_limit (a : atom) : bool := live a && asks m (fst a) InstanceLimit && is_asked l (fst a).

    Theorem limit_law :
      forall x, reachable P x -> total (weighted (fun _ => 1) (filter asked_limit its_atoms)) x
                                 <= law_bound P its_atoms (fun _ => 1) asked_limit (most l) keeps.
    Proof.
      intros x. destruct (parts q ok) as [_ [nodes_once _]]. apply asked_law.
      - now apply nodup_product.
      - intros [p n] s a_in is can. unfold asked_limit in is. rewrite !andb_true_iff in is. destruct is as [[_ asks_] is].
        pose proof (asked_rule _ _ InstanceLimit can asks_) as fit. simpl in fit, is. unfold within_limits in fit.
        rewrite forallb_forall in fit. specialize (fit l declared). rewrite is in fit. simpl in fit. apply N.ltb_lt in fit.
        unfold instances in fit. unfold weighted. rewrite total_map. rewrite count_sum, sum_filter in fit.
        rewrite (sum_ext _ (plus keeps s)) by (intros; lia). unfold its_atoms.
        rewrite (sum_ext _ (plus keeps s)) in fit; [lia|]. intros [p' n'] _. now rewrite anywhere.
      - intros a d turned. unfold asked_limit. now rewrite (dying_not_live a d turned).
    Qed.
  End Limit.
End Laws.

(** ** Few of a group, and less than what is ruled out *)

Section Few.
  Context {A : Type} `{Eq_dec A}.

  (** Each of the atoms is refused where as many of them are as may be. *)
  Theorem few_law (P : problem A) (group : list A) (most : N) :
    NoDup group ->
    (forall a x, In a group -> hard P a x -> exists c least,
       at_most_holds c x = true /\ (forall b, In b group -> 0 < x b -> least <= value (weights c) b) /\ bound c < least * most) ->
    (forall a d, becomes P a d -> ~ In d group) ->
    forall x, reachable P x -> total (weighted (fun _ => 1) group) x <= N.max most (total (weighted (fun _ => 1) group) (start P)).
  Proof.
    intros once refused lives x. apply law_holds; [lia| |].
    2: { intros a d turned. rewrite (value_weighted (fun _ => 1) group d once). destruct (in_dec eq_dec d group) as [yes|]; [|lia].
         now apply (lives a d turned) in yes. }
    intros a s some can.
    rewrite (value_weighted (fun _ => 1) group a once) in *. destruct (in_dec eq_dec a group) as [a_in|]; [|contradiction].
    destruct (refused a s a_in can) as [c [least [holds_ [heavy small]]]]. unfold at_most_holds in holds_. apply N.leb_le in holds_.
    pose proof (sum_of_values (weights c) group s once) as inside.
    assert (many : least * sum s group <= sum (fun b => value (weights c) b * s b) group).
    { rewrite <- sum_times. apply sum_le. intros b b_in. destruct (N.eq_0_gt_0_cases (s b)) as [->|there]; [lia|].
      specialize (heavy b b_in there). nia. }
    unfold weighted. rewrite total_map, (sum_ext _ s) by (intros; lia). nia.
  Qed.

  (** So many of an atom were ruled out: besides the kept ones there are fewer. *)
  Theorem below_law (P : problem A) (a : A) (n : N) (g : goal A) :
    kept P ≼ start P -> In (fun b => if eq_dec a b then n else 0) g -> never P g ->
    forall s, reachable P s -> s a - kept P a <= n - 1 - kept P a.
  Proof.
    intros low g_in no s r. destruct (N.lt_ge_cases (s a) n) as [few|many]; [lia|]. exfalso.
    apply (no s r). exists (fun b => if eq_dec a b then n else 0). split; [assumption|]. intros b. by_count.
  Qed.
End Few.
