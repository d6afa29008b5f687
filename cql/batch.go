// SPDX-License-Identifier: Apache-2.0

package cql

// BatchType is the guarantee that the statements of a batch have together.
type BatchType byte

// The batch types (native_protocol_v5.spec, section 4.1.7).
const (
	// LoggedBatch eventually applies all statements or none. It uses the batch log.
	LoggedBatch BatchType = 0
	// UnloggedBatch has no such guarantee across partitions, and costs no more than its statements.
	UnloggedBatch BatchType = 1
	// CounterBatch contains only updates of counters.
	CounterBatch BatchType = 2
)
