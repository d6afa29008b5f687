// SPDX-License-Identifier: Apache-2.0

// Package cores measures how the work of vecql's packages scales over processors, and reports it beside DuckDB and
// Polars. See run.sh.
package cores

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/vecql/vecql/bench/clickbench"
	groups "github.com/vecql/vecql/bench/groupby/data"
)

// The cases, in the order of their importance.

// Sizes are the sizes of the data.
type Sizes struct {
	Rows     int `json:"rows"`     // of table t, which is grouped and scanned
	Hits     int `json:"hits"`     // rows of ClickBench's table
	Vectors  int `json:"vectors"`  // rows of the matrix
	Dim      int `json:"dim"`      // elements of a vector
	Requests int `json:"requests"` // with small rows; there are a tenth as many with vectors
}

// Data is the data of the cases: files in a folder, and a server.
type Data struct {
	Sizes
	Dir     string
	Server  string   // the address of a null server, which runs in a process of its own
	Queries []string // names of queries of ClickBench; nil means Slowest
}

// Open returns the data in a folder.
func Open(dir string) (*Data, error) {
	d := &Data{Dir: dir}
	return d, groups.ReadManifest(dir, &d.Sizes)
}

// hitsDir is the folder of ClickBench's table.
func (d *Data) hitsDir() string { return filepath.Join(d.Dir, "hits") }

// A Case is one piece of work.
type Case struct {
	Name string
	// Open makes the data of the case in memory. The second function releases what the memory of Go does not hold.
	Open func(ctx context.Context) (Work, func(), error)
}

// A Work does the work of a case on n threads, and returns a function that converts the result to the answer.
type Work func(ctx context.Context, n int) (func() (*Answer, error), error)

// An Answer is the result of a case: rows, which are equal at all numbers of threads. Rows that are equal in the
// columns Keys may come in any order, and an answer with a limit may have some of them.
type Answer struct {
	Keys []int             `json:"keys,omitempty"`
	Rows clickbench.Answer `json:"rows"`
}

// one returns an answer of one row.
func one(values ...any) *Answer {
	row := make([]any, len(values))
	for i, v := range values {
		row[i] = json.Number(fmt.Sprint(v))
	}
	return &Answer{Rows: clickbench.Answer{row}}
}

// Check returns an error unless other rows can be the result of the same case.
func (a *Answer) Check(name string, rows clickbench.Answer) error {
	r := clickbench.Reference{Name: name}
	for _, row := range a.Rows {
		if k := len(r.Groups) - 1; k >= 0 && (len(a.Keys) == 0 || samePlace(r.Groups[k].Rows[0], row, a.Keys)) {
			r.Groups[k].Take++
			r.Groups[k].Rows = append(r.Groups[k].Rows, row)
			continue
		}
		r.Groups = append(r.Groups, clickbench.Group{Take: 1, Keys: a.Keys, Rows: [][]any{row}})
	}
	for i := range r.Groups {
		r.Groups[i].All = r.Groups[i].Take
		if len(a.Keys) > 0 {
			r.Groups[i].All++ // there may be more rows of the place, which the limit left out
		}
	}
	return r.Check(rows)
}

func samePlace(a, b []any, keys []int) bool {
	for _, k := range keys {
		if a[k] != b[k] {
			return false
		}
	}
	return true
}

// Cases returns all cases.
func (d *Data) Cases() []Case {
	grouped := d.grouping()
	return slices.Concat(d.limits(), grouped[:2], d.clickbench(), d.scanning(), grouped[2:], d.searching(), d.requests())
}
