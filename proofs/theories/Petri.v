(** * 1-safe Petri nets are questions about one node

    A token on a place is a pod; a transition fires through pods that come and go:

<<
    ready, Pre(a)  ──>  start a  ──>  (ready and the consumed tokens are deleted)  ──>  execute a
                   ──>  token p, a  for every produced p  ──>  end a  ──>  (start and execute are deleted)  ──>  ready a
>>
    The rules are those of the paper's section 2 on a single node with required
    affinity and anti-affinity alone ([affine_to]), and the types, labels and terms
    are those of its appendix B.

    _Nothing is too much_ needs no decomposition of runs: in every reachable
    configuration the tokens are within a marking that the net reaches without
    losses, which has fired whatever was executed.

    encode/petri/. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Problem Closure.
Import ListNotations.
Open Scope N_scope.

(** ** Nets *)

Record net (Place Transition : Type) := {
  places : list Place;
  transitions : list Transition;
  pre : Transition -> list Place;
  post : Transition -> list Place;
  marked : list Place;
}.

Arguments places {_ _}.  Arguments transitions {_ _}.  Arguments pre {_ _}.  Arguments post {_ _}.  Arguments marked {_ _}.

Section Petri.
  Context {Place Transition : Type} `{Eq_dec Place} `{Eq_dec Transition}.
  Variable net_ : net Place Transition.
  Notation Pre := (pre net_).
  Notation Post := (post net_).

  (** A marking of a 1-safe net is a set of places. *)
  Definition marking : Type := Place -> Prop.

  Definition enabled (M : marking) a : Prop := In a (transitions net_) /\ forall p, In p (Pre a) -> M p.

  Definition fire (M : marking) a : marking := fun p => M p /\ ~ In p (Pre a) \/ In p (Post a).

  Inductive fires : marking -> Prop :=
  | initially_marked : fires (fun p => In p (marked net_))
  | firing M a : fires M -> enabled M a -> fires (fire M a).

  Definition covers (g : Place) : Prop := exists M, fires M /\ M g.

  (** No transition that can fire would put a second token on a place. *)
  Definition one_safe : Prop :=
    forall M a p, fires M -> enabled M a -> In p (Post a) -> ~ In p (Pre a) -> ~ M p.

  (** ** Pods, labels and terms: the encoding *)

  Inductive pod :=
  | Initial (p : Place)                 (* I_p *)
  | Token (p : Place) (a : Transition)  (* P_{p,a} *)
  | First_ready                         (* R_0 *)
  | Start (a : Transition)
  | Execute (a : Transition)
  | End (a : Transition)
  | Ready (a : Transition)
  | Goal.

  Inductive label :=
  | at_place (p : Place) | is_ready | is_start | start_of (a : Transition)
  | is_execute | execute_of (a : Transition) | is_end | end_of (a : Transition) | nobody.

  #[local] Instance pod_eq_dec : Eq_dec pod.
  Proof. unfold Eq_dec in *. decide equality. Defined.

  Definition carries (x : pod) (l : label) : Prop :=
    match x, l with
    | Initial p, at_place q | Token p _, at_place q => p = q
    | First_ready, is_ready | Ready _, is_ready => True
    | Start _, is_start | Execute _, is_execute | End _, is_end => True
    | Start a, start_of b | Execute a, execute_of b | End a, end_of b => a = b
    | _, _ => False
    end.

  Definition consumed a : list Place := filter (fun p => if in_dec eq_dec p (Post a) then false else true) (Pre a).
  Definition produced a : list Place := filter (fun p => if in_dec eq_dec p (Pre a) then false else true) (nodup eq_dec (Post a)).

  Variable g : Place.

  Definition needs (x : pod) : list label :=
    match x with
    | Initial _ | First_ready => [nobody]
    | Start a => is_ready :: map at_place (Pre a)
    | Execute a => [start_of a]
    | Token _ a => [execute_of a]
    | End a => execute_of a :: map at_place (Post a)
    | Ready a => [end_of a]
    | Goal => [at_place g]
    end.

  Definition avoids (x : pod) : list label :=
    match x with
    | Initial p | Token p _ => [at_place p]
    | First_ready => [is_ready]
    | Start _ => [is_start; is_end]
    | Execute a => is_ready :: is_execute :: map at_place (consumed a)
    | End _ => [is_end]
    | Ready _ => [is_ready; is_start; is_execute]
    | Goal => []
    end.

  Implicit Types (s t : configuration pod) (x y : pod).

  (** Some pod with the label runs. *)
  Definition runs s (l : label) : Prop := exists x, carries x l /\ 0 < s x.

  (** [AffinityOK] of the paper on one node: every needed label is there, or
      nowhere and the pod's own; no avoided label is. *)
  Definition affine_to s x : Prop :=
    (forall l, In l (needs x) -> runs s l \/ carries x l /\ ~ runs s l) /\ (forall l, In l (avoids x) -> ~ runs s l).

  (** The pod types that there are. *)
  Definition is_type x : Prop :=
    match x with
    | Initial p => In p (marked net_)
    | Token p a => In a (transitions net_) /\ In p (produced a)
    | Start a | Execute a | End a | Ready a => In a (transitions net_)
    | First_ready | Goal => True
    end.

  Definition begins : configuration pod := fun x =>
    match x with
    | Initial p => if in_dec eq_dec p (marked net_) then 1 else 0
    | First_ready => 1
    | _ => 0
    end.

  Definition cluster : problem pod := {|
    hard x s := is_type x /\ affine_to s x;
    becomes _ _ := False;
    kept := nothing;
    start := begins;
  |}.

  (** ** Nothing is too much *)

  (** The tokens are within a marking that the net reaches, which has fired what
      was executed and lets fire what was started. *)
  Definition follows s (M : marking) : Prop :=
    (forall p, runs s (at_place p) -> M p)
    /\ (forall a, 0 < s (Start a) -> (In a (transitions net_) /\ forall p, In p (Pre a) -> M p) \/ forall p, In p (Post a) -> M p)
    /\ (forall a, 0 < s (Execute a) -> forall p, In p (Post a) -> M p).

  (** At most one transition has started. *)
  Definition one_start s : Prop := forall a b, 0 < s (Start a) -> 0 < s (Start b) -> a = b.

  Lemma runs_less s t l : s ≼ t -> runs s l -> runs t l.
  Proof. intros st [x [c some]]. exists x. split; [assumption|]. specialize (st x). lia. Qed.

  Lemma follows_less s t M : s ≼ t -> follows t M -> follows s M.
  Proof.
    intros st [tokens [started executed]]. repeat split.
    - intros p r. apply tokens. eapply runs_less; eassumption.
    - intros a some. apply started. specialize (st (Start a)). lia.
    - intros a some. apply executed. specialize (st (Execute a)). lia.
  Qed.

  Lemma runs_deployed s x l : runs (s ⊕ x) l -> carries x l \/ runs s l.
  Proof.
    intros [y [c some]]. destruct (eq_dec x y) as [<-|other]; [now left|right].
    exists y. split; [assumption|]. now rewrite plus_one_other in some.
  Qed.

  Lemma starts_deployed s x a : x <> Start a -> 0 < (s ⊕ x) (Start a) -> 0 < s (Start a).
  Proof. intros other some. now rewrite plus_one_other in some. Qed.

  Lemma needed_runs s x l : affine_to s x -> In l (needs x) -> ~ carries x l -> runs s l.
  Proof. intros [needs_ _] l_in not_own. destruct (needs_ l l_in) as [r|[own _]]; [assumption|contradiction]. Qed.

  Lemma follows_deployed s x M :
    one_start s -> is_type x -> affine_to s x -> fires M -> follows s M -> exists M', fires M' /\ follows (s ⊕ x) M'.
  Proof.
    intros single type ok fired [tokens [started executed]].
    (** Where the pod is no token, no start and no execute, nothing changes. *)
    assert (idle : (forall p, carries x (at_place p) -> M p) -> (forall a, x <> Start a) -> (forall a, x <> Execute a) ->
              follows (s ⊕ x) M).
    { intros own no_start no_execute. repeat split.
      - intros p r. apply runs_deployed in r. destruct r as [c|r]; auto.
      - intros a some. apply started. now rewrite plus_one_other in some.
      - intros a some. apply executed. now rewrite plus_one_other in some. }
    destruct x as [p|p a| |a|a|a|a|].
    - exfalso. assert (r : runs s nobody) by (eapply needed_runs; [exact ok|now left|exact (fun f => f)]).
      destruct r as [[] [[] _]].
    - exists M. split; [assumption|]. apply idle; try discriminate. intros q c. simpl in c. subst q.
      destruct type as [_ p_in]. apply filter_In in p_in. destruct p_in as [p_in _].
      apply nodup_In in p_in.
      assert (r : runs s (execute_of a)) by (eapply needed_runs; [exact ok|now left|exact (fun f => f)]).
      destruct r as [y [c some]]. destruct y; try contradiction. simpl in c. subst. now apply (executed a).
    - exists M. split; [assumption|]. apply idle; try discriminate. intros q [].
    - exists M. split; [assumption|]. repeat split.
      + intros p r. apply runs_deployed in r. destruct r as [[]|r]. auto.
      + intros b some. destruct (eq_dec (Start a) (Start b)) as [e|other].
        * injection e as <-. left. split; [exact type|]. intros p p_in. apply tokens.
          eapply needed_runs; [exact ok| |exact (fun f => f)]. right. now apply in_map.
        * rewrite plus_one_other in some by assumption. auto.
      + intros b some. rewrite plus_one_other in some by discriminate. now apply (executed b).
    - assert (r : runs s (start_of a)) by (eapply needed_runs; [exact ok|now left|exact (fun f => f)]).
      destruct r as [y [c some_start]]. destruct y; try contradiction. simpl in c. subst a0.
      destruct ok as [_ avoid].
      assert (alone : forall b, ~ 0 < s (Execute b)).
      { intros b some. apply (avoid is_execute); [right; now left|]. exists (Execute b). split; [exact I|assumption]. }
      assert (gone : forall p, In p (consumed a) -> ~ runs s (at_place p)).
      { intros p p_in. apply avoid. right. right. now apply in_map. }
      destruct (started a some_start) as [[a_in can]|done].
      + exists (fire M a). split; [apply firing; [assumption|split; assumption]|]. repeat split.
        * intros p r. apply runs_deployed in r. destruct r as [[]|r]. unfold fire.
          destruct (in_dec eq_dec p (Post a)) as [yes|no]; [now right|left]. split; [auto|].
          intros p_in. apply (gone p); [|assumption]. apply filter_In. split; [assumption|].
          destruct (in_dec eq_dec p (Post a)); [contradiction|reflexivity].
        * intros b some. rewrite plus_one_other in some by discriminate. rewrite (single b a some some_start).
          right. intros p p_in. now right.
        * intros b some. destruct (eq_dec (Execute a) (Execute b)) as [e|other].
          -- injection e as <-. intros p p_in. now right.
          -- rewrite plus_one_other in some by assumption. now apply alone in some.
      + exists M. split; [assumption|]. repeat split.
        * intros p r. apply runs_deployed in r. destruct r as [[]|r]. auto.
        * intros b some. rewrite plus_one_other in some by discriminate. auto.
        * intros b some. destruct (eq_dec (Execute a) (Execute b)) as [e|other].
          -- injection e as <-. assumption.
          -- rewrite plus_one_other in some by assumption. now apply alone in some.
    - exists M. split; [assumption|]. apply idle; try discriminate. intros q [].
    - exists M. split; [assumption|]. apply idle; try discriminate. intros q [].
    - exists M. split; [assumption|]. apply idle; try discriminate. intros q [].
  Qed.

  Theorem runs_follow_markings s : reachable cluster s -> one_start s /\ exists M, fires M /\ follows s M.
  Proof.
    intros r. induction r as [s e|s t r [single [M [fired f]]] st].
    - split; [intros a b some; rewrite e in some; simpl in some; lia|].
      exists (fun p => In p (marked net_)). split; [constructor|]. repeat split.
      + intros p [x [c some]]. rewrite e in some. simpl in some. unfold begins in some.
        destruct x; simpl in c; try contradiction; try lia. subst.
        destruct (in_dec eq_dec p (marked net_)); [assumption|lia].
      + intros a some. rewrite e in some. simpl in some. lia.
      + intros a some. rewrite e in some. simpl in some. lia.
    - destruct st as [x [type ok] e|x more e|x d more [] e].
      + split.
        * intros a b sa sb. rewrite e in sa, sb. destruct ok as [_ avoid].
          assert (no_start : forall c, (exists d, x = Start d) -> ~ 0 < s (Start c)).
          { intros c [d ->] some. apply (avoid is_start); [now left|]. exists (Start c). split; [exact I|assumption]. }
          destruct (eq_dec x (Start a)) as [xa|oa], (eq_dec x (Start b)) as [xb|ob]; try congruence.
          -- rewrite plus_one_other in sb by assumption. exfalso. eapply no_start; eauto.
          -- rewrite plus_one_other in sa by assumption. exfalso. eapply no_start; eauto.
          -- rewrite plus_one_other in sa, sb by assumption. auto.
        * destruct (follows_deployed s x M single type ok fired f) as [M' [fired' f']].
          exists M'. split; [assumption|]. eapply follows_less; [|exact f']. now apply same_within.
      + assert (less : t ≼ s) by (intros y; rewrite e; apply minus_one_within). split.
        * intros a b sa sb. apply single; [specialize (less (Start a))|specialize (less (Start b))]; lia.
        * exists M. split; [assumption|]. eapply follows_less; eassumption.
  Qed.

  (** If the goal pod can be deployed, the net can mark its place. *)
  Theorem petri_sound : deployable cluster [nothing ⊕ Goal] -> covers g.
  Proof.
    intros [s [r [alt [[<-|[]] covered]]]].
    assert (some : 0 < s Goal) by (specialize (covered Goal); rewrite plus_one_same in covered by reflexivity; lia).
    clear covered. induction r as [s e|s t r IH st].
    - rewrite e in some. simpl in some. lia.
    - destruct st as [x [type ok] e|x more e|x d more [] e].
      + destruct (eq_dec x Goal) as [->|other].
        * destruct (runs_follow_markings s r) as [_ [M [fired [tokens _]]]]. exists M. split; [assumption|].
          apply tokens. eapply needed_runs; [exact ok|now left|exact (fun f => f)].
        * apply IH. rewrite e in some. now rewrite plus_one_other in some.
      + apply IH. pose proof (minus_one_within s x Goal). rewrite e in some. lia.
  Qed.

  (** ** Nothing is missing *)

  Definition pod_types : list pod :=
    Goal :: First_ready :: map Initial (marked net_)
    ++ flat_map (fun a => Start a :: Execute a :: End a :: Ready a :: map (fun p => Token p a) (produced a)) (transitions net_).

  Lemma types_listed x : is_type x -> In x pod_types.
  Proof.
    unfold pod_types. destruct x as [p|p a| |a|a|a|a|]; simpl; intros type; try (now auto);
      right; right; apply in_or_app.
    - left. now apply in_map.
    - right. apply in_flat_map. exists a. split; [apply type|]. simpl. do 4 right.
      apply (in_map (fun p => Token p a)), type.
    - right. apply in_flat_map. exists a. simpl. auto.
    - right. apply in_flat_map. exists a. simpl. auto.
    - right. apply in_flat_map. exists a. simpl. auto.
    - right. apply in_flat_map. exists a. simpl. auto 6.
  Qed.

  Lemma running_types s : reachable cluster s -> forall x, 0 < s x -> is_type x.
  Proof.
    apply (invariant cluster (fun s => forall x, 0 < s x -> is_type x)).
    - intros t e x some. rewrite e in some. simpl in some. unfold begins in some.
      destruct x; simpl in *; try lia; try exact I. destruct (in_dec eq_dec p (marked net_)); [assumption|lia].
    - intros t u _ types st x some. destruct st as [y [type _] e|y more e|y d more [] e]; rewrite e in some.
      + destruct (eq_dec y x) as [<-|other]; [assumption|]. rewrite plus_one_other in some by assumption. auto.
      + apply types. pose proof (minus_one_within t y x). lia.
  Qed.

  (** What is left when all but some pods are deleted. *)
  Definition only (keep : pod -> bool) s : configuration pod := fun x => if keep x then s x else 0.

  Lemma reachable_only keep s : reachable cluster s -> reachable cluster (only keep s).
  Proof.
    intros r. apply (downward_closed cluster s (only keep s) pod_types); [assumption| | |].
    - intros x. simpl. unfold nothing. lia.
    - intros x. unfold only. destruct (keep x); lia.
    - intros x less. apply types_listed, (running_types s r). lia.
  Qed.

  Lemma runs_only keep s l : runs (only keep s) l <-> exists x, carries x l /\ keep x = true /\ 0 < s x.
  Proof.
    unfold runs, only. split; intros [x rest]; exists x; destruct (keep x); intuition (try congruence; lia).
  Qed.

  Lemma runs_plus s x l : runs (s ⊕ x) l <-> carries x l \/ runs s l.
  Proof.
    split; [apply runs_deployed|]. intros [c|r]; [|eapply runs_less; [apply within_plus_one|assumption]].
    exists x. split; [assumption|]. rewrite plus_one_same by reflexivity. lia.
  Qed.

  Lemma deploy_here s x : reachable cluster s -> is_type x -> affine_to s x -> reachable cluster (s ⊕ x).
  Proof. intros r type ok. eapply by_step; [exact r|]. eapply deploy; [split; eassumption|apply same_refl]. Qed.

  (** Between two firings: the tokens of a marking, a ready pod, and no other. *)
  Definition stable s (M : marking) : Prop :=
    (forall p, runs s (at_place p) <-> M p) /\ runs s is_ready
    /\ ~ runs s is_start /\ ~ runs s is_execute /\ ~ runs s is_end.

  Definition is_token x : bool := match x with Initial _ | Token _ _ => true | _ => false end.

  Lemma tokens_kept keep s p : (forall x, is_token x = true -> keep x = true) ->
    runs (only keep s) (at_place p) <-> runs s (at_place p).
  Proof.
    intros kept_. rewrite runs_only. split.
    - intros [x [c [_ some]]]. now exists x.
    - intros [x [c some]]. exists x. repeat split; auto. apply kept_. destruct x; simpl in *; tauto.
  Qed.

  (** The tokens of a list are put, one after the other. *)
  Lemma put_tokens s a : In a (transitions net_) -> forall l, NoDup l -> incl l (produced a) ->
    reachable cluster s -> 0 < s (Execute a) -> (forall p, In p l -> ~ runs s (at_place p)) ->
    exists t, reachable cluster t /\ 0 < t (Execute a) /\ forall p, runs t (at_place p) <-> runs s (at_place p) \/ In p l.
  Proof.
    intros a_in l once. induction once as [|p l out _ IH]; intros sub r some free.
    - exists s. repeat split; auto; simpl; tauto.
    - destruct IH as [t [rt [some_t tokens]]]; auto.
      { intros q q_in. apply sub. now right. }
      { intros q q_in. apply free. now right. }
      exists (t ⊕ Token p a). repeat split.
      + apply deploy_here; [assumption|split; [assumption|apply sub; now left]|]. split.
        * intros k [<-|[]]. left. exists (Execute a). split; [reflexivity|assumption].
        * intros k [<-|[]]. rewrite tokens. intros [there|p_in]; [|contradiction].
          apply (free p); [now left|assumption].
      + rewrite plus_one_other by discriminate. assumption.
      + rewrite runs_plus, tokens. simpl. intuition.
      + rewrite runs_plus, tokens. simpl. intuition.
  Qed.

  Hypothesis safe : one_safe.

  Lemma one_firing s M a :
    reachable cluster s -> stable s M -> fires M -> enabled M a ->
    exists t, reachable cluster t /\ stable t (fire M a).
  Proof.
    intros r [tokens [ready [no_start [no_execute no_end]]]] fired can. pose proof can as [a_in have].
    (* start *)
    assert (r1 : reachable cluster (s ⊕ Start a)).
    { apply deploy_here; [assumption|exact a_in|]. split.
      - intros l [<-|l_in]; [now left|]. apply in_map_iff in l_in. destruct l_in as [p [<- p_in]].
        left. apply tokens. auto.
      - intros l [<-|[<-|[]]]; assumption. }
    (* ready and the consumed tokens go *)
    pose (keep := fun x => match x with
      | Start _ => true
      | Initial p | Token p _ => if in_dec eq_dec p (consumed a) then false else true
      | _ => false end).
    pose (s2 := only keep (s ⊕ Start a)).
    assert (r2 : reachable cluster s2) by now apply reachable_only.
    assert (tokens2 : forall p, runs s2 (at_place p) <-> M p /\ ~ In p (consumed a)).
    { intros p. unfold s2. rewrite runs_only. split.
      - intros [x [c [k some]]].
        assert (there : runs s (at_place p)).
        { exists x. split; [assumption|]. rewrite plus_one_other in some; [assumption|]. intros <-. exact c. }
        split; [now apply tokens|]. destruct x; simpl in c, k; try contradiction; subst;
          destruct (in_dec eq_dec p (consumed a)); congruence.
      - intros [there stays]. apply tokens in there. destruct there as [x [c some]]. exists x. repeat split; [assumption| |].
        + destruct x; simpl in *; try contradiction; subst; destruct (in_dec eq_dec p (consumed a)); tauto.
        + rewrite plus_one_other; [assumption|]. intros <-. exact c. }
    assert (lock : 0 < s2 (Start a)).
    { unfold s2, only. simpl. rewrite plus_one_same by reflexivity. lia. }
    (* execute *)
    assert (r3 : reachable cluster (s2 ⊕ Execute a)).
    { apply deploy_here; [assumption|exact a_in|]. split.
      - intros l [<-|[]]. left. exists (Start a). split; [reflexivity|assumption].
      - intros l [<-|[<-|l_in]].
        + unfold s2. rewrite runs_only. intros [x [c [k _]]]. destruct x; simpl in *; try contradiction; discriminate.
        + unfold s2. rewrite runs_only. intros [x [c [k _]]]. destruct x; simpl in *; try contradiction; discriminate.
        + apply in_map_iff in l_in. destruct l_in as [p [<- p_in]]. rewrite tokens2. tauto. }
    (* the produced tokens come *)
    destruct (put_tokens (s2 ⊕ Execute a) a a_in (produced a)) as [s4 [r4 [some4 tokens4]]].
    { apply NoDup_filter, NoDup_nodup. }
    { apply incl_refl. }
    { assumption. }
    { rewrite plus_one_same by reflexivity. lia. }
    { intros p p_in. rewrite runs_plus, tokens2. intros [[]|[there _]]. apply filter_In in p_in. destruct p_in as [p_in new].
      apply nodup_In in p_in. destruct (in_dec eq_dec p (Pre a)); [discriminate|]. now apply (safe M a p). }
    assert (after : forall p, runs s4 (at_place p) <-> fire M a p).
    { intros p. rewrite tokens4, runs_plus, tokens2. unfold fire, produced, consumed. rewrite !filter_In, nodup_In.
      specialize (have p). simpl.
      destruct (in_dec eq_dec p (Pre a)), (in_dec eq_dec p (Post a)); intuition congruence. }
    (* start goes, end comes *)
    pose (s5 := only (fun x => is_token x || match x with Execute _ => true | _ => false end) s4).
    assert (r5 : reachable cluster s5) by now apply reachable_only.
    assert (tokens5 : forall p, runs s5 (at_place p) <-> fire M a p).
    { intros p. rewrite <- after. apply tokens_kept. intros x ->. reflexivity. }
    assert (r6 : reachable cluster (s5 ⊕ End a)).
    { apply deploy_here; [assumption|exact a_in|]. split.
      - intros l [<-|l_in]; left.
        + exists (Execute a). split; [reflexivity|exact some4].
        + apply in_map_iff in l_in. destruct l_in as [p [<- p_in]]. apply tokens5. now right.
      - intros l [<-|[]]. unfold s5. rewrite runs_only. intros [x [c [k _]]]. destruct x; simpl in *; try contradiction; discriminate. }
    (* execute goes, ready comes *)
    pose (s7 := only (fun x => is_token x || match x with End _ => true | _ => false end) (s5 ⊕ End a)).
    assert (r7 : reachable cluster s7) by now apply reachable_only.
    assert (tokens7 : forall p, runs s7 (at_place p) <-> fire M a p).
    { intros p. rewrite <- tokens5. unfold s7. rewrite tokens_kept by (intros x ->; reflexivity). rewrite runs_plus. simpl. tauto. }
    assert (r8 : reachable cluster (s7 ⊕ Ready a)).
    { apply deploy_here; [assumption|exact a_in|]. split.
      - intros l [<-|[]]. left. exists (End a). split; [reflexivity|]. unfold s7, only. simpl.
        rewrite plus_one_same by reflexivity. lia.
      - intros l [<-|[<-|[<-|[]]]]; unfold s7; rewrite runs_only; intros [x [c [k _]]]; destruct x; simpl in *; try contradiction; discriminate. }
    (* end goes *)
    exists (only (fun x => is_token x || match x with Ready _ => true | _ => false end) (s7 ⊕ Ready a)).
    split; [now apply reachable_only|]. repeat split.
    - rewrite tokens_kept by (intros x ->; reflexivity). rewrite runs_plus, tokens7. simpl. tauto.
    - rewrite tokens_kept by (intros x ->; reflexivity). rewrite runs_plus, tokens7. simpl. tauto.
    - rewrite runs_only. exists (Ready a). repeat split. rewrite plus_one_same by reflexivity. lia.
    - rewrite runs_only. intros [x [c [k _]]]. destruct x; simpl in *; try contradiction; discriminate.
    - rewrite runs_only. intros [x [c [k _]]]. destruct x; simpl in *; try contradiction; discriminate.
    - rewrite runs_only. intros [x [c [k _]]]. destruct x; simpl in *; try contradiction; discriminate.
  Qed.

  (** Every marking of the net is reached as pods. *)
  Theorem markings_are_reached M : fires M -> exists s, reachable cluster s /\ stable s M.
  Proof.
    intros fired. induction fired as [|M a fired [s [r st]] can].
    - exists begins. split; [apply at_start, same_refl|]. repeat split.
      + intros [x [c some]]. unfold begins in some. destruct x; simpl in *; try contradiction; try lia. subst.
        destruct (in_dec eq_dec p (marked net_)); [assumption|lia].
      + intros p_in. exists (Initial p). split; [reflexivity|]. simpl. destruct (in_dec eq_dec p (marked net_)); [lia|contradiction].
      + exists First_ready. split; [exact I|]. simpl. lia.
      + intros [x [c some]]. unfold begins in some. destruct x; simpl in *; try contradiction; lia.
      + intros [x [c some]]. unfold begins in some. destruct x; simpl in *; try contradiction; lia.
      + intros [x [c some]]. unfold begins in some. destruct x; simpl in *; try contradiction; lia.
    - now apply (one_firing s M a).
  Qed.

  (** The paper's theorem on the encoding of nets. *)
  Theorem petri : covers g <-> deployable cluster [nothing ⊕ Goal].
  Proof.
    split; [|apply petri_sound].
    intros [M [fired there]]. destruct (markings_are_reached M fired) as [s [r [tokens _]]].
    exists (s ⊕ Goal). split.
    - apply deploy_here; [assumption|exact I|]. split; [|intros l []].
      intros l [<-|[]]. left. now apply tokens.
    - exists (nothing ⊕ Goal). split; [now left|]. apply plus_one_mono. intros x. unfold nothing. lia.
  Qed.
End Petri.
