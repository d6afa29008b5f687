// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Edges of files, folders and records: what a table of values does not show.

func TestDialectRefusesLineEndsOtherAlphabetsAndEqualBytes(t *testing.T) {
	for _, d := range []Dialect{
		{Comma: '\n'},
		{Comma: '\r'},
		{Comma: 0x80},
		{Quote: 0xff},
		{Escape: '\n'},
		{Comment: 0xc3},
		{Quote: ','},
		{Escape: ','},
		{Escape: '"'},
		{Comment: ','},
		{Comment: '"'},
		{Comma: ';', Escape: ';'},
		{Quote: '\'', Comment: '\''},
	} {
		_, err := d.withDefaults("")
		require.ErrorContains(t, err, "cannot separate or quote fields", "%+v", d)
	}
	for _, d := range []Dialect{{}, {Comma: '\t'}, {Comma: 0x7f}, {Comma: ';', Quote: '\'', Escape: '\\', Comment: '#'}} {
		_, err := d.withDefaults("")
		require.NoError(t, err, "%+v", d)
	}
}

func TestAbortedFileStaysAway(t *testing.T) {
	dir := t.TempDir()
	b := column.NewBatch(column.Of("id", []int64{1}))
	f, err := Create(filepath.Join(dir, "x.csv"), b.Schema(), WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, f.Write(b))
	require.NoError(t, f.Abort())
	require.NoError(t, f.Abort())
	require.NoError(t, f.Close())
	require.Empty(t, namesIn(t, dir))
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestNameDecidesCompression(t *testing.T) {
	b := column.NewBatch(column.Of("id", []int64{1}))
	for ending, head := range map[string]string{
		".csv": "id\n1\n", ".csv.gz": string(magicGzip), ".csv.gzip": string(magicGzip), ".jsonl.zst": string(magicZstd),
		".json.zstd": string(magicZstd), ".parquet": string(magicParquet), ".arrow": string(magicArrow),
	} {
		path := filepath.Join(t.TempDir(), "x"+ending)
		writeFile(t, path, WriterOptions{}, b)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(text), head), "%s: %q", ending, text)
	}
}

func TestAllColumnsMayBeReadWithRefuseExtra(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	writeFile(t, path, WriterOptions{}, column.NewBatch(column.Of("id", []int64{1}), column.Of("n", []int64{2})))
	require.Len(t, readAll(t, Options{RefuseExtra: true}, path).Columns, 2)
}

func TestPatternFailsWithAMatch(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "even.csv"), []byte("id\n1\n"), 0o666))
	_, err := Open(Options{}, filepath.Join(dir, "e*"))
	require.ErrorContains(t, err, "empty: the folder has no file with a known extension")
}

// TestProgressGrowsWithinAFile has progress that grows while a file is read.
func TestProgressGrowsWithinAFile(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "x.csv")
	require.NoError(t, os.WriteFile(plain, []byte("id\n"+strings.Repeat("12345678\n", 50_000)), 0o666))
	in, err := Open(Options{BatchRows: 1000}, plain)
	require.NoError(t, err)
	var before int64
	batches, grown := 0, 0
	for _, err := range in.Batches(t.Context()) {
		require.NoError(t, err)
		done, total := in.Progress()
		require.True(t, before <= done && done <= total)
		if done > before {
			grown++
		}
		before = done
		batches++
	}
	require.Equal(t, 50, batches)
	require.Greater(t, grown, 3)

	// a stream of Parquet is read before its first batch
	ids := column.NewBatch(column.Of("id", make([]int64, 1000)))
	writeFile(t, filepath.Join(dir, "x.parquet"), WriterOptions{}, ids)
	text, err := os.ReadFile(filepath.Join(dir, "x.parquet"))
	require.NoError(t, err)
	path := filepath.Join(dir, "x.parquet.gz")
	file, err := os.Create(path)
	require.NoError(t, err)
	w, err := compress(Gzip, file)
	require.NoError(t, err)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, file.Close())
	in, err = Open(Options{}, path)
	require.NoError(t, err)
	for _, err := range in.Batches(t.Context()) {
		require.NoError(t, err)
		done, total := in.Progress()
		require.Equal(t, total, done)
	}
}

