//! Traces: steps that lead from the start to the goal.
//!
//! A run may take a billion steps and be about a hundred atoms. So each atom is listed once, and a step is a number.

use std::fmt;
use std::ops::Index;

use crate::configuration::{Atom, Configuration};
use crate::id::{IdMap, PodId};
use crate::model::Model;
use crate::step::Action;

/// Steps, one after the other.
#[derive(Clone, Default)]
pub struct Trace {
    /// Each atom that the steps are about: how it is deployed, deleted and terminated, and how its node settles. Of a pod type that
    /// waits for a node, nothing but that it no longer does; and of some nodes that they come and go.
    atoms: Vec<[Action; 4]>,
    /// Each step: four times the place of its atom, and which of the four it is.
    steps: Vec<u32>,
}

const DEPLOY: u32 = 0;
const DELETE: u32 = 1;
const TERMINATE: u32 = 2;
const SETTLE: u32 = 3;

impl Trace {
    /// No step yet, for so many about these atoms, each of which is listed once.
    ///
    /// # Panics
    /// If there are 2³⁰ atoms or more.
    pub fn over(m: &Model, atoms: &[Atom], steps: usize) -> Self {
        let mut trace = Self { atoms: Vec::with_capacity(atoms.len()), steps: Vec::with_capacity(steps) };
        for &atom in atoms {
            match m.deletion(atom) {
                withdraw @ Action::Withdraw(_) => trace.list_alone([withdraw; 4]),
                _ => trace.list(atom),
            };
        }
        trace
    }

    /// Lists one more atom; returns its place.
    fn list(&mut self, (pod, node): Atom) -> u32 {
        let (deploy, delete) = (Action::Deploy(pod, node), Action::Delete(pod, node));
        self.list_alone([deploy, delete, Action::Terminate(pod, node), Action::Settle(node)])
    }

    /// One more step: deploys the atom at this place.
    pub fn deploy(&mut self, place: u32) {
        self.steps.push(place << 2 | DEPLOY);
    }

    /// One more step: deletes the atom at this place.
    pub fn delete(&mut self, place: u32) {
        self.steps.push(place << 2 | DELETE);
    }

    /// One more step: begins to delete the atom at this place.
    pub fn terminate(&mut self, place: u32) {
        self.steps.push(place << 2 | TERMINATE);
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The step at an index; `None` after the last.
    pub fn get(&self, index: usize) -> Option<Action> {
        self.steps.get(index).map(|&step| *self.action(step))
    }

    /// The steps in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Action> + DoubleEndedIterator + Clone {
        self.steps.iter().map(|&step| *self.action(step))
    }

    /// Lists steps that change no atom: of a pod type whose waiting pods are deleted, or of a node; returns their place.
    fn list_alone(&mut self, actions: [Action; 4]) -> u32 {
        assert!(self.atoms.len() < 1 << 30, "a step is a number of 32 bits");
        self.atoms.push(actions);
        self.atoms.len() as u32 - 1
    }

    fn action(&self, step: u32) -> &Action {
        &self.atoms[(step >> 2) as usize][(step & 3) as usize]
    }

    /// What runs after the first so many steps, if all of them are legal: none is looked at for itself.
    pub fn after(&self, steps: usize, m: &Model, start: &Configuration) -> Configuration {
        let mut changes = vec![[0_u64; 4]; self.atoms.len()];
        for &step in self.steps.iter().take(steps) {
            changes[(step >> 2) as usize][(step & 3) as usize] += 1;
        }
        let mut s = start.clone();
        let taken = || self.atoms.iter().flatten().zip(changes.iter().flatten()).filter(|&(_, &times)| times > 0);
        // All that come, then all that go: some go as something else that came before.
        for (&action, &times) in taken() {
            let came = match action {
                Action::Deploy(pod, node) => Some((pod, node)),
                Action::Terminate(pod, node) => m.shadow(pod).map(|shadow| (shadow, node)),
                Action::Settle(node) => {
                    s.settle(node);
                    None
                }
                Action::Delete(..) | Action::Withdraw(_) | Action::Add(_) | Action::Remove(_) => None,
            };
            came.into_iter().for_each(|atom| s.set(atom, s.count(atom).saturating_add(times)));
        }
        for (&action, &times) in taken() {
            let went = match action {
                Action::Delete(pod, node) | Action::Terminate(pod, node) => Some((pod, node)),
                Action::Deploy(pod, _) | Action::Withdraw(pod) => m.consumed(pod),
                Action::Settle(_) | Action::Add(_) | Action::Remove(_) => None,
            };
            went.into_iter().for_each(|atom| s.set(atom, s.count(atom).saturating_sub(times)));
        }
        s
    }
}

