(** * Which exchanges of nodes the rules do not notice

    Nodes that every table treats alike can be exchanged if domains go to domains,
    which is so if each goes into one of the same size ([targets_apart]).
    Then a pod is let in on a node exactly if it is let in where the exchange
    leads, once all that runs was led there, too: every rule of both semantics says the
    same.  So what is never reached on one of these nodes, from a start with at
    least what the exchange makes of the real one, is never reached on the others.

    check/symmetry.rs, [is_symmetry]. *)

From Coq Require Import NArith PArith List Lia Bool Permutation.
From Podreach Require Import Lists Configuration Sums Problem Guard Rules Search Cluster Weakening Symmetry.
Import ListNotations.
Open Scope N_scope.

(** The topology keys and the matchers of a pod type. *)
Definition keys_of (m : model) (p : id) : list id :=
  map key (likes m p) ++ map key (dislikes m p) ++ map along (constraints m p).
Definition matchers_of (m : model) (p : id) : list id :=
  map matcher (likes m p) ++ map matcher (dislikes m p) ++ map whom (constraints m p).

Definition used_key (m : model) (k : id) : Prop := exists p, In p (pods m) /\ In k (keys_of m p).
Definition used_matcher (m : model) (x : id) : Prop := exists p, In p (pods m) /\ In x (matchers_of m p).