func TestLoopOverBatchesCanBeLeft(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "b.csv"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("id\n1\n2\n3\n"), 0o666))
	}
	in, err := Open(Options{BatchRows: 1}, dir)
	require.NoError(t, err)
	count := 0
	for _, err := range in.Batches(t.Context()) {
		require.NoError(t, err)
		if count++; count == 2 {
			break
		}
	}
	require.Equal(t, 2, count)
}

func TestBatchesOfTextAreBoundedByBytes(t *testing.T) {
	in, err := Open(Options{Format: CSV, BatchBytes: 10, Stdin: strings.NewReader("s\n" + strings.Repeat("1234\n", 6))}, Stdin)
	require.NoError(t, err)
	var rows []int
	for b, err := range in.Batches(t.Context()) {
		require.NoError(t, err)
		rows = append(rows, b.Rows)
	}
	require.Equal(t, []int{2, 2, 2}, rows)
}

// TestRejectedRowsLeaveNullsOfOthers rejects a row after some of its columns have been appended.
func TestRejectedRowsLeaveNullsOfOthers(t *testing.T) {
	fields := column.Schema{fieldOf("a", kindOf(column.Int32)), fieldOf("b", kindOf(column.Int32))}
	for rejectedRow := range 12 {
		for _, value := range []string{"7", ""} { // in a column of the row before the fault's
			var text, want []string
			for i := range 12 {
				switch {
				case i == rejectedRow:
					text = append(text, value+",x")
				case i%3 == 0:
					text, want = append(text, fmt.Sprint(",", i)), append(want, fmt.Sprint("<nil> ", i))
				default:
					text, want = append(text, fmt.Sprint(i, ",")), append(want, fmt.Sprint(i, " <nil>"))
				}
			}
			faults := 0
			in, err := Open(Options{
				Format: CSV, Fields: fields, Dialect: Dialect{NoHeader: true, Columns: fields.Names()},
				Stdin: strings.NewReader(strings.Join(text, "\n")), Rejected: func(*RecordError) error { faults++; return nil },
			}, Stdin)
			require.NoError(t, err)
			var got []string
			for b, err := range in.Batches(t.Context()) {
				require.NoError(t, err)
				require.NoError(t, b.Check())
				for i := range b.Rows {
					got = append(got, fmt.Sprint(b.Columns[0].Value(i), " ", b.Columns[1].Value(i)))
				}
			}
			require.Equal(t, want, got)
			require.Equal(t, 1, faults)
		}
	}
}

func TestMissingFieldsOfObjectsAreNull(t *testing.T) {
	field := fieldOf("s", kindOf(column.Struct), fieldOf("x", kindOf(column.Int32)), fieldOf("y", kindOf(column.String)), fieldOf("z", kindOf(column.Date)))
	b := rowsOfText(t, Options{Format: JSON, Fields: column.Schema{field}}, `{"s":{}}`+"\n"+`{"s":{"y":"a"}}`)
	require.Equal(t, "map[x:<nil> y:<nil> z:<nil>] map[x:<nil> y:a z:<nil>]", fmt.Sprint(b.Columns[0].Value(0), " ", b.Columns[0].Value(1)))
}

// rowsOfText returns the rows of a text as one batch.
func rowsOfText(t *testing.T, o Options, text string) *column.Batch {
	t.Helper()
	o.Stdin = strings.NewReader(text)
	return readAll(t, o, Stdin)
}

// TestPunctuationOfDecimals has each of the two separators alone, and both.
func TestPunctuationOfDecimals(t *testing.T) {
	for _, kind := range []column.Kind{column.Decimal, column.Float64} {
		for text, v := range map[string]Values{
			"1234.5": {}, "1234,5": {DecimalPoint: ','}, "1_234.5": {Thousands: '_'}, "1.234,5": {Thousands: '.', DecimalPoint: ','},
		} {
			o := Options{Format: CSV, Fields: column.Schema{fieldOf("c", kindOf(kind))}, Values: v, Dialect: Dialect{NoHeader: true, Comma: ';'}}
			require.Equal(t, "1234.5", fmt.Sprint(rowsOfText(t, o, text).Columns[0].Value(0)), "%v %s", kind, text)
		}
	}
}

