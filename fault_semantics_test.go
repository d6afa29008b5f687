// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/internal/token"
	"github.com/vecql/vecql/internal/wire"
)

// This file holds faults 32 to 34: a clock that steps back, requests that are too large for the protocol, and memory that a caller keeps.

// TestFault32ClockStepsBack: the wall clock goes back by an hour, many times, while requests are made. The timestamps of a session must increase
// all the same, each being given out once, and follow the clock again when it has caught up.
func TestFault32ClockStepsBack(t *testing.T) {
	t.Run("one caller", func(t *testing.T) {
		s := &Session{}
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		last := s.nextTimestamp(now)
		require.Equal(t, now.UnixMicro(), last)
		for _, step := range []time.Duration{0, time.Microsecond, -time.Hour, 0, -time.Nanosecond, time.Second, -24 * time.Hour} {
			now = now.Add(step)
			next := s.nextTimestamp(now)
			require.Greater(t, next, last, "the clock was set by %v", step)
			last = next
		}
		now = now.Add(48 * time.Hour)
		require.Equal(t, now.UnixMicro(), s.nextTimestamp(now), "the clock is followed where it can be")
	})
	t.Run("many callers", func(t *testing.T) {
		s := &Session{}
		began := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
		var wg sync.WaitGroup
		given := make([][]int64, 8)
		for g := range given {
			wg.Go(func() {
				for i := range 2000 {
					clock := began.Add(time.Duration(i) * time.Millisecond)
					if i/100%2 == 1 {
						clock = clock.Add(-time.Hour)
					}
					given[g] = append(given[g], s.nextTimestamp(clock))
				}
			})
		}
		wg.Wait()
		all := slices.Concat(given...)
		for _, own := range given {
			require.True(t, slices.IsSorted(own))
		}
		slices.Sort(all)
		require.Len(t, slices.Compact(slices.Clone(all)), 8*2000, "a timestamp was given out twice")
		later := began.Add(time.Hour)
		require.Equal(t, later.UnixMicro(), s.nextTimestamp(later))
	})
	t.Run("on the wire", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newFakeCluster(t, protoV5, 1)
			var sent []int64
			c.on(func(r *fakeRequest) bool {
				if r.op == opExecute {
					sent = append(sent, r.timestamp)
				}
				return false
			})
			s := c.session()
			require.NoError(t, s.Query("INSERT x").Exec())
			require.Equal(t, time.Now().UnixMicro(), sent[0])
			ahead := time.Now().Add(time.Hour)
			s.nextTimestamp(ahead) // as if a request had been made then: now the clock is an hour back
			for range 50 {
				require.NoError(t, s.Query("INSERT x").Exec())
				time.Sleep(10 * time.Second)
			}
			require.Equal(t, ahead.UnixMicro()+1, sent[1])
			for i := 1; i < len(sent); i++ {
				require.Greater(t, sent[i], sent[i-1])
			}
			time.Sleep(time.Hour)
			require.NoError(t, s.Query("INSERT x").Exec())
			require.Equal(t, time.Now().UnixMicro(), sent[len(sent)-1], "it has caught up")
		})
	})
}

