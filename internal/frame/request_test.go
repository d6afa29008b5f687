// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/internal/wire"
)

// Tests of request bodies.

// boundCells is a Binder of encoded values: nil means null, the marker unsetCell means not set.
type boundCells struct {
	names []string // nil means not named
	cells [][]byte
	n     int // the reported count, unless 0
	err   error
}

var unsetCell = []byte("unset")

func (b *boundCells) Count() (int, bool) { return max(b.n, len(b.cells)), b.names != nil }

func (b *boundCells) AppendBound(dst []byte) ([]byte, error) {
	if b.err != nil {
		return append(dst, "half a val"...), b.err
	}
	for i, c := range b.cells {
		var err error
		if b.names != nil {
			if dst, err = wire.AppendString(dst, b.names[i]); err != nil {
				return dst, err
			}
		}
		if len(c) > 0 && &c[0] == &unsetCell[0] {
			dst = wire.AppendInt(dst, wire.Unset)
			continue
		}
		if dst, err = wire.AppendBytes(dst, c); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

var one = []byte{0, 0, 0, 1}

func TestAppendRequests(t *testing.T) {
	golden := readHexBodies(t, "requests.hex")
	bound := &boundCells{cells: [][]byte{one}}
	everything := QueryParams{
		Consistency: cql.LocalQuorum, SkipMetadata: true, PageSize: 100, PagingState: []byte("ps"), HasTimestamp: true,
	}
	v3, v4, v5 := everything, everything, everything
	v3.Values, v3.SerialConsistency, v3.Timestamp = &boundCells{names: []string{"a", "b"}, cells: [][]byte{one, nil}}, cql.Serial, 0x05d6aa01020304
	v4.Values, v4.SerialConsistency, v4.Timestamp = &boundCells{cells: [][]byte{one, nil}}, cql.LocalSerial, 0x05d6aa01020304
	v5.Values, v5.SerialConsistency, v5.Timestamp = &boundCells{names: []string{"a", "b"}, cells: [][]byte{one, unsetCell}}, cql.Serial, -1
	v5.Keyspace, v5.NowInSeconds, v5.HasNowInSeconds = "ks", 0x68000001, true

	rows := map[string]func(dst []byte) ([]byte, error){
		"startup": func(dst []byte) ([]byte, error) {
			return AppendStartup(dst, map[string]string{"CQL_VERSION": "3.0.0", "COMPRESSION": "lz4"})
		},
		"auth response":      func(dst []byte) ([]byte, error) { return AppendAuthResponse(dst, []byte("\x00u\x00p")) },
		"auth response null": func(dst []byte) ([]byte, error) { return AppendAuthResponse(dst, nil) },
		"register":           func(dst []byte) ([]byte, error) { return AppendRegister(dst, []string{EventTopology, EventStatus}) },
		"query v4 bare": func(dst []byte) ([]byte, error) {
			return AppendQuery(dst, V4, "SELECT 1", &QueryParams{Consistency: cql.One})
		},
		"query v5 bare": func(dst []byte) ([]byte, error) {
			return AppendQuery(dst, V5, "SELECT 1", &QueryParams{Consistency: cql.One, Values: &boundCells{}})
		},
		"query v3 everything": func(dst []byte) ([]byte, error) { return AppendQuery(dst, V3, "SELECT 1", &v3) },
		"query v4 everything": func(dst []byte) ([]byte, error) { return AppendQuery(dst, V4, "SELECT 1", &v4) },
		"query v5 everything": func(dst []byte) ([]byte, error) { return AppendQuery(dst, V5, "SELECT 1", &v5) },
		"prepare v3":          func(dst []byte) ([]byte, error) { return AppendPrepare(dst, V3, "SELECT ?", "") },
		"prepare v4":          func(dst []byte) ([]byte, error) { return AppendPrepare(dst, V4, "SELECT ?", "") },
		"prepare v5":          func(dst []byte) ([]byte, error) { return AppendPrepare(dst, V5, "SELECT ?", "") },
		"prepare v5 keyspace": func(dst []byte) ([]byte, error) { return AppendPrepare(dst, V5, "SELECT ?", "ks") },
		"execute v3": func(dst []byte) ([]byte, error) {
			return AppendExecute(dst, V3, []byte("id"), nil, &QueryParams{Consistency: cql.Quorum, Values: bound})
		},
		"execute v4": func(dst []byte) ([]byte, error) {
			return AppendExecute(dst, V4, []byte("id"), nil, &QueryParams{Consistency: cql.Quorum, Values: bound})
		},
		"execute v4 metadata id": func(dst []byte) ([]byte, error) {
			p := QueryParams{Consistency: cql.Quorum, Values: bound, SkipMetadata: true}
			return AppendExecute(dst, V4, []byte("id"), []byte("mid"), &p)
		},
		"execute v5": func(dst []byte) ([]byte, error) {
			return AppendExecute(dst, V5, []byte("id"), []byte("mid"), &QueryParams{Consistency: cql.Quorum, Values: bound})
		},
		"batch v3": func(dst []byte) ([]byte, error) {
			return AppendBatch(dst, V3, cql.UnloggedBatch, []BatchEntry{
				{Stmt: "DELETE"}, {ID: []byte("id"), Values: &boundCells{cells: [][]byte{one, nil}}},
			}, &QueryParams{Consistency: cql.One, SerialConsistency: cql.LocalSerial, Timestamp: 7, HasTimestamp: true})
		},
		"row batch v3": func(dst []byte) ([]byte, error) {
			cells := append(wire.AppendInt(nil, 4), "\x00\x00\x00\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x00\x00\x00\x00"...)
			return AppendRowBatch(dst, V3, []byte("id"), 2, cells, []int{12, 20}, &QueryParams{Consistency: cql.One})
		},
		"batch v4": func(dst []byte) ([]byte, error) {
			return AppendBatch(dst, V4, cql.LoggedBatch, []BatchEntry{
				{Stmt: "DELETE"},
				{ID: []byte("id"), Stmt: "not sent", Values: &boundCells{cells: [][]byte{one, nil}}},
			}, &QueryParams{Consistency: cql.One, SerialConsistency: cql.Serial, Timestamp: 7, HasTimestamp: true})
		},
		"batch v5": func(dst []byte) ([]byte, error) {
			return AppendBatch(dst, V5, cql.CounterBatch, []BatchEntry{{ID: []byte("id"), Values: bound}},
				&QueryParams{Consistency: cql.LocalQuorum, Keyspace: "ks", NowInSeconds: 42, HasNowInSeconds: true})
		},
		"custom payload": func(dst []byte) ([]byte, error) {
			return AppendCustomPayload(dst, V4, map[string][]byte{"b": nil, "a": {1, 2}})
		},
	}
	for name := range golden {
		require.Contains(t, rows, name, "golden without a test")
	}
	for name, write := range rows {
		t.Run(name, func(t *testing.T) {
			got, err := write([]byte("head"))
			require.NoError(t, err)
			require.Equal(t, append([]byte("head"), golden[name]...), got)
		})
	}
}

// TestAppendExecuteV5WithoutMetadataID checks that v5 has the field even without an id.
func TestAppendExecuteV5WithoutMetadataID(t *testing.T) {
	got, err := AppendExecute(nil, V5, []byte("id"), nil, &QueryParams{Consistency: cql.One})
	require.NoError(t, err)
	require.Equal(t, []byte{0, 2, 'i', 'd', 0, 0, 0, 1, 0, 0, 0, 0}, got)
}

func TestAppendRequestsRefuse(t *testing.T) {
	long := strings.Repeat("x", wire.MaxString+1)
	boom := errors.New("boom")
	// Untouched zero pages: the length is refused before a byte is read.
	hugeBytes := make([]byte, wire.MaxBody+1)
	huge := unsafe.String(&hugeBytes[0], len(hugeBytes))
	many := map[string]string{}
	manyBytes := map[string][]byte{}
	for i := range maxCount + 1 {
		many[fmt.Sprint(i)], manyBytes[fmt.Sprint(i)] = "", nil
	}
	query := func(version byte, p QueryParams) func([]byte) ([]byte, error) {
		return func(dst []byte) ([]byte, error) { return AppendQuery(dst, version, "SELECT 1", &p) }
	}
	batch := func(version byte, p QueryParams, entries ...BatchEntry) func([]byte) ([]byte, error) {
		return func(dst []byte) ([]byte, error) { return AppendBatch(dst, version, cql.UnloggedBatch, entries, &p) }
	}
	for _, row := range []struct {
		name  string
		write func(dst []byte) ([]byte, error)
		want  error
	}{
		{"startup key too long", func(d []byte) ([]byte, error) { return AppendStartup(d, map[string]string{long: ""}) }, wire.ErrTooLong},
		{"startup value too long", func(d []byte) ([]byte, error) { return AppendStartup(d, map[string]string{"": long}) }, wire.ErrTooLong},
		{"startup too many options", func(d []byte) ([]byte, error) { return AppendStartup(d, many) }, wire.ErrTooLong},
		{"register too many", func(d []byte) ([]byte, error) { return AppendRegister(d, make([]string, maxCount+1)) }, wire.ErrTooLong},
		{"register too long", func(d []byte) ([]byte, error) { return AppendRegister(d, []string{"", long}) }, wire.ErrTooLong},
		{"payload too many", func(d []byte) ([]byte, error) { return AppendCustomPayload(d, V4, manyBytes) }, wire.ErrTooLong},
		{"payload key too long", func(d []byte) ([]byte, error) { return AppendCustomPayload(d, V4, map[string][]byte{long: nil}) }, wire.ErrTooLong},
		{"payload too big", func(d []byte) ([]byte, error) { return AppendCustomPayload(d, V5, map[string][]byte{"": hugeBytes}) }, ErrTooBig},
		{"token too big", func(d []byte) ([]byte, error) { return AppendAuthResponse(d, hugeBytes) }, ErrTooBig},
		{"statement too big", func(d []byte) ([]byte, error) { return AppendQuery(d, V4, huge, &QueryParams{}) }, ErrTooBig},
		{"prepare too big", func(d []byte) ([]byte, error) { return AppendPrepare(d, V4, huge, "") }, ErrTooBig},
		{"prepare keyspace on v4", func(d []byte) ([]byte, error) { return AppendPrepare(d, V4, "", "ks") }, ErrUnsupported},
		{"prepare keyspace too long", func(d []byte) ([]byte, error) { return AppendPrepare(d, V5, "", long) }, wire.ErrTooLong},
		{"id too long", func(d []byte) ([]byte, error) { return AppendExecute(d, V4, []byte(long), nil, &QueryParams{}) }, wire.ErrTooLong},
		{"metadata id too long", func(d []byte) ([]byte, error) {
			return AppendExecute(d, V4, nil, []byte(long), &QueryParams{})
		}, wire.ErrTooLong},
		{"payload on v3", func(d []byte) ([]byte, error) { return AppendCustomPayload(d, V3, nil) }, ErrUnsupported},
		{"prepare keyspace on v3", func(d []byte) ([]byte, error) { return AppendPrepare(d, V3, "", "ks") }, ErrUnsupported},
		{"keyspace on v3", query(V3, QueryParams{Keyspace: "ks"}), ErrUnsupported},
		{"now on v3", query(V3, QueryParams{HasNowInSeconds: true}), ErrUnsupported},
		{"not set on v3", query(V3, QueryParams{Values: &boundCells{cells: [][]byte{one, nil, {}, unsetCell}}}), ErrUnsupported},
		{"name not set on v3", query(V3, QueryParams{Values: &boundCells{names: []string{"a", "b"}, cells: [][]byte{one, unsetCell}}}), ErrUnsupported},
		{"batch not set on v3", batch(V3, QueryParams{}, BatchEntry{}, BatchEntry{Values: &boundCells{cells: [][]byte{unsetCell}}}), ErrUnsupported},
		{"row batch not set on v3", func(d []byte) ([]byte, error) {
			cells := append(append(wire.AppendInt(nil, 4), one...), "\xFF\xFF\xFF\xFE"...)
			return AppendRowBatch(d, V3, []byte("id"), 1, cells, []int{8, 12}, &QueryParams{})
		}, ErrUnsupported},
		{"keyspace on v4", query(V4, QueryParams{Keyspace: "ks"}), ErrUnsupported},
		{"now on v4", query(V4, QueryParams{HasNowInSeconds: true}), ErrUnsupported},
		{"keyspace too long", query(V5, QueryParams{Keyspace: long}), wire.ErrTooLong},
		{"paging state too big", query(V5, QueryParams{PagingState: hugeBytes}), ErrTooBig},
		{"page size negative", query(V5, QueryParams{PageSize: -1}), cql.ErrRange},
		{"page size above [int]", query(V5, QueryParams{PageSize: math.MaxInt}), cql.ErrRange},
		{"too many values", query(V5, QueryParams{Values: &boundCells{n: maxCount + 1}}), ErrTooManyValues},
		{"name too long", query(V5, QueryParams{Values: &boundCells{names: []string{long}, cells: [][]byte{nil}}}), wire.ErrTooLong},
		{"binder fails", query(V4, QueryParams{Values: &boundCells{n: 1, err: boom}}), boom},
		{"batch of too many", batch(V4, QueryParams{}, make([]BatchEntry, maxCount+1)...), ErrTooManyStmts},
		{"batch of a statement too big", batch(V4, QueryParams{}, BatchEntry{Stmt: huge}), ErrTooBig},
		{"batch id too long", batch(V4, QueryParams{}, BatchEntry{ID: []byte(long)}), wire.ErrTooLong},
		{"batch names", batch(V5, QueryParams{}, BatchEntry{Values: &boundCells{names: []string{"a"}, cells: [][]byte{nil}}}), ErrUnsupported},
		{"batch too many values", batch(V5, QueryParams{}, BatchEntry{Values: &boundCells{n: maxCount + 1}}), ErrTooManyValues},
		{"batch binder fails", batch(V5, QueryParams{}, BatchEntry{}, BatchEntry{Values: &boundCells{n: 1, err: boom}}), boom},
		{"batch keyspace on v4", batch(V4, QueryParams{Keyspace: "ks"}), ErrUnsupported},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.name == "page size above [int]" && math.MaxInt == math.MaxInt32 {
				t.Skip("on 32-bit processors no int exceeds an [int]; other processors run this case")
			}
			dst := append(make([]byte, 0, 256), "head"...)
			var got []byte
			var err error
			n := leak.Allocated(func() { got, err = row.write(dst) })
			require.ErrorIs(t, err, row.want)
			require.Equal(t, "head", string(got))
			require.Less(t, n, uint64(8<<20), "bytes allocated for a refused request")
		})
	}
}

