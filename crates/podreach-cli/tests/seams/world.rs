//! What is said about the world.

use crate::case::{ANY, Case, DEPLOYABLE, HOLDS, NEVER, NOT_DEPLOYABLE, NOT_HOLDS, NOT_NEVER, UNKNOWN, VIOLATED, run};

pub const WORLD: &[Case] = &[
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
        "W37",
        "",
        &[run("check -f w37-nodes-that-stay-are-never-taken-away.yaml new k1", DEPLOYABLE)
            .says(&["p0 brings"])
            .silent_about(&["fixed away"])],
    ),
    (
        "W40",
        "",
        &[
            run(
                "check -f w40-former-replicaset-with-carried-labels.yaml --semantics paper replicaset/default/web-4c8 n2",
                DEPLOYABLE,
            ),
            run("audit -f w40-former-replicaset-with-carried-labels.yaml --no-findings --semantics paper -o json", ANY)
                .rules(&[("old-can", HOLDS)]),
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
