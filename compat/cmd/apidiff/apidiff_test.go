// SPDX-License-Identifier: Apache-2.0

package apidiff

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/compat/cmd/internal/table"
)

// listed are the differences of each compat module, by their reason.
var listed = map[string]map[string][]string{
	"gocql": {
		"the type is vecql's": {
			"extra gocql.Duration.String: func() string",
			"extra gocql.UUID.IsEmpty: func() bool",
			"extra gocql.UUID.Scan: func(src any) error of a pointer",
		},
		"the way to vecql's own verbs": {
			"extra gocql.Session.Vecql: func() *vecql.Session of a pointer",
		},
	},
	"gocqlv2": {
		"the type is vecql's": {
			"extra gocql.Consistency.IsSerial: func() bool",
			"extra gocql.Duration.String: func() string",
			"extra gocql.SerialConsistency.IsSerial: func() bool",
			"extra gocql.UUID.IsEmpty: func() bool",
			"extra gocql.UUID.Scan: func(src any) error of a pointer",
		},
		"the way to vecql's own verbs": {
			"extra gocql.Session.Vecql: func() *vecql.Session of a pointer",
		},
	},
	"scyllagocql": {
		"the type is vecql's": {
			"extra gocql.Duration.String: func() string",
			"extra gocql.UUID.Scan: func(src any) error of a pointer",
		},
		"the way to vecql's own verbs": {
			"extra gocql.Session.Vecql: func() *vecql.Session of a pointer",
		},
		"serves the fork's own session": {
			"missing package github.com/gocql/gocql/debounce",
		},
		"serves the fork's own tests": {
			"missing package github.com/gocql/gocql/dialer",
			"missing package github.com/gocql/gocql/dialer/recorder",
			"missing package github.com/gocql/gocql/dialer/replayer",
		},
		"the fork's own cache of tablets and its tests": {
			"missing tablets.CowTabletList: type struct",
			"missing tablets.GenerateHostUUIDs: func(count int) []tablets.HostUUID",
			"missing tablets.NewCowTabletList: func() *tablets.CowTabletList",
			"missing tablets.NewReplicaSetGenerator: func(hosts []tablets.HostUUID, rf int) *tablets.ReplicaSetGenerator",
			"missing tablets.ParseHint: func(data []byte, keyspace string, table string) (tablets.TabletInfo, error)",
			"missing tablets.ReplicaSetGenerator: type struct",
		},
	},
}

// Every difference between a compat module and its API is listed with its reason, and no other.
func TestDifferences(t *testing.T) {
	for _, a := range table.All {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			original, err := loadReal(a)
			require.NoError(t, err)
			compat, err := loadCompat(a, filepath.Join(root, "compat", a.Name))
			require.NoError(t, err)
			require.ElementsMatch(t, slices.Concat(slices.Collect(maps.Values(listed[a.Name]))...), compare(original, compat))
		})
	}
}

// An API compared with itself has no differences, although its types contain themselves, and packages are loaded twice.
func TestSelf(t *testing.T) {
	for _, a := range table.All {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			one, err := loadReal(a)
			require.NoError(t, err)
			other, err := loadReal(a)
			require.NoError(t, err)
			require.Empty(t, compare(one, other))
			require.Greater(t, len(one[a.Module].Scope().Names()), 200)
		})
	}
}

