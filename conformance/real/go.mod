// The modules that count are in ../releases, one file per Kubernetes release: go build -modfile=../releases/1.37.mod
module conformance

go 1.26.0
