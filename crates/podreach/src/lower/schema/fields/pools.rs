//! The fields of objects that describe where nodes come from: pools of Karpenter, and our own.
//!
//! Karpenter: `pkg/apis/v1/nodepool.go` of v1.15.0, with what v1beta1 had besides. How and when nodes are removed does not matter here: any
//! node of a pool may go at any time.

use super::Table;

tables! {
    POOL_REQUIREMENT "requirement of a pool" {
        modelled: ["key", "operator", "values"],
        spoiling: [],
        irrelevant: ["minValues"]
    }
    TEMPLATE_META "metadata of a node template" {
        modelled: ["labels"],
        spoiling: [],
        irrelevant: ["annotations"]
    }
    KARPENTER_NODE_POOL_SPEC "NodePoolSpec of Karpenter" {
        modelled: ["limits", "replicas", "template"],
        spoiling: [],
        irrelevant: ["disruption", "weight"]
    }
    KARPENTER_TEMPLATE "NodeClaimTemplate" {
        modelled: ["metadata", "spec"],
        spoiling: [],
        irrelevant: []
    }
    KARPENTER_TEMPLATE_SPEC "NodeClaimTemplateSpec" {
        modelled: ["nodeClassRef", "requirements", "startupTaints", "taints"],
        spoiling: [],
        irrelevant: ["expireAfter", "kubelet", "resources", "terminationGracePeriod"]
    }
    KARPENTER_CLASS_REFERENCE "NodeClassReference" {
        modelled: ["apiVersion", "group", "kind", "name"],
        spoiling: [],
        irrelevant: []
    }
    KARPENTER_CLAIM_SPEC "NodeClaimSpec" {
        modelled: ["nodeClassRef", "requirements", "startupTaints", "taints"],
        spoiling: [],
        irrelevant: ["expireAfter", "kubelet", "resources", "terminationGracePeriod"]
    }
    KARPENTER_CLAIM_STATUS "NodeClaimStatus" {
        modelled: ["allocatable", "nodeName"],
        spoiling: [],
        irrelevant: ["capacity", "conditions", "imageID", "lastPodEventTime", "providerID"]
    }
    INSTANCE_TYPES_SPEC "InstanceTypesSpec" {
        modelled: ["types"],
        spoiling: [],
        irrelevant: []
    }
    INSTANCE_TYPE "an instance type" {
        modelled: ["architecture", "name", "offerings", "operatingSystems", "resources"],
        spoiling: [],
        irrelevant: []
    }
    OFFERING "an offering" {
        modelled: ["Requirements"],
        spoiling: [],
        irrelevant: ["Available", "Price", "ReservationCapacity"]
    }
    NODE_POOL_SPEC "NodePoolSpec" {
        modelled: ["allocatable", "choices", "labels", "maxNodes", "taints"],
        spoiling: [],
        irrelevant: []
    }
}