func TestFolderOfPartsThatCannotBeWritten(t *testing.T) {
	b := column.NewBatch(column.Of("id", []int64{1, 2}))
	o := PartsOptions{WriterOptions: WriterOptions{Format: CSV}, Rows: 1}

	// a folder in place of a later part is not removed
	folder := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "part-000007.csv", "x"), 0o777))
	_, err := NewParts(folder, b.Schema(), o)
	require.ErrorContains(t, err, "part-000007.csv")

	// the first part cannot be completed, nor are there rows after it
	folder = t.TempDir()
	p, err := NewParts(folder, b.Schema(), o)
	require.NoError(t, err)
	require.NoError(t, p.Write(b.Slice(0, 1)))
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "part-000000.csv", "x"), 0o777))
	require.ErrorContains(t, p.Write(b.Slice(1, 2)), "part-000000.csv")
	require.Equal(t, []string{"part-000000.csv"}, namesIn(t, folder))
}

func TestFilesCountsCompletePartsOnly(t *testing.T) {
	folder := t.TempDir()
	b := column.NewBatch(column.Of("id", []int64{1, 2, 3}))
	p, err := NewParts(folder, b.Schema(), PartsOptions{WriterOptions: WriterOptions{Format: CSV}, Rows: 1})
	require.NoError(t, err)
	require.Zero(t, p.Files())
	require.NoError(t, p.Write(b))
	require.Equal(t, 2, p.Files())
	require.NoError(t, p.Abort())
	require.Equal(t, []string{"part-000000.csv", "part-000001.csv"}, namesIn(t, folder))
}

// TestYearsOfManyDigits writes dates and timestamps at the ends of what four digits have, and beyond, and reads them.
func TestYearsOfManyDigits(t *testing.T) {
	stamp := column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true}
	for _, text := range []string{"0000-01-01", "9999-12-31", "+10000-01-01", "-0001-12-31"} {
		fields := column.Schema{fieldOf("d", kindOf(column.Date))}
		b := rowsOfText(t, Options{Format: CSV, Fields: fields, Dialect: Dialect{NoHeader: true}}, text)
		path := filepath.Join(t.TempDir(), "x.csv")
		writeFile(t, path, WriterOptions{}, b)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "d\n"+text+"\n", string(got))
		require.Empty(t, column.Diff(b, readAll(t, Options{Fields: b.Schema()}, path)))
	}
	fields := column.Schema{fieldOf("t", stamp)}
	for _, text := range []string{"0001-01-01T00:00:00Z", "-62167219200000", "9999-12-31T23:59:59.999Z", "253402300800000", "-62167219200001"} {
		b := rowsOfText(t, Options{Format: CSV, Fields: fields, Dialect: Dialect{NoHeader: true}}, text)
		path := filepath.Join(t.TempDir(), "x.csv")
		writeFile(t, path, WriterOptions{}, b)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "t\n"+text+"\n", string(got))
	}
}

// TestRecordsAreKept reads the text of records beside their rows. Errors of records name their reason.
func TestRecordsAreKept(t *testing.T) {
	fields := column.Schema{fieldOf("id", kindOf(column.Int32))}
	b := rowsOfText(t, Options{Format: CSV, Fields: fields, Records: true}, "id\r\n1\r\n\"2\"\r\n")
	require.Equal(t, `1 "2"`, string(AppendRecord(nil, b, 0))+" "+string(AppendRecord(nil, b, 1)))
	require.Equal(t, `"2"`, b.Column(RecordColumn).Value(1))

	in, err := Open(Options{Format: CSV, Fields: fields, Stdin: strings.NewReader("id\nx\n")}, Stdin)
	require.NoError(t, err)
	for _, err := range in.Batches(t.Context()) {
		var value *ValueError
		require.ErrorAs(t, err, &value)
		require.Equal(t, "x", value.Text)
		require.ErrorIs(t, err, errSyntax)
	}
	in, err = Open(Options{Format: CSV, Fields: column.Schema{fieldOf("d", kindOf(column.Date))}, Stdin: strings.NewReader("d\n20240101\n")}, Stdin)
	require.NoError(t, err)
	for _, err := range in.Batches(t.Context()) {
		require.ErrorIs(t, err, errSyntax, "also with a hint")
	}
}

