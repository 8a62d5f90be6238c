//! Which running pods are never deleted.

use podreach_core::label::Labels;

use super::context::Context;
use super::errors;
use super::options::Keep;
use super::options::selection::Selection;
use crate::read::shown;

/// The `--keep` options, read.
pub(crate) struct Kept {
    rules: Vec<(Rule, String, bool)>,
}

enum Rule {
    Selector(Selection),
    DaemonSets,
    Namespace(String),
}

impl Kept {
    /// Reads the options; selectors that cannot be read are reported.
    pub(crate) fn new(cx: &mut Context, options: &[Keep]) -> Self {
        let mut rules = Vec::new();
        for option in options {
            let (rule, name) = match option {
                Keep::Selector(text) => match Selection::parse(text) {
                    Ok(selection) => (Rule::Selector(selection), format!("--keep {}", shown(text))),
                    Err(why) => {
                        cx.report(errors::bad_keep(text, &why));
                        continue;
                    }
                },
                Keep::DaemonSets => (Rule::DaemonSets, "--keep daemonsets".to_owned()),
                Keep::Namespace(namespace) => {
                    (Rule::Namespace(namespace.clone()), format!("--keep-namespace {}", shown(namespace)))
                }
            };
            rules.push((rule, name, false));
        }
        Self { rules }
    }

    /// Whether a running pod is kept.
    pub(crate) fn keeps(&mut self, cx: &Context, namespace: &str, labels: &Labels, of_daemon_set: bool) -> bool {
        let symbols = &cx.cluster.symbols;
        let value = |key: &str| symbols.symbol(key).and_then(|key| labels.value(key)).map(|value| symbols.str(value));
        let mut kept = false;
        for (rule, _, used) in &mut self.rules {
            let holds = match rule {
                Rule::Selector(selection) => selection.matches(value),
                Rule::DaemonSets => of_daemon_set,
                Rule::Namespace(own) => own == namespace,
            };
            *used |= holds;
            kept |= holds;
        }
        kept
    }

    /// Reports the options that kept nothing.
    pub(crate) fn report_unused(self, cx: &mut Context) {
        for (_, name, used) in self.rules {
            if !used {
                cx.report(errors::note("W0305", None, format!("{name} keeps no running pod")));
            }
        }
    }
}