// TestFault33TooLarge: a request has a part that the protocol has no room for. The caller must get an error that says so, MayHaveApplied must be
// false, not a byte of the request may be sent, and the connection goes on.
func TestFault33TooLarge(t *testing.T) {
	const (
		single    = "INSERT INTO ks.t (id) VALUES (?)"
		composite = "INSERT INTO ks.t (id, name) VALUES (?, ?)"
		many      = "INSERT INTO ks.t (all) VALUES (...)"
	)
	long := strings.Repeat("x", 70_000)
	zeros := make([]byte, wire.MaxBody+1) // hardly written to: it costs no memory
	copy(zeros, "SELECT ")
	huge := unsafe.String(&zeros[0], len(zeros))
	values := make([]any, 70_000)
	keys := make(map[string][]byte, 70_000)
	for i := range 70_000 {
		keys[fmt.Sprint(i)] = nil
	}
	for _, m := range []struct {
		name string
		want error
		run  func(s *Session) error
	}{
		{"routing key part", token.ErrPartTooLong, func(s *Session) error { return s.Query(composite, 1, long).Exec() }},
		{"routing key", token.ErrPartTooLong, func(s *Session) error { return s.Query(single, long).Exec() }},
		{"routing key of a batch", token.ErrPartTooLong, func(s *Session) error {
			return s.Batch(UnloggedBatch).Query(composite, 1, long).Exec()
		}},
		{"statements", ErrTooManyStmts, func(s *Session) error {
			b := s.Batch(UnloggedBatch)
			for range 70_000 {
				b.Query("INSERT x")
			}
			return b.Exec()
		}},
		{"values", ErrTooManyValues, func(s *Session) error { return s.Query(many, values...).Exec() }},
		{"values of a batch", ErrTooManyValues, func(s *Session) error { return s.Batch(LoggedBatch).Query(many, values...).Exec() }},
		{"statement", ErrFrameTooBig, func(s *Session) error { return s.Query(huge).Exec() }},
		{"statement of a batch", ErrFrameTooBig, func(s *Session) error { return s.Batch(LoggedBatch).Query(huge).Exec() }},
		{"value of a payload", ErrFrameTooBig, func(s *Session) error {
			return s.Query("INSERT x").CustomPayload(map[string][]byte{"k": zeros}).Exec()
		}},
		{"paging state", ErrFrameTooBig, func(s *Session) error { return s.Query("INSERT x").PageState(zeros).Exec() }},
		{"keyspace", wire.ErrTooLong, func(s *Session) error { return s.Query("INSERT y").SetKeyspace(long).Exec() }},
		{"keyspace of a statement that is not prepared", wire.ErrTooLong, func(s *Session) error {
			return s.Query("CREATE y").SetKeyspace(long).Exec()
		}},
		{"keyspace of a batch", wire.ErrTooLong, func(s *Session) error { return s.Batch(LoggedBatch).Query("INSERT x").SetKeyspace(long).Exec() }},
		{"key of a payload", wire.ErrTooLong, func(s *Session) error {
			return s.Query("INSERT x").CustomPayload(map[string][]byte{long: nil}).Exec()
		}},
		{"payload", wire.ErrTooLong, func(s *Session) error { return s.Query("INSERT x").CustomPayload(keys).Exec() }},
		{"page size", ErrRange, func(s *Session) error { return s.Query("INSERT x").PageSize(1 << 31).Exec() }},
	} {
		t.Run(m.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newFakeCluster(t, protoV5, 1)
				markers := make([]ColumnInfo, len(values))
				for i := range markers {
					markers[i] = col("c", tText)
				}
				c.prepare(single, preparedSpec{bind: []ColumnInfo{col("id", tText)}, pk: []int{0}})
				c.prepare(composite, preparedSpec{bind: []ColumnInfo{col("id", tBigint), col("name", tText)}, pk: []int{0, 1}})
				c.prepare(many, preparedSpec{bind: markers})
				line := &cutLine{left: 1 << 40}
				c.wrap = func(_ *fakeNode, end net.Conn) net.Conn { return line.wrap(end) }
				frames := 0
				c.on(func(r *fakeRequest) bool {
					if r.op != opPrepare {
						frames++
					}
					return false
				})
				s := c.session(func(cfg *ClusterConfig) { cfg.ProtoVersion = 5 })
				_ = m.run(s) // what it needs is prepared
				require.NoError(t, s.Query("INSERT x").Exec())
				dials, sent, seen := c.madeCount(), line.passed(), frames
				err := m.run(s)
				require.ErrorIs(t, err, m.want)
				require.Less(t, len(err.Error()), 1000)
				require.False(t, MayHaveApplied(err))
				require.Equal(t, sent, line.passed(), "nothing of it is sent")
				require.NoError(t, s.Query("INSERT x").Exec())
				require.Equal(t, seen+1, frames)
				require.Equal(t, dials, c.madeCount(), "on the connection that was there")
			})
		})
	}
}

// keeper keeps what it is given.
type keeper struct{ data []byte }

func (k *keeper) UnmarshalCQL(_ TypeInfo, data []byte) error { k.data = data; return nil }

