// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/pipe/internal/order"
)

// Narrowing: a sort with a limit, and groups with a limit and no order, need fewer rows of a source the more rows they
// have seen. Their nodes narrow the source while it reads.

// narrow prepares the source for the first operation that depends on other rows. Rows that are left out are not
// evaluated, so no expression before may fail.
func narrow(source opened, ops []operation) {
	n, ok := able[narrower](source)
	i := firstOfRows(ops)
	if !ok || i < 0 || slices.ContainsFunc(source.input().selected, conjunct.mayFail) {
		return
	}
	var names []string
	switch op := ops[i].(type) {
	case *sortOp:
		if op.limit > 0 && op.orders > 0 {
			names = []string{op.keys[0].Name}
		}
	case *groupOp:
		if op.few > 0 {
			names = op.keys
		}
	}
	for _, op := range ops[:i] {
		switch op := op.(type) {
		case *computeOp:
			if op.program != nil && !op.program.NeverFails() {
				return
			}
			names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == op.name })
		case *filterOp:
			if slices.ContainsFunc(op.conjuncts, conjunct.mayFail) {
				return
			}
		}
	}
	fields := source.schema()
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		at := fields.Index(name)
		return at < 0 || !canNarrow(fields[at].Type.Kind)
	})
	if len(names) == 0 {
		return
	}
	n.NarrowBy(names)
	switch op := ops[i].(type) {
	case *sortOp:
		op.bound = &bound{source: n}
		if k := op.keys[0]; !k.NullsFirst { // footers do not tell which row groups have the NULLs of a result
			n.BeginWith(k.Name, k.Desc)
		}
	case *groupOp:
		op.source, op.narrows = n, names
	}
}

// canNarrow reports whether a narrower has values of a kind, in the order of OrderBy.
func canNarrow(k column.Kind) bool {
	switch k {
	case column.Decimal64, column.Decimal128, column.Decimal256, column.Float16:
		return false
	}
	return order.Has(k) && k != column.Inet
}
