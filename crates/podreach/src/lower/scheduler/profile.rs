//! The scheduler's own configuration: which filters each of its profiles runs, and what it adds to them.
//!
//! ```text
//! runs(plugin, point)  ≡  enabled at the point  ∨  ( enabled at multiPoint, by default or by name  ∧  not disabled at the point )
//! ```
//! Without a configuration there is one profile, `default-scheduler`, with every default plugin.
//! Kubernetes: `pkg/scheduler/apis/config/v1/default_plugins.go`; `framework/runtime/framework.go`, `expandMultiPointPlugins`.

use std::collections::{BTreeMap, BTreeSet};

use podreach_core::cluster::NodeTerm;
use podreach_core::rule::Rule;

use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::object::mapping::Object;
use crate::lower::object::name;
use crate::lower::pod::{Content, affinity};
use crate::lower::resources::amount;
use crate::lower::resources::request::{self, Parts};
use crate::lower::schema::fields::{
    EXTENDER, FIT_ARGS, MANAGED_RESOURCE, NODE_AFFINITY_ARGS, PLUGIN, PLUGIN_CONFIG, PLUGIN_SET, PLUGINS,
    SCHEDULER_CONFIGURATION, SCHEDULER_PROFILE, SPREAD_ARGS, SPREAD_CONSTRAINT,
};
use crate::lower::unmodelled::cause::{Cause, Causes};
use crate::read::{Span, Tree};

/// The name of the scheduler of pods that name none.
const USUAL: &str = "default-scheduler";

/// Kubernetes' own default plugins, besides the rules.
pub(crate) const OWN: [&str; 12] = [
    "DefaultBinder",
    "DefaultPreemption",
    "DynamicResources",
    "ImageLocality",
    "NodeDeclaredFeatures",
    "NodeResourcesBalancedAllocation",
    "NodeVolumeLimits",
    "PrioritySort",
    "SchedulingGates",
    "VolumeBinding",
    "VolumeRestrictions",
    "VolumeZone",
];

/// Filters whose PreFilter only prepares: without their Filter they refuse nothing.
const PREPARING: [Rule; 6] = [
    Rule::NodeUnschedulable,
    Rule::TaintToleration,
    Rule::NodePorts,
    Rule::NodeResourcesFit,
    Rule::PodTopologySpread,
    Rule::InterPodAffinity,
];

/// The profiles of the scheduler, by name; `None` without a configuration.
#[derive(Default)]
pub(crate) struct Profiles(Option<BTreeMap<String, Profile>>);

#[derive(Clone, Default)]
struct Profile {
    exempt: BTreeSet<Rule>,
    added_affinity: Option<Vec<NodeTerm>>,
    ignored: Ignored,
    hard_defaults: bool,
    causes: BTreeSet<Cause>,
}

/// Resources that a profile does not look at, by name and by the domain of their name.
#[derive(Clone, Default, PartialEq, Eq)]
struct Ignored {
    names: BTreeSet<String>,
    groups: BTreeSet<String>,
}

impl Ignored {
    fn holds(&self, resource: &str) -> bool {
        let group = resource.split_once('/').map_or(resource, |(group, _)| group);
        self.names.contains(resource) || (name::is_extended(resource) && self.groups.contains(group))
    }
}

/// What a profile of the scheduler makes of a pod that asks for nothing in particular.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduling {
    /// The name of the profile, which pods give as `schedulerName`.
    pub name: String,
    /// The filters that it has switched off.
    pub exempt: BTreeSet<Rule>,
    /// The node affinity that it adds.
    pub added_affinity: Option<Vec<NodeTerm>>,
}

impl Scheduling {
    /// What the scheduler does without a configuration.
    pub fn usual() -> Self {
        Self { name: USUAL.to_owned(), exempt: BTreeSet::new(), added_affinity: None }
    }

    /// Whether pods that name no scheduler get it.
    pub(crate) fn is_usual(&self) -> bool {
        self.name == USUAL
    }
}

impl Profiles {
    /// What each profile makes of a pod, the usual one first.
    pub(crate) fn choices(&self) -> Vec<Scheduling> {
        let Some(profiles) = &self.0 else { return vec![Scheduling::usual()] };
        let mut all: Vec<Scheduling> = profiles.iter().map(choice).collect();
        all.sort_by_key(|choice| !choice.is_usual());
        all
    }