// TestAppendFieldsTogetherTooBig appends values that fit one by one, but not together.
func TestAppendFieldsTogetherTooBig(t *testing.T) {
	w := newBodyWriter([]byte("head"))
	w.room(wire.MaxBody)
	require.NoError(t, w.err)
	w.byte(1)
	w.room(wire.MaxBody)
	require.ErrorIs(t, w.err, ErrTooBig)

	huge := make([]byte, wire.MaxBody+2)
	w = bodyWriter{start: 1, out: huge}
	got, err := w.finish(huge[:1])
	require.ErrorIs(t, err, ErrTooBig)
	require.Len(t, got, 1)
	w = bodyWriter{start: 2, out: huge}
	_, err = w.finish(huge[:2])
	require.NoError(t, err)
}

func TestAppendLimits(t *testing.T) {
	t.Run("65535 values", func(t *testing.T) {
		got, err := AppendExecute(nil, V4, []byte("id"), nil, &QueryParams{Values: &boundCells{cells: make([][]byte, maxCount)}})
		require.NoError(t, err)
		require.Len(t, got, 4+2+1+2+4*maxCount)
	})
	t.Run("65535 statements", func(t *testing.T) {
		got, err := AppendBatch(nil, V4, cql.UnloggedBatch, make([]BatchEntry, maxCount), &QueryParams{})
		require.NoError(t, err)
		require.Len(t, got, 1+2+(1+4+2)*maxCount+2+1)
	})
	t.Run("string of 65535 bytes", func(t *testing.T) {
		_, err := AppendQuery(nil, V5, "", &QueryParams{Keyspace: strings.Repeat("x", wire.MaxString)})
		require.NoError(t, err)
	})
}

