//! Which running pods are never deleted, by `--keep`.

use podreach_core::label::Labels;

use super::context::Context;
use super::errors;
use super::options::Keep;
use super::options::selection::Selection;
use crate::read::shown;

/// The `--keep` options, read.
pub(crate) struct Kept {
    criteria: Vec<(Criterion, String, bool)>,
}

enum Criterion {
    Selector(Selection),
    DaemonSets,
    Namespace(String),
}

impl Kept {
    /// Reads the options; selectors that cannot be read are reported.
    pub(crate) fn new(cx: &mut Context, options: &[Keep]) -> Self {
        let mut criteria = Vec::new();
        for option in options {
            let (criterion, name) = match option {
                Keep::Selector(text) => match Selection::parse(text) {
                    Ok(selection) => (Criterion::Selector(selection), format!("--keep {}", shown(text))),
                    Err(why) => {
                        cx.report(errors::bad_keep(text, &why));
                        continue;
                    }
                },
                Keep::DaemonSets => (Criterion::DaemonSets, "--keep daemonsets".to_owned()),
                Keep::Namespace(namespace) => {
                    (Criterion::Namespace(namespace.clone()), format!("--keep-namespace {}", shown(namespace)))
                }
            };
            criteria.push((criterion, name, false));
        }
        Self { criteria }
    }

    /// Whether a running pod is kept.
    pub(crate) fn keeps(&mut self, cx: &Context, namespace: &str, labels: &Labels, of_daemon_set: bool) -> bool {
        let symbols = &cx.cluster.symbols;
        let mut kept = false;
        for (criterion, _, used) in &mut self.criteria {
            let holds = match criterion {
                Criterion::Selector(selection) => selection.matches(|key| {
                    symbols.symbol(key).and_then(|key| labels.value(key)).map(|value| symbols.str(value))
                }),
                Criterion::DaemonSets => of_daemon_set,
                Criterion::Namespace(own) => own == namespace,
            };
            *used |= holds;
            kept |= holds;
        }
        kept
    }

    /// Reports the options that kept nothing.
    pub(crate) fn report_unused(self, cx: &mut Context) {
        for (_, name, used) in self.criteria {
            if !used {
                cx.report(errors::note("W0305", None, format!("{name} keeps no running pod")));
            }
        }
    }
}
