// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Files of other writers. Every value must equal pyarrow's: a few small files in testdata/pyarrow, and, if there is a
// checkout, all of https://github.com/apache/parquet-testing. testdata/corpus.py recorded pyarrow's values and
// documents their texts. corpus_cases_test.go lists the exceptions.

// corpusEnv is the path of a checkout of apache/parquet-testing at corpusCommit, the commit of
// testdata/parquet-testing.jsonl.
const (
	corpusEnv    = "VECQL_PARQUET_TESTING"
	corpusCommit = "1a2a75127be06fc0123f03ebd36c966f7beda27d"
)

// A corpusFile is what pyarrow reads in a file.
type corpusFile struct {
	File      string         `json:"file"`
	Unchecked bool           `json:"unchecked"` // without verifying checksums
	Error     string         `json:"error"`
	Rows      int64          `json:"rows"`
	Columns   []corpusColumn `json:"columns"`
}

type corpusColumn struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Digest string   `json:"digest"` // of the texts of all rows
	First  []string `json:"first"`
	Error  string   `json:"error"`
}

// loadCorpus returns the files of a list in testdata.
func loadCorpus(t *testing.T, list string) []corpusFile {
	f, err := os.Open(filepath.Join("testdata", list))
	require.NoError(t, err)
	defer f.Close()
	var files []corpusFile
	lines := bufio.NewScanner(f)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		var file corpusFile
		require.NoError(t, json.Unmarshal(lines.Bytes(), &file))
		files = append(files, file)
	}
	require.NoError(t, lines.Err())
	return files
}

// TestFilesOfPyarrow reads files that pyarrow wrote, with codecs, encodings and page versions that the writer of other
// tests lacks.
func TestFilesOfPyarrow(t *testing.T) {
	files := loadCorpus(t, "pyarrow.jsonl")
	names := []string{}
	for _, file := range files {
		t.Run(file.File, func(t *testing.T) { checkCorpusFile(t, filepath.Join("testdata", "pyarrow"), file, pyarrowCases) })
		names = append(names, file.File)
	}
	requireFiles(t, filepath.Join("testdata", "pyarrow"), []string{"*.parquet"}, names)
}

// TestParquetTesting reads the files of Parquet's interoperability tests.
func TestParquetTesting(t *testing.T) {
	root := os.Getenv(corpusEnv)
	if root == "" {
		t.Skipf("%s is not set: git clone https://github.com/apache/parquet-testing, check out %s, and name the directory there",
			corpusEnv, corpusCommit)
	}
	names := []string{}
	for _, file := range loadCorpus(t, "parquet-testing.jsonl") {
		names = append(names, file.File)
		name := file.File
		if file.Unchecked {
			name += " unchecked"
		}
		t.Run(name, func(t *testing.T) {
			if filepath.Base(file.File) == largeStringMap {
				checkLargeStringMap(t, root, file)
				return
			}
			checkCorpusFile(t, root, file, parquetTestingCases)
		})
	}
	requireFiles(t, root, []string{
		"data/*.parquet", "data/*.encrypted", "data/*/*.parquet", "data/*/*.encrypted", "bad_data/*.parquet",
		"shredded_variant/*.parquet",
	}, names)
	for file, cases := range parquetTestingCases {
		require.Contains(t, names, file)
		for _, c := range cases {
			require.NotEmpty(t, c.why, file)
		}
	}
}

// requireFiles checks that no file is missing from the list.
func requireFiles(t *testing.T, root string, patterns, names []string) {
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			name, err := filepath.Rel(root, path)
			require.NoError(t, err)
			require.Contains(t, names, filepath.ToSlash(name), "the file is not in the list")
		}
	}
}

// A corpusCase is an exception for a column, or, with the name "", for a file.
type corpusCase struct {
	why string
	// err is the error of reading, where pyarrow succeeds or has another error.
	err error
	// typ is the column's type, if it is not pyarrow's.
	typ string
	// values are the values of a column that pyarrow does not read.
	values []string
	// like is another file with the same values, for a column that pyarrow does not read in this file.
	like string
	// noReference is set if arrow-go cannot read the column, or does not detect its error.
	noReference bool
}

// corpusCases are cases by file and column.
type corpusCases map[string]map[string]corpusCase

// of returns the case of a column.
func (c corpusCases) of(file, column string) corpusCase {
	if k, ok := c[file][column]; ok || column == "" {
		return k
	}
	return c[file]["*"]
}

// corpusConfig returns the Config for a file.
func corpusConfig(file corpusFile) Config {
	return Config{Decryption: corpusKeys(file.File), NoChecksums: file.Unchecked}
}

// A keyRing contains keys by their metadata.
type keyRing map[string]string