// Each kind of difference is reported once, and what looks the same to a program is not.
func TestCompare(t *testing.T) {
	const declarations = `
		type part struct{ Shared int; hidden int }
		func (part) Value() string { return "" }
	`
	for name, test := range map[string]struct {
		want, got string
		lines     []string
	}{
		"nothing": {"", "", nil},
		"missing": {
			`func F(a int) error { return nil }; type T struct{}; func (T) M() {}; const C = 1`, `type T struct{}`,
			[]string{"missing p.C: const untyped int = 1", "missing p.F: func(a int) error", "missing p.T.M: func()"},
		},
		"extra": {
			`type T struct{ A int; b int }`, `type T struct{ A, B int; c int }; func (T) M() {}; var V int`,
			[]string{"extra p.T.B: int", "extra p.T.M: func()", "extra p.V: var int"},
		},
		"unexported":        {`func f() {}; type t struct{}; var v int`, `const c = 1`, nil},
		"parameter names":   {`func F(a, b int) {}`, `func F(int, int) {}`, nil},
		"signature":         {`func F(a ...int) {}`, `func F(a []int) {}`, []string{"differs p.F: func(a []int), want func(a ...int)"}},
		"value of constant": {`const C = 1`, `const C = 2`, []string{"differs p.C: const untyped int = 2, want const untyped int = 1"}},
		"kind of constant":  {`const C = 1`, `const C = "1"`, []string{`differs p.C: const untyped string = "1", want const untyped int = 1`}},
		"type of constant":  {`type T int; const C T = 1`, `type T int; const C = 1`, []string{"differs p.C: const untyped int = 1, want const p.T = 1"}},
		"function as variable": {
			`func F() {}`, `var F = func() {}`, []string{"differs p.F: var func(), want func()"},
		},
		"receiver": {
			`type T struct{}; func (T) M() {}`, `type T struct{}; func (*T) M() {}`,
			[]string{"differs p.T.M: func() of a pointer, want func()"},
		},
		"promoted": {
			`type T struct{ part; b int }`, `type T struct{ Shared int }; func (T) Value() string { return "" }`, nil,
		},
		"promoted field with another type": {
			`type T struct{ part }`, `type T struct{ Shared string; part }`, []string{"differs p.T.Shared: string, want int"},
		},
		"order of fields": {
			`type T struct{ A, B int }`, `type T struct{ B, A int }`, []string{"differs p.T: fields in order B, A, want A, B"},
		},
		"field that prevents literals": {
			`type T struct{ A int }`, `type T struct{ A, b int }`, []string{"differs p.T: fields in order A, b, want A"},
		},
		"tag": {
			"type T struct{ A int `json:\"a\"` }", `type T struct{ A int }`, []string{`differs p.T.A: tag , want tag json:"a"`},
		},
		"comparable": {
			`type T struct{ A int; b int }`, `type T struct{ A int; b []int }`, []string{"differs p.T: not comparable, want comparable"},
		},
		"alias of another package": {
			`type T struct{}; func (*T) M(T) *T { return nil }; func F() map[string][]*T { return nil }`,
			`type T = other.T; func F() map[string][]*T { return nil }`, nil,
		},
		"one type with two names": {
			`type T int; type U int`, `type T int; type U = T`, []string{"differs p.T: one type with p.U, want another type than it"},
		},
		"two types with one name each": {
			`type T int; type U = T`, `type T int; type U int`, []string{"differs p.T: another type than p.U, want one type with it"},
		},
		"another package's type": {
			`func F() error { return nil }; type T struct{}; func G() *T { return nil }`,
			`func F() error { return nil }; type T struct{}; func G() *other.T { return nil }`,
			[]string{"differs p.G: func() *other.T, want func() *p.T"},
		},
		"unexported result": {
			`type a struct{ A int; next *a }; func (*a) M(*a) {}; func F() *a { return nil }`,
			`type b struct{ A int }; func (*b) M(*b) {}; func F() *b { return nil }`, nil,
		},
		"unexported result without a method": {
			`type a struct{}; func (*a) M() {}; func F() *a { return nil }`, `type a struct{}; func F() *a { return nil }`,
			[]string{"differs p.F: func() *p.a, want func() *p.a"},
		},
		"sealed": {
			`type I interface{ M() }`, `type I interface{ M(); m() }`,
			[]string{"differs p.I: sealed, want an interface that programs can implement"},
		},
		"interface": {
			`type I interface{ M(); N() }`, `type I interface{ M(int); O() }`,
			[]string{"differs p.I.M: func(int), want func()", "extra p.I.O: func()", "missing p.I.N: func()"},
		},
		"underlying": {`type T int`, `type T string`, []string{"differs p.T: string, want int"}},
		"unnamed":    {`type T []byte`, `type T = []byte`, []string{"differs p.T: alias of []byte, want a defined type"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.lines, compare(check(t, test.want+declarations), check(t, test.got+declarations)))
		})
	}
}

// check returns an edition of one package p, with a package other that it may use.
func check(t *testing.T, body string) edition {
	t.Helper()
	fset := token.NewFileSet()
	parse := func(source string) []*ast.File {
		f, err := parser.ParseFile(fset, "p.go", source, 0)
		require.NoError(t, err)
		return []*ast.File{f}
	}
	config := types.Config{Importer: importer.Default()}
	other, err := config.Check("example.com/other", fset, parse(`package other
		type T struct{}
		func (*T) M(T) *T { return nil }`), nil)
	require.NoError(t, err)
	config.Importer = only{other}
	p, err := config.Check("example.com/p", fset, parse(`package p
		import "example.com/other"
		var _ other.T
		`+body), nil)
	require.NoError(t, err)
	return edition{"example.com/p": p}
}

type only struct{ p *types.Package }

func (o only) Import(string) (*types.Package, error) { return o.p, nil }
