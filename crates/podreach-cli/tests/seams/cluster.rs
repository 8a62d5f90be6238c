//! What passes, counts and is refused in clusters.

use crate::case::{ANY, Case, DEPLOYABLE, HOLDS, NEVER, NOT_DEPLOYABLE, NOT_NEVER, UNKNOWN, run};

/// What passes, counts and is refused in clusters, by the number of the observation.
pub const CLUSTER: &[Case] = &[
    (
        "X2",
        "cluster",
        &[
            run("audit -f x02-missing-priority-class.yaml", UNKNOWN).says(&["F0101", "S0465"]),
            run("audit -f x02-claims-without-devices.yaml", UNKNOWN).says(&["2 findings not decided", "S0412"]),
        ],
    ),
    (
        "X4",
        "cluster",
        &[run("audit -f x04-never-on-nodes-to-come.yaml", NEVER)
            .says(&["the one pod that is declared can never be up"])
            .silent_about(&["cut short", "all 1 pods"])],
    ),
    (
        "X5",
        "cluster",
        &[run("check -f x05-startup-taint-of-the-pool.yaml web n1", DEPLOYABLE).says(&["n1 becomes ready"])],
    ),
    (
        "X6",
        "cluster",
        &[run("check -f x06-one-device-of-eight-is-unhealthy.yaml train n1", DEPLOYABLE)
            .says(&["gets its devices back"])],
    ),
    (
        "X7",
        "cluster",
        &[
            run("check -f x07-node-without-its-zone.yaml web new", UNKNOWN).says(&["S0473"]),
            run("check -f x07-node-without-its-zone.yaml web old", DEPLOYABLE),
            run("check -f x07-node-without-its-zone.yaml plain new", DEPLOYABLE).says(&["new becomes ready"]),
            run("check -f x07-node-without-its-zone.yaml large new", NEVER),
            run("check -f x07-node-without-its-zone.yaml large --any-node", NEVER),
            run("check -f x07-node-without-its-zone.yaml elsewhere new", UNKNOWN).says(&["still starting"]),
            run("check -f x07-node-without-its-zone.yaml web new --nodes fixed", NEVER).silent_about(&["S0473"]),
            run("check -f x07-node-without-its-zone.yaml web new --semantics paper", NEVER),
            run("check -f x07-spread-over-zones.yaml web new", UNKNOWN),
            run("check -f x07-node-without-its-devices.yaml train g1", UNKNOWN).says(&["S0473"]),
            run("check -f x07-node-without-its-devices.yaml train --any-node", UNKNOWN),
            run("check -f x07-daemons-on-a-starting-node.yaml agent new", DEPLOYABLE),
            run("check -f x07-daemons-on-a-starting-node.yaml agent old", DEPLOYABLE),
        ],
    ),
    (
        "X8",
        "cluster",
        &[
            run("check -f x08-node-being-deleted.yaml web n1", NEVER).says(&["W0325"]),
            run("check -f x08-node-being-deleted.yaml web n2", DEPLOYABLE),
            run("check -f x08-node-being-deleted.yaml web n3", DEPLOYABLE),
        ],
    ),
    (
        "X9",
        "cluster",
        &[
            run("check -f x09-limit-of-zero.yaml p --any-node", UNKNOWN),
            run("check -f x09-limit-of-zero.yaml p --any-node --trust-pool-limits", NEVER),
            run("check -f x09-pool-being-deleted.yaml p --any-node", NEVER),
            run("check -f x09-pool-of-a-fixed-size.yaml p nodepool/idle/2.1 --with p@n1", NOT_DEPLOYABLE),
        ],
    ),
    (
        "X10",
        "cluster",
        &[
            run("check -f x10-keda.yaml web n1 --instances declared --with web@n1=3", DEPLOYABLE),
            run("audit -f x10-least-replicas.yaml", NEVER).says(&["asks for 2 replicas, but at most 1"]),
        ],
    ),
    ("X11", "cluster", &[run("audit -f x11-makes-no-pods.yaml", DEPLOYABLE).silent_about(&["F0101"])]),
    ("X12", "cluster", &[run("check -f x12-quota-on-replica-sets.yaml web n1", UNKNOWN).says(&["S0435"])]),
    (
        "X13",
        "cluster",
        &[
            run("check -f x13-unsafe-sysctl.yaml s n1", UNKNOWN).says(&["S0434"]),
            run("check -f x13-unsafe-sysctl.yaml safe n1", DEPLOYABLE),
            run("check -f x13-unsafe-sysctl.yaml host n1", UNKNOWN),
        ],
    ),
    (
        "X14",
        "cluster",
        &[
            run("check -f x14-scoped-quotas.yaml -n b cross n1", NEVER),
            run("check -f x14-scoped-quotas.yaml -n b nocross n1", DEPLOYABLE),
            run("check -f x14-scoped-quotas.yaml -n d hi n1", NEVER),
            // There may be a class that pods get which name none.
            run("check -f x14-scoped-quotas.yaml -n d lo n1", UNKNOWN).says(&["S0418"]),
            run("audit -f x14-critical-pods.yaml", DEPLOYABLE).silent_about(&["S0418"]),
            run("audit -f x14-no-critical-pods.yaml", NEVER)
                .says(&["kube-dns can never"])
                .silent_about(&["l7 can never"]),
        ],
    ),
    (
        "X15",
        "cluster",
        &[
            run("check -f x15-nodes-without-a-system.yaml w win", DEPLOYABLE),
            run("check -f x15-nodes-without-a-system.yaml any virtual-kubelet", UNKNOWN).says(&["S0466"]),
            run("check -f x15-nodes-without-a-system.yaml any --any-node", DEPLOYABLE).says(&["can run on win"]),
        ],
    ),
    (
        "X16",
        "cluster",
        &[
            // `why` says what a first step of `check` would be.
            run("why -f x16-resize-in-progress.yaml b n1", UNKNOWN).says(&["being resized"]),
            run("why -f x16-resize-in-progress.yaml b n2", DEPLOYABLE).silent_about(&["That may change"]),
            run("why -f x16-resize-in-progress.yaml b", DEPLOYABLE).says(&["1 of 2 nodes", "may change on n1"]),
            run("why -f x16-resize-in-progress.yaml big n1", UNKNOWN).says(&["being resized"]),
            run("check -f x16-resize-in-progress.yaml b n1", DEPLOYABLE).says(&["delete pod/default/shrinks"]),
            // What it takes of its own node is in doubt, and nothing else.
            run("check -f x16-resize-in-progress.yaml b n2", DEPLOYABLE).silent_about(&["delete"]),
        ],
    ),
    (
        "X17",
        "cluster",
        &[
            run("audit --no-findings -q -f x17-after-who-repels.yaml -o json > r.json", DEPLOYABLE),
            run("verify -f x17-after-who-repels.yaml $T/r.json", DEPLOYABLE)
                .says(&["if node new had more cpu"])
                .silent_about(&["NOT PROVED"]),
        ],
    ),
    (
        "X18",
        "cluster",
        &[
            run("audit -f x18-losing-what-is-yet-to-come.yaml --also json=$T/x18.json", DEPLOYABLE)
                .says(&["node n1 were lost", "what pools bring no more"])
                .silent_about(&["1.2 were lost", "1.2 had no room"]),
            run("verify -f x18-losing-what-is-yet-to-come.yaml $T/x18.json", DEPLOYABLE),
        ],
    ),
    (
        "X19",
        "cluster",
        &[
            run(
                "check -f x19-no-node-within-the-limit.yaml a n1 --semantics paper --trust-pool-limits -o json > x19.json",
                NEVER,
            )
            .says(&["\"nodes\": \"elastic\"", "\"trustPoolLimits\": true"]),
            run("verify -f x19-no-node-within-the-limit.yaml $T/x19.json", DEPLOYABLE),
            run("check -f x19-no-node-within-the-limit.yaml a --any-node --trust-pool-limits", NEVER),
            run("check -f x19-no-node-within-the-limit.yaml a --any-node", DEPLOYABLE),
        ],
    ),
    (
        "X20",
        "cluster",
        &[
            run("why -f x20-an-empty-node-is-there.yaml b n2", NEVER).says(&["PodTopologySpread"]),
            run("check -f x20-an-empty-node-is-there.yaml b n2", DEPLOYABLE).says(&["takes e1 away"]),
        ],
    ),
    (
        "X21",
        "cluster",
        &[
            run("check -f x21-the-last-one-is-being-deleted.yaml replicaset/default/a n1", DEPLOYABLE),
            run("audit -f x21-the-last-one-is-being-deleted.yaml --also json=$T/x21.json", ANY),
            run("verify -f x21-the-last-one-is-being-deleted.yaml $T/x21.json", NOT_NEVER),
        ],
    ),
    (
        "X22",
        "cluster",
        &[
            run("audit -f x22-rules-about-labels-that-may-come.yaml --no-findings -o json > x22.json", UNKNOWN).rules(&[
                ("never", &["undecided"]),
                ("possible", &["undecided"]),
                ("together", &["undecided"]),
                ("never-there", HOLDS),
                ("never-elsewhere", HOLDS),
            ]),
            run("verify -f x22-rules-about-labels-that-may-come.yaml $T/x22.json", NOT_NEVER),
        ],
    ),
    (
        "X23",
        "cluster",
        &[
            run("check -f x23-pools-that-share-a-zone.yaml near --any-node", DEPLOYABLE).says(&["zone=eu"]),
            // How large Karpenter's nodes are is not known.
            run("check -f x23-pools-that-share-a-zone.yaml near-numbered --any-node", UNKNOWN).says(&["has to give"]),
            run("check -f x23-pools-that-share-a-zone.yaml nowhere --any-node", NEVER),
        ],
    ),
];
