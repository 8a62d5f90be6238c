//! Pools of Cluster API: MachineDeployments, MachineSets and MachinePools.
//!
//! ```text
//! machine template            labels of three domains, and taints               read.rs
//! bootstrap configuration     labels and taints that kubelets register with     bootstrap.rs; of providers but kubeadm nothing is known
//! annotations                 what nodes have to give, as Cluster Autoscaler believes it
//! nodes of the pool           what they have to give, and what came with their machines
//! ```
//! A pool has a shape of open capacity, so that *never* covers all its nodes, and one for what its annotations say, which runs may rely on;
//! `known.rs` adds one for each kind of node that it has brought. Where the bootstrap configuration is not known, a node may have any labels.
//!
//! A management cluster has pools of many clusters. Those of the input's nodes count, which say in annotations which cluster they are of; where
//! the input has no nodes, all do.
//!
//! Cluster API (v1.11): `util/labels/helpers.go`, `GetManagedLabels`; `internal/controllers/machine/machine_controller_noderef.go`, `patchNode`.
//! Cluster Autoscaler: `cloudprovider/clusterapi/clusterapi_unstructured.go`.

mod bootstrap;
mod read;
mod shape;

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::cluster::Taint;
use podreach_core::id::Symbol;
use podreach_core::resource::Resources;
use podreach_core::{NodeId, cancel};

use super::{Knowledge, Pool, Requirements};
use crate::diagnostic::Diagnostic;
use crate::lower::context::Context;
use crate::lower::object::kind::Kind;
use crate::read::{Span, Tree};
use bootstrap::Config;

/// What the input has of Cluster API.
#[derive(Debug, Default)]
pub(crate) struct Machines {
    groups: Vec<Group>,
    /// Bootstrap configurations by kind, namespace and name.
    configs: BTreeMap<(String, String, String), Config>,
    nodes: Vec<Machine>,
}

/// What makes machines of one kind.
#[derive(Clone, Debug)]
struct Group {
    kind: Kind,
    namespace: String,
    name: String,
    /// The MachineDeployment that a MachineSet is of.
    owner: Option<String>,
    cluster: Option<String>,
    replicas: Option<u64>,
    /// Whether something changes the number of replicas.
    is_autoscaled: bool,
    most: Option<u64>,
    is_going: bool,
    labels: BTreeMap<String, String>,
    /// Taints that last, and those that are only put on at first.
    taints: [Vec<Taint>; 2],
    /// The kind and name of the bootstrap configuration.
    config: Option<(String, String)>,
    /// What nodes have to give, as annotations say.
    capacity: Option<Resources>,
    /// The labels that Cluster Autoscaler believes nodes to have.
    believed: BTreeMap<String, String>,
    /// What there is to say about it where its nodes are left out.
    remark: Option<Diagnostic>,
    span: Span,
}

impl Group {
    /// The namespace and name of the MachineDeployment that it is of.
    fn deployment(&self) -> Option<(&str, &str)> {
        let owner = self.owner.as_deref().filter(|_| self.kind == Kind::MachineSet)?;
        Some((&self.namespace, owner))
    }
}

/// What a node of Cluster API's says of itself in annotations.
#[derive(Clone, Debug)]
struct Machine {
    node: String,
    cluster: String,
    namespace: String,
    owner: Option<(String, String)>,
}

impl Machines {
    /// Reads what makes machines, or what configures them; returns namespace, name and place of it.
    pub(crate) fn add(&mut self, cx: &mut Context, kind: Kind, tree: &Tree<'_>) -> Option<(String, String, Span)> {
        if matches!(kind, Kind::KubeadmConfig | Kind::KubeadmConfigTemplate) {
            let metadata = read::metadata(cx, kind, tree)?;
            let key = (kind.name().to_owned(), metadata.namespace.clone(), metadata.name.clone());
            self.configs.insert(key, bootstrap::read(cx, tree));
            return Some((metadata.namespace, metadata.name, metadata.span));
        }
        let group = read::group(cx, kind, tree)?;
        let found = (group.namespace.clone(), group.name.clone(), group.span);
        self.groups.push(group);
        Some(found)
    }

    /// Notes what a node says of itself.
    pub(crate) fn add_node(&mut self, name: &str, tree: &Tree<'_>) {
        self.nodes.extend(read::machine(name, tree));
    }

