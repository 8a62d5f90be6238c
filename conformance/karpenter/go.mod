// Karpenter v1.15.0. Its own go.mod asks for a patch release of Go that few have; `build` makes a copy of the module that asks for
// the language version alone, and leaves its code as it is.
module karpenter

go 1.26.0

require sigs.k8s.io/karpenter v1.15.0
