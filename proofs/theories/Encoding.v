(** * Nets as clusters, by the rules of both semantics

    The cluster that the encoder makes of a net, with labels, selectors, topology
    keys and nodes, as a [model] of Rules.v.

    Under [Paper] there is one node, and a term for each label that is needed.  The
    real scheduler counts a pod only if it matches all terms, so under
    [KubeScheduler] all terms of a reader have one selector, for the kinds of what it
    reads, and topology tells the witnesses apart: for every reader and every
    signal it reads there is a key that just their two nodes have.  Nobody reads its own kind, so
    that no pod is ever the first of its kind.

    The rules let a pod in exactly if the protocol does ([lets_in_here]), so
    that the question is as hard as coverability of 1-safe nets under both
    semantics: [nets_are_clusters].

    encode/petri/pods.rs. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Configuration Problem Guard Rules Search Cluster Net Protocol Petri Embedding Names.
Import ListNotations.
Open Scope N_scope.

(** The kind of a signal: the label [signal] of its pods. *)
Definition kind (l : signal) : N :=
  match l with
  | at_place _ => 1 | is_ready => 2 | is_goal => 3 | start_of _ => 4 | execute_of _ => 5 | end_of _ => 6 | check_of _ => 7 | _ => 0
  end.

#[local] Opaque pod_types.

Section Encoding.
  Variable net_ : net positive positive.
  Variable sem : semantics.
  Variable goal : list positive.
  Variable room : N.

  Notation types := (pod_types net_ sem).
  Notation needs := (needs net_ sem goal).
  Notation avoids := (avoids net_ sem).
  Notation kube := (kube sem).
  Implicit Types (x y : role) (l : signal) (s : configuration atom).

  (** ** The cluster *)

  Definition here : positive := 1%positive.
  Definition node_of x : positive := if kube then name (home x) else here.

  Definition role_of (n : positive) : option role := find (fun x => Pos.eqb (number x) n) types.

  Definition is_initial x : bool := match x with Initial _ | First_ready => true | _ => false end.

  (** A selector for a label, and the one that all terms of a reader share. *)
  Definition of_label l : positive := mark 1 (name l).
  Definition of_reader x : positive := mark 2 (number x).

  Definition has_label y (n : positive) : bool := existsb (fun l => Pos.eqb (name l) n) (labels_of y).
  Definition is_read_by x y : bool := existsb (fun l => kind l =? kind (home y)) (needs x).

  Definition selects (m : positive) y : bool :=
    match unmark m with
    | (1%positive, n) => has_label y n
    | (2%positive, n) => match role_of n with Some x => is_read_by x y | None => false end
    | _ => false
    end.

  Definition selects_type (m q : positive) : bool := match role_of q with Some y => selects m y | None => false end.

  (** A topology key that all nodes share, and one that just a reader and a signal have. *)
  Definition everywhere : positive := mark 1 1.
  Definition link (reader read : signal) : positive := mark 2 (mark (name reader) (name read)).

  Definition value_of (k n : positive) : option positive :=
    match unmark k with
    | (1%positive, _) => Some here
    | (_, ends) => let (reader, read) := unmark ends in
                   if Pos.eqb n reader || Pos.eqb n read then Some here else None
    end.

  Definition label_term l : term := {| matcher := of_label l; key := everywhere |}.

  Definition near_terms x : list term :=
    if kube && negb (is_initial x)
    then map (fun l => {| matcher := of_reader x; key := link (home x) l |}) (needs x)
    else map label_term (needs x).

  Definition encoding : model := {|
    rules := sem; pods := map number types;
    nodes := if kube then map name (map home types ++ map at_place (places net_)) else [here];
    placeable q n := match role_of q with Some x => negb kube || is_initial x || Pos.eqb n (name (home x)) | None => false end;
    asks _ _ := true;
    resources := []; listed _ := []; number_of_pods := 1%positive;
    request _ _ := 0; allocatable _ _ := room;
    domain_of := value_of;
    sees m q _ := selects_type m q; sees_unbound := selects_type; notices := selects_type;
    likes q := match role_of q with Some x => near_terms x | None => [] end;
    dislikes q := match role_of q with Some x => map label_term (avoids x) | None => [] end;
    constraints _ := []; is_counted _ := true;
    ports_conflict _ _ := false; disks_conflict _ _ := false; claims_conflict _ _ := false; claim_missing _ := false;
    quotas _ := []; takes _ _ := 0; grants _ := 0; limits := [];
    drivers _ := []; driver_missing _ _ := false; volume_limit _ _ := None;
    volumes _ := []; shared _ _ := []; private _ _ := 0;
  |}.

  Definition image x : atom := (number x, node_of x).

  (** The initial tokens and a ready pod run at first. *)
  Definition encoded : question := {|
    cluster := encoding;
    begins := map (fun x => (image x, 1)) (First_ready :: map Initial (marked net_));
    stays := []; dying := [];
    waits := [];
  |}.

  Notation P := (protocol net_ sem goal room).
  Notation Q := (cluster_problem encoded).
  Notation at_home := (at_home image types).
  Notation view := (view image).

  (** ** What names mean *)

  Lemma role_of_number x : In x types -> role_of (number x) = Some x.
  Proof.
    intros x_in. unfold role_of. induction types as [|y rest IH]; [contradiction|]. simpl.
    destruct (Pos.eqb_spec (number y) (number x)) as [e|other]; [f_equal; now apply numbers_apart|].
    destruct x_in as [->|x_in]; [contradiction|auto].
  Qed.

  Lemma images_apart x y : image x = image y -> x = y.
  Proof. intros e. injection e as e _. now apply numbers_apart. Qed.

  Lemma image_listed x : In x types -> In (image x) (atoms encoding).
  Proof.
    intros x_in. apply in_prod_iff. simpl. split; [now apply in_map|]. unfold node_of. destruct kube; [|now left].
    apply in_map, in_or_app. left. now apply in_map.
  Qed.

  Lemma has_label_spec y l : has_label y (name l) = true <-> carries y l.
  Proof.
    unfold has_label. rewrite existsb_exists. split.
    - intros [k [k_in e]]. apply Pos.eqb_eq, names_apart in e. now subst.
    - intros l_in. exists l. split; [assumption|apply Pos.eqb_refl].
  Qed.

  Lemma selects_label y l : selects (of_label l) y = true <-> carries y l.
  Proof. unfold selects, of_label. rewrite unmark_mark. apply has_label_spec. Qed.

  Lemma selects_reader x y : In x types -> selects (of_reader x) y = is_read_by x y.
  Proof. intros x_in. unfold selects, of_reader. rewrite unmark_mark. now rewrite role_of_number. Qed.

  Lemma near_everywhere n n' : near_by encoding everywhere n n' = true.
  Proof. reflexivity. Qed.

  Lemma link_value r l n : value_of (link r l) n = if Pos.eqb n (name r) || Pos.eqb n (name l) then Some here else None.
  Proof. unfold value_of, link. rewrite unmark_mark. now rewrite unmark_mark. Qed.

  (** ** What the protocol reads *)

  Lemma needs_not_own x l : In l (needs x) -> ~ carries x l.
  Proof.
    intros l_in c. destruct x; unlike c; subst l; simpl in l_in; try destruct kube; simpl in l_in;
      try (destruct l_in as [e|l_in]; [discriminate|]); try contradiction;
      apply in_map_iff in l_in; destruct l_in as [q [e _]]; discriminate.
  Qed.

  Lemma not_read_by_itself x : is_initial x = false -> is_read_by x x = false.
  Proof.
    intros plain. unfold is_read_by. apply not_true_iff_false. rewrite existsb_exists. intros [l [l_in e]]. apply N.eqb_eq in e.
    destruct x; try discriminate; simpl in l_in, e; try destruct kube; simpl in l_in;
      try (destruct l_in as [<-|l_in]; [discriminate|]); try contradiction;
      apply in_map_iff in l_in; destruct l_in as [q [<- _]]; discriminate.
  Qed.

  (** Whoever carries what is needed signals it. *)
  Lemma needed_is_home x y l : is_initial x = false -> In l (needs x) -> carries y l -> home y = l.
  Proof.
    intros plain l_in c.
    assert (specific : match l with is_start | is_execute | is_end | is_check => False | _ => True end).
    { destruct x; try discriminate; simpl in l_in; try destruct kube; simpl in l_in;
        try (destruct l_in as [<-|l_in]; [exact I|]); try contradiction;
        apply in_map_iff in l_in; destruct l_in as [q [<- _]]; exact I. }
    destruct y; unlike c; subst l; (reflexivity || contradiction).
  Qed.

  Lemma home_carried y : carries y (home y).
  Proof. destruct y; simpl; unfold carries; simpl; auto. Qed.

  (** ** What the rules say *)

  Section At_home.
    Variable s : configuration atom.
    Hypothesis home_ : at_home s.

    Lemma runs_image y : 0 < view s y -> In y types.
    Proof. intros some. destruct (home_ (image y) some) as [z [z_in e]]. apply images_apart in e. now subst. Qed.

    Lemma some_runs_spec (is : atom -> bool) :
      some_runs encoding is s = true <-> exists y, In y types /\ is (image y) = true /\ 0 < view s y.
    Proof.
      unfold some_runs. rewrite existsb_exists. split.
      - intros [a [_ ok]]. apply andb_true_iff in ok. destruct ok as [ok some]. apply N.ltb_lt in some.
        destruct (home_ a some) as [y [y_in ->]]. now exists y.
      - intros [y [y_in [ok some]]]. exists (image y). split; [now apply image_listed|]. rewrite ok. now apply N.ltb_lt.
    Qed.

    Lemma none_runs_spec (is : atom -> bool) :
      none_runs encoding is s = true <-> forall y, In y types -> 0 < view s y -> is (image y) = false.
    Proof.
      unfold none_runs. rewrite negb_true_iff, <- not_true_iff_false, some_runs_spec. split.
      - intros no y y_in some. apply not_true_iff_false. intros ok. apply no. now exists y.
      - intros no [y [y_in [ok some]]]. rewrite (no y y_in some) in ok. discriminate.
    Qed.

    Lemma some_runs_label l (is : atom -> bool) :
      (forall y, In y types -> is (image y) = true <-> carries y l) -> some_runs encoding is s = true <-> runs (view s) l.
    Proof.
      intros means. rewrite some_runs_spec. split.
      - intros [y [y_in [ok some]]]. exists y. split; [now apply means|assumption].
      - intros [y [c some]]. pose proof (runs_image y some) as y_in. exists y. repeat split; [assumption|now apply means|assumption].
    Qed.

    Variable x : role.
    Hypothesis x_in : In x types.
    Notation p := (number x).
    Notation n := (node_of x).

    Lemma repelled_spec :
      none_runs encoding (is_repelled encoding p n) s = true <-> forall l, In l (avoids x) -> ~ runs (view s) l.
    Proof.
      rewrite none_runs_spec. unfold is_repelled. simpl. rewrite role_of_number by assumption. split.
      - intros no l l_in [y [c some]]. pose proof (runs_image y some) as y_in. specialize (no y y_in some).
        rewrite <- not_true_iff_false, existsb_exists in no. apply no. exists (label_term l). split; [now apply in_map|].
        simpl. unfold selects_type. rewrite role_of_number by assumption. rewrite andb_true_iff. split; [now apply selects_label|reflexivity].
      - intros no y y_in some. rewrite <- not_true_iff_false, existsb_exists. intros [t [t_in ok]].
        apply in_map_iff in t_in. destruct t_in as [l [<- l_in]]. simpl in ok. unfold selects_type in ok.
        rewrite role_of_number in ok by assumption. apply andb_true_iff in ok. destruct ok as [ok _].
        apply (no l l_in). exists y. split; [now apply selects_label|assumption].
    Qed.

    Lemma repels_spec :
      none_runs encoding (repels encoding p n) s = true <-> forall y l, 0 < view s y -> In l (avoids y) -> ~ carries x l.
    Proof.
      rewrite none_runs_spec. unfold repels. simpl. split.
      - intros no y l some l_in c. pose proof (runs_image y some) as y_in. specialize (no y y_in some).
        rewrite role_of_number in no by assumption. rewrite <- not_true_iff_false, existsb_exists in no. apply no.
        exists (label_term l). split; [now apply in_map|].
        simpl. unfold selects_type. rewrite role_of_number by assumption. rewrite andb_true_iff. split; [now apply selects_label|reflexivity].
      - intros no y y_in some. rewrite role_of_number by assumption. rewrite <- not_true_iff_false, existsb_exists. intros [t [t_in ok]].
        apply in_map_iff in t_in. destruct t_in as [l [<- l_in]]. simpl in ok. unfold selects_type in ok.
        rewrite role_of_number in ok by assumption. apply andb_true_iff in ok. destruct ok as [ok _].
        apply (no y l some l_in). now apply selects_label.
    Qed.

    (** A term for one label, wherever on the node or anywhere. *)
    Lemma label_friend l ts : ts = [label_term l] ->
      some_runs encoding (near_friend encoding ts (label_term l) n) s = true <-> runs (view s) l.
    Proof.
      intros ->. apply some_runs_label. intros y y_in. unfold near_friend, friend. simpl. unfold selects_type.
      rewrite role_of_number by assumption. rewrite near_everywhere, !andb_true_r. apply selects_label.
    Qed.

    Lemma label_itself l : carries x l <-> matches_itself encoding [label_term l] p = true.
    Proof.
      unfold matches_itself. simpl. unfold selects_type. rewrite role_of_number by assumption. rewrite andb_true_r. now rewrite selects_label.
    Qed.

    Lemma affine_paper_spec : sem = Paper ->
      affine_paper encoding s p n = true <-> forall l, In l (needs x) -> runs (view s) l.
    Proof.
      intros is. unfold affine_paper. simpl. rewrite role_of_number by assumption.
      assert (terms : near_terms x = map label_term (needs x)) by (unfold near_terms, Protocol.kube; now rewrite is).
      rewrite terms, forallb_forall. split.
      - intros ok l l_in. specialize (ok (label_term l) (in_map label_term _ _ l_in)). apply orb_true_iff in ok. destruct ok as [ok|first].
        + now apply (label_friend l _ eq_refl).
        + apply andb_true_iff in first. destruct first as [own _]. apply label_itself in own. now apply needs_not_own in l_in.
      - intros ok t t_in. apply in_map_iff in t_in. destruct t_in as [l [<- l_in]]. apply orb_true_iff. left.
        apply (label_friend l _ eq_refl). auto.
    Qed.

    (** Under kube-scheduler, a witness for a signal that is read is on the node of that signal. *)
    Lemma link_friend l : sem = KubeScheduler -> is_initial x = false -> In l (needs x) ->
      some_runs encoding (near_friend encoding (near_terms x) {| matcher := of_reader x; key := link (home x) l |} n) s = true
      <-> runs (view s) l.
    Proof.
      intros is plain l_in. apply some_runs_label. intros y y_in.
      assert (terms : near_terms x = map (fun l => {| matcher := of_reader x; key := link (home x) l |}) (needs x)).
      { unfold near_terms, Protocol.kube. rewrite is, plain. reflexivity. }
      assert (node : forall z, node_of z = name (home z)) by (intros z; unfold node_of, Protocol.kube; now rewrite is).
      assert (friend_spec : friend encoding (near_terms x) (image y) = true <-> is_read_by x y = true).
      { unfold friend. rewrite terms, forallb_forall. split.
        - intros all_. specialize (all_ _ (in_map (fun l => {| matcher := of_reader x; key := link (home x) l |}) _ _ l_in)).
          simpl in all_. unfold selects_type in all_. rewrite role_of_number in all_ by assumption. now rewrite selects_reader in all_.
        - intros read t t_in. apply in_map_iff in t_in. destruct t_in as [k [<- _]]. simpl. unfold selects_type.
          rewrite role_of_number by assumption. now rewrite selects_reader. }
      unfold near_friend. rewrite andb_true_iff, friend_spec. unfold near_by. simpl. rewrite !node, !link_value, Pos.eqb_refl. simpl.
      split.
      - intros [read near_]. destruct (Pos.eqb_spec (name (home y)) (name (home x))) as [e|_].
        + apply names_apart in e. unfold is_read_by in read. rewrite e in read. fold (is_read_by x x) in read.
          rewrite not_read_by_itself in read; [discriminate|assumption].
        + simpl in near_. destruct (Pos.eqb_spec (name (home y)) (name l)) as [e|_]; [|discriminate].
          apply names_apart in e. rewrite <- e. apply home_carried.
      - intros c. pose proof (needed_is_home x y l plain l_in c) as e. split.
        + unfold is_read_by. apply existsb_exists. exists l. split; [assumption|]. rewrite e. apply N.eqb_refl.
        + rewrite e, Pos.eqb_refl, orb_true_r. reflexivity.
    Qed.

    Lemma affine_kube_spec : sem = KubeScheduler ->
      affine_kube encoding s p n = true <-> forall l, In l (needs x) -> runs (view s) l.
    Proof.
      intros is. unfold affine_kube. simpl. rewrite role_of_number by assumption.
      assert (node : n = name (home x)) by (unfold node_of, Protocol.kube; now rewrite is).
      destruct (is_initial x) eqn:initial.
      - (* the label that nobody has *)
        assert (one : near_terms x = [label_term nobody]).
        { unfold near_terms. rewrite initial, andb_false_r. destruct x; try discriminate; reflexivity. }
        assert (none : ~ runs (view s) nobody) by (intros [y [c _]]; destruct y; unlike c).
        rewrite one. split.
        + simpl. rewrite andb_true_r, orb_true_iff. intros [ok|ok].
          * now apply (label_friend nobody _ eq_refl) in ok.
          * apply andb_true_iff in ok. destruct ok as [own _]. apply label_itself in own. destruct x; unlike own.
        + intros need. exfalso. apply none, need. destruct x; try discriminate; now left.
      - assert (terms : near_terms x = map (fun l => {| matcher := of_reader x; key := link (home x) l |}) (needs x)).
        { unfold near_terms, Protocol.kube. rewrite is, initial. reflexivity. }
        assert (keys : forallb (fun t => has_key encoding (key t) n) (near_terms x) = true).
        { rewrite terms. apply forallb_forall. intros t t_in. apply in_map_iff in t_in. destruct t_in as [l [<- _]].
          unfold has_key. simpl. rewrite node, link_value, Pos.eqb_refl. reflexivity. }
        rewrite keys, andb_true_l, orb_true_iff, forallb_forall. split.
        + intros [ok|ok] l l_in.
          * apply (link_friend l is initial l_in). apply ok. rewrite terms.
            now apply (in_map (fun l => {| matcher := of_reader x; key := link (home x) l |})).
          * apply andb_true_iff in ok. destruct ok as [own _]. unfold matches_itself in own. rewrite terms, forallb_forall in own.
            specialize (own _ (in_map (fun l => {| matcher := of_reader x; key := link (home x) l |}) _ _ l_in)). simpl in own.
            unfold selects_type in own. rewrite role_of_number in own by assumption. rewrite selects_reader in own by assumption.
            rewrite not_read_by_itself in own by assumption. discriminate.
        + intros need. left. intros t t_in. pose proof t_in as t_in'. rewrite terms in t_in'. apply in_map_iff in t_in'.
          destruct t_in' as [l [<- l_in]]. apply (link_friend l is initial l_in). auto.
    Qed.

    (** On a node are the pods whose node it is. *)
    Lemma fits_spec : sem = KubeScheduler -> fits encoding s p n = true <-> crowd net_ sem (view s) (home x) < room.
    Proof.
      intros is. assert (asked : checked encoding p = [1%positive]) by (unfold checked, is_kube; simpl; now rewrite is).
      unfold fits. rewrite asked. cbn [forallb allocatable encoding]. rewrite andb_true_r, N.leb_le.
      assert (node : forall z, node_of z = name (home z)) by (intros z; unfold node_of, Protocol.kube; now rewrite is).
      assert (used : total (on_node encoding n 1%positive) s = crowd net_ sem (view s) (home x)).
      { unfold on_node, crowd. simpl. rewrite map_map.
        assert (elsewhere : forall y k, k <> node_of y -> In y types -> s (number y, k) = 0).
        { intros y k other y_in. destruct (N.eq_0_gt_0_cases (s (number y, k))) as [|some]; [assumption|].
          destruct (home_ _ some) as [z [_ e]]. injection e as e e'. apply numbers_apart in e. subst. contradiction. }
        assert (each_ : forall k : list role, incl k types -> total (map (fun y => (number y, n, 1)) k) s
                        = count (filter (fun y => if eq_dec (home y) (home x) then true else false) k) (view s)).
        { induction k as [|y rest IH]; simpl; intros sub; [reflexivity|]. rewrite IH by (intros z z_in; apply sub; now right).
          destruct (eq_dec (home y) (home x)) as [e|other]; simpl.
          - unfold view, Embedding.view, image. rewrite !node, e, N.mul_1_l. reflexivity.
          - rewrite elsewhere; [lia| |apply sub; now left]. rewrite !node. intros e. apply names_apart in e. congruence. }
        apply each_, incl_refl. }
      rewrite used. change (weight encoding p 1%positive) with 1. lia.
    Qed.

    (** The rules let a pod in exactly if the protocol does. *)
    Theorem lets_in_here : lets_in encoding s p n = true <-> lets net_ sem goal room (view s) x.
    Proof.
      assert (nothing_such : forall is, (forall a, is a = false) -> none_runs encoding is s = true).
      { intros is no. apply none_runs_spec. auto. }
      unfold lets_in. cbn [every_rule forallb placeable asks encoding andb negb orb obeys].
      rewrite !nothing_such by reflexivity.
      unfold volumes_fit, within_quotas, within_limits, keeps_away, affine.
      cbn [forallb claim_missing driver_missing drivers constraints quotas limits encoding negb andb orb].
      rewrite !andb_true_r. rewrite role_of_number by assumption.
      replace (negb kube || is_initial x || Pos.eqb n (name (home x))) with true.
      2: { unfold node_of. destruct kube; [|reflexivity]. rewrite Pos.eqb_refl. now rewrite orb_true_r. }
      rewrite andb_true_l, !andb_true_iff. unfold lets. rewrite repelled_spec.
      unfold is_kube. cbn [rules encoding]. destruct sem eqn:is.
      - rewrite <- is in *. rewrite affine_kube_spec, fits_spec by assumption. cbn [negb orb].
        rewrite repels_spec. tauto.
      - rewrite <- is in *. rewrite affine_paper_spec by assumption. cbn [negb orb].
        assert (fit : fits encoding s p n = true) by (unfold fits, checked, is_kube; simpl; now rewrite is).
        rewrite fit. intuition congruence.
    Qed.
  End At_home.

  (** ** The theorem *)

  Lemma counts_alone x (s t : configuration role) : s ≐ t -> hard P x s -> hard P x t.
  Proof.
    intros e [type [need [avoid kube_]]]. apply same_within in e as st. apply same_sym in e as e'. apply same_within in e' as ts.
    refine (conj type (conj _ (conj _ _))).
    - intros l l_in. eapply runs_less; [exact st|auto].
    - intros l l_in r. apply (avoid l l_in). eapply runs_less; [exact ts|exact r].
    - intros is. destruct (kube_ is) as [away fit]. split.
      + intros y l some. apply away. now rewrite e.
      + unfold crowd in *. now rewrite <- (count_same _ _ _ e).
  Qed.

  Lemma rules_alike s b : at_home s -> (hard Q b s <-> exists x, In x types /\ b = image x /\ hard P x (view s)).
  Proof.
    intros home_. split.
    - intros [[b_in can] _]. destruct b as [q n]. simpl in can.
      assert (which : exists x, In x types /\ q = number x).
      { apply in_prod_iff in b_in. destruct b_in as [q_in _]. apply in_map_iff in q_in. destruct q_in as [x [<- x_in]]. eauto. }
      destruct which as [x [x_in ->]]. exists x.
      assert (at_node : n = node_of x \/ is_initial x = true /\ kube = true).
      { unfold lets_in in can. apply andb_true_iff in can. destruct can as [place _]. simpl in place.
        rewrite role_of_number in place by assumption. unfold node_of. rewrite !orb_true_iff in place.
        apply in_prod_iff in b_in. destruct b_in as [_ n_in]. simpl in n_in. destruct kube.
        - destruct place as [[|]|e]; [discriminate|tauto|]. left. now apply Pos.eqb_eq.
        - destruct n_in as [<-|[]]. now left. }
      destruct at_node as [->|[initial is]].
      + refine (conj x_in (conj eq_refl (conj x_in _))). now apply lets_in_here.
      + (* what was there at first never comes again, on no node *)
        exfalso. unfold lets_in in can. rewrite andb_true_iff, forallb_forall in can. destruct can as [_ can].
        specialize (can InterPodAffinity). simpl in can. assert (ok := can ltac:(auto 10)). clear can.
        apply andb_true_iff in ok. destruct ok as [ok _]. unfold affine, is_kube in ok. simpl in ok.
        unfold Protocol.kube in is. destruct sem eqn:is_sem; [|discriminate]. rewrite <- is_sem in *.
        unfold affine_kube in ok. simpl in ok. rewrite role_of_number in ok by assumption.
        assert (one : near_terms x = [label_term nobody]).
        { unfold near_terms. rewrite initial, andb_false_r. destruct x; try discriminate; reflexivity. }
        rewrite one in ok. simpl in ok. rewrite andb_true_r, orb_true_iff in ok. destruct ok as [ok|ok].
        * apply (some_runs_spec s home_) in ok. destruct ok as [y [y_in [ok _]]]. unfold near_friend, friend in ok. simpl in ok.
          unfold selects_type in ok. rewrite role_of_number in ok by assumption. rewrite !andb_true_iff in ok.
          destruct ok as [[ok _] _]. apply selects_label in ok. destruct y; unlike ok.
        * apply andb_true_iff in ok. destruct ok as [own _]. apply label_itself in own; [|assumption]. destruct x; unlike own.
    - intros [x [x_in [-> [_ can]]]]. split; [|reflexivity]. split; [now apply image_listed|]. now apply lets_in_here.
  Qed.

  Lemma begins_spec y : lookup (begins encoded) (image y) = starts_with net_ y.
  Proof.
    assert (spec : forall k : list role, lookup (map (fun x => (image x, 1)) k) (image y) = if in_dec eq_dec y k then 1 else 0).
    { induction k as [|x k IH]; [reflexivity|]. cbn [map]. unfold lookup in *. cbn [fold_right]. rewrite IH.
      destruct (in_dec eq_dec y (x :: k)) as [yes|no], (in_dec eq_dec y k) as [yes'|no'], (eq_dec (image x) (image y)) as [e|other];
        try reflexivity; try (apply images_apart in e; subst); simpl in *; exfalso; intuition congruence. }
    unfold encoded. cbn [begins]. rewrite spec.
    assert (initial : In y (First_ready :: map Initial (marked net_)) <-> 0 < starts_with net_ y).
    { simpl. rewrite in_map_iff. destruct y; simpl; try destruct (in_dec eq_dec p (marked net_)) as [yes|no]; split;
        try lia; try (intros [e|[q [e q_in]]]; try discriminate; try lia); auto.
      - right. eauto.
      - injection e as ->. contradiction. }
    assert (few : starts_with net_ y <= 1) by (destruct y; simpl; try lia; destruct (in_dec eq_dec p (marked net_)); lia).
    destruct (in_dec eq_dec y (First_ready :: map Initial (marked net_))) as [yes|no].
    - apply initial in yes. lia.
    - destruct (N.eq_0_gt_0_cases (starts_with net_ y)) as [->|some]; [reflexivity|now apply initial in some].
  Qed.

  Lemma begins_home : at_home (start Q).
  Proof.
    intros b some. assert (b_in : In b (map fst (begins encoded))) by (apply lookup_listed; intros zero; change (0 < lookup (begins encoded) b) in some; lia).
    unfold encoded in b_in. cbn [begins] in b_in. rewrite map_map in b_in. apply in_map_iff in b_in. destruct b_in as [y [<- _]].
    exists y. split; [|reflexivity]. apply (running_types net_ sem goal room (starts_with net_)); [apply at_start, same_refl|].
    rewrite <- begins_spec. exact some.
  Qed.

  (** A net can mark the places exactly if the goal pod is deployable in its cluster, by the rules of either semantics. *)
  Theorem nets_are_clusters : 1 <= room -> one_safe net_ ->
    covers net_ goal <-> deployable Q [nothing ⊕ image Goal].
  Proof.
    intros some_room safe. rewrite (petri net_ sem goal room some_room safe).
    apply (embedded P Q image types images_apart); try easy.
    - intros x b s _ _. split; [intros [[[] _]|[no _]]; discriminate|now intros [d [_ [_ []]]]].
    - exact begins_home.
    - exact begins_spec.
    - exact counts_alone.
    - exact rules_alike.
    - intros x s [type _]. exact type.
    - exact (goal_type net_ sem).
  Qed.
End Encoding.
