#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Builds the shared library of adbc-drivers/cassandra from copies of its sources and of adbc-drivers/driverbase-go, which
# the Go module proxy does not have: bench/adbc/adbc_cassandra.sh cassandra driverbase-go library.so. The copies are not
# changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
driverbase=$(realpath "$2")
library=$(realpath -m "$3")
cp -r "$1/go/." "$work"
cd "$work"
rm -f ./*_test.go
rm -rf validation
for module in driverbase testutil validation; do
	go mod edit -replace "github.com/adbc-drivers/driverbase-go/$module=$driverbase/$module"
done
# The version of Go is that of the machine: the module asks for a newer one than its code needs.
go mod edit -go "$(go env GOVERSION | sed 's/^go\([0-9]*\.[0-9]*\).*/\1/')" -toolchain none
GOFLAGS=-mod=mod go mod tidy
export GOFLAGS=-mod=mod
header=$(go list -m -f '{{.Dir}}' github.com/apache/arrow-adbc/go/adbc)/drivermgr/arrow-adbc
CGO_CFLAGS="-O2 -I$header" go build -tags driverlib -buildmode=c-shared -o "$library" ./pkg
