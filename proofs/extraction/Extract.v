(** * The checker as an OCaml program

    [main.ml] reads documents for it.  The program is the one of Cluster.v, Orbits.v, Meant.v and Adding.v with
    three changes.  Guards are told as shortly as the checker in Rust tells them: one that
    nothing can help has no classes to respect.  Whether a pair is there that an at-most-one constraint stands for is
    seen from the constraint (AtMostOne.v).  And what is asked again and again of an
    atom is remembered: in Coq that is nothing, so that both are the same program by
    definition; in OCaml, it is a table. *)

From Coq Require Import NArith List Bool Extraction ExtrOcamlBasic.
From Podreach Require Import Lists Configuration Problem Guard Folding Rules Compile Kept Never Search Weakening Replay Abstraction Classes AtMostOne Cluster Hopeless Shortage Adding Listing Orbits Terminating Meant Bound Elastic.
Import ListNotations.

Section Check.
  Variables (S : system atom) (f : atom -> atom) (atoms : list atom) (possible : atom -> bool).

  (** [check_classes] of groups and of those that constraints stand for, with every guard told in classes once. *)
  Definition check_remembering (fuel : nat) (g : goal atom) (groups : list (group (A := atom))) (apart : list (list (list atom))) : bool :=
    remembering (fun a => match guard_of S a with
                          | None => None
                          | Some g => Some (class_guard f atoms possible g)
                          end) (fun folded =>
    remembering (class_members f atoms possible) (fun members =>
    remembering (abs f atoms (initially S)) (fun first =>
    let found := contains_or_breaks groups apart in
    let member_holds b c a :=
      match folded a with
      | None => true
      | Some None => false
      | Some (Some h) => negb (escapes found fuel h (before_member S f (lookup b) c a))
      end
      && match former S a with
         | None => true
         | Some before =>
           negb (possible before) || found (plus_one (minus_one (lookup b) c) (f before))
         end in
    let group_holds b := forallb (fun '(c, _) => (lookup b c =? 0)%N || forallb (member_holds b c) (members c)) b in
    negb (found first)
    && forallb (fun alternative => found (abs f atoms alternative)) g
    && (forallb group_holds groups && forallb (fun l => forallb group_holds (pairs l)) apart)))).

  Lemma check_remembering_same fuel g groups apart :
    check_remembering fuel g groups apart = check_classes S f atoms possible fuel g (with_pairs groups apart).
  Proof.
    unfold check_remembering, remembering, check_classes. rewrite contains_or_breaks_pairs. f_equal; [f_equal|].
    - apply forallb_same. intros alternative _. apply contains_or_breaks_pairs.
    - unfold with_pairs at 2. rewrite forallb_app.
      assert (one : forall b, forallb (fun '(c, _) => (lookup b c =? 0)%N
          || forallb (fun a => match match guard_of S a with None => None | Some g => Some (class_guard f atoms possible g) end with
                               | None => true
                               | Some None => false
                               | Some (Some h) => negb (escapes (contains_or_breaks groups apart) fuel h (before_member S f (lookup b) c a))
                               end
                               && match former S a with
                                  | None => true
                                  | Some before => negb (possible before) || contains_or_breaks groups apart (plus_one (minus_one (lookup b) c) (f before))
                                  end) (class_members f atoms possible c)) b
        = class_group_holds S f atoms possible fuel (with_pairs groups apart) b).
      { intros b. unfold class_group_holds, member_holds. apply forallb_same. intros [c n] _. f_equal. apply forallb_same. intros a _. f_equal.
        - destruct (guard_of S a) as [h|]; [|reflexivity]. destruct (class_guard f atoms possible h) as [h'|]; [|reflexivity].
          f_equal. apply escapes_same. apply contains_or_breaks_pairs.
        - destruct (former S a); [|reflexivity]. f_equal. apply contains_or_breaks_pairs. }
      f_equal; [apply forallb_same; intros b _; apply one|].
      assert (flat : forall p ls, forallb p (flat_map (@pairs atom) ls) = forallb (fun l => forallb p (pairs l)) ls).
      { intros p ls. induction ls as [|l rest IH]; [reflexivity|]. simpl. now rewrite forallb_app, IH. }
      rewrite flat. apply forallb_same. intros l _. apply forallb_same. intros b _. apply one.
  Qed.
End Check.

(** ** The program *)

(** Uses what can be there, and the guards in short. *)
Definition with_guards {D : Type} (q : question) (use : (atom -> bool) -> (atom -> option (guard atom)) -> D) : D :=
  remembering (possible q) (fun can =>
  remembering (fun a => bind_guard (if can a then both_opt (guard_besides (cluster q) (lookup (stays q)) can (fst a) (snd a))
                                                         (asks_for_one q can a) else None)) (use can)).

Definition accepts_never_quickly (q : question) (fuel : nat) (g : list (list (atom * N)))
           (classes : list (list atom)) (forbidden : list (list (nat * N))) (apart : list (list (list nat))) : bool :=
  sensible q && good_classes q classes && forallb (good_parts q classes) apart
  && match traverse (named classes) forbidden with
     | None => false
     | Some groups =>
       with_guards q (fun can guarded =>
       remembering (class_of classes) (fun of_ =>
       check_remembering {| guard_of := guarded; former := former (guards q);
                            consumes := consumes (guards q); initially := initially (guards q) |}
         of_ (atoms (cluster q)) can fuel
         (goal_besides (cluster_problem q) (map lookup g)) (map (group_besides q classes) groups) (map (parts_named classes) apart)))
     end.

(** What it accepts is so. *)
Theorem accepts_never_quickly_sound q fuel g classes forbidden apart :
  accepts_never_quickly q fuel g classes forbidden apart = true -> never (cluster_problem q) (map lookup g).
Proof.
  unfold accepts_never_quickly, with_guards, remembering. rewrite !andb_true_iff. intros [[[ok _] _] accepted].
  destruct (traverse (named classes) forbidden) as [groups|]; [|discriminate].
  rewrite check_remembering_same in accepted.
  apply (check_classes_sound (short_guards q) _ _ _ (short_guards_tables q ok)) in accepted.
  destruct (parts q ok) as [_ [_ [_ [_ [low _]]]]].
  apply (never_besides (cluster_problem q)); auto.
  - exact (hard_same q ok).
  - exact (becomes_same q ok).
  - apply (guards_weaker q ok). now apply short_guards_weaker.
Qed.

(** At-most-one constraints that name classes as they should are accepted exactly if the groups are that they stand for. *)
Theorem accepts_never_quickly_pairs q fuel g classes forbidden apart : forallb (good_parts q classes) apart = true ->
  accepts_never_quickly q fuel g classes forbidden apart = accepts_never_quickly q fuel g classes (with_pairs forbidden apart) [].
Proof.
  intros good. pose proof (groups_with_apart q classes forbidden apart good) as same_. unfold accepts_never_quickly. rewrite good.
  cbn [forallb map]. f_equal.
  destruct (traverse (named classes) (with_pairs forbidden apart)) as [whole|], (traverse (named classes) forbidden) as [groups|];
    try discriminate; [|reflexivity].
  simpl in same_. injection same_ as same_. unfold with_guards, remembering. rewrite !check_remembering_same. f_equal.
  rewrite same_. unfold with_pairs. simpl. now rewrite app_nil_r.
Qed.

(** Without exchanges it checks the goal from the start, and with them one alternative of those that are alike from the
    start above; choices have an alternative in them. *)
Definition accepts_goal_quickly (q : question) (fuel : nat) (g choices : list (list (atom * N))) (classes : list (list atom))
           (forbidden : list (list (nat * N))) (apart : list (list (list nat))) (exchanges : list listing) (helpers : list id) (face : id -> id) (keys : list id) : bool :=
  covers g choices
  && forallb (same_faces q face keys) exchanges
  && match exchanges with
     | [] => accepts_never_quickly q fuel g classes forbidden apart
     | _ => remembering (class_of classes) (fun of_ =>
            accepts_by_orbits q exchanges helpers (rules_out of_ (stays q) (groups_of q classes (with_pairs forbidden apart)))
              (fun q' g' => accepts_never_quickly q' fuel g' classes forbidden apart) g)
     end.

Theorem accepts_goal_quickly_sound q fuel g choices classes forbidden apart exchanges helpers face keys :
  accepts_goal_quickly q fuel g choices classes forbidden apart exchanges helpers face keys = true ->
  never (cluster_problem q) (map lookup (g ++ choices)).
Proof.
  unfold accepts_goal_quickly, remembering. rewrite !andb_true_iff. intros [[covered _] accepted].
  assert (no : never (cluster_problem q) (map lookup g)).
  { destruct exchanges as [|e rest]; [now apply accepts_never_quickly_sound in accepted|].
    revert accepted. apply accepts_by_orbits_sound. intros q' g'. apply accepts_never_quickly_sound. }
  intros s r [alternative [alt_in met]]. rewrite map_app, in_app_iff in alt_in. destruct alt_in as [alt_in|alt_in].
  - apply (no s r). now exists alternative.
  - apply (covers_sound _ _ _ covered no s r). now exists alternative.
Qed.

Lemma accepted_sensible q fuel g choices classes forbidden apart exchanges helpers face keys :
  accepts_goal_quickly q fuel g choices classes forbidden apart exchanges helpers face keys = true -> sensible q = true.
Proof.
  unfold accepts_goal_quickly, remembering. rewrite !andb_true_iff. intros [_ accepted].
  destruct exchanges as [|e rest]; [unfold accepts_never_quickly in accepted|unfold accepts_by_orbits in accepted];
    rewrite !andb_true_iff in accepted; tauto.
Qed.

(** A goal that pods meet while they are being deleted, too. *)
Definition accepts_asked_quickly (q : question) (fuel : nat) (g : list (list (atom * N))) (classes : list (list atom))
           (forbidden : list (list (nat * N))) (apart : list (list (list nat))) (exchanges : list listing) (helpers : list id) (face : id -> id) (keys : list id) : bool :=
  open_at_start q g && accepts_goal_quickly q fuel (map (meant_by q) g) [] classes forbidden apart exchanges helpers face keys.

Theorem accepts_asked_quickly_sound q fuel g classes forbidden apart exchanges helpers face keys :
  accepts_asked_quickly q fuel g classes forbidden apart exchanges helpers face keys = true ->
  forall s x, reachable (cluster_problem q) s -> In x g -> ~ met (dies_as q) s (lookup x).
Proof.
  unfold accepts_asked_quickly. rewrite andb_true_iff. intros [open accepted]. pose proof open as both.
  apply andb_true_iff in both. destruct both as [shadows_ok _].
  apply never_met; [eapply accepted_sensible; exact accepted|assumption|assumption|].
  apply accepts_goal_quickly_sound in accepted. now rewrite app_nil_r in accepted.
Qed.

(** A proof about the listed nodes of shapes, and about any number of others like them. *)
Definition accepts_elastic_quickly (q : question) (shapes : list (list id)) (fuel : nat) (g : list (list (atom * N))) (classes : list (list atom))
           (forbidden : list (list (nat * N))) (face : id -> id) (keys : list id) : bool :=
  accepts_never_quickly q fuel g classes forbidden []
  && forallb (fun shape => match shape with
                           | [] => true
                           | first :: rest => forallb (fun n => same_faces q face keys [(first, n); (n, first)]) rest
                           end) shapes
  && match traverse (named classes) forbidden with
     | None => false
     | Some groups => speaks_for_all q shapes g (map (group_besides q classes) groups)
     end.

(** What it accepts is so of every cluster that has more nodes, each of them like those of a shape. *)
Theorem accepts_elastic_quickly_sound q extra shapes fuel g classes forbidden face keys : sensible q = true ->
  (forall n, In n extra -> exists shape, In shape shapes
    /\ forall n', In n' shape -> is_listed extra n' = true /\ Bound.alike q (comes extra shapes) n n') ->
  accepts_elastic_quickly (with_few q (is_listed extra)) shapes fuel g classes forbidden face keys = true ->
  never (cluster_problem q) (map lookup g).
Proof.
  intros ok like. unfold accepts_elastic_quickly, accepts_never_quickly, with_guards, remembering. rewrite !andb_true_iff.
  intros [[[[[few_ok _] _] accepted] _] speaks].
  destruct (traverse (named classes) forbidden) as [groups|]; [|discriminate].
  rewrite check_remembering_same in accepted. unfold with_pairs in accepted. simpl in accepted. rewrite app_nil_r in accepted.
  exact (shapes_speak_for_all q extra shapes ok few_ok like fuel g _ _ accepted speaks).
Qed.

Definition accepts_elastic_asked_quickly (q : question) (shapes : list (list id)) (fuel : nat) (g : list (list (atom * N))) (classes : list (list atom))
           (forbidden : list (list (nat * N))) (face : id -> id) (keys : list id) : bool :=
  open_at_start q g && accepts_elastic_quickly q shapes fuel (map (meant_by q) g) classes forbidden face keys.

Theorem accepts_elastic_asked_quickly_sound q extra shapes fuel g classes forbidden face keys : sensible q = true ->
  (forall n, In n extra -> exists shape, In shape shapes
    /\ forall n', In n' shape -> is_listed extra n' = true /\ Bound.alike q (comes extra shapes) n n') ->
  accepts_elastic_asked_quickly (with_few q (is_listed extra)) shapes fuel g classes forbidden face keys = true ->
  forall s x, reachable (cluster_problem q) s -> In x g -> ~ met (dies_as q) s (lookup x).
Proof.
  intros ok like. unfold accepts_elastic_asked_quickly. rewrite andb_true_iff. intros [open accepted].
  assert (speaks : exists groups, speaks_for_all (with_few q (is_listed extra)) shapes (map (meant_by (with_few q (is_listed extra))) g) groups = true).
  { unfold accepts_elastic_quickly in accepted. rewrite !andb_true_iff in accepted. destruct accepted as [_ speaks].
    destruct (traverse (named classes) forbidden) as [groups|]; [|discriminate]. eauto. }
  destruct speaks as [groups speaks].
  pose proof (open_alike q extra shapes ok like (map (meant_by (with_few q (is_listed extra))) g) _ speaks g open) as open'.
  pose proof open' as both. apply andb_true_iff in both. destruct both as [shadows_ok _].
  apply never_met; [assumption|assumption|assumption|].
  exact (accepts_elastic_quickly_sound q extra shapes fuel _ classes forbidden face keys ok like accepted).
Qed.

Definition accepts_short_quickly (q : question) (ruled_out : list (list (atom * N))) (ws : list (want atom)) (laws : list (law * N)) : bool :=
  with_guards q (fun can guarded => accepts_short q can guarded ruled_out ws laws).

(** A demand that it accepts is never met, if what was ruled out never is. *)
Theorem accepts_short_quickly_sound q ruled_out ws laws :
  accepts_short_quickly q ruled_out ws laws = true -> never (cluster_problem q) (map lookup ruled_out) ->
  forall s, reachable (cluster_problem q) s -> forall gs, choice ws gs -> ~ within (all_of gs) s.
Proof.
  intros accepted no. assert (ok : sensible q = true).
  { unfold accepts_short_quickly, with_guards, remembering, accepts_short in accepted. rewrite !andb_true_iff in accepted. tauto. }
  exact (accepts_short_sound q ok ruled_out no ws laws accepted).
Qed.

Definition what_it_accepts_is_so := (accepts_goal_quickly_sound, accepts_never_quickly_pairs, accepts_asked_quickly_sound, accepts_elastic_quickly_sound,
  accepts_elastic_asked_quickly_sound, accepts_short_quickly_sound, accepts_trace_sound).
Print Assumptions what_it_accepts_is_so.

Extract Constant remembering =>
  "fun f use ->
     let known = Hashtbl.create 64 in
     use (fun a ->
       match Hashtbl.find_opt known a with
       | Some b -> b
       | None -> let b = f a in Hashtbl.add known a b; b)".

Extraction Language OCaml.
Extraction "proved.ml" accepts_goal_quickly accepts_asked_quickly accepts_elastic_quickly accepts_elastic_asked_quickly accepts_short_quickly accepts_trace lets_in obeys lookup N.add N.mul.
