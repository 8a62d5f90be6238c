//! StatefulSets whose pods have claims of their own: who asks for such a workload asks for its pods, and each of these is a type.
//!
//! ```text
//! db on n1                db-0 on n1,  or  db-1 on n1,  or  db-2 on n1
//! db on n1 and on n2      db-0 on n1 and db-1 on n2,  or  db-1 on n1 and db-0 on n2,  or  …
//! ```
//! There is one pod of each number. The type of the StatefulSet itself stands for pods that have no claims yet: it is one of the
//! alternatives where some of the declared pods have none, or where more pods are asked for than have numbers. Pods of a workload that
//! wait for a node are another type, since they were admitted already; it goes under the same name. So are running pods that carry
//! labels which a new pod would not have.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use podreach_core::cluster::Replicas;
use podreach_core::{Asked, Cluster, Configuration, Goal, Id, NodeId, PodId, Problem};

use super::GoalError;

/// The most ways to choose pods of a StatefulSet that are looked at for one alternative of a goal.
const WAYS: usize = 10_000;

/// The problem in which this is asked.
pub fn asking(problem: &Problem, goal: Goal) -> Result<Problem, GoalError> {
    asked(problem, &problem.model.cluster().replicas, goal)
}

fn asked(problem: &Problem, replicas: &BTreeMap<PodId, Replicas>, goal: Goal) -> Result<Problem, GoalError> {
    let cluster = problem.model.cluster();
    let is_numbered = goal.any.iter().flat_map(Configuration::iter).any(|((pod, _), _)| replicas.contains_key(&pod));
    if !is_numbered {
        return Ok(problem.with_goal(goal));
    }
    let (mut any, mut of) = (Vec::new(), Vec::new());
    for (index, alternative) in goal.any.iter().enumerate() {
        let ways = ways(cluster, replicas, alternative, &|pod, node| there(problem, pod, node));
        let ways = ways.ok_or(GoalError::TooManyWays)?;
        of.extend(ways.iter().map(|_| index));
        any.extend(ways);
    }
    let asked = Some(Arc::new(Asked { goal, of }));
    Ok(Problem { asked, ..problem.with_goal(Goal { any }) })
}

/// How many pods of a type there are at the start, on a node, those that are being deleted among them.
fn there(problem: &Problem, pod: PodId, node: NodeId) -> u64 {
    let types = std::iter::once(pod).chain(problem.model.shadow(pod));
    types.map(|pod| problem.start.count((pod, node))).fold(0, u64::saturating_add)
}

/// The types that pods of a workload can be, its own first where it is one of them.
pub fn types(cluster: &Cluster, pod: PodId) -> Vec<PodId> {
    let Some(Replicas { numbered, others, waiting, carried }) = cluster.replicas.get(&pod) else { return vec![pod] };
    let besides = waiting.iter().chain(carried).chain(numbered.iter().flatten());
    others.then_some(pod).into_iter().chain(besides.copied()).collect()
}

/// The ways to choose so many pods of a workload, each as types and how many of them; `None` if they are too many. Of those that carry
/// labels of their own there are as many as at the start.
pub(crate) fn choices(
    problem: &Problem,
    own: Option<PodId>,
    replicas: &Replicas,
    count: u64,
) -> Option<Vec<Vec<(PodId, u64)>>> {
    let besides = besides(problem.model.cluster(), replicas, |pod| {
        problem.model.nodes().map(|node| there(problem, pod, node)).fold(0, u64::saturating_add)
    });
    let node = NodeId::from_index(0);
    let free: Vec<&Vec<PodId>> = replicas.numbered.iter().collect();
    let least = if replicas.others { 0 } else { free.len() as u64 };
    let mut ways = Vec::new();
    Own { pod: own, least, besides }.choose(&free, (node, count), &Configuration::new(), 0, &mut ways)?;
    Some(ways.into_iter().map(|way| way.iter().map(|((pod, _), count)| (pod, count)).collect()).collect())
}

