// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/expr"
)

// The meanings that the package documents, one by one.

// typed returns a column with another type of the same layout.
func typed(t testing.TB, c column.Column, typ column.Type) column.Column {
	c, err := c.WithType(typ)
	require.NoError(t, err)
	return c
}

// items is a batch of one row, but for n, which is NULL.
func items(t testing.TB) *column.Batch {
	at := time.Date(2026, 3, 31, 22, 30, 15, 250e6, time.UTC)
	return column.NewBatch(
		column.Of("i", []int32{7}),
		column.Of("big", []int64{math.MaxInt64}),
		column.Of("u", []uint64{math.MaxUint64}),
		column.Of("f", []float64{2.5}),
		column.Of("f32", []float32{0.1}),
		column.Of("nan", []float64{math.NaN()}),
		column.Of("n", []int64{5}).WithNulls([]bool{true}),
		column.Of("flag", []bool{true}),
		column.Strings("s", []string{"Häßlich 100%"}),
		typed(t, column.Of("day", []int32{20543}), column.Type{Kind: column.Date}), // 2026-03-31
		typed(t, column.Of("at", []int64{at.UnixMilli()}), column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true}),
		typed(t, column.Of("clock", []int64{3600e6}), column.Type{Kind: column.Time, Unit: column.Micros}),
		typed(t, column.Of("price", []int64{1250}), column.Type{Kind: column.Decimal64, Precision: 9, Scale: 2}),
		typed(t, column.Of("tax", []int64{7}), column.Type{Kind: column.Decimal64, Precision: 9, Scale: 2}),
		column.Of("id", []cql.UUID{{15: 1}}),
		column.Matrix("v", []float32{3, 4, 0}, 3),
		column.Matrix("ints", []int64{1 << 60, 1}, 2),
		column.Of("half", []int64{2}),
	)
}

// eval returns the value of a text in the only row of items.
func eval(t testing.TB, b *column.Batch, text string) (any, error) {
	e, err := expr.Parse(text)
	require.NoError(t, err)
	p, err := expr.Compile(e, b.Schema())
	if err != nil {
		return nil, err
	}
	c, err := p.Eval(b)
	if err != nil {
		return nil, err
	}
	require.NoError(t, c.Check())
	require.Equal(t, e.String(), p.String())
	return c.Value(0), nil
}

