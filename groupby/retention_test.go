// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"runtime"
	"testing"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/require"
)

// A batch may be collected as soon as Add has returned, however its keys and values were read.
func TestWorkerKeepsNothing(t *testing.T) {
	for name, c := range map[string]Config{
		"word":    {Keys: []Type{Int64}, Values: []Type{Int64, String}},
		"string":  {Keys: []Type{String}, Values: []Type{Int64, String}},
		"strings": {Keys: []Type{String, String}, Values: []Type{Int64, String}},
		"record":  {Keys: []Type{Int64, String}, Values: []Type{Int64, String}},
	} {
		t.Run(name, func(t *testing.T) {
			c.Aggregates = []Aggregate{Count(), Sum(0), Last(1), Max(1)}
			for _, local := range []int{1, 1 << 20} { // in partitions, in a table
				g, err := New(c)
				require.NoError(t, err)
				g.plan.local = local
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
				require.Equal(t, 10_000, res.Len())
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
	b := Batch{Values: []Column{Values(ints), Text(text, offsets)}}
	for _, k := range g.plan.Keys {
		if k == String {
			b.Keys = append(b.Keys, b.Values[1])
		} else {
			b.Keys = append(b.Keys, b.Values[0])
		}
	}
	require.NoError(t, g.Add(context.Background(), b))
	return map[string]weak.Pointer[byte]{
		"integers": weak.Make((*byte)(unsafe.Pointer(&ints[0]))),
		"offsets":  weak.Make((*byte)(unsafe.Pointer(&offsets[0]))),
		"text":     weak.Make(&text[0]),
	}
}
