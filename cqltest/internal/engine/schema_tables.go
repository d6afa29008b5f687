// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"hash/fnv"
	"iter"
	"slices"
	"strings"
)

// The tables of a keyspace: a persistent map by name, so that CREATE TABLE does not copy the others.

// tableMap is a persistent map: a trie of 4 bits of the hashes of the names per level. with and without copy one path.
// The zero value is empty.
type tableMap struct{ root *tableNode }

// tableNode is a node of a tableMap; nil is an empty one. A node with children has no tables of its own.
type tableNode struct {
	children *[16]*tableNode
	tables   []*table // of a leaf, in any order
}

const (
	leafTables = 8  // a leaf with more is split
	trieDepth  = 16 // levels of a hash of 64 bits
)

func nameHash(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}

// get returns the table, nil for none.
func (m tableMap) get(name string) *table {
	n := m.root
	for h := nameHash(name); n != nil && n.children != nil; h >>= 4 {
		n = n.children[h&15]
	}
	if n != nil {
		for _, t := range n.tables {
			if t.name == name {
				return t
			}
		}
	}
	return nil
}

// with returns the map with t added, or in place of the table of its name.
func (m tableMap) with(t *table) tableMap { return tableMap{m.root.with(t, nameHash(t.name), 0)} }

// without returns the map without the table.
func (m tableMap) without(name string) tableMap {
	return tableMap{m.root.without(name, nameHash(name))}
}

// with adds t to a node at depth. hash is the rest of the hash of the name.
func (n *tableNode) with(t *table, hash uint64, depth int) *tableNode {
	if n == nil {
		return &tableNode{tables: []*table{t}}
	}
	if n.children != nil {
		children := *n.children
		children[hash&15] = children[hash&15].with(t, hash>>4, depth+1)
		return &tableNode{children: &children}
	}
	tables := append(slices.DeleteFunc(slices.Clone(n.tables), func(o *table) bool { return o.name == t.name }), t)
	if len(tables) <= leafTables || depth == trieDepth {
		return &tableNode{tables: tables}
	}
	var children [16]*tableNode
	for _, o := range tables {
		h := nameHash(o.name) >> (4 * depth)
		children[h&15] = children[h&15].with(o, h>>4, depth+1)
	}
	return &tableNode{children: &children}
}

func (n *tableNode) without(name string, hash uint64) *tableNode {
	switch {
	case n == nil:
		return nil
	case n.children != nil:
		children := *n.children
		children[hash&15] = children[hash&15].without(name, hash>>4)
		return &tableNode{children: &children}
	}
	return &tableNode{tables: slices.DeleteFunc(slices.Clone(n.tables), func(o *table) bool { return o.name == name })}
}

// all yields the tables in any order.
func (m tableMap) all() iter.Seq[*table] { return func(yield func(*table) bool) { m.root.each(yield) } }

func (n *tableNode) each(yield func(*table) bool) bool {
	if n == nil {
		return true
	}
	for _, t := range n.tables {
		if !yield(t) {
			return false
		}
	}
	if n.children != nil {
		for _, c := range n.children {
			if !c.each(yield) {
				return false
			}
		}
	}
	return true
}

// sorted returns the tables by name.
func (m tableMap) sorted() []*table {
	return slices.SortedFunc(m.all(), func(a, b *table) int { return strings.Compare(a.name, b.name) })
}
