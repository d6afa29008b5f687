// SPDX-License-Identifier: Apache-2.0

// Package stats has the counters and the health of a session of the driver: what Session.Stats and Session.Health
// return.
//
// The values are snapshots. They belong to the caller, and the driver does not change them. Session and Node are
// counters since the start of the session, so that the difference of two snapshots is the work between them. Health has
// JSON names and suits the answer to a health check.
package stats
