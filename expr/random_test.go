// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/columntest"
	"github.com/vecql/vecql/internal/int128"
)

// Random expressions and batches for the comparison with the reference.

// A byteSource makes choices from bytes, one byte each, and from a counter when they are used up.
type byteSource struct {
	data []byte
	n    uint64
}

func (s *byteSource) Uint64() uint64 {
	s.n++
	if len(s.data) == 0 {
		return (s.n * 0x9e3779b97f4a7c15) ^ s.n<<32
	}
	v := uint64(s.data[0]) * 0x0101010101010101
	s.data = s.data[1:]
	return v
}

// A generator makes random expressions for the columns of a batch.
type generator struct {
	*rand.Rand
	fields []column.Field
}

func newGenerator(data []byte) *generator { return &generator{Rand: rand.New(&byteSource{data: data})} }

// names of columns with small values, which arithmetic and comparisons hit
var smallTypes = map[string]column.Type{
	"i8": {Kind: column.Int8}, "i32": {Kind: column.Int32}, "i64": {Kind: column.Int64}, "u16": {Kind: column.Uint16},
	"u64": {Kind: column.Uint64}, "f32": {Kind: column.Float32}, "f64": {Kind: column.Float64}, "flag": {Kind: column.Bool},
	"day": {Kind: column.Date}, "at": {Kind: column.Timestamp, Unit: column.Millis, UTC: true},
	"local": {Kind: column.Timestamp, Unit: column.Nanos}, "d": {Kind: column.Decimal64, Precision: 9, Scale: 2},
	"e": {Kind: column.Decimal64, Precision: 3, Scale: 3}, "wide": {Kind: column.Decimal128, Precision: 30, Scale: 5},
	"v": column.VectorOf(column.Float32, 3), "w": column.VectorOf(column.Float64, 3), "x": column.VectorOf(column.Int32, 3),
}

