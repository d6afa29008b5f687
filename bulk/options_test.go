// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// TestOptionErrors: each invalid value is an ErrOptions that names the option.
func TestOptionErrors(t *testing.T) {
	for name, o := range map[string]Options{
		"MaxInFlight":        {MaxInFlight: -1},
		"BatchRows":          {BatchRows: vecql.BatchSizeMaximum + 1},
		"BatchPartitions":    {BatchPartitions: -1},
		"MaxBytes":           {MaxBytes: -1},
		"RowsPerSecond":      {RowsPerSecond: math.Inf(1)},
		"RowsPerSecond is -": {RowsPerSecond: -.5},
		"BytesPerSecond":     {BytesPerSecond: math.NaN()},
		"RetryFor":           {RetryFor: -1},
		"MaxRejected":        {MaxRejected: -1},
		"MaxRejectedPercent": {MaxRejectedPercent: 100.5},
		"TTL":                {TTL: 1500 * time.Millisecond},
		"TTLColumn":          {TTL: time.Second, TTLColumn: "ttl"},
		"CheckpointEvery":    {CheckpointEvery: -1},
	} {
		_, err := o.withDefaults()
		require.ErrorIs(t, err, ErrOptions, name)
		require.ErrorContains(t, err, name)
	}
	_, err := Options{MaxRejectedPercent: 100, TTL: time.Second, BatchRows: vecql.BatchSizeMaximum}.withDefaults()
	require.NoError(t, err)
}

// TestOptionsOfInsert lists the options that New refuses.
func TestOptionsOfInsert(t *testing.T) {
	all := Options{
		Columns: map[string]string{}, RefuseExtra: true, AllowMissing: true, TTL: 1, TTLColumn: "a", TimestampColumn: "b",
	}
	require.Equal(t, []string{"Columns", "RefuseExtra", "AllowMissing", "TTL", "TTLColumn", "TimestampColumn"}, all.ofInsert())
	require.Empty(t, Options{WriteNulls: true, Counters: true, BatchRows: 3}.ofInsert())
}

// TestDecideOnChangedStatement: a row whose statement has changed is encoded and sent again, until RetryFor ends.
func TestDecideOnChangedStatement(t *testing.T) {
	w := &Writer{ctx: t.Context(), o: Options{RetryFor: time.Minute}, repeatable: true}
	now := time.Now()
	changed := fmt.Errorf("execute: %w", vecql.ErrStatementChanged)
	require.Equal(t, sentAgain, w.decideRow(&task{since: now}, now, changed))
	require.Equal(t, rejected, w.decideRow(&task{since: now.Add(-time.Hour)}, now, changed))
	require.Equal(t, rejected, w.decideRow(&task{since: now}, now, cql.ErrConversion))
}