func TestAppendExecuteAllocations(t *testing.T) {
	buf := make([]byte, 0, 8<<10)
	id, mid := []byte("0123456789abcdef"), []byte("fedcba9876543210")
	p := QueryParams{
		Values: &boundCells{cells: [][]byte{one, make([]byte, 1536*4)}}, Consistency: cql.LocalQuorum, Timestamp: 1, HasTimestamp: true,
		PageSize: 5000, PagingState: one, SerialConsistency: cql.Serial,
	}
	entries := []BatchEntry{{ID: id, Values: &boundCells{cells: [][]byte{one}}}}
	for _, version := range []byte{V3, V4, V5} {
		n := testing.AllocsPerRun(100, func() {
			if _, err := AppendExecute(buf, version, id, mid, &p); err != nil {
				panic(err)
			}
			if _, err := AppendBatch(buf, version, cql.UnloggedBatch, entries, &p); err != nil {
				panic(err)
			}
		})
		require.Zero(t, n, "v%d", version)
	}
}

func BenchmarkAppendExecute(b *testing.B) {
	buf := make([]byte, 0, 16<<10)
	id := []byte("0123456789abcdef")
	for _, dim := range []int{384, 1536} {
		b.Run(fmt.Sprintf("dim=%d", dim), func(b *testing.B) {
			p := QueryParams{Values: &boundCells{cells: [][]byte{one, make([]byte, dim*4)}}, Consistency: cql.LocalQuorum}
			b.ReportAllocs()
			b.SetBytes(int64(dim * 4))
			for b.Loop() {
				if _, err := AppendExecute(buf, V4, id, nil, &p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
