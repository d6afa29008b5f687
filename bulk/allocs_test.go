// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"context"
	"log/slog"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/pooled"
)

// TestAllocates writes batches to a server that does not allocate: the allocations do not depend on the number of rows.
func TestAllocates(t *testing.T) {
	const stmt = "INSERT INTO ks.t (id, name, embedding) VALUES (:id, :name, :embedding)"
	c := fakecql.NewOnSockets(t, 5, 1)
	c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint", "name text", "embedding vector<float, 2>"), PK: []int{0}})
	c.On(func(r *fakecql.Request) bool {
		if r.Op == fakecql.OpExecute {
			fakecql.VoidForever(r)
		}
		return r.Op == fakecql.OpExecute
	})
	cfg := &vecql.ClusterConfig{Hosts: []string{c.Nodes[0].IP}}
	cfg.Port, cfg.Pool.NumConns, cfg.Pool.HeartbeatInterval, cfg.Logger = c.Port, 1, -1, slog.New(slog.DiscardHandler)
	session, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	defer session.Close()
	ctx := context.Background()
	w, err := New(ctx, session, stmt, Options{MaxInFlight: 8})
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close(ctx)) }()
	b := items(0, 1000)
	once := func() {
		if err := w.Write(ctx, b); err != nil {
			t.Error(err)
		}
	}
	for range 3 {
		once()
	}
	if pooled.Poisoned {
		return // pools drop items at random
	}
	perBatch := math.Inf(1)
	for try := 0; try < 5 && perBatch >= float64(b.Rows)/20; try++ { // goroutines of earlier tests may allocate meanwhile
		perBatch = testing.AllocsPerRun(10, once)
	}
	t.Logf("%v allocations for a batch of %d rows", perBatch, b.Rows)
	require.Less(t, perBatch, float64(b.Rows)/20)
}
