// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
)

// TestCodedKeys adds batches that share dictionaries for a while. Cached groups must stay correct when the dictionary
// changes, when rows are NULL, and when the table is frozen or abandoned.
func TestCodedKeys(t *testing.T) {
	soak.NoRace(t)
	batches := 5
	if soak.Reduced {
		batches = 2 // one goroutine: nothing can race
	}
	for _, entries := range []int{1, 10, 3000, 60_000} {
		for _, limit := range []int64{0, 1 << 20} {
			t.Run(fmt.Sprintf("entries=%d/limit=%d", entries, limit), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(entries), uint64(limit)))
				config := Config{
					Keys: By("k0"), Aggregates: []Aggregate{Count(), Sum("v0")}, Workers: 1, Order: ByKeys,
					MemoryLimit: limit, SpillDir: t.TempDir(), SpillCodec: plainCodec{},
				}
				g, err := config.New()
				require.NoError(t, err)
				defer func() { require.NoError(t, g.Close()) }()
				w := g.Worker()
				counts, sums := map[string]int64{}, map[string]int64{}
				cached, start := 0, int64(0)
				for d := range 6 {
					texts := make([]string, entries)
					for i := range texts {
						texts[i] = fmt.Sprintf("%0*d", 1+rng.IntN(30), (i+d*entries/3)%(2*entries))
					}
					dict := dictionaryOf(boxed(texts))
					for range batches {
						const rows = 10_000
						codes, values, bits := make([]uint32, rows), make([]int64, rows), make([]byte, (rows+7)/8)
						nulls := rng.IntN(3) == 0
						for i := range codes {
							// The lower codes are far more frequent, so that a table with them freezes.
							codes[i] = uint32(float64(entries) * rng.Float64() * rng.Float64() * rng.Float64())
							values[i] = rng.Int64N(1000)
							key := texts[codes[i]]
							if nulls && rng.IntN(10) == 0 {
								key = "NULL"
							} else {
								bits[i>>3] |= 1 << (i & 7)
							}
							counts[key]++
							sums[key] += values[i]
						}
						col := column.Codes("", codes, dict)
						if nulls {
							col = col.WithValidity(bits)
						}
						require.NoError(t, w.Add(context.Background(), batchOf(start, cols(col), cols(vals(values)))))
						start += rows
						if w.in.local != nil && w.in.coded.dicts[0] == dict {
							cached++
						}
					}
				}
				require.True(t, cached > 0 || w.in.mode == modeScatter)
				res, err := g.Finish(context.Background())
				require.NoError(t, err)
				require.Equal(t, len(counts), res.Rows)
				count, sum := ints(res, "count"), ints(res, "sum(v0)")
				for i, name := range textsOf(res, "k0") {
					if res.Columns[0].Null(i) {
						name = "NULL"
					}
					if count[i] != counts[name] || sum[i] != sums[name] {
						t.Fatalf("%s: count %d, sum %d, want %d, %d", name, count[i], sum[i], counts[name], sums[name])
					}
				}
			})
		}
	}
}

// TestCombinedCodes groups by two dictionary columns with NULLs, whose dictionaries change one after the other.
func TestCombinedCodes(t *testing.T) {
	const rows = 3 * chunkRows
	dicts := []*column.Dictionary{
		dictionaryOf(boxed([]string{"a", "b", "a longer text"})), dictionaryOf(boxed([]string{"b", "c", "a"})),
	}
	for _, drop := range []bool{false, true} {
		gc := groupCase{
			config: Config{Keys: By("k0", "k1"), Aggregates: []Aggregate{Count(), Sum("v0")}, DropNulls: drop, Workers: 1},
			limits: defaultLimits,
		}
		for n := range 6 {
			one, two, values, validity := make([]uint32, rows), make([]uint32, rows), make([]int64, rows), make([]byte, rows/8)
			for i := range one {
				one[i], two[i], values[i] = uint32(i/3%3), uint32(i*(n+1)%3), int64(i)
				if i%5 > 0 {
					validity[i>>3] |= 1 << (i & 7)
				} else {
					two[i] = 99 // the code of a NULL is unspecified
				}
			}
			keys := cols(column.Codes("", one, dicts[n&1]), column.Codes("", one, dicts[n>>1&1]))
			keys[1].Values = bytesOf(two)
			keys[1] = keys[1].WithValidity(validity)
			gc.batches = append(gc.batches, batchOf(0, keys, cols(vals(values))))
		}
		require.NoError(t, gc.check(nil))
		g, err := gc.config.New()
		require.NoError(t, err)
		w := g.Worker()
		for _, b := range gc.batches {
			require.NoError(t, w.Add(t.Context(), b))
			codes := w.in.codesOf(b.Columns[:2], 0, chunkRows)
			require.Equal(t, drop, codes == nil)
			require.Equal(t, drop, w.in.known(codes) == nil, "the groups are cached")
		}
	}
}

