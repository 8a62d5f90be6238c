(** * Which exchanges of nodes the rules do not notice

    Nodes that every table treats alike can be exchanged if domains go to domains.
    Then a pod is let in on a node exactly if it is let in where the exchange
    leads, once all that runs was led there, too: every rule of both semantics says the
    same.  So what is never reached on one of these nodes, from a start with at
    least what the exchange makes of the real one, is never reached on the others.

    check/symmetry.rs, [is_symmetry]. *)

From Coq Require Import NArith PArith List Lia Bool Permutation.
From Podreach Require Import Configuration Sums Problem Guard Rules Search Cluster Symmetry.
Import ListNotations.
Open Scope N_scope.

(** An exchange of nodes, the way back, and where it leads the domains of each key. *)
Record exchange (m : model) (there back : id -> id) (leads : id -> id -> id) : Prop := {
  there_and_back : forall n, back (there n) = n;
  back_and_there : forall n, there (back n) = n;
  nodes_once : NoDup (nodes m);
  among_nodes : forall n, In n (nodes m) -> In (there n) (nodes m);
  same_filters : forall p n, placeable m p (there n) = placeable m p n;
  same_capacity : forall n r, allocatable m (there n) r = allocatable m n r;
  domains_to_domains : forall k n, domain_of m k (there n) = option_map (leads k) (domain_of m k n);
  domains_apart : forall k d d', leads k d = leads k d' -> d = d';
  same_sight : forall x q n, sees m x q (there n) = sees m x q n;
  same_eligible : forall p c n, In c (constraints m p) -> looks_at c (there n) = looks_at c n;
  same_drivers : forall p n, driver_missing m p (there n) = driver_missing m p n;
  same_volumes : forall n d, volume_limit m (there n) d = volume_limit m n d;
}.

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
  Variables (there back : id -> id) (leads : id -> id -> id).
  Hypothesis E : exchange m there back leads.

  Definition moved (a : atom) : atom := (fst a, there (snd a)).
  Definition moved_from (a : atom) : atom := (fst a, back (snd a)).

  Lemma moved_and_back a : moved_from (moved a) = a.
  Proof. destruct a. unfold moved, moved_from. simpl. now rewrite (there_and_back _ _ _ _ E). Qed.

  Lemma back_and_moved a : moved (moved_from a) = a.
  Proof. destruct a. unfold moved, moved_from. simpl. now rewrite (back_and_there _ _ _ _ E). Qed.

  Lemma there_apart n n' : Pos.eqb (there n) (there n') = Pos.eqb n n'.
  Proof.
    apply eq_true_iff_eq. rewrite !Pos.eqb_eq. split; [|congruence]. intros e.
    now rewrite <- (there_and_back _ _ _ _ E n), e, (there_and_back _ _ _ _ E).
  Qed.

  Lemma nodes_permuted : Permutation (map there (nodes m)) (nodes m).
  Proof.
    apply NoDup_Permutation_bis.
    - apply FinFun.Injective_map_NoDup; [|exact (nodes_once _ _ _ _ E)]. intros n n' e.
      now rewrite <- (there_and_back _ _ _ _ E n), e, (there_and_back _ _ _ _ E).
    - now rewrite map_length.
    - intros n n_in. apply in_map_iff in n_in. destruct n_in as [k [<- k_in]]. now apply (among_nodes _ _ _ _ E).
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

  Lemma sum_led (h h' : atom -> N) types : (forall a, h' (moved a) = h a) ->
    sum h' (list_prod types (nodes m)) = sum h (list_prod types (nodes m)).
  Proof.
    intros same_. rewrite <- (sum_permutation h' _ _ (atoms_permuted types)), sum_map. apply sum_ext. auto.
  Qed.

  Lemma count_led (is is' : atom -> bool) types : (forall a, is' (moved a) = is a) ->
    count (filter is' (list_prod types (nodes m))) led = count (filter is (list_prod types (nodes m))) s.
  Proof.
    intros same_. rewrite !count_sum, !sum_filter. apply sum_led. intros a. now rewrite same_, led_at.
  Qed.

  Lemma some_runs_led (is is' : atom -> bool) : (forall a, is' (moved a) = is a) -> some_runs m is' led = some_runs m is s.
  Proof.
    intros same_. apply eq_true_iff_eq. unfold some_runs. rewrite !existsb_exists. split.
    - intros [a [a_in ok]]. apply (Permutation_in _ (Permutation_sym (atoms_permuted (pods m)))) in a_in.
      apply in_map_iff in a_in. destruct a_in as [b [<- b_in]]. exists b. split; [assumption|]. now rewrite same_, led_at in ok.
    - intros [a [a_in ok]]. exists (moved a). split; [now apply moved_listed|]. now rewrite same_, led_at.
  Qed.

  Lemma none_runs_led (is is' : atom -> bool) : (forall a, is' (moved a) = is a) -> none_runs m is' led = none_runs m is s.
  Proof. intros same_. unfold none_runs. f_equal. now apply some_runs_led. Qed.

  Lemma has_key_led k n : has_key m k (there n) = has_key m k n.
  Proof. unfold has_key. rewrite (domains_to_domains _ _ _ _ E). now destruct (domain_of m k n). Qed.

  Lemma leads_apart k d d' : Pos.eqb (leads k d) (leads k d') = Pos.eqb d d'.
  Proof. apply eq_true_iff_eq. rewrite !Pos.eqb_eq. split; [apply (domains_apart _ _ _ _ E)|congruence]. Qed.

  Lemma near_by_led k n n' : near_by m k (there n) (there n') = near_by m k n n'.
  Proof.
    unfold near_by. rewrite !(domains_to_domains _ _ _ _ E). destruct (domain_of m k n), (domain_of m k n'); simpl; try reflexivity.
    apply leads_apart.
  Qed.

  Lemma in_domain_led k d n : in_domain m k (leads k d) (there n) = in_domain m k d n.
  Proof. unfold in_domain. rewrite (domains_to_domains _ _ _ _ E). destruct (domain_of m k n); simpl; [apply leads_apart|reflexivity]. Qed.

  Lemma existsb_same {B} (f g : B -> bool) l : (forall b, f b = g b) -> existsb f l = existsb g l.
  Proof. intros e. induction l as [|b rest IH]; simpl; [reflexivity|]. now rewrite e, IH. Qed.

  Lemma forallb_same {B} (f g : B -> bool) l : (forall b, In b l -> f b = g b) -> forallb f l = forallb g l.
  Proof. intros e. induction l as [|b rest IH]; simpl; [reflexivity|]. rewrite e, IH; auto with datatypes. Qed.

  (** ** Rule by rule *)

  Lemma total_on (w : id -> N) n types : total (map (fun q => ((q, there n), w q)) types) led = total (map (fun q => ((q, n), w q)) types) s.
  Proof. induction types as [|q rest IH]; simpl; [reflexivity|]. now rewrite IH, led_on. Qed.

  Lemma fits_led p n : fits m led p (there n) = fits m s p n.
  Proof. unfold fits, on_node. apply forallb_same. intros r _. now rewrite total_on, (same_capacity _ _ _ _ E). Qed.

  Lemma quotas_led p : within_quotas m led p = within_quotas m s p.
  Proof.
    unfold within_quotas, charged. apply forallb_same. intros k _. rewrite !total_map. do 2 f_equal.
    apply sum_led. intros a. now rewrite led_at.
  Qed.

  Lemma limits_led p n : within_limits m led p (there n) = within_limits m s p n.
  Proof.
    unfold within_limits, instances. apply forallb_same. intros l _. do 2 f_equal. apply count_led. intros [q k]. simpl.
    now rewrite there_apart.
  Qed.

  Lemma keeps_away_led p n : keeps_away m led p (there n) = keeps_away m s p n.
  Proof.
    unfold keeps_away. f_equal; [|f_equal]; apply none_runs_led; intros [q k]; unfold is_repelled, repels; simpl;
      apply existsb_same; intros t; rewrite near_by_led; [now rewrite (same_sight _ _ _ _ E)|reflexivity].
  Qed.

  Lemma friend_led ts a : friend m ts (moved a) = friend m ts a.
  Proof. destruct a. unfold friend. simpl. apply forallb_same. intros t _. apply (same_sight _ _ _ _ E). Qed.

  Lemma near_friend_led ts t n a : near_friend m ts t (there n) (moved a) = near_friend m ts t n a.
  Proof. unfold near_friend. rewrite friend_led. destruct a. simpl. now rewrite near_by_led. Qed.

  Lemma affine_led p n : affine m led p (there n) = affine m s p n.
  Proof.
    unfold affine. destruct (is_kube m).
    - unfold affine_kube. f_equal; [apply forallb_same; intros; apply has_key_led|]. f_equal.
      + apply forallb_same. intros t _. apply some_runs_led. intros a. apply near_friend_led.
      + f_equal. apply none_runs_led. intros a. unfold placed_friend. rewrite friend_led. f_equal. destruct a. simpl.
        apply existsb_same. intros t. apply has_key_led.
    - unfold affine_paper. apply forallb_same. intros t _. f_equal.
      + apply some_runs_led. intros a. apply near_friend_led.
      + f_equal. apply none_runs_led. intros a. apply friend_led.
  Qed.

  Lemma counted_led p c d : In c (constraints m p) ->
    count (counted m c (leads (along c) d)) led = count (counted m c d) s.
  Proof.
    intros c_in. unfold counted, atoms. apply count_led. intros [q k]. simpl.
    now rewrite (same_eligible _ _ _ _ E p c k c_in), (same_sight _ _ _ _ E), in_domain_led.
  Qed.

  Lemma domains_permuted p c : In c (constraints m p) -> Permutation (map (leads (along c)) (eligible_domains m c)) (eligible_domains m c).
  Proof.
    intros c_in. apply NoDup_Permutation_bis.
    - apply FinFun.Injective_map_NoDup; [|apply NoDup_nodup]. intros d d'. apply (domains_apart _ _ _ _ E).
    - now rewrite map_length.
    - intros d d_in. apply in_map_iff in d_in. destruct d_in as [d' [<- d_in]]. unfold eligible_domains in *.
      rewrite nodup_In, in_flat_map in *. destruct d_in as [n [n_in is]]. apply filter_In in n_in. destruct n_in as [n_in can].
      exists (there n). split.
      + apply filter_In. split; [now apply (among_nodes _ _ _ _ E)|]. now rewrite (same_eligible _ _ _ _ E p c n c_in).
      + rewrite (domains_to_domains _ _ _ _ E). destruct (domain_of m (along c) n); [|contradiction].
        destruct is as [->|[]]. now left.
  Qed.

  Lemma even_led p n c : In c (constraints m p) -> even m led p (there n) c = even m s p n c.
  Proof.
    intros c_in. unfold even. rewrite (domains_to_domains _ _ _ _ E), (same_eligible _ _ _ _ E p c n c_in).
    destruct (domain_of m (along c) n) as [d|]; simpl; [|reflexivity].
    rewrite (counted_led p c d c_in). do 3 f_equal. unfold emptiest. destruct (min_domains c <=? _); [|reflexivity].
    rewrite <- (least_permutation _ _ (Permutation_map (fun d => count (counted m c d) led) (domains_permuted p c c_in))), map_map.
    f_equal. apply map_ext. intros e. now apply (counted_led p).
  Qed.

  Lemma in_use_led d n vs : in_use m d (there n) vs led = in_use m d n vs s.
  Proof.
    unfold in_use. induction vs as [|v rest IH]; simpl; [reflexivity|]. rewrite IH. f_equal.
    replace (is_empty (users m d (there n) v) led) with (is_empty (users m d n v) s); [reflexivity|].
    unfold is_empty, users. f_equal. induction (filter _ (pods m)) as [|q qs IHq]; simpl; [reflexivity|]. now rewrite IHq, led_on.
  Qed.

  Lemma volumes_fit_led p n : volumes_fit m led p (there n) = volumes_fit m s p n.
  Proof.
    unfold volumes_fit. rewrite (same_drivers _ _ _ _ E). f_equal. apply forallb_same. intros d _. unfold attachable, fresh, private_on.
    rewrite (same_volumes _ _ _ _ E). destruct (volume_limit m n d) as [[lim attached]|]; [|reflexivity].
    now rewrite !in_use_led, total_on.
  Qed.

  (** The rules do not notice. *)
  Theorem lets_in_led p n : lets_in m led p (there n) = lets_in m s p n.
  Proof.
    unfold lets_in. rewrite (same_filters _ _ _ _ E). f_equal. apply forallb_same. intros r _. f_equal. destruct r; simpl.
    - apply none_runs_led. intros [q k]. unfold holds_port. simpl. now rewrite there_apart.
    - apply fits_led.
    - f_equal; [f_equal|]; apply none_runs_led; intros [q k]; unfold holds_disk, holds_claim; simpl; [now rewrite there_apart|reflexivity].
    - apply volumes_fit_led.
    - apply forallb_same. intros c c_in. now apply even_led.
    - now rewrite affine_led, keeps_away_led.
    - apply quotas_led.
    - apply limits_led.
  Qed.
End Exchange.

Section Elsewhere.
  Variable q : question.
  Variables (there back : id -> id) (leads : id -> id -> id).
  Hypothesis E : exchange (cluster q) there back leads.
  Hypothesis same_kept : forall a, lookup (stays q) (moved there a) = lookup (stays q) a.
  Hypothesis kept_at_start : lookup (stays q) ≼ lookup (begins q).

  (** What is never met from a start with at least what the exchange makes of the
      real one is never met where the exchange came from. *)
  Theorem never_elsewhere (above : list (atom * N)) g :
    image (moved_from back) (lookup (begins q)) ≼ lookup above ->
    never (starting (cluster_problem q) (lookup above)) g ->
    never (cluster_problem q) (moved_back (moved there) g).
  Proof.
    intros high no.
    apply (never_of_images (cluster_problem q) (moved there) (moved_from back)) with (all := map fst above) (above := lookup above); auto.
    - intros a. apply (moved_and_back _ _ _ _ E).
    - intros a. apply (back_and_moved _ _ _ _ E).
    - intros a s [a_in can]. split; [now apply (moved_listed _ _ _ _ E)|]. simpl.
      change (image (moved_from back) s) with (led back s). now rewrite (lets_in_led _ _ _ _ E).
    - intros a d [turned same_node]. split; [assumption|]. simpl. now rewrite same_node.
    - intros a more. apply lookup_listed. lia.
  Qed.
End Elsewhere.
