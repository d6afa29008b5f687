// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// spilling is a Config whose groups are more than its memory.
func spilling(t *testing.T) Config {
	return Config{
		Keys: []Type{Int64, String}, Values: []Type{Int32, String}, Workers: 2,
		Aggregates:  []Aggregate{Count(), Sum(0), Min(0), CountOf(1)},
		Order:       ByKeys,
		MemoryLimit: 1 << 18, SpillDir: t.TempDir(), SpillCodec: plainCodec{},
	}
}

// plainCodec copies: these memory limits are so small that what is spilled at a time is, too, and compressing it would take all the time.
type plainCodec struct{}

func (plainCodec) Compress(dst, src []byte) ([]byte, error)   { return append(dst, src...), nil }
func (plainCodec) Decompress(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }

// spillingBatch makes n rows most of which are groups of their own: short and long keys, NULLs.
func spillingBatch(r *rand.Rand, n int) Batch {
	id, name := make([]int64, n), make([]string, n)
	v, s := make([]int32, n), make([]string, n)
	valid := make([]byte, (n+7)/8)
	for i := range id {
		id[i] = r.Int64N(8 * int64(n))
		name[i] = "a name, neither short nor long"[:id[i]%30]
		v[i] = int32(r.Uint32())
		if r.IntN(4) > 0 {
			valid[i>>3] |= 1 << (i & 7)
		}
	}
	return Batch{
		Keys:   []Column{Values(id).WithValidity(valid), Values(name)},
		Values: []Column{Values(v).WithValidity(valid), Values(s)},
	}
}

// sameResults fails if two results are not the same, in the same order.
func sameResults(t *testing.T, want, got *Result) {
	t.Helper()
	require.Equal(t, want.Len(), got.Len())
	same := func(what string, w, g Column) {
		var a, b []byte
		a = appendColumn(a, &w, 0, w.n)
		b = appendColumn(b, &g, 0, g.n)
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs", what)
		}
	}
	for i := range want.plan.Keys {
		same(fmt.Sprintf("key %d", i), want.Key(i), got.Key(i))
	}
	for i := range want.plan.Aggregates {
		same(fmt.Sprintf("aggregate %d", i), want.Aggregate(i), got.Aggregate(i))
	}
}

