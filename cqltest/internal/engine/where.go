// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Checks of WHERE clauses, like Cassandra's StatementRestrictions: which relations may be combined, and which need
// ALLOW FILTERING.

// restriction is one relation of a WHERE clause.
type restriction struct {
	cols  []*column // a single one, or the columns of a tuple
	op    cql.Operator
	tuple bool
	value *node          // right side that is one term: for a tuple, a tuple; with In, a list of values or of tuples
	parts []*node        // right side of a tuple that is spelled out, one per column
	list  []*restriction // In with a list: each item has value or parts
	key   *node          // m[key] = value
	exact bool           // equal values have equal bytes
	fold  bool           // texts are equal without regard to case
}

func (r *restriction) isSlice() bool {
	return r.op == cql.Lt || r.op == cql.Lte || r.op == cql.Gt || r.op == cql.Gte
}

func (r *restriction) isGreater() bool { return r.op == cql.Gt || r.op == cql.Gte }

// secondBound is the error of a second inequality of one direction for columns.
func (r *restriction) secondBound(columns string) error {
	return invalid("More than one restriction was found for the %s bound on %s",
		map[bool]string{true: "start", false: "end"}[r.isGreater()], columns)
}

func (r *restriction) isEq() bool { return r.op == cql.Eq && r.key == nil }

// where is a checked WHERE clause.
type where struct {
	t       *table
	all     []*restriction // relations of columns
	tokens  []*restriction // relations of token(...)
	nulls   []*restriction // IS NULL and IS NOT NULL of ScyllaDB: no other relation depends on them
	pk      []*restriction // by position: Eq or In; nil means another or none
	ck      []*restriction // relations of clustering columns
	keys    bool           // the whole partition key is restricted by Eq or In
	regular bool           // restricts columns that are neither keys nor static
	statics bool
	filters bool // some relations need filtering
	indexed bool // an index answers some relations
	tuples  bool // filters by an inequality of a tuple
	empty   bool // no row can match
	reads   bool // of SELECT
}

// where compiles and checks a WHERE clause. what is the statement: "SELECT", "UPDATE" or "DELETE".
func (c *compiler) where(relations []cql.Relation, what string) (*where, error) {
	w := &where{t: c.t, reads: what == "SELECT"}
	for _, rel := range relations {
		if rel.Op == cql.In && rel.Value == nil && len(rel.Values) == 1 {
			rel.Op, rel.Value, rel.Values = cql.Eq, rel.Values[0], nil
		}
		if err := c.relation(w, &rel, what); err != nil {
			return nil, err
		}
	}
	if err := w.mergeable(); err != nil {
		return nil, err
	}
	w.pk = make([]*restriction, len(c.t.pk))
	for _, r := range w.all {
		switch {
		case r.cols[0].kind == PartitionKey && !r.tuple && (r.isEq() || r.op == cql.In):
			w.pk[r.cols[0].pos] = r
		case r.cols[0].kind == Clustering:
			w.ck = append(w.ck, r)
		case r.cols[0].kind == Regular:
			w.regular = true
		case r.cols[0].kind == Static:
			w.statics = true
		}
	}
	w.keys = !slices.Contains(w.pk, nil)
	slices.SortStableFunc(w.ck, func(a, b *restriction) int { return a.cols[0].pos - b.cols[0].pos })
	if what == "SELECT" {
		return w, nil
	}
	return w, w.checkModification(what)
}

// mergeable checks relations on the same columns against each other.
func (w *where) mergeable() error {
	for i, a := range w.all {
		for _, b := range w.all[:i] {
			shared := slices.DeleteFunc(slices.Clone(a.cols), func(c *column) bool { return !slices.Contains(b.cols, c) })
			if len(shared) == 0 {
				continue
			}
			name := a.cols[0].name
			names := strings.ReplaceAll(strings.Trim(columnNames(shared), "()"), ", ", " ,")
			contains := func(r *restriction) bool { return r.op == cql.Contains || r.op == cql.ContainsKey || r.key != nil }
			switch {
			case contains(a) && contains(b):
			case contains(a) != contains(b):
				return invalid("Collection column %s can only be restricted by CONTAINS, CONTAINS KEY, or map-entry equality", name)
			case b.op == cql.Eq:
				return invalid("%s cannot be restricted by more than one relation if it includes an Equal", names)
			case b.op == cql.In:
				return invalid("%s cannot be restricted by more than one relation if it includes a IN", names)
			case !a.isSlice():
				return invalid("Column \"%s\" cannot be restricted by both an equality and an inequality relation", names)
			case a.cols[0] != b.cols[0]:
				return invalid("Column \"%s\" cannot be restricted by two inequalities not starting with the same column", name)
			case a.isGreater() == b.isGreater():
				return a.secondBound(columnNames(a.cols))
			}
		}
	}
	for i, a := range w.tokens {
		for _, b := range w.tokens[:i] {
			if a.op == cql.Eq || b.op == cql.Eq {
				return invalid("%s cannot be restricted by more than one relation if it includes an Equal", columnNames(a.cols))
			}
			if a.isGreater() == b.isGreater() {
				return a.secondBound(strings.Trim(columnNames(a.cols), "()"))
			}
		}
	}
	if len(w.tokens) > 0 {
		for _, r := range w.all {
			if r.cols[0].kind == PartitionKey && !(r.isEq() || r.op == cql.In) {
				return invalid("Columns \"%s\" cannot be restricted by both a normal relation and a token relation", r.cols[0].name)
			}
		}
	}
	return nil
}

