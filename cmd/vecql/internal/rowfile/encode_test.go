// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/columntest"
	"github.com/vecql/vecql/parquetscan"
)

// TestEncode requires that blocks which several goroutines encode make the same files as one writer of their batches.
func TestEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	fields := textFields()
	var batches []*column.Batch
	for _, rows := range []int{70, 0, 1, 400, 3} { // 400 rows are more than the buffer of a writer
		batches = append(batches, columntest.Batch(r, fields, rows, .3))
	}
	for _, ending := range []string{".csv", ".csv.gz", ".jsonl", ".json.zst", ".parquet", ".arrow"} {
		format, compression := ByName(ending)
		o := WriterOptions{Format: format, Compression: compression}
		blocks := make([]Block, len(batches))
		var workers sync.WaitGroup
		for i, b := range batches {
			e, err := NewEncoder(fields, o)
			require.NoError(t, err)
			workers.Go(func() {
				_, err := e.Encode(batches[0]) // its memory is used again
				if err == nil {
					blocks[i], err = e.Encode(b)
				}
				require.NoError(t, err)
			})
		}
		workers.Wait()
		require.Equal(t, format == CSV || format == JSON, blocks[0].text != nil)
		require.Equal(t, format == Arrow, blocks[0].record != nil)
		for _, rows := range []int{0, 50} {
			one, several := t.TempDir(), t.TempDir()
			reference, err := NewParts(one, fields, PartsOptions{WriterOptions: o, Rows: rows})
			require.NoError(t, err)
			parts, err := NewParts(several, fields, PartsOptions{WriterOptions: o, Rows: rows})
			require.NoError(t, err)
			for i, b := range batches {
				require.NoError(t, reference.Write(b))
				require.NoError(t, parts.WriteBlock(blocks[i]))
			}
			require.NoError(t, reference.Close())
			require.NoError(t, parts.Close())
			require.Equal(t, reference.Files(), parts.Files())
			for i := range parts.Files() {
				name, err := filepath.Rel(several, parts.name(i))
				require.NoError(t, err)
				want, err := os.ReadFile(filepath.Join(one, name))
				require.NoError(t, err)
				got, err := os.ReadFile(filepath.Join(several, name))
				require.NoError(t, err)
				require.Equal(t, len(want), len(got), name)
				require.True(t, string(want) == string(got), name)
			}
		}
	}
	e, err := NewEncoder(fields[:1], WriterOptions{Format: CSV})
	require.NoError(t, err)
	_, err = e.Encode(batches[0])
	require.ErrorIs(t, err, ErrColumns)
}

// TestParquetWorkers requires several row groups in a file of several workers, with the rows in their order.
func TestParquetWorkers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	const batches, rows, dim = 10, 1 << 14, 64
	values := make([]float32, rows*dim)
	b := &column.Batch{Rows: rows, Columns: []column.Column{column.Matrix("v", values, dim)}}
	f, err := Create(path, b.Schema(), WriterOptions{Workers: 2})
	require.NoError(t, err)
	m, err := column.MatrixOf[float32](&b.Columns[0])
	require.NoError(t, err)
	for k := range batches {
		for i := range rows {
			m.Row(i)[3] = float32(k*rows + i)
		}
		require.NoError(t, f.Write(b))
	}
	require.NoError(t, f.Close())
	d, err := parquetscan.Open(t.Context(), path)
	require.NoError(t, err)
	defer d.Close()
	require.Equal(t, 2, d.NumRowGroups())
	next := 0
	for b, err := range d.Batches(t.Context()) {
		require.NoError(t, err)
		m, err := column.MatrixOf[float32](&b.Columns[0])
		require.NoError(t, err)
		for i := range b.Rows {
			if m.Row(i)[3] != float32(next) {
				require.Equal(t, float32(next), m.Row(i)[3])
			}
			next++
		}
	}
	require.Equal(t, batches*rows, next)
}