(** An exchange of nodes, and the way back: no table that some pod type uses tells it. *)
Record exchange (m : model) (there back : id -> id) : Prop := {
  there_and_back : forall n, back (there n) = n;
  back_and_there : forall n, there (back n) = n;
  nodes_once : NoDup (nodes m);
  among_nodes : forall n, In n (nodes m) -> In (there n) (nodes m);
  same_filters : forall p n, In p (pods m) -> placeable m p (there n) = placeable m p n;
  same_capacity : forall p r n, In p (pods m) -> In r (checked m p) -> allocatable m (there n) r = allocatable m n r;
  same_keys : forall k n, used_key m k -> In n (nodes m) -> has_key m k (there n) = has_key m k n;
  domains_to_domains : forall k n n', used_key m k -> In n (nodes m) -> In n' (nodes m) ->
    near_by m k (there n) (there n') = near_by m k n n';
  same_sight : forall x q n, used_matcher m x -> In q (pods m) -> sees m x q (there n) = sees m x q n;
  same_eligible : forall p c n, In p (pods m) -> In c (constraints m p) -> looks_at c (there n) = looks_at c n;
  same_drivers : forall p n, In p (pods m) -> driver_missing m p (there n) = driver_missing m p n;
  same_volumes : forall p d n, In p (pods m) -> In d (drivers m p) -> volume_limit m (there n) d = volume_limit m n d;
}.

Lemma key_of_like m p t : In p (pods m) -> In t (likes m p) -> used_key m (key t).
Proof. intros. exists p. split; [assumption|]. unfold keys_of. rewrite !in_app_iff. left. now apply in_map. Qed.

Lemma key_of_dislike m p t : In p (pods m) -> In t (dislikes m p) -> used_key m (key t).
Proof. intros. exists p. split; [assumption|]. unfold keys_of. rewrite !in_app_iff. right. left. now apply in_map. Qed.

Lemma key_of_constraint m p c : In p (pods m) -> In c (constraints m p) -> used_key m (along c).
Proof. intros. exists p. split; [assumption|]. unfold keys_of. rewrite !in_app_iff. right. right. now apply in_map. Qed.

Lemma matcher_of_like m p t : In p (pods m) -> In t (likes m p) -> used_matcher m (matcher t).
Proof. intros. exists p. split; [assumption|]. unfold matchers_of. rewrite !in_app_iff. left. now apply in_map. Qed.

Lemma matcher_of_dislike m p t : In p (pods m) -> In t (dislikes m p) -> used_matcher m (matcher t).
Proof. intros. exists p. split; [assumption|]. unfold matchers_of. rewrite !in_app_iff. right. left. now apply in_map. Qed.

Lemma matcher_of_constraint m p c : In p (pods m) -> In c (constraints m p) -> used_matcher m (whom c).
Proof. intros. exists p. split; [assumption|]. unfold matchers_of. rewrite !in_app_iff. right. right. now apply in_map. Qed.

(** Domains go to domains if all of one goes into one other, which has as many nodes. *)
Theorem targets_apart (nodes_ : list id) (there : id -> id) (domain_ : id -> option id) :
  NoDup nodes_ -> (forall n n', there n = there n' -> n = n') -> (forall n, In n nodes_ -> In (there n) nodes_) ->
  (forall n n' d, In n nodes_ -> In n' nodes_ -> domain_ n = Some d -> domain_ n' = Some d -> domain_ (there n) = domain_ (there n')) ->
  let members d := filter (fun n => match domain_ n with Some e => Pos.eqb e d | None => false end) nodes_ in
  (forall n d t, In n nodes_ -> domain_ n = Some d -> domain_ (there n) = Some t -> length (members t) = length (members d)) ->
  forall n n' d d' t, In n nodes_ -> In n' nodes_ -> domain_ n = Some d -> domain_ n' = Some d' ->
    domain_ (there n) = Some t -> domain_ (there n') = Some t -> d = d'.
Proof.
  intros once apart among together members sizes n n' d d' t n_in n_in' is is' at_t at_t'.
  assert (members_spec : forall e k, In k (members e) <-> In k nodes_ /\ domain_ k = Some e).
  { intros e k. unfold members. rewrite filter_In. destruct (domain_ k) as [c|]; [rewrite Pos.eqb_eq|]; split; intros [k_in h]; split; congruence. }
  assert (all_back : incl (members t) (map there (members d))).
  { apply NoDup_length_incl.
    - apply FinFun.Injective_map_NoDup; [exact apart|]. now apply NoDup_filter.
    - rewrite map_length, (sizes n d t); auto.
    - intros k k_in. apply in_map_iff in k_in. destruct k_in as [j [<- j_in]]. apply members_spec in j_in. destruct j_in as [j_in j_d].
      apply members_spec. split; [now apply among|]. now rewrite (together j n d). }
  assert (n'_in : In (there n') (members t)) by (apply members_spec; auto).
  apply all_back, in_map_iff in n'_in. destruct n'_in as [k [e k_in]]. apply apart in e. subst k.
  apply members_spec in k_in. destruct k_in. congruence.
Qed.

(** So it is of every key of a cluster, as the checker tests it. *)
Corollary domains_kept m there k :
  NoDup (nodes m) -> (forall n n', there n = there n' -> n = n') -> (forall n, In n (nodes m) -> In (there n) (nodes m)) ->
  (forall n, In n (nodes m) -> has_key m k (there n) = has_key m k n) ->
  (forall n n' d, In n (nodes m) -> In n' (nodes m) -> domain_of m k n = Some d -> domain_of m k n' = Some d ->
     domain_of m k (there n) = domain_of m k (there n')) ->
  (forall n d t, In n (nodes m) -> domain_of m k n = Some d -> domain_of m k (there n) = Some t ->
     length (filter (in_domain m k t) (nodes m)) = length (filter (in_domain m k d) (nodes m))) ->
  forall n n', In n (nodes m) -> In n' (nodes m) -> near_by m k (there n) (there n') = near_by m k n n'.
Proof.
  intros once apart among keys together sizes n n' n_in n_in'.
  pose proof (keys n n_in) as key_n. pose proof (keys n' n_in') as key_n'. unfold has_key in *. unfold near_by.
  destruct (domain_of m k n) as [d|] eqn:is, (domain_of m k (there n)) as [t|] eqn:at_t; try discriminate; [|reflexivity].
  destruct (domain_of m k n') as [d'|] eqn:is', (domain_of m k (there n')) as [t'|] eqn:at_t'; try discriminate; [|reflexivity].
  apply eq_true_iff_eq. rewrite !Pos.eqb_eq. split; intros <-.
  - now apply (targets_apart (nodes m) there (domain_of m k)) with (n := n) (n' := n') (t := t).
  - specialize (together n n' d n_in n_in' is is'). congruence.
Qed.

(** The least of some numbers, in whatever order they are. *)
Lemma least_permutation l l' : Permutation l l' -> least l = least l'.
Proof.
  assert (least_cons : forall x l, l <> [] -> least (x :: l) = N.min x (least l)) by (intros x [|y k]; [contradiction|reflexivity]).
  assert (nil : forall k k' : list N, Permutation k k' -> k = [] -> k' = []).
  { intros k k' p ->. now apply Permutation_nil. }
  induction 1 as [|x k k' p IH|x y k|k k' k'' _ IH _ IH']; [reflexivity| | |congruence].
  - destruct k as [|z k].
    + now rewrite (nil _ _ p eq_refl).
    + destruct k' as [|z' k']; [apply Permutation_sym in p; now rewrite (nil _ _ p eq_refl) in *|].
      rewrite !least_cons by discriminate. now rewrite IH.
  - destruct k as [|z k]; [simpl; apply N.min_comm|].
    rewrite !(least_cons _ (_ :: _ :: _)), !(least_cons _ (z :: k)) by discriminate. lia.
Qed.

Section Exchange.
  Variable m : model.
  Variables (there back : id -> id).
  Hypothesis E : exchange m there back.

  Definition moved (a : atom) : atom := (fst a, there (snd a)).
  Definition moved_from (a : atom) : atom := (fst a, back (snd a)).

  Lemma moved_and_back a : moved_from (moved a) = a.
  Proof. destruct a. unfold moved, moved_from. simpl. now rewrite (there_and_back _ _ _ E). Qed.

  Lemma back_and_moved a : moved (moved_from a) = a.
  Proof. destruct a. unfold moved, moved_from. simpl. now rewrite (back_and_there _ _ _ E). Qed.

  Lemma there_apart n n' : Pos.eqb (there n) (there n') = Pos.eqb n n'.
  Proof.
    apply eq_true_iff_eq. rewrite !Pos.eqb_eq. split; [|congruence]. intros e.
    now rewrite <- (there_and_back _ _ _ E n), e, (there_and_back _ _ _ E).
  Qed.

  Lemma nodes_permuted : Permutation (map there (nodes m)) (nodes m).
  Proof.
    apply NoDup_Permutation_bis.
    - apply FinFun.Injective_map_NoDup; [|exact (nodes_once _ _ _ E)]. intros n n' e.
      now rewrite <- (there_and_back _ _ _ E n), e, (there_and_back _ _ _ E).
    - now rewrite map_length.
    - intros n n_in. apply in_map_iff in n_in. destruct n_in as [k [<- k_in]]. now apply (among_nodes _ _ _ E).
  Qed.

  Lemma atoms_permuted (types : list id) : Permutation (map moved (list_prod types (nodes m))) (list_prod types (nodes m)).
  Proof.
    induction types as [|p rest IH]; simpl; [constructor|]. rewrite map_app. apply Permutation_app; [|assumption].
    rewrite map_map. simpl. change (map (fun x => (p, there x)) (nodes m)) with (map (fun x => (fun n => (p, n)) (there x)) (nodes m)).
    rewrite <- (map_map there (fun n => (p, n))). apply Permutation_map, nodes_permuted.
  Qed.

  Lemma moved_listed a : In a (atoms m) -> In (moved a) (atoms m).
  Proof. intros a_in. apply (Permutation_in _ (atoms_permuted (pods m))). now apply in_map. Qed.

  (** ** What runs, led there *)

  Variable s : configuration atom.
  Definition led : configuration atom := image moved_from s.

  Lemma led_at a : led (moved a) = s a.
  Proof. unfold led, image. now rewrite moved_and_back. Qed.

  Lemma led_on q n : led (q, there n) = s (q, n).
  Proof. exact (led_at (q, n)). Qed.

  Lemma sum_led (h h' : atom -> N) types : (forall a, In a (list_prod types (nodes m)) -> h' (moved a) = h a) ->
    sum h' (list_prod types (nodes m)) = sum h (list_prod types (nodes m)).
  Proof.
    intros same_. rewrite <- (sum_permutation h' _ _ (atoms_permuted types)), sum_map. apply sum_ext. auto.
  Qed.

  Lemma count_led (is is' : atom -> bool) types : (forall a, In a (list_prod types (nodes m)) -> is' (moved a) = is a) ->
    count (filter is' (list_prod types (nodes m))) led = count (filter is (list_prod types (nodes m))) s.
  Proof.
    intros same_. rewrite !count_sum, !sum_filter. apply sum_led. intros a a_in. now rewrite (same_ a a_in), led_at.
  Qed.

  Lemma some_runs_led (is is' : atom -> bool) : (forall a, In a (atoms m) -> is' (moved a) = is a) -> some_runs m is' led = some_runs m is s.
  Proof.
    intros same_. apply eq_true_iff_eq. unfold some_runs. rewrite !existsb_exists. split.
    - intros [a [a_in ok]]. apply (Permutation_in _ (Permutation_sym (atoms_permuted (pods m)))) in a_in.
      apply in_map_iff in a_in. destruct a_in as [b [<- b_in]]. exists b. split; [assumption|]. now rewrite (same_ b b_in), led_at in ok.
    - intros [a [a_in ok]]. exists (moved a). split; [now apply moved_listed|]. now rewrite (same_ a a_in), led_at.
  Qed.

  Lemma none_runs_led (is is' : atom -> bool) : (forall a, In a (atoms m) -> is' (moved a) = is a) -> none_runs m is' led = none_runs m is s.
  Proof. intros same_. unfold none_runs. f_equal. now apply some_runs_led. Qed.

  Lemma on_a_node (a : atom) types : In a (list_prod types (nodes m)) -> In (snd a) (nodes m).
  Proof. destruct a. intros a_in. now apply in_prod_iff in a_in. Qed.

  Lemma of_a_type (a : atom) types : In a (list_prod types (nodes m)) -> In (fst a) types.
  Proof. destruct a. intros a_in. now apply in_prod_iff in a_in. Qed.

  (** ** Rule by rule *)

  Lemma total_on (w : id -> N) n types : total (map (fun q => ((q, there n), w q)) types) led = total (map (fun q => ((q, n), w q)) types) s.
  Proof. induction types as [|q rest IH]; simpl; [reflexivity|]. now rewrite IH, led_on. Qed.

  Lemma fits_led p n : In p (pods m) -> fits m led p (there n) = fits m s p n.
  Proof. intros p_in. unfold fits, on_node. apply forallb_same. intros r r_in. now rewrite total_on, (same_capacity _ _ _ E p). Qed.

  Lemma quotas_led p : within_quotas m led p = within_quotas m s p.
  Proof.
    unfold within_quotas, charged. apply forallb_same. intros k _. rewrite !total_map. do 2 f_equal.
    apply sum_led. intros a _. now rewrite led_at.
  Qed.

  Lemma limits_led p n : within_limits m led p (there n) = within_limits m s p n.
  Proof.
    unfold within_limits, instances. apply forallb_same. intros l _. do 2 f_equal. apply count_led. intros [q k] _. simpl.
    now rewrite there_apart.
  Qed.

  Variables (p n : id).
  Hypothesis p_in : In p (pods m).
  Hypothesis n_in : In n (nodes m).

  Lemma keeps_away_led : keeps_away m led p (there n) = keeps_away m s p n.
  Proof.
    unfold keeps_away. f_equal; [|f_equal]; apply none_runs_led; intros [q k] a_in; pose proof (of_a_type _ _ a_in) as q_in;
      apply on_a_node in a_in; unfold is_repelled, repels; simpl in *; apply existsb_same; intros t t_in.
    - pose proof (key_of_dislike m p t p_in t_in). pose proof (matcher_of_dislike m p t p_in t_in).
      now rewrite (domains_to_domains _ _ _ E), (same_sight _ _ _ E).
    - pose proof (key_of_dislike m q t q_in t_in). now rewrite (domains_to_domains _ _ _ E).
  Qed.

  Lemma friend_led ts a : incl ts (likes m p) -> In a (atoms m) -> friend m ts (moved a) = friend m ts a.
  Proof.
    intros sub a_in. apply of_a_type in a_in. destruct a. unfold friend. simpl in *. apply forallb_same. intros t t_in.
    apply (same_sight _ _ _ E); [|assumption]. apply (matcher_of_like m p); auto.
  Qed.

  Lemma near_friend_led ts t a : incl ts (likes m p) -> In t ts -> In a (atoms m) ->
    near_friend m ts t (there n) (moved a) = near_friend m ts t n a.
  Proof.
    intros sub t_in a_in. unfold near_friend. rewrite (friend_led ts a sub a_in). apply on_a_node in a_in. destruct a. simpl in *.
    rewrite (domains_to_domains _ _ _ E); auto. apply (key_of_like m p); auto.
  Qed.

  Lemma affine_led : affine m led p (there n) = affine m s p n.
  Proof.
    unfold affine. destruct (is_kube m).
    - unfold affine_kube. f_equal.
      { apply forallb_same. intros t t_in. apply (same_keys _ _ _ E); [|assumption]. now apply (key_of_like m p). }
      f_equal.
      + apply forallb_same. intros t t_in. apply some_runs_led. intros a. apply near_friend_led; [apply incl_refl|assumption].
      + f_equal. apply none_runs_led. intros a a_in. unfold placed_friend. rewrite friend_led by (assumption || apply incl_refl). f_equal.
        apply on_a_node in a_in. destruct a. simpl in *. apply existsb_same. intros t t_in. apply (same_keys _ _ _ E); [|assumption].
        now apply (key_of_like m p).
    - unfold affine_paper. apply forallb_same. intros t t_in.
      assert (sub : incl [t] (likes m p)) by (intros x [<-|[]]; assumption). f_equal.
      + apply some_runs_led. intros a. apply near_friend_led; [assumption|now left].
      + f_equal. apply none_runs_led. intros a. now apply friend_led.
  Qed.

  (** As many are counted in a domain as in the one that it is led to. *)
  Lemma counted_led c k d t : In c (constraints m p) -> In k (nodes m) ->
    domain_of m (along c) k = Some d -> domain_of m (along c) (there k) = Some t ->
    count (counted m c t) led = count (counted m c d) s.
  Proof.
    intros c_in k_in is is'. pose proof (key_of_constraint m p c p_in c_in) as used. pose proof (matcher_of_constraint m p c p_in c_in).
    unfold counted, atoms. apply count_led. intros [q j] a_in. pose proof (of_a_type _ _ a_in). apply on_a_node in a_in. simpl in *.
    rewrite (same_eligible _ _ _ E p c j p_in c_in), (same_sight _ _ _ E) by assumption. f_equal.
    pose proof (domains_to_domains _ _ _ E (along c) k j used k_in a_in) as same_. unfold near_by in same_. rewrite is, is' in same_.
    unfold in_domain. pose proof (same_keys _ _ _ E (along c) j used a_in) as keys. unfold has_key in keys.
    destruct (domain_of m (along c) j), (domain_of m (along c) (there j)); try discriminate; [|reflexivity].
    now rewrite Pos.eqb_sym, same_, Pos.eqb_sym.
  Qed.

  (** Where a domain of eligible nodes is led to. *)
  Definition target c d : id :=
    match find (fun k => looks_at c k && in_domain m (along c) d k) (nodes m) with
    | Some k => match domain_of m (along c) (there k) with Some t => t | None => d end
    | None => d
    end.

  Lemma target_spec c d : used_key m (along c) -> In d (eligible_domains m c) -> exists k, In k (nodes m) /\ looks_at c k = true
    /\ domain_of m (along c) k = Some d /\ domain_of m (along c) (there k) = Some (target c d).
  Proof.
    intros used. unfold eligible_domains. rewrite nodup_In, in_flat_map. intros [j [j_in is]]. apply filter_In in j_in. destruct j_in as [j_in can].
    unfold target. destruct (find _ (nodes m)) as [k|] eqn:found.
    - apply find_some in found. destruct found as [k_in ok]. apply andb_true_iff in ok. destruct ok as [looks here_]. exists k.
      unfold in_domain in here_. destruct (domain_of m (along c) k) as [e|] eqn:is_k; [|discriminate]. apply Pos.eqb_eq in here_. subst e.
      pose proof (same_keys _ _ _ E (along c) k used k_in) as keys. unfold has_key in keys. rewrite is_k in keys.
      destruct (domain_of m (along c) (there k)); [auto|discriminate].
    - exfalso. pose proof (find_none _ _ found j j_in) as no. simpl in no. unfold in_domain in no. rewrite can in no.
      destruct (domain_of m (along c) j) as [e|]; [|contradiction]. destruct is as [->|[]]. rewrite Pos.eqb_refl in no. discriminate.
  Qed.

  Lemma domains_permuted c : In c (constraints m p) -> Permutation (map (target c) (eligible_domains m c)) (eligible_domains m c).
  Proof.
    intros c_in. pose proof (key_of_constraint m p c p_in c_in) as used. apply NoDup_Permutation_bis.
    - apply nodup_map; [apply NoDup_nodup|]. intros d d' d_in d_in' e.
      destruct (target_spec c d used d_in) as [k [k_in [_ [is at_]]]], (target_spec c d' used d_in') as [j [j_in [_ [is' at_']]]].
      pose proof (domains_to_domains _ _ _ E (along c) k j used k_in j_in) as same_. unfold near_by in same_.
      rewrite is, is', at_, at_', e, Pos.eqb_refl in same_. symmetry in same_. now apply Pos.eqb_eq.
    - now rewrite map_length.
    - intros t t_in. apply in_map_iff in t_in. destruct t_in as [d [<- d_in]].
      destruct (target_spec c d used d_in) as [k [k_in [looks [_ at_]]]]. unfold eligible_domains. rewrite nodup_In, in_flat_map.
      exists (there k). split; [|rewrite at_; now left]. apply filter_In. split; [now apply (among_nodes _ _ _ E)|].
      now rewrite (same_eligible _ _ _ E p c k p_in c_in).
  Qed.

  Lemma emptiest_led c : In c (constraints m p) -> emptiest m c led = emptiest m c s.
  Proof.
    intros c_in. pose proof (key_of_constraint m p c p_in c_in) as used. unfold emptiest. destruct (min_domains c <=? _); [|reflexivity].
    rewrite <- (least_permutation _ _ (Permutation_map (fun d => count (counted m c d) led) (domains_permuted c c_in))), map_map.
    f_equal. apply map_ext_in. intros d d_in. destruct (target_spec c d used d_in) as [k [k_in [_ [is at_]]]]. now apply (counted_led c k).
  Qed.

  Lemma even_led c : In c (constraints m p) -> even m led p (there n) c = even m s p n c.
  Proof.
    intros c_in. pose proof (key_of_constraint m p c p_in c_in) as used. unfold even.
    rewrite (same_eligible _ _ _ E p c n p_in c_in), (emptiest_led c c_in).
    pose proof (same_keys _ _ _ E (along c) n used n_in) as keys. unfold has_key in keys.
    destruct (domain_of m (along c) n) as [d|] eqn:is, (domain_of m (along c) (there n)) as [t|] eqn:at_; try discriminate; [|reflexivity].
    now rewrite (counted_led c n d t).
  Qed.

  Lemma in_use_led d vs : in_use m d (there n) vs led = in_use m d n vs s.
  Proof.
    unfold in_use. induction vs as [|v rest IH]; simpl; [reflexivity|]. rewrite IH. f_equal.
    replace (is_empty (users m d (there n) v) led) with (is_empty (users m d n v) s); [reflexivity|].
    unfold is_empty, users. f_equal. induction (filter _ (pods m)) as [|q qs IHq]; simpl; [reflexivity|]. now rewrite IHq, led_on.
  Qed.

  Lemma volumes_fit_led : volumes_fit m led p (there n) = volumes_fit m s p n.
  Proof.
    unfold volumes_fit. rewrite (same_drivers _ _ _ E p n p_in). f_equal. apply forallb_same. intros d d_in. unfold attachable, fresh, private_on.
    rewrite (same_volumes _ _ _ E p d n p_in d_in). destruct (volume_limit m n d) as [[lim attached]|]; [|reflexivity].
    now rewrite !in_use_led, total_on.
  Qed.

  (** The rules do not notice. *)
  Theorem lets_in_led : lets_in m led p (there n) = lets_in m s p n.
  Proof.
    unfold lets_in. rewrite (same_filters _ _ _ E p n p_in). f_equal. apply forallb_same. intros r _. f_equal. destruct r; simpl.
    - apply none_runs_led. intros [q k] _. unfold holds_port. simpl. now rewrite there_apart.
    - now apply fits_led.
    - f_equal; [f_equal|]; apply none_runs_led; intros [q k] _; unfold holds_disk, holds_claim; simpl; [now rewrite there_apart|reflexivity].
    - apply volumes_fit_led.
    - apply forallb_same. intros c c_in. now apply even_led.
    - now rewrite affine_led, keeps_away_led.
    - apply quotas_led.
    - apply limits_led.
  Qed.
End Exchange.

(** ** Exchanges make exchanges *)

Lemma no_exchange m : NoDup (nodes m) -> exchange m (fun n => n) (fun n => n).
Proof. intros once. split; auto. Qed.

Lemma exchange_back m there back : exchange m there back -> exchange m back there.
Proof.
  intros E.
  assert (among : forall n, In n (nodes m) -> In (back n) (nodes m)).
  { intros n n_in. apply (Permutation_in _ (Permutation_sym (nodes_permuted m there back E))), in_map_iff in n_in.
    destruct n_in as [k [<- k_in]]. now rewrite (there_and_back _ _ _ E). }
  destruct E. split; auto.
  - intros p n p_in. now rewrite <- same_filters0, back_and_there0.
  - intros p r n p_in r_in. now rewrite <- (same_capacity0 p), back_and_there0.
  - intros k n used n_in. now rewrite <- same_keys0, back_and_there0 by auto.
  - intros k n n' used n_in n_in'. now rewrite <- domains_to_domains0, !back_and_there0 by auto.
  - intros x q n used q_in. now rewrite <- same_sight0, back_and_there0.
  - intros p c n p_in c_in. now rewrite <- (same_eligible0 p), back_and_there0.
  - intros p n p_in. now rewrite <- same_drivers0, back_and_there0.
  - intros p d n p_in d_in. now rewrite <- (same_volumes0 p), back_and_there0.
Qed.

Lemma exchange_then m there back there' back' : exchange m there back -> exchange m there' back' ->
  exchange m (fun n => there' (there n)) (fun n => back (back' n)).
Proof.
  intros E F. destruct E, F. split; auto.
  - intros n. now rewrite there_and_back1.
  - intros n. now rewrite back_and_there0.
  - intros p n p_in. now rewrite same_filters1, same_filters0.
  - intros p r n p_in r_in. now rewrite (same_capacity1 p), (same_capacity0 p).
  - intros k n used n_in. now rewrite same_keys1, same_keys0 by auto.
  - intros k n n' used n_in n_in'. now rewrite domains_to_domains1, domains_to_domains0 by auto.
  - intros x q n used q_in. now rewrite same_sight1, same_sight0.
  - intros p c n p_in c_in. now rewrite (same_eligible1 p), (same_eligible0 p).
  - intros p n p_in. now rewrite same_drivers1, same_drivers0.
  - intros p d n p_in d_in. now rewrite (same_volumes1 p), (same_volumes0 p).
Qed.

Section Elsewhere.
  Variable q : question.
  Variables (there back : id -> id).
  Hypothesis E : exchange (cluster q) there back.
  Hypothesis same_kept : forall a, lookup (stays q) (moved there a) = lookup (stays q) a.
  (** What waits is on no node that moves. *)
  Hypothesis waits_stay : forall p w, consumed q p = Some w -> moved there w = w.

  (** What is never met from a start with at least what the exchange makes of
      another is never met from that one where the exchange came from. *)
  Theorem never_elsewhere (x : configuration atom) (above : list (atom * N)) g :
    lookup (stays q) ≼ x ->
    image (moved_from back) x ≼ lookup above ->
    never (starting (cluster_problem q) (lookup above)) g ->
    never (starting (cluster_problem q) x) (moved_back (moved there) g).
  Proof.
    intros low high no.
    assert (admits_led : forall a s, admits q a s -> admits q (moved there a) (image (moved_from back) s)).
    { intros a s [a_in can]. split; [now apply (moved_listed _ _ _ E)|]. simpl.
      change (image (moved_from back) s) with (led back s). rewrite (lets_in_led _ _ _ E); [assumption| |];
        [now apply (of_a_type (cluster q)) in a_in|now apply (on_a_node (cluster q)) in a_in]. }
    apply (never_of_images (starting (cluster_problem q) x) (moved there) (moved_from back)) with (all := map fst above) (above := lookup above); auto.
    - intros a. apply (moved_and_back _ _ _ E).
    - intros a. apply (back_and_moved _ _ _ E).
    - intros a s [can free]. split; [now apply admits_led|exact free].
    - intros a d s [[turned same_node]|[uses can]]; [left; split; [assumption|]; simpl; now rewrite same_node|right].
      split; [|now apply admits_led]. simpl. rewrite uses. f_equal. symmetry. now apply (waits_stay (fst d)).
    - intros a more. apply lookup_listed. lia.
  Qed.
End Elsewhere.

(** ** Orbits *)

Section Orbits.
  Variable q : question.
  Variable exchanges : list ((id -> id) * (id -> id)).
  (** A start that every exchange leads into itself, with at least what the real one has. *)
  Variable above : list (atom * N).
  Hypothesis all_are : forall there back, In (there, back) exchanges ->
    exchange (cluster q) there back
    /\ (forall a, lookup (stays q) (moved there a) = lookup (stays q) a)
    /\ (forall p w, consumed q p = Some w -> moved there w = w)
    /\ image (moved_from back) (lookup above) ≼ lookup above.
  Hypothesis kept_at_start : lookup (stays q) ≼ lookup (begins q).
  Hypothesis high : lookup (begins q) ≼ lookup above.

  (** What the exchanges, one after the other, lead to an alternative. *)
  Inductive orbit (alternative : configuration atom) : configuration atom -> Prop :=
  | itself : orbit alternative alternative
  | further x there back : orbit alternative x -> In (there, back) exchanges -> orbit alternative (fun a => x (moved there a)).

  (** One alternative of a goal speaks for all of its orbit. *)
  Theorem never_on_orbit alternative x :
    never (starting (cluster_problem q) (lookup above)) [alternative] -> orbit alternative x -> never (cluster_problem q) [x].
  Proof.
    intros no path.
    pose (q' := {| cluster := cluster q; begins := above; stays := stays q; dying := dying q; waits := waits q |}).
    assert (all_of_it : never (cluster_problem q') [x]).
    { induction path as [|x there back _ IH e_in]; [exact no|]. destruct (all_are there back e_in) as [E [same_kept [still closed]]].
      apply (never_elsewhere q' there back E same_kept still (lookup above) above [x]); [|exact closed|exact IH].
      eapply within_trans; eassumption. }
    apply (weaker_by_start (cluster_problem q) (cluster_problem q') (map fst above)); auto.
    - intros a more. apply lookup_listed. simpl in more. intros zero. lia.
    - apply within_refl.
  Qed.
End Orbits.
