// SPDX-License-Identifier: Apache-2.0

package valuetest

import (
	"math"
	"math/big"
	"net"
	"net/netip"
	"strings"

	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
)

// Values without parts, except times.

func ptr[T any](v T) *T { return &v }

// text returns the Go values of a text.
func text(s string) []any {
	type name string
	return []any{s, []byte(s), name(s), &s, cql.NullOf(s)}
}

// quoted returns a string as CQL writes it.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// textValues returns a value of a text type for each string.
func textValues(typ string, strings ...string) []Value {
	values := make([]Value, len(strings))
	for i, s := range strings {
		values[i] = Value{Type: typ, Literal: quoted(s), Go: text(s)}
	}
	return values
}

var long = strings.Repeat("ab", 100) // its length takes two bytes as a vint

var texts = join(
	textValues("ascii", "", "a", "~", "it's", " ", "\x00", "a\x00b", "\x7f", long),
	textValues("text", "", "a", "é", "日本語", "😀", "it's", "a\x00b", "\x00", "\ufeffb", "e\u0301", "\r\n", "null",
		"\U0010ffff", long),
	[]Value{
		{Type: "varchar", Literal: "'v'", Go: text("v")},
		{Type: "blob", Literal: "0x", Go: []any{[]byte{}, "", ptr([]byte{})}},
		{Type: "blob", Literal: "0x00", Go: []any{[]byte{0}, "\x00"}},
		{Type: "blob", Literal: "0xff00fe", Go: []any{[]byte{0xff, 0, 0xfe}, "\xff\x00\xfe"}},
		{Type: "blob", Literal: "0xC0DE", Go: []any{[]byte{0xc0, 0xde}}},
		{Type: "boolean", Literal: "true", Go: []any{true, ptr(true), cql.NullOf(true)}},
		{Type: "boolean", Literal: "false", Go: []any{false, ptr(false), cql.NullOf(false)}},
	})

