//! Why what is wanted can never be, as arguments that the checker takes.

use std::collections::BTreeMap;

use podreach_core::demand::{Argument, Demand, Inequality, Place, Shortage, Want as Wanted};
use podreach_core::resource::Amount;
use podreach_core::{Atom, Goal, Proof, Verdict, check, short};

use super::packing::Want;
use super::ruling::Asking;
use crate::answer::Sure;
use crate::audit::item::Evidence;
use crate::engine::Decision;

/// Wants as the checker takes them.
pub(crate) fn demand(wants: &[Want]) -> Demand {
    Demand { wants: wants.iter().map(wanted).collect() }
}

fn wanted(want: &Want) -> Wanted {
    let mut places = BTreeMap::<Option<usize>, Vec<Atom>>::new();
    want.nodes.iter().for_each(|&node| places.entry(want.place(node)).or_default().push((want.pod, node)));
    Wanted { count: want.count, places: places.into_iter().map(|one| place(want, one)).collect() }
}

fn place(want: &Want, (place, mut atoms): (Option<usize>, Vec<Atom>)) -> Place {
    atoms.sort_unstable();
    Place { atoms, most: place.map_or(want.count, |_| 1) }
}

impl Asking<'_> {
    /// Evidence that wants can never be met, since a goal can never be reached; `None` if the argument does not hold.
    pub(crate) fn short(
        &self,
        demand: Demand,
        shows: impl Into<String>,
        decision: Sure,
        argument: Argument,
    ) -> Option<Evidence> {
        let Verdict::Never(proof) = decision.checked.verdict() else { return None };
        let shortage = Shortage { ruled_out: decision.checked.problem().goal.clone(), proof: proof.clone(), argument };
        let short = short(&self.world.problem, demand, shortage, &|| self.is_stopped()).ok()?;
        Some(Evidence { short: Some(Box::new(short)), ..self.evidence(shows, decision) })
    }

    /// Evidence that wants can never be met by inequalities alone, whatever is in doubt about the input; `None` if they are not enough.
    pub(crate) fn sum(
        &self,
        demand: Demand,
        shows: impl Into<String>,
        worth: Vec<Amount>,
        inequalities: Vec<(Inequality, Amount)>,
    ) -> Option<Evidence> {
        let argument = Argument::Sum { worth, inequalities };
        let problem = self.world.problem.with_goal(Goal::default());
        let proof = Proof { weakened: self.weakenings().to_vec(), ..Proof::default() };
        let checked = check(&problem, Verdict::Never(proof)).ok()?;
        let decision = self.held(Decision { checked, engine: "sum", efforts: Vec::new() });
        self.short(demand, shows, decision, argument)
    }
}
