// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"fmt"
	"reflect"
	"testing"
)

// Fuzz targets: every text parses or yields a *SyntaxError, and the String of a tree parses to an equal tree.

func FuzzParse(f *testing.F) {
	for _, test := range valid {
		f.Add(test.text)
	}
	for _, test := range broken {
		f.Add(test.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		st, err := Parse(text)
		if err != nil {
			requireSyntaxError(t, err, text)
			if st != nil {
				t.Fatalf("%q: a statement and an error", text)
			}
			return
		}
		again, err := Parse(fmt.Sprint(st))
		if err != nil {
			t.Fatalf("%q gives %q: %v", text, fmt.Sprint(st), err)
		}
		if !reflect.DeepEqual(st, again) {
			t.Fatalf("%q gives %q, which is %q", text, fmt.Sprint(st), fmt.Sprint(again))
		}
		if len(st.Markers()) > 0 {
			last := st.Markers()[len(st.Markers())-1]
			if last.Index != len(st.Markers())-1 {
				t.Fatalf("%q: marker %d of %d", text, last.Index, len(st.Markers()))
			}
		}
	})
}

func FuzzParseType(f *testing.F) {
	for _, s := range []string{"int", "frozen<map<text, ks.\"U\">>", "vector<float, 3>", "tuple<int, 'a.B'>", "byte", "list<"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		typ, err := ParseType(text)
		if err != nil {
			requireSyntaxError(t, err, text)
			return
		}
		again, err := ParseType(typ.String())
		if err != nil || !reflect.DeepEqual(typ, again) {
			t.Fatalf("%q gives %q: %v, %v", text, typ, again, err)
		}
	})
}
