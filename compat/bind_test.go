// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"errors"
	"math"
	"net"
	"testing"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// Values that the driver encodes, beside Marshal of the dialect, their reference.

// boundValues returns values of the types that Bind leaves to the driver, some only for some CQL types.
func boundValues(n int64, text []byte) []any {
	at := time.Unix(n, n&999_999_999)
	s, i := string(text), int(n)
	return []any{
		n, i, int8(n), int16(n), int32(n), uint8(n), uint16(n), uint32(n), uint64(n), uint(n), float32(n), float64(n), n < 0,
		s, text, net.IP(text), at, time.UnixMilli(n), time.Duration(n), &n, &i, ref(int32(n)), &s, &at, (*string)(nil),
		[]int64{n},
		[]int{i},
		[]string{"x" + s},
		map[string]int64{s: n},
		[][]byte{text},
		[]time.Time{at},
		cql.NamedValue("n", n), myText(s),
		cql.UUID{byte(n)},
		[16]byte{byte(n)},
	}
}

func ref[T any](v T) *T { return &v }

// boundContainers returns the slices and maps that Bind leaves to the driver, with one element or two.
func boundContainers(n int64, text []byte) []any {
	s := string(text)
	return []any{
		[]string{s},
		[]string{"1", s},
		[]bool{n < 0},
		[]int{int(n)},
		[]int32{int32(n)},
		[]int64{n},
		[]float32{float32(n)},
		[]float64{float64(n)},
		[]cql.UUID{{byte(n)}},
		map[string]string{s: "1"},
		map[string]string{"1": s},
		map[string]int{s: int(n)},
		map[string]int64{"1": n},
		map[string]bool{s: n < 0},
		map[string]float64{s: float64(n)},
	}
}

// checkSame requires that the driver encodes v as the dialect does if the dialect leaves v to the driver. The driver
// may encode what the dialect refuses.
func checkSame(t *testing.T, d *Dialect, info cql.TypeInfo, v any) {
	if !d.Same(info, v) {
		return
	}
	content, err := d.Marshal(info, v)
	if err != nil {
		return
	}
	want, _ := codec.AppendContent(nil, content)
	got, err := codec.AppendCell(nil, info, v)
	if info.Type() == cql.TypeTime && errors.Is(err, cql.ErrRange) {
		return // not a time of day
	}
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%T %v in %v: %x, %v, dialect: %x", v, v, info, got, err, want)
	}
}

func TestSame(t *testing.T) {
	numbers := []int64{
		0, 1, -1, 127, 128, -129, 1 << 31, 1<<31 - 1, 86399, 86400, -86400, secondsOfDates - 1, secondsOfDates, math.MaxInt64,
		math.MinInt64, -62135596800, 1 << 40,
	}
	for _, d := range scanDialects {
		for _, typ := range scanTypes {
			for i, n := range numbers {
				text := []byte("0123456789abcdef")[:i]
				for _, v := range boundValues(n, text) {
					checkSame(t, d, typeOf(t, typ), v)
				}
			}
		}
	}
}

// TestSameInContainers has each native type as the type of elements, keys and values.
func TestSameInContainers(t *testing.T) {
	texts := []string{"", "7", "x", "1;2", "10.0.0.1", "2020-01-02"}
	for _, native := range scanTypes[:21] {
		for _, text := range []string{"list<" + native + ">", "set<" + native + ">", "map<text, " + native + ">", "map<" + native + ", text>", "map<" + native + ", " + native + ">"} {
			info := typeOf(t, text)
			for i, n := range []int64{0, 1, -1, 86_400_000, 1 << 40, math.MinInt64} {
				for _, v := range boundContainers(n, []byte(texts[i])) {
					for _, d := range scanDialects {
						checkSame(t, d, info, v)
					}
				}
			}
		}
	}
}

func FuzzSame(f *testing.F) {
	f.Add(uint8(0), uint8(5), uint8(16), int64(-1), []byte("text"))
	f.Add(uint8(2), uint8(2), uint8(14), int64(7), []byte("0123456789abcdef"))
	f.Fuzz(func(t *testing.T, dialect, typ, which uint8, n int64, text []byte) {
		values := boundValues(n, text)
		info := typeOf(t, scanTypes[int(typ)%len(scanTypes)])
		checkSame(t, scanDialects[int(dialect)%len(scanDialects)], info, values[int(which)%len(values)])
	})
}
