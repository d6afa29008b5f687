// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"slices"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Preparation of INSERT, UPDATE and DELETE.

// modifyPlan is a prepared INSERT, UPDATE or DELETE.
type modifyPlan struct {
	t         *table
	kind      StatementKind
	where     *where // of INSERT: an Eq for each key column
	changes   []change
	rows      bool // DELETE of whole rows
	statics   bool // touches only static columns
	timestamp *node
	ttl       *node
	notExists bool
	exists    bool
	conds     []*condition
	layout    *layout // of INSERT: of packed rows; nil means that rows are not packed
	cells     []*node // of layout
}

func (m *modifyPlan) conditional() bool { return m.notExists || m.exists || len(m.conds) > 0 }

// change is the effect of a statement on one column.
type change struct {
	col *column
	// ops appends the operations on the column; none for a value that is not set.
	ops func(x *env, w *writing, dst []op) ([]op, error)
}

// writing is the timestamp and TTL of one write.
type writing struct {
	ts      int64
	ttl     int32
	expires int64
	sec     int64
}

func (w *writing) cell(b []byte) cell {
	if b == nil {
		return w.tombstone()
	}
	return cell{value: b, ts: w.ts, ttl: w.ttl, expires: w.expires}
}

func (w *writing) tombstone() cell { return cell{ts: w.ts, deleted: true, expires: w.sec} }

// using prepares TIMESTAMP and TTL. Both are errors for counters, and TIMESTAMP for conditional statements.
func (c *compiler) using(m *modifyPlan, u *cql.Using) error {
	var err error
	if u.Timestamp != nil {
		if m.timestamp, err = c.term(u.Timestamp, c.t.spec("[timestamp]", Native("bigint"))); err != nil {
			return err
		}
	}
	if u.TTL != nil {
		if m.ttl, err = c.term(u.TTL, c.t.spec("[ttl]", Native("int"))); err != nil {
			return err
		}
	}
	if c.t.counter {
		if m.conditional() {
			return invalid("Conditional updates are not supported on counter tables")
		}
		if m.timestamp != nil {
			return invalid("Cannot provide custom timestamp for counter updates")
		}
		if m.ttl != nil {
			return invalid("Cannot provide custom TTL for counter updates")
		}
	}
	if m.timestamp != nil && m.conditional() {
		return invalid("Cannot provide custom timestamp for conditional updates")
	}
	return nil
}

// writable finds the table of a modification and refuses virtual tables.
func (c *compiler) writable(n cql.Name) (*table, error) {
	t, err := c.s.table(c.ks, n.Keyspace, n.Name)
	if err != nil {
		return nil, err
	}
	if virtualKeyspaces[t.ks] {
		return nil, invalid("Modification is not supported by table %s.%s", t.ks, t.name)
	}
	if t.virtual != nil {
		return nil, &Error{Code: CodeUnauthorized, Message: t.ks + " keyspace is not user-modifiable."}
	}
	if t.isLog {
		return nil, invalid("Cannot modify table %s.%s: it is a CDC log", t.ks, t.name)
	}
	c.t = t
	return t, nil
}

