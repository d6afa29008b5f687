// SPDX-License-Identifier: Apache-2.0

package cdc

import "fmt"

// Operations: the values of the column cdc$operation.

// An Operation is the meaning of a row of a log, the value of its column cdc$operation (an Int8 column). A change has
// its preimages first, then its other rows, then its postimages.
type Operation int8

// Operations (ScyllaDB's docs/features/cdc/cdc-log-table.rst, cdc-preimages.rst). The range of a deletion is two rows,
// the bounds From and To, which have the columns of the clustering key as far as they limit the range.
const (
	Preimage        Operation = 0 // the row before the change
	Update          Operation = 1 // UPDATE, and any change of a static row, whose clustering key is NULL
	Insert          Operation = 2
	DeleteRow       Operation = 3
	DeletePartition Operation = 4
	FromInclusive   Operation = 5
	FromExclusive   Operation = 6
	ToInclusive     Operation = 7
	ToExclusive     Operation = 8
	Postimage       Operation = 9 // the row after the change
	// Deletions of a row whose time to live has ended: of a table with a TTL column (per-row TTL), or of Alternator.
	// ExpirePartition is of a table without clustering columns. Cells that expire (USING TTL) are not logged.
	ExpireRow       Operation = -3
	ExpirePartition Operation = -4
)

var operations = [...]string{
	"preimage", "update", "insert", "delete row", "delete partition", "delete from inclusive", "delete from exclusive",
	"delete to inclusive", "delete to exclusive", "postimage",
}

// String returns the operation in words, and the number of one that the package does not have.
func (o Operation) String() string {
	switch o {
	case ExpireRow:
		return "expire row"
	case ExpirePartition:
		return "expire partition"
	}
	if o < 0 || int(o) >= len(operations) {
		return fmt.Sprintf("operation %d", int8(o))
	}
	return operations[o]
}
