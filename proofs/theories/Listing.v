(** * Exchanges as proofs list them

    Every node that moves, and where to.  The checker tests that this permutes nodes, that no
    table which some pod type uses tells a node from where it goes, that what is near it
    stays near it, and that the kept pods are the same.  Then it is an exchange
    that the rules do not notice (Exchange.v).

    check/symmetry.rs, [is_symmetry]. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Configuration Problem Rules Search Cluster Exchange.
Import ListNotations.
Open Scope N_scope.

(** Every node that moves, and where to. *)
Definition listing : Type := list (id * id).

Definition goes (e : listing) (n : id) : id := match find (fun '(f, _) => Pos.eqb f n) e with Some (_, t) => t | None => n end.
Definition comes (e : listing) (n : id) : id := match find (fun '(_, t) => Pos.eqb t n) e with Some (f, _) => f | None => n end.

(** No node twice, and those that nodes go to are those that move. *)
Definition permutes (e : listing) : bool :=
  no_twice (map fst e) && no_twice (map snd e) && forallb (has_id (map fst e)) (map snd e).

Lemma goes_spec e n : (In (n, goes e n) e) \/ (~ In n (map fst e) /\ goes e n = n).
Proof.
  unfold goes. destruct (find _ e) as [[f t]|] eqn:found.
  - apply find_some in found. destruct found as [in_ is]. apply Pos.eqb_eq in is. subst. now left.
  - right. split; [|reflexivity]. intros n_in. apply in_map_iff in n_in. destruct n_in as [[f t] [<- in_]].
    pose proof (find_none _ _ found _ in_) as no. simpl in no. rewrite Pos.eqb_refl in no. discriminate.
Qed.

Lemma comes_spec e n : (In (comes e n, n) e) \/ (~ In n (map snd e) /\ comes e n = n).
Proof.
  unfold comes. destruct (find _ e) as [[f t]|] eqn:found.
  - apply find_some in found. destruct found as [in_ is]. apply Pos.eqb_eq in is. subst. now left.
  - right. split; [|reflexivity]. intros n_in. apply in_map_iff in n_in. destruct n_in as [[f t] [<- in_]].
    pose proof (find_none _ _ found _ in_) as no. simpl in no. rewrite Pos.eqb_refl in no. discriminate.
Qed.

Section Permutes.
  Variable e : listing.
  Hypothesis ok : permutes e = true.

  Lemma permutes_parts : NoDup (map fst e) /\ NoDup (map snd e) /\ incl (map snd e) (map fst e) /\ incl (map fst e) (map snd e).
  Proof.
    unfold permutes in ok. rewrite !andb_true_iff, forallb_forall in ok. destruct ok as [[froms tos] sub].
    apply no_twice_spec in froms, tos.
    assert (sub' : incl (map snd e) (map fst e)) by (intros t t_in; now apply has_id_spec, sub).
    repeat split; auto. apply NoDup_length_incl; auto. now rewrite !map_length.
  Qed.

  Lemma same_to f t t' : In (f, t) e -> In (f, t') e -> t = t'.
  Proof.
    destruct permutes_parts as [once _]. clear ok. induction e as [|[g u] rest IH]; simpl in *; [contradiction|].
    inversion once as [|? ? out once']; subst. intros [[= -> ->]|l] [[= <-]|r]; auto.
    - apply (in_map fst) in r. contradiction.
    - subst. apply (in_map fst) in l. contradiction.
  Qed.

  Lemma same_from f f' t : In (f, t) e -> In (f', t) e -> f = f'.
  Proof.
    destruct permutes_parts as [_ [once _]]. clear ok. induction e as [|[g u] rest IH]; simpl in *; [contradiction|].
    inversion once as [|? ? out once']; subst. intros [[= -> ->]|l] [[= <-]|r]; auto.
    - apply (in_map snd) in r. contradiction.
    - subst. apply (in_map snd) in l. contradiction.
  Qed.

  Lemma goes_and_comes n : comes e (goes e n) = n.
  Proof.
    destruct permutes_parts as [_ [_ [sub _]]]. destruct (goes_spec e n) as [pair|[out is]].
    - destruct (comes_spec e (goes e n)) as [pair'|[out _]]; [now apply (same_from _ _ (goes e n))|].
      apply (in_map snd) in pair. contradiction.
    - rewrite is. destruct (comes_spec e n) as [pair|[_ is']]; [|assumption]. apply (in_map snd) in pair. now apply sub in pair.
  Qed.

  Lemma comes_and_goes n : goes e (comes e n) = n.
  Proof.
    destruct permutes_parts as [_ [_ [_ sub]]]. destruct (comes_spec e n) as [pair|[out is]].
    - destruct (goes_spec e (comes e n)) as [pair'|[out _]]; [now apply (same_to (comes e n))|].
      apply (in_map fst) in pair. contradiction.
    - rewrite is. destruct (goes_spec e n) as [pair|[_ is']]; [|assumption]. apply (in_map fst) in pair. now apply sub in pair.
  Qed.
End Permutes.

(** What is the same of each node and where it goes is the same of all. *)
Lemma goes_same {B} (h : id -> B) e : (forall f t, In (f, t) e -> h t = h f) -> forall n, h (goes e n) = h n.
Proof. intros each_ n. destruct (goes_spec e n) as [pair|[_ ->]]; [now apply each_|reflexivity]. Qed.

(** ** Which of them the rules do not notice *)

Section Exchanges.
  Variable q : question.
  Notation m := (cluster q).

  Definition same_limit (l l' : option (N * N)) : bool :=
    match l, l' with
    | Some (a, b), Some (c, d) => (a =? c) && (b =? d)
    | None, None => true
    | _, _ => false
    end.

  Lemma same_limit_spec l l' : same_limit l l' = true -> l = l'.
  Proof.
    destruct l as [[a b]|], l' as [[c d]|]; simpl; try discriminate; [|reflexivity].
    rewrite andb_true_iff, !N.eqb_eq. now intros [-> ->].
  Qed.

  (** No table tells two nodes apart, as far as it is about a pod type; nor do the kept pods. *)
  Definition alike_to (f t p : id) : bool :=
    Bool.eqb (placeable m p t) (placeable m p f)
    && forallb (fun r => allocatable m t r =? allocatable m f r) (checked m p)
    && forallb (fun c => Bool.eqb (looks_at c t) (looks_at c f)) (constraints m p)
    && Bool.eqb (driver_missing m p t) (driver_missing m p f)
    && forallb (fun d => same_limit (volume_limit m t d) (volume_limit m f d)) (drivers m p)
    && (lookup (stays q) (p, t) =? lookup (stays q) (p, f)).

  Definition alike (f t : id) : bool := forallb (alike_to f t) (pods m).

  (** Nor does a matcher. *)
  Definition seen_alike (f t x : id) : bool := forallb (fun p => Bool.eqb (sees m x p t) (sees m x p f)) (pods m).

  (** What is near a node that moves is near where it goes. *)
  Definition domain_kept (e : listing) (f t k : id) : bool :=
    Bool.eqb (has_key m k t) (has_key m k f)
    && forallb (fun n => Bool.eqb (near_by m k t (goes e n)) (near_by m k f n)) (nodes m).

  Definition all_keys : list id := nodup Pos.eq_dec (flat_map (keys_of m) (pods m)).
  Definition all_matchers : list id := nodup Pos.eq_dec (flat_map (matchers_of m) (pods m)).

  Definition is_exchange (keys matchers : list id) (e : listing) : bool :=
    permutes e
    && forallb (fun '(f, t) => has_id (nodes m) f && alike f t && forallb (seen_alike f t) matchers
                               && forallb (domain_kept e f t) keys) e.

  (** A document may tell nodes apart that no table does, by their faces and by keys that
      no pod type uses.  Nothing depends on it: it only refuses more, and is here because the
      checker in Rust compares these, so that both answer the same. *)
  Definition same_faces (face : id -> id) (keys : list id) (e : listing) : bool :=
    forallb (fun '(f, t) => Pos.eqb (face t) (face f) && forallb (domain_kept e f t) keys) e.

  Lemma near_by_symmetric k n n' : near_by m k n n' = near_by m k n' n.
  Proof. unfold near_by. destruct (domain_of m k n), (domain_of m k n'); try reflexivity. apply Pos.eqb_sym. Qed.

  Hypothesis ok : sensible q = true.

  Theorem is_exchange_spec e : is_exchange all_keys all_matchers e = true ->
    exchange m (goes e) (comes e) /\ (forall a, lookup (stays q) (moved (goes e) a) = lookup (stays q) a).
  Proof.
    unfold is_exchange. rewrite andb_true_iff, forallb_forall. intros [perm each_].
    assert (pairs : forall f t, In (f, t) e -> In f (nodes m) /\ (forall p, In p (pods m) -> alike_to f t p = true)
                      /\ (forall x, used_matcher m x -> forall p, In p (pods m) -> sees m x p t = sees m x p f)
                      /\ (forall k, used_key m k -> has_key m k t = has_key m k f
                            /\ forall n, In n (nodes m) -> near_by m k t (goes e n) = near_by m k f n)).
    { intros f t in_. specialize (each_ _ in_). simpl in each_. rewrite !andb_true_iff in each_.
      destruct each_ as [[[f_in same_] seen] near_]. apply has_id_spec in f_in. unfold alike, seen_alike, domain_kept in *.
      rewrite forallb_forall in same_, seen, near_. repeat split; auto.
      - intros x [p [p_in x_in]] r r_in. assert (x_all : In x all_matchers) by (apply nodup_In, in_flat_map; eauto).
        specialize (seen x x_all). rewrite forallb_forall in seen. now apply eqb_prop, seen.
      - destruct H as [p [p_in k_in]]. assert (k_all : In k all_keys) by (apply nodup_In, in_flat_map; eauto).
        specialize (near_ k k_all). apply andb_true_iff in near_. destruct near_ as [keys _]. now apply eqb_prop in keys.
      - destruct H as [p [p_in k_in]]. assert (k_all : In k all_keys) by (apply nodup_In, in_flat_map; eauto).
        specialize (near_ k k_all). apply andb_true_iff in near_. destruct near_ as [_ near_]. rewrite forallb_forall in near_.
        intros n n_in. now apply eqb_prop, near_. }
    assert (tables_ : forall p f t, In p (pods m) -> In (f, t) e ->
              placeable m p t = placeable m p f /\ (forall r, In r (checked m p) -> allocatable m t r = allocatable m f r)
              /\ (forall c, In c (constraints m p) -> looks_at c t = looks_at c f) /\ driver_missing m p t = driver_missing m p f
              /\ (forall d, In d (drivers m p) -> volume_limit m t d = volume_limit m f d)
              /\ lookup (stays q) (p, t) = lookup (stays q) (p, f)).
    { intros p f t p_in in_. destruct (pairs f t in_) as [_ [same_ _]]. specialize (same_ p p_in). unfold alike_to in same_.
      rewrite !andb_true_iff, !forallb_forall in same_. destruct same_ as [[[[[can caps] looks] miss] vols] kept_].
      apply eqb_prop in can, miss. apply N.eqb_eq in kept_. repeat split; auto.
      - intros r r_in. now apply N.eqb_eq, caps.
      - intros c c_in. now apply eqb_prop, looks.
      - intros d d_in. now apply same_limit_spec, vols. }
    destruct (parts q ok) as [_ [nodes_once [_ [listed [low _]]]]]. split.
    - split.
      + now apply goes_and_comes.
      + now apply comes_and_goes.
      + assumption.
      + intros n n_in. destruct (goes_spec e n) as [pair|[_ ->]]; [|assumption].
        apply (in_map snd) in pair. destruct (permutes_parts e perm) as [_ [_ [sub _]]]. apply sub, in_map_iff in pair.
        destruct pair as [[f t] [is in_]]. simpl in is. subst. now apply (pairs (goes e n) t).
      + intros p n p_in. apply (goes_same (placeable m p)). intros f t in_. now apply tables_.
      + intros p r n p_in r_in. apply (goes_same (fun n => allocatable m n r)). intros f t in_. now apply (tables_ p f t).
      + intros k n used _. apply (goes_same (has_key m k)). intros f t in_. destruct (pairs f t in_) as [_ [_ [_ near_]]]. now apply near_.
      + intros k n n' used n_in n_in'. destruct (goes_spec e n) as [pair|[_ stays_]].
        * destruct (pairs _ _ pair) as [_ [_ [_ near_]]]. now apply near_.
        * destruct (goes_spec e n') as [pair|[_ stays_']]; [|now rewrite stays_, stays_'].
          destruct (pairs _ _ pair) as [_ [_ [_ near_]]]. rewrite near_by_symmetric, (near_by_symmetric k n n'). now apply near_.
      + intros x p n used p_in. apply (goes_same (sees m x p)). intros f t in_. destruct (pairs f t in_) as [_ [_ [seen _]]]. now apply seen.
      + intros p c n p_in c_in. apply (goes_same (looks_at c)). intros f t in_. now apply (tables_ p f t).
      + intros p n p_in. apply (goes_same (driver_missing m p)). intros f t in_. now apply tables_.
      + intros p d n p_in d_in. apply (goes_same (fun n => volume_limit m n d)). intros f t in_. now apply (tables_ p f t).
    - intros [p n]. unfold moved. simpl. apply (goes_same (fun n => lookup (stays q) (p, n))). intros f t in_.
      destruct (in_dec Pos.eq_dec p (pods m)) as [p_in|p_out]; [now apply tables_|].
      assert (zero : forall k, lookup (stays q) (p, k) = 0).
      { intros k. specialize (low (p, k)). rewrite listed in low; [lia|]. intros a_in. apply atom_listed in a_in. tauto. }
      now rewrite !zero.
  Qed.
End Exchanges.
