// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/token"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// operatorPrelude declares what the sources of TestOperators use.
const operatorPrelude = `package p

type fault struct{ text string }

func (f *fault) Error() string { return f.text + "!" }

func faultf(format string, args ...any) error

type point struct{ x, y int }

const limit = 3

func use(...any)

func two(a, b int, s string)

func failing() error

var err error
`

// TestOperators holds the sites of each operator on a small function, in the order of the source. Every mutated
// function compiles.
func TestOperators(t *testing.T) {
	for name, test := range map[string]struct {
		source string
		want   []string
	}{
		"comparison": {"func f(a, b int) bool { return a < b }", []string{
			"result: return a < b -> return !(a < b)", "negate: a < b -> a >= b", "bound: a < b -> a <= b",
		}},
		"equality in a condition": {"func f(a, b int) { if a == b { use() } }", []string{
			"condition: a == b -> true", "condition: a == b -> false", "drop: use()",
		}},
		"sides": {"func f(a, b, c bool) { use(a && b || c) }", []string{
			"drop: use(a && b || c)", "side: a && b || c -> c", "side: a && b || c -> a && b", "side: a && b -> b", "side: a && b -> a",
		}},
		"arithmetic": {"func f(a int) { a = a + a; a <<= 1; a++ }", []string{
			"drop: a = a + a", "arithmetic: a + a -> a - a", "arithmetic: a <<= 1 -> a >>= 1", "drop: a <<= 1",
			"constant: 1 -> (1 + 1)", "constant: 1 -> (1 - 1)", "arithmetic: a++ -> a--", "drop: a++",
		}},
		"no arithmetic of strings": {"func f(a string) { a = a + a; a += a }", []string{"drop: a = a + a", "drop: a += a"}},
		"unary operators": {"func f(a bool, n int) { use(!a, -n) }", []string{
			"drop: use(!a, -n)", "negate: !a -> a", "negate: -n -> n",
		}},
		"loops": {"func f(list []int) { for len(list) > 9 { list = nil }; for range list { use() }; for i := 0; i < 9; i++ {} }", []string{
			"condition: len(list) > 9 -> false", "once: for len(list) > 9 -> one iteration of for len(list) > 9",
			"negate: len(list) > 9 -> len(list) <= 9", "bound: len(list) > 9 -> len(list) >= 9", "constant: 9 -> (9 + 1)",
			"drop: list = nil", "once: for range list -> one iteration of for range list", "drop: use()",
			"condition: i < 9 -> false", "constant: 0 -> (0 + 1)", "negate: i < 9 -> i >= 9", "bound: i < 9 -> i <= 9",
			"constant: 9 -> (9 - 1)",
		}},
		"branches": {"func f(a int) { for { switch {\ncase a > limit: break\ndefault: continue\n}; break } }", []string{
			"case: case a > limit: break", "negate: a > limit -> a <= limit", "bound: a > limit -> a >= limit",
			"constant: limit -> (limit + 1)", "case: default: continue", "branch: continue -> break",
			"branch: break -> continue",
		}},
		"errors": {"func f() (int, error) { if err != nil { return 7, err }; return 7, nil }", []string{
			"condition: err != nil -> true", "condition: err != nil -> false", "error: return 7, err -> return 7, nil",
			"constant: 7 -> (7 + 1)", "constant: 7 -> (7 - 1)", "result: return 7, nil -> return 0, nil", "constant: 7 -> (7 + 1) #2",
			"constant: 7 -> (7 - 1) #2",
		}},
		"results": {`func f(p point, s string, l []int) (point, string, []int, bool) { return p, s, l, true }`, []string{
			"result: return p, s, l, true -> return p, s, l, false", "result: return p, s, l, true -> return p, s, nil, true",
			`result: return p, s, l, true -> return p, "", l, true`, "result: return p, s, l, true -> return *new(point), s, l, true",
		}},
		"results of a closure": {"func f() { use(func() error { return err }) }", []string{
			"drop: use(func() error { return err })", "error: return err -> return nil",
		}},
		"zero results stay": {`func f() (point, string, int, error) { return point{}, "", 0, nil }`, []string{
			"constant: 0 -> (0 + 1)",
		}},
		"arguments": {`func f(a, b int, s string) { two(a, b, s); use(a, b); a = max(a, b) }`, []string{
			"drop: two(a, b, s)", "swap: two(a, b, s) -> two(b, a, s)", "drop: use(a, b)", "drop: a = max(a, b)",
		}},
		"cases": {"func f(a int) { switch a { case 5, 8: use() } }", []string{
			"case: case 5, 8: use()", "case: case 5, 8: use() -> case 8: use()", "case: case 5, 8: use() -> case 5: use()",
			"constant: 5 -> (5 + 1)", "constant: 5 -> (5 - 1)", "constant: 8 -> (8 + 1)", "constant: 8 -> (8 - 1)", "drop: use()",
		}},
		"channels": {"func f(a chan int, b chan bool) { select {\ncase v := <-a: b <- v > limit\ndefault:\n} }", []string{
			"case: case v := <-a: b <- v > limit", "drop: b <- v > limit", "negate: v > limit -> v <= limit",
			"bound: v > limit -> v >= limit", "constant: limit -> (limit + 1)", "case: default:",
		}},
		"fields": {"func f(a int) point { return point{x: a, y: 0} }", []string{
			"result: return point{x: a, y: 0} -> return *new(point)", "field: x: a", "constant: 0 -> (0 + 1)",
		}},
		"all fields": {"func f(a int) point {\nreturn point{\nx: a,\ny: a,\n}\n}", []string{
			"result: return point{ x: a, y: a, } -> return *new(point)", "field: x: a", "field: y: a",
		}},
		"slices": {"func f(a []int, i, n int) { use(a[i:n], a[0:n:n]) }", []string{
			"drop: use(a[i:n], a[0:n:n])", "slice: a[i:n] -> a[:n]", "slice: a[i:n] -> a[i:]", "constant: 0 -> (0 + 1)",
		}},
		"constants": {"func f() { use(limit, true) }", []string{
			"drop: use(limit, true)", "constant: limit -> (limit + 1)", "constant: limit -> (limit - 1)", "boolean: true -> false",
		}},
		"statements": {"func f(c chan point, p point) { defer use(p); go use(); c <- p; var x int; x, err = 1, failing(); _ = x }", []string{
			"drop: defer use(p)", "drop: go use()", "drop: c <- p", "drop: x, err = 1, failing()", "constant: 1 -> (1 + 1)",
			"constant: 1 -> (1 - 1)",
		}},
		"capacities": {"func f(n int, a []int) { if cap(a) < n { a = make([]int, 0, n+1) }; m := make(map[int]int, n+1); use(a, m) }", []string{
			"drop: use(a, m)",
		}},
		"texts of errors":  {`func f(n int) error { return faultf("%d", n+1) }`, []string{`error: return faultf("%d", n+1) -> return nil`}},
		"fields of errors": {`func f(n string) error { return &fault{text: n} }`, []string{"error: return &fault{text: n} -> return nil"}},
		"texts of panics": {`func f(n int) { if n > limit+1 { panic(n + 1) } }`, []string{
			"condition: n > limit+1 -> true", "bound: n > limit+1 -> n >= limit+1", "arithmetic: limit+1 -> limit-1",
			"constant: limit -> (limit + 1)", "constant: limit -> (limit - 1)", "constant: 1 -> (1 + 1)", "constant: 1 -> (1 - 1)",
		}},
		"functions of texts":    {`func (p point) String() string { return "a" }`, nil},
		"what cannot be copied": {"func f() { if recover() != nil { use() } }", nil},
	} {
		t.Run(name, func(t *testing.T) {
			sites, text := sitesOf(t, test.source)
			var got []string
			for _, s := range sites {
				got = append(got, s.key()[len("p.f: "):])
			}
			require.Equal(t, test.want, got)
			require.NoError(t, checkTypes(text))
		})
	}
}

