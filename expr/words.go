// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/vecql/vecql/column"
)

// The words of the language: functions, aggregates and types.

// An arity is the number of arguments of a function.
type arity struct{ min, max int }

func (a arity) String() string {
	switch {
	case a.max == math.MaxInt:
		return "at least " + arguments(a.min)
	case a.min == a.max:
		return arguments(a.min)
	}
	return fmt.Sprintf("%d to %d arguments", a.min, a.max)
}

// arguments returns a number of arguments: "1 argument", "2 arguments".
func arguments(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// functions are the functions by name: the ones here, and the ones that have a signature, whose arguments are all
// required unless they are here, too.
var functions = withSignatures(map[string]arity{
	"length": {1, 1}, "lower": {1, 1}, "upper": {1, 1}, "substring": {2, 3}, "concat": {1, math.MaxInt},
	"contains": {2, 2}, "starts_with": {2, 2}, "ends_with": {2, 2}, "regexp_replace": {3, 3}, "strlen": {1, 1},
	"coalesce": {1, math.MaxInt}, "date_trunc": {2, 3}, "extract": {2, 3}, "epoch_ms": {1, 1},
	"dot": {2, 2}, "cosine": {2, 2}, "l2": {2, 2}, "norm": {1, 1}, "element": {2, 2}, "slice": {3, 3},
	"abs": {1, 1}, "ceil": {1, 1}, "floor": {1, 1}, "round": {1, 2}, "trunc": {1, 1},
	"greatest": {1, math.MaxInt}, "least": {1, math.MaxInt}, "regexp_extract": {2, 3}, "typeof": {1, 1},
	"strftime": {2, 2}, "time_bucket": {2, 2}, "trim": {1, 2}, "ltrim": {1, 2}, "rtrim": {1, 2},
})

func withSignatures(all map[string]arity) map[string]arity {
	for name, s := range signatures {
		if _, ok := all[name]; !ok {
			all[name] = arity{len(s.args), len(s.args)}
		}
	}
	return all
}

// aggregates are the aggregates by name. Count without an argument is count(*).
var aggregates = map[string]arity{
	opCount: {0, 1}, opCountDistinct: {1, 1}, "approx_count_distinct": {1, 1}, "sum": {1, 1}, "avg": {1, 1},
	"min": {1, 1}, "max": {1, 1}, "stddev": {1, 1}, "stddev_pop": {1, 1}, "variance": {1, 1}, "variance_pop": {1, 1},
	"median": {1, 1}, "median_exact": {1, 1}, "quantile": {2, 2}, "quantile_exact": {2, 2}, "corr": {2, 2},
	"covar_pop": {2, 2}, "covar_samp": {2, 2},
	"any_value": {1, 1}, "first": {1, 1}, "last": {1, 1}, "arg_min": {2, 2}, "arg_max": {2, 2}, opStringAgg: {1, 2},
	"grouping": {1, 63}, "mode": {1, 1}, "quantile_disc": {2, 2}, opArrayAgg: {1, 1},
}

// distincts are the aggregates of distinct values, by the aggregate. Some have the same result with all values.
var distincts = func() map[string]string {
	names := map[string]string{
		"min": "min", "max": "max", "any_value": "any_value", "approx_count_distinct": "approx_count_distinct",
	}
	for _, name := range []string{
		opCount, "sum", "avg", "stddev", "stddev_pop", "variance", "variance_pop", "median", "median_exact",
	} {
		names[name] = name + " distinct"
		aggregates[name+" distinct"] = arity{1, 1}
	}
	names[opStringAgg], aggregates[opStringAgg+" distinct"] = opStringAgg+" distinct", aggregates[opStringAgg]
	return names
}()

// ordered are the aggregates whose results depend on the order of rows.
var ordered = []string{
	"first", "last", "arg_min", "arg_max", "mode", opArrayAgg, opStringAgg, opStringAgg + " distinct",
}

// isAggregate reports whether an operation is an aggregate.
func isAggregate(op string) bool {
	_, ok := aggregates[op]
	return ok
}

func functionNames() []string {
	var names []string
	for name := range functions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// castKinds are the kinds that a cast can convert to.
var castKinds = []column.Kind{
	column.Bool, column.Int8, column.Int16, column.Int32, column.Int64, column.Uint8, column.Uint16, column.Uint32,
	column.Uint64, column.Float32, column.Float64, column.String, column.Date, column.Timestamp, column.Decimal64,
	column.Decimal128,
}

// castNames are further names of the types of a cast: SQL's names, with the meaning that DuckDB gives them. DuckDB's
// names int1 to int8, which count bytes, are not among them: int8 is the kind of 8 bits.
var castNames = map[string]column.Type{
	"boolean": {Kind: column.Bool}, "tinyint": {Kind: column.Int8}, "smallint": {Kind: column.Int16},
	"int": {Kind: column.Int32}, "integer": {Kind: column.Int32}, "bigint": {Kind: column.Int64},
	"utinyint": {Kind: column.Uint8}, "usmallint": {Kind: column.Uint16}, "uinteger": {Kind: column.Uint32},
	"ubigint": {Kind: column.Uint64}, "real": {Kind: column.Float32}, "float": {Kind: column.Float32},
	"float4": {Kind: column.Float32}, "double": {Kind: column.Float64}, "float8": {Kind: column.Float64},
	"varchar": {Kind: column.String}, "text": {Kind: column.String},
	"timestamp":    {Kind: column.Timestamp, Unit: column.Micros},
	"timestamp_ms": {Kind: column.Timestamp, Unit: column.Millis},
	"timestamp_ns": {Kind: column.Timestamp, Unit: column.Nanos},
	"timestamptz":  {Kind: column.Timestamp, Unit: column.Micros, UTC: true},
}

// decimalNames are the names of types of decimals.
var decimalNames = []string{"decimal", "numeric", "dec", "decimal64", "decimal128"}

// sqlNames are the names that typeof has for types, as in DuckDB.
var sqlNames = map[column.Kind]string{
	column.Bool: "BOOLEAN", column.Int8: "TINYINT", column.Int16: "SMALLINT", column.Int32: "INTEGER",
	column.Int64: "BIGINT", column.Uint8: "UTINYINT", column.Uint16: "USMALLINT", column.Uint32: "UINTEGER",
	column.Uint64: "UBIGINT", column.Float32: "FLOAT", column.Float64: "DOUBLE", column.String: "VARCHAR",
	column.Binary: "BLOB", column.Time: "TIME",
}

// sqlName returns the name of a type for typeof.
func sqlName(t column.Type) string {
	switch {
	case t.Kind == column.Timestamp && t.UTC:
		return "TIMESTAMP WITH TIME ZONE"
	case t.Kind == column.Timestamp:
		return [...]string{column.Millis: "TIMESTAMP_MS", column.Micros: "TIMESTAMP", column.Nanos: "TIMESTAMP_NS"}[t.Unit]
	case t.Kind == column.Time && t.UTC:
		return "TIME WITH TIME ZONE"
	case t.Kind == column.Decimal64 || t.Kind == column.Decimal128 || t.Kind == column.Decimal256:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale)
	}
	if name, ok := sqlNames[t.Kind]; ok {
		return name
	}
	return strings.ToUpper(t.String())
}
