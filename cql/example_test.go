// SPDX-License-Identifier: Apache-2.0

package cql_test

import (
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/vecql/vecql/cql"
)

// The type of a column, from its text in the schema.
func ExampleParseType() {
	info, err := cql.ParseType("map<text, frozen<list<vector<float, 3>>>>", nil) // nil: no user-defined types
	if err != nil {
		fmt.Println(err)
		return
	}
	elements := info.(cql.CollectionType).Elem.(cql.CollectionType).Elem
	fmt.Println(info.Type(), elements, elements.(cql.VectorType).Dimensions)
	_, err = cql.ParseType("list<text", nil)
	var wrong *cql.TypeError
	fmt.Println(errors.As(err, &wrong), wrong.Offset)
	// Output:
	// map vector<float, 3> 3
	// true 9
}

// The rows of an hour, by a clustering column of type timeuuid: SELECT ... WHERE id >= ? AND id < ?.
func ExampleMinTimeUUID() {
	hour := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	first, end := cql.MinTimeUUID(hour), cql.MinTimeUUID(hour.Add(time.Hour))
	fmt.Println(first.Time(), end.Time(), first.Version())
	// Output: 2026-07-01 12:00:00 +0000 UTC 2026-07-01 13:00:00 +0000 UTC 1
}

// Months, days and nanoseconds are three numbers, because months and days differ in length.
func ExampleParseDuration() {
	d, err := cql.ParseDuration("1y2mo3d12h")
	fmt.Println(d.Months, d.Days, time.Duration(d.Nanoseconds), err)
	fmt.Println(d)
	// Output:
	// 14 3 12h0m0s <nil>
	// 1y2mo3d12h
}

func ExampleDecimal() {
	price := cql.Decimal{Unscaled: big.NewInt(1250), Scale: 2}
	parsed, err := cql.ParseDecimal("-0.05")
	fmt.Println(price, parsed.Unscaled, parsed.Scale, err)
	// Output: 12.50 -5 2 <nil>
}

func ExampleNull() {
	var missing cql.Null[int]
	found := cql.NullOf(7)
	fmt.Println(missing.Valid, missing.Ptr() == nil, found.V, *found.Ptr())
	// Output: false true 7 7
}

// A token in a URL: a text that was cut off is refused before a request is sent.
func ExampleParsePageToken() {
	text := cql.PageToken{1, 2, 3}.String()
	token, err := cql.ParsePageToken(text)
	fmt.Println([]byte(token), err)
	_, err = cql.ParsePageToken(text[1:])
	fmt.Println(errors.Is(err, cql.ErrPageToken))
	// Output:
	// [1 2 3] <nil>
	// true
}
