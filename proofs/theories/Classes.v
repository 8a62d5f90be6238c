(** * Guards seen through the classes of a proof

    A guard may be told in classes if it does not tell their members apart: of
    each class that a sum counts, every possible member counts, and equally.  The
    checker folds every guard it meets in this way, and refuses a proof whose
    classes it cannot fold.

    check/classes.rs, [fold]. *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Sums Problem Guard Folding Never Search Abstraction.
Import ListNotations.
Open Scope N_scope.

Section Lists.
  Context {B D : Type}.

  (** All answers, if there are all. *)
  Fixpoint traverse (h : B -> option D) (l : list B) : option (list D) :=
    match l with
    | [] => Some []
    | b :: rest =>
      match h b, traverse h rest with
      | Some d, Some ds => Some (d :: ds)
      | _, _ => None
      end
    end.

  Lemma traverse_forallb h (p : B -> bool) (q : D -> bool) l ds :
    (forall b d, In b l -> h b = Some d -> q d = p b) ->
    traverse h l = Some ds -> forallb q ds = forallb p l.
  Proof.
    revert ds. induction l as [|b rest IH]; simpl; intros ds same done; [now injection done as <-|].
    destruct (h b) as [d|] eqn:hb; [|discriminate]. destruct (traverse h rest) as [rest'|] eqn:hr; [|discriminate].
    injection done as <-. simpl. rewrite (same b d), (IH rest'); auto.
  Qed.
End Lists.

Section Classes.
  Context {A C : Type} `{Eq_dec A} `{Eq_dec C}.
  Variable f : A -> C.
  Variable atoms : list A.
  Hypothesis once : NoDup atoms.
  Variable possible : A -> bool.
  Hypothesis possible_listed : forall a, possible a = true -> In a atoms.

  Notation abs := (abs f atoms).
  Notation possible_only := (possible_only possible).

  (** How much the first possible member of a class does. *)
  Definition class_weight (ws : list (A * N)) (c : C) : N :=
    match find (fun a => possible a && in_class f c a) atoms with Some a => value ws a | None => 0 end.

  Definition classes_of (ws : list (A * N)) : list C := nodup eq_dec (map (fun '(a, _) => f a) ws).

  Definition fold_weights (ws : list (A * N)) : option (list (C * N)) :=
    if forallb (fun a => negb (possible a) || (value ws a =? class_weight ws (f a))) atoms
    then Some (map (fun c => (c, class_weight ws c)) (classes_of ws))
    else None.

  Definition fold_group (group : list A) : option (list C) :=
    match fold_weights (map (fun a => (a, 1)) group) with
    | Some ws => if forallb (fun '(_, w) => w =? 1) ws then Some (map fst ws) else None
    | None => None
    end.

  (** Sums over classes are sums over their members. *)
  Lemma total_by_classes (w : C -> N) cs x : NoDup cs ->
    total (map (fun c => (c, w c)) cs) (abs x) =
    sum (fun a => (if in_dec eq_dec (f a) cs then w (f a) else 0) * x a) atoms.
  Proof.
    induction cs as [|c rest IH]; intros nodup; cbn [map total].
    - symmetry. apply sum_zero. intros. simpl. lia.
    - inversion nodup; subst. rewrite IH by assumption. unfold Abstraction.abs.
      rewrite count_sum, sum_filter.
      rewrite <- sum_times, <- sum_add. apply sum_ext. intros a _. unfold in_class.
      destruct (eq_dec (f a) c), (in_dec eq_dec (f a) (c :: rest)) as [yes|no], (in_dec eq_dec (f a) rest) as [yes'|no'];
        subst; simpl in *; try lia; try tauto; intuition congruence.
  Qed.

  Lemma weight_listed ws a : value ws a <> 0 -> In (f a) (classes_of ws).
  Proof.
    unfold classes_of. rewrite nodup_In. induction ws as [|[b w] rest IH]; simpl; [congruence|].
    intros some. destruct (eq_dec b a); [left; congruence|right; apply IH; lia].
  Qed.

  Theorem fold_weights_spec ws cs x :
    possible_only x -> fold_weights ws = Some cs -> total cs (abs x) = total ws x.
  Proof.
    intros only. unfold fold_weights. destruct (forallb _ atoms) eqn:whole; [|discriminate]. intros [= <-].
    rewrite forallb_forall in whole. rewrite total_by_classes by apply NoDup_nodup.
    rewrite (total_by_atoms ws atoms x once).
    2: { intros a out. apply only. destruct (possible a) eqn:can; [|reflexivity]. now apply possible_listed in can. }
    apply sum_ext. intros a a_in.
    destruct (possible a) eqn:can; [|rewrite (only a can); lia].
    specialize (whole a a_in). rewrite can in whole. simpl in whole. apply N.eqb_eq in whole. f_equal.
    destruct (in_dec eq_dec (f a) (classes_of ws)) as [yes|no]; [now rewrite whole|].
    destruct (N.eq_dec (value ws a) 0) as [zero|some]; [now rewrite zero|].
    now apply weight_listed in some.
  Qed.

  Theorem fold_group_spec group cs x :
    possible_only x -> fold_group group = Some cs -> count cs (abs x) = count group x.
  Proof.
    intros only. unfold fold_group. destruct (fold_weights _) as [ws|] eqn:folded; [|discriminate].
    destruct (forallb _ ws) eqn:ones; [|discriminate]. intros [= <-].
    apply (fold_weights_spec _ _ x only) in folded.
    assert (left : total (map (fun a => (a, 1)) group) x = count group x).
    { clear. induction group as [|a rest IH]; simpl; [reflexivity|]. rewrite IH. lia. }
    rewrite <- left, <- folded. clear - ones.
    induction ws as [|[c w] rest IH]; simpl in *; [reflexivity|].
    apply andb_true_iff in ones. destruct ones as [one ones]. apply N.eqb_eq in one. subst. rewrite IH by assumption. lia.
  Qed.

  (** ** All four shapes *)

  Definition bind {B D} (o : option B) (k : B -> option D) : option D := match o with Some b => k b | None => None end.

  Definition class_at_most (c : at_most A) : option (at_most C) :=
    bind (fold_weights (weights c)) (fun ws => Some {| weights := ws; bound := bound c |}).

  Definition class_distinct (c : distinct A) : option (distinct C) :=
    bind (fold_weights (each c)) (fun ws =>
    bind (traverse fold_group (groups c)) (fun gs =>
    bind (traverse fold_group (unless c)) (fun us =>
    Some {| each := ws; groups := gs; room := room c; unless := us |}))).

  Definition class_affinity (c : affinity A) : option (affinity C) :=
    bind (traverse fold_group (near c)) (fun gs =>
    match first_unless c with
    | None => Some {| near := gs; first_unless := None |}
    | Some group => bind (fold_group group) (fun g => Some {| near := gs; first_unless := Some g |})
    end).

  Definition class_domain (d : domain A) : option (domain C) :=
    bind (fold_group (members d)) (fun g => Some {| members := g; base := base d |}).

  Definition class_spread (c : spread A) : option (spread C) :=
    bind (traverse class_domain (domains c)) (fun ds =>
    bind (class_domain (own c)) (fun o =>
    Some {| domains := ds; own := o; joins := joins c; max_skew := max_skew c |})).

  (** The guard over classes, unless it tells members apart. *)
  Definition class_guard (g : guard A) : option (guard C) :=
    bind (traverse class_at_most (bounds g)) (fun bs =>
    bind (traverse class_distinct (distincts g)) (fun ds =>
    bind (traverse class_affinity (affinities g)) (fun az =>
    bind (traverse class_spread (spreads g)) (fun ss =>
    Some {| bounds := bs; distincts := ds; affinities := az; spreads := ss |})))).

  Section Same.
    Variable x : configuration A.
    Hypothesis only : possible_only x.

    Lemma group_empty group cs : fold_group group = Some cs -> is_empty cs (abs x) = is_empty group x.
    Proof. intros e. unfold is_empty. now rewrite (fold_group_spec group cs x only e). Qed.

    Lemma groups_present gs cs :
      traverse fold_group gs = Some cs -> present_groups cs (abs x) = present_groups gs x.
    Proof.
      revert cs. induction gs as [|g rest IH]; simpl; intros cs done; [now injection done as <-|].
      destruct (fold_group g) as [c|] eqn:e; [|discriminate]. destruct (traverse fold_group rest) as [cs'|]; [|discriminate].
      injection done as <-. simpl. now rewrite (group_empty g c e), (IH cs').
    Qed.

    Lemma groups_empty gs cs :
      traverse fold_group gs = Some cs -> is_none (first_empty cs (abs x)) = is_none (first_empty gs x).
    Proof.
      intros done. rewrite !first_empty_none. eapply traverse_forallb; [|exact done].
      intros g c _ e. simpl. now rewrite (group_empty g c e).
    Qed.

    Lemma at_most_classes c h : class_at_most c = Some h -> at_most_holds h (abs x) = at_most_holds c x.
    Proof.
      unfold class_at_most, bind. destruct (fold_weights _) as [ws|] eqn:e; [|discriminate]. intros [= <-].
      unfold at_most_holds. simpl. now rewrite (fold_weights_spec _ _ x only e).
    Qed.

    Lemma distinct_classes c h : class_distinct c = Some h -> distinct_holds h (abs x) = distinct_holds c x.
    Proof.
      unfold class_distinct, bind. destruct (fold_weights _) as [ws|] eqn:e; [|discriminate].
      destruct (traverse fold_group (groups c)) as [gs|] eqn:eg; [|discriminate].
      destruct (traverse fold_group (unless c)) as [us|] eqn:eu; [|discriminate]. intros [= <-].
      unfold distinct_holds, distinct_fits. simpl.
      rewrite (fold_weights_spec _ _ x only e), (groups_present _ _ eg), (groups_empty _ _ eu). do 3 f_equal.
      destruct (unless c); simpl in eu; [now injection eu as <-|].
      destruct (fold_group l); [|discriminate]. destruct (traverse fold_group l0); [|discriminate]. now injection eu as <-.
    Qed.

    Lemma affinity_classes c h : class_affinity c = Some h -> affinity_holds h (abs x) = affinity_holds c x.
    Proof.
      unfold class_affinity, bind. destruct (traverse fold_group (near c)) as [gs|] eqn:e; [|discriminate].
      unfold affinity_holds, lonely, may_be_first. destruct (first_unless c) as [group|] eqn:first.
      - destruct (fold_group group) as [g|] eqn:eg; [|discriminate]. intros [= <-]. simpl.
        rewrite (group_empty _ _ eg). destruct (is_empty group x); [reflexivity|now apply groups_empty].
      - intros [= <-]. simpl. now apply groups_empty.
    Qed.

    Lemma domain_classes d h : class_domain d = Some h -> size h (abs x) = size d x.
    Proof.
      unfold class_domain, bind. destruct (fold_group _) as [g|] eqn:e; [|discriminate]. intros [= <-].
      unfold size. simpl. now rewrite (fold_group_spec _ _ x only e).
    Qed.

    Lemma find_none_forallb {B} (p : B -> bool) l : is_none (find p l) = forallb (fun b => negb (p b)) l.
    Proof. induction l as [|b rest IH]; simpl; [reflexivity|]. now destruct (p b). Qed.

    Lemma spread_classes c h : class_spread c = Some h -> spread_holds h (abs x) = spread_holds c x.
    Proof.
      unfold class_spread, bind. destruct (traverse class_domain (domains c)) as [ds|] eqn:e; [|discriminate].
      destruct (class_domain (own c)) as [o|] eqn:eo; [|discriminate]. intros [= <-].
      unfold spread_holds, behind. simpl. rewrite !find_none_forallb.
      eapply traverse_forallb; [|exact e]. intros d h _ ed. simpl.
      now rewrite (domain_classes _ _ ed), (domain_classes _ _ eo).
    Qed.

    Theorem class_guard_spec g h : class_guard g = Some h -> holds h (abs x) = holds g x.
    Proof.
      unfold class_guard, bind.
      destruct (traverse class_at_most _) as [bs|] eqn:eb; [|discriminate].
      destruct (traverse class_distinct _) as [ds|] eqn:ed; [|discriminate].
      destruct (traverse class_affinity _) as [az|] eqn:ea; [|discriminate].
      destruct (traverse class_spread _) as [ss|] eqn:es; [|discriminate]. intros [= <-].
      unfold holds. simpl. f_equal; [f_equal; [f_equal|]|];
        (eapply traverse_forallb; [|eassumption]; intros c h' _ eh; simpl).
      - now apply at_most_classes.
      - now apply distinct_classes.
      - now apply affinity_classes.
      - now apply spread_classes.
    Qed.
  End Same.
End Classes.

(** ** The checker with classes *)

Section Check.
  Context {A C : Type} `{Eq_dec A} `{Eq_dec C}.
  Variable S : system A.
  Variable f : A -> C.
  (** All atoms, and which of them some configuration can contain. *)
  Variable atoms : list A.
  Variable possible : A -> bool.

  (** The members of a class that can be there. *)
  Definition class_members (c : C) : list A := filter (fun a => possible a && in_class f c a) atoms.

  (** What is there of a group before a member of a class is deployed. *)
  Definition before_member (b : configuration C) (c : C) (a : A) : configuration C :=
    match consumes S a with Some w => b ⊖ c ⊕ f w | None => b ⊖ c end.

  (** Whatever member of a class comes last, a group was there. *)
  Definition member_holds (fuel : nat) (groups : list (group (A := C))) (b : group) (c : C) (a : A) : bool :=
    match guard_of S a with
    | None => true
    | Some g =>
      match class_guard f atoms possible g with
      | None => false
      | Some h => negb (escapes (contains_one groups) fuel h (before_member (lookup b) c a))
      end
    end
    && match former S a with
       | None => true
       | Some before => negb (possible before) || contains_one groups (lookup b ⊖ c ⊕ f before)
       end.

  Definition class_group_holds fuel groups (b : group (A := C)) : bool :=
    forallb (fun '(c, _) => (lookup b c =? 0) || forallb (member_holds fuel groups b c) (class_members c)) b.

  (** The tables are what they should be: atoms are listed once, the possible
      ones among them; what is not possible has no guard, and is no shadow. *)
  Record tables : Prop := {
    atoms_once : NoDup atoms;
    possible_among : forall a, possible a = true -> In a atoms;
    start_possible : possible_only possible (initially S);
    guarded_possible : forall a g, guard_of S a = Some g -> possible a = true;
    shadows_possible : forall a d, possible a = true -> former S d = Some a -> possible d = true;
  }.

  Definition check_classes (fuel : nat) (g : goal A) (groups : list (group (A := C))) : bool :=
    negb (contains_one groups (abs f atoms (initially S)))
    && forallb (fun alternative => contains_one groups (abs f atoms alternative)) g
    && forallb (class_group_holds fuel groups) groups.

  (** Whether a member of a class may be there, as far as classes tell. *)
  Definition class_admits (a : A) (y : configuration C) : Prop := exists g, guard_of S a = Some g
    /\ match class_guard f atoms possible g with Some h => holds h y = true | None => True end.

  (** The problem that classes are, as far as groups forbid anything. *)
  Definition class_problem (groups : list (group (A := C))) : problem C := {|
    hard c y := exists a, possible a = true /\ f a = c /\ consumes S a = None /\ class_admits a y;
    becomes c d y := exists a b, possible a = true /\ possible b = true /\ f a = c /\ f b = d
                 /\ (former S b = Some a \/ consumes S b = Some a /\ class_admits b y);
    kept := nothing;
    start := abs f atoms (initially S);
  |}.

  Hypothesis T : tables.

  Lemma holds_in_classes a gd s : possible_only possible s -> guard_of S a = Some gd -> holds gd s = true -> class_admits a (abs f atoms s).
  Proof.
    intros only is ok. exists gd. split; [assumption|].
    destruct (class_guard f atoms possible gd) as [h|] eqn:folded; [|trivial].
    now rewrite (class_guard_spec f atoms (atoms_once T) possible (possible_among T) s only gd h folded).
  Qed.

  Lemma hard_in_classes groups a s : possible_only possible s -> hard (problem_of S) a s ->
    possible a = true /\ hard (class_problem groups) (f a) (abs f atoms s).
  Proof.
    intros only [unwaited [gd [is ok]]]. pose proof (guarded_possible T a gd is). split; [assumption|].
    exists a. repeat split; auto. now apply (holds_in_classes a gd).
  Qed.

  Lemma becomes_in_classes groups a d s : possible_only possible s -> possible a = true -> becomes (problem_of S) a d s ->
    possible d = true /\ becomes (class_problem groups) (f a) (f d) (abs f atoms s).
  Proof.
    intros only a_in [was|[uses [gd [is ok]]]].
    - pose proof (shadows_possible T a d a_in was). split; [assumption|]. exists a, d. repeat split; auto.
    - pose proof (guarded_possible T d gd is). split; [assumption|]. exists a, d. repeat split; auto.
      right. split; [assumption|]. now apply (holds_in_classes d gd).
  Qed.

  (** What the checker accepts is a certificate about classes. *)
  Theorem check_classes_certificate fuel g groups : check_classes fuel g groups = true ->
    certificate (class_problem groups) (map (abs f atoms) g) (map lookup groups).
  Proof.
    unfold check_classes. rewrite !andb_true_iff, negb_true_iff, !forallb_forall. intros [[free ruled] blocks].
    assert (member : forall b c a, In b groups -> 0 < lookup b c -> possible a = true -> f a = c ->
              member_holds fuel groups b c a = true).
    { intros b c a b_in some a_in is. specialize (blocks b b_in). unfold class_group_holds in blocks.
      rewrite forallb_forall in blocks.
      assert (c_in : In c (map fst b)) by (apply lookup_listed; lia).
      apply in_map_iff in c_in. destruct c_in as [[c' n] [e c_in]]. simpl in e. subst c'.
      specialize (blocks _ c_in). simpl in blocks. apply orb_true_iff in blocks. destruct blocks as [zero|ok].
      { apply N.eqb_eq in zero. lia. }
      rewrite forallb_forall in ok. apply ok. apply filter_In. split; [now apply (possible_among T)|].
      rewrite a_in. unfold in_class. destruct (eq_dec (f a) c); [reflexivity|contradiction]. }
    assert (last : forall b c a y, In b groups -> 0 < lookup b c -> possible a = true -> f a = c -> class_admits a y ->
              before_member (lookup b) c a ≼ y -> forbidden (map lookup groups) y).
    { intros b c a y b_in some a_in is [gd [guarded ok]] above.
      pose proof (member b c a b_in some a_in is) as holds_. unfold member_holds in holds_.
      rewrite guarded in holds_. apply andb_true_iff in holds_. destruct holds_ as [no _].
      destruct (class_guard f atoms possible gd) as [h|]; [|discriminate]. apply negb_true_iff in no.
      destruct (escapes_sound _ _ _ _ no y above ok) as [u [uy found]].
      eapply forbidden_mono; [exact uy|]. now apply contains_one_spec. }
    split; simpl.
    - intros bad. apply contains_one_spec in bad. congruence.
    - intros alternative alt_in. apply in_map_iff in alt_in. destruct alt_in as [alt [<- alt_in]].
      now apply contains_one_spec, ruled.
    - intros b c b_in some y above [a [a_in [is [unwaited admitted]]]].
      apply in_map_iff in b_in. destruct b_in as [b' [<- b_in]].
      apply (last b' c a y); auto. unfold before_member. now rewrite unwaited.
    - intros b c d b_in some y above [a [x [a_in [x_in [fa [fx turned]]]]]].
      apply in_map_iff in b_in. destruct b_in as [b' [<- b_in]]. subst c.
      destruct turned as [was|[uses admitted]].
      + pose proof (member b' d x b_in some x_in fx) as holds_. unfold member_holds in holds_.
        rewrite was, a_in in holds_. apply andb_true_iff in holds_. destruct holds_ as [_ found].
        eapply forbidden_mono; [exact above|]. now apply contains_one_spec.
      + apply (last b' d x y); auto. unfold before_member. now rewrite uses.
  Qed.

  (** So no step leads to a group, wherever it begins. *)
  Corollary check_classes_deploy fuel g groups a s : check_classes fuel g groups = true -> possible_only possible s -> hard (problem_of S) a s ->
    forbidden (map lookup groups) (abs f atoms (s ⊕ a)) -> forbidden (map lookup groups) (abs f atoms s).
  Proof.
    intros accepted only ok. apply check_classes_certificate in accepted. destruct (hard_in_classes groups a s only ok) as [can ok'].
    apply (certificate_step _ _ _ _ _ accepted). apply (deploy _ _ _ (f a) ok').
    apply (abs_plus_one f atoms (atoms_once T)). now apply (possible_among T).
  Qed.

  Corollary check_classes_change fuel g groups a d s : check_classes fuel g groups = true -> possible_only possible s -> 0 < s a ->
    becomes (problem_of S) a d s ->
    forbidden (map lookup groups) (abs f atoms (s ⊖ a ⊕ d)) -> forbidden (map lookup groups) (abs f atoms s).
  Proof.
    intros accepted only more turned. apply check_classes_certificate in accepted.
    pose proof (running_possible possible s a only more) as can. destruct (becomes_in_classes groups a d s only can turned) as [can' turned'].
    pose proof (possible_among T a can) as a_in. pose proof (possible_among T d can') as d_in.
    apply (certificate_step _ _ _ _ _ accepted). apply (change _ _ _ (f a) (f d)); [|exact turned'|].
    - simpl. unfold nothing. pose proof (abs_some f atoms s a a_in). lia.
    - eapply same_trans; [now apply (abs_plus_one f atoms (atoms_once T))|].
      pose proof (abs_minus_one f atoms (atoms_once T) s a a_in more) as M. intros c. specialize (M c). unfold plus_one. now rewrite M.
  Qed.

  Theorem check_classes_sound fuel g groups :
    check_classes fuel g groups = true -> never (problem_of S) g.
  Proof.
    intros accepted.
    apply (never_of_classes f atoms (atoms_once T) possible (possible_among T) (problem_of S) (class_problem groups)); auto;
      try (intros a; unfold nothing; apply N.le_0_l).
    - intros a s. apply hard_in_classes.
    - intros a d s. apply becomes_in_classes.
    - apply (start_possible T).
    - apply same_refl.
    - apply (certificate_sound _ _ (map lookup groups)). now apply (check_classes_certificate fuel).
  Qed.
End Check.
