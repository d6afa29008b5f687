// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
)

// spilling returns a Config with a memory limit below the size of its groups.
func spilling(t *testing.T) Config {
	return Config{
		Keys: By("k0", "k1"), Workers: 2,
		Aggregates:  []Aggregate{Count(), Sum("v0"), Min("v0"), CountOf("v1")},
		Order:       ByKeys,
		MemoryLimit: 1 << 18, SpillDir: t.TempDir(), SpillCodec: plainCodec{},
	}
}

// plainCodec copies. The tests spill so little at a time that compression would dominate their time.
type plainCodec struct{}

func (plainCodec) Compress(dst, src []byte) ([]byte, error)   { return append(dst, src...), nil }
func (plainCodec) Decompress(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }

// spillingBatch makes n rows, most of them groups of their own: short and long keys, NULLs.
func spillingBatch(r *rand.Rand, n int) *column.Batch {
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
	return batchOf(0, cols(vals(id).WithValidity(valid), vals(name)), cols(vals(v).WithValidity(valid), vals(s)))
}

// sameResults fails if two results differ, including their order.
func sameResults(t *testing.T, want, got *column.Batch) {
	t.Helper()
	require.Equal(t, want.Rows, got.Rows)
	for i := range want.Columns {
		w, g := want.Columns[i], got.Columns[i]
		if !bytes.Equal(appendColumn(nil, &w, 0, w.Len), appendColumn(nil, &g, 0, g.Len)) {
			t.Errorf("%s differs", w.Name)
		}
	}
}

