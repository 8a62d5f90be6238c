(** * The checker of sums

    A demand, what each pod of it is worth, the price of each of its places, and laws with
    how often each is added: a program that accepts these only if the demand is never met.
    It works out every law from the tables and takes none on trust, but for what another
    proof ruled out.

    check/shortage.rs, [Sum]. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Lists Configuration Sums Problem Guard Rules Search Kept Weakening Abstraction Classes Cluster Hopeless Shortage Laws.
Import ListNotations.
Open Scope N_scope.

Inductive law :=
| Capacity (node resource : id)
| Quota (quota : id)
| Limit (index : nat)
| Few (group : list atom) (most : N)
| Below (a : atom) (number : N).

(** What is a law of a weaker problem is one. *)
Lemma law_of_weaker {A} `{Eq_dec A} (Q P : problem A) ws b :
  weaker Q P -> (forall y, reachable Q y -> total ws y <= b) -> forall x, reachable P x -> total ws x <= b.
Proof.
  intros weak law_ x r. destruct (N.le_gt_cases (total ws x) b) as [|over]; [assumption|]. exfalso.
  apply (weak [x]) with (s := x); [|assumption|].
  - intros y ry [alternative [[<-|[]] below]]. specialize (law_ y ry). pose proof (total_mono ws x y below). lia.
  - exists x. split; [now left|apply within_refl].
Qed.

Lemma some_least {B} (v : B -> N) (l : list B) (low most : N) :
  l <> [] -> (forall b, In b l -> low < v b * most) -> exists least, (forall b, In b l -> least <= v b) /\ low < least * most.
Proof.
  induction l as [|a l IH]; [congruence|]. intros _ all. destruct l as [|c l].
  - exists (v a). split; [intros b [<-|[]]; lia|]. apply all. now left.
  - destruct IH as [least [under more]]; [discriminate|intros b b_in; apply all; now right|].
    exists (N.min (v a) least). split.
    + intros b [<-|b_in]; [lia|]. specialize (under b b_in). lia.
    + destruct (N.min_spec (v a) least) as [[_ ->]|[_ ->]]; [apply all; now left|assumption].
Qed.

Section Adding.
  Variable q : question.
  Notation m := (cluster q).
  Notation P := (besides (cluster_problem q)).
  Notation keeps := (lookup (stays q)).

  (** What can be there, the guards in short, and what was ruled out. *)
  Variables (can : atom -> bool) (guarded : atom -> option (guard atom)) (ruled_out : list (list (atom * N))).

  Definition exists_ (a : atom) : bool := has_id (pods m) (fst a) && has_id (nodes m) (snd a) && live q a && is_bound q a.

  (** ** Laws *)

  (** A bound that as many of a group exceed. *)
  Definition refuses (group : list atom) (most : N) (c : at_most atom) : bool :=
    forallb (fun b => bound c <? value (weights c) b * most) group.

  Definition refused (group : list atom) (most : N) (a : atom) : bool :=
    match guarded a with None => true | Some g => existsb (refuses group most) (bounds g) end.

  Definition is_alone (a : atom) (number : N) (alternative : list (atom * N)) : bool :=
    match alternative with [(b, n)] => is_atom a b && (n =? number) | _ => false end.

  (** The sum that a law bounds, and by how much. *)
  Definition law_sum (l : law) : option (list (atom * N) * N) :=
    match l with
    | Capacity n r =>
      let here := on_this_node q n in
      let asked := asked_resource q r in
      if has_id (nodes m) n && has_id (number_of_pods m :: resources m) r
      then Some (weighted (takes_resource q r) (filter asked here),
                 law_bound P here (takes_resource q r) asked (allocatable m n r) keeps)
      else None
    | Quota k =>
      let counts := counts_quota q k in
      Some (weighted (takes_quota q k) (filter counts (atoms m)), law_bound P (atoms m) (takes_quota q k) counts (grants m k) keeps)
    | Limit index =>
      match nth_error (limits m) index with
      | None => None
      | Some l =>
        let counts := counts_limit q l in
        if negb (per_node l) && no_twice (limited l)
        then Some (weighted (fun _ => 1) (filter counts (its_atoms q l)), law_bound P (its_atoms q l) (fun _ => 1) counts (most l) keeps)
        else None
      end
    | Few group most =>
      let there := filter can group in
      if disjoint group && forallb exists_ group && forallb (refused there most) there
      then Some (weighted (fun _ => 1) there, N.max most (total (weighted (fun _ => 1) there) (start P)))
      else None
    | Below a number =>
      if (1 <=? number) && existsb (is_alone a number) ruled_out then Some ([(a, 1)], number - 1 - keeps a) else None
    end.

  (** ** Adding up *)

  (** The most that an atom counts beyond the price of its place. *)
  Definition rest_in (w : want atom) (a : atom) (p : place atom) (most : N) : N :=
    if has (spots p) a then N.max (worth w - price p) most else most.

  Definition rest_of (ws : list (want atom)) (a : atom) : N :=
    fold_right (fun w most => fold_right (rest_in w a) most (places w)) 0 ws.

  Definition sound_want (w : want atom) : bool := disjoint (spots_of w) && forallb exists_ (spots_of w).

  Definition law_sums (laws : list (law * N)) : option (list (list (atom * N) * N * N)) :=
    traverse (fun '(l, times) => option_map (fun '(ws, b) => (ws, b, times)) (law_sum l)) laws.

  (** What kept pods may be worth. *)
  Definition worth_kept (ws : list (want atom)) : N :=
    sum (fun a => let n := keeps a in if n =? 0 then 0 else rest_of ws a * n) (atoms m).

  Definition accepts_short (ws : list (want atom)) (laws : list (law * N)) : bool :=
    sensible q && forallb sound_want ws
    && match law_sums laws with
       | None => false
       | Some sums =>
         forallb (fun a => negb (can a) || (rest_of ws a <=? covered sums a)) (flat_map spots_of ws)
         && (room_of sums + all_sold ws + worth_kept ws <? asked_for ws)
       end.
End Adding.

(** ** What is accepted is so *)

Lemma disjoint_spec l : disjoint l = true -> NoDup l.
Proof.
  induction l as [|a l IH]; simpl; [constructor|]. rewrite andb_true_iff, negb_true_iff. intros [out once].
  constructor; [|auto]. intros a_in. apply has_spec in a_in. congruence.
Qed.

Lemma rest_places w a most ps : most <= fold_right (rest_in w a) most ps.
Proof. induction ps as [|p ps IH]; simpl; [lia|]. unfold rest_in at 1. destruct (has (spots p) a); lia. Qed.

Lemma rest_in_place w a most ps p : In p ps -> In a (spots p) -> worth w <= price p + fold_right (rest_in w a) most ps.
Proof.
  induction ps as [|p' ps IH]; [contradiction|]. intros [->|p_in] a_in; simpl; unfold rest_in at 1.
  - apply has_spec in a_in. rewrite a_in. lia.
  - specialize (IH p_in a_in). destruct (has (spots p') a); lia.
Qed.

Lemma rest_enough ws w p a : In w ws -> In p (places w) -> In a (spots p) -> worth w <= price p + rest_of ws a.
Proof.
  intros w_in p_in a_in. induction ws as [|w' ws IH]; [contradiction|]. destruct w_in as [->|w_in]; simpl.
  - now apply rest_in_place.
  - specialize (IH w_in). fold (rest_of ws a). pose proof (rest_places w' a (rest_of ws a) (places w')). lia.
Qed.

Lemma rest_nowhere ws a : ~ In a (flat_map spots_of ws) -> rest_of ws a = 0.
Proof.
  induction ws as [|w ws IH]; [reflexivity|]. cbn [flat_map]. intros out. rewrite in_app_iff in out.
  cbn [rest_of fold_right]. fold (rest_of ws a). rewrite IH by tauto.
  assert (away : ~ In a (spots_of w)) by tauto. clear - away. unfold spots_of in away. induction (places w) as [|p ps IH]; [reflexivity|].
  cbn [flat_map] in away. rewrite in_app_iff in away. simpl. rewrite IH by tauto. unfold rest_in.
  destruct (has (spots p) a) eqn:there; [|reflexivity]. apply has_spec in there. tauto.
Qed.

Section Sound.
  Variable q : question.
  Hypothesis ok : sensible q = true.
  Notation m := (cluster q).
  Notation P := (besides (cluster_problem q)).
  Notation Q := (problem_of (short_guards q)).
  Notation keeps := (lookup (stays q)).
  Notation guarded := (guard_of (short_guards q)).

  Lemma short_weaker : weaker Q P.
  Proof. intros g no. apply (guards_weaker q ok). now apply short_guards_weaker. Qed.

  Lemma only_possible_runs x a : reachable P x -> possible q a = false -> x a = 0.
  Proof.
    intros r out. enough (total [(a, 1)] x <= 0) by (simpl in *; lia).
    apply (law_of_weaker Q P) with (x := x); [exact short_weaker| |assumption]. clear x r.
    destruct (short_guards_tables q ok) as [_ _ start_ guarded_ shadows].
    enough (all : forall y, reachable Q y -> forall b, possible q b = false -> y b = 0).
    { intros y r. simpl. rewrite (all y r a out). lia. }
    apply (invariant Q (fun y => forall b, possible q b = false -> y b = 0)).
    - intros y e b no. rewrite (e b). now apply start_.
    - intros y z _ IH st b no. pose proof (IH b no) as zero.
      destruct st as [c [_ [g [is _]]] e|c more e|c d more [turned|[_ [g [is _]]]] e]; rewrite (e b).
      + enough (c <> b) by by_count. intros ->. apply guarded_ in is. congruence.
      + by_count.
      + enough (d <> b) by by_count. intros ->. simpl in more.
        destruct (possible q c) eqn:can; [|specialize (IH c can); unfold nothing in more; lia].
        rewrite (shadows c b can turned) in no. discriminate.
      + enough (d <> b) by by_count. intros ->. apply guarded_ in is. congruence.
  Qed.

  Lemma exists_spec a : exists_ q a = true -> In a (atoms m) /\ live q a = true.
  Proof.
    unfold exists_. rewrite !andb_true_iff, !has_id_spec. intros [[[p_in n_in] lives] _]. split; [|assumption].
    now apply atom_listed.
  Qed.

  Lemma refused_spec group most a x :
    In a group -> refused guarded group most a = true -> hard Q a x \/ (exists u, former (short_guards q) a <> Some u /\ becomes Q u a x) ->
    exists c least, at_most_holds c x = true /\ (forall b, In b group -> 0 < x b -> least <= value (weights c) b) /\ bound c < least * most.
  Proof.
    intros a_in no can. assert (exists g, guarded a = Some g /\ holds g x = true) as [g [is holds_]].
    { destruct can as [[_ admitted]|[u [other [was|[_ admitted]]]]]; [assumption|now apply other in was|assumption]. }
    unfold refused in no. rewrite is in no. apply existsb_exists in no. destruct no as [c [c_in over]].
    unfold refuses in over. rewrite forallb_forall in over.
    destruct (some_least (value (weights c)) group (bound c) most) as [least [under more]].
    - intros ->. contradiction.
    - intros b b_in. now apply N.ltb_lt, over.
    - exists c, least. split; [|split; [|assumption]].
      + unfold holds in holds_. rewrite !andb_true_iff, forallb_forall in holds_. now apply holds_.
      + intros b b_in _. now apply under.
  Qed.

  Variable ruled_out : list (list (atom * N)).
  Hypothesis no : never (cluster_problem q) (map lookup ruled_out).

  Lemma law_sum_holds l ws b x :
    law_sum q (possible q) guarded ruled_out l = Some (ws, b) -> reachable P x -> total ws x <= b.
  Proof.
    intros is r. destruct l as [n k|k|index|group most|a number]; cbn [law_sum] in is.
    - destruct (_ && _); [|discriminate]. injection is as <- <-. now apply capacity_law.
    - injection is as <- <-. now apply quota_law.
    - destruct (nth_error (limits m) index) as [l|] eqn:found; [|discriminate]. apply nth_error_In in found.
      destruct (negb (per_node l) && no_twice (limited l)) eqn:good; [|discriminate]. injection is as <- <-.
      apply andb_true_iff in good. destruct good as [anywhere once].
      apply limit_law; auto; [now apply negb_true_iff|now apply no_twice_spec].
    - destruct (disjoint group && _ && _) eqn:good; [|discriminate]. injection is as <- <-.
      rewrite !andb_true_iff, !forallb_forall in good. destruct good as [[once there] no_room]. apply disjoint_spec in once.
      revert x r. apply (law_of_weaker Q P); [exact short_weaker|].
      apply (few_law Q (filter (possible q) group) most).
      + now apply NoDup_filter.
      + intros a x a_in can. apply (refused_spec _ _ a x a_in (no_room a a_in)).
        destruct can as [can|[u turned]]; [now left|right]. exists u. split; [|exact turned].
        apply filter_In in a_in. destruct a_in as [a_in _]. destruct (exists_spec a (there a a_in)) as [_ lives].
        unfold live in lives. simpl. now destruct (shadowed q (fst a)).
    - destruct ((1 <=? number) && existsb (is_alone a number) ruled_out) eqn:good; [|discriminate]. injection is as <- <-.
      apply andb_true_iff in good. destruct good as [some listed]. apply N.leb_le in some.
      apply existsb_exists in listed. destruct listed as [alternative [g_in alone]].
      destruct alternative as [|[b n] [|]]; try discriminate. simpl in alone. apply andb_true_iff in alone.
      destruct alone as [same_ number_]. apply is_atom_spec in same_. apply N.eqb_eq in number_. subst b n.
      destruct (parts q ok) as [_ [_ [_ [_ [low _]]]]].
      assert (few : keeps a + x a < number).
      { destruct (N.lt_ge_cases (keeps a + x a) number) as [|many]; [assumption|]. exfalso.
        apply (no (plus keeps x)).
        - now apply (besides_reachable_back (cluster_problem q) low).
        - exists (lookup [(a, number)]). split; [now apply in_map|]. intros c. unfold lookup, plus. simpl. destruct (eq_dec a c) as [<-|]; [exact many|lia]. }
      simpl. lia.
  Qed.

  Lemma law_sums_hold laws sums x :
    law_sums q (possible q) guarded ruled_out laws = Some sums -> reachable P x ->
    forall ws b times, In (ws, b, times) sums -> total ws x <= b.
  Proof.
    intros is r. revert sums is. unfold law_sums. induction laws as [|[l times] laws IH]; cbn [traverse]; intros sums is.
    - injection is as <-. contradiction.
    - destruct (law_sum q (possible q) guarded ruled_out l) as [[ws b]|] eqn:one; cbn [option_map] in is; [|discriminate is].
      destruct (traverse _ laws) as [others|]; [|discriminate is]. injection is as <-.
      intros ws' b' times' [same_|more]; [injection same_ as <- <- <-; now apply (law_sum_holds l)|now apply (IH others eq_refl ws' b' times')].
  Qed.

  (** What the program accepts is never met, if what was ruled out never is. *)
  Theorem accepts_short_sound ws laws :
    accepts_short q (possible q) guarded ruled_out ws laws = true ->
    forall s, reachable (cluster_problem q) s -> forall gs, choice ws gs -> ~ all_of gs ≼ s.
  Proof.
    unfold accepts_short. rewrite !andb_true_iff, forallb_forall. intros [[_ good] accepted] s r gs met inside.
    destruct (law_sums q (possible q) guarded ruled_out laws) as [sums|] eqn:found; [|discriminate].
    apply andb_true_iff in accepted. destruct accepted as [counted_ less]. rewrite forallb_forall in counted_. apply N.ltb_lt in less.
    destruct (parts q ok) as [pods_once [nodes_once [_ [_ [low _]]]]].
    assert (x_r : reachable P (minus s keeps)) by now apply (besides_reachable (cluster_problem q) low (hard_same q ok) (becomes_same q ok)).
    pose proof (kept_stays (cluster_problem q) low s r) as stay.
    apply (short_by_sum (rest_of ws) ws (atoms m) keeps sums (minus s keeps)) with (gs := gs); auto.
    - now apply nodup_product.
    - intros w w_in. specialize (good w w_in). unfold sound_want in good. rewrite andb_true_iff, forallb_forall in good.
      destruct good as [once there]. split; [now apply disjoint_spec|]. intros a a_in. now apply exists_spec, there.
    - intros w p a. apply rest_enough.
    - intros a _ some. destruct (in_dec eq_dec a (flat_map spots_of ws)) as [a_in|out]; [|rewrite rest_nowhere by assumption; lia].
      specialize (counted_ a a_in). destruct (possible q a) eqn:can; [simpl in counted_; now apply N.leb_le|].
      exfalso. apply some. now apply only_possible_runs.
    - now apply (law_sums_hold laws).
    - enough (beyond (rest_of ws) (atoms m) keeps = worth_kept q ws) as -> by assumption.
      apply sum_ext. intros a _. cbn zeta. destruct (N.eqb_spec (keeps a) 0) as [zero|]; [rewrite zero; lia|reflexivity].
    - intros a. specialize (inside a). specialize (stay a). simpl in stay. unfold plus, minus. lia.
  Qed.
End Sound.
