(** * A proof about enough nodes is one about any number

    A cluster lists a few nodes of each shape, and nobody knows how many come.  Take a
    proof about the listed ones, whose groups have at most [g] pods; let no guard ask for more
    than [w] witnesses.  If [g + w + 1] nodes of each shape are listed, the proof holds of any
    number of them.

    For suppose that a run with more nodes comes to a group, wherever its pods are, for the first time.  Whoever came
    last needed at most [w] of what was there besides the rest of the group.  These pods, of which there are at most [g + w], can
    all be moved to listed nodes, by an exchange that no rule notices.  There the proof says that a group
    was there before: at most [g] pods of those, which were together in the run before.

    docs/theory.md, "Nodes that come and go". *)

From Coq Require Import NArith PArith Arith List Lia Bool.
From Podreach Require Import Lists Configuration Problem Never Symmetry Guard Rules Search Kept Terminating Abstraction Classes Cluster Hopeless Nearest Exchange Listing Empty Meant Bound.
Import ListNotations.
Open Scope N_scope.

Section Enough.
  Context {A V : Type} `{Eq_dec A}.
  Implicit Types (s t : configuration A) (a d x : A) (l : list A).

  Variable P : problem A.
  Variable node_of : A -> V.
  Variables new listed : V -> bool.

  Hypothesis nothing_kept : forall a, kept P a = 0.
  Hypothesis hard_same : forall a s t, s ≐ t -> hard P a s -> hard P a t.
  Hypothesis changes_anywhere : forall a d s t, becomes P a d s -> becomes P a d t /\ node_of a = node_of d.
  Hypothesis starts_old : forall a, 0 < start P a -> new (node_of a) = false.

  (** Exchanges of nodes that come, each with the way back, which the rules do not notice. *)
  Variable exchange : (A -> A) -> (A -> A) -> Prop.
  Hypothesis there_and_back : forall to_ back_, exchange to_ back_ -> (forall a, back_ (to_ a) = a) /\ forall a, to_ (back_ a) = a.
  Hypothesis no_exchange : exchange (fun a => a) (fun a => a).
  Hypothesis exchange_then : forall to_ back_ to_' back_', exchange to_ back_ -> exchange to_' back_' ->
    exchange (fun a => to_' (to_ a)) (fun a => back_ (back_' a)).
  Hypothesis rules_blind : forall to_ back_, exchange to_ back_ -> forall a s, hard P a s -> hard P (to_ a) (image back_ s).
  Hypothesis changes_blind : forall to_ back_, exchange to_ back_ -> forall a d s, becomes P a d s -> becomes P (to_ a) (to_ d) (image back_ s).
  Hypothesis old_still : forall to_ back_, exchange to_ back_ -> forall a, new (node_of a) = false -> to_ a = a.

  (** Few witnesses are enough. *)
  Variables g w : nat.
  Hypothesis witnesses : forall a l s, these l ≼ s -> hard P a s ->
    exists l', (length l' <= w)%nat /\ these (l' ++ l) ≼ s /\ hard P a (these (l' ++ l)).

  (** Of so many pods on listed nodes, and one more, that one can be moved to a listed node. *)
  Hypothesis free : forall l x, (length l <= g + w)%nat -> (forall a, In a l -> listed (node_of a) = true) ->
    exists to_ back_, exchange to_ back_ /\ (forall a, In a l -> to_ a = a) /\ listed (node_of (to_ x)) = true.

  (** What can run at all, wherever it is moved. *)
  Variable can : A -> Prop.
  Hypothesis reached_can : forall s a, reachable P s -> 0 < s a -> can a.
  Hypothesis moved_can : forall to_ back_ a, exchange to_ back_ -> can a -> can (to_ a).

  (** What a proof about listed nodes rules out: never at first, never for the first time, and with few pods. *)
  Definition on_listed s : Prop := forall a, 0 < s a -> can a /\ listed (node_of a) = true.

  Variable ruled_out : configuration A -> Prop.
  Hypothesis more_is_ruled_out : forall s t, s ≼ t -> ruled_out s -> ruled_out t.
  Hypothesis few_are_ruled_out : forall s, on_listed s -> ruled_out s -> exists l, (length l <= g)%nat /\ these l ≼ s /\ ruled_out (these l).
  Hypothesis start_is_not : ~ ruled_out (start P).
  Hypothesis never_first : forall a s, on_listed s -> listed (node_of a) = true -> hard P a s -> ruled_out (s ⊕ a) -> ruled_out s.
  Hypothesis never_by_change : forall a d s, on_listed s -> 0 < s a -> becomes P a d s -> ruled_out (s ⊖ a ⊕ d) -> ruled_out s.

  Lemma these_within to_ back_ l s : exchange to_ back_ -> these l ≼ s -> these (map to_ l) ≼ image back_ s.
  Proof.
    intros E inside a. rewrite <- (these_moved exchange there_and_back to_ back_ l E a). apply inside.
  Qed.

  (** Several pods, one after the other. *)
  Lemma all_free l' : forall l, (length l' + length l <= g + w)%nat -> (forall a, In a l -> listed (node_of a) = true) ->
    exists to_ back_, exchange to_ back_ /\ (forall a, In a l -> to_ a = a) /\ forall a, In a l' -> listed (node_of (to_ a)) = true.
  Proof.
    induction l' as [|x l' IH]; intros l short on.
    - exists (fun a => a), (fun a => a). split; [exact no_exchange|]. split; [auto|intros a []].
    - simpl in short. destruct (IH l) as [to_ [back_ [E [still moved_]]]]; [lia|assumption|].
      destruct (free (l ++ map to_ l') (to_ x)) as [to' [back' [E' [still' moved']]]].
      { rewrite app_length, map_length. lia. }
      { intros a a_in. apply in_app_or in a_in. destruct a_in as [a_in|a_in]; [auto|].
        apply in_map_iff in a_in. destruct a_in as [y [<- y_in]]. auto. }
      exists (fun a => to' (to_ a)), (fun a => back_ (back' a)). split; [now apply exchange_then|]. split.
      + intros a a_in. rewrite still by assumption. apply still'. apply in_or_app. now left.
      + intros a [<-|a_in]; [assumption|]. rewrite still' by (apply in_or_app; right; now apply in_map). auto.
  Qed.

  Lemma gone l (u : configuration A) b : these l ≼ u ⊕ b -> these l ≼ u \/ exists l1 l2, l = l1 ++ b :: l2 /\ these (l1 ++ l2) ≼ u.
  Proof.
    intros below. destruct (N.le_gt_cases (these l b) (u b)) as [few|many].
    - left. intros x. specialize (below x). unfold plus_one in below. destruct (eq_dec b x) as [<-|]; [assumption|lia].
    - right. destruct (in_split b l) as [l1 [l2 is]]; [apply these_in; lia|]. exists l1, l2. split; [assumption|].
      intros x. specialize (below x). rewrite is, (these_middle l1 l2 b x) in below. by_count.
  Qed.

  Definition ruled_out_nowhere s : Prop := forall l to_ back_, these l ≼ s -> exchange to_ back_ ->
    (forall a, In a l -> listed (node_of (to_ a)) = true) -> (length l <= g)%nat -> ~ ruled_out (these (map to_ l)).

  (** Among any pods of a run that can be moved to listed nodes there are a few, if they are ruled out. *)
  Lemma few_of_many s l to_ back_ : reachable P s -> ruled_out_nowhere s -> these l ≼ s -> exchange to_ back_ ->
    (forall a, In a l -> listed (node_of (to_ a)) = true) -> ~ ruled_out (these (map to_ l)).
  Proof.
    intros r nowhere inside E on bad. destruct (there_and_back _ _ E) as [undone redone].
    assert (all_on : on_listed (these (map to_ l))).
    { intros a some. apply these_in, in_map_iff in some. destruct some as [y [<- y_in]]. split; [|auto].
      apply (moved_can _ _ _ E). apply (reached_can s); [assumption|]. pose proof (these_some l y y_in). specialize (inside y). lia. }
    destruct (few_are_ruled_out _ all_on bad) as [l3 [short [inside3 bad3]]].
    assert (same_ : map to_ (map back_ l3) = l3).
    { rewrite map_map. rewrite <- (map_id l3) at 2. apply map_ext. auto. }
    apply (nowhere (map back_ l3) to_ back_); auto.
    - intros a. destruct (N.eq_0_gt_0_cases (these (map back_ l3) a)) as [zero|some]; [lia|].
      pose proof (these_moved exchange there_and_back to_ back_ (map back_ l3) E (to_ a)) as at3.
      pose proof (these_moved exchange there_and_back to_ back_ l E (to_ a)) as at_l.
      unfold image in at3, at_l. rewrite undone in at3, at_l. rewrite same_ in at3. rewrite at3.
      specialize (inside3 (to_ a)). specialize (inside a). lia.
    - intros a a_in. apply in_map_iff in a_in. destruct a_in as [y [<- y_in]]. rewrite redone.
      apply all_on. pose proof (these_some l3 y y_in). specialize (inside3 y). lia.
    - now rewrite map_length.
    - now rewrite same_.
  Qed.

  Theorem enough_nodes s : reachable P s -> ruled_out_nowhere s.
  Proof.
    intros r. induction r as [s e|s t r IH st]; intros l to_ back_ inside E on short bad.
    - assert (map to_ l = l) as same_.
      { rewrite <- (map_id l) at 2. apply map_ext_in. intros a a_in. apply (old_still to_ back_ E). apply starts_old.
        rewrite <- (e a). pose proof (these_some l a a_in). specialize (inside a). lia. }
      rewrite same_ in bad. apply start_is_not. eapply more_is_ruled_out; [|exact bad]. intros a. rewrite <- (e a). apply inside.
    - destruct st as [a ok e|a more e|a d more turned e].
      + destruct (gone l s a) as [here|[l1 [l2 [-> rest]]]].
        { intros x. rewrite <- (e x). apply inside. }
        { now apply (IH l to_ back_). }
        rewrite app_length in short. simpl in short.
        destruct (witnesses a (l1 ++ l2) s rest ok) as [l' [few [inside' ok']]].
        destruct (all_free (map to_ l') (map to_ (l1 ++ a :: l2))) as [to' [back' [E' [still moved_]]]].
        { rewrite !map_length, app_length. simpl. lia. }
        { intros x x_in. apply in_map_iff in x_in. destruct x_in as [y [<- y_in]]. auto. }
        pose proof (exchange_then _ _ _ _ E E') as E2.
        assert (same_l : forall x, In x (l1 ++ a :: l2) -> to' (to_ x) = to_ x).
        { intros x x_in. apply still. now apply in_map. }
        assert (same_a : to' (to_ a) = to_ a) by (apply same_l; rewrite in_app_iff; simpl; tauto).
        assert (all_on : forall x, In x (l' ++ l1 ++ l2) -> listed (node_of (to' (to_ x))) = true).
        { intros x x_in. apply in_app_or in x_in. destruct x_in as [x_in|x_in].
          - apply moved_. now apply in_map.
          - rewrite same_l; [apply on|]; rewrite in_app_iff in *; simpl; tauto. }
        apply (few_of_many s (l' ++ l1 ++ l2) (fun x => to' (to_ x)) (fun x => back_ (back' x)) r IH inside' E2 all_on).
        apply (never_first (to_ a)).
        * intros x some. apply these_in, in_map_iff in some. destruct some as [y [<- y_in]]. split; [|auto].
          apply (moved_can _ _ _ E2). apply (reached_can s); [assumption|].
          pose proof (these_some _ y y_in). specialize (inside' y). lia.
        * apply on. rewrite in_app_iff. simpl. tauto.
        * rewrite <- same_a. apply (hard_same _ _ _ (these_moved exchange there_and_back _ _ (l' ++ l1 ++ l2) E2)).
          exact (rules_blind _ _ E2 a _ ok').
        * eapply more_is_ruled_out; [|exact bad]. intros x. rewrite !map_app. simpl.
          rewrite (these_middle (map to_ l1) (map to_ l2) (to_ a) x).
          assert (tail : map (fun x => to' (to_ x)) l1 ++ map (fun x => to' (to_ x)) l2 = map to_ l1 ++ map to_ l2).
          { rewrite <- !map_app. apply map_ext_in. intros y y_in. apply same_l. rewrite in_app_iff in *. simpl. tauto. }
          rewrite tail. unfold plus_one. enough (these (map to_ l1 ++ map to_ l2) x
            <= these (map (fun x => to' (to_ x)) l' ++ map to_ l1 ++ map to_ l2) x) by (destruct (eq_dec (to_ a) x); lia).
          generalize (map (fun x => to' (to_ x)) l'). intros front. induction front as [|y front IHf]; simpl; [lia|].
          pose proof (within_plus_one (these (front ++ map to_ l1 ++ map to_ l2)) y x). lia.
      + apply (IH l to_ back_); auto. eapply within_trans; [exact inside|]. intros x. rewrite (e x). apply minus_one_within.
      + destruct (gone l (s ⊖ a) d) as [here|[l1 [l2 [-> rest]]]].
        { intros x. rewrite <- (e x). apply inside. }
        { apply (IH l to_ back_); auto. eapply within_trans; [exact here|]. apply minus_one_within. }
        rewrite nothing_kept in more.
        pose proof (changes_blind to_ back_ E a d s turned) as turned'.
        destruct (changes_anywhere _ _ _ (these (map to_ (a :: l1 ++ l2))) turned') as [turned'' same_node].
        assert (all_on : forall x, In x (a :: l1 ++ l2) -> listed (node_of (to_ x)) = true).
        { intros x [<-|x_in]; [rewrite same_node|]; apply on; rewrite in_app_iff in *; simpl; tauto. }
        assert (inside' : these (a :: l1 ++ l2) ≼ s).
        { intros x. simpl. specialize (rest x). by_count. }
        apply (few_of_many s (a :: l1 ++ l2) to_ back_ r IH inside' E all_on).
        apply (never_by_change (to_ a) (to_ d)); [| |exact turned''|].
        * intros x some. apply these_in, in_map_iff in some. destruct some as [y [<- y_in]]. split; [|auto].
          apply (moved_can _ _ _ E). apply (reached_can s); [assumption|].
          pose proof (these_some _ y y_in). specialize (inside' y). lia.
        * simpl. by_count.
        * eapply more_is_ruled_out; [|exact bad]. intros x. rewrite map_app. simpl.
          rewrite (these_middle (map to_ l1) (map to_ l2) (to_ d) x). rewrite map_app. by_count.
  Qed.

  (** A goal on listed nodes that is ruled out is never met, on any number of nodes. *)
  Corollary never_on_enough_nodes (alternatives : goal A) :
    (forall x : configuration A, In x alternatives -> ruled_out x /\ forall a, 0 < x a -> listed (node_of a) = true) -> never P alternatives.
  Proof.
    intros all s r [x [x_in inside]]. destruct (all x x_in) as [bad on].
    assert (on_x : on_listed x).
    { intros a some. split; [|auto]. apply (reached_can s); [assumption|]. specialize (inside a). lia. }
    destruct (few_are_ruled_out x on_x bad) as [l [short [inside' bad']]].
    apply (enough_nodes s r l (fun a => a) (fun a => a)); auto.
    - eapply within_trans; eassumption.
    - intros a a_in. apply on. pose proof (these_some l a a_in). specialize (inside' a). lia.
    - now rewrite map_id.
  Qed.
End Enough.

(** ** Few pods make a group *)

Section Few.
  Context {A C : Type} `{Eq_dec A} `{Eq_dec C}.
  Variable f : A -> C.
  Variable atoms : list A.
  Hypothesis once : NoDup atoms.
  Notation abs := (abs f atoms).

  (** A group, pod by pod. *)
  Definition spelled (b : group (A := C)) : list C := flat_map (fun c => repeat c (N.to_nat (lookup b c))) (nodup eq_dec (map fst b)).

  Lemma these_app (l l' : list C) x : these (l ++ l') x = these l x + these l' x.
  Proof. induction l as [|a l IH]; simpl; [reflexivity|]. unfold plus_one. rewrite IH. destruct (eq_dec a x); lia. Qed.

  Lemma these_repeat (c : C) n x : these (repeat c n) x = if eq_dec c x then N.of_nat n else 0.
  Proof.
    induction n as [|n IH]; [simpl; unfold nothing; destruct (eq_dec c x); reflexivity|].
    cbn [repeat these]. unfold plus_one. rewrite IH. destruct (eq_dec c x); lia.
  Qed.

  Lemma these_spelled b : these (spelled b) ≐ lookup b.
  Proof.
    intros x. unfold spelled.
    assert (each : forall cs, NoDup cs -> these (flat_map (fun c => repeat c (N.to_nat (lookup b c))) cs) x
      = if in_dec eq_dec x cs then lookup b x else 0).
    { intros cs apart. induction apart as [|c cs out _ IH]; [reflexivity|]. cbn [flat_map]. rewrite these_app, these_repeat, IH.
      destruct (eq_dec c x) as [e|other].
      - subst x. destruct (in_dec eq_dec c cs) as [|no]; [contradiction|].
        destruct (in_dec eq_dec c (c :: cs)) as [_|not_]; [|exfalso; apply not_; now left]. lia.
      - destruct (in_dec eq_dec x cs) as [yes|no], (in_dec eq_dec x (c :: cs)) as [yes'|no']; try lia.
        + exfalso. apply no'. now right.
        + destruct yes' as [|yes']; contradiction. }
    rewrite each by apply NoDup_nodup. destruct (in_dec eq_dec x _) as [yes|no]; [reflexivity|].
    destruct (N.eq_dec (lookup b x) 0) as [->|some]; [reflexivity|]. apply lookup_listed in some. exfalso. apply no. now apply nodup_In.
  Qed.

  Lemma fewer_somewhere (l : list A) (s t : configuration A) : count l s < count l t -> exists a, In a l /\ s a < t a.
  Proof.
    induction l as [|a l IH]; simpl; [lia|]. intros less. destruct (N.lt_ge_cases (s a) (t a)) as [here|]; [exists a; auto|].
    destruct IH as [b [b_in more]]; [lia|]. exists b. auto.
  Qed.

  (** Whatever classes ask for is there in as many pods. *)
  Lemma picked cs : forall s, these cs ≼ abs s -> exists l, map f l = cs /\ these l ≼ s /\ abs (these l) ≐ these cs.
  Proof.
    induction cs as [|c cs IH]; intros s inside.
    - exists []. split; [reflexivity|]. split; [intros a; simpl; unfold nothing; lia|]. intros x. unfold abs. simpl.
      induction (filter (in_class f x) atoms) as [|y l IHl]; [reflexivity|]. simpl. now rewrite IHl.
    - destruct (IH s) as [l [is [below same_]]].
      { intros x. specialize (inside x). simpl in inside. pose proof (within_plus_one (these cs) c x). lia. }
      destruct (fewer_somewhere (filter (in_class f c) atoms) (these l) s) as [a [a_in more]].
      { change (count (filter (in_class f c) atoms) (these l)) with (abs (these l) c).
        change (count (filter (in_class f c) atoms) s) with (abs s c). rewrite (same_ c). specialize (inside c). simpl in inside.
        rewrite plus_one_same in inside by reflexivity. lia. }
      apply in_class_iff in a_in. destruct a_in as [a_in in_c].
      exists (a :: l). split; [simpl; now rewrite is, in_c|]. split; [simpl; now apply plus_one_within|].
      simpl. eapply same_trans; [now apply abs_plus_one|]. rewrite in_c. intros x. unfold plus_one. now rewrite (same_ x).
  Qed.

  Lemma few_in_group groups k s : (forall b, In b groups -> (length (spelled b) <= k)%nat) -> forbidden (map lookup groups) (abs s) ->
    exists l, (length l <= k)%nat /\ these l ≼ s /\ forbidden (map lookup groups) (abs (these l)).
  Proof.
    intros small [b' [b_in inside]]. apply in_map_iff in b_in. destruct b_in as [b [<- b_in]].
    destruct (picked (spelled b) s) as [l [is [below same_]]].
    { intros x. rewrite (these_spelled b x). apply inside. }
    exists l. split; [rewrite <- (map_length f), is; auto|]. split; [assumption|].
    exists (lookup b). split; [now apply in_map|]. intros x. rewrite (same_ x), (these_spelled b x). lia.
  Qed.
End Few.

(** ** Few pods are needed *)

Section Rules.
  Variable m : model.
  Implicit Types (s b : configuration atom) (l : list atom).

  (** Some pods on top of what is there. *)
  Definition onto l b : configuration atom := fold_right (fun x c => c ⊕ x) b l.

  Lemma onto_more l b : b ≼ onto l b.
  Proof. induction l as [|a l IH]; simpl; [apply within_refl|]. eapply within_trans; [exact IH|apply within_plus_one]. Qed.

  Lemma some_runs_above kind s b : b ≼ s -> some_runs m kind b = true -> some_runs m kind s = true.
  Proof.
    intros bs. unfold some_runs. rewrite !existsb_exists. intros [a [a_in ok]]. exists a. split; [assumption|].
    rewrite andb_true_iff, N.ltb_lt in *. specialize (bs a). split; [tauto|lia].
  Qed.

  (** One pod of each of some kinds. *)
  Lemma one_of_each (kinds : list (atom -> bool)) b s : b ≼ s -> (forall kind, In kind kinds -> some_runs m kind s = true) ->
    exists l, (length l <= length kinds)%nat /\ onto l b ≼ s /\ forall kind, In kind kinds -> some_runs m kind (onto l b) = true.
  Proof.
    intros bs. induction kinds as [|kind kinds IH]; intros all.
    - exists []. split; [simpl; lia|]. split; [assumption|intros kind []].
    - destruct IH as [l [short [inside each_]]]; [intros; apply all; now right|].
      destruct (some_runs m kind (onto l b)) eqn:there.
      + exists l. split; [simpl; lia|]. split; [assumption|]. intros other [<-|other_in]; auto.
      + pose proof (all kind (or_introl eq_refl)) as some. unfold some_runs in some. apply existsb_exists in some. destruct some as [a [a_in ok]].
        apply andb_true_iff in ok. destruct ok as [is more]. apply N.ltb_lt in more.
        assert (none : onto l b a = 0).
        { destruct (N.eq_0_gt_0_cases (onto l b a)) as [|some]; [assumption|]. exfalso. apply not_true_iff_false in there. apply there.
          unfold some_runs. apply existsb_exists. exists a. split; [assumption|]. rewrite is. now apply N.ltb_lt. }
        exists (a :: l). split; [simpl; lia|]. split; [simpl; apply plus_one_within; [assumption|lia]|].
        intros other [<-|other_in].
        * unfold some_runs. apply existsb_exists. exists a. split; [assumption|]. rewrite is. apply N.ltb_lt. simpl.
          rewrite plus_one_same by reflexivity. lia.
        * simpl. apply (some_runs_above other _ (onto l b)); [apply within_plus_one|auto].
  Qed.

  Lemma few_friends p n b s : b ≼ s -> affine m s p n = true ->
    exists l, (length l <= length (likes m p))%nat /\ onto l b ≼ s /\ affine m (onto l b) p n = true.
  Proof.
    intros bs. unfold affine. destruct (is_kube m).
    - unfold affine_kube. rewrite andb_true_iff, orb_true_iff. intros [keys [near_|first]].
      + destruct (one_of_each (map (fun t => near_friend m (likes m p) t n) (likes m p)) b s bs) as [l [short [inside each_]]].
        { intros kind kind_in. apply in_map_iff in kind_in. destruct kind_in as [t [<- t_in]]. rewrite forallb_forall in near_. auto. }
        exists l. rewrite map_length in short. split; [assumption|]. split; [assumption|]. rewrite keys. apply orb_true_iff. left.
        apply forallb_forall. intros t t_in. apply each_. apply in_map_iff. eauto.
      + exists []. split; [simpl; lia|]. split; [assumption|]. simpl. rewrite keys. apply andb_true_iff in first. destruct first as [own none].
        rewrite own, (none_runs_below m _ s b bs none). apply orb_true_r.
    - unfold affine_paper. intros each_.
      pose (served := filter (fun t => some_runs m (near_friend m [t] t n) s) (likes m p)).
      destruct (one_of_each (map (fun t => near_friend m [t] t n) served) b s bs) as [l [short [inside there]]].
      { intros kind kind_in. apply in_map_iff in kind_in. destruct kind_in as [t [<- t_in]]. now apply filter_In in t_in. }
      assert (fewer : forall (is : term -> bool) ts, (length (filter is ts) <= length ts)%nat).
      { intros is ts. induction ts as [|t ts IH]; simpl; [lia|]. destruct (is t); simpl; lia. }
      exists l. split; [rewrite map_length in short; etransitivity; [exact short|apply fewer]|].
      split; [assumption|]. rewrite forallb_forall in *. intros t t_in. specialize (each_ t t_in). rewrite orb_true_iff in *.
      destruct (some_runs m (near_friend m [t] t n) s) eqn:is.
      + left. apply there. apply in_map_iff. exists t. split; [reflexivity|]. now apply filter_In.
      + destruct each_ as [|first]; [discriminate|right]. apply andb_true_iff in first. destruct first as [own none].
        now rewrite own, (none_runs_below m _ s (onto l b) inside none).
  Qed.

  Lemma few_needed p n b s : constraints m p = [] -> drivers m p = [] -> b ≼ s -> lets_in m s p n = true ->
    exists l, (length l <= length (likes m p))%nat /\ onto l b ≼ s /\ lets_in m (onto l b) p n = true.
  Proof.
    intros no_spread no_volumes bs ok. destruct (asks m p InterPodAffinity) eqn:asked.
    - assert (near_ : affine m s p n = true).
      { unfold lets_in in ok. rewrite andb_true_iff, forallb_forall in ok. destruct ok as [_ each_].
        specialize (each_ InterPodAffinity ltac:(simpl; auto 10)). rewrite asked in each_. simpl in each_. now apply andb_true_iff in each_. }
      destruct (few_friends p n b s bs near_) as [l [short [inside near']]]. exists l. split; [assumption|]. split; [assumption|].
      apply (lets_in_below m p n no_spread no_volumes s); auto.
    - exists []. split; [simpl; lia|]. split; [assumption|]. apply (lets_in_below m p n no_spread no_volumes s); auto. congruence.
  Qed.
End Rules.

(** ** Clusters *)

Section Cluster.
  (** The cluster with however many nodes. *)
  Variable q : question.
  Hypothesis ok : sensible q = true.
  Notation m := (cluster q).
  Notation keeps := (lookup (stays q)).
  Hypothesis nothing_waits : waits q = [].
  Hypothesis bases_listed : forall b d, In (b, d) (dying q) -> In b (pods m).
  Hypothesis no_spread : forall p, In p (pods m) -> constraints m p = [].
  Hypothesis no_volumes : forall p, In p (pods m) -> drivers m p = [].

  (** Nodes that come, however many; and those that are listed, among them all that do not come. *)
  Variables new listed : id -> bool.
  Hypothesis old_listed : forall n, new n = false -> listed n = true.
  Hypothesis starts_old : forall p n, 0 < lookup (begins q) (p, n) -> new n = false.

  (** Groups of so many pods, so many terms; and of each kind of nodes that come one more than both is listed. *)
  Variables g w : nat.
  Hypothesis few_terms : forall p, In p (pods m) -> (length (likes m p) <= w)%nat.
  Hypothesis enough : forall n, listed n = false ->
    exists some, NoDup some /\ (g + w < length some)%nat /\ forall n', In n' some -> listed n' = true /\ Bound.alike q new n n'.

  (** What is checked is about the listed nodes. *)
  Notation few := (with_few q listed).
  Hypothesis few_ok : sensible few = true.
  Variables (fuel : nat) (goals : goal atom) (f : atom -> atom) (groups : list (group (A := atom))).
  Hypothesis accepted : check_classes (short_guards few) f (atoms (cluster few)) (possible few) fuel goals groups = true.
  Hypothesis small : forall b, In b groups -> (length (spelled b) <= g)%nat.

  Notation P := (besides (cluster_problem q)).
  Notation few_atoms := (atoms (cluster few)).
  Definition ruled_out_here (s : configuration atom) : Prop := forbidden (map lookup groups) (abs f few_atoms s).

  Lemma few_atoms_once : NoDup few_atoms.
  Proof. apply (atoms_once _ _ _ (short_guards_tables few few_ok)). Qed.

  Lemma possible_listed a : possible q a = true -> listed (snd a) = true -> possible few a = true.
  Proof.
    unfold possible. rewrite !andb_true_iff. intros [a_in can] on. split; [|exact can].
    apply has_spec, (atom_listed q) in a_in. apply has_spec, (atom_listed few). simpl. rewrite filter_In. tauto.
  Qed.

  Lemma all_possible s : on_listed snd listed (fun a => possible q a = true) s -> possible_only (possible few) s.
  Proof.
    intros on a out. destruct (N.eq_0_gt_0_cases (s a)) as [|some]; [assumption|]. destruct (on a some) as [can here].
    rewrite (possible_listed a can here) in out. discriminate.
  Qed.

  Lemma few_hard a s : on_listed snd listed (fun a => possible q a = true) s -> listed (snd a) = true -> hard P a s -> hard (besides (cluster_problem few)) a s.
  Proof.
    intros on a_on [[a_in can] free]. split; [|exact free]. split.
    - apply (atom_listed q) in a_in. apply (atom_listed few). simpl. rewrite filter_In. tauto.
    - apply (lets_in_kept m listed); [|exact can]. intros p n _ some. change (0 < keeps (p, n) + s (p, n)) in some.
      destruct (N.eq_0_gt_0_cases (s (p, n))) as [zero|running]; [|exact (proj2 (on _ running))].
      apply old_listed, (starts_old p). pose proof (proj1 (proj2 (proj2 (proj2 (proj2 (parts q ok))))) (p, n)). lia.
  Qed.

  Lemma moved_possible to_ back_ a : exchanged q new to_ back_ -> possible q a = true -> possible q (to_ a) = true.
  Proof.
    intros [there [back [E [still [is _]]]]]. rewrite is. destruct a as [p n]. unfold possible. rewrite !andb_true_iff. intros [a_in can].
    apply has_spec in a_in. split; [apply has_spec; now apply (moved_listed _ _ _ E)|].
    apply (atom_listed q) in a_in. simpl in a_in. destruct a_in as [p_in _].
    assert (comes : forall p', In p' (pods m) -> may_come q p' n = true -> may_come q p' (there n) = true).
    { intros p' p_in'. unfold may_come. rewrite (same_filters _ _ _ E) by assumption. rewrite !orb_true_iff, !N.ltb_lt.
      intros [|some]; [now left|right]. now rewrite (still n (starts_old p' n some)). }
    unfold is_possible, moved in *. cbn [fst snd] in *. rewrite orb_true_iff in *. destruct can as [can|can]; [left; auto|right].
    destruct (shadowed q p) as [b|] eqn:was; [|discriminate]. apply comes; [|assumption].
    unfold shadowed in was. destruct (find _ (dying q)) as [[b' d]|] eqn:found; [|discriminate]. injection was as <-.
    apply find_some in found. now apply (bases_listed b' d).
  Qed.

  Lemma few_witnesses a l s : these l ≼ s -> hard P a s ->
    exists l', (length l' <= w)%nat /\ these (l' ++ l) ≼ s /\ hard P a (these (l' ++ l)).
  Proof.
    intros inside [[a_in can] free]. pose proof (proj1 (atom_listed q a) a_in) as [p_in _].
    assert (below : plus keeps (these l) ≼ plus keeps s) by (intros x; specialize (inside x); unfold plus; lia).
    destruct (few_needed m _ _ _ _ (no_spread _ p_in) (no_volumes _ p_in) below can) as [l' [short [inside' can']]].
    assert (is : onto l' (plus keeps (these l)) ≐ plus keeps (these (l' ++ l))).
    { clear. induction l' as [|x l' IH]; simpl; [apply same_refl|]. intros y. unfold plus_one, plus in *. rewrite (IH y). destruct (eq_dec x y); lia. }
    exists l'. split; [specialize (few_terms _ p_in); lia|]. split.
    - intros x. specialize (inside' x). rewrite (is x) in inside'. change (keeps x + these (l' ++ l) x <= keeps x + s x) in inside'. lia.
    - split; [|exact free]. apply (admits_same q ok a (onto l' (plus keeps (these l)))); [exact is|]. now split.
  Qed.

  (** What the checker accepts about the listed nodes is never met with any number of nodes. *)
  Theorem never_with_more : (forall x, In x goals -> forall a, 0 < x a -> listed (snd a) = true) -> never P goals.
  Proof.
    intros on. pose proof (check_classes_certificate _ _ _ _ (short_guards_tables few few_ok) _ _ _ accepted) as certified.
    apply (never_on_enough_nodes P snd new listed) with (exchange := exchanged q new) (g := g) (w := w)
      (can := fun a => possible q a = true) (ruled_out := ruled_out_here).
    - reflexivity.
    - exact (hard_same_here q ok).
    - exact (changes_here q nothing_waits).
    - exact (starts_old_here q new starts_old).
    - exact (exchanged_undone q new).
    - exact (exchanged_nothing q ok new).
    - exact (exchanged_then q new).
    - exact (exchanged_rules q ok new starts_old).
    - exact (exchanged_changes q nothing_waits new).
    - exact (exchanged_still q new).
    - exact few_witnesses.
    - exact (one_is_free q ok new listed (g + w) enough).
    - intros s a r some. apply (running_possible (possible q) s a); [now apply reached_possible|assumption].
    - exact moved_possible.
    - intros s t st. apply forbidden_mono. now apply abs_mono.
    - intros s _. apply few_in_group; [exact few_atoms_once|exact small].
    - exact (start_free _ _ _ certified).
    - intros a s here a_on can. apply (check_classes_deploy _ _ _ _ (short_guards_tables few few_ok) fuel goals groups a s accepted).
      + now apply all_possible.
      + apply hard_short, (hard_guarded few few_ok); [now apply all_possible|now apply few_hard].
    - intros a d s here some turned. apply (check_classes_change _ _ _ _ (short_guards_tables few few_ok) fuel goals groups a d s accepted).
      + now apply all_possible.
      + assumption.
      + apply becomes_short, (becomes_guarded few few_ok); [now apply all_possible|assumption|].
        apply (changes_are_deletions q nothing_waits) in turned. left. exact turned.
    - intros x x_in. split; [|now apply on]. apply (goal_ruled_out _ _ _ certified). now apply in_map.
  Qed.
End Cluster.

(** ** Documents

    A document lists the nodes of each shape.  What it says is about every cluster that has them, and any others of which each is like
    those of a shape. *)

Section Shapes.
  Variable q : question.
  Notation m := (cluster q).

  (** The most pods that a group has, and the most terms that a pod has. *)
  Definition most_pods (groups : list (group (A := atom))) : nat := fold_right (fun b k => Nat.max (length (spelled b)) k) O groups.
  Definition most_terms : nat := fold_right (fun p k => Nat.max (length (likes m p)) k) O (pods m).

  (** Nodes that can be exchanged, with nothing on them at first, of which there are more than so many. *)
  Definition good_shape (k : nat) (shape : list id) : bool :=
    no_twice shape && Nat.ltb k (length shape)
    && forallb (fun '(a, n) => (n =? 0) || negb (has_id shape (snd a))) (begins q)
    && match shape with
       | [] => true
       | first :: rest => forallb (fun n => is_exchange q (all_keys q) (all_matchers q) [(first, n); (n, first)]) rest
       end.

  (** That few nodes speak for all: nothing waits, nothing is spread, no volumes are limited. *)
  Definition speaks_for_all (shapes : list (list id)) (g : list (list (atom * N))) (groups : list (group (A := atom))) : bool :=
    is_nil (waits q)
    && forallb (fun '(b, _) => has_id (pods m) b) (dying q)
    && forallb (fun p => is_nil (constraints m p) && is_nil (drivers m p)) (pods m)
    && forallb (forallb (fun '(a, _) => has (atoms m) a)) g
    && forallb (good_shape (most_pods groups + most_terms)) shapes.
End Shapes.

Section Documents.
  (** A cluster, and the nodes in it that no document lists. *)
  Variable q : question.
  Variable extra : list id.
  Variable shapes : list (list id).
  Definition is_listed n : bool := negb (has_id extra n).
  Definition comes n : bool := has_id extra n || existsb (fun shape => has_id shape n) shapes.
  Notation few := (with_few q is_listed).

  Hypothesis ok : sensible q = true.
  Hypothesis few_ok : sensible few = true.
  (** Each of them is like the nodes of some shape. *)
  Hypothesis like_a_shape : forall n, In n extra -> exists shape, In shape shapes /\ forall n', In n' shape -> is_listed n' = true /\ Bound.alike q comes n n'.

  Variables (fuel : nat) (g : list (list (atom * N))) (f : atom -> atom) (groups : list (group (A := atom))).
  Hypothesis accepted : check_classes (short_guards few) f (atoms (cluster few)) (possible few) fuel
    (goal_besides (cluster_problem few) (map lookup g)) groups = true.
  Hypothesis speaks : speaks_for_all few shapes g groups = true.

  Lemma below_most {B} (h : B -> nat) l b : In b l -> (h b <= fold_right (fun b k => Nat.max (h b) k) O l)%nat.
  Proof. induction l as [|c l IH]; [contradiction|]. intros [<-|b_in]; simpl; [lia|]. specialize (IH b_in). lia. Qed.

  Theorem shapes_speak_for_all : never (cluster_problem q) (map lookup g).
  Proof.
    unfold speaks_for_all in speaks. rewrite !andb_true_iff, !forallb_forall in speaks.
    destruct speaks as [[[[unwaited bases] plain] on] good].
    assert (nil_ : forall (B : Type) (l : list B), is_nil l = true -> l = []) by (intros B [|b l]; [reflexivity|discriminate]).
    destruct (parts q ok) as [_ [_ [_ [_ [low _]]]]].
    apply (never_besides (cluster_problem q) low); [exact (hard_same q ok)|exact (becomes_same q ok)|].
    apply (never_with_more q ok) with (new := comes) (listed := is_listed) (g := most_pods groups) (w := most_terms q) (fuel := fuel) (f := f) (groups := groups).
    - now apply nil_.
    - intros b d b_in. apply has_id_spec. exact (bases _ b_in).
    - intros p p_in. specialize (plain p p_in). apply andb_true_iff in plain. destruct plain. now apply nil_.
    - intros p p_in. specialize (plain p p_in). apply andb_true_iff in plain. destruct plain. now apply nil_.
    - intros n. unfold comes, is_listed. destruct (has_id extra n); [discriminate|reflexivity].
    - intros p n some. apply not_true_is_false. intros is. unfold comes in is.
      assert (there : In (p, n) (map fst (begins q))) by (apply lookup_listed; apply N.neq_0_lt_0; exact some).
      apply in_map_iff in there. destruct there as [[a count_] [e a_in]]. simpl in e. subst a.
      apply orb_true_iff in is. destruct is as [out|in_shape].
      + pose proof (parts few few_ok) as [_ [_ [_ [starts _]]]]. specialize (starts (p, n)). simpl in starts.
        enough (lookup (begins q) (p, n) = 0) as zero by (apply (N.lt_irrefl 0); rewrite <- zero at 2; exact some).
        apply starts. intros a_in'. apply (atom_listed few) in a_in'. simpl in a_in'. rewrite filter_In in a_in'.
        destruct a_in' as [_ [_ listed_]]. unfold is_listed in listed_. rewrite out in listed_. discriminate.
      + apply existsb_exists in in_shape. destruct in_shape as [shape [shape_in n_in]]. specialize (good shape shape_in).
        unfold good_shape in good. rewrite !andb_true_iff, !forallb_forall in good. destruct good as [[_ empty] _].
        clear accepted. enough (exists c, In ((p, n), c) (begins q) /\ c <> 0) as [c [c_in not_zero]].
        { specialize (empty _ c_in). simpl in empty. rewrite n_in in empty. simpl in empty. rewrite orb_false_r in empty.
          apply N.eqb_eq in empty. contradiction. }
        exists (lookup (begins q) (p, n)). split; [|apply N.neq_0_lt_0; exact some]. clear - some.
        unfold lookup in *. induction (begins q) as [|[c k] rest IH]; simpl in *; [lia|].
        destruct (eq_dec c (p, n)) as [->|]; [now left|right; auto].
    - intros p p_in. exact (below_most (fun p => length (likes (cluster q) p)) _ p p_in).
    - intros n out. unfold is_listed in out. apply negb_false_iff in out. apply has_id_spec in out.
      destruct (like_a_shape n out) as [shape [shape_in each_]]. specialize (good shape shape_in). unfold good_shape in good.
      rewrite !andb_true_iff in good. destruct good as [[[once many] _] _]. exists shape. split; [now apply no_twice_spec|].
      split; [now apply Nat.ltb_lt in many|]. exact each_.
    - exact few_ok.
    - exact accepted.
    - intros b b_in. exact (below_most (fun b => length (spelled b)) _ b b_in).
    - intros x x_in a some. unfold goal_besides in x_in. apply in_map_iff in x_in. destruct x_in as [y [<- y_in]].
      apply in_map_iff in y_in. destruct y_in as [z [<- z_in]]. unfold minus in some.
      assert (there : In a (map fst z)).
      { apply lookup_listed. intros zero. apply (N.lt_irrefl 0). eapply N.lt_le_trans; [exact some|].
        transitivity (lookup z a); [apply N.le_sub_l|]. now rewrite zero. }
      apply in_map_iff in there. destruct there as [[b count_] [e b_in]]. simpl in e. subst b.
      specialize (on z z_in). rewrite forallb_forall in on. specialize (on _ b_in). simpl in on. apply has_spec, (atom_listed few) in on.
      simpl in on. rewrite filter_In in on. tauto.
  Qed.

  (** Also of pods that are being deleted, where what is meant is worked out. *)
  Lemma meant_alike x : meant_by few x = meant_by q x.
  Proof. reflexivity. Qed.

  Lemma open_alike g' : open_at_start few g' = true -> open_at_start q g' = true.
  Proof.
    unfold open_at_start. rewrite !andb_true_iff. intros [shadows_ rest]. split; [|exact rest].
    unfold sensible_shadows in *. rewrite !andb_true_iff, !forallb_forall in *. destruct shadows_ as [once never_]. split; [exact once|].
    intros [b d] d_in. specialize (never_ _ d_in). simpl in never_. rewrite forallb_forall in *. intros n n_in.
    assert (d_pod : In d (pods (cluster q))) by (destruct (parts q ok) as [_ [_ [_ [_ [_ shadows]]]]]; now apply (shadows b d)).
    destruct (has_id extra n) eqn:out.
    - apply has_id_spec in out. destruct (like_a_shape n out) as [shape [shape_in each_]].
      unfold speaks_for_all in speaks. rewrite !andb_true_iff, !forallb_forall in speaks. destruct speaks as [_ good]. specialize (good shape shape_in).
      unfold good_shape in good. rewrite !andb_true_iff in good. destruct good as [[[_ many] _] _]. apply Nat.ltb_lt in many.
      destruct shape as [|n' rest']; [simpl in many; lia|]. destruct (each_ n' (or_introl eq_refl)) as [listed_ [there [back [E [leads _]]]]].
      rewrite <- (same_filters _ _ _ E d n d_pod), leads. apply never_. simpl. apply filter_In. split; [|exact listed_].
      rewrite <- leads. now apply (among_nodes _ _ _ E).
    - apply never_. simpl. apply filter_In. split; [assumption|]. unfold is_listed. now rewrite out.
  Qed.
End Documents.
