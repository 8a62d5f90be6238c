(** * Weakenings: changes that only add behaviour

    [Q] is weaker than [P] if what [Q] never reaches, [P] never reaches.  Then a
    _never_ may be proved about [Q].  Two arguments serve for all of them.
    _Dropping_: a guard with fewer conditions holds wherever it held.  _Making
    light_: a pod that takes less room, holds fewer ports or repels nobody stands
    in the way of no deployment that was possible before.  Both say that the rules
    of [Q] let in, in every configuration, what those of [P] let in.

    weakenings/weakening.rs; docs/theory.md. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Lists Configuration Problem Closure Guard Rules Compile.
Import ListNotations.
Open Scope N_scope.

(** ** Of problems *)

Section Weaker.
  Context {A : Type} `{Eq_dec A}.

  Definition weaker (Q P : problem A) : Prop := forall g, never Q g -> never P g.

  (** What is reached from a configuration that [Q] reaches, by rules that [Q] has. *)
  Lemma reachable_by_rules (P Q : problem A) :
    (forall a s, hard P a s -> hard Q a s) ->
    (forall a d s, becomes P a d s -> becomes Q a d s) ->
    kept Q ≼ kept P ->
    reachable Q (start P) ->
    forall s, reachable P s -> reachable Q s.
  Proof.
    intros rules turns fewer begins s r. induction r as [s e|s t r IH st].
    - eapply reachable_same; [apply same_sym; exact e|assumption].
    - eapply by_step; [exact IH|]. destruct st as [a ok e|a more e|a d more turned e].
      + eapply deploy; eauto.
      + eapply delete; eauto. specialize (fewer a). lia.
      + eapply change; eauto. specialize (fewer a). lia.
  Qed.

  Theorem weaker_by_rules (P Q : problem A) :
    (forall a s, hard P a s -> hard Q a s) ->
    (forall a d s, becomes P a d s -> becomes Q a d s) ->
    kept Q ≼ kept P ->
    reachable Q (start P) ->
    weaker Q P.
  Proof. intros rules turns fewer begins g no s r. apply no. now apply (reachable_by_rules P Q). Qed.

  (** The same where the rules of [Q] are only known to let in more on the way. *)
  Theorem weaker_within (P Q : problem A) (I : configuration A -> Prop) :
    (forall s, reachable P s -> I s) ->
    (forall a s, I s -> hard P a s -> hard Q a s) ->
    (forall a d s, I s -> kept P a < s a -> becomes P a d s -> becomes Q a d s) ->
    kept Q ≼ kept P ->
    start P ≐ start Q ->
    weaker Q P.
  Proof.
    intros holds rules turns fewer begins g no s r.
    enough (reachable Q s) by auto.
    clear no. induction r as [s e|s t r IH st].
    - apply at_start. eapply same_trans; eassumption.
    - eapply by_step; [exact IH|]. destruct st as [a ok e|a more e|a d more turned e].
      + eapply deploy; eauto.
      + eapply delete; eauto. specialize (fewer a). lia.
      + eapply change; eauto. specialize (fewer a). lia.
  Qed.

  (** In particular if it starts with more. *)
  Corollary weaker_by_start (P Q : problem A) (all : list A) :
    (forall a, start P a < start Q a -> In a all) ->
    (forall a s, hard P a s -> hard Q a s) ->
    (forall a d s, becomes P a d s -> becomes Q a d s) ->
    kept Q ≼ kept P -> kept P ≼ start P -> start P ≼ start Q ->
    weaker Q P.
  Proof.
    intros listed rules turns fewer below more. apply weaker_by_rules; auto.
    apply (downward_closed Q (start Q) (start P) all); auto.
    - apply at_start, same_refl.
    - eapply within_trans; eassumption.
  Qed.

  (** Nodes settle: marks that are deleted once, and that only keep pods away,
      may as well be gone from the beginning. *)
  Section Settling.
    Variable mark : A -> bool.

    Definition unmarked (s : configuration A) : configuration A := fun a => if mark a then 0 else s a.

    Theorem weaker_settled (P Q : problem A) g :
      (forall a s, hard P a s -> mark a = false /\ hard Q a (unmarked s)) ->
      (forall a d s, becomes P a d s -> mark a = false /\ mark d = false /\ becomes Q a d (unmarked s)) ->
      kept Q ≼ kept P ->
      start Q ≐ unmarked (start P) ->
      (forall alternative a, In alternative g -> mark a = true -> alternative a = 0) ->
      never Q g -> never P g.
    Proof.
      intros rules turns fewer begins no_marks no s r [alternative [g_in covered]].
      apply (no (unmarked s)).
      - clear covered. induction r as [s e|s t r IH st].
        + apply at_start. intros a. rewrite begins. unfold unmarked. now rewrite e.
        + destruct st as [a ok e|a more e|a d more turned e].
          * destruct (rules _ _ ok) as [plain ok']. eapply by_step; [exact IH|]. eapply deploy; [exact ok'|].
            intros b. unfold unmarked. rewrite e. by_count. now rewrite plain.
          * destruct (mark a) eqn:is.
            -- eapply reachable_same; [|exact IH]. intros b. unfold unmarked. rewrite e. by_count. now rewrite is.
            -- eapply by_step; [exact IH|]. eapply delete.
               ++ unfold unmarked. rewrite is. specialize (fewer a). lia.
               ++ intros b. unfold unmarked. rewrite e. by_count. now rewrite is.
          * destruct (turns _ _ _ turned) as [plain [plain' turned']]. eapply by_step; [exact IH|]. eapply change; [|exact turned'|].
            -- unfold unmarked. rewrite plain. specialize (fewer a). lia.
            -- intros b. unfold unmarked. rewrite e. by_count; now rewrite ?plain, ?plain'.
      - exists alternative. split; [assumption|]. intros a. unfold unmarked.
        destruct (mark a) eqn:is; [rewrite (no_marks alternative a g_in is); lia|apply covered].
    Qed.
  End Settling.
End Weaker.

(** ** Of clusters

    What may change in the tables of a model.  Two things look like dropping
    and are not.  One of several affinity terms, under kube-scheduler: the pod is
    the first of its kind where no pod matches _all_ terms, and fewer terms have
    more friends.  One of several spread constraints: the keys of all of them say
    which nodes the others look at, and a domain more may be an empty one.  So
    affinity is dropped as a whole, and a constraint that is asked no more stays,
    asks for its key, and counts nobody.

    A node may lose keys (it has them later, whatever their values), and what a selector sees there
    need not be known: then the terms and constraints that are left look at neither. *)

(** The same constraint, perhaps with more skew; or one that asks for its key alone (and under [paper] for a node that it looks at). *)
Definition asked_alike (m m' : model) (c c' : constraint) : Prop :=
  whom c' = whom c /\ min_domains c' = min_domains c /\ looks_at c' = looks_at c /\ counts c' = counts c /\ skew c <= skew c'
  /\ forall q n, sees m' (whom c) q n = sees m (whom c) q n.

Definition looser (m m' : model) (c c' : constraint) : Prop :=
  along c' = along c /\ (forall n, domain_of m' (along c) n = domain_of m (along c) n)
  /\ (rules m = Paper -> looks_at c' = looks_at c)
  /\ (asked_alike m m' c c' \/ counts c' = false /\ 1 <= skew c').

Record loosened (m m' : model) : Prop := {
  same_rules : rules m' = rules m;
  same_pods : pods m' = pods m;
  same_nodes : nodes m' = nodes m;
  fewer_domains : forall k n d, domain_of m' k n = Some d -> domain_of m k n = Some d;
  same_unbound : sees_unbound m' = sees_unbound m;
  same_notices : notices m' = notices m;
  same_counted : is_counted m' = is_counted m;
  same_limits : limits m' = limits m;
  same_number : number_of_pods m' = number_of_pods m;
  same_resources : resources m' = resources m;
  more_placeable : forall p n, placeable m p n = true -> placeable m' p n = true;
  asks_less : forall p r, asks m' p r = true -> asks m p r = true;
  lists_less : forall p, incl (listed m' p) (listed m p);
  requests_less : forall p r, request m' p r <= request m p r;
  has_more : forall n r, allocatable m n r <= allocatable m' n r;
  fewer_quotas : forall p, incl (quotas m' p) (quotas m p);
  takes_less : forall p k, takes m' p k <= takes m p k;
  grants_more : forall k, grants m k <= grants m' k;
  fewer_ports : forall p q, ports_conflict m' p q = true -> ports_conflict m p q = true;
  fewer_disks : forall p q, disks_conflict m' p q = true -> disks_conflict m p q = true;
  fewer_claims : forall p q, claims_conflict m' p q = true -> claims_conflict m p q = true;
  fewer_missing : forall p, claim_missing m' p = true -> claim_missing m p = true;
  fewer_dislikes : forall p, incl (dislikes m' p) (dislikes m p);
  fewer_disliked : forall p t, In t (dislikes m' p) -> forall q n, sees m' (matcher t) q n = true -> sees m (matcher t) q n = true;
  likes_all_or_none : forall p, likes m' p = likes m p \/ likes m' p = []
    \/ rules m = Paper /\ incl (likes m' p) (likes m p);
  likes_see_the_same : forall p t, In t (likes m' p) -> (forall n, domain_of m' (key t) n = domain_of m (key t) n)
    /\ forall q n, sees m' (matcher t) q n = sees m (matcher t) q n;
  constraints_looser : forall p c', In c' (constraints m' p) -> exists c, In c (constraints m p) /\ looser m m' c c';
  fewer_drivers : forall p, incl (drivers m' p) (drivers m p);
  fewer_missing_drivers : forall p n, driver_missing m' p n = true -> driver_missing m p n = true;
  higher_limits : forall n d lim' attached', volume_limit m' n d = Some (lim', attached') ->
    exists lim attached, volume_limit m n d = Some (lim, attached) /\ lim <= lim' /\ attached' <= attached;
  same_volumes : volumes m' = volumes m;
  fewer_private : forall p d, private m' p d <= private m p d;
  fewer_shared : forall p d, incl (shared m' p d) (shared m p d);
  (** Of those whose volumes are still asked about, nobody's users are gone. *)
  own_volumes : forall p d, asks m' p NodeVolumeLimits = true -> shared m' p d = shared m p d
    /\ forall n v, In v (shared m p d) -> users m' d n v = users m d n v;
}.

Section Loosened.
  Variables m m' : model.
  Hypothesis L : loosened m m'.
  Implicit Types (s : configuration atom) (p n : id).

  Lemma loose_atoms : atoms m' = atoms m.
  Proof. unfold atoms. now rewrite (same_pods _ _ L), (same_nodes _ _ L). Qed.

  Lemma loose_kube : is_kube m' = is_kube m.
  Proof. unfold is_kube. now rewrite (same_rules _ _ L). Qed.

  Lemma none_runs_less (f f' : atom -> bool) s :
    (forall a, f' a = true -> f a = true) -> none_runs m f s = true -> none_runs m' f' s = true.
  Proof.
    intros less. unfold none_runs, some_runs. rewrite loose_atoms, !negb_true_iff.
    intros none. apply not_true_iff_false. intros some. apply existsb_exists in some.
    destruct some as [a [a_in ok]]. apply andb_true_iff in ok. destruct ok as [fa there].
    enough (existsb (fun a => f a && (0 <? s a)) (atoms m) = true) by congruence.
    apply existsb_exists. exists a. split; [assumption|]. now rewrite (less a fa).
  Qed.

  Lemma weight_less q r : weight m' q r <= weight m q r.
  Proof.
    unfold weight. rewrite (same_number _ _ L). destruct (Pos.eqb r (number_of_pods m)); [lia|].
    apply (requests_less _ _ L).
  Qed.

  Lemma total_less {B} (l : list B) (f : B -> atom) (w w' : B -> N) s :
    (forall b, w' b <= w b) -> total (map (fun b => (f b, w' b)) l) s <= total (map (fun b => (f b, w b)) l) s.
  Proof. intros less. induction l as [|b rest IH]; simpl; [lia|]. specialize (less b). nia. Qed.

  Lemma loose_fits s p n : fits m s p n = true -> fits m' s p n = true.
  Proof.
    unfold fits. rewrite !forallb_forall. intros ok r r_in. apply N.leb_le.
    assert (r_in' : In r (checked m p)).
    { unfold checked in *. rewrite loose_kube, (same_number _ _ L), (same_resources _ _ L) in r_in.
      destruct (is_kube m); [|assumption]. destruct r_in as [<-|r_in]; [now left|right; now apply (lists_less _ _ L)]. }
    specialize (ok r r_in'). apply N.leb_le in ok.
    pose proof (weight_less p r). pose proof (has_more _ _ L n r).
    assert (total (on_node m' n r) s <= total (on_node m n r) s).
    { unfold on_node. rewrite (same_pods _ _ L).
      apply (total_less (pods m) (fun q => (q, n)) (fun q => weight m q r) (fun q => weight m' q r)).
      intros q. apply weight_less. }
    lia.
  Qed.

  Lemma loose_quotas s p : within_quotas m s p = true -> within_quotas m' s p = true.
  Proof.
    unfold within_quotas. rewrite !forallb_forall. intros ok k k_in. apply N.leb_le.
    specialize (ok k (fewer_quotas _ _ L p k k_in)). apply N.leb_le in ok.
    pose proof (takes_less _ _ L p k). pose proof (grants_more _ _ L k).
    assert (total (charged m' k) s <= total (charged m k) s).
    { unfold charged. rewrite loose_atoms.
      apply (total_less (atoms m) (fun a => a) (fun a => takes m (fst a) k) (fun a => takes m' (fst a) k)).
      intros a. apply (takes_less _ _ L). }
    lia.
  Qed.

  Lemma loose_limits s p n : within_limits m s p n = true -> within_limits m' s p n = true.
  Proof. unfold within_limits, instances. now rewrite (same_limits _ _ L), (same_nodes _ _ L). Qed.

  Lemma loose_near k n n' : near_by m' k n n' = true -> near_by m k n n' = true.
  Proof.
    unfold near_by. destruct (domain_of m' k n) as [d|] eqn:here; [|discriminate].
    destruct (domain_of m' k n') as [d'|] eqn:there; [|discriminate].
    now rewrite (fewer_domains _ _ L _ _ _ here), (fewer_domains _ _ L _ _ _ there).
  Qed.

  Lemma loose_keeps_away s p n : keeps_away m s p n = true -> keeps_away m' s p n = true.
  Proof.
    unfold keeps_away. rewrite loose_kube, !andb_true_iff, !orb_true_iff. intros [own others]. split.
    - eapply none_runs_less; [|exact own]. intros a. unfold is_repelled. rewrite !existsb_exists.
      intros [t [t_in ok]]. exists t. rewrite andb_true_iff in *. destruct ok. split; [now apply (fewer_dislikes _ _ L)|].
      split; [now apply (fewer_disliked _ _ L p t)|now apply loose_near].
    - destruct others as [paper|others]; [now left|right].
      eapply none_runs_less; [|exact others]. intros a. unfold repels. rewrite !existsb_exists.
      intros [t [t_in ok]]. exists t. rewrite <- (same_notices _ _ L). rewrite andb_true_iff in *. destruct ok.
      split; [now apply (fewer_dislikes _ _ L)|]. split; [assumption|now apply loose_near].
  Qed.

  Lemma loose_runs f f' s : (forall a, f' a = f a) -> some_runs m' f' s = some_runs m f s.
  Proof.
    intros e. unfold some_runs. rewrite loose_atoms. induction (atoms m); simpl; [reflexivity|]. now rewrite e, IHl.
  Qed.

  (** Terms that see the same pods, near by the same keys. *)
  Section Terms.
    Variable ts : list term.
    Hypothesis alike : forall t, In t ts -> (forall n, domain_of m' (key t) n = domain_of m (key t) n)
      /\ forall q n, sees m' (matcher t) q n = sees m (matcher t) q n.

    Lemma loose_friend a : friend m' ts a = friend m ts a.
    Proof.
      unfold friend. revert alike. induction ts as [|t rest IH]; simpl; [reflexivity|]. intros same_.
      rewrite IH by (intros u u_in; apply same_; now right). destruct (same_ t (or_introl eq_refl)) as [_ e]. now rewrite e.
    Qed.

    Lemma loose_has_key t n : In t ts -> has_key m' (key t) n = has_key m (key t) n.
    Proof. intros t_in. unfold has_key. destruct (alike t t_in) as [e _]. now rewrite e. Qed.

    Lemma loose_near_friend t n s : In t ts -> some_runs m' (near_friend m' ts t n) s = some_runs m (near_friend m ts t n) s.
    Proof.
      intros t_in. apply loose_runs. intros a. unfold near_friend, near_by. destruct (alike t t_in) as [e _]. now rewrite loose_friend, !e.
    Qed.

    Lemma loose_placed_friend s : none_runs m' (placed_friend m' ts) s = none_runs m (placed_friend m ts) s.
    Proof.
      unfold none_runs. f_equal. apply loose_runs. intros a. unfold placed_friend. rewrite loose_friend. f_equal.
      apply existsb_same. intros t t_in. now apply loose_has_key.
    Qed.

    Lemma loose_none_friend s : none_runs m' (friend m' ts) s = none_runs m (friend m ts) s.
    Proof. unfold none_runs. f_equal. apply loose_runs. intros a. apply loose_friend. Qed.

    Lemma loose_matches_itself p : matches_itself m' ts p = matches_itself m ts p.
    Proof. unfold matches_itself. now rewrite (same_unbound _ _ L). Qed.
  End Terms.

  Lemma loose_affine s p n : affine m s p n = true -> affine m' s p n = true.
  Proof.
    pose proof (likes_see_the_same _ _ L p) as alike.
    assert (one : forall t, In t (likes m' p) -> forall u, In u [t] -> (forall n, domain_of m' (key u) n = domain_of m (key u) n)
      /\ forall q n, sees m' (matcher u) q n = sees m (matcher u) q n) by (intros t t_in u [<-|[]]; auto).
    unfold affine. rewrite loose_kube. intros ok.
    destruct (likes_all_or_none _ _ L p) as [all|[none_left|[paper some]]].
    - unfold affine_kube, affine_paper in *. rewrite <- all in ok. destruct (is_kube m).
      + rewrite loose_placed_friend, loose_matches_itself by assumption. rewrite andb_true_iff in *. destruct ok as [keys ok]. split.
        * rewrite forallb_forall in *. intros t t_in. rewrite (loose_has_key _ alike) by assumption. auto.
        * rewrite orb_true_iff in *. destruct ok as [ok|ok]; [left|right; assumption].
          rewrite forallb_forall in *. intros t t_in. rewrite (loose_near_friend _ alike) by assumption. auto.
      + rewrite forallb_forall in *. intros t t_in.
        rewrite (loose_near_friend [t] (one t t_in)), loose_matches_itself, (loose_none_friend [t] (one t t_in)) by now left. auto.
    - unfold affine_kube, affine_paper. rewrite none_left. now destruct (is_kube m).
    - unfold is_kube in *. rewrite paper in *. unfold affine_paper in *. rewrite forallb_forall in *.
      intros t t_in. rewrite (loose_near_friend [t] (one t t_in)), loose_matches_itself, (loose_none_friend [t] (one t t_in)) by now left. auto.
  Qed.

  (** A constraint that counts nobody asks for its key. *)
  Lemma counts_nobody c d : counts c = false -> counted m' c d = [].
  Proof. intros none. unfold counted. rewrite none. induction (atoms m'); [reflexivity|assumption]. Qed.

  Lemma loose_even s p n c c' : looser m m' c c' -> even m s p n c = true -> even m' s p n c' = true.
  Proof.
    intros [ea [ed [el how]]]. unfold even. rewrite ea, (ed n), loose_kube.
    destruct (domain_of m (along c) n) as [d|]; [|discriminate]. rewrite !andb_true_iff, !N.leb_le.
    intros [ok le]. split.
    { rewrite orb_true_iff in *. destruct ok as [ok|ok]; [now left|]. unfold is_kube in *. destruct (rules m); [now left|right]. now rewrite el. }
    destruct how as [[ew [em [el' [ec [sk es]]]]]|[none sk]].
    - assert (counted_same : forall d, counted m' c' d = counted m c d).
      { intros. unfold counted, in_domain. rewrite loose_atoms. apply filter_ext. intros a.
        now rewrite ec, (same_counted _ _ L), el', ew, es, ea, ed. }
      assert (domains_same : eligible_domains m' c' = eligible_domains m c).
      { unfold eligible_domains. rewrite (same_nodes _ _ L), ea, el'. f_equal. apply flat_map_ext. intros a. now rewrite ed. }
      assert (emptiest_same : emptiest m' c' s = emptiest m c s).
      { unfold emptiest. rewrite domains_same, em. destruct (_ <=? _); [|reflexivity].
        f_equal. apply map_ext. intros. now rewrite counted_same. }
      unfold joins_in in *. rewrite (same_unbound _ _ L), ew, counted_same, emptiest_same. lia.
    - rewrite (counts_nobody c' d none). unfold joins_in. simpl. destruct (sees_unbound m' (whom c') p); lia.
  Qed.

  Lemma in_use_less d n vs s : in_use m' d n vs s <= in_use m d n vs s.
  Proof.
    unfold in_use. induction vs as [|v rest IH]; simpl; [lia|].
    enough (is_empty (users m d n v) s = true -> is_empty (users m' d n v) s = true).
    { destruct (is_empty (users m d n v) s), (is_empty (users m' d n v) s); lia. }
    unfold is_empty. rewrite !N.eqb_eq, !count_zero. intros zero a a_in. apply zero.
    unfold users in *. rewrite (same_pods _ _ L) in a_in. apply in_map_iff in a_in. destruct a_in as [q [<- q_in]].
    apply in_map_iff. exists q. split; [reflexivity|]. apply filter_In in q_in. apply filter_In.
    destruct q_in as [q_in has]. split; [assumption|]. apply existsb_exists in has. destruct has as [u [u_in e]].
    apply existsb_exists. exists u. split; [|assumption]. now apply (fewer_shared _ _ L).
  Qed.

  Lemma loose_attachable s p n d :
    asks m' p NodeVolumeLimits = true -> attachable m s p n d = true -> attachable m' s p n d = true.
  Proof.
    intros asked. unfold attachable.
    destruct (volume_limit m' n d) as [[lim' attached']|] eqn:limit'; [|reflexivity].
    destruct (higher_limits _ _ L n d _ _ limit') as [lim [attached [-> [higher fewer]]]].
    destruct (own_volumes _ _ L p d asked) as [-> users_same].
    assert (fresh_same : fresh m' d n (shared m p d) s = fresh m d n (shared m p d) s).
    { unfold fresh, in_use. f_equal. f_equal. apply map_ext_in. intros v v_in. now apply users_same. }
    rewrite fresh_same. pose proof (fewer_private _ _ L p d).
    rewrite !orb_true_iff, !N.eqb_eq, !N.leb_le. intros [nothing_new|fits]; [left; lia|right].
    rewrite (same_volumes _ _ L). pose proof (in_use_less d n (volumes m d) s).
    assert (total (private_on m' d n) s <= total (private_on m d n) s).
    { unfold private_on. rewrite (same_pods _ _ L).
      apply (total_less (pods m) (fun q => (q, n)) (fun q => private m q d) (fun q => private m' q d)).
      intros q. apply (fewer_private _ _ L). }
    lia.
  Qed.

  Lemma negb_less (b b' : bool) : (b' = true -> b = true) -> negb b = true -> negb b' = true.
  Proof. destruct b, b'; simpl; intuition. Qed.

  (** What the rules let in, the rules of the loosened cluster let in. *)
  Theorem loosened_lets_in s p n : lets_in m s p n = true -> lets_in m' s p n = true.
  Proof.
    unfold lets_in. rewrite !andb_true_iff. intros [placed ok].
    split; [now apply (more_placeable _ _ L)|]. rewrite forallb_forall in *. intros r r_in.
    specialize (ok r r_in). rewrite orb_true_iff, negb_true_iff in *.
    destruct (asks m' p r) eqn:asked; [right|now left].
    destruct ok as [not_asked|ok]; [now rewrite (asks_less _ _ L p r asked) in not_asked|].
    destruct r; simpl in *.
    - eapply none_runs_less; [|exact ok]. intros a. unfold holds_port. rewrite !andb_true_iff.
      intros [c e]. split; [now apply (fewer_ports _ _ L)|assumption].
    - now apply loose_fits.
    - rewrite !andb_true_iff in *. destruct ok as [[there disks] claims]. repeat split.
      + eapply negb_less; [apply (fewer_missing _ _ L)|assumption].
      + eapply none_runs_less; [|exact disks]. intros a. unfold holds_disk. rewrite !andb_true_iff.
        intros [c e]. split; [now apply (fewer_disks _ _ L)|assumption].
      + eapply none_runs_less; [|exact claims]. intros a. apply (fewer_claims _ _ L).
    - unfold volumes_fit in *. rewrite !andb_true_iff in *. destruct ok as [[there here] room]. repeat split.
      + eapply negb_less; [apply (fewer_missing _ _ L)|assumption].
      + eapply negb_less; [apply (fewer_missing_drivers _ _ L)|assumption].
      + rewrite forallb_forall in *. intros d d_in. apply loose_attachable; [assumption|].
        apply room. now apply (fewer_drivers _ _ L).
    - rewrite forallb_forall in *. intros c' c_in.
      destruct (constraints_looser _ _ L p c' c_in) as [c [c_in' looser_]].
      eapply loose_even; [exact looser_|]. now apply ok.
    - rewrite !andb_true_iff in *. destruct ok. split; [now apply loose_affine|now apply loose_keeps_away].
    - now apply loose_quotas.
    - now apply loose_limits.
  Qed.
End Loosened.
