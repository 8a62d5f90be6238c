(** * No rule needs an empty node

    A cluster with some of the nodes of another, among them all on which pods run, lets in
    what the other does: sums and witnesses are the same, and of the domains that topology
    spread looks at only such are gone in which nothing was counted, so that the
    emptiest had nothing.  Hence nodes that come and go may be taken to be there exactly
    while pods are on them (Pools.v), by the rules of either semantics.

    tables/elastic.rs, rule/spread.rs; docs/theory.md, "Nodes that come and go". *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Lists Configuration Sums Problem Guard Rules Pools.
Import ListNotations.
Open Scope N_scope.

(** The same tables, about some nodes. *)
Definition with_nodes (m : model) (ns : list id) : model := {|
  rules := rules m; pods := pods m; nodes := ns; placeable := placeable m; asks := asks m;
  resources := resources m; listed := listed m; number_of_pods := number_of_pods m; request := request m;
  allocatable := allocatable m; domain_of := domain_of m; sees := sees m; sees_unbound := sees_unbound m;
  notices := notices m; likes := likes m; dislikes := dislikes m; constraints := constraints m;
  is_counted := is_counted m; ports_conflict := ports_conflict m; disks_conflict := disks_conflict m;
  claims_conflict := claims_conflict m; claim_missing := claim_missing m; quotas := quotas m; takes := takes m;
  grants := grants m; limits := limits m; drivers := drivers m;
  driver_missing := driver_missing m; volume_limit := volume_limit m; volumes := volumes m;
  shared := shared m; private := private m;
|}.

Section Empty.
  Variable m : model.
  Variable keep : id -> bool.
  Variable s : configuration atom.
  (** Pods run on nodes that are kept. *)
  Hypothesis kept_nodes : forall p n, In n (nodes m) -> 0 < s (p, n) -> keep n = true.

  Notation m' := (with_nodes m (filter keep (nodes m))).

  (** Sums over atoms are the same. *)
  Lemma sum_kept (h : atom -> N) types : (forall a, s a = 0 -> h a = 0) ->
    sum h (list_prod types (filter keep (nodes m))) = sum h (list_prod types (nodes m)).
  Proof.
    intros idle. induction types as [|p rest IH]; simpl; [reflexivity|]. rewrite !sum_app, IH, !sum_map. f_equal.
    rewrite sum_filter. apply sum_ext. intros n n_in. destruct (keep n) eqn:is; [reflexivity|]. symmetry. apply idle.
    destruct (N.eq_0_gt_0_cases (s (p, n))) as [|some]; [assumption|]. rewrite (kept_nodes p n n_in some) in is. discriminate.
  Qed.

  Lemma count_kept (is : atom -> bool) types :
    count (filter is (list_prod types (filter keep (nodes m)))) s = count (filter is (list_prod types (nodes m))) s.
  Proof. rewrite !count_sum, !sum_filter. apply sum_kept. intros a zero. destruct (is a); [assumption|reflexivity]. Qed.

  Lemma some_runs_kept is : some_runs m' is s = some_runs m is s.
  Proof.
    unfold some_runs, atoms. apply eq_true_iff_eq. rewrite !existsb_exists. split; intros [[p n] [a_in ok]]; exists (p, n).
    - apply in_prod_iff in a_in. simpl in a_in. rewrite filter_In in a_in. split; [apply in_prod_iff; tauto|assumption].
    - split; [|assumption]. apply in_prod_iff in a_in. apply in_prod_iff. simpl. rewrite filter_In. split; [tauto|]. split; [tauto|].
      apply andb_true_iff in ok. destruct ok as [_ some]. apply N.ltb_lt in some. now apply (kept_nodes p n).
  Qed.

  Lemma none_runs_kept is : none_runs m' is s = none_runs m is s.
  Proof. unfold none_runs. now rewrite some_runs_kept. Qed.

  Lemma counted_kept c d : count (counted m' c d) s = count (counted m c d) s.
  Proof. unfold counted. apply count_kept. Qed.

  (** ** Topology spread *)

  Lemma least_low l x : In x l -> least l <= x.
  Proof.
    induction l as [|y rest IH]; [contradiction|]. intros [->|x_in].
    - destruct rest; [reflexivity|]. cbn [least]. apply N.le_min_l.
    - specialize (IH x_in). destruct rest as [|z rest]; [contradiction|]. cbn [least] in *. etransitivity; [apply N.le_min_r|exact IH].
  Qed.

  Lemma least_in l : l <> [] -> In (least l) l.
  Proof.
    induction l as [|y rest IH]; [congruence|]. intros _. destruct rest as [|z rest]; [now left|].
    change (least (y :: z :: rest)) with (N.min y (least (z :: rest))).
    destruct (N.min_spec y (least (z :: rest))) as [[_ ->]|[_ ->]]; [now left|right; apply IH; discriminate].
  Qed.

  Lemma domain_in ns c d : In d (eligible_domains (with_nodes m ns) c) <->
    exists n, In n ns /\ looks_at c n = true /\ domain_of m (along c) n = Some d.
  Proof.
    unfold eligible_domains. rewrite nodup_In, in_flat_map. simpl. split.
    - intros [n [n_in d_in]]. apply filter_In in n_in. exists n. destruct (domain_of m (along c) n) as [e|]; [|contradiction].
      destruct d_in as [->|[]]. tauto.
    - intros [n [n_in [looks is]]]. exists n. rewrite filter_In, is. split; [tauto|now left].
  Qed.

  (** A domain that is gone counted nothing. *)
  Lemma gone_is_empty c d : In d (eligible_domains m c) -> ~ In d (eligible_domains m' c) -> count (counted m c d) s = 0.
  Proof.
    intros _ out. apply count_zero. intros [p n] a_in. unfold counted in a_in. apply filter_In in a_in. destruct a_in as [a_in ok].
    apply in_prod_iff in a_in. rewrite !andb_true_iff in ok. destruct ok as [[[_ looks] _] within_]. simpl in *.
    destruct (N.eq_0_gt_0_cases (s (p, n))) as [|some]; [assumption|]. exfalso. apply out. apply domain_in. exists n.
    rewrite filter_In. unfold in_domain in within_. destruct (domain_of m (along c) n) as [e|] eqn:is; [|discriminate].
    apply Pos.eqb_eq in within_. subst e. destruct a_in as [_ n_in]. repeat split; auto. now apply (kept_nodes p n).
  Qed.

  Lemma emptiest_kept c : emptiest m c s <= emptiest m' c s.
  Proof.
    assert (sub : incl (eligible_domains m' c) (eligible_domains m c)).
    { intros d d_in. apply domain_in in d_in. destruct d_in as [n [n_in rest]]. apply filter_In in n_in.
      apply (domain_in (nodes m)). exists n. tauto. }
    assert (once : NoDup (eligible_domains m' c)) by apply NoDup_nodup.
    assert (nothing_if_gone : forall d, In d (eligible_domains m c) -> ~ In d (eligible_domains m' c) ->
              least (map (fun d => count (counted m c d) s) (eligible_domains m c)) = 0).
    { intros d d_in out. pose proof (gone_is_empty c d d_in out) as zero.
      pose proof (least_low (map (fun d => count (counted m c d) s) (eligible_domains m c)) 0) as low. rewrite <- N.le_0_r. apply low.
      apply in_map_iff. exists d. split; [exact zero|exact d_in]. }
    assert (gone_or_all : (exists d, In d (eligible_domains m c) /\ ~ In d (eligible_domains m' c)) \/ incl (eligible_domains m c) (eligible_domains m' c)).
    { clear. induction (eligible_domains m c) as [|d rest IH]; [right; intros d []|].
      destruct (in_dec Pos.eq_dec d (eligible_domains m' c)) as [there|out]; [|left; exists d; split; [now left|assumption]].
      destruct IH as [[e [e_in out]]|all]; [left; exists e; split; [now right|assumption]|right]. intros e [<-|e_in]; auto. }
    unfold emptiest. change (min_domains c <=? _) with (min_domains c <=? N.of_nat (length (eligible_domains m' c))) at 2.
    destruct gone_or_all as [[d [d_in out]]|all].
    - rewrite (nothing_if_gone d d_in out). destruct (_ <=? _); lia.
    - assert (len : length (eligible_domains m' c) = length (eligible_domains m c)).
      { assert (length (eligible_domains m' c) <= length (eligible_domains m c))%nat by (apply NoDup_incl_length; assumption).
        assert (length (eligible_domains m c) <= length (eligible_domains m' c))%nat by (apply NoDup_incl_length; [apply NoDup_nodup|assumption]). lia. }
      rewrite len. destruct (_ <=? _); [|lia].
      rewrite (map_ext (fun d => count (counted m' c d) s) (fun d => count (counted m c d) s)) by (intros d; apply counted_kept).
      destruct (eligible_domains m' c) as [|d ds] eqn:is.
      + destruct (eligible_domains m c); [simpl; lia|discriminate].
      + pose proof (least_in (map (fun d => count (counted m c d) s) (d :: ds)) ltac:(discriminate)) as in_.
        apply least_low. apply in_map_iff in in_. destruct in_ as [e [<- e_in]]. apply in_map_iff. exists e. split; [reflexivity|]. now apply sub.
  Qed.

  Lemma even_kept p n c : even m s p n c = true -> even m' s p n c = true.
  Proof.
    unfold even. simpl domain_of. destruct (domain_of m (along c) n) as [d|]; [|discriminate].
    change (is_kube m') with (is_kube m). change (joins_in m' c p) with (joins_in m c p).
    rewrite !andb_true_iff, !N.leb_le, counted_kept. intros [looks fits_]. split; [assumption|]. pose proof (emptiest_kept c). lia.
  Qed.

  (** ** All rules *)

  Theorem lets_in_kept p n : lets_in m s p n = true -> lets_in m' s p n = true.
  Proof.
    unfold lets_in. rewrite !andb_true_iff. intros [placed ok]. split; [exact placed|]. rewrite forallb_forall in *. intros r r_in.
    specialize (ok r r_in). rewrite orb_true_iff, negb_true_iff in *. simpl asks. destruct ok as [free|ok]; [now left|right].
    destruct r; simpl in *.
    - now rewrite none_runs_kept.
    - exact ok.
    - rewrite !none_runs_kept. exact ok.
    - exact ok.
    - rewrite forallb_forall in *. intros c c_in. now apply even_kept, ok.
    - apply andb_true_iff in ok. destruct ok as [affine_ away]. apply andb_true_iff. split.
      + unfold affine, affine_kube, affine_paper in *. change (is_kube m') with (is_kube m). simpl likes. destruct (is_kube m).
        * rewrite none_runs_kept. apply andb_true_iff in affine_. destruct affine_ as [keys ok]. apply andb_true_iff. split; [exact keys|].
          apply orb_true_iff in ok. apply orb_true_iff. destruct ok as [near|first]; [left|right; exact first].
          rewrite forallb_forall in *. intros t t_in. rewrite some_runs_kept. now apply near.
        * rewrite forallb_forall in *. intros t t_in. rewrite some_runs_kept, none_runs_kept. now apply affine_.
      + unfold keeps_away in *. rewrite !none_runs_kept. exact away.
    - unfold within_quotas in *. simpl quotas. rewrite forallb_forall in *. intros k k_in. specialize (ok k k_in).
      unfold charged in *. rewrite total_map in *. simpl takes. simpl grants. unfold atoms in *. simpl.
      rewrite (sum_kept (fun a => takes m (fst a) k * s a)); [exact ok|]. intros a ->. lia.
    - unfold within_limits in *. simpl limits. rewrite forallb_forall in *. intros l l_in. specialize (ok l l_in).
      unfold instances in *. simpl nodes.
      rewrite (filter_ext _ (fun a : atom => negb (per_node l) || Pos.eqb (snd a) n)) in * by (now intros []).
      rewrite count_kept. exact ok.
  Qed.
End Empty.

(** ** Clusters whose nodes come and go *)

Section Cluster.
  Variable m : model.
  Variable comes_and_goes : id -> bool.
  Variables (stays begins : configuration atom).
  (** What an atom is while it is being deleted, and what its deployment consumes. *)
  Variables (dies : atom -> atom -> Prop) (consumed : atom -> option atom).

  (** The rules, about the nodes that are there. *)
  Definition allows_among (a : atom) (s : configuration atom) (up : id -> Prop) : Prop :=
    exists ns, NoDup ns /\ (forall n, In n ns <-> up n) /\ lets_in (with_nodes m ns) s (fst a) (snd a) = true.

  Definition arrives_among (a : atom) (s : configuration atom) (up : id -> Prop) : Prop := consumed a = None /\ allows_among a s up.
  Definition changes_among (a d : atom) (s : configuration atom) (up : id -> Prop) : Prop :=
    dies a d \/ consumed d = Some a /\ allows_among d s up.

  Hypothesis occupied_dec : forall s n, {occupied (A := atom) snd s n} + {~ occupied (A := atom) snd s n}.

  Lemma allows_among_fewer (a : atom) s (up : id -> Prop) : (forall n, needed (A := atom) snd comes_and_goes s n -> up n) -> up (snd a) ->
    allows_among a s up -> allows_among a s (needed_for (A := atom) snd comes_and_goes a s).
  Proof.
    intros there on [ns [once [is can]]].
    pose (keep n := Pos.eqb n (snd a) || negb (comes_and_goes n) || if occupied_dec s n then true else false).
    exists (filter keep ns). split; [now apply NoDup_filter|]. split.
    - intros n. rewrite filter_In, is. unfold keep, needed_for, needed. split.
      + intros [_ kept_]. rewrite !orb_true_iff, negb_true_iff, Pos.eqb_eq in kept_.
        destruct (occupied_dec s n); intuition discriminate.
      + intros wanted. split.
        * destruct wanted as [->|wanted]; [exact on|now apply there].
        * rewrite !orb_true_iff, negb_true_iff, Pos.eqb_eq. destruct (occupied_dec s n); tauto.
    - change (with_nodes m (filter keep ns)) with (with_nodes (with_nodes m ns) (filter keep (nodes (with_nodes m ns)))).
      apply lets_in_kept; [|exact can]. intros p n _ some. unfold keep. destruct (occupied_dec s n) as [|out]; [apply orb_true_r|].
      exfalso. apply out. exists (p, n). split; [exact some|reflexivity].
  Qed.

  (** The same pods are reached, whether nodes come and go by themselves or with their pods, by the rules of either semantics. *)
  Theorem nodes_by_their_pods s :
    (exists up, happens (A := atom) snd comes_and_goes arrives_among changes_among stays begins s up)
    <-> reachable (by_pods (A := atom) snd comes_and_goes arrives_among changes_among stays begins) s.
  Proof.
    apply same_pods_either_way; auto.
    - intros a t up there on [free can]. split; [exact free|]. now apply (allows_among_fewer a t up).
    - intros a d t up there on [turned|[uses can]]; [now left|right]. split; [exact uses|]. now apply (allows_among_fewer d t up).
  Qed.
End Cluster.
