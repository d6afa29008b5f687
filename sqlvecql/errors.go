// SPDX-License-Identifier: Apache-2.0

package sqlvecql

import "errors"

// Errors of what CQL does not have, and results. All other errors come from package vecql.

var (
	// ErrNoTransactions means that a transaction was begun.
	ErrNoTransactions = errors.New("sqlvecql: begin a transaction: CQL has none: " +
		"use BEGIN BATCH ... APPLY BATCH for several writes, IF for a write with a condition")
	// ErrNoRowsAffected means that RowsAffected was called for a statement without a condition (IF).
	ErrNoRowsAffected = errors.New("sqlvecql: RowsAffected: CQL does not report how many rows a statement changes: " +
		"only a statement with a condition (IF) reports whether it was applied")
	// ErrNoLastInsertID means that LastInsertId was called.
	ErrNoLastInsertID = errors.New("sqlvecql: LastInsertId: CQL has no generated keys: insert a key of the program, such as a UUID")
	// ErrArguments means that arguments cannot be bound, whatever their values are: some have names and some do not, or
	// one is a sql.Out.
	ErrArguments = errors.New("sqlvecql: arguments cannot be bound")
)

// A result implements driver.Result.
type result struct{ conditional, applied bool }

// LastInsertId implements driver.Result.
func (result) LastInsertId() (int64, error) { return 0, ErrNoLastInsertID }

// RowsAffected implements driver.Result: 1 if a conditional statement or batch was applied, else 0.
func (r result) RowsAffected() (int64, error) {
	switch {
	case !r.conditional:
		return 0, ErrNoRowsAffected
	case r.applied:
		return 1, nil
	}
	return 0, nil
}
