// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"strings"
	"time"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Per-row TTL of ScyllaDB: rows that are deleted at the time in one of their columns (ScyllaDB's
// test/cqlpy/test_ttl_row.py).

// neverExpires is the time of a table whose rows do not expire.
const neverExpires = math.MaxInt64

// longAgo is the age of expiration times that ScyllaDB ignores, as DynamoDB does: they are probably not times.
const longAgo = 5 * 365 * 24 * time.Hour

// createExpiry makes the column that CREATE TABLE marks with TTL the expiration time of the rows of t, a new table.
func (t *table) createExpiry(columns []cql.ColumnDef) error {
	for _, d := range columns {
		if !d.TTL {
			continue
		}
		switch {
		case t.expiry != "":
			return invalid("A table cannot have more than one TTL column: %s, %s", t.expiry, d.Name)
		case t.byName[d.Name].kind != Regular:
			return invalid("TTL column %s must be a regular column", d.Name)
		}
		if err := t.setExpiry(d.Name); err != nil {
			return err
		}
	}
	return nil
}

// setExpiry makes a column the expiration time of the rows of a table; "" means that they have none.
func (t *table) setExpiry(name string) error {
	switch col := t.byName[name]; {
	case name == "" && t.expiry == "":
		return invalid("Table %s.%s does not have a TTL column", t.ks, t.name)
	case name == "":
	case t.expiry != "":
		return invalid("Table %s.%s already has a TTL column: %s", t.ks, t.name, t.expiry)
	case col == nil:
		return invalid("Column '%s' does not exist in table '%s.%s'", name, t.ks, t.name)
	case col.isKey():
		return invalid("Cannot use a primary key column as a TTL column: %s", name)
	case col.kind == Static:
		return invalid("Cannot use a static column as a TTL column: %s", name)
	case col.typ.Kind != KindTimestamp && col.typ.Kind != KindBigInt && col.typ.Kind != KindInt:
		return invalid("TTL column %s must be of type timestamp, bigint or int", name)
	}
	t.expiry = name
	return nil
}

// alterExpiry executes ALTER TABLE t TTL on t, a copy of old. The next read looks for rows that have expired.
func (t *table) alterExpiry(old *table, name string) error {
	t.byName = old.byName
	if err := t.setExpiry(name); err != nil {
		return err
	}
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	t.store.expires = math.MinInt64
	return nil
}

// expiryOf returns when a row expires, in milliseconds since 1970.
func (t *table) expiryOf(r *row, sec int64) int64 {
	col := t.byName[t.expiry]
	b := r.value(col, sec)
	if len(b) == 0 {
		return neverExpires
	}
	if at := readInt(b); col.typ.Kind == KindTimestamp {
		return at
	} else if at < neverExpires/1000 {
		return at * 1000
	}
	return neverExpires
}

// noteExpiry notes the expiration times of the rows that a mutation wrote. Callers hold the lock for writing.
func (s *store) noteExpiry(m *mutation, sec int64) {
	if m.t.expiry == "" {
		return
	}
	p := s.find(m.key)
	for i := range m.rows {
		if r := p.row(m.t, m.rows[i].clustering); r != nil && !m.rows[i].static {
			s.expires = min(s.expires, m.t.expiryOf(r, sec))
		}
	}
}

// expire deletes the rows of a table whose time has come, as ScyllaDB's service does in the background: indexes and the
// log of changes see the deletions. For the log of a table it expires the rows of the table.
func (e *Engine) expire(t *table) {
	if t.isLog {
		k := e.schema.Load().keyspaces[t.ks]
		if k == nil {
			return
		}
		if t = k.tables.get(strings.TrimSuffix(t.name, logSuffix)); t == nil {
			return
		}
	}
	if t.expiry == "" {
		return
	}
	s, now := t.store, e.options.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.UnixMilli() < s.expires {
		return
	}
	for _, x := range t.expired(now) {
		deletion := []*mutation{x.mutation}
		var logs []*logged
		if e.options.Streams != nil && hasCapture(deletion) {
			logs, _ = e.capture(deletion, now.Unix()) // without a stream of that time the row expires unlogged
		}
		x.apply(e)
		s.follow(x.mutation, func() time.Time { return x.at })
		e.writeLogs(logs, now.Unix())
	}
}

// expiredRow is the deletion of an expired row, and its time.
type expiredRow struct {
	*mutation
	at time.Time
}

// expired returns the rows that have expired, and notes when the next one does.
func (t *table) expired(now time.Time) (out []expiredRow) {
	t.store.expires = neverExpires
	for _, chunk := range t.store.parts.chunks {
		for _, p := range chunk {
			for _, rows := range p.rows.chunks {
				for _, r := range rows {
					at := t.expiryOf(r, now.Unix())
					if at > now.UnixMilli() {
						t.store.expires = min(t.store.expires, at)
					} else if at > now.Add(-longAgo).UnixMilli() {
						out = append(out, expiredRow{t.deletionOf(p.partition, r, at), time.UnixMilli(at)})
					}
				}
			}
		}
	}
	return out
}

// deletionOf returns the deletion of a row that has expired: of the partition in a table without clustering columns. In
// the log it has the time of the expiry, and is later than the writes of the row.
func (t *table) deletionOf(p *partition, r *row, at int64) *mutation {
	m := &mutation{t: t, key: p.key, parts: p.parts, deletion: noTimestamp, byService: true}
	ts := r.newest()
	if t.capture != nil {
		ts = max(at*1000, ts+1)
	}
	if len(t.ck) == 0 {
		m.deletion = ts
	} else {
		m.rows = []rowWrite{{clustering: r.clustering, deletion: ts}}
	}
	return m
}

// newest returns the latest timestamp of a row, which deletes all of it.
func (r *row) newest() int64 {
	r = r.unpacked()
	ts := max(r.marker.ts, r.deletion)
	for i := range r.columns {
		ts = max(ts, r.columns[i].cell.ts)
		for j := range r.columns[i].elements {
			ts = max(ts, r.columns[i].elements[j].ts)
		}
	}
	return ts
}
