(** * A _deployable_ certificate: steps that are replayed

    docs/theory.md, "Evidence"; check/replay.rs, step.rs. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Problem.
Import ListNotations.
Open Scope N_scope.

Inductive action (A : Type) : Type :=
| Deploy (a : A)
| Delete (a : A)
| Terminate (a : A).

Arguments Deploy {A}.
Arguments Delete {A}.
Arguments Terminate {A}.

Section Replay.
  Context {A : Type} `{Eq_dec A}.

  (** The rules as a program, and what each atom is while it is being deleted. *)
  Variable allowed : A -> configuration A -> bool.
  Variable shadow : A -> option A.
  (** What waits until an atom is deployed, which consumes it. *)
  Variable consumed : A -> option A.
  Variables (stays begins : configuration A).

  Definition replayed : problem A := {|
    hard a s := consumed a = None /\ allowed a s = true;
    becomes a d s := shadow a = Some d \/ consumed d = Some a /\ allowed d s = true;
    kept := stays;
    start := begins;
  |}.

  (** Takes a step, if it is legal. *)
  Definition take (x : action A) (s : configuration A) : option (configuration A) :=
    match x with
    | Deploy a =>
      match consumed a with
      | None => if allowed a s then Some (s ⊕ a) else None
      | Some w => if (stays w <? s w) && allowed a s then Some (s ⊖ w ⊕ a) else None
      end
    | Delete a => if stays a <? s a then Some (s ⊖ a) else None
    | Terminate a =>
      match shadow a with
      | Some d => if stays a <? s a then Some (s ⊖ a ⊕ d) else None
      | None => None
      end
    end.

  Fixpoint replay (trace : list (action A)) (s : configuration A) : option (configuration A) :=
    match trace with
    | [] => Some s
    | x :: rest => match take x s with Some t => replay rest t | None => None end
    end.

  (** A goal lists the atoms of each alternative with their counts. *)
  Definition covers (alternative : list (A * N)) (s : configuration A) : bool :=
    forallb (fun '(a, n) => n <=? s a) alternative.

  Definition met (g : list (list (A * N))) (s : configuration A) : bool := existsb (fun alt => covers alt s) g.

  Definition check_deployable (g : list (list (A * N))) (trace : list (action A)) : bool :=
    match replay trace begins with Some s => met g s | None => false end.

  Lemma take_step x s t : take x s = Some t -> step replayed s t.
  Proof.
    destruct x as [a|a|a]; simpl.
    - destruct (consumed a) as [w|] eqn:uses.
      + destruct (N.ltb_spec (stays w) (s w)); simpl; [|discriminate].
        destruct (allowed a s) eqn:ok; [|discriminate]. intros [= <-].
        apply (change _ _ _ w a); simpl; auto. by_count.
      + destruct (allowed a s) eqn:ok; [|discriminate]. intros [= <-]. apply (deploy _ _ _ a); simpl; auto. by_count.
    - destruct (N.ltb_spec (stays a) (s a)); [|discriminate]. intros [= <-]. eapply delete; simpl; [eassumption|]. by_count.
    - destruct (shadow a) as [d|] eqn:d_is; [|discriminate].
      destruct (N.ltb_spec (stays a) (s a)); [|discriminate]. intros [= <-].
      apply (change _ _ _ a d); simpl; auto. by_count.
  Qed.

  Lemma replay_reachable trace : forall s t,
    reachable replayed s -> replay trace s = Some t -> reachable replayed t.
  Proof.
    induction trace as [|x rest IH]; simpl; intros s t r done.
    - now injection done as <-.
    - destruct (take x s) as [u|] eqn:taken; [|discriminate].
      eapply IH; [|eassumption]. eapply by_step; [eassumption|]. now apply (take_step x).
  Qed.

  (** An accepted trace is a legal run that meets the goal. *)
  Theorem check_deployable_sound g trace :
    check_deployable g trace = true ->
    exists s, reachable replayed s /\
      exists alternative, In alternative g /\ forall a n, In (a, n) alternative -> n <= s a.
  Proof.
    unfold check_deployable. destruct (replay trace begins) as [s|] eqn:done; [|discriminate].
    unfold met, covers. rewrite existsb_exists. intros [alternative [a_in all]].
    exists s. split.
    - eapply replay_reachable; [|eassumption]. apply at_start, same_refl.
    - exists alternative. split; [assumption|]. intros a n an_in.
      rewrite forallb_forall in all. apply (all _) in an_in. now apply N.leb_le.
  Qed.

  (** Nothing is missing: a goal that can be reached has a trace that is accepted. *)
  Theorem check_deployable_complete g s :
    (forall a u v, u ≐ v -> allowed a u = allowed a v) ->
    reachable replayed s -> met g s = true -> exists trace, check_deployable g trace = true.
  Proof.
    intros looks r m.
    enough (exists trace t, replay trace begins = Some t /\ t ≐ s) as [trace [t [done e]]].
    { exists trace. unfold check_deployable. rewrite done. revert m. unfold met, covers.
      rewrite !existsb_exists. intros [alt [alt_in all]]. exists alt. split; [assumption|].
      rewrite forallb_forall in *. intros [a n] an_in. specialize (all _ an_in). simpl in *. now rewrite e. }
    assert (append : forall trace x t u v, replay trace t = Some u -> take x u = Some v ->
              replay (trace ++ [x]) t = Some v).
    { induction trace as [|y rest IH]; simpl; intros x t u v done taken.
      - injection done as <-. now rewrite taken.
      - destruct (take y t); [eauto|discriminate]. }
    clear m. induction r as [s e|s t r [trace [u [done e]]] st].
    - exists [], begins. split; [reflexivity|]. now apply same_sym.
    - destruct st as [a [free ok] et|a more et|a d more [turns|[uses ok]] et]; simpl in *.
      + exists (trace ++ [Deploy a]), (u ⊕ a). split.
        * eapply append; [eassumption|]. simpl. rewrite free, (looks a u s e), ok. reflexivity.
        * intros c. rewrite et. specialize (e c). by_count.
      + exists (trace ++ [Delete a]), (u ⊖ a). split.
        * eapply append; [eassumption|]. simpl. rewrite e. destruct (N.ltb_spec (stays a) (s a)); [reflexivity|lia].
        * intros c. rewrite et. specialize (e c). by_count.
      + exists (trace ++ [Terminate a]), (u ⊖ a ⊕ d). split.
        * eapply append; [eassumption|]. simpl. rewrite turns, e. destruct (N.ltb_spec (stays a) (s a)); [reflexivity|lia].
        * intros c. rewrite et. specialize (e c). by_count.
      + exists (trace ++ [Deploy d]), (u ⊖ a ⊕ d). split.
        * eapply append; [eassumption|]. simpl. rewrite uses, (looks d u s e), ok, e. destruct (N.ltb_spec (stays a) (s a)); [reflexivity|lia].
        * intros c. rewrite et. specialize (e c). by_count.
  Qed.
End Replay.
