(** * From an accepted certificate to the question as it was asked

    All steps together.  A proof is about a weaker cluster, whose tables let in more
    (Weakenings.v); about its quotient, in which types that nothing tells apart are one
    (Quotient.v); about the goal that is meant where deletion takes time (Meant.v); and
    its groups count classes besides kept pods, and stand for what exchanges of nodes make
    of them (Cluster.v, Orbits.v).  If the checker accepts it, no legal sequence of steps of the
    cluster itself, by the rules of either semantics, meets the goal.

    check/mod.rs, [Checker::check]. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Configuration Problem Rules Search Terminating Weakening Cluster Weakenings Listing Orbits Quotient Meant.
Import ListNotations.
Open Scope N_scope.

Section Certificate.
  Variable q : question.
  (** The tables of the weaker cluster. *)
  Variable m' : model.
  Hypothesis weaker_tables : loosened (cluster q) m'.
  Notation weak := (with_tables q m').

  (** The types that take part, and the one that has the pods of a type. *)
  Variables (roster : list id) (rep : id -> id).
  Hypothesis merges : is_quotient weak roster rep.
  Notation small := (quotient weak roster rep).

  (** The evidence. *)
  Variables (fuel : nat) (classes : list (list atom)) (forbidden : list (list (nat * N))).
  Variables (exchanges : list listing) (helpers : list id) (face : id -> id) (keys : list id).

  Definition accepted (g : list (list (atom * N))) : bool :=
    match exchanges with
    | [] => accepts_never small fuel g classes forbidden
    | _ => accepts_exchanged small fuel g classes forbidden exchanges helpers face keys
    end.

  Lemma accepted_sound g : accepted g = true -> never (cluster_problem small) (map lookup g).
  Proof. unfold accepted. destruct exchanges; [apply accepts_never_sound|apply accepts_exchanged_sound]. Qed.

  (** A goal of any number of alternatives and pods, whose types stand for themselves. *)
  Theorem accepted_never g : open_at_start weak g = true ->
    (forall x a, In x (map (meant_by weak) g) -> lookup x a <> 0 -> In a (atoms m') /\ rep (fst a) = fst a /\ In (fst a) roster) ->
    accepted (map (meant_by weak) g) = true ->
    forall s x, reachable (cluster_problem q) s -> In x g -> ~ met (dies_as q) s (lookup x).
  Proof.
    intros open themselves ok s x r x_in. apply (reachable_loosened q m' s weaker_tables) in r.
    apply accepted_sound in ok. exact (never_met_of_quotient weak roster rep merges g open themselves ok s x r x_in).
  Qed.

  (** A goal of one pod, as any other of its kind. *)
  Theorem accepted_one_never p p' n : open_at_start weak [[((p, n), 1)]] = true ->
    In (p, n) (atoms m') -> In (rep p) roster -> In p' roster -> treats_alike m' p p' ->
    accepted [[((p', n), 1)]] = true ->
    forall s, reachable (cluster_problem q) s -> ~ met (dies_as q) s (lookup [((p, n), 1)]).
  Proof.
    intros open a_in there there' alike_ ok s r. apply (reachable_loosened q m' s weaker_tables) in r.
    apply accepted_sound in ok. exact (one_never_met_of_quotient weak roster rep merges p p' n open a_in there there' alike_ ok s r).
  Qed.
End Certificate.
