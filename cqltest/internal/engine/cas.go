// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Lightweight transactions: statements with IF, and what they return.

const applied = "[applied]"

// cas executes statements on one partition of one table, at least one of them conditional.
func (e *Engine) cas(x *env, r *Request, plans []*modifyPlan, envs []*env, batch bool) (*Result, error) {
	t := plans[0].t
	ts := e.micros()
	var all []*mutation
	kinds := rowConditions{}
	for i, p := range plans {
		if err := p.checkIn(envs[i], batch); err != nil {
			return nil, err
		}
		m, err := p.mutations(envs[i], ts)
		if err != nil {
			return nil, err
		}
		all = append(all, m...)
		for _, one := range m {
			if string(one.key) != string(all[0].key) {
				return nil, invalid("Batch with conditions cannot span multiple partitions")
			}
		}
		if err := kinds.add(p, envs[i]); err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, invalid("A conditional statement needs a partition")
	}
	defer lock(all)()
	c := newCASRead(plans, t.store.find(all[0].key), all[0], x.sec)
	ok := true
	for i, p := range plans {
		if !p.conditional() {
			continue
		}
		good, err := c.satisfied(p, envs[i])
		if err != nil {
			return nil, err
		}
		ok = ok && good
	}
	if ok {
		if r.Commit != nil {
			if err := r.Commit(); err != nil {
				return nil, err
			}
		}
		res := &Result{Kind: ResultRows, Columns: []Column{t.spec(applied, Native("boolean"))}}
		res.Rows = [][][]byte{{boolBytes(true)}}
		return res, e.applyLocked(all, x.sec)
	}
	return c.notApplied(plans, batch), nil
}

// noun names what the statement does, for errors.
func (m *modifyPlan) noun() string {
	if m.kind == StatementDelete {
		return "deletions"
	}
	return "updates"
}

// checkIn refuses IN on clustering columns, and on the partition key: in a batch always, else with several values.
func (m *modifyPlan) checkIn(x *env, batch bool) error {
	for _, r := range m.where.pk {
		if r.op != cql.In {
			continue
		}
		if batch {
			return &Error{Code: CodeServer, Message: "java.lang.IllegalArgumentException: Batch with conditions cannot span " +
				"multiple partitions (you cannot use IN on the partition key)"}
		}
		if choices, err := r.choices(x); err != nil {
			return err
		} else if len(choices) > 1 {
			return invalid("IN on the partition key is not supported with conditional %s", m.noun())
		}
	}
	if slices.ContainsFunc(m.where.ck, func(r *restriction) bool { return r.op == cql.In }) {
		return invalid("IN on the clustering key columns is not supported with conditional %s", m.noun())
	}
	return nil
}

// rowConditions are the conditions of a batch by row, by the joined clustering columns, "static" for the static row.
// Conditions of one row must be of one kind: IF EXISTS, IF NOT EXISTS, or on columns.
type rowConditions map[string]*modifyPlan

const staticRow = "static"

// add adds the conditions of a statement, with Cassandra's errors for conditions of several kinds.
func (rc rowConditions) add(p *modifyPlan, x *env) error {
	if !p.conditional() {
		return nil
	}
	row := staticRow
	if !p.statics {
		ranges, _, err := p.where.slices(x)
		if err != nil || len(ranges) == 0 {
			return err
		}
		row = "row" + string(joinTuple(ranges[0].from.prefix))
	}
	columns := func(o *modifyPlan) bool { return !o.exists && !o.notExists }
	if !columns(p) {
		switch old := rc[row]; {
		case old == nil:
			rc[row] = p
		case columns(old) && p.exists:
			return invalid("Cannot mix IF conditions and IF EXISTS for the same row")
		case columns(old):
			return invalid("Cannot mix IF conditions and IF NOT EXISTS for the same row")
		case old.exists != p.exists:
			return invalid("Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row")
		}
		return nil
	}
	for _, cond := range p.conds {
		at := row
		if cond.col.kind == Static {
			at = staticRow
		}
		if old := rc[at]; old != nil && !columns(old) {
			return invalid("Cannot mix IF conditions and IF NOT EXISTS for the same row")
		}
		rc[at] = p
	}
	return nil
}

// casRead is what a conditional statement or batch reads before it writes, as in Cassandra's CQL3CasRequest: the rows
// that have conditions, and the columns that are conditional
// statements write or that have conditions.
type casRead struct {
	t        *table
	part     *partition // nil means that the partition does not exist
	view     rowView    // without a row
	sec      int64
	statics  bool // reads all static columns, not only the columns of conditions
	regulars bool // reads all regular columns, not only the columns of conditions
	conds    []*column
	rows     []*row // targets of conditions that are no static ones, once each; nil means absent
	targeted bool   // some condition is not static
}