// retained are values of a type, one for each i, and the types of destination that they are scanned into.
type retained struct {
	t     TypeInfo
	value func(i int) any
	dests []any // pointers
}

// retainedTypes are all types with all that they are scanned into.
func retainedTypes() []retained {
	udt := UDTTypeInfo{Keyspace: "ks", Name: "u", Elements: []UDTField{{Name: "a", Type: tText}, {Name: "b", Type: NativeType(TypeBlob)}}}
	type user struct {
		A string `cql:"a"`
		B []byte `cql:"b"`
	}
	text := func(i int) string { return strings.Repeat(fmt.Sprint("text ", i, " "), 1+i%5) }
	uuid := func(i int) UUID { return UUID{byte(i), byte(i >> 8), 3} }
	list, set := func(t TypeInfo) TypeInfo { return NewListType(t) }, func(t TypeInfo) TypeInfo { return NewSetType(t) }
	return []retained{
		{tText, func(i int) any { return text(i) }, []any{new(string), new([]byte), new(*string), new(any), new(json.RawMessage), new(keeper), new(Null[string])}},
		{NativeType(TypeAscii), func(i int) any { return text(i) }, []any{new(string), new([]byte)}},
		{NativeType(TypeBlob), func(i int) any { return []byte(text(i)) }, []any{new([]byte), new(string), new(any), new(*[]byte), new(keeper)}},
		{tBigint, func(i int) any { return i }, []any{new(int64), new(*int64), new(**int64), new(any), new(Null[int64]), new(string), new(big.Int)}},
		{NativeType(TypeBoolean), func(i int) any { return i%2 == 0 }, []any{new(bool), new(*bool), new(any)}},
		{NativeType(TypeDouble), func(i int) any { return float64(i) / 3 }, []any{new(float64), new(*float64), new(any)}},
		{NativeType(TypeTimestamp), func(i int) any { return time.UnixMilli(int64(i) * 1e9) }, []any{new(time.Time), new(int64), new(any)}},
		{NativeType(TypeDuration), func(i int) any { return Duration{int32(i), 2, 3} }, []any{new(Duration), new(any)}},
		{NativeType(TypeVarint), func(i int) any { return new(big.Int).Lsh(big.NewInt(int64(i+1)), 70) }, []any{new(big.Int), new(*big.Int), new(any)}},
		{NativeType(TypeDecimal), func(i int) any { return inf.NewDec(int64(i)*1e9, 3) }, []any{new(inf.Dec), new(*inf.Dec), new(any)}},
		{NativeType(TypeInet), func(i int) any { return net.IPv4(10, 1, byte(i>>8), byte(i)).To4() }, []any{new(net.IP), new(string), new(netip.Addr), new(any)}},
		{NativeType(TypeUUID), func(i int) any { return uuid(i) }, []any{new(UUID), new([]byte), new(string), new([16]byte), new(any)}},
		{list(tText), func(i int) any { return []string{text(i), "bc"} }, []any{new([]string), new([2]string), new(any), new([][]byte), new([]*string), new([]any)}},
		{list(NativeType(TypeInt)), func(i int) any { return []int32{int32(i), 7} }, []any{new([]int32), new([2]int32), new([]int), new(any)}},
		{list(list(tText)), func(i int) any { return [][]string{{text(i)}, {}} }, []any{new([][]string), new(any)}},
		{set(NativeType(TypeBlob)), func(i int) any { return [][]byte{[]byte(text(i))} }, []any{new([][]byte), new(map[string]struct{}), new(any)}},
		{NewMapType(tText, tText), func(i int) any { return map[string]string{text(i): "v"} }, []any{new(map[string]string), new(map[string][]byte), new(map[string]any), new(any)}},
		{NewMapType(tText, list(tVector)), func(i int) any { return map[string][][]float32{text(i): {{float32(i), 1, 2}}} }, []any{new(map[string][][]float32), new(any)}},
		{TupleTypeInfo{Elems: []TypeInfo{tText, NativeType(TypeBlob)}}, func(i int) any { return []any{text(i), []byte("b")} }, []any{new([]any), new(user), new(any)}},
		{udt, func(i int) any { return map[string]any{"a": text(i), "b": []byte("b")} }, []any{new(user), new(map[string]any), new(any), new(*user)}},
		{tVector, func(i int) any { return []float32{float32(i), 2, 3} }, []any{new([]float32), new([3]float32), new(any), new(*[]float32)}},
		{VectorType{NativeType(TypeDouble), 2}, func(i int) any { return []float64{float64(i), 2} }, []any{new([]float64), new([2]float64), new(any)}},
		{VectorType{tBigint, 2}, func(i int) any { return []int64{int64(i), 2} }, []any{new([]int64), new([]int), new(any)}},
		{VectorType{tText, 2}, func(i int) any { return []string{text(i), "w"} }, []any{new([]string), new([][]byte), new(any)}},
		{VectorType{NativeType(TypeUUID), 1}, func(i int) any { return []UUID{uuid(i)} }, []any{new([]UUID), new([][16]byte), new(any)}},
		{list(tVector), func(i int) any { return [][]float32{{float32(i), 2, 3}} }, []any{new([][]float32), new(any)}},
		{list(udt), func(i int) any { return []map[string]any{{"a": text(i), "b": nil}} }, []any{new([]user), new([]map[string]any), new(any)}},
		{CustomType{Class: "com.example.Secret"}, func(i int) any { return []byte(text(i)) }, []any{new([]byte), new(any)}},
	}
}

