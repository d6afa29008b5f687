// SPDX-License-Identifier: Apache-2.0

// Package behavior compares what programs see of the APIs with what they see of the compat modules: the calls of
// policies and observers, the number of attempts, errors and their texts. Its tests run a list of scenarios with the
// API itself, and again in a process that is built with the compat module. go test -modfile=api.mod takes v1.7,
// with -tags=v2 it takes v2; -modfile=fork.mod -tags=fork takes the fork.
package behavior
