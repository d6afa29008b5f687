// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/soak"
)

// words are names that Go, the generated code or its comments could stumble over. Servers let tables have no other
// characters.
var words = strings.Fields(`a_b aB A_B ab type func scan string error context vecql cql iter time big netip search errors slices testing _ __ 1st 2
	x_1st err t ctx query statement row existing applied nil any int3 int32 want got rows static table session select insert get Get Rows partition
	key value value2 items item Items item_table item_static item_increment open tables test_tables select_item id ID Id iD user_id userId URL x X`)

// awkward are words, and names of columns, fields and types with any characters.
var awkward = append(slices.Clone(words), "日本", "ǅ", "İd", "ß", "é", "e\u0301", "a b", "a-b", "`", "``", "\"", "\\", "a\\b", "a\nb", "a\tb", "\u2028",
	"\ufeff", "%s", "{{.}}", "*/", "//", "/*", "a,b", "tuple<int, text>", "-", "-x", " ", "'", ";", "[ttl]", "?", "a.b", "keys(a)")

// random makes schemas.
type random struct {
	*rand.Rand
	types []cql.UDTTypeInfo
}

// names returns n different names.
func (r *random) names(of []string, n int) []string {
	made := make([]string, n)
	for i, at := range r.Perm(len(of))[:min(n, len(of))] {
		made[i] = of[at]
	}
	for i := len(of); i < n; i++ {
		made[i] = fmt.Sprintf("%s_%d", of[i%len(of)], i)
	}
	return made
}

// keyNatives are the types without parameters that a primary key can have.
var keyNatives = []cql.Type{
	cql.TypeAscii, cql.TypeBigInt, cql.TypeBlob, cql.TypeBoolean, cql.TypeDate, cql.TypeDecimal, cql.TypeDouble, cql.TypeFloat, cql.TypeInet, cql.TypeInt,
	cql.TypeSmallInt, cql.TypeText, cql.TypeTime, cql.TypeTimestamp, cql.TypeTimeUUID, cql.TypeTinyInt, cql.TypeUUID, cql.TypeVarint,
}

// typ returns a type of at most a depth; isKey excludes durations.
func (r *random) typ(depth int, isKey bool) cql.TypeInfo {
	if depth == 0 || r.IntN(3) == 0 {
		if !isKey && r.IntN(20) == 0 {
			return cql.NativeType(cql.TypeDuration)
		}
		return cql.NativeType(keyNatives[r.IntN(len(keyNatives))])
	}
	inner := func() cql.TypeInfo { return r.typ(depth-1, isKey) }
	switch r.IntN(6) {
	case 0:
		return cql.NewListType(inner())
	case 1:
		return cql.NewSetType(r.typ(depth-1, true))
	case 2:
		return cql.NewMapType(r.typ(depth-1, true), inner())
	case 3:
		elems := make([]cql.TypeInfo, 1+r.IntN(3))
		for i := range elems {
			elems[i] = inner()
		}
		return cql.TupleTypeInfo{Elems: elems}
	case 4:
		return cql.VectorType{SubType: inner(), Dimensions: 1 + r.IntN(3)}
	}
	if len(r.types) == 0 || isKey {
		return inner()
	}
	return r.types[r.IntN(len(r.types))]
}

// keyspace returns a schema of some types, tables, indexes and views.
func (r *random) keyspace() *cql.KeyspaceMetadata {
	names := r.names(words, 20)
	ks := &cql.KeyspaceMetadata{
		Name: names[0], Tables: map[string]*cql.TableMetadata{}, Indexes: map[string]*cql.IndexMetadata{},
		MaterializedViews: map[string]*cql.MaterializedViewMetadata{},
	}
	for _, name := range r.names(awkward, r.IntN(4)) {
		udt := cql.UDTTypeInfo{Keyspace: ks.Name, Name: name}
		for _, field := range r.names(awkward, 1+r.IntN(6)) {
			udt.Elements = append(udt.Elements, cql.UDTField{Name: field, Type: r.typ(2, false)})
		}
		r.types = append(r.types, udt)
	}
	for _, name := range names[1 : 3+r.IntN(8)] {
		t := r.table(ks.Name, name)
		ks.Tables[name] = t
		r.addIndexes(ks, t)
	}
	for _, name := range names[12 : 12+r.IntN(3)] {
		t := r.table(ks.Name, name)
		hasStatic := func(c *cql.ColumnMetadata) bool { return c.Kind == cql.ColumnStatic }
		if !slices.Contains(t.Flags, "counter") && !slices.ContainsFunc(slices.Collect(maps.Values(t.Columns)), hasStatic) {
			ks.MaterializedViews[name] = &cql.MaterializedViewMetadata{
				Name: name, PartitionKey: t.PartitionKey, ClusteringColumns: t.ClusteringColumns, Columns: t.Columns, OrderedColumns: t.OrderedColumns,
			}
		}
	}
	return ks
}

