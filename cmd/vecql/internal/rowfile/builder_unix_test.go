// SPDX-License-Identifier: Apache-2.0

//go:build unix

package rowfile

import (
	"math"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Tests that need named pipes, signals, umask or guard pages of Unix.

// reservedBytes returns n bytes of memory that is only reserved: an access crashes.
func reservedBytes(t *testing.T, n int) []byte {
	t.Helper()
	room, err := syscall.Mmap(-1, 0, n, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(room)) })
	return room
}

// TestRowBeyondTheOffsetsOfAColumnIsRejected has columns of text with 2^31-1 bytes, which take an empty text and NULL,
// and with one more.
func TestRowBeyondTheOffsetsOfAColumnIsRejected(t *testing.T) {
	text := fieldOf("s", kindOf(column.String))
	for name, c := range map[string]struct {
		format recordFormat
		field  column.Field
		record string
	}{
		"CSV":                 {&csvFormat{}, text, "\"\"\n"},
		"NULL in CSV":         {&csvFormat{}, text, "NULL\n"},
		"missing in CSV":      {&csvFormat{}, text, "1\n"},
		"JSON":                {&jsonFormat{}, text, `{"s":""}`},
		"NULL in JSON":        {&jsonFormat{}, text, `{"s":null}`},
		"missing in JSON":     {&jsonFormat{}, text, `{"i":1}`},
		"NULL of a struct":    {&jsonFormat{}, fieldOf("s", kindOf(column.Struct), text), `{"s":null}`},
		"missing in a struct": {&jsonFormat{}, fieldOf("s", kindOf(column.Struct), text), `{"s":{}}`},
	} {
		for _, size := range []int{math.MaxInt32, math.MaxInt32 + 1} {
			o := Options{
				Fields: column.Schema{fieldOf("i", kindOf(column.Int32)), c.field}, AllowMissing: true, BatchRows: 1, BatchBytes: 1,
				Dialect: Dialect{NoHeader: true, Comma: ',', Quote: '"', Columns: []string{"i", "s"}}, Values: Values{Nulls: []string{"NULL"}},
			}
			record := c.record
			if name == "CSV" || name == "NULL in CSV" {
				record = "NULL," + record
			}
			r, err := newTextReader(&o, c.format, "x", textContent{Reader: strings.NewReader(record)})
			require.NoError(t, err)
			b := r.builders[1]
			if len(b.children) > 0 {
				b = b.children[0]
			}
			b.values = reservedBytes(t, size)
			text, _, fault, err := r.next()
			require.NoError(t, err)
			require.NoError(t, fault)
			err = c.format.append(r, text)
			if size == math.MaxInt32 {
				require.NoError(t, err, name)
				continue
			}
			fault = r.recordError(text, 1, err)
			require.ErrorIs(t, fault, column.ErrTooLarge, name)
			require.ErrorContains(t, fault, "column s: ", name)
		}
	}
}
