//! The shapes of what brings nodes.

use super::Role::{Amounts, Domain, Key, Kind as KindName, KubeletArguments, Labels, Name, Node, Number, Value, Word};
use super::Shape::{self, Each, Fields, Leaf, Parts};
use super::objects::{K, M, NAMED, R, TAINT, V, WORDS};
use crate::lower::object::kind::Kind;
use crate::lower::schema::fields;

/// What is looked at of an object that brings nodes, or says how.
pub(super) fn read(kind: Kind) -> Shape {
    match kind {
        Kind::NodePool => Fields(&fields::OBJECT, &[V, K, M, ("spec", NODE_POOL)]),
        Kind::KarpenterNodePool => Fields(&fields::OBJECT, &[V, K, M, ("spec", KARPENTER_NODE_POOL)]),
        Kind::NodeClaim => {
            Fields(&fields::OBJECT, &[V, K, M, ("spec", KARPENTER_CLAIM), ("status", KARPENTER_CLAIM_STATUS)])
        }
        Kind::MachineDeployment | Kind::MachineSet | Kind::MachinePool => Parts(&[V, K, M, ("spec", MACHINES)]),
        Kind::KubeadmConfig => Parts(&[V, K, M, ("spec", KUBEADM)]),
        Kind::KubeadmConfigTemplate => Parts(&[V, K, M, ("spec", Parts(&[("template", Parts(&[("spec", KUBEADM)]))]))]),
        Kind::InstanceTypes => Fields(&fields::OBJECT, &[V, K, M, ("spec", INSTANCE_TYPES)]),
        _ => NAMED,
    }
}

const POOL_REQUIREMENT: Shape =
    Fields(&fields::POOL_REQUIREMENT, &[("key", Leaf(Key)), ("operator", Leaf(Word)), ("values", Each(&Leaf(Value)))]);
const NODE_POOL: Shape = Fields(
    &fields::NODE_POOL_SPEC,
    &[
        ("allocatable", Leaf(Amounts)),
        ("choices", Each(&POOL_REQUIREMENT)),
        ("labels", Leaf(Labels)),
        ("maxNodes", Leaf(Number)),
        ("taints", Each(&TAINT)),
    ],
);
/// The group and kind of a node class are part of a label's key.
const CLASS_REFERENCE: Shape = Fields(
    &fields::KARPENTER_CLASS_REFERENCE,
    &[V, ("group", Leaf(Domain)), ("kind", Leaf(KindName)), ("name", Leaf(Name))],
);
const TEMPLATE_META: Shape = Fields(&fields::TEMPLATE_META, &[("labels", Leaf(Labels))]);
const KARPENTER_TEMPLATE_SPEC: Shape = Fields(
    &fields::KARPENTER_TEMPLATE_SPEC,
    &[
        ("nodeClassRef", CLASS_REFERENCE),
        ("requirements", Each(&POOL_REQUIREMENT)),
        ("startupTaints", Each(&TAINT)),
        ("taints", Each(&TAINT)),
    ],
);
const KARPENTER_TEMPLATE: Shape =
    Fields(&fields::KARPENTER_TEMPLATE, &[("metadata", TEMPLATE_META), ("spec", KARPENTER_TEMPLATE_SPEC)]);
const KARPENTER_NODE_POOL: Shape = Fields(
    &fields::KARPENTER_NODE_POOL_SPEC,
    &[("limits", Leaf(Amounts)), ("replicas", Leaf(Number)), ("template", KARPENTER_TEMPLATE)],
);
const KARPENTER_CLAIM: Shape = Fields(
    &fields::KARPENTER_CLAIM_SPEC,
    &[
        ("nodeClassRef", CLASS_REFERENCE),
        ("requirements", Each(&POOL_REQUIREMENT)),
        ("startupTaints", Each(&TAINT)),
        ("taints", Each(&TAINT)),
    ],
);
const KARPENTER_CLAIM_STATUS: Shape =
    Fields(&fields::KARPENTER_CLAIM_STATUS, &[("allocatable", Leaf(Amounts)), ("nodeName", Leaf(Node))]);
const TAINTS: Shape =
    Each(&Parts(&[("effect", Leaf(Word)), ("key", Leaf(Key)), ("propagation", Leaf(Word)), ("value", Leaf(Value))]));
/// Which configuration machines are started with, and not what is in it.
const BOOTSTRAP: Shape = Parts(&[("configRef", Parts(&[("kind", Leaf(KindName)), ("name", Leaf(Name))]))]);
const MACHINES: Shape = Parts(&[
    ("clusterName", Leaf(Name)),
    R,
    (
        "template",
        Parts(&[
            ("metadata", Parts(&[("labels", Leaf(Labels))])),
            ("spec", Parts(&[("bootstrap", BOOTSTRAP), ("taints", TAINTS)])),
        ]),
    ),
]);
/// How nodes register; not what is run on machines, or written there.
const REGISTRATION: Shape = Parts(&[("kubeletExtraArgs", Leaf(KubeletArguments)), ("taints", TAINTS)]);
const KUBEADM: Shape = Parts(&[("joinConfiguration", Parts(&[("nodeRegistration", REGISTRATION)]))]);
const OFFERING: Shape = Fields(&fields::OFFERING, &[("Requirements", Each(&POOL_REQUIREMENT))]);
const INSTANCE_TYPE: Shape = Fields(
    &fields::INSTANCE_TYPE,
    &[
        ("architecture", Leaf(Word)),
        ("name", Leaf(Word)),
        ("offerings", Each(&OFFERING)),
        ("operatingSystems", WORDS),
        ("resources", Leaf(Amounts)),
    ],
);
const INSTANCE_TYPES: Shape = Fields(&fields::INSTANCE_TYPES_SPEC, &[("types", Each(&INSTANCE_TYPE))]);
