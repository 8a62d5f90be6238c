(** * Nothing is too much: runs of the protocol are firings and losses

    A configuration is _stable_ between two firings.  From one to the next, tokens are
    lost, and at most one transition fires that was enabled at the first
    ([stable_interval]).  So every run is a run of the net with losses, and perhaps
    one unfinished firing ([runs_decompose]); and losses lift.

    The paper's appendix B, "Protocol decomposition"; encode/firing.rs. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Problem Rules Net Protocol.
Import ListNotations.
Open Scope N_scope.

Section Intervals.
  Context {Place Transition : Type} `{Eq_dec Place} `{Eq_dec Transition}.
  Variable net_ : net Place Transition.
  Variable sem : semantics.
  Variable goal : list Place.
  Variable room : N.

  Notation Pre := (pre net_).
  Notation Post := (post net_).
  Notation pod := (pod Place Transition).
  Notation protocol := (protocol net_ sem goal room).
  Notation lets := (lets net_ sem goal room).
  Notation kube := (kube sem).
  Notation starts_with := (starts_with net_).
  Implicit Types (s t u : configuration pod) (x y : pod) (L M : Place -> Prop).

  (** The places that have a token. *)
  Definition tokens s : Place -> Prop := fun p => runs s (at_place p).

  (** Between two firings: a ready pod, and no other of the protocol. *)
  Definition stable s : Prop :=
    runs s is_ready /\ ~ runs s is_start /\ ~ runs s is_execute /\ ~ runs s is_end /\ ~ runs s is_check.

  (** Since the tokens were [L], nothing was executed: tokens were lost at most, and what has started could fire. *)
  Definition before s L : Prop :=
    (forall p, tokens s p -> L p)
    /\ (forall a, 0 < s (Start a) -> enabled net_ L a)
    /\ ~ runs s is_execute /\ ~ runs s is_end /\ ~ runs s is_check.

  (** Since then [a] was executed, and it alone; tokens were lost besides. *)
  Definition after s L a : Prop :=
    enabled net_ L a
    /\ (forall p, tokens s p -> fire net_ L a p)
    /\ (forall b, 0 < s (Start b) -> b = a)
    /\ (forall b, 0 < s (Execute b) -> b = a)
    /\ (runs s is_ready \/ runs s is_check -> ~ runs s is_start /\ ~ runs s is_execute).

  Definition phase s L : Prop := before s L \/ exists a, after s L a.

  Lemma before_less s t L : t ≼ s -> before s L -> before t L.
  Proof.
    intros ts [tok [can [no_e [no_f no_c]]]].
    refine (conj _ (conj _ (conj _ (conj _ _)))).
    - intros p r. apply tok. eapply runs_less; eassumption.
    - intros a some. apply can. specialize (ts (Start a)). lia.
    - intros r. apply no_e. eapply runs_less; eassumption.
    - intros r. apply no_f. eapply runs_less; eassumption.
    - intros r. apply no_c. eapply runs_less; eassumption.
  Qed.

  Lemma after_less s t L a : t ≼ s -> after s L a -> after t L a.
  Proof.
    intros ts [en [tok [one [one' apart]]]].
    refine (conj en (conj _ (conj _ (conj _ _)))).
    - intros p r. apply tok. eapply runs_less; eassumption.
    - intros b some. apply one. specialize (ts (Start b)). lia.
    - intros b some. apply one'. specialize (ts (Execute b)). lia.
    - intros r. destruct apart as [no_s no_e]; [destruct r; [left|right]; eapply runs_less; eassumption|].
      split; intros r'; [apply no_s|apply no_e]; eapply runs_less; eassumption.
  Qed.

  Lemma phase_less s t L : t ≼ s -> phase s L -> phase t L.
  Proof. intros ts [b|[a f]]; [left; eauto using before_less|right; eauto using after_less]. Qed.

  (** A stable configuration begins an interval. *)
  Lemma before_stable s : stable s -> before s (tokens s).
  Proof.
    intros [_ [no_s [no_e [no_f no_c]]]]. refine (conj _ (conj _ (conj no_e (conj no_f no_c)))); [auto|].
    intros a some. exfalso. apply no_s. now apply (runs_start s a).
  Qed.

  Lemma before_start s a L : lets s (Start a) -> In a (transitions net_) -> before s L -> before (s ⊕ Start a) L.
  Proof.
    intros [need _] a_in [tok [can [no_e [no_f no_c]]]]. refine (conj _ (conj _ (conj _ (conj _ _)))).
    - intros p r. apply runs_plus in r. destruct r as [c|r]; [unlike c|auto].
    - intros b some. destruct (eq_dec (Start a : pod) (Start b)) as [e|other].
      + injection e as <-. split; [assumption|]. intros p p_in. apply tok, need. right. now apply in_map.
      + apply can. now rewrite plus_one_other in some by assumption.
    - intros r. apply runs_plus in r. destruct r as [c|r]; [unlike c|auto].
    - intros r. apply runs_plus in r. destruct r as [c|r]; [unlike c|auto].
    - intros r. apply runs_plus in r. destruct r as [c|r]; [unlike c|auto].
  Qed.

  (** Tokens and executed pods come, and nothing else changes but for more tokens of [fire]. *)
  Lemma after_more s x L a : after s L a ->
    (forall p, carries x (at_place p) -> fire net_ L a p) ->
    (forall b, x <> Start b) -> (forall b, x <> Execute b) ->
    (carries x is_ready \/ carries x is_check -> ~ runs s is_start /\ ~ runs s is_execute) ->
    after (s ⊕ x) L a.
  Proof.
    intros [en [tok [one [one' apart]]]] own no_start no_execute free.
    assert (plain : ~ carries x is_start /\ ~ carries x is_execute).
    { split; intros c; destruct x; unlike c; [now apply (no_start a0)|now apply (no_execute a0)]. }
    refine (conj en (conj _ (conj _ (conj _ _)))).
    - intros p r. apply runs_plus in r. destruct r; auto.
    - intros b some. apply one. now rewrite plus_one_other in some.
    - intros b some. apply one'. now rewrite plus_one_other in some.
    - rewrite !runs_plus. intros r. destruct plain as [ns ne].
      assert (none : ~ runs s is_start /\ ~ runs s is_execute) by tauto. tauto.
  Qed.

  (** One step leads on in the interval, or out of a stable configuration into the next. *)
  Lemma phase_step s t L : reachable protocol s -> phase s L -> step protocol s t ->
    phase t L \/ stable s /\ before t (tokens s).
  Proof.
    intros r ph st. destruct st as [x [type can] e|x more e|x d more [] e].
    2: { left. apply (phase_less s); [|assumption]. intros y. rewrite e. apply minus_one_within. }
    assert (te : t ≼ s ⊕ x) by now apply same_within.
    enough (phase (s ⊕ x) L \/ stable s /\ before (s ⊕ x) (tokens s)) as [on|[is out]].
    { left. eauto using phase_less. }
    { right. eauto using before_less. }
    pose proof (control net_ sem goal room s r) as [single [_ [_ [_ [apart _]]]]].
    apply (is_type net_ sem) in type. pose proof can as [need [avoid resident]].
    destruct ph as [b|[a f]].
    - (* nothing was executed yet *)
      pose proof b as [tok [en [no_e [no_f no_c]]]].
      assert (idle : forall y, (forall p, ~ carries y (at_place p)) -> (forall c, y <> Start c) ->
                ~ carries y is_execute -> ~ carries y is_end -> ~ carries y is_check -> before (s ⊕ y) L).
      { intros y no_place no_start ne nf nc. refine (conj _ (conj _ (conj _ (conj _ _)))).
        - intros p r'. apply runs_plus in r'. destruct r' as [c|r']; [now apply no_place in c|auto].
        - intros c some. apply en. now rewrite plus_one_other in some.
        - rewrite runs_plus. tauto.
        - rewrite runs_plus. tauto.
        - rewrite runs_plus. tauto. }
      assert (executed : forall c, ~ runs s (execute_of c)).
      { intros c r'. apply execute_runs in r'. apply no_e. now apply (runs_execute s c). }
      assert (ended : forall c, ~ runs s (end_of c)).
      { intros c [y [c' some]]. apply no_f. exists y. split; [|assumption]. destruct y; unlike c'; now left. }
      destruct x as [p|p a| |a|a|a|a|a|].
      + now apply no_initial in can.
      + exfalso. apply (executed a), need. now left.
      + now apply no_first_ready in can.
      + left. left. now apply before_start.
      + left. right. exists a.
        assert (some : 0 < s (Start a)) by (apply start_runs, need; now left).
        refine (conj (en a some) (conj _ (conj _ (conj _ _)))).
        * intros p r'. apply runs_plus in r'. destruct r' as [c|r']; [unlike c|]. unfold fire.
          destruct (in_dec eq_dec p (Post a)) as [yes|no]; [now right|left]. split; [now apply tok|].
          intros p_in. apply (avoid (at_place p)); [|assumption]. right. right. apply in_map, filter_In.
          split; [assumption|]. destruct (in_dec eq_dec p (Post a)); [contradiction|reflexivity].
        * intros c some'. rewrite plus_one_other in some' by discriminate.
          destruct (single (Start c) (Start a)) as [e' _]; try assumption; [now left|now left|congruence].
        * intros c some'. destruct (eq_dec (Execute a : pod) (Execute c)) as [e'|other]; [congruence|].
          rewrite plus_one_other in some' by assumption. exfalso. apply no_e. now apply (runs_execute s c).
        * rewrite !runs_plus. intros [[c|r']|[c|r']]; exfalso; try unlike c; [|contradiction].
          apply (avoid is_ready); [now left|assumption].
      + exfalso. apply (executed a), need. now left.
      + exfalso. apply (ended a), need. now left.
      + exfalso. unfold needs, Protocol.kube in need. destruct sem.
        * destruct (need (check_of a)) as [y [c some]]; [now left|]. apply no_c. exists y. split; [|assumption].
          destruct y; unlike c. now left.
        * apply (ended a), need. now left.
      + left. left. apply idle; try discriminate; intros; intro c; unlike c.
    - (* [a] was executed *)
      pose proof f as [en [tok [one [one' free]]]].
      destruct x as [p|p b| |b|b|b|b|b|].
      + now apply no_initial in can.
      + left. right. exists a. apply after_more; try discriminate; try assumption; [|intros [c|c]; unlike c].
        intros q c. unlike c. injection c as <-. right.
        assert (b = a) as -> by (apply one', execute_runs, need; now left).
        destruct type as [_ p_in]. apply filter_In in p_in. destruct p_in as [p_in _]. now apply nodup_In in p_in.
      + now apply no_first_ready in can.
      + right.
        assert (is : stable s).
        { assert (ready : runs s is_ready) by (apply need; now left). destruct (free (or_introl ready)) as [no_s no_e].
          refine (conj ready (conj no_s (conj no_e (conj _ _)))).
          - apply avoid. simpl. destruct kube; simpl; auto.
          - assert (either : sem = KubeScheduler \/ sem = Paper) by (destruct sem; auto).
            destruct either as [is_|is_]; [apply avoid; unfold avoids, Protocol.kube; rewrite is_; simpl; auto|].
            intros [y [c some]]. pose proof (is_type net_ sem y (running_types net_ sem goal room s r y some)) as ty. destruct y; unlike c.
            destruct ty as [_ ty]. congruence. }
        split; [assumption|]. apply before_start; [assumption|assumption|]. now apply before_stable.
      + left. right. exists a.
        assert (some : 0 < s (Start b)) by (apply start_runs, need; now left).
        assert (b = a) as -> by now apply one.
        refine (conj en (conj _ (conj _ (conj _ _)))).
        * intros p r'. apply runs_plus in r'. destruct r' as [c|r']; [unlike c|auto].
        * intros c some'. apply one. now rewrite plus_one_other in some' by discriminate.
        * intros c some'. destruct (eq_dec (Execute a : pod) (Execute c)) as [e'|other]; [congruence|].
          apply one'. now rewrite plus_one_other in some' by assumption.
        * rewrite !runs_plus. intros r'. exfalso.
          assert (r'' : runs s is_ready \/ runs s is_check) by (destruct r' as [[c|]|[c|]]; [unlike c|auto|unlike c|auto]).
          destruct (free r'') as [no_s _]. apply no_s. now apply (runs_start s a).
      + left. right. exists a. apply after_more; try discriminate; try assumption; [intros q c; unlike c|intros [c|c]; unlike c].
      + left. right. exists a. apply after_more; try discriminate; try assumption; [intros q c; unlike c|].
        intros _. split; apply avoid; simpl; auto.
      + left. right. exists a. apply after_more; try discriminate; try assumption; [intros q c; unlike c|].
        intros _. unfold needs, avoids, Protocol.kube in need, avoid. destruct sem.
        * apply free. right. destruct (need (check_of b)) as [y [c some]]; [now left|]. exists y. split; [|assumption].
          destruct y; unlike c. now left.
        * split; apply avoid; simpl; auto.
      + left. right. exists a. apply after_more; try discriminate; try assumption; [intros q c; unlike c|intros [c|c]; unlike c].
  Qed.

  (** Runs from a stable configuration up to the next. *)
  Inductive interval s : configuration pod -> Prop :=
  | leaves t : step protocol s t -> interval s t
  | goes_on t u : interval s t -> ~ stable t -> step protocol t u -> interval s u.

  (** Since a stable configuration tokens were lost, and at most one transition that
      was enabled there has fired. *)
  Theorem stable_interval s t : reachable protocol s -> stable s -> interval s t -> phase t (tokens s).
  Proof.
    intros r is path.
    enough (reachable protocol t /\ phase t (tokens s)) by tauto.
    induction path as [t st|t u _ [rt ph] not_yet st].
    - split; [eapply by_step; eassumption|].
      destruct (phase_step s t (tokens s) r (or_introl (before_stable s is)) st) as [|[_ b]]; [assumption|now left].
    - split; [eapply by_step; eassumption|].
      destruct (phase_step t u (tokens s) rt ph st) as [|[now_ _]]; [assumption|contradiction].
  Qed.

  (** Every run is firings and losses, and at most one unfinished firing. *)
  Theorem runs_decompose s : reachable protocol s -> exists L, lossy net_ L /\ phase s L.
  Proof.
    intros r. induction r as [s e|s t r [L [lost ph]] st].
    - exists (initial_marking net_). split; [constructor|]. left.
      apply (before_less starts_with); [now apply same_within|].
      assert (few : forall x, 0 < starts_with x -> (exists p, x = Initial p /\ In p (marked net_)) \/ x = First_ready).
      { intros x some. destruct x; simpl in some; try lia; [|now right]. destruct (in_dec eq_dec p (marked net_)); [eauto|lia]. }
      refine (conj _ (conj _ (conj _ (conj _ _)))).
      + intros p [x [c some]]. destruct (few x some) as [[q [-> q_in]]| ->]; unlike c. now injection c as <-.
      + intros a some. simpl in some. lia.
      + intros [x [c some]]. destruct (few x some) as [[q [-> q_in]]| ->]; unlike c.
      + intros [x [c some]]. destruct (few x some) as [[q [-> q_in]]| ->]; unlike c.
      + intros [x [c some]]. destruct (few x some) as [[q [-> q_in]]| ->]; unlike c.
    - destruct (phase_step s t L r ph st) as [on|[_ b]]; [now exists L|].
      exists (tokens s). split; [|now left]. destruct ph as [[tok _]|[a [en [tok _]]]].
      + now apply (loss net_ L).
      + apply (loss net_ (fire net_ L a)); [now apply lossy_firing|assumption].
  Qed.

  (** If the goal pod can be deployed, the net can mark its places. *)
  Theorem protocol_sound : deployable protocol [nothing ⊕ Goal] -> covers net_ goal.
  Proof.
    intros [s [r [alt [[<-|[]] covered]]]].
    assert (some : 0 < s Goal) by (specialize (covered Goal); rewrite plus_one_same in covered by reflexivity; lia).
    clear covered. induction r as [s e|s t r IH st].
    - rewrite e in some. simpl in some. lia.
    - destruct st as [x [type can] e|x more e|x d more [] e].
      + destruct (eq_dec x Goal) as [->|other].
        * destruct (runs_decompose s r) as [L [lost ph]].
          assert (lifted : exists L', lossy net_ L' /\ forall p, tokens s p -> L' p).
          { destruct ph as [[tok _]|[a [en [tok _]]]]; [now exists L|].
            exists (fire net_ L a). split; [now apply lossy_firing|assumption]. }
          destruct lifted as [L' [lost' tok]]. destruct (losses_lift net_ L' lost') as [M [fired above]].
          exists M. split; [assumption|]. intros p p_in. apply above, tok. destruct can as [need _]. apply need. now apply in_map.
        * apply IH. rewrite e in some. now rewrite plus_one_other in some.
      + apply IH. pose proof (minus_one_within s x Goal). rewrite e in some. lia.
  Qed.
End Intervals.
