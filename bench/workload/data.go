// SPDX-License-Identifier: Apache-2.0

// Package workload contains the parts that the benchmarks of all drivers share: statements, data, expected results, and
// the benchmarks. The interface that a driver implements names operations, so that each driver is used as its manual
// recommends.
package workload

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"time"
)

// Dim is the dimension of the vectors in rows. PageSize is the number of rows in a page, the default of all drivers.
const (
	Dim      = 1536
	PageSize = 5000
)

func random(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 1)) }

// UUID returns the random (version 4) uuid with number i.
func UUID(i int) (u [16]byte) {
	r := random(i)
	binary.BigEndian.PutUint64(u[:], r.Uint64())
	binary.BigEndian.PutUint64(u[8:], r.Uint64())
	u[6], u[8] = u[6]&0x0F|0x40, u[8]&0x3F|0x80
	return u
}

// TimeUUID returns the timeuuid with number i.
func TimeUUID(i int) [16]byte {
	u := UUID(i)
	u[6] = u[6]&0x0F | 0x10
	return u
}

// Vector returns the vector with number i: n elements between -1 and 1.
func Vector(i, n int) []float32 {
	r := random(i)
	v := make([]float32, n)
	for j := range v {
		v[j] = r.Float32()*2 - 1
	}
	return v
}

// text returns n random letters.
func text(seed, n int) string {
	r := random(seed)
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(r.IntN(26))
	}
	return string(b)
}

// A SmallRow is a row of ten small columns.
type SmallRow struct {
	ID      int64
	Age     int
	Name    string
	Active  bool
	Price   float64
	Created time.Time
	Parent  [16]byte
	Score   float32
	Level   int16
	Note    string
}

// Small returns the SmallRow with number i.
func Small(i int) SmallRow {
	r := random(i)
	return SmallRow{
		ID: int64(i), Age: int(r.Int32()), Name: text(i, 10), Active: i%2 == 0, Price: r.Float64(),
		Created: time.UnixMilli(r.Int64N(1 << 41)).UTC(), Parent: UUID(i), Score: r.Float32(), Level: int16(r.Int32()),
		Note: text(i, 20),
	}
}

// A MixedRow is a row of twenty columns.
type MixedRow struct {
	ID      [16]byte
	Name    string
	Age     int
	Views   int64
	Level   int16
	Kind    int8
	Active  bool
	Score   float32
	Price   float64
	Created time.Time
	Day     time.Time
	Addr    net.IP
	Data    []byte
	Event   [16]byte
	Tags    []string
	Marks   []int
	Counts  map[string]int
	Note    string
	Parent  [16]byte
	Total   int64
}

// Mixed returns the MixedRow with number i.
func Mixed(i int) MixedRow {
	r := random(i)
	return MixedRow{
		ID: UUID(i), Name: text(i, 10), Age: int(r.Int32()), Views: r.Int64(), Level: int16(r.Int32()), Kind: int8(r.Int32()),
		Active: i%2 == 0, Score: r.Float32(), Price: r.Float64(), Created: time.UnixMilli(r.Int64N(1 << 41)).UTC(),
		Day: time.Unix(86400*int64(r.IntN(20000)), 0).UTC(), Addr: net.IPv4(10, 0, byte(i>>8), byte(i)).To4(),
		Data: []byte(text(i, 16)), Event: TimeUUID(i), Tags: []string{text(i, 5), text(i+1, 6), text(i+2, 7)},
		Marks: []int{i, i + 1, i + 2, i + 3}, Counts: map[string]int{"one": i, "two": i + 1}, Note: text(i, 20),
		Parent: UUID(i + 1), Total: r.Int64(),
	}
}

// A VectorRow is a row with a vector.
type VectorRow struct {
	ID [16]byte
	V  []float32
}

// Check returns an error if the row is not row i of a scan.
func (r *VectorRow) Check(i int) error {
	i %= PageSize
	return differs(i, r, r.ID == UUID(i) && slices.Equal(r.V, Vector(i, Dim)))
}

// Check returns an error if the row is not row i of a scan.
func (r *SmallRow) Check(i int) error {
	i %= PageSize
	got, want := *r, Small(i)
	ok := got.Created.Equal(want.Created)
	got.Created = want.Created
	return differs(i, r, ok && got == want)
}

// Check returns an error if the row is not row i of a scan.
func (r *MixedRow) Check(i int) error {
	i %= PageSize
	w := Mixed(i)
	numbers := r.Age == w.Age && r.Views == w.Views && r.Level == w.Level && r.Kind == w.Kind && r.Active == w.Active &&
		r.Score == w.Score &&
		r.Price == w.Price && r.Total == w.Total
	texts := r.Name == w.Name && r.Note == w.Note && bytes.Equal(r.Data, w.Data) && r.Addr.Equal(w.Addr)
	ids := r.ID == w.ID && r.Event == w.Event && r.Parent == w.Parent
	times := r.Created.Equal(w.Created) && r.Day.Equal(w.Day)
	collections := slices.Equal(r.Tags, w.Tags) && slices.Equal(r.Marks, w.Marks) && maps.Equal(r.Counts, w.Counts)
	return differs(i, r, numbers && texts && ids && times && collections)
}

func differs(i int, row any, ok bool) error {
	if ok {
		return nil
	}
	return fmt.Errorf("row %d differs from the expected one: %.300v", i, row)
}

// Bytes returns v encoded for CQL, without a length. It shares no code with the drivers that are compared with it.
func Bytes(v any) []byte {
	switch v := v.(type) {
	case []byte:
		return v
	case net.IP:
		return v
	case string:
		return []byte(v)
	case [16]byte:
		return v[:]
	case bool:
		if v {
			return []byte{1}
		}
		return []byte{0}
	case int8:
		return []byte{byte(v)}
	case int16:
		return binary.BigEndian.AppendUint16(nil, uint16(v))
	case int:
		return binary.BigEndian.AppendUint32(nil, uint32(v))
	case int32:
		return binary.BigEndian.AppendUint32(nil, uint32(v))
	case int64:
		return binary.BigEndian.AppendUint64(nil, uint64(v))
	case float32:
		return binary.BigEndian.AppendUint32(nil, math.Float32bits(v))
	case float64:
		return binary.BigEndian.AppendUint64(nil, math.Float64bits(v))
	case time.Time:
		return binary.BigEndian.AppendUint64(nil, uint64(v.UnixMilli()))
	}
	panic(fmt.Sprintf("workload: no encoding of %T", v))
}

// VectorBytes returns an encoded vector of elements of fixed size.
func VectorBytes[T any](v []T) (b []byte) {
	for _, e := range v {
		b = append(b, Bytes(e)...)
	}
	return b
}

// cells appends each value after its length.
func cells(dst []byte, values ...any) []byte {
	for _, v := range values {
		b := Bytes(v)
		dst = append(binary.BigEndian.AppendUint32(dst, uint32(len(b))), b...)
	}
	return dst
}

// list returns an encoded list or set.
func list[T any](v []T) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(v)))
	for _, e := range v {
		b = cells(b, e)
	}
	return b
}

// dict returns an encoded map, sorted by key.
func dict(m map[string]int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b = cells(b, k, m[k])
	}
	return b
}
