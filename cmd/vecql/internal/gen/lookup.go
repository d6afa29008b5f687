// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"cmp"
	"slices"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// What the indexes of a table find.

// A lookup is an index that selects rows.
type lookup struct {
	Name      string // of the method or the field
	Index     string
	Condition string  // in CQL
	Params    []field // the values of the condition
	target    target
}

// addLookups adds the methods for indexes of columns and of collections, and the searches for indexes of vectors.
func (m *maker) addLookups(t *table) {
	names, done := nameSet{}, map[target]bool{}
	for _, index := range t.meta.indexes {
		l, isSearch := m.lookup(t, targetOf(index))
		switch {
		case done[l.target]:
			continue
		case l.Name == "":
			m.note("index %s of table %s has no method: its target is %s", title(index.Name), t.Title,
				cmp.Or(title(index.Options["target"]), "unknown"))
			continue
		}
		done[l.target] = true
		l.Name, l.Index = names.add(l.Name), title(index.Name)
		if isSearch {
			t.Searches = append(t.Searches, l)
		} else {
			t.Lookups = append(t.Lookups, l)
		}
	}
	byName := func(a, b lookup) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(t.Searches, byName)
	slices.SortFunc(t.Lookups, byName)
}

// lookup returns the lookup of a target, or the search of a column of vectors. The lookup has no name if the target
// selects no rows: a static column, the whole partition key, vectors whose elements are not floats.
func (m *maker) lookup(t *table, of target) (l lookup, isSearch bool) {
	at := slices.IndexFunc(t.Fields, func(f field) bool { return f.Column == of.column })
	if at < 0 || len(t.Partition) == 1 && at == 0 {
		return lookup{}, false
	}
	f := t.Fields[at]
	l = lookup{Condition: where([]field{f}), Params: []field{f}, target: of}
	switch info := f.info.(type) {
	case cql.VectorType:
		if of.part == "" && info.SubType.Type() == cql.TypeFloat {
			l.Name = "Search" + f.Name
		}
		return l, true
	case cql.CollectionType:
		m.findPart(&l, f, info)
	default:
		if of.part == "" {
			l.Name = "By" + f.Name
		}
	}
	return l, false
}

// findPart sets the lookup of a part of a collection.
func (m *maker) findPart(l *lookup, f field, info cql.CollectionType) {
	column := cqltext.Identifier(f.Column)
	isMap := info.Type() == cql.TypeMap
	value := m.param(f, "value", info.Elem)
	switch {
	case l.target.part == "full":
		l.Name = "By" + f.Name
	case l.target.part == "values":
		l.Name, l.Condition, l.Params = "By"+f.Name+"Value", column+" CONTAINS ?", []field{value}
	case l.target.part == "keys" && isMap:
		l.Name, l.Condition = "By"+f.Name+"Key", column+" CONTAINS KEY ?"
		l.Params = []field{m.param(f, "key", info.Key)}
	case l.target.part == "entries" && isMap:
		l.Name, l.Condition = "By"+f.Name+"Entry", column+"[?] = ?"
		l.Params = []field{m.param(f, "key", info.Key), value}
	}
}

// param returns a parameter for a part of a collection, whose column has a type of Go.
func (m *maker) param(of field, name string, t cql.TypeInfo) field {
	plain, _ := m.goType(t, false)
	return field{Column: of.Column, Param: name, Plain: plain, info: t}
}
