(** * Problems, steps and runs: the whole meaning of a cluster in motion

<<
       Hard(a, s)                       s(a) > kept(a)
    ────────────────  Deploy           ────────────────  Delete
     s ──→ s + a                         s ──→ s − a

       s(a) > kept(a)                 s(p°) > kept(p°)     Hard(a, s)
    ─────────────────────  Terminate  ───────────────────────────────  Bind
      s ──→ s − a + a†                      s ──→ s − p° + a
>>
    Deletion may take time: [a†] is what [a] is while it is being deleted.
    A pod that waits for a node is [p°] until it is bound, which consumes it.
    Both are one kind of step, by which an atom changes into another.
    A node that settles loses what passes on it and never gets it back.  That
    is a deletion as well: let an atom stand for "the node has not settled",
    let the start have one of it, and let nothing deploy it.

    docs/spec/question.md; step.rs, tables/unbound.rs. *)

From Coq Require Import NArith List Lia.
From Podreach Require Import Configuration.
Import ListNotations.
Open Scope N_scope.

Record problem (A : Type) : Type := {
  (** Whether the rules let one more instance of an atom in. *)
  hard : A -> configuration A -> Prop;
  (** [becomes a d s]: in [s], [a] may change into [d], which is what it is while it is
      being deleted, or once it is bound. *)
  becomes : A -> A -> configuration A -> Prop;
  (** What is never deleted. *)
  kept : configuration A;
  (** What runs at first; it need not satisfy its own constraints. *)
  start : configuration A;
}.

Arguments hard {A}.
Arguments becomes {A}.
Arguments kept {A}.
Arguments start {A}.

(** The same rules, from another start. *)
Definition starting {A} (P : problem A) (x : configuration A) : problem A :=
  {| hard := hard P; becomes := becomes P; kept := kept P; start := x |}.

(** What is asked for: a configuration that has at least one of these. *)
Definition goal (A : Type) : Type := list (configuration A).

Section Runs.
  Context {A : Type} `{Eq_dec A}.
  Variable P : problem A.
  Implicit Types (s t : configuration A) (a d : A).

  Inductive step s t : Prop :=
  | deploy a : hard P a s -> t ≐ s ⊕ a -> step s t
  | delete a : kept P a < s a -> t ≐ s ⊖ a -> step s t
  | change a d : kept P a < s a -> becomes P a d s -> t ≐ s ⊖ a ⊕ d -> step s t.

  (** Configurations that some legal sequence of steps reaches. *)
  Inductive reachable : configuration A -> Prop :=
  | at_start s : s ≐ start P -> reachable s
  | by_step s t : reachable s -> step s t -> reachable t.

  Definition meets s (g : goal A) : Prop := exists alternative, In alternative g /\ alternative ≼ s.

  Definition deployable (g : goal A) : Prop := exists s, reachable s /\ meets s g.

  Definition never (g : goal A) : Prop := forall s, reachable s -> ~ meets s g.

  Lemma never_not_deployable g : never g <-> ~ deployable g.
  Proof.
    split.
    - intros no [s [r m]]. exact (no s r m).
    - intros no s r m. apply no. now exists s.
  Qed.

  (** What holds at the start and is kept by every step holds always. *)
  Lemma invariant (I : configuration A -> Prop) :
    (forall s, s ≐ start P -> I s) ->
    (forall s t, reachable s -> I s -> step s t -> I t) ->
    forall s, reachable s -> I s.
  Proof. intros begins preserved s r. induction r; eauto. Qed.

  (** What is kept at the start is there for ever. *)
  Lemma kept_stays : kept P ≼ start P -> forall s, reachable s -> kept P ≼ s.
  Proof.
    intros k. apply (invariant (fun s => kept P ≼ s)).
    - intros s e a. rewrite e. apply k.
    - intros s t _ below st a. specialize (below a).
      destruct st as [b _ e|b more e|b d more _ e]; rewrite (e a); by_count.
  Qed.
End Runs.

Arguments meets {A} s g.
