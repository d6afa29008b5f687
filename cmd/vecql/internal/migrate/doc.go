// SPDX-License-Identifier: Apache-2.0

// Package migrate applies files of CQL to a cluster, each once and in the order of their versions. A table of the
// keyspace has a row for each file, with the number of its statements that were executed: a run after a failure, or
// after a kill, continues with the next one. A lock, by a lightweight transaction with a time to live, lets one run
// work at a time.
//
// Each statement is executed after the schema change before it has reached all nodes, as the session awaits.
package migrate
