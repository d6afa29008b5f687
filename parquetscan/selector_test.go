// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
)

// Rows selected while they are read: the rows are the same as without a selection.

// rowTexts returns the rows of batches as text, by row number, the last column.
func rowTexts(t testing.TB, rows map[int64]string, b *column.Batch) {
	t.Helper()
	for i := range b.Rows {
		text := ""
		for k := range b.Columns[:len(b.Columns)-1] {
			text += fmt.Sprintf("%#v|", b.Columns[k].Value(i))
		}
		rows[b.Columns[len(b.Columns)-1].Value(i).(int64)] = text
	}
}

// allRows returns the rows of a scan by their numbers.
func allRows(t testing.TB, d *Dataset, o Options) map[int64]string {
	t.Helper()
	o.RowNumbers = "#"
	rows := map[int64]string{}
	r, err := scanOf(t, d, o).Reader(everything(scanOf(t, d, o)))
	require.NoError(t, err)
	var b column.Batch
	for {
		err := r.ReadInto(context.Background(), &b)
		if errors.Is(err, io.EOF) {
			return rows
		}
		require.NoError(t, err)
		rowTexts(t, rows, &b)
	}
}

// keepRandom returns a selector of random runs of rows. It notes their numbers.
func keepRandom(rng *rand.Rand, columns []string, noted map[int64]bool) *Selector {
	return &Selector{Columns: columns, New: func() func(b *column.Batch, rows []int32) ([]int32, error) {
		return func(b *column.Batch, rows []int32) ([]int32, error) {
			gap := 1 + rng.IntN(200)
			for i := rng.IntN(gap + 1); i < b.Rows; i += 1 + rng.IntN(gap) {
				for range 1 + rng.IntN(3) {
					if i < b.Rows {
						rows = append(rows, int32(i))
						noted[b.Source.FirstRow+int64(i)] = true
						i++
					}
				}
			}
			return rows, nil
		}
	}}
}

// checkSelections compares random selections of a file with the same rows of a whole scan.
func checkSelections(t testing.TB, rng *rand.Rand, d *Dataset, o Options) {
	t.Helper()
	whole := allRows(t, d, o)
	noted := map[int64]bool{}
	o.Selector = keepRandom(rng, nil, noted)
	if name := d.files[0].Nodes[rng.IntN(len(d.files[0].Nodes))].Field.Name; rng.IntN(2) == 0 {
		o.Selector.Columns = []string{name}
	}
	got := allRows(t, d, o)
	require.Len(t, got, len(noted))
	var numbers []int64
	for row := range d.rows {
		if noted[row] {
			numbers = append(numbers, row)
			require.Equal(t, whole[row], got[row], "row %d", row)
		}
	}
	o.Selector, o.RowNumbers = nil, "#"
	b, err := d.Rows(context.Background(), o, numbers)
	require.NoError(t, err)
	require.Equal(t, len(numbers), b.Rows)
	got = map[int64]string{}
	rowTexts(t, got, b)
	for i, row := range numbers {
		require.Equal(t, whole[row], got[row], "row %d", row)
		require.Equal(t, row, b.Columns[len(b.Columns)-1].Value(i))
	}
}

func TestSelectionEqualsWhole(t *testing.T) {
	soak.NoRace(t)
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(18, seed))
		fields := everyType(seed%2 == 0)
		b := writeArrow(t, rng, fields, 600, 0.2, []int{0, 5, 90}[seed%3], 400,
			parquet.WithDataPageVersion([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}[seed/2%2]),
			parquet.WithDataPageSize(int64(64<<(seed%5))), parquet.WithBatchSize(16), parquet.WithCompression(compress.Codecs.Snappy),
			parquet.WithDictionaryDefault(seed%4 > 0), parquet.WithDictionaryPageSizeLimit(int64(200<<(seed%5))))
		checkSelections(t, rng, openBytes(t, b), Options{BatchRows: []int{300, 64, 7}[seed%3], Text: seed%5 == 0})
	}
}

