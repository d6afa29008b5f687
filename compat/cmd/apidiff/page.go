// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vecql/vecql/compat/cmd/internal/table"
)

// The pages under docs/gocql: each name of an API, on its compat module and in vecql's own API.

// A page is the text for one API.
type page struct {
	*table.API
	real    edition
	listed  list              // differences of the compat module, with reasons
	details map[string]string // of names that vecql's package lacks or has with another type
	missing map[string]bool   // in vecql's package

	used        map[string]bool // keys of table.Own
	unexplained []string        // names without an entry that need one
	contrary    []string        // names that vecql has, unlike their entry
	same, other int             // numbers of names
}

// newPage loads the API and compares its names with the names of vecql's package in the folder root.
func newPage(a *table.API, root string) (*page, error) {
	original, err := loadReal(a)
	if err != nil {
		return nil, err
	}
	listed, err := readList(goldenPath(filepath.Join(root, "compat/apis"), a.Name))
	if err != nil {
		return nil, err
	}
	driver, nouns, err := loadOwn(root)
	if err != nil {
		return nil, err
	}
	p := &page{
		API: a, real: original, listed: listed,
		details: map[string]string{}, missing: map[string]bool{}, used: map[string]bool{},
	}
	p.compareWith(driver, func(string) bool { return true })
	isNoun := func(name string) bool {
		name, _, _ = strings.Cut(name, ".")
		return driver.Scope().Lookup(name) == nil && nouns.Scope().Lookup(name) != nil
	}
	maps.DeleteFunc(p.missing, func(name string, _ bool) bool { return isNoun(name) })
	maps.DeleteFunc(p.details, func(name, _ string) bool { return isNoun(name) })
	p.compareWith(nouns, isNoun)
	return p, nil
}

// loadOwn returns vecql's package in the folder root, and package cql.
func loadOwn(root string) (driver, nouns *types.Package, err error) {
	for _, at := range []struct {
		pattern string
		to      **types.Package
	}{{".", &driver}, {"./cql", &nouns}} {
		loaded, err := load(root, nil, at.pattern)
		if err != nil {
			return nil, nil, err
		}
		*at.to = loaded[0].Types
	}
	return driver, nouns, nil
}

// compareWith compares the names of a package with the names of the API, and stores the differences of the names that
// concern accepts.
func (p *page) compareWith(own *types.Package, concern func(name string) bool) {
	for _, line := range compare(edition{p.Module: p.real[p.Module]}, edition{p.Module: own}) {
		kind, rest, _ := strings.Cut(line, " ")
		name, detail, _ := strings.Cut(strings.TrimPrefix(rest, "gocql."), ": ")
		if kind != "extra" && concern(name) {
			p.missing[name] = kind == "missing"
			p.details[name] = readable(detail)
		}
	}
}

// readable returns what vecql has in place of an item, from the detail of a difference.
func readable(detail string) string {
	got, _, _ := strings.Cut(strings.ReplaceAll(detail, "interface{}", "any"), ", want ")
	switch {
	case strings.HasPrefix(got, "fields in order "):
		return "differs: other fields, or another order: literals need the names of fields"
	case strings.HasPrefix(got, "one type with "), strings.HasPrefix(got, "another type than "):
		return "differs: " + strings.ReplaceAll(got, "gocql.", "")
	}
	return "differs: `" + strings.TrimSuffix(got, " of a pointer") + "`"
}

const pageHead = "# %s, name by name\n\n" +
	"`go test ./apidiff -update` in compat/cmd writes this page from the tables there. [From gocql](../from-gocql.md) is the guide.\n\n" +
	"## On compat/%s\n\n" +
	"All exported names of the API have the same type, and the same meaning but for these:\n\n%s\n" +
	"## In vecql's own API\n\n" +
	"This part is for code that moves from the compat module to package vecql, and package cql, which has its nouns. %d names have the same type there; the tables " +
	"have the other %d: what takes their place, or why nothing does. A type that is absent stands for its fields and methods.\n"

