(** * A node is there while pods are on it

    A pool adds nodes, and removes those on which nothing runs, at any time.  No rule but
    topology spread looks at a node without pods, and there an empty one can only be in the way
    (Empty.v).  So steps about nodes may be left out: a node is taken to be
    there exactly while pods are on it or one is being bound to it, and the same configurations
    of pods are reached.

    tables/elastic.rs; docs/theory.md, "Nodes that come and go". *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Problem.
Import ListNotations.
Open Scope N_scope.

Section Pools.
  Context {A V : Type} `{Eq_dec A} `{Eq_dec V}.
  (** The node that an atom is on, and those that a pool adds and removes. *)
  Variable node_of : A -> V.
  Variable comes_and_goes : V -> bool.
  Implicit Types (s t : configuration A) (up : V -> Prop) (n : V).

  (** The rules, given which nodes are there. *)
  Variable allows : A -> configuration A -> (V -> Prop) -> Prop.
  Variable changes : A -> A -> configuration A -> (V -> Prop) -> Prop.
  Variables (stays begins : configuration A).

  Definition occupied s n : Prop := exists a, 0 < s a /\ node_of a = n.

  (** The nodes that must be there: those that do not go, and those with pods. *)
  Definition needed s n : Prop := comes_and_goes n = false \/ occupied s n.
  (** And that of a pod which is being bound. *)
  Definition needed_for a s n : Prop := n = node_of a \/ needed s n.

  (** Nothing needs an empty node. *)
  Hypothesis allows_fewer : forall a s up, (forall n, needed s n -> up n) -> up (node_of a) -> allows a s up -> allows a s (needed_for a s).
  Hypothesis changes_fewer : forall a d s up, (forall n, needed s n -> up n) -> up (node_of d) -> changes a d s up -> changes a d s (needed_for d s).

  (** ** Nodes by themselves *)

  Inductive happens : configuration A -> (V -> Prop) -> Prop :=
  | at_first s up : s ≐ begins -> (forall n, needed s n -> up n) -> happens s up
  | adds s up up' n : happens s up -> (forall k, up' k <-> k = n \/ up k) -> happens s up'
  | removes s up up' n : happens s up -> comes_and_goes n = true -> ~ occupied s n -> (forall k, up' k <-> k <> n /\ up k) -> happens s up'
  | deploys s t up a : happens s up -> up (node_of a) -> allows a s up -> t ≐ s ⊕ a -> happens t up
  | deletes s t up a : happens s up -> stays a < s a -> t ≐ s ⊖ a -> happens t up
  | turns s t up a d : happens s up -> stays a < s a -> up (node_of d) -> changes a d s up -> t ≐ s ⊖ a ⊕ d -> happens t up.

  (** ** Nodes by their pods *)

  Definition by_pods : problem A := {|
    hard a s := allows a s (needed_for a s);
    becomes a d s := changes a d s (needed_for d s);
    kept := stays;
    start := begins;
  |}.

  Lemma needed_plus s a n : needed (s ⊕ a) n -> n = node_of a \/ needed s n.
  Proof.
    intros [stays_|[b [some is]]]; [right; now left|]. destruct (eq_dec a b) as [<-|other]; [now left|].
    rewrite plus_one_other in some by assumption. right. right. now exists b.
  Qed.

  Lemma needed_less s t n : t ≼ s -> needed t n -> needed s n.
  Proof. intros ts [stays_|[b [some is]]]; [now left|right]. exists b. split; [|assumption]. specialize (ts b). lia. Qed.

  (** Whatever happens to pods happens without steps about nodes. *)
  Theorem happens_by_pods s up : happens s up -> (forall n, needed s n -> up n) /\ reachable by_pods s.
  Proof.
    intros h. induction h as [s up e there|s up up' n h [there r] is|s up up' n h [there r] goes empty is
                             |s t up a h [there r] on ok e|s t up a h [there r] more e|s t up a d h [there r] more on ok e].
    - split; [assumption|now apply at_start].
    - split; [|assumption]. intros k k_in. apply is. right. auto.
    - split; [|assumption]. intros k k_in. apply is. split; [|auto]. intros ->.
      destruct k_in as [stays_|has]; [congruence|contradiction].
    - split.
      + intros k k_in. assert (k_in' : needed (s ⊕ a) k) by (apply (needed_less _ t); [now apply same_within|assumption]).
        destruct (needed_plus s a k k_in') as [->|k_there]; auto.
      + eapply by_step; [exact r|]. apply (deploy _ _ _ a); [|assumption]. simpl. now apply (allows_fewer a s up).
    - split.
      + intros k k_in. apply there. apply (needed_less _ t); [|assumption]. intros b. rewrite e. apply minus_one_within.
      + eapply by_step; [exact r|]. now apply (delete _ _ _ a).
    - split.
      + intros k k_in. assert (k_in' : needed (s ⊖ a ⊕ d) k) by (apply (needed_less _ t); [now apply same_within|assumption]).
        destruct (needed_plus _ d k k_in') as [->|k_there]; [assumption|]. apply there.
        apply (needed_less _ (s ⊖ a)); [apply minus_one_within|assumption].
      + eapply by_step; [exact r|]. apply (change _ _ _ a d); [assumption| |assumption]. simpl. now apply (changes_fewer a d s up).
  Qed.

  (** Which nodes are empty can be told: atoms are finitely many. *)
  Hypothesis occupied_dec : forall s n, {occupied s n} + {~ occupied s n}.

  Lemma happens_same s up up' n : happens s up -> up n -> (forall k, up k <-> up' k) -> happens s up'.
  Proof. intros h n_up is. apply (adds s up up' n h). intros k. rewrite <- is. split; [tauto|]. intros [->|]; assumption. Qed.

  (** A node that is not needed is removed. *)
  Lemma clears s up n : happens s up -> (forall k, up k <-> k = n \/ needed s k) -> happens s (needed s).
  Proof.
    intros h is. assert (n_up : up n) by (apply is; now left).
    assert (needed_here : needed s n -> happens s (needed s)).
    { intros n_in. apply (happens_same s up _ n h n_up). intros k. rewrite is. split; [intros [->|]; assumption|tauto]. }
    destruct (comes_and_goes n) eqn:goes; [|apply needed_here; now left].
    destruct (occupied_dec s n) as [has|empty]; [apply needed_here; now right|].
    apply (removes s up _ n h goes empty). intros k. rewrite is. split; [|tauto]. intros k_in. split; [|now right].
    intros ->. destruct k_in as [stays_|has]; [congruence|contradiction].
  Qed.

  (** A node is added before a pod is bound to it, and removed once it is empty. *)
  Theorem by_pods_happens s : reachable by_pods s -> happens s (needed s).
  Proof.
    intros r. induction r as [s e|s t r IH st].
    - now apply at_first.
    - destruct st as [a ok e|a more e|a d more ok e]; simpl in *.
      + assert (h : happens s (needed_for a s)) by now apply (adds s (needed s) _ (node_of a)).
        apply (clears t (needed_for a s) (node_of a)); [now apply (deploys s t _ a h); [left|exact ok|]|].
        intros k. split.
        * intros [->|[stays_|[b [some is]]]]; [now left|right; now left|right; right]. exists b. split; [|assumption].
          rewrite (e b). pose proof (within_plus_one s a b). lia.
        * intros [->|k_in]; [now left|]. apply (needed_plus s a k). apply (needed_less _ t); [now apply same_within|assumption].
      + apply (clears t (needed s) (node_of a)); [now apply (deletes s t _ a)|]. intros k. split.
        * intros [stays_|[b [some is]]]; [right; now left|]. destruct (eq_dec a b) as [<-|other]; [left; now symmetry|].
          right. right. exists b. split; [|assumption]. rewrite (e b). by_count.
        * intros [->|k_in]; [right; exists a; split; [lia|reflexivity]|]. apply (needed_less _ t); [|assumption].
          intros b. rewrite (e b). apply minus_one_within.
      + assert (h : happens s (needed_for d s)) by now apply (adds s (needed s) _ (node_of d)).
        apply (clears t (needed_for d s) (node_of a)); [now apply (turns s t _ a d h more); [left|exact ok|]|].
        intros k. split.
        * intros [->|[stays_|[b [some is]]]].
          -- right. right. exists d. split; [|reflexivity]. rewrite (e d), plus_one_same by reflexivity. lia.
          -- right. now left.
          -- destruct (eq_dec a b) as [<-|other]; [left; now symmetry|]. right. right. exists b. split; [|assumption].
             rewrite (e b). by_count.
        * intros [->|k_in]; [right; right; exists a; split; [lia|reflexivity]|].
          assert (k_in' : needed (s ⊖ a ⊕ d) k) by (apply (needed_less _ t); [now apply same_within|assumption]).
          destruct (needed_plus _ d k k_in') as [->|k_there]; [now left|right].
          apply (needed_less _ (s ⊖ a)); [apply minus_one_within|assumption].
  Qed.

  (** So both are the same, as far as pods go. *)
  Corollary same_pods_either_way s : (exists up, happens s up) <-> reachable by_pods s.
  Proof.
    split; [intros [up h]; now apply (happens_by_pods s up)|]. intros r. exists (needed s). now apply by_pods_happens.
  Qed.
End Pools.
