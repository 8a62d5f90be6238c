//! The security settings of a pod, as far as the Pod Security Standards look at them.
//!
//! Each flaw is a bit, so one word holds everything that any version of any level asks about; `admission/pod_security.rs` says which bits
//! count where. Errors in these fields are kept apart: they matter only where a namespace enforces a level.

use crate::lower::object::mapping::{Log, Object};
use crate::lower::schema::fields::{
    APP_ARMOR_PROFILE, CAPABILITIES, CONTAINER, CONTAINER_PORT, HTTP_GET_ACTION, LIFECYCLE, LIFECYCLE_HANDLER, POD_OS,
    POD_SECURITY_CONTEXT, PROBE, SE_LINUX_OPTIONS, SECCOMP_PROFILE, SECURITY_CONTEXT, SYSCTL, TCP_SOCKET_ACTION, Table,
    VOLUME, WINDOWS_OPTIONS,
};
use crate::read::{Span, Tree, Value};

/// What is done to the annotation of a container that sets its AppArmor profile.
const APP_ARMOR_ANNOTATION: &str = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP_ANNOTATION: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_ANNOTATION_OF: &str = "container.seccomp.security.alpha.kubernetes.io/";

/// Capabilities that every container has by default.
pub(crate) const USUAL_CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// Kinds of volumes that tell a pod nothing of its host.
const SAFE_VOLUMES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

/// Settings of the kernel that are safe, each with the flaw that a pod has whose policy does not know it to be.
pub(crate) const SAFE_SYSCTLS: [(&str, Option<Flaw>); 14] = [
    ("kernel.shm_rmid_forced", None),
    ("net.ipv4.ip_local_port_range", None),
    ("net.ipv4.ip_unprivileged_port_start", None),
    ("net.ipv4.ping_group_range", None),
    ("net.ipv4.tcp_syncookies", None),
    ("net.ipv4.ip_local_reserved_ports", Some(Flaw::SysctlOf27)),
    ("net.ipv4.tcp_fin_timeout", Some(Flaw::SysctlOf29)),
    ("net.ipv4.tcp_keepalive_intvl", Some(Flaw::SysctlOf29)),
    ("net.ipv4.tcp_keepalive_probes", Some(Flaw::SysctlOf29)),
    ("net.ipv4.tcp_keepalive_time", Some(Flaw::SysctlOf29)),
    ("net.ipv4.tcp_rmem", Some(Flaw::SysctlOf32)),
    ("net.ipv4.tcp_wmem", Some(Flaw::SysctlOf32)),
    ("net.ipv4.tcp_notsent_lowat", Some(Flaw::SysctlOf37)),
    ("net.ipv4.tcp_slow_start_after_idle", Some(Flaw::SysctlOf37)),
];

/// Something that a policy may forbid, or that makes it forbid less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// It switches AppArmor off.
    AppArmor,
    /// A container adds a capability that it would not have by default.
    Capability,
    /// A container keeps capabilities, or adds another than to bind low ports.
    Capabilities,
    /// A container may gain privileges.
    Escalation,
    /// It shares the network, the processes or the memory of its host.
    HostNamespace,
    /// It mounts a path of its host.
    HostPath,
    /// It takes a port of its host.
    HostPort,
    /// A probe or hook is sent to another host.
    HostOfProbe,
    /// A container is a process of a Windows host.
    HostProcess,
    /// A container is privileged.
    Privileged,
    /// A container sees more of `/proc` than usual.
    ProcMount,
    /// A container may run as root.
    Root,
    /// It says that it runs as user 0.
    RootUser,
    /// It has another SELinux user, role or type than containers may.
    SeLinux,
    /// The same, where only a type of 1.31 is not among those.
    SeLinuxOf31,
    /// An annotation switches seccomp off.
    SeccompAnnotation,
    /// It switches seccomp off.
    Seccomp,
    /// A container has no seccomp profile.
    NoSeccomp,
    /// It sets something in the kernel that is never safe.
    Sysctl,
    /// It sets something that is safe since a release.
    SysctlOf27,
    SysctlOf29,
    SysctlOf32,
    SysctlOf37,
    /// It mounts a volume of a kind that only an administrator should.
    Volume,
    /// It is for Windows, where much of this means nothing.
    Windows,
    /// Its users are not those of its host.
    OwnUsers,
}

/// A set of flaws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Flaws(u32);