// keys returns the Decryption that finds keys in the ring.
func (k keyRing) keys() *Decryption {
	return &Decryption{KeyOf: func(metadata []byte) ([]byte, error) { return []byte(k[string(metadata)]), nil }}
}

// corpusKeys returns the keys of an encrypted file, from data/README.md of parquet-testing; nil means not encrypted.
func corpusKeys(name string) *Decryption {
	if !strings.HasSuffix(name, ".encrypted") {
		return nil
	}
	keys := keyRing{"kf": "0123456789012345", "kc1": "1234567890123450", "kc2": "1234567890123451"}
	if strings.Contains(name, "aes256") {
		keys = keyRing{"kf": "01234567890123456789012345678901"}
		for i := 1; i <= 8; i++ {
			keys[fmt.Sprint("kc", i)] = "1234567890123456789012345678901" + strconv.Itoa(i+1)
		}
	}
	d := keys.keys()
	if strings.Contains(name, "disable_aad_storage") {
		d.AADPrefix = []byte("tester")
	}
	return d
}

// checkCorpusFile reads a file in several ways. Each column must have pyarrow's values, or fail with an *Error if
// pyarrow fails, except for corpusCases.
func checkCorpusFile(t *testing.T, root string, want corpusFile, cases corpusCases) {
	cfg := corpusConfig(want)
	path := filepath.Join(root, filepath.FromSlash(want.File))
	d, err := cfg.Open(context.Background(), path)
	whole := cases.of(want.File, "")
	if whole.err != nil || (want.Error != "" && whole.why == "") {
		requireCorpusError(t, err, whole.err)
		t.Log(err)
		return
	}
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	if want.Error == "" {
		require.Equal(t, want.Rows, d.NumRows())
		require.Len(t, d.Schema(), len(want.Columns))
	} else {
		for _, f := range d.Schema() {
			want.Columns = append(want.Columns, corpusColumn{Name: f.Name, Error: want.Error})
		}
	}
	cfg.NoMmap, cfg.ReadBytes = true, 100
	slow, err := cfg.Open(context.Background(), path)
	require.NoError(t, err)
	defer func() { require.NoError(t, slow.Close()) }()
	var readable, reference []string
	digests := map[string]string{}
	for i, f := range d.Schema() {
		column := want.Columns[i]
		require.Equal(t, column.Name, f.Name)
		c := cases.of(want.File, f.Name)
		column, fails := c.apply(t, column)
		if fails {
			for k, o := range corpusOptions(d, f.Name) {
				_, err := readTexts([]*Dataset{d, slow}[k%2], o)
				if errors.Is(err, ErrRagged) && o.Lists == nil {
					continue // rows before the broken ones may differ in length, which vectors reject
				}
				requireCorpusError(t, err, c.err)
				if k == 0 {
					t.Log(err)
				}
			}
			continue
		}
		require.Equal(t, column.Type, typeText(f), f.Name)
		for k, o := range corpusOptions(d, f.Name) {
			from := []*Dataset{d, slow}[k%2]
			rows, err := readTexts(from, o)
			if errors.Is(err, ErrRagged) && o.Lists == nil {
				continue
			}
			require.NoError(t, err, "%s, %+v", f.Name, o)
			requireTexts(t, column, rows[0])
		}
		readable = append(readable, f.Name)
		digests[f.Name] = column.Digest
		if !c.noReference {
			reference = append(reference, f.Name)
		}
	}
	if len(readable) > 0 {
		checkTogether(t, d, readable, digests)
	}
	if len(reference) > 0 {
		requireEqual(t, d, Options{Columns: reference, Lists: lists(d, reference)})
		requireEqual(t, d, Options{Columns: reference, Lists: lists(d, reference), Text: true, BatchRows: 3})
	}
}

// apply returns the expected values of a column, and whether it cannot be read.
func (c corpusCase) apply(t *testing.T, column corpusColumn) (_ corpusColumn, fails bool) {
	if c.err != nil || (column.Error != "" && c.values == nil && c.like == "") {
		return column, true
	}
	if c.typ != "" {
		require.NotEqual(t, c.typ, column.Type)
		column.Type = c.typ
	}
	if c.values != nil {
		column.Digest, column.First = digest(c.values), c.values
	}
	if c.like != "" {
		require.NotEmpty(t, column.Error, column.Name)
		for _, file := range loadCorpus(t, "parquet-testing.jsonl") {
			if file.File == c.like {
				at := slices.IndexFunc(file.Columns, func(k corpusColumn) bool { return k.Name == column.Name })
				return file.Columns[at], false
			}
		}
		t.Fatal(c.like)
	}
	return column, false
}