// TestFault34Retention: a caller keeps every row of a thousand pages, scanned into every type of destination that there is, while the pages'
// memory is released, overwritten (in builds with -race or the tag poison) and used again. At the end all must be as it was.
func TestFault34Retention(t *testing.T) {
	const pages, variants = 1000, 40
	perPage := 2
	if poison {
		perPage = 1
	}
	types := retainedTypes()
	var columns []ColumnInfo
	var dests []any
	var of []int // column -> its entry of types
	for i, typ := range types {
		for _, dest := range typ.dests {
			columns = append(columns, col(fmt.Sprint("c", len(columns)), typ.t))
			dests = append(dests, dest)
			of = append(of, i)
		}
	}
	cells := make([][][]byte, variants)
	want := make([][]any, variants) // by row and column
	for v := range variants {
		for c, i := range of {
			cell := cellOf(types[i].t, types[i].value(v))
			dest := reflect.New(reflect.TypeOf(dests[c]).Elem())
			require.NoError(t, Unmarshal(types[i].t, slices.Clone(cell), dest.Interface()), "%s into %T", types[i].t, dests[c])
			cells[v] = append(cells[v], cell)
			want[v] = append(want[v], dest.Elem().Interface())
		}
	}
	rowOf := func(n int) int { return n * 7 % variants }
	bodies := map[int][]byte{}
	for n := range pages {
		res := fakeResult{columns: columns, noMeta: true, state: "more"}
		if n == pages-1 {
			res.state = ""
		}
		for r := range perPage {
			res.cells = append(res.cells, cells[rowOf(n*perPage+r)]...)
		}
		bodies[n] = res.body(true)
	}
	for _, version := range []byte{protoV4, protoV5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newFakeCluster(t, version, 1)
				c.prepare("SELECT c", preparedSpec{result: columns, resultID: "m"})
				page := 0
				c.on(func(r *fakeRequest) bool {
					if r.op != opExecute {
						return false
					}
					if len(r.state) == 0 {
						page = 0
					}
					body := bodies[page]
					if version < protoV5 { // which has the metadata in each answer
						head := ints(2, 0, int32(len(columns)))
						if page < pages-1 {
							head = message(ints(2, metadataHasMorePages, int32(len(columns)), 4), "more")
						}
						skip := 12
						if page < pages-1 {
							skip += 4 + 4
						}
						body = message(appendColumns(head, columns), body[skip:])
					}
					page++
					r.peer.reply(r.stream, opResult, body)
					return true
				})
				s := c.session(func(cfg *ClusterConfig) { cfg.ProtoVersion = int(version) })
				var kept [][]any // pointers, by row
				it := s.Query("SELECT c").Iter()
				for {
					row := make([]any, len(dests))
					for i, dest := range dests {
						row[i] = reflect.New(reflect.TypeOf(dest).Elem()).Interface()
					}
					if !it.Scan(row...) {
						break
					}
					kept = append(kept, row)
				}
				require.NoError(t, it.Close())
				require.Len(t, kept, pages*perPage)
				for n, row := range kept {
					for i, dest := range row {
						if got := reflect.ValueOf(dest).Elem().Interface(); !reflect.DeepEqual(want[rowOf(n)][i], got) {
							t.Fatalf("row %d, %s into %T: got %v, want %v", n, columns[i].TypeInfo, dest, got, want[rowOf(n)][i])
						}
					}
				}
			})
		})
	}
	t.Run("verbs", func(t *testing.T) { testRetentionOfVerbs(t) })
}

