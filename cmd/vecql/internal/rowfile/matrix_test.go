// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/valuetest"
	"github.com/vecql/vecql/internal/wire"
)

// The table of CQL values in files: a stored cell comes back as it was, and literals of CQL have the bytes of the
// server.

// cellBatch returns a cell as a batch.
func cellBatch(infos []cql.ColumnInfo, cell []byte) (*column.Batch, error) {
	page := wire.AppendInt(nil, wire.Null)
	if cell != nil {
		page = append(wire.AppendInt(nil, int32(len(cell))), cell...)
	}
	var b column.Batch
	err := codec.NewColumnPlan(infos).Decode(page, 1, &b)
	return &b, err
}

// cellOf returns the first row of a batch as it is bound: "null", or hexadecimal digits.
func cellOf(infos []cql.ColumnInfo, b *column.Batch) (string, error) {
	plan, err := codec.NewRowPlan(infos, b.Schema())
	if err != nil {
		return "", err
	}
	if err := plan.Check(b); err != nil {
		return "", err
	}
	bound, err := plan.Append(nil, b, 0, 0, wire.Null)
	if err != nil || len(bound) < 4 {
		return "", fmt.Errorf("%d bytes: %w", len(bound), err)
	}
	if string(bound[:4]) == "\xff\xff\xff\xff" {
		return "null", nil
	}
	return hex.EncodeToString(bound[4:]), nil
}

func infosOf(v valuetest.Value) []cql.ColumnInfo {
	return []cql.ColumnInfo{{Name: "v", TypeInfo: v.Info()}}
}

// columnDiffers are stored cells that have another form in a column. No CQL literal makes them.
func columnDiffers(v valuetest.Value) bool {
	return v.Raw && strings.HasSuffix(v.Literal, "(0x)") || // an empty cell is NULL
		v.Literal == "(1)" || // missing fields are NULL
		strings.HasPrefix(v.Literal, "blob_as_inet(0x00000000000000000000ffff") || // bound as 4 bytes, as in CQL
		v.Literal == "blob_as_varint(0x0001)" || v.Literal == "blob_as_varint(0xffffff)" ||
		v.Literal == "blob_as_boolean(0x02)" || v.Literal == "blob_as_decimal(0x000000020001)"
}

// textOf returns what a text of a stored cell stands for: CSV and JSON have one NaN, as CQL. docs/whole-tables.md lists
// the differences.
func textOf(v valuetest.Value, format Format, cell string) string {
	switch {
	case format == Parquet || format == Arrow:
	case strings.HasPrefix(v.Literal, "blob_as_float(0x"):
		return "7fc00000"
	case strings.HasPrefix(v.Literal, "blob_as_double(0x"):
		return "7ff8000000000000"
	}
	return cell
}

// TestStoredCellsReturn writes each stored cell to a file of each format and reads the file.
func TestStoredCellsReturn(t *testing.T) {
	for _, v := range valuetest.Stored() {
		if columnDiffers(v) {
			continue
		}
		infos, cell := infosOf(v), v.Recorded().Cell
		b, err := cellBatch(infos, cell)
		if err != nil {
			t.Errorf("%s: to a column: %v", v.Name(), err)
			continue
		}
		want, err := cellOf(infos, b)
		if err != nil {
			t.Errorf("%s: %v", v.Name(), err)
			continue
		}
		if cell != nil && want != hex.EncodeToString(cell) {
			t.Errorf("%s: a column returns %s for %x", v.Name(), want, cell)
		}
		for _, format := range []Format{CSV, JSON, Parquet, Arrow} {
			var out bytes.Buffer
			w, err := NewWriter(&out, b.Schema(), WriterOptions{Format: format})
			require.NoError(t, err)
			require.NoError(t, w.Write(b), v.Name())
			require.NoError(t, w.Close())
			var got string
			in, err := Open(Options{Fields: b.Schema(), Format: format, Stdin: &out}, Stdin)
			require.NoError(t, err)
			for b, e := range in.Batches(t.Context()) {
				if err = e; err != nil {
					break
				}
				got, err = cellOf(infos, b)
			}
			if kept := textOf(v, format, want); err != nil || got != kept {
				t.Errorf("%s: %v returns %s for %s: %v", v.Name(), format, got, kept, err)
			}
		}
	}
}

func isInfinite(cell []byte) bool {
	return len(cell) == 4 && hex.EncodeToString(cell)[1:] == "f800000" && cell[0]&0x7f == 0x7f
}

// literalDiffers returns why a literal is not read from a file as a server reads it, "" if it is. docs/whole-tables.md
// lists these differences.
func literalDiffers(v valuetest.Value) string {
	text := strings.Trim(v.Literal, "'")
	_, isWhole := parseWhole(text)
	switch {
	case v.Type == "date" && isWhole && !v.Recorded().Refused:
		return "a whole number is a date only with --date-format"
	case v.Type == "time" && isWhole && !v.Recorded().Refused:
		return "a whole number is a time only with --time-format"
	case v.Type == "float" && strings.Trim(text, "-0123456789.e") == "" && isInfinite(v.Recorded().Cell):
		return "a number beyond the range is refused, the server stores Infinity"
	case text == "1E2147483647":
		return "a decimal that the server stores, and whose literal it refuses"
	case v.Type == "duration" && text == "-2147483648mo":
		return "a duration that the server stores, and whose literal it refuses"
	}
	return ""
}

// TestLiteralsAreTextOfFiles reads literals of types without parts from CSV and JSON.
func TestLiteralsAreTextOfFiles(t *testing.T) {
	for _, v := range valuetest.All() {
		if v.Raw || strings.ContainsAny(v.Type, "<_") || strings.Contains(v.Literal, "(") {
			continue
		}
		text := v.Literal
		if strings.HasPrefix(text, "'") {
			text = strings.ReplaceAll(text[1:len(text)-1], "''", "'")
		}
		infos := infosOf(v)
		fields := column.Schema{codec.ColumnField("v", infos[0].TypeInfo)}
		want := "refused"
		if r := v.Recorded(); !r.Refused {
			want = hex.EncodeToString(r.Cell)
		}
		for format, record := range map[Format]string{
			CSV: "\"" + strings.ReplaceAll(text, `"`, `""`) + "\"\n", JSON: `{"v":` + string(appendString(nil, []byte(text))) + "}\n",
		} {
			got := "refused"
			in, err := Open(Options{Format: format, Dialect: Dialect{NoHeader: true}, Fields: fields, Stdin: strings.NewReader(record)}, Stdin)
			require.NoError(t, err)
			for b, err := range in.Batches(t.Context()) {
				if err == nil {
					if got, err = cellOf(infos, b); err != nil {
						got = "refused"
					}
				}
			}
			reason := literalDiffers(v)
			require.Equal(t, reason == "", got == want, "%s: %v reads %s, the server %s; %s", v.Name(), format, got, want, reason)
		}
	}
}