// insert prepares INSERT. Its key values become restrictions of m.where, so that all three statements find their rows
// in one way.
func (c *compiler) insert(s *cql.Insert) (*modifyPlan, error) {
	t, err := c.writable(s.Table)
	if err != nil {
		return nil, err
	}
	if t.counter {
		return nil, invalid("INSERT statements are not allowed on counter tables, use UPDATE instead")
	}
	names, value, err := c.insertValues(s)
	if err != nil {
		return nil, err
	}
	m := &modifyPlan{t: t, kind: StatementInsert, notExists: s.IfNotExists}
	w := &where{t: t, pk: make([]*restriction, len(t.pk)), keys: true}
	ck := make([]*restriction, len(t.ck))
	seen := map[string]bool{}
	var columns []*column
	for i, name := range names {
		col, err := t.lookup(name)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, invalid("The column names contains duplicates")
		}
		seen[name] = true
		n, err := value(i, col)
		if err != nil {
			return nil, err
		}
		columns, m.cells = append(columns, col), append(m.cells, n)
		if !col.isKey() {
			m.changes = append(m.changes, assigned(col, n))
			continue
		}
		r := &restriction{cols: []*column{col}, op: cql.Eq, value: n}
		if w.all = append(w.all, r); col.kind == PartitionKey {
			w.pk[col.pos] = r
		} else {
			ck[col.pos] = r
		}
	}
	if missing := w.missing(); missing != "" {
		return nil, invalid("Some partition key parts are missing: %s", missing)
	}
	given := slices.IndexFunc(ck, func(r *restriction) bool { return r != nil }) >= 0
	m.statics = len(t.ck) > 0 && !given && m.onlyStatics()
	if !m.statics {
		var missing []string
		for i, r := range ck {
			if r == nil {
				missing = append(missing, t.ck[i].name)
			}
		}
		if len(missing) > 0 {
			return nil, invalid("Some clustering keys are missing: %s", strings.Join(missing, ", "))
		}
		w.ck = ck
	}
	if !m.statics {
		m.layout = newLayout(t, columns)
	}
	m.where = w
	return m, c.using(m, &s.Using)
}

// insertValues returns the columns of INSERT and a function that compiles their values.
func (c *compiler) insertValues(s *cql.Insert) ([]string, func(i int, col *column) (*node, error), error) {
	if s.JSON != nil {
		return c.insertJSON(s)
	}
	if len(s.Columns) == 0 {
		return nil, nil, invalid("No columns provided to INSERT")
	}
	if len(s.Columns) != len(s.Values) {
		return nil, nil, invalid("Unmatched column names/values")
	}
	return s.Columns, func(i int, col *column) (*node, error) { return c.term(s.Values[i], c.t.column(col)) }, nil
}

func (m *modifyPlan) onlyStatics() bool {
	if len(m.changes) == 0 {
		return false
	}
	for i := range m.changes {
		if m.changes[i].col.kind != Static {
			return false
		}
	}
	return true
}

// update prepares UPDATE. A column that is assigned as a whole has no other assignment.
func (c *compiler) update(s *cql.Update) (*modifyPlan, error) {
	t, err := c.writable(s.Table)
	if err != nil {
		return nil, err
	}
	m := &modifyPlan{t: t, kind: StatementUpdate, exists: s.IfExists}
	touched := map[*column][]cql.Assignment{}
	for i := range s.Set {
		a := &s.Set[i]
		col, err := t.lookup(a.Column)
		if err != nil {
			return nil, err
		}
		if col.isKey() {
			return nil, invalid("PRIMARY KEY part %s found in SET part", col.name)
		}
		for _, other := range touched[col] {
			if a.Op == cql.Assign || other.Op == cql.Assign {
				return nil, invalid("Multiple incompatible setting of column %s", col.name)
			}
		}
		touched[col] = append(touched[col], *a)
		ch, err := c.assignment(col, a)
		if err != nil {
			return nil, err
		}
		m.changes = append(m.changes, ch)
	}
	if m.where, err = c.where(s.Where, "UPDATE"); err != nil {
		return nil, err
	}
	if m.conds, err = c.conditions(s.If); err != nil {
		return nil, err
	}
	return m, c.finishModification(m, "UPDATE", &s.Using)
}