impl Flaws {
    /// Whether it holds a flaw.
    pub(crate) fn has(self, flaw: Flaw) -> bool {
        self.0 & (1 << flaw as u32) != 0
    }

    /// Both sets together.
    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn add(&mut self, flaw: Flaw, holds: bool) {
        self.0 |= u32::from(holds) << flaw as u32;
    }
}

/// What the fields of a pod say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Security {
    /// Its flaws.
    pub(crate) flaws: Flaws,
    /// What is wrong with these fields.
    pub(crate) faults: Log,
}

/// What the spec of a pod says; what it says of ephemeral containers is left out, which no pod has when it is created.
pub(crate) fn of_spec(spec: &Object<'_, '_>) -> Security {
    let mut log = Log::new();
    let mut flaws = Flaws::default();
    for field in ["hostIPC", "hostNetwork", "hostPID"] {
        flaws.add(Flaw::HostNamespace, spec.flag(field, &mut log));
    }
    let own_users = spec.field("hostUsers").is_some_and(|tree| tree.value == Value::Bool(false));
    flaws.add(Flaw::OwnUsers, own_users);
    let os = spec.object("os", &POD_OS, &mut log).and_then(|os| os.text("name", &mut log));
    flaws.add(Flaw::Windows, os == Some("windows"));
    volumes(spec, &mut flaws);
    let context = spec.object("securityContext", &POD_SECURITY_CONTEXT, &mut log);
    let pod = context.map(|context| Context::read(&context, &mut log)).unwrap_or_default();
    context.iter().for_each(|context| sysctls(context, &mut flaws, &mut log));
    pod.add_to(&mut flaws);
    flaws.add(Flaw::Root, pod.non_root == Some(false));
    for list in ["initContainers", "containers"] {
        for item in spec.items(list, &mut Log::new()) {
            // Containers were read before, with what there is to say about them.
            let Some(container) = Object::new(item, &CONTAINER, &mut Log::new()) else { continue };
            container_flaws(&container, &pod, &mut flaws, &mut log);
        }
    }
    Security { flaws, faults: log }
}

/// The part of a security context that pods and containers share.
#[derive(Clone, Copy, Default)]
struct Context {
    app_armor: Option<bool>,
    seccomp: Option<bool>,
    non_root: Option<bool>,
    root: bool,
    host_process: bool,
    se_linux: [bool; 2],
}

impl Context {
    fn read(context: &Object<'_, '_>, log: &mut Log) -> Self {
        let app_armor = is_confined(context, "appArmorProfile", &APP_ARMOR_PROFILE, log);
        let seccomp = is_confined(context, "seccompProfile", &SECCOMP_PROFILE, log);
        let windows = context.object("windowsOptions", &WINDOWS_OPTIONS, log);
        Self {
            app_armor,
            seccomp,
            non_root: truth(context, "runAsNonRoot", log),
            root: context.integer("runAsUser", i64::MIN, i64::MAX, log) == Some(0),
            host_process: windows.is_some_and(|windows| windows.flag("hostProcess", log)),
            se_linux: se_linux(context, log),
        }
    }

    fn add_to(self, flaws: &mut Flaws) {
        flaws.add(Flaw::AppArmor, self.app_armor == Some(false));
        flaws.add(Flaw::Seccomp, self.seccomp == Some(false));
        flaws.add(Flaw::NoSeccomp, self.seccomp == Some(false));
        flaws.add(Flaw::RootUser, self.root);
        flaws.add(Flaw::HostProcess, self.host_process);
        flaws.add(Flaw::SeLinux, self.se_linux[0]);
        flaws.add(Flaw::SeLinuxOf31, self.se_linux[1]);
    }
}

/// The truth of a field, if it is there.
fn truth(object: &Object<'_, '_>, field: &str, log: &mut Log) -> Option<bool> {
    let there = object.field(field).is_some();
    let flag = object.flag(field, log);
    there.then_some(flag)
}

/// Whether a profile confines the container, if there is one.
fn is_confined(context: &Object<'_, '_>, field: &str, table: &'static Table, log: &mut Log) -> Option<bool> {
    let profile = context.object(field, table, log)?;
    let kind = profile.text("type", log).unwrap_or_default();
    Some(matches!(kind, "RuntimeDefault" | "Localhost"))
}

