//! The fields that only admission and the kubelet look at: what pods may do to their hosts.

use super::Table;

tables! {
    SECURITY_CONTEXT "SecurityContext" {
        modelled: ["allowPrivilegeEscalation", "appArmorProfile", "capabilities", "privileged", "procMount", "runAsNonRoot",
            "runAsUser", "seLinuxOptions", "seccompProfile", "windowsOptions"],
        spoiling: [],
        irrelevant: ["readOnlyRootFilesystem", "runAsGroup"]
    }
    POD_SECURITY_CONTEXT "PodSecurityContext" {
        modelled: ["appArmorProfile", "runAsNonRoot", "runAsUser", "seLinuxOptions", "seccompProfile", "sysctls",
            "windowsOptions"],
        spoiling: [],
        irrelevant: ["fsGroup", "fsGroupChangePolicy", "runAsGroup", "seLinuxChangePolicy", "supplementalGroups",
            "supplementalGroupsPolicy"]
    }
    APP_ARMOR_PROFILE "AppArmorProfile" {
        modelled: ["type"],
        spoiling: [],
        irrelevant: ["localhostProfile"]
    }
    CAPABILITIES "Capabilities" {
        modelled: ["add", "drop"],
        spoiling: [],
        irrelevant: []
    }
    SE_LINUX_OPTIONS "SELinuxOptions" {
        modelled: ["role", "type", "user"],
        spoiling: [],
        irrelevant: ["level"]
    }
    SECCOMP_PROFILE "SeccompProfile" {
        modelled: ["type"],
        spoiling: [],
        irrelevant: ["localhostProfile"]
    }
    WINDOWS_OPTIONS "WindowsSecurityContextOptions" {
        modelled: ["hostProcess"],
        spoiling: [],
        irrelevant: ["gmsaCredentialSpec", "gmsaCredentialSpecName", "runAsUserName"]
    }
    SYSCTL "Sysctl" {
        modelled: ["name"],
        spoiling: [],
        irrelevant: ["value"]
    }
    PROBE "Probe" {
        modelled: ["httpGet", "tcpSocket"],
        spoiling: [],
        irrelevant: ["exec", "failureThreshold", "grpc", "initialDelaySeconds", "periodSeconds", "successThreshold",
            "terminationGracePeriodSeconds", "timeoutSeconds"]
    }
    LIFECYCLE "Lifecycle" {
        modelled: ["postStart", "preStop"],
        spoiling: [],
        irrelevant: ["stopSignal"]
    }
    LIFECYCLE_HANDLER "LifecycleHandler" {
        modelled: ["httpGet", "tcpSocket"],
        spoiling: [],
        irrelevant: ["exec", "sleep"]
    }
    HTTP_GET_ACTION "HTTPGetAction" {
        modelled: ["host"],
        spoiling: [],
        irrelevant: ["httpHeaders", "path", "port", "protocol", "scheme"]
    }
    TCP_SOCKET_ACTION "TCPSocketAction" {
        modelled: ["host"],
        spoiling: [],
        irrelevant: ["port"]
    }
    POD_OS "PodOS" {
        modelled: ["name"],
        spoiling: [],
        irrelevant: []
    }
}
