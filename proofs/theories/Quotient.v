(** * Types that nothing but their names tells apart

    Types that every table treats alike need not be told apart: the pods of all of them may be
    given to one, their representative, and the rules let in the same ([lets_in_merged]).
    A goal speaks of types, so those that it names stay apart.  A goal of one pod that is yet
    to come is asked of another type of its kind, which no pod has at first: what happened
    before it came does not depend on which it is.  And a pod that is being deleted may be
    left out where it can help nobody.

    quotient.rs; docs/theory.md, "Copies and look-alikes". *)

From Coq Require Import NArith PArith List Lia Bool Permutation.
From Podreach Require Import Lists Configuration Sums Problem Guard Rules Search Abstraction Classes Cluster Exchange Slice Helping.
Import ListNotations.
Open Scope N_scope.

(** No table tells two pod types apart, neither one that comes nor one that runs. *)
Record treats_alike (m : model) (p p' : id) : Prop := {
  alike_filters : forall n, placeable m p' n = placeable m p n;
  alike_asks : forall r, asks m p' r = asks m p r;
  alike_listed : listed m p' = listed m p;
  alike_request : forall r, request m p' r = request m p r;
  alike_sees : forall x n, sees m x p' n = sees m x p n;
  alike_unbound : forall x, sees_unbound m x p' = sees_unbound m x p;
  alike_notices : forall x, notices m x p' = notices m x p;
  alike_likes : likes m p' = likes m p;
  alike_dislikes : dislikes m p' = dislikes m p;
  alike_constraints : constraints m p' = constraints m p;
  alike_counted : is_counted m p' = is_counted m p;
  alike_ports : forall q, ports_conflict m p' q = ports_conflict m p q;
  alike_ports' : forall q, ports_conflict m q p' = ports_conflict m q p;
  alike_disks : forall q, disks_conflict m p' q = disks_conflict m p q;
  alike_disks' : forall q, disks_conflict m q p' = disks_conflict m q p;
  alike_claims : forall q, claims_conflict m p' q = claims_conflict m p q;
  alike_claims' : forall q, claims_conflict m q p' = claims_conflict m q p;
  alike_missing : claim_missing m p' = claim_missing m p;
  alike_quotas : quotas m p' = quotas m p;
  alike_takes : forall k, takes m p' k = takes m p k;
  alike_drivers : drivers m p' = drivers m p;
  alike_driver_missing : forall n, driver_missing m p' n = driver_missing m p n;
  alike_shared : forall d, shared m p' d = shared m p d;
  alike_private : forall d, private m p' d = private m p d;
  alike_asked : forall l, In l (limits m) -> is_asked l p' = is_asked l p;
  alike_limited : forall l, In l (limits m) -> has_id (limited l) p' = has_id (limited l) p;
}.

(** The tables of a cluster in which some types take part alone. *)
Definition limit_among (roster : list id) (l : limit) : limit :=
  {| limited := filter (has_id roster) (limited l); most := most l; per_node := per_node l; is_asked := is_asked l |}.

Definition among (m : model) (roster : list id) : model := {|
  rules := rules m; pods := roster; nodes := nodes m; placeable := placeable m; asks := asks m;
  resources := resources m; listed := listed m; number_of_pods := number_of_pods m; request := request m;
  allocatable := allocatable m; domain_of := domain_of m; sees := sees m; sees_unbound := sees_unbound m;
  notices := notices m; likes := likes m; dislikes := dislikes m; constraints := constraints m;
  is_counted := is_counted m; ports_conflict := ports_conflict m; disks_conflict := disks_conflict m;
  claims_conflict := claims_conflict m; claim_missing := claim_missing m; quotas := quotas m; takes := takes m;
  grants := grants m; limits := map (limit_among roster) (limits m); drivers := drivers m;
  driver_missing := driver_missing m; volume_limit := volume_limit m; volumes := volumes m;
  shared := shared m; private := private m;
|}.

(** ** Sums over atoms *)

Lemma total_on_node (types nodes_ : list id) (w : id -> N) n (s : configuration atom) : NoDup nodes_ -> In n nodes_ ->
  total (map (fun q => ((q, n), w q)) types) s
  = sum (fun a : atom => (if Pos.eqb (snd a) n then w (fst a) else 0) * s a) (list_prod types nodes_).