    /// Reads the configuration; there may be only one.
    pub(crate) fn add(&mut self, cx: &mut Context, tree: &Tree<'_>) {
        let Some(object) = Object::new(tree, &SCHEDULER_CONFIGURATION, &mut cx.log) else { return };
        if self.0.is_some() {
            cx.report(errors::duplicate_object(object.span(), None, "the configuration of the scheduler"));
            return;
        }
        let mut profiles = BTreeMap::new();
        for profile in object.objects("profiles", &SCHEDULER_PROFILE, &mut cx.log) {
            let name = profile.text("schedulerName", &mut cx.log).unwrap_or(USUAL).to_owned();
            if profiles.insert(name.clone(), read(cx, &profile)).is_some() {
                cx.report(errors::duplicate_object(profile.span(), None, &format!("the profile {name}")));
            }
        }
        if profiles.is_empty() {
            profiles.insert(USUAL.to_owned(), Profile::default());
        }
        for extender in object.objects("extenders", &EXTENDER, &mut cx.log) {
            extend(cx, &extender, &mut profiles);
        }
        self.0 = Some(profiles);
    }

    /// Whether it is known which schedulers there are.
    pub(crate) fn are_known(&self) -> bool {
        self.0.is_some()
    }

    /// Does to a pod what its profile does, and says what about that is not modelled.
    ///
    /// The controller of DaemonSets looks at taints and node affinity itself, whatever the profile; and it pins by node affinity, which
    /// pins nothing where that is switched off.
    pub(crate) fn apply(&self, content: &mut Content, is_daemon: bool, span: Span) -> Causes {
        let Some(profiles) = &self.0 else { return Causes::new() };
        let Some(profile) = profiles.get(content.scheduler.as_deref().unwrap_or(USUAL)) else {
            return Causes::from([(Cause::OtherScheduler, span)]);
        };
        content.admitted.exempt.extend(profile.exempt.iter().copied());
        content.admitted.added_affinity.clone_from(&profile.added_affinity);
        let mut causes = profile.causes.clone();
        if is_daemon {
            content.admitted.exempt.remove(&Rule::TaintToleration);
            if content.admitted.exempt.remove(&Rule::NodeAffinity) {
                causes.insert(Cause::PartOfPlugin);
            }
        }
        if profile.hard_defaults && !content.has_spread {
            causes.insert(Cause::DefaultSpread);
        }
        let requested = request::of_pod(&content.parts, true);
        if requested.keys().any(|resource| profile.ignored.holds(resource)) {
            if profiles.values().all(|other| other.ignored == profile.ignored) {
                forget(&mut content.parts, &profile.ignored);
            } else {
                causes.insert(Cause::IgnoredResource);
            }
        }
        causes.into_iter().map(|cause| (cause, span)).collect()
    }
}

fn choice((name, profile): (&String, &Profile)) -> Scheduling {
    Scheduling { name: name.clone(), exempt: profile.exempt.clone(), added_affinity: profile.added_affinity.clone() }
}

/// Drops what no profile looks at.
fn forget(parts: &mut Parts, ignored: &Ignored) {
    let Parts { containers, init, whole, overhead } = parts;
    let of_containers = containers.iter_mut().chain(init).flat_map(|c| [&mut c.requests, &mut c.limits]);
    let of_whole = whole.iter_mut().flat_map(|(requests, limits)| [requests, limits]);
    let all = of_containers.chain(of_whole).chain([overhead]);
    all.for_each(|amounts: &mut amount::Amounts| amounts.retain(|resource, _| !ignored.holds(resource)));
}

fn read(cx: &mut Context, object: &Object<'_, '_>) -> Profile {
    let mut profile = Profile::default();
    if let Some(plugins) = object.object("plugins", &PLUGINS, &mut cx.log) {
        Points::read(cx, &plugins).apply(&mut profile);
    }
    for config in object.objects("pluginConfig", &PLUGIN_CONFIG, &mut cx.log) {
        configure(cx, &config, &mut profile);
    }
    profile
}

/// What a profile says about the extension points at which a pod can be refused.
struct Points {
    multi: Set,
    filter: Set,
    pre_filter: Set,
    /// The other points at which a plugin can refuse.
    others: Vec<Set>,
}

#[derive(Default)]
struct Set {
    enabled: BTreeSet<String>,
    disabled: BTreeSet<String>,
}

