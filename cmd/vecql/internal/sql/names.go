// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
)

// Names of columns as statements write them: with the name of the source before them, and in another case.

// None reports whether the statement has no FROM: its source is one row without columns.
func (s Source) None() bool { return len(s.Files) == 0 && s.Table == "" && s.Query == nil }

// names returns the names of the source before the name of a column: its alias, or the names that it has itself.
func (s Source) names() []string {
	switch {
	case s.Alias != "":
		return []string{s.Alias}
	case s.Table != "" && s.Keyspace != "":
		return []string{s.Table, s.Keyspace + "." + s.Table}
	case s.Table != "":
		return []string{s.Table}
	}
	var names []string
	for _, file := range s.Files {
		base := path.Base(file)
		for _, compression := range []string{".gz", ".zst"} {
			base = strings.TrimSuffix(base, compression)
		}
		names = append(names, strings.TrimSuffix(base, path.Ext(base)))
	}
	return names
}

// checkNames returns an error for the first t.* of another source, or * without FROM.
func (s *Statement) checkNames() error {
	for _, item := range s.Items {
		of := func(name string) bool { return strings.EqualFold(name, item.of) }
		switch {
		case item.All && s.From.None():
			return at(s.Text, item.offset, fmt.Errorf("* without FROM"))
		case item.of != "" && !slices.ContainsFunc(s.From.names(), of):
			return at(s.Text, item.offset, fmt.Errorf("%s.*: the source is %s", item.of, strings.Join(s.From.names(), " or ")))
		}
	}
	return nil
}

// resolved returns the statement with columns under the names of the schema.
func (s *Statement) resolved(schema column.Schema) *Statement {
	r := *s
	resolve := func(e expr.Expr) expr.Expr {
		return e.Replace(func(part expr.Expr) (expr.Expr, bool) {
			name := part.Node().Column
			resolved := s.columnOf(name, schema)
			return expr.Col(resolved), resolved != name
		})
	}
	r.Items, r.GroupBy, r.OrderBy = slices.Clone(s.Items), slices.Clone(s.GroupBy), slices.Clone(s.OrderBy)
	r.DistinctOn = slices.Clone(s.DistinctOn)
	for i := range r.DistinctOn {
		r.DistinctOn[i] = resolve(r.DistinctOn[i])
	}
	for i := range r.Items {
		r.Items[i].Expr = resolve(r.Items[i].Expr)
		r.Items[i].replace = slices.Clone(r.Items[i].replace)
		for k := range r.Items[i].replace {
			r.Items[i].replace[k].Expr = resolve(r.Items[i].replace[k].Expr)
		}
	}
	for i := range r.GroupBy {
		r.GroupBy[i] = resolve(r.GroupBy[i])
	}
	r.Sets = nil
	for _, set := range s.Sets {
		keys := slices.Clone(set)
		for i := range keys {
			keys[i] = resolve(keys[i])
		}
		r.Sets = append(r.Sets, keys)
	}
	for i := range r.OrderBy {
		r.OrderBy[i].Expr = resolve(r.OrderBy[i].Expr)
	}
	r.Where, r.Having = resolve(s.Where), resolve(s.Having)
	return &r
}

// columnOf returns the column of a schema that a name means: the column of that name, unless AS gives the name to a
// column of the result; else the only one that differs in case alone; both perhaps with the name of the source before.
// It returns the name if there is none.
func (s *Statement) columnOf(name string, schema column.Schema) string {
	made := func(i Item) bool { return i.Name == name }
	if name == "" || schema.Index(name) >= 0 || slices.ContainsFunc(s.Items, made) {
		return name
	}
	for _, source := range s.From.names() {
		if n := len(source); len(name) > n+1 && name[n] == '.' && strings.EqualFold(name[:n], source) {
			if column := inAnyCase(name[n+1:], schema); column != "" {
				return column
			}
		}
	}
	if column := inAnyCase(name, schema); column != "" {
		return column
	}
	return name
}

// inAnyCase returns the column of that name, else the only one that differs in case alone, else "".
func inAnyCase(name string, schema column.Schema) string {
	if schema.Index(name) >= 0 {
		return name
	}
	found := ""
	for i := range schema {
		if strings.EqualFold(schema[i].Name, name) {
			if found != "" {
				return ""
			}
			found = schema[i].Name
		}
	}
	return found
}
