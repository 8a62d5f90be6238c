//! The front door: one type that loads a cluster, and answers every question about it.
//!
//! ```text
//! Analysis ─ ask ────> Question ─ decide ─> Answer      a verdict with its evidence, and its certificate
//!          ─ why ────> Why                              what each rule says right now
//!          ─ matrix ─> Matrix                           every pod type against every node
//!          ─ audit ──> Outcome                          policies and findings
//!          ─ verify ─> Verified                         whether a certificate proves what it says
//! ```
//! What is asked without a semantics is asked about the real scheduler's rules. The command line and the server call nothing else.

mod answer;
mod audit;
mod error;
mod verify;

use std::sync::OnceLock;

use podreach_core::{Cluster, Goal, NodeId, PodId, Problem, Semantics, cancel};

pub use answer::{Answer, Question};
pub use audit::Audit;
pub use error::{AskError, ExportError, InputError, Refusal};
pub use verify::Verified;

use crate::answer::Oracle;
use crate::assumption::{self, Assumption};
use crate::diagnostic::Diagnostic;
use crate::encode::{self, Source as Encoded};
use crate::engine::Budget;
use crate::lower::{self, Lowered, Options};
use crate::matrix::Matrix;
use crate::question;
use crate::read::{Source, Sources, Tree};
use crate::report;

/// Someone who sees each text while it is read, so that nobody has to read it again.
pub trait Onlooker {
    /// Sees a document, or an item of a list that is read one by one; where a text is read again as a whole, once more.
    fn see(&mut self, tree: &Tree<'_>);

    /// What there is to say once everything was read.
    fn remarks(self) -> Vec<Diagnostic>;
}

/// Remarks that depend on no text.
impl Onlooker for Vec<Diagnostic> {
    fn see(&mut self, _: &Tree<'_>) {}

    fn remarks(self) -> Vec<Diagnostic> {
        self
    }
}

/// Lowers sources, and finds what they are an encoding of. Each text is read once, unless it has errors.
fn read(
    sources: &Sources,
    options: &Options,
    see: &mut dyn FnMut(&Tree<'_>),
) -> (Lowered, (Option<Encoded>, Vec<Diagnostic>)) {
    if !encode::source::is_mentioned(sources) {
        return (lower::lowered_while(sources, options, see), (None, Vec::new()));
    }
    let (documents, remarks) = sources.all_documents();
    documents.iter().for_each(see);
    (lower::of_documents(&documents, remarks, options), encode::source::find(&documents))
}

/// A cluster that was read, and whatever can be found out about it.
#[derive(Debug)]
pub struct Analysis {
    sources: Sources,
    options: Options,
    lowered: Lowered,
    encoded: Option<Encoded>,
    assumptions: [(Semantics, Vec<Assumption>); 2],
    /// The cluster under each semantics, once somebody asks about it.
    problems: [(Semantics, OnceLock<Problem>); 2],
}

impl Analysis {
    /// Reads manifests, or a dump of a cluster, in YAML or JSON.
    pub fn from_yaml(text: impl Into<String>) -> Result<Self, InputError> {
        let mut sources = Sources::default();
        match Source::from_bytes("input", text.into().into_bytes()) {
            Ok(source) => {
                sources.add(source);
            }
            Err(diagnostic) => return Err(InputError::new(sources, vec![diagnostic])),
        }
        Self::load(sources, Options::default())
    }

    /// Reads sources.
    pub fn load(sources: Sources, options: Options) -> Result<Self, InputError> {
        Self::load_with(sources, Vec::new(), options)
    }

    /// Reads sources beside someone who has remarks about them, such as what of a live cluster may not be seen.
    pub fn load_with(sources: Sources, mut onlooker: impl Onlooker, options: Options) -> Result<Self, InputError> {
        let (mut lowered, (encoded, notes)) = read(&sources, &options, &mut |tree| onlooker.see(tree));
        // A remark about a pod type that has no name of its own here is made about the workload that it goes under.
        let names = &lowered.origins.pods;
        let is_known =
            |remark: &Diagnostic| remark.pods.is_empty() || remark.pods.iter().any(|pod| names.contains_key(pod));
        let remarks: Vec<Diagnostic> = onlooker.remarks().into_iter().filter(is_known).collect();
        lowered.diagnostics.splice(0..0, remarks);
        lowered.diagnostics.extend(notes);
        if lowered.is_stopped() {
            return Err(InputError::new(sources, lowered.diagnostics));
        }
        let both = [Semantics::KubeScheduler, Semantics::Paper];
        let assumptions = both.map(|semantics| (semantics, assumption::assumptions(&lowered, &options, semantics)));
        let problems = both.map(|semantics| (semantics, OnceLock::new()));
        Ok(Self { sources, options, lowered, encoded, assumptions, problems })
    }

    /// The texts that were read, to show places in them.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Adds a text that is not part of the cluster, such as a policy, to show places in it.
    pub fn add_source(&mut self, source: Source) -> crate::read::SourceId {
        self.sources.add(source)
    }

    /// Says what questions will look at in nodes, as selectors in the notation of `kubectl -l`: kinds of new nodes that these tell apart are
    /// listed apart. Nothing changes where nodes do not come and go.
    pub fn look_at(&mut self, selectors: Vec<String>) {
        let Some(listing) = &mut self.lowered.listing else { return };
        if selectors.iter().all(|selector| listing.looked_at.contains(selector)) {
            return;
        }
        let looked_at = &mut self.options.looked_at;
        for selector in selectors {
            if !looked_at.contains(&selector) {
                looked_at.push(selector);
            }
        }
        listing.looked_at.clone_from(&self.options.looked_at);
        lower::pool::list(&mut self.lowered);
        self.problems = [Semantics::KubeScheduler, Semantics::Paper].map(|semantics| (semantics, OnceLock::new()));
    }

    /// How they were read.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// What they became: the cluster, its start, and where all of it comes from.
    pub fn lowered(&self) -> &Lowered {
        &self.lowered
    }

    /// The cluster.
    pub fn cluster(&self) -> &Cluster {
        &self.lowered.cluster
    }

    /// Remarks about the input: what was assumed, what is in doubt, what is worth knowing.
    pub fn remarks(&self) -> &[Diagnostic] {
        &self.lowered.diagnostics
    }

    /// The net, pebble game or policy that the input is an encoding of, if it is one.
    pub fn encoded(&self) -> Option<&Encoded> {
        self.encoded.as_ref()
    }

    /// What all verdicts under a semantics assume.
    pub fn assumptions(&self, semantics: Semantics) -> &[Assumption] {
        self.assumptions.iter().find(|(under, _)| *under == semantics).map_or(&[], |(_, assumptions)| assumptions)
    }

    /// The cluster under a semantics, with its start and what is kept, and no goal yet. It is made once.
    pub fn problem(&self, semantics: Semantics) -> &Problem {
        let [(first, one), (_, other)] = &self.problems;
        let kept = if *first == semantics { one } else { other };
        kept.get_or_init(|| lower::problem(&self.lowered, semantics))
    }

    /// Asks whether a pod can ever run on a node; both by any name that stands for one thing alone.
    pub fn ask(&self, pod: &str, node: &str) -> Result<Question<'_>, AskError> {
        let (pod, node) = (question::named(self.cluster(), pod)?, question::node(self.cluster(), node)?);
        self.ask_goal(Semantics::KubeScheduler, question::goal(&pod, &[node], &[]))
    }

    /// Asks whether a goal can ever be reached, under a semantics.
    pub fn ask_goal(&self, semantics: Semantics, goal: Goal) -> Result<Question<'_>, AskError> {
        Question::new(self, semantics, goal)
    }

