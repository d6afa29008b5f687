// SPDX-License-Identifier: Apache-2.0

package sqlvecql_test

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/sqlvecql"
)

// money is a driver.Valuer of a program.
type money int64

func (m money) Value() (driver.Value, error) {
	if m < 0 {
		return nil, errors.New("a debt")
	}
	return fmt.Sprintf("%d.%02d", m/100, m%100), nil
}

// label is a driver.Valuer by pointer, for which nil is a value.
type label struct{ text string }

func (l *label) Value() (driver.Value, error) {
	if l == nil {
		return "none", nil
	}
	return l.text, nil
}

// point is a driver.Valuer that also encodes itself.
type point struct{ x float32 }

func (point) Value() (driver.Value, error) { return nil, errors.New("not called") }

func (p point) MarshalCQL(info cql.TypeInfo) ([]byte, error) { return vecql.Marshal(info, p.x) }

const numbers = `CREATE TABLE shop.numbers (id int PRIMARY KEY, t text, f float, d double, m decimal, v varint, b blob,
	l list<float>, e vector<float, 2>, n time)`

func TestArguments(t *testing.T) {
	_, db := start(t, numbers)
	nan := any(math.NaN())
	for i, c := range []struct {
		column string
		arg    any
		want   any // of an *any, or an error
	}{
		{"t", nil, nil},
		{"t", sql.NullString{}, nil},
		{"t", sql.NullString{String: "x", Valid: true}, "x"},
		{"t", sql.Null[string]{V: "x", Valid: true}, "x"},
		{"t", cql.NullOf("x"), "x"},
		{"t", (*string)(nil), nil},
		{"t", ref("x"), "x"},
		{"t", &label{"x"}, "x"},
		{"t", (*label)(nil), "none"},
		{"t", 5, cql.ErrConversion},
		{"m", money(1250), "12.50"},
		{"m", ref(money(1250)), "12.50"},
		{"m", (*money)(nil), nil},
		{"m", money(-1), errors.New("a debt")},
		{"m", ref(ref(money(5))), "0.05"},
		{"m", ref((*money)(nil)), nil},
		{"m", sql.Null[money]{V: 5, Valid: true}, "0.05"},
		{"m", sql.Null[money]{}, nil},
		{"m", ref(cql.NullOf(money(5))), "0.05"},
		{"t", ref(&label{"x"}), "x"},
		{"t", ref((*label)(nil)), "none"},
		{"t", ref(sql.NullString{}), nil},
		{"t", (**string)(nil), nil},
		{"e", ref(cql.NullOf([]float32{1, 2})), []float32{1, 2}},
		{"e", ref(&sql.Null[[]float32]{V: []float32{1, 2}, Valid: true}), []float32{1, 2}},
		{"m", "1e3", "1E+3"},
		{"m", []byte("0.5"), "0.5"},
		{"m", 12, "12"},
		{"m", uint64(math.MaxUint64), "18446744073709551615"},
		{"m", sql.NullInt64{Int64: 3, Valid: true}, "3"},
		{"m", sql.NullInt64{}, nil},
		{"m", cql.Decimal{}, "0"},
		{"m", 0.5, cql.ErrConversion},
		{"m", "x", cql.ErrConversion},
		{"m", time.Second, cql.ErrConversion},
		{"f", point{0.5}, 0.5},
		{"f", 0.5, 0.5},
		{"f", ref(0.5), 0.5},
		{"f", 5, 5.0},
		{"f", sql.NullFloat64{Float64: 0.25, Valid: true}, 0.25},
		{"f", nan, nan},
		{"f", math.Inf(1), math.Inf(1)},
		{"f", 0.1, cql.ErrRange},
		{"f", 1e300, cql.ErrRange},
		{"f", 1<<24 + 1, cql.ErrRange},
		{"f", "0.5", cql.ErrConversion},
		{"f", time.Second, cql.ErrConversion},
		{"d", float32(0.1), float64(float32(0.1))},
		{"d", uint8(5), 5.0},
		{"d", int64(1 << 53), float64(1 << 53)},
		{"d", int64(1<<53 + 1), cql.ErrRange},
		{"d", uint64(math.MaxUint64), cql.ErrRange},
		{"d", int64(math.MinInt64), cql.ErrRange},
		{"d", true, cql.ErrConversion},
		{"v", "12", "12"},
		{"v", int64(math.MaxInt64), "9223372036854775807"},
		{"b", "ab", []byte("ab")},
		{"b", []byte{}, []byte{}},
		{"b", []byte(nil), nil},
		{"l", []float32{1}, []float32{1}},
		{"l", []float64{1}, cql.ErrConversion},
		{"e", []float32{1, 2}, []float32{1, 2}},
		{"e", sqlvecql.Of[[2]float32]{V: [2]float32{1, 2}}, []float32{1, 2}},
		{"e", sqlvecql.Of[*[2]float32]{}, nil},
		{"m", sqlvecql.Of[money]{V: 5}, "0.05"},
		{"e", []float32{1}, cql.ErrDimension},
		{"n", time.Hour, time.Hour},
		{"n", int64(time.Hour), time.Hour},
	} {
		name := fmt.Sprintf("case %d: %T to %s", i, c.arg, c.column)
		_, err := db.Exec("INSERT INTO numbers (id, "+c.column+") VALUES (1, ?)", c.arg)
		if want, fails := c.want.(error); fails {
			require.Error(t, err, name)
			if !errors.Is(err, want) {
				require.ErrorContains(t, err, want.Error(), name)
				continue
			}
			var failed *cql.MarshalError
			require.ErrorAs(t, err, &failed, name)
			require.Equal(t, c.column, strings.SplitN(failed.Column, "[", 2)[0], name)
			continue
		}
		require.NoError(t, err, name)
		got := any("nothing")
		require.NoError(t, db.QueryRow("SELECT "+c.column+" FROM numbers WHERE id = 1").Scan(&got), name)
		if f, ok := got.(float64); ok && f != f {
			got = nan
		}
		require.Equal(t, fmt.Sprintf("%T %[1]v", c.want), fmt.Sprintf("%T %[1]v", got), name)
	}
}

