//! What users meet.

use crate::case::{
    ANY, Case, DEPLOYABLE, HOLDS, NEVER, NOT_DEPLOYABLE, NOT_HOLDS, NOT_VIOLATED, UNKNOWN, VIOLATED, run,
};

/// The volumes are in zone a, and zone a is gone.
pub const USERS: &[Case] = &[
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
