//! What all commands do first: gather the input, read it, and refuse it if it cannot be used.

use std::ops::{Deref, DerefMut};

use podreach::diagnostic::Diagnostic;
use podreach::lower::{Options, Release, ReleaseBy};
use podreach::read::Sources;
use podreach::{Analysis, Onlooker};
use podreach_core::Cluster;

use crate::args::{self, Input, Remarks};
use crate::gather::{self, Gathered};
#[cfg(feature = "live")]
use crate::live;
use crate::live::header::{Header, Reader};
use crate::output::ending::{Reported, refuse};
use crate::output::remark;
use crate::unfreed::Unfreed;

/// The input of a command, usable.
///
/// It is not freed where the process ends with the command: a command has one input and ends when it has shown what it has to show.
#[derive(Debug)]
pub(crate) struct Session(Unfreed<Analysis>);

impl Deref for Session {
    type Target = Analysis;

    fn deref(&self) -> &Analysis {
        &self.0
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Analysis {
        &mut self.0
    }
}

/// The release that the newest kubelet of the input has.
fn of_kubelets(sources: &Sources) -> Option<(Release, ReleaseBy)> {
    let texts = sources.ids().filter_map(|id| sources.source(id));
    let newest = texts.filter_map(|source| Release::of_kubelets(&source.text)).max();
    newest.map(|release| (release, ReleaseBy::Kubelets))
}

impl Session {
    /// Reads a cluster as the command line says; what is wrong with it is reported.
    pub(crate) fn open(cluster: &args::Cluster, remarks: Remarks) -> Result<Self, Reported> {
        Self::open_anything(cluster, remarks)?.with_nodes()
    }

    /// The same for input that may have pods and no nodes.
    pub(crate) fn open_anything(cluster: &args::Cluster, remarks: Remarks) -> Result<Self, Reported> {
        Self::read_anything(&cluster.input, |own| cluster.reading.options(own), remarks)
    }

    /// Reads the input; what is wrong with it is reported. The options may depend on the release that the input says its cluster runs.
    pub(crate) fn read(
        input: &Input,
        options: impl FnOnce(Option<(Release, ReleaseBy)>) -> Options,
        remarks: Remarks,
    ) -> Result<Self, Reported> {
        Self::read_anything(input, options, remarks)?.with_nodes()
    }

    /// The same for input that may have pods and no nodes.
    pub(crate) fn read_anything(
        input: &Input,
        options: impl FnOnce(Option<(Release, ReleaseBy)>) -> Options,
        remarks: Remarks,
    ) -> Result<Self, Reported> {
        let Gathered { sources, diagnostics, .. } = gather(input, remarks.quiet)?;
        let headers = Header::find(&sources);
        let server = headers.iter().find_map(Header::release).map(|release| (release, ReleaseBy::Server));
        let options = options(server.or_else(|| of_kubelets(&sources)));
        let reader = Reader::new(diagnostics, headers, &options);
        Self::of_anything(sources, reader, options, remarks)
    }

    /// Reads sources; what is wrong with them is reported.
    pub(crate) fn of_sources(
        sources: Sources,
        diagnostics: Vec<Diagnostic>,
        options: Options,
        remarks: Remarks,
    ) -> Result<Self, Reported> {
        Self::of_anything(sources, diagnostics, options, remarks)?.with_nodes()
    }

    /// Reads sources that may have pods and no nodes; what is wrong with them is reported.
    fn of_anything(
        sources: Sources,
        onlooker: impl Onlooker,
        options: Options,
        remarks: Remarks,
    ) -> Result<Self, Reported> {
        let analysis = Analysis::load_with(sources, onlooker, options).map_err(|error| {
            remark::print(&error.sources, &error.diagnostics, remarks.quiet, remarks.verbose);
            Reported
        })?;
        remark::print(analysis.sources(), analysis.remarks(), remarks.quiet, remarks.verbose);
        let cluster = analysis.cluster();
        if cluster.pods.is_empty() && !cluster.nodes.is_empty() {
            let help = "add workloads or pods, for example from kubectl get pods,deployments -A -o yaml";
            return Err(refuse("the input has nodes but no pods, so there is nothing to place", Some(help)));
        }
        if cluster.pods.is_empty() {
            return Err(nothing_to_do(cluster));
        }
        Ok(Self(Unfreed::new(analysis)))
    }

    /// The same, if there are nodes.
    fn with_nodes(self) -> Result<Self, Reported> {
        if self.cluster().nodes.is_empty() { Err(nothing_to_do(self.cluster())) } else { Ok(self) }
    }
}

/// The texts of the files that were named, or else of the live cluster.
pub(crate) fn gather(input: &Input, quiet: bool) -> Result<Gathered, Reported> {
    if !input.filename.is_empty() {
        return Ok(gather::gather(input));
    }
    #[cfg(feature = "live")]
    return live::gather(&input.live, quiet).map(|live| live.with(gather::gather(input)));
    #[cfg(not(feature = "live"))]
    {
        let _ = quiet;
        let help =
            "for example: kubectl get nodes,namespaces,pods,deployments -A -o json | podreach check -f - POD NODE";
        Err(refuse("this build does not read live clusters: give files with -f", Some(help)))
    }
}

fn nothing_to_do(cluster: &Cluster) -> Reported {
    if cluster.pods.is_empty() {
        let help =
            "give manifests or dumps of a cluster, for example from kubectl get nodes,pods,deployments -A -o yaml";
        return refuse("the input is empty: there are no nodes and no pods in it", Some(help));
    }
    let help = "add the output of kubectl get nodes -o yaml";
    refuse("the input has no nodes, so nothing can be placed", Some(help))
}