Proof.
  intros once n_in. induction types as [|q rest IH]; simpl; [reflexivity|]. rewrite sum_app, <- IH, sum_map. f_equal. simpl.
  rewrite (sum_ext _ (fun k => if Pos.eq_dec n k then w q * s (q, k) else 0)).
  - rewrite (sum_one Pos.eq_dec (fun k => w q * s (q, k)) nodes_ n once). now destruct (in_dec Pos.eq_dec n nodes_).
  - intros k _. destruct (Pos.eq_dec n k) as [<-|other]; [now rewrite Pos.eqb_refl|].
    destruct (Pos.eqb_spec k n); [congruence|lia].
Qed.

Lemma some_runs_count m is (s : configuration atom) : some_runs m is s = negb (count (filter is (atoms m)) s =? 0).
Proof.
  unfold some_runs. induction (atoms m) as [|a rest IH]; simpl; [reflexivity|]. rewrite IH.
  destruct (is a); simpl; [|reflexivity].
  destruct (N.ltb_spec 0 (s a)), (N.eqb_spec (count (filter is rest) s) 0), (N.eqb_spec (s a + count (filter is rest) s) 0); simpl; try reflexivity; lia.
Qed.

Lemma users_total m d n v (s : configuration atom) :
  count (users m d n v) s = total (map (fun q => ((q, n), if existsb (Pos.eqb v) (shared m q d) then 1 else 0)) (pods m)) s.
Proof.
  unfold users. induction (pods m) as [|q rest IH]; simpl; [reflexivity|].
  destruct (existsb (Pos.eqb v) (shared m q d)); simpl; rewrite IH; lia.
Qed.

(** ** Merging *)

