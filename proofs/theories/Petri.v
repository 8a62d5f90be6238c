(** * A net can mark a set of places exactly if the goal pod is deployable

    _Nothing is missing_: where a transition is enabled, the pods of its firing can come
    and go one after the other, from the tokens of the marking before to those of the
    marking after.  Together with Intervals.v, this is the paper's theorem on its
    encoding, and the same for the one of the real scheduler.

    The paper's appendix B; encode/petri/. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Problem Closure Rules Net Protocol Intervals.
Import ListNotations.
Open Scope N_scope.

Section Petri.
  Context {Place Transition : Type} `{Eq_dec Place} `{Eq_dec Transition}.
  Variable net_ : net Place Transition.
  Variable sem : semantics.
  Variable goal : list Place.
  Variable room : N.
  Hypothesis some_room : 1 <= room.

  Notation Pre := (pre net_).
  Notation Post := (post net_).
  Notation pod := (pod Place Transition).
  Notation P := (protocol net_ sem goal room).
  Notation types := (pod_types net_ sem).
  Notation produced := (produced net_).
  Notation consumed := (consumed net_).
  Notation avoids := (avoids net_ sem).
  Notation needs := (needs net_ sem goal).
  Implicit Types (s t : configuration pod) (x y : pod) (M : Place -> Prop).

  Lemma transition_type a x : In a (transitions net_) -> In x (of_transition net_ sem a) -> In x types.
  Proof. intros a_in x_in. right. right. apply in_or_app. right. apply in_flat_map. eauto. Qed.

  (** Under kube-scheduler: nobody is on the pod's node, and nobody keeps it away. *)
  Definition clear s x : Prop :=
    forall y, 0 < s y -> home y <> home x /\ forall l, In l (avoids y) -> ~ carries x l.

  Lemma deploy_here s x : reachable P s -> In x types ->
    (forall l, In l (needs x) -> runs s l) -> (forall l, In l (avoids x) -> ~ runs s l) ->
    (sem = KubeScheduler -> clear s x) -> reachable P (s ⊕ x).
  Proof.
    intros r type need avoid free. eapply by_step; [exact r|]. apply (deploy _ _ _ x); [|apply same_refl].
    split; [assumption|]. refine (conj need (conj avoid _)). intros is. specialize (free is). split.
    - intros y l some. now apply free.
    - enough (crowd net_ sem s (home x) = 0) by lia. apply count_zero. intros y y_in. apply filter_In in y_in.
      destruct y_in as [_ at_home]. destruct (N.eq_0_gt_0_cases (s y)) as [|some]; [assumption|].
      destruct (free y some) as [elsewhere _]. destruct (eq_dec (home y) (home x)); [contradiction|discriminate].
  Qed.

  (** What is left when all but some pods are deleted. *)
  Definition only (keep : pod -> bool) s : configuration pod := fun x => if keep x then s x else 0.

  Lemma reachable_only keep s : reachable P s -> reachable P (only keep s).
  Proof.
    intros r. apply (downward_closed P s (only keep s) types); [assumption| | |].
    - intros x. simpl. unfold nothing. lia.
    - intros x. unfold only. destruct (keep x); lia.
    - intros x less. apply (running_types net_ sem goal room s r). lia.
  Qed.

  Lemma runs_only keep s l : runs (only keep s) l <-> exists x, carries x l /\ keep x = true /\ 0 < s x.
  Proof. unfold runs, only. split; intros [x rest]; exists x; destruct (keep x); intuition (try congruence; lia). Qed.

  Lemma only_runs keep s x : 0 < only keep s x -> keep x = true /\ 0 < s x.
  Proof. unfold only. destruct (keep x); [auto|lia]. Qed.

  (** ** Tokens *)

  Definition is_token x : bool := match x with Initial _ | Token _ _ => true | _ => false end.

  Lemma tokens_only keep s p : (forall x, is_token x = true -> keep x = true) -> tokens (only keep s) p <-> tokens s p.
  Proof.
    intros kept_. unfold tokens. rewrite runs_only. split.
    - intros [x [c [_ some]]]. now exists x.
    - intros [x [c some]]. exists x. repeat split; auto. apply kept_. destruct x; unlike c; reflexivity.
  Qed.

  Lemma tokens_plus s x p : is_token x = false -> tokens (s ⊕ x) p <-> tokens s p.
  Proof.
    intros other. unfold tokens. rewrite runs_plus. split; [|tauto]. intros [c|]; [|assumption].
    destruct x; unlike c; discriminate.
  Qed.

  Lemma plus_runs s x y : 0 < (s ⊕ x) y -> y = x \/ 0 < s y.
  Proof. intros some. destruct (eq_dec x y) as [<-|other]; [now left|right]. now rewrite plus_one_other in some. Qed.

  (** The tokens of a list are put, one after the other. *)
  Lemma put_tokens s a : In a (transitions net_) -> forall l, NoDup l -> incl l (produced a) ->
    reachable P s -> 0 < s (Execute a) ->
    (forall y, 0 < s y -> is_token y = true \/ (exists b, y = Start b) \/ y = Execute a) ->
    (forall p, In p l -> ~ tokens s p) ->
    exists t, reachable P t /\ 0 < t (Execute a)
      /\ (forall y, 0 < t y -> is_token y = true \/ (exists b, y = Start b) \/ y = Execute a)
      /\ forall p, tokens t p <-> tokens s p \/ In p l.
  Proof.
    intros a_in l once. induction once as [|p l out _ IH]; intros sub r some who free.
    - exists s. repeat split; auto; simpl; tauto.
    - destruct IH as [t [rt [some_t [who_t tok]]]]; auto.
      { intros q q_in. apply sub. now right. }
      { intros q q_in. apply free. now right. }
      assert (p_in : In p (produced a)) by (apply sub; now left).
      assert (empty : ~ tokens t p).
      { rewrite tok. intros [there|again]; [|contradiction]. apply (free p); [now left|assumption]. }
      exists (t ⊕ Token p a). repeat split.
      + apply deploy_here; [assumption| | | |].
        * apply (transition_type a); [assumption|]. do 4 right. apply in_or_app. left. now apply (in_map (fun p => Token p a)).
        * intros k [<-|[]]. exists (Execute a). split; [right; now left|assumption].
        * intros k [<-|[]]. exact empty.
        * intros is y some_y. destruct (who_t y some_y) as [token|[[b ->]| ->]].
          -- assert (other : forall q, carries y (at_place q) -> q <> p) by (intros q c ->; apply empty; now exists y).
             destruct y; try discriminate; (split; [intros e; injection e as e; eapply other; [now left|exact e]|]);
               intros k [<-|[]] c; unlike c; injection c as c; (eapply other; [now left|now symmetry]).
          -- split; [discriminate|]. intros k k_in c. unlike c. subst k. simpl in k_in. destruct (kube sem); unlike k_in.
          -- split; [discriminate|]. intros k k_in c. unlike c. subst k. destruct k_in as [e|[e|k_in]]; try discriminate.
             apply in_map_iff in k_in. destruct k_in as [q [e q_in]]. injection e as ->.
             apply filter_In in p_in. apply filter_In in q_in. destruct p_in as [_ new], q_in as [old _].
             destruct (in_dec eq_dec p (Pre a)); [discriminate|contradiction].
      + rewrite plus_one_other by discriminate. assumption.
      + intros y some_y. apply plus_runs in some_y. destruct some_y as [->|some_y]; [now left|auto].
      + unfold tokens in *. rewrite runs_plus, tok. intros [c|[|]]; [unlike c; injection c as ->; right; now left|now left|right; now right].
      + unfold tokens in *. rewrite runs_plus, tok. intros [|[->|]]; [right; now left|left; now left|right; now right].
  Qed.

  (** ** Firings *)

  (** Between two firings: the tokens of a marking and a ready pod, and no other. *)
  Definition rests s M : Prop :=
    (forall p, tokens s p <-> M p) /\ runs s is_ready
    /\ forall y, 0 < s y -> is_token y = true \/ carries y is_ready.

  Lemma rests_stable s M : rests s M -> stable s.
  Proof.
    intros [_ [ready who]]. refine (conj ready _).
    repeat split; intros [y [c some]]; (destruct (who y some) as [token|c']; [destruct y; try discriminate; unlike c|destruct y; unlike c'; unlike c]).
  Qed.

  Hypothesis safe : one_safe net_.

  Lemma one_firing s M a :
    reachable P s -> rests s M -> fires net_ M -> enabled net_ M a ->
    exists t, reachable P t /\ rests t (fire net_ M a).
  Proof.
    intros r [tok [ready who]] fired can. pose proof can as [a_in have].
    assert (absent : forall l, (forall p, l <> at_place p) -> l <> is_ready -> ~ runs s l).
    { intros l no_place no_ready [y [c some]]. destruct (who y some) as [token|c'].
      - destruct y; try discriminate; unlike c; subst; now apply (no_place p).
      - destruct y; unlike c'; unlike c; subst; now apply no_ready. }
    (* start *)
    assert (r1 : reachable P (s ⊕ Start a)).
    { apply deploy_here; [assumption| | | |].
      - apply (transition_type a); [assumption|now left].
      - intros l [<-|l_in]; [assumption|]. apply in_map_iff in l_in. destruct l_in as [p [<- p_in]]. apply tok. auto.
      - intros l l_in. apply absent; [intros p ->|intros ->]; simpl in l_in; destruct (kube sem); unlike l_in.
      - intros is y some. destruct (who y some) as [token|c].
        + destruct y; try discriminate; (split; [discriminate|]); intros l [<-|[]] c; unlike c.
        + destruct y; unlike c; (split; [discriminate|]); intros l l_in c'; simpl in l_in; unfold kube in l_in;
            try rewrite is in l_in; destruct l_in as [<-|[]]; unlike c'. }
    (* ready and the consumed tokens go *)
    pose (keep := fun x : pod => match x with
      | Start _ => true
      | Initial p | Token p _ => if in_dec eq_dec p (consumed a) then false else true
      | _ => false end).
    pose (s2 := only keep (s ⊕ Start a)).
    assert (r2 : reachable P s2) by now apply reachable_only.
    assert (who2 : forall y, 0 < s2 y -> is_token y = true \/ exists b, y = Start b).
    { intros y some. apply only_runs in some. destruct some as [k some]. destruct y; try discriminate; eauto. }
    assert (tok2 : forall p, tokens s2 p <-> M p /\ ~ In p (consumed a)).
    { intros p. unfold s2, tokens. rewrite runs_only. split.
      - intros [x [c [k some]]]. split.
        + apply tok. exists x. split; [assumption|]. apply plus_runs in some. destruct some as [->|]; [unlike c|assumption].
        + destruct x; unlike c; injection c as ->; simpl in k; destruct (in_dec eq_dec p (consumed a)); congruence.
      - intros [there stays]. apply tok in there. destruct there as [x [c some]]. exists x. repeat split; [assumption| |].
        + destruct x; unlike c; injection c as ->; simpl; destruct (in_dec eq_dec p (consumed a)); tauto.
        + pose proof (within_plus_one s (Start a) x). lia. }
    assert (lock : 0 < s2 (Start a)).
    { unfold s2, only. simpl. rewrite plus_one_same by reflexivity. lia. }
    (* execute *)
    assert (r3 : reachable P (s2 ⊕ Execute a)).
    { apply deploy_here; [assumption| | | |].
      - apply (transition_type a); [assumption|right; now left].
      - intros l [<-|[]]. exists (Start a). split; [right; now left|assumption].
      - intros l [<-|[<-|l_in]].
        + intros [y [c some]]. destruct (who2 y some) as [token|[b ->]]; [destruct y; try discriminate|]; unlike c.
        + intros [y [c some]]. destruct (who2 y some) as [token|[b ->]]; [destruct y; try discriminate|]; unlike c.
        + apply in_map_iff in l_in. destruct l_in as [p [<- p_in]]. intros there. apply tok2 in there. tauto.
      - intros is y some. destruct (who2 y some) as [token|[b ->]].
        + destruct y; try discriminate; (split; [discriminate|]); intros l [<-|[]] c; unlike c.
        + split; [discriminate|]. intros l l_in c. unlike c; subst l; simpl in l_in; destruct (kube sem); unlike l_in. }
    (* the produced tokens come *)
    destruct (put_tokens (s2 ⊕ Execute a) a a_in (produced a)) as [s4 [r4 [some4 [who4 tok4]]]].
    { apply NoDup_filter, NoDup_nodup. }
    { apply incl_refl. }
    { assumption. }
    { rewrite plus_one_same by reflexivity. lia. }
    { intros y some. apply plus_runs in some. destruct some as [->|some]; [tauto|]. destruct (who2 y some); tauto. }
    { intros p p_in. rewrite tokens_plus, tok2 by reflexivity. intros [there _]. apply filter_In in p_in. destruct p_in as [p_in new].
      apply nodup_In in p_in. destruct (in_dec eq_dec p (Pre a)); [discriminate|]. now apply (safe M a p). }
    assert (after_ : forall p, tokens s4 p <-> fire net_ M a p).
    { intros p. rewrite tok4, tokens_plus, tok2 by reflexivity. unfold fire, Protocol.produced, Protocol.consumed.
      rewrite !filter_In, nodup_In. specialize (have p).
      destruct (in_dec eq_dec p (Pre a)), (in_dec eq_dec p (Post a)); intuition congruence. }
    (* start goes, end comes *)
    pose (s5 := only (fun x : pod => is_token x || match x with Execute _ => true | _ => false end) s4).
    assert (r5 : reachable P s5) by now apply reachable_only.
    assert (who5 : forall y, 0 < s5 y -> is_token y = true \/ y = Execute a).
    { intros y some. apply only_runs in some. destruct some as [k some]. destruct (who4 y some) as [|[[b ->]|]]; auto; discriminate. }
    assert (tok5 : forall p, tokens s5 p <-> fire net_ M a p).
    { intros p. rewrite <- after_. apply tokens_only. intros x ->. reflexivity. }
    assert (r6 : reachable P (s5 ⊕ End a)).
    { apply deploy_here; [assumption| | | |].
      - apply (transition_type a); [assumption|right; right; now left].
      - intros l [<-|l_in].
        + exists (Execute a). split; [right; now left|exact some4].
        + apply in_map_iff in l_in. destruct l_in as [p [<- p_in]]. apply tok5. now right.
      - intros l [<-|[]] [y [c some]]. destruct (who5 y some) as [token| ->]; [destruct y; try discriminate|]; unlike c.
      - intros is y some. destruct (who5 y some) as [token| ->].
        + destruct y; try discriminate; (split; [discriminate|]); intros l [<-|[]] c; unlike c.
        + split; [discriminate|]. intros l l_in c. unlike c; subst l; (destruct l_in as [e|[e|l_in]]; try discriminate);
            apply in_map_iff in l_in; destruct l_in as [q [e _]]; discriminate. }
    (* execute goes *)
    pose (s7 := only (fun x : pod => is_token x || match x with End _ => true | _ => false end) (s5 ⊕ End a)).
    assert (r7 : reachable P s7) by now apply reachable_only.
    assert (who7 : forall y, 0 < s7 y -> is_token y = true \/ y = End a).
    { intros y some. apply only_runs in some. destruct some as [k some]. apply plus_runs in some.
      destruct some as [->|some]; [now right|]. destruct (who5 y some) as [| ->]; [now left|discriminate]. }
    assert (tok7 : forall p, tokens s7 p <-> fire net_ M a p).
    { intros p. rewrite <- tok5. unfold s7. rewrite tokens_only by (intros x ->; reflexivity). now apply tokens_plus. }
    assert (ended : runs s7 (end_of a)).
    { exists (End a). split; [right; now left|]. unfold s7, only. simpl. rewrite plus_one_same by reflexivity. lia. }
    (* under kube-scheduler, check comes and end goes *)
    assert (checked_ : exists s8, reachable P s8 /\ (forall p, tokens s8 p <-> fire net_ M a p)
              /\ (forall l, In l (needs (Ready a)) -> runs s8 l)
              /\ forall y, 0 < s8 y -> is_token y = true \/ y = End a \/ y = Check a).
    { unfold Protocol.needs. destruct (kube sem) eqn:is_kube_.
      - pose (s8 := only (fun x : pod => is_token x || match x with Check _ => true | _ => false end) (s7 ⊕ Check a)).
        assert (r8 : reachable P (s7 ⊕ Check a)).
        { apply deploy_here; [assumption| | | |].
          - apply (transition_type a); [assumption|]. do 4 right. apply in_or_app. right. rewrite is_kube_. now left.
          - intros l [<-|[]]. exact ended.
          - intros l [<-|[<-|[]]] [y [c some]]; (destruct (who7 y some) as [token| ->]; [destruct y; try discriminate|]; unlike c).
          - intros is y some. destruct (who7 y some) as [token| ->].
            + destruct y; try discriminate; (split; [discriminate|]); intros l [<-|[]] c; unlike c.
            + split; [discriminate|]. intros l [<-|[]] c. unlike c. }
        exists s8. refine (conj _ (conj _ (conj _ _))).
        + now apply reachable_only.
        + intros p. rewrite <- tok7. unfold s8. rewrite tokens_only by (intros x ->; reflexivity). now apply tokens_plus.
        + intros l [<-|[]]. exists (Check a). split; [right; now left|]. unfold s8, only. simpl. rewrite plus_one_same by reflexivity. lia.
        + intros y some. apply only_runs in some. destruct some as [k some]. apply plus_runs in some.
          destruct some as [->|some]; [tauto|]. destruct (who7 y some) as [| ->]; [now left|discriminate].
      - exists s7. refine (conj r7 (conj tok7 (conj _ _))).
        + intros l [<-|[]]. exact ended.
        + intros y some. destruct (who7 y some); tauto. }
    destruct checked_ as [s8 [r8 [tok8 [need8 who8]]]].
    (* ready comes *)
    assert (r9 : reachable P (s8 ⊕ Ready a)).
    { apply deploy_here; [assumption| |exact need8| |].
      - apply (transition_type a); [assumption|right; right; right; now left].
      - intros l l_in [y [c some]].
        assert (which : l = is_ready \/ l = is_start \/ l = is_execute).
        { simpl in l_in. destruct (kube sem); simpl in l_in; intuition. }
        destruct (who8 y some) as [token|[->| ->]]; [destruct y; try discriminate| |]; unlike c; subst l;
          destruct which as [e|[e|e]]; discriminate.
      - intros is y some. destruct (who8 y some) as [token|[->| ->]].
        + destruct y; try discriminate; (split; [discriminate|]); intros l [<-|[]] c; unlike c.
        + split; [discriminate|]. intros l [<-|[]] c. unlike c.
        + split; [discriminate|]. intros l [<-|[<-|[]]] c; unlike c. }
    exists (only (fun x : pod => is_token x || match x with Ready _ => true | _ => false end) (s8 ⊕ Ready a)).
    split; [now apply reachable_only|]. refine (conj _ (conj _ _)).
    - intros p. rewrite tokens_only by (intros x ->; reflexivity). rewrite tokens_plus by reflexivity. apply tok8.
    - apply runs_only. exists (Ready a). repeat split; [now left|]. rewrite plus_one_same by reflexivity. lia.
    - intros y some. apply only_runs in some. destruct some as [k _]. destruct y; try discriminate; [now left|now left|right; now left].
  Qed.

  (** Every marking of the net is reached as pods. *)
  Theorem markings_are_reached M : fires net_ M -> exists s, reachable P s /\ rests s M.
  Proof.
    intros fired. induction fired as [|M a fired [s [r st]] can].
    - exists (starts_with net_). split; [apply at_start, same_refl|]. refine (conj _ (conj _ _)).
      + intros p. split.
        * intros [x [c some]]. destruct x; simpl in some; try lia; unlike c. injection c as ->.
          destruct (in_dec eq_dec p (marked net_)); [assumption|lia].
        * intros p_in. exists (Initial p). split; [now left|]. simpl. destruct (in_dec eq_dec p (marked net_)); [lia|contradiction].
      + exists First_ready. split; [now left|]. simpl. lia.
      + intros y some. destruct y; simpl in some; try lia; [now left|right; now left].
    - now apply (one_firing s M a).
  Qed.

  (** The main equivalence, under either semantics. *)
  Theorem petri : covers net_ goal <-> deployable P [nothing ⊕ Goal].
  Proof.
    split; [|apply protocol_sound].
    intros [M [fired there]]. destruct (markings_are_reached M fired) as [s [r [tok [_ who]]]].
    exists (s ⊕ Goal). split.
    - apply deploy_here; [assumption|now left| |intros l []|].
      + intros l l_in. apply in_map_iff in l_in. destruct l_in as [p [<- p_in]]. apply tok. auto.
      + intros is y some. destruct (who y some) as [token|c].
        * destruct y; try discriminate; (split; [discriminate|]); intros l [<-|[]] c; unlike c.
        * destruct y; unlike c; (split; [discriminate|]); intros l l_in c'; unlike c'; subst l; simpl in l_in;
            try destruct (kube sem); unlike l_in.
    - exists (nothing ⊕ Goal). split; [now left|]. apply plus_one_mono. intros x. unfold nothing. lia.
  Qed.
End Petri.