/// The configurations that are one that was asked for; `None` if they are too many.
fn ways(
    cluster: &Cluster,
    all: &BTreeMap<PodId, Replicas>,
    asked: &Configuration,
    there: &dyn Fn(PodId, NodeId) -> u64,
) -> Option<Vec<Configuration>> {
    let named: BTreeSet<PodId> = asked.iter().map(|((pod, _), _)| pod).collect();
    let mut found = vec![Configuration::new()];
    for ((pod, node), count) in asked.iter() {
        let mut longer = Vec::new();
        for way in &found {
            match all.get(&pod) {
                None => longer.push(with(way, pod, node, count)),
                Some(replicas) => {
                    let free = replicas
                        .numbered
                        .iter()
                        .filter(|types| types.iter().all(|pod| !named.contains(pod) && way.of(*pod).next().is_none()));
                    let free: Vec<&Vec<PodId>> = free.collect();
                    let least = if replicas.others { 0 } else { free.len() as u64 };
                    let besides = besides(cluster, replicas, |pod| there(pod, node));
                    let own = Own { pod: Some(pod), least, besides };
                    own.choose(&free, (node, count), way, 0, &mut longer)?;
                }
            }
        }
        found = longer;
    }
    Some(found)
}

/// The type of a StatefulSet itself, and how many pods with numbers are chosen before it is, if so many are asked for.
struct Own {
    pod: Option<PodId>,
    least: u64,
    /// The other types of pods without numbers.
    besides: Vec<Besides>,
}

/// A type of pods that no step makes more of.
struct Besides {
    pod: PodId,
    /// How many there can be at most: in the cluster if they wait for a node, else on the node that is asked about.
    most: u64,
    waits: bool,
}

impl Besides {
    /// How many of those there can be a configuration has already.
    fn taken(&self, way: &Configuration, node: NodeId) -> u64 {
        let counted = way.of(self.pod).filter(|(at, _)| self.waits || *at == node);
        counted.fold(0, |sum, (_, count)| sum.saturating_add(count))
    }
}

/// Those that wait, as many as there are; and those that carry labels of their own, as many as there are on the node: no step makes
/// another one.
fn besides(cluster: &Cluster, replicas: &Replicas, there: impl Fn(PodId) -> u64) -> Vec<Besides> {
    let waiting = replicas.waiting.and_then(|pod| Some((pod, cluster.waiting.get(&pod)?.count, true)));
    let carried = replicas.carried.iter().map(|&pod| (pod, there(pod), false)).filter(|(_, count, _)| *count > 0);
    waiting.into_iter().chain(carried).map(|(pod, most, waits)| Besides { pod, most, waits }).collect()
}

impl Own {
    /// Adds a way for each choice of pods with numbers, the rest being pods without.
    fn choose(
        &self,
        free: &[&Vec<PodId>],
        (node, count): (NodeId, u64),
        way: &Configuration,
        chosen: u64,
        ways: &mut Vec<Configuration>,
    ) -> Option<()> {
        if ways.len() > WAYS {
            return None;
        }
        if count == 0 {
            ways.push(way.clone());
            return Some(());
        }
        let Some((first, rest)) = free.split_first() else {
            return match self.pod.filter(|_| chosen >= self.least) {
                Some(pod) => Self::without_numbers(&self.besides, pod, (node, count), way, ways),
                None => Some(()),
            };
        };
        for &pod in *first {
            self.choose(rest, (node, count - 1), &with(way, pod, node, 1), chosen + 1, ways)?;
        }
        self.choose(rest, (node, count), way, chosen, ways)
    }

