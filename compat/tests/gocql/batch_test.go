// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// TestBatch: statements with values, without values, and with a function that returns the values.
func TestBatch(t *testing.T) {
	o := &observer{}
	s := newSession(t, newCluster(t, cqltest.Config{}), func(cfg *gocql.ClusterConfig) { cfg.BatchObserver = o })
	b := s.NewBatch(gocql.LoggedBatch)
	b.Query("INSERT INTO items (id, name) VALUES (?, ?)", 1, "lamp")
	b.Query("INSERT INTO items (id, name) VALUES (2, 'desk')")
	b.Bind("INSERT INTO items (id, name) VALUES (?, ?)", func(q *gocql.QueryInfo) ([]any, error) {
		return []any{len(q.Args) + 1, q.Args[1].Name}, nil
	})
	if b.Size() != 3 || b.IsIdempotent() || b.Keyspace() != "shop" {
		t.Error(b.Size(), b.IsIdempotent(), b.Keyspace())
	}
	for range 2 {
		if err := s.ExecuteBatch(b.WithContext(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if rows, err := s.Query("SELECT id FROM items").Iter().SliceMap(); err != nil || len(rows) != 3 {
		t.Error(rows, err)
	}
	if b.Attempts() != 2 || b.Latency() <= 0 || len(o.Batches) != 2 {
		t.Fatal(b.Attempts(), b.Latency(), len(o.Batches))
	}
	seen := o.Batches[1]
	if seen.Attempt != 1 || seen.Err != nil || seen.Host == nil || seen.Metrics.Attempts < 1 || len(seen.Statements) != 3 ||
		!reflect.DeepEqual(seen.Values[0], []any{1, "lamp"}) || seen.Values[1] != nil {
		t.Errorf("%+v", seen)
	}
}

// TestConditionalBatch: the first row is stored, the Iter has the others.
func TestConditionalBatch(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	if err := c.Exec("CREATE TABLE shop.parts (item int, part int, name text, PRIMARY KEY (item, part))"); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, c)
	insert := "INSERT INTO parts (item, part, name) VALUES (?, ?, ?) IF NOT EXISTS"
	b := s.NewBatch(gocql.LoggedBatch)
	b.Query(insert, 1, 1, "a")
	b.Query(insert, 1, 2, "b")
	applied, it, err := s.ExecuteBatchCAS(b)
	if err != nil || !applied || it.Close() != nil {
		t.Fatal(applied, err)
	}
	var item, part int
	var name string
	applied, it, err = s.ExecuteBatchCAS(b, &item, &part, &name)
	if err != nil || applied || name != "a" {
		t.Fatal(applied, name, err)
	}
	if !it.Scan(&applied, &item, &part, &name) || applied || name != "b" || it.Close() != nil {
		t.Error(applied, name)
	}
	m := map[string]any{}
	applied, it, err = s.MapExecuteBatchCAS(b, m)
	if err != nil || applied || m["name"] != "a" || len(m) != 3 {
		t.Fatal(applied, m, err)
	}
	next := map[string]any{}
	if !it.MapScan(next) || next["name"] != "b" || next["[applied]"] != false || it.Close() != nil {
		t.Error(next)
	}
}

// TestRetriedBatch: the policy of a batch sees the batch.
func TestRetriedBatch(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c)
	c.Inject(cqltest.Fault{Op: cqltest.OpBatch, Times: 1, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
	b := s.NewBatch(gocql.LoggedBatch).RetryPolicy(&gocql.SimpleRetryPolicy{NumRetries: 1}).WithContext(context.Background())
	b.Query("INSERT INTO items (id) VALUES (?)", 1)
	b.Entries[0].Idempotent = true
	if err := s.ExecuteBatch(b); err != nil || b.Attempts() != 2 {
		t.Error(err, b.Attempts())
	}
}

// TestTimeOfAWrite is that of WithTimestamp, or of the server.
func TestTimeOfAWrite(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	b := s.NewBatch(gocql.LoggedBatch).WithTimestamp(1000)
	b.Query("INSERT INTO items (id, name) VALUES (?, ?)", 1, "lamp")
	if err := s.ExecuteBatch(b); err != nil {
		t.Fatal(err)
	}
	written := func() (at int64) {
		if err := s.Query("SELECT WRITETIME(name) FROM items WHERE id = ?", 1).Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	if at := written(); at != 1000 {
		t.Error("batch:", at)
	}
	if err := s.Query("UPDATE items SET name = ? WHERE id = ?", "desk", 1).WithTimestamp(2000).Exec(); err != nil || written() != 2000 {
		t.Error("query:", written(), err)
	}
	if err := s.Query("UPDATE items SET name = ? WHERE id = ?", "bed", 1).DefaultTimestamp(false).Exec(); err != nil || written() <= 2000 {
		t.Error("server:", written(), err)
	}
}
