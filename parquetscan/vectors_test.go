// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// Reading of lists of floats as matrices. The tests write files level by level.

// A vector is a row: nil is NULL, and an element that equals gap is NULL.
type vector []float32

var gap = float32(math.MaxFloat32)

// A vectorSchema selects what may be NULL, and the form of the list in the schema.
type vectorSchema struct {
	nullable, gaps bool
	bare           bool // a repeated field without annotation
	double         bool
}

func (v vectorSchema) node() schema.Node {
	repetition := func(null bool) parquet.Repetition {
		if null {
			return parquet.Repetitions.Optional
		}
		return parquet.Repetitions.Required
	}
	if v.bare {
		return schema.NewFloat32Node("v", parquet.Repetitions.Repeated, -1)
	}
	element := schema.NewFloat32Node("element", repetition(v.gaps), -1)
	if v.double {
		element = schema.NewFloat64Node("element", repetition(v.gaps), -1)
	}
	list := schema.MustGroup(schema.NewGroupNode("list", parquet.Repetitions.Repeated, schema.FieldList{element}, -1))
	return schema.MustGroup(schema.NewGroupNodeLogical("v", repetition(v.nullable), schema.FieldList{list}, schema.NewListLogicalType(), -1))
}

// levels returns the entries of some rows.
func (v vectorSchema) levels(rows []vector) (values []float32, defs, reps []int16) {
	there := int16(1) // of an element
	if v.nullable {
		there++
	}
	most := there
	if v.gaps {
		most++
	}
	for _, row := range rows {
		switch {
		case row == nil && v.nullable:
			defs, reps = append(defs, 0), append(reps, 0)
		case len(row) == 0:
			defs, reps = append(defs, there-1), append(reps, 0)
		}
		for i, x := range row {
			defs, reps = append(defs, most), append(reps, int16(min(i, 1)))
			if x == gap && v.gaps {
				defs[len(defs)-1] = there
				continue
			}
			values = append(values, x)
		}
	}
	return values, defs, reps
}

// writeVectors writes a file of one column of vectors, a row group for each slice of rows.
func writeVectors(t testing.TB, v vectorSchema, groups [][]vector, options ...parquet.WriterProperty) []byte {
	t.Helper()
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{v.node()}, -1))
	var buf bytes.Buffer
	w := file.NewParquetWriter(&buf, root, file.WithWriterProps(parquet.NewWriterProperties(options...)))
	for _, rows := range groups {
		values, defs, reps := v.levels(rows)
		group, err := w.AppendRowGroupChecked()
		require.NoError(t, err)
		column, err := group.NextColumn()
		require.NoError(t, err)
		switch c := column.(type) {
		case *file.Float32ColumnChunkWriter:
			_, err = c.WriteBatch(values, defs, reps)
		case *file.Float64ColumnChunkWriter:
			wide := make([]float64, len(values))
			for i, x := range values {
				wide[i] = float64(x)
			}
			_, err = c.WriteBatch(wide, defs, reps)
		}
		require.NoError(t, err)
		require.NoError(t, column.Close())
	}
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// requireVectors reads a file's vectors, of dim elements, and compares them with what was written.
func requireVectors(t *testing.T, b []byte, groups [][]vector, dim int, cfg Config, o Options) {
	t.Helper()
	s := scanOf(t, openSources(t, cfg, b), o)
	known := 0
	rows := make([]int, len(groups))
	for batch, err := range s.Batches(context.Background(), everything(s)) {
		require.NoError(t, err)
		c := batch.Column("v")
		require.Equal(t, column.Vector, c.Type.Kind)
		want := groups[batch.Source.RowGroup][rows[batch.Source.RowGroup]:][:batch.Rows]
		rows[batch.Source.RowGroup] += batch.Rows
		nulls := 0
		for _, row := range want {
			if row != nil {
				known = dim
			} else {
				nulls++
			}
		}
		if c.Type.Dim != 0 { // footers may contain it before a row is read
			known = dim
		}
		require.Equal(t, known, c.Type.Dim)
		require.Equal(t, nulls, c.Nulls)
		matrix := make([]float32, 0, batch.Rows*known)
		for i, row := range want {
			require.Equal(t, row == nil, c.Null(i), "row %d", i)
			if row == nil {
				row = make(vector, known)
			}
			matrix = append(matrix, row...)
		}
		if c.Type.Elem == column.Float32 {
			require.Equal(t, matrix, valuesOf[float32](c))
			continue
		}
		got := valuesOf[float64](c)
		require.Len(t, got, len(matrix))
		for i, x := range matrix {
			require.Equal(t, float64(x), got[i])
		}
	}
	for g := range groups {
		require.Len(t, groups[g], rows[g])
	}
}

