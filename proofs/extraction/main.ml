(* podreach-proved: reads questions with certificates, and says of each whether the proved checker accepts it.

   One word per line of input says what the line is about; ../README.md has them all. Everything here is trusted, and does nothing but
   put numbers into tables: what is not in a document is nowhere in the question.

   Exit status: 0 if all are accepted, 1 if one is refused, 2 if one is none. *)

open Proved

let fail number what =
  Printf.eprintf "line %d: %s\n" number what;
  exit 2

(* Numbers. Identifiers are small and start at one; amounts are as large as they like. *)

let rec positive n =
  if n = 1 then XH else if n land 1 = 1 then XI (positive (n lsr 1)) else XO (positive (n lsr 1))

let natural n = if n = 0 then N0 else Npos (positive n)

let amount word =
  let digit sum c =
    if c < '0' || c > '9' then failwith ("no number: " ^ word);
    N.add (N.mul sum (natural 10)) (natural (Char.code c - 48))
  in
  if word = "" then failwith "no number" else String.fold_left digit N0 word

let number word =
  let digits = word <> "" && String.for_all (fun c -> c >= '0' && c <= '9') word in
  match if digits then int_of_string_opt word else None with Some n -> n | None -> failwith ("no number: " ^ word)

(* The number of a class, which need not exist: those that no list can have are all the same. *)
let class_number word = if String.length word > 9 then max_int else number word

let id word = match number word with 0 -> failwith "identifiers start at one" | n -> positive n

let rec nat n = if n = 0 then O else S (nat (n - 1))

let flag = function "1" -> true | "0" -> false | word -> failwith ("neither 0 nor 1: " ^ word)

let rec pairs make = function
  | [] -> []
  | a :: b :: rest -> make a b :: pairs make rest
  | [ word ] -> failwith ("half a pair: " ^ word)

let rec counted = function
  | [] -> []
  | p :: n :: count :: rest -> ((id p, id n), amount count) :: counted rest
  | _ -> failwith "not in threes"

(* The parts of an at-most-one constraint, between bars. *)
let parts_of words =
  let add (part, parts) = function
    | "|" -> ([], List.rev part :: parts)
    | word -> (class_number word :: part, parts)
  in
  let last, parts = List.fold_left add ([], []) words in
  List.rev (List.rev last :: parts)

(* A document on its way: tables by what they are looked up with. *)

type document = {
  mutable semantics : semantics option;
  mutable pods : positive list;
  mutable nodes : positive list;
  mutable resources : positive list;
  mutable number_of_pods : positive option;
  lists : (string * positive * positive, positive list) Hashtbl.t;
  amounts : (string * positive * positive, n) Hashtbl.t;
  facts : (string * positive * positive * positive, unit) Hashtbl.t;
  terms : (string * positive, term list) Hashtbl.t;
  constraints : (positive, constraint0 list) Hashtbl.t;
  volume_limits : (positive * positive, n * n) Hashtbl.t;
  mutable limits : limit list;
  mutable begins : (atom * n) list;
  mutable stays : (atom * n) list;
  mutable dying : (positive * positive) list;
  mutable waits : (positive * atom) list;
  mutable goal : (atom * n) list list;
  mutable running : bool;
  mutable classes : atom list list;
  mutable forbidden : (int * n) list list;
  mutable apart : int list list list;
  mutable choices : (atom * n) list list;
  mutable exchanges : (positive * positive) list list;
  mutable shapes : positive list list;
  mutable helpers : positive list;
  mutable keys : positive list;
  mutable trace : atom action list;
  mutable ruled_out : (atom * n) list list;
  mutable wants : atom want list;
  mutable laws : (law * n) list;
  mutable verdict : string option;
  mutable questions : (rule option * atom) list;
}

let fresh () =
  let table () = Hashtbl.create 64 in
  { semantics = None; pods = []; nodes = []; resources = []; number_of_pods = None; lists = table (); amounts = table ();
    facts = table (); terms = table (); constraints = table (); volume_limits = table (); limits = []; begins = []; stays = [];
    dying = []; waits = []; goal = []; running = false; classes = []; forbidden = []; apart = []; choices = []; exchanges = []; shapes = []; helpers = []; keys = []; trace = []; ruled_out = []; wants = []; laws = []; verdict = None; questions = [] }

let none = XH
let look table key default = match Hashtbl.find_opt table key with Some found -> found | None -> default

let said what = function Some found -> found | None -> failwith ("it does not say its " ^ what)

