(** * The rules of one pod on one node, as a guard

    Every rule is made into conditions of the four shapes; the kept pods and what
    is impossible fold into them.  The guard holds of what is there besides the
    kept pods exactly if the rules let the pod in.

    conditions/guard/guards.rs, conditions/guard/volume.rs. *)

From Coq Require Import NArith PArith List Lia Bool Btauto Permutation.
From Podreach Require Import Configuration Guard Folding Rules.
Import ListNotations.
Open Scope N_scope.

Section Compile.
  Variable m : model.
  Implicit Types (s : configuration atom) (p n : id) (a : atom).

  Notation guard := (guard atom).

  Definition room_for (ws : list (atom * N)) (have ask : N) : option guard :=
    if ask <=? have then Some (just_bound {| weights := ws; bound := have - ask |}) else None.

  Definition once (group : list atom) : list (atom * N) := map (fun a => (a, 1)) group.

  Definition capacity p n : option guard :=
    all_opt (fun r => room_for (on_node m n r) (allocatable m n r) (weight m p r)) (checked m p).

  Definition quota p : option guard :=
    all_opt (fun k => room_for (charged m k) (grants m k) (takes m p k)) (quotas m p).

  Definition declared p n : option guard :=
    all_opt (fun l => if is_asked l p then room_for (once (instances m l n)) (most l) 1 else Some no_condition)
            (limits m).

  (** All that must not be there, as one condition. *)
  Definition in_the_way p n a : bool :=
    asks m p NodePorts && holds_port m p n a
    || asks m p InterPodAffinity && (is_repelled m p n a || is_kube m && repels m p n a)
    || asks m p VolumeRestrictions && (holds_disk m p n a || holds_claim m p a).

  Definition absent p n : guard := just_bound {| weights := once (filter (in_the_way p n) (atoms m)); bound := 0 |}.

  Definition friends ts (kind : atom -> bool) p n near_of : guard :=
    just_affinity {|
      near := map (fun t => filter (near_friend m ts t n) (atoms m)) near_of;
      first_unless := if matches_itself m ts p then Some (filter kind (atoms m)) else None;
    |}.

  Definition witnesses p n : option guard :=
    let ts := likes m p in
    if is_kube m
    then if forallb (fun t => has_key m (key t) n) ts
         then Some (if is_nil ts then no_condition else friends ts (placed_friend m ts) p n ts)
         else None
    else all_opt (fun t => Some (friends [t] (friend m [t]) p n [t])) ts.

  Definition counted_domain c d : domain atom := {| members := counted m c d; base := 0 |}.

  Definition balance p n (c : constraint) : option guard :=
    match domain_of m (along c) n with
    | None => None
    | Some d =>
      let ds := eligible_domains m c in
      if negb (is_kube m || looks_at c n) then None
      else if negb (existsb (Pos.eqb d) ds) then Some no_condition
      else if N.of_nat (length ds) <? min_domains c
      then room_for (once (counted m c d)) (skew c) (joins_in m c p)
      else if N.of_nat (length ds) <=? 1 then Some no_condition
      else Some (just_spread {|
        domains := map (counted_domain c) ds;
        own := counted_domain c d;
        joins := joins_in m c p;
        max_skew := skew c |})
    end.

  Definition attachment p n d : option guard :=
    match volume_limit m n d with
    | None => Some no_condition
    | Some (lim, attached) =>
      let mine := shared m p d in
      let brought := private m p d + N.of_nat (length mine) in
      let others := filter (fun v => negb (existsb (Pos.eqb v) mine)) (volumes m d) in
      let helpers := if private m p d =? 0 then map (users m d n) mine else [] in
      if brought =? 0 then Some no_condition
      else if attached + brought <=? lim
      then Some (just_distinct {|
        each := private_on m d n;
        groups := map (users m d n) others;
        room := lim - (attached + brought);
        unless := helpers |})
      else if is_nil helpers then None
      else Some (just_affinity {| near := helpers; first_unless := None |})
    end.

  Definition attachments p n : option guard :=
    if claim_missing m p || driver_missing m p n then None else all_opt (attachment p n) (drivers m p).

  Definition if_asked p r (o : option guard) : option guard := if asks m p r then o else Some no_condition.

  (** The guard of the rules. *)
  Definition plain_guard p n : option guard :=
    if placeable m p n && negb (asks m p VolumeRestrictions && claim_missing m p)
    then both_opt (if_asked p NodeResourcesFit (capacity p n))
        (both_opt (if_asked p ResourceQuota (quota p))
        (both_opt (if_asked p InstanceLimit (declared p n))
        (both_opt (Some (absent p n))
        (both_opt (if_asked p InterPodAffinity (witnesses p n))
        (both_opt (if_asked p NodeVolumeLimits (attachments p n))
                  (if_asked p PodTopologySpread (all_opt (balance p n) (constraints m p))))))))
    else None.

  (** ** Each part says what its rule says *)

  Lemma forallb_same {B} (f g : B -> bool) l :
    (forall b, In b l -> f b = g b) -> forallb f l = forallb g l.
  Proof. induction l as [|b rest IH]; simpl; intros e; [reflexivity|]. rewrite e, IH; auto. Qed.

  Lemma holds_bound c s : holds (just_bound c) s = at_most_holds c s.
  Proof. unfold holds. simpl. now rewrite !andb_true_r. Qed.

  Lemma holds_affinity c s : holds (just_affinity c) s = affinity_holds c s.
  Proof. unfold holds. simpl. now rewrite !andb_true_r. Qed.

  Lemma holds_spread c s : holds (just_spread c) s = spread_holds c s.
  Proof. unfold holds. simpl. now rewrite !andb_true_r. Qed.

  Lemma holds_distinct c s : holds (just_distinct c) s = distinct_holds c s.
  Proof. unfold holds. simpl. now rewrite !andb_true_r. Qed.

  Lemma holds_nothing s : holds no_condition s = true.
  Proof. reflexivity. Qed.

  Lemma room_for_spec ws have ask s : holds_opt (room_for ws have ask) s = (total ws s + ask <=? have).
  Proof.
    unfold room_for. destruct (N.leb_spec ask have); simpl.
    - rewrite holds_bound. unfold at_most_holds. simpl. apply eq_true_iff_eq. rewrite !N.leb_le. lia.
    - symmetry. apply N.leb_gt. lia.
  Qed.

  Lemma total_once group s : total (once group) s = count group s.
  Proof. induction group as [|a rest IH]; simpl; [reflexivity|]. rewrite IH. lia. Qed.

  Lemma some_runs_spec kind s : some_runs m kind s = negb (is_empty (filter kind (atoms m)) s).
  Proof.
    unfold some_runs, is_empty. induction (atoms m) as [|a rest IH]; simpl; [reflexivity|].
    rewrite IH. destruct (kind a); simpl; [|reflexivity].
    apply eq_true_iff_eq. rewrite orb_true_iff, !negb_true_iff, N.ltb_lt, !N.eqb_neq. lia.
  Qed.

  Lemma none_runs_spec kind s : none_runs m kind s = is_empty (filter kind (atoms m)) s.
  Proof. unfold none_runs. rewrite some_runs_spec. apply negb_involutive. Qed.

  Lemma capacity_spec p n s : holds_opt (capacity p n) s = fits m s p n.
  Proof.
    unfold capacity, fits. rewrite holds_all_opt. apply forallb_same. intros r _. apply room_for_spec.
  Qed.

  Lemma quota_spec p s : holds_opt (quota p) s = within_quotas m s p.
  Proof.
    unfold quota, within_quotas. rewrite holds_all_opt. apply forallb_same. intros k _. apply room_for_spec.
  Qed.

  Lemma declared_spec p n s : holds_opt (declared p n) s = within_limits m s p n.
  Proof.
    unfold declared, within_limits. rewrite holds_all_opt. apply forallb_same. intros l _.
    destruct (is_asked l p); simpl; [|reflexivity].
    rewrite room_for_spec, total_once. apply eq_true_iff_eq. rewrite N.leb_le, N.ltb_lt. lia.
  Qed.

  (** No pod of either kind runs, if none of the one and none of the other does. *)
  Lemma none_runs_or f g s : none_runs m (fun a => f a || g a) s = none_runs m f s && none_runs m g s.
  Proof.
    unfold none_runs, some_runs. induction (atoms m) as [|a rest IH]; simpl; [reflexivity|].
    destruct (f a), (g a), (0 <? s a); simpl; rewrite ?andb_false_r; auto.
  Qed.

  Lemma none_runs_and (b : bool) f s : none_runs m (fun a => b && f a) s = negb b || none_runs m f s.
  Proof.
    destruct b; simpl; [reflexivity|].
    unfold none_runs, some_runs. now induction (atoms m).
  Qed.

  Lemma absent_spec p n s :
    holds (absent p n) s =
      (negb (asks m p NodePorts) || none_runs m (holds_port m p n) s)
      && (negb (asks m p InterPodAffinity) || keeps_away m s p n)
      && (negb (asks m p VolumeRestrictions)
          || (none_runs m (holds_disk m p n) s && none_runs m (holds_claim m p) s)).
  Proof.
    unfold absent. rewrite holds_bound. unfold at_most_holds. simpl. rewrite total_once.
    replace (_ <=? 0) with (none_runs m (in_the_way p n) s).
    - unfold in_the_way. rewrite !none_runs_or, !none_runs_and, !none_runs_or.
      unfold keeps_away. now rewrite none_runs_and.
    - rewrite none_runs_spec. unfold is_empty. apply eq_true_iff_eq. rewrite N.eqb_eq, N.leb_le. lia.
  Qed.

  Lemma friends_spec ts kind p n near_of s :
    holds (friends ts kind p n near_of) s =
      forallb (fun t => some_runs m (near_friend m ts t n) s) near_of
      || (matches_itself m ts p && none_runs m kind s).
  Proof.
    unfold friends. rewrite holds_affinity. unfold affinity_holds, lonely, may_be_first. simpl.
    assert (N : is_none (first_empty (map (fun t => filter (near_friend m ts t n) (atoms m)) near_of) s) =
                forallb (fun t => some_runs m (near_friend m ts t n) s) near_of).
    { rewrite first_empty_none. induction near_of as [|t rest IH]; simpl; [reflexivity|].
      now rewrite IH, some_runs_spec. }
    destruct (matches_itself m ts p); simpl.
    - rewrite none_runs_spec. destruct (is_empty _ s); simpl; [now rewrite orb_true_r|].
      now rewrite N, orb_false_r.
    - now rewrite N, orb_false_r.
  Qed.

  Lemma witnesses_spec p n s : holds_opt (witnesses p n) s = affine m s p n.
  Proof.
    unfold witnesses, affine. destruct (is_kube m).
    - unfold affine_kube. destruct (forallb _ (likes m p)); simpl; [|reflexivity].
      destruct (likes m p) as [|t ts] eqn:terms; [reflexivity|]. cbn [is_nil]. apply friends_spec.
    - unfold affine_paper. rewrite holds_all_opt. apply forallb_same. intros t _. cbn [holds_opt].
      rewrite friends_spec. simpl. now rewrite andb_true_r.
  Qed.

  Lemma least_spec l k x : l <> [] -> (x <= k + least l <-> forall y, In y l -> x <= k + y).
  Proof.
    induction l as [|y [|z rest] IH]; [congruence| |]; intros _.
    - simpl. split; [intros le y' [<-|[]]; lia|intros all; apply all; auto].
    - change (least (y :: z :: rest)) with (N.min y (least (z :: rest))).
      assert (IH' := IH ltac:(discriminate)). clear IH. split.
      + intros le y' [<-|y_in]; [lia|]. apply IH'; [lia|assumption].
      + intros all. assert (x <= k + least (z :: rest)) by (apply IH'; intros; apply all; now right).
        specialize (all y (or_introl eq_refl)). lia.
  Qed.

  (** A domain that is not eligible has no pod that counts. *)
  Lemma counted_nowhere c d s :
    existsb (Pos.eqb d) (eligible_domains m c) = false -> count (counted m c d) s = 0.
  Proof.
    intros out. apply count_zero. intros a a_in. exfalso.
    unfold counted in a_in. apply filter_In in a_in. destruct a_in as [a_in what].
    rewrite !andb_true_iff in what. destruct what as [[[[_ _] looked] _] inside].
    enough (existsb (Pos.eqb d) (eligible_domains m c) = true) by congruence.
    apply existsb_exists. exists d. split; [|apply Pos.eqb_refl].
    unfold eligible_domains. apply nodup_In, in_flat_map. exists (snd a). split.
    - apply filter_In. split; [|assumption]. destruct a. apply in_prod_iff in a_in. apply a_in.
    - unfold in_domain in inside. destruct (domain_of m (along c) (snd a)) as [d'|]; [|discriminate].
      apply Pos.eqb_eq in inside. subst. now left.
  Qed.

  Lemma joins_one c p : joins_in m c p <= 1.
  Proof. unfold joins_in. destruct (sees_unbound m (whom c) p); lia. Qed.

  Lemma balance_spec p n c s :
    1 <= skew c -> holds_opt (balance p n c) s = even m s p n c.
  Proof.
    intros positive. unfold balance, even. destruct (domain_of m (along c) n) as [d|]; [|reflexivity].
    destruct (is_kube m || looks_at c n); simpl; [|reflexivity].
    pose proof (joins_one c p) as one.
    destruct (existsb (Pos.eqb d) (eligible_domains m c)) eqn:inside; simpl.
    2: { rewrite (counted_nowhere c d s inside). symmetry. apply N.leb_le. lia. }
    unfold emptiest. set (ds := eligible_domains m c) in *.
    destruct (N.ltb_spec (N.of_nat (length ds)) (min_domains c)).
    { rewrite room_for_spec, total_once. destruct (N.leb_spec (min_domains c) (N.of_nat (length ds))); [lia|].
      now rewrite N.add_0_r. }
    destruct (N.leb_spec (min_domains c) (N.of_nat (length ds))); [|lia].
    assert (d_in : In d ds).
    { apply existsb_exists in inside. destruct inside as [d' [d_in e]]. apply Pos.eqb_eq in e. now subst. }
    assert (some : map (fun d => count (counted m c d) s) ds <> []) by (destruct ds; [contradiction|discriminate]).
    destruct (N.leb_spec (N.of_nat (length ds)) 1).
    - symmetry. apply N.leb_le, least_spec; [assumption|].
      destruct ds as [|d' [|d'' rest]]; simpl in *; [contradiction| |lia].
      intros y [<-|[]]. destruct d_in as [->|[]]. lia.
    - cbn [holds_opt]. rewrite holds_spread. apply eq_true_iff_eq. rewrite N.leb_le, least_spec by assumption.
      unfold spread_holds, behind. rewrite is_none_true. simpl. split.
      + intros none y y_in. apply in_map_iff in y_in. destruct y_in as [e [<- e_in]].
        apply (in_map (counted_domain c)) in e_in. apply (find_none _ _ none) in e_in.
        apply N.ltb_ge in e_in. unfold size in e_in. simpl in e_in. lia.
      + intros all. destruct (find _ _) as [e|] eqn:found; [|reflexivity].
        apply find_some in found. destruct found as [e_in far]. apply in_map_iff in e_in.
        destruct e_in as [e' [<- e_in]]. apply N.ltb_lt in far. unfold size in far. simpl in far.
        specialize (all _ (in_map (fun d => count (counted m c d) s) _ _ e_in)). simpl in all. lia.
  Qed.

  (** *** Volumes: what is in use of them, and what is not *)

  Lemma in_use_app d n us vs s : in_use m d n (us ++ vs) s = in_use m d n us s + in_use m d n vs s.
  Proof. unfold in_use. induction us as [|u rest IH]; simpl; [reflexivity|]. rewrite IH. lia. Qed.

  Lemma in_use_permutation d n us vs s : Permutation us vs -> in_use m d n us s = in_use m d n vs s.
  Proof.
    unfold in_use. intros p. induction p; simpl; try lia.
  Qed.

  Lemma in_use_most d n vs s : in_use m d n vs s <= N.of_nat (length vs).
  Proof.
    unfold in_use. induction vs as [|v rest IH]; [simpl; lia|].
    cbn [map present_groups length]. destruct (is_empty _ s); lia.
  Qed.

  Lemma in_use_all d n vs s :
    fresh m d n vs s = 0 <-> is_none (first_empty (map (users m d n) vs) s) = true.
  Proof.
    unfold fresh. rewrite first_empty_none.
    induction vs as [|v rest IH]; [simpl; intuition|].
    pose proof (in_use_most d n rest s) as le. unfold in_use in *.
    cbn [map present_groups length forallb]. destruct (is_empty (users m d n v) s); simpl negb; simpl andb.
    - split; [lia|discriminate].
    - rewrite <- IH. lia.
  Qed.

  Lemma is_nil_map {B C} (f : B -> C) l : is_nil (map f l) = (N.of_nat (length l) =? 0).
  Proof. now destruct l. Qed.

  Lemma mine_and_others mine all :
    NoDup all -> NoDup mine -> incl mine all ->
    Permutation all (filter (fun v => negb (existsb (Pos.eqb v) mine)) all ++ mine).
  Proof.
    intros once_all once_mine known. apply NoDup_Permutation; [assumption| |].
    - assert (apart : forall v, In v (filter (fun v => negb (existsb (Pos.eqb v) mine)) all) -> ~ In v mine).
      { intros v v_in own. apply filter_In in v_in. destruct v_in as [_ out].
        apply negb_true_iff in out. enough (existsb (Pos.eqb v) mine = true) by congruence.
        apply existsb_exists. exists v. split; [assumption|apply Pos.eqb_refl]. }
      revert apart. generalize (NoDup_filter (fun v => negb (existsb (Pos.eqb v) mine)) once_all).
      generalize (filter (fun v => negb (existsb (Pos.eqb v) mine)) all) as others.
      induction others as [|v rest IH]; simpl; intros once_others apart; [assumption|].
      inversion once_others; subst. constructor.
      + intros v_in. apply in_app_iff in v_in. destruct v_in as [|own]; [contradiction|].
        now apply (apart v (or_introl eq_refl)).
      + apply IH; auto.
    - intros v. rewrite in_app_iff, filter_In. split.
      + intros v_in. destruct (existsb (Pos.eqb v) mine) eqn:own.
        * right. apply existsb_exists in own. destruct own as [u [u_in e]]. apply Pos.eqb_eq in e. now subst.
        * left. auto.
      + intros [[v_in _]|own]; auto.
  Qed.

  Lemma attachment_spec p n d s : well_formed m p -> In d (drivers m p) ->
    holds_opt (attachment p n d) s = attachable m s p n d.
  Proof.
    intros W d_in. unfold attachment, attachable. destruct (volume_limit m n d) as [[lim attached]|]; [|reflexivity].
    set (mine := shared m p d).
    set (others := filter (fun v => negb (existsb (Pos.eqb v) mine)) (volumes m d)).
    assert (split : in_use m d n (volumes m d) s = in_use m d n others s + in_use m d n mine s).
    { rewrite <- in_use_app. apply in_use_permutation. apply mine_and_others.
      - now apply (volumes_once _ _ W).
      - now apply (shared_once _ _ W).
      - now apply (shared_known _ _ W). }
    pose proof (in_use_most d n mine s) as le. pose proof (in_use_all d n mine s) as all.
    unfold fresh in *. remember (N.of_nat (length mine)) as size eqn:size_is in *. set (own := private m p d).
    destruct (N.eqb_spec (own + size) 0).
    { simpl. symmetry. apply orb_true_iff. left. apply N.eqb_eq. lia. }
    assert (same_sum : forall used, used + in_use m d n (volumes m d) s + attached + (size - in_use m d n mine s + own)
                       = used + in_use m d n others s + (attached + (own + size))) by (intros; lia).
    rewrite same_sum. clear same_sum.
    assert (helped : forall helpers, helpers = (if own =? 0 then map (users m d n) mine else []) ->
              (size - in_use m d n mine s + own =? 0)
              = negb (is_nil helpers) && is_none (first_empty helpers s)).
    { intros helpers ->. apply eq_true_iff_eq. rewrite N.eqb_eq, andb_true_iff, negb_true_iff.
      destruct (N.eqb_spec own 0); simpl.
      - rewrite <- all, is_nil_map, N.eqb_neq. rewrite <- size_is. lia.
      - split; [lia|intros [? _]; discriminate]. }
    set (helpers := if own =? 0 then map (users m d n) mine else []) in *.
    rewrite (helped helpers eq_refl). clear helped.
    destruct (N.leb_spec (attached + (own + size)) lim).
    - cbn [holds_opt]. rewrite holds_distinct. unfold distinct_holds, distinct_fits. simpl.
      rewrite orb_comm. f_equal. apply eq_true_iff_eq. rewrite !N.leb_le. unfold in_use. lia.
    - replace (_ <=? lim) with false by (symmetry; apply N.leb_gt; lia). rewrite orb_false_r.
      destruct (is_nil helpers); simpl; [reflexivity|].
      rewrite holds_affinity. reflexivity.
  Qed.

  Lemma attachments_spec p n s : well_formed m p -> holds_opt (attachments p n) s = volumes_fit m s p n.
  Proof.
    intros W. unfold attachments, volumes_fit. destruct (claim_missing m p), (driver_missing m p n); simpl; try reflexivity.
    rewrite holds_all_opt. apply forallb_same. intros d d_in. now apply attachment_spec.
  Qed.

  Lemma if_asked_spec p r o s b :
    holds_opt o s = b -> holds_opt (if_asked p r o) s = negb (asks m p r) || b.
  Proof. intros <-. unfold if_asked. now destruct (asks m p r). Qed.

  (** The guard is the rules. *)
  Theorem plain_guard_spec p n s : well_formed m p -> holds_opt (plain_guard p n) s = lets_in m s p n.
  Proof.
    intros W. unfold plain_guard, lets_in. destruct (placeable m p n); [|reflexivity].
    unfold every_rule. cbn [andb forallb obeys]. rewrite andb_true_r.
    assert (spread : holds_opt (all_opt (balance p n) (constraints m p)) s = forallb (even m s p n) (constraints m p)).
    { rewrite holds_all_opt. apply forallb_same. intros c c_in. apply balance_spec. now apply (skew_positive _ _ W). }
    pose proof (absent_spec p n s) as away.
    destruct (asks m p VolumeRestrictions && claim_missing m p) eqn:gone; cbn [negb].
    - apply andb_true_iff in gone. destruct gone as [-> ->]. simpl. now rewrite !andb_false_r.
    - rewrite !holds_both_opt.
      rewrite (if_asked_spec _ _ _ _ _ (capacity_spec p n s)), (if_asked_spec _ _ _ _ _ (quota_spec p s)),
        (if_asked_spec _ _ _ _ _ (declared_spec p n s)), (if_asked_spec _ _ _ _ _ (witnesses_spec p n s)),
        (if_asked_spec _ _ _ _ _ (attachments_spec p n s W)), (if_asked_spec _ _ _ _ _ spread).
      cbn [holds_opt]. rewrite away.
      destruct (asks m p VolumeRestrictions); cbn [andb orb negb] in *; [rewrite gone|]; btauto.
  Qed.

  (** The guard that engines and the checker work with: over what can be there
      besides the kept pods. *)
  Definition guard_besides (k : configuration atom) (possible : atom -> bool) p n : option guard :=
    match plain_guard p n with
    | Some g => option_map (only_possible possible) (fold_kept k g)
    | None => None
    end.

  Theorem guards_are_rules k possible p n x :
    well_formed m p -> supported possible x ->
    holds_opt (guard_besides k possible p n) x = lets_in m (plus k x) p n.
  Proof.
    intros W only. rewrite <- (plain_guard_spec p n _ W). unfold guard_besides.
    destruct (plain_guard p n) as [g|]; [|reflexivity]. simpl. rewrite <- fold_kept_spec.
    destruct (fold_kept k g) as [h|]; [|reflexivity]. simpl. now apply only_possible_spec.
  Qed.
End Compile.