// testRetentionOfVerbs is the same for all other ways to read rows.
func testRetentionOfVerbs(t *testing.T) {
	const pages, perPage = 1000, 3
	type row struct {
		ID   int64
		Name string
		V    []float32
	}
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster(t, protoV5, 1)
		columns := threeColumns(c)
		c.on(func(r *fakeRequest) bool {
			if r.op != opExecute {
				return false
			}
			n := 0
			if len(r.state) > 0 {
				_, _ = fmt.Sscan(string(r.state), &n)
			}
			res := fakeResult{columns: columns, cells: rowCells(n*perPage, perPage), state: fmt.Sprint(n + 1)}
			if n == pages-1 {
				res.state = ""
			}
			r.rows(res)
			return true
		})
		s := c.session()
		ctx := context.Background()
		kept := map[string][]row{}
		keep := func(verb string, id any, name any, v []float32) {
			text, ok := name.(string)
			if !ok {
				text = string(name.([]byte))
			}
			kept[verb] = append(kept[verb], row{reflect.ValueOf(id).Int(), text, v})
		}
		for r, err := range Rows[row](ctx, s.Query(selectRows)) {
			require.NoError(t, err)
			keep("Rows", r.ID, r.Name, r.V)
		}
		maps, err := s.Query(selectRows).Iter().SliceMap()
		require.NoError(t, err)
		for _, m := range maps {
			keep("SliceMap", m["id"], m["name"], m["v"].([]float32))
		}
		type raw struct {
			id      int64
			name, v []byte
		}
		var scanned []raw
		scanner := s.Query(selectRows).Iter().Scanner()
		for scanner.Next() {
			var r raw
			var v []float32
			require.NoError(t, scanner.Scan(&r.id, &r.name, &v))
			scanned = append(scanned, r)
			keep("Scanner", r.id, r.name, v)
		}
		require.NoError(t, scanner.Err())
		var ids []Column[int64]
		var names []TextColumn
		var vectors []Matrix[float32]
		var texts [][]string
		for p, err := range s.Query(selectRows).Pages(ctx) {
			require.NoError(t, err)
			id, err := ReadColumn(p, 0, Column[int64]{})
			require.NoError(t, err)
			name, err := ReadText(p, 1, TextColumn{})
			require.NoError(t, err)
			v, err := ReadMatrix(p, 2, Matrix[float32]{})
			require.NoError(t, err)
			text, err := ReadAny[string](p, 1, nil)
			require.NoError(t, err)
			ids, names, vectors, texts = append(ids, id), append(names, name), append(vectors, v), append(texts, text)
		}
		for i := range ids {
			for r := range perPage {
				keep("Pages", ids[i].Data[r], names[i].String(r), vectors[i].Row(r))
				keep("ReadAny", ids[i].Data[r], texts[i][r], vectors[i].Row(r))
			}
		}
		for i, r := range scanned {
			require.Equal(t, fmt.Sprint("name ", i), string(r.name))
		}
		for verb, rows := range kept {
			require.Len(t, rows, pages*perPage, verb)
			for i, r := range rows {
				if want := (row{int64(i), fmt.Sprint("name ", i), []float32{float32(i), 1, 2}}); !reflect.DeepEqual(want, r) {
					t.Fatalf("%s, row %d: got %v, want %v", verb, i, r, want)
				}
			}
		}
	})
}
