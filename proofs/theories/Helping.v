(** * Which pod types can matter to others

    A pod type helps another if a term of required affinity of that one sees it on some
    node, or a spread constraint does that counts it, or if the two share a volume; and what
    is being deleted matters only if what it was does.  A list of types is closed if it has
    all that help one of it.  Then all others can only be in the way: what is never met
    from a start without them is never met (Slice.v).

    check/orbits.rs, [helping]. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Configuration Problem Guard Folding Rules Compile Search Cluster Slice.
Import ListNotations.
Open Scope N_scope.

(** ** The groups of which the rules ask for members *)

Section Asked.
  Context {A : Type} `{Eq_dec A}.
  Variable is : A -> Prop.

  (** Whoever a guard asks for is of a kind. *)
  Definition asks_only (o : option (guard A)) : Prop :=
    forall g, o = Some g -> forall group b, In group (asked_groups g) -> In b group -> is b.

  Lemma asks_nothing : asks_only (Some no_condition).
  Proof. intros g [= <-] group b []. Qed.

  Lemma asks_bound c : asks_only (Some (just_bound c)).
  Proof. intros g [= <-] group b []. Qed.

  Lemma asks_never : asks_only None.
  Proof. intros g e. discriminate. Qed.

  Lemma asks_affinity c : (forall group b, In group (near c) -> In b group -> is b) -> asks_only (Some (just_affinity c)).
  Proof. intros near_ g [= <-] group b. unfold asked_groups. simpl. rewrite !app_nil_r. apply near_. Qed.

  Lemma asks_distinct c : (forall group b, In group (unless c) -> In b group -> is b) -> asks_only (Some (just_distinct c)).
  Proof. intros unless_ g [= <-] group b. unfold asked_groups. simpl. rewrite !app_nil_r. apply unless_. Qed.

  Lemma asks_spread c : (forall d b, In d (domains c) -> In b (members d) -> is b) -> asks_only (Some (just_spread c)).
  Proof.
    intros members_ g [= <-] group b. unfold asked_groups. simpl. rewrite app_nil_r, in_map_iff. intros [d [<- d_in]] b_in. eauto.
  Qed.

  Lemma asks_both o o' : asks_only o -> asks_only o' -> asks_only (both_opt o o').
  Proof.
    intros left right g e. destruct o as [g1|], o' as [g2|]; try discriminate. injection e as <-.
    intros group b group_in b_in. unfold asked_groups, both in group_in. simpl in group_in.
    rewrite !flat_map_app, !in_app_iff in group_in.
    assert (at_left : In group (asked_groups g1) -> is b) by (intros; eapply left; eauto).
    assert (at_right : In group (asked_groups g2) -> is b) by (intros; eapply right; eauto).
    unfold asked_groups in at_left, at_right. rewrite !in_app_iff in at_left, at_right. tauto.
  Qed.

  Lemma asks_all {B} (f : B -> option (guard A)) l : (forall b, In b l -> asks_only (f b)) -> asks_only (all_opt f l).
  Proof.
    induction l as [|b rest IH]; intros each_; [exact asks_nothing|].
    change (all_opt f (b :: rest)) with (both_opt (f b) (all_opt f rest)). apply asks_both; auto with datatypes.
  Qed.
End Asked.

Section Helping.
  Variable q : question.
  Notation m := (cluster q).
  (** The pod types that may matter. *)
  Variable helpers : list id.

  Definition matters (a : atom) : bool := has_id helpers (fst a).

  Definition sees_somewhere (x other : id) : bool := existsb (sees m x other) (nodes m).

  Definition shares_volume (p other : id) : bool :=
    existsb (fun d => existsb (has_id (shared m other d)) (shared m p d)) (drivers m p).

  Definition helps (other p : id) : bool :=
    existsb (fun t => sees_somewhere (matcher t) other) (likes m p)
    || is_counted m other && existsb (fun c => sees_somewhere (whom c) other) (constraints m p)
    || shares_volume p other.

  Definition closed : bool :=
    forallb (fun p => forallb (fun other => has_id helpers other || negb (helps other p)) (pods m)) helpers
    && forallb (fun '(was, d) => negb (has_id helpers d) || has_id helpers was) (dying q)
    && forallb (fun '(p, w) => negb (has_id helpers p) || matters w) (waits q).

  Hypothesis is_closed : closed = true.

  Lemma helps_matters p other n : has_id helpers p = true -> In other (pods m) -> helps other p = true -> matters (other, n) = true.
  Proof.
    intros p_in other_in help. unfold closed in is_closed. rewrite !andb_true_iff, !forallb_forall in is_closed.
    destruct is_closed as [[all_ _] _]. apply has_id_spec in p_in. specialize (all_ p p_in). rewrite forallb_forall in all_.
    specialize (all_ other other_in). rewrite help in all_. apply orb_true_iff in all_. destruct all_ as [yes|]; [exact yes|discriminate].
  Qed.

  Lemma seen_somewhere x a : In a (atoms m) -> sees m x (fst a) (snd a) = true -> sees_somewhere x (fst a) = true.
  Proof. intros a_in seen. apply atom_listed in a_in. apply existsb_exists. exists (snd a). tauto. Qed.

  Notation of_matter := (fun a : atom => matters a = true).

  Section Pod.
    Variables p n : id.
    Hypothesis p_matters : has_id helpers p = true.

    Lemma friends_matter ts t a : incl ts (likes m p) -> In t ts -> In a (filter (near_friend m ts t n) (atoms m)) -> matters a = true.
    Proof.
      intros sub t_in a_in. apply filter_In in a_in. destruct a_in as [a_in near_]. apply andb_true_iff in near_. destruct near_ as [friend_ _].
      unfold friend in friend_. rewrite forallb_forall in friend_. specialize (friend_ t t_in). destruct a as [other k].
      apply (helps_matters p); [assumption|now apply atom_listed in a_in|]. unfold helps. rewrite !orb_true_iff. left. left.
      apply existsb_exists. exists t. split; [auto|]. now apply (seen_somewhere _ (other, k)).
    Qed.

    Lemma witnesses_matter : asks_only of_matter (witnesses m p n).
    Proof.
      unfold witnesses, friends. destruct (is_kube m).
      - destruct (forallb _ (likes m p)); [|apply asks_never]. destruct (is_nil (likes m p)); [apply asks_nothing|].
        apply asks_affinity. simpl. intros group a group_in a_in. apply in_map_iff in group_in. destruct group_in as [t [<- t_in]].
        now apply (friends_matter (likes m p) t); [apply incl_refl| |].
      - apply asks_all. intros t t_in. apply asks_affinity. simpl. intros group a [<-|[]] a_in.
        apply (friends_matter [t] t); [intros x [<-|[]]; assumption|now left|assumption].
    Qed.

    Lemma counted_matter c d a : In c (constraints m p) -> In a (counted m c d) -> matters a = true.
    Proof.
      intros c_in a_in. apply filter_In in a_in. destruct a_in as [a_in ok]. rewrite !andb_true_iff in ok.
      destruct ok as [[[[_ counted_] _] seen] _]. destruct a as [other k]. apply (helps_matters p); [assumption|now apply atom_listed in a_in|].
      unfold helps. rewrite !orb_true_iff, andb_true_iff. left. right. split; [assumption|]. apply existsb_exists. exists c. split; [assumption|].
      now apply (seen_somewhere _ (other, k)).
    Qed.

    Lemma room_asks ws have ask : asks_only of_matter (room_for ws have ask).
    Proof. unfold room_for. destruct (ask <=? have); [apply asks_bound|apply asks_never]. Qed.

    Lemma balance_matters c : In c (constraints m p) -> asks_only of_matter (balance m p n c).
    Proof.
      intros c_in. unfold balance. destruct (domain_of m (along c) n) as [d|]; [|apply asks_never].
      destruct (negb (is_kube m || looks_at c n)); [apply asks_never|]. destruct (negb _); [apply asks_nothing|].
      destruct (_ <? _); [apply room_asks|]. destruct (_ <=? _); [apply asks_nothing|]. apply asks_spread. simpl.
      intros e a e_in a_in. apply in_map_iff in e_in. destruct e_in as [x [<- _]]. now apply (counted_matter c x).
    Qed.

    Lemma users_matter d v a : In d (drivers m p) -> In v (shared m p d) -> In a (users m d n v) -> matters a = true.
    Proof.
      intros d_in v_in a_in. unfold users in a_in. apply in_map_iff in a_in. destruct a_in as [other [<- other_in]].
      apply filter_In in other_in. destruct other_in as [other_in has_]. apply (helps_matters p); [assumption|assumption|].
      unfold helps. rewrite !orb_true_iff. right. apply existsb_exists. exists d. split; [assumption|].
      apply existsb_exists. exists v. split; [assumption|exact has_].
    Qed.

    Lemma attachment_matters d : In d (drivers m p) -> asks_only of_matter (attachment m p n d).
    Proof.
      intros d_in. unfold attachment. destruct (volume_limit m n d) as [[lim attached]|]; [|apply asks_nothing].
      assert (helpers_ : forall group a, In group (if private m p d =? 0 then map (users m d n) (shared m p d) else []) ->
                In a group -> matters a = true).
      { intros group a group_in a_in. destruct (private m p d =? 0); [|contradiction].
        apply in_map_iff in group_in. destruct group_in as [v [<- v_in]]. now apply (users_matter d v). }
      revert helpers_. generalize (if private m p d =? 0 then map (users m d n) (shared m p d) else []). intros hs helpers_.
      destruct (_ =? 0); [apply asks_nothing|]. destruct (_ <=? lim); [now apply asks_distinct|].
      destruct (is_nil _); [apply asks_never|]. now apply asks_affinity.
    Qed.

    Lemma guard_matters : asks_only of_matter (plain_guard m p n).
    Proof.
      assert (asked : forall r o, asks_only of_matter o -> asks_only of_matter (if_asked m p r o)).
      { intros r o ok. unfold if_asked. destruct (asks m p r); [assumption|apply asks_nothing]. }
      unfold plain_guard. destruct (_ && _); [|apply asks_never]. repeat apply asks_both; try apply asked.
      - apply asks_all. intros r _. apply room_asks.
      - apply asks_all. intros k _. apply room_asks.
      - apply asks_all. intros l _. destruct (is_asked l p); [apply room_asks|apply asks_nothing].
      - apply asks_bound.
      - apply witnesses_matter.
      - unfold attachments. destruct (_ || _); [apply asks_never|]. apply asks_all. apply attachment_matters.
      - apply asks_all. apply balance_matters.
    Qed.
  End Pod.

  Hypothesis ok : sensible q = true.

  (** Where a pod that matters is let in, it is let in without what does not. *)
  Lemma lets_in_sliced p n s : In p (pods m) -> has_id helpers p = true -> lookup (stays q) ≼ s ->
    lets_in m s p n = true -> lets_in m (sliced (cluster_problem q) matters s) p n = true.
  Proof.
    intros p_in p_matters low. destruct (parts q ok) as [_ [_ [wf _]]].
    rewrite <- !(plain_guard_spec m p n _ (wf p p_in)). destruct (plain_guard m p n) as [g|] eqn:is; [|discriminate]. simpl.
    apply holds_below.
    - intros a. unfold sliced. specialize (low a). simpl. destruct (matters a); lia.
    - intros group b group_in b_in. unfold sliced. now rewrite (guard_matters p n p_matters g is group b).
  Qed.

  (** What becomes something that matters does, too. *)
  Lemma change_matters a d s : becomes (cluster_problem q) a d s -> matters d = true -> matters a = true.
  Proof.
    pose proof is_closed as all_. unfold closed in all_. rewrite !andb_true_iff, !forallb_forall in all_. destruct all_ as [[_ shadows] waiting].
    intros [[turned _]|[uses _]] d_matters.
    - specialize (shadows _ turned). simpl in shadows. unfold matters in *. rewrite d_matters in shadows. exact shadows.
    - apply consumed_waits in uses. specialize (waiting _ uses). simpl in waiting. unfold matters at 1 in d_matters. rewrite d_matters in waiting. exact waiting.
  Qed.

  Lemma admits_sliced a s : matters a = true -> lookup (stays q) ≼ s -> admits q a s -> admits q a (sliced (cluster_problem q) matters s).
  Proof. intros a_matters low_ [a_in can]. split; [assumption|]. apply lets_in_sliced; auto. now apply atom_listed in a_in. Qed.

  (** A goal of pods that matter is never met, if it is not from a start that has nothing else but kept pods. *)
  Theorem never_of_helpers g :
    (forall alternative a, In alternative g -> matters a = false -> alternative a = 0) ->
    never (starting (cluster_problem q) (sliced (cluster_problem q) matters (lookup (begins q)))) g -> never (cluster_problem q) g.
  Proof.
    intros among no. destruct (parts q ok) as [_ [_ [_ [_ [low _]]]]]. apply (never_of_slice (cluster_problem q) matters); auto.
    - intros a s a_matters low_ [can free]. split; [|assumption]. now apply admits_sliced.
    - exact change_matters.
    - intros a d s d_matters low_ [turned|[uses can]]; [now left|right]. split; [assumption|]. now apply admits_sliced.
    - intros alternative a alt_in out. rewrite (among alternative a alt_in out). lia.
  Qed.
End Helping.
