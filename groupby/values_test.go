// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// TestTextPrefixesHaveTheOrderOfTexts compares texts of different lengths: unequal prefixes have the order of their
// texts.
func TestTextPrefixesHaveTheOrderOfTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	text := func() string {
		b := make([]byte, r.IntN(12))
		for i := range b {
			b[i] = "\x00\x01aAzé\xff"[r.IntN(8)]
		}
		return string(b)
	}
	for range 20_000 {
		x, y := text(), text()
		if c := cmp.Compare(textPrefix(x), textPrefix(y)); c != 0 {
			require.Equal(t, cmp.Compare(x, y), c, "%q, %q", x, y)
		}
	}
	for _, texts := range [][]string{{"a", "abcdefgh", "abcdefghi", "b", "c", "cdefghijklmn"}, {"", "\x00", "\x00\x00\x00\x00\x00\x00\x00\x00\x00", "\xff"}} {
		shuffled := slices.Clone(texts)
		for range 20 {
			r.Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
			b := batchOf(0, nil, cols(vals(shuffled)))
			got, err := Config{Aggregates: []Aggregate{Min("v0"), Max("v0")}}.Aggregate(t.Context(), b)
			require.NoError(t, err)
			require.Equal(t, []any{texts[0], texts[len(texts)-1]}, []any{got.Columns[0].Value(0), got.Columns[1].Value(0)})
		}
	}
}

// TestTopKOfTheMostRows requires that k can be maxK, and that elements of lists can be NULL.
func TestTopKOfTheMostRows(t *testing.T) {
	b := batchOf(0, nil, cols(vals([]int64{1, 2}), vals([]string{"a", "b"})))
	for _, a := range []Aggregate{TopK("v0", maxK), TopKOf("v0", "v1", maxK), BottomK("v0", maxK)} {
		got, err := Config{Aggregates: []Aggregate{a}}.Aggregate(t.Context(), b)
		require.NoError(t, err)
		field := got.Schema()[0]
		require.Len(t, field.Fields, 1)
		require.True(t, field.Fields[0].Nullable)
		acc, err := a.New([]column.Type{typeInt64, typeString}[:len(a.Args)])
		require.NoError(t, err)
		_, declared := acc.Types()
		require.Equal(t, field.Fields, declared.Fields)
	}
	for _, k := range []int{-1, 0, maxK + 1} {
		_, err := Config{Aggregates: []Aggregate{TopK("v0", k)}}.Aggregate(t.Context(), b)
		require.Error(t, err)
	}
}

// TestBatchesOfOneTypeShareAStage requires one stage for batches whose columns have the same types.
func TestBatchesOfOneTypeShareAStage(t *testing.T) {
	g, err := Config{Keys: By("k0"), Aggregates: []Aggregate{Sum("v0")}}.New()
	require.NoError(t, err)
	defer g.Close()
	for i := range 3 {
		require.NoError(t, g.Add(t.Context(), batchOf(int64(2*i), cols(vals([]int64{1, 2})), cols(vals([]int64{5, 6})))))
		require.Len(t, g.stages, 1)
	}
}

// TestBuildersCountTheirMemory compares the size of builders with the size of their slices.
func TestBuildersCountTheirMemory(t *testing.T) {
	r := newRand(t)
	for _, typ := range anyTypes {
		b := newBuilder(typ)
		c := randomColumn(r, typ, 200, false, true)
		b.append(&c, 0, c.Len)
		require.EqualValues(t, 8*cap(b.fixed)+cap(b.text)+4*cap(b.offsets)+cap(b.validity), b.size(), typ)
		require.Positive(t, b.size())
	}
}

