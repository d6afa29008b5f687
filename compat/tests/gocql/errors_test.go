// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// TestSentinels.
func TestSentinels(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c)
	var id int
	if err := s.Query("SELECT id FROM items WHERE id = ?", 1).Scan(&id); err != gocql.ErrNotFound {
		t.Error(err)
	}
	if err := s.Query("SELECT id FROM items WHERE id = ?", 1).MapScan(map[string]any{}); err != gocql.ErrNotFound {
		t.Error(err)
	}
	if err := s.Query("USE shop").Exec(); err != gocql.ErrUseStmt {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Query("SELECT id FROM items").WithContext(ctx).Exec(); !errors.Is(err, context.Canceled) {
		t.Errorf("%T %v", err, err)
	}
	if _, err := s.KeyspaceMetadata(""); err != gocql.ErrNoKeyspace {
		t.Error(err)
	}
	if _, err := s.KeyspaceMetadata("none"); err != gocql.ErrKeyspaceDoesNotExist {
		t.Error(err)
	}
	big := s.NewBatch(gocql.UnloggedBatch)
	big.Entries = make([]gocql.BatchEntry, gocql.BatchSizeMaximum+1)
	if err := s.ExecuteBatch(big); err != gocql.ErrTooManyStmts {
		t.Error(err)
	}
	s.Close()
	if err := s.Query("SELECT id FROM items").Exec(); err != gocql.ErrSessionClosed {
		t.Error(err)
	}
	if !s.Closed() {
		t.Error("the session is open")
	}
}

// TestTimeoutsAreSentinels: that of the session and that of a context.
func TestTimeoutsAreSentinels(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) { cfg.Timeout = 20 * time.Millisecond })
	rule := c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Drop: true})
	if err := s.Query("INSERT INTO items (id) VALUES (?)", 1).Exec(); !errors.Is(err, gocql.ErrTimeoutNoResponse) {
		t.Errorf("%T %v", err, err)
	}
	long, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if err := s.Query("INSERT INTO items (id) VALUES (?)", 1).WithContext(long).Exec(); !errors.Is(err, gocql.ErrTimeoutNoResponse) {
		t.Errorf("with the deadline of a context: %T %v", err, err)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := s.Query("INSERT INTO items (id) VALUES (?)", 1).WithContext(short).Exec(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%T %v", err, err)
	}
	rule.Remove()
}

// TestIterWithoutResult: the methods of an Iter that failed return zero values.
func TestIterWithoutResult(t *testing.T) {
	for _, it := range []*gocql.Iter{{}, new(gocql.Session).Query("SELECT 1").Iter()} {
		if it.Scan() || it.MapScan(map[string]any{}) || it.NumRows() != 0 || it.PageState() != nil || it.Host() != nil ||
			it.Columns() != nil || it.Warnings() != nil || it.GetCustomPayload() != nil || it.WillSwitchPage() || it.Scanner().Next() {
			t.Error("not empty")
		}
	}
}