// finishModification makes the checks common to UPDATE and DELETE.
func (c *compiler) finishModification(m *modifyPlan, what string, using *cql.Using) error {
	t := m.t
	restricted := 0
	for _, r := range m.where.ck {
		if !r.isSlice() {
			restricted += len(r.cols)
		}
	}
	whole := restricted >= len(t.ck)
	ranged := slices.ContainsFunc(m.where.ck, (*restriction).isSlice)
	switch {
	case m.rows:
		if !whole && m.conditional() {
			return invalid("DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to delete non static columns")
		}
	case m.onlyStatics() && (len(m.conds) == 0 || !slices.ContainsFunc(m.conds, func(c *condition) bool {
		return c.col.kind != Static
	})):
		if len(m.where.ck) > 0 {
			return invalid("Invalid restrictions on clustering columns since the %s statement modifies only static columns",
				what)
		}
		m.statics = len(t.ck) > 0
	case ranged, !whole && what == "DELETE":
		return invalid("Range deletions are not supported for specific columns")
	case !whole:
		var missing []string
		for _, col := range t.ck {
			if !slices.ContainsFunc(m.where.ck, func(r *restriction) bool { return slices.Contains(r.cols, col) }) {
				missing = append(missing, col.name)
			}
		}
		return invalid("Some clustering keys are missing: %s", strings.Join(missing, ", "))
	}
	return c.using(m, using)
}

// delete prepares DELETE: of whole rows if the statement names no columns.
func (c *compiler) delete(s *cql.Delete) (*modifyPlan, error) {
	t, err := c.writable(s.Table)
	if err != nil {
		return nil, err
	}
	m := &modifyPlan{t: t, kind: StatementDelete, exists: s.IfExists, rows: len(s.Targets) == 0}
	for i := range s.Targets {
		target := &s.Targets[i]
		col, err := t.lookup(target.Column)
		if err != nil {
			return nil, err
		}
		if col.isKey() {
			return nil, invalid("Invalid identifier %s for deletion (should not be a PRIMARY KEY part)", col.name)
		}
		ch, err := c.deletion(col, target)
		if err != nil {
			return nil, err
		}
		m.changes = append(m.changes, ch)
	}
	if m.where, err = c.where(s.Where, "DELETE"); err != nil {
		return nil, err
	}
	if m.conds, err = c.conditions(s.If); err != nil {
		return nil, err
	}
	return m, c.finishModification(m, "DELETE", &s.Using)
}

// maxTTL is 20 years, like Cassandra's Attributes.MAX_TTL.
const maxTTL = 20 * 365 * 24 * 60 * 60

// writing evaluates USING. ts is the timestamp of a statement without USING TIMESTAMP.
func (m *modifyPlan) writing(x *env, ts int64) (*writing, error) {
	w := &writing{ts: ts, sec: x.sec}
	if m.timestamp != nil {
		b, err := m.timestamp.eval(x)
		if err != nil {
			return nil, err
		}
		if b == nil {
			return nil, invalid("Invalid null value of timestamp")
		}
		if !isUnset(b) {
			if len(b) != 8 {
				return nil, invalid("Invalid timestamp value: empty")
			}
			if w.ts = readInt(b); w.ts == math.MinInt64 {
				return nil, invalid("Out of bound timestamp, must be in [%d, %d]", int64(math.MinInt64+1), int64(math.MaxInt64))
			}
		}
	}
	ttl := int64(m.t.options.defaultTTL)
	if m.ttl != nil {
		b, err := m.ttl.eval(x)
		if err != nil {
			return nil, err
		}
		switch {
		case isUnset(b):
		case b == nil:
			ttl = 0
		case len(b) != 4:
			return nil, invalid("Invalid TTL value: empty")
		default:
			if ttl = readInt(b); ttl < 0 {
				return nil, invalid("A TTL must be greater or equal to 0, but was %d", ttl)
			}
		}
		if ttl > maxTTL {
			return nil, invalid("ttl is too large. requested (%d) maximum (%d)", ttl, maxTTL)
		}
	}
	if ttl > 0 && !m.t.counter {
		w.ttl, w.expires = int32(ttl), x.sec+ttl
	}
	return w, nil
}

