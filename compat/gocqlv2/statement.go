// SPDX-License-Identifier: Apache-2.0

package gocql

import "context"

// Statements as policies see them.

// A Statement is a Query or a Batch.
type Statement interface {
	Iter() *Iter
	IterContext(ctx context.Context) *Iter
	Exec() error
	ExecContext(ctx context.Context) error
}

// An ExecutableStatement describes a request to a HostSelectionPolicy.
type ExecutableStatement interface {
	GetRoutingKey() ([]byte, error)
	Keyspace() string
	Table() string
	IsIdempotent() bool
	GetHostID() string
	Statement() Statement
}

// ExecutableQuery is ExecutableStatement.
//
// Deprecated: use ExecutableStatement.
type ExecutableQuery = ExecutableStatement
