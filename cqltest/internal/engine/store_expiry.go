// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"time"
)

// Per-row TTL of ScyllaDB: rows that are deleted at the time in one of their columns.

// neverExpires is the time of a table whose rows do not expire.
const neverExpires = math.MaxInt64

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
	case col.kind != Regular:
		return invalid("Cannot use a primary key column or a static column as a TTL column: %s", name)
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

// expire deletes the rows of a table whose time has come, as ScyllaDB's service does in the background: an index sees
// the deletions.
func (e *Engine) expire(t *table) {
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
		x.apply(e)
		s.follow(x.mutation, func() time.Time { return x.at })
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
						continue
					}
					w := rowWrite{clustering: r.clustering, deletion: r.newest()}
					m := &mutation{t: t, key: p.key, parts: p.parts, deletion: noTimestamp, rows: []rowWrite{w}}
					out = append(out, expiredRow{m, time.UnixMilli(at)})
				}
			}
		}
	}
	return out
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
