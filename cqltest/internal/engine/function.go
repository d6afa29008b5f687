// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql/cqltest/internal/cql"
	"github.com/vecql/vecql/internal/token"
)

// Functions other than aggregates.

// function is one overload of a function: its parameter types and its result type.
type function struct {
	params []*Type
	ret    *Type
	body   func(x *env, args [][]byte) ([]byte, error) // not called for NULL
}

// unary returns a function of one parameter.
func unary(param, ret *Type, body func(b []byte) ([]byte, error)) *function {
	return &function{[]*Type{param}, ret, func(_ *env, args [][]byte) ([]byte, error) { return body(args[0]) }}
}

// ofValue returns a function of one parameter that returns NULL for an empty value.
func ofValue(param, ret *Type, body func(b []byte) ([]byte, error)) *function {
	return unary(param, ret, func(b []byte) ([]byte, error) {
		if len(b) == 0 {
			return nil, nil
		}
		return body(b)
	})
}

// call compiles a call.
func (c *compiler) call(e *cql.Call) (*node, error) {
	name := strings.ToLower(e.Name.Name)
	if ks := e.Name.Keyspace; ks != "" && ks != "system" {
		return nil, unknownFunction(e.Name)
	}
	switch name {
	case "writetime", "maxwritetime", "ttl":
		return c.cellFacts(name, e)
	case "count", "sum", "avg", "min", "max":
		return c.aggregateCall(name, e)
	case "to_json", "tojson":
		return c.toJSON(e)
	case "from_json", "fromjson":
		return nil, invalid("from_json() cannot be used in the selection clause of a SELECT statement")
	}
	args, types, err := c.typedArgs(e.Args)
	if err != nil {
		return nil, err
	}
	f, err := c.function(name, e, types)
	if err != nil {
		return nil, err
	}
	if len(f.params) != len(e.Args) {
		return nil, invalid("Invalid number of arguments in call to function %s: %d required but %d provided",
			systemName(name), len(f.params), len(e.Args))
	}
	agg := false
	for i, a := range e.Args {
		counted := f.params[i].Kind == KindCounter && types[i] != nil && types[i].Kind != KindCounter
		if counted || types[i] != nil && !assignable(f.params[i], types[i]) {
			return nil, invalid("Type error: %s cannot be passed as argument %d of function %s of type %s", a, i,
				systemName(name), f.params[i])
		}
		receiver := argName(i, name)
		if c.selecting {
			receiver = "[selection]"
		}
		if args[i] == nil {
			if args[i], err = c.term(a, c.spec(receiver, f.params[i])); err != nil {
				return nil, err
			}
		}
		agg = agg || args[i].agg
	}
	return &node{typ: f.ret, agg: agg, token: name == "token" && c.ofKey(args), eval: func(x *env) ([]byte, error) {
		values := make([][]byte, len(args))
		for i, a := range args {
			var err error
			if values[i], err = a.eval(x); err != nil {
				return nil, err
			}
			if isUnset(values[i]) {
				return nil, invalid("Invalid unset value for argument in call to function %s", name)
			}
			if values[i] == nil {
				return nil, nil
			}
		}
		b, err := f.body(x, values)
		return b, asInvalid(err)
	}}, nil
}

func unknownFunction(n cql.Name) error { return invalid("Unknown function '%s'", functionName(n)) }

func systemName(name string) string { return "system." + name }

func argName(i int, name string) string {
	return "arg" + string(rune('0'+i%10)) + "(" + systemName(name) + ")"
}

// typedArgs compiles the arguments whose types are independent of the function; nil entries are literals and markers.
func (c *compiler) typedArgs(args []cql.Expr) ([]*node, []*Type, error) {
	nodes, types := make([]*node, len(args)), make([]*Type, len(args))
	for i, a := range args {
		switch a.(type) {
		case *cql.Column, *cql.Field, *cql.Element, *cql.Call, *cql.Cast, *cql.Binary, *cql.Negate, *cql.TypeHint:
			var err error
			if nodes[i], err = c.selector(a, nil); err != nil {
				return nil, nil, err
			}
			types[i] = nodes[i].typ
		}
	}
	return nodes, types, nil
}