// text returns the page.
func (p *page) text() string {
	scope := p.real[p.Module].Scope()
	kinds := map[string][]string{}
	var absent, equal []string
	mixed := &strings.Builder{}
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		if !o.Exported() {
			continue
		}
		t, ok := o.(*types.TypeName)
		if !ok {
			kind := strings.TrimPrefix(fmt.Sprintf("%T", o), "*types.")
			kinds[kind] = append(kinds[kind], name)
			continue
		}
		all := append([]string{name}, members(t)...)
		switch {
		case p.missing[name]:
			absent = append(absent, name)
		case !slices.ContainsFunc(all, func(n string) bool { return p.status(n) != "" }):
			equal = append(equal, name)
			p.same += len(all) - 1
		default:
			p.section(mixed, "### "+name, all)
		}
	}
	rest := &strings.Builder{}
	p.section(rest, "### Types that vecql has under another name, or not at all", absent)
	p.section(rest, "### Types that are the same with all their fields and methods", equal)
	p.section(rest, "### Functions", kinds["Func"])
	p.section(rest, "### Variables", kinds["Var"])
	p.section(rest, "### Constants", kinds["Const"])
	p.packages(rest)
	return fmt.Sprintf(pageHead, p.Title, p.Name, p.compat(), p.same, p.other) + mixed.String() + rest.String()
}

// compat returns the table of what differs on the compat module.
func (p *page) compat() string {
	r := rows{}
	for _, name := range slices.Sorted(maps.Keys(table.Rules)) {
		if rule := table.Rules[name]; rule.AppliesTo(p.API) && table.Has(p.real[p.Module], name) {
			r.add(name, rule.Text)
		}
	}
	for _, line := range p.listed.sorted() {
		kind, rest, _ := strings.Cut(line, " ")
		name, _, _ := strings.Cut(strings.TrimPrefix(rest, "gocql."), ": ")
		kind = map[string]string{"missing": "absent", "extra": "added", "differs": "differs"}[kind]
		r.add(strings.TrimPrefix(name, "package "), kind+": "+p.listed[line])
	}
	return "| name | what differs |\n| --- | --- |\n" + r.text()
}

// section writes the names of a type, or of one kind of declaration: a table of those that differ, and a line of those
// that are the same.
func (p *page) section(b *strings.Builder, title string, names []string) {
	if len(names) == 0 {
		return
	}
	r := rows{}
	var same []string
	for _, name := range names {
		if status := p.status(name); status != "" {
			r.add(name, status)
			p.other++
		} else {
			same = append(same, "`"+name+"`")
			p.same++
		}
	}
	fmt.Fprintf(b, "\n%s\n", title)
	if len(r.statuses) > 0 {
		fmt.Fprintf(b, "\n| %s | vecql |\n| --- | --- |\n%s", p.Title, r.text())
	}
	if len(same) > 0 {
		fmt.Fprintf(b, "\nThe same: %s.\n", strings.Join(same, ", "))
	}
}

// status returns what the table of vecql's names has for the name, or else vecql's type of it. An empty status means
// that the name is the same.
func (p *page) status(name string) string {
	key, entry := table.OwnOf(name)
	if strings.HasSuffix(key, "*") && !p.missing[name] {
		key = "" // a prefix explains what vecql lacks
	}
	p.used[key] = true
	switch {
	case key == "" && p.missing[name]:
		p.unexplained = append(p.unexplained, name)
	case key == "":
		return p.details[name]
	case !p.missing[name] && !strings.HasPrefix(entry, "differs: "):
		p.contrary = append(p.contrary, name)
	}
	return entry
}

// packages writes a line for each further package of the API.
func (p *page) packages(b *strings.Builder) {
	r := rows{}
	for _, path := range p.real.paths() {
		tail, further := strings.CutPrefix(path, p.Module+"/")
		if !further {
			continue
		}
		key, entry := table.OwnOf(tail + "/")
		if key == "" {
			p.unexplained = append(p.unexplained, tail+"/")
		}
		p.used[key] = true
		r.add(tail, entry)
	}
	if len(r.statuses) > 0 {
		fmt.Fprintf(b, "\n### Packages\n\n| %s | vecql |\n| --- | --- |\n%s", p.Title, r.text())
	}
}

// rows are the rows of a table: names with one status share a row.
type rows struct {
	statuses []string
	names    map[string][]string
}

func (r *rows) add(name, status string) {
	if r.names == nil {
		r.names = map[string][]string{}
	}
	if r.names[status] == nil {
		r.statuses = append(r.statuses, status)
	}
	r.names[status] = append(r.names[status], "`"+name+"`")
}

func (r *rows) text() string {
	b := &strings.Builder{}
	for _, status := range r.statuses {
		fmt.Fprintf(b, "| %s | %s |\n", strings.Join(r.names[status], ", "), status)
	}
	return b.String()
}

// members returns the exported fields and methods of a type, as Type.Member.
func members(o *types.TypeName) []string {
	var all []string
	if s, ok := o.Type().Underlying().(*types.Struct); ok {
		for _, f := range promoted(s) {
			all = append(all, o.Name()+"."+f.Name())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(methodsOf(o.Type()))) {
		all = append(all, o.Name()+"."+name)
	}
	return all
}