// table returns a table, now and then of counters, of many columns or of a long key.
func (r *random) table(keyspace, name string) *cql.TableMetadata {
	t := &cql.TableMetadata{Keyspace: keyspace, Name: name, Columns: map[string]*cql.ColumnMetadata{}}
	partition, clustering, others := 1+r.IntN(2), r.IntN(3), r.IntN(8)
	switch r.IntN(20) {
	case 0:
		others = 200
	case 1:
		partition, clustering = 6, 6
	}
	isCounter := r.IntN(5) == 0
	for i, name := range r.names(awkward, partition+clustering+others) {
		c := &cql.ColumnMetadata{Keyspace: keyspace, Table: t.Name, Name: name, Kind: cql.ColumnRegular, Type: r.typ(2, i < partition+clustering)}
		switch {
		case i < partition:
			c.Kind = cql.ColumnPartitionKey
			t.PartitionKey = append(t.PartitionKey, c)
		case i < partition+clustering:
			c.Kind = cql.ColumnClusteringKey
			t.ClusteringColumns = append(t.ClusteringColumns, c)
		case clustering > 0 && r.IntN(4) == 0:
			c.Kind = cql.ColumnStatic
		}
		if isCounter && i >= partition+clustering {
			c.Type, t.Flags = cql.NativeType(cql.TypeCounter), []string{"counter"}
		}
		c.Validator = typeText(c.Type)
		if c.Kind == cql.ColumnRegular && r.IntN(2) == 0 {
			c.Validator = unfrozen(c)
		}
		t.Columns[name] = c
		t.OrderedColumns = append(t.OrderedColumns, name)
	}
	return t
}

// unfrozen returns the type of a column whose collection is not frozen.
func unfrozen(c *cql.ColumnMetadata) string {
	text := typeText(c.Type)
	if _, ok := c.Type.(cql.CollectionType); ok {
		return strings.TrimSuffix(strings.TrimPrefix(text, "frozen<"), ">")
	}
	return text
}

// addIndexes adds indexes of some columns.
func (r *random) addIndexes(ks *cql.KeyspaceMetadata, t *cql.TableMetadata) {
	if slices.Contains(t.Flags, "counter") {
		return
	}
	for i, column := range t.OrderedColumns {
		c := t.Columns[column]
		isKey := len(t.PartitionKey) == 1 && i == 0
		if isKey || r.IntN(2) == 0 || strings.Contains(c.Validator, "duration") {
			continue
		}
		parts := []string{""}
		switch info := c.Type.(type) {
		case cql.VectorType:
			continue
		case cql.CollectionType:
			parts = []string{"values", "keys", "entries"}
			if info.Type() != cql.TypeMap {
				parts = parts[:1]
			}
			if strings.HasPrefix(c.Validator, "frozen") {
				parts = []string{"full"}
			}
		}
		for _, part := range parts {
			name := fmt.Sprintf("%s_%d_%s", t.Name, i, part)
			ks.Indexes[name] = &cql.IndexMetadata{Name: name, Table: t.Name, Options: map[string]string{"target": target{part, column}.String()}}
		}
	}
}

// options returns settings.
func (r *random) options() Options {
	return Options{
		Null: []string{"", Pointer, Null, Plain}[r.IntN(4)], NoKeyspace: r.IntN(2) == 0, JSON: r.IntN(2) == 0, Tests: true,
		NotNull: []string{"a*.*"}, IfNotExists: []string{"[i-z]*"},
	}
}

// exports returns an importer of the export data of what generated code imports.
var exports = sync.OnceValues(func() (types.Importer, error) {
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}"}
	args = append(args, slices.DeleteFunc(slices.Clone(packages), func(p string) bool { return p == "" })...)
	out, err := exec.CommandContext(context.Background(), "go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[path] = file
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
	return importer.ForCompiler(token.NewFileSet(), "gc", open), nil
})

// requireTypes type-checks files as one package.
func requireTypes(t *testing.T, files []File) {
	t.Helper()
	imports, err := exports()
	require.NoError(t, err)
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, f := range files {
		one, err := parser.ParseFile(fset, f.Name, f.Text, parser.SkipObjectResolution)
		require.NoError(t, err)
		parsed = append(parsed, one)
	}
	config := types.Config{Importer: imports}
	_, err = config.Check("generated", fset, parsed, nil)
	require.NoError(t, err)
}

// FuzzGenerate requires that the code of a random schema of awkward names type-checks, that it is the same when it is
// generated again, and that a cluster accepts the schema of its tests.
func FuzzGenerate(f *testing.F) {
	soak.NoRace(f) // go list would build the packages without the race detector
	seeds := uint64(soak.Rounds(40))
	for seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := &random{Rand: rand.New(rand.NewPCG(seed, 1))}
		ks, o := r.keyspace(), r.options()
		files, _, err := Generate(ks, o)
		if errors.Is(err, ErrSchema) && seed >= seeds {
			t.Skip(err) // no table has a type of Go for its key; each of the seeds has one
		}
		require.NoError(t, err)
		again, _, err := Generate(ks, o)
		require.NoError(t, err)
		require.Equal(t, files, again)
		requireTypes(t, files)

		_, made, err := newModel(ks, &o)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "schema.cql")
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(made.Schema, ";\n")), 0o600))
		read, notes, err := ReadFiles(t.Context(), ks.Name, []string{path})
		require.NoError(t, err)
		require.Empty(t, notes)
		require.Len(t, read.Tables, len(made.Tables))
	})
}
