//! Known custom resources by group and kind: which of them make pods, and what the others do instead.
//!
//! Files and live clusters use the same list. A group has a usual answer and kinds that differ from it; a kind that is not listed is
//! unknown, and may make pods.

/// What a controller does with a custom resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Nothing to pods.
    Nothing,
    /// It makes pods, or objects that do.
    Pods,
    /// The same, if the spec has this field.
    PodsWith(&'static str),
    /// It applies manifests that someone wrote, as a person would with kubectl.
    Manifests,
    /// It changes or refuses pods when they are made.
    Admission,
    /// It changes what pods request when they are made.
    Requests,
    /// It adds and removes nodes, or changes their labels.
    Nodes,
    /// Not known.
    Unknown,
}

use Does::{Admission, Manifests, Nodes, Nothing, Pods, PodsWith, Requests, Unknown};

/// What the kinds of a group do, and the kinds that differ. A name that starts with a dot stands for all groups that end in it.
type Group = (&'static str, Does, &'static [(&'static str, Does)]);

const KNOWN: &[Group] = &[
    // Certificates and secrets.
    ("cert-manager.io", Nothing, &[("ClusterIssuer", PodsWith("acme")), ("Issuer", PodsWith("acme"))]),
    ("acme.cert-manager.io", Nothing, &[("Challenge", Pods)]),
    ("policy.cert-manager.io", Nothing, &[]),
    ("trust.cert-manager.io", Nothing, &[]),
    ("external-secrets.io", Nothing, &[]),
    ("generators.external-secrets.io", Nothing, &[]),
    ("bitnami.com", Unknown, &[("SealedSecret", Nothing)]),
    ("isindir.github.com", Nothing, &[]),
    ("onepassword.com", Unknown, &[("OnePasswordItem", Nothing)]),
    ("secrets-store.csi.x-k8s.io", Nothing, &[]),
    ("secrets.hashicorp.com", Nothing, &[]),
    ("spire.spiffe.io", Nothing, &[]),
    ("vault.banzaicloud.com", Unknown, &[("Vault", Pods)]),
    // Meshes, routes and gateways.
    ("install.istio.io", Pods, &[]),
    ("sailoperator.io", Pods, &[]),
    ("authentication.istio.io", Nothing, &[]),
    ("config.istio.io", Nothing, &[]),
    ("extensions.istio.io", Nothing, &[]),
    ("networking.istio.io", Nothing, &[]),
    ("rbac.istio.io", Nothing, &[]),
    ("security.istio.io", Nothing, &[]),
    ("telemetry.istio.io", Nothing, &[]),
    ("linkerd.io", Nothing, &[]),
    ("policy.linkerd.io", Nothing, &[]),
    (".smi-spec.io", Nothing, &[]),
    ("gateway.networking.k8s.io", Nothing, &[("Gateway", Pods)]),
    ("gateway.networking.x-k8s.io", Nothing, &[("XMesh", Unknown)]),
    ("inference.networking.k8s.io", Nothing, &[]),
    ("inference.networking.x-k8s.io", Nothing, &[]),
    ("gateway.envoyproxy.io", Nothing, &[]),
    ("gateway.nginx.org", Nothing, &[]),
    ("k8s.nginx.org", Nothing, &[]),
    ("configuration.konghq.com", Nothing, &[]),
    ("getambassador.io", Nothing, &[]),
    ("projectcontour.io", Nothing, &[]),
    ("traefik.io", Nothing, &[]),
    ("traefik.containo.us", Nothing, &[]),
    ("externaldns.k8s.io", Nothing, &[]),
    ("elbv2.k8s.aws", Nothing, &[]),
    ("cloud.google.com", Nothing, &[("ComputeClass", Nodes)]),
    ("networking.gke.io", Nothing, &[]),
    ("net.gke.io", Nothing, &[]),
    ("multicluster.x-k8s.io", Nothing, &[]),
    // Networks and their policies.
    ("cilium.io", Nothing, &[]),
    ("crd.projectcalico.org", Nothing, &[]),
    ("projectcalico.org", Nothing, &[]),
    ("operator.tigera.io", Pods, &[]),
    ("crd.antrea.io", Nothing, &[]),
    ("k8s.ovn.org", Nothing, &[]),
    ("k8s.cni.cncf.io", Nothing, &[]),
    ("whereabouts.cni.cncf.io", Nothing, &[]),
    ("policy.networking.k8s.io", Nothing, &[]),
    ("metallb.io", Nothing, &[("MetalLB", Pods)]),
    ("crd.k8s.amazonaws.com", Nothing, &[]),
    ("networking.k8s.aws", Nothing, &[]),
    ("vpcresources.k8s.aws", Nothing, &[]),
    // OpenShift.
    ("apps.openshift.io", Unknown, &[("DeploymentConfig", Pods)]),
    ("authorization.openshift.io", Nothing, &[]),
    ("autoscaling.openshift.io", Nodes, &[("ClusterAutoscaler", Pods)]),
    ("build.openshift.io", Pods, &[]),
    ("cloudcredential.openshift.io", Nothing, &[]),
    ("config.openshift.io", Nothing, &[]),
    ("console.openshift.io", Nothing, &[]),
    ("image.openshift.io", Nothing, &[]),
    ("imageregistry.operator.openshift.io", Unknown, &[("Config", Pods), ("ImagePruner", Pods)]),
    ("machine.openshift.io", Nodes, &[]),
    ("machineconfiguration.openshift.io", Nothing, &[]),
    ("monitoring.openshift.io", Nothing, &[]),
    ("oauth.openshift.io", Nothing, &[]),
    ("operator.openshift.io", Pods, &[]),
    ("project.openshift.io", Nothing, &[]),
    ("quota.openshift.io", Unknown, &[("AppliedClusterResourceQuota", Nothing), ("ClusterResourceQuota", Admission)]),
    ("route.openshift.io", Nothing, &[]),
    ("security.openshift.io", Unknown, &[("RangeAllocation", Nothing), ("SecurityContextConstraints", Admission)]),
    ("template.openshift.io", Manifests, &[("BrokerTemplateInstance", Nothing), ("Template", Nothing)]),
    ("user.openshift.io", Nothing, &[]),
    (
        "operators.coreos.com",
        Pods,
        &[("OLMConfig", Nothing), ("Operator", Nothing), ("OperatorCondition", Nothing), ("OperatorGroup", Nothing)],
    ),
    ("packages.operators.coreos.com", Nothing, &[]),
    // Those who apply what others wrote.
    (
        "argoproj.io",
        Pods,
        &[
            ("AnalysisTemplate", Nothing),
            ("AppProject", Nothing),
            ("Application", Manifests),
            ("ApplicationSet", Manifests),
            ("ClusterAnalysisTemplate", Nothing),
            ("ClusterWorkflowTemplate", Nothing),
            ("WorkflowTaskResult", Nothing),
            ("WorkflowTemplate", Nothing),
        ],
    ),
    ("source.toolkit.fluxcd.io", Nothing, &[]),
    ("notification.toolkit.fluxcd.io", Nothing, &[]),
    ("image.toolkit.fluxcd.io", Nothing, &[]),
    ("source.extensions.fluxcd.io", Nothing, &[]),
    ("kustomize.toolkit.fluxcd.io", Manifests, &[]),
    ("helm.toolkit.fluxcd.io", Manifests, &[]),
    ("fluxcd.controlplane.io", Unknown, &[("FluxInstance", Pods), ("ResourceSet", Manifests)]),
    ("infra.contrib.fluxcd.io", Unknown, &[("Terraform", Pods)]),
    ("kustomize.config.k8s.io", Manifests, &[]),
    ("core.oam.dev", Manifests, &[]),
    ("fleet.cattle.io", Manifests, &[]),
    ("helm.cattle.io", Unknown, &[("HelmChart", Pods), ("HelmChartConfig", Nothing)]),
    ("k3s.cattle.io", Unknown, &[("Addon", Manifests), ("ETCDSnapshotFile", Nothing)]),
    ("upgrade.cattle.io", Unknown, &[("Plan", Pods)]),
    ("work.open-cluster-management.io", Manifests, &[]),
    ("apiextensions.crossplane.io", Nothing, &[]),
    ("helm.crossplane.io", Manifests, &[("ProviderConfig", Nothing), ("ProviderConfigUsage", Nothing)]),
    ("kubernetes.crossplane.io", Manifests, &[("ProviderConfig", Nothing), ("ProviderConfigUsage", Nothing)]),
    ("pkg.crossplane.io", Pods, &[("DeploymentRuntimeConfig", Nothing), ("ImageConfig", Nothing), ("Lock", Nothing)]),
    (".aws.crossplane.io", Nothing, &[]),
    (".azure.crossplane.io", Nothing, &[]),
    (".gcp.crossplane.io", Nothing, &[]),
    (".aws.upbound.io", Nothing, &[]),
    (".aws.m.upbound.io", Nothing, &[]),
    (".azure.upbound.io", Nothing, &[]),
    (".azure.m.upbound.io", Nothing, &[]),
    (".gcp.upbound.io", Nothing, &[]),
    (".gcp.m.upbound.io", Nothing, &[]),
    (".services.k8s.aws", Nothing, &[]),
    ("core.cnrm.cloud.google.com", Unknown, &[("ConfigConnector", Pods), ("ConfigConnectorContext", Pods)]),
    (".cnrm.cloud.google.com", Nothing, &[]),
    // What watches.
    (
        "monitoring.coreos.com",
        Nothing,
        &[("Alertmanager", Pods), ("Prometheus", Pods), ("PrometheusAgent", Pods), ("ThanosRuler", Pods)],
    ),
    (
        "operator.victoriametrics.com",
        Pods,
        &[
            ("VMAlertmanagerConfig", Nothing),
            ("VMNodeScrape", Nothing),
            ("VMPodScrape", Nothing),
            ("VMProbe", Nothing),
            ("VMRule", Nothing),
            ("VMScrapeConfig", Nothing),
            ("VMServiceScrape", Nothing),
            ("VMStaticScrape", Nothing),
            ("VMUser", Nothing),
        ],
    ),
    ("grafana.integreatly.org", Nothing, &[("Grafana", Pods)]),
    ("loki.grafana.com", Nothing, &[("LokiStack", Pods)]),
    ("opentelemetry.io", Pods, &[("Instrumentation", Admission)]),
    ("jaegertracing.io", Pods, &[]),
    (
        "logging.banzaicloud.io",
        Unknown,
        &[
            ("ClusterFlow", Nothing),
            ("ClusterOutput", Nothing),
            ("Flow", Nothing),
            ("Logging", Pods),
            ("Output", Nothing),
        ],
    ),
    ("datadoghq.com", Nothing, &[("DatadogAgent", Pods), ("DatadogAgentInternal", Pods)]),
    ("custom.metrics.k8s.io", Nothing, &[]),
    ("external.metrics.k8s.io", Nothing, &[]),
    ("pyrra.dev", Nothing, &[]),
    ("sloth.slok.dev", Nothing, &[]),
    ("aquasecurity.github.io", Nothing, &[]),
    ("wgpolicyk8s.io", Nothing, &[]),
    ("openreports.io", Nothing, &[]),
    // Storage and backups.
    ("snapshot.storage.k8s.io", Nothing, &[]),
    ("groupsnapshot.storage.k8s.io", Nothing, &[]),
    ("objectbucket.io", Nothing, &[]),
    ("topolvm.io", Nothing, &[]),
    ("zfs.openebs.io", Nothing, &[]),
    ("local.openebs.io", Nothing, &[]),
    (
        "velero.io",
        Nothing,
        &[
            ("BackupRepository", Pods),
            ("DataDownload", Pods),
            ("DataUpload", Pods),
            ("PodVolumeBackup", Pods),
            ("PodVolumeRestore", Pods),
            ("Restore", Manifests),
        ],
    ),
    (
        "longhorn.io",
        Nothing,
        &[
            ("BackingImageDataSource", Pods),
            ("BackingImageManager", Pods),
            ("InstanceManager", Pods),
            ("RecurringJob", Pods),
            ("ShareManager", Pods),
            ("SystemRestore", Pods),
        ],
    ),
    (
        "ceph.rook.io",
        Pods,
        &[
            ("CephBlockPool", Nothing),
            ("CephBlockPoolRadosNamespace", Nothing),
            ("CephClient", Nothing),
            ("CephFilesystemSubVolumeGroup", Nothing),
            ("CephObjectStoreUser", Nothing),
        ],
    ),
    ("cdi.kubevirt.io", Pods, &[("StorageProfile", Nothing)]),
    ("minio.min.io", Pods, &[]),
    // Autoscalers, queues and nodes.
    ("keda.sh", Nothing, &[("ScaledJob", Pods)]),
    ("eventing.keda.sh", Nothing, &[]),
    ("http.keda.sh", Nothing, &[]),
    (
        "autoscaling.k8s.io",
        Unknown,
        &[("VerticalPodAutoscaler", Requests), ("VerticalPodAutoscalerCheckpoint", Nothing)],
    ),
    ("autoscaling.x-k8s.io", Nodes, &[]),
    ("karpenter.sh", Nodes, &[]),
    ("karpenter.k8s.aws", Nodes, &[]),
    ("karpenter.azure.com", Nodes, &[]),
    ("eks.amazonaws.com", Nothing, &[("NodeClass", Nodes)]),
    ("cluster.x-k8s.io", Nodes, &[("ClusterClass", Nothing)]),
    ("addons.cluster.x-k8s.io", Nothing, &[]),
    ("bootstrap.cluster.x-k8s.io", Nothing, &[]),
    ("infrastructure.cluster.x-k8s.io", Nodes, &[("KubevirtMachine", Pods)]),
    ("ipam.cluster.x-k8s.io", Nothing, &[]),
    ("runtime.cluster.x-k8s.io", Nothing, &[]),
    (
        "controlplane.cluster.x-k8s.io",
        Unknown,
        &[("KubeadmControlPlane", Nodes), ("KubeadmControlPlaneTemplate", Nothing)],
    ),
    ("nfd.k8s-sigs.io", Nodes, &[]),
    (
        "kueue.x-k8s.io",
        Nothing,
        &[("ClusterQueue", Admission), ("LocalQueue", Admission), ("ResourceFlavor", Admission)],
    ),
    ("scheduling.volcano.sh", Nothing, &[]),
    ("scheduling.x-k8s.io", Nothing, &[]),
    // Policy engines.
    (
        "kyverno.io",
        Admission,
        &[
            ("CleanupPolicy", Nothing),
            ("ClusterCleanupPolicy", Nothing),
            ("GlobalContextEntry", Nothing),
            ("PolicyException", Nothing),
            ("UpdateRequest", Nothing),
        ],
    ),
    ("policies.kyverno.io", Admission, &[("PolicyException", Nothing)]),
    ("reports.kyverno.io", Nothing, &[]),
    ("config.gatekeeper.sh", Nothing, &[]),
    ("status.gatekeeper.sh", Nothing, &[]),
    (".gatekeeper.sh", Admission, &[]),
    ("policies.kubewarden.io", Admission, &[("PolicyServer", Pods)]),
    ("policy.sigstore.dev", Admission, &[]),
    ("capsule.clastix.io", Admission, &[]),
    ("hnc.x-k8s.io", Nothing, &[]),
    // What makes pods: batches, services, databases.
    (
        "kafka.strimzi.io",
        Pods,
        &[("KafkaConnector", Nothing), ("KafkaRebalance", Nothing), ("KafkaTopic", Nothing), ("KafkaUser", Nothing)],
    ),
    ("core.strimzi.io", Pods, &[]),
    (
        "postgresql.cnpg.io",
        Pods,
        &[
            ("Backup", Nothing),
            ("ClusterImageCatalog", Nothing),
            ("Database", Nothing),
            ("ImageCatalog", Nothing),
            ("Publication", Nothing),
            ("ScheduledBackup", Nothing),
            ("Subscription", Nothing),
        ],
    ),
    ("acid.zalan.do", Pods, &[("OperatorConfiguration", Nothing)]),
    ("k8s.mariadb.com", Pods, &[("Connection", Nothing), ("Database", Nothing), ("Grant", Nothing), ("User", Nothing)]),
    ("mysql.oracle.com", Pods, &[]),
    ("mongodb.com", Pods, &[("MongoDBUser", Nothing)]),
    ("mongodbcommunity.mongodb.com", Pods, &[]),
    (".k8s.elastic.co", Pods, &[]),
    ("rabbitmq.com", Nothing, &[("RabbitmqCluster", Pods)]),
    ("jetstream.nats.io", Nothing, &[]),
    ("k8s.keycloak.org", Pods, &[]),
    ("actions.github.com", Pods, &[]),
    ("actions.summerwind.net", Pods, &[]),
    ("apps.kruise.io", Pods, &[("SidecarSet", Admission), ("WorkloadSpread", Admission)]),
    ("batch.volcano.sh", Pods, &[]),
    ("flagger.app", Unknown, &[("AlertProvider", Nothing), ("Canary", Pods), ("MetricTemplate", Nothing)]),
    ("flink.apache.org", Pods, &[("FlinkSessionJob", Nothing)]),
    ("jobset.x-k8s.io", Pods, &[]),
    ("kubevirt.io", Pods, &[]),
    ("instancetype.kubevirt.io", Nothing, &[]),
    ("leaderworkerset.x-k8s.io", Pods, &[]),
    ("nvidia.com", Pods, &[]),
    ("ray.io", Pods, &[]),
    ("serving.knative.dev", Pods, &[("DomainMapping", Nothing), ("Route", Nothing)]),
    ("networking.internal.knative.dev", Nothing, &[]),
    ("caching.internal.knative.dev", Nothing, &[]),
    ("sparkoperator.k8s.io", Pods, &[]),
    (
        "tekton.dev",
        Pods,
        &[("ClusterTask", Nothing), ("Pipeline", Nothing), ("StepAction", Nothing), ("Task", Nothing)],
    ),
    ("triggers.tekton.dev", Nothing, &[("EventListener", Pods)]),
    // Our own.
    ("podreach.dev", Unknown, &[("AappPolicy", Nothing), ("PebblingGame", Nothing), ("PetriNet", Nothing)]),
];

/// What is done with custom resources of this group and kind. A list does what its items do.
pub fn does(group: &str, kind: &str) -> Does {
    let kind = kind.strip_suffix("List").unwrap_or(kind);
    let whole = KNOWN.iter().find(|(name, ..)| *name == group);
    let known = whole.or_else(|| KNOWN.iter().find(|(name, ..)| name.starts_with('.') && group.ends_with(name)));
    let Some((_, usual, but)) = known else { return Unknown };
    but.iter().find(|(name, _)| *name == kind).map_or(*usual, |(_, does)| *does)
}

/// The name by which a group is listed: its own, or that of its family, which starts with a dot.
pub(crate) fn listed(group: &str) -> Option<&'static str> {
    let mut names = KNOWN.iter().map(|(name, ..)| *name);
    let whole = names.clone().find(|name| *name == group);
    whole.or_else(|| names.find(|name| name.starts_with('.') && group.ends_with(name)))
}

/// Whether some group has a kind of this name that is listed.
pub(crate) fn is_listed(kind: &str) -> bool {
    KNOWN.iter().flat_map(|(.., kinds)| *kinds).any(|(name, _)| *name == kind)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_group_or_kind_is_listed_twice() {
        let groups: BTreeSet<&str> = KNOWN.iter().map(|(name, ..)| *name).collect();
        assert_eq!(groups.len(), KNOWN.len());
        for (group, usual, but) in KNOWN {
            let kinds: BTreeSet<&str> = but.iter().map(|(kind, _)| *kind).collect();
            assert_eq!(kinds.len(), but.len(), "{group}");
            assert!(but.iter().all(|(_, does)| does != usual), "{group}: a kind does what is usual there");
        }
    }

    #[test]
    fn a_kind_of_its_own_comes_before_its_group_and_a_group_before_its_family() {
        assert_eq!(does("kafka.strimzi.io", "Kafka"), Pods);
        assert_eq!(does("kafka.strimzi.io", "KafkaTopicList"), Nothing);
        assert_eq!(does("status.gatekeeper.sh", "ConstraintPodStatus"), Nothing);
        assert_eq!(does("constraints.gatekeeper.sh", "K8sRequiredLabels"), Admission);
        assert_eq!(does("ec2.aws.upbound.io", "Instance"), Nothing);
        assert_eq!((does("example.com", "Fleet"), does("gatekeeper.sh", "Config")), (Unknown, Unknown));
    }
}
