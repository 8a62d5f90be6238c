(** * The protocol by which pods act as a net

    A token on a place is a pod; a transition fires through pods that come and go:

<<
    ready, Pre(a)  ──>  start a  ──>  (ready and the consumed tokens are deleted)  ──>  execute a
                   ──>  token p, a  for every produced p  ──>  end a  ──>  (start and execute are deleted)
                   ──>  check a, under kube-scheduler  ──>  ready a
>>
    Under [Paper] this is the paper's appendix B, on one node.  Under [KubeScheduler]
    residents repel newcomers too, and every signal has a node of its own with room for
    some pods; [check] sees that start and execute are gone, so that a resident [ready]
    need not repel the next start.  That the rules of Rules.v say just this of
    the encoded cluster is shown in Encoding.v.

    Here: what the protocol is, and what can run together ([control]).

    encode/petri/protocol.rs. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Problem Rules Net.
Import ListNotations.
Open Scope N_scope.

Section Pods.
  Context {Place Transition : Type}.

  Inductive pod :=
  | Initial (p : Place)                 (* I_p *)
  | Token (p : Place) (a : Transition)  (* P_{p,a} *)
  | First_ready                         (* R_0 *)
  | Start (a : Transition)
  | Execute (a : Transition)
  | End (a : Transition)
  | Check (a : Transition)
  | Ready (a : Transition)
  | Goal.

  Inductive label :=
  | at_place (p : Place) | is_ready | is_goal | nobody
  | is_start | start_of (a : Transition) | is_execute | execute_of (a : Transition)
  | is_end | end_of (a : Transition) | is_check | check_of (a : Transition).

  Definition labels_of (x : pod) : list label :=
    match x with
    | Initial p | Token p _ => [at_place p]
    | First_ready | Ready _ => [is_ready]
    | Start a => [is_start; start_of a]
    | Execute a => [is_execute; execute_of a]
    | End a => [is_end; end_of a]
    | Check a => [is_check; check_of a]
    | Goal => [is_goal]
    end.

  Definition carries (x : pod) (l : label) : Prop := In l (labels_of x).

  (** What a pod signals to others: the node it has under kube-scheduler. *)
  Definition home (x : pod) : label :=
    match x with
    | Initial p | Token p _ => at_place p
    | First_ready | Ready _ => is_ready
    | Start a => start_of a
    | Execute a => execute_of a
    | End a => end_of a
    | Check a => check_of a
    | Goal => is_goal
    end.
End Pods.

Arguments pod : clear implicits.
Arguments label : clear implicits.

#[global] Instance pod_eq_dec {P T} `{Eq_dec P} `{Eq_dec T} : Eq_dec (pod P T).
Proof. unfold Eq_dec in *. decide equality. Defined.

#[global] Instance label_eq_dec {P T} `{Eq_dec P} `{Eq_dec T} : Eq_dec (label P T).
Proof. unfold Eq_dec in *. decide equality. Defined.

(** A label is none of those that a pod carries. *)
Ltac unlike c := unfold carries in c; simpl in c; repeat (destruct c as [c|c]); (contradiction || discriminate c || idtac).

Section Protocol.
  Context {Place Transition : Type} `{Eq_dec Place} `{Eq_dec Transition}.
  Variable net_ : net Place Transition.
  Variable sem : semantics.
  (** The goal, and how many pods a node has room for. *)
  Variable goal : list Place.
  Variable room : N.

  Notation Pre := (pre net_).
  Notation Post := (post net_).
  Notation pod := (pod Place Transition).
  Notation label := (label Place Transition).
  Implicit Types (s t u : configuration pod) (x y : pod) (l : label) (L M : Place -> Prop).

  Definition kube : bool := match sem with KubeScheduler => true | Paper => false end.

  Definition consumed a : list Place := filter (fun p => if in_dec eq_dec p (Post a) then false else true) (Pre a).
  Definition produced a : list Place := filter (fun p => if in_dec eq_dec p (Pre a) then false else true) (nodup eq_dec (Post a)).

  Definition needs x : list label :=
    match x with
    | Initial _ | First_ready => [nobody]
    | Start a => is_ready :: map at_place (Pre a)
    | Execute a => [start_of a]
    | Token _ a => [execute_of a]
    | End a => execute_of a :: map at_place (Post a)
    | Check a => [end_of a]
    | Ready a => if kube then [check_of a] else [end_of a]
    | Goal => map at_place goal
    end.

  Definition avoids x : list label :=
    match x with
    | Initial p | Token p _ => [at_place p]
    | First_ready => [is_ready]
    | Start _ => if kube then [is_start; is_end; is_check] else [is_start; is_end]
    | Execute a => is_ready :: is_execute :: map at_place (consumed a)
    | End _ => [is_end]
    | Check _ => [is_start; is_execute]
    | Ready _ => if kube then [is_ready] else [is_ready; is_start; is_execute]
    | Goal => []
    end.

  (** The pod types that there are. *)
  Definition of_transition a : list pod :=
    Start a :: Execute a :: End a :: Ready a :: map (fun p => Token p a) (produced a) ++ (if kube then [Check a] else []).

  Definition pod_types : list pod :=
    Goal :: First_ready :: map Initial (marked net_) ++ flat_map of_transition (transitions net_).

  (** Some pod with the label runs. *)
  Definition runs s l : Prop := exists x, carries x l /\ 0 < s x.

  (** How many pods run on a node. *)
  Definition crowd s (h : label) : N := count (filter (fun x => if eq_dec (home x) h then true else false) pod_types) s.

  (** What is needed runs, and what is avoided does not; under kube-scheduler no resident avoids the pod, and there is room. *)
  Definition lets s x : Prop :=
    (forall l, In l (needs x) -> runs s l)
    /\ (forall l, In l (avoids x) -> ~ runs s l)
    /\ (sem = KubeScheduler -> (forall y l, 0 < s y -> In l (avoids y) -> ~ carries x l) /\ crowd s (home x) < room).

  Definition starts_with : configuration pod := fun x =>
    match x with
    | Initial p => if in_dec eq_dec p (marked net_) then 1 else 0
    | First_ready => 1
    | _ => 0
    end.

  Definition protocol : problem pod := {|
    hard x s := In x pod_types /\ lets s x;
    becomes _ _ _ := False;
    kept := nothing;
    start := starts_with;
  |}.

  (** ** What a type is *)

  Lemma is_type x : In x pod_types ->
    match x with
    | Initial p => In p (marked net_)
    | Token p a => In a (transitions net_) /\ In p (produced a)
    | Start a | Execute a | End a | Ready a => In a (transitions net_)
    | Check a => In a (transitions net_) /\ sem = KubeScheduler
    | First_ready | Goal => True
    end.
  Proof.
    unfold pod_types. simpl. rewrite in_app_iff, in_map_iff, in_flat_map.
    intros [<-|[<-|[[p [<- p_in]]|[a [a_in x_in]]]]]; try easy.
    unfold of_transition in x_in. simpl in x_in. rewrite in_app_iff, in_map_iff in x_in.
    destruct x_in as [<-|[<-|[<-|[<-|[[p [<- p_in]]|x_in]]]]]; auto.
    unfold kube in x_in. destruct sem; simpl in x_in; [|contradiction]. destruct x_in as [<-|[]]. auto.
  Qed.

  Lemma goal_type : In Goal pod_types.
  Proof. now left. Qed.

  Lemma no_initial s p : ~ lets s (Initial p).
  Proof. intros [need _]. destruct (need nobody) as [y [c _]]; [now left|]. destruct y; unlike c. Qed.

  Lemma no_first_ready s : ~ lets s First_ready.
  Proof. intros [need _]. destruct (need nobody) as [y [c _]]; [now left|]. destruct y; unlike c. Qed.

  (** ** What runs, step by step *)

  Lemma runs_less s t l : s ≼ t -> runs s l -> runs t l.
  Proof. intros st [x [c some]]. exists x. split; [assumption|]. specialize (st x). lia. Qed.

  Lemma runs_plus s x l : runs (s ⊕ x) l <-> carries x l \/ runs s l.
  Proof.
    split.
    - intros [y [c some]]. destruct (eq_dec x y) as [<-|other]; [now left|right].
      exists y. split; [assumption|]. now rewrite plus_one_other in some.
    - intros [c|r]; [|eapply runs_less; [apply within_plus_one|assumption]].
      exists x. split; [assumption|]. rewrite plus_one_same by reflexivity. lia.
  Qed.

  Lemma runs_start s a : 0 < s (Start a) -> runs s is_start.
  Proof. intros some. exists (Start a). split; [now left|assumption]. Qed.

  Lemma runs_execute s a : 0 < s (Execute a) -> runs s is_execute.
  Proof. intros some. exists (Execute a). split; [now left|assumption]. Qed.

  Lemma start_runs s a : runs s (start_of a) -> 0 < s (Start a).
  Proof. intros [y [c some]]. destruct y; unlike c. now injection c as ->. Qed.

  Lemma execute_runs s a : runs s (execute_of a) -> 0 < s (Execute a).
  Proof. intros [y [c some]]. destruct y; unlike c. now injection c as ->. Qed.

  Lemma running_types s : reachable protocol s -> forall x, 0 < s x -> In x pod_types.
  Proof.
    apply (invariant protocol (fun s => forall x, 0 < s x -> In x pod_types)).
    - intros t e x some. rewrite e in some. simpl in some. unfold starts_with in some.
      destruct x; try lia; [|right; now left].
      destruct (in_dec eq_dec p (marked net_)); [|lia]. right. right. apply in_or_app. left. now apply in_map.
    - intros t u _ types st x some. destruct st as [y [type _] e|y more e|y d more [] e]; rewrite e in some.
      + destruct (eq_dec y x) as [<-|other]; [assumption|]. rewrite plus_one_other in some by assumption. auto.
      + apply types. pose proof (minus_one_within t y x). lia.
  Qed.

  (** ** Control: at most one pod of a label that its own pods avoid *)

  Definition exclusive l : Prop := forall x, In x pod_types -> carries x l -> In l (avoids x).

  Definition alone s l : Prop := forall x y, carries x l -> carries y l -> 0 < s x -> 0 < s y -> x = y /\ s x = 1.

  Theorem control_unique l : exclusive l -> alone starts_with l -> forall s, reachable protocol s -> alone s l.
  Proof.
    intros excl first. apply invariant.
    - intros s e x y cx cy sx sy. rewrite e in *. now apply first.
    - intros s t _ IH st x y cx cy sx sy. destruct st as [z [type [_ [avoid _]]] e|z more e|z d more [] e].
      + rewrite e in sx, sy. rewrite (e x).
        assert (new : carries z l -> forall w, carries w l -> s w = 0).
        { intros cz w cw. destruct (N.eq_0_gt_0_cases (s w)) as [zero|some]; [assumption|].
          exfalso. apply (avoid l); [now apply excl|]. now exists w. }
        destruct (eq_dec z x) as [->|ox].
        * destruct (eq_dec x y) as [<-|oy].
          -- split; [reflexivity|]. rewrite plus_one_same, (new cx x cx) by reflexivity. reflexivity.
          -- exfalso. rewrite plus_one_other, (new cx y cy) in sy by assumption. lia.
        * rewrite plus_one_other in * by assumption. destruct (eq_dec z y) as [->|oy].
          -- exfalso. rewrite (new cy x cx) in sx. lia.
          -- rewrite plus_one_other in sy by assumption. now apply IH.
      + rewrite e in sx, sy. rewrite (e x). pose proof (minus_one_within s z x). pose proof (minus_one_within s z y).
        destruct (IH x y cx cy) as [<- one]; [lia|lia|]. split; [reflexivity|lia].
  Qed.

  (** Labels that never run together: whoever comes second avoids the first, or is repelled by it. *)
  Theorem control_apart l l' :
    (forall x, In x pod_types -> carries x l -> ~ carries x l') ->
    (forall x, In x pod_types -> carries x l -> In l' (avoids x)) ->
    (sem = Paper -> forall x s, lets s x -> carries x l' -> In l (avoids x)) ->
    ~ (runs starts_with l /\ runs starts_with l') ->
    forall s, reachable protocol s -> ~ (runs s l /\ runs s l').
  Proof.
    intros differ one other first. apply invariant.
    - intros s e [r r']. apply first. split; eapply runs_less; try eassumption; now apply same_within.
    - intros s t r IH st [rl rl']. destruct st as [x [type can] e|x more e|x d more [] e].
      + pose proof can as [_ [avoid resident]]. apply (runs_less t (s ⊕ x)) in rl, rl'; try now apply same_within. rewrite runs_plus in rl, rl'.
        destruct rl as [c|rl], rl' as [c'|rl']; [now apply (differ x)| | |tauto].
        * apply (avoid l'); auto.
        * destruct sem eqn:is.
          -- destruct (resident eq_refl) as [away _]. destruct rl as [y [cy some]].
             apply (away y l' some); [|assumption]. apply one; [|assumption]. now apply (running_types s r).
          -- apply (avoid l); [|assumption]. now apply (other eq_refl x s).
      + apply IH. split; eapply runs_less; try eassumption; intros y; rewrite e; apply minus_one_within.
  Qed.

  (** The control of every reachable configuration: one start, one execute, one end,
      one ready at most; ready and execute never together; under kube-scheduler
      neither are start and end. *)
  Theorem control s : reachable protocol s ->
    alone s is_start /\ alone s is_execute /\ alone s is_end /\ alone s is_ready
    /\ ~ (runs s is_execute /\ runs s is_ready)
    /\ (sem = KubeScheduler -> ~ (runs s is_start /\ runs s is_end)).
  Proof.
    intros r.
    assert (one : forall l, (forall x, carries x l -> In l (avoids x)) -> alone starts_with l -> alone s l).
    { intros l excl first. apply (control_unique l); auto. intros x _. apply excl. }
    assert (no_more : forall l, (forall p, l <> at_place p) -> l <> is_ready -> forall x, carries x l -> 0 < starts_with x -> False).
    { intros l not_place not_ready x c some. destruct x; simpl in some; try lia; unlike c; subst; [now apply (not_place p)|now apply not_ready]. }
    assert (avoid_self : forall l x, In l [is_start; is_execute; is_end; is_ready] -> carries x l -> In l (avoids x)).
    { intros l x l_in c. simpl in l_in.
      destruct l_in as [<-|[<-|[<-|[<-|[]]]]], x; unlike c; simpl; try destruct kube; simpl; auto. }
    refine (conj _ (conj _ (conj _ (conj _ (conj _ _))))).
    1-3: apply one; [intros x; apply avoid_self; simpl; tauto|].
    1-3: intros x y cx _ sx _; exfalso; eapply no_more; [| |exact cx|exact sx]; discriminate.
    - apply one; [intros x; apply avoid_self; simpl; tauto|].
      intros x y cx cy sx sy. destruct x; simpl in sx; try lia; unlike cx.
      destruct y; simpl in sy; try lia; unlike cy. now split.
    - apply control_apart; auto.
      + intros x _ c c'. destruct x; unlike c; unlike c'.
      + intros x _ c. destruct x; unlike c. now left.
      + intros is x t can c. unfold avoids, kube. rewrite is. destruct x; unlike c; simpl; auto.
        now apply no_first_ready in can.
      + intros [[x [c some]] _]. destruct x; simpl in some; try lia; unlike c.
    - intros is. apply control_apart; auto.
      + intros x _ c c'. destruct x; unlike c; unlike c'.
      + intros x _ c. unfold avoids, kube. rewrite is. destruct x; unlike c. simpl. auto.
      + congruence.
      + intros [[x [c some]] _]. destruct x; simpl in some; try lia; unlike c.
  Qed.
End Protocol.