// requireCorpusError checks that err is an *Error, and that it wraps is unless is is nil.
func requireCorpusError(t *testing.T, err, is error) {
	t.Helper()
	require.Error(t, err)
	requireTyped(t, err)
	if is == nil {
		is = ErrCorrupt
	}
	require.ErrorIs(t, err, is)
}

// lists returns the columns that could be vectors.
func lists(d *Dataset, columns []string) []string {
	var out []string
	for _, n := range d.files[0].Nodes {
		if n.CanBeVector() && slices.Contains(columns, n.Field.Name) {
			out = append(out, n.Field.Name)
		}
	}
	return out
}

// corpusOptions are the Options with which a column is read.
func corpusOptions(d *Dataset, column string) []Options {
	columns := []string{column}
	l := lists(d, columns)
	o := []Options{
		{Columns: columns, Lists: l},
		{Columns: columns, Lists: l},
		{Columns: columns, Lists: l, Text: true, BatchRows: 7},
		{Columns: columns, Lists: l, BatchRows: 1},
	}
	if l != nil {
		o = append(o, Options{Columns: columns}, Options{Columns: columns, BatchRows: 2})
	}
	return o
}

// checkTogether reads several columns at once, with several workers.
func checkTogether(t *testing.T, d *Dataset, columns []string, digests map[string]string) {
	s, err := d.Scan(Options{Columns: columns, Lists: lists(d, columns), Workers: 4, Ordered: true, BatchRows: 100})
	require.NoError(t, err)
	rows := make([][]string, len(columns))
	for b, err := range s.All(context.Background()) {
		require.NoError(t, err)
		appendTexts(rows, b)
	}
	for i, name := range columns {
		require.Equal(t, digests[name], digest(rows[i]), name)
	}
}

// readTexts returns the texts of all values, by column.
func readTexts(d *Dataset, o Options) ([][]string, error) {
	s, err := d.Scan(o)
	if err != nil {
		return nil, err
	}
	rows := make([][]string, len(s.Schema()))
	for _, bucket := range s.SplitByCount(1) {
		r, err := s.Reader(bucket)
		if err != nil {
			return rows, err
		}
		var b column.Batch
		for {
			err := r.ReadInto(context.Background(), &b)
			if err == io.EOF {
				break
			}
			if err != nil {
				return rows, err
			}
			appendTexts(rows, &b)
		}
	}
	return rows, nil
}

// appendTexts appends the texts of a batch.
func appendTexts(rows [][]string, b *column.Batch) {
	for i := range b.Columns {
		for k := range b.Rows {
			rows[i] = append(rows[i], string(appendValueText(nil, &b.Columns[i], k)))
		}
	}
}

// requireTexts compares texts with their digest and the first texts.
func requireTexts(t *testing.T, want corpusColumn, rows []string) {
	t.Helper()
	for i, text := range want.First {
		require.Less(t, i, len(rows), want.Name)
		if cut, ok := strings.CutSuffix(text, "..."); ok && len(text) == 83 {
			require.True(t, strings.HasPrefix(rows[i], cut), "%s, row %d: %s is not %s", want.Name, i, rows[i], text)
			continue
		}
		require.Equal(t, text, rows[i], "%s, row %d", want.Name, i)
	}
	if digest(rows) != want.Digest {
		t.Fatalf("%s: the values of %d rows are not pyarrow's, after %.300v; testdata/corpus.py prints them", want.Name, len(rows), want.First)
	}
}