    /// The pools of this cluster, and the places of what is said about objects whose nodes are thereby looked at.
    pub(crate) fn pools(&self, cx: &mut Context, ids: &BTreeMap<Symbol, NodeId>) -> (Vec<Pool>, Vec<Option<Span>>) {
        let roots = self.roots();
        let mut members = self.members(&roots);
        let mut parts: BTreeMap<usize, Vec<&Group>> = BTreeMap::new();
        for (group, &root) in self.groups.iter().zip(&roots) {
            parts.entry(root).or_default().push(group);
        }
        let (mut pools, mut looked_at) = (Vec::new(), Vec::new());
        for (root, parts) in parts.into_iter().filter(|(root, _)| self.is_here(&self.groups[*root], !ids.is_empty())) {
            cancel::poll();
            looked_at.extend(parts.iter().filter_map(|part| part.remark.as_ref()).map(|remark| remark.span));
            let nodes = members.remove(&root).unwrap_or_default();
            pools.push(self.pool(cx, &self.groups[root], &parts, nodes, ids));
        }
        (pools, looked_at)
    }

    /// What there is to say about each of them where its nodes are left out.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = Diagnostic> + '_ {
        self.groups.iter().filter_map(|group| group.remark.clone())
    }

    /// The MachineDeployments by namespace and name.
    fn deployments(&self) -> BTreeMap<(&str, &str), usize> {
        let all = self.groups.iter().enumerate().filter(|(_, group)| group.kind == Kind::MachineDeployment);
        all.map(|(at, group)| ((group.namespace.as_str(), group.name.as_str()), at)).collect()
    }

    /// For each group the one that it is part of: a MachineSet of the MachineDeployment that owns it, and others of themselves.
    fn roots(&self) -> Vec<usize> {
        let deployments = self.deployments();
        let groups = self.groups.iter().enumerate();
        groups
            .map(|(at, group)| group.deployment().and_then(|own| deployments.get(&own).copied()).unwrap_or(at))
            .collect()
    }

    /// Whether a group is of the cluster that the input has nodes of.
    fn is_here(&self, group: &Group, has_nodes: bool) -> bool {
        let mut clusters = self.nodes.iter().filter(|node| node.namespace == group.namespace).map(|node| &node.cluster);
        !has_nodes || clusters.any(|cluster| group.cluster.as_ref() == Some(cluster))
    }

    /// The nodes of the input by what has made their machines. A MachineSet that is not in the input is told by its name, which starts with that
    /// of its MachineDeployment.
    fn members(&self, roots: &[usize]) -> BTreeMap<usize, BTreeSet<String>> {
        let named =
            |(group, root): (&Group, &usize)| ((group.namespace.clone(), group.kind.name(), group.name.clone()), *root);
        let owners: BTreeMap<(String, &str, String), usize> = self.groups.iter().zip(roots).map(named).collect();
        let deployments = self.deployments();
        let mut members: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        for node in &self.nodes {
            let Some((kind, owner)) = &node.owner else { continue };
            let listed = owners.get(&(node.namespace.clone(), kind.as_str(), owner.clone())).copied();
            let is_set = kind == Kind::MachineSet.name();
            let stems = owner.rmatch_indices('-').map(|(end, _)| &owner[..end]).filter(|_| is_set);
            let by_name =
                || stems.into_iter().find_map(|stem| deployments.get(&(node.namespace.as_str(), stem)).copied());
            if let Some(root) = listed.or_else(by_name) {
                members.entry(root).or_default().insert(node.node.clone());
            }
        }
        members
    }

    fn pool(
        &self,
        cx: &mut Context,
        group: &Group,
        parts: &[&Group],
        nodes: BTreeSet<String>,
        ids: &BTreeMap<Symbol, NodeId>,
    ) -> Pool {
        let of_it = nodes.iter().filter_map(|name| ids.get(&cx.cluster.symbols.symbol(name)?).copied());
        // One that is still starting does not have all its labels.
        let started: Vec<NodeId> = of_it.filter(|&node| !cx.cluster.nodes[node].passing.is_starting).collect();
        let mut shapes = Vec::new();
        // A set of an earlier revision makes machines again where one of its is replaced.
        for part in parts.iter().filter(|part| std::ptr::eq(**part, group) || part.replicas != Some(0)) {
            let named = part.config.as_ref();
            let config =
                named.and_then(|(kind, name)| self.configs.get(&(kind.clone(), part.namespace.clone(), name.clone())));
            for shape in shape::shapes(cx, part, group, config, &started) {
                if !shapes.contains(&shape) {
                    shapes.push(shape);
                }
            }
        }
        let fixed = (!group.is_autoscaled).then(|| group.replicas.unwrap_or(1));
        Pool {
            name: format!("{}/{}/{}", group.kind.name().to_ascii_lowercase(), group.namespace, group.name),
            knowledge: Knowledge::Declared,
            shapes,
            requirements: Requirements::default(),
            most: group.most,
            fixed: if group.is_going { Some(0) } else { fixed },
            once: false,
            nodes: Some(nodes),
            startup: group.taints[1].clone(),
            span: group.span,
        }
    }
}