// TestVectors reads matrices of many shapes, from pages that rows span, with NULLs before, between and after them.
func TestVectors(t *testing.T) {
	soak.NoRace(t)
	rng := rand.New(rand.NewPCG(10, 1))
	next := float32(0)
	row := func(dim int) vector {
		v := make(vector, dim)
		for i := range v {
			next++
			v[i] = next
			if next > 20 && rng.IntN(3) > 0 {
				v[i] = float32(rng.IntN(5)) // a dictionary is worthwhile
			}
		}
		return v
	}
	for range soak.Rounds(150) {
		dim := []int{1, 1, 2, 3, 7, 8, 64, 100, 1500}[rng.IntN(9)]
		v := vectorSchema{nullable: rng.IntN(3) > 0, gaps: rng.IntN(2) == 0, double: rng.IntN(2) == 0}
		v.bare = !v.nullable && !v.gaps && !v.double
		groups := make([][]vector, 1+rng.IntN(3))
		for g := range groups {
			for range 1 + rng.IntN(40) {
				groups[g] = append(groups[g], row(dim))
			}
			if !v.nullable {
				continue
			}
			n := len(groups[g])
			blank := func(from, to int) {
				for i := from; i < to; i++ {
					groups[g][i] = nil
				}
			}
			switch rng.IntN(6) {
			case 0: // none
			case 1:
				blank(0, rng.IntN(n+1))
			case 2:
				blank(rng.IntN(n), n)
			case 3:
				from := rng.IntN(n)
				blank(from, from+rng.IntN(n-from+1))
			case 4:
				blank(0, n)
			case 5:
				for i := range n {
					blank(i, i+rng.IntN(2))
				}
			}
		}
		options := []parquet.WriterProperty{
			parquet.WithDataPageVersion([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}[rng.IntN(2)]),
			parquet.WithDataPageSize([]int64{1, 100, 1000, 1 << 20}[rng.IntN(4)]), parquet.WithBatchSize([]int64{1, 3, 10, 64, 1000}[rng.IntN(5)]),
			parquet.WithDictionaryDefault(rng.IntN(2) == 0), parquet.WithDictionaryPageSizeLimit([]int64{50, 1 << 20}[rng.IntN(2)]),
			parquet.WithCreatedBy([]string{parquet.DefaultCreatedBy, unknownWriter}[rng.IntN(2)]),
		}
		b := writeVectors(t, v, groups, options...)
		for _, rows := range []int{0, 1, 1 + rng.IntN(10)} {
			requireVectors(t, b, groups, dim, Config{ReadBytes: 100}, Options{BatchRows: rows})
		}
		requireEqual(t, openBytes(t, b), Options{Lists: []string{"v"}, BatchRows: 1 + rng.IntN(20)})
		requireEqual(t, openBytes(t, b), Options{BatchRows: 1 + rng.IntN(20)})
	}
}

// unknownWriter is a writer whose counts of NULLs are not trusted.
const unknownWriter = "test"

// requireFallsBack reads a file whose column v is ragged: vectors until a row does not fit, then lists, and lists from
// the first batch when the scan reads it again.
func requireFallsBack(t *testing.T, s *Scan, groups [][]vector) {
	t.Helper()
	for again := range 2 {
		rows := make([]int, len(groups))
		isList := again > 0
		for b, err := range s.Batches(t.Context(), everything(s)) {
			require.NoError(t, err)
			c := b.Column("v")
			requireSound(t, c)
			require.False(t, isList && c.Type.Kind != column.List, "a vector after a list")
			isList = c.Type.Kind == column.List
			for i := range b.Rows {
				want := groups[b.Source.RowGroup][rows[b.Source.RowGroup]]
				rows[b.Source.RowGroup]++
				require.Equal(t, want == nil, c.Null(i))
				if !isList {
					require.Equal(t, []float32(want)[:len(want):len(want)], rowOfVector(c, i, len(want)))
					continue
				}
				from, to := c.Elements(i)
				require.Equal(t, len(want), to-from)
				for k, x := range want {
					require.Equal(t, x == gap, c.Children[0].Null(from+k))
					if x != gap {
						require.Equal(t, x, valuesOf[float32](&c.Children[0])[from+k])
					}
				}
			}
		}
		require.True(t, isList)
		require.Equal(t, column.List, s.Schema()[0].Type.Kind)
		for g := range groups {
			require.Len(t, groups[g], rows[g])
		}
	}
}

