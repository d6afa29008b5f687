// SPDX-License-Identifier: Apache-2.0

// Package data makes the Parquet files of the benchmarks, keeps them in a folder that programs in any language can
// read, and computes the answers.
package data

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"

	groups "github.com/vecql/vecql/bench/groupby/data"
)

// The manifest of the folder: tables, which are files, and cases, which are queries on a table with their answers.

// Options select the data. Files of other Options are replaced.
type Options struct {
	Seed    uint64 `json:"seed"`
	Rows    int    `json:"rows"`    // of table t
	Codec   string `json:"codec"`   // of table t: none, snappy or zstd
	Vectors int    `json:"vectors"` // rows of the embeddings
	Dim     int    `json:"dim"`     // float32 each
}

// MaxRows bounds the rows of t: up to it the sum of column f is exact in any order.
const MaxRows = 1 << 25

func (o Options) check() error {
	switch {
	case o.Rows < 230 || o.Rows > MaxRows:
		return fmt.Errorf("%d rows, want 230 to %d", o.Rows, MaxRows)
	case o.Vectors < 50 || o.Dim < 1 || o.Dim > 1<<16:
		return fmt.Errorf("%d vectors of %d elements, want at least 50 of 1 to 65536", o.Vectors, o.Dim)
	}
	_, err := codec(o.Codec)
	return err
}

// A Manifest is manifest.json of a folder.
type Manifest struct {
	Options
	Tables []*Table `json:"tables"`
	Cases  []*Case  `json:"cases"`
}

// A Table is a folder of files of the same columns. Its rows are in the order of the files' names. All layouts of t,
// and of embeddings, have the same row groups.
type Table struct {
	Name      string `json:"name"`
	Files     int    `json:"files"`
	RowGroups int    `json:"row_groups"`
	Rows      int    `json:"rows"`
	Bytes     int64  `json:"bytes"`
}

// path returns the path of one file or a pattern, relative to the folder of the manifest.
func (t *Table) path() string {
	if t.Files == 1 {
		return t.Name + "/" + fileName(0)
	}
	return t.Name + "/*.parquet"
}

func fileName(i int) string { return fmt.Sprintf("part-%03d.parquet", i) }

// A Case is a query on a table. Its name has the form of a benchmark's name: query=groupby/groups=1k/layout=one.
// Queries are
//
//	count       the number of rows
//	sum         the sum of a column
//	groupby     SELECT keys, aggs FROM table GROUP BY keys
//	embeddings  all ids, and all vectors as one matrix of float32
type Case struct {
	groups.Case        // Keys and Aggs are the query, Answer is its result; count and sum have one group without keys
	Query       string `json:"query"`
	Path        string `json:"path"` // one file, or a pattern, in the folder
	// Vectors is the answer of embeddings.
	Vectors *Vectors `json:"vectors,omitempty"`
}

// Columns returns the columns that a case needs.
func (c *Case) Columns() []string {
	if c.Query == "embeddings" {
		return []string{"id", "embedding"}
	}
	return append(append([]string(nil), c.Keys...), c.Values()...)
}

// Vectors are checksums of a matrix.
type Vectors struct {
	Rows int    `json:"rows"`
	Dim  int    `json:"dim"`
	IDs  uint64 `json:"ids"`  // the sum of all ids
	Bits uint64 `json:"bits"` // the sum of the bits of all elements, times 1 + id, modulo 2^64
	// Sums are the sums of the vectors with ids 0, Rows/2 and Rows-1, to within a millionth.
	Sums [3]float64 `json:"sums"`
}

// A Matrix is the answer of embeddings: rows in any order, the same for ids and vectors.
type Matrix struct {
	IDs    []int64
	Values []float32 // row after row
	Dim    int
}

// Vectors returns the checksums of the matrix.
func (m *Matrix) Vectors() *Vectors {
	v := &Vectors{Rows: len(m.IDs), Dim: m.Dim}
	for i, id := range m.IDs {
		v.add(id, m.Values[i*m.Dim:(i+1)*m.Dim], len(m.IDs))
	}
	return v
}

// add adds a row of a matrix of that many rows.
func (v *Vectors) add(id int64, values []float32, rows int) {
	v.IDs += uint64(id)
	var bits uint64
	for _, x := range values {
		bits += uint64(math.Float32bits(x))
	}
	v.Bits += bits * uint64(1+id)
	for k, want := range [...]int{0, rows / 2, rows - 1} {
		if id == int64(want) {
			for _, x := range values {
				v.Sums[k] += float64(x)
			}
		}
	}
}

// Equal reports whether two are checksums of the same matrix.
func (v *Vectors) Equal(o *Vectors) bool {
	for i := range v.Sums {
		if !(math.Abs(v.Sums[i]-o.Sums[i]) < 1e-6) {
			return false
		}
	}
	return v.Rows == o.Rows && v.Dim == o.Dim && v.IDs == o.IDs && v.Bits == o.Bits
}

func (v *Vectors) String() string {
	return fmt.Sprintf("%d vectors of %d, ids %d, bits %016x, sums %v", v.Rows, v.Dim, v.IDs, v.Bits, v.Sums)
}

// A Set is a folder of tables.
type Set struct {
	Manifest
	dir string
}

// Open returns the set in a folder.
func Open(dir string) (*Set, error) {
	s := &Set{dir: dir}
	return s, groups.ReadManifest(dir, &s.Manifest)
}

// Path returns the path of a case: one file, or a pattern.
func (s *Set) Path(c *Case) string { return filepath.Join(s.dir, filepath.FromSlash(c.Path)) }

func (s *Set) save() error { return groups.WriteManifest(s.dir, s.Manifest) }

// find returns a table of the manifest whose files exist, or nil.
func (s *Set) find(name string) *Table {
	for _, t := range s.Tables {
		if t.Name != name {
			continue
		}
		var size int64
		for i := range t.Files {
			info, err := os.Stat(filepath.Join(s.dir, name, fileName(i)))
			if err != nil {
				return nil
			}
			size += info.Size()
		}
		if size == t.Bytes {
			return t
		}
	}
	return nil
}

// matches reports whether a case of a table matches; a nil match matches all.
func matches(match *regexp.Regexp, cases []*Case) bool {
	for _, c := range cases {
		if match == nil || match.MatchString(c.Name) {
			return true
		}
	}
	return false
}
