// SPDX-License-Identifier: Apache-2.0

// Package data makes the table of the group-by benchmark of h2o.ai (db-benchmark) as one Parquet file, by code of its
// own: equal options make equal files, on any number of processors.
//
// A table of N rows and K groups has these columns; all numbers are uniform:
//
//	id1, id2  text     "id001" to K, in at least three digits
//	id3       text     "id0000000001" to N/K, in ten digits
//	id4, id5  int32    1 to K
//	id6       int32    1 to N/K
//	v1        int32    1 to 5
//	v2        int32    1 to 15
//	v3        float64  0 to 100, with six digits after the point
//
// Rows are in random order, or sorted by id1 to id6, NULL first. With P percent of NULLs, P percent of the values of
// each id column, rounded down, are NULL in all of their rows, and about P percent of the rows of v1, v2 and v3 are
// NULL.
package data

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"

	groups "github.com/vecql/vecql/bench/groupby/data"
)

// Options select the table.
type Options struct {
	Rows   int    `json:"rows"`   // N
	Groups int    `json:"groups"` // K
	Nulls  int    `json:"nulls"`  // P
	Sorted bool   `json:"sorted"`
	Seed   uint64 `json:"seed"`
}

// Cases are the tables of db-benchmark: 100 groups in id1, 10, and 2, where id3 is nearly distinct; 5 percent of NULLs;
// sorted rows.
var Cases = []string{"k100", "k10", "k2", "k100-nulls5", "k100-sorted"}

// Case returns the name of the options: k100, k2-nulls5-sorted.
func (o Options) Case() string {
	name := fmt.Sprint("k", o.Groups)
	if o.Nulls > 0 {
		name += fmt.Sprint("-nulls", o.Nulls)
	}
	if o.Sorted {
		name += "-sorted"
	}
	return name
}

var caseName = regexp.MustCompile(`^k(\d{1,9})(?:-nulls(\d{1,2}))?(-sorted)?$`)

// ParseCase returns the options of a case.
func ParseCase(name string, rows int, seed uint64) (Options, error) {
	m := caseName.FindStringSubmatch(name)
	if m == nil {
		return Options{}, fmt.Errorf("case %q: want k100, k100-nulls5, k100-sorted or k100-nulls5-sorted", name)
	}
	o := Options{Rows: rows, Sorted: m[3] != "", Seed: seed}
	o.Groups, _ = strconv.Atoi(m[1])
	o.Nulls, _ = strconv.Atoi(m[2]) // "" is 0
	return o, o.check()
}

func (o Options) check() error {
	switch {
	case o.Rows < 1 || o.Rows > 1<<30:
		return fmt.Errorf("%d rows, want 1 to %d", o.Rows, 1<<30)
	case o.Groups < 1 || o.Groups > o.Rows:
		return fmt.Errorf("%d groups of %d rows", o.Groups, o.Rows)
	case o.Nulls < 0 || o.Nulls > 99:
		return errors.New("want 0 to 99 percent of NULLs")
	}
	return nil
}

// A row is the numbers of a row; NULL is zero, and -1 in v3.
type row struct {
	ids    [6]int32
	v3     int32 // in millionths
	v1, v2 int8
}

// golden spreads small numbers before groups.Mix.
const golden = 0x9e3779b97f4a7c15

// hash returns a number that depends on the seed and on the cell of a column and a row, or of a column and a value.
func (o Options) hash(column, cell uint64) uint64 {
	return groups.Mix(groups.Mix(cell+o.Seed*golden) ^ (column+1)*golden)
}

// Columns of hash: 0 to 8 are the values of the columns, and these are added for the choice of NULLs.
const nulls = 16

// isNull reports whether a value is NULL in a row.
func (o Options) isNull(column, cell uint64) bool {
	return o.Nulls > 0 && o.hash(column+nulls, cell)%100 < uint64(o.Nulls)
}

// isNullID reports whether one of n values of an id is NULL: these are neighbors, from a random one on.
func (o Options) isNullID(column, value, n uint64) bool {
	return (value+o.hash(column+nulls, 0)%n)%n < n*uint64(o.Nulls)/100
}

// row returns a row of the table before it is sorted.
func (o Options) row(i int) row {
	var r row
	for c := range r.ids {
		n := uint64(o.Groups)
		if c == 2 || c == 5 {
			n = uint64(o.Rows / o.Groups)
		}
		value := o.hash(uint64(c), uint64(i)) % n
		if !o.isNullID(uint64(c), value, n) {
			r.ids[c] = int32(value) + 1
		}
	}
	cell := uint64(i)
	if r.v1 = int8(o.hash(6, cell)%5) + 1; o.isNull(6, cell) {
		r.v1 = 0
	}
	if r.v2 = int8(o.hash(7, cell)%15) + 1; o.isNull(7, cell) {
		r.v2 = 0
	}
	if r.v3 = int32(o.hash(8, cell) % 100_000_001); o.isNull(8, cell) {
		r.v3 = -1
	}
	return r
}
