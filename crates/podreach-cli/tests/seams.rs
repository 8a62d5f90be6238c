//! Where the model meets the cluster: every input of `seams/` with the answers that are right about it.
//!
//! A case is a list of command lines, each with the exit statuses that are accepted and what must, or must not, be said.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Cases whose answers are not right yet. A case that gets right must leave this list.
const PENDING: &[&str] = &[];

/// One command line and what is right about it.
#[derive(Clone, Copy)]
struct Run {
    /// The arguments; `> FILE` at the end keeps what is printed in a file `$T/FILE`.
    line: &'static str,
    exits: &'static [i32],
    /// An exit status of 0 or 1 is also accepted if one of these is said.
    or_says: &'static [&'static str],
    says: &'static [&'static str],
    silent_about: &'static [&'static str],
    /// Rules of policies, each with the statuses that are accepted.
    rules: &'static [(&'static str, &'static [&'static str])],
    /// Findings with a subject that must be reported.
    found: &'static [(&'static str, &'static str)],
    /// Findings that must not be reported.
    absent: &'static [&'static str],
}

const fn run(line: &'static str, exits: &'static [i32]) -> Run {
    Run { line, exits, or_says: &[], says: &[], silent_about: &[], rules: &[], found: &[], absent: &[] }
}

impl Run {
    const fn or_says(self, words: &'static [&'static str]) -> Self {
        Self { or_says: words, ..self }
    }

    const fn says(self, words: &'static [&'static str]) -> Self {
        Self { says: words, ..self }
    }

    const fn silent_about(self, words: &'static [&'static str]) -> Self {
        Self { silent_about: words, ..self }
    }

    const fn rules(self, rules: &'static [(&'static str, &'static [&'static str])]) -> Self {
        Self { rules, ..self }
    }

    const fn found(self, found: &'static [(&'static str, &'static str)]) -> Self {
        Self { found, ..self }
    }

    const fn absent(self, absent: &'static [&'static str]) -> Self {
        Self { absent, ..self }
    }
}

