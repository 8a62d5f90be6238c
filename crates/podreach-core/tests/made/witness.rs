//! Pods that come only beside another one, which never comes again and never is there twice.

use std::sync::Arc;

use podreach_core::cluster::{Barred, Cluster, Matcher, Scope, Term};
use podreach_core::selector::{Allowed, Selector};
use podreach_core::testing::{Rng, Shape, problem, random_configuration};
use podreach_core::{Atom, Configuration, Goal, Id, Model, NodeId, PodId, Problem, Semantics};

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
