//! Long plans made into traces class by class.
//!
//! Asking the transitions about millions of deployments would take too long. So what is there is counted per class, with the atoms that
//! make it up, and what a guard bars is a bit set of classes. Pods that the plan needs later are never deleted; with just these every guard
//! of the plan holds.
//!
//! Cost per step: a few words of bits, independent of the size of the cluster, unless a guard counts.

use podreach_core::{Atom, Problem, Trace};

use crate::bits::Bits;
use crate::compile::{State, Sum, SumGuard, System};
use crate::group::Class;
use crate::plan::Plan;

/// What is there besides the kept pods, and what the rest of a plan needs.
struct ClassTrace<'a> {
    system: &'a System,
    /// The atoms of each class that are there, by their places in the trace, the latest last.
    present: Vec<Vec<u32>>,
    /// The classes that have pods.
    some: Bits,
    needs: Vec<u64>,
    /// How many there are of each class, with the state that guards compare; kept only where a guard asks for more than absence.
    state: Option<State>,
    trace: Trace,
}

/// The trace of a plan: step by step, in time that does not grow with the cluster.
pub fn trace(problem: &Problem, system: &System, plan: &Plan) -> Trace {
    let atoms = Atoms::new(problem, system);
    let deploys: Vec<u32> = system.transitions.iter().map(|transition| atoms.place(transition.deploys)).collect();
    let mut made = ClassTrace::new(problem, system, plan, &atoms);
    let barred: Vec<Bits> = system.transitions.iter().map(|transition| barred(system, &transition.guard)).collect();
    for (transition, drops) in plan.deployments() {
        let head = system.transitions[transition].head;
        let (pod, node) = system.transitions[transition].deploys;
        let base = problem.model.shadowed(pod).map(|base| atoms.place((base, node)));
        if let (Some(source), Some(base)) = (system.transitions[transition].consumes, base) {
            made.leave(source, base);
            made.enter(head, deploys[transition]);
            made.trace.terminate(base);
            drops.for_each(|class| made.needs[class as usize] -= 1);
            made.needs[head as usize] += 1;
            continue;
        }
        // A pod that is there and not needed will do.
        if made.present[head as usize].len() as u64 <= made.needs[head as usize] {
            made.clear(&barred[transition]);
            if !system.transitions[transition].guard.is_plain() {
                made.make_room(&system.transitions[transition].guard);
            }
            if let (Some(source), Some(unbound)) =
                (system.transitions[transition].consumes, problem.model.consumed(pod))
            {
                made.leave(source, atoms.place(unbound));
            }
            made.enter(head, deploys[transition]);
            made.trace.deploy(base.unwrap_or(deploys[transition]));
            base.into_iter().for_each(|base| made.trace.terminate(base));
        }
        drops.for_each(|class| made.needs[class as usize] -= 1);
        made.needs[head as usize] += 1;
    }
    made.trace
}

/// All atoms that a trace can be about, in order.
struct Atoms(Vec<Atom>);

impl Atoms {
    fn new(problem: &Problem, system: &System) -> Self {
        let started = problem.start.iter().map(|(atom, _)| atom);
        let deployed = system.transitions.iter().map(|transition| transition.deploys);
        let deployed =
            deployed.clone().chain(deployed.filter_map(|(pod, node)| Some((problem.model.shadowed(pod)?, node))));
        let mut atoms: Vec<Atom> = started.chain(deployed).collect();
        atoms.sort_unstable();
        atoms.dedup();
        Self(atoms)
    }

    fn place(&self, atom: Atom) -> u32 {
        self.0.binary_search(&atom).expect("every atom of the start and of a transition is there") as u32
    }
}

/// The classes that a guard wants no pods of.
fn barred(system: &System, guard: &SumGuard) -> Bits {
    let absent = guard.at_most.iter().filter(|&&(_, bound)| bound == 0).map(|&(sum, _)| sum);
    let classes = absent.flat_map(|sum| system.sums.members(sum)).map(|class| class as usize);
    Bits::of(system.classes.len(), classes)
}

impl<'a> ClassTrace<'a> {
    /// The start of a plan, without the atoms that have no class: they are not needed, and could be in the way without a guard
    /// saying so.
    fn new(problem: &Problem, system: &'a System, plan: &Plan, atoms: &Atoms) -> Self {
        let classes = system.classes.len();
        let plain = system.transitions.iter().all(|transition| transition.guard.is_plain());
        let mut made = Self {
            system,
            present: vec![Vec::new(); classes],
            some: Bits::none(classes),
            needs: vec![0; classes],
            state: (!plain).then(|| State::empty(&system.sums)),
            trace: Trace::over(&problem.model, &atoms.0, plan.len() * 2),
        };
        plan.needs().iter().for_each(|&(class, count)| made.needs[class as usize] = count);
        for (atom, count) in problem.start.minus(&problem.kept).iter() {
            let place = atoms.place(atom);
            for _ in 0..count {
                match system.class(atom) {
                    Some(class) => made.enter(class, place),
                    None => made.trace.delete(place),
                }
            }
        }
        made
    }

