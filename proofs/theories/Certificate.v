(** * From an accepted certificate to the question as it was asked

    All steps together.  A proof is about a weaker cluster, whose tables let in more
    (Weakenings.v); about its quotient, in which types that nothing tells apart are one
    (Quotient.v); about the goal that is meant where deletion takes time (Meant.v); and
    its groups count classes besides kept pods, some of them said as at-most-one constraints (AtMostOne.v), and
    stand for what exchanges of nodes make of them (Cluster.v, Orbits.v).  If the checker accepts it, no legal sequence of steps of the
    cluster itself, by the rules of either semantics, meets the goal.

    check/mod.rs, [Checker::check]. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Configuration Problem Rules Search Terminating Weakening AtMostOne Cluster Weakenings Listing Orbits Quotient Meant.
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
  Variables (fuel : nat) (classes : list (list atom)) (forbidden : list (list (nat * N))) (apart : list (list (list nat))).
  Variables (exchanges : list listing) (helpers : list id) (face : id -> id) (keys : list id).

  Definition accepted (g : list (list (atom * N))) : bool :=
    forallb (good_parts small classes) apart
    && match exchanges with
       | [] => accepts_never small fuel g classes (with_pairs forbidden apart)
       | _ => accepts_exchanged small fuel g classes (with_pairs forbidden apart) exchanges helpers face keys
       end.

  Lemma accepted_sound g : accepted g = true -> never (cluster_problem small) (map lookup g).
  Proof.
    unfold accepted. rewrite andb_true_iff. intros [_ accepted_]. revert accepted_.
    destruct exchanges; [apply accepts_never_sound|apply accepts_exchanged_sound].
  Qed.

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
    consumed small p' = option_map (merged_atom rep) (consumed weak p) ->
    accepted [[((p', n), 1)]] = true ->
    forall s, reachable (cluster_problem q) s -> ~ met (dies_as q) s (lookup [((p, n), 1)]).
  Proof.
    intros open a_in there there' alike_ waits_alike ok s r. apply (reachable_loosened q m' s weaker_tables) in r.
    apply accepted_sound in ok. exact (one_never_met_of_quotient weak roster rep merges p p' n open a_in there there' alike_ waits_alike ok s r).
  Qed.

  (** ** While nodes settle

      The cluster above has one set of tables: its nodes have settled.  Before, each node may
      settle at any time, and the tables depend on which have not.  The theorems hold of such
      runs, too, if the weaker cluster lets in whatever was let in on the way.  That is so where
      what passes only keeps pods off its node ([loosened]).  It is not so by itself
      where a spread constraint honours a taint that passes: the node that settles is one more to
      be counted, and may be empty.  Then those constraints must have lost their skew. *)
  Section Settling.
    (** The tables while these nodes have not settled, and which have not at first. *)
    Variables (tables_while : list id -> model) (unsettled : list id).

    Inductive settling : list id -> configuration atom -> Prop :=
    | settling_starts s : s ≐ lookup (begins q) -> settling unsettled s
    | settling_steps rest s t : settling rest s -> step (cluster_problem (with_tables q (tables_while rest))) s t -> settling rest t
    | settling_settles rest rest' s : settling rest s -> incl rest' rest -> settling rest' s.

    Hypothesis lets_in_less : forall rest a s, incl rest unsettled -> In a (atoms (tables_while rest)) ->
      lets_in (tables_while rest) s (fst a) (snd a) = true -> In a (atoms m') /\ lets_in m' s (fst a) (snd a) = true.

    Lemma settling_reachable rest s : settling rest s -> incl rest unsettled /\ reachable (cluster_problem weak) s.
    Proof.
      intros r. induction r as [s e|rest s t r [sub IH] st|rest rest' s r [sub IH] less].
      - split; [apply incl_refl|now apply at_start].
      - split; [assumption|]. eapply by_step; [exact IH|]. destruct st as [a [[a_in can] free] e|a more e|a d more [turned|[uses [d_in can]]] e].
        + apply (deploy _ _ _ a); [|assumption]. split; [|exact free]. exact (lets_in_less rest a s sub a_in can).
        + now apply (delete _ _ _ a).
        + apply (change _ _ _ a d); [assumption|now left|assumption].
        + apply (change _ _ _ a d); [assumption| |assumption]. right. split; [exact uses|]. exact (lets_in_less rest d s sub d_in can).
      - split; [|assumption]. now apply (incl_tran less).
    Qed.

    Theorem accepted_never_settling g : open_at_start weak g = true ->
      (forall x a, In x (map (meant_by weak) g) -> lookup x a <> 0 -> In a (atoms m') /\ rep (fst a) = fst a /\ In (fst a) roster) ->
      accepted (map (meant_by weak) g) = true ->
      forall rest s x, settling rest s -> In x g -> ~ met (dies_as q) s (lookup x).
    Proof.
      intros open themselves ok rest s x r x_in. apply settling_reachable in r. destruct r as [_ r].
      apply accepted_sound in ok. exact (never_met_of_quotient weak roster rep merges g open themselves ok s x r x_in).
    Qed.

    Theorem accepted_one_never_settling p p' n : open_at_start weak [[((p, n), 1)]] = true ->
      In (p, n) (atoms m') -> In (rep p) roster -> In p' roster -> treats_alike m' p p' ->
      consumed small p' = option_map (merged_atom rep) (consumed weak p) ->
      accepted [[((p', n), 1)]] = true ->
      forall rest s, settling rest s -> ~ met (dies_as q) s (lookup [((p, n), 1)]).
    Proof.
      intros open a_in there there' alike_ waits_alike ok rest s r. apply settling_reachable in r. destruct r as [_ r].
      apply accepted_sound in ok. exact (one_never_met_of_quotient weak roster rep merges p p' n open a_in there there' alike_ waits_alike ok s r).
    Qed.
  End Settling.

  (** What passes keeps pods off nodes, and takes their room, and nothing else. *)
  Lemma loosened_while (tables_while : list id -> model) rest a s : loosened (tables_while rest) m' ->
    In a (atoms (tables_while rest)) -> lets_in (tables_while rest) s (fst a) (snd a) = true ->
    In a (atoms m') /\ lets_in m' s (fst a) (snd a) = true.
  Proof.
    intros L a_in can. split; [now rewrite (loose_atoms _ _ L)|now apply (loosened_lets_in _ _ L)].
  Qed.
End Certificate.