/// Whether SELinux options are others than containers may have: of any release, and of 1.31 and later.
fn se_linux(context: &Object<'_, '_>, log: &mut Log) -> [bool; 2] {
    let Some(options) = context.object("seLinuxOptions", &SE_LINUX_OPTIONS, log) else { return [false; 2] };
    let mut text = |field| options.text(field, log).unwrap_or_default();
    let custom = !text("user").is_empty() | !text("role").is_empty();
    match text("type") {
        "" | "container_t" | "container_init_t" | "container_kvm_t" => [custom; 2],
        "container_engine_t" => [true, custom],
        _ => [true; 2],
    }
}

fn container_flaws(container: &Object<'_, '_>, pod: &Context, flaws: &mut Flaws, log: &mut Log) {
    let context = container.object("securityContext", &SECURITY_CONTEXT, log);
    let own = context.map(|context| Context::read(&context, log)).unwrap_or_default();
    own.add_to(flaws);
    flaws.add(Flaw::Root, own.non_root == Some(false) || (own.non_root.is_none() && pod.non_root != Some(true)));
    flaws.add(Flaw::NoSeccomp, own.seccomp.is_none() && pod.seccomp != Some(true));
    let flag = |field, log: &mut Log| context.and_then(|context| truth(&context, field, log));
    flaws.add(Flaw::Privileged, flag("privileged", log) == Some(true));
    flaws.add(Flaw::Escalation, flag("allowPrivilegeEscalation", log) != Some(false));
    let proc = context.and_then(|context| context.text("procMount", log));
    flaws.add(Flaw::ProcMount, proc.is_some_and(|kind| kind != "Default"));
    let capabilities = context.and_then(|context| context.object("capabilities", &CAPABILITIES, log));
    let mut list = |field| capabilities.map(|list| list.texts(field, log)).unwrap_or_default();
    let (added, dropped) = (list("add"), list("drop"));
    flaws.add(Flaw::Capability, added.iter().any(|(name, _)| !USUAL_CAPABILITIES.contains(name)));
    flaws.add(Flaw::Capabilities, !dropped.iter().any(|(name, _)| *name == "ALL"));
    flaws.add(Flaw::Capabilities, added.iter().any(|(name, _)| *name != "NET_BIND_SERVICE"));
    let ports = container.objects("ports", &CONTAINER_PORT, &mut Log::new());
    flaws.add(Flaw::HostPort, ports.iter().any(takes_host_port));
    flaws.add(Flaw::HostOfProbe, has_host(container, log));
}

/// Whether a probe or hook of a container names a host.
fn has_host(container: &Object<'_, '_>, log: &mut Log) -> bool {
    let mut found = false;
    for field in ["livenessProbe", "readinessProbe", "startupProbe"] {
        found |= container.object(field, &PROBE, log).is_some_and(|probe| names_host(&probe, log));
    }
    let lifecycle = container.object("lifecycle", &LIFECYCLE, log);
    for field in ["postStart", "preStop"] {
        let handler = lifecycle.and_then(|lifecycle| lifecycle.object(field, &LIFECYCLE_HANDLER, log));
        found |= handler.is_some_and(|handler| names_host(&handler, log));
    }
    found
}

fn takes_host_port(port: &Object<'_, '_>) -> bool {
    port.integer("hostPort", 0, 65535, &mut Log::new()).unwrap_or(0) != 0
}

fn names_host(handler: &Object<'_, '_>, log: &mut Log) -> bool {
    has_host_in(handler, "httpGet", &HTTP_GET_ACTION, log) | has_host_in(handler, "tcpSocket", &TCP_SOCKET_ACTION, log)
}

fn has_host_in(handler: &Object<'_, '_>, field: &str, table: &'static Table, log: &mut Log) -> bool {
    let action = handler.object(field, table, log);
    action.and_then(|action| action.text("host", log)).is_some_and(|host| !host.is_empty())
}

/// Looks at volumes. One without a source is an empty folder.
///
/// Kubernetes: `pkg/apis/core/v1/defaults.go`, `SetDefaults_Volume`.
fn volumes(spec: &Object<'_, '_>, flaws: &mut Flaws) {
    for volume in spec.objects("volumes", &VOLUME, &mut Log::new()) {
        let mut sources = VOLUME.fields().filter(|field| *field != "name" && volume.field(field).is_some()).peekable();
        flaws.add(Flaw::HostPath, volume.field("hostPath").is_some());
        let is_some = sources.peek().is_some();
        flaws.add(Flaw::Volume, is_some && !sources.any(|field| SAFE_VOLUMES.contains(&field)));
    }
}

