//! Pods that come only beside another one, which never comes again and never is there twice; or beside one of two.

use std::sync::Arc;

use podreach_core::cluster::{Barred, Cluster, Matcher, PodSpec, Scope, Term};
use podreach_core::id::{MatcherId, Symbol};
use podreach_core::selector::{Allowed, Selector};
use podreach_core::testing::{Rng, Shape, problem, random_configuration};
use podreach_core::{Atom, Configuration, Goal, Id, Model, NodeId, PodId, Problem, Proof, Semantics};

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
    let (app, mark) = (cluster.symbols.intern("app"), cluster.symbols.intern("witness"));
    let key = cluster.key("kubernetes.io/hostname");
    let witness = Arc::make_mut(&mut cluster.pods[witness].spec);
    witness.labels.set(app, mark);
    witness.barred = Some(Barred::Refused("never deployed".into()));
    witness.labels_are_final = true;
    let scope = Scope::only(witness.namespace);
    let selector = Selector::everything().and(app, Allowed::one_of([mark]));
    let matcher = cluster.matchers.intern(Matcher { scope, selector });
    let guest = Arc::make_mut(&mut cluster.pods[guest].spec);
    guest.affinity = vec![Term { matcher, key }];
    guest.anti_affinity.clear();
}

/// A small problem with two witnesses, of which one keeps away from a pod that is there at first; and a proof with laws, which is wrong where
/// the other one is a witness indeed: the guest is never there beside that pod.
pub(crate) fn with_either_witness(rng: &mut Rng, case: usize) -> Option<(Problem, Proof)> {
    let semantics = if case.is_multiple_of(2) { Semantics::KubeScheduler } else { Semantics::Paper };
    let shape = Shape { spread: false, pods: 6, ..Shape::small(semantics) };
    let mut cluster = problem(rng, shape).model.facts();
    (cluster.pods.len() >= 4 && cluster.nodes.len() >= 2).then_some(())?;
    let pods @ [shy, other, guest, dweller] = [0, 1, 2, 3].map(PodId::from_index);
    let (witness, home) = (mark(&mut cluster, "witness"), mark(&mut cluster, "dweller"));
    let key = cluster.key("topology.kubernetes.io/zone");
    let (zone, a, default) = (
        cluster.symbols.intern("topology.kubernetes.io/zone"),
        cluster.symbols.intern("a"),
        cluster.namespace("default"),
    );
    cluster.nodes.ids().collect::<Vec<_>>().into_iter().for_each(|node| cluster.nodes[node].labels.set(zone, a));
    for pod in pods {
        let spec = Arc::make_mut(&mut cluster.pods[pod].spec);
        (spec.namespace, spec.affinity, spec.anti_affinity) = (default, Vec::new(), Vec::new());
    }
    let mut change = |pod: PodId, change: &dyn Fn(&mut PodSpec)| change(Arc::make_mut(&mut cluster.pods[pod].spec));
    change(shy, &|spec| {
        witness.set(spec);
        spec.anti_affinity = vec![Term { matcher: home.matcher, key }];
    });
    if rng.one_in(2) {
        change(other, &|spec| witness.set(spec));
    }
    change(guest, &|spec| spec.affinity = vec![Term { matcher: witness.matcher, key }]);
    change(dweller, &|spec| {
        home.set(spec);
        spec.barred = Some(Barred::Refused("never deployed".into()));
        spec.labels_are_final = true;
    });
    let model = Arc::new(Model::new(cluster, semantics));
    let nodes: Vec<NodeId> = model.nodes().collect();
    let [at, away] = [nodes[0], nodes[1]];
    let classes: Vec<Vec<Atom>> = [shy, other, guest]
        .iter()
        .flat_map(|&pod| nodes.iter().map(move |&node| vec![(pod, node)]))
        .chain([vec![(dweller, at)]])
        .collect();
    let (n, last) = (nodes.len(), classes.len() - 1);
    let laws = vec![vec![(0..n).collect(), vec![last]], vec![(2 * n..3 * n).collect(), vec![last]]];
    let goal = Goal { any: vec![[((guest, away), 1), ((dweller, at), 1)].into_iter().collect()] };
    let start = [((dweller, at), 1)].into_iter().collect();
    Some((Problem::new(model, start, goal).with_standing_goals(), Proof { classes, laws, ..Proof::default() }))
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
