// SPDX-License-Identifier: Apache-2.0

// Package differ compares a dialect of package compat with the API itself: every CQL type with many Go types and
// values, in both directions. The modules beside it supply the APIs.
package differ

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"gopkg.in/inf.v0"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
	"github.com/vecql/vecql/cql"
)

// A Peer is an API to compare with.
type Peer struct {
	Dialect *compat.Dialect
	// Marshal and Unmarshal call the API with its form of info.
	Marshal   func(info cql.TypeInfo, value any) ([]byte, error)
	Unmarshal func(info cql.TypeInfo, data []byte, dest any) error
	// UUID and Duration are the API's types for cql.UUID and cql.Duration.
	UUID, Duration reflect.Type
	// Vectors reports whether the API has vectors.
	Vectors bool
	// Requirements is the name of the file of requirements with the API: api, or fork, which is also their build tag.
	Requirements string
	// Open connects to a server, with version 4 of the protocol and timeouts that a loaded machine does not reach.
	Open func(host string, port int) (Session, error)
}

// Configure sets the port, version 4 of the protocol and long timeouts in the ClusterConfig of an API.
func Configure(cluster any, port int) {
	config := reflect.ValueOf(cluster).Elem()
	for field, value := range map[string]any{
		"Port": port, "ProtoVersion": 4, "Timeout": time.Minute, "ConnectTimeout": time.Minute,
		"WriteCoalesceWaitTime": time.Duration(0),
	} {
		config.FieldByName(field).Set(reflect.ValueOf(value))
	}
}

// Opened returns a session with the verb query, unless it failed to open.
func Opened(session interface{ Close() }, err error, query func(stmt string, args []any) Rows) (Session, error) {
	return Session{query, session.Close}, err
}

// A Case is one conversion: a value to marshal, or a cell and a type to unmarshal into.
type Case struct {
	Decode bool
	Info   cql.TypeInfo
	Value  any // of Go; for Decode a zero value of the destination's type
	Cell   []byte
}

func (c Case) String() string {
	if c.Decode {
		cell := "NULL"
		if c.Cell != nil {
			cell = fmt.Sprintf("%q", hex.EncodeToString(c.Cell))
		}
		return fmt.Sprintf("unmarshal %s %s into %T", c.Info, cell, c.Value)
	}
	return fmt.Sprintf("marshal %T %s into %s", c.Value, Render(reflect.ValueOf(c.Value)), c.Info)
}

// A Difference is a difference on purpose.
type Difference struct {
	Reason string
	Is     func(c Case, theirs, ours string) bool
}

// Refused is the outcome of a conversion that returned an error, Panicked of one that panicked.
const (
	Refused  = "refused"
	Panicked = "panicked"
)

// Compare reports each difference between p and its dialect that is none of the known ones, and each known difference
// that did not occur.
func Compare(t *testing.T, p Peer, known []Difference) {
	counts := make(counts, len(known))
	total := 0
	for _, c := range append(encodeCases(p), decodeCases(p)...) {
		theirs, ours := Outcome(p, c)
		total++
		if bound := boundOutcome(p, c); !c.Decode && bound != ours && bound != Refused && !isTimeUUID(c) {
			t.Errorf("%v:\n\tmarshaled: %s\n\tbound:     %s", c, ours, bound)
		}
		counts.compare(t, known, c, c, theirs, ours)
	}
	t.Logf("%d conversions", total)
	counts.report(t, known)
}

// counts are the numbers of the known differences that occurred.
type counts []int

// compare counts a known difference between two outcomes, and reports another one with its name.
func (n counts) compare(t *testing.T, known []Difference, name fmt.Stringer, c Case, theirs, ours string) {
	if theirs == ours {
		return
	}
	i := slices.IndexFunc(known, func(d Difference) bool { return d.Is(c, theirs, ours) })
	if i < 0 {
		t.Errorf("%v:\n\ttheirs: %s\n\tours:   %s", name, theirs, ours)
		return
	}
	n[i]++
}

// report logs the counts, and reports each known difference that did not occur.
func (n counts) report(t *testing.T, known []Difference) {
	for i, d := range known {
		t.Logf("%6d times: %s", n[i], d.Reason)
		if n[i] == 0 {
			t.Errorf("no case differs because of: %s", d.Reason)
		}
	}
}

// Outcome returns the results of the API and of the dialect for c.
func Outcome(p Peer, c Case) (theirs, ours string) {
	if c.Decode {
		return decoded(p.Unmarshal, c, p.theirs(reflect.TypeOf(c.Value))),
			decoded(p.Dialect.Unmarshal, c, reflect.TypeOf(c.Value))
	}
	return encoded(p.Marshal, c.Info, p.convert(c.Value)), encoded(p.Dialect.Marshal, c.Info, c.Value)
}

// isTimeUUID reports whether c encodes a time with random bits.
func isTimeUUID(c Case) bool {
	return strings.Contains(c.Info.String(), "timeuuid") && strings.Contains(reflect.TypeOf(c.Value).String(), "time.Time")
}

