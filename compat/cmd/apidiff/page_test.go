// SPDX-License-Identifier: Apache-2.0

package apidiff

import (
	"flag"
	"fmt"
	"go/types"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/compat/cmd/internal/table"
)

// The pages under docs/gocql: what differs on the compat modules, and what takes the place of names in vecql's own API.

const (
	root  = "../../.."
	pages = root + "/docs/gocql/"
)

var update = flag.Bool("update", false, "write docs/gocql/differences.md")

const head = `# Differences of the compat modules

All exported names of gocql v1.7, of gocql v2 and of ScyllaDB's fork have the same type on the compat module that stands for them, and the same meaning but for these.
` + "`go test ./apidiff -update` in compat/cmd writes the page from the table of `gocqlcheck` and from its own list. [From gocql](../from-gocql.md) is the guide.\n" + `
| name | on | what differs |
| --- | --- | --- |
`

// TestDifferencesPage: the page has each rule, and each difference between a compat module and its API, with its
// reason.
func TestDifferencesPage(t *testing.T) {
	t.Parallel()
	type row struct{ text, on string }
	on := map[[2]string][]string{} // the modules by name and text
	add := func(a *table.API, name, text string) {
		on[[2]string{name, text}] = append(on[[2]string{name, text}], a.Name)
	}
	for _, a := range table.All {
		original, err := loadReal(a)
		require.NoError(t, err)
		for name, rule := range table.Rules {
			if rule.AppliesTo(a) && table.Has(original[a.Module], name) {
				add(a, name, rule.Text)
			}
		}
		for reason, lines := range listed[a.Name] {
			for _, line := range lines {
				kind, rest, _ := strings.Cut(line, " ")
				name, _, _ := strings.Cut(strings.TrimPrefix(rest, "gocql."), ": ")
				kind = map[string]string{"missing": "absent", "extra": "added", "differs": "differs"}[kind]
				add(a, strings.TrimPrefix(name, "package "), kind+": "+reason)
			}
		}
	}
	rows := map[row][]string{}
	for key, modules := range on {
		r := row{key[1], strings.Join(modules, ", ")}
		if len(modules) == len(table.All) {
			r.on = "all"
		}
		rows[r] = append(rows[r], key[0])
	}
	var lines []string
	for r, names := range rows {
		slices.Sort(names)
		lines = append(lines, fmt.Sprintf("| `%s` | %s | %s |\n", strings.Join(names, "`, `"), r.on, r.text))
	}
	slices.Sort(lines)
	text := head + strings.Join(lines, "")
	if *update {
		require.NoError(t, os.WriteFile(pages+"differences.md", []byte(text), 0o644))
	}
	want, err := os.ReadFile(pages + "differences.md")
	require.NoError(t, err)
	require.Equal(t, string(want), text, "go test ./apidiff -update in compat/cmd writes the page")
}

// pageRows returns the rows of docs/gocql/names.md: the text by name.
func pageRows(t *testing.T) map[string]string {
	page, err := os.ReadFile(pages + "names.md")
	require.NoError(t, err)
	rows := map[string]string{}
	for _, line := range regexp.MustCompile("(?m)^\\| (`.*`) \\| (.*) \\|$").FindAllStringSubmatch(string(page), -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(line[1], -1) {
			require.Empty(t, rows[name[1]], "%s has two rows", name[1])
			rows[name[1]] = line[2]
		}
	}
	return rows
}

// rowOf returns the row for a name: its own, or the row of the longest prefix.
func rowOf(rows map[string]string, name string) (key string) {
	if _, ok := rows[name]; ok {
		return name
	}
	for k := range rows {
		if prefix, ok := strings.CutSuffix(k, "*"); ok && strings.HasPrefix(name, prefix) && len(k) > len(key) {
			key = k
		}
	}
	return key
}

// TestNames: docs/gocql/names.md has a row for each name of an API that vecql lacks, and no row that no name needs. A
// name that vecql has is in a row only if the row says that it differs, and the names of vecql in the rows exist.
func TestNames(t *testing.T) {
	t.Parallel()
	var own [2]*types.Package
	for i, pattern := range []string{".", "./cql"} {
		loaded, err := load(root, nil, pattern)
		require.NoError(t, err)
		own[i] = loaded[0].Types
	}
	has := func(name string) bool { // in the package that has the name before the dot
		whole, _, _ := strings.Cut(name, ".")
		if table.Has(own[0], whole) {
			return table.Has(own[0], name)
		}
		return table.Has(own[1], name)
	}
	rows, used := pageRows(t), map[string]bool{}
	require.NotEmpty(t, rows)
	for _, a := range table.All {
		original, err := loadReal(a)
		require.NoError(t, err)
		for name := range public(original[a.Module]) {
			if whole, _, member := strings.Cut(name, "."); member && !has(whole) {
				continue // a type that is absent stands for its fields and methods
			}
			key := rowOf(rows, name)
			if strings.HasSuffix(key, "*") && has(name) {
				key = "" // a prefix explains what vecql lacks
			}
			used[key] = true
			if has(name) {
				assert.True(t, key == "" || strings.HasPrefix(rows[key], "differs: "), "vecql has %s", name)
			} else {
				assert.NotEmpty(t, key, "%s: %s has no row in docs/gocql/names.md", a.Name, name)
			}
		}
		for path := range original {
			if tail, further := strings.CutPrefix(path, a.Module+"/"); further {
				assert.NotEmpty(t, rows[tail+"/"], "%s: package %s has no row in docs/gocql/names.md", a.Name, tail)
				used[tail+"/"] = true
			}
		}
	}
	vecql := regexp.MustCompile("`(cql\\.)?([A-Z][A-Za-z0-9]*(?:\\.[A-Z][A-Za-z0-9]*)*)[`(\\[]")
	for key, text := range rows {
		assert.True(t, used[key], "no API has %s", key)
		for _, name := range vecql.FindAllStringSubmatch(text, -1) {
			in := own[0]
			if name[1] != "" {
				in = own[1]
			}
			assert.True(t, table.Has(in, name[2]), "%s: vecql has no %s%s", key, name[1], name[2])
		}
	}
}

// public returns the exported names of a package, fields and methods with their type before a dot.
func public(p *types.Package) map[string]bool {
	all := map[string]bool{}
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		all[name] = true
		t, ok := o.(*types.TypeName)
		if !ok {
			continue
		}
		if s, ok := t.Type().Underlying().(*types.Struct); ok {
			for _, f := range promoted(s) {
				all[name+"."+f.Name()] = true
			}
		}
		for method := range methodsOf(t.Type()) {
			all[name+"."+method] = true
		}
	}
	return all
}