    /// What each rule says about a pod on these nodes right now.
    pub fn why(&self, semantics: Semantics, pod: PodId, nodes: &[NodeId]) -> report::Why {
        let why = report::Why::new(self.problem(semantics), self.remarks(), pod, nodes);
        why.assuming(self.assumptions(semantics))
    }

    /// Every pod type against every node, with up to `threads` threads; `done` hears of each finished row. Cells that the budget does
    /// not suffice for are unknown.
    pub fn matrix(
        &self,
        semantics: Semantics,
        budget: &Budget<'_>,
        threads: usize,
        done: &(dyn Fn() + Sync),
    ) -> Matrix {
        let problem = self.problem(semantics);
        cancel::attempt(|| Matrix::new(&self.oracle(problem), budget, threads, done))
            .unwrap_or_else(|stop| cancel::exempt(|| Matrix::undecided(problem, stop)))
    }

    /// What answers any number of questions about the cluster under a semantics, or with another start.
    pub fn oracle(&self, problem: &Problem) -> Oracle {
        Oracle::new(problem, self.remarks())
    }

    /// A goal as a Petri net, or why it cannot be written as one.
    pub fn net(&self, semantics: Semantics, goal: Goal) -> Result<encode::to_pnml::Written, Diagnostic> {
        encode::to_pnml::net(&self.problem(semantics).with_goal(goal))
    }
}
