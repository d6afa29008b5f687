// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"hash/fnv"
	"iter"
	"slices"
	"strings"
)

// The tables of a keyspace: a persistent map by name, so that CREATE TABLE does not copy the others.

// tableMap is a persistent map: buckets by the hashes of the names. with and without copy one bucket and the list of
// buckets. The zero value is empty.
type tableMap struct{ buckets *[tableBuckets][]*table }

const tableBuckets = 256

func bucketOf(name string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return int(h.Sum32() % tableBuckets)
}

// get returns the table, nil for none.
func (m tableMap) get(name string) *table {
	if m.buckets == nil {
		return nil
	}
	for _, t := range m.buckets[bucketOf(name)] {
		if t.name == name {
			return t
		}
	}
	return nil
}

// with returns the map with t added, or in place of the table of its name.
func (m tableMap) with(t *table) tableMap {
	next := m.without(t.name)
	b := &next.buckets[bucketOf(t.name)]
	*b = append(*b, t)
	return next
}

// without returns the map without the table.
func (m tableMap) without(name string) tableMap {
	next := tableMap{new([tableBuckets][]*table)}
	if m.buckets != nil {
		*next.buckets = *m.buckets
	}
	b := &next.buckets[bucketOf(name)]
	*b = slices.DeleteFunc(slices.Clone(*b), func(t *table) bool { return t.name == name })
	return next
}

// all yields the tables in any order.
func (m tableMap) all() iter.Seq[*table] {
	return func(yield func(*table) bool) {
		if m.buckets == nil {
			return
		}
		for _, bucket := range m.buckets {
			for _, t := range bucket {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// sorted returns the tables by name.
func (m tableMap) sorted() []*table {
	return slices.SortedFunc(m.all(), func(a, b *table) int { return strings.Compare(a.name, b.name) })
}
