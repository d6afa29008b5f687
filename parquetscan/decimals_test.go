// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// twosComplement returns an integer as big-endian bytes in two's complement, with some bytes more than it needs.
func twosComplement(v *big.Int, more int) parquet.ByteArray {
	n := v.BitLen()/8 + 1 + more
	b := make([]byte, n)
	w := new(big.Int).Set(v)
	if v.Sign() < 0 {
		w.Add(w, new(big.Int).Lsh(big.NewInt(1), uint(8*n)))
	}
	return w.FillBytes(b)
}

// TestDecimalsAsByteArrays reads decimals of each width that are stored as byte arrays of any length, plain and in a
// dictionary.
func TestDecimalsAsByteArrays(t *testing.T) {
	for precision, kind := range map[int32]column.Kind{
		5: column.Decimal64, 18: column.Decimal64, 19: column.Decimal128, 38: column.Decimal128, 39: column.Decimal256, 76: column.Decimal256,
	} {
		most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
		most.Sub(most, big.NewInt(1))
		var want []*big.Int
		for _, v := range []*big.Int{big.NewInt(0), big.NewInt(1), big.NewInt(127), big.NewInt(128), big.NewInt(255), big.NewInt(256), big.NewInt(99999), most} {
			want = append(want, v, new(big.Int).Neg(v))
		}
		node, err := schema.NewPrimitiveNodeLogical("d", parquet.Repetitions.Optional, schema.NewDecimalLogicalType(precision, 2), parquet.Types.ByteArray, -1, -1)
		require.NoError(t, err)
		for more := range 3 {
			var values []parquet.ByteArray
			defs := []int16{0}
			for _, v := range want {
				values, defs = append(values, twosComplement(v, more)), append(defs, 1)
			}
			for _, dictionary := range []bool{false, true} {
				file := writeRaw(t, schema.FieldList{node}, []rawColumn{{values: values, defs: defs}}, parquet.WithDictionaryDefault(dictionary))
				d, err := OpenSources(t.Context(), Source{Name: "d.parquet", Size: int64(len(file)), Reader: bytes.NewReader(file)})
				require.NoError(t, err)
				s, err := d.Scan(Options{})
				require.NoError(t, err)
				var all []any
				for b, err := range s.All(t.Context()) {
					require.NoError(t, err)
					require.NoError(t, b.Check())
					require.Equal(t, column.Type{Kind: kind, Precision: int(precision), Scale: 2}, b.Columns[0].Type)
					for i := range b.Rows {
						all = append(all, b.Columns[0].Value(i))
					}
				}
				require.Len(t, all, len(want)+1)
				require.Nil(t, all[0])
				for i, v := range want {
					require.Equal(t, v.String(), all[i+1].(cql.Decimal).Unscaled.String())
				}
				require.NoError(t, d.Close())
			}
		}
	}
}

// TestFilesOfOtherNestedTypes requires an error for files whose nested columns differ in a type or a name within.
func TestFilesOfOtherNestedTypes(t *testing.T) {
	element := func(typ column.Type, fields ...column.Field) column.Field {
		return column.Field{Name: column.ElementName, Type: typ, Nullable: true, Fields: fields}
	}
	field := func(name string, kind column.Kind, fields ...column.Field) column.Field {
		return column.Field{Name: name, Type: column.Type{Kind: kind}, Nullable: true, Fields: fields}
	}
	list := column.Type{Kind: column.List}
	schemas := []column.Field{
		field("x", column.List, element(column.Type{Kind: column.Int32})),
		field("x", column.List, element(column.Type{Kind: column.Int64})),
		field("x", column.List, element(list, element(column.Type{Kind: column.Int32}))),
		field("x", column.List, element(list, element(column.Type{Kind: column.String}))),
		field("x", column.Struct, field("a", column.Int32), field("b", column.Int32)),
		field("x", column.Struct, field("a", column.Int32), field("c", column.Int32)),
		field("x", column.Struct, field("a", column.Int64), field("b", column.Int32)),
		field("x", column.Struct, field("a", column.Int32), field("b", column.String)),
		field("x", column.Struct, field("a", column.Int32)),
		field("x", column.Struct, field("a", column.Int32), field("b", column.List, element(column.Type{Kind: column.Int32}))),
		field("x", column.Struct, field("a", column.Int32), field("b", column.List, element(column.Type{Kind: column.Int64}))),
	}
	files := make([][]byte, len(schemas))
	for i, f := range schemas {
		var buf bytes.Buffer
		w, err := NewWriter(&buf, column.Schema{f}, WriterOptions{})
		require.NoError(t, err)
		require.NoError(t, w.Write(column.Schema{f}.Empty()))
		require.NoError(t, w.Close())
		files[i] = buf.Bytes()
	}
	for i := range files {
		for k := range files {
			d, err := OpenSources(t.Context(), Source{Name: "a", Size: int64(len(files[i])), Reader: bytes.NewReader(files[i])},
				Source{Name: "b", Size: int64(len(files[k])), Reader: bytes.NewReader(files[k])})
			require.NoError(t, err)
			_, err = d.Scan(Options{})
			if i == k {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, ErrNoColumn, "%v and %v", schemas[i], schemas[k])
				require.ErrorContains(t, err, "parquetscan: b, column x")
			}
			require.NoError(t, d.Close())
		}
	}
}