let rule_name = function
  | NodePorts -> "NodePorts"
  | NodeResourcesFit -> "NodeResourcesFit"
  | VolumeRestrictions -> "VolumeRestrictions"
  | NodeVolumeLimits -> "NodeVolumeLimits"
  | PodTopologySpread -> "PodTopologySpread"
  | InterPodAffinity -> "InterPodAffinity"
  | ResourceQuota -> "ResourceQuota"
  | InstanceLimit -> "InstanceLimit"

let rules =
  [ NodePorts; NodeResourcesFit; VolumeRestrictions; NodeVolumeLimits; PodTopologySpread; InterPodAffinity; ResourceQuota; InstanceLimit ]

let rule name =
  match List.find_opt (fun r -> rule_name r = name) rules with Some r -> r | None -> failwith ("no rule: " ^ name)

let model d : model =
  let list name a b = look d.lists (name, a, b) [] in
  let amount name a b = look d.amounts (name, a, b) N0 in
  let fact name a b c = Hashtbl.mem d.facts (name, a, b, c) in
  { rules = said "semantics" d.semantics; pods = d.pods; nodes = d.nodes;
    placeable = (fun p n -> fact "placeable" p n none);
    asks = (fun p r -> fact ("asks " ^ rule_name r) p none none);
    resources = d.resources;
    listed = (fun p -> list "listed" p none);
    number_of_pods = said "number-of-pods" d.number_of_pods;
    request = (fun p r -> amount "request" p r);
    allocatable = (fun n r -> amount "allocatable" n r);
    domain_of = (fun k n -> match list "domain" k n with [ found ] -> Some found | _ -> None);
    sees = (fun x p n -> fact "sees" x p n);
    sees_unbound = (fun x p -> fact "unbound" x p none);
    notices = (fun x p -> fact "notices" x p none);
    likes = (fun p -> look d.terms ("likes", p) []);
    dislikes = (fun p -> look d.terms ("dislikes", p) []);
    constraints = (fun p -> look d.constraints p []);
    is_counted = (fun p -> fact "counted" p none none);
    ports_conflict = (fun p q -> fact "ports" p q none);
    disks_conflict = (fun p q -> fact "disks" p q none);
    claims_conflict = (fun p q -> fact "claims" p q none);
    claim_missing = (fun p -> fact "claim-missing" p none none);
    quotas = (fun p -> list "quotas" p none);
    takes = (fun p k -> amount "takes" p k);
    grants = (fun k -> amount "grants" k none);
    limits = d.limits;
    drivers = (fun p -> list "drivers" p none);
    driver_missing = (fun p n -> fact "driver-missing" p n none);
    volume_limit = (fun n v -> Hashtbl.find_opt d.volume_limits (n, v));
    volumes = (fun v -> list "volumes" v none);
    shared = (fun p v -> list "shared" p v);
    private0 = (fun p v -> amount "private" p v) }

(* The law of a line. Quotas and limits are told before; limits are numbered in their order. *)
let law d = function
  | [ "capacity"; n; r ] -> Capacity (id n, id r)
  | [ "quota"; k ] when Hashtbl.mem d.amounts ("grants", id k, none) -> Quota (id k)
  | [ "limit"; index ] when number index >= 1 && number index <= List.length d.limits -> Limit (nat (number index - 1))
  | "few" :: most :: atoms -> Few (pairs (fun p n -> (id p, id n)) atoms, amount most)
  | [ "below"; p; n; count ] -> Below ((id p, id n), amount count)
  | words -> failwith ("no law: " ^ String.concat " " words)

(* A place of the want that was told last; places are in no order. *)
let add_place d found =
  match d.wants with
  | [] -> failwith "a place without a want"
  | last :: others -> d.wants <- { last with places = found :: last.places } :: others

let question d : question = { cluster = model d; begins = d.begins; stays = d.stays; dying = d.dying; waits = d.waits }

(* Lines. *)

let add_fact d name a b c = Hashtbl.replace d.facts (name, a, b, c) ()
let add_last table key x = Hashtbl.replace table key (look table key [] @ [ x ])

