// SPDX-License-Identifier: Apache-2.0

package data

import (
	"fmt"

	groups "github.com/vecql/vecql/bench/groupby/data"
)

// The tables and their cases.

// The number of files of a table, by the name of the layout.
var layouts = []struct {
	name  string
	files int
}{{"one", 1}, {"ten", 10}, {"hundred", 100}}

// rowGroupsOfT and rowGroupsOfVectors are the approximate numbers of row groups of a table.
const (
	rowGroupsOfT       = 230
	rowGroupsOfVectors = 50
)

// keyGroups are the integer keys with few values: column k1k has 1000, from 0.
var keyGroups = []struct {
	name   string
	groups int
}{{"10", 10}, {"1k", 1000}, {"100k", 100_000}, {"5m", 5_000_000}}

// A spec is a table to make, and its cases.
type spec struct {
	Table
	codec string
	cases []*Case
}

// add adds a case; name is the name without the layout.
func (s *spec) add(layout, name, query string, keys []string, aggs ...groups.Agg) {
	s.cases = append(s.cases, &Case{
		Case:  groups.Case{Name: name + "/layout=" + layout, Table: s.Name, Keys: keys, Aggs: aggs},
		Query: query, Path: s.path(),
	})
}

// tables returns the layouts of t.
func (o Options) tables() []*spec {
	count := groups.Agg{Func: "count"}
	sum := func(column string) groups.Agg { return groups.Agg{Func: "sum", Column: column} }
	var specs []*spec
	for _, l := range layouts {
		s := &spec{Table: Table{Name: "t-" + l.name, Files: l.files, Rows: o.Rows}, codec: o.Codec}
		s.RowGroups = split(o.Rows, rowGroupsOfT).number()
		s.add(l.name, "query=count", "count", nil, count)
		s.add(l.name, "query=sum/col=v", "sum", nil, sum("v"))
		s.add(l.name, "query=sum/col=f", "sum", nil, sum("f"))
		for _, k := range keyGroups {
			s.add(l.name, "query=groupby/groups="+k.name, "groupby", []string{"k" + k.name}, count, sum("v"))
		}
		s.add(l.name, "query=groupby/groups=near", "groupby", []string{"near"}, count)
		s.add(l.name, "query=groupby/key=s", "groupby", []string{"s"}, count, sum("v"))
		specs = append(specs, s)
	}
	return specs
}

// embeddings returns the tables of vectors: one file per codec, and ten without compression.
func (o Options) embeddings() []*spec {
	var specs []*spec
	add := func(codec string, layout int) {
		l := layouts[layout]
		s := &spec{
			Table: Table{Name: fmt.Sprintf("embeddings-%s-%s", codec, l.name), Files: l.files, Rows: o.Vectors},
			codec: codec,
		}
		s.RowGroups = split(o.Vectors, rowGroupsOfVectors).number()
		s.add(l.name, "query=embeddings/codec="+codec, "embeddings", nil)
		specs = append(specs, s)
	}
	for _, codec := range []string{"none", "snappy", "zstd"} {
		add(codec, 0)
	}
	add("none", 1)
	return specs
}

// A division splits rows into pieces of equal size; the last piece may be smaller.
type division struct{ rows, size int }

// split divides rows into about n pieces.
func split(rows, n int) division { return division{rows, max(1, (rows+n/2)/n)} }

func (d division) number() int { return (d.rows + d.size - 1) / d.size }

// piece returns the first row and the number of rows of a piece.
func (d division) piece(i int) (start, rows int) { return i * d.size, min(d.size, d.rows-i*d.size) }