// rowOfVector returns row i of a Vector, nil for NULL.
func rowOfVector(c *column.Column, i, n int) []float32 {
	if c.Null(i) {
		return nil
	}
	return valuesOf[float32](c)[i*c.Type.Dim : i*c.Type.Dim+n]
}

// TestFallBackFilter reads ragged rows with a filter on another column, so that some ragged rows are only skipped.
func TestFallBackFilter(t *testing.T) {
	n := 3000
	ids, offsets := make([]int64, n), []int32{0}
	for i := range ids {
		ids[i] = int64(i)
		length := int32(2)
		if i == 1500 || i == 2500 { // an average of 2
			length = int32(1 + (i-1500)/500)
		}
		offsets = append(offsets, offsets[i]+length)
	}
	elements := make([]float32, offsets[n])
	for i := range elements {
		elements[i] = float32(i)
	}
	want := column.NewBatch(column.Of("id", ids), column.Lists("v", offsets, column.Of("", elements)))
	file := unmarked(writeBatches(t, want.Schema(), WriterOptions{PageBytes: 500, DataPageV2: true}, want))
	for _, f := range []Filter{{}, Lt("id", 1000), Ge("id", 1600), Ge("id", 2600), In("id", 3, 1500, 2999), In("id", 1499, 1501), NotNull("v")} {
		for _, rows := range []int{1, 7, 1000} {
			for _, cfg := range []Config{{}, {ReadBytes: 100}} {
				s := scanOf(t, openSources(t, cfg, file), Options{Filter: f, BatchRows: rows, Ordered: true})
				require.Equal(t, column.VectorOf(column.Float32, 2), s.Schema()[1].Type, "footers do not contradict")
				for b, err := range s.All(t.Context()) {
					require.NoError(t, err)
					for i, id := range valuesOf[int64](&b.Columns[0]) {
						var got []float32
						if v := &b.Columns[1]; v.Type.Kind == column.Vector {
							got = rowOfVector(v, i, v.Type.Dim)
						} else {
							from, to := v.Elements(i)
							got = valuesOf[float32](&v.Children[0])[from:to]
						}
						require.Equal(t, elements[offsets[id]:offsets[id+1]], got, "row %d", id)
					}
				}
			}
		}
	}
}

