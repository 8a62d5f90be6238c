// The modules that count are in 1.X.mod, one file per Kubernetes release: go build -modfile=1.37.mod
module security

go 1.26.0
