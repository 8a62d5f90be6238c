(** * The rules: what a deployment must satisfy, under both semantics

    A [model] is a cluster under one semantics, with what no step changes worked
    out in tables: which pods pass which nodes' static filters, which pods each
    selector matches, which nodes share a domain.  Nodes have settled
    (Certificate.v says when that is enough).  The rules look these up and count pods.

    docs/spec, one page per rule; rule/, one file per rule; tables/model.rs. *)

From Coq Require Import NArith PArith List Lia Bool.
From Podreach Require Import Configuration Guard.
Import ListNotations.
Open Scope N_scope.

(** Pod types, nodes, resources, keys, … by their numbers. *)
Notation id := positive (only parsing).

(** A pod type on a node. *)
Definition atom : Type := id * id.

#[global] Instance atom_eq_dec : Eq_dec atom.
Proof. unfold Eq_dec. decide equality; apply Pos.eq_dec. Defined.

Inductive semantics := KubeScheduler | Paper.

(** The rules that look at what runs. *)
Inductive rule :=
| NodePorts | NodeResourcesFit | VolumeRestrictions | NodeVolumeLimits
| PodTopologySpread | InterPodAffinity | ResourceQuota | InstanceLimit.

(** A term of required affinity or anti-affinity: whom it matches, and how near. *)
Record term := { matcher : id; key : id }.

(** A hard topology spread constraint of a pod type. *)
Record constraint := {
  whom : id;                  (* the matcher of the pods that it counts *)
  along : id;                 (* its topology key *)
  skew : N;
  min_domains : N;
  looks_at : id -> bool;      (* its eligible nodes *)
  counts : bool;              (* whether it counts any pod at all *)
}.

(** At most so many instances of some types, in all or on each node. *)
Record limit := { limited : list id; most : N; per_node : bool; is_asked : id -> bool }.