func join(parts ...[]Value) []Value {
	var all []Value
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// integer returns the Go values of an integer.
func integer(n int64) []any {
	type number int64
	forms := []any{n, number(n), &n, cql.NullOf(n), *big.NewInt(n), big.NewInt(n), big.NewInt(n).String()}
	if n == int64(int(n)) {
		forms = append(forms, int(n))
	}
	if n == int64(int32(n)) {
		forms = append(forms, int32(n))
	}
	if n == int64(int16(n)) {
		forms = append(forms, int16(n))
	}
	if n == int64(int8(n)) {
		forms = append(forms, int8(n))
	}
	if n >= 0 {
		forms = append(forms, uint64(n), uint(n))
	}
	if n >= 0 && n <= math.MaxUint32 {
		forms = append(forms, uint32(n))
	}
	if n >= 0 && n <= math.MaxUint8 {
		forms = append(forms, uint8(n), uint16(n))
	}
	return forms
}

// integerValues returns a value of an integer type for each number.
func integerValues(typ string, numbers ...int64) []Value {
	values := make([]Value, len(numbers))
	for i, n := range numbers {
		values[i] = Value{Type: typ, Literal: big.NewInt(n).String(), Go: integer(n)}
	}
	return values
}

// varints returns a value of type varint for each text of digits.
func varints(digits ...string) []Value {
	values := make([]Value, len(digits))
	for i, s := range digits {
		n, ok := new(big.Int).SetString(s, 10)
		if !ok {
			panic("valuetest: " + s)
		}
		values[i] = Value{Type: "varint", Literal: s, Go: []any{n, *n, s}}
		if n.IsInt64() {
			values[i].Go = append(values[i].Go, integer(n.Int64())...)
		} else if n.IsUint64() {
			values[i].Go = append(values[i].Go, n.Uint64())
		}
	}
	return values
}

// nothing returns an empty cell of a type: a value that Cassandra stores and no literal has.
func nothing(typ, function string) Value {
	return Value{Type: typ, Literal: "blob_as_" + function + "(0x)", Raw: true}
}

var integers = join(
	integerValues("tinyint", 0, 1, -1, 127, -128),
	integerValues("smallint", 0, 128, -129, 32767, -32768),
	integerValues("int", 0, 1, -1, 32768, -32769, math.MaxInt32, math.MinInt32),
	integerValues("bigint", 0, 1, -1, 1<<31, -1<<31-1, math.MaxInt64, math.MinInt64),
	integerValues("counter", 0, 1, -1, math.MaxInt64, math.MinInt64),
	varints("0", "1", "-1", "127", "128", "-128", "-129", "255", "256", "-256", "-257", "32767", "32768",
		"-32768", "-32769",
		"8388607", "8388608", "-8388608", "-8388609", "2147483648", "-2147483649",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"18446744073709551615", "18446744073709551616", "-18446744073709551616",
		"170141183460469231731687303715884105728", "-170141183460469231731687303715884105728",
		"1"+strings.Repeat("0", 100), "-1"+strings.Repeat("0", 100)),
	[]Value{
		nothing("int", "int"), nothing("bigint", "bigint"), nothing("boolean", "boolean"), nothing("float", "float"),
		nothing("double", "double"), nothing("varint", "varint"), nothing("decimal", "decimal"), nothing("uuid",
			"uuid"),
		nothing("timeuuid", "timeuuid"), nothing("inet", "inet"), nothing("timestamp", "timestamp"),
		nothing("date", "date"), nothing("time", "time"), nothing("tinyint", "tinyint"), nothing("smallint",
			"smallint"),
		{Type: "varint", Literal: "blob_as_varint(0x0001)", Raw: true},
		{Type: "varint", Literal: "blob_as_varint(0xffffff)", Raw: true},
		{Type: "boolean", Literal: "blob_as_boolean(0x02)", Raw: true},
		// the server refuses what does not fit
		{Type: "tinyint", Literal: "128"},
		{Type: "int", Literal: "2147483648"},
		{Type: "bigint", Literal: "9223372036854775808"},
	})

// decimal returns a value of type decimal.
func decimal(literal string, unscaled int64, scale int32) Value {
	n := big.NewInt(unscaled)
	return Value{Type: "decimal", Literal: literal, Go: []any{
		inf.NewDecBig(n, inf.Scale(scale)), *inf.NewDecBig(n, inf.Scale(scale)), cql.Decimal{
			Unscaled: n,
			Scale:    scale,
		},
	}}
}

var decimals = []Value{
	decimal("0", 0, 0), decimal("0.0", 0, 1), decimal("0.000", 0, 3), decimal("0E+5", 0, -5), decimal("1", 1, 0),
	decimal("1.0", 10, 1), decimal("1.00", 100, 2), decimal("-12.50", -1250, 2), decimal("0.1", 1, 1),
	decimal("-0.5", -5, 1), decimal("-0.0", 0, 1), decimal("1.28", 128, 2), decimal("-1.28", -128, 2),
	decimal("1E+40", 1, -40), decimal("1E-40", 1, 40), decimal("-9E+300", -9, -300),
	decimal("blob_as_decimal(0xfffffc18f7)", -9, -1000), decimal("7E-100000", 7, 100000),
	decimal("1E-2147483647", 1, math.MaxInt32), decimal("blob_as_decimal(0x8000000101)", 1, -math.MaxInt32),
	{Type: "decimal", Literal: "1E2147483647"},
	decimal("9223372036854775807", math.MaxInt64, 0), decimal("-9223372036854775808", math.MinInt64, 0),
	decimal("1e3", 1, -3), decimal("12.5e1", 125, 0),
	{
		Type: "decimal", Literal: "123456789012345678901234567890.123456789",
		Go: []any{
			inf.NewDecBig(parseInt("123456789012345678901234567890123456789"), 9),
			cql.Decimal{Unscaled: parseInt("123456789012345678901234567890123456789"), Scale: 9},
		},
	},
	{Type: "decimal", Literal: "blob_as_decimal(0x800000007f)", Raw: true, Go: []any{
		cql.Decimal{Unscaled: big.NewInt(127), Scale: math.MinInt32}, inf.NewDecBig(big.NewInt(127), math.MinInt32),
	}},
	{Type: "decimal", Literal: "blob_as_decimal(0x000000020001)", Raw: true},
}

func parseInt(s string) *big.Int {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		panic("valuetest: " + s)
	}
	return n
}

func float32s(f float32) []any {
	type number float32
	return []any{f, number(f), &f, cql.NullOf(f)}
}

func float64s(f float64) []any {
	type number float64
	return []any{f, number(f), &f, cql.NullOf(f)}
}

func float32Value(literal string, f float32) Value {
	return Value{Type: "float", Literal: literal, Go: float32s(f)}
}

func float64Value(literal string, f float64) Value {
	return Value{Type: "double", Literal: literal, Go: float64s(f)}
}

func float32Bits(bits uint32) Value {
	return Value{
		Type: "float", Literal: "blob_as_float(0x" + hex8(uint64(bits), 8) + ")", Raw: true,
		Go: float32s(math.Float32frombits(bits)),
	}
}

func float64Bits(bits uint64) Value {
	return Value{
		Type: "double", Literal: "blob_as_double(0x" + hex8(bits, 16) + ")", Raw: true,
		Go: float64s(math.Float64frombits(bits)),
	}
}

// hex8 returns n as digits hexadecimal digits.
func hex8(n uint64, digits int) string {
	s := new(big.Int).SetUint64(n).Text(16)
	return strings.Repeat("0", digits-len(s)) + s
}

