(** * Which sums are laws

    A law is a weighted sum of what runs besides the kept pods that never exceeds
    its bound, or what it is at the start if that is more.  Capacity, quotas and
    declared instances are laws of the pods that are asked about them and are not
    being deleted; quotas and declared instances also of those that waited for a node, together
    with those that wait: to bind one asks nothing, and changes no sum of both.  A group of
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
  Variables (L : list A) (w : A -> N) (counts_ : A -> bool) (bound : N) (k : configuration A).
  Hypothesis once : NoDup L.
  Notation weighted := (weighted w).

  (** The most that those which count may take, and what they take at the start. *)
  Definition law_bound : N := N.max (bound - total (weighted L) k) (total (weighted (filter counts_ L)) (start P)).

  Hypothesis refused : forall a x, In a L -> counts_ a = true -> hard P a x -> total (weighted L) (plus k x) + w a <= bound.
  (** What changes into one that counts has counted as much, or it is asked about that one. *)
  Hypothesis changed : forall a d x, In d L -> counts_ d = true -> becomes P a d x ->
    In a L /\ counts_ a = true /\ w d <= w a \/ total (weighted L) (plus k x) + w d <= bound.

  Theorem asked_law x : reachable P x -> total (weighted (filter counts_ L)) x <= law_bound.
  Proof.
    assert (less : forall s, total (weighted (filter counts_ L)) s <= total (weighted L) s).
    { intros s. unfold weighted. rewrite !total_map, sum_filter. apply sum_le. intros b _. destruct (counts_ b); lia. }
    assert (room : forall a s, total (weighted L) (plus k s) + w a <= bound -> total (weighted (filter counts_ L)) s + w a <= law_bound).
    { intros a s fits. rewrite total_plus in fits. specialize (less s). unfold law_bound. lia. }
    apply law_holds; [unfold law_bound; lia| |].
    - intros a s some can. rewrite value_weighted in * by now apply NoDup_filter.
      destruct (in_dec eq_dec a (filter counts_ L)) as [yes|]; [|contradiction]. apply filter_In in yes. destruct yes as [a_in is].
      apply room. now apply refused.
    - intros a d s turned. rewrite !(value_weighted w) by now apply NoDup_filter.
      destruct (in_dec eq_dec d (filter counts_ L)) as [yes|]; [|lia]. apply filter_In in yes. destruct yes as [d_in is].
      destruct (changed a d s d_in is turned) as [[a_in [is' no_more]]|fits]; [left|right; now apply room].
      destruct (in_dec eq_dec a (filter counts_ L)) as [|no]; [assumption|]. exfalso. apply no. apply filter_In. now split.
  Qed.
End Asked.

(** ** Laws of clusters *)

Section Laws.
  Variable q : question.
  Hypothesis ok : sensible q = true.
  Notation m := (cluster q).
  Notation P := (besides (cluster_problem q)).
  Notation keeps := (lookup (stays q)).

  Notation admitted a x := (admits q a (plus keeps x)).

  Lemma asked_rule a x r : admitted a x -> asks m (fst a) r = true -> obeys m (plus keeps x) (fst a) (snd a) r = true.
  Proof.
    intros [_ can] asks_. unfold lets_in in can. apply andb_true_iff in can. destruct can as [_ can].
    rewrite forallb_forall in can. specialize (can r).
    assert (every : In r every_rule) by (destruct r; simpl; auto 10). specialize (can every). now rewrite asks_ in can.
  Qed.

  (** An atom that is not what another is while it is being deleted. *)
  Definition live (a : atom) : bool := is_none (shadowed q (fst a)).

  Lemma dying_not_live a d : dies q a d -> live d = false.
  Proof.
    intros [turned _]. destruct (parts q ok) as [_ [_ [_ [_ [_ shadows]]]]]. unfold live.
    destruct (shadows _ _ turned) as [-> _]. reflexivity.
  Qed.

  (** An atom that is there from the beginning or never, and is not on its way out: it may be what waits. *)
  Definition only_waits (a : atom) : bool := live a && negb (placeable m (fst a) (snd a)).

  Section Waiting.
    Variables (L : list atom) (w : id -> N).
    Notation weight_of := (fun a : atom => w (fst a)).

    (** What waited until it was bound, and counts as much as then; and what waits, and will count as much. *)
    Definition was_bound (a : atom) : bool :=
      live a && match consumed q (fst a) with
                | Some u => (w (fst u) =? w (fst a)) && has L u && only_waits u
                | None => false
                end.
    Definition will_be_bound (a : atom) : bool :=
      only_waits a && existsb (fun '(p, u) => is_atom u a && (w p =? w (fst u))) (waits q).

    Variable asked : atom -> bool.
    Definition charged_or_waits (a : atom) : bool := live a && asked a || was_bound a || will_be_bound a.

    Variable bound : N.
    Hypothesis once : NoDup L.
    Hypothesis refused : forall a x, In a L -> asked a = true -> admitted a x ->
      total (weighted weight_of L) (plus keeps x) + w (fst a) <= bound.

    Theorem waiting_law : forall x, reachable P x ->
      total (weighted weight_of (filter charged_or_waits L)) x <= law_bound P L weight_of charged_or_waits bound keeps.
    Proof.
      assert (stays_away : forall a x, will_be_bound a = true -> ~ admitted a x).
      { intros a x is [_ can]. unfold will_be_bound, only_waits in is. unfold lets_in in can.
        destruct (placeable m (fst a) (snd a)); [|discriminate]. simpl in is. rewrite andb_false_r in is. discriminate. }
      intros x. apply asked_law; [assumption| |].
      - intros a s a_in is [can free]. unfold charged_or_waits in is. rewrite !orb_true_iff in is. destruct is as [[is|is]|is].
        + apply andb_true_iff in is. now apply refused.
        + unfold was_bound in is. simpl in free. rewrite free, andb_false_r in is. discriminate.
        + now apply stays_away in can.
      - intros a d s d_in is turned. unfold charged_or_waits in is at 1. rewrite !orb_true_iff in is.
        destruct turned as [turned|[uses can]].
        + pose proof (dying_not_live a d turned) as out. unfold was_bound, will_be_bound, only_waits in is. rewrite out in is.
          simpl in is. intuition discriminate.
        + destruct is as [[is|is]|is]; [right; apply andb_true_iff in is; now apply refused|left|now apply stays_away in can].
          unfold was_bound in is. rewrite uses in is. rewrite !andb_true_iff, has_spec, N.eqb_eq in is. destruct is as [_ [[same_ a_in] only]].
          split; [assumption|]. split; [|lia]. unfold charged_or_waits. apply orb_true_iff. right. unfold will_be_bound. rewrite only.
          apply existsb_exists. exists (fst d, a). split; [now apply consumed_waits|]. rewrite same_, N.eqb_refl, andb_true_r. now apply is_atom_spec.
    Qed.
  End Waiting.

  (** A node's capacity, of the pods that are asked about it. *)
  Section Capacity.
    Variables (n r : id).
    Definition on_this_node : list atom := map (fun p => (p, n)) (pods m).
    Definition asked_resource (a : atom) : bool := live a && asks m (fst a) NodeResourcesFit && has_id (checked m (fst a)) r.
    Definition takes_resource (a : atom) : N := weight m (fst a) r.

    Lemma in_this_node p n' x : In (p, n') on_this_node -> asked_resource (p, n') = true -> admitted (p, n') x ->
      total (weighted takes_resource on_this_node) (plus keeps x) + takes_resource (p, n') <= allocatable m n r.
    Proof.
      intros a_in is can. apply in_map_iff in a_in. destruct a_in as [p' [[= -> <-] _]].
      unfold asked_resource in is. rewrite !andb_true_iff in is. destruct is as [[_ asks_] among]. apply has_id_spec in among.
      pose proof (asked_rule _ _ NodeResourcesFit can asks_) as fit. simpl in fit, among. unfold fits in fit. rewrite forallb_forall in fit.
      specialize (fit r among). apply N.leb_le in fit. unfold weighted, on_this_node. rewrite map_map. exact fit.
    Qed.

    Theorem capacity_law :
      forall x, reachable P x -> total (weighted takes_resource (filter asked_resource on_this_node)) x
                                 <= law_bound P on_this_node takes_resource asked_resource (allocatable m n r) keeps.
    Proof.
      intros x. destruct (parts q ok) as [pods_once _]. apply asked_law.
      - apply FinFun.Injective_map_NoDup; [|assumption]. intros p p'. now intros [= ->].
      - intros [p n'] s a_in is [can _]. revert a_in is can. apply in_this_node.
      - intros a [p n'] s d_in is [turned|[_ can]]; [|right; revert d_in is can; apply in_this_node].
        unfold asked_resource in is. rewrite (dying_not_live a (p, n') turned) in is. discriminate.
    Qed.
  End Capacity.

  (** What a quota grants, of the pods that it is asked about, and of those that wait or did. *)
  Section Quota.
    Variable k : id.
    Definition takes_quota (a : atom) : N := takes m (fst a) k.
    Definition asks_quota (a : atom) : bool := asks m (fst a) ResourceQuota && has_id (quotas m (fst a)) k.
    Definition counts_quota : atom -> bool := charged_or_waits (atoms m) (fun p => takes m p k) asks_quota.

    Theorem quota_law :
      forall x, reachable P x -> total (weighted takes_quota (filter counts_quota (atoms m))) x
                                 <= law_bound P (atoms m) takes_quota counts_quota (grants m k) keeps.
    Proof.
      destruct (parts q ok) as [pods_once [nodes_once _]]. apply (waiting_law (atoms m) (fun p => takes m p k)).
      - now apply nodup_product.
      - intros a s a_in is can. unfold asks_quota in is. rewrite !andb_true_iff in is. destruct is as [asks_ among]. apply has_id_spec in among.
        pose proof (asked_rule _ _ ResourceQuota can asks_) as fit. simpl in fit, among. unfold within_quotas in fit.
        rewrite forallb_forall in fit. specialize (fit k among). now apply N.leb_le in fit.
    Qed.
  End Quota.

  (** Declared instances, wherever they are. *)
  Section Limit.
    Variable l : limit.
    Hypothesis declared : In l (limits m).
    Hypothesis anywhere : per_node l = false.
    Hypothesis types_once : NoDup (limited l).
    Definition its_atoms : list atom := list_prod (limited l) (nodes m).
    Definition asks_limit (a : atom) : bool := asks m (fst a) InstanceLimit && is_asked l (fst a).
    Definition counts_limit : atom -> bool := charged_or_waits its_atoms (fun _ => 1) asks_limit.

    Theorem limit_law :
      forall x, reachable P x -> total (weighted (fun _ => 1) (filter counts_limit its_atoms)) x
                                 <= law_bound P its_atoms (fun _ => 1) counts_limit (most l) keeps.
    Proof.
      destruct (parts q ok) as [_ [nodes_once _]]. apply (waiting_law its_atoms (fun _ => 1)).
      - now apply nodup_product.
      - intros [p n] s a_in is can. unfold asks_limit in is. rewrite !andb_true_iff in is. destruct is as [asks_ is].
        pose proof (asked_rule _ _ InstanceLimit can asks_) as fit. simpl in fit, is. unfold within_limits in fit.
        rewrite forallb_forall in fit. specialize (fit l declared). rewrite is in fit. simpl in fit. apply N.ltb_lt in fit.
        unfold instances in fit. unfold weighted. rewrite total_map. rewrite count_sum, sum_filter in fit.
        rewrite (sum_ext _ (plus keeps s)) by (intros; lia). unfold its_atoms.
        rewrite (sum_ext _ (plus keeps s)) in fit; [lia|]. intros [p' n'] _. now rewrite anywhere.
    Qed.
  End Limit.
End Laws.

(** ** Few of a group, and less than what is ruled out *)

Section Few.
  Context {A : Type} `{Eq_dec A}.

  (** Each of the atoms is refused where as many of them are as may be. *)
  Theorem few_law (P : problem A) (group : list A) (most : N) :
    NoDup group ->
    (forall a x, In a group -> hard P a x \/ (exists u, becomes P u a x) -> exists c least,
       at_most_holds c x = true /\ (forall b, In b group -> 0 < x b -> least <= value (weights c) b) /\ bound c < least * most) ->
    forall x, reachable P x -> total (weighted (fun _ => 1) group) x <= N.max most (total (weighted (fun _ => 1) group) (start P)).
  Proof.
    intros once refused.
    assert (few : forall a s, In a group -> hard P a s \/ (exists u, becomes P u a s) ->
              total (weighted (fun _ => 1) group) s + 1 <= N.max most (total (weighted (fun _ => 1) group) (start P))).
    { intros a s a_in can.
      destruct (refused a s a_in can) as [c [least [holds_ [heavy small]]]]. unfold at_most_holds in holds_. apply N.leb_le in holds_.
      pose proof (sum_of_values (weights c) group s once) as inside.
      assert (many : least * sum s group <= sum (fun b => value (weights c) b * s b) group).
      { rewrite <- sum_times. apply sum_le. intros b b_in. destruct (N.eq_0_gt_0_cases (s b)) as [->|there]; [lia|].
        specialize (heavy b b_in there). nia. }
      unfold weighted. rewrite total_map, (sum_ext _ s) by (intros; lia). nia. }
    intros x. apply law_holds; [lia| |].
    - intros a s some can. rewrite (value_weighted (fun _ => 1) group a once) in *.
      destruct (in_dec eq_dec a group) as [a_in|]; [|contradiction]. now apply (few a); [|left].
    - intros a d s turned. rewrite (value_weighted (fun _ => 1) group d once).
      destruct (in_dec eq_dec d group) as [d_in|]; [right|left; lia]. apply (few d); [assumption|right]. now exists a.
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
