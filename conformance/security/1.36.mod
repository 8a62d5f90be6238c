// Kubernetes 1.36.
module security

go 1.26.0

require (
	k8s.io/api v0.36.3
	k8s.io/pod-security-admission v0.36.3
)