let line d = function
  | [ "semantics"; "kube-scheduler" ] -> d.semantics <- Some KubeScheduler
  | [ "semantics"; "paper" ] -> d.semantics <- Some Paper
  | "pods" :: ids -> d.pods <- List.map id ids
  | "nodes" :: ids -> d.nodes <- List.map id ids
  | "resources" :: ids -> d.resources <- List.map id ids
  | [ "number-of-pods"; r ] -> d.number_of_pods <- Some (id r)
  | "placeable" :: p :: ns -> List.iter (fun n -> add_fact d "placeable" (id p) (id n) none) ns
  | "asks" :: p :: names -> List.iter (fun r -> add_fact d ("asks " ^ rule_name (rule r)) (id p) none none) names
  | [ "request"; p; r; n ] ->
      add_last d.lists ("listed", id p, none) (id r);
      Hashtbl.replace d.amounts ("request", id p, id r) (amount n)
  | [ "allocatable"; node; r; n ] -> Hashtbl.replace d.amounts ("allocatable", id node, id r) (amount n)
  | [ "domain"; k; n; found ] -> Hashtbl.replace d.lists ("domain", id k, id n) [ id found ]
  | "sees" :: x :: p :: ns -> List.iter (fun n -> add_fact d "sees" (id x) (id p) (id n)) ns
  | "unbound" :: x :: ps -> List.iter (fun p -> add_fact d "unbound" (id x) (id p) none) ps
  | "notices" :: x :: ps -> List.iter (fun p -> add_fact d "notices" (id x) (id p) none) ps
  | ("likes" | "dislikes") as name :: p :: [ x; k ] -> add_last d.terms (name, id p) { matcher = id x; key = id k }
  | "spread" :: p :: x :: k :: skew :: least :: counts :: ns ->
      let eligible = List.map id ns in
      let found =
        { whom = id x; along = id k; skew = amount skew; min_domains = amount least; counts = flag counts;
          looks_at = (fun n -> List.mem n eligible) }
      in
      add_last d.constraints (id p) found
  | "counted" :: ps -> List.iter (fun p -> add_fact d "counted" (id p) none none) ps
  | ("ports" | "disks" | "claims") as name :: p :: qs -> List.iter (fun q -> add_fact d name (id p) (id q) none) qs
  | "claim-missing" :: ps -> List.iter (fun p -> add_fact d "claim-missing" (id p) none none) ps
  | [ "takes"; p; k; n ] ->
      add_last d.lists ("quotas", id p, none) (id k);
      Hashtbl.replace d.amounts ("takes", id p, id k) (amount n)
  | [ "grants"; k; n ] -> Hashtbl.replace d.amounts ("grants", id k, none) (amount n)
  | "limit" :: most :: per_node :: rest ->
      let rec split before = function
        | "asked" :: asked -> (List.rev before, asked)
        | p :: rest -> split (id p :: before) rest
        | [] -> failwith "a limit that asks nobody says so"
      in
      let limited, asked = split [] rest in
      let asked = List.map id asked in
      let found = { limited; most = amount most; per_node = flag per_node; is_asked = (fun p -> List.mem p asked) } in
      d.limits <- d.limits @ [ found ]
  | "drivers" :: p :: vs -> Hashtbl.replace d.lists ("drivers", id p, none) (List.map id vs)
  | "driver-missing" :: p :: ns -> List.iter (fun n -> add_fact d "driver-missing" (id p) (id n) none) ns
  | [ "volume-limit"; n; v; limit; attached ] -> Hashtbl.replace d.volume_limits (id n, id v) (amount limit, amount attached)
  | "volumes" :: v :: ids -> Hashtbl.replace d.lists ("volumes", id v, none) (List.map id ids)
  | "shared" :: p :: v :: ids -> Hashtbl.replace d.lists ("shared", id p, id v) (List.map id ids)
  | [ "private"; p; v; n ] -> Hashtbl.replace d.amounts ("private", id p, id v) (amount n)
  | "start" :: atoms -> d.begins <- d.begins @ counted atoms
  | "kept" :: atoms -> d.stays <- d.stays @ counted atoms
  | [ "dying"; p; shadow ] -> d.dying <- d.dying @ [ (id p, id shadow) ]
  | [ "waits"; p; waiting; nowhere ] -> d.waits <- d.waits @ [ (id p, (id waiting, id nowhere)) ]
  | "goal" :: atoms -> d.goal <- counted atoms :: d.goal
  | [ "running" ] -> d.running <- true
  | "class" :: atoms -> d.classes <- pairs (fun p n -> (id p, id n)) atoms :: d.classes
  | "forbidden" :: group -> d.forbidden <- pairs (fun c n -> (class_number c, amount n)) group :: d.forbidden
  | "apart" :: parts -> d.apart <- parts_of parts :: d.apart
  | "choice" :: atoms -> d.choices <- counted atoms :: d.choices
  | "exchange" :: nodes -> d.exchanges <- pairs (fun f t -> (id f, id t)) nodes :: d.exchanges
  | "shape" :: nodes -> d.shapes <- List.map id nodes :: d.shapes
  | "helpers" :: ids -> d.helpers <- List.map id ids
  | "keys" :: ids -> d.keys <- List.map id ids
  | "face" :: face :: nodes -> List.iter (fun n -> Hashtbl.replace d.lists ("face", id n, none) [ id face ]) nodes
  | [ "deploy"; p; n ] -> d.trace <- Deploy (id p, id n) :: d.trace
  | [ "delete"; p; n ] -> d.trace <- Delete (id p, id n) :: d.trace
  | [ "terminate"; p; n ] -> d.trace <- Terminate (id p, id n) :: d.trace
  | "ruled-out" :: atoms -> d.ruled_out <- counted atoms :: d.ruled_out
  | [ "want"; count; worth ] -> d.wants <- { wanted = amount count; places = []; worth = amount worth } :: d.wants
  | "place" :: most :: price :: atoms ->
      add_place d { spots = pairs (fun p n -> (id p, id n)) atoms; at_most_here = amount most; price = amount price }
  | "law" :: times :: words -> d.laws <- (law d words, amount times) :: d.laws
  | [ "verdict"; verdict ] -> d.verdict <- Some verdict
  | "ask" :: ask ->
      let alone, atoms =
        match ask with
        | name :: atoms when name <> "" && (name.[0] < '0' || name.[0] > '9') -> (Some (rule name), atoms)
        | atoms -> (None, atoms)
      in
      d.questions <- List.rev_append (pairs (fun p n -> (alone, (id p, id n))) atoms) d.questions
  | words -> failwith ("not understood: " ^ String.concat " " words)

