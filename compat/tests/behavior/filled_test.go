// SPDX-License-Identifier: Apache-2.0

package behavior

import (
	"fmt"
	"net"
	"reflect"
	"testing"
	"time"
)

// Destinations that have a value already: what becomes of it, and of the memory that it points to.

// columnsOfItems are the columns that are read, with values of a row that has them all.
var columnsOfItems = map[string]any{
	"name": "lamp", "price": int64(7), "tags": []string{"a", "b"}, "added": time.UnixMilli(1700000000123).UTC(), "node": "10.0.0.1",
	"counts": map[string]int{"x": 1}, "data": []byte{1, 2},
}

// emptyOfItems are the values without content.
var emptyOfItems = map[string]any{"name": "", "tags": []string{}, "counts": map[string]int{}, "data": []byte{}}

// A filled is a destination with a value.
type filled struct {
	dest any           // for Scan
	look func() string // what became of it, and of its old target
}

func pointerTo[T any](old T) func() filled {
	return func() filled {
		target := old
		p := &target
		return filled{&p, func() string {
			if p == nil {
				return fmt.Sprintf("nil, old target %v", target)
			}
			return fmt.Sprintf("%v, the old target %v, kept %v", *p, target, p == &target)
		}}
	}
}

func variable[T any](old T) func() filled {
	return func() filled {
		v := old
		return filled{&v, func() string {
			return fmt.Sprintf("%#v nil=%v", any(v), isNilValue(reflect.ValueOf(&v).Elem()))
		}}
	}
}

func isNilValue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Interface, reflect.Pointer:
		return v.IsNil()
	}
	return false
}

// inInterface is an interface that holds a value.
func inInterface(old func() any) func() filled {
	return func() filled {
		v := old()
		was := v
		return filled{&v, func() string {
			text := fmt.Sprintf("%T nil=%v", v, v == nil)
			if p := reflect.ValueOf(was); p.Kind() == reflect.Pointer {
				return text + fmt.Sprintf(", the old target %v", p.Elem())
			}
			return text + fmt.Sprintf(" %v", v)
		}}
	}
}

// destinations have values.
var destinations = map[string]func() filled{
	"a string":                variable("old"),
	"a number":                variable(int64(99)),
	"a time":                  variable(time.Unix(1, 0).UTC()),
	"bytes":                   variable([]byte("old")),
	"a list":                  variable([]string{"o", "l", "d"}),
	"a map":                   variable(map[string]int{"old": 1}),
	"an array":                variable([2]string{"o", "l"}),
	"an address":              variable(net.IPv4(1, 2, 3, 4)),
	"nil bytes":               variable([]byte(nil)),
	"a nil list":              variable([]string(nil)),
	"a nil map":               variable(map[string]int(nil)),
	"a pointer to a string":   pointerTo("old"),
	"a pointer to a number":   pointerTo(int64(99)),
	"a pointer to a time":     pointerTo(time.Unix(1, 0).UTC()),
	"a pointer to bytes":      pointerTo([]byte("old")),
	"a pointer to a list":     pointerTo([]string{"old"}),
	"a pointer to a map":      pointerTo(map[string]int{"old": 1}),
	"an empty interface":      inInterface(func() any { return nil }),
	"a string in an any":      inInterface(func() any { return "old" }),
	"a number in an any":      inInterface(func() any { return 5 }),
	"bytes in an any":         inInterface(func() any { return []byte("old") }),
	"a pointer in an any":     inInterface(func() any { old := "old"; return &old }),
	"a nil pointer in an any": inInterface(func() any { return (*string)(nil) }),
}

func TestFilledDestinations(t *testing.T) {
	s := open(t, cluster(t, 3))
	for id, values := range map[int]map[string]any{1: columnsOfItems, 2: {}, 3: emptyOfItems} {
		if err := s.Query("INSERT INTO items (id) VALUES (?)", id).Exec(); err != nil {
			t.Fatal(err)
		}
		for column, value := range values {
			if err := s.Query("UPDATE items SET "+column+" = ? WHERE id = ?", value, id).Exec(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var scenarios []scenario
	for column := range columnsOfItems {
		for id, row := range map[int]string{1: "a value", 2: "NULL", 3: "an empty value"} {
			for name, newFilled := range destinations {
				scenarios = append(scenarios, scenario{fmt.Sprintf("%s, %s into %s", column, row, name), func() string {
					d := newFilled()
					if err := s.Query("SELECT "+column+" FROM items WHERE id = ?", id).Scan(d.dest); err != nil {
						return refused
					}
					return d.look()
				}})
			}
		}
	}
	compare(t, scenarios, filledDifferences)
}
