(** * Each weakening, as what it does to the tables

    A doubt about the input makes a cluster weaker: no rule is asked about a pod type, nobody
    needs friends, a volume can be used from anywhere.  Here are the changes that
    proofs may name, each with what it does to the tables of a model, and that each
    of them, and any number of them one after the other, lets in all that was let in before.

    weakenings/weakening.rs. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Configuration Problem Rules Search Cluster Weakening.
Import ListNotations.
Open Scope N_scope.

Section Weakenings.
  Variable m : model.

  (** Where the static filters let a type in, once there are fewer: at least where they did. *)
  Variable places : id -> id -> bool.
  Hypothesis places_more : forall p n, placeable m p n = true -> places p n = true.

  (** Claims that are bound to a volume which any node can use, and devices that are given back, are static filters
      that are not asked; and a claim that was missing need not be. *)
  Definition opened (missing : id -> bool) : model := {|
    rules := rules m; pods := pods m; nodes := nodes m;
    placeable := places; asks := asks m;
    resources := resources m; listed := listed m; number_of_pods := number_of_pods m; request := request m;
    allocatable := allocatable m; domain_of := domain_of m; sees := sees m; sees_unbound := sees_unbound m; notices := notices m;
    likes := likes m; dislikes := dislikes m; constraints := constraints m; is_counted := is_counted m;
    ports_conflict := ports_conflict m; disks_conflict := disks_conflict m; claims_conflict := claims_conflict m;
    claim_missing p := claim_missing m p && missing p;
    quotas := quotas m; takes := takes m; grants := grants m; limits := limits m;
    drivers := drivers m; driver_missing := driver_missing m; volume_limit := volume_limit m;
    volumes := volumes m; shared := shared m; private := private m;
  |}.

  (** A constraint that is asked no more counts nobody, and asks for its key alone. *)
  Definition any_skew (c : constraint) : constraint := {|
    whom := whom c; along := along c; skew := N.max 1 (skew c); min_domains := min_domains c;
    looks_at := looks_at c; counts := false;
  |}.

  (** Other terms and constraints, and other rules asked. *)
  Definition asking (asks_ : id -> rule -> bool) (likes_ dislikes_ : id -> list term) (constraints_ : id -> list constraint) : model := {|
    rules := rules m; pods := pods m; nodes := nodes m;
    placeable := places; asks := asks_;
    resources := resources m; listed := listed m; number_of_pods := number_of_pods m; request := request m;
    allocatable := allocatable m; domain_of := domain_of m; sees := sees m; sees_unbound := sees_unbound m; notices := notices m;
    likes := likes_; dislikes := dislikes_; constraints := constraints_; is_counted := is_counted m;
    ports_conflict := ports_conflict m; disks_conflict := disks_conflict m; claims_conflict := claims_conflict m;
    claim_missing := claim_missing m;
    quotas := quotas m; takes := takes m; grants := grants m; limits := limits m;
    drivers := drivers m; driver_missing := driver_missing m; volume_limit := volume_limit m;
    volumes := volumes m; shared := shared m; private := private m;
  |}.

  (** The type evades the scheduler: a kubelet asks for room and ports, and quotas and limits are asked before. *)
  Definition asked_by_kubelets (r : rule) : bool :=
    match r with NodePorts | NodeResourcesFit | ResourceQuota | InstanceLimit => true | _ => false end.

  Definition unscheduled (p : id) : model :=
    asking (fun q r => asks m q r && (negb (Pos.eqb q p) || asked_by_kubelets r)) (likes m) (dislikes m) (constraints m).

  (** Unseen pods serve any affinity and even out any spread. *)
  Definition unseen : model := asking (asks m) (fun _ => []) (dislikes m) (fun _ => []).

  (** Labels whose values are not known: what looks at them is not asked. *)
  Definition unlabelled (vague : id -> bool) : model :=
    asking (asks m)
      (fun p => if existsb (fun t => vague (matcher t)) (likes m p) then [] else likes m p)
      (fun p => filter (fun t => negb (vague (matcher t))) (dislikes m p))
      (fun p => map (fun c => if vague (whom c) then any_skew c else c) (constraints m p)).

  (** Constraints that look at other nodes once some settle are not asked. *)
  Definition uneven (doubtful : id -> constraint -> bool) : model :=
    asking (asks m) (likes m) (dislikes m)
      (fun p => map (fun c => if doubtful p c then any_skew c else c) (constraints m p)).

  (** Volumes that nobody uses are detached, and a limit that is not known is none. *)
  Definition detached (node : id) (assumed : id -> bool) : model := {|
    rules := rules m; pods := pods m; nodes := nodes m;
    placeable := places; asks := asks m;
    resources := resources m; listed := listed m; number_of_pods := number_of_pods m; request := request m;
    allocatable := allocatable m; domain_of := domain_of m; sees := sees m; sees_unbound := sees_unbound m; notices := notices m;
    likes := likes m; dislikes := dislikes m; constraints := constraints m; is_counted := is_counted m;
    ports_conflict := ports_conflict m; disks_conflict := disks_conflict m; claims_conflict := claims_conflict m;
    claim_missing := claim_missing m;
    quotas := quotas m; takes := takes m; grants := grants m; limits := limits m;
    drivers := drivers m; driver_missing := driver_missing m;
    volume_limit n d :=
      match volume_limit m n d with
      | Some (lim, attached) => if Pos.eqb n node then if assumed d then None else Some (lim, 0) else Some (lim, attached)
      | None => None
      end;
    volumes := volumes m; shared := shared m; private := private m;
  |}.

  (** No rule is asked about a type, and it is in nobody's way.  Volumes that it shares stay attached by it or not, so no
      limit is asked of those who share them. *)
  Definition shares_with (p q : id) : bool :=
    existsb (fun d => existsb (has_id (shared m p d)) (shared m q d)) (drivers m q ++ drivers m p).

  Definition but_for {B} (p : id) (instead : B) (f : id -> B) (q : id) : B := if Pos.eqb q p then instead else f q.

  Definition unruled (p : id) : model := {|
    rules := rules m; pods := pods m; nodes := nodes m;
    placeable := places;
    asks q r := asks m q r && negb (Pos.eqb q p)
                && match r with NodeVolumeLimits => negb (shares_with p q) | _ => true end;
    resources := resources m; listed := but_for p [] (listed m); number_of_pods := number_of_pods m;
    request := but_for p (fun _ => 0) (request m);
    allocatable := allocatable m; domain_of := domain_of m; sees := sees m; sees_unbound := sees_unbound m; notices := notices m;
    likes := but_for p [] (likes m); dislikes := but_for p [] (dislikes m); constraints := but_for p [] (constraints m);
    is_counted := is_counted m;
    ports_conflict q r := ports_conflict m q r && negb (Pos.eqb q p || Pos.eqb r p);
    disks_conflict q r := disks_conflict m q r && negb (Pos.eqb q p || Pos.eqb r p);
    claims_conflict q r := claims_conflict m q r && negb (Pos.eqb q p || Pos.eqb r p);
    claim_missing := but_for p false (claim_missing m);
    quotas := but_for p [] (quotas m); takes := but_for p (fun _ => 0) (takes m); grants := grants m; limits := limits m;
    drivers := but_for p [] (drivers m); driver_missing := but_for p (fun _ => false) (driver_missing m);
    volume_limit := volume_limit m; volumes := volumes m;
    shared := but_for p (fun _ => []) (shared m); private := but_for p (fun _ => 0) (private m);
  |}.

  (** ** Each is one *)

  Ltac unchanged :=
    try reflexivity; try (intros; simpl; lia); try (intros; simpl; apply incl_refl); try (intros; simpl in *; assumption);
    try (intros; simpl in *; eauto; fail); try (intros; split; reflexivity).

  Lemma looser_itself m' c : domain_of m' = domain_of m -> sees m' = sees m -> looser m m' c c.
  Proof. intros e e'. split; [reflexivity|]. rewrite e. repeat split; auto. left. repeat split; [lia|now rewrite e']. Qed.

  Ltac kept_constraints := intros p c c_in; simpl in c_in; exists c; split; [assumption|now apply looser_itself].

  Ltac kept_limits := intros n d lim attached is; simpl in is; exists lim, attached; repeat split; [assumption|lia|lia].

  Theorem opened_loosened missing : loosened m (opened missing).
  Proof.
    split; unchanged; try kept_constraints; try kept_limits.
  Qed.

  Lemma asking_loosened asks_ likes_ dislikes_ constraints_ :
    (forall p r, asks_ p r = true -> asks m p r = true) ->
    (forall p, likes_ p = likes m p \/ likes_ p = []) ->
    (forall p, incl (dislikes_ p) (dislikes m p)) ->
    (forall p c', In c' (constraints_ p) -> exists c, In c (constraints m p) /\ (c' = c \/ c' = any_skew c)) ->
    loosened m (asking asks_ likes_ dislikes_ constraints_).
  Proof.
    intros fewer_asks all_or_none fewer looser_. split; unchanged; try kept_limits.
    - intros p. simpl. destruct (all_or_none p) as [->| ->]; auto.
    - intros p c' c_in. destruct (looser_ p c' c_in) as [c [c_in' [->| ->]]]; exists c; (split; [assumption|]); [now apply looser_itself|].
      split; [reflexivity|]. repeat split. right. split; [reflexivity|simpl; lia].
  Qed.

  Lemma constraints_themselves p c' : In c' (constraints m p) -> exists c, In c (constraints m p) /\ (c' = c \/ c' = any_skew c).
  Proof. intros c_in. exists c'. auto. Qed.

  Lemma constraints_without_skew (doubtful : constraint -> bool) p c' :
    In c' (map (fun c => if doubtful c then any_skew c else c) (constraints m p)) ->
    exists c, In c (constraints m p) /\ (c' = c \/ c' = any_skew c).
  Proof. intros c_in. apply in_map_iff in c_in. destruct c_in as [c [<- c_in]]. exists c. split; [assumption|]. destruct (doubtful c); auto. Qed.

  Theorem unscheduled_loosened p : loosened m (unscheduled p).
  Proof.
    apply asking_loosened; auto using incl_refl, constraints_themselves.
  Qed.

  Theorem unseen_loosened : loosened m unseen.
  Proof. apply asking_loosened; auto using incl_refl. intros p c' []. Qed.

  Theorem unlabelled_loosened vague : loosened m (unlabelled vague).
  Proof.
    apply asking_loosened; auto.
    - intros p. destruct (existsb _ (likes m p)); auto.
    - intros p t t_in. now apply filter_In in t_in.
    - intros p c'. apply (constraints_without_skew (fun c => vague (whom c))).
  Qed.

  Theorem uneven_loosened doubtful : loosened m (uneven doubtful).
  Proof. apply asking_loosened; auto using incl_refl. intros p c'. apply constraints_without_skew. Qed.

  Theorem detached_loosened node assumed : loosened m (detached node assumed).
  Proof.
    split; unchanged; try kept_constraints. intros n d lim' attached' is. simpl in is.
    destruct (volume_limit m n d) as [[lim attached]|]; [|discriminate]. exists lim, attached.
    destruct (Pos.eqb n node); [destruct (assumed d); [discriminate|]|]; injection is as <- <-; repeat split; lia.
  Qed.

  Lemma fewer_but_for {B} p (f : id -> list B) q : incl (but_for p [] f q) (f q).
  Proof. unfold but_for. destruct (Pos.eqb q p); [intros x []|apply incl_refl]. Qed.

  (** Who has volumes has drivers for them. *)
  Hypothesis shared_by_drivers : forall p d, ~ In d (drivers m p) -> shared m p d = [].

  Theorem unruled_loosened p : loosened m (unruled p).
  Proof.
    split; unchanged; try kept_limits; try (intros q; apply fewer_but_for);
      try (intros q r; simpl; unfold but_for; destruct (Pos.eqb q p); try apply incl_refl; lia).
    - intros q. simpl. unfold but_for. now destruct (Pos.eqb q p).
    - intros q. simpl. unfold but_for. destruct (Pos.eqb q p); auto.
    - intros q c' c_in. apply fewer_but_for in c_in. exists c'. split; [assumption|now apply looser_itself].
    - intros q n. simpl. unfold but_for. now destruct (Pos.eqb q p).
    - intros q d. simpl. unfold but_for. destruct (Pos.eqb q p); [intros x []|apply incl_refl].
    - intros q d asked. simpl in asked. rewrite !andb_true_iff, !negb_true_iff in asked. destruct asked as [[_ other] apart].
      simpl. unfold but_for. rewrite other. split; [reflexivity|]. intros n v v_in. unfold users. simpl. f_equal.
      apply filter_ext. intros r. unfold but_for. destruct (Pos.eqb_spec r p) as [->|]; [|reflexivity]. simpl.
      symmetry. apply not_true_is_false. intros shares. apply not_true_iff_false in apart. apply apart. unfold shares_with.
      apply existsb_exists. exists d. split.
      + apply in_or_app. left. destruct (in_dec Pos.eq_dec d (drivers m q)) as [|none]; [assumption|].
        rewrite (shared_by_drivers q d none) in v_in. contradiction.
      + apply existsb_exists. exists v. split; [assumption|exact shares].
  Qed.
End Weakenings.

(** ** One after the other *)

Lemma loosened_again m m' m'' : loosened m m' -> loosened m' m'' -> loosened m m''.
Proof.
  intros L L'. split;
    try (destruct L, L'; congruence);
    try (intros; destruct L, L'; solve [eauto using incl_tran | etransitivity; eauto]).
  - intros p t t_in q n seen. apply (fewer_disliked _ _ L p t); [now apply (fewer_dislikes _ _ L')|]. now apply (fewer_disliked _ _ L' p t).
  - intros p. pose proof (same_rules _ _ L) as rules_.
    destruct (likes_all_or_none _ _ L p) as [same|[none|[paper sub]]], (likes_all_or_none _ _ L' p) as [same'|[none'|[paper' sub']]];
      rewrite ?same, ?none in *; auto.
    + right. right. split; [congruence|assumption].
    + right. left. destruct (likes m'' p) as [|t rest]; [reflexivity|]. destruct (sub' t (or_introl eq_refl)).
    + right. right. split; [assumption|]. now rewrite same'.
    + right. right. split; [assumption|]. eauto using incl_tran.
  - intros p t t_in. destruct (likes_see_the_same _ _ L' p t t_in) as [ed es].
    destruct (likes_all_or_none _ _ L' p) as [same|[none|[paper sub]]].
    + rewrite same in t_in. destruct (likes_see_the_same _ _ L p t t_in) as [ed' es']. split; intros; [rewrite ed|rewrite es]; auto.
    + rewrite none in t_in. destruct t_in.
    + destruct (likes_see_the_same _ _ L p t (sub t t_in)) as [ed' es']. split; intros; [rewrite ed|rewrite es]; auto.
  - intros p c'' c_in. destruct (constraints_looser _ _ L' p c'' c_in) as [c' [c_in' [ea' [ed' [el' how']]]]].
    destruct (constraints_looser _ _ L p c' c_in') as [c [c_in'' [ea [ed [el how]]]]].
    exists c. split; [assumption|]. split; [congruence|]. split; [intros n; rewrite <- ed, <- ea; apply ed'|].
    split; [intros paper; rewrite el' by (rewrite (same_rules _ _ L); assumption); auto|].
    destruct how' as [[ew' [em' [ek' [ec' [sk' es']]]]]|[none' sk']]; [|now right].
    destruct how as [[ew [em [ek [ec [sk es]]]]]|[none sk]]; [left|right; split; [congruence|lia]].
    split; [congruence|]. split; [congruence|]. split; [congruence|]. split; [congruence|]. split; [lia|].
    intros q n. rewrite <- es, <- ew. apply es'.
  - intros n d lim'' attached'' is. destruct (higher_limits _ _ L' n d _ _ is) as [lim' [attached' [is' [? ?]]]].
    destruct (higher_limits _ _ L n d _ _ is') as [lim [attached [is0 [? ?]]]]. exists lim, attached. repeat split; [assumption|lia|lia].
  - intros p d asked. destruct (own_volumes _ _ L' p d asked) as [same' users'].
    destruct (own_volumes _ _ L p d (asks_less _ _ L' p _ asked)) as [same users_].
    split; [congruence|]. intros n v v_in. rewrite users' by now rewrite same. now apply users_.
Qed.

(** What is never met in the cluster that a weakening makes is never met in the cluster. *)
(** The same question about other tables. *)
Definition with_tables (q : question) (m' : model) : question :=
  {| cluster := m'; begins := begins q; stays := stays q; dying := dying q; waits := waits q |}.

Theorem reachable_loosened (q : question) m' s : loosened (cluster q) m' ->
  reachable (cluster_problem q) s -> reachable (cluster_problem (with_tables q m')) s.
Proof.
  intros L.
  assert (loose_admits : forall a t, admits q a t -> admits (with_tables q m') a t).
  { intros a t [a_in can]. split; simpl in *; [now rewrite (loose_atoms _ _ L)|now apply (loosened_lets_in _ _ L)]. }
  apply reachable_by_rules.
  - intros a t [can free]. split; [now apply loose_admits|exact free].
  - intros a d t [turned|[uses can]]; [now left|right]. split; [exact uses|now apply loose_admits].
  - apply within_refl.
  - apply at_start. simpl. apply same_refl.
Qed.

Corollary never_of_loosened (q : question) m' g : loosened (cluster q) m' ->
  never (cluster_problem (with_tables q m')) g -> never (cluster_problem q) g.
Proof. intros L no s r. apply no. now apply reachable_loosened. Qed.
