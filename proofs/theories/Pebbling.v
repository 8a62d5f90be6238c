(** * Bounded black pebbling is a question about one node

    A pebble may be put on a vertex when all its predecessors have one and fewer
    than [k] are out; it may be removed at any time.  The cluster: one node with
    room for [k] pods, a pod type per vertex that requests one unit, an affinity
    term per edge.  A pod may have copies there, and a vertex has at most one
    pebble; but forgetting copies turns each step into a legal move or into none.

    The paper's appendix C, under `paper`; encode/pebbling.rs. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Configuration Problem Guard Rules Compile Search Cluster.
Import ListNotations.
Open Scope N_scope.

Record game := {
  vertices : list positive;
  predecessors : positive -> list positive;
  pebbles : N;
}.

(** A position: which vertices have a pebble. *)
Definition position : Type := positive -> bool.

Section Pebbling.
  Variable G : game.
  Hypothesis vertices_once : NoDup (vertices G).
  Hypothesis predecessors_known : forall v, incl (predecessors G v) (vertices G).
  (** The graph has no cycles; that none has length one is enough. *)
  Hypothesis no_loop : forall v, ~ In v (predecessors G v).

  Fixpoint pebbled (X : position) (l : list positive) : N :=
    match l with [] => 0 | v :: rest => (if X v then 1 else 0) + pebbled X rest end.

  Inductive move (X Y : position) : Prop :=
  | put v : In v (vertices G) -> X v = false -> (forall u, In u (predecessors G v) -> X u = true) ->
      pebbled X (vertices G) < pebbles G -> (forall w, Y w = if Pos.eqb v w then true else X w) -> move X Y
  | remove v : X v = true -> (forall w, Y w = if Pos.eqb v w then false else X w) -> move X Y.

  Inductive playable : position -> Prop :=
  | empty_board X : (forall v, X v = false) -> playable X
  | after_move X Y : playable X -> move X Y -> playable Y.

  Definition coverable (z : positive) : Prop := exists X, playable X /\ X z = true.

  (** ** The cluster *)

  Definition here : positive := 1%positive.

  Definition encoding : model := {|
    rules := Paper; pods := vertices G; nodes := [here];
    placeable _ _ := true; asks _ _ := true;
    resources := [here]; listed _ := [here]; number_of_pods := 2%positive;
    request _ _ := 1; allocatable _ _ := pebbles G;
    domain_of _ _ := Some here;
    sees x p _ := Pos.eqb x p; sees_unbound x p := Pos.eqb x p; notices _ _ := false;
    likes v := map (fun u => {| matcher := u; key := here |}) (predecessors G v);
    dislikes _ := []; constraints _ := []; is_counted _ := true;
    ports_conflict _ _ := false; disks_conflict _ _ := false; claims_conflict _ _ := false; claim_missing _ := false;
    quotas _ := []; takes _ _ := 0; grants _ := 0; limits := [];
    drivers _ := []; driver_missing _ _ := false; volume_limit _ _ := None;
    volumes _ := []; shared _ _ := []; private _ _ := 0;
  |}.

  Definition encoded : question := {| cluster := encoding; begins := []; stays := []; dying := []; waits := [] |}.

  Notation P := (cluster_problem encoded).
  Implicit Types (s t : configuration atom).

  Lemma atoms_here a : In a (atoms encoding) <-> In (fst a) (vertices G) /\ snd a = here.
  Proof.
    destruct a as [v n]. etransitivity; [apply in_prod_iff|]. simpl. intuition congruence.
  Qed.

  (** How many pods there are. *)
  Fixpoint crowd s (l : list positive) : N := match l with [] => 0 | v :: rest => s (v, here) + crowd s rest end.

  Lemma no_kind_runs kind s : (forall a, kind a = false) -> none_runs encoding kind s = true.
  Proof.
    intros never_. unfold none_runs, some_runs. apply negb_true_iff, not_true_iff_false.
    rewrite existsb_exists. intros [a [_ ok]]. now rewrite never_ in ok.
  Qed.

  (** What the rules say of this cluster. *)
  Lemma lets_in_here s v :
    lets_in encoding s v here = true <->
    crowd s (vertices G) < pebbles G /\ forall u, In u (predecessors G v) -> 0 < s (u, here).
  Proof.
    unfold lets_in. cbn [every_rule forallb placeable asks encoding andb negb orb obeys].
    rewrite !no_kind_runs by reflexivity.
    unfold volumes_fit, within_quotas, within_limits, keeps_away.
    rewrite !no_kind_runs by reflexivity. cbn [forallb claim_missing driver_missing drivers constraints quotas limits encoding negb andb orb].
    rewrite ?orb_true_r, !andb_true_r. rewrite andb_true_iff.
    assert (fits_iff : fits encoding s v here = true <-> crowd s (vertices G) < pebbles G).
    { assert (one : forall u, weight encoding u here = 1) by reflexivity.
      unfold fits, checked. cbn [is_kube rules encoding resources forallb allocatable]. rewrite andb_true_r, N.leb_le, one.
      assert (used : forall l, total (map (fun u => ((u, here), weight encoding u here)) l) s = crowd s l).
      { induction l as [|u rest IH]; cbn [map total crowd]; [reflexivity|]. rewrite IH, one. lia. }
      unfold on_node. cbn [pods encoding]. rewrite used.
      lia. }
    assert (affine_iff : affine encoding s v here = true <-> forall u, In u (predecessors G v) -> 0 < s (u, here)).
    { unfold affine, affine_paper. cbn [is_kube rules encoding likes]. rewrite forallb_forall. split.
      - intros all u u_in.
        specialize (all _ (in_map (fun u => {| matcher := u; key := here |}) _ _ u_in)).
        apply orb_true_iff in all. destruct all as [near|first].
        + unfold some_runs in near. apply existsb_exists in near. destruct near as [[w n] [a_in ok]].
          apply atoms_here in a_in. simpl in a_in. destruct a_in as [_ ->].
          apply andb_true_iff in ok. destruct ok as [is some]. apply N.ltb_lt in some.
          unfold near_friend, friend in is. simpl in is. rewrite !andb_true_iff in is. destruct is as [[is _] _].
          apply Pos.eqb_eq in is. now subst.
        + apply andb_true_iff in first. destruct first as [self _]. unfold matches_itself in self. simpl in self.
          rewrite andb_true_r in self. apply Pos.eqb_eq in self. subst. now apply no_loop in u_in.
      - intros all t t_in. apply in_map_iff in t_in. destruct t_in as [u [<- u_in]]. apply orb_true_iff. left.
        unfold some_runs. apply existsb_exists. exists (u, here). split.
        + apply atoms_here. split; [now apply (predecessors_known v)|reflexivity].
        + apply andb_true_iff. split; [|now apply N.ltb_lt, all].
          unfold near_friend, friend. simpl. now rewrite Pos.eqb_refl. }
    rewrite <- fits_iff, <- affine_iff. tauto.
  Qed.

  (** The vertices whose pods run. *)
  Definition support_of s : position := fun v => 0 <? s (v, here).

  Lemma support_small s l : pebbled (support_of s) l <= crowd s l.
  Proof.
    induction l as [|v rest IH]; simpl; [lia|]. unfold support_of at 1.
    destruct (N.ltb_spec 0 (s (v, here))); lia.
  Qed.

  Lemma pebbled_ext X Y l : (forall v, X v = Y v) -> pebbled X l = pebbled Y l.
  Proof. intros e. induction l as [|v rest IH]; simpl; [reflexivity|]. now rewrite e, IH. Qed.

  Lemma playable_ext X Y : (forall v, X v = Y v) -> playable X -> playable Y.
  Proof.
    intros e r. destruct r as [X none|W X r mv].
    - apply empty_board. intros v. now rewrite <- e.
    - eapply after_move; [exact r|]. destruct mv as [v v_in free pre room is|v there is].
      + apply (put _ _ v); auto. intros w. rewrite <- e. apply is.
      + apply (remove _ _ v); auto. intros w. rewrite <- e. apply is.
  Qed.

  (** Each step is a legal move, or none, once copies are forgotten. *)
  Theorem step_projects s t : step P s t ->
    (forall v, support_of s v = support_of t v) \/ move (support_of s) (support_of t).
  Proof.
    intros st. destruct st as [a [[a_in ok] _] e|a more e|a d more [[[] _]|[no _]] e]; [| |discriminate].
    - apply atoms_here in a_in. destruct a as [v n]. simpl in a_in, ok. destruct a_in as [v_in ->].
      apply lets_in_here in ok. destruct ok as [room pre].
      destruct (support_of s v) eqn:there.
      + left. intros w. unfold support_of in *. rewrite (e (w, here)). unfold plus_one.
        destruct (eq_dec ((v, here) : atom) (w, here)) as [same|_]; [|reflexivity]. injection same as <-.
        rewrite there. symmetry. apply N.ltb_lt. lia.
      + right. apply (put _ _ v); auto.
        * intros u u_in. apply N.ltb_lt. auto.
        * pose proof (support_small s (vertices G)). lia.
        * intros w. unfold support_of. rewrite (e (w, here)). unfold plus_one.
          destruct (eq_dec ((v, here) : atom) (w, here)) as [same|other].
          -- injection same as <-. rewrite Pos.eqb_refl. apply N.ltb_lt. lia.
          -- destruct (Pos.eqb_spec v w) as [->|_]; [congruence|reflexivity].
    - simpl in more. destruct a as [v n]. destruct (Pos.eq_dec n here) as [->|elsewhere].
      + destruct (N.eq_dec (s (v, here)) 1) as [one|many].
        * right. apply (remove _ _ v).
          -- unfold support_of. now rewrite one.
          -- intros w. unfold support_of. rewrite (e (w, here)). unfold minus_one.
             destruct (eq_dec ((v, here) : atom) (w, here)) as [same|other].
             ++ injection same as <-. rewrite Pos.eqb_refl, one. reflexivity.
             ++ destruct (Pos.eqb_spec v w) as [->|_]; [congruence|reflexivity].
        * left. intros w. unfold support_of. rewrite (e (w, here)). unfold minus_one.
          destruct (eq_dec ((v, here) : atom) (w, here)) as [same|other]; [|reflexivity]. injection same as <-.
          apply eq_true_iff_eq. rewrite !N.ltb_lt. lia.
      + left. intros w. unfold support_of. rewrite (e (w, here)). unfold minus_one.
        destruct (eq_dec ((v, n) : atom) (w, here)) as [same|_]; [|reflexivity]. congruence.
  Qed.

  Theorem steps_are_moves s : reachable P s -> playable (support_of s).
  Proof.
    intros r. induction r as [s e|s t r IH st].
    - apply empty_board. intros v. unfold support_of. rewrite e. reflexivity.
    - destruct (step_projects s t st) as [same|mv]; [exact (playable_ext _ _ same IH)|now apply (after_move (support_of s))].
  Qed.

  (** Copies included, there are never more pods than pebbles. *)
  Theorem never_crowded s : reachable P s -> crowd s (vertices G) <= pebbles G.
  Proof.
    assert (one_more : forall (u : configuration atom) v l, NoDup l -> crowd (u ⊕ (v, here)) l <= crowd u l + 1).
    { intros u v l once. induction once as [|w rest out _ IH]; simpl; [lia|].
      destruct (eq_dec ((v, here) : atom) (w, here)) as [same|other]; [|rewrite plus_one_other by assumption; lia].
      rewrite plus_one_same by assumption. injection same as <-.
      enough (elsewhere : forall k, ~ In v k -> crowd (u ⊕ (v, here)) k = crowd u k) by (rewrite elsewhere by assumption; lia). clear.
      induction k as [|w k IHk]; simpl; intros out; [reflexivity|]. rewrite IHk by tauto.
      rewrite plus_one_other; [reflexivity|]. intros same. injection same as <-. tauto. }
    assert (less : forall (u t : configuration atom) l, t ≼ u -> crowd t l <= crowd u l).
    { intros u t l tu. induction l as [|w rest IH]; simpl; [lia|]. specialize (tu (w, here)). lia. }
    apply (invariant P (fun s => crowd s (vertices G) <= pebbles G)).
    - intros u e. assert (none : forall l, crowd u l = 0).
      { induction l as [|v rest IH]; simpl; [reflexivity|]. rewrite IH, (e (v, here)). reflexivity. }
      rewrite none. lia.
    - intros u t _ few st. destruct st as [[v n] [[a_in ok] _] e|a more e|a d more [[[] _]|[no _]] e]; [| |discriminate].
      + apply atoms_here in a_in. simpl in a_in, ok. destruct a_in as [_ ->]. apply lets_in_here in ok. destruct ok as [room _].
        specialize (one_more u v (vertices G) vertices_once). pose proof (less _ _ (vertices G) (same_within _ _ e)). lia.
      + enough (crowd t (vertices G) <= crowd u (vertices G)) by lia. apply less. intros b. rewrite e. apply minus_one_within.
  Qed.

  (** A position as pods, one for each pebble. *)
  Definition pods_of (X : position) : configuration atom := fun a =>
    if Pos.eqb (snd a) here && X (fst a) then 1 else 0.

  Lemma crowd_pods X l : crowd (pods_of X) l = pebbled X l.
  Proof. induction l as [|v rest IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

  Theorem moves_are_steps X : playable X -> reachable P (pods_of X).
  Proof.
    intros r. induction r as [X none|X Y r IH mv].
    - apply at_start. intros [v n]. unfold pods_of. simpl. rewrite none, andb_false_r. reflexivity.
    - eapply by_step; [exact IH|]. destruct mv as [v v_in free pre room is|v there is].
      + apply (deploy _ _ _ (v, here)).
        * split; [|reflexivity]. split; [apply atoms_here; now split|]. apply lets_in_here. rewrite crowd_pods. split; [assumption|].
          intros u u_in. unfold pods_of. simpl. rewrite pre by assumption. lia.
        * intros [w n]. unfold pods_of, plus_one. cbn [fst snd]. rewrite is.
          match goal with |- context [eq_dec ?a ?b] => destruct (eq_dec a b) as [same|other] end.
          -- injection same as <- <-. rewrite !Pos.eqb_refl, free. reflexivity.
          -- destruct (Pos.eqb_spec n here) as [->|_]; [|reflexivity].
             destruct (Pos.eqb_spec v w) as [->|_]; [congruence|reflexivity].
      + apply (delete _ _ _ (v, here)).
        * unfold pods_of. simpl. rewrite there. lia.
        * intros [w n]. unfold pods_of, minus_one. cbn [fst snd]. rewrite is.
          match goal with |- context [eq_dec ?a ?b] => destruct (eq_dec a b) as [same|other] end.
          -- injection same as <- <-. rewrite !Pos.eqb_refl, there. reflexivity.
          -- destruct (Pos.eqb_spec n here) as [->|_]; [|reflexivity].
             destruct (Pos.eqb_spec v w) as [->|_]; [congruence|reflexivity].
  Qed.

  (** The paper's theorem on the pebbling encoding. *)
  Theorem pebbling z : coverable z <-> deployable P [nothing ⊕ (z, here)].
  Proof.
    split.
    - intros [X [r there]]. exists (pods_of X). split; [now apply moves_are_steps|].
      exists (nothing ⊕ (z, here)). split; [now left|]. intros a. unfold plus_one, nothing, pods_of.
      match goal with |- context [eq_dec ?x ?y] => destruct (eq_dec x y) as [<-|_] end; [|lia]. simpl. rewrite there. lia.
    - intros [s [r [alt [[<-|[]] covered]]]]. exists (support_of s). split; [now apply steps_are_moves|].
      specialize (covered (z, here)). unfold support_of. apply N.ltb_lt.
      rewrite plus_one_same in covered by reflexivity. unfold nothing in covered. lia.
  Qed.
End Pebbling.
