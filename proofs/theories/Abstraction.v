(** * Counting classes instead of atoms

    Pods that nothing tells apart need not be listed in every combination.  Let
    [f] say which class an atom is counted in.  If what the rules let in is let
    in by rules over classes, then every run is a run of classes, and what these
    never reach is never reached.  Classes of a proof, and pod types that are
    alike, are both of this form.

    check/classes.rs, quotient.rs; docs/theory.md, "Copies and look-alikes". *)

From Coq Require Import NArith List Lia Bool.
From Podreach Require Import Configuration Problem.
Import ListNotations.
Open Scope N_scope.

Section Abstraction.
  Context {A C : Type} `{Eq_dec A} `{Eq_dec C}.
  Variable f : A -> C.
  (** All atoms, each once, and which of them some configuration can contain. *)
  Variable atoms : list A.
  Hypothesis once : NoDup atoms.
  Variable possible : A -> bool.
  Hypothesis possible_listed : forall a, possible a = true -> In a atoms.

  Definition in_class (c : C) (a : A) : bool := if eq_dec (f a) c then true else false.

  (** How many pods of each class run. *)
  Definition abs (s : configuration A) : configuration C := fun c => count (filter (in_class c) atoms) s.

  (** Only possible atoms run. *)
  Definition possible_only (s : configuration A) : Prop := forall a, possible a = false -> s a = 0.

  Lemma running_possible s a : possible_only s -> 0 < s a -> possible a = true.
  Proof. intros only some. destruct (possible a) eqn:is; [reflexivity|]. rewrite (only a is) in some. lia. Qed.

  Lemma abs_mono s t : s ≼ t -> abs s ≼ abs t.
  Proof. intros st c. now apply count_mono. Qed.

  Lemma abs_same s t : s ≐ t -> abs s ≐ abs t.
  Proof. intros st c. now apply count_same. Qed.

  Lemma count_plus_one (l : list A) s a : NoDup l ->
    count l (s ⊕ a) = count l s + (if in_dec eq_dec a l then 1 else 0).
  Proof.
    induction l as [|b rest IH]; intros nodup; [reflexivity|]. inversion nodup; subst.
    cbn [count]. rewrite IH by assumption. unfold plus_one.
    destruct (in_dec eq_dec a (b :: rest)) as [yes|no], (in_dec eq_dec a rest) as [yes'|no'], (eq_dec a b);
      subst; simpl in *; try lia; try tauto; intuition congruence.
  Qed.

  Lemma count_minus_one (l : list A) s a : NoDup l -> 0 < s a ->
    count l (s ⊖ a) + (if in_dec eq_dec a l then 1 else 0) = count l s.
  Proof.
    induction l as [|b rest IH]; intros nodup some; [reflexivity|]. inversion nodup; subst.
    cbn [count]. rewrite <- IH by assumption. unfold minus_one.
    destruct (in_dec eq_dec a (b :: rest)) as [yes|no], (in_dec eq_dec a rest) as [yes'|no'], (eq_dec a b);
      subst; simpl in *; try lia; try tauto; intuition congruence.
  Qed.

  Lemma class_nodup c : NoDup (filter (in_class c) atoms).
  Proof. apply NoDup_filter, once. Qed.

  Lemma in_class_iff c a : In a (filter (in_class c) atoms) <-> In a atoms /\ f a = c.
  Proof.
    rewrite filter_In. unfold in_class. destruct (eq_dec (f a) c); intuition congruence.
  Qed.

  Lemma abs_plus_one s a : In a atoms -> abs (s ⊕ a) ≐ abs s ⊕ f a.
  Proof.
    intros a_in c. change (abs (s ⊕ a) c) with (count (filter (in_class c) atoms) (s ⊕ a)).
    rewrite count_plus_one by apply class_nodup. fold (abs s c).
    unfold plus_one. destruct (in_dec eq_dec a _) as [yes|no]; rewrite in_class_iff in *;
      destruct (eq_dec (f a) c); intuition lia.
  Qed.

  Lemma abs_minus_one s a : In a atoms -> 0 < s a -> abs (s ⊖ a) ≐ abs s ⊖ f a.
  Proof.
    intros a_in some c. pose proof (count_minus_one (filter (in_class c) atoms) s a (class_nodup c) some) as E.
    fold (abs s c) in E. fold (abs (s ⊖ a) c) in E.
    unfold minus_one at 2. destruct (in_dec eq_dec a _) as [yes|no]; rewrite in_class_iff in *;
      destruct (eq_dec (f a) c); intuition lia.
  Qed.

  Lemma abs_some s a : In a atoms -> s a <= abs s (f a).
  Proof.
    intros a_in. unfold abs.
    assert (listed : In a (filter (in_class (f a)) atoms)) by now apply in_class_iff.
    induction (filter (in_class (f a)) atoms) as [|b rest IH]; [contradiction|].
    simpl. destruct listed as [->|listed]; [lia|]. specialize (IH listed). lia.
  Qed.

  Variables (P : problem A) (Q : problem C).
  Hypothesis kept_at_start : kept P ≼ start P.
  Hypothesis kept_less : kept Q ≼ abs (kept P).
  Hypothesis deploys : forall a s, possible_only s -> hard P a s -> possible a = true /\ hard Q (f a) (abs s).
  Hypothesis turns : forall a d s, possible_only s -> possible a = true -> becomes P a d s ->
    possible d = true /\ becomes Q (f a) (f d) (abs s).
  Hypothesis begins : possible_only (start P).
  Hypothesis begins' : start Q ≐ abs (start P).

  Lemma stays_possible s t : possible_only s -> step P s t -> possible_only t.
  Proof.
    intros only st b out. destruct st as [a ok e|a more e|a d more turned e]; rewrite (e b).
    - destruct (deploys a s only ok). pose proof (only b out). by_count.
    - pose proof (only b out). by_count.
    - assert (there : 0 < s a) by lia.
      destruct (turns a d s only (running_possible s a only there) turned). pose proof (only b out). by_count.
  Qed.

  (** What may go of an atom may go of its class. *)
  Lemma kept_below s a : reachable P s -> In a atoms -> kept P a < s a -> kept Q (f a) < abs s (f a).
  Proof.
    intros r a_in more. pose proof (kept_stays P kept_at_start s r) as low.
    pose proof (abs_mono _ _ (plus_one_within _ _ a low more) (f a)) as less.
    rewrite (abs_plus_one (kept P) a a_in (f a)), plus_one_same in less by reflexivity.
    specialize (kept_less (f a)). lia.
  Qed.

  Theorem abstract_run s : reachable P s -> possible_only s /\ reachable Q (abs s).
  Proof.
    intros r. induction r as [s e|s t r [only IH] st].
    - split; [intros a out; rewrite e; now apply begins|].
      apply at_start. eapply same_trans; [apply abs_same, e|apply same_sym, begins'].
    - split; [now apply (stays_possible s)|]. eapply by_step; [exact IH|].
      destruct st as [a ok e|a more e|a d more turned e].
      + destruct (deploys a s only ok) as [can ok']. pose proof (possible_listed a can). eapply deploy; [exact ok'|].
        eapply same_trans; [apply abs_same, e|now apply abs_plus_one].
      + assert (there : 0 < s a) by lia.
        pose proof (running_possible s a only there) as can. pose proof (possible_listed a can) as a_in.
        apply (delete _ _ _ (f a)).
        * now apply (kept_below s a).
        * eapply same_trans; [apply abs_same, e|]. now apply abs_minus_one.
      + assert (there : 0 < s a) by lia.
        pose proof (running_possible s a only there) as can. pose proof (possible_listed a can) as a_in.
        destruct (turns a d s only can turned) as [can' turned']. pose proof (possible_listed d can') as d_in.
        apply (change _ _ _ (f a) (f d)); [|assumption|].
        * now apply (kept_below s a).
        * eapply same_trans; [apply abs_same, e|]. eapply same_trans; [now apply abs_plus_one|].
          pose proof (abs_minus_one s a a_in there) as M. intros c. specialize (M c). unfold plus_one. now rewrite M.
  Qed.

  (** What classes never reach is never reached. *)
  Theorem never_of_classes g : never Q (map abs g) -> never P g.
  Proof.
    intros no s r [alternative [g_in covered]]. destruct (abstract_run s r) as [_ r'].
    apply (no (abs s) r'). exists (abs alternative). split; [now apply in_map|now apply abs_mono].
  Qed.

  (** One pod that is yet to come may come as any other that the rules treat alike: what
      happened before does not depend on which it is. *)
  Theorem never_of_newcomer a c :
    start P a = 0 ->
    (forall b s, possible_only s -> possible b = true -> becomes P b a s -> becomes Q (f b) c (abs s)) ->
    (forall s, possible_only s -> hard P a s -> hard Q c (abs s)) ->
    never Q [nothing ⊕ c] -> never P [nothing ⊕ a].
  Proof.
    intros absent bound_ comes no s r [alternative [[<-|[]] covered]].
    enough (zero : s a = 0). { specialize (covered a). rewrite plus_one_same in covered by reflexivity. lia. }
    clear covered. induction r as [s e|s t r IH st]; [now rewrite e|].
    destruct st as [b ok e|b more e|b d more turned e]; rewrite (e a).
    - destruct (eq_dec b a) as [->|other]; [exfalso|now rewrite plus_one_other].
      destruct (abstract_run s r) as [only r']. apply (no (abs s ⊕ c)).
      + eapply by_step; [exact r'|]. eapply deploy; [now apply comes|apply same_refl].
      + exists (nothing ⊕ c). split; [now left|]. apply plus_one_mono. intros x. unfold nothing. lia.
    - pose proof (minus_one_within s b a). lia.
    - assert (there : 0 < s b) by lia. destruct (abstract_run s r) as [only r'].
      pose proof (running_possible s b only there) as can.
      destruct (eq_dec d a) as [->|other]; [exfalso|].
      + apply (no (abs s ⊖ f b ⊕ c)).
        * eapply by_step; [exact r'|]. apply (change _ _ _ (f b) c); [|now apply bound_|apply same_refl].
          apply kept_below; [assumption|now apply possible_listed|assumption].
        * exists (nothing ⊕ c). split; [now left|]. apply plus_one_mono. intros x. unfold nothing. lia.
      + rewrite plus_one_other by assumption. pose proof (minus_one_within s b a). lia.
  Qed.
End Abstraction.