/// A case: its name, its folder within `seams/`, and its command lines.
type Case = (&'static str, &'static str, &'static [Run]);

const DEPLOYABLE: &[i32] = &[0];
const NEVER: &[i32] = &[1];
const UNKNOWN: &[i32] = &[3];
const NOT_NEVER: &[i32] = &[0, 3];
const NOT_DEPLOYABLE: &[i32] = &[1, 3];
/// For audits: rules and findings are looked at instead.
const ANY: &[i32] = &[0, 1, 3];
const HOLDS: &[&str] = &["holds"];
const VIOLATED: &[&str] = &["violated"];
const NOT_HOLDS: &[&str] = &["violated", "undecided"];
const NOT_VIOLATED: &[&str] = &["holds", "undecided"];

const WORLD: &[Case] = &[
    (
        "I1",
        "",
        &[
            run("check -f i01-same-shape-another-workload.yaml shop/payments n1", NEVER),
            run("check -f i01-same-shape-another-workload.yaml shop/payments n1 --semantics paper", NEVER),
            run("check -f i01-same-shape-another-workload.yaml shop/web n1", NEVER).says(&["deployment/shop/web"]),
            run("check -f i01-same-shape-another-workload.yaml shop/web-1 n1", DEPLOYABLE).says(&["at the start"]),
            run("check -f i01-same-shape-another-workload.yaml shop/payments n1 -o json", NEVER)
                .says(&["deployment/shop/payments"])
                .silent_about(&["deployment/shop/web\""]),
            run("matrix -f i01-same-shape-another-workload.yaml", DEPLOYABLE)
                .says(&["deployment/shop/payments  ✗ ✓", "pod/shop/web-1"]),
            run("audit -f i01-same-shape-another-workload.yaml i01-policy.yaml --no-findings -o json", DEPLOYABLE)
                .rules(&[("pay-never", HOLDS)]),
        ],
    ),
    (
        "W1",
        "",
        &[
            run("check -f w01-terminating-after.yaml a n1", DEPLOYABLE),
            run("check -f w01-terminating-before.yaml a n1 -o json", DEPLOYABLE).says(&["\"op\": \"terminate\""]),
            run("check -f w01-terminating-before.yaml a n1 --semantics paper", NEVER),
        ],
    ),
    (
        "W2",
        "",
        &[
            run("check -f w02-pending-pods-are-admitted-already.yaml shop/b n1 --with shop/a@n1", DEPLOYABLE),
            run("check -f w02-pending-pods-are-admitted-already.yaml web/c n1", DEPLOYABLE),
            run("why -f w02-pending-pods-are-admitted-already.yaml web/c", DEPLOYABLE),
            // Only one of each is waiting, and a new one is not admitted.
            run("check -f w02-pending-pods-are-admitted-already.yaml web/c n1 --with web/c@n1=2", NEVER),
        ],
    ),
    (
        "W3",
        "",
        &[
            run("check -f w03-evading-the-scheduler.yaml web n1 --with card@n1", NOT_NEVER),
            run("check -f w03-evading-the-scheduler.yaml web2 n1 --keep app=card", UNKNOWN),
        ],
    ),
    ("W4", "", &[run("check -f w04-instance-labels-notin.yaml db n1 --with guard@n1", NOT_NEVER)]),
    (
        "W5",
        "",
        &[
            run("check -f w05-template-hash-stand-in.yaml x n1", NOT_NEVER),
            run("check -f w05-template-hash-stand-in.yaml z n1", NOT_DEPLOYABLE),
        ],
    ),
    (
        "W6",
        "",
        &[
            run("check -f w06-replicaset-without-pods.yaml x n1", NOT_NEVER),
            run("check -f w06-replicaset-of-unseen-owner.yaml x n1", NOT_NEVER),
        ],
    ),
    ("W7", "", &[run("check -f w07-daemonset-not-in-input.yaml x n2", UNKNOWN)]),
    (
        "W8",
        "",
        &[
            run("check -f w08-topology-labels-paper.yaml web e1 --semantics both", DEPLOYABLE),
            run("why -f w08-topology-labels-upgraded.yaml web", NEVER),
            run("why -f w08-topology-labels-upgraded.yaml shy", DEPLOYABLE),
            run("check -f w08-topology-labels-upgraded.yaml shy e1 --keep app=cache", DEPLOYABLE),
            // The Pod would get the label if it were made again, but it is kept as it is.
            run("check -f w08-topology-labels-upgraded.yaml web e1 --keep app=cache", NEVER),
            run("check -f w08-topology-labels-upgraded.yaml web e1 --keep app=cache --instances declared", NEVER),
        ],
    ),
    (
        "W9",
        "",
        &[
            run(
                "check -f w09-declared-instances-terminating.yaml web n1 --with web@n1=2 --instances declared",
                DEPLOYABLE,
            ),
            run(
                "check -f w09-declared-instances-terminating.yaml web n1 --with web@n1=2 --instances declared --semantics paper",
                NEVER,
            ),
        ],
    ),
    (
        "W10",
        "",
        &[run("audit -f w10-recoverable-drops-refused.yaml -o json", NEVER)
            .rules(&[("up-again", VIOLATED), ("whale", VIOLATED)])],
    ),
    (
        "W11",
        "",
        &[
            run(
                "audit -f w11-tenant-zone-label.yaml --no-findings --actor tenant=shop --keep app=guard -o json",
                NEVER,
            )
            .rules(&[("report", VIOLATED)]),
            run("check -f w11-tenant-zone-label.yaml -f w11-tenant-pod.yaml report e1 --keep app=guard", DEPLOYABLE),
            run(
                "audit -f w11-tenant-zone-label.yaml --actor tenant=shop --keep app=guard --also json=$T/w11.json",
                NEVER,
            ),
            run("verify -f w11-tenant-zone-label.yaml $T/w11.json", DEPLOYABLE).says(&["with pod/shop/any"]),
        ],
    ),
    (
        "W12",
        "",
        &[
            run("audit -f w12-tenant-chooses-profile.yaml --no-findings --actor tenant=shop -o json", NEVER)
                .rules(&[("apart", VIOLATED)]),
            run("audit -f w12-tenant-chooses-profile.yaml --actor tenant=shop --also json=$T/w12.json", NEVER),
            run("verify -f w12-tenant-chooses-profile.yaml $T/w12.json", DEPLOYABLE),
        ],
    ),
    (
        "W13",
        "",
        &[
            run(
                "audit -f w13-kubelet-relabels-zone-of-volume.yaml --no-findings --actor node-compromise=n1 -o json",
                NEVER,
            )
            .rules(&[("db-not-on-n1", VIOLATED)]),
            run(
                "audit -f w13-kubelet-reports-capacity-and-uncordons.yaml --no-findings --actor node-compromise=n1",
                NEVER,
            )
            .or_says(&["allocatable"])
            .silent_about(&["this is exact"]),
            run(
                "audit -f w13-kubelet-reports-capacity-and-uncordons.yaml --no-findings --actor node-compromise=n2",
                NEVER,
            )
            .or_says(&["cordon"])
            .silent_about(&["this is exact"]),
            run(
                "audit -f w13-kubelet-relabels-zone-of-volume.yaml --actor node-compromise=n1 --also json=$T/w13.json",
                NEVER,
            ),
            run("verify -f w13-kubelet-relabels-zone-of-volume.yaml $T/w13.json", DEPLOYABLE)
                .says(&["if node n1 got label"]),
            run(
                "audit -f w13-kubelet-reports-capacity-and-uncordons.yaml --actor node-compromise=n2 --also json=$T/w13.json",
                NEVER,
            ),
            run("verify -f w13-kubelet-reports-capacity-and-uncordons.yaml $T/w13.json", DEPLOYABLE),
        ],
    ),
    (
        "W14",
        "",
        &[
            run("audit -f w14-tenant-relabels-pods.yaml --no-findings --actor tenant=shop", NEVER)
                .or_says(&["relabel"])
                .silent_about(&["this is exact"]),
            run("audit -f w14-tenant-relabels-pods.yaml --actor tenant=shop --also json=$T/w14.json", ANY),
            run("verify -f w14-tenant-relabels-pods.yaml $T/w14.json", DEPLOYABLE).silent_about(&["NOT"]),
        ],
    ),
    (
        "W15",
        "",
        &[
            run("check -f w15-pod-security.yaml proxy n1", NEVER),
            run("check -f w15-pod-security.yaml needs-proxy n1", NEVER),
        ],
    ),
    ("W16", "", &[run("check -f w16-admission-changes-pods.yaml deployment/ml/train gpu-1", NOT_NEVER)]),
    (
        "W17",
        "",
        &[
            run("audit -f w17-passing-taints.yaml -o json", NOT_DEPLOYABLE)
                .rules(&[("payments-not-public", NOT_HOLDS)])
                .absent(&["F0101"]),
            run("audit -f w17-passing-taints.yaml --nodes fixed -o json", ANY).rules(&[("payments-not-public", HOLDS)]),
            run("check -f w17-passing-taints.yaml payments/api public-1 -o json", DEPLOYABLE)
                .says(&["\"op\": \"ready\""]),
            run("check -f w17-passing-taints.yaml payments/api public-2 -o json", DEPLOYABLE)
                .says(&["\"op\": \"uncordon\""]),
            run("check -f w17-passing-taints.yaml payments/api public-3", DEPLOYABLE),
            run("check -f w17-passing-taints.yaml payments/api public-1 --nodes fixed", NEVER),
            run("check -f w17-passing-taints.yaml payments/api public-2 --nodes fixed", NEVER),
            run("check -f w17-passing-taints.yaml payments/api public-2 --semantics paper", NEVER),
            run("why -f w17-passing-taints.yaml payments/api", NEVER),
        ],
    ),
    (
        "W18",
        "",
        &[
            run("check -f w18-claim-retention-delete.yaml pod/default/db-0 b1", DEPLOYABLE),
            run("check -f w18-claim-retention-delete.yaml statefulset/default/db b1 --instances declared", DEPLOYABLE),
        ],
    ),
    (
        "W19",
        "",
        &[run("check -f w19-outdated-pod-deployed-again.yaml x n2", NOT_DEPLOYABLE)
            .silent_about(&["deploy pod/default/web-1"])],
    ),
    ("W20", "", &[run("check -f w20-one-claim-is-all-claims.yaml web n1", UNKNOWN)]),
    (
        "W21",
        "",
        &[
            run("why -f w21-why-ignores-admission.yaml whale", NEVER).says(&["LimitRange"]),
            run("check -f w21-why-ignores-admission.yaml whale n1", NEVER),
        ],
    ),
    ("W22", "", &[run("check -f w22-policy-engine-is-not-a-pod-maker.yaml x n1", UNKNOWN)]),
    (
        "W23",
        "",
        &[
            run("check -f w23-release-of-the-input.yaml web e1", NOT_DEPLOYABLE).or_says(&["1.30", "1.33"]),
            run("check -f w23-release-of-the-input.yaml web e1 --kubernetes-version 1.30 -o json > c.json", NEVER),
            run("verify $T/c.json -f w23-release-of-the-input.yaml", DEPLOYABLE).says(&["1.30"]),
        ],
    ),
    ("W24", "", &[run("verify w24-empty-question.yaml -f w24-cluster.yaml", &[2]).says(&["E03"])]),
    (
        "W25",
        "",
        &[run("check -f w25-ordered-ready.yaml pod/default/db-1 a1 --instances declared", NOT_DEPLOYABLE)
            .or_says(&["OrderedReady"])],
    ),
    (
        "W26",
        "",
        &[
            run("check -f w26-static-pods.yaml job cp-1", NEVER),
            run("check -f w26-static-pods.yaml port cp-1", NEVER),
            run("audit -f w26-static-pods.yaml --no-findings -o json", NEVER).rules(&[("shop-up-again", VIOLATED)]),
            run("check -f w26-static-pods.yaml near cp-1 --start empty", DEPLOYABLE),
            run("check -f w26-static-pods.yaml job cp-1 --start empty", NEVER),
        ],
    ),
    ("W27", "", &[run("check -f w27-uneven-keeps-keys.yaml p a1 --with p@a1=2 --keep app=p", DEPLOYABLE)]),
    (
        "W28",
        "",
        &[
            run("check -f w28-labels-that-running-pods-carry.yaml db n1 --semantics both", DEPLOYABLE),
            run("check -f w28-labels-that-running-pods-carry.yaml web n1 --semantics both", DEPLOYABLE)
                .says(&["It is so at the start"]),
            run("audit -f w28-labels-that-running-pods-carry.yaml --no-findings --semantics paper -o json", ANY)
                .rules(&[("db", VIOLATED), ("web", VIOLATED)]),
            run("audit -f w28-labels-that-running-pods-carry.yaml --no-findings -o json", ANY)
                .rules(&[("db", VIOLATED), ("web", VIOLATED)]),
        ],
    ),
    (
        "W29",
        "",
        &[
            run("check -f w29-pods-without-the-zone-of-their-node.yaml web n1 --semantics both", DEPLOYABLE)
                .says(&["It is so at the start"]),
            run("check -f w29-pods-without-the-zone-of-their-node.yaml cache n1 --semantics both", DEPLOYABLE)
                .says(&["It is so at the start"]),
            run("check -f w29-pods-without-the-zone-of-their-node.yaml cache n1 --keep app=cache", DEPLOYABLE),
            run("check -f w29-pods-without-the-zone-of-their-node.yaml cache n1 --with cache@n1=2", NEVER),
            run("check -f w29-pods-without-the-zone-of-their-node.yaml web n1 --start empty", NEVER),
            run("check -f w29-pods-without-the-zone-of-their-node.yaml db n1", NEVER),
            run("audit -f w29-pods-without-the-zone-of-their-node.yaml --no-findings -o json", ANY).rules(&[
                ("web", VIOLATED),
                ("web-can", HOLDS),
                ("cache", VIOLATED),
                ("cache-can", HOLDS),
            ]),
            run("audit -f w29-pods-without-the-zone-of-their-node.yaml --no-findings --semantics paper -o json", ANY)
                .rules(&[("web", VIOLATED), ("web-can", HOLDS), ("cache", VIOLATED), ("cache-can", HOLDS)]),
        ],
    ),
    (
        "W30",
        "",
        &[
            run("check -f w30-one-pod-that-waits-is-one.yaml b n1 --instances declared", DEPLOYABLE),
            run("check -f w30-one-pod-that-waits-is-one.yaml b n1 --with b@n1=2 --instances declared", NEVER),
        ],
    ),
    (
        "W31",
        "",
        &[
            run("why -f w31-quota-beside-a-pod-being-deleted.yaml web", DEPLOYABLE),
            run("check -f w31-quota-beside-a-pod-being-deleted.yaml web n1", DEPLOYABLE).says(&["in 1 step"]),
        ],
    ),
    (
        "W32",
        "",
        &[
            run("check -f w32-carried-labels-on-two-nodes.yaml web n1 --with web@n2 --semantics paper", DEPLOYABLE)
                .says(&["It is so at the start"]),
            run("check -f w32-carried-labels-on-two-nodes.yaml web n1 --with web@n1=2 --semantics paper", NEVER),
            run(
                "check -f w32-carried-labels-on-two-nodes.yaml web n1 --with web@n2 --semantics paper --start empty",
                NEVER,
            ),
        ],
    ),
    (
        "W33",
        "",
        &[
            run(
                "check -f w33-limit-beside-a-pod-being-deleted.yaml web n1 --with web@n1=2 --instances declared",
                DEPLOYABLE,
            ),
            run(
                "check -f w33-limit-beside-a-pod-being-deleted.yaml web n1 --with web@n1=2 --instances declared --semantics paper",
                NEVER,
            ),
        ],
    ),
    (
        "W34",
        "",
        &[
            run("check -f w34-former-replicaset-is-its-pods.yaml replicaset/default/web-1 n2", DEPLOYABLE),
            run("audit -f w34-former-replicaset-is-its-pods.yaml --no-findings -o json", ANY)
                .rules(&[("old-can", HOLDS)]),
        ],
    ),
    (
        "W35",
        "",
        &[
            run("why -f w35-objects-are-counted-until-they-are-gone.yaml web", NEVER).says(&["count/pods"]),
            run("check -f w35-objects-are-counted-until-they-are-gone.yaml web n1", DEPLOYABLE).says(&["in 2 steps"]),
            run("check -f w35-objects-are-counted-until-they-are-gone.yaml guest n1 -o json", DEPLOYABLE)
                .says(&["finished pods of namespace guests are deleted"]),
        ],
    ),
    (
        "W36",
        "",
        &[
            run("check -f w36-a-domain-that-goes-is-not-counted.yaml web n1 --with web@n1=3", DEPLOYABLE)
                .says(&["takes g1 away"])
                .silent_about(&["begin to delete"]),
            run(
                "check -f w36-a-domain-that-goes-is-not-counted.yaml web n1 --with web@n1=3 --nodes settled",
                DEPLOYABLE,
            )
            .says(&["begin to delete"]),
            run("audit -f w36-a-domain-that-goes-is-not-counted.yaml", ANY).silent_about(&["F0110"]),
            run("audit -f w36-a-domain-that-goes-is-not-counted.yaml --nodes settled", ANY).says(&["F0110"]),
        ],
    ),
    (
        "D1 admission",
        "",
        &[
            run("check -f d01-refused-by-other-builtin-admission.yaml x n1", NOT_DEPLOYABLE).or_says(&["erminat"]),
            run("check -f d01-refused-by-other-builtin-admission.yaml yy n1", NOT_DEPLOYABLE)
                .or_says(&["PriorityClass"]),
            run("check -f d01-refused-by-other-builtin-admission.yaml z n1", NOT_DEPLOYABLE)
                .or_says(&["ServiceAccount"]),
        ],
    ),
    ("D2 os", "", &[run("check -f d02-os-of-pod.yaml w n1", NOT_DEPLOYABLE).or_says(&["windows"])]),
    (
        "D3 tenant",
        "",
        &[run("audit -f d03-tenant-names-node.yaml --no-findings --actor tenant=shop", NEVER)
            .or_says(&["nodeName", "name their node", "names its node"])
            .silent_about(&["this is exact"])],
    ),
    ("O1", "", &[run("check -f o01-custom-resource-spoils-never.yaml chicken n1", NEVER)]),
    ("O2", "", &[run("check -f o02-statefulset-with-storage-class.yaml db n1", DEPLOYABLE)]),
];

/// The volumes are in zone a, and zone a is gone.
const USERS: &[Case] = &[
    (
        "D1",
        "users",
        &[
            run(
                "check -f nodes-bc.json -f sc.yaml -f csi.yaml -f sts-pv.json -f db.yaml -f sts-pods.json db-0 --any-node",
                NEVER,
            ),
            run(
                "audit -f nodes-bc.json -f sc.yaml -f csi.yaml -f sts-pv.json -f db.yaml -f sts-pods.json -o json",
                NOT_DEPLOYABLE,
            )
            .found(&[("F0101", "db")]),
            run(
                "audit --no-findings sts-pol2.yaml -f nodes-bc.json -f sc.yaml -f csi.yaml -f sts-pv.json -f db.yaml -f sts-pods.json -o json",
                NEVER,
            )
            .rules(&[
                ("label-recover", VIOLATED),
                ("kinds-recover", VIOLATED),
                ("all", VIOLATED),
                ("never-in-a-by-label", NOT_VIOLATED),
            ]),
            run(
                "audit --no-findings sts-pol.yaml -f nodes6.json -f sc.yaml -f csi.yaml -f sts-pv.json -f db.yaml -o json",
                NOT_DEPLOYABLE,
            )
            .rules(&[("three-zones", NOT_HOLDS), ("never-in-a", VIOLATED), ("never-in-b", NOT_VIOLATED)]),
            // Zone a has room for two of the three.
            run(
                "audit --no-findings sts-pol2.yaml -f nodes5s.json -f sc.yaml -f csi.yaml -f sts-pv.json -f db.yaml -f sts-pods.json -o json",
                NEVER,
            )
            .rules(&[("label-recover", VIOLATED), ("kinds-recover", VIOLATED), ("all", VIOLATED)]),
            run(
                "audit --instances declared -f nodes6.json -f sc.yaml -f csi.yaml -f sts-pv.json -f db.yaml -f sts-pods.json -o json",
                ANY,
            )
            .absent(&["F0101"]),
        ],
    ),
    (
        "D2",
        "users",
        &[
            run("audit alias-pol.yaml -f alias.yaml --no-findings --also json=$T/a.json", DEPLOYABLE),
            run("verify -f alias.yaml $T/a.json", DEPLOYABLE)
                .says(&["PROVED  NEVER  deployment/shop/payments"])
                .silent_about(&["NOT PROVED", "NOT LOOKED AT"]),
            run("audit alias-pol2.yaml -f alias.yaml --no-findings -o json", NEVER).rules(&[
                ("possible-n1", VIOLATED),
                ("possible-2", HOLDS),
                ("recover", HOLDS),
                ("apart", VIOLATED),
            ]),
            run("check -f ha-kubeadm.yaml kube-system/kube-apiserver-cp-2 cp-1", NEVER),
            run("audit -f f0104-alias.yaml -o json", NEVER).found(&[("F0104", "payments"), ("F0104", "web")]),
            run("audit -f f0104-noalias.yaml -o json", NEVER).found(&[("F0104", "payments"), ("F0104", "web")]),
            run("audit -f alias-all-tainted.yaml -o json", NEVER).found(&[("F0101", "deployment/shop/payments")]),
            run("audit -f alias-ns.yaml -o json", NEVER).found(&[("F0107", "deployment/vault/payments")]),
            run("audit -f alias.yaml -o json", NEVER).found(&[("F0107", "deployment/shop/payments")]),
            // Terminating pods are not counted, so five of it may run, four of them on their way out.
            run(
                "check -f alias.yaml shop/payments n2 --with shop/payments@n2=5 --instances declared -o json",
                NEVER,
            )
            .or_says(&["\"op\": \"terminate\""])
            .silent_about(&["deployment/shop/web"]),
            run(
                "check -f alias.yaml shop/payments n2 --with shop/payments@n2=5 --instances declared --semantics paper",
                NEVER,
            ),
            run("audit -f alias.yaml --since alias-old.yaml -o json", ANY).absent(&["F0201"]),
            run("matrix -f nodes6.json -f podalias.yaml", DEPLOYABLE)
                .says(&["pod/default/lonely", "deployment/default/web"]),
            run("check -f with-alias.yaml web n1 --with payments@n1", NEVER)
                .says(&["deployment/shop/payments", "deployment/shop/web"])
                .silent_about(&["2 ×", "2 instances"]),
        ],
    ),
    (
        "D3",
        "users",
        &[
            run("why -f mirror.yaml kube-apiserver-n1 n2", NEVER),
            run("check -f mirror.yaml kube-apiserver-n1 n2", NEVER),
            run("why -f mirror.yaml going n2", NEVER),
            run("check -f mirror.yaml going n2", NEVER),
        ],
    ),
    (
        "D4",
        "users",
        &[
            run("audit -f lonely.yaml -f cert.yaml -o json", NEVER).found(&[("F0101", "pod/default/chicken")]),
            run("why -f lonely.yaml -f cert.yaml chicken", NEVER),
            run("audit -f lonely.yaml -f unknown-kind.yaml", UNKNOWN).silent_about(&["nothing is wrong"]),
            run("why -f lonely.yaml -f unknown-kind.yaml chicken", NEVER),
            run("check -f lonely.yaml -f unknown-kind.yaml chicken n1", UNKNOWN),
        ],
    ),
    (
        "D5",
        "users",
        &[
            run("check -f nodes6.json -f sc.yaml -f csi.yaml -f empty-lists.yaml -f db.yaml db ip-10-0-1-1", DEPLOYABLE),
            run("check -f nodes6.json -f sc.yaml -f csi.yaml -f kubectl-empty.yaml -f db.yaml db ip-10-0-1-1", DEPLOYABLE),
            run("check -f nodes6.json -f db.yaml db ip-10-0-1-1", UNKNOWN).says(&["torage", "kubectl get"]),
            run("check -f nodes6.json -f ../w20-one-claim-is-all-claims.yaml web n1", UNKNOWN)
                .says(&["existing-data", "kubectl get"]),
        ],
    ),
    ("D6", "users", &[run("audit -f ds-nogpu.yaml -f nodes6.json -o json", DEPLOYABLE).absent(&["F0101"])]),
    (
        "D7",
        "users",
        &[
            run("check -f twice.yaml p n1", DEPLOYABLE),
            run("check -f twice.yaml -f null-lists.yaml p n1", DEPLOYABLE),
            run("check -f twice.yaml -f key-twice.yaml q n1", DEPLOYABLE),
        ],
    ),
    (
        "D8",
        "users",
        &[run("audit --no-findings oldrev-pol.yaml -f oldrev.yaml -o json", NEVER).rules(&[
            ("by-name", VIOLATED),
            ("by-namespace", VIOLATED),
            ("by-label", VIOLATED),
        ])],
    ),
    ("D9", "users", &[run("audit -f f0113.yaml -o json", NEVER).found(&[("F0113", "deployment/shop/typha")])]),
    (
        "D10",
        "users",
        &[run("matrix -f instance-ids.yaml -f podalias.yaml", DEPLOYABLE)
            .says(&["n1, n2", "lonely"])
            .silent_about(&["B  n2"])],
    ),
    ("D11", "users", &[run("audit -f alias-all-tainted.yaml", NEVER).says(&["dedicated=public:NoSchedule is not tolerated"])]),
    (
        "D12",
        "users",
        &[
            run("check -f ../w22-policy-engine-is-not-a-pod-maker.yaml x n1 -o json > u.json", UNKNOWN),
            run("verify -f ../w22-policy-engine-is-not-a-pod-maker.yaml $T/u.json", UNKNOWN),
        ],
    ),
    (
        "names",
        "users",
        &[
            run("check -f alias.yaml deploy/payments n2", DEPLOYABLE),
            run("check -f alias.yaml deployment/payments n2", DEPLOYABLE),
            run("check -f alias.yaml deployment.apps/payments n2", DEPLOYABLE),
            run("check -f alias.yaml -n shop deploy/payments node/n2", DEPLOYABLE),
            run("check -f alias.yaml,cert.yaml payments n2", DEPLOYABLE),
        ],
    ),
    (
        "matrix -n",
        "users",
        &[run("matrix -f alias-ns.yaml -n shop", DEPLOYABLE).says(&["deployment/shop/web"]).silent_about(&["vault"])],
    ),
    ("kustomize", "users", &[run("check -f overlay web n1", &[2]).says(&["ustomiz"])]),
    ("hash", "users", &[run("audit -f own-hash.yaml", NEVER).says(&["F0112"]).silent_about(&["unassigned"])]),
    (
        "advice",
        "users",
        &[run("audit -f host-port.yaml", NEVER).says(&["F0106"]).silent_about(&["matchLabelKeys", "1 replicas"])],
    ),
    (
        "documents",
        "users",
        &[
            run("matrix -f alias.yaml -o json", DEPLOYABLE).says(&["apiVersion", "\"kind\"", "\"semantics\""]),
            run("why -f alias.yaml payments -o json", DEPLOYABLE).says(&["apiVersion", "\"kind\"", "\"semantics\""]),
        ],
    ),
    ("protocol", "users", &[run("check -f protocol.yaml web n1", &[2]).says(&["protocol.yaml:14"])]),
    (
        "passed",
        "users",
        &[run("audit -f ds-nogpu.yaml -f nodes6.json", DEPLOYABLE).says(&["PASSED"]).silent_about(&["nothing is wrong"])],
    ),
    (
        "assumptions",
        "users",
        &[
            run("check -f alias.yaml payments n2 -o json", DEPLOYABLE).says(&["\"assumptions\"", "\"A0"]),
            run("matrix -f alias.yaml -o json", DEPLOYABLE).says(&["\"assumptions\""]),
            run("why -f alias.yaml payments -o json", DEPLOYABLE).says(&["\"assumptions\""]),
            run("audit -f alias.yaml -o json", ANY).says(&["\"assumptions\""]),
        ],
    ),
];

/// What a command line says that is not right; nothing if all of it is.
fn wrong(case: &str, folder: &str, run: &Run) -> Option<String> {
    let scratch = scratch(case);
    let line = run.line.replace("$T", &scratch.to_string_lossy());
    let (line, file) = line.split_once(" > ").map_or((line.as_str(), None), |(line, file)| (line, Some(file)));
    let seams = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seams").join(folder);
    let mut command = Command::new(env!("CARGO_BIN_EXE_podreach"));
    command.current_dir(seams).env("XDG_CACHE_HOME", scratch.join("cache")).args(line.split(' '));
    if line.starts_with("audit") {
        command.arg("--no-cache");
    }
    let output = command.output().expect("the command runs");
    if let Some(file) = file {
        fs::write(scratch.join(file), &output.stdout).expect("a file for tests");
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let said = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
    let exit = output.status.code().unwrap_or(-1);
    faults(run, exit, &text, &said).map(|fault| format!("podreach {line}\n  {fault}"))
}

fn faults(run: &Run, exit: i32, text: &str, said: &str) -> Option<String> {
    let excused = matches!(exit, 0 | 1) && run.or_says.iter().any(|word| said.contains(word));
    if !run.exits.contains(&exit) && !excused {
        return Some(format!("exit {exit}, not {:?}: {}", run.exits, said.lines().next().unwrap_or_default()));
    }
    if let Some(word) = run.says.iter().find(|word| !said.contains(**word)) {
        return Some(format!("does not say {word:?}"));
    }
    if let Some(word) = run.silent_about.iter().find(|word| said.contains(**word)) {
        return Some(format!("says {word:?}"));
    }
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let items: Vec<&Value> = document["items"].as_array().into_iter().flatten().collect();
    for (rule, accepted) in run.rules {
        let statuses: Vec<&str> =
            items.iter().filter(|item| item["rule"] == *rule).filter_map(|item| item["status"].as_str()).collect();
        if statuses.is_empty() || statuses.iter().any(|status| !accepted.contains(status)) {
            return Some(format!("the rule {rule} is {statuses:?}, not {accepted:?}"));
        }
    }
    for (finding, about) in run.found {
        let mut found = items.iter().filter(|item| item["finding"] == *finding && item["status"] == "violated");
        if !found.any(|item| item["severity"] != "note" && item.to_string().contains(about)) {
            return Some(format!("does not find {finding} about {about}"));
        }
    }
    let absent = run.absent.iter().find(|code| items.iter().any(|item| item["finding"] == **code));
    absent.map(|code| format!("finds {code}"))
}

/// A folder of this case for files that its command lines write.
fn scratch(case: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("seams").join(case.replace(' ', "-"));
    fs::create_dir_all(&folder).expect("a folder for tests");
    folder
}

/// Every answer is right, but for cases that are pending, and in those something is wrong still.
fn judge(cases: &[Case]) {
    let mut faults = Vec::new();
    for (case, folder, runs) in cases {
        let wrong: Vec<String> = runs.iter().filter_map(|run| wrong(case, folder, run)).collect();
        match (PENDING.contains(case), wrong.is_empty()) {
            (true, true) => faults.push(format!("{case} is right now: take it off the list of what is pending")),
            (false, false) => faults.push(format!("{case}:\n{}", wrong.join("\n"))),
            (true, false) => println!("{case} is pending:\n{}", wrong.join("\n")),
            (false, true) => {}
        }
    }
    assert!(faults.is_empty(), "{} of {} cases\n{}", faults.len(), cases.len(), faults.join("\n"));
}

#[test]
fn what_is_said_about_the_world_is_right() {
    judge(WORLD);
}

#[test]
fn what_users_meet_is_right() {
    judge(USERS);
}

/// Every file is used by some case.
#[test]
fn every_seam_is_a_case() {
    let seams = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seams");
    let lines: String = WORLD.iter().chain(USERS).flat_map(|case| case.2).map(|run| format!("{} ", run.line)).collect();
    let folders = [seams.clone(), seams.join("users")];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder").flatten());
    let names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    assert!(names.len() > 70, "{} files", names.len());
    for name in names.iter().filter(|name| !["README.md", "users", "cluster"].contains(&name.as_str())) {
        assert!(lines.contains(name.as_str()), "{name} is in no case");
    }
    for case in PENDING {
        assert!(WORLD.iter().chain(USERS).any(|(name, ..)| name == case), "{case} is no case");
    }
}

/// What passes, counts and is refused in clusters, by the number of the observation.
const CLUSTER: &[Case] = &[
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
            run("check -f x07-node-without-its-zone.yaml plain new", DEPLOYABLE),
            run("check -f x07-node-without-its-zone.yaml large new", NEVER),
            run("check -f x07-node-without-its-zone.yaml elsewhere new", UNKNOWN).says(&["S0474"]),
            run("check -f x07-spread-over-zones.yaml web new", UNKNOWN),
            run("check -f x07-node-without-its-devices.yaml train g1", UNKNOWN).says(&["S0473"]),
            run("check -f x07-node-without-its-devices.yaml train --any-node", UNKNOWN),
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
];

#[test]
fn what_passes_counts_and_is_refused_is_right() {
    judge(CLUSTER);
    let lines: String = CLUSTER.iter().flat_map(|case| case.2).map(|run| format!("{} ", run.line)).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seams/cluster");
    let files: Vec<_> = fs::read_dir(folder).expect("a folder").flatten().map(|file| file.file_name()).collect();
    assert!(files.len() > 15, "{} files", files.len());
    assert!(files.iter().all(|file| lines.contains(&*file.to_string_lossy())), "{files:?}");
}