// TestRagged checks that the error has the right row, for all causes and all ends of pages and batches. As lists, all
// rows can be read.
func TestRagged(t *testing.T) {
	soak.NoRace(t)
	good := vector{1, 2, 3}
	for name, c := range map[string]struct {
		groups   [][]vector
		row, at  int // the ragged row, and its row group
		message  string
		nullable bool
	}{
		"short":                  {[][]vector{{good, good, good, good, good, {1, 2}, good}}, 5, 0, "2 elements instead of 3", false},
		"short at the end":       {[][]vector{{good, good, good, {1, 2}}}, 3, 0, "2 elements instead of 3", false},
		"long":                   {[][]vector{{good, good, {1, 2, 3, 4}, good}}, 2, 0, "more than 3 elements", false},
		"long at the end":        {[][]vector{{good, good, {1, 2, 3, 4}}}, 2, 0, "more than 3 elements", false},
		"twice as long":          {[][]vector{{good, good, {1, 2, 3, 4, 5, 6}, good}}, 2, 0, "more than 3 elements", false},
		"short first":            {[][]vector{{{1}, good, good}}, 1, 0, "more than 1 element", false},
		"empty":                  {[][]vector{{good, good, {}, good}}, 2, 0, "an empty list", false},
		"empty first":            {[][]vector{{{}, good}}, 0, 0, "an empty list", false},
		"empty of nullable":      {[][]vector{{nil, good, nil, {}, good}}, 3, 0, "an empty list", true},
		"gap first":              {[][]vector{{good, {gap, 2, 3}, good}}, 1, 0, "element 0 is NULL", true},
		"gap in the middle":      {[][]vector{{good, {1, gap, 3}, good}}, 1, 0, "element 1 is NULL", true},
		"gap at the end":         {[][]vector{{good, good, good, {1, 2, gap}}}, 3, 0, "element 2 is NULL", true},
		"after NULLs":            {[][]vector{{nil, nil, good, nil, {1}, nil}}, 4, 0, "1 elements instead of 3", true},
		"in another row group":   {[][]vector{{good, good}, {good, {1, 2}, good}}, 1, 1, "2 elements instead of 3", false},
		"all of a row group":     {[][]vector{{good, good}, {{1, 2}, {1, 2}}}, 0, 1, "2 elements instead of 3", false},
		"after NULLs of a group": {[][]vector{{nil, nil}, {good, nil}, {nil, {1}}}, 1, 2, "1 elements instead of 3", true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
				for _, batch := range []int64{1, 2, 3, 5, 1000} { // entries of a page
					b := writeVectors(t, vectorSchema{nullable: c.nullable, gaps: c.nullable}, c.groups, parquet.WithDataPageVersion(version),
						parquet.WithDataPageSize(1), parquet.WithBatchSize(batch))
					for _, rows := range []int{1, 2, 3, 100} {
						d := openSources(t, Config{}, b)
						s := scanOf(t, d, Options{BatchRows: rows, Vectors: []string{"v"}})
						seen, err := 0, error(nil)
						for batch, e := range s.Batches(context.Background(), everything(s)) {
							if err = e; err == nil {
								seen += batch.Rows
							}
						}
						require.ErrorIs(t, err, ErrRagged)
						require.ErrorContains(t, err, c.message)
						var e *Error
						require.ErrorAs(t, err, &e)
						require.Equal(t, &Error{File: "0", RowGroup: c.at, Column: "v", Row: int64(c.row), Err: e.Err}, e)
						before := c.row
						for _, g := range c.groups[:c.at] {
							before += len(g)
						}
						require.LessOrEqual(t, seen, before)
						require.Greater(t, seen, before-rows)
						requireEqual(t, d, Options{Lists: []string{"v"}, BatchRows: rows})
						requireFallsBack(t, scanOf(t, d, Options{BatchRows: rows}), c.groups)
						unknown := writeVectors(t, vectorSchema{nullable: true, gaps: c.nullable}, c.groups, parquet.WithDataPageVersion(version),
							parquet.WithDataPageSize(1), parquet.WithBatchSize(batch), parquet.WithCreatedBy(unknownWriter))
						requireFallsBack(t, scanOf(t, openSources(t, Config{}, unknown), Options{BatchRows: rows}), c.groups)
					}
				}
			}
		})
	}
}

// TestRaggedFiles reads files of vectors together whose dimensions differ.
func TestRaggedFiles(t *testing.T) {
	three := writeVectors(t, vectorSchema{}, [][]vector{{{1, 2, 3}}})
	four := writeVectors(t, vectorSchema{nullable: true}, [][]vector{{nil, {1, 2, 3, 4}}})
	d := openSources(t, Config{}, three, three, four)
	vectors := []string{"v"}
	s := scanOf(t, d, Options{Workers: 1, Vectors: vectors})
	rows, last := 0, error(nil)
	for b, err := range s.Batches(context.Background(), everything(s)) {
		if last = err; err == nil {
			rows += b.Rows
		}
	}
	require.Equal(t, 2, rows)
	var e *Error
	require.ErrorAs(t, last, &e)
	require.ErrorIs(t, last, ErrRagged)
	require.Equal(t, []any{"2", int64(1)}, []any{e.File, e.Row})
	// In any order of reading, one of the files is ragged.
	for _, last = range scanOf(t, d, Options{Workers: 3, Vectors: vectors}).All(context.Background()) {
		if last != nil {
			break
		}
	}
	for range 20 {
		err := scanOf(t, d, Options{Workers: 3, Vectors: vectors}).Borrow(context.Background(), nil, func(int, *column.Batch) error { return nil })
		require.ErrorIs(t, err, ErrRagged)
	}
	lists := scanOf(t, d, Options{Lists: []string{"v"}})
	n := 0
	for b, err := range lists.Batches(context.Background(), everything(lists)) {
		require.NoError(t, err)
		n += b.Column("v").Children[0].Len
	}
	require.Equal(t, 10, n)
}