func TestSpill(t *testing.T) {
	ctx := context.Background()
	c := spilling(t)
	c.SpillCodec = nil // the default
	r := rand.New(rand.NewPCG(1, 2))
	roomy := c
	roomy.MemoryLimit = 0
	want, err := New(roomy)
	require.NoError(t, err)
	got, err := New(c)
	require.NoError(t, err)
	for range 5 {
		b := spillingBatch(r, 20_000)
		require.NoError(t, want.Add(ctx, b))
		require.NoError(t, got.Add(ctx, b))
	}
	if size := got.store.spill.size; size < 1<<18 {
		t.Errorf("%d bytes spilled", size)
	}
	if held := got.store.held.Load(); held > 2*c.MemoryLimit {
		t.Errorf("%d bytes held, limit %d", held, c.MemoryLimit)
	}
	w, err := want.Finish(ctx)
	require.NoError(t, err)
	g, err := got.Finish(ctx)
	require.NoError(t, err)
	require.Greater(t, w.Len(), 50_000)
	sameResults(t, w, g)
	left, err := os.ReadDir(c.SpillDir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// What can not be held even one partition at a time is read part by part.
func TestSpillPartByPart(t *testing.T) {
	ctx := context.Background()
	c := spilling(t)
	c.MemoryLimit = 1 << 12
	r := rand.New(rand.NewPCG(3, 4))
	b := spillingBatch(r, 5000)
	got, err := AggregateBatch(ctx, c, b)
	require.NoError(t, err)
	c.MemoryLimit = 0
	want, err := AggregateBatch(ctx, c, b)
	require.NoError(t, err)
	sameResults(t, want, got)
}

func TestMemoryLimitWithoutSpillDir(t *testing.T) {
	ctx := context.Background()
	c := spilling(t)
	c.SpillDir = ""
	g, err := New(c)
	require.NoError(t, err)
	err = g.Add(ctx, spillingBatch(rand.New(rand.NewPCG(5, 6)), 50_000))
	require.ErrorIs(t, err, ErrMemoryLimit)
	_, err = g.Finish(ctx)
	require.ErrorIs(t, err, ErrMemoryLimit)
	require.ErrorIs(t, err, ErrFinished)
}

func TestSpillDirMissing(t *testing.T) {
	c := spilling(t)
	c.SpillDir += "/missing"
	_, err := AggregateBatch(context.Background(), c, spillingBatch(rand.New(rand.NewPCG(5, 6)), 50_000))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestSpillCorrupted(t *testing.T) {
	ctx := context.Background()
	g, err := New(spilling(t))
	require.NoError(t, err)
	require.NoError(t, g.Add(ctx, spillingBatch(rand.New(rand.NewPCG(7, 8)), 50_000)))
	var b [1]byte
	_, err = g.store.spill.file.ReadAt(b[:], g.store.spill.size/2)
	require.NoError(t, err)
	b[0] ^= 0x40
	_, err = g.store.spill.file.WriteAt(b[:], g.store.spill.size/2)
	require.NoError(t, err)
	_, err = g.Finish(ctx)
	var corrupt *CorruptError
	require.True(t, errors.As(err, &corrupt), "%v", err)
}

func TestPartialMergedElsewhere(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"in memory", "spilled"} {
		t.Run(name, func(t *testing.T) {
			c := spilling(t)
			if name == "in memory" {
				c.MemoryLimit = 0
			}
			r := rand.New(rand.NewPCG(9, 10))
			all, err := New(c)
			require.NoError(t, err)
			merged, err := New(c)
			require.NoError(t, err)
			for _, n := range []int{0, 10, 1000, 7000, 20_000} {
				b := spillingBatch(r, n)
				require.NoError(t, all.Add(ctx, b))
				part, err := New(c)
				require.NoError(t, err)
				require.NoError(t, part.Add(ctx, b))
				var buf bytes.Buffer
				require.NoError(t, part.WritePartial(&buf))
				buf.WriteString("what follows")
				require.NoError(t, merged.MergePartial(&buf))
				require.Equal(t, "what follows", buf.String())
			}
			b := spillingBatch(r, 1000)
			require.NoError(t, all.Add(ctx, b))
			require.NoError(t, merged.Add(ctx, b))
			want, err := all.Finish(ctx)
			require.NoError(t, err)
			got, err := merged.Finish(ctx)
			require.NoError(t, err)
			sameResults(t, want, got)
		})
	}
}

// smallPartial is what the fuzzer begins with.
func smallPartial(t testing.TB) (Config, []byte) {
	c := Config{Keys: []Type{Bool, String}, Values: []Type{Int64}, Aggregates: []Aggregate{Count(), Sum(0), Mean(0)}}
	g, err := New(c)
	require.NoError(t, err)
	err = g.Add(context.Background(), Batch{
		Keys:   []Column{Values([]bool{true, false, true}), Values([]string{"a", "a key of some length", ""}).WithValidity([]byte{3})},
		Values: []Column{Values([]int64{1, 2, 3})},
	})
	require.NoError(t, err)
	var buf bytes.Buffer
	require.NoError(t, g.WritePartial(&buf))
	return c, buf.Bytes()
}

func TestPartialCorrupted(t *testing.T) {
	c, good := smallPartial(t)
	merge := func(b []byte) error {
		g, err := New(c)
		require.NoError(t, err)
		return g.MergePartial(bytes.NewReader(b))
	}
	require.NoError(t, merge(good))
	for n := range good {
		var corrupt *CorruptError
		if err := merge(good[:n]); !errors.As(err, &corrupt) {
			t.Errorf("first %d bytes: %v", n, err)
		}
		bad := bytes.Clone(good)
		bad[n] ^= 0x10
		var mismatch *MismatchError
		if err := merge(bad); !errors.As(err, &corrupt) && !errors.As(err, &mismatch) {
			t.Errorf("byte %d changed: %v", n, err)
		}
	}
	c.DropNulls = true
	var mismatch *MismatchError
	require.ErrorAs(t, merge(good), &mismatch)
}

// FuzzPartial changes the content of chunks, and corrects their checksums.
func FuzzPartial(f *testing.F) {
	c, good := smallPartial(f)
	f.Add(good)
	f.Fuzz(func(t *testing.T, b []byte) {
		var fixed bytes.Buffer
		head := len(partialMagic) + 1
		if len(b) < head {
			return
		}
		fixed.Write(b[:head])
		for rest := b[head:]; len(rest) >= 8; {
			n := min(int(rest[0])|int(rest[1])<<8, len(rest)-8)
			require.NoError(t, writeChunk(&fixed, rest[8:8+n]))
			rest = rest[8+n:]
		}
		g, err := New(c)
		require.NoError(t, err)
		if err := g.MergePartial(&fixed); err != nil {
			return
		}
		_, err = g.Finish(context.Background())
		var overflow *OverflowError
		if err != nil && !errors.As(err, &overflow) {
			t.Error(err)
		}
	})
}
