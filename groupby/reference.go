// SPDX-License-Identifier: Apache-2.0

package groupby

// A referenceRow is a row of one group: its number, and the values of the aggregate's arguments, nil for NULL.
type referenceRow struct {
	number int64
	args   []any
}
