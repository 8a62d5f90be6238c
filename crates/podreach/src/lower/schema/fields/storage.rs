//! The fields of claims, volumes, classes, drivers and devices.

use super::Table;

tables! {
    // Volumes in a pod.
    CLAIM_SOURCE "PersistentVolumeClaimVolumeSource" {
        modelled: ["claimName"],
        spoiling: [],
        irrelevant: ["readOnly"]
    }
    EPHEMERAL_SOURCE "EphemeralVolumeSource" {
        modelled: ["volumeClaimTemplate"],
        spoiling: [],
        irrelevant: []
    }
    CLAIM_TEMPLATE "PersistentVolumeClaimTemplate" {
        modelled: ["spec"],
        spoiling: [],
        irrelevant: ["metadata"]
    }
    GCE_DISK "GCEPersistentDiskVolumeSource" {
        modelled: ["pdName", "readOnly"],
        spoiling: [],
        irrelevant: ["fsType", "partition"]
    }
    AWS_DISK "AWSElasticBlockStoreVolumeSource" {
        modelled: ["readOnly", "volumeID"],
        spoiling: [],
        irrelevant: ["fsType", "partition"]
    }
    ISCSI_DISK "ISCSIVolumeSource" {
        modelled: ["iqn", "readOnly"],
        spoiling: [],
        irrelevant: ["chapAuthDiscovery", "chapAuthSession", "fsType", "initiatorName", "iscsiInterface", "lun", "portals",
            "secretRef", "targetPortal"]
    }
    RBD_DISK "RBDVolumeSource" {
        modelled: ["image", "monitors", "pool", "readOnly"],
        spoiling: [],
        irrelevant: ["fsType", "keyring", "secretRef", "user"]
    }
    POD_DEVICE_CLAIM "PodResourceClaim" {
        modelled: ["resourceClaimName", "resourceClaimTemplateName"],
        spoiling: [],
        irrelevant: ["name"]
    }

    // Claims and volumes.
    CLAIM_TEMPLATE_OBJECT "PersistentVolumeClaim" {
        modelled: ["metadata", "spec"],
        spoiling: [],
        irrelevant: ["apiVersion", "kind", "status"]
    }
    CLAIM_SPEC "PersistentVolumeClaimSpec" {
        modelled: ["accessModes", "resources", "selector", "storageClassName", "volumeAttributesClassName", "volumeMode", "volumeName"],
        spoiling: [],
        irrelevant: ["dataSource", "dataSourceRef"]
    }
    CLAIM_RESOURCES "VolumeResourceRequirements" {
        modelled: ["requests"],
        spoiling: [],
        irrelevant: ["limits"]
    }
    CLAIM_STATUS "PersistentVolumeClaimStatus" {
        modelled: ["phase"],
        spoiling: [],
        irrelevant: ["accessModes", "allocatedResourceStatuses", "allocatedResources", "capacity", "conditions",
            "currentVolumeAttributesClassName", "healthStatus", "modifyVolumeStatus"],
        open
    }
    VOLUME_SPEC "PersistentVolumeSpec" {
        modelled: ["accessModes", "capacity", "claimRef", "csi", "nodeAffinity", "storageClassName", "volumeAttributesClassName",
            "volumeMode"],
        spoiling: ["awsElasticBlockStore", "azureDisk", "azureFile", "cinder", "gcePersistentDisk", "portworxVolume", "vsphereVolume"],
        irrelevant: ["cephfs", "fc", "flexVolume", "flocker", "glusterfs", "hostPath", "iscsi", "local", "mountOptions", "nfs",
            "persistentVolumeReclaimPolicy", "photonPersistentDisk", "quobyte", "rbd", "scaleIO", "storageos"]
    }
    VOLUME_STATUS "PersistentVolumeStatus" {
        modelled: ["phase"],
        spoiling: [],
        irrelevant: ["lastPhaseTransitionTime", "message", "reason"],
        open
    }
    VOLUME_NODE_AFFINITY "VolumeNodeAffinity" {
        modelled: ["required"],
        spoiling: [],
        irrelevant: []
    }
    CLAIM_REFERENCE "ObjectReference" {
        modelled: ["name", "namespace", "uid"],
        spoiling: [],
        irrelevant: ["apiVersion", "fieldPath", "kind", "resourceVersion"]
    }
    CSI_SOURCE "CSIPersistentVolumeSource" {
        modelled: ["driver", "volumeHandle"],
        spoiling: [],
        irrelevant: ["controllerExpandSecretRef", "controllerPublishSecretRef", "fsType", "nodeExpandSecretRef", "nodePublishSecretRef",
            "nodeStageSecretRef", "readOnly", "volumeAttributes"]
    }

    // Classes and drivers.
    CLASS_OBJECT "StorageClass" {
        modelled: ["allowedTopologies", "apiVersion", "kind", "metadata", "provisioner", "volumeBindingMode"],
        spoiling: [],
        irrelevant: ["allowVolumeExpansion", "mountOptions", "parameters", "reclaimPolicy"]
    }
    TOPOLOGY_TERM "TopologySelectorTerm" {
        modelled: ["matchLabelExpressions"],
        spoiling: [],
        irrelevant: []
    }
    TOPOLOGY_REQUIREMENT "TopologySelectorLabelRequirement" {
        modelled: ["key", "values"],
        spoiling: [],
        irrelevant: []
    }
    CSI_DRIVER_SPEC "CSIDriverSpec" {
        modelled: ["preventPodSchedulingIfMissing", "storageCapacity"],
        spoiling: [],
        irrelevant: ["attachRequired", "fsGroupPolicy", "nodeAllocatableUpdatePeriodSeconds", "podInfoOnMount", "requiresRepublish",
            "seLinuxMount", "serviceAccountTokenInSecrets", "tokenRequests", "volumeLifecycleModes"]
    }
    CSI_NODE_SPEC "CSINodeSpec" {
        modelled: ["drivers"],
        spoiling: [],
        irrelevant: []
    }
    CSI_NODE_DRIVER "CSINodeDriver" {
        modelled: ["allocatable", "name", "topologyKeys"],
        spoiling: [],
        irrelevant: ["nodeID"]
    }
    DRIVER_LIMIT "VolumeNodeResources" {
        modelled: ["count"],
        spoiling: [],
        irrelevant: []
    }
    CAPACITY_OBJECT "CSIStorageCapacity" {
        modelled: ["apiVersion", "capacity", "kind", "maximumVolumeSize", "metadata", "nodeTopology", "storageClassName"],
        spoiling: [],
        irrelevant: []
    }
    VOLUME_ATTACHMENT_SPEC "VolumeAttachmentSpec" {
        modelled: ["attacher", "nodeName", "source"],
        spoiling: [],
        irrelevant: []
    }
    VOLUME_ATTACHMENT_SOURCE "VolumeAttachmentSource" {
        modelled: ["persistentVolumeName"],
        spoiling: [],
        irrelevant: ["inlineVolumeSpec"]
    }

    // Devices.
    DEVICE_CLAIM_STATUS "ResourceClaimStatus" {
        modelled: ["allocation", "reservedFor"],
        spoiling: [],
        irrelevant: ["devices"],
        open
    }
    ALLOCATION "AllocationResult" {
        modelled: ["devices", "nodeSelector"],
        spoiling: [],
        irrelevant: ["allocationTimestamp"],
        open
    }
    ALLOCATED_DEVICES "DeviceAllocationResult" {
        modelled: ["results"],
        spoiling: [],
        irrelevant: ["config"],
        open
    }
    ALLOCATED_DEVICE "DeviceRequestAllocationResult" {
        modelled: [],
        spoiling: ["bindingConditions", "skipNodeOperations"],
        irrelevant: ["adminAccess", "bindingFailureConditions", "consumedCapacity", "device", "driver", "pool", "request", "shareID",
            "tolerations"],
        open
    }
}