// TestSelectionAfterFilter selects by a filter, and then by a selector that sees the rows of the filter.
func TestSelectionAfterFilter(t *testing.T) {
	d := openSources(t, Config{}, numbers(0, 1000, 500), numbers(1500, 800))
	for name, columns := range map[string][]string{"same column": {"n"}, "no column": nil} {
		t.Run(name, func(t *testing.T) {
			seen := int64(0)
			s := scanOf(t, d, Options{
				Filter: Or(Lt("n", 100), Ge("n", 1400)), RowNumbers: "row", BatchRows: 64, Workers: 1,
				Selector: &Selector{columns, func() func(b *column.Batch, rows []int32) ([]int32, error) {
					return func(b *column.Batch, rows []int32) ([]int32, error) {
						seen += int64(b.Rows)
						require.Len(t, b.Columns, len(columns))
						for i := 0; i < b.Rows; i += 3 {
							rows = append(rows, int32(i))
						}
						return rows, nil
					}
				}},
			})
			count, err := s.Count(context.Background())
			require.NoError(t, err)
			require.EqualValues(t, 1000, seen)
			var rows int64
			for b, err := range s.All(context.Background()) {
				require.NoError(t, err)
				require.Equal(t, valuesOf[int64](b.Column("n")), valuesOf[int64](b.Column("row")))
				rows += int64(b.Rows)
			}
			require.Equal(t, count, rows)
		})
	}
}

// TestSelectorErrors passes on a selector's error, and refuses rows that do not ascend or do not exist.
func TestSelectorErrors(t *testing.T) {
	d := openSources(t, Config{}, numbers(0, 10))
	broken := errors.New("broken")
	for message, f := range map[string]func(b *column.Batch, rows []int32) ([]int32, error){
		"broken":                         func(*column.Batch, []int32) ([]int32, error) { return nil, broken },
		"kept row 10 after row -1 of 10": func(*column.Batch, []int32) ([]int32, error) { return []int32{10}, nil },
		"kept row 4 after row 4 of 10":   func(*column.Batch, []int32) ([]int32, error) { return []int32{4, 4}, nil },
		"kept row -1 after row -1 of 10": func(*column.Batch, []int32) ([]int32, error) { return []int32{-1}, nil },
	} {
		s := scanOf(t, d, Options{Selector: &Selector{New: func() func(*column.Batch, []int32) ([]int32, error) { return f }}})
		_, err := s.Count(context.Background())
		require.ErrorContains(t, err, message)
		requireTyped(t, err)
	}
	for _, o := range []Options{{RowNumbers: "n"}, {Selector: &Selector{Columns: []string{"missing"}}}} {
		_, err := d.Scan(o)
		require.Error(t, err)
	}
	for _, rows := range [][]int64{{-1}, {10}, {3, 3}, {4, 2}} {
		_, err := d.Rows(context.Background(), Options{}, rows)
		require.ErrorContains(t, err, "does not ascend, or is none of 10 rows")
	}
	_, err := d.Rows(context.Background(), Options{Filter: Eq("n", 1)}, nil)
	require.ErrorContains(t, err, "Filter")
	b, err := d.Rows(context.Background(), Options{RowNumbers: "row"}, nil)
	require.NoError(t, err)
	require.Zero(t, b.Rows)
	require.NoError(t, b.Check())
	require.Equal(t, []string{"n", "row"}, []string{b.Columns[0].Name, b.Columns[1].Name})
}