// function finds the overload of a function for arguments of these types.
func (c *compiler) function(name string, e *cql.Call, types []*Type) (*function, error) {
	if f := clockFunction(name); f != nil {
		return f, nil
	}
	plain := strings.ReplaceAll(name, "_", "")
	var first *Type
	if len(types) > 0 {
		first = types[0]
	}
	switch {
	case name == "token":
		return c.tokenFunction()
	case strings.HasPrefix(name, "similarity_"):
		return c.similarityFunction(name, types, e)
	case plain == "totimestamp" || plain == "todate" || plain == "tounixtimestamp":
		from := first
		if plain == "todate" && from == nil && len(e.Args) == 1 {
			if l, ok := e.Args[0].(*cql.Literal); ok && l.Kind == cql.IntegerLiteral {
				from = Native("timestamp") // the only overload that takes it
			}
		}
		return timeConversion(plain, name, from)
	case plain == "mintimeuuid" || plain == "maxtimeuuid":
		return timeUUIDBound(plain == "maxtimeuuid"), nil
	}
	if f := blobFunction(name, plain); f != nil {
		return f, nil
	}
	if f := mathFunction(name, first); f != nil {
		return f, nil
	}
	if f := collectionFunction(name, first); f != nil {
		return f, nil
	}
	if unsupportedFunction(plain, first) {
		return nil, invalid("Function '%s' is not supported here, though Cassandra has it", name)
	}
	return nil, unknownFunction(e.Name)
}

// timeUUIDBound returns minTimeuuid or maxTimeuuid.
func timeUUIDBound(upper bool) *function {
	return ofValue(Native("timestamp"), Native("timeuuid"), func(b []byte) ([]byte, error) {
		ticks, last := readInt(b)*10_000, byte(0x80)
		if upper {
			ticks, last = ticks+9_999, 0x7F
		}
		id := timeBytes(ticks)
		for i := 8; i < 16; i++ {
			id[i] = last
		}
		return id[:], nil
	})
}

// blobFunction returns a conversion to or from blob, nil if the function is another one. plain is its name without
// underscores.
func blobFunction(name, plain string) *function {
	if from, ok := strings.CutSuffix(plain, "asblob"); ok {
		if t := nativeByName[from]; t != nil && t.Kind != KindBlob {
			return unary(t, Native("blob"), func(b []byte) ([]byte, error) { return b, nil })
		}
	}
	if to, ok := strings.CutPrefix(plain, "blobas"); ok {
		if t := nativeByName[to]; t != nil && t.Kind != KindBlob {
			return unary(Native("blob"), t, func(b []byte) ([]byte, error) {
				if err := t.check(b); err != nil {
					return nil, invalid("In call to function %s, value 0x%x is not a valid binary representation for type %s",
						systemName(name), b, t)
				}
				return b, nil
			})
		}
	}
	return nil
}

// unsupportedFunction reports whether Cassandra has the function, whose name is given without underscores, for a first
// argument of type t.
func unsupportedFunction(plain string, t *Type) bool {
	switch plain {
	case "maskdefault", "masknull", "maskreplace", "maskinner", "maskouter", "maskhash":
		return true
	case "exp", "log", "log10":
		return t != nil && (t.Kind == KindDecimal || t.Kind == KindVarint)
	}
	return false
}

// clockFunction returns a function without parameters: a new UUID or the current time, which is the same in
// all calls of a statement. nil means that there is none of that name.
func clockFunction(name string) *function {
	form := func(t string, body func(x *env) []byte) *function {
		return &function{[]*Type{}, Native(t), func(x *env, _ [][]byte) ([]byte, error) { return body(x), nil }}
	}
	switch strings.ReplaceAll(name, "_", "") {
	case "now", "currenttimeuuid":
		return form("timeuuid", func(x *env) []byte { id := x.e.timeID(x.time()); return id[:] })
	case "uuid":
		return form("uuid", func(*env) []byte { id := newID(); return id[:] })
	case "currenttimestamp":
		return form("timestamp", func(x *env) []byte { return int64Bytes(x.time().UnixMilli()) })
	case "currentdate":
		return form("date", func(x *env) []byte { return dateBytes(x.time()) })
	case "currenttime":
		return form("time", func(x *env) []byte {
			n := x.time().UTC()
			return int64Bytes(int64(n.Sub(time.Date(n.Year(), n.Month(), n.Day(), 0, 0, 0, 0, time.UTC))))
		})
	}
	return nil
}