    /// One more of a class is there, an instance of the atom at a place.
    fn enter(&mut self, class: Class, place: u32) {
        self.present[class as usize].push(place);
        self.some.insert(class as usize);
        if let Some(state) = &mut self.state {
            state.add(&self.system.sums, class, 1);
        }
    }

    /// An instance of the atom at a place is no longer of its class.
    fn leave(&mut self, class: Class, place: u32) {
        let present = &mut self.present[class as usize];
        let Some(at) = present.iter().rposition(|&other| other == place) else { return };
        present.remove(at);
        if present.is_empty() {
            self.some.remove(class as usize);
        }
        if let Some(state) = &mut self.state {
            state.remove(&self.system.sums, class, 1);
        }
    }

    /// Deletes the latest of a class.
    fn delete(&mut self, class: Class) {
        let present = &mut self.present[class as usize];
        let Some(place) = present.pop() else { return };
        if present.is_empty() {
            self.some.remove(class as usize);
        }
        if let Some(state) = &mut self.state {
            state.remove(&self.system.sums, class, 1);
        }
        self.trace.delete(place);
    }

    /// Deletes everything of the barred classes; none of it is needed.
    fn clear(&mut self, barred: &Bits) {
        for word in 0..barred.words().len() {
            let mut there = barred.words()[word] & self.some.words()[word];
            while there != 0 {
                let class = (word * 64) as Class + there.trailing_zeros();
                there &= there - 1;
                while !self.present[class as usize].is_empty() {
                    self.delete(class);
                }
            }
        }
    }

    /// Deletes what is not needed until a guard holds.
    fn make_room(&mut self, guard: &SumGuard) {
        while let Some(sum) = self.state.as_ref().and_then(|state| guard.excess(state)) {
            let weights = &self.system.sums.weights[sum as usize];
            let Some(class) = weights.iter().map(|&(class, _)| class).find(|&class| self.is_spare(class)) else {
                break;
            };
            self.delete(class);
        }
        // Where that does not help, with nothing but what is needed it holds.
        while self.state.as_ref().is_some_and(|state| !guard.is_bounded(state) || guard.needed(state).is_some())
            && let Some(class) = (0..self.present.len() as Class).find(|&class| self.is_spare(class))
        {
            self.delete(class);
        }
    }

    fn is_spare(&self, class: Class) -> bool {
        self.present[class as usize].len() as u64 > self.needs[class as usize]
    }
}

impl SumGuard {
    /// A sum that has to shrink for the guard to hold, if there is one.
    fn excess(&self, state: &State) -> Option<Sum> {
        let over = self.at_most.iter().find(|&&(sum, bound)| state.value(sum) > bound).map(|&(sum, _)| sum);
        over.or_else(|| self.shared_excess(state)).or_else(|| self.not_the_first(state)).or_else(|| self.uneven(state))
    }

    /// A positive sum that counts towards a bound on things that pods share, if that does not hold.
    fn shared_excess(&self, state: &State) -> Option<Sum> {
        let over = self.distinct.iter().filter(|condition| !condition.holds(state));
        over.flat_map(|condition| condition.counted()).find(|&sum| state.value(sum) > 0)
    }

    /// The sum that keeps the pod from being the first of its kind, if it lacks a witness.
    fn not_the_first(&self, state: &State) -> Option<Sum> {
        self.affinity.iter().find(|condition| condition.lonely(state).is_some())?.first_unless
    }

    /// The own domain of a balance that does not hold; or the one that is behind, if that comes and goes and the own one is empty.
    fn uneven(&self, state: &State) -> Option<Sum> {
        let uneven = self.spread.iter().find(|condition| condition.behind(state).is_some())?;
        let own = uneven.domains[uneven.own].sum;
        let there = uneven.behind_domain(state).and_then(|domain| domain.while_any);
        there.filter(|_| state.value(own) == 0).or(Some(own))
    }
}

#[cfg(test)]
mod tests {
    use podreach_core::testing::{Rng, Shape, cases, problem, settled};
    use podreach_core::{Semantics, Verdict, check};

    use super::*;
    use crate::budget::Budget;
    use crate::compile::slice;
    use crate::forward::Forward;
    use crate::pursuit::{Found, Pursuit};

    #[test]
    fn a_trace_made_class_by_class_is_one() {
        let mut rng = Rng::new(67);
        let cases = cases(3_000);
        let mut steps = 0;
        for case in 0..cases {
            let semantics = if case % 2 == 0 { Semantics::KubeScheduler } else { Semantics::Paper };
            let shape = if case % 5 == 0 { Shape::unbounded(semantics) } else { Shape::small(semantics) };
            let shape = if case % 3 == 0 { shape.with_volumes() } else { shape };
            let problem = settled(&problem(&mut rng, shape));
            let system = System::new(&problem, slice(&problem));
            let found = Forward::new(&system).pursue(1 << 12, &Budget::unlimited());
            let Some(Found::Reached(plan)) = found else { continue };
            let trace = trace(&problem, &system, &plan);
            steps += trace.len();
            assert!(check(&problem, Verdict::Deployable(trace)).is_ok(), "case {case}: {plan:?}");
        }
        assert!(steps > cases / 8, "only {steps} steps");
    }
}