// TestMembersInAnyOrder selects the members of sets that are not sorted and have duplicates, with and without
// statistics that decide.
func TestMembersInAnyOrder(t *testing.T) {
	texts := []string{"a", "b", "c", "d", "e", "f", "g", "h", "aa", "", "zz", "c", "a"}
	numbers, floats, halves := make([]int64, len(texts)), make([]float64, len(texts)), make([]uint16, len(texts))
	for i := range texts {
		numbers[i], floats[i], halves[i] = int64(i-5), float64(i)/4-1, uint16(0x3000+1024*i) // 0.125, 0.25, 0.5, ...
	}
	half, err := column.Of("half", halves).WithType(column.Type{Kind: column.Float16})
	require.NoError(t, err)
	var buf bytes.Buffer
	require.NoError(t, writeBatch(&buf, column.NewBatch(column.Strings("s", texts), column.Of("n", numbers), column.Of("f", floats), half)))
	d, err := OpenSources(t.Context(), Source{Name: "a", Size: int64(buf.Len()), Reader: bytes.NewReader(buf.Bytes())})
	require.NoError(t, err)
	defer d.Close()
	for name, c := range map[string]struct {
		filter Filter
		want   []int64
	}{
		"texts":            {In("s", "zz", "c", "a", "c", "missing", "aa"), []int64{-5, -3, 3, 5, 6, 7}},
		"texts, none":      {In("s", "zzz", "bb", "ab"), nil},
		"empty text":       {In("s", "x", ""), []int64{4}},
		"numbers":          {In("n", 3, -5, 99, 0, 3), []int64{-5, 0, 3}},
		"floats":           {In("f", 0.5, -1.0, 0.3, 0.5), []int64{-5, 1}},
		"halves":           {In("half", 0.5, 0.1, 0.125, 1e9), []int64{-5, -3}},
		"inexact half":     {Eq("half", 0.1), nil},
		"not inexact half": {And(Not(Eq("half", 0.1)), Lt("n", -3)), []int64{-5, -4}},
		"not texts":        {And(Not(In("s", "c", "b", "a")), Lt("n", 0)), []int64{-2, -1}},
	} {
		s, err := d.Scan(Options{Filter: c.filter, Columns: []string{"n"}, Ordered: true})
		require.NoError(t, err, name)
		var got []int64
		for b, err := range s.All(t.Context()) {
			require.NoError(t, err)
			v, err := column.Slice[int64](&b.Columns[0])
			require.NoError(t, err)
			got = append(got, v...)
		}
		require.Equal(t, c.want, got, name)
	}
}

func writeBatch(to *bytes.Buffer, b *column.Batch) error {
	w, err := NewWriter(to, b.Schema(), WriterOptions{})
	if err != nil {
		return err
	}
	return errors.Join(w.Write(b), w.Close())
}