// TestVectorsWithoutDimension reads rows that are all NULL, before and after the dimension is known.
func TestVectorsWithoutDimension(t *testing.T) {
	v := vectorSchema{nullable: true}
	unknown := parquet.WithCreatedBy(unknownWriter)
	nulls := writeVectors(t, v, [][]vector{{nil, nil, nil}}, unknown)
	d := openSources(t, Config{}, nulls, writeVectors(t, v, [][]vector{{{1, 2}, {3, 4}}}, unknown))
	s := scanOf(t, d, Options{})
	dim := 0
	for _, file := range []string{"0", "1", "0"} {
		src := d.files[s.byName[file]].src
		rows := d.files[s.byName[file]].Rows
		for b, err := range s.Batches(context.Background(), Bucket{Parts: []Part{{
			File: file, Size: src.Size, ETag: src.ETag, End: 1,
			Rows: rows,
		}}}) {
			require.NoError(t, err)
			if file == "1" {
				dim = 2
			}
			c := b.Column("v")
			require.Equal(t, dim, c.Type.Dim)
			require.Len(t, valuesOf[float32](c), dim*b.Rows)
			require.Equal(t, b.Rows, c.Len)
			require.Equal(t, file == "0", c.Null(0))
		}
	}
}

// TestNullsOfLongVectors reads a small file: a long vector, and NULLs that would each take as much memory.
func TestNullsOfLongVectors(t *testing.T) {
	soak.NoRace(t)
	rows := make([]vector, 8000)
	rows[3] = make(vector, 20_000)
	b := writeVectors(t, vectorSchema{nullable: true}, [][]vector{rows})
	require.Less(t, len(b), 100_000)
	allocated, err := readError(t, b, Config{}, Options{MaxBatchBytes: 1 << 20})
	require.ErrorIs(t, err, ErrTooLarge)
	require.Less(t, allocated, uint64(16<<20))
	_, err = readError(t, b, Config{}, Options{MaxBatchBytes: 1 << 20, BatchRows: 10})
	require.NoError(t, err)
	// NULLs before the first vector, which sets their dimension.
	rows[3], rows[7999] = nil, rows[3]
	allocated, err = readError(t, writeVectors(t, vectorSchema{nullable: true}, [][]vector{rows}), Config{}, Options{MaxBatchBytes: 1 << 20})
	require.ErrorIs(t, err, ErrTooLarge)
	require.Less(t, allocated, uint64(16<<20))
}

