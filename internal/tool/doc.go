// SPDX-License-Identifier: Apache-2.0

// Package tool is the command vecql: one file for each verb, and what the verbs share.
//
//   - root.go: Main, the list of verbs, exit codes
//   - env.go: the streams and the terminal of a command
//   - cluster.go, profile.go, connect.go: the flags of a cluster, where their values come from, and the session
//   - output.go, table.go: results as tables and files
//   - progress.go: the line that shows the progress of long work
package tool
