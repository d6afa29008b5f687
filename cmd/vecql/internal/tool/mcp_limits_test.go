// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// The limits of the results of mcp, and its session.

// TestLimitedRows requires that a result may have just its limits, and names that JSON can have.
func TestLimitedRows(t *testing.T) {
	b := column.NewBatch(column.Of("a", []int64{1, 2})) // {"a":1} and {"a":2}
	for _, m := range []struct {
		maxRows, maxBytes, rows int
		cut                     string
	}{
		{2, 14, 2, ""},
		{1, 14, 1, "there are more rows: a result has at most 1 row"},
		{2, 13, 1, "there are more rows: the next one has 7 bytes, and the rows of a result have at most 13 bytes; select fewer columns"},
	} {
		l := &limitedRows{maxRows: m.maxRows, maxBytes: m.maxBytes}
		if err := l.Write(b); m.cut != "" {
			require.ErrorIs(t, err, errCut)
		} else {
			require.NoError(t, err)
		}
		require.Equal(t, m.cut, l.Cut)
		require.Len(t, l.Rows, m.rows)
	}
	infos := []cql.ColumnInfo{{Name: "a\xff", TypeInfo: cql.NativeType(cql.TypeInt)}}
	require.EqualError(t, new(limitedRows).setColumns(infos), `the name of column "a\xff" is not UTF-8`)
}

// TestSharedSession requires one session for all calls, another attempt after one that failed, and that a call waits no
// longer than its context.
func TestSharedSession(t *testing.T) {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 1})
	require.NoError(t, err)
	defer cluster.Close()
	failure, opened := errors.New("no cluster"), 0
	entered, leave := make(chan struct{}), make(chan struct{})
	s := newSharedSession(func(ctx context.Context) (*vecql.Session, error) {
		if opened++; opened == 1 {
			close(entered)
			<-leave
			return nil, failure
		}
		return vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: cluster.Hosts()})
	})
	failed := make(chan error)
	go func() {
		_, err := s.get(t.Context())
		failed <- err
	}()
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := make(chan error)
	go func() {
		_, err := s.get(ctx)
		ended <- err
	}()
	select {
	case err := <-ended:
		require.ErrorIs(t, err, context.Canceled)
	case <-time.After(10 * time.Second):
		require.Fail(t, "the call waits for the session")
	}
	close(leave)
	require.ErrorIs(t, <-failed, failure)
	session, err := s.get(t.Context())
	require.NoError(t, err)
	again, err := s.get(t.Context())
	require.NoError(t, err)
	require.Same(t, session, again)
	require.Equal(t, 2, opened)
	s.close()
	require.ErrorIs(t, session.Query("SELECT key FROM system.local").Exec(t.Context()), vecql.ErrSessionClosed)
}