impl FromIterator<Action> for Trace {
    fn from_iter<It: IntoIterator<Item = Action>>(actions: It) -> Self {
        let (mut trace, mut places) = (Self::default(), IdMap::default());
        let (mut waiting, mut moving) = (IdMap::default(), IdMap::default());
        for action in actions {
            let (atom, step) = match action {
                Action::Deploy(pod, node) => ((pod, node), DEPLOY),
                Action::Delete(pod, node) => ((pod, node), DELETE),
                Action::Terminate(pod, node) => ((pod, node), TERMINATE),
                // Any pod will do: the step is about the node alone.
                Action::Settle(node) => ((PodId::MIN, node), SETTLE),
                Action::Withdraw(pod) => {
                    let place = *waiting.entry(pod).or_insert_with(|| trace.list_alone([action; 4]));
                    trace.delete(place);
                    continue;
                }
                Action::Add(node) | Action::Remove(node) => {
                    let (add, remove) = (Action::Add(node), Action::Remove(node));
                    let place = *moving.entry(node).or_insert_with(|| trace.list_alone([add, remove, add, remove]));
                    trace.steps.push(place << 2 | if action == add { DEPLOY } else { DELETE });
                    continue;
                }
            };
            let place = *places.entry(atom).or_insert_with_key(|&atom| trace.list(atom));
            trace.steps.push(place << 2 | step);
        }
        trace
    }
}

impl Index<usize> for Trace {
    type Output = Action;

    fn index(&self, index: usize) -> &Action {
        self.action(self.steps[index])
    }
}

/// The same steps, however they are listed.
impl PartialEq for Trace {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Trace {}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Cluster;
    use crate::id::{Id, NodeId};
    use crate::model::Semantics;
    use crate::testing::Rng;

    fn random(rng: &mut Rng) -> Vec<Action> {
        let actions = (0..20).map(|_| {
            let (pod, node) = (PodId::from_index(rng.below(4)), NodeId::from_index(rng.below(3)));
            if rng.one_in(2) { Action::Deploy(pod, node) } else { Action::Delete(pod, node) }
        });
        actions.collect()
    }

    #[test]
    fn a_trace_has_the_steps_it_was_made_of() {
        let mut rng = Rng::new(83);
        for _ in 0..500 {
            let (actions, others) = (random(&mut rng), random(&mut rng));
            let trace: Trace = actions.iter().copied().collect();
            assert!(trace.iter().eq(actions.iter().copied()) && trace.len() == actions.len());
            assert!(trace.iter().rev().eq(actions.iter().rev().copied()));
            assert_eq!((trace[7], trace.get(7), trace.get(20)), (actions[7], Some(actions[7]), None));
            assert_eq!(trace == others.iter().copied().collect(), actions == others);
            assert_eq!(format!("{trace:?}"), format!("{actions:?}"));
        }
    }

    #[test]
    fn traces_are_equal_if_their_steps_are() {
        let atoms = [(PodId::from_index(0), NodeId::from_index(0)), (PodId::from_index(1), NodeId::from_index(0))];
        let m = Model::new(Cluster::default(), Semantics::Paper);
        let mut listed = Trace::over(&m, &[atoms[1], atoms[0]], 2);
        listed.deploy(1);
        listed.delete(0);
        let [a, b] = atoms;
        let made: Trace = [Action::Deploy(a.0, a.1), Action::Delete(b.0, b.1)].into_iter().collect();
        assert_eq!(listed, made);
        listed.delete(1);
        assert_ne!(listed, made);
    }

    #[test]
    fn what_runs_after_some_steps_is_what_taking_them_leads_to() {
        let mut rng = Rng::new(89);
        let m = Model::new(Cluster::default(), Semantics::Paper);
        let start: Configuration = [((PodId::from_index(0), NodeId::from_index(1)), 2)].into_iter().collect();
        for _ in 0..500 {
            let mut s = start.clone();
            let mut is_taken = |action: &Action| {
                match *action {
                    Action::Deploy(pod, node) => s.add((pod, node)),
                    Action::Delete(pod, node) if s.count((pod, node)) > 0 => s.remove((pod, node)),
                    _ => return false,
                }
                true
            };
            let trace: Trace = random(&mut rng).into_iter().filter(|action| is_taken(action)).collect();
            assert_eq!(trace.after(usize::MAX, &m, &start), s);
            // Back from the end, one step at a time.
            for (taken, action) in trace.iter().enumerate().rev() {
                match action {
                    Action::Deploy(pod, node) => s.remove((pod, node)),
                    Action::Delete(pod, node) => s.add((pod, node)),
                    other => panic!("{other:?} was not taken"),
                }
                assert_eq!(trace.after(taken, &m, &start), s);
            }
            assert_eq!(s, start);
        }
    }
}
