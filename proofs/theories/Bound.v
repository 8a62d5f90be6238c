(** * How many nodes are enough

    Where one witness per deployment is enough (Nested.v, Nearest.v), a pod that is asked for
    needs one other at a time, which needs one other, and so on: whatever is present that matters
    never grows.  So of nodes that nothing tells apart no more matter than pods are asked
    for, and one more for the witness: a goal of [k] pods that is met with any number of them is
    met with [k + 1] of each kind (the small-model bound).

    docs/theory.md, "Nodes that come and go". *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Lists Configuration Problem Closure Symmetry Weakening Guard Rules Search Kept Cluster Nested Nearest Exchange Empty.
Import ListNotations.
Open Scope N_scope.

Section Bound.
  Context {A V : Type} `{Eq_dec A}.
  Implicit Types (s t : configuration A) (a d w : A) (l : list A).

  Variable P : problem A.
  Variable node_of : A -> V.
  (** Nodes that come; and those that are listed, among them all that do not come. *)
  Variables new listed : V -> bool.

  Hypothesis nothing_kept : forall a, kept P a = 0.
  Hypothesis hard_same : forall a s t, s ≐ t -> hard P a s -> hard P a t.
  (** What begins to be deleted is where it was, whatever else runs. *)
  Hypothesis changes_anywhere : forall a d s t, becomes P a d s -> becomes P a d t /\ node_of a = node_of d.
  Hypothesis starts_old : forall a, 0 < start P a -> new (node_of a) = false.
  Variable first : list A.
  Hypothesis starts_finite : forall a, 0 < start P a -> In a first.
  Hypothesis old_listed : forall n, new n = false -> listed n = true.
  Hypothesis one_witness : forall a b s, b ≼ s -> hard P a s -> hard P a b \/ exists w, b ⊕ w ≼ s /\ hard P a (b ⊕ w).

  (** Exchanges of nodes that come, each with the way back, which the rules do not notice. *)
  Variable exchange : (A -> A) -> (A -> A) -> Prop.
  Hypothesis there_and_back : forall to_ back_, exchange to_ back_ -> (forall a, back_ (to_ a) = a) /\ forall a, to_ (back_ a) = a.
  Hypothesis no_exchange : exchange (fun a => a) (fun a => a).
  Hypothesis exchange_then : forall to_ back_ to_' back_', exchange to_ back_ -> exchange to_' back_' ->
    exchange (fun a => to_' (to_ a)) (fun a => back_ (back_' a)).
  Hypothesis rules_blind : forall to_ back_, exchange to_ back_ -> forall a s, hard P a s -> hard P (to_ a) (image back_ s).
  Hypothesis changes_blind : forall to_ back_, exchange to_ back_ -> forall a d s, becomes P a d s -> becomes P (to_ a) (to_ d) (image back_ s).
  Hypothesis old_still : forall to_ back_, exchange to_ back_ -> forall a, new (node_of a) = false -> to_ a = a.

  (** Of so many pods on listed nodes, and one more, that one can be moved to a listed node. *)
  Variable k : nat.
  Hypothesis free : forall l w, (length l <= k)%nat -> (forall a, In a l -> listed (node_of a) = true) ->
    exists to_ back_, exchange to_ back_ /\ (forall a, In a l -> to_ a = a) /\ listed (node_of (to_ w)) = true.

  (** The listed nodes by themselves. *)
  Definition few_nodes : problem A := {|
    hard a s := listed (node_of a) = true /\ hard P a s;
    becomes := becomes P;
    kept := nothing;
    start := start P;
  |}.

  (** So many pods as a configuration. *)
  Fixpoint these l : configuration A := match l with [] => nothing | a :: rest => these rest ⊕ a end.

  Lemma these_middle l l' a : these (l ++ a :: l') ≐ these (l ++ l') ⊕ a.
  Proof.
    induction l as [|b l IH]; simpl; [apply same_refl|]. intros x. unfold plus_one in *. rewrite (IH x). unfold plus_one.
    destruct (eq_dec b x), (eq_dec a x); lia.
  Qed.

  Lemma these_in l a : 0 < these l a -> In a l.
  Proof.
    induction l as [|b l IH]; simpl; [unfold nothing; lia|]. intros some. destruct (eq_dec b a) as [->|other]; [now left|right].
    apply IH. now rewrite plus_one_other in some.
  Qed.

  Lemma these_some l a : In a l -> 0 < these l a.
  Proof.
    induction l as [|b l IH]; [contradiction|]. intros a_in. simpl. unfold plus_one. destruct (eq_dec b a) as [->|other]; [lia|].
    destruct a_in; [contradiction|auto].
  Qed.

  Lemma these_moved to_ back_ l : exchange to_ back_ -> image back_ (these l) ≐ these (map to_ l).
  Proof.
    intros E. destruct (there_and_back _ _ E) as [undone redone]. induction l as [|a l IH]; simpl; [apply same_refl|].
    eapply same_trans; [now apply image_plus|]. intros x. unfold plus_one. now rewrite (IH x).
  Qed.

  (** Whatever so many pods of a run are led to on listed nodes is reached on these alone. *)
  Theorem few_nodes_reach s : reachable P s -> forall l to_ back_, (length l <= k)%nat -> these l ≼ s -> exchange to_ back_ ->
    (forall a, In a l -> listed (node_of (to_ a)) = true) -> reachable few_nodes (these (map to_ l)).
  Proof.
    intros r. induction r as [s e|s t r IH st]; intros l to_ back_ short inside E on.
    - assert (map to_ l = l) as ->.
      { rewrite <- (map_id l) at 2. apply map_ext_in. intros a a_in. apply (old_still to_ back_ E). apply starts_old.
        rewrite <- (e a). pose proof (these_some l a a_in). specialize (inside a). lia. }
      apply (downward_closed few_nodes (start P) (these l) first).
      + apply at_start, same_refl.
      + intros a. simpl. unfold nothing. lia.
      + intros a. rewrite <- (e a). apply inside.
      + intros a more. apply starts_finite. lia.
    - (* One that is listed, or one less of it and that. *)
      assert (gone : forall (u : configuration A) b, these l ≼ u ⊕ b -> these l ≼ u \/ exists l1 l2, l = l1 ++ b :: l2 /\ these (l1 ++ l2) ≼ u).
      { intros u b below. destruct (N.le_gt_cases (these l b) (u b)) as [few|many].
        - left. intros x. specialize (below x). unfold plus_one in below. destruct (eq_dec b x) as [<-|]; [assumption|lia].
        - right. destruct (in_split b l) as [l1 [l2 is]]; [apply these_in; lia|]. exists l1, l2. split; [assumption|].
          intros x. specialize (below x). rewrite is, (these_middle l1 l2 b x) in below. by_count. }
      destruct st as [a ok e|a more e|a d more turned e].
      + destruct (gone s a) as [here|[l1 [l2 [-> rest]]]].
        { intros x. rewrite <- (e x). apply inside. }
        { now apply (IH l to_ back_). }
        rewrite app_length in short. simpl in short.
        assert (on_rest : forall x, In x (l1 ++ l2) -> listed (node_of (to_ x)) = true).
        { intros x x_in. apply on. rewrite in_app_iff in *. simpl. tauto. }
        assert (on_a : listed (node_of (to_ a)) = true) by (apply on; rewrite in_app_iff; simpl; tauto).
        assert (shape : these (map to_ (l1 ++ l2)) ⊕ to_ a ≐ these (map to_ (l1 ++ a :: l2))).
        { rewrite !map_app. simpl. apply same_sym, these_middle. }
        destruct (one_witness a (these (l1 ++ l2)) s rest ok) as [now_|[w [more_ then_]]].
        * eapply reachable_same; [exact shape|]. eapply by_step.
          -- apply (IH (l1 ++ l2) to_ back_); auto. rewrite app_length. lia.
          -- apply (deploy _ _ _ (to_ a)); [|apply same_refl]. split; [exact on_a|].
             apply (hard_same _ _ _ (these_moved to_ back_ _ E)). now apply rules_blind.
        * destruct (free (map to_ (l1 ++ a :: l2)) (to_ w)) as [to' [back' [E' [still w_on]]]].
          { rewrite map_length, app_length. simpl. lia. }
          { intros x x_in. apply in_map_iff in x_in. destruct x_in as [y [<- y_in]]. now apply on. }
          pose proof (exchange_then _ _ _ _ E E') as E2.
          assert (same_rest : map (fun x => to' (to_ x)) (l1 ++ l2) = map to_ (l1 ++ l2)).
          { apply map_ext_in. intros x x_in. apply still. apply in_map. rewrite in_app_iff in *. simpl. tauto. }
          assert (same_a : to' (to_ a) = to_ a) by (apply still, in_map; rewrite in_app_iff; simpl; tauto).
          assert (with_witness : reachable few_nodes (these (map (fun x => to' (to_ x)) (w :: l1 ++ l2)))).
          { apply (IH (w :: l1 ++ l2) (fun x => to' (to_ x)) (fun x => back_ (back' x))); auto.
            - simpl. rewrite app_length. lia.
            - intros x [<-|x_in]; [exact w_on|]. rewrite still; [now apply on_rest|]. apply in_map. rewrite in_app_iff in *. simpl. tauto. }
          simpl in with_witness. rewrite same_rest in with_witness.
          eapply reachable_same; [exact shape|]. eapply by_step; [eapply by_step; [exact with_witness|]|].
          -- apply (deploy _ _ _ (to_ a)); [|apply same_refl]. split; [exact on_a|].
             pose proof (rules_blind _ _ E2 a _ then_) as ok'. cbv beta in ok'. rewrite same_a in ok'.
             eapply hard_same; [|exact ok']. eapply same_trans; [exact (these_moved _ _ (w :: l1 ++ l2) E2)|]. simpl. rewrite same_rest. apply same_refl.
          -- apply (delete _ _ _ (to' (to_ w))); [simpl; unfold nothing; by_count|]. by_count.
      + apply (IH l to_ back_); auto. eapply within_trans; [exact inside|]. intros x. rewrite (e x). apply minus_one_within.
      + destruct (gone (s ⊖ a) d) as [here|[l1 [l2 [-> rest]]]].
        { intros x. rewrite <- (e x). apply inside. }
        { apply (IH l to_ back_); auto. eapply within_trans; [exact here|]. apply minus_one_within. }
        rewrite app_length in short. simpl in short. rewrite nothing_kept in more.
        pose proof (changes_blind to_ back_ E a d s turned) as turned'.
        assert (before : reachable few_nodes (these (map to_ (a :: l1 ++ l2)))).
        { apply (IH (a :: l1 ++ l2) to_ back_); auto.
          - simpl. rewrite app_length. lia.
          - intros x. simpl. specialize (rest x). by_count.
          - intros x [<-|x_in].
            + destruct (changes_anywhere _ _ _ s turned') as [_ ->]. apply on. rewrite in_app_iff. simpl. tauto.
            + apply on. rewrite in_app_iff in *. simpl. tauto. }
        simpl in before. apply (reachable_same few_nodes (these (map to_ (l1 ++ l2)) ⊕ to_ a ⊖ to_ a ⊕ to_ d)).
        * rewrite !map_app. simpl. eapply same_trans; [|apply same_sym, these_middle]. intros x. by_count.
        * eapply by_step; [exact before|]. apply (change _ _ _ (to_ a) (to_ d)); [simpl; unfold nothing; by_count| |apply same_refl].
          now apply (changes_anywhere _ _ _ _ turned').
  Qed.

  (** A goal of so many pods on listed nodes is met on these alone, if it is met at all. *)
  Corollary few_nodes_enough l : (length l <= k)%nat -> (forall a, In a l -> listed (node_of a) = true) ->
    deployable P [these l] -> deployable few_nodes [these l].
  Proof.
    intros short on [s [r [alternative [[<-|[]] covered]]]]. exists (these l). split; [|exists (these l); split; [now left|apply within_refl]].
    rewrite <- (map_id l). now apply (few_nodes_reach s r l (fun a => a) (fun a => a)).
  Qed.
End Bound.

(** ** Clusters *)

Section Cluster.
  Variable q : question.
  Hypothesis ok : sensible q = true.
  Notation m := (cluster q).
  Notation keeps := (lookup (stays q)).
  Hypothesis nothing_waits : waits q = [].
  Hypothesis kube : rules m = KubeScheduler.
  Hypothesis no_spread : forall p, In p (pods m) -> constraints m p = [].
  Hypothesis no_volumes : forall p, In p (pods m) -> drivers m p = [].
  Hypothesis nested_ : forall p n, In p (pods m) -> In n (nodes m) -> nested_keys m (likes m p) n.

  (** Nodes that come, however many; and those that are listed, among them all that do not come. *)
  Variables new listed : id -> bool.
  Hypothesis old_listed : forall n, new n = false -> listed n = true.
  (** Nothing runs at first on nodes that come. *)
  Hypothesis starts_old : forall p n, 0 < lookup (begins q) (p, n) -> new n = false.

  (** Two nodes that can be exchanged, and nothing else moves. *)
  Definition alike n n' : Prop := exists there back, Exchange.exchange m there back /\ there n = n'
    /\ (forall j, new j = false -> there j = j) /\ forall j, j <> n -> j <> n' -> there j = j.

  (** Of each kind of nodes that come, one more is listed than pods are asked for. *)
  Variable k : nat.
  Hypothesis enough : forall n, listed n = false ->
    exists some, NoDup some /\ (k < length some)%nat /\ forall n', In n' some -> listed n' = true /\ alike n n'.

  Notation P := (besides (cluster_problem q)).

  Definition exchanged (to_ back_ : atom -> atom) : Prop := exists there back, Exchange.exchange m there back
    /\ (forall j, new j = false -> there j = j) /\ (forall a, to_ a = moved there a) /\ forall a, back_ a = moved_from back a.

  Lemma kept_first : keeps ≼ lookup (begins q).
  Proof. apply (parts q ok). Qed.

  Lemma kept_old p n : 0 < keeps (p, n) -> new n = false.
  Proof. intros some. apply (starts_old p). pose proof (kept_first (p, n)). lia. Qed.

  Lemma kept_still there back : Exchange.exchange m there back -> (forall j, new j = false -> there j = j) ->
    forall a, keeps (moved_from back a) = keeps a.
  Proof.
    intros E still [p n]. unfold moved_from. simpl.
    destruct (N.eq_0_gt_0_cases (keeps (p, n))) as [zero|some].
    - rewrite zero. destruct (N.eq_0_gt_0_cases (keeps (p, back n))) as [|some]; [assumption|].
      pose proof (still _ (kept_old _ _ some)) as same_. rewrite (back_and_there _ _ _ E) in same_. rewrite <- same_ in some. lia.
    - pose proof (still _ (kept_old _ _ some)) as same_. rewrite <- same_ at 1. now rewrite (there_and_back _ _ _ E).
  Qed.

  Lemma changes_are_deletions a d s : becomes (cluster_problem q) a d s -> dies q a d.
  Proof. intros [turned|[uses _]]; [exact turned|]. unfold consumed in uses. rewrite nothing_waits in uses. discriminate. Qed.

  Lemma exchanged_undone to_ back_ : exchanged to_ back_ -> (forall a, back_ (to_ a) = a) /\ forall a, to_ (back_ a) = a.
  Proof.
    intros [there [back [E [_ [is is']]]]]. split; intros a; rewrite is, is'.
    - apply (moved_and_back _ _ _ E).
    - apply (back_and_moved _ _ _ E).
  Qed.

  Lemma exchanged_nothing : exchanged (fun a => a) (fun a => a).
  Proof.
    exists (fun n => n), (fun n => n). split; [apply Exchange.no_exchange; apply (parts q ok)|]. repeat split; auto; now intros [].
  Qed.

  Lemma exchanged_then to_ back_ to_' back_' : exchanged to_ back_ -> exchanged to_' back_' ->
    exchanged (fun a => to_' (to_ a)) (fun a => back_ (back_' a)).
  Proof.
    intros [there [back [E [still [is is']]]]] [there' [back2 [E' [still' [is2 is2']]]]].
    exists (fun n => there' (there n)), (fun n => back (back2 n)). split; [now apply Exchange.exchange_then|]. repeat split.
    - intros j old. now rewrite still, still'.
    - intros a. now rewrite is2, is.
    - intros a. now rewrite is', is2'.
  Qed.

  Lemma exchanged_rules to_ back_ : exchanged to_ back_ -> forall a s, hard P a s -> hard P (to_ a) (image back_ s).
  Proof.
    intros [there [back [E [still [is is']]]]] a s [[a_in can] free]. rewrite is. split; [|exact free].
    apply (admits_same q ok (moved there a) (image (moved_from back) (plus keeps s))).
    - intros x. unfold image, plus. now rewrite is', (kept_still there back E still).
    - split; [now apply (moved_listed _ _ _ E)|]. simpl. change (image (moved_from back) (plus keeps s)) with (led back (plus keeps s)).
      rewrite (lets_in_led _ _ _ E); [assumption| |]; [now apply (of_a_type m) in a_in|now apply (on_a_node m) in a_in].
  Qed.

  Lemma exchanged_changes to_ back_ : exchanged to_ back_ -> forall a d s, becomes P a d s -> becomes P (to_ a) (to_ d) (image back_ s).
  Proof.
    intros [there [back [E [_ [is _]]]]] a d s turned. apply changes_are_deletions in turned. destruct turned as [turned same_node].
    left. rewrite !is. split; [exact turned|]. unfold moved. simpl. now rewrite same_node.
  Qed.

  Lemma exchanged_still to_ back_ : exchanged to_ back_ -> forall a, new (snd a) = false -> to_ a = a.
  Proof. intros [there [back [E [still [is _]]]]] [p n] old. rewrite is. unfold moved. simpl in *. now rewrite still. Qed.

  (** One of the listed nodes has none of these pods. *)
  Lemma one_is_free l (x : atom) : (length l <= k)%nat -> (forall a : atom, In a l -> listed (snd a) = true) ->
    exists to_ back_, exchanged to_ back_ /\ (forall a, In a l -> to_ a = a) /\ listed (snd (to_ x)) = true.
  Proof.
    intros short on. destruct (listed (snd x)) eqn:there.
    { exists (fun a => a), (fun a => a). split; [exact exchanged_nothing|split; auto]. }
    destruct (enough (snd x) there) as [some [once [many each_]]].
    assert (exists n, In n some /\ ~ In n (map snd l)) as [n [n_in out]].
    { destruct (Exists_dec (fun n => ~ In n (map snd l)) some) as [yes|no].
      - intros n. destruct (in_dec Pos.eq_dec n (map snd l)); [right|left]; tauto.
      - apply Exists_exists in yes. exact yes.
      - exfalso. assert (incl some (map snd l)) as sub.
        { intros n n_in. destruct (in_dec Pos.eq_dec n (map snd l)) as [|out]; [assumption|]. exfalso. apply no.
          apply Exists_exists. now exists n. }
        apply NoDup_incl_length in sub; [|assumption]. enough (length (map snd l) <= k)%nat by lia. rewrite map_length. exact short. }
    destruct (each_ n n_in) as [n_listed [go [back [E [leads [still others]]]]]].
    exists (moved go), (moved_from back). split; [exists go, back; split; [exact E|]; split; [exact still|]; now split|]. split.
    - intros [p j] a_in. unfold moved. simpl. rewrite others; [reflexivity| |].
      + intros ->. specialize (on _ a_in). simpl in on. congruence.
      + intros ->. apply out. now apply (in_map snd) in a_in.
    - unfold moved. simpl. now rewrite leads.
  Qed.

  Lemma starts_old_here a : 0 < start P a -> new (snd a) = false.
  Proof. destruct a as [p n]. intros some. apply (starts_old p). change (0 < lookup (begins q) (p, n) - keeps (p, n)) in some. simpl. lia. Qed.

  Lemma changes_here a d s t : becomes P a d s -> becomes P a d t /\ snd a = snd d.
  Proof. intros turned. apply changes_are_deletions in turned. split; [now left|exact (proj2 turned)]. Qed.

  Lemma hard_same_here a s t : s ≐ t -> hard P a s -> hard P a t.
  Proof.
    intros e [can free]. split; [|exact free]. apply (admits_same q ok a (plus keeps s)); [|exact can].
    intros x. unfold plus. now rewrite (e x).
  Qed.

  Lemma few_of_cluster (pods_ : list atom) : (length pods_ <= k)%nat -> (forall a, In a pods_ -> listed (snd a) = true) ->
    deployable P [these pods_] -> deployable (few_nodes P snd listed) [these pods_].
  Proof.
    apply (few_nodes_enough P snd new listed) with (first := map fst (begins q)) (exchange := exchanged).
    - reflexivity.
    - exact hard_same_here.
    - exact changes_here.
    - exact starts_old_here.
    - intros a some. change (0 < lookup (begins q) a - keeps a) in some. apply lookup_listed. lia.
    - intros a b s bs [[a_in can] free]. pose proof (proj1 (atom_listed q a) a_in) as [p_in n_in].
      assert (grows_ : plus keeps b ≼ plus keeps s) by (intros x; specialize (bs x); change (keeps x + b x <= keeps x + s x); lia).
      destruct (nearest_is_enough m _ _ (no_spread _ p_in) (no_volumes _ p_in) kube (nested_ _ _ p_in n_in) _ _ grows_ can)
        as [now_|[w [w_in [inside then_]]]]; [left; split; [split; assumption|exact free]|right].
      exists w. split; [intros x; specialize (inside x); by_count|].
      split; [|exact free]. apply (admits_same q ok a (plus keeps b ⊕ w)); [|split; assumption].
      change (kept (cluster_problem q)) with keeps. by_count.
    - exact exchanged_undone.
    - exact exchanged_nothing.
    - exact exchanged_then.
    - exact exchanged_rules.
    - exact exchanged_changes.
    - exact exchanged_still.
    - exact one_is_free.
  Qed.

  (** The cluster with the listed nodes alone. *)
  Definition with_few : question :=
    {| cluster := with_nodes m (filter listed (nodes m)); begins := begins q; stays := stays q; dying := dying q; waits := waits q |}.

  Lemma few_is_small s : reachable (few_nodes P snd listed) s ->
    reachable (besides (cluster_problem with_few)) s /\ forall a, 0 < s a -> listed (snd a) = true.
  Proof.
    assert (first_listed : forall p n, 0 < lookup (begins q) (p, n) -> listed n = true).
    { intros p n some. apply old_listed. now apply (starts_old p). }
    intros r. induction r as [s e|s t r [IH on] st].
    - split; [now apply at_start|]. intros [p n] some. rewrite (e (p, n)) in some.
      change (0 < lookup (begins q) (p, n) - keeps (p, n)) in some. apply (first_listed p n). lia.
    - destruct st as [a [a_on [[a_in can] free]] e|a more e|a d more turned e].
      + split.
        * eapply by_step; [exact IH|]. apply (deploy _ _ _ a); [|assumption]. split; [|exact free]. split.
          -- apply (atom_listed q) in a_in. apply (atom_listed with_few). simpl. rewrite filter_In. tauto.
          -- apply (lets_in_kept m listed); [|exact can]. intros p n _ some. change (0 < keeps (p, n) + s (p, n)) in some. destruct (N.eq_0_gt_0_cases (keeps (p, n))) as [zero|kept_].
             ++ apply (on (p, n)). rewrite zero in some. exact some.
             ++ apply old_listed. now apply (kept_old p).
        * intros b some. rewrite (e b) in some. destruct (eq_dec a b) as [<-|other]; [exact a_on|]. apply on. now rewrite plus_one_other in some.
      + split.
        * eapply by_step; [exact IH|]. now apply (delete _ _ _ a).
        * intros b some. apply on. rewrite (e b) in some. pose proof (minus_one_within s a b). lia.
      + pose proof (changes_are_deletions _ _ _ turned) as gone. split.
        * eapply by_step; [exact IH|]. apply (change _ _ _ a d); [exact more| |assumption]. left. exact gone.
        * intros b some. rewrite (e b) in some. destruct (eq_dec d b) as [<-|other].
          -- destruct gone as [_ <-]. apply on. simpl in more. unfold nothing in more. lia.
          -- rewrite plus_one_other in some by assumption. apply on. pose proof (minus_one_within s a b). lia.
  Qed.

  (** What so many pods never meet on the listed nodes they never meet on any number of nodes. *)
  Theorem small_model l (x : list (atom * N)) : (length l <= k)%nat -> (forall a, In a l -> listed (snd a) = true) ->
    minus (lookup x) keeps ≐ these l ->
    never (cluster_problem with_few) [lookup x] -> never (cluster_problem q) [lookup x].
  Proof.
    intros short on asks_ no s r [alternative [[<-|[]] covered]].
    destruct (few_of_cluster l short on) as [t [rt [alternative [[<-|[]] inside]]]].
    - exists (minus s keeps). split; [apply (besides_reachable (cluster_problem q) kept_first (hard_same q ok) (becomes_same q ok)), r|].
      exists (these l). split; [now left|]. intros a. rewrite <- (asks_ a). specialize (covered a). unfold minus. lia.
    - apply few_is_small in rt. destruct rt as [rt _]. apply (no (plus keeps t)).
      + apply (besides_reachable_back (cluster_problem with_few) kept_first), rt.
      + exists (lookup x). split; [now left|]. intros a. specialize (inside a). pose proof (asks_ a) as is.
        change (lookup x a - keeps a = these l a) in is. change (these l a <= t a) in inside. change (lookup x a <= keeps a + t a). lia.
  Qed.
End Cluster.
