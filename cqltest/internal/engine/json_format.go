// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Values as JSON: SELECT JSON and to_json.

// jsonColumn is the column of SELECT JSON and the bind marker of INSERT JSON.
const jsonColumn = "[json]"

// selectJSON replaces the columns of a plan by one that contains them as a JSON object.
func (p *selectPlan) selectJSON() {
	nodes, columns := p.nodes, p.columns
	p.columns = []Column{p.t.spec(jsonColumn, Native("text"))}
	p.nodes = []*node{{typ: Native("text"), eval: func(x *env) ([]byte, error) {
		out := []byte{'{'}
		for i, n := range nodes {
			b, err := n.eval(x)
			if err != nil || isUnset(b) {
				return b, err
			}
			if i > 0 {
				out = append(out, ", "...)
			}
			out = append(appendJSONString(out, jsonName(columns[i].Name)), ": "...)
			out = columns[i].Type.appendJSON(out, columns[i].Type.orNull(b))
		}
		return append(out, '}'), nil
	}}}
}

// jsonName returns the name of a column or field as a key: in double quotes if it has upper case letters.
func jsonName(name string) string {
	if name != strings.ToLower(name) {
		return `"` + name + `"`
	}
	return name
}

// toJSON compiles to_json, which takes one argument of any type.
func (c *compiler) toJSON(e *cql.Call) (*node, error) {
	if len(e.Args) != 1 {
		return nil, invalid("Invalid number of arguments for function system.to_json(any)")
	}
	var hint *Type
	if l, ok := e.Args[0].(*cql.Literal); ok {
		hint = defaultType(l)
	}
	arg, err := c.selector(e.Args[0], hint)
	if err != nil {
		return nil, err
	}
	return &node{typ: Native("text"), agg: arg.agg, eval: func(x *env) ([]byte, error) {
		b, err := arg.eval(x)
		if err != nil || isUnset(b) {
			return b, err
		}
		return arg.typ.appendJSON(nil, arg.typ.orNull(b)), nil
	}}, nil
}

// appendJSONString appends a string with the escapes of Jackson, which leaves all but controls as they are.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ':
			dst = append(dst, c)
		case strings.IndexByte("\b\t\n\f\r", c) >= 0:
			dst = append(dst, '\\', "btn?fr"[c-'\b'])
		default:
			dst = fmt.Appendf(dst, `\u%04X`, c)
		}
	}
	return append(dst, '"')
}

// appendJSON appends a valid value as JSON.
func (t *Type) appendJSON(dst, b []byte) []byte {
	if b == nil {
		return append(dst, "null"...)
	}
	switch t.Kind {
	case KindText, KindASCII:
		return appendJSONString(dst, string(b))
	case KindList, KindSet, KindVector, KindTuple:
		return t.appendJSONArray(dst, b)
	case KindMap, KindUDT:
		return t.appendJSONObject(dst, b)
	}
	if len(b) == 0 && t.Kind == KindBlob {
		return append(dst, `"0x"`...)
	}
	if len(b) == 0 {
		return append(dst, `""`...)
	}
	switch t.Kind {
	case KindBoolean, KindTinyInt, KindSmallInt, KindInt, KindBigInt, KindCounter, KindVarint, KindDecimal:
		return append(dst, t.format(b)...)
	case KindFloat, KindDouble:
		if f := toNumber(t, b).f; math.IsNaN(f) || math.IsInf(f, 0) {
			return append(dst, "null"...)
		}
		return append(dst, t.format(b)...)
	case KindTimestamp:
		return appendJSONString(dst, formatJSONTimestamp(readInt(b)))
	}
	return appendJSONString(dst, t.format(b))
}

// orNull returns a value of a column for JSON: without bytes it is NULL for types that take an empty text as that.
func (t *Type) orNull(b []byte) []byte {
	if len(b) == 0 && (t.Kind == KindTimestamp || t.Kind == KindInet) {
		return nil
	}
	return b
}

// appendJSONArray appends a list, set, vector or tuple.
func (t *Type) appendJSONArray(dst, b []byte) []byte {
	parts, err := t.split(b)
	if err != nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	for i, p := range parts {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = t.part(i).appendJSON(dst, p)
	}
	return append(dst, ']')
}

// appendJSONObject appends a map or user-defined type.
func (t *Type) appendJSONObject(dst, b []byte) []byte {
	parts, err := t.split(b)
	if err != nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '{')
	for i, p := range parts {
		if i > 0 && (t.Kind == KindUDT || i%2 == 0) {
			dst = append(dst, ", "...)
		}
		switch {
		case t.Kind == KindUDT:
			dst = append(appendJSONString(dst, jsonName(t.Fields[i])), ": "...)
			dst = t.Elems[i].appendJSON(dst, p)
		case i%2 == 0:
			dst = append(t.Elems[0].appendJSONKey(dst, p), ": "...)
		default:
			dst = t.Elems[1].appendJSON(dst, p)
		}
	}
	return append(dst, '}')
}

// appendJSONKey appends a value as the key of an object: its JSON, as a string if it is none.
func (t *Type) appendJSONKey(dst, b []byte) []byte {
	key := t.appendJSON(nil, b)
	if bytes.HasPrefix(key, []byte{'"'}) {
		return append(dst, key...)
	}
	return appendJSONString(dst, string(key))
}