func TestSpill(t *testing.T) {
	ctx := context.Background()
	c := spilling(t)
	c.SpillCodec = nil // the default
	r := rand.New(rand.NewPCG(1, 2))
	roomy := c
	roomy.MemoryLimit = 0
	want, err := roomy.New()
	require.NoError(t, err)
	got, err := c.New()
	require.NoError(t, err)
	for range 5 {
		b := spillingBatch(r, 20_000)
		require.NoError(t, want.Add(ctx, b))
		require.NoError(t, got.Add(ctx, b))
	}
	if size := got.stages[0].store.spill.size; size < 1<<18 {
		t.Errorf("%d bytes spilled", size)
	}
	if held := got.stages[0].store.held.Load(); held > 2*c.MemoryLimit {
		t.Errorf("%d bytes held, limit %d", held, c.MemoryLimit)
	}
	w, err := want.Finish(ctx)
	require.NoError(t, err)
	file := got.stages[0].store.spill.file
	g, err := got.Finish(ctx)
	require.NoError(t, err)
	require.ErrorIs(t, file.Close(), os.ErrClosed, "Finish closes the temporary file")
	require.Greater(t, w.Rows, 50_000)
	sameResults(t, w, g)
	left, err := os.ReadDir(c.SpillDir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// A partition that exceeds the memory is merged in parts.
func TestSpillPartByPart(t *testing.T) {
	ctx := context.Background()
	c := spilling(t)
	c.MemoryLimit = 1 << 12
	r := rand.New(rand.NewPCG(3, 4))
	b := spillingBatch(r, 5000)
	got, err := c.Aggregate(ctx, b)
	require.NoError(t, err)
	c.MemoryLimit = 0
	want, err := c.Aggregate(ctx, b)
	require.NoError(t, err)
	sameResults(t, want, got)
}

// onePartition returns a Grouper and a batch of n groups that its hash puts into partition 0. v0 has texts of 200
// bytes, so that frameRows groups are more than one extent.
func onePartition(t *testing.T, c Config, n int) (*Grouper, *column.Batch) {
	g, err := c.New()
	require.NoError(t, err)
	s, err := g.stageOf([]column.Type{{Kind: column.Int64}, {Kind: column.String}}) // it has the seed of the hash
	require.NoError(t, err)
	ids, texts := make([]int64, 0, n), make([]string, n)
	for id := uint64(0); len(ids) < n; id++ {
		if s.plan.keys.hash1(id, 0)>>(64-partitionBits) == 0 {
			ids = append(ids, int64(id))
		}
	}
	for i := range texts {
		texts[i] = fmt.Sprintf("%0200d", ids[i])
	}
	return g, batchOf(0, cols(vals(ids)), cols(vals(texts)))
}

// ofTexts returns a Config for onePartition.
func ofTexts() Config {
	return Config{Keys: By("k0"), Aggregates: []Aggregate{Count(), Min("v0")}, Order: ByKeys, Workers: 1}
}

// A partition of more than frameRows groups is complete in a partial.
func TestPartialOfLargePartition(t *testing.T) {
	g, b := onePartition(t, ofTexts(), frameRows+2)
	require.NoError(t, g.Add(t.Context(), b))
	var partial bytes.Buffer
	require.NoError(t, g.WritePartial(&partial))
	merged, err := ofTexts().New()
	require.NoError(t, err)
	require.NoError(t, merged.MergePartial(&partial))
	sameGroups(t, merged, b)
}

// sameGroups fails unless the result of g has each row of b as one group.
func sameGroups(t *testing.T, g *Grouper, b *column.Batch) {
	got, err := g.Finish(t.Context())
	require.NoError(t, err)
	require.Equal(t, slices.Repeat([]int64{1}, b.Rows), ints(got, "count"))
	require.Equal(t, ints(b, "k0"), ints(got, "k0"))
	require.Equal(t, textsOf(b, "v0"), textsOf(got, "min(v0)"))
}

// A partition is spilled as several extents, each of them once.
func TestSpillExtents(t *testing.T) {
	c := ofTexts()
	c.MemoryLimit, c.SpillDir, c.SpillCodec = 3<<20, t.TempDir(), plainCodec{}
	g, b := onePartition(t, c, 12_000)
	require.NoError(t, g.Add(t.Context(), b))
	sameGroups(t, g, b)
}

// A brokenCodec fails at one call.
type brokenCodec struct {
	plainCodec
	calls *int
	at    int
}

var errBrokenCodec = errors.New("broken")

func (c brokenCodec) Compress(dst, src []byte) ([]byte, error) {
	if *c.calls++; *c.calls == c.at {
		return nil, errBrokenCodec
	}
	return c.plainCodec.Compress(dst, src)
}

// Whichever extent cannot be written, the Grouper fails.
func TestErrorOfEachExtentIsReturned(t *testing.T) {
	for at := 1; ; at++ {
		c, calls := ofTexts(), 0
		c.MemoryLimit, c.SpillDir, c.SpillCodec = 3<<20, t.TempDir(), brokenCodec{calls: &calls, at: at}
		g, b := onePartition(t, c, 12_000)
		err := g.Add(t.Context(), b)
		if err == nil {
			_, err = g.Finish(t.Context())
		}
		require.NoError(t, g.Close())
		if calls < at {
			require.NoError(t, err)
			require.Greater(t, at, 2, "several extents")
			return
		}
		require.ErrorIs(t, err, errBrokenCodec, "call %d", at)
	}
}

// A brokenWriter fails at one call.
type brokenWriter struct{ calls, at int }

func (w *brokenWriter) Write(b []byte) (int, error) {
	if w.calls++; w.calls == w.at {
		return 0, errBrokenCodec
	}
	return len(b), nil
}

// Whichever part of a partial cannot be written, WritePartial fails.
func TestErrorOfEachWriteOfAPartialIsReturned(t *testing.T) {
	for at := 1; ; at++ {
		g, b := onePartition(t, ofTexts(), 100)
		require.NoError(t, g.Add(t.Context(), b))
		w := &brokenWriter{at: at}
		err := g.WritePartial(w)
		if w.calls < at {
			require.NoError(t, err)
			require.Greater(t, at, 4, "a head, chunks and an end")
			return
		}
		require.ErrorIs(t, err, errBrokenCodec, "call %d", at)
	}
}

// The buffers of a merger that spills count as memory that is held.
func TestBuffersOfSpillsAreCounted(t *testing.T) {
	c := ofTexts()
	c.MemoryLimit, c.SpillDir, c.SpillCodec = 3<<20, t.TempDir(), plainCodec{}
	g, b := onePartition(t, c, 12_000)
	require.NoError(t, g.Add(t.Context(), b))
	w := g.stages[0].workers[0]
	require.NotEmpty(t, g.stages[0].store.parts[0].spilled)
	require.Positive(t, cap(w.merging.raw))
	require.Equal(t, w.merging.size(), w.merging.counted)
	require.NoError(t, g.Close())
}

// The parts of a partition that exceeds the memory have about the same number of groups.
func TestSpillPartsAreEven(t *testing.T) {
	c := ofTexts()
	c.MemoryLimit, c.SpillDir, c.SpillCodec = 1<<19, t.TempDir(), plainCodec{}
	g, b := onePartition(t, c, 5000)
	require.NoError(t, g.Add(t.Context(), b))
	s := g.stages[0]
	for _, w := range s.workers {
		require.NoError(t, w.finish())
	}
	sum, parts := 0, 0
	require.NoError(t, s.store.take(0, newMerger(s.plan), func(m *merger) error {
		n := m.groups() - 1
		require.Less(t, n, b.Rows/2)
		sum, parts = sum+n, parts+1
		return nil
	}))
	require.GreaterOrEqual(t, parts, 4)
	require.Equal(t, b.Rows, sum)
	require.NoError(t, g.Close())
}

func TestMemoryLimitWithoutSpillDir(t *testing.T) {
	ctx := context.Background()
	c := spilling(t)
	c.SpillDir = ""
	g, err := c.New()
	require.NoError(t, err)
	err = g.Add(ctx, spillingBatch(rand.New(rand.NewPCG(5, 6)), 50_000))
	require.ErrorIs(t, err, ErrMemoryLimit)
	_, err = g.Finish(ctx)
	require.ErrorIs(t, err, ErrMemoryLimit)
	require.ErrorIs(t, err, ErrFinished)
}

// Close closes the temporary file of a Grouper that has no result.
func TestSpillClosed(t *testing.T) {
	g, err := spilling(t).New()
	require.NoError(t, err)
	require.NoError(t, g.Add(context.Background(), spillingBatch(rand.New(rand.NewPCG(5, 6)), 50_000)))
	file := g.stages[0].store.spill.file
	require.NotNil(t, file)
	require.NoError(t, g.Close())
	require.ErrorIs(t, file.Close(), os.ErrClosed)
}

func TestSpillDirMissing(t *testing.T) {
	c := spilling(t)
	c.SpillDir += "/missing"
	_, err := c.Aggregate(context.Background(), spillingBatch(rand.New(rand.NewPCG(5, 6)), 50_000))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestSpillCorrupted(t *testing.T) {
	ctx := context.Background()
	g, err := spilling(t).New()
	require.NoError(t, err)
	require.NoError(t, g.Add(ctx, spillingBatch(rand.New(rand.NewPCG(7, 8)), 50_000)))
	var b [1]byte
	_, err = g.stages[0].store.spill.file.ReadAt(b[:], g.stages[0].store.spill.size/2)
	require.NoError(t, err)
	b[0] ^= 0x40
	_, err = g.stages[0].store.spill.file.WriteAt(b[:], g.stages[0].store.spill.size/2)
	require.NoError(t, err)
	_, err = g.Finish(ctx)
	var corrupt *CorruptError
	require.True(t, errors.As(err, &corrupt), "%v", err)
}

func TestPartialMergedElsewhere(t *testing.T) {
	soak.NoRace(t)
	ctx := context.Background()
	for _, name := range []string{"in memory", "spilled"} {
		t.Run(name, func(t *testing.T) {
			c := spilling(t)
			if name == "in memory" {
				c.MemoryLimit = 0
			}
			r := rand.New(rand.NewPCG(9, 10))
			all, err := c.New()
			require.NoError(t, err)
			merged, err := c.New()
			require.NoError(t, err)
			for _, n := range []int{0, 10, 1000, 7000, 20_000} {
				b := spillingBatch(r, n)
				require.NoError(t, all.Add(ctx, b))
				part, err := c.New()
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

// smallPartial returns the seed input of the fuzzer.
func smallPartial(t testing.TB) (Config, []byte) {
	c := Config{Keys: By("k0", "k1"), Aggregates: []Aggregate{Count(), Sum("v0"), Mean("v0")}}
	g, err := c.New()
	require.NoError(t, err)
	err = g.Add(context.Background(), batchOf(0, cols(vals([]bool{true, false, true}), vals([]string{"a", "a key of some length", ""}).WithValidity([]byte{3})), cols(vals([]int64{1, 2, 3}))))
	require.NoError(t, err)
	var buf bytes.Buffer
	require.NoError(t, g.WritePartial(&buf))
	return c, buf.Bytes()
}

func TestPartialCorrupted(t *testing.T) {
	c, good := smallPartial(t)
	merge := func(b []byte) error {
		g, err := c.New()
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

// A chunk that claims 256 MiB, with only the header after it, costs one step of memory.
func TestPartialChunkIsReadInSteps(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readChunk(bytes.NewReader([]byte{0, 0, 0, 16, 0, 0, 0, 0}), nil)
	runtime.ReadMemStats(&after)
	var corrupt *CorruptError
	require.ErrorAs(t, err, &corrupt)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))
}

func TestPartialOfOtherVersion(t *testing.T) {
	c, b := smallPartial(t)
	for _, version := range []byte{partialVersion - 1, partialVersion + 1, 255} {
		b[len(partialMagic)] = version
		g, err := c.New()
		require.NoError(t, err)
		err = g.MergePartial(bytes.NewReader(b))
		var mismatch *MismatchError
		require.ErrorAs(t, err, &mismatch)
		require.ErrorContains(t, err, fmt.Sprintf("version is %d, want 1", version))
	}
}

// FuzzPartial changes the content of chunks and corrects their checksums.
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
		g, err := c.New()
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

// Counts of values are right when all NULLs come from a partial, and none from rows.
func TestPartialCountsNulls(t *testing.T) {
	ctx := context.Background()
	c := Config{Keys: By("k0"), Aggregates: []Aggregate{Count(), CountOf("v0")}}
	g, err := c.New()
	require.NoError(t, err)
	values := vals([]int64{1, 2, 3, 4}).WithValidity([]byte{0b0101})
	require.NoError(t, g.Add(ctx, batchOf(0, cols(vals([]int64{7, 7, 8, 7})), cols(values))))
	var partial bytes.Buffer
	require.NoError(t, g.WritePartial(&partial))
	merged, err := c.New()
	require.NoError(t, err)
	require.NoError(t, merged.MergePartial(&partial))
	b, err := merged.Finish(ctx)
	require.NoError(t, err)
	require.Equal(t, []int64{3, 1}, ints(b, "count"))
	require.Equal(t, []int64{1, 1}, ints(b, b.Columns[2].Name))
}

// A sum with NULLs that leaves 64 bits downwards and comes back does not overflow.
func TestSumOverflowWithNulls(t *testing.T) {
	c := Config{Keys: By("k0"), Aggregates: []Aggregate{Sum("v0")}}
	values := vals([]int64{math.MinInt64, -1, 0, 1}).WithValidity([]byte{0b1011})
	b, err := c.Aggregate(context.Background(), batchOf(0, cols(vals([]int64{7, 7, 7, 7})), cols(values)))
	require.NoError(t, err)
	require.Equal(t, []int64{math.MinInt64}, ints(b, "sum(v0)"))
}

// A shortWriter fails after a number of writes.
type shortWriter struct{ writes int }

var errNoSpace = errors.New("no space left")

func (w *shortWriter) Write(b []byte) (int, error) {
	if w.writes--; w.writes < 0 {
		return 0, errNoSpace
	}
	return len(b), nil
}

// TestPartialWriteErrors requires the error of each write of a partial, of groups in memory and in the file.
func TestPartialWriteErrors(t *testing.T) {
	soak.NoRace(t)
	for _, c := range []Config{spilling(t), {Keys: spilling(t).Keys, Aggregates: spilling(t).Aggregates}} {
		for _, rows := range []int{0, 10, 20_000} {
			for writes := 0; ; writes++ {
				g, err := c.New()
				require.NoError(t, err)
				if rows > 0 {
					require.NoError(t, g.Add(t.Context(), spillingBatch(rand.New(rand.NewPCG(1, 1)), rows)))
				}
				w := &shortWriter{writes}
				err = g.WritePartial(w)
				if w.writes >= 0 {
					require.NoError(t, err)
					require.Positive(t, writes)
					break
				}
				require.ErrorIs(t, err, errNoSpace, "%d rows, %d writes", rows, writes)
				if rows > 10 && writes == 8 {
					writes = 100000 // all
				}
			}
		}
	}
}

// TestPartialOfOtherAggregates has programs whose aggregates differ in name, argument, function or parameter.
func TestPartialOfOtherAggregates(t *testing.T) {
	custom := func(name, arg string) Aggregate {
		return Aggregate{Name: name, Args: []string{arg}, New: func([]column.Type) (Accumulator, error) { return &count{}, nil }}
	}
	aggregates := []Aggregate{
		custom("mine", "v0"), custom("yours", "v0"), custom("mine", "v1"), CountOf("v0"), Sum("v0"), Sum("v1"), Min("v0"), TopK("v0", 1), TopK("v0", 2),
	}
	b := batchOf(0, cols(vals([]int64{1, 2})), cols(vals([]int64{5, 6}), vals([]int64{7, 8})))
	for i, from := range aggregates {
		for k, to := range aggregates {
			g, err := Config{Keys: By("k0"), Aggregates: []Aggregate{from}}.New()
			require.NoError(t, err)
			require.NoError(t, g.Add(t.Context(), b))
			var partial bytes.Buffer
			require.NoError(t, g.WritePartial(&partial))
			g, err = Config{Keys: By("k0"), Aggregates: []Aggregate{to.As("other name")}}.New()
			require.NoError(t, err)
			err = g.MergePartial(&partial)
			if i == k {
				require.NoError(t, err)
				continue
			}
			var mismatch *MismatchError
			require.ErrorAs(t, err, &mismatch, "%s into %s", from.Name, to.Name)
		}
	}
}