func newCASRead(plans []*modifyPlan, part *partition, m *mutation, sec int64) *casRead {
	view := rowView{t: m.t, p: &partitionHead{key: m.key, parts: m.parts}}
	c := &casRead{t: m.t, part: part, view: view, sec: sec}
	if part != nil {
		c.view.static = part.static
	}
	for _, p := range plans {
		if !p.conditional() {
			continue
		}
		c.regulars = c.regulars || len(c.t.ck) == 0 || len(p.where.ck) > 0
		c.statics = c.statics || slices.ContainsFunc(p.changes, func(ch change) bool { return ch.col.kind == Static })
		for _, cond := range p.conds {
			c.conds = append(c.conds, cond.col)
		}
	}
	return c
}

// reads reports whether the column is read.
func (c *casRead) reads(col *column) bool {
	switch {
	case col.isKey(), col.kind == Static && c.statics, col.kind == Regular && c.regulars:
		return true
	}
	return slices.Contains(c.conds, col)
}

// satisfied reports whether the conditions of a statement hold.
func (c *casRead) satisfied(p *modifyPlan, x *env) (bool, error) {
	v, err := c.target(p, x)
	if err != nil {
		return false, err
	}
	there := v.row != nil || p.statics && v.static.live(x.sec)
	switch {
	case p.notExists:
		return !there, nil
	case p.exists:
		return there, nil
	}
	for _, cond := range p.conds {
		if ok, err := cond.holds(x, &v); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// target returns the row that the conditions of a statement apply to; its row is nil if it does not exist.
func (c *casRead) target(p *modifyPlan, x *env) (rowView, error) {
	v := c.view
	if p.statics {
		return v, nil
	}
	static := func(cond *condition) bool { return cond.col.kind != Static }
	c.targeted = c.targeted || p.exists || p.notExists || slices.ContainsFunc(p.conds, static)
	if c.part == nil {
		return v, nil
	}
	ranges, _, err := p.where.slices(x)
	if err != nil {
		return v, err
	}
	if len(ranges) == 1 && len(ranges[0].from.prefix) == len(c.t.ck) {
		if r := c.part.row(c.t, ranges[0].from.prefix); r.live(x.sec) {
			v.row = r
		}
	}
	if (p.exists || p.notExists || slices.ContainsFunc(p.conds, static)) && v.row != nil &&
		!slices.Contains(c.rows, v.row) {
		c.rows = append(c.rows, v.row)
	}
	return v, nil
}

// notApplied returns the result of statements whose conditions do not hold: the rows that were read, else the static
// columns, else only that nothing was applied.
func (c *casRead) notApplied(plans []*modifyPlan, batch bool) *Result {
	res := &Result{Kind: ResultRows, Columns: []Column{c.t.spec(applied, Native("boolean"))}}
	rows := c.rows
	if !c.targeted {
		rows = c.firstRow()
	}
	slices.SortFunc(rows, func(a, b *row) int { return c.t.compareClustering(a.clustering, b.clustering) })
	if len(rows) == 0 && c.staticRow() {
		rows = []*row{nil}
	}
	if len(rows) == 0 {
		res.Rows = [][][]byte{{boolBytes(false)}}
		return res
	}
	columns := castColumns(plans, batch)
	for _, col := range columns {
		res.Columns = append(res.Columns, c.t.column(col))
	}
	for _, r := range rows {
		v := c.view
		v.row = r
		out := [][]byte{boolBytes(false)}
		for _, col := range columns {
			var b []byte
			if c.reads(col) {
				b = v.value(col, c.sec)
			}
			out = append(out, b)
		}
		res.Rows = append(res.Rows, out)
	}
	return res
}

// firstRow returns the first live row of the partition, if there is one. Cassandra reads it for static conditions.
func (c *casRead) firstRow() []*row {
	if c.part == nil {
		return nil
	}
	for _, chunk := range c.part.rows.chunks {
		for _, r := range chunk {
			if r.live(c.sec) {
				return []*row{r}
			}
		}
	}
	return nil
}

// staticRow reports whether a static column that is read has a value.
func (c *casRead) staticRow() bool {
	return slices.ContainsFunc(c.t.all, func(col *column) bool {
		return col.kind == Static && c.reads(col) && c.view.static.value(col, c.sec) != nil
	})
}

// castColumns returns the columns of a result that is not applied: all columns for IF [NOT] EXISTS, otherwise the
// columns of the conditions, regular ones before static ones, in a batch after the primary key.
func castColumns(plans []*modifyPlan, batch bool) []*column {
	t := plans[0].t
	var out []*column
	if batch {
		out = append(append(out, t.pk...), t.ck...)
	}
	for _, p := range plans {
		if p.notExists || p.exists {
			return t.all
		}
		for _, kind := range []ColumnKind{Regular, Static} {
			for _, c := range p.conds {
				if c.col.kind == kind && !slices.Contains(out, c.col) {
					out = append(out, c.col)
				}
			}
		}
	}
	return out
}
