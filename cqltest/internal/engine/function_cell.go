// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Functions of the facts of a cell: its write time and its time to live.

// cellFacts compiles writetime(c), maxwritetime(c) and ttl(c).
func (c *compiler) cellFacts(name string, e *cql.Call) (*node, error) {
	if len(e.Args) != 1 || e.Star {
		return nil, invalid("Invalid number of arguments in call to function %s", name)
	}
	inner := e.Args[0]
	switch a := inner.(type) {
	case *cql.Field:
		inner = a.Of
	case *cql.Element:
		inner = a.Of
	}
	arg, ok := inner.(*cql.Column)
	if !ok || c.t == nil {
		return nil, invalid("%s is only supported on columns, not on %s", name, e.Args[0])
	}
	col, err := c.t.lookup(arg.Name)
	if err != nil {
		return nil, err
	}
	if col.isKey() {
		return nil, invalid("Cannot use selection function %s on PRIMARY KEY part %s", name, col.name)
	}
	path, err := c.cellPath(col, e.Args[0])
	if err != nil {
		return nil, err
	}
	if !col.typ.multiCell() {
		path = nil // a frozen value has a single cell
	}
	n := &node{typ: Native("bigint")}
	if name == "ttl" {
		n.typ = Native("int")
	}
	many := col.typ.multiCell() && path == nil && name != "maxwritetime"
	if many {
		n.typ = ListOf(n.typ)
	}
	n.eval = func(x *env) ([]byte, error) {
		d := x.view.data(col)
		if d == nil {
			return nil, nil
		}
		if !d.complex {
			return cellFact(name, &d.cell, x.sec), nil
		}
		live := d.live(x.sec)
		switch {
		case path != nil:
			want, err := path(x)
			if err != nil {
				return nil, err
			}
			i := slices.IndexFunc(live, func(e element) bool { return col.typ.comparePaths(e.path, want) == 0 })
			if i < 0 {
				return nil, nil
			}
			return cellFact(name, &live[i].cell, x.sec), nil
		case len(live) == 0:
			return nil, nil
		case !many:
			latest := slices.MaxFunc(live, func(a, b element) int { return cmp.Compare(a.ts, b.ts) })
			return cellFact(name, &latest.cell, x.sec), nil
		}
		parts := make([][]byte, len(live))
		for i := range live {
			parts[i] = cellFact(name, &live[i].cell, x.sec)
		}
		return joinCollection(n.typ, parts), nil
	}
	return n, nil
}

// cellPath compiles the path of the cell that WRITETIME(column.field) or WRITETIME(column[key]) names; nil means the
// whole column.
func (c *compiler) cellPath(col *column, arg cql.Expr) (func(x *env) ([]byte, error), error) {
	switch a := arg.(type) {
	case *cql.Field:
		i := -1
		if col.typ.Kind == KindUDT {
			i = slices.Index(col.typ.Fields, a.Name)
		}
		if i < 0 {
			return nil, invalid("%s of type %s has no field %s", col.name, col.typ.bare(), a.Name)
		}
		return func(*env) ([]byte, error) { return binary.BigEndian.AppendUint16(nil, uint16(i)), nil }, nil
	case *cql.Element:
		if col.typ.Kind != KindSet && col.typ.Kind != KindMap {
			return nil, invalid("Invalid element selection: %s is of type %s is not a collection", col.name, col.typ)
		}
		n, err := c.term(a.Index, c.t.spec("key("+col.name+")", col.typ.Elems[0]))
		if err != nil {
			return nil, err
		}
		return n.eval, nil
	}
	return nil, nil
}

// cellFact returns the write time of a cell, or its time to live for the function ttl; nil means NULL.
func cellFact(name string, l *cell, sec int64) []byte {
	switch {
	case !l.live(sec):
		return nil
	case name != "ttl":
		return int64Bytes(l.ts)
	case l.ttl == 0:
		return nil
	}
	return int32Bytes(int32(l.expires - sec))
}
