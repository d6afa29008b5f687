// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// lengthsData is a file with a column of texts, some of them NULL, and one of numbers.
func lengthsData(t *testing.T, o WriterOptions) (*Dataset, []int64) {
	texts, lengths, nulls := make([]string, 3000), make([]int64, 3000), make([]bool, 3000)
	for i := range texts {
		texts[i] = strings.Repeat("é", i%50)
		lengths[i], nulls[i] = int64(2*(i%50)), i > 2000 && i%3 == 0
	}
	b := column.NewBatch(column.Strings("s", texts).WithNulls(nulls), column.Of("n", lengths).WithNulls(nulls))
	return openBytes(t, writeBatches(t, b.Schema(), o, b)), lengths
}

// TestLengths reads lengths of plain and of coded texts, with a selector of another column.
func TestLengths(t *testing.T) {
	for _, o := range []WriterOptions{{NoDictionary: true, PageBytes: 5000}, {NoDictionary: true}, {}} {
		d, lengths := lengthsData(t, o)
		var selected, read atomic.Int64
		scan := Options{Columns: []string{"s"}, Lengths: []string{"s"}, RowNumbers: "#", BatchRows: 500}
		scan.Selector = &Selector{Columns: []string{"n"}, New: func() func(b *column.Batch, rows []int32) ([]int32, error) {
			return func(b *column.Batch, rows []int32) ([]int32, error) {
				for i := 0; i < b.Rows; i += 2 {
					rows = append(rows, int32(i))
					selected.Add(1)
				}
				return rows, nil
			}
		}}
		s := scanOf(t, d, scan)
		require.Equal(t, "s int64?, # int64", s.Schema().String())
		require.NoError(t, s.Borrow(t.Context(), nil, func(_ int, b *column.Batch) error {
			require.NoError(t, b.Check())
			numbers, err := column.Slice[int64](b.Column("#"))
			for i, row := range numbers {
				want := any(lengths[row])
				if row > 2000 && row%3 == 0 {
					want = nil
				}
				require.Equal(t, want, b.Columns[0].Value(i), row)
				read.Add(1)
			}
			return err
		}))
		require.Equal(t, selected.Load(), read.Load())
		count, err := scanOf(t, d, Options{Lengths: []string{"s"}, Filter: Ne("s", "")}).Count(t.Context())
		require.NoError(t, err)
		require.Equal(t, int64(2613), count)
	}
}

func TestLengthsErrors(t *testing.T) {
	d, _ := lengthsData(t, WriterOptions{})
	for want, o := range map[string]Options{
		"column s is not read":                      {Columns: []string{"n"}, Lengths: []string{"s"}},
		"column n is int64, not a String or Binary": {Lengths: []string{"n"}},
		"the Selector needs the texts of column s":  {Lengths: []string{"s"}, Selector: &Selector{Columns: []string{"s"}}},
	} {
		_, err := d.Scan(o)
		require.ErrorContains(t, err, "parquetscan: Lengths: "+want)
	}
}