// TestNewCodesAreLookedUpAlone has chunks with few codes that were not there before, as sorted rows have, and with
// many. Groups have the numbers of their first rows.
func TestNewCodesAreLookedUpAlone(t *testing.T) {
	texts := make([]string, 3000)
	for i := range texts {
		texts[i] = fmt.Sprintf("the text number %d", i)
	}
	dict := dictionaryOf(boxed(texts))
	gc := groupCase{
		config: Config{Keys: By("k0", "k1"), Aggregates: []Aggregate{Count(), First("v0")}, Workers: 1, Order: FirstAppearance},
		limits: defaultLimits,
	}
	g, err := gc.config.New()
	require.NoError(t, err)
	w := g.Worker()
	for n, code := range []func(i int) uint32{
		func(int) uint32 { return 7 },
		func(i int) uint32 { return uint32(5000-i) / 1000 }, // the first row of a group is behind rows of others
		func(i int) uint32 { return uint32(i % 3000) },
		func(i int) uint32 { return 2999 - uint32(i%3000) },
	} {
		const rows = 2 * chunkRows
		codes, values := make([]uint32, rows), make([]int64, rows)
		for i := range codes {
			codes[i], values[i] = code(i), int64(i)
		}
		b := batchOf(int64(n*rows), cols(column.Codes("", codes, dict), vals(make([]int8, rows))), cols(vals(values)))
		gc.batches = append(gc.batches, b)
		if n > 0 {
			combined := w.in.codesOf(b.Columns[:2], 0, chunkRows)
			fresh := w.in.newCodes(combined)
			switch n {
			case 1:
				require.Equal(t, []uint32{0, 1, 1001, 2001}, fresh)
			case 2:
				require.Nil(t, fresh, "too many")
			}
			require.NotContains(t, w.in.coded.ids, uint32(math.MaxUint32))
		}
		require.NoError(t, w.Add(t.Context(), b))
		require.NotNil(t, w.in.known(w.in.codesOf(b.Columns[:2], 0, chunkRows)))
		if n == 1 {
			require.Equal(t, []int64{rows, rows + 1, rows + 1001, rows + 2001}, w.in.local.numbers[2:6])
		}
	}
	require.NoError(t, gc.check(nil))
}

// TestIntegersBesideCodes groups by integers beside texts: their range grows in both directions, some are NULL, and in
// the end they are too far from each other.
func TestIntegersBesideCodes(t *testing.T) {
	const rows = 2 * chunkRows
	dict := dictionaryOf(boxed([]string{"a", "b", "a longer text"}))
	for _, nulls := range []bool{false, true} {
		for _, typ := range []column.Type{typeInt8, typeInt16, typeDate, typeInt64, typeUint64, typeTimestamp, typeDecimal64} {
			gc := groupCase{
				config: Config{Keys: By("k0", "k1"), Aggregates: []Aggregate{Count(), Sum("v0")}, Workers: 1},
				limits: defaultLimits,
			}
			g, err := gc.config.New()
			require.NoError(t, err)
			w := g.Worker()
			for n, span := range [][2]int64{{10, 20}, {12, 14}, {5, 40}, {0, 100}, {-3, 3}, {-1 << 40, 1 << 40}} {
				text, values, numbers := make([]uint32, rows), make([]int64, rows), make([]int64, rows)
				for i := range text {
					text[i], values[i] = uint32(i*(n+1)%3), int64(i)
					numbers[i] = span[0] + int64(i*7919)%(span[1]-span[0])
				}
				key := numbersOf(typ, numbers)
				if nulls {
					key = key.WithValidity(bytes.Repeat([]byte{0xfb}, rows/8))
				}
				b := batchOf(0, cols(key, column.Codes("", text, dict)), cols(vals(values)))
				gc.batches = append(gc.batches, b)
				require.NoError(t, w.Add(t.Context(), b))
				codes := w.in.codesOf(b.Columns[:2], 0, chunkRows)
				small := typ.ValueWidth() == 1 || n < 4
				require.Equal(t, small, codes != nil, "%v, batch %d", typ, n)
				require.Equal(t, small, w.in.known(codes) != nil, "the groups are cached")
			}
			require.NoError(t, gc.check(nil))
		}
	}
}

// numbersOf returns a column of a fixed-width type with the lowest bytes of numbers.
func numbersOf(typ column.Type, numbers []int64) column.Column {
	width := typ.ValueWidth()
	values := make([]byte, 0, width*len(numbers))
	for _, x := range numbers {
		values = append(values, binary.LittleEndian.AppendUint64(nil, uint64(x))[:width]...)
	}
	return column.Column{Type: typ, Len: len(numbers), Values: values}
}

