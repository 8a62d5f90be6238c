(** * Nodes that are still starting

    Such a node gets, in one step, labels, devices and drivers that it lacks.  Which labels, with which
    values, is not known, so a _never_ is proved about a cluster in which it has none of them and
    nothing is asked that depends on them.  Here is that cluster, and that it lets in whatever is let in
    on the way, whichever nodes have started and whatever came to them.

    Two things could go wrong.  A requirement on a label may hold only once the label is there: so it is
    dropped on such nodes.  And a label makes nodes neighbours: friends that come near need not be
    asked for, and domains that come need not be counted; pods that repel each other may stay
    apart less, since without the label nobody is near.

    weakenings/starting.rs; weakenings/weakening.rs, [Weakening::Starting]. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Lists Configuration Problem Rules Cluster Weakening Weakenings.
Import ListNotations.
Open Scope N_scope.

(** ** Of tables *)

Section Starting.
  (** The cluster without what may come, its nodes settled. *)
  Variable m : model.
  (** The keys that some node may get; the matchers that look at a label which pods carry of their nodes; the types whose
      constraints look at nodes by such a key; the constraints that look at other nodes while some have not settled. *)
  Variables (open vague : id -> bool) (anew : id -> bool) (doubtful : id -> constraint -> bool).
  (** With all that may come: where the static filters let a type in, what there is of a resource, which drivers are
      missing, and how many volumes go on a node. *)
  Variables (places : id -> id -> bool) (has : id -> id -> N) (missing : id -> id -> bool) (room : id -> id -> option (N * N)).

  (** Whatever depends on which labels come is not asked. *)
  Definition starting : model := {|
    rules := rules m; pods := pods m; nodes := nodes m;
    placeable := places; asks := asks m;
    resources := resources m; listed := listed m; number_of_pods := number_of_pods m; request := request m;
    allocatable := has; domain_of := domain_of m; sees := sees m; sees_unbound := sees_unbound m; notices := notices m;
    likes p := if existsb (fun t => open (key t) || vague (matcher t)) (likes m p) then [] else likes m p;
    dislikes p := filter (fun t => negb (vague (matcher t))) (dislikes m p);
    constraints p := if anew p then []
                     else map (fun c => if vague (whom c) || doubtful p c then any_skew c else c) (constraints m p);
    is_counted := is_counted m;
    ports_conflict := ports_conflict m; disks_conflict := disks_conflict m; claims_conflict := claims_conflict m;
    claim_missing := claim_missing m;
    quotas := quotas m; takes := takes m; grants := grants m; limits := limits m;
    drivers := drivers m; driver_missing := missing; volume_limit := room;
    volumes := volumes m; shared := shared m; private := private m;
  |}.

  (** A constraint is the same, but for the nodes that it looks at. *)
  Definition same_but_nodes (p : id) (c c_then : constraint) : Prop :=
    whom c_then = whom c /\ along c_then = along c /\ skew c_then = skew c /\ min_domains c_then = min_domains c
    /\ counts c_then = counts c
    /\ (anew p = false -> doubtful p c = false -> looks_at c_then = looks_at c).

  (** The tables on the way: some nodes have started, some have not, and some of what may come is there. *)
  Record comes_up (then_ : model) : Prop := {
    up_kube : rules m = KubeScheduler /\ rules then_ = KubeScheduler;
    up_pods : pods then_ = pods m;
    up_nodes : nodes then_ = nodes m;
    up_asks : asks then_ = asks m;
    up_resources : resources then_ = resources m /\ listed then_ = listed m
      /\ number_of_pods then_ = number_of_pods m /\ request then_ = request m;
    up_unbound : sees_unbound then_ = sees_unbound m /\ notices then_ = notices m;
    up_terms : likes then_ = likes m /\ dislikes then_ = dislikes m;
    up_conflicts : ports_conflict then_ = ports_conflict m /\ disks_conflict then_ = disks_conflict m
      /\ claims_conflict then_ = claims_conflict m /\ claim_missing then_ = claim_missing m;
    up_quotas : quotas then_ = quotas m /\ takes then_ = takes m /\ grants then_ = grants m /\ limits then_ = limits m;
    up_volumes : drivers then_ = drivers m /\ volumes then_ = volumes m /\ shared then_ = shared m /\ private then_ = private m;
    up_counted : is_counted then_ = is_counted m;
    (** What a node has it keeps, and only open keys come. *)
    up_keeps : forall k n d, domain_of m k n = Some d -> domain_of then_ k n = Some d;
    up_closed : forall k n, open k = false -> domain_of then_ k n = domain_of m k n;
    up_sees : forall w q n, vague w = false -> sees then_ w q n = sees m w q n;
    up_constraints : forall p, Forall2 (same_but_nodes p) (constraints m p) (constraints then_ p);
    (** Along an open key they look at nodes anew. *)
    up_anew : forall p c, In c (constraints m p) -> anew p = false -> open (along c) = false;
    up_places : forall p n, placeable then_ p n = true -> places p n = true;
    up_has : forall n r, allocatable then_ n r <= has n r;
    up_missing : forall p n, missing p n = true -> driver_missing then_ p n = true;
    up_room : forall n d lim attached, room n d = Some (lim, attached) ->
      exists lim_then attached_then, volume_limit then_ n d = Some (lim_then, attached_then) /\ lim_then <= lim /\ attached <= attached_then;
  }.

  Lemma came_from p cs cs_then c : Forall2 (same_but_nodes p) cs cs_then -> In c cs ->
    exists c_then, In c_then cs_then /\ same_but_nodes p c c_then.
  Proof.
    intros all c_in. induction all as [|c1 c2 rest rest_then one _ IH]; [destruct c_in|].
    destruct c_in as [<-|c_in]; [exists c2; split; [now left|assumption]|]. destruct (IH c_in) as [c_then [? ?]]. exists c_then. split; [now right|assumption].
  Qed.

  Theorem starting_loosened then_ : comes_up then_ -> loosened then_ starting.
  Proof.
    intros U.
    destruct (up_kube _ U) as [kube kube_then], (up_resources _ U) as [? [? [? ?]]], (up_unbound _ U), (up_terms _ U) as [likes_then dislikes_then],
      (up_conflicts _ U) as [? [? [? ?]]], (up_quotas _ U) as [? [? [? ?]]], (up_volumes _ U) as [? [? [shared_then ?]]].
    pose proof (up_pods _ U) as pods_then.
    split; simpl; try congruence; try (intros; congruence).
    - now rewrite (up_nodes _ U).
    - apply (up_keeps _ U).
    - now rewrite (up_counted _ U).
    - apply (up_places _ U).
    - intros p r. now rewrite (up_asks _ U).
    - intros p r. replace (request then_) with (request m) by congruence. lia.
    - apply (up_has _ U).
    - intros p k. replace (takes then_) with (takes m) by congruence. lia.
    - intros k. replace (grants then_) with (grants m) by congruence. lia.
    - intros p t t_in. rewrite dislikes_then. now apply filter_In in t_in.
    - intros p t t_in q n. apply filter_In in t_in. destruct t_in as [_ plain]. apply negb_true_iff in plain. now rewrite (up_sees _ U).
    - intros p. rewrite likes_then. destruct (existsb _ (likes m p)); auto.
    - intros p t. destruct (existsb _ (likes m p)) eqn:some; [intros []|]. intros t_in.
      assert (plain : open (key t) || vague (matcher t) = false).
      { apply not_true_is_false. intros is. apply not_true_iff_false in some. apply some, existsb_exists. eauto. }
      apply orb_false_iff in plain. destruct plain as [closed plain].
      split; intros; symmetry; [now apply (up_closed _ U)|now apply (up_sees _ U)].
    - intros p c'. destruct (anew p) eqn:again; [intros []|]. intros c_in. apply in_map_iff in c_in. destruct c_in as [c [<- c_in]].
      destruct (came_from p _ _ c (up_constraints _ U p) c_in) as [c_then [there [ew [ea [es [em [ec el]]]]]]].
      exists c_then. split; [assumption|].
      assert (closed : forall n, domain_of m (along c_then) n = domain_of then_ (along c_then) n).
      { intros n. symmetry. apply (up_closed _ U). rewrite ea. now apply (up_anew _ U p). }
      destruct (vague (whom c)) eqn:is_vague; simpl; [|destruct (doubtful p c) eqn:is].
      + repeat split; auto; try congruence. right. split; [reflexivity|simpl; lia].
      + repeat split; auto; try congruence. right. split; [reflexivity|simpl; lia].
      + repeat split; auto; try congruence. left. repeat split; try congruence; [now rewrite el|lia|].
        intros q n. symmetry. apply (up_sees _ U). now rewrite ew.
    - apply (up_missing _ U).
    - apply (up_room _ U).
    - intros p d. replace (private then_) with (private m) by congruence. lia.
    - intros p d _. split; [congruence|]. intros n v _. unfold users. simpl. now rewrite pods_then, shared_then.
  Qed.

  (** So with any other weakenings: what is let in on the way is let in where a proof is about. *)
  Corollary lets_in_on_the_way then_ m' s p n : comes_up then_ -> loosened starting m' ->
    lets_in then_ s p n = true -> lets_in m' s p n = true.
  Proof. intros U L. apply loosened_lets_in. exact (loosened_again _ _ _ (starting_loosened then_ U) L). Qed.
End Starting.

(** ** Of requirements on labels

    Nodes that may get the same labels have one value of a mark that no requirement looks at.  For each such
    class a requirement gets alternatives without what it asks of labels that may come, for nodes with that
    mark.  They hold there whatever comes. *)

Section Requirements.
  (** The labels of a node, by their keys. *)
  Definition labels : Type := id -> option id.

  (** What a term asks of each label, and of the node's name, if it asks that. *)
  Record node_term := { asked : list (id * (option id -> bool)); named : option (id -> bool) }.

  (** A term that asks for nothing matches no node. *)
  Definition asks_something (t : node_term) : bool :=
    match asked t, named t with [], None => false | _, _ => true end.

  Definition term_holds (l : labels) (node : id) (t : node_term) : bool :=
    asks_something t && forallb (fun '(k, ok) => ok (l k)) (asked t) && match named t with Some ok => ok node | None => true end.

  Definition some_holds (l : labels) (node : id) (ts : list node_term) : bool := existsb (term_holds l node) ts.

  (** Nodes by the keys that they may get, each with the value of the mark. *)
  Variable mark : id.
  Variable classes : list ((id -> bool) * id).

  Definition is (value : id) (v : option id) : bool := match v with Some v => Pos.eqb v value | None => false end.

  Definition mentions (open : id -> bool) (t : node_term) : bool := existsb (fun '(k, _) => open k) (asked t).

  Definition lasting (c : (id -> bool) * id) (t : node_term) : node_term :=
    {| asked := filter (fun '(k, _) => negb (fst c k)) (asked t) ++ [(mark, is (snd c))]; named := named t |}.

  Definition relaxed (ts : list node_term) : list node_term :=
    ts ++ flat_map (fun c => map (lasting c) (filter (mentions (fst c)) ts)) classes.

  Definition marked (l : labels) (value : id) : labels := fun k => if Pos.eqb k mark then Some value else l k.

  Theorem relaxed_holds l l_then node open value ts : In (open, value) classes ->
    (forall k, open k = false -> l_then k = l k) ->
    (forall t k ok, In t ts -> In (k, ok) (asked t) -> k <> mark) ->
    some_holds l_then node ts = true -> some_holds (marked l value) node (relaxed ts) = true.
  Proof.
    intros listed_ same unmarked_ holds. apply existsb_exists in holds. destruct holds as [t [t_in ok]].
    unfold term_holds in ok. rewrite !andb_true_iff in ok. destruct ok as [[something each] name_ok]. rewrite forallb_forall in each.
    assert (lasts : forall k ok, In (k, ok) (asked t) -> open k = false -> ok (marked l value k) = true).
    { intros k ok k_in closed. unfold marked. destruct (Pos.eqb_spec k mark) as [->|_]; [now destruct (unmarked_ t mark ok t_in k_in)|].
      rewrite <- same by assumption. exact (each _ k_in). }
    apply existsb_exists. destruct (mentions open t) eqn:says.
    - exists (lasting (open, value) t). split.
      + apply in_or_app. right. apply in_flat_map. exists (open, value). split; [assumption|]. apply in_map, filter_In. auto.
      + unfold term_holds, asks_something. cbn [asked named lasting fst snd]. rewrite !andb_true_iff. repeat split; [|apply forallb_forall|assumption].
        * destruct (filter _ (asked t)); [reflexivity|reflexivity].
        * intros [k ok] k_in. apply in_app_or in k_in. destruct k_in as [k_in|[e|[]]].
          -- apply filter_In in k_in. destruct k_in as [k_in closed]. apply negb_true_iff in closed. now apply lasts.
          -- injection e as <- <-. unfold marked. rewrite Pos.eqb_refl. simpl. apply Pos.eqb_refl.
    - exists t. split; [apply in_or_app; now left|]. unfold term_holds. rewrite !andb_true_iff. repeat split; [assumption| |assumption].
      apply forallb_forall. intros [k ok] k_in. apply lasts; [assumption|]. apply not_true_is_false. intros opens.
      apply not_true_iff_false in says. apply says. apply existsb_exists. now exists (k, ok).
  Qed.
End Requirements.