// digest returns the digest of texts.
func digest(rows []string) string {
	h := sha256.New()
	for _, r := range rows {
		h.Write([]byte(r + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// appendValueText appends the text of value i.
func appendValueText(b []byte, c *column.Column, i int) []byte {
	if c.Null(i) {
		return append(b, "null"...)
	}
	sequence := func(open, end int, text func(b []byte, e int) []byte) []byte {
		b = append(b, '[')
		for e := open; e < end; e++ {
			if e > open {
				b = append(b, ',')
			}
			b = text(b, e)
		}
		return append(b, ']')
	}
	switch c.Type.Kind {
	case column.Struct:
		return sequence(0, len(c.Children), func(b []byte, e int) []byte { return appendValueText(b, &c.Children[e], i) })
	case column.List:
		return sequence(int(c.Offsets[i]), int(c.Offsets[i+1]), func(b []byte, e int) []byte { return appendValueText(b, &c.Children[0], e) })
	case column.Map:
		return sequence(int(c.Offsets[i]), int(c.Offsets[i+1]), func(b []byte, e int) []byte {
			b = append(appendValueText(append(b, '['), &c.Children[0], e), ',')
			return append(appendValueText(b, &c.Children[1], e), ']')
		})
	case column.Vector:
		flat := column.Column{Type: column.Type{Kind: c.Type.Elem}, Len: c.Len * c.Type.Dim, Values: c.Values}
		return sequence(i*c.Type.Dim, (i+1)*c.Type.Dim, func(b []byte, e int) []byte { return appendValueText(b, &flat, e) })
	case column.String, column.Binary, column.Fixed, column.UUID:
		return appendQuoted(b, bytesAt(c, i))
	case column.Float16:
		return fmt.Appendf(b, "%04x", valueOf(c, i))
	case column.Float32:
		return fmt.Appendf(b, "%08x", math.Float32bits(valueOf(c, i).(float32)))
	case column.Float64:
		return fmt.Appendf(b, "%016x", math.Float64bits(valueOf(c, i).(float64)))
	case column.Decimal64, column.Decimal128, column.Decimal256:
		w := c.Type.ValueWidth()
		return appendDecimal(b, c.Values[i*w:(i+1)*w], c.Type.Scale)
	default:
		return fmt.Append(b, valueOf(c, i))
	}
}

// appendQuoted appends a string.
func appendQuoted(b, s []byte) []byte {
	if len(s) > 1000 {
		return fmt.Appendf(b, "sha256:%x:%d", sha256.Sum256(s), len(s))
	}
	b = append(b, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20 || c >= 0x7f:
			b = fmt.Appendf(b, "\\x%02x", c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// appendDecimal appends a decimal from little-endian two's complement.
func appendDecimal(b, value []byte, scale int) []byte {
	big1 := bytes.Clone(value)
	slices.Reverse(big1)
	n := new(big.Int)
	setBigEndian(n, big1)
	if n.Sign() < 0 {
		b = append(b, '-')
	}
	digits := n.Abs(n).String()
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale+1-len(digits)) + digits
	}
	b = append(b, digits[:len(digits)-scale]...)
	if scale > 0 {
		b = append(append(b, '.'), digits[len(digits)-scale:]...)
	}
	return b
}

// typeText returns the text of a field's type.
func typeText(f column.Field) string {
	switch k := f.Type.Kind; k {
	case column.Struct:
		parts := make([]string, len(f.Fields))
		for i, child := range f.Fields {
			parts[i] = child.Name + ":" + typeText(child)
		}
		return "struct<" + strings.Join(parts, ",") + ">"
	case column.List:
		return "list<" + typeText(f.Fields[0]) + ">"
	case column.Map:
		return "map<" + typeText(f.Fields[0]) + "," + typeText(f.Fields[1]) + ">"
	case column.Decimal64, column.Decimal128, column.Decimal256:
		return fmt.Sprintf("decimal(%d,%d)", f.Type.Precision, f.Type.Scale)
	case column.UUID:
		return "fixed(16)"
	case column.Time: // Arrow's times of day have no time zone
		return fmt.Sprintf("time(%v)", f.Type.Unit)
	default:
		return f.Type.String()
	}
}

// largeStringMap has two rows with a string of 1 GiB each: one column chunk, one page, of more than 2 GiB.
const largeStringMap = "large_string_map.brotli.parquet"

// checkLargeStringMap reads a file whose pages exceed the default limit.
func checkLargeStringMap(t *testing.T, root string, want corpusFile) {
	d, err := Open(context.Background(), filepath.Join(root, filepath.FromSlash(want.File)))
	require.NoError(t, err)
	defer d.Close()
	_, err = readTexts(d, Options{})
	requireCorpusError(t, err, ErrTooLarge)
	if testing.Short() {
		t.Skip("takes some 4 GB of memory")
	}
	rows, err := readTexts(d, Options{BatchRows: 1, MaxBatchBytes: math.MaxInt32})
	require.NoError(t, err)
	requireTexts(t, want.Columns[0], rows[0])
}

// TestCorpusTexts compares texts of values with corpus.py's.
func TestCorpusTexts(t *testing.T) {
	for _, c := range []struct {
		value int64
		scale int
		want  string
	}{{0, 2, "0.00"}, {-5, 2, "-0.05"}, {12345, 2, "123.45"}, {-12345, 0, "-12345"}, {7, 5, "0.00007"}} {
		require.Equal(t, c.want, string(appendDecimal(nil, binary.LittleEndian.AppendUint64(nil, uint64(c.value)), c.scale)))
	}
	require.Equal(t, `"a\"\\\x00\xff"`, string(appendQuoted(nil, []byte("a\"\\\x00\xff"))))
	require.Equal(t, "6516cd748f9e16a76bcbe36fde9d4c10", digest(slices.Repeat([]string{"null"}, 40)))
}
