(** * 1-safe Petri nets, and nets that lose tokens

    Pods may be deleted at will, so a cluster that acts as a net may lose tokens.  A
    net with more tokens can do whatever one with fewer can: the run without the
    losses marks at least as much.

    The paper's appendix B, "Lifting token losses"; encode/net.rs. *)

From Coq Require Import List.
From Podreach Require Import Configuration.
Import ListNotations.

Record net (Place Transition : Type) := {
  places : list Place;
  transitions : list Transition;
  pre : Transition -> list Place;
  post : Transition -> list Place;
  marked : list Place;
}.

Arguments places {_ _}.  Arguments transitions {_ _}.  Arguments pre {_ _}.  Arguments post {_ _}.  Arguments marked {_ _}.

Section Net.
  Context {Place Transition : Type}.
  Variable N : net Place Transition.

  (** A marking of a 1-safe net is a set of places. *)
  Definition marking : Type := Place -> Prop.
  Implicit Types (L M : marking) (a : Transition).

  Definition initial_marking : marking := fun p => In p (marked N).

  Definition enabled M a : Prop := In a (transitions N) /\ forall p, In p (pre N a) -> M p.

  Definition fire M a : marking := fun p => M p /\ ~ In p (pre N a) \/ In p (post N a).

  Inductive fires : marking -> Prop :=
  | at_first : fires initial_marking
  | firing M a : fires M -> enabled M a -> fires (fire M a).

  (** Some reachable marking has a token on each of these places. *)
  Definition covers (goal : list Place) : Prop := exists M, fires M /\ forall p, In p goal -> M p.

  (** No transition that can fire would put a second token on a place. *)
  Definition one_safe : Prop :=
    forall M a p, fires M -> enabled M a -> In p (post N a) -> ~ In p (pre N a) -> ~ M p.

  (** Firings and losses, in any order. *)
  Inductive lossy : marking -> Prop :=
  | lossy_at_first : lossy initial_marking
  | lossy_firing L a : lossy L -> enabled L a -> lossy (fire L a)
  | loss L L' : lossy L -> (forall p, L' p -> L p) -> lossy L'.

  Theorem losses_lift L : lossy L -> exists M, fires M /\ forall p, L p -> M p.
  Proof.
    induction 1 as [|L a _ [M [fired more]] [a_in have]|L L' _ [M [fired more]] less].
    - exists initial_marking. split; [constructor|auto].
    - exists (fire M a). split; [apply firing; [assumption|split; auto]|].
      intros p [[there out]|came]; [left; auto|now right].
    - exists M. auto.
  Qed.
End Net.
