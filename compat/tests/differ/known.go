// SPDX-License-Identifier: Apache-2.0

package differ

import (
	"reflect"
	"strings"

	"github.com/vecql/vecql/cql"
)

// Made is the difference that all APIs have on purpose.
var Made = Difference{"a conversion that the API refuses or panics in is made", func(_ Case, theirs, ours string) bool {
	return (theirs == Refused || theirs == Panicked) && ours != Panicked
}}

// OnPurpose lists the differences on purpose from every API.
var OnPurpose = []Difference{
	Made,
	{"NULL in a tuple is NULL, not a cell without bytes", func(c Case, theirs, ours string) bool {
		null := strings.NewReplacer("00000000", "ffffffff")
		return !c.Decode && null.Replace(theirs) == null.Replace(ours)
	}},
}

// Apache lists the differences from Apache's gocql.
var Apache = append([]Difference{
	{"a named integer is a duration of nanoseconds, not 8 bytes that the server refuses", func(c Case, _, _ string) bool {
		return !c.Decode && c.Info.Type() == cql.TypeDuration && typeName(c) == "differ.Long"
	}},
	{"a number that does not fit is refused, not cut", func(c Case, _, ours string) bool {
		return !c.Decode && ours == Refused && c.Info.Type() == cql.TypeDate
	}},
}, OnPurpose...)

// BigInts lists the differences of APIs that encode a big.Int for bigint like a varint.
var BigInts = []Difference{
	{"a big.Int is a bigint of 8 bytes, not of as many as it needs", func(c Case, _, _ string) bool {
		return !c.Decode && strings.Contains(typeName(c), "big.Int") && isLong(c.Info)
	}},
}

// Vectors lists the differences of APIs with vectors.
var Vectors = []Difference{
	{
		"an element of a vector that is NULL or has no bytes is refused, not written as bytes that the server refuses",
		func(c Case, _, ours string) bool {
			_, vector := c.Info.(cql.VectorType)
			return vector && !c.Decode && ours == Refused
		},
	},
}

// Fork lists the differences from ScyllaDB's fork.
var Fork = OnPurpose

// ForkRows lists the differences from rows of ScyllaDB's fork.
var ForkRows = []Difference{
	{"the elements of a vector in an any are values, not pointers", func(c Case, theirs, ours string) bool {
		_, vector := c.Info.(cql.VectorType)
		return vector && strings.Contains(typeName(c), "interface") &&
			ours == "&"+strings.ReplaceAll(theirs[1:], "&", "")
	}},
	Made,
}

// TimeUUIDs lists the differences of APIs that encode times for timeuuid.
var TimeUUIDs = []Difference{
	{"a time in a timeuuid has other random bits", func(c Case, theirs, ours string) bool {
		return !c.Decode && len(theirs) == len(ours) && strings.Contains(typeName(c), "time.Time")
	}},
}

func typeName(c Case) string { return reflect.TypeOf(c.Value).String() }

func isLong(info cql.TypeInfo) bool {
	if list, ok := info.(cql.CollectionType); ok {
		info = list.Elem
	}
	return info.Type() == cql.TypeBigInt || info.Type() == cql.TypeCounter
}