var (
	negativeZero32 = float32(math.Copysign(0, -1))
	negativeZero64 = math.Copysign(0, -1)
	inf32          = float32(math.Inf(1))
	// nan32 and nan64 are the NaN of the server's literal.
	nan32 = math.Float32frombits(0x7fc00000)
	nan64 = math.Float64frombits(0x7ff8000000000000)
)

var floats = []Value{
	float32Value("0.0", 0), float32Value("-0.0", negativeZero32), float32Value("1.5", 1.5), float32Value("-1", -1),
	float32Value("0.1", 0.1), float32Value("NaN", nan32), float32Value("Infinity", inf32),
	float32Value("-Infinity", -inf32),
	float32Value("3.4028235e38", math.MaxFloat32), float32Value("-3.4028235e38", -math.MaxFloat32),
	float32Value("1.4e-45", math.SmallestNonzeroFloat32), float32Value("1.17549435e-38", 1.17549435e-38),
	float32Value("16777217", 16777216), float32Value("0.30000000000000004", 0.3),
	float32Bits(0x7fc00001), float32Bits(0xffc00000), float32Bits(0x7fa00001), float32Bits(0xffffffff),
	// what the server's literal becomes beyond the range
	float32Value("3.4028236e38", inf32), float32Value("1e39", inf32), float32Value("-1e39", -inf32),
	float32Value("1e-46", 0),
	float64Value("0.0", 0), float64Value("-0.0", negativeZero64), float64Value("1.5", 1.5), float64Value("-1", -1),
	float64Value("0.1", 0.1), float64Value("NaN", nan64), float64Value("Infinity", math.Inf(1)),
	float64Value("-Infinity", math.Inf(-1)), float64Value("1.7976931348623157e308", math.MaxFloat64),
	float64Value("4.9e-324", math.SmallestNonzeroFloat64), float64Value("2.2250738585072014e-308",
		2.2250738585072014e-308),
	float64Value("9007199254740993", 9007199254740992), float64Value("0.30000000000000004", 0.30000000000000004),
	float64Bits(0x7ff8000000000001), float64Bits(0xfff8000000000000), float64Bits(0x7ff0000000000001),
	float64Bits(math.MaxUint64),
	{Type: "double", Literal: "1e400"},
	float64Value("1e-400", 0),
}

// inet returns a value of type inet.
func inet(s string) Value {
	return Value{Type: "inet", Literal: quoted(s), Go: inetForms(s)}
}

// inetForms returns the Go values of an address: an IPv4 address also in its form of 16 bytes.
func inetForms(s string) []any {
	a := netip.MustParseAddr(s)
	forms := []any{net.ParseIP(s), a.Unmap(), s}
	if u := a.Unmap(); u.Is4() {
		forms = append(forms, netip.AddrFrom16(a.As16()), net.ParseIP(s).To4(), net.ParseIP(s).To16(), u.String())
	}
	return forms
}

// mapped is an IPv4 address as an IPv6 address. The server's literal stores 4 bytes.
const mapped = "::ffff:192.0.2.7"

func uuid(s string) cql.UUID {
	u, err := cql.ParseUUID(s)
	if err != nil {
		panic(err)
	}
	return u
}

func uuidValue(typ, s string) Value {
	u := uuid(s)
	return Value{Type: typ, Literal: s, Go: []any{u, [16]byte(u), u[:], u.String(), &u, cql.NullOf(u)}}
}

var addresses = []Value{
	inet("0.0.0.0"), inet("255.255.255.255"), inet("192.0.2.7"), inet("127.0.0.1"), inet("::"), inet("::1"),
	inet(mapped),
	inet("::ffff:0:0"), inet("::FFFF:c000:207"), inet("2001:db8::1"), inet("fe80::1"), inet("64:ff9b::192.0.2.7"),
	inet("::192.0.2.7"), inet("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), inet("::fffe:192.0.2.7"),
	{Type: "inet", Literal: "blob_as_inet(0x00000000000000000000ffffc0000207)", Raw: true},
	uuidValue("uuid", "00000000-0000-0000-0000-000000000000"), uuidValue("uuid",
		"ffffffff-ffff-ffff-ffff-ffffffffffff"),
	uuidValue("uuid", "6ba7b810-9dad-41d1-80b4-00c04fd430c8"), uuidValue("uuid",
		"6BA7B810-9DAD-11D1-80B4-00C04FD430C8"),
	uuidValue("timeuuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"), uuidValue("timeuuid",
		"00000000-0000-1000-8080-808080808080"),
	uuidValue("timeuuid", "ffffffff-ffff-1fff-bf7f-7f7f7f7f7f7f"), uuidValue("timeuuid",
		"13814000-1dd2-11b2-8000-000000000000"),
}