// damagedPage makes a file with a column n of 10 pages of 100 rows, and a text column whose page bad has an impossible
// compressed form.
func damagedPage(bad int) []byte {
	n := handColumn{name: "n", physical: physicalInt64, converted: convertedNever, values: 1000}
	text := handColumn{name: "s", physical: physicalText, converted: convertedUTF8, values: 1000, codec: compress.Codecs.Snappy}
	codec, _ := compress.GetCodec(compress.Codecs.Snappy)
	for i := range 10 {
		n.pages = append(n.pages, plainPage(100, int64s(100*i, 100)))
		plain := bytes.Repeat(plainText(fmt.Sprint("page ", i)), 100)
		packed := codec.Encode(nil, plain)
		if i == bad {
			clear(packed[4:])
		}
		text.pages = append(text.pages, rawPage(rawHeader{n: 100, uncompressed: int64(len(plain))}, packed))
	}
	return rawFile(rawGroup{1000, []handColumn{n, text}})
}

// TestPagesWithoutSelectedRows reads around a page that cannot be decompressed.
func TestPagesWithoutSelectedRows(t *testing.T) {
	d := openSources(t, Config{}, damagedPage(5))
	for _, text := range []bool{false, true} {
		for _, batch := range []int{8192, 150, 30} {
			for low := int64(0); low < 1000; low += 50 {
				o := Options{Filter: And(Ge("n", low), Lt("n", low+50)), BatchRows: batch, Text: text, Columns: []string{"s"}}
				s := scanOf(t, d, o)
				r, err := s.Reader(everything(s))
				require.NoError(t, err)
				var b column.Batch
				rows := 0
				for err == nil {
					if err = r.ReadInto(context.Background(), &b); err == nil {
						rows += b.Rows
						for i := range b.Rows {
							require.Equal(t, fmt.Sprint("page ", low/100), b.Columns[0].Value(i))
						}
					}
				}
				if low/100 == 5 {
					require.ErrorIs(t, err, ErrCorrupt)
					continue
				}
				require.ErrorIs(t, err, io.EOF, "rows from %d on, batches of %d", low, batch)
				require.Equal(t, 50, rows)
			}
		}
	}
}

// TestSelectVectors selects rows of vectors whose first rows are NULL: their dimension is found later.
func TestSelectVectors(t *testing.T) {
	schema := column.Schema{{Name: "v", Type: column.VectorOf(column.Float32, 3), Nullable: true}}
	b := &column.Batch{Rows: 500, Columns: []column.Column{column.Matrix("v", make([]float32, 1500), 3)}}
	nulls := make([]bool, 500)
	for i := range nulls {
		nulls[i] = i < 50 || i%7 == 0
	}
	for i := range valuesOf[float32](&b.Columns[0]) {
		valuesOf[float32](&b.Columns[0])[i] = float32(i)
	}
	b.Columns[0] = b.Columns[0].WithNulls(nulls)
	file := writeBatches(t, schema, WriterOptions{PageBytes: 256}, b)
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(7, seed))
		checkSelections(t, rng, openBytes(t, file), Options{Vectors: []string{"v"}, BatchRows: 100 + 80*int(seed)})
	}
}

// FuzzSelection selects rows of random files, several at a time, because coverage costs more time than a file.
func FuzzSelection(f *testing.F) {
	for i := range uint64(8) {
		f.Add(i, uint8(i), uint8(3*i))
	}
	f.Fuzz(func(t *testing.T, seed uint64, kind, pages uint8) {
		for i := range uint64(12) {
			rng := rand.New(rand.NewPCG(9+i, seed))
			fields := everyType((seed+i)%2 == 0)
			field := fields[(int(kind)+5*int(i))%len(fields)]
			b := writeArrow(t, rng, []arrow.Field{field}, 1+rng.IntN(200), 0.2, rng.IntN(20), 1+rng.Int64N(200),
				parquet.WithDataPageVersion([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}[pages%2]),
				parquet.WithDataPageSize(int64(pages)*4), parquet.WithBatchSize(8), parquet.WithDictionaryPageSizeLimit(int64(pages)*8))
			checkSelections(t, rng, openBytes(t, b), Options{BatchRows: 1 + rng.IntN(200), Text: pages%3 == 0})
		}
	})
}