func dateBytes(at time.Time) []byte {
	// Milliseconds before 1970 are rounded up to a day, as in Cassandra.
	return binary.BigEndian.AppendUint32(nil, uint32(at.UnixMilli()/(86400*1000)+1<<31))
}

// tokenFunction returns token(), which takes the columns of the partition key.
func (c *compiler) tokenFunction() (*function, error) {
	if c.t == nil {
		return nil, invalid("The token function can't be used here")
	}
	t := c.t
	f := &function{ret: Native("bigint")}
	for _, col := range t.pk {
		f.params = append(f.params, col.typ)
	}
	f.body = func(_ *env, args [][]byte) ([]byte, error) {
		key, err := partitionKey(args)
		if err != nil {
			return nil, err
		}
		return int64Bytes(token.Murmur3(key)), nil
	}
	return f, nil
}

// ofKey reports whether the nodes are the columns of the partition key.
func (c *compiler) ofKey(args []*node) bool {
	return slices.EqualFunc(args, c.t.pk, func(n *node, col *column) bool { return n.col == col })
}

// partitionKey serializes the columns of a partition key.
func partitionKey(parts [][]byte) ([]byte, error) {
	if len(parts) == 1 {
		if len(parts[0]) == 0 {
			return nil, invalid("Key may not be empty")
		}
		if len(parts[0]) > math.MaxUint16 {
			return nil, invalid("Key length of %d is longer than maximum of %d", len(parts[0]), math.MaxUint16)
		}
		return parts[0], nil
	}
	var key []byte
	var err error
	for _, p := range parts {
		if key, err = token.AppendComposite(key, p); err != nil {
			return nil, invalid("Key length of %d is longer than maximum of %d", len(p), math.MaxUint16)
		}
	}
	if len(key) > math.MaxUint16 {
		return nil, invalid("Key length of %d is longer than maximum of %d", len(key), math.MaxUint16)
	}
	return key, nil
}

// timeConversion returns a conversion from a timeuuid, timestamp or date (Cassandra's TimeFcts). plain is the name
// without underscores, for both spellings; from is nil if the type of the argument is unknown.
func timeConversion(plain, name string, from *Type) (*function, error) {
	if from == nil {
		return nil, invalid("Ambiguous call to function %s (can be matched by following signatures: those of %s): use type casts to disambiguate",
			name, name)
	}
	as, ret := from, map[string]string{"totimestamp": "timestamp", "todate": "date", "tounixtimestamp": "bigint"}[plain]
	switch {
	case from.Kind == KindBigInt && ret != "timestamp":
		as = Native("timestamp")
	case from.Kind == KindInt && ret != "date":
		as = Native("date")
	}
	if as.Kind != KindTimeUUID && as.Kind != KindTimestamp && as.Kind != KindDate || as == Native(ret) {
		return nil, invalid("Invalid call to function %s, none of its type signatures match (known type signatures: those of %s)", name, name)
	}
	return ofValue(from, Native(ret), func(b []byte) ([]byte, error) {
		at := instant(as, b)
		if ret == "date" {
			return dateBytes(at), nil
		}
		return int64Bytes(at.UnixMilli()), nil
	}), nil
}

// instant returns the time of a timestamp, date or time UUID.
func instant(t *Type, b []byte) time.Time {
	switch t.Kind {
	case KindTimeUUID:
		return time.UnixMicro((uuidTime(b) - gregorian) / 10).UTC()
	case KindDate:
		return dayOf(b)
	}
	return time.UnixMilli(readInt(b)).UTC()
}

