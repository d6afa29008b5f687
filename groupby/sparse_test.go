// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Columns of text that are mostly empty.

// sparseColumn makes a text per byte of data: empty unless the byte is less than share.
func sparseColumn(data []byte, share byte) column.Column {
	texts := make([]string, len(data))
	for i, b := range data {
		if b < share {
			texts[i] = strings.Repeat("a text ", int(b)%5) + fmt.Sprint(b)
		}
	}
	return vals(texts)
}

// FuzzSparseTexts groups columns of text with any share of empty rows, and compares the result with the
// reference.
func FuzzSparseTexts(f *testing.F) {
	for _, share := range []byte{0, 1, 20, 90, 255} {
		data := make([]byte, 3000)
		for i := range data {
			data[i] = byte(i * i >> 3)
		}
		f.Add(data, share, share%2 == 0)
	}
	f.Add(bytes.Repeat([]byte{200}, 100), byte(1), true)
	f.Add(bytes.Repeat([]byte{1, 200, 210, 7, 220}, 1001), byte(9), false)
	f.Fuzz(func(t *testing.T, data []byte, share byte, ordered bool) {
		c := Config{Keys: By("k0"), Aggregates: []Aggregate{Count(), Sum("v0")}, Order: Unordered, Workers: 1}
		if ordered {
			c.Order = FirstAppearance
		}
		if len(data)%2 == 0 {
			c.Aggregates = c.Aggregates[:1] // reads the groups alone if the order is open
		}
		var batches []*column.Batch
		for at, size := 0, max(1, len(data)/3); at < len(data); at += size {
			part := data[at:min(at+size, len(data))]
			values := make([]int64, len(part))
			for i, b := range part {
				values[i] = int64(b)
			}
			batches = append(batches, batchOf(int64(at), cols(sparseColumn(part, share)), cols(vals(values))))
		}
		if len(batches) == 0 {
			return
		}
		gc := groupCase{config: c, limits: defaultLimits, batches: batches}
		if err := gc.check(nil); err != nil {
			t.Fatal(err)
		}
	})
}

// Mostly empty columns are looked up without the empty rows; others, and the first chunk, are not.
func TestSparseTexts(t *testing.T) {
	data := make([]byte, 3*chunkRows)
	for i := range data {
		data[i] = byte(i * 31)
	}
	for _, row := range []struct {
		share byte
		order Order
		want  uint32 // the group of the empty text if it was looked up
	}{{60, FirstAppearance, 1}, {60, Unordered, 1}, {200, Unordered, 0}} {
		c := Config{Keys: By("k0"), Aggregates: []Aggregate{Count()}, Order: row.order}
		gc := groupCase{config: c, limits: defaultLimits}
		gc.config.Aggregates = []Aggregate{Count(), Sum("v0"), First("v0")}
		g, err := c.New()
		require.NoError(t, err)
		w := g.Worker()
		col := sparseColumn(data, row.share)
		first := vals(append([]string{""}, make([]string, chunkRows-1)...))
		require.NoError(t, w.Add(context.Background(), batchOf(0, cols(first), nil)))
		require.NoError(t, w.Add(context.Background(), batchOf(chunkRows, cols(col), nil)))
		require.NotNil(t, w.in.sparse)
		require.Equal(t, row.want, w.in.sparse.group)
		got, err := g.Finish(context.Background())
		require.NoError(t, err)
		want, err := reference(c, batchOf(0, cols(first), nil), batchOf(chunkRows, cols(col), nil))
		require.NoError(t, err)
		equalResults(t, c, want, got, false)
		numbers := make([]int64, len(data))
		for i := range numbers {
			numbers[i] = int64(i)
		}
		gc.batches = []*column.Batch{batchOf(0, cols(first), cols(vals(numbers[:chunkRows]))), batchOf(chunkRows, cols(col), cols(vals(numbers)))}
		require.NoError(t, gc.check(nil), "values beside the texts")
	}
}

// TestSparseTextsOfFewerRows has chunks with fewer and fewer empty texts: each empty row counts once.
func TestSparseTextsOfFewerRows(t *testing.T) {
	data := make([]byte, chunkRows)
	for i := range data {
		data[i] = byte(i * 31)
	}
	c := Config{Keys: By("k0"), Aggregates: []Aggregate{Count()}, Order: Unordered, Workers: 1}
	gc := groupCase{config: c, limits: defaultLimits}
	for i, share := range []byte{0, 1, 20, 60, 20} {
		gc.batches = append(gc.batches, batchOf(int64(i*chunkRows), cols(sparseColumn(data, share)), nil))
	}
	require.NoError(t, gc.check(nil))
}