func TestDiff(t *testing.T) {
	sites, _ := sitesOf(t, "func f(a, b int) {\n\tuse(1, point{\n\t\tx: a, y: 1}, min(a, 1))\n}")
	diffs := map[string]string{}
	for _, s := range sites {
		diffs[s.key()[len("p.f: "):]] = s.diff()
	}
	require.Equal(t, map[string]string{
		"drop: use(1, point{ x: a, y: 1}, min(a, 1))": "- use(1, point{\n+ ",
		"constant: 1 -> (1 + 1)":                      "- use(1, point{\n+ use((1 + 1), point{",
		"constant: 1 -> (1 - 1)":                      "- use(1, point{\n+ use((1 - 1), point{",
		"field: x: a":                                 "- x: a, y: 1}, min(a, 1))\n+ , y: 1}, min(a, 1))",
		"field: y: 1":                                 "- x: a, y: 1}, min(a, 1))\n+ x: a, }, min(a, 1))",
		"constant: 1 -> (1 + 1) #2":                   "- x: a, y: 1}, min(a, 1))\n+ x: a, y: (1 + 1)}, min(a, 1))",
		"constant: 1 -> (1 - 1) #2":                   "- x: a, y: 1}, min(a, 1))\n+ x: a, y: (1 - 1)}, min(a, 1))",
		"constant: 1 -> (1 + 1) #3":                   "- x: a, y: 1}, min(a, 1))\n+ x: a, y: 1}, min(a, (1 + 1)))",
		"constant: 1 -> (1 - 1) #3":                   "- x: a, y: 1}, min(a, 1))\n+ x: a, y: 1}, min(a, (1 - 1)))",
	}, diffs)
}

// sitesOf returns the sites in a source, and its text with all copies.
func sitesOf(t *testing.T, source string) (sites []*site, text string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(operatorPrelude+source+"\n"), 0o600))
	f, err := parseCombined(token.NewFileSet(), dir, "p.go")
	require.NoError(t, err)
	sites, err = findSites("p", []*combinedFile{f}, nil)
	require.NoError(t, err)
	for i, s := range sites {
		f.addCopy(s.original, i+1, s.begin, s.end, s.text)
	}
	text, _ = f.write()
	return sites, text
}