func TestValues(t *testing.T) {
	b := items(t)
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	for text, want := range map[string]any{
		// NULL
		"n > 1": nil, "n > 1 or true": true, "n > 1 and false": false, "not n > 1": nil, "n is null": true,
		"n is not null": false, "n in (5)": nil, "i in (1, null)": nil, "i in (7, null)": true, "i not in (1, null)": nil,
		"i in ()": false, "coalesce(n, i)": int64(7), "n + 1": nil, "case when n > 1 then 1 end": nil, "null is null": true,
		"i = null": nil, "concat(s, null)": nil, "flag": true, "not flag": false, "u < 0": false, "u >= 0": true,
		"big < -9223372036854775808": false, "big >= -9223372036854775808": true, "i + 57 in (0, 64)": true,
		"cast(9007199254740996.0 as float64) > 9007199254740995": true, "'abc' like 'ab%bc'": false,
		// numbers
		"i > 2.5": true, "i = 2.5": false, "i < 1e300": true, "u > -1": true, "big < 9223372036854775808": true,
		"nan = nan": true, "nan > f": true, "nan = float64 'NaN'": true, "nan < float64 'Inf'": false, "f32 = 0.1": false,
		"f32 < 0.11": true, "i between 7 and 8": true, "i not between 7.5 and 8": true, "i / 2": int64(3), "-i / 2": int64(-3),
		"-i % 4": int64(-3), "i / 2.0": 3.5, "f / 0": math.Inf(1), "i + 1.5": 8.5, "u - 1": uint64(math.MaxUint64 - 1),
		"u / 3": uint64(math.MaxUint64 / 3), "big > 9223372036854775806.0": false, "u = 1e19": false, "u > i": true,
		"big < f": false, "u > f": true, "1 + 2 * 3 - -4": int64(11), "price = '12.50'": true, "price > 12.499": true, "price = 12.50": true, "tax = 0.07": true, "tax between 0.05 and 0.07": true, "tax in (0.07)": true,
		"tax < 1e-300": false, "tax < 1e300": true, "tax > float64 '-Inf'": true, "tax < float64 'NaN'": true, "coalesce(tax, 0.05) = 0.07": true,
		"cast(price as float64)": 12.5, "case when i > 5 then i else 0 end": int32(7), "case when i > 5 then i else 9999999999 end": int64(7),
		// casts
		"cast(f as int8)": int8(2), "cast(3.5 as uint8)": uint8(4), "cast('12' as int16)": int16(12), "cast(i as string)": "7",
		"cast(f as string)": "2.5", "cast(f32 as string)": "0.1", "cast(flag as int32)": int32(1), "cast(day as string)": "2026-03-31",
		"cast(at as string)": "2026-03-31T22:30:15.25Z", "cast(at as date)": day(2026, 3, 31), "cast(id as string)": cql.UUID{15: 1}.String(),
		"cast('2026-01-02' as timestamp(us))": day(2026, 1, 2), "cast(day as timestamp(ms, utc))": day(2026, 3, 31), "cast(0 as bool)": false,
		"cast('.5' as float64)": 0.5, "cast('+1.5' as float64)": 1.5, "cast('-.5' as float64)": -.5, "cast('inf' as float64)": math.Inf(1),
		"cast('-Infinity' as float64)": math.Inf(-1), "cast('+12' as int64)": int64(12), "cast('1.00000005960464478' as float32)": float32(1.0000001),
		"cast('-0044-03-15' as date)": day(-44, 3, 15), "cast('+10000-01-01' as date)": day(10000, 1, 1), "cast(cast('-0044-03-15' as date) as string)": "-0044-03-15",
		"strftime(cast('-0046-10-01' as date), '%y|%-y|%Y|%G|%F')": "46|46|-46|-46|-46-10-01", "strftime(date '0005-02-03', '%y|%-y|%Y|%F')": "05|5|0005|0005-02-03",
		"strftime(cast('+12007-10-01' as date), '%y|%-y|%Y')": "07|7|12007",
		"cast(cast('+10000-01-01' as date) as string)":        "+10000-01-01", "cast('-0044-03-15T12:00:00Z' as timestamp(ms))": day(-44, 3, 15).Add(12 * time.Hour),
		// texts
		"s like 'H%100\\%'": true, "s like 'h%'": false, "s ilike 'hÄSS%'": false, "s ilike 'hÄß%'": true, "s like '__ß%'": true, "s like '_ß%'": false,
		"s like '__ßlich 100_'": true, "s regexp '[0-9]+%$'": true, "length(s)": int64(12), "upper(s)": "HÄßLICH 100%",
		"lower(s)": "häßlich 100%", "substring(s, 2, 2)": "äß", "substring(s, 9)": "100%", "substring(s, 0, 2)": "H",
		"s || '!' || cast(i as string)": "Häßlich 100%!7", "contains(s, 'lich')": true, "starts_with(s, 'Hä')": true,
		"ends_with(s, '%')": true, "regexp_replace(s, '([0-9])', '<$1>')": "Häßlich <1><0><0>%",
		`regexp_replace(s, '^.*(\d)(\d)%', '\2\1\\')`: `00\`, "strlen(s)": int64(14), "s > 'H'": true,
		// times
		"day = '2026-03-31'": true, "day < at": "error", "at > '2026-03-31T22:30:15.2495Z'": true, "at = '2026-03-31 22:30:15.25'": true,
		"at > timestamp '2026-04-01T00:30:00+02:00'": true, "clock = '01:00'": true, "clock < interval '61m'": true,
		"day + interval '1mo'": day(2026, 4, 30), "day - interval '1mo'": day(2026, 2, 28), "interval '1d' + day": day(2026, 4, 1),
		"day = date '2026-04-30' - interval '30' day": true, "at < interval '1' month + date '2026-03-01'": true,
		"extract(minute from epoch_ms(i * 60000))": int64(7), "epoch_ms(f)": "error", "extract(Hour from at)": int64(22), "at > timestamp '2026-03-31 23:30:15' - interval 1 hours": true,
		"at + interval '1mo1h'":                                        time.Date(2026, 4, 30, 23, 30, 15, 250e6, time.UTC),
		"date_trunc('hour', at)":                                       time.Date(2026, 3, 31, 22, 0, 0, 0, time.UTC),
		"date_trunc('month', at)":                                      day(2026, 3, 1),
		"date_trunc('quarter', day)":                                   day(2026, 1, 1),
		"date_trunc('week', day)":                                      day(2026, 3, 30),
		"date_trunc('month', at, 'Europe/Berlin')":                     time.Date(2026, 3, 31, 22, 0, 0, 0, time.UTC),
		"extract('day', at, 'Europe/Berlin')":                          int64(1),
		"extract('hour', at)":                                          int64(22),
		"extract('millisecond', at)":                                   int64(15250),
		"extract('epoch', at)":                                         int64(1774996215),
		"extract('dow', day)":                                          int64(2),
		"extract('doy', day)":                                          int64(90),
		"extract('week', day)":                                         int64(14),
		"cast('1969-12-31' as date) < '1970-01-01'":                    true,
		"cast(cast('1969-12-31T23:59:59.9' as timestamp(ms)) as date)": day(1969, 12, 31),
		// bytes and vectors
		"id = '00000000-0000-0000-0000-000000000001'": true, "id = uuid '00000000-0000-0000-0000-000000000002'": false,
		"dot(v, [1, 2, 3])": 11.0, "norm(v)": 5.0, "l2(v, [0, 0, 0])": 5.0, "cosine(v, [6, 8, 0])": 1.0, "l2([3, 4, 0], v)": 0.0,
		"element(v, 2)": float32(4), "slice(v, 2, 2)": []float32{4, 0}, "norm(slice(slice(v, 2, 2), 1, 1))": 4.0,
		"element(ints, 1)": int64(1 << 60), "element(slice(ints, 2, 1), 1)": int64(1), "v is null": false,
	} {
		got, err := eval(t, b, text)
		if want == "error" {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestRowErrors(t *testing.T) {
	b := items(t)
	for text, want := range map[string]error{
		"big + 1": expr.ErrOverflow, "-(big) - 2": expr.ErrOverflow, "big * 2": expr.ErrOverflow, "u + 1": expr.ErrOverflow,
		"1 - u": expr.ErrOverflow, "i / 0": expr.ErrDivision, "i % 0": expr.ErrDivision, "-9223372036854775808 / -1": expr.ErrOverflow, "cast(i - 8 as uint64)": expr.ErrCast,
		"cast(300 as int8)": expr.ErrCast, "cast(nan as int64)": expr.ErrCast, "cast(s as int32)": expr.ErrCast,
		"cast('2024_01' as float64)": expr.ErrCast, "cast('0x1p2' as float64)": expr.ErrCast, "cast('1e5_0' as float32)": expr.ErrCast,
		"cast('.' as float64)": expr.ErrCast, "cast('+-1' as float64)": expr.ErrCast, "cast('' as float64)": expr.ErrCast, "cast('1_0' as int64)": expr.ErrCast,
		"cast('10000-01-01' as date)": expr.ErrCast, "cast('20240101' as date)": expr.ErrCast, "cast('+5881580-07-12' as date)": expr.ErrCast,
		"chr(1114112)": expr.ErrCast, "lpad(s, 1048577, ' ')": expr.ErrOverflow, "abs(-9223372036854775808)": expr.ErrOverflow,
		"cast('2026-02-30' as date)": expr.ErrCast, "day + interval '200000000mo'": expr.ErrOverflow,
		"cast('2026-02-28T00:00:00.0001' as timestamp(ms))": expr.ErrCast, "cast(1e300 as float32)": expr.ErrCast,
		// of two errors the first operand's
		"cast(s as float64) < i / 0": expr.ErrCast, "i / 0 < cast(s as float64)": expr.ErrDivision,
		"cast(s as uint64) < i / 0": expr.ErrCast, "i / 0 < cast(s as uint64)": expr.ErrDivision,
		"cast(s as float64) < u / 0": expr.ErrCast, "u / 0 < cast(s as float64)": expr.ErrDivision,
		// what decides about true is evaluated before what decides about false only
		"not (n > 0 and i / 0 = 1 or i = 7)": expr.ErrDivision,
	} {
		_, err := eval(t, b, text)
		require.ErrorIs(t, err, want, text)
		var at *expr.RowError
		require.ErrorAs(t, err, &at, text)
		require.Zero(t, at.Row)
	}
	// A row whose result is not needed does not fail.
	for text, want := range map[string]any{
		"i = 7 or i / 0 = 1": true, "i <> 7 and i / 0 = 1": false, "case when i <> 7 then i / 0 else 1 end": int64(1),
		"coalesce(i, i / 0)": int64(7), "n + big": nil, "n > 0 and i / 0 = 1 or i = 7": true,
		"case when n > 0 and i / 0 = 1 then 1 else 2 end": int64(2),
	} {
		got, err := eval(t, b, text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

// TestRowErrorNamesTheRow has an error in the second block.
func TestRowErrorNamesTheRow(t *testing.T) {
	x := make([]int64, 5000)
	x[4321] = math.MaxInt64
	b := column.NewBatch(column.Of("x", x))
	for text, e := range map[string]expr.Expr{
		"x + 1": expr.Col("x").Add(1), "x * 2": expr.Col("x").Mul(2), "x - -1": expr.Col("x").Sub(-1),
		"cast(x as uint64) * 3": expr.Col("x").Cast(column.Type{Kind: column.Uint64}).Mul(3),
	} {
		p, err := expr.Compile(e.Gt(0), b.Schema())
		require.NoError(t, err)
		_, err = p.Select(b, nil)
		require.EqualError(t, err, "expr: row 4321: "+text+": the result is out of range")
	}
}

func TestCompileErrors(t *testing.T) {
	b := items(t)
	for text, want := range map[string]string{
		"i > 1 and prize = 1":        `expr: at offset 10: prize: no such column: "prize"; the columns are: i, big, `,
		"s > 3":                      "expr: at offset 0: s > 3: s is string, which does not compare with 3",
		"i > 1 and f = s":            "expr: at offset 10: f = s: f is float64, which does not compare with s is string",
		"v = v":                      "v is vector<float32, 3>, which has no order here; only is null takes it",
		"u + big":                    "int64 and uint64 have no common type: cast one of u and big",
		"s + 1":                      "+ requires numbers: s is string",
		"lower(i)":                   "lower requires string: i is int32",
		"i and flag":                 "and requires bool: i is int32",
		"s regexp s":                 "the pattern of regexp must be a text literal, not s",
		"s regexp '('":               "error parsing regexp: missing closing )",
		"dot(v, [1, 2])":             "the vectors have dimensions 3 and 2",
		"element(v, 4)":              "elements 4 to 4 of v is vector<float32, 3>",
		"date_trunc('eon', at)":      "the first argument of date_trunc is one of",
		"extract('day', at, 'X')":    "unknown time zone X",
		"extract('day', day, 'UTC')": "a zone applies to timestamps in UTC: day is date",
		"day + interval '1h'":        "an interval is added to timestamps, and without hours to dates: day is date",
		"at + interval '1us'":        "the interval has no exact value in timestamp(ms, UTC)",
		"coalesce(i, s)":             "coalesce: s is string has no common type with int32",
		"cast(v as string)":          "v is vector<float32, 3>, which does not cast to string",
		"cast(price as date)":        "price is decimal64(9, 2), which does not cast to date",
		"at > 'soon'":                "at is timestamp(ms, UTC), which does not compare with 'soon'",
		"u + -1":                     "int64 and uint64 have no common type",
	} {
		_, err := eval(t, b, text)
		require.ErrorContains(t, err, want, text)
		require.ErrorAs(t, err, new(*expr.CompileError), text)
	}
	_, err := eval(t, b, "nothing")
	require.ErrorIs(t, err, column.ErrNoColumn)
	for _, e := range []expr.Expr{{}, expr.Col("i").Eq(struct{}{}), expr.Lit(time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)), expr.Col("i").And(expr.Expr{})} {
		_, err := expr.Compile(e, b.Schema())
		require.ErrorAs(t, err, new(*expr.CompileError))
	}
	p, err := expr.Compile(expr.Col("i"), b.Schema())
	require.NoError(t, err)
	_, err = p.Select(b, nil)
	require.EqualError(t, err, "expr: i: a selection requires a boolean: i is int32")
}

// TestBatchDiffersFromSchema passes batches without the column and with another type.
func TestBatchDiffersFromSchema(t *testing.T) {
	p, err := expr.Compile(expr.Col("i").Gt(1), items(t).Schema())
	require.NoError(t, err)
	_, err = p.Select(column.NewBatch(column.Of("j", []int32{1})), nil)
	require.ErrorIs(t, err, column.ErrNoColumn)
	_, err = p.Select(column.NewBatch(column.Of("i", []int64{1})), nil)
	require.EqualError(t, err, "column: i is int64, not int32 as in the schema")
}

func TestRefineChecksRows(t *testing.T) {
	b := column.NewBatch(column.Of("i", make([]int64, 3000)))
	p, err := expr.Compile(expr.Col("i").Eq(0), b.Schema())
	require.NoError(t, err)
	for _, rows := range [][]int32{{3000}, {-1}, {5, 5}, {2500, 1}} {
		_, err := p.Refine(b, rows)
		require.ErrorContains(t, err, "row", "%v", rows)
	}
	rows, err := p.Refine(b, []int32{1, 2047, 2048, 2999})
	require.NoError(t, err)
	require.Equal(t, []int32{1, 2047, 2048, 2999}, rows)
}

func TestColumns(t *testing.T) {
	e, err := expr.Parse(`b > 1 and a + "the b" in (b, 3) or a is null`)
	require.NoError(t, err)
	require.Equal(t, []string{"b", "a", "the b"}, e.Columns())
}

func TestConjunctsAndBounds(t *testing.T) {
	b := items(t)
	for text, want := range map[string]string{
		"i > 1 and (5 <= f and s = 'x') and not (n is null or big in (1))": "i > [1] int32; f >= [5] float64; s = [x] string; " +
			"n is not null [] int64; not big in (1)",
		"not i < 2.5 and i between 1 and 10":                      "i >= [2.5] int32; i >= [1] int32; i <= [10] int32",
		"flag and not flag and n is null":                         "flag = [true] bool; flag = [false] bool; n is null [] int64",
		"i in (1, null, 3) and i = null":                          "i in [1 3] int32; i = null",
		"price > '1.005' and clock <> '00:01'":                    "price > [1.005] decimal64(9, 2); clock <> [1m0s] time(us)",
		"tax >= 0.05 and tax < 1e21":                              "tax >= [0.05] decimal64(9, 2); tax < [1000000000000000000000] decimal64(9, 2)",
		"day < '2026-01-02' and i + 1 > 2":                        "day < [2026-01-02 00:00:00 +0000 UTC] date; i + 1 > 2",
		"i > half or i > 2 and s like 'a%'":                       "i > half or i > 2 and s like 'a%'",
		"s like '%a%' and not contains(s, 'b') and s like '%a_%'": "s contains [a] string; s not contains [b] string; s like '%a_%'",
		"i > half": "i > half",
		// a literal has the type of the column, also beside another literal
		"'10:00' between '9:30' and clock and '10:00' between clock and clock": "'10:00' between '9:30' and clock; clock <= [10h0m0s] time(us); clock >= [10h0m0s] time(us)",
		"null between null and i": "null between null and i",
		"flag and null":           "flag = [true] bool; cast(null as bool)",
	} {
		e, err := expr.Parse(text)
		require.NoError(t, err)
		got := ""
		for _, c := range expr.Conjuncts(e) {
			p, err := expr.Compile(c, b.Schema())
			require.NoError(t, err)
			if got != "" {
				got += "; "
			}
			if bound, ok := p.Bound(); ok {
				got += fmt.Sprintf("%s %s %v %v", bound.Column, bound.Op, bound.Values, bound.Type)
			} else {
				got += c.String()
			}
		}
		require.Equal(t, want, got, text)
	}
}

func TestNullable(t *testing.T) {
	schema := column.Schema{
		{Name: "a", Type: column.TypeOf[int64](), Nullable: true},
		{Name: "b", Type: column.TypeOf[int64]()},
		{Name: "s", Type: column.Type{Kind: column.String}},
		{Name: "v", Type: column.VectorOf(column.Float32, 2)},
	}
	for text, want := range map[string]bool{
		"a": true, "b": false, "7": false, "'x'": false, "cast(null as int64)": true, "a + 1": true, "b + 1": false, "-b / 2": false,
		"a is null": false, "a is not null": false, "a = 1": true, "b = 1 or a = 1": true, "b in (1, 2)": false, "b in (1, null)": true,
		"b between 1 and a": true, "not b > 1": false, "upper(s) like '%x'": false, "substring(s, a)": true, "cosine(v, v)": false,
		"try_cast(s as int64)": true, "cast(b as string)": false, "nullif(b, 1)": true, "coalesce(a, b)": false, "coalesce(a, a)": true,
		"greatest(a, b)": false, "least(a, a + 1)": true, "case when a = 1 then b else 2 end": false, "case when b = 1 then 1 end": true,
		"case when b = 1 then a else 2 end": true, "typeof(a)": false, "date '2026-01-01' + interval '1 day'": false,
	} {
		e, err := expr.Parse(text)
		require.NoError(t, err, text)
		p, err := expr.Compile(e, schema)
		require.NoError(t, err, text)
		require.Equal(t, want, p.Nullable(), text)
	}
}

func TestNeverFails(t *testing.T) {
	schema := column.Schema{
		{Name: "i8", Type: column.Type{Kind: column.Int8}},
		{Name: "u32", Type: column.Type{Kind: column.Uint32}},
		{Name: "i64", Type: column.TypeOf[int64]()},
		{Name: "u64", Type: column.TypeOf[uint64]()},
		{Name: "f", Type: column.TypeOf[float64]()},
		{Name: "s", Type: column.Type{Kind: column.String}},
	}
	for text, want := range map[string]bool{
		"i8 + 1": true, "-u32": true, "3 - i8 - u32": true, "strlen(s)": true, "f / 0 + i8": true, "-f": true, "7": true,
		"i8 + 9223372036854775680": true, "i8 + 9223372036854775681": false, "-9223372036854775680 - i8": true, "-9223372036854775682 - i8": false,
		"i64 + 1": false, "u64 - 1": false, "i8 * 2": false, "i8 / 2": false, "f + (i64 + 1)": false, "strlen(s) + 1": false,
		"cast(s as float64)": false, "case when i8 > 1 then i8 - 1 end": true,
	} {
		e, err := expr.Parse(text)
		require.NoError(t, err)
		p, err := expr.Compile(e, schema)
		require.NoError(t, err)
		require.Equal(t, want, p.NeverFails(), text)
	}
}