// boundOutcome returns the result of the driver for the value of c in a statement. The driver refuses a few values that
// the dialect converts, because Bind does not look into usual values, such as texts in a []string that are empty
// addresses.
func boundOutcome(p Peer, c Case) string {
	return encoded(func(info cql.TypeInfo, value any) ([]byte, error) {
		value = p.Dialect.Bind([]any{value})[0]
		return vecql.Marshal(info, value)
	}, c.Info, c.Value)
}

func encoded(marshal func(cql.TypeInfo, any) ([]byte, error), info cql.TypeInfo, value any) (outcome string) {
	defer func() {
		if e := recover(); e != nil {
			outcome = Panicked
		}
	}()
	content, err := marshal(info, value)
	switch {
	case err != nil:
		return Refused
	case content == nil:
		return "NULL"
	}
	return hex.EncodeToString(content)
}

func decoded(unmarshal func(cql.TypeInfo, []byte, any) error, c Case, t reflect.Type) (outcome string) {
	defer func() {
		if e := recover(); e != nil {
			outcome = Panicked
		}
	}()
	dest := reflect.New(t)
	cell := bytes.Clone(c.Cell)
	if err := unmarshal(c.Info, cell, dest.Interface()); err != nil {
		return Refused
	}
	for i := range cell { // the value must not share the cell's memory
		cell[i] = 0xAA
	}
	return Render(dest.Elem())
}

// Render returns v as text. Equal values of types with different names have equal texts.
func Render(v reflect.Value) string {
	if !v.IsValid() {
		return "nil"
	}
	if !v.CanInterface() {
		return "hidden"
	}
	switch x := v.Interface().(type) {
	case time.Time:
		if x.IsZero() {
			return "zero time"
		}
		return fmt.Sprintf("%d.%09d %v", x.Unix(), x.Nanosecond(), x.Location())
	case big.Int:
		return x.String()
	case inf.Dec:
		return fmt.Sprint(x.UnscaledBig(), "e-", x.Scale()) // the digits may be very many
	}
	t := v.Type()
	switch t.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "nil"
		}
		return "&" + Render(v.Elem())
	case reflect.Interface:
		if v.IsNil() {
			return "nil"
		}
		return t.Kind().String() + " " + v.Elem().Kind().String() + " " + Render(v.Elem())
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && v.IsNil() {
			return "nil"
		}
		parts := []string{}
		for i := range v.Len() {
			parts = append(parts, Render(v.Index(i)))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case reflect.Map:
		if v.IsNil() {
			return "nil"
		}
		parts := []string{}
		for _, k := range v.MapKeys() {
			parts = append(parts, Render(k)+":"+Render(v.MapIndex(k)))
		}
		sort.Strings(parts)
		return "{" + strings.Join(parts, " ") + "}"
	case reflect.Struct:
		parts := []string{}
		for i := range v.NumField() {
			parts = append(parts, Render(v.Field(i)))
		}
		return "(" + strings.Join(parts, " ") + ")"
	case reflect.Float32:
		return fmt.Sprintf("%08x", math.Float32bits(float32(v.Float())))
	case reflect.Float64:
		return fmt.Sprintf("%016x", math.Float64bits(v.Float()))
	case reflect.String:
		return fmt.Sprintf("%q", v.String())
	}
	return fmt.Sprint(v.Interface())
}

// theirs returns t with the API's types in place of package cql's.
func (p Peer) theirs(t reflect.Type) reflect.Type {
	switch t {
	case reflect.TypeFor[cql.UUID]():
		return p.UUID
	case reflect.TypeFor[cql.Duration]():
		return p.Duration
	}
	switch t.Kind() {
	case reflect.Pointer:
		return reflect.PointerTo(p.theirs(t.Elem()))
	case reflect.Slice:
		if t.Name() == "" {
			return reflect.SliceOf(p.theirs(t.Elem()))
		}
	case reflect.Map:
		if t.Name() == "" {
			return reflect.MapOf(p.theirs(t.Key()), p.theirs(t.Elem()))
		}
	}
	return t
}

// convert returns v with the API's types in place of package cql's.
func (p Peer) convert(v any) any {
	if v == nil {
		return nil
	}
	return p.convertValue(reflect.ValueOf(v)).Interface()
}

// convertValue is convert by reflection. Elements of other containers than slices and maps stay as they are.
func (p Peer) convertValue(v reflect.Value) reflect.Value {
	t := v.Type()
	to := p.theirs(t)
	if t.Kind() == reflect.Interface && !v.IsNil() {
		out := reflect.New(t).Elem()
		out.Set(p.convertValue(v.Elem()))
		return out
	}
	isAnySlice := t == reflect.TypeFor[[]any]()
	if to == t && !isAnySlice {
		return v
	}
	switch t.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return reflect.Zero(to)
		}
		out := reflect.New(to.Elem())
		out.Elem().Set(p.convertValue(v.Elem()))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return reflect.Zero(to)
		}
		out := reflect.MakeSlice(to, v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(p.convertValue(v.Index(i)))
		}
		return out
	case reflect.Map:
		out := reflect.MakeMap(to)
		for _, k := range v.MapKeys() {
			out.SetMapIndex(p.convertValue(k), p.convertValue(v.MapIndex(k)))
		}
		return out
	}
	return v.Convert(to)
}