// TestDecimalsOfShortIntegers reads decimals that are stored as integers of fewer digits than their precision has.
func TestDecimalsOfShortIntegers(t *testing.T) {
	values := []int64{0, 1, -1, 255, -256, math.MaxInt32, math.MinInt32}
	for _, physical := range []int64{physicalInt32, physicalInt64} {
		for precision, kind := range map[int64]column.Kind{9: column.Decimal64, 18: column.Decimal64, 19: column.Decimal128, 38: column.Decimal128, 39: column.Decimal256, 76: column.Decimal256} {
			want := values
			var data []byte
			if physical == physicalInt64 {
				want = append(want, math.MaxInt64, math.MinInt64)
			}
			for _, v := range want {
				if physical == physicalInt32 {
					data = binary.LittleEndian.AppendUint32(data, uint32(v))
				} else {
					data = binary.LittleEndian.AppendUint64(data, uint64(v))
				}
			}
			w := newCompact()
			w.i32(1, 2)
			w.list(2, thrift.Struct, 2)
			w.element("schema", -1, -1, convertedNever, 1)
			w.open()
			w.i32(1, physical)
			w.i32(3, required)
			w.text(4, "d")
			w.i32(6, 5) // DECIMAL
			w.i32(7, 2)
			w.i32(8, precision)
			w.end()
			w.i64(3, int64(len(want)))
			w.list(4, thrift.Struct, 1)
			w.open()
			w.list(1, thrift.Struct, 1)
			page := plainPage(len(want), data)
			w.chunk(handColumn{name: "d", physical: physical, values: int64(len(want))}, 4, 4, int64(len(page)))
			w.i64(3, int64(len(want)))
			w.end()
			b, err := firstBatch(t, withFooter(append([]byte(footer.Magic), page...), w), Options{})
			require.NoError(t, err)
			require.Equal(t, column.Type{Kind: kind, Precision: int(precision), Scale: 2}, b.Columns[0].Type)
			for i, v := range want {
				require.Equal(t, fmt.Sprint(v), b.Columns[0].Value(i).(cql.Decimal).Unscaled.String())
			}
		}
	}
}

// TestDecimalsBeyondTheirWidth reads the greatest and the least number that a column of decimals holds, and requires an
// error that names the row for numbers beyond them.
func TestDecimalsBeyondTheirWidth(t *testing.T) {
	for precision, bits := range map[int32]uint{18: 63, 38: 127, 76: 255} {
		node, err := schema.NewPrimitiveNodeLogical("d", parquet.Repetitions.Required, schema.NewDecimalLogicalType(precision, 0), parquet.Types.ByteArray, -1, -1)
		require.NoError(t, err)
		limit := new(big.Int).Lsh(big.NewInt(1), bits)
		least, one := new(big.Int).Neg(limit), big.NewInt(1)
		most := new(big.Int).Sub(limit, one)
		for _, dictionary := range []bool{false, true} {
			read := func(v *big.Int) (*column.Batch, error) {
				values := []parquet.ByteArray{twosComplement(one, 0), twosComplement(v, 1)}
				for range 100 { // a dictionary is worthwhile
					values = append(values, twosComplement(one, 2))
				}
				return firstBatch(t, writeRaw(t, schema.FieldList{node}, []rawColumn{{values: values}}, parquet.WithDictionaryDefault(dictionary)), Options{})
			}
			for _, v := range []*big.Int{most, least} {
				b, err := read(v)
				require.NoError(t, err)
				require.Equal(t, v.String(), b.Columns[0].Value(1).(cql.Decimal).Unscaled.String())
				require.Equal(t, "1", b.Columns[0].Value(2).(cql.Decimal).Unscaled.String())
			}
			for _, v := range []*big.Int{limit, new(big.Int).Sub(least, one), new(big.Int).Lsh(limit, 9)} {
				_, err := read(v)
				require.ErrorIs(t, err, ErrOutOfRange)
				var e *Error
				require.ErrorAs(t, err, &e)
				if dictionary {
					require.ErrorContains(t, err, "value 1 of the dictionary")
				} else {
					require.EqualValues(t, 1, e.Row)
				}
			}
		}
	}
}
