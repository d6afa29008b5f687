// SPDX-License-Identifier: Apache-2.0

package differ

import (
	"encoding/binary"
	"encoding/hex"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/valuetest"
)

// The comparison with a server: the bytes that Cassandra stores for the literal of a value.

// The reasons of bytes other than the server's own.
const (
	sorted   = "a set or a map in another order, or with an element twice: the server sorts it"
	zeroTime = "a time.Time of the year 1 is a cell without bytes"
	asItself = "the API itself sends these bytes"
)

// CompareRecorded reports each value that p's dialect encodes as other bytes than a server stores for its literal, or
// reads from them in another way, unless the API itself does so. It logs the reasons.
func CompareRecorded(t *testing.T, p Peer) {
	counts := map[string]int{}
	for _, v := range valuetest.Stored() {
		if !p.Vectors && (strings.Contains(v.Type, "vector") || strings.Contains(v.Type, "vt_deep")) {
			continue
		}
		want := hex.EncodeToString(v.Sent())
		for _, form := range slices.Concat(v.Go, v.Unsorted) {
			if isTagged(form) {
				continue // a struct of the table, whose fields have tags of the driver
			}
			c := Case{Info: v.Info(), Value: form}
			theirs, ours := Outcome(p, c)
			if bound := boundOutcome(p, c); bound != ours && bound != Refused && !isUnordered(form) {
				t.Errorf("%s as %T:\n\tmarshaled: %s\n\tbound:     %s", v.Name(), form, ours, bound)
			}
			reason := reasonOf(c, theirs, ours, want)
			if reason == "" {
				t.Errorf("%s as %T:\n\tserver: %s\n\ttheirs: %s\n\tours:   %s", v.Name(), form, want, theirs, ours)
			}
			counts[reason]++
		}
		readRecorded(t, p, v)
	}
	for reason, n := range counts {
		t.Logf("%6d values: %s", n, reason)
	}
}

// reasonOf returns why the bytes of a value may be those that they are, "" for no reason.
func reasonOf(c Case, theirs, ours, want string) string {
	switch {
	case ours == want:
		return "the bytes of the server"
	case c.Info.Type() != cql.TypeTimestamp && c.Info.Type() != cql.TypeDate && sameBytes(ours, want):
		return sorted
	case isNested(c.Info) && (theirs == Refused && ours != Refused || anagram(ours, want)):
		return sorted
	case ours == "" && theirs == "" && strings.HasSuffix(typeName(c), "time.Time"):
		return zeroTime
	case ours == theirs && ours != Refused:
		return asItself
	}
	return ""
}

// isNested reports whether a type has a set or a map inside of another type.
func isNested(info cql.TypeInfo) bool {
	text := info.String()
	return strings.LastIndex(text, "set<") > 0 || strings.LastIndex(text, "map<") > 0
}

// anagram reports whether two cells have the same bytes in another order.
func anagram(ours, want string) bool {
	a, _ := hex.DecodeString(ours)
	b, _ := hex.DecodeString(want)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// sameBytes reports whether two sets may have the same elements: the first bytes of the one are a part of the other,
// and each element of the server is an element of ours.
func sameBytes(ours, want string) bool {
	a, b := elementsOf(ours), elementsOf(want)
	for _, e := range b {
		if !slices.Contains(a, e) {
			return false
		}
	}
	return len(a) >= len(b) && len(b) > 0
}

// elementsOf returns the elements of a cell of a set or a map in hexadecimal digits, also within a vector of one.
func elementsOf(cell string) []string {
	data, err := hex.DecodeString(cell)
	if err != nil {
		return nil
	}
	if len(data) > 1 && int(data[0]) == len(data)-1 { // the length of the element of a vector
		data = data[1:]
	}
	var elements []string
	for data = data[min(4, len(data)):]; len(data) >= 4; {
		n := int(int32(binary.BigEndian.Uint32(data)))
		if n < 0 || n > len(data)-4 {
			return nil
		}
		elements, data = append(elements, hex.EncodeToString(data[4:4+n])), data[4+n:]
	}
	return elements
}

// readRecorded compares what the API and its dialect read from the bytes of a value.
func readRecorded(t *testing.T, p Peer, v valuetest.Value) {
	for _, form := range v.Go {
		if form == nil || isTagged(form) {
			continue
		}
		c := Case{Decode: true, Info: v.Info(), Value: reflect.Zero(reflect.TypeOf(form)).Interface(), Cell: v.Sent()}
		theirs, ours := Outcome(p, c)
		if theirs != ours && theirs != Refused && theirs != Panicked {
			t.Errorf("%v:\n\ttheirs: %s\n\tours:   %s", c, theirs, ours)
		}
	}
}

// isUnordered reports whether a value is a map, whose elements have another order each time.
func isUnordered(form any) bool { return form != nil && reflect.TypeOf(form).Kind() == reflect.Map }

// isTagged reports whether a value is a struct of the table.
func isTagged(form any) bool {
	t := reflect.TypeOf(form)
	for t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Pointer) {
		t = t.Elem()
	}
	return t != nil && t.Kind() == reflect.Struct && strings.HasPrefix(t.PkgPath(), "github.com/vecql/vecql/internal/valuetest")
}
