// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/examples/generated/shop"
)

// insertAt writes a line with a timestamp, in microseconds.
func insertAt(ctx context.Context, tables *shop.Tables, line *shop.CartLine, at time.Time) error {
	return tables.CartLine.Insert.Query(line).Timestamp(at.UnixMicro()).Exec(ctx)
}

// replace writes one line and deletes another one in a batch.
func replace(ctx context.Context, session *vecql.Session, tables *shop.Tables, line, old *shop.CartLine) error {
	batch := session.Batch(cql.LoggedBatch)
	tables.CartLine.Insert.AddTo(batch, line)
	tables.CartLine.Delete.AddTo(batch, old)
	return batch.Exec(ctx)
}

// An expiringLine is a line with its time to live.
type expiringLine struct {
	shop.CartLine
	Seconds int32 `cql:"[ttl]"` // the name of the marker of USING TTL ?
}

// prepareExpiring prepares an INSERT of lines that expire.
func prepareExpiring(ctx context.Context, session *vecql.Session) (*vecql.Statement[expiringLine], error) {
	text := vecql.InsertInto[shop.CartLine]("examples.cart_lines") + " USING TTL ?"
	return vecql.Prepare[expiringLine](ctx, session.Query(text).Idempotent(true))
}

// TestStatements executes statements on generated structs that are not generated themselves.
func TestStatements(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	tables, err := fill(t.Context(), session)
	require.NoError(t, err)
	lamp := &shop.CartLine{Customer: "ada", SKU: "lamp", Quantity: 1}
	rug := &shop.CartLine{Customer: "ada", SKU: "rug", Quantity: 2}
	at := time.Now().Add(-time.Hour).Truncate(time.Microsecond)
	require.NoError(t, insertAt(t.Context(), tables, lamp, at))
	var micros int64
	require.NoError(t, session.Query("SELECT WRITETIME(quantity) FROM examples.cart_lines WHERE customer = 'ada' AND sku = 'lamp'").Scan(t.Context(), &micros))
	require.Equal(t, at.UnixMicro(), micros)

	require.NoError(t, replace(t.Context(), session, tables, rug, lamp))
	lines, err := vecql.AllRows[shop.CartLine](t.Context(), tables.CartLine.Partition("ada"))
	require.NoError(t, err)
	require.Equal(t, []shop.CartLine{*rug}, lines)

	insert, err := prepareExpiring(t.Context(), session)
	require.NoError(t, err)
	require.NoError(t, insert.Exec(t.Context(), &expiringLine{*rug, 3600}))
	var seconds int
	require.NoError(t, session.Query("SELECT TTL(quantity) FROM examples.cart_lines WHERE customer = 'ada' AND sku = 'rug'").Scan(t.Context(), &seconds))
	require.InDelta(t, 3600, seconds, 60)
}