// TestReaderWithoutInput has no standard input.
func TestReaderWithoutInput(t *testing.T) {
	in, err := Open(Options{Format: CSV}, Stdin)
	require.NoError(t, err)
	var fault error
	for _, err := range in.Batches(t.Context()) {
		fault = err
	}
	require.ErrorContains(t, fault, "there is no standard input")
	require.NotErrorIs(t, fault, io.EOF)
}

// TestVectorsOfOpenDimension has NULL before the first vector, which decides the dimension, and after it.
func TestVectorsOfOpenDimension(t *testing.T) {
	field := fieldOf("v", column.VectorOf(column.Float32, 0))
	o := Options{Format: CSV, Fields: column.Schema{field}, Dialect: Dialect{NoHeader: true, Comma: ';'}}
	o.Values.Nulls = []string{"NULL"}
	b := rowsOfText(t, o, "NULL\nNULL\n[1, 2]\nNULL\n[3, 4]\n")
	require.Equal(t, 2, b.Columns[0].Type.Dim)
	require.Equal(t, "<nil> <nil> [1 2] <nil> [3 4]", fmt.Sprint(b.Columns[0].Value(0), b.Columns[0].Value(1), " ",
		b.Columns[0].Value(2), " ", b.Columns[0].Value(3), " ", b.Columns[0].Value(4)))
}

// TestRecordThatBeginsWithAZeroByte is a record: no byte begins a comment unless the dialect has one.
func TestRecordThatBeginsWithAZeroByte(t *testing.T) {
	b := rowsOfText(t, Options{Format: CSV}, "s\n\x00a\nb\n")
	require.Equal(t, []any{"\x00a", "b"}, []any{b.Columns[0].Value(0), b.Columns[0].Value(1)})
}

func TestElementOutOfRangeIsNamed(t *testing.T) {
	fields := column.Schema{fieldOf("v", column.VectorOf(column.Int8, 2))}
	in, err := Open(Options{Format: JSON, Fields: fields, Stdin: strings.NewReader(`{"v":[1,300]}`)}, Stdin)
	require.NoError(t, err)
	for _, err := range in.Batches(t.Context()) {
		require.ErrorContains(t, err, `element 1: "300" does not fit type int8`)
	}
}

// TestOptionsThatCannotBe has spellings and fields that are refused before a row is read or written.
func TestOptionsThatCannotBe(t *testing.T) {
	for _, v := range []Values{
		{EpochUnit: -1}, {EpochUnit: 3}, {True: "a"}, {False: "a"}, {True: "a", False: "A"}, {Thousands: '.'}, {Thousands: ',', DecimalPoint: ','},
	} {
		_, err := Open(Options{Values: v}, Stdin)
		require.Error(t, err, "%+v", v)
		for _, format := range formats {
			o := WriterOptions{Format: format, Values: v}
			_, err = NewEncoder(column.Schema{fieldOf("n", kindOf(column.Int32))}, o)
			require.Error(t, err, "%v %+v", format, v)
			_, err = NewWriter(io.Discard, column.Schema{fieldOf("n", kindOf(column.Int32))}, o)
			require.Error(t, err, "%v %+v", format, v)
		}
	}
}

func TestEmptyPartsAndBatches(t *testing.T) {
	schema := column.Schema{fieldOf("n", kindOf(column.Int32)), fieldOf("s", kindOf(column.String))}
	p, err := NewParts(t.TempDir(), schema, PartsOptions{WriterOptions: WriterOptions{Format: CSV}})
	require.NoError(t, err)
	require.NoError(t, p.Abort(), "no file is open")
	require.NoError(t, p.Cut())
	require.Zero(t, Size(newBatch(schema)))
	require.Equal(t, 4+4+1, Size(column.NewBatch(column.Of("n", []int32{1}), column.Strings("s", []string{"a"}))))
}