// mutations evaluates the statement and returns its writes by partition.
func (m *modifyPlan) mutations(x *env, ts int64) ([]*mutation, error) {
	w, err := m.writing(x, ts)
	if err != nil {
		return nil, err
	}
	if p := m.packed(x, w); p != nil {
		return []*mutation{{t: m.t, key: p.key, parts: p.parts, deletion: noTimestamp, packed: p}}, nil
	}
	keys, err := m.where.partitions(x)
	if err != nil {
		return nil, err
	}
	var ranges []clusterSlice
	if !m.statics {
		if ranges, _, err = m.where.slices(x); err != nil { // checkModification refuses what is not exact
			return nil, err
		}
		if !(m.rows && len(m.where.ck) == 0) {
			for _, r := range ranges {
				if len(r.from.prefix) == len(m.t.ck) && clusteringSize(r.from.prefix) > math.MaxUint16 {
					return nil, invalid("Key length of %d is longer than maximum of %d", clusteringSize(r.from.prefix), math.MaxUint16)
				}
			}
		}
	}
	var out []*mutation
	for _, parts := range keys {
		key, err := partitionKey(parts)
		if err != nil {
			return nil, err
		}
		mu := &mutation{t: m.t, key: key, parts: parts, deletion: noTimestamp}
		if err := m.fill(x, w, mu, ranges); err != nil {
			return nil, err
		}
		out = append(out, mu)
	}
	return out, nil
}

func clusteringSize(c [][]byte) int {
	n := 0
	for _, b := range c {
		n += len(b)
	}
	return n
}

// fill adds to mu the writes of the statement to one partition: deletions of the rows in ranges, or changes of the
// static row and of the rows that ranges name.
func (m *modifyPlan) fill(x *env, w *writing, mu *mutation, ranges []clusterSlice) error {
	if m.rows {
		if len(m.where.ck) == 0 {
			mu.deletion = w.ts // also for a partition of one row
			return nil
		}
		for _, r := range ranges {
			if len(r.from.prefix) == len(m.t.ck) && len(r.to.prefix) == len(m.t.ck) && r.from.inclusive && r.to.inclusive &&
				m.t.compareClustering(r.from.prefix, r.to.prefix) == 0 {
				mu.rows = append(mu.rows, rowWrite{clustering: r.from.prefix, deletion: w.ts})
				continue
			}
			mu.ranges = append(mu.ranges, rangeTombstone{r.from, r.to, w.ts})
		}
		return nil
	}
	isStatic := func(ch change) bool { return ch.col.kind == Static }
	if slices.ContainsFunc(m.changes, isStatic) {
		for range max(1, len(ranges)) { // once for each row: a list grows by all of them
			row := rowWrite{static: true, deletion: noTimestamp}
			var err error
			if row.ops, err = m.collect(x, w, true); err != nil {
				return err
			}
			mu.rows = append(mu.rows, row)
		}
	}
	if m.statics || m.kind != StatementInsert &&
		!slices.ContainsFunc(m.changes, func(ch change) bool { return !isStatic(ch) }) {
		return nil
	}
	for _, r := range ranges {
		row := rowWrite{clustering: r.from.prefix, deletion: noTimestamp}
		if row.clustering == nil {
			row.clustering = [][]byte{}
		}
		if m.kind == StatementInsert {
			marker := w.cell([]byte{})
			row.marker = &marker
		}
		var err error
		if row.ops, err = m.collect(x, w, false); err != nil {
			return err
		}
		mu.rows = append(mu.rows, row)
	}
	return nil
}

// collect returns the operations on the static columns, or on the others.
func (m *modifyPlan) collect(x *env, w *writing, static bool) ([]op, error) {
	ops := make([]op, 0, len(m.changes))
	var err error
	for i := range m.changes {
		ch := &m.changes[i]
		if (ch.col.kind == Static) != static {
			continue
		}
		if ops, err = ch.ops(x, w, ops); err != nil {
			return nil, err
		}
	}
	return ops, nil
}
