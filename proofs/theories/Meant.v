(** * What a goal asks of a cluster

    Pods meet a goal that run, and one that is being deleted does (Terminating.v).  Here
    is the goal that is meant, as the checker works it out: the same, if one pod is asked for
    besides those that stay; otherwise each as what it is while it is being deleted, but for
    those that must stay.  If the start does not meet what was asked, and what is meant is
    never met, then what was asked is never met: in the problem itself ([never_met]), and
    where pod types are merged ([never_met_of_quotient], [one_never_met_of_quotient]).

    step.rs, [is_met] and [meant]; quotient.rs; check/mod.rs, [Checker::check]. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Configuration Sums Problem Guard Rules Search Terminating Cluster Quotient.
Import ListNotations.
Open Scope N_scope.

Section Meant.
  Variable q : question.
  Notation m := (cluster q).
  Notation P := (cluster_problem q).
  Notation shadow := (dies_as q).

  (** Whether a configuration is enough: a pod that is being deleted still runs. *)
  Definition is_met (s : configuration atom) (x : list (atom * N)) : bool :=
    forallb (fun '(a, _) => lookup x a <=? running shadow s a) x.

  Lemma is_met_spec s x : is_met s x = true <-> met shadow s (lookup x).
  Proof.
    unfold is_met, met. rewrite forallb_forall. split.
    - intros each_ a. destruct (N.eq_dec (lookup x a) 0) as [->|some]; [lia|].
      apply lookup_listed, in_map_iff in some. destruct some as [[b n] [<- b_in]]. specialize (each_ _ b_in). simpl in each_.
      now apply N.leb_le.
    - intros each_ [a n] _. apply N.leb_le, each_.
  Qed.

  (** Each type is one other while it is being deleted, which no step deploys. *)
  Definition sensible_shadows : bool :=
    no_twice (map fst (dying q)) && forallb (fun '(_, d) => forallb (fun n => negb (placeable m d n)) (nodes m)) (dying q).

  (** A goal names no pod that is being deleted. *)
  Definition names_no_shadow (x : list (atom * N)) : bool := forallb (fun '(a, _) => is_none (shadowed q (fst a))) x.

  (** How many pods it asks for besides those that stay. *)
  Definition size_besides (x : list (atom * N)) : N :=
    sum (fun a => lookup x a - lookup (stays q) a) (nodup eq_dec (map fst x)).

  Definition shadows_of (l : list atom) : list atom :=
    flat_map (fun a => match shadow a with Some d => [d] | None => [] end) l.

  Definition meant_by (x : list (atom * N)) : list (atom * N) :=
    if size_besides x <=? 1 then x
    else let all := map fst x in
         filter (fun '(_, n) => 0 <? n) (map (fun b => (b, meant P shadow (lookup x) all b)) (all ++ shadows_of all)).

  (** What the checker tests before it looks at what is meant. *)
  Definition open_at_start (g : list (list (atom * N))) : bool :=
    sensible_shadows && forallb (fun x => names_no_shadow x && negb (is_met (lookup (begins q)) x)) g.

  Hypothesis ok : sensible q = true.
  Hypothesis shadows_ok : sensible_shadows = true.

  Lemma shadow_spec a d : dies q a d <-> shadow a = Some d.
  Proof.
    pose proof shadows_ok as once. apply andb_true_iff in once. destruct once as [once _]. apply no_twice_spec in once.
    unfold dies, dies_as, shadow_of. destruct a as [p n], d as [e k]. simpl. split.
    - intros [in_ <-]. enough (find (fun '(b, _) => Pos.eqb b p) (dying q) = Some (p, e)) as -> by reflexivity.
      induction (dying q) as [|[b x] rest IH]; [contradiction|]. simpl in *. inversion once as [|? ? out once']; subst.
      destruct in_ as [[= -> ->]|in_]; [now rewrite Pos.eqb_refl|].
      destruct (Pos.eqb_spec b p) as [->|]; [apply (in_map fst) in in_; contradiction|auto].
    - destruct (find _ (dying q)) as [[b x]|] eqn:found; [|discriminate]. intros [= <- <-].
      apply find_some in found. destruct found as [in_ is]. apply Pos.eqb_eq in is. now subst.
  Qed.

  Lemma shadow_was a d : shadow a = Some d -> shadowed q (fst d) = Some (fst a) /\ snd a = snd d /\ shadowed q (fst a) = None.
  Proof.
    intros is. apply shadow_spec in is. destruct is as [in_ same_node]. destruct (parts q ok) as [_ [_ [_ [_ [_ shadows]]]]].
    destruct (shadows _ _ in_) as [was [_ first]]. auto.
  Qed.

  Lemma shadows_apart a b d : shadow a = Some d -> shadow b = Some d -> a = b.
  Proof.
    intros is is'. apply shadow_was in is, is'. destruct a, b. simpl in *. destruct is as [was [-> _]], is' as [was' [-> _]]. congruence.
  Qed.

  Lemma shadows_last a d : shadow a = Some d -> shadow d = None.
  Proof.
    intros is. apply shadow_was in is. destruct is as [was _]. destruct (shadow d) as [e|] eqn:is'; [|reflexivity].
    apply shadow_was in is'. destruct is' as [_ [_ first]]. congruence.
  Qed.

  Lemma shadows_not_admitted a d s : shadow a = Some d -> ~ admits q d s.
  Proof.
    intros is [d_in can]. apply shadow_spec in is. destruct is as [in_ _]. apply atom_listed in d_in.
    pose proof shadows_ok as never_. apply andb_true_iff in never_. destruct never_ as [_ never_]. rewrite forallb_forall in never_.
    specialize (never_ _ in_). simpl in never_. rewrite forallb_forall in never_. specialize (never_ (snd d) (proj2 d_in)).
    unfold lets_in in can. apply andb_true_iff in can. destruct can as [can _]. rewrite can in never_. discriminate.
  Qed.

  Lemma shadows_not_deployed a d s : shadow a = Some d -> ~ hard P d s.
  Proof. intros is [can _]. exact (shadows_not_admitted a d s is can). Qed.

  Lemma shadow_becomes a d s : shadow a = Some d -> becomes P a d s.
  Proof. intros is. left. now apply shadow_spec. Qed.

  Lemma becomes_shadow a d s : becomes P a d s -> shadow a = Some d \/ forall b, shadow b <> Some d.
  Proof.
    intros [turned|[_ can]]; [left; now apply shadow_spec|right]. intros b is. exact (shadows_not_admitted b d s is can).
  Qed.

  Lemma kept_first : kept P ≼ start P.
  Proof. apply (parts q ok). Qed.

  (** One pod, besides those that stay. *)
  Lemma one_asked x : size_besides x <= 1 -> is_met (lookup (begins q)) x = false ->
    exists a, In a (map fst x) /\ (forall b, b <> a -> lookup x b <= kept P b) /\ lookup x a <= kept P a + 1.
  Proof.
    intros few open. unfold size_besides in few.
    assert (listed : forall b, ~ In b (map fst x) -> lookup x b = 0).
    { intros b out. destruct (N.eq_dec (lookup x b) 0) as [|some]; [assumption|]. now apply lookup_listed in some. }
    assert (exists a, In a (map fst x) /\ kept P a < lookup x a) as [a [a_in more]].
    { destruct (forallb (fun a => lookup x a <=? kept P a) (map fst x)) eqn:all.
      - exfalso. enough (is_met (lookup (begins q)) x = true) by congruence. apply is_met_spec. intros a.
        destruct (in_dec eq_dec a (map fst x)) as [a_in|out]; [|rewrite listed by assumption; lia].
        rewrite forallb_forall in all. specialize (all a a_in). apply N.leb_le in all. pose proof (kept_first a). unfold running. simpl in *. lia.
      - clear - all. induction (map fst x) as [|a rest IH]; [discriminate|]. simpl in all. apply andb_false_iff in all.
        destruct all as [here|there]; [apply N.leb_gt in here; exists a; simpl; auto|].
        destruct (IH there) as [b [b_in less]]. exists b. simpl. auto. }
    exists a. split; [assumption|]. simpl in more. simpl kept.
    assert (sub : forall l, NoDup l -> incl l (map fst x) -> sum (fun a => lookup x a - lookup (stays q) a) l <= 1).
    { intros l once sub. etransitivity; [|exact few]. apply sum_incl; [assumption|]. intros b b_in. apply nodup_In. auto. }
    split.
    - intros b other. destruct (in_dec eq_dec b (map fst x)) as [b_in|out]; [|rewrite listed by assumption; lia].
      specialize (sub [a; b]). simpl in sub.
      enough (lookup x a - lookup (stays q) a + (lookup x b - lookup (stays q) b + 0) <= 1) by lia. apply sub.
      + constructor; [intros [->|[]]; contradiction|]. constructor; [intros []|constructor].
      + intros c [<-|[<-|[]]]; assumption.
    - specialize (sub [a]). simpl in sub. enough (lookup x a - lookup (stays q) a + 0 <= 1) by lia. apply sub.
      + constructor; [intros []|constructor].
      + intros c [<-|[]]; assumption.
  Qed.

  Lemma lookup_values (h : configuration atom) l b : lookup (filter (fun '(_, n) => 0 <? n) (map (fun b => (b, h b)) l)) b <= h b.
  Proof.
    induction l as [|c rest IH]; simpl; [lia|]. destruct (0 <? h c); simpl; [|assumption].
    destruct (eq_dec c b) as [->|]; [lia|assumption].
  Qed.

  (** What is meant is what counts. *)
  Theorem never_met g : open_at_start g = true ->
    never P (map lookup (map meant_by g)) -> forall s x, reachable P s -> In x g -> ~ met shadow s (lookup x).
  Proof.
    unfold open_at_start. rewrite andb_true_iff, forallb_forall. intros [_ each_] no s x r x_in.
    specialize (each_ x x_in). apply andb_true_iff in each_. destruct each_ as [plain open]. apply negb_true_iff in open.
    assert (no_x : never P [lookup (meant_by x)]).
    { intros t rt [alternative [[<-|[]] covered]]. apply (no t rt). exists (lookup (meant_by x)). split; [|assumption].
      now apply in_map, in_map. }
    unfold meant_by in no_x. destruct (N.leb_spec (size_besides x) 1) as [few|many].
    - destruct (one_asked x few open) as [a [a_in [others most_]]].
      apply (one_pod P shadow becomes_shadow shadows_apart shadows_not_deployed kept_first (lookup x) a); auto.
      + intros b is. apply shadow_was in is. unfold names_no_shadow in plain. rewrite forallb_forall in plain.
        apply in_map_iff in a_in. destruct a_in as [[c n] [<- c_in]]. specialize (plain _ c_in). simpl in *.
        destruct is as [is _]. rewrite is in plain. discriminate.
      + intros met_. apply is_met_spec in met_. simpl in met_. congruence.
    - apply (several_pods P shadow shadow_becomes shadows_apart shadows_last kept_first (lookup x) (map fst x)); auto.
      + intros a. apply lookup_listed.
      + intros t rt [alternative [[<-|[]] covered]]. apply (no_x t rt). eexists. split; [now left|].
        intros b. eapply N.le_trans; [apply lookup_values|apply covered].
  Qed.
End Meant.

(** ** Where types are merged *)

Section Quotient.
  Variables (q : question) (roster : list id) (rep : id -> id).
  Hypothesis Q : is_quotient q roster rep.
  Notation m := (cluster q).

  (** A goal whose types stand for themselves, with what they are while they are being deleted. *)
  Theorem never_met_of_quotient g : open_at_start q g = true ->
    (forall x a, In x (map (meant_by q) g) -> lookup x a <> 0 -> In a (atoms m) /\ rep (fst a) = fst a /\ In (fst a) roster) ->
    never (cluster_problem (quotient q roster rep)) (map lookup (map (meant_by q) g)) ->
    forall s x, reachable (cluster_problem q) s -> In x g -> ~ met (dies_as q) s (lookup x).
  Proof.
    intros open themselves no. pose proof open as both. apply andb_true_iff in both. destruct both as [shadows_ok _].
    apply never_met; auto; [exact (makes_sense _ _ _ Q)|]. now apply (never_of_quotient q roster rep Q).
  Qed.

  (** A goal of one pod, asked of another of its kind. *)
  Theorem one_never_met_of_quotient p p' n : open_at_start q [[((p, n), 1)]] = true ->
    In (p, n) (atoms m) -> In (rep p) roster -> In p' roster -> treats_alike m p p' ->
    consumed (quotient q roster rep) p' = option_map (merged_atom rep) (consumed q p) ->
    never (cluster_problem (quotient q roster rep)) [lookup [((p', n), 1)]] ->
    forall s, reachable (cluster_problem q) s -> ~ met (dies_as q) s (lookup [((p, n), 1)]).
  Proof.
    intros open a_in there there' alike_ waits_alike no s r. pose proof open as all. unfold open_at_start in all. simpl in all.
    rewrite !andb_true_iff, negb_true_iff in all. destruct all as [shadows_ok [[[plain _] not_met] _]].
    assert (one : lookup [((p, n), 1)] (p, n) = 1).
    { unfold lookup. cbn [fold_right]. match goal with |- context [if ?is then _ else _] => destruct is; [reflexivity|congruence] end. }
    assert (few : size_besides q [((p, n), 1)] <= 1).
    { change (lookup [((p, n), 1)] (p, n) - lookup (stays q) (p, n) + 0 <= 1). rewrite one. lia. }
    refine (never_met q (makes_sense _ _ _ Q) shadows_ok [[((p, n), 1)]] open _ s _ r (or_introl eq_refl)).
    simpl map. unfold meant_by. destruct (N.leb_spec (size_besides q [((p, n), 1)]) 1); [|lia].
    apply (never_of_one_quotient q roster rep Q p p' n); auto.
    - destruct (N.eq_dec (lookup (begins q) (p, n)) 0) as [|some]; [assumption|]. exfalso.
      enough (is_met q (lookup (begins q)) [((p, n), 1)] = true) by congruence. apply is_met_spec. intros a. unfold running. simpl.
      match goal with |- context [if ?is then _ else _] => destruct is as [<-|]; lia end.
    - now apply is_none_true in plain.
  Qed.
End Quotient.
