// SPDX-License-Identifier: Apache-2.0

// Package behavior compares what programs see of the APIs with what they see of the compat modules: the calls of
// policies and observers, the number of attempts, errors and their texts. Its tests run a list of scenarios with the
// API itself, and again in a process that is built with the compat module. go test takes v1.7, -modfile=fork.mod
// -tags=fork takes the fork, -modfile=v2.mod -tags=v2 takes v2.
package behavior
