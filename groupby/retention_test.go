// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"runtime"
	"testing"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// A batch can be collected once Add has returned, for all forms of keys and values.
func TestWorkerKeepsNothing(t *testing.T) {
	for name, c := range map[string]Config{
		"word":    {Keys: By("word")},
		"string":  {Keys: By("text")},
		"strings": {Keys: By("text", "text2")},
		"record":  {Keys: By("word", "text")},
	} {
		t.Run(name, func(t *testing.T) {
			c.Aggregates = []Aggregate{Count(), Sum("v0"), Last("v1"), Max("v1")}
			for _, local := range []int{1, 1 << 20} { // in partitions, in a table
				g, err := c.New()
				require.NoError(t, err)
				g.limits.local = local
				kept := addBatch(t, g)
				runtime.GC()
				runtime.GC()
				for what, p := range kept {
					if p.Value() != nil {
						t.Errorf("table of %d groups: %s stays in memory", local, what)
					}
				}
				res, err := g.Finish(context.Background())
				require.NoError(t, err)
				require.Equal(t, 10_000, res.Rows)
			}
		})
	}
}

// addBatch adds a batch and returns weak pointers to its memory.
func addBatch(t *testing.T, g *Grouper) map[string]weak.Pointer[byte] {
	const n = 10_000
	ints := make([]int64, n)
	offsets := make([]int32, n+1)
	var text []byte
	for i := range ints {
		ints[i] = int64(i)
		text = append(text, "a key that does not fit into words "[:20+i%10]...)
		text = append(text, byte(i), byte(i>>8))
		offsets[i+1] = int32(len(text))
	}
	b := batchOf(0, nil, cols(vals(ints), column.StringBuffers("", text, offsets)))
	for i, name := range []string{"word", "text", "text2"} {
		c := b.Columns[min(i, 1)]
		b.Columns = append(b.Columns, c.As(name))
	}
	require.NoError(t, g.Add(context.Background(), b))
	require.NoError(t, g.Worker().AddRows(context.Background(), b, []int32{1, 3, 5000}))
	return map[string]weak.Pointer[byte]{
		"integers": weak.Make((*byte)(unsafe.Pointer(&ints[0]))),
		"offsets":  weak.Make((*byte)(unsafe.Pointer(&offsets[0]))),
		"text":     weak.Make(&text[0]),
	}
}
