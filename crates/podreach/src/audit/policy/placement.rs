//! Placement: an exact search for nodes on which all that is wanted can run at the same time.
//!
//! Pods are placed one after the other; a set of pods that can never be present together is never added to, since no larger set can
//! be either. If no placement is left, the sets met on the way are the proof: every placement has one of them in it.

use podreach_core::demand::Argument;
use podreach_core::{Configuration, Goal, NodeId};

use super::packing::Want;
use super::ruling::{ALTERNATIVES, Asking};
use super::shortage::demand;
use crate::answer::Sure;
use crate::audit::item::Evidence;

/// How many questions a search may ask.
const QUESTIONS: usize = 1_000;

/// What a search found.
pub(crate) enum Placement {
    /// Nodes for everything, with the run.
    Found(Sure),
    /// There is no placement, for a reason and with what shows it.
    Never(String, Evidence),
    /// Not decided.
    Open(String),
}

struct Search<'a, 'w> {
    asking: &'a mut Asking<'w>,
    /// The pods to place: the index of the want of each.
    slots: Vec<usize>,
    wants: &'a [Want],
    impossible: Vec<Configuration>,
    questions: usize,
    open: Option<String>,
}

/// Looks for a placement.
pub(crate) fn placement(asking: &mut Asking<'_>, wants: &[Want]) -> Placement {
    let total: u64 = wants.iter().map(|want| want.count).sum();
    if total > 64 {
        return Placement::Open(format!("{total} pods are too many for an exact search"));
    }
    let slots = wants.iter().enumerate().flat_map(|(at, want)| (0..want.count).map(move |_| at)).collect();
    let mut search = Search { asking, slots, wants, impossible: Vec::new(), questions: QUESTIONS, open: None };
    if let Some(decision) = search.extend(&Configuration::new(), 0, None) {
        return Placement::Found(decision);
    }
    if let Some(why) = search.open {
        return Placement::Open(why);
    }
    let mut any = search.impossible;
    any.sort();
    any.dedup();
    let goal = Goal { any };
    let decision = asking.answer(&goal);
    match decision.checked.answer() {
        Some(false) => covered(asking, wants, decision),
        _ => Placement::Open(super::ruling::reason(&decision)),
    }
}

/// Every placement has one of these sets in it, as the checker sees for itself.
fn covered(asking: &Asking<'_>, wants: &[Want], decision: Sure) -> Placement {
    let shows = "every way to place them has one of these in it, and none of these can ever be";
    let why = "No choice of nodes works: whichever are chosen, some of the pods can never be there together.";
    match asking.short(demand(wants), shows, decision, Argument::Cover) {
        Some(evidence) => Placement::Never(why.to_owned(), evidence),
        None if asking.is_stopped() => Placement::Open(CUT_SHORT.to_owned()),
        None => Placement::Open(
            "that there is no placement is shown of the nodes that are listed, and more may come".to_owned(),
        ),
    }
}

const CUT_SHORT: &str = "the search for a placement was cut short";

impl Search<'_, '_> {
    /// Places the pods from `slot` on, after `s`; the one before it went to `last`.
    fn extend(&mut self, s: &Configuration, slot: usize, last: Option<NodeId>) -> Option<Sure> {
        let want = &self.wants[*self.slots.get(slot)?];
        let again = slot > 0 && self.slots[slot - 1] == self.slots[slot];
        let options = options(want, s, last.filter(|_| again));
        let all = options.iter().map(|&node| {
            let mut larger = s.clone();
            larger.add((want.pod, node));
            larger
        });
        let all: Vec<Configuration> = all.collect();
        if all.len() > 1 && all.len() <= ALTERNATIVES && self.is_never(&Goal { any: all.clone() })? {
            self.impossible.extend(all);
            return None;
        }
        for (node, larger) in options.into_iter().zip(all) {
            let goal = Goal::all(larger.clone());
            let decision = self.ask(&goal)?;
            match decision.checked.answer() {
                Some(false) => self.impossible.push(larger),
                Some(true) if slot + 1 == self.slots.len() => return Some(decision),
                Some(true) => {
                    let found = self.extend(&larger, slot + 1, Some(node));
                    if found.is_some() || self.questions == 0 {
                        return found;
                    }
                }
                None => self.open = Some(super::ruling::reason(&decision)),
            }
        }
        None
    }

    fn is_never(&mut self, goal: &Goal) -> Option<bool> {
        Some(self.ask(goal)?.checked.answer() == Some(false))
    }

    fn ask(&mut self, goal: &Goal) -> Option<Sure> {
        if self.questions == 0 || self.asking.is_stopped() {
            self.questions = 0;
            self.open = Some(CUT_SHORT.to_owned());
            return None;
        }
        self.questions -= 1;
        Some(self.asking.answer(goal))
    }
}

/// The nodes for one more pod of a want: pods of one want are placed in the order of the nodes, since they are all the same.
fn options(want: &Want, s: &Configuration, last: Option<NodeId>) -> Vec<NodeId> {
    let taken: Vec<usize> = s.of(want.pod).filter_map(|(node, _)| want.place(node)).collect();
    let free = want.nodes.iter().copied();
    let free = free.filter(|&node| want.place(node).is_none_or(|place| !taken.contains(&place)));
    let mut nodes: Vec<NodeId> = free.filter(|&node| last.is_none_or(|last| node >= last)).collect();
    nodes.sort_unstable();
    nodes
}