// TestHostileVectors reads invalid levels.
func TestHostileVectors(t *testing.T) {
	levels := func(runs ...byte) []byte { return append([]byte{byte(len(runs)), 0, 0, 0}, runs...) }
	one := func(n int, reps, defs []byte, values ...byte) []byte {
		return plainPage(n, append(append(reps, defs...), values...))
	}
	file := func(rows int64, pages ...[]byte) []byte {
		return oneColumn(rows, handColumn{
			name: "v", physical: physicalFloat, converted: convertedNever, repetition: repeated, pages: pages,
			values: 1 << 40,
		})
	}
	four := []byte{0, 0, 128, 63, 0, 0, 128, 63, 0, 0, 128, 63, 0, 0, 128, 63}
	run := func(n, v byte) []byte { return []byte{n << 1, v} }
	require.NoError(t, errorOf(readError(t, file(1, one(4, levels(append(run(1, 0), run(3, 1)...)...), levels(run(4, 1)...), four...)),
		Config{}, Options{})))
	for message, b := range map[string][]byte{
		"page begins within a row":              file(1, one(4, levels(run(4, 1)...), levels(run(4, 1)...), four...)),
		"column chunk ends 2 rows too early":    file(3, one(4, levels(append(run(1, 0), run(3, 1)...)...), levels(run(4, 1)...), four...)),
		"runs end too early":                    file(1, one(4, levels(run(1, 0)...), levels(run(4, 1)...), four...)),
		"page ends 4 bytes too early":           file(1, one(4, levels(append(run(1, 0), run(3, 1)...)...), levels(run(4, 1)...), four[:12]...)),
		"levels are longer than their page":     file(1, one(4, []byte{200, 0, 0, 0}, nil)),
		"value 3 has more than 1 bits":          file(1, one(4, levels(append(run(1, 0), run(3, 3)...)...), levels(run(4, 1)...), four...)),
		"column chunk of 0 bytes":               file(1),
		"page header is longer than its column": file(1, []byte{0x15}),
	} {
		allocated, err := readError(t, b, Config{}, Options{MaxBatchBytes: fuzzLimit, Vectors: []string{"v"}})
		require.ErrorIs(t, err, ErrCorrupt, message)
		require.ErrorContains(t, err, message)
		require.Less(t, allocated, uint64(16<<20))
		_, err = readError(t, b, Config{}, Options{MaxBatchBytes: fuzzLimit, Lists: []string{"v"}})
		require.ErrorIs(t, err, ErrCorrupt, message)
	}
	// A vector of 2^31-1 elements in a few bytes: codes without bits.
	huge := []byte{0xfe, 0xff, 0xff, 0xff, 0x0f, 1}
	b := oneColumn(1, handColumn{
		name: "v", physical: physicalFloat, converted: convertedNever, repetition: repeated, dictionary: true,
		values: 1<<31 - 1, pages: [][]byte{
			rawPage(rawHeader{typ: format.DictionaryPage, n: 1, uncompressed: -1}, four[:4]),
			rawPage(rawHeader{n: 1<<31 - 1, encoding: format.RLEDictionary, uncompressed: -1},
				bytes.Join([][]byte{levels(append(run(1, 0), huge...)...), levels(huge...), {0}}, nil)),
		},
	})
	for _, o := range []Options{{MaxBatchBytes: 1 << 20}, {MaxBatchBytes: 1 << 20, Lists: []string{"v"}}} {
		allocated, err := readError(t, b, Config{}, o)
		require.ErrorIs(t, err, ErrTooLarge)
		require.Less(t, allocated, uint64(16<<20))
	}
}

func errorOf(_ uint64, err error) error { return err }

// TestRaggedRows reads rows by their numbers as one batch, whose first rows have vectors.
func TestRaggedRows(t *testing.T) {
	d := openSources(t, Config{}, writeVectors(t, vectorSchema{nullable: true}, [][]vector{{{1, 2}, {3, 4}}, {{5}, {6, 7, 8}}}))
	require.Equal(t, column.VectorOf(column.Float32, 2), scanOf(t, d, Options{}).Schema()[0].Type)
	for _, c := range []struct {
		rows []int64
		kind column.Kind
		want []string
	}{
		{[]int64{0, 1}, column.Vector, []string{"[1 2]", "[3 4]"}},
		{[]int64{1, 2, 3}, column.List, []string{"[3 4]", "[5]", "[6 7 8]"}},
		{[]int64{3}, column.List, []string{"[6 7 8]"}},
	} {
		b, err := d.Rows(t.Context(), Options{}, c.rows)
		require.NoError(t, err)
		require.Equal(t, c.kind, b.Columns[0].Type.Kind)
		for i, want := range c.want {
			require.Equal(t, want, fmt.Sprint(b.Columns[0].Value(i)))
		}
	}
	_, err := d.Rows(t.Context(), Options{Vectors: []string{"v"}}, []int64{0, 3})
	require.ErrorIs(t, err, ErrRagged)
	s := scanOf(t, d, Options{Columns: []string{}, Selector: &Selector{
		Columns: []string{"v"},
		New: func() func(*column.Batch, []int32) ([]int32, error) {
			return func(_ *column.Batch, rows []int32) ([]int32, error) { return rows, nil }
		},
	}})
	require.Empty(t, s.Ragged())
	for _, err := range s.All(t.Context()) {
		require.NoError(t, err)
	}
	require.Equal(t, []string{"v"}, s.Ragged())
	scanOf(t, d, Options{Columns: []string{}, Filter: NotNull("v"), Lists: []string{"v"}})
}