impl Set {
    fn read(cx: &mut Context, plugins: &Object<'_, '_>, point: &str) -> Self {
        let Some(set) = plugins.object(point, &PLUGIN_SET, &mut cx.log) else { return Self::default() };
        Self { enabled: names(cx, &set, "enabled"), disabled: names(cx, &set, "disabled") }
    }

    fn disables(&self, plugin: &str) -> bool {
        self.disabled.contains(plugin) || self.disabled.contains("*")
    }
}

fn names(cx: &mut Context, set: &Object<'_, '_>, field: &str) -> BTreeSet<String> {
    let plugins = set.objects(field, &PLUGIN, &mut cx.log);
    plugins.iter().filter_map(|plugin| plugin.required_text("name", &mut cx.log)).map(str::to_owned).collect()
}

impl Points {
    fn read(cx: &mut Context, plugins: &Object<'_, '_>) -> Self {
        let mut set = |point| Set::read(cx, plugins, point);
        Self {
            multi: set("multiPoint"),
            filter: set("filter"),
            pre_filter: set("preFilter"),
            others: ["permit", "preBind", "preEnqueue", "reserve"].map(set).into(),
        }
    }

    fn runs(&self, plugin: &str, point: &Set) -> bool {
        let everywhere = self.multi.enabled.contains(plugin) || !self.multi.disables(plugin);
        point.enabled.contains(plugin) || (everywhere && !point.disables(plugin))
    }

    fn apply(&self, profile: &mut Profile) {
        for rule in Rule::ALL.into_iter().filter(|rule| rule.is_filter()) {
            let filter = self.runs(rule.name(), &self.filter);
            let prepares = self.runs(rule.name(), &self.pre_filter);
            match (filter, prepares) {
                (true, true) => {}
                (false, false) => _ = profile.exempt.insert(rule),
                (false, true) if PREPARING.contains(&rule) => _ = profile.exempt.insert(rule),
                _ => _ = profile.causes.insert(Cause::PartOfPlugin),
            }
        }
        let sets = [&self.multi, &self.filter, &self.pre_filter].into_iter().chain(&self.others);
        if sets.flat_map(|set| &set.enabled).any(|name| !is_known(name)) {
            profile.causes.insert(Cause::OtherPlugins);
        }
    }
}

/// Whether a plugin is one of the scheduler's own.
fn is_known(name: &str) -> bool {
    OWN.contains(&name) || Rule::ALL.iter().any(|rule| rule.is_filter() && rule.name() == name)
}

fn configure(cx: &mut Context, config: &Object<'_, '_>, profile: &mut Profile) {
    match config.required_text("name", &mut cx.log) {
        Some("NodeAffinity") => {
            let args = config.object("args", &NODE_AFFINITY_ARGS, &mut cx.log);
            profile.added_affinity = args.and_then(|args| affinity::required_node_terms(cx, &args, "addedAffinity"));
        }
        Some("NodeResourcesFit") => {
            let Some(args) = config.object("args", &FIT_ARGS, &mut cx.log) else { return };
            let mut texts = |field| args.texts(field, &mut cx.log).into_iter().map(|(text, _)| text.to_owned());
            profile.ignored.names = texts("ignoredResources").collect();
            profile.ignored.groups = texts("ignoredResourceGroups").collect();
        }
        Some("PodTopologySpread") => {
            let Some(args) = config.object("args", &SPREAD_ARGS, &mut cx.log) else { return };
            let constraints = args.objects("defaultConstraints", &SPREAD_CONSTRAINT, &mut cx.log);
            let mut hard = constraints.iter().map(|constraint| constraint.text("whenUnsatisfiable", &mut cx.log));
            profile.hard_defaults = hard.any(|text| text == Some("DoNotSchedule"));
        }
        _ => {}
    }
}

/// Adds what an extender does to every profile.
fn extend(cx: &mut Context, extender: &Object<'_, '_>, profiles: &mut BTreeMap<String, Profile>) {
    let filters = extender.text("filterVerb", &mut cx.log).is_some_and(|verb| !verb.is_empty());
    let mut ignored = Vec::new();
    for resource in extender.objects("managedResources", &MANAGED_RESOURCE, &mut cx.log) {
        if resource.flag("ignoredByScheduler", &mut cx.log) {
            ignored.extend(resource.text("name", &mut cx.log).map(str::to_owned));
        }
    }
    for profile in profiles.values_mut() {
        profile.ignored.names.extend(ignored.iter().cloned());
        if filters {
            profile.causes.insert(Cause::OtherPlugins);
        }
    }
}