// TestTextSizes requires the bytes of rows, of texts alone and of codes.
func TestTextSizes(t *testing.T) {
	texts := []string{"a", "", "bcd", strings.Repeat("x", 40)}
	plain := vals(texts)
	codes := column.Codes("", []uint32{0, 1, 2, 3}, dictionaryOf([]any{"a", "", "bcd", texts[3]}))
	for _, c := range []column.Column{plain, codes} {
		for i := range texts {
			for j := i; j <= len(texts); j++ {
				require.Equal(t, len(strings.Join(texts[i:j], "")), textSize(&c, i, j))
			}
		}
	}
	numbers := vals([]int64{1, 2})
	require.Zero(t, textSize(&numbers, 0, 2))
}

// TestSumsAndMeansOfVectors requires the sum of vectors in Float64 and their mean in the type of their elements.
func TestSumsAndMeansOfVectors(t *testing.T) {
	b := batchOf(0, nil, cols(column.Matrix("", []float32{1, 2, 3, 4, 8, 9}, 2), column.Matrix("", []int64{1, 2, 3, 4, 8, 9}, 2)))
	got, err := Config{Aggregates: []Aggregate{Sum("v0"), Mean("v0"), Sum("v1"), Mean("v1")}}.Aggregate(t.Context(), b)
	require.NoError(t, err)
	for i, want := range []any{[]float64{12, 15}, []float32{4, 5}, []float64{12, 15}, []float64{4, 5}} {
		require.Equal(t, want, got.Columns[i].Value(0), got.Columns[i].Name)
	}
}

// TestApproxCountDistinctHasPrecision14 requires that the default sketch equals the sketch of precision 14.
func TestApproxCountDistinctHasPrecision14(t *testing.T) {
	x := make([]int64, 50_000)
	for i := range x {
		x[i] = int64(i)
	}
	var results []any
	for _, a := range []Aggregate{ApproxCountDistinct("v0"), ApproxCountDistinctPrecision("v0", 14), ApproxCountDistinctPrecision("v0", 15)} {
		got, err := Config{Aggregates: []Aggregate{a}, Workers: 1}.Aggregate(t.Context(), batchOf(0, nil, cols(vals(x))))
		require.NoError(t, err)
		results = append(results, got.Columns[0].Value(0))
	}
	require.Equal(t, results[1], results[0])
	require.NotEqual(t, results[2], results[0])
}

// TestBytesOfLongKeys requires the bytes of the long keys among rows with and without one.
func TestBytesOfLongKeys(t *testing.T) {
	r := keyRows{text: []byte("abcdefg"), ends: []int64{3, 3, 3, 7, 7}}
	sizes := []int{3, 0, 0, 4, 0}
	for i := range sizes {
		sum := 0
		for j := i; j < len(sizes); j++ {
			require.Equal(t, sum, r.textBytes(i, j))
			sum += sizes[j]
		}
		require.Equal(t, sum, r.textBytes(i, len(sizes)))
		require.Len(t, r.long(uint32(i)), sizes[i])
	}
	require.Zero(t, (&keyRows{}).textBytes(0, 5))
}

// TestBuildersOfZeros appends and gathers columns without values, which are zeros, beside columns with values.
func TestBuildersOfZeros(t *testing.T) {
	r := newRand(t)
	for _, typ := range []column.Type{typeInt8, typeInt16, typeFloat32, typeInt64, typeUUID, column.VectorOf(column.Float32, 3)} {
		zeros, dense := zeroColumn(typ, 5), randomColumn(r, typ, 5, false, false)
		for _, parts := range [][]column.Column{{zeros, dense}, {dense, zeros}, {zeros, zeros}, {zeros, dense, zeros}} {
			for _, gathered := range []bool{false, true} {
				b := newBuilder(typ)
				var want []string
				for _, c := range parts {
					if gathered {
						b.gather(&c, []uint32{1, 3, 4})
					} else {
						b.append(&c, 1, 4)
					}
					for k := range 3 {
						row := 1 + k
						if gathered && k > 0 {
							row++
						}
						want = append(want, textAt(&c, row))
					}
				}
				got := b.column()
				require.Equal(t, len(want), got.Len)
				for i := range want {
					require.Equal(t, want[i], textAt(&got, i), "%v, row %d", typ, i)
				}
			}
		}
	}
}