fn sysctls(context: &Object<'_, '_>, flaws: &mut Flaws, log: &mut Log) {
    for sysctl in context.objects("sysctls", &SYSCTL, log) {
        let name = sysctl.text("name", log).unwrap_or_default();
        match SAFE_SYSCTLS.iter().find(|(safe, _)| *safe == name) {
            None => flaws.add(Flaw::Sysctl, true),
            Some((_, Some(since))) => flaws.add(*since, true),
            Some((_, None)) => {}
        }
    }
}

/// Whether a pod sets a parameter of the kernel that kubelets refuse unless they are told to allow it (`--allowed-unsafe-sysctls`): all but
/// those on a list that has grown, and of these what would be a parameter of the host.
///
/// Kubernetes: `pkg/kubelet/sysctl/safe_sysctls.go` and `allowlist.go`, `validateSysctl`.
pub(crate) fn unsafe_sysctl(spec: &Object<'_, '_>, minor: u32) -> Option<Span> {
    let list = spec.field("securityContext").and_then(|context| context.field("sysctls"));
    let shares = |field: &str| spec.field(field).is_some_and(|tree| tree.value == Value::Bool(true));
    let mut sysctls = list.and_then(Tree::seq).unwrap_or_default().iter();
    let found = sysctls.find(|sysctl| {
        let Some(name) = sysctl.field("name").and_then(Tree::str).map(dotted) else { return false };
        let of_host = if name.starts_with("net.") { "hostNetwork" } else { "hostIPC" };
        !is_safe_sysctl(&name, minor) || shares(of_host)
    });
    found.map(|sysctl| sysctl.span)
}

/// Whether a release takes a sysctl to be safe for pods that share nothing with their node.
fn is_safe_sysctl(name: &str, minor: u32) -> bool {
    let safe = SAFE_SYSCTLS.iter().find(|(safe, _)| *safe == name);
    safe.is_some_and(|(_, since)| since.is_none_or(|since| minor >= safe_since(since)))
}

/// The release since which parameters with this flaw before it are safe.
fn safe_since(flaw: Flaw) -> u32 {
    match flaw {
        Flaw::SysctlOf27 => 27,
        Flaw::SysctlOf29 => 29,
        Flaw::SysctlOf32 => 32,
        Flaw::SysctlOf37 => 37,
        _ => u32::MAX,
    }
}

/// The name of a parameter with dots between its parts: where a slash comes first, slashes are what is between them.
///
/// Kubernetes: `k8s.io/component-helpers/node/util/sysctl/namespace.go`, `NormalizeName`.
fn dotted(name: &str) -> String {
    match name.find(['.', '/']).map(|at| &name[at..=at]) {
        Some("/") => name
            .chars()
            .map(|c| {
                if c == '/' {
                    '.'
                } else if c == '.' {
                    '/'
                } else {
                    c
                }
            })
            .collect(),
        _ => name.to_owned(),
    }
}

/// What the annotations of a pod or template switch off; `holder` has metadata and a spec.
pub(crate) fn of_annotations(holder: &Object<'_, '_>) -> Flaws {
    let mut flaws = Flaws::default();
    let annotations = holder.field("metadata").and_then(|metadata| metadata.field("annotations")).and_then(Tree::map);
    for entry in annotations.unwrap_or_default() {
        let value = entry.value.str().unwrap_or_default();
        let local = value == "runtime/default" || value.starts_with("localhost/");
        if entry.key.starts_with(APP_ARMOR_ANNOTATION) {
            flaws.add(Flaw::AppArmor, !value.is_empty() && !local);
        } else if entry.key == SECCOMP_ANNOTATION || names_container(holder, &entry.key) {
            flaws.add(Flaw::SeccompAnnotation, !local && value != "docker/default");
        }
    }
    flaws
}

/// Whether the key of an annotation sets the seccomp profile of a container that there is.
fn names_container(holder: &Object<'_, '_>, key: &str) -> bool {
    let Some(name) = key.strip_prefix(SECCOMP_ANNOTATION_OF) else { return false };
    let spec = holder.field("spec");
    let containers = |list| spec.and_then(|spec| spec.field(list)).and_then(Tree::seq).unwrap_or_default();
    containers("containers")
        .iter()
        .chain(containers("initContainers"))
        .any(|container| container.text("name") == Some(name))
}
