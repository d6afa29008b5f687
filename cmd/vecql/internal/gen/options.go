// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"errors"
	"fmt"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
)

// The settings of a run.

// Options are the settings of a run, with their keys in vecql.gen.toml. The zero value of each field is its default.
type Options struct {
	Schema   []string `toml:"schema"`   // files of CQL; none means a cluster
	Keyspace string   `toml:"keyspace"` // default the only one of the files
	Out      string   `toml:"out"`      // folder; default the current one
	Package  string   `toml:"package"`  // name; default the name of the keyspace
	Tables   []string `toml:"tables"`   // names and patterns (path.Match); default all
	Exclude  []string `toml:"exclude"`  // names and patterns
	Null     string   `toml:"null"`     // what can be NULL: Pointer, Null or Plain; default Pointer
	NotNull  []string `toml:"not-null"` // columns that are never NULL: "items.name", patterns
	// IfNotExists are tables, names and patterns, that get the method InsertIfNotExists.
	IfNotExists []string `toml:"if-not-exists"`
	NoKeyspace  bool     `toml:"unqualified"` // statements use the keyspace of the session
	Tests       bool     `toml:"tests"`       // write tests
	JSON        bool     `toml:"json-tags"`   // fields have tags for JSON, with the names of the columns
	// Names are the names in Go of tables ("items", the name of its rows), columns ("items.url") and types
	// ("address", "address.zip"). A table and a type of one name share theirs: then the type is "type address".
	Names map[string]string `toml:"names"`
}

// How a column that can be NULL is declared.
const (
	Pointer = "pointer" // *string; nil is NULL
	Null    = "null"    // cql.Null[string]
	Plain   = "plain"   // string; reading NULL is an error
)

// ErrOptions means that a setting is wrong.
var ErrOptions = errors.New("wrong setting")

// check returns all faults of the settings.
func (o *Options) check() error {
	var errs []error
	fault := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: %w", ErrOptions, fmt.Errorf(format, args...)))
	}
	if !slices.Contains([]string{"", Pointer, Null, Plain}, o.Null) {
		fault("null is %q, want %s, %s or %s", o.Null, Pointer, Null, Plain)
	}
	if o.Package != "" && !isPackageName(o.Package) {
		fault("package is %q, want a name of Go that neither begins with _ nor ends in _test", o.Package)
	}
	for _, pattern := range slices.Concat(o.Tables, o.Exclude, o.NotNull, o.IfNotExists) {
		if _, err := path.Match(pattern, ""); err != nil {
			fault("pattern %q: %w", pattern, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Names)) {
		if as := o.Names[name]; !token.IsIdentifier(as) || !token.IsExported(as) {
			fault("the name of %s is %q, want an exported name of Go", name, as)
		}
	}
	return errors.Join(errs...)
}

// packageName returns the name of the package.
func (o *Options) packageName(keyspace string) string {
	if o.Package != "" {
		return o.Package
	}
	name := strings.ToLower(strings.Join(wordsOf(keyspace), ""))
	if !isPackageName(name) || name == "main" || name == "init" { // which no program can import by its name
		name = "tables"
	}
	return name
}

// isPackageName reports whether a package and its files can have a name: the go command ignores files that begin with
// "_", and takes a package x_test for the tests of x.
func isPackageName(name string) bool {
	return token.IsIdentifier(name) && !strings.HasPrefix(name, "_") && !strings.HasSuffix(name, "_test")
}

// has reports whether a table is generated.
func (o *Options) has(table string) bool {
	return (len(o.Tables) == 0 || matches(o.Tables, table)) && !matches(o.Exclude, table)
}

// matches reports whether one of the patterns matches a name.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, name) // check has found the patterns to be valid
		return ok || pattern == name
	})
}
