// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math/big"
	"strings"
	"time"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// CAST(... AS ...), arithmetic of dates and durations, and similarity of vectors.

func bigAbs(v *big.Int) *big.Int { return new(big.Int).Abs(v) }

// cast compiles CAST(... AS ...).
func (c *compiler) cast(e *cql.Cast) (*node, error) {
	to, err := c.typeName(e.Type)
	if err != nil {
		return nil, err
	}
	of, err := c.selector(e.Expr, nil)
	if err != nil {
		return nil, err
	}
	if of.typ.Kind == to.Kind && !of.typ.isCollection() {
		same := *of
		same.name = resultName(e.Expr)
		return &same, nil
	}
	if !isCastable(e.Type.Name, to) {
		return nil, invalid("%s cannot be cast to %s", resultName(e.Expr), e.Type)
	}
	convert := conversion(of.typ, to)
	if convert == nil && of.typ.Kind == KindTimestamp && isNumber(to) {
		return nil, invalid("Ambiguous call to function system.cast_as_%s (can be matched by following signatures: those "+
			"of %s): use type casts to disambiguate", to, to)
	}
	if convert == nil {
		return nil, invalid("Invalid call to function system.cast_as_%s, none of its type signatures match (known type signatures: those of %s)",
			to, to)
	}
	return of.derived(to, func(_ *env, b []byte) ([]byte, error) {
		if len(b) == 0 && !isText(of.typ) {
			return nil, nil
		}
		return convert(b)
	}), nil
}

// isCastable reports whether CAST has any conversion to the type, which is named name.
func isCastable(name string, to *Type) bool {
	switch to.Kind {
	case KindText:
		return name != "varchar"
	case KindASCII, KindDate, KindTimestamp:
		return true
	}
	return isNumber(to) && to.Kind != KindCounter
}

// conversion returns the function that casts from one type to another; nil means that there is no such cast.
func conversion(from, to *Type) func([]byte) ([]byte, error) {
	switch {
	case to.Kind == KindBigInt && from.Kind == KindTimestamp:
		return func(b []byte) ([]byte, error) { return b, nil }
	case to.Kind == KindTimestamp && from.Kind == KindInt: // taken for a date
		return conversion(Native("date"), to)
	case to.Kind == KindDate && from.Kind == KindBigInt: // taken for a timestamp
		return conversion(Native("timestamp"), to)
	case isNumber(from) && isNumber(to) && to.Kind != KindCounter:
		if to.Kind == KindVarint && from.Kind == KindDecimal {
			return func(b []byte) ([]byte, error) { // passes through a long
				long, err := toNumber(from, b).to(Native("bigint"))
				return varintBytes(big.NewInt(readInt(long))), err
			}
		}
		return func(b []byte) ([]byte, error) { return toNumber(from, b).saturate(to).to(to) }
	case to.Kind == KindText || to.Kind == KindASCII:
		switch from.Kind {
		case KindBlob, KindDuration, KindList, KindSet, KindMap, KindTuple, KindUDT, KindVector:
			return nil
		case KindText:
			return nil // not to ascii
		case KindASCII:
			return func(b []byte) ([]byte, error) { return b, nil }
		}
		return func(b []byte) ([]byte, error) { return []byte(from.format(b)), nil }
	case to.Kind == KindTimestamp && (from.Kind == KindDate || from.Kind == KindTimeUUID):
		return func(b []byte) ([]byte, error) { return int64Bytes(instant(from, b).UnixMilli()), nil }
	case to.Kind == KindDate && (from.Kind == KindTimestamp || from.Kind == KindTimeUUID):
		return func(b []byte) ([]byte, error) { return dateBytes(instant(from, b)), nil }
	}
	return nil
}

// shift adds a duration to a timestamp or date.
func shift(t *Type, b []byte, months, days int, nanos int64) ([]byte, error) {
	at := instant(t, b)
	if months != 0 {
		// Days beyond a shorter month become its last day, as in Java's plusMonths.
		first := time.Date(at.Year(), at.Month(), 1, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(),
			time.UTC).AddDate(0, months, 0)
		last := first.AddDate(0, 1, -1).Day()
		at = first.AddDate(0, 0, min(at.Day(), last)-1)
	}
	at = at.AddDate(0, 0, days)
	if t.Kind == KindDate {
		if nanos != 0 && nanos%dayNanos != 0 {
			return nil, invalid("The duration must have a day precision. Was: %s",
				formatDuration(durationBytes(int64(months), int64(days), nanos)))
		}
		return dateBytes(at.AddDate(0, 0, int(nanos/dayNanos))), nil
	}
	return int64Bytes(at.Add(time.Duration(nanos)).UnixMilli()), nil
}

// similarityFunction compiles similarity_cosine, similarity_euclidean and similarity_dot_product. Cassandra refuses the
// cosine of zero vectors; ScyllaDB returns NaN.
func (c *compiler) similarityFunction(name string, types []*Type, e *cql.Call) (*function, error) {
	similarity := similarityOf(strings.TrimPrefix(name, "similarity_"))
	if similarity == noSimilarity || name == "similarity_" {
		return nil, unknownFunction(e.Name)
	}
	if len(types) != 2 {
		return nil, invalid("Invalid number of arguments for function %s(vector<float, n>, vector<float, n>)",
			systemName(name))
	}
	t := types[0]
	if t == nil {
		t = types[1]
	}
	if t == nil {
		for _, a := range e.Args {
			if l, ok := a.(*cql.ListLiteral); ok && len(l.Elems) > 0 {
				t = &Type{Kind: KindVector, Elems: []*Type{Native("float")}, Dim: len(l.Elems), Frozen: true}
			}
		}
	}
	if t == nil {
		return nil, invalid("Cannot infer type of argument ? in call to function %s: use type casts to disambiguate", name)
	}
	for i, a := range types {
		if l, ok := e.Args[i].(*cql.ListLiteral); ok && t.Kind == KindVector && len(l.Elems) != t.Dim {
			return nil, invalid("All arguments must have the same vector dimensions")
		}
		if a != nil && (a.Kind != KindVector || a.Elems[0].Kind != KindFloat) {
			return nil, invalid("Function %s requires a float vector argument, but found argument %s of type %s",
				systemName(name), e.Args[i], a)
		}
		if a != nil && a.Dim != t.Dim {
			return nil, invalid("All arguments must have the same vector dimensions")
		}
	}
	return &function{[]*Type{t, t}, Native("float"), func(_ *env, args [][]byte) ([]byte, error) {
		if len(args[0]) == 0 || len(args[1]) == 0 {
			return nil, nil
		}
		if similarity == cosine && !c.e.options.Scylla && (isZero(args[0]) || isZero(args[1])) {
			return nil, invalid("Function %s doesn't support all-zero vectors.", systemName(name))
		}
		return float32Bytes(similarity.of(args[0], args[1])), nil
	}}, nil
}