Record model := {
  rules : semantics;
  pods : list id;
  nodes : list id;
  (** The filters that look at the pod and the node alone, and whether the type is ever deployed. *)
  placeable : id -> id -> bool;
  (** Whether a rule is asked about a pod type at all. *)
  asks : id -> rule -> bool;
  (** Resources but for the number of pods, what each pod lists of them, and that number. *)
  resources : list id;
  listed : id -> list id;
  number_of_pods : id;
  request : id -> id -> N;
  allocatable : id -> id -> N;
  (** The domain of a node under a key, where it has the key. *)
  domain_of : id -> id -> option id;
  (** Whether a term of an incoming pod matches a resident on a node; one that is not bound yet; whether one of a resident matches the incoming pod. *)
  sees : id -> id -> id -> bool;
  sees_unbound : id -> id -> bool;
  notices : id -> id -> bool;
  likes : id -> list term;
  dislikes : id -> list term;
  constraints : id -> list constraint;
  (** Whether spread constraints count a type: not while it is being deleted. *)
  is_counted : id -> bool;
  ports_conflict : id -> id -> bool;
  disks_conflict : id -> id -> bool;
  claims_conflict : id -> id -> bool;
  claim_missing : id -> bool;
  quotas : id -> list id;
  takes : id -> id -> N;      (* how much an instance takes of a quota *)
  grants : id -> N;
  limits : list limit;
  (** The drivers of a pod's volumes, whether one that must be on a node is not, and the limit and what is attached besides. *)
  drivers : id -> list id;
  driver_missing : id -> id -> bool;
  volume_limit : id -> id -> option (N * N);
  volumes : id -> list id;    (* those of a driver that several pods may share *)
  shared : id -> id -> list id;
  private : id -> id -> N;
}.

Section Rules.
  Variable m : model.
  Implicit Types (s : configuration atom) (p n q : id) (a : atom).

  Definition atoms : list atom := list_prod (pods m) (nodes m).

  (** ** Words that rules have in common *)

  Definition has_key k n : bool := match domain_of m k n with Some _ => true | None => false end.

  (** Two nodes share a value of a key. *)
  Definition near_by k n n' : bool :=
    match domain_of m k n, domain_of m k n' with
    | Some d, Some d' => Pos.eqb d d'
    | _, _ => false
    end.

  (** Some pod of a kind runs; no pod of a kind does. *)
  Definition some_runs (kind : atom -> bool) s : bool := existsb (fun a => kind a && (0 <? s a)) atoms.
  Definition none_runs kind s : bool := negb (some_runs kind s).

  Definition is_kube : bool := match rules m with KubeScheduler => true | Paper => false end.

  (** ** Resources: docs/spec/capacity.md; rule/fit.rs *)

  Definition weight q r : N := if Pos.eqb r (number_of_pods m) then 1 else request m q r.

  Definition on_node n r : list (atom * N) := map (fun q => ((q, n), weight q r)) (pods m).

  Definition checked p : list id := if is_kube then number_of_pods m :: listed m p else resources m.

  Definition fits s p n : bool :=
    forallb (fun r => total (on_node n r) s + weight p r <=? allocatable m n r) (checked p).

  (** ** Quotas: docs/spec/policies.md; rule/quota.rs *)

  Definition charged k : list (atom * N) := map (fun a => (a, takes m (fst a) k)) atoms.

  Definition within_quotas s p : bool :=
    forallb (fun k => total (charged k) s + takes m p k <=? grants m k) (quotas m p).

  (** ** Declared instances: docs/spec/start.md; rule/limit.rs *)

  Definition instances (l : limit) n : list atom :=
    filter (fun '(_, at_) => negb (per_node l) || Pos.eqb at_ n) (list_prod (limited l) (nodes m)).

  Definition within_limits s p n : bool :=
    forallb (fun l => negb (is_asked l p) || (count (instances l n) s <? most l)) (limits m).

  (** ** What must not be there: ports, disks, claims, anti-affinity *)

  (** docs/spec/ports.md; rule/port.rs *)
  Definition holds_port p n a : bool := ports_conflict m p (fst a) && Pos.eqb (snd a) n.

  (** docs/spec/volumes.md; rule/volume_restrictions.rs *)
  Definition holds_disk p n a : bool := disks_conflict m p (fst a) && Pos.eqb (snd a) n.
  Definition holds_claim p a : bool := claims_conflict m p (fst a).

  (** docs/spec/anti-affinity.md; rule/anti_affinity.rs *)
  Definition is_repelled p n a : bool :=
    existsb (fun t => sees m (matcher t) (fst a) (snd a) && near_by (key t) n (snd a)) (dislikes m p).
  Definition repels p n a : bool :=
    existsb (fun t => notices m (matcher t) p && near_by (key t) n (snd a)) (dislikes m (fst a)).

  Definition keeps_away s p n : bool :=
    none_runs (is_repelled p n) s && (negb is_kube || none_runs (repels p n) s).

  (** ** Affinity: docs/spec/affinity.md; rule/pod_affinity.rs *)

  (** Whom all terms see. *)
  Definition friend (ts : list term) a : bool := forallb (fun t => sees m (matcher t) (fst a) (snd a)) ts.

  Definition matches_itself (ts : list term) p : bool := forallb (fun t => sees_unbound m (matcher t) p) ts.

  (** A friend of all terms that is near as one term says. *)
  Definition near_friend ts t n a : bool := friend ts a && near_by (key t) n (snd a).

  (** A friend on a node that has one of the keys. *)
  Definition placed_friend ts a : bool := friend ts a && existsb (fun t => has_key (key t) (snd a)) ts.

  (** All terms together: near a friend for each, or the first of its kind. *)
  Definition affine_kube s p n : bool :=
    let ts := likes m p in
    forallb (fun t => has_key (key t) n) ts
    && (forallb (fun t => some_runs (near_friend ts t n) s) ts
        || (matches_itself ts p && none_runs (placed_friend ts) s)).

  (** Term by term. *)
  Definition affine_paper s p n : bool :=
    forallb (fun t => some_runs (near_friend [t] t n) s
                      || (matches_itself [t] p && none_runs (friend [t]) s)) (likes m p).

  Definition affine s p n : bool := if is_kube then affine_kube s p n else affine_paper s p n.

  (** ** Topology spread: docs/spec/spread.md; rule/spread.rs *)

  (** The domains of the eligible nodes, each once. *)
  Definition eligible_domains (c : constraint) : list id :=
    nodup Pos.eq_dec (flat_map (fun n => match domain_of m (along c) n with Some d => [d] | None => [] end)
                               (filter (looks_at c) (nodes m))).

  Definition in_domain k d n : bool := match domain_of m k n with Some d' => Pos.eqb d' d | None => false end.

  (** The atoms that a constraint counts in a domain. *)
  Definition counted (c : constraint) d : list atom :=
    filter (fun a => counts c && is_counted m (fst a) && looks_at c (snd a)
                     && sees m (whom c) (fst a) (snd a) && in_domain (along c) d (snd a)) atoms.

  Fixpoint least (l : list N) : N :=
    match l with
    | [] => 0
    | [x] => x
    | x :: rest => N.min x (least rest)
    end.

  (** What the emptiest domain has; nothing, where there are too few domains. *)
  Definition emptiest (c : constraint) s : N :=
    let ds := eligible_domains c in
    if min_domains c <=? N.of_nat (length ds) then least (map (fun d => count (counted c d) s) ds) else 0.

  Definition joins_in (c : constraint) p : N := if sees_unbound m (whom c) p then 1 else 0.

  Definition even s p n (c : constraint) : bool :=
    match domain_of m (along c) n with
    | None => false
    | Some d =>
      (is_kube || looks_at c n)
      && (count (counted c d) s + joins_in c p <=? skew c + emptiest c s)
    end.

  (** ** Volume limits: docs/spec/volumes.md; rule/volume_limits.rs *)

  (** The pods on a node that use a volume of a driver. *)
  Definition users d n v : list atom :=
    map (fun q => (q, n)) (filter (fun q => existsb (Pos.eqb v) (shared m q d)) (pods m)).

  Definition private_on d n : list (atom * N) := map (fun q => ((q, n), private m q d)) (pods m).

  (** How many of some volumes are in use on a node, and how many are not. *)
  Definition in_use d n vs s : N := present_groups (map (users d n) vs) s.
  Definition fresh d n vs s : N := N.of_nat (length vs) - in_use d n vs s.

  Definition attachable s p n d : bool :=
    match volume_limit m n d with
    | None => true
    | Some (lim, attached) =>
      let new := fresh d n (shared m p d) s + private m p d in
      (new =? 0) || (total (private_on d n) s + in_use d n (volumes m d) s + attached + new <=? lim)
    end.

  Definition volumes_fit s p n : bool :=
    negb (claim_missing m p) && negb (driver_missing m p n) && forallb (attachable s p n) (drivers m p).

  (** ** All of them *)

  Definition obeys s p n (r : rule) : bool :=
    match r with
    | NodePorts => none_runs (holds_port p n) s
    | NodeResourcesFit => fits s p n
    | VolumeRestrictions =>
        negb (claim_missing m p) && none_runs (holds_disk p n) s && none_runs (holds_claim p) s
    | NodeVolumeLimits => volumes_fit s p n
    | PodTopologySpread => forallb (even s p n) (constraints m p)
    | InterPodAffinity => affine s p n && keeps_away s p n
    | ResourceQuota => within_quotas s p
    | InstanceLimit => within_limits s p n
    end.

  Definition every_rule : list rule :=
    [NodePorts; NodeResourcesFit; VolumeRestrictions; NodeVolumeLimits;
     PodTopologySpread; InterPodAffinity; ResourceQuota; InstanceLimit].

  (** [Hard(p, n, s)] of the paper's definition 1, and what the real filters let in. *)
  Definition lets_in s p n : bool :=
    placeable m p n && forallb (fun r => negb (asks m p r) || obeys s p n r) every_rule.

  (** What the tables say of a pod type: a skew is at least one, and no volume is listed twice. *)
  Record well_formed p : Prop := {
    skew_positive : forall c, In c (constraints m p) -> 1 <= skew c;
    volumes_once : forall d, In d (drivers m p) -> NoDup (volumes m d);
    shared_once : forall d, In d (drivers m p) -> NoDup (shared m p d);
    shared_known : forall d, In d (drivers m p) -> incl (shared m p d) (volumes m d);
  }.
End Rules.