var words = []string{
	"", "a", "ab", "abc", "Abc", "é", "É", "日本", "%", "_", `\`, "a%", "12", "-7", "1.5", "true", "2026-02-28",
	"2026-02-28T12:00:00Z", "\xff", "\xc3", "aXbXc", "K", "k", "  a b ",
}

// batch makes a batch of every type, of small values, and of texts with dictionaries.
func (g *generator) batch(rows int) *column.Batch {
	r := rand.New(rand.NewPCG(g.Uint64(), g.Uint64()))
	nulls := []float64{0, 0.3}[g.IntN(2)]
	b := columntest.Batch(r, columntest.Fields(), rows, nulls)
	names := make([]string, 0, len(smallTypes))
	for name := range smallTypes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.Columns = append(b.Columns, small(r, name, rows, nulls))
	}
	for _, name := range []string{"s", "t", "coded", "coded2"} {
		texts := make([]string, rows)
		null := make([]bool, rows)
		for i := range texts {
			texts[i], null[i] = words[r.IntN(len(words))], r.Float64() < nulls
			if null[i] {
				texts[i] = ""
			}
		}
		c := column.Strings(name, texts).WithNulls(null)
		if name[0] == 'c' {
			c = columntest.WithDictionary(c)
		}
		b.Columns = append(b.Columns, c)
	}
	g.fields = b.Schema()
	return b
}

// small returns a column of small values.
func small(r *rand.Rand, name string, rows int, nulls float64) column.Column {
	t := smallTypes[name]
	per := max(1, t.Dim)
	floats := func() []float64 {
		v := make([]float64, rows*per)
		for i := range v {
			v[i] = []float64{float64(r.IntN(9) - 4), 0.5, -0.5, math.Copysign(0, -1), math.NaN(), math.Inf(1), 1e300, 2.5}[min(7, r.IntN(12))]
		}
		return v
	}
	var c column.Column
	switch {
	case t.Kind == column.Float64 || t.Elem == column.Float64:
		c = column.Of(name, floats())
	case t.Kind == column.Float32 || t.Elem == column.Float32:
		c = column.Of(name, numbers[float32](floats()))
	default:
		c = smallInts(r, name, t, rows*per)
	}
	c.Type, c.Len = t, rows
	null := make([]bool, rows)
	for i := range null {
		null[i] = r.Float64() < nulls
	}
	return c.WithNulls(null)
}

func smallInts(r *rand.Rand, name string, t column.Type, n int) column.Column {
	v := make([]int64, n)
	for i := range v {
		if v[i] = r.Int64N(9) - 4; t.Kind == column.Timestamp || t.Kind == column.Date {
			v[i] = (20000 + r.Int64N(900)) * max(1, 86400*t.Unit.PerSecond())
			v[i] += r.Int64N(max(1, 86400*t.Unit.PerSecond()))
		}
	}
	switch t.Kind {
	case column.Decimal64:
		for i := range v {
			v[i] *= []int64{1, 10, 99}[r.IntN(3)] // of at most 3 digits
		}
	case column.Decimal128:
		wides := make([]column.Int128, n)
		for i := range v {
			power := int128.Pow10(r.IntN(28))
			wides[i], _ = int128.Mul(int128.Of(v[i]), power)
		}
		return column.Of(name, wides)
	case column.Bool:
		bools := make([]bool, n)
		for i := range v {
			bools[i] = v[i]&1 == 1
		}
		return column.Of(name, bools)
	case column.Int8:
		return column.Of(name, numbers[int8](v))
	case column.Uint16:
		return column.Of(name, numbers[uint16](v))
	case column.Int32, column.Date, column.Vector:
		return column.Of(name, numbers[int32](v))
	}
	return column.Of(name, v)
}

func numbers[T, S number](v []S) []T {
	w := make([]T, len(v))
	for i := range v {
		w[i] = T(v[i])
	}
	return w
}

func pick[T any](g *generator, v ...T) T { return v[g.IntN(len(v))] }

// column returns a column whose type has one of the classes.
func (g *generator) column(classes ...class) Expr {
	start := g.IntN(len(g.fields))
	for i := range g.fields {
		if f := g.fields[(start+i)%len(g.fields)]; slices.Contains(classes, classOf(f.Type)) {
			return Col(f.Name)
		}
	}
	panic("no column")
}

// predicate returns a boolean expression.
func (g *generator) predicate(depth int) Expr {
	if depth <= 0 {
		return pick(g, Col("flag"), g.compare(0), g.text(0).Like(g.pattern()), Lit(g.IntN(2) == 0), Lit(nil), g.column(classBool))
	}
	p := func() Expr { return g.predicate(depth - 1 - g.IntN(2)) }
	switch g.IntN(12) {
	case 0:
		return p().And(p(), p())
	case 1, 2:
		return p().And(p())
	case 3, 4:
		return p().Or(p())
	case 5:
		return p().Not()
	case 6:
		return g.any(depth - 1).IsNull()
	case 7:
		return pick(g, Coalesce(p(), p()), Case(When(p(), p()), Else(p())), g.number(depth-1).Cast(typeBool), p().Eq(p()))
	case 8, 9:
		s := g.text(depth - 1)
		return pick(g, s.Like(g.pattern()), s.ILike(g.pattern()), s.Regexp(pick(g, "a+", "^A", "(?i)b$", ".")),
			s.Contains(g.text(0)), s.StartsWith(pick(g, words...)), s.EndsWith(pick(g, words...)))
	}
	return g.compare(depth - 1)
}

func (g *generator) pattern() string {
	return pick(g, "%", "a%", "%c", "%b%", "a_c", "_%", "%X%X%", `\%`, `a\`, "%É", "k", "\xc3%", "", "a%c", "日_", "%_%b%")
}

// compare returns a comparison, in, or between.
func (g *generator) compare(depth int) Expr {
	var x func() Expr
	literal := func() Expr { return Lit(g.literal()) }
	switch g.IntN(7) {
	case 6:
		x = func() Expr { return pick(g, g.decimal(depth), g.decimal(depth), g.number(0)) }
		literal = func() Expr { return pick(g, Lit(g.literalDecimal()), Lit(g.literal()), Lit("1.5")) }
	case 0, 1:
		x = func() Expr { return g.number(depth) }
	case 2:
		x = func() Expr { return g.text(depth) }
		literal = func() Expr { return Lit(pick(g, words...)) }
	case 3:
		typ := pick(g, column.Type{Kind: column.Date}, smallTypes["at"], smallTypes["local"])
		x = func() Expr { return g.time(depth, typ) }
		literal = func() Expr {
			return pick(g, Lit("2026-02-28"), Lit(time.Date(2025, 3, 4, 5, 6, 7, 8, time.UTC)), Lit("1970-01-01T00:00:00.5Z"),
				g.parsed("date '2026-02-28'"), g.parsed("timestamp '2026-02-28'"), g.parsed("timestamp '2026-02-28 01:00:00+01:00'"))
		}
	case 4:
		c := g.column(classTime, classDecimal, classBytes)
		x = func() Expr { return c }
		switch t := g.fields[column.Schema(g.fields).Index(c.n.name)].Type; classOf(t) {
		case classTime:
			literal = func() Expr {
				return pick(g, Lit("12:30"), Lit(90*time.Minute), Lit(time.Nanosecond), g.parsed("time '12:30'"))
			}
		case classBytes:
			literal = func() Expr { return Lit([]byte(pick(g, words...))) }
			if t.Kind == column.UUID {
				literal = func() Expr { return Lit(cql.UUID{byte(g.IntN(256))}) }
			}
		}
	default:
		x = func() Expr { return g.column(classInt, classUint, classFloat) }
	}
	a, b := x(), x()
	if g.IntN(2) == 0 {
		b = literal()
	}
	switch g.IntN(11) {
	case 10:
		return pick(g, Expr.Eq, Expr.Lt, Expr.Ge)(literal(), literal())
	case 0:
		return a.In(b, literal(), literal())
	case 1:
		return a.In(literal(), literal(), nil, literal(), literal(), literal(), literal(), literal(), literal(), literal())
	case 2:
		return a.In()
	case 3:
		return a.Between(b, literal())
	case 4:
		return pick(g, literal().Lt(a), literal().Between(a, literal()), literal().Between(literal(), a), literal().In(literal(), a, nil))
	}
	return pick(g, Expr.Eq, Expr.Ne, Expr.Lt, Expr.Le, Expr.Gt, Expr.Ge)(a, b)
}

// parsed returns the expression of a text.
func (g *generator) parsed(text string) Expr {
	e, err := Parse(text)
	if err != nil {
		panic(err)
	}
	e.n.at = 0
	return e
}

// literal returns a number.
func (g *generator) literal() any {
	return pick[any](g, 0, 1, -1, 2, 0.5, -0.5, 2.5, 1e300, math.NaN(), math.Inf(1), math.Inf(-1), int64(math.MaxInt64),
		int64(math.MinInt64), uint64(math.MaxUint64), int64(1<<53+1), 127, -128, 255, 65535, math.MaxInt32, 0.1, float32(0.1), math.Copysign(0, -1), 3, -4)
}

// number returns an expression of a number.
func (g *generator) number(depth int) Expr {
	if depth <= 0 {
		return pick(g, Col("i8"), Col("i32"), Col("i64"), Col("f32"), Col("f64"), Col("u16"), g.column(classInt, classUint, classFloat))
	}
	x := func() Expr {
		if g.IntN(4) == 0 {
			return Lit(g.literal())
		}
		return g.number(depth - 1)
	}
	v := func() Expr {
		return pick(g, Col("v"), Col("w"), Col("x"), g.column(classVector), Col("v").Slice(2, 2), Lit([]float64{1, -0.5, 2}))
	}
	switch g.IntN(14) {
	case 12:
		return pick(g, Call(pick(g, "abs", "ceil", "floor", "round", "trunc", "sqrt", "exp", "ln", "log10", "log2"), g.number(depth-1)),
			Call("pow", g.number(depth-1), x()), Call("round", g.number(depth-1), pick[any](g, 0, 1, -1, 17, Col("i8"), int64(math.MaxInt64))),
			Call(pick(g, "greatest", "least"), g.number(depth-1), x(), g.number(0)))
	case 13:
		days := g.time(depth-1, column.Type{Kind: column.Date})
		tried := call(opTryCast, g.text(depth-1))
		tried.n.typ = column.Type{Kind: pick(g, castKinds[1:11]...)}
		return pick(g, Call("strpos", g.text(depth-1), g.text(0)), Call("ascii", g.text(depth-1)), days.Sub(Col("day")), tried,
			days.Sub(Lit("2026-02-28")))
	case 0, 1, 2:
		if g.IntN(6) == 0 {
			return pick(g, g.decimal(depth-1).Div(x()), x().Mul(g.decimal(depth-1)), Call("sqrt", g.decimal(depth-1)))
		}
		return pick(g, Expr.Add, Expr.Sub, Expr.Mul, Expr.Div, Expr.Mod)(g.number(depth-1), x())
	case 3:
		return g.number(depth - 1).Neg()
	case 4:
		return pick(g, Expr.Length, Expr.Strlen)(g.text(depth - 1))
	case 5:
		t := pick(g, column.Type{Kind: column.Date}, smallTypes["at"], smallTypes["local"])
		return g.time(depth-1, t).Extract(pick(g, slices.Concat(units, parts)...), pick(g, "", "", "Europe/Berlin", "Asia/Kolkata"))
	case 6:
		kind := pick(g, castKinds[1:11]...)
		return pick(g, g.number(depth-1), g.text(0), g.predicate(depth-1), g.decimal(depth-1), g.big()).Cast(column.Type{Kind: kind})
	case 7:
		return Coalesce(g.number(depth-1), x())
	case 8:
		return Case(When(g.predicate(depth-1), g.number(depth-1)), When(g.predicate(0), x()), Else(pick(g, x(), Lit(nil))))
	case 9, 10:
		return pick(g, v().Dot(v()), v().Cosine(v()), v().L2(v()), v().Norm(), Col("v").Element(2), Col("x").Element(1))
	}
	return g.column(classInt, classUint, classFloat)
}

// decimal returns an expression of a decimal.
func (g *generator) decimal(depth int) Expr {
	if depth <= 0 {
		return pick(g, Col("d"), Col("e"), Col("wide"), g.column(classDecimal, classWide), Lit(g.literalDecimal()))
	}
	x := func() Expr { return g.decimal(depth - 1) }
	other := func() Expr {
		return pick(g, x(), Col("i8"), Col("u64"), Col("u16"), Lit(pick[any](g, 0, 1, -2, 0.25, 2.5, -0.001)), Lit(nil))
	}
	switch g.IntN(7) {
	case 0, 1, 2:
		return pick(g, Expr.Add, Expr.Sub, Expr.Mul, Expr.Mod)(x(), other())
	case 3:
		return pick(g, x().Neg(), Call(pick(g, "abs", "ceil", "floor", "trunc", "round"), x()),
			Call("round", x(), pick(g, 0, 1, 2, -1, -3, 40, -100)))
	case 4:
		return pick(g, Coalesce(x(), other()), Call(pick(g, "greatest", "least"), x(), other(), x()),
			Case(When(g.predicate(0), x()), Else(other())))
	case 5:
		e := call(pick(g, opCast, opTryCast), pick(g, g.number(depth-1), g.text(0), x(), g.predicate(0), g.big()))
		e.n.typ = pick(g, decimalType(3, 0), decimalType(9, 4), decimalType(18, 0), decimalType(18, 18), decimalType(38, 10))
		return e
	}
	return x()
}

// big returns a column that only casts take.
func (g *generator) big() Expr {
	for _, f := range g.fields[g.IntN(len(g.fields)):] {
		if isBig(f.Type) {
			return Col(f.Name)
		}
	}
	return Col("wide")
}

func (g *generator) literalDecimal() cql.Decimal {
	return pick(g, cql.Decimal{}, cql.Decimal{Unscaled: big.NewInt(150), Scale: 2}, cql.Decimal{Unscaled: big.NewInt(-5), Scale: 1},
		cql.Decimal{Unscaled: big.NewInt(-5), Scale: 20}, cql.Decimal{Unscaled: int128.Big(int128.Pow10(37))})
}

// text returns an expression of a text.
func (g *generator) text(depth int) Expr {
	if depth <= 0 {
		return pick(g, Col("s"), Col("t"), Col("coded"), Col("coded2"), g.column(classText), Lit(pick(g, words...)))
	}
	s := func() Expr { return g.text(depth - 1) }
	n := func() any {
		return pick[any](g, 1, 2, 0, -1, -2, 9, Col("i8"), int64(math.MinInt64), int64(math.MaxInt64))
	}
	switch g.IntN(11) {
	case 9:
		return pick(g, Call(pick(g, "trim", "ltrim", "rtrim", "reverse"), s()), Call(pick(g, "left", "right"), s(), n()),
			Call(pick(g, "greatest", "least"), s(), g.text(0)), Call("chr", pick(g, Col("i32"), Col("i64"), Lit(0x65e5))))
	case 10:
		return pick(g, Call("replace", s(), g.text(0), g.text(0)), Call("split_part", s(), g.text(0), n()),
			Call(pick(g, "lpad", "rpad"), s(), n(), g.text(0)))
	case 0:
		return s().Lower()
	case 1:
		return s().Upper()
	case 2:
		return s().Substring(pick[any](g, 1, 2, 0, -1, 3, Col("i8"), int64(math.MinInt64)), pick[any](g, 1, 2, 0, -1, 100, Col("i32"), int64(math.MaxInt64)))
	case 3:
		typ := pick(g, column.Type{Kind: column.Date}, smallTypes["at"], smallTypes["local"])
		return pick(g, Concat(s(), s()), Call("regexp_extract", s(), pick(g, "[a-c]+", "(.)X(.)", "^.?")),
			Call("regexp_extract", s(), "(.)(X)?", pick(g, 0, 1, 2)), Call("strftime", g.time(depth-1, typ), g.format()))
	case 4:
		return Coalesce(s(), pick(g, words...))
	case 5:
		return Case(When(g.predicate(depth-1), s()), Else(s()))
	case 6:
		return pick(g, g.number(depth-1), g.predicate(depth-1), g.time(depth-1, smallTypes["at"]), Col("day"), g.column(classText), g.decimal(depth-1), g.big()).Cast(typeString)
	case 7:
		return s().RegexpReplace("(a+)(.)", "$2-$1")
	}
	return s()
}

// format returns a format of strftime.
func (g *generator) format() string {
	return pick(g, "%Y-%m-%d", "%H:%M:%S.%f|%g|%n", "%a %A %b %B %j %-j %U %W %V %G %u %w %p %I %-I", "%% %-d.%-m. %y %-y",
		"%F %T %-H %-M %-S %z %Z", "x%%")
}

// time returns an expression of a date or timestamp.
func (g *generator) time(depth int, t column.Type) Expr {
	if depth <= 0 {
		for _, f := range g.fields[g.IntN(len(g.fields)):] {
			if f.Type == t {
				return Col(f.Name)
			}
		}
		return map[column.Type]Expr{{Kind: column.Date}: Col("day"), smallTypes["at"]: Col("at"), smallTypes["local"]: Col("local")}[t]
	}
	x := g.time(depth-1, t)
	switch g.IntN(6) {
	case 0:
		return x.DateTrunc(pick(g, units...), pick(g, "", "", "Europe/Berlin", "America/Havana", "America/Sao_Paulo", "Asia/Amman"))
	case 1:
		d := pick(g, cql.Duration{Months: 1}, cql.Duration{Days: 40}, cql.Duration{Months: -13, Days: -1}, cql.Duration{Nanoseconds: 5e9},
			cql.Duration{Months: 2, Days: 3, Nanoseconds: 36e11}, cql.Duration{Months: math.MaxInt32}, cql.Duration{Nanoseconds: math.MinInt64})
		return pick(g, x.Add(d), x.Sub(d), Lit(d).Add(x))
	case 2:
		return pick(g, g.time(depth-1, smallTypes["at"]), g.time(depth-1, smallTypes["local"]), Col("day"), g.text(0)).Cast(t)
	case 3:
		return Coalesce(x, "2026-01-01")
	case 4:
		d := pick(g, cql.Duration{Months: 1}, cql.Duration{Months: 7}, cql.Duration{Days: 3}, cql.Duration{Days: 1, Nanoseconds: 36e11})
		if t.Kind == column.Date {
			d.Nanoseconds = 0
			x = pick(g, x, x.Add(Col("i8")), x.Sub(pick[any](g, 1, -3, Col("i32"), Col("i64"))), Col("i8").Add(x))
		}
		return pick(g, x, Call("time_bucket", d, x))
	}
	return x
}

// any returns an expression of any type.
func (g *generator) any(depth int) Expr {
	switch g.IntN(9) {
	case 8:
		return g.decimal(depth)
	case 0, 1:
		return g.number(depth)
	case 2, 3:
		return g.text(depth)
	case 4:
		return g.time(depth, pick(g, column.Type{Kind: column.Date}, smallTypes["at"], smallTypes["local"]))
	case 5:
		return pick(g, Col("v").Slice(2, 2), Col("w").Slice(1, 3).Slice(2, 1), Lit([]float64{1, 2}))
	case 6:
		return Col(g.fields[g.IntN(len(g.fields))].Name)
	}
	return g.predicate(depth)
}
