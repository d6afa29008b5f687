// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"slices"

	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
)

// Filters: expressions that select rows. Package predicate compiles them for the types of a file's columns.

// ErrFilter means that a filter does not fit its column: it compares with a value of another kind, or it compares a
// list.
var ErrFilter = failure.ErrFilter

// A Filter selects rows. The zero Filter selects all rows. [Eq], [Ne], [Lt], [Le], [Gt], [Ge], [In], [Contains],
// [IsNull], [NotNull], [And], [Or] and [Not] return filters. Filters are immutable and can be shared.
//
// A column is named by its path: "a", or "a.b" for a field of a struct. Paths do not lead into lists and maps. Lists,
// maps, vectors and whole structs support only IsNull and NotNull.
//
// Comparison is by exact value, never rounded or cut to the column's type: Lt("i", 2.5) on integers is i <= 2, Lt("i",
// 1000) on int8 is every row that is not NULL, Gt("f", 0.1) on float32 compares with the float64. Columns compare with
// values of these types:
//
//   - integer and float columns: integers and floats of any Go type, column.Int128, column.Int256;
//   - decimals: those, and strings such as "12.50". An integer is that number, not an unscaled one: 12 is 12.00;
//   - Date and Timestamp: time.Time, compared as an instant. A Date is its midnight in UTC; a Timestamp of unknown
//     local time is taken as UTC, so pass such times in time.UTC;
//   - Time: time.Duration since midnight;
//   - Bool: bool, false being less than true;
//   - String and Binary: string and []byte; UUID and Fixed: [16]byte and []byte, Fixed also string. Bytes compare
//     unsigned, the shorter value first if it is a prefix of the other.
//
// A named type counts as its underlying type, except time.Duration, which is not an integer. All other combinations are
// an ErrFilter, including every comparison with Inet, Varint, Decimal and Duration.
//
// Floats have a total order, the order of package groupby: NaN equals NaN and is greater than all numbers, -0 equals 0.
// Parquet statistics rarely record NaNs, so a lower bound alone cannot prune. Combine it with an upper bound: And(Ge(c,
// x), Lt(c, math.NaN())).
//
// Logic is SQL's: a comparison with NULL is unknown, so is Not of it, and a row is selected if the filter is true. A
// nil value is an ErrFilter. A []byte must not change before Dataset.Scan takes the filter.
type Filter struct{ node *predicate.Node }

func onColumn(op predicate.Op, column string, values ...any) Filter {
	return Filter{&predicate.Node{Op: op, Column: column, Values: values}}
}

// Eq selects rows whose column equals the value.
func Eq(column string, value any) Filter { return onColumn(predicate.Eq, column, value) }

// Ne selects rows whose column is not NULL and differs from the value.
func Ne(column string, value any) Filter { return onColumn(predicate.Ne, column, value) }

// Lt selects rows whose column is less than the value.
func Lt(column string, value any) Filter { return onColumn(predicate.Lt, column, value) }

// Le selects rows whose column is at most the value.
func Le(column string, value any) Filter { return onColumn(predicate.Le, column, value) }

// Gt selects rows whose column is greater than the value.
func Gt(column string, value any) Filter { return onColumn(predicate.Gt, column, value) }

// Ge selects rows whose column is at least the value.
func Ge(column string, value any) Filter { return onColumn(predicate.Ge, column, value) }

// In selects rows whose column equals one of the values. Without values it selects no row, and its Not all rows that
// are not NULL.
func In(column string, values ...any) Filter {
	return onColumn(predicate.In, column, slices.Clone(values)...)
}

// Contains selects rows whose column, a String or Binary, contains the text or bytes. Statistics do not prune it.
func Contains(column string, part any) Filter { return onColumn(predicate.Contains, column, part) }

// IsNull selects rows whose column is NULL. A field of a struct that is NULL is NULL.
func IsNull(column string) Filter { return onColumn(predicate.Null, column) }

// NotNull selects rows whose column is not NULL.
func NotNull(column string) Filter { return onColumn(predicate.NotNull, column) }

// And selects rows that all filters select. Without filters it selects all rows.
func And(filters ...Filter) Filter {
	return Filter{&predicate.Node{Op: predicate.And, Args: nodesOf(filters)}}
}

// Or selects rows that at least one filter selects. Without filters it selects no row.
func Or(filters ...Filter) Filter {
	return Filter{&predicate.Node{Op: predicate.Or, Args: nodesOf(filters)}}
}

// Not selects rows for which the filter is false, not those for which it is unknown.
func Not(filter Filter) Filter {
	return Filter{&predicate.Node{Op: predicate.Not, Args: []*predicate.Node{filter.node}}}
}

// nodesOf returns the expressions of filters.
func nodesOf(filters []Filter) []*predicate.Node {
	nodes := make([]*predicate.Node, len(filters))
	for i, f := range filters {
		nodes[i] = f.node
	}
	return nodes
}

// String returns the filter in a form like SQL, for messages.
func (f Filter) String() string { return f.node.String() }