// TestCodesBesideOffsets has columns of codes with offsets, which are left from texts that were read into them before.
func TestCodesBesideOffsets(t *testing.T) {
	codes := column.Codes("phrase", []uint32{1, 0, 1}, column.NewDictionary([]byte("deskchair"), []int32{0, 4, 9}))
	codes.Offsets = []int32{0, 0, 0, 0}
	b := column.NewBatch(column.Of("engine", []int32{7, 8, 7}), codes)
	r, err := Config{Keys: By("engine", "phrase"), Aggregates: []Aggregate{Count()}}.Aggregate(t.Context(), b)
	require.NoError(t, err)
	require.Equal(t, []string{"chair", "desk"}, textsOf(r, "phrase"))
	require.Equal(t, []int64{2, 1}, ints(r, "count"))
}

// lettersOf makes a column of texts of one byte each. Every byte of data below odd becomes another text.
func lettersOf(data []byte, odd byte) column.Column {
	texts := make([]string, len(data))
	for i, b := range data {
		texts[i] = string(data[i : i+1])
		if b < odd {
			texts[i] = strings.Repeat(texts[i], int(b)%3*7)
		}
	}
	return vals(texts)
}

// FuzzLetters groups by one or two columns of letters, beside texts of other lengths, NULLs and dictionaries, and
// compares the result with the reference.
func FuzzLetters(f *testing.F) {
	letters := bytes.Repeat([]byte("AFRNOF"), 50)
	f.Add(letters, byte(0), uint8(0))
	f.Add(letters, byte(0), uint8(1))
	f.Add(letters, byte('B'), uint8(1))
	f.Add(bytes.Repeat([]byte{0, 1, 2, 254, 255, 128}, 50), byte(0), uint8(2))
	f.Add(bytes.Repeat([]byte{0, 1, 2, 254, 255, 128}, 50), byte(2), uint8(3))
	f.Add(bytes.Repeat([]byte{2, 3, 5}, 100), byte(4), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, odd byte, kind uint8) {
		if len(data) < 4 {
			return
		}
		gc := groupCase{limits: defaultLimits}
		gc.config = Config{Keys: By("k0", "k1"), Aggregates: []Aggregate{Count(), Sum("v0")}, Workers: 1}
		half := len(data) / 2
		for n, part := range [][]byte{data[:half], data[half : 2*half], data[half/2 : half/2+half]} {
			values, codes := make([]int64, half), make([]uint32, half)
			for i, b := range part {
				values[i], codes[i] = int64(b), uint32(b&1)
			}
			if n == 1 { // the first part is letters, so that their groups are cached
				odd = 0
			}
			keys := cols(lettersOf(part, odd), lettersOf(data[:half], 0))
			switch kind % 4 {
			case 1:
				keys = keys[:1]
			case 2:
				keys[1] = column.Codes("", codes, dictionaryOf(boxed([]string{"a", "b"})))
			case 3:
				keys[1] = keys[1].WithValidity(bytes.Repeat([]byte{0xfe}, (half+7)/8))
			}
			gc.config.Keys = gc.config.Keys[:len(keys)]
			gc.batches = append(gc.batches, batchOf(int64(n*half), keys, cols(vals(values))))
		}
		if err := gc.check(nil); err != nil {
			t.Fatal(err)
		}
	})
}

// TestLetters adds a batch of letters, whose groups are cached by their bytes, and batches of other texts, whose groups
// are not.
func TestLetters(t *testing.T) {
	const rows = 2 * chunkRows
	letters := bytes.Repeat([]byte("AFRNOF01"), rows/8)
	longer := vals(append([]string{"AF", ""}, make([]string, rows-2)...))
	for i := range longer.Offsets[2:] {
		longer.Offsets[2+i] = int32(2 + i) // one byte on average
	}
	longer.Values = append([]byte("AF"), letters[:rows-2]...)
	for _, row := range []struct {
		name string
		col  column.Column
		want bool
	}{
		{"letters", lettersOf(letters, 0), true},
		{"one byte on average", longer, false},
		{"NULLs", lettersOf(letters, 0).WithValidity(bytes.Repeat([]byte{0xfe}, rows/8)), false},
		{"integers", vals(make([]int8, rows)), true},
		{"floats", vals(make([]float32, rows)), false},
	} {
		c := Config{Keys: By("k0", "k1"), Aggregates: []Aggregate{Count()}}
		g, err := c.New()
		require.NoError(t, err)
		w := g.Worker()
		keys := cols(row.col, lettersOf(letters, 0))
		b := batchOf(0, keys, nil)
		require.NoError(t, w.Add(t.Context(), b))
		codes := w.in.codesOf(b.Columns[:2], 0, chunkRows)
		require.Equal(t, row.want, codes != nil, row.name)
		require.Equal(t, row.want, w.in.known(codes) != nil, "%s: the groups are cached", row.name)
		got, err := g.Finish(t.Context())
		require.NoError(t, err)
		want, err := reference(c, b)
		require.NoError(t, err)
		equalResults(t, c, want, got, false)
	}
	malformed := lettersOf(letters, 0)
	malformed.Offsets = slices.Clone(malformed.Offsets)
	malformed.Offsets[chunkRows] = -1
	require.Zero(t, codeCount(&malformed, 0, chunkRows), "a negative offset")
}
