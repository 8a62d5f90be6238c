//! Pods that come only beside another one, which never comes again and never is there twice; or beside one of two.

use std::sync::Arc;

use podreach_core::cluster::{Barred, Cluster, Matcher, PodSpec, Scope, Term};
use podreach_core::id::{MatcherId, Symbol};
use podreach_core::selector::{Allowed, Selector};
use podreach_core::testing::{Rng, Shape, problem, random_configuration};
use podreach_core::{Atom, Configuration, Goal, Id, Model, NodeId, PodId, Problem, Proof, Semantics};

const ZONE: &str = "topology.kubernetes.io/zone";

fn witness_and_guest() -> [PodId; 2] {
    [0, 1].map(PodId::from_index)
}

/// A small problem with one witness at first, and both together as its goal.
pub(crate) fn with_witness(rng: &mut Rng, case: usize) -> Option<(Problem, [Atom; 2])> {
    let semantics = if case.is_multiple_of(2) { Semantics::KubeScheduler } else { Semantics::Paper };
    let mut cluster = problem(rng, Shape { spread: false, ..Shape::small(semantics) }).model.facts();
    (cluster.pods.len() > 1).then(|| introduce(&mut cluster))?;
    let model = Arc::new(Model::new(cluster, semantics));
    let node = NodeId::from_index(rng.below(model.nodes().len()));
    let pods = witness_and_guest();
    let both = pods.map(|pod| (pod, node));
    let others = random_configuration(rng, &model, 1);
    let mut start: Configuration = others.iter().filter(|((pod, _), _)| !pods.contains(pod)).collect();
    start.add(both[0]);
    let goal = Goal { any: vec![both.iter().map(|&atom| (atom, 1)).collect()] };
    Some((Problem::new(model, start, goal), both))
}

/// The witness is never deployed; the guest asks for it, and nothing else keeps the guest out.
fn introduce(cluster: &mut Cluster) {
    let [witness, guest] = witness_and_guest();
    let mark = mark(cluster, "witness");
    let (key, default) = (cluster.key("kubernetes.io/hostname"), cluster.namespace("default"));
    let spec = Arc::make_mut(&mut cluster.pods[witness].spec);
    spec.namespace = default;
    mark.set(spec);
    never_deployed(spec);
    let spec = Arc::make_mut(&mut cluster.pods[guest].spec);
    spec.affinity = vec![Term { matcher: mark.matcher, key }];
    spec.anti_affinity.clear();
}

/// A small problem with two witnesses, of which one keeps away from a pod that is there at first; and a proof with at-most-one
/// constraints, which is wrong where the other one is a witness indeed: the guest is never there beside that pod.
pub(crate) fn with_either_witness(rng: &mut Rng, case: usize) -> Option<(Problem, Proof)> {
    let semantics = if case.is_multiple_of(2) { Semantics::KubeScheduler } else { Semantics::Paper };
    let shape = Shape { spread: false, pods: 6, ..Shape::small(semantics) };
    let mut cluster = problem(rng, shape).model.facts();
    (cluster.pods.len() >= 4 && cluster.nodes.len() >= 2).then_some(())?;
    let cast = [0, 1, 2, 3].map(PodId::from_index);
    one_zone(&mut cluster);
    give_parts(&mut cluster, cast, rng.one_in(2));
    let model = Arc::new(Model::new(cluster, semantics));
    let nodes: Vec<NodeId> = model.nodes().collect();
    let (dweller, guest) = ((cast[3], nodes[0]), (cast[2], nodes[1]));
    let goal = Goal { any: vec![[(guest, 1), (dweller, 1)].into_iter().collect()] };
    let problem = Problem::new(model, [(dweller, 1)].into_iter().collect(), goal);
    Some((problem.with_standing_goals(), kept_out(&nodes, cast, dweller)))
}

/// All nodes are in one zone.
fn one_zone(cluster: &mut Cluster) {
    let (zone, a) = (cluster.symbols.intern(ZONE), cluster.symbols.intern("a"));
    let nodes: Vec<NodeId> = cluster.nodes.ids().collect();
    nodes.into_iter().for_each(|node| cluster.nodes[node].labels.set(zone, a));
}

/// The first keeps away from the last, which never comes again; it is a witness of the third, and so may the second be.
fn give_parts(cluster: &mut Cluster, [shy, other, guest, dweller]: [PodId; 4], is_witness: bool) {
    let (witness, home) = (mark(cluster, "witness"), mark(cluster, "dweller"));
    let (key, default) = (cluster.key(ZONE), cluster.namespace("default"));
    let mut change = |pod: PodId, change: &dyn Fn(&mut PodSpec)| {
        let spec = Arc::make_mut(&mut cluster.pods[pod].spec);
        (spec.namespace, spec.affinity, spec.anti_affinity) = (default, Vec::new(), Vec::new());
        change(spec);
    };
    change(shy, &|spec| {
        witness.set(spec);
        spec.anti_affinity = vec![Term { matcher: home.matcher, key }];
    });
    change(other, &|spec| if is_witness { witness.set(spec) } else { Default::default() });
    change(guest, &|spec| spec.affinity = vec![Term { matcher: witness.matcher, key }]);
    change(dweller, &|spec| {
        home.set(spec);
        never_deployed(spec);
    });
}

/// What keeps away from the one that is there is never there, nor is whoever needs it.
fn kept_out(nodes: &[NodeId], [shy, other, guest, _]: [PodId; 4], dweller: Atom) -> Proof {
    let atoms = [shy, other, guest].into_iter().flat_map(|pod| nodes.iter().map(move |&node| (pod, node)));
    let classes: Vec<Vec<Atom>> = atoms.chain([dweller]).map(|atom| vec![atom]).collect();
    let (all, last) = (nodes.len(), classes.len() - 1);
    let at_most_one = [0, 2].map(|which| vec![(which * all..(which + 1) * all).collect(), vec![last]]).to_vec();
    Proof { classes, at_most_one, ..Proof::default() }
}

fn never_deployed(spec: &mut PodSpec) {
    spec.barred = Some(Barred::Refused("never deployed".into()));
    spec.labels_are_final = true;
}

/// A value of the label that terms look for, and who has it.
fn mark(cluster: &mut Cluster, value: &str) -> Mark {
    let (app, value) = (cluster.symbols.intern("app"), cluster.symbols.intern(value));
    let selector = Selector::everything().and(app, Allowed::one_of([value]));
    let scope = Scope::only(cluster.namespace("default"));
    Mark { app, value, matcher: cluster.matchers.intern(Matcher { scope, selector }) }
}

struct Mark {
    app: Symbol,
    value: Symbol,
    matcher: MatcherId,
}

impl Mark {
    fn set(&self, spec: &mut PodSpec) {
        spec.labels.set(self.app, self.value);
    }
}
