// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math/big"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
)

// This file holds the types of columns: what they are to groupby, and how their values are printed.

// A columnType says what columns of a Kind are to groupby.
type columnType struct {
	typ  groupby.Type
	view func(*parquetscan.Column) groupby.Column // without its NULLs
}

var columnTypes = map[parquetscan.Kind]columnType{
	parquetscan.Bool:      typeAs[bool](),
	parquetscan.Int8:      typeAs[int8](),
	parquetscan.Int16:     typeAs[int16](),
	parquetscan.Int32:     typeAs[int32](),
	parquetscan.Int64:     typeAs[int64](),
	parquetscan.Uint8:     typeAs[uint8](),
	parquetscan.Uint16:    typeAs[uint16](),
	parquetscan.Uint32:    typeAs[uint32](),
	parquetscan.Uint64:    typeAs[uint64](),
	parquetscan.Float32:   typeAs[float32](),
	parquetscan.Float64:   typeAs[float64](),
	parquetscan.Date:      typeAs[int32](),
	parquetscan.Timestamp: typeAs[int64](),
	parquetscan.Decimal64: typeAs[int64](),
	parquetscan.ID:        typeAs[[16]byte](),
	parquetscan.String:    {groupby.String, text},
	parquetscan.Binary:    {groupby.String, text},
}

func typeAs[T interface {
	parquetscan.Value
	groupby.Value
}]() columnType {
	return columnType{groupby.TypeOf[T](), func(c *parquetscan.Column) groupby.Column { return groupby.Values(parquetscan.Values[T](c)) }}
}

func text(c *parquetscan.Column) groupby.Column { return groupby.Text(c.Text()) }

// typeOf returns the type that a column has for groupby.
func typeOf(f parquetscan.Field) (groupby.Type, error) {
	t, ok := columnTypes[f.Type.Kind]
	if !ok {
		return 0, fmt.Errorf("column %s is %v, which this program can not aggregate", f.Name, f.Type)
	}
	return t.typ, nil
}

// summable returns an error if sums of a column mean nothing.
func summable(f parquetscan.Field) error {
	switch k := f.Type.Kind; {
	case k >= parquetscan.Int8 && k <= parquetscan.Uint64, k == parquetscan.Float32, k == parquetscan.Float64, k == parquetscan.Decimal64:
		return nil
	}
	return fmt.Errorf("column %s is %v, which has no sum", f.Name, f.Type)
}

// An answer is the groups.
type answer struct {
	fields []parquetscan.Field // the keys, and the value if there is one
	keys   int
	groups *groupby.Result
}

// print writes the groups as a table.
func (a *answer) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	var columns []func(i int) string
	for i, f := range a.fields[:a.keys] {
		fmt.Fprintf(w, "%s\t", f.Name)
		columns = append(columns, printer(a.groups.Key(i), f.Type))
	}
	fmt.Fprint(w, "count")
	columns = append(columns, printer(a.groups.Aggregate(0), parquetscan.Type{Kind: parquetscan.Int64}))
	if a.keys < len(a.fields) {
		fmt.Fprintf(w, "\tsum(%s)", a.fields[a.keys].Name)
		columns = append(columns, printer(a.groups.Aggregate(1), a.fields[a.keys].Type))
	}
	fmt.Fprintln(w)
	for row := range a.groups.Len() {
		for i, column := range columns {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, column(row))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// printer returns what prints values of a column that is of type t in the files, or sums of such: strings in quotes, so that NULL is
// another thing than the word.
func printer(c groupby.Column, t parquetscan.Type) func(i int) string {
	value := plain(c)
	ints, _ := groupby.SliceOf[int64](c)
	switch t.Kind {
	case parquetscan.Date:
		days, _ := groupby.SliceOf[int32](c)
		value = func(i int) string { return time.Unix(int64(days[i])*86400, 0).UTC().Format(time.DateOnly) }
	case parquetscan.Timestamp:
		layout := "2006-01-02T15:04:05.999999999"
		if t.UTC {
			layout += "Z"
		}
		at := func(n int64) time.Time { return time.Unix(0, n) }
		switch t.Unit {
		case parquetscan.Millis:
			at = time.UnixMilli
		case parquetscan.Micros:
			at = time.UnixMicro
		}
		value = func(i int) string { return at(ints[i]).UTC().Format(layout) }
	case parquetscan.Decimal64:
		one := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil)
		value = func(i int) string { return new(big.Rat).SetFrac(big.NewInt(ints[i]), one).FloatString(t.Scale) }
	}
	return func(i int) string {
		if c.Null(i) {
			return "NULL"
		}
		return value(i)
	}
}

// plain returns what prints the values of a column as what they are to groupby.
func plain(c groupby.Column) func(i int) string {
	switch c.Type() {
	case groupby.Int8:
		return printAs[int8](c)
	case groupby.Int16:
		return printAs[int16](c)
	case groupby.Int32:
		return printAs[int32](c)
	case groupby.Int64:
		return printAs[int64](c)
	case groupby.Uint8:
		return printAs[uint8](c)
	case groupby.Uint16:
		return printAs[uint16](c)
	case groupby.Uint32:
		return printAs[uint32](c)
	case groupby.Uint64:
		return printAs[uint64](c)
	case groupby.Float32:
		return printAs[float32](c)
	case groupby.Float64:
		return printAs[float64](c)
	case groupby.Bool:
		return printAs[bool](c)
	case groupby.ID:
		ids, _ := groupby.SliceOf[[16]byte](c)
		return func(i int) string {
			return fmt.Sprintf("%x-%x-%x-%x-%x", ids[i][:4], ids[i][4:6], ids[i][6:8], ids[i][8:10], ids[i][10:])
		}
	default:
		strings := c.Strings()
		return func(i int) string { return strconv.Quote(strings[i]) }
	}
}

func printAs[T groupby.Value](c groupby.Column) func(i int) string {
	values, _ := groupby.SliceOf[T](c)
	return func(i int) string { return fmt.Sprint(values[i]) }
}