func TestUnsetLeavesAColumn(t *testing.T) {
	_, db := start(t, items)
	exec(t, db, "INSERT INTO items (id, name) VALUES (1, 'lamp')")
	exec(t, db, "INSERT INTO items (id, name) VALUES (?, ?)", 1, cql.UnsetValue)
	var name *string
	require.NoError(t, db.QueryRow("SELECT name FROM items WHERE id = 1").Scan(&name))
	require.Equal(t, "lamp", *name)
	exec(t, db, "INSERT INTO items (id, name) VALUES (?, ?)", 1, nil)
	require.NoError(t, db.QueryRow("SELECT name FROM items WHERE id = 1").Scan(&name))
	require.Nil(t, name)
}

func TestNamedArguments(t *testing.T) {
	_, db := start(t, items+numbers)
	exec(t, db, "INSERT INTO items (id, name) VALUES (:id, :name)", sql.Named("name", "lamp"), sql.Named("id", 1))
	exec(t, db, "UPDATE items SET name = ? WHERE id = ?", cql.NamedValue("id", 1), cql.NamedValue("name", "vase"))
	var name string
	find, err := db.Prepare("SELECT name FROM items WHERE id = :id")
	require.NoError(t, err)
	defer func() { _ = find.Close() }()
	require.NoError(t, find.QueryRow(sql.Named("id", sql.NullInt64{Int64: 1, Valid: true})).Scan(&name))
	require.Equal(t, "vase", name)
	exec(t, db, "INSERT INTO numbers (id, m, d) VALUES (:id, :number, :number)", sql.Named("id", 1), sql.Named("number", 5))
	var m, d float64
	require.NoError(t, db.QueryRow("SELECT m, d FROM numbers WHERE id = 1").Scan(&m, &d))
	require.Equal(t, []float64{5, 5}, []float64{m, d})

	for want, args := range map[error][]any{
		sqlvecql.ErrArguments: {sql.Named("id", 1), "lamp"},
		vecql.ErrValueCount:   {sql.Named("id", 1), sql.Named("title", "lamp")},
	} {
		_, err := db.Exec("INSERT INTO items (id, name) VALUES (:id, :name)", args...)
		require.ErrorIs(t, err, want)
	}
	_, err = db.Exec("INSERT INTO items (id, name) VALUES (?, ?)", sql.Out{Dest: &name}, "lamp")
	require.ErrorIs(t, err, sqlvecql.ErrArguments)
	_, err = db.Exec("INSERT INTO items (id, name) VALUES (?, ?)", 1)
	require.ErrorIs(t, err, vecql.ErrValueCount)
	_, err = db.Exec("INSERT INTO numbers (id, m) VALUES (?, ?)", 1, "1", 2)
	require.ErrorIs(t, err, vecql.ErrValueCount)
}

// NULL remains NULL beside an argument that is converted, and each argument keeps its place.
func TestConvertedBesideNull(t *testing.T) {
	_, db := start(t, numbers)
	exec(t, db, "INSERT INTO numbers (id, f, d, m, t, v) VALUES (?, ?, ?, ?, ?, ?)",
		1, (*float64)(nil), sql.NullFloat64{}, ref(ref(money(5))), cql.UnsetValue, nil)
	var f, d, v *float64
	var m float64
	require.NoError(t, db.QueryRow("SELECT f, d, m, v FROM numbers WHERE id = 1").Scan(&f, &d, &m, &v))
	require.Equal(t, []*float64{nil, nil, nil}, []*float64{f, d, v})
	require.Equal(t, 0.05, m)
}
