(** * What pods meet while they are being deleted is decided, too

    A pod that is asked for may run, or be on its way out.  So a goal is met exactly if
    one of finitely many others is covered, in which some of its pods are on their way out;
    and whether one of these can be is decided (Decision.v).

    step.rs, [is_met]. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Lists Configuration Problem Rules Search Terminating Cluster Decision.
Import ListNotations.
Open Scope N_scope.

Section Ways.
  Context {A : Type} `{Eq_dec A}.
  (** What an atom is while it is being deleted. *)
  Variable shadow : A -> option A.
  Implicit Types (x y : list (A * N)) (s : configuration A).

  Definition up_to (n : N) : list N := map N.of_nat (seq 0 (S (N.to_nat n))).

  Lemma up_to_spec n k : In k (up_to n) <-> k <= n.
  Proof.
    unfold up_to. rewrite in_map_iff. split.
    - intros [i [<- i_in]]. apply in_seq in i_in. lia.
    - intros less. exists (N.to_nat k). split; [apply N2Nat.id|]. apply in_seq. lia.
  Qed.

  (** So many of an atom, of which some are on their way out. *)
  Definition ways_of (a : A) (n : N) : list (list (A * N)) :=
    match shadow a with
    | None => [[(a, n)]]
    | Some d => map (fun k => [(a, n - k); (d, k)]) (up_to n)
    end.

  Fixpoint ways x : list (list (A * N)) :=
    match x with
    | [] => [[]]
    | (a, n) :: rest => flat_map (fun first => map (app first) (ways rest)) (ways_of a n)
    end.

  Definition listed_within y s : Prop := forall c k, In (c, k) y -> k <= s c.

  Lemma listed_lookup y s : listed_within y s -> lookup y ≼ s.
  Proof.
    intros all a. induction y as [|[c k] rest IH]; simpl; [lia|].
    destruct (eq_dec c a) as [<-|_]; [apply all; now left|]. apply IH. intros c' k' k_in. apply all. now right.
  Qed.

  Definition served s (a : A) : N := s a + match shadow a with Some d => s d | None => 0 end.

  (** Whoever has enough of each, those on their way out included, has one of these. *)
  Lemma ways_enough x s : (forall a n, In (a, n) x -> n <= served s a) -> exists y, In y (ways x) /\ listed_within y s.
  Proof.
    induction x as [|[a n] rest IH]; intros enough.
    - exists []. split; [now left|]. intros c k [].
    - destruct IH as [y [y_in within_]]. { intros b k b_in. apply enough. now right. }
      specialize (enough a n (or_introl eq_refl)). unfold served in enough. cbn [ways]. unfold ways_of.
      destruct (shadow a) as [d|].
      + exists ([(a, n - (n - s a)); (d, n - s a)] ++ y). split.
        * apply in_flat_map. exists [(a, n - (n - s a)); (d, n - s a)]. split; [|now apply in_map].
          apply in_map_iff. exists (n - s a). split; [reflexivity|]. apply up_to_spec. lia.
        * intros c k [[= <- <-]|[[= <- <-]|k_in]]; [lia|lia|]. now apply within_.
      + exists ([(a, n)] ++ y). split; [apply in_flat_map; exists [(a, n)]; split; [now left|now apply in_map]|].
        intros c k [[= <- <-]|k_in]; [lia|]. now apply within_.
  Qed.

  (** No atom is asked for twice, and none that is what another becomes. *)
  Definition plain x : Prop := NoDup (map fst x) /\ forall a b, In a (map fst x) -> shadow b <> Some a.

  Hypothesis apart : forall a b d, shadow a = Some d -> shadow b = Some d -> a = b.

  Lemma ways_atoms x y c : In y (ways x) -> In c (map fst y) ->
    In c (map fst x) \/ exists a, In a (map fst x) /\ shadow a = Some c.
  Proof.
    revert y. induction x as [|[a n] rest IH]; intros y y_in c_in.
    - destruct y_in as [<-|[]]. destruct c_in.
    - cbn [ways] in y_in. apply in_flat_map in y_in. destruct y_in as [first [first_in y_in]].
      apply in_map_iff in y_in. destruct y_in as [y' [<- y_in]]. rewrite map_app, in_app_iff in c_in.
      destruct c_in as [c_in|c_in].
      + unfold ways_of in first_in. destruct (shadow a) as [d|] eqn:is.
        * apply in_map_iff in first_in. destruct first_in as [k [<- _]]. destruct c_in as [<-|[<-|[]]]; [left; now left|].
          right. exists a. split; [now left|assumption].
        * destruct first_in as [<-|[]]. destruct c_in as [<-|[]]. left. now left.
      + destruct (IH y' y_in c_in) as [there|[b [b_in is]]]; [left; now right|]. right. exists b. split; [now right|assumption].
  Qed.

  Lemma lookup_app_out first y c : ~ In c (map fst first) -> lookup (first ++ y) c = lookup y c.
  Proof.
    induction first as [|[b k] rest IH]; intros out; [reflexivity|]. simpl in *.
    destruct (eq_dec b c) as [->|_]; [tauto|]. apply IH. tauto.
  Qed.

  Lemma lookup_out y c : ~ In c (map fst y) -> lookup y c = 0.
  Proof. intros out. destruct (N.eq_dec (lookup y c) 0) as [|some]; [assumption|]. now apply lookup_listed in some. Qed.

  (** And who has one of these has enough. *)
  Lemma ways_served x y s : plain x -> In y (ways x) -> lookup y ≼ s -> forall a n, In (a, n) x -> n <= served s a.
  Proof.
    revert y. induction x as [|[a n] rest IH]; intros y [once fresh] y_in within_ b k b_in; [destruct b_in|].
    cbn [ways] in y_in. apply in_flat_map in y_in. destruct y_in as [first [first_in y_in]].
    apply in_map_iff in y_in. destruct y_in as [y' [<- y_in]]. simpl in once. inversion once as [|? ? out once']; subst.
    assert (a_out : ~ In a (map fst y')).
    { intros a_in. apply (ways_atoms rest y' a y_in) in a_in. destruct a_in as [a_in|[b' [_ is]]]; [contradiction|].
      exact (fresh a b' (or_introl eq_refl) is). }
    assert (d_out : forall d, shadow a = Some d -> ~ In d (map fst y')).
    { intros d is d_in. apply (ways_atoms rest y' d y_in) in d_in. destruct d_in as [d_in|[b' [b_in' is']]].
      - exact (fresh d a (or_intror d_in) is).
      - rewrite (apart a b' d is is') in out. contradiction. }
    assert (first_atoms : forall c, In c (map fst first) -> c = a \/ shadow a = Some c).
    { intros c c_in. unfold ways_of in first_in. destruct (shadow a) as [d|].
      - apply in_map_iff in first_in. destruct first_in as [i [<- _]]. destruct c_in as [<-|[<-|[]]]; auto.
      - destruct first_in as [<-|[]]. destruct c_in as [<-|[]]. now left. }
    assert (later : lookup y' ≼ s).
    { intros c. destruct (in_dec eq_dec c (map fst first)) as [c_in|c_out].
      - rewrite lookup_out; [lia|]. destruct (first_atoms c c_in) as [->|is]; auto.
      - rewrite <- (lookup_app_out first y' c c_out). apply within_. }
    destruct b_in as [[= <- <-]|b_in].
    2: { apply (IH y'); auto. split; [assumption|]. intros c c' c_in. apply fresh. now right. }
    unfold served. unfold ways_of in first_in. destruct (shadow a) as [d|] eqn:is.
    - apply in_map_iff in first_in. destruct first_in as [i [<- i_in]]. apply up_to_spec in i_in.
      assert (other : a <> d). { intros ->. exact (fresh d d (or_introl eq_refl) is). }
      pose proof (within_ a) as at_a. pose proof (within_ d) as at_d. cbn [lookup app fold_right] in at_a, at_d.
      destruct (eq_dec a a); [|contradiction]. destruct (eq_dec a d); [contradiction|]. destruct (eq_dec d d); [|contradiction]. lia.
    - destruct first_in as [<-|[]]. pose proof (within_ a) as at_a. cbn [lookup app fold_right] in at_a.
      destruct (eq_dec a a); [|contradiction]. lia.
  Qed.
End Ways.

(** A goal of clusters is met on some run or on none, and which is so is decided. *)
Section Question.
  Variable q : question.
  Hypothesis ok : sensible q = true.

  Lemma dies_apart a b d : dies_as q a = Some d -> dies_as q b = Some d -> a = b.
  Proof.
    destruct (parts q ok) as [_ [_ [_ [_ [_ shadows]]]]].
    assert (turned : forall c e, dies_as q c = Some e -> In (fst c, fst e) (dying q) /\ snd c = snd e).
    { intros [p n] e. unfold dies_as, shadow_of. simpl. destruct (find _ (dying q)) as [[b' e']|] eqn:found; [|discriminate].
      simpl. intros made. assert (e = (e', n)) as -> by congruence. apply find_some in found. destruct found as [in_ same_].
      apply Pos.eqb_eq in same_. simpl. subst. auto. }
    intros is is'. apply turned in is, is'. destruct is as [in_ at_], is' as [in_' at_'].
    destruct (shadows _ _ in_) as [one _], (shadows _ _ in_') as [other _]. destruct a, b. simpl in *. congruence.
  Qed.

  Theorem every_meeting_decided (g : list (list (atom * N))) : Forall (plain (dies_as q)) g ->
    {exists s x, reachable (cluster_problem q) s /\ In x g /\ met (dies_as q) s (lookup x)}
    + {forall s x, reachable (cluster_problem q) s -> In x g -> ~ met (dies_as q) s (lookup x)}.
  Proof.
    intros plain_. rewrite Forall_forall in plain_.
    destruct (every_question_decided q ok (flat_map (ways (dies_as q)) g)) as [yes|no]; [left|right].
    - destruct yes as [s [r [alternative [in_ covered]]]]. apply in_map_iff in in_. destruct in_ as [y [<- y_in]].
      apply in_flat_map in y_in. destruct y_in as [x [x_in y_in]]. exists s, x. split; [assumption|]. split; [assumption|].
      intros a. destruct (N.eq_dec (lookup x a) 0) as [->|some]; [lia|].
      assert (listed : In (a, lookup x a) x).
      { clear - some. induction x as [|[c n] rest IH]; simpl in *; [congruence|]. destruct (eq_dec c a) as [->|_]; [now left|]. right. auto. }
      exact (ways_served (dies_as q) dies_apart x y s (plain_ x x_in) y_in covered a _ listed).
    - intros s x r x_in met_. destruct (ways_enough (dies_as q) x s) as [y [y_in within_]].
      + intros a n a_in. specialize (met_ a). destruct (plain_ x x_in) as [once _].
        assert (is : lookup x a = n).
        { clear - a_in once. induction x as [|[c k] rest IH]; [destruct a_in|]. simpl in *. inversion once; subst.
          destruct a_in as [[= -> ->]|a_in]; [destruct (eq_dec a a); [reflexivity|contradiction]|].
          destruct (eq_dec c a) as [->|_]; [|auto]. exfalso. apply H1. apply in_map_iff. now exists (a, n). }
        rewrite is in met_. exact met_.
      + apply (no s r). exists (lookup y). split; [|now apply listed_lookup]. apply in_map. apply in_flat_map. now exists x.
  Qed.
End Question.
