//! Steps taken back: where a configuration is changed in place and restored, which is cheaper than a copy for each attempt.

use podreach_core::{Action, Changing, Problem};

/// Takes these steps back, the last first; they were taken from the configuration that is left.
pub fn undo(problem: &Problem, s: &mut impl Changing, taken: &[Action]) {
    for &action in taken.iter().rev() {
        match action {
            Action::Deploy(pod, node) => {
                s.remove((pod, node));
                problem.model.consumed(pod).into_iter().for_each(|unbound| s.add(unbound));
            }
            Action::Delete(pod, node) => s.add((pod, node)),
            Action::Terminate(pod, node) => {
                s.add((pod, node));
                problem.model.shadow(pod).into_iter().for_each(|shadow| s.remove((shadow, node)));
            }
            Action::Settle(node) => s.unsettle(node),
            Action::Withdraw(pod) => problem.model.consumed(pod).into_iter().for_each(|unbound| s.add(unbound)),
            Action::Add(_) | Action::Remove(_) => {}
        }
    }
}