    /// The ways to have so many pods without numbers: those with most pods of the other types come first.
    fn without_numbers(
        besides: &[Besides],
        own: PodId,
        (node, count): (NodeId, u64),
        way: &Configuration,
        ways: &mut Vec<Configuration>,
    ) -> Option<()> {
        if ways.len() > WAYS {
            return None;
        }
        let Some((other, rest)) = besides.split_first() else {
            ways.push(if count > 0 { with(way, own, node, count) } else { way.clone() });
            return Some(());
        };
        let left = other.most.saturating_sub(other.taken(way, node));
        for chosen in (0..=count.min(left)).rev() {
            let way = if chosen > 0 { &with(way, other.pod, node, chosen) } else { way };
            Self::without_numbers(rest, own, (node, count - chosen), way, ways)?;
        }
        Some(())
    }
}

fn with(way: &Configuration, pod: PodId, node: NodeId, count: u64) -> Configuration {
    let mut way = way.clone();
    way.set((pod, node), count);
    way
}

#[cfg(test)]
mod tests {
    use podreach_core::cluster::Waiting;
    use podreach_core::{Model, Semantics};

    use super::*;

    fn ways_of(others: bool, numbers: usize, asked: &[(usize, u64)]) -> Vec<Vec<(usize, usize, u64)>> {
        let pod = PodId::from_index;
        let numbered = (1..=numbers).map(|number| vec![pod(number)]).collect();
        let mut cluster = Cluster::default();
        cluster.replicas.insert(pod(0), Replicas { numbered, others, ..Replicas::default() });
        let asked = asked.iter().map(|&(node, count)| ((pod(0), NodeId::from_index(node)), count)).collect();
        let found = ways(&cluster, &cluster.replicas, &asked, &|_, _| 0).unwrap_or_default();
        let plain = found.into_iter();
        let plain = plain.map(|way| way.iter().map(|((pod, node), n)| (pod.index(), node.index(), n)).collect());
        let mut found: Vec<_> = plain.collect();
        found.sort();
        found
    }

    #[test]
    fn a_workload_is_its_pods() {
        assert_eq!(ways_of(false, 2, &[(0, 1)]), [[(1, 0, 1)], [(2, 0, 1)]]);
        assert_eq!(ways_of(true, 1, &[(0, 1)]), [[(0, 0, 1)], [(1, 0, 1)]]);
    }

    #[test]
    fn there_is_one_pod_of_each_number() {
        let apart = [[(1, 0, 1), (2, 1, 1)], [(1, 1, 1), (2, 0, 1)]];
        assert_eq!(ways_of(false, 2, &[(0, 1), (1, 1)]), apart);
        assert_eq!(ways_of(false, 2, &[(0, 2)]), [[(1, 0, 1), (2, 0, 1)]]);
    }

    #[test]
    fn what_is_more_than_there_are_numbers_has_none() {
        assert_eq!(ways_of(false, 1, &[(0, 3)]), [[(0, 0, 2), (1, 0, 1)]]);
        assert_eq!(ways_of(true, 1, &[(0, 2)]), [vec![(0, 0, 1), (1, 0, 1)], vec![(0, 0, 2)]]);
    }

    #[test]
    fn pods_that_wait_are_pods_of_their_workload() {
        let (own, twin) = (PodId::from_index(0), PodId::from_index(1));
        let mut cluster = Cluster::default();
        cluster.waiting.insert(twin, Waiting { of: own, count: 1 });
        let model = Model::new(cluster, Semantics::KubeScheduler);
        let problem = Problem::new(Arc::new(model), Configuration::new(), Goal::default());
        let replicas = Replicas { others: true, waiting: Some(twin), ..Replicas::default() };
        let ways = choices(&problem, Some(own), &replicas, 2);
        assert_eq!(ways, Some(vec![vec![(own, 1), (twin, 1)], vec![(own, 2)]]));
        assert_eq!(choices(&problem, None, &replicas, 1), Some(Vec::new()));
    }

    #[test]
    fn too_many_ways_are_not_counted() {
        assert!(ways_of(true, 40, &[(0, 20)]).is_empty());
    }
}