func columnNames(cols []*column) string {
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = c.name
	}
	if len(names) == 1 {
		return names[0]
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// missing returns the columns of the partition key that no Eq or In restricts.
func (w *where) missing() string {
	var names []string
	for i, r := range w.pk {
		if r == nil {
			names = append(names, w.t.pk[i].name)
		}
	}
	return strings.Join(names, ", ")
}

// checkModification returns an error unless the clause of an UPDATE or DELETE, which what names, restricts the primary
// key and nothing else.
func (w *where) checkModification(what string) error {
	var others []string
	for _, r := range w.all {
		switch k := r.cols[0].kind; {
		case k == Regular || k == Static:
			others = append(others, quoteName(r.cols[0].name))
		case k == PartitionKey && w.pk[r.cols[0].pos] == nil:
			return invalid("Only EQ and IN relation are supported on the partition key (unless you use the token() function) for %s statements",
				what)
		}
	}
	if !w.keys {
		return invalid("Some partition key parts are missing: %s", w.missing())
	}
	if what == "UPDATE" && slices.ContainsFunc(w.ck, (*restriction).isSlice) {
		return invalid("Slice restrictions are not supported on the clustering columns in UPDATE statements")
	}
	if err := w.behindSlice(); err != nil {
		return err
	}
	if err := w.behindGap(); err != nil {
		return err
	}
	if len(others) > 0 {
		return invalid("Non PRIMARY KEY columns found in where clause: %s ", strings.Join(others, ", "))
	}
	return nil
}

// behindSlice refuses restrictions of clustering columns after one with an inequality.
func (w *where) behindSlice() error {
	var sliced *restriction
	tuple := false
	for _, r := range w.ck {
		if sliced != nil && r.cols[0].pos > sliced.cols[0].pos {
			if tuple || len(r.cols) > 1 && w.touchesIndex(r) {
				return invalid(filteringMessage)
			}
			return invalid("Clustering column \"%s\" cannot be restricted (preceding column \"%s\" is restricted by a non-EQ relation)",
				r.cols[0].name, sliced.cols[0].name)
		}
		if r.isSlice() {
			sliced, tuple = r, tuple || len(r.cols) > 1
		}
	}
	return nil
}

// behindGap refuses restrictions of clustering columns after an unrestricted one.
func (w *where) behindGap() error {
	next := 0
	for _, r := range w.ck {
		col := r.cols[0]
		if r.op == cql.Contains || r.op == cql.ContainsKey {
			return invalid("Clustering columns can only be restricted with CONTAINS with a secondary index or filtering")
		}
		if col.pos > next {
			if len(r.cols) > 1 && w.touchesIndex(r) {
				return invalid(filteringMessage)
			}
			return invalid("PRIMARY KEY column \"%s\" cannot be restricted as preceding column \"%s\" is not restricted",
				col.name, w.t.ck[next].name)
		}
		if !r.isSlice() {
			next = max(next, col.pos+len(r.cols))
		}
	}
	return nil
}

// checkSelect makes the checks that precede the checks of checkFiltering in Cassandra. statics means that only static
// columns and columns of the partition key are selected, ann that the rows are ordered by a vector index.
func (w *where) checkSelect(filtering, statics, ann bool) error {
	var others []*restriction // relations that a lookup by key does not answer
	partly := false
	for _, r := range w.all {
		switch r.cols[0].kind {
		case PartitionKey:
			if !w.keys {
				others, partly = append(others, r), true
			}
		case Regular, Static:
			others = append(others, r)
		}
	}
	if len(w.ck) > 0 && !w.keys || w.behindSlice() != nil || w.behindGap() != nil {
		others = append(others, w.ck...)
	}
	for _, r := range w.all {
		searched := func(i *index) bool { return i.sai && i.column == r.cols[0].name }
		if !ann && r.cols[0].typ.Kind == KindVector && slices.ContainsFunc(w.t.indexes, searched) {
			return invalid("Vector indexes only support ANN queries")
		}
	}
	w.filters = len(w.nulls) > 0 || len(others) > 0 && !w.supported(others, ann)
	indexedTuple := slices.ContainsFunc(others, func(r *restriction) bool {
		return r.isSlice() && len(r.cols) > 1 && w.touchesIndex(r)
	})
	w.tuples = indexedTuple || w.filteredTuple()
	w.indexed = ann || indexedTuple || w.someIndex(others)
	w.chooseIndex(others)
	free := filtering || w.indexed
	switch {
	case !filtering && w.behindSlice() != nil:
		return w.behindSlice()
	case partly && !free:
		return invalid(filteringMessage)
	case statics && len(w.ck) > 0:
		return invalid("Cannot restrict clustering columns when selecting only static columns")
	case !free && w.behindGap() != nil:
		return w.behindGap()
	case !free && (w.regular || w.statics):
		return invalid(filteringMessage)
	case w.indexed && slices.ContainsFunc(w.pk, func(r *restriction) bool { return r != nil && r.op == cql.In }):
		return invalid("Select on indexed columns and with IN clause for the PRIMARY KEY are not supported")
	case ann && (partly || w.unindexed(others)):
		return invalid("ANN ordering by vector requires all restricted column(s) to be indexed")
	}
	return nil
}

func (w *where) checkFiltering(filtering bool) error {
	if w.filters && !filtering {
		return invalid(filteringMessage)
	}
	if w.tuples {
		return invalid("Multi-column slice restrictions cannot be used for filtering.")
	}
	return nil
}

// filteredTuple reports whether an inequality of a tuple is behind a gap or another inequality, so that rows would have
// to be filtered by it.
func (w *where) filteredTuple() bool {
	next := 0
	for _, r := range w.ck {
		if r.tuple && r.isSlice() && r.cols[0].pos > next {
			return true
		}
		if !r.isSlice() {
			next = max(next, r.cols[0].pos+len(r.cols))
		}
	}
	return false
}

// chooseIndex finds the relation that an older index answers, unless storage-attached ones answer some. An older index
// compares bytes: decimals with other scales differ. With the whole partition key it reads rows, and so does not find a
// static column. A storage-attached index with case_sensitive = false finds texts of another case.
func (w *where) chooseIndex(rs []*restriction) {
	var chosen *restriction
	attached := false
	for _, r := range rs {
		for _, i := range w.t.indexes {
			switch {
			case !i.answers(r):
			case i.sai:
				attached = true
				r.fold = r.fold || strings.EqualFold(i.options["case_sensitive"], "false")
			case chosen == nil:
				chosen = r
			}
		}
	}
	if chosen != nil && !attached {
		chosen.exact = true
		w.empty = chosen.cols[0].kind == Static && w.keys && len(w.ck) > 0
	}
}

// aggregationWarning returns Cassandra's warning for an aggregation with this clause, "" for none.
func (w *where) aggregationWarning() string {
	restricted := len(w.tokens) > 0
	for _, r := range w.all {
		if r.cols[0].kind != PartitionKey {
			continue
		}
		if restricted = true; r.op == cql.In {
			return "Aggregation query used on multiple partition keys (IN restriction)"
		}
	}
	if restricted {
		return ""
	}
	return "Aggregation query used without partition key"
}

// touchesIndex reports whether one of the columns of the restriction has a storage-attached index.
func (w *where) touchesIndex(r *restriction) bool {
	return slices.ContainsFunc(w.t.indexes, func(i *index) bool {
		return i.sai && slices.ContainsFunc(r.cols, func(c *column) bool { return c.name == i.column })
	})
}

func (w *where) someIndex(rs []*restriction) bool {
	return slices.ContainsFunc(rs, func(r *restriction) bool {
		return slices.ContainsFunc(w.t.indexes, func(i *index) bool { return i.answers(r) })
	})
}

// supported reports whether indexes answer all of rs: any number of storage-attached indexes together, but only one
// older index, and that not with a search by a vector.
func (w *where) supported(rs []*restriction, ann bool) bool {
	for _, r := range rs {
		found := false
		for _, i := range w.t.indexes {
			found = found || i.answers(r) && (i.sai || len(rs) == 1 && !ann)
		}
		if !found {
			return false
		}
	}
	return true
}

// unindexed reports whether a column of rs has no index.
func (w *where) unindexed(rs []*restriction) bool {
	return slices.ContainsFunc(rs, func(r *restriction) bool {
		return slices.ContainsFunc(r.cols, func(c *column) bool {
			return !slices.ContainsFunc(w.t.indexes, func(i *index) bool { return i.column == c.name })
		})
	})
}

// answers reports whether the index can find the rows of the restriction.
func (i *index) answers(r *restriction) bool {
	col := r.cols[0]
	if len(r.cols) != 1 || col.name != i.column {
		return false
	}
	kind := strings.TrimSuffix(i.target, "("+quoteName(col.name)+")")
	if kind == i.target {
		kind = "column"
	}
	switch {
	case r.key != nil:
		return kind == "entries"
	case r.op == cql.ContainsKey:
		return kind == "keys"
	case r.op == cql.Contains:
		return kind == "values"
	case r.op == cql.Eq:
		return kind == "column" || kind == "full"
	case r.isSlice() && i.sai && kind == "column":
		switch col.typ.Kind {
		case KindText, KindASCII, KindBoolean, KindUUID, KindBlob, KindVector:
			return false
		}
		return true
	}
	return false
}
