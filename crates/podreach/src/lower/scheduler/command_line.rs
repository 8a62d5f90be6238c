//! A kube-scheduler that runs as a pod of the input: remarks on flags that change how it schedules.

use crate::diagnostic::Topic;
use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::object::metadata::Metadata;
use crate::read::Tree;

/// Flags that change what the scheduler does, and that are not looked at here.
const FLAGS: [&str; 3] = ["--config", "--feature-gates", "--policy-config-file"];

/// Says so where a pod is a scheduler whose flags differ from the defaults.
pub(crate) fn remark(cx: &mut Context, metadata: &Metadata, pod: &Tree<'_>) {
    if metadata.namespace != "kube-system" || !metadata.name.starts_with("kube-scheduler") {
        return;
    }
    let containers = pod.field("spec").and_then(|spec| spec.field("containers")).and_then(Tree::seq);
    let lists = containers.into_iter().flatten().flat_map(|one| [one.field("command"), one.field("args")]);
    let words = lists.flatten().filter_map(Tree::seq).flatten().filter_map(Tree::str);
    let given = FLAGS.iter().copied().filter(|flag| {
        let mut rests = words.clone().filter_map(|word| word.strip_prefix(flag));
        rests.any(|rest| rest.is_empty() || rest.starts_with('='))
    });
    let given: Vec<&str> = given.collect();
    if given.is_empty() {
        return;
    }
    let message = format!(
        "the scheduler runs with {}; what that changes counts only where the input has its configuration",
        given.join(" and ")
    );
    let help = "give its configuration with --scheduler-config";
    cx.report(errors::assumed(Topic::Scheduler, "W0324", metadata.span, message).with_help(help));
}
