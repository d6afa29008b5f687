// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// TestCorruptKeepsItsCause wraps causes in ErrCorrupt: each but the end of a file, which would mean that all rows were
// read.
func TestCorruptKeepsItsCause(t *testing.T) {
	for _, cause := range []error{io.ErrUnexpectedEOF, fs.ErrPermission, fmt.Errorf("%w: page", ErrTooLarge)} {
		err := failure.Corrupt("page %d: %w", 3, cause)
		require.ErrorIs(t, err, ErrCorrupt)
		require.ErrorIs(t, err, cause)
		require.EqualError(t, err, "corrupt file: page 3: "+cause.Error())
	}
	err := failure.Corrupt("page %d: %w", 3, io.EOF)
	require.ErrorIs(t, err, ErrCorrupt)
	require.NotErrorIs(t, err, io.EOF)
	require.EqualError(t, err, "corrupt file: page 3: EOF")
}

// TestErrorsOfWholeFiles requires the place of errors that concern a file as a whole, or a column in all of its rows.
func TestErrorsOfWholeFiles(t *testing.T) {
	other := rawFile(rawGroup{3, []handColumn{{name: "m", physical: physicalInt64, converted: convertedNever, values: 3, pages: [][]byte{plainPage(3, int64s(0, 3))}}}})
	wide := rawFile(rawGroup{3, []handColumn{{name: "n", physical: physicalInt32, converted: convertedNever, values: 3, pages: [][]byte{plainPage(3, int64s(0, 2))}}}})
	twice := numberColumn(plainPage(3, int64s(0, 3)))
	twice.values = 3
	double := rawFile(rawGroup{3, []handColumn{twice, twice}})
	good := numbers(0, 3)
	scan := func(o Options, files ...[]byte) func() error {
		return func() error {
			_, err := openSources(t, Config{}, files...).Scan(o)
			return err
		}
	}
	ranged := func(name string, files ...[]byte) func() error {
		return func() error {
			_, err := scanOf(t, openSources(t, Config{}, files...), Options{Columns: []string{}}).Range(name)
			return err
		}
	}
	opened := func(b []byte) func() error {
		return func() error {
			_, err := OpenSources(t.Context(), memorySource("0", b))
			return err
		}
	}
	for name, c := range map[string]struct {
		do           func() error
		file, column string
		is           error
	}{
		"column that does not exist":             {scan(Options{Columns: []string{"x"}}, good), "0", "x", ErrNoColumn},
		"position that does not exist":           {scan(Options{Positions: []int{1}}, good), "0", "", ErrNoColumn},
		"column of a name that two have":         {scan(Options{Columns: []string{"n"}}, double), "0", "n", ErrNoColumn},
		"filter on a column that does not exist": {scan(Options{Filter: Eq("x", 1)}, good), "0", "x", ErrNoColumn},
		"filter on a name that two have":         {scan(Options{Filter: Eq("n", 1), Positions: []int{0}}, double), "0", "n", ErrNoColumn},
		"second file without the column":         {scan(Options{}, good, other), "1", "n", ErrNoColumn},
		"second file with another type":          {scan(Options{}, good, wide), "1", "n", ErrNoColumn},
		"second file with two of the name":       {scan(Options{}, good, double), "1", "n", ErrNoColumn},
		"range of no column":                     {ranged("x", good), "0", "x", ErrNoColumn},
		"range of a name that two have":          {ranged("n", double), "0", "n", ErrNoColumn},
		"range over two types":                   {ranged("n", good, wide), "1", "n", ErrNoColumn},
		"cut footer":                             {opened(good[:len(good)-1]), "0", "", ErrCorrupt},
		"damaged footer":                         {opened(append(bytes.Repeat([]byte{0xff}, len(good)-8), good[len(good)-8:]...)), "0", "", ErrCorrupt},
	} {
		err := c.do()
		require.ErrorIs(t, err, c.is, name)
		var e *Error
		require.ErrorAs(t, err, &e, name)
		require.Equal(t, &Error{File: c.file, RowGroup: -1, Column: c.column, Row: -1, Err: e.Err}, e, name)
	}
}