(* How many pods a search adds before it gives up. *)
let fuel = nat 400

(* Classes by their numbers; one that does not exist goes by the first number that no class has. *)
let class_of classes c = nat (min c classes)
let group classes = List.map (fun (c, n) -> (class_of classes c, n))

let answer d =
  let q = question d in
  let accepted found = if found then "proved" else "refused" in
  let goal = List.rev d.goal in
  match said "verdict" d.verdict with
  | "never" ->
      let classes = List.rev d.classes in
      let forbidden = List.rev_map (group (List.length classes)) d.forbidden in
      let apart = List.rev_map (List.map (List.map (class_of (List.length classes)))) d.apart in
      let face n = match look d.lists ("face", n, none) [] with [ found ] -> found | _ -> none in
      let exchanges = List.rev d.exchanges in
      if d.shapes <> [] then
        if d.choices <> [] || exchanges <> [] || apart <> [] then failwith "nodes that come are in proofs of groups alone"
        else
          let check = if d.running then accepts_elastic_asked_quickly else accepts_elastic_quickly in
          accepted (check q d.shapes fuel goal classes forbidden face d.keys)
      else if not d.running then
        accepted (accepts_goal_quickly q fuel goal (List.rev d.choices) classes forbidden apart exchanges d.helpers face d.keys)
      else if d.choices <> [] then failwith "choices are met by pods that stay"
      else accepted (accepts_asked_quickly q fuel goal classes forbidden apart exchanges d.helpers face d.keys)
  | "short" -> accepted (accepts_short_quickly q (List.rev d.ruled_out) (List.rev d.wants) (List.rev d.laws))
  | "deployable" -> accepted (accepts_trace q goal (List.rev d.trace))
  | "rules" ->
      let s = lookup atom_eq_dec d.begins in
      let lets_in (alone, (p, n)) =
        match alone with None -> lets_in q.cluster s p n | Some r -> (not (q.cluster.asks p r)) || obeys q.cluster s p n r
      in
      String.concat "" (List.rev_map (fun asked -> if lets_in asked then "1" else "0") d.questions)
  | other -> failwith ("no verdict: " ^ other)

(* What cannot be read or answered is an error with its line; what is too large for this machine, too. *)
let attempt number work =
  match work () with
  | found -> found
  | exception Failure what -> fail number what
  | exception Stack_overflow -> fail number "too large to check: the stack is full"
  | exception Out_of_memory -> fail number "too large to check: the memory is full"

let () =
  let refused = ref false in
  let rec read d number =
    match input_line stdin with
    | exception End_of_file -> if d <> None then fail number "a document without an end"
    | text -> (
        match List.filter (( <> ) "") (String.split_on_char ' ' text) with
        | [] -> read d (number + 1)
        | word :: _ when word.[0] = '#' -> read d (number + 1)
        | [ "end" ] ->
            let current = match d with Some d -> d | None -> fail number "an end without a document" in
            let said = attempt number (fun () -> answer current) in
            refused := !refused || said = "refused";
            print_endline said;
            read None (number + 1)
        | words ->
            let current = match d with Some d -> d | None -> fresh () in
            attempt number (fun () -> line current words);
            read (Some current) (number + 1))
  in
  match read None 1 with
  | () -> if !refused then exit 1
  | exception Sys_error what ->
      prerr_endline what;
      exit 2