// mathFunction returns a function of one number with a result of the same type (Cassandra's MathFcts). nil means that
// there is none of that name for the type.
func mathFunction(name string, t *Type) *function {
	if t == nil || !isNumber(t) {
		return nil
	}
	var body func(n number) (number, error)
	float := func(f func(float64) float64) func(number) (number, error) {
		return func(n number) (number, error) { return number{f: f(n.float()), k: 'f'}, nil }
	}
	switch name {
	case "abs":
		body = func(n number) (number, error) {
			if n.k == 'f' {
				return number{f: math.Abs(n.f), k: 'f'}, nil
			}
			v := n
			v.i = bigAbs(n.i)
			return v, nil
		}
	case "round":
		body = rounded
	case "exp", "log", "log10":
		if t.Kind == KindDecimal || t.Kind == KindVarint {
			return nil
		}
		body = float(map[string]func(float64) float64{"exp": math.Exp, "log": math.Log, "log10": math.Log10}[name])
	default:
		return nil
	}
	return ofValue(t, t, func(b []byte) ([]byte, error) {
		n, err := body(toNumber(t, b))
		if err != nil {
			return nil, err
		}
		return n.saturate(t).to(t)
	})
}

// rounded rounds to an integer as Java does: a float within the range of an int, a double within the range of a long.
func rounded(n number) (number, error) {
	switch n.k {
	case 'd':
		b, err := calculateDecimal('+', n, number{i: big.NewInt(int64(5 * n.i.Sign())), s: 1, k: 'd'})
		if err != nil {
			return n, err
		}
		if n.s <= 0 {
			return number{i: rescaled(n.i, n.s, 0), k: 'd'}, nil
		}
		v, err := toNumber(Native("decimal"), b).whole()
		return number{i: v, k: 'd'}, err
	case 'f':
		down := math.Floor(n.f)
		if n.f-down >= 0.5 {
			down++
		}
		integer := Native("bigint")
		if n.short {
			integer = Native("int")
		}
		b, err := number{f: down, k: 'f'}.saturate(integer).to(integer)
		return number{f: float64(readInt(b)), k: 'f'}, err
	}
	return n, nil
}

// collectionFunction returns a function of a collection (Cassandra's CollectionFcts). nil means that there is none of
// that name for the type.
func collectionFunction(name string, t *Type) *function {
	if t == nil || !t.isCollection() {
		return nil
	}
	every := func(ret *Type, pick func(parts [][]byte) ([]byte, error)) *function {
		return unary(t, ret, func(b []byte) ([]byte, error) {
			parts, err := splitCollection(t, b)
			if err != nil {
				return nil, err
			}
			return pick(parts)
		})
	}
	width := len(t.Elems)
	switch name {
	case "collection_count":
		return every(Native("int"), func(parts [][]byte) ([]byte, error) {
			return int32Bytes(int32(len(parts) / width)), nil
		})
	case "map_keys", "map_values":
		if t.Kind != KindMap {
			return nil
		}
		ret, skip := &Type{Kind: KindSet, Elems: t.Elems[:1], Frozen: true}, 0
		if name == "map_values" {
			ret, skip = &Type{Kind: KindList, Elems: t.Elems[1:], Frozen: true}, 1
		}
		return every(ret, func(parts [][]byte) ([]byte, error) {
			var out [][]byte
			for i := skip; i < len(parts); i += 2 {
				out = append(out, parts[i])
			}
			return joinCollection(ret, out), nil
		})
	case "collection_min", "collection_max", "collection_sum", "collection_avg":
		kind := strings.TrimPrefix(name, "collection_")
		if t.Kind == KindMap || (kind == "sum" || kind == "avg") && !isNumber(t.Elems[0]) {
			return nil
		}
		return every(t.Elems[0], func(parts [][]byte) ([]byte, error) {
			a := newAggregator(kind, t.Elems[0])()
			for _, p := range parts {
				if err := a.add(p); err != nil {
					return nil, err
				}
			}
			return a.result()
		})
	}
	return nil
}
