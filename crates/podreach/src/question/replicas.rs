//! StatefulSets whose pods have claims of their own: who asks for such a workload asks for its pods, each of which is a type.
//!
//! ```text
//! db on n1                db-0 on n1,  or  db-1 on n1,  or  db-2 on n1
//! db on n1 and on n2      db-0 on n1 and db-1 on n2,  or  db-1 on n1 and db-0 on n2,  or  …
//! ```
//! There is one pod of each number. The type of the StatefulSet itself stands for pods that have no claims yet: it is one of the
//! alternatives where some of the declared pods have none, or where more pods are asked for than have numbers. Pods of a workload that
//! wait for a node are a type, too, since they were admitted already; it goes under the same name.

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
    let is_numbered = |(pod, _): (PodId, NodeId)| replicas.contains_key(&pod);
    if !goal.any.iter().any(|alternative| alternative.iter().any(|(atom, _)| is_numbered(atom))) {
        return Ok(problem.with_goal(goal));
    }
    let (mut any, mut of) = (Vec::new(), Vec::new());
    for (index, alternative) in goal.any.iter().enumerate() {
        let ways = ways(cluster, replicas, alternative).ok_or(GoalError::TooManyWays)?;
        of.extend(ways.iter().map(|_| index));
        any.extend(ways);
    }
    let asked = Some(Arc::new(Asked { goal, of }));
    Ok(Problem { asked, ..problem.with_goal(Goal { any }) })
}

/// The types that pods of a workload can be, its own first where it is one of them.
pub fn types(cluster: &Cluster, pod: PodId) -> Vec<PodId> {
    let Some(Replicas { numbered, others, waiting }) = cluster.replicas.get(&pod) else { return vec![pod] };
    others.then_some(pod).into_iter().chain(*waiting).chain(numbered.iter().flatten().copied()).collect()
}

/// The ways to choose so many pods of a workload, each as types and how many of them; `None` if they are too many.
pub(crate) fn choices(
    cluster: &Cluster,
    own: Option<PodId>,
    replicas: &Replicas,
    count: u64,
) -> Option<Vec<Vec<(PodId, u64)>>> {
    let waiting = waiting(cluster, replicas);
    let node = NodeId::from_index(0);
    let free: Vec<&Vec<PodId>> = replicas.numbered.iter().collect();
    let least = if replicas.others { 0 } else { free.len() as u64 };
    let mut ways = Vec::new();
    Own { pod: own, least, waiting }.choose(&free, (node, count), &Configuration::new(), 0, &mut ways)?;
    Some(ways.into_iter().map(|way| way.iter().map(|((pod, _), count)| (pod, count)).collect()).collect())
}

/// The configurations that are one that was asked for; `None` if they are too many.
fn ways(cluster: &Cluster, all: &BTreeMap<PodId, Replicas>, asked: &Configuration) -> Option<Vec<Configuration>> {
    let named: BTreeSet<PodId> = asked.iter().map(|((pod, _), _)| pod).collect();
    let mut found = vec![Configuration::new()];
    for ((pod, node), count) in asked.iter() {
        let mut longer = Vec::new();
        for way in &found {
            match all.get(&pod) {
                None => longer.push(with(way, pod, node, count)),
                Some(replicas) => {
                    let free = |types: &&Vec<PodId>| {
                        types.iter().all(|pod| !named.contains(pod) && way.of(*pod).next().is_none())
                    };
                    let free: Vec<&Vec<PodId>> = replicas.numbered.iter().filter(free).collect();
                    let waiting = waiting(cluster, replicas);
                    let own =
                        Own { pod: Some(pod), waiting, least: if replicas.others { 0 } else { free.len() as u64 } };
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
    /// The type of those that wait, and how many they are.
    waiting: Option<(PodId, u64)>,
}

fn waiting(cluster: &Cluster, replicas: &Replicas) -> Option<(PodId, u64)> {
    replicas.waiting.and_then(|pod| Some((pod, cluster.waiting.get(&pod)?.count)))
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
            if let Some(pod) = self.pod.filter(|_| chosen >= self.least) {
                ways.extend(self.waiting_first(pod, (node, count), way));
            }
            return Some(());
        };
        for &pod in *first {
            self.choose(rest, (node, count - 1), &with(way, pod, node, 1), chosen + 1, ways)?;
        }
        self.choose(rest, (node, count), way, chosen, ways)
    }

    /// The ways to have so many pods without numbers: those in which most of them are pods that wait come first.
    fn waiting_first(
        &self,
        own: PodId,
        (node, count): (NodeId, u64),
        way: &Configuration,
    ) -> impl Iterator<Item = Configuration> {
        let taken = |pod: PodId| way.of(pod).fold(0, |sum: u64, (_, count)| sum.saturating_add(count));
        let (twin, most) = self.waiting.map_or((own, 0), |(pod, all)| (pod, count.min(all.saturating_sub(taken(pod)))));
        let ways = (0..=most).rev().map(move |bound| {
            let way = if bound > 0 { with(way, twin, node, bound) } else { way.clone() };
            if count > bound { with(&way, own, node, count - bound) } else { way }
        });
        ways.collect::<Vec<_>>().into_iter()
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

    use super::*;

    fn ways_of(others: bool, numbers: usize, asked: &[(usize, u64)]) -> Vec<Vec<(usize, usize, u64)>> {
        let pod = PodId::from_index;
        let numbered = (1..=numbers).map(|number| vec![pod(number)]).collect();
        let mut cluster = Cluster::default();
        cluster.replicas.insert(pod(0), Replicas { numbered, others, waiting: None });
        let entry = |&(node, count): &(usize, u64)| ((pod(0), NodeId::from_index(node)), count);
        let found = ways(&cluster, &cluster.replicas, &asked.iter().map(entry).collect()).unwrap_or_default();
        let plain = |way: Configuration| way.iter().map(|((pod, node), n)| (pod.index(), node.index(), n)).collect();
        let mut found: Vec<_> = found.into_iter().map(plain).collect();
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
        let replicas = Replicas { numbered: Vec::new(), others: true, waiting: Some(twin) };
        let ways = choices(&cluster, Some(own), &replicas, 2);
        assert_eq!(ways, Some(vec![vec![(own, 1), (twin, 1)], vec![(own, 2)]]));
        assert_eq!(choices(&cluster, None, &replicas, 1), Some(Vec::new()));
    }

    #[test]
    fn too_many_ways_are_not_counted() {
        assert!(ways_of(true, 40, &[(0, 20)]).is_empty());
    }
}