Section Merging.
  Variable m : model.
  Variable roster : list id.
  (** The type that has the pods of a type. *)
  Variable rep : id -> id.
  Hypothesis pods_once : NoDup (pods m).
  Hypothesis nodes_once : NoDup (nodes m).
  Hypothesis roster_once : NoDup roster.
  Hypothesis limits_once : forall l, In l (limits m) -> NoDup (limited l) /\ incl (limited l) (pods m).

  Notation m' := (among m roster).
  Definition merged_atom (a : atom) : atom := (rep (fst a), snd a).
  Notation f := merged_atom.
  Definition merged (s : configuration atom) : configuration atom := abs f (atoms m) s.

  (** A type has one that stands for it. *)
  Definition stands p : Prop := In (rep p) roster /\ treats_alike m p (rep p).

  Variable s : configuration atom.
  Hypothesis all_stood_for : forall p n, In p (pods m) -> 0 < s (p, n) -> stands p.

  Lemma stood_for a : In a (atoms m) -> s a = 0 \/ In (f a) (atoms m') /\ stands (fst a).
  Proof.
    destruct a as [p n]. intros a_in. apply in_prod_iff in a_in. destruct a_in as [p_in n_in].
    destruct (N.eq_dec (s (p, n)) 0) as [|some]; [now left|right].
    assert (stood : stands p) by (apply (all_stood_for p n); [assumption|lia]).
    split; [apply in_prod_iff; split; [apply stood|exact n_in]|exact stood].
  Qed.

  Lemma atoms_once (types : list id) : NoDup types -> NoDup (list_prod types (nodes m)).
  Proof. intros once. now apply nodup_product. Qed.

  Lemma sum_merged (h h' : atom -> N) : (forall a, In a (atoms m) -> stands (fst a) -> h a = h' (f a)) ->
    sum (fun c => h' c * merged s c) (atoms m') = sum (fun a => h a * s a) (atoms m).
  Proof.
    intros same_. rewrite <- total_map. unfold merged.
    rewrite (total_by_classes f (atoms m) h' (atoms m') s (atoms_once roster roster_once)).
    apply sum_ext. intros a a_in. destruct (stood_for a a_in) as [->|[there stood]]; [lia|].
    destruct (in_dec eq_dec (f a) (atoms m')); [|contradiction]. now rewrite (same_ a a_in stood).
  Qed.

  Lemma count_merged (is is' : atom -> bool) : (forall a, In a (atoms m) -> stands (fst a) -> is a = is' (f a)) ->
    count (filter is' (atoms m')) (merged s) = count (filter is (atoms m)) s.
  Proof.
    intros same_. rewrite !count_sum, !sum_filter.
    rewrite (sum_ext (fun a => if is' a then merged s a else 0) (fun a => (if is' a then 1 else 0) * merged s a)) by (intros a _; destruct (is' a); lia).
    rewrite (sum_ext (fun a => if is a then s a else 0) (fun a => (if is a then 1 else 0) * s a)) by (intros a _; destruct (is a); lia).
    apply sum_merged. intros a a_in stood. now rewrite (same_ a a_in stood).
  Qed.

  Lemma some_runs_merged is is' : (forall a, In a (atoms m) -> stands (fst a) -> is a = is' (f a)) ->
    some_runs m' is' (merged s) = some_runs m is s.
  Proof. intros same_. rewrite !some_runs_count. now rewrite (count_merged is is'). Qed.

  Lemma none_runs_merged is is' : (forall a, In a (atoms m) -> stands (fst a) -> is a = is' (f a)) ->
    none_runs m' is' (merged s) = none_runs m is s.
  Proof. intros same_. unfold none_runs. now rewrite (some_runs_merged is is'). Qed.

  (** A type that comes, and one that comes instead. *)
  Variables (p p' n : id).
  Hypothesis P : treats_alike m p p'.
  Hypothesis n_in : In n (nodes m).

  Lemma total_on_merged (w w' : id -> N) : (forall q, stands q -> w q = w' (rep q)) ->
    total (map (fun q => ((q, n), w' q)) roster) (merged s) = total (map (fun q => ((q, n), w q)) (pods m)) s.
  Proof.
    intros same_. rewrite !(total_on_node _ (nodes m)) by assumption.
    apply sum_merged. intros a _ stood. simpl. now rewrite (same_ _ stood).
  Qed.

  Lemma fits_merged : fits m' (merged s) p' n = fits m s p n.
  Proof.
    assert (same_ : forall q q', treats_alike m q q' -> forall r, weight m' q' r = weight m q r).
    { intros q q' Q r. unfold weight. simpl. now rewrite (alike_request _ _ _ Q). }
    assert (listed_ : checked m' p' = checked m p).
    { unfold checked. simpl. now rewrite (alike_listed _ _ _ P). }
    unfold fits. rewrite listed_. apply forallb_same. intros r _. rewrite (same_ p p' P). f_equal. f_equal.
    apply (total_on_merged (fun q => weight m q r) (fun q => weight m' q r)). intros q [_ Q]. symmetry. now apply same_.
  Qed.

  Lemma quotas_merged : within_quotas m' (merged s) p' = within_quotas m s p.
  Proof.
    unfold within_quotas. simpl. rewrite (alike_quotas _ _ _ P). apply forallb_same. intros k _. unfold charged. rewrite !total_map. simpl.
    rewrite (alike_takes _ _ _ P), (sum_merged (fun a => takes m (fst a) k) (fun a => takes m (fst a) k)); [reflexivity|].
    intros a _ [_ Q]. simpl. now rewrite (alike_takes _ _ _ Q).
  Qed.

  (** Declared instances, as atoms that are listed. *)
  Lemma instances_count (types limited_ : list id) (is : atom -> bool) (x : configuration atom) :
    NoDup types -> NoDup limited_ -> incl limited_ types ->
    count (filter is (list_prod limited_ (nodes m))) x
    = count (filter (fun a => has_id limited_ (fst a) && is a) (list_prod types (nodes m))) x.
  Proof.
    intros once once' sub. rewrite !count_sum. apply sum_permutation. apply NoDup_Permutation.
    - apply NoDup_filter. now apply atoms_once.
    - apply NoDup_filter. now apply atoms_once.
    - intros [q k]. split; intros in_; apply filter_In in in_; destruct in_ as [in_ is_]; apply in_prod_iff in in_; apply filter_In; simpl in *.
      + split; [apply in_prod_iff; intuition|]. apply andb_true_iff. rewrite has_id_spec. tauto.
      + apply andb_true_iff in is_. rewrite has_id_spec in is_. split; [apply in_prod_iff|]; tauto.
  Qed.

  Lemma limits_merged : within_limits m' (merged s) p' n = within_limits m s p n.
  Proof.
    unfold within_limits. simpl. assert (all : forall ls, incl ls (limits m) ->
      forallb (fun l => negb (is_asked l p') || (count (instances m' l n) (merged s) <? most l)) (map (limit_among roster) ls)
      = forallb (fun l => negb (is_asked l p) || (count (instances m l n) s <? most l)) ls); [|apply all, incl_refl].
    induction ls as [|l rest IH]; simpl; intros sub; [reflexivity|]. rewrite IH by (intros x x_in; apply sub; now right).
    assert (l_in : In l (limits m)) by (apply sub; now left). destruct (limits_once l l_in) as [once sub'].
    rewrite (alike_asked _ _ _ P l l_in). do 3 f_equal. unfold instances. simpl.
    rewrite (instances_count roster (filter (has_id roster) (limited l))); auto using NoDup_filter.
    2: { intros x x_in. apply filter_In in x_in. destruct x_in as [_ x_in]. now apply has_id_spec. }
    rewrite (instances_count (pods m) (limited l)) by assumption. apply count_merged.
    intros [q k] _ [there Q]. simpl in *. f_equal. rewrite <- (alike_limited _ _ _ Q l l_in).
    apply eq_true_iff_eq. rewrite !has_id_spec, filter_In, has_id_spec. tauto.
  Qed.

  Lemma keeps_away_merged : keeps_away m' (merged s) p' n = keeps_away m s p n.
  Proof.
    unfold keeps_away. change (is_kube m') with (is_kube m).
    f_equal; [|f_equal]; apply none_runs_merged; intros [q k] _ [_ Q]; unfold is_repelled, repels; simpl in *.
    - rewrite (alike_dislikes _ _ _ P). apply existsb_same. intros t _. now rewrite (alike_sees _ _ _ Q).
    - rewrite (alike_dislikes _ _ _ Q). apply existsb_same. intros t _. now rewrite (alike_notices _ _ _ P).
  Qed.

  Lemma friend_merged ts a : stands (fst a) -> friend m ts a = friend m' ts (f a).
  Proof. intros [_ Q]. unfold friend. apply forallb_same. intros t _. simpl. now rewrite (alike_sees _ _ _ Q). Qed.

  Lemma affine_merged : affine m' (merged s) p' n = affine m s p n.
  Proof.
    assert (self : forall ts, matches_itself m' ts p' = matches_itself m ts p).
    { intros ts. unfold matches_itself. apply forallb_same. intros t _. apply (alike_unbound _ _ _ P). }
    assert (near_ : forall ts t, some_runs m' (near_friend m' ts t n) (merged s) = some_runs m (near_friend m ts t n) s).
    { intros ts t. apply some_runs_merged. intros a _ stood. unfold near_friend. now rewrite (friend_merged ts a stood). }
    unfold affine. change (is_kube m') with (is_kube m). destruct (is_kube m).
    - unfold affine_kube. change (likes m' p') with (likes m p'). rewrite (alike_likes _ _ _ P), self. f_equal. f_equal.
      + apply forallb_same. intros t _. apply near_.
      + f_equal. apply none_runs_merged. intros a _ stood. unfold placed_friend. now rewrite (friend_merged _ a stood).
    - unfold affine_paper. change (likes m' p') with (likes m p'). rewrite (alike_likes _ _ _ P). apply forallb_same. intros t _. rewrite near_, self. do 2 f_equal.
      apply none_runs_merged. intros a _ stood. now apply friend_merged.
  Qed.

  Lemma even_merged c : even m' (merged s) p' n c = even m s p n c.
  Proof.
    assert (same_ : forall d, count (counted m' c d) (merged s) = count (counted m c d) s).
    { intros d. unfold counted. apply count_merged. intros [q k] _ [_ Q]. simpl in *.
      now rewrite (alike_counted _ _ _ Q), (alike_sees _ _ _ Q). }
    assert (least_ : emptiest m' c (merged s) = emptiest m c s).
    { unfold emptiest. change (eligible_domains m' c) with (eligible_domains m c). destruct (_ <=? _); [|reflexivity].
      f_equal. apply map_ext. exact same_. }
    unfold even, joins_in. rewrite least_. simpl sees_unbound. simpl domain_of. rewrite (alike_unbound _ _ _ P). change (is_kube m') with (is_kube m).
    destruct (domain_of m (along c) n); [|reflexivity]. now rewrite same_.
  Qed.

  Lemma in_use_merged d vs : in_use m' d n vs (merged s) = in_use m d n vs s.
  Proof.
    unfold in_use. induction vs as [|v rest IH]; simpl; [reflexivity|]. rewrite IH. f_equal. unfold is_empty. rewrite !users_total.
    simpl. rewrite (total_on_merged (fun q => if existsb (Pos.eqb v) (shared m q d) then 1 else 0)
                                    (fun q => if existsb (Pos.eqb v) (shared m q d) then 1 else 0)); [reflexivity|].
    intros q [_ Q]. now rewrite (alike_shared _ _ _ Q).
  Qed.

  Lemma volumes_merged : volumes_fit m' (merged s) p' n = volumes_fit m s p n.
  Proof.
    assert (private_ : forall d, total (private_on m' d n) (merged s) = total (private_on m d n) s).
    { intros d. apply (total_on_merged (fun q => private m q d) (fun q => private m q d)).
      intros q [_ Q]. now rewrite (alike_private _ _ _ Q). }
    unfold volumes_fit. simpl claim_missing. simpl driver_missing. simpl drivers.
    rewrite (alike_missing _ _ _ P), (alike_driver_missing _ _ _ P), (alike_drivers _ _ _ P). f_equal.
    apply forallb_same. intros d _. unfold attachable, fresh. rewrite private_, !in_use_merged. simpl shared. simpl private.
    now rewrite (alike_shared _ _ _ P), (alike_private _ _ _ P).
  Qed.

  (** The rules let in the same. *)
  Theorem lets_in_merged : lets_in m' (merged s) p' n = lets_in m s p n.
  Proof.
    unfold lets_in. simpl placeable. rewrite (alike_filters _ _ _ P). f_equal. apply forallb_same. intros r _. simpl asks.
    rewrite (alike_asks _ _ _ P). f_equal. destruct r; simpl.
    - apply none_runs_merged. intros [q k] _ [_ Q]. unfold holds_port. simpl in *. now rewrite (alike_ports _ _ _ P), (alike_ports' _ _ _ Q).
    - apply fits_merged.
    - rewrite (alike_missing _ _ _ P). f_equal; [f_equal|]; apply none_runs_merged; intros [q k] _ [_ Q]; unfold holds_disk, holds_claim; simpl in *.
      + now rewrite (alike_disks _ _ _ P), (alike_disks' _ _ _ Q).
      + now rewrite (alike_claims _ _ _ P), (alike_claims' _ _ _ Q).
    - apply volumes_merged.
    - rewrite (alike_constraints _ _ _ P). apply forallb_same. intros c _. apply even_merged.
    - now rewrite affine_merged, keeps_away_merged.
    - apply quotas_merged.
    - apply limits_merged.
  Qed.
End Merging.

(** ** The quotient of a question *)

Section Quotient.
  Variable q : question.
  Notation m := (cluster q).
  (** The types that take part, and the one that has the pods of a type. *)
  Variable roster : list id.
  Variable rep : id -> id.
  Notation f := (merged_atom rep).

  (** What runs, given to those that take part. *)
  Definition tally (l : list (atom * N)) : list (atom * N) :=
    map (fun c => (c, merged m rep (lookup l) c)) (atoms (among m roster)).

  Definition quotient : question := {|
    cluster := among m roster;
    begins := tally (begins q);
    stays := tally (stays q);
    dying := filter (fun '(b, d) => has_id roster b && has_id roster d) (dying q);
    waits := filter (fun '(p, _) => has_id roster p) (waits q);
  |}.

  (** The types for which one takes part; the others are left out. *)
  Definition stood_for_types : list id := filter (fun p => has_id roster (rep p)) (pods m).

  Record is_quotient : Prop := {
    makes_sense : sensible q = true;
    roster_lists_once : NoDup roster;
    limits_list_once : forall l, In l (limits m) -> NoDup (limited l) /\ incl (limited l) (pods m);
    merges_alike : forall p, In p (pods m) -> In (rep p) roster -> treats_alike m p (rep p);
    shadows_follow : forall b d, In (b, d) (dying q) -> In (rep d) roster -> In (rep b, rep d) (dying q);
    (** Types that wait stand for themselves alone. *)
    waits_themselves : forall p w, consumed q p = Some w -> In (rep p) roster -> rep p = p /\ f w = w;
    others_free : forall p, consumed q p = None -> consumed q (rep p) = None;
    (** What is left out does not run at first, and helps nobody. *)
    left_out_absent : forall p n, In p (pods m) -> ~ In (rep p) roster -> lookup (begins q) (p, n) = 0;
    left_out_idle : closed q stood_for_types = true;
  }.

  Hypothesis Q : is_quotient.
  Notation takes_part := (matters stood_for_types).
  Notation possible_ := (fun a => has (atoms m) a && takes_part a).

  Lemma takes_part_spec a : takes_part a = true <-> In (fst a) (pods m) /\ In (rep (fst a)) roster.
  Proof. unfold matters. rewrite has_id_spec. unfold stood_for_types. now rewrite filter_In, has_id_spec. Qed.

  Lemma lookup_tally l c : lookup (tally l) c = if in_dec eq_dec c (atoms (among m roster)) then merged m rep (lookup l) c else 0.
  Proof.
    unfold tally. induction (atoms (among m roster)) as [|b rest IH]; [reflexivity|]. cbn [map lookup fold_right].
    fold (lookup (map (fun c => (c, merged m rep (lookup l) c)) rest) c). rewrite IH.
    destruct (eq_dec b c) as [->|other], (in_dec eq_dec c (_ :: rest)) as [yes|no], (in_dec eq_dec c rest) as [yes'|no'];
      simpl in *; try reflexivity; intuition congruence.
  Qed.

  Lemma running_takes_part s a : possible_only possible_ s -> 0 < s a -> In a (atoms m) /\ In (rep (fst a)) roster.
  Proof.
    intros only some. pose proof (running_possible possible_ s a only some) as can. simpl in can.
    apply andb_true_iff in can. rewrite has_spec, takes_part_spec in can. tauto.
  Qed.

  (** The same is let in, whichever of its kind comes. *)
  Lemma let_in_quotient p p' n s : possible_only possible_ s -> In n (nodes m) -> treats_alike m p p' ->
    lets_in m s p n = true -> lets_in (among m roster) (merged m rep s) p' n = true.
  Proof.
    intros only n_in alike_ can. destruct (parts q (makes_sense Q)) as [pods_once [nodes_once _]].
    rewrite (lets_in_merged m roster rep) with (p := p); try assumption.
    - exact (roster_lists_once Q).
    - exact (limits_list_once Q).
    - intros r k r_in some. destruct (running_takes_part s (r, k) only some) as [_ there].
      split; [exact there|]. now apply (merges_alike Q).
  Qed.

  Notation whole := (cluster_problem q).
  Notation part := (alone whole takes_part).

  Lemma start_low : lookup (stays q) ≼ lookup (begins q).
  Proof. apply (parts q (makes_sense Q)). Qed.

  Lemma absent a : possible_ a = false -> lookup (begins q) a = 0.
  Proof.
    intros out. simpl in out. destruct (parts q (makes_sense Q)) as [_ [_ [_ [listed _]]]].
    destruct (has (atoms m) a) eqn:there; [|apply listed; intros a_in; apply has_spec in a_in; congruence].
    apply has_spec, atom_listed in there. destruct a as [p n]. apply (left_out_absent Q); [apply there|].
    intros r_in. simpl in out. enough (takes_part (p, n) = true) by congruence. apply takes_part_spec. simpl. tauto.
  Qed.

  Lemma start_as_it_is : start part ≐ lookup (begins q).
  Proof.
    intros a. simpl. unfold sliced. destruct (takes_part a) eqn:there; [reflexivity|].
    pose proof (start_low a). rewrite (absent a) in * by (now rewrite there, andb_false_r). simpl in *. lia.
  Qed.

  Lemma consumed_quotient p : In p roster -> consumed quotient p = consumed q p.
  Proof.
    intros there. unfold consumed. simpl. f_equal. induction (waits q) as [|[b w] rest IH]; simpl; [reflexivity|].
    destruct (has_id roster b) eqn:b_in; simpl; [now destruct (Pos.eqb b p)|].
    destruct (Pos.eqb_spec b p) as [->|]; [apply has_id_spec in there; congruence|exact IH].
  Qed.

  (** What is let in, is let in as what stands for it, and consumes what stands for what it does. *)
  Lemma admits_quotient a s : possible_only possible_ s -> takes_part a = true -> admits q a s ->
    possible_ a = true /\ admits quotient (f a) (merged m rep s)
    /\ consumed quotient (fst (f a)) = option_map f (consumed q (fst a)).
  Proof.
    intros only there [a_in can]. split; [apply andb_true_iff; split; [now apply has_spec|assumption]|].
    apply takes_part_spec in there. apply atom_listed in a_in. split; [split|].
    - apply in_prod_iff. simpl. tauto.
    - apply (let_in_quotient (fst a)); [assumption|tauto| |assumption]. apply (merges_alike Q); tauto.
    - simpl. rewrite consumed_quotient by tauto. destruct (consumed q (fst a)) as [w|] eqn:uses; simpl.
      + destruct (waits_themselves Q (fst a) w uses) as [-> ->]; tauto.
      + now apply (others_free Q).
  Qed.

  (** Every step of what takes part is one of the quotient. *)
  Lemma quotient_of_part :
    (kept part ≼ start part) /\ (kept (cluster_problem quotient) ≼ merged m rep (kept part))
    /\ (forall a s, possible_only possible_ s -> hard part a s ->
          possible_ a = true /\ hard (cluster_problem quotient) (f a) (merged m rep s))
    /\ (forall a d s, possible_only possible_ s -> possible_ a = true -> becomes part a d s ->
          possible_ d = true /\ becomes (cluster_problem quotient) (f a) (f d) (merged m rep s))
    /\ possible_only possible_ (start part)
    /\ (start (cluster_problem quotient) ≐ merged m rep (start part)).
  Proof.
    destruct (parts q (makes_sense Q)) as [pods_once [nodes_once [wf [listed [low shadows]]]]].
    refine (conj _ (conj _ (conj _ (conj _ (conj _ _))))).
    - intros a. rewrite start_as_it_is. apply start_low.
    - intros c. simpl. rewrite lookup_tally. destruct (in_dec _ _ _); lia.
    - intros a s only [there [can free]]. destruct (admits_quotient a s only there can) as [can_ [let_in uses]].
      split; [assumption|]. split; [exact let_in|]. now rewrite uses, free.
    - intros a d s only a_can [there [[turned same_node]|[uses can]]].
      + apply andb_true_iff in a_can. destruct a_can as [a_in a_there]. split.
        * apply andb_true_iff. split; [|assumption]. apply has_spec, atom_listed. apply has_spec, atom_listed in a_in.
          rewrite <- same_node. split; [|tauto]. now apply (shadows _ _ turned).
        * left. apply takes_part_spec in there, a_there. split; [|exact same_node]. simpl. apply filter_In. split; [now apply (shadows_follow Q)|].
          apply andb_true_iff. rewrite !has_id_spec. tauto.
      + destruct (admits_quotient d s only there can) as [can_ [let_in uses_]]. split; [assumption|].
        right. split; [|exact let_in]. now rewrite uses_, uses.
    - intros a out. rewrite start_as_it_is. now apply absent.
    - intros c. simpl start at 1. rewrite lookup_tally.
      transitivity (merged m rep (lookup (begins q)) c); [|apply abs_same, same_sym, start_as_it_is].
      destruct (in_dec eq_dec c _) as [yes|no]; [reflexivity|]. symmetry. apply count_zero. intros a a_in.
      apply in_class_iff in a_in. destruct a_in as [a_in is]. destruct (possible_ a) eqn:can; [|now apply absent].
      exfalso. apply no. simpl in can. apply andb_true_iff in can. rewrite takes_part_spec in can.
      apply atom_listed in a_in. rewrite <- is. apply in_prod_iff. simpl. tauto.
  Qed.

  Lemma never_of_part g : (forall alternative a, In alternative g -> takes_part a = false -> alternative a = 0) ->
    never part g -> never whole g.
  Proof.
    intros among_ no. pose proof (left_out_idle Q) as idle. apply (never_of_alone whole takes_part); auto.
    - intros a s there low [can free]. split; [|assumption]. now apply (admits_sliced q stood_for_types idle (makes_sense Q)).
    - apply (change_matters q stood_for_types idle).
    - intros a d s there low [turned|[uses can]]; [now left|right]. split; [assumption|].
      now apply (admits_sliced q stood_for_types idle (makes_sense Q)).
    - exact start_low.
    - intros alternative a alt_in out. rewrite (among_ alternative a alt_in out). lia.
  Qed.

  (** What types that stand for themselves never meet in the quotient, they never meet. *)
  Theorem never_of_quotient (g : list (list (atom * N))) :
    (forall x a, In x g -> lookup x a <> 0 -> In a (atoms m) /\ rep (fst a) = fst a /\ In (fst a) roster) ->
    never (cluster_problem quotient) (map lookup g) -> never whole (map lookup g).
  Proof.
    intros named_ no. destruct quotient_of_part as [h1 [h2 [h3 [h4 [h5 h6]]]]].
    destruct (parts q (makes_sense Q)) as [pods_once [nodes_once _]].
    apply never_of_part.
    { intros alternative a alt_in out. apply in_map_iff in alt_in. destruct alt_in as [x [<- x_in]].
      destruct (N.eq_dec (lookup x a) 0) as [|some]; [assumption|]. destruct (named_ x a x_in some) as [a_in [is there]].
      enough (takes_part a = true) by congruence. apply takes_part_spec. rewrite is. apply atom_listed in a_in. tauto. }
    intros s r [alternative [alt_in covered]]. apply in_map_iff in alt_in. destruct alt_in as [x [<- x_in]].
    destruct (abstract_run f (atoms m) (nodup_product _ _ pods_once nodes_once) possible_) with (P := part) (Q := cluster_problem quotient) (s := s) as [_ r']; auto.
    { intros a can. simpl in can. apply andb_true_iff in can. now apply has_spec. }
    apply (no _ r'). exists (lookup x). split; [now apply in_map|]. intros a. specialize (covered a).
    destruct (N.eq_dec (lookup x a) 0) as [->|some]; [lia|]. destruct (named_ x a x_in some) as [a_in [is _]].
    pose proof (abs_some f (atoms m) s a a_in) as less. unfold merged_atom in less at 2. rewrite is in less. destruct a. simpl in *. lia.
  Qed.

  (** A pod that is yet to come may be asked for as any other of its kind. *)
  Theorem never_of_one_quotient p p' n :
    In (p, n) (atoms m) -> In (rep p) roster -> lookup (begins q) (p, n) = 0 -> shadowed q p = None ->
    In p' roster -> treats_alike m p p' -> consumed quotient p' = option_map f (consumed q p) ->
    never (cluster_problem quotient) [lookup [((p', n), 1)]] -> never whole [lookup [((p, n), 1)]].
  Proof.
    intros a_in there none_ plain there' alike_ waits_alike no. destruct quotient_of_part as [h1 [h2 [h3 [h4 [h5 h6]]]]].
    destruct (parts q (makes_sense Q)) as [pods_once [nodes_once [_ [_ [_ shadows]]]]].
    apply never_of_part.
    { intros alternative a [<-|[]] out. simpl. destruct (eq_dec (p, n) a) as [<-|]; [|reflexivity].
      apply atom_listed in a_in. enough (takes_part (p, n) = true) by congruence. apply takes_part_spec. simpl in *. tauto. }
    change (never part [nothing ⊕ (p, n)]).
    assert (comes : forall s, possible_only possible_ s -> admits q (p, n) s -> admits quotient (p', n) (merged m rep s)).
    { intros s only [_ can]. apply atom_listed in a_in. simpl in *. split; [apply in_prod_iff; simpl; tauto|].
      apply (let_in_quotient p); [assumption|tauto|assumption|assumption]. }
    apply (never_of_newcomer f (atoms m) (nodup_product _ _ pods_once nodes_once) possible_) with (Q := cluster_problem quotient) (c := (p', n)); auto.
    - intros a can. simpl in can. apply andb_true_iff in can. now apply has_spec.
    - now rewrite start_as_it_is.
    - intros b s only _ [_ [[turned _]|[uses can]]].
      + simpl in turned. destruct (shadows _ _ turned) as [was _]. congruence.
      + right. split; [|now apply comes]. simpl in *. now rewrite waits_alike, uses.
    - intros s only [_ [can free]]. split; [now apply comes|]. simpl in *. now rewrite waits_alike, free.
  Qed.
End Quotient.
