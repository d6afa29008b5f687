// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"math/rand/v2"
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

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/pooled"
	"github.com/vecql/vecql/internal/token"
	"github.com/vecql/vecql/internal/wire"
)

// Faults 33 and 34: requests that exceed the limits of the protocol, and memory that a program keeps.

// TestFault34BuffersOfCluster sends requests that succeed, time out, fail, are retried and executed speculatively,
// while connections break. Afterwards every buffer must be released.
func TestFault34BuffersOfCluster(t *testing.T) {
	if !pooled.Poisoned {
		t.Skip("buffers are counted in builds with -race or the tag poison")
	}
	synctest.Test(t, func(t *testing.T) {
		before := pooled.Held.Load()
		c := cqltest.New(t, cqltest.Config{Network: cqltest.InMemory})
		require.NoError(t, c.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};
			CREATE TABLE ks.t (k int PRIMARY KEY, v int)`))
		cfg := &vecql.ClusterConfig{Hosts: c.Hosts()}
		cfg.Pool.Dialer, cfg.Logger, cfg.Compressor, cfg.Timeout = c.Dialer(), slog.New(slog.DiscardHandler), vecql.LZ4Compressor{}, 50*time.Millisecond
		cfg.Defaults.SpeculativeExecutionPolicy = &vecql.SimpleSpeculativeExecution{NumAttempts: 2, TimeoutDelay: 5 * time.Millisecond}
		s, err := vecql.NewSession(t.Context(), *cfg)
		require.NoError(t, err)
		sometimes := func(n int) func(cqltest.Request) bool { return func(cqltest.Request) bool { return rand.IntN(n) == 0 } }
		for _, f := range []cqltest.Fault{
			{Match: sometimes(100), Drop: true},
			{Match: sometimes(20), Error: &cqltest.Error{Code: cqltest.CodeOverloaded}},
			{Match: sometimes(500), Close: true, CloseAfter: 5},
			{Match: sometimes(5), Delay: time.Millisecond, Jitter: 20 * time.Millisecond},
		} {
			f.Op = cqltest.OpExecute
			c.Inject(f)
		}
		var wg sync.WaitGroup
		for w := range 16 {
			wg.Go(func() {
				for i := range 100 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+rand.IntN(60))*time.Millisecond)
					var k, v int
					switch i % 4 {
					case 0:
						_ = s.Query("INSERT INTO ks.t (k, v) VALUES (?, ?)", w, i).Idempotent(i%8 == 0).Exec(ctx)
					case 1:
						_ = s.Query("SELECT k, v FROM ks.t WHERE k = ?", w).Idempotent(true).Scan(ctx, &k, &v)
					case 2:
						_ = s.Batch(cql.LoggedBatch).Query("INSERT INTO ks.t (k, v) VALUES (?, ?)", w, i).Exec(ctx)
					default:
						it := s.Query("SELECT k, v FROM ks.t").PageSize(3).Idempotent(true).Iter(ctx)
						for it.Scan(&k, &v) {
							continue
						}
						_ = it.Close()
					}
					cancel()
				}
			})
		}
		wg.Wait()
		st := s.Stats()
		t.Logf("%d requests, %d failed, %d sent again, %d speculatively, %d connections lost", st.Requests, st.Failed, st.Retries, st.SpeculativeExecutions,
			st.ConnectionsLost)
		require.Positive(t, min(st.Failed, st.Retries, st.SpeculativeExecutions, st.ConnectionsLost))
		s.Close()
		c.Close()
		synctest.Wait()
		require.Equal(t, before, pooled.Held.Load(), "buffers not released")
	})
}

// TestFault33TooLarge exceeds the limits of the protocol with one part of a request. The caller must get an error that
// names the limit, MayHaveApplied must be false, no byte of the request may be sent, and the connection must stay
// usable.
func TestFault33TooLarge(t *testing.T) {
	const (
		single    = "INSERT INTO ks.t (id) VALUES (?)"
		composite = "INSERT INTO ks.t (id, name) VALUES (?, ?)"
		many      = "INSERT INTO ks.t (all) VALUES (...)"
	)
	long := strings.Repeat("x", 70_000)
	zeros := make([]byte, wire.MaxBody+1) // pages that are never written to cost no memory
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
		run  func(s *vecql.Session) error
	}{
		{"routing key part", token.ErrPartTooLong, func(s *vecql.Session) error { return s.Query(composite, 1, long).Exec(context.Background()) }},
		{"routing key", token.ErrPartTooLong, func(s *vecql.Session) error { return s.Query(single, long).Exec(context.Background()) }},
		{"routing key of a batch", token.ErrPartTooLong, func(s *vecql.Session) error {
			return s.Batch(cql.UnloggedBatch).Query(composite, 1, long).Exec(context.Background())
		}},
		{"statements", vecql.ErrTooManyStmts, func(s *vecql.Session) error {
			b := s.Batch(cql.UnloggedBatch)
			for range 70_000 {
				b.Query("INSERT x")
			}
			return b.Exec(context.Background())
		}},
		{"values", vecql.ErrTooManyValues, func(s *vecql.Session) error { return s.Query(many, values...).Exec(context.Background()) }},
		{"values of a batch", vecql.ErrTooManyValues, func(s *vecql.Session) error {
			return s.Batch(cql.LoggedBatch).Query(many, values...).Exec(context.Background())
		}},
		{"statement", vecql.ErrFrameTooBig, func(s *vecql.Session) error { return s.Query(huge).Exec(context.Background()) }},
		{"statement of a batch", vecql.ErrFrameTooBig, func(s *vecql.Session) error { return s.Batch(cql.LoggedBatch).Query(huge).Exec(context.Background()) }},
		{"value of a payload", vecql.ErrFrameTooBig, func(s *vecql.Session) error {
			return s.Query("INSERT x").CustomPayload(map[string][]byte{"k": zeros}).Exec(context.Background())
		}},
		{"paging state", vecql.ErrFrameTooBig, func(s *vecql.Session) error { return s.Query("INSERT x").PageState(zeros).Exec(context.Background()) }},
		{"keyspace", wire.ErrTooLong, func(s *vecql.Session) error { return s.Query("INSERT y").Keyspace(long).Exec(context.Background()) }},
		{"keyspace of a statement that is not prepared", wire.ErrTooLong, func(s *vecql.Session) error {
			return s.Query("CREATE y").Keyspace(long).Exec(context.Background())
		}},
		{"keyspace of a batch", wire.ErrTooLong, func(s *vecql.Session) error {
			return s.Batch(cql.LoggedBatch).Query("INSERT x").Keyspace(long).Exec(context.Background())
		}},
		{"key of a payload", wire.ErrTooLong, func(s *vecql.Session) error {
			return s.Query("INSERT x").CustomPayload(map[string][]byte{long: nil}).Exec(context.Background())
		}},
		{"payload", wire.ErrTooLong, func(s *vecql.Session) error {
			return s.Query("INSERT x").CustomPayload(keys).Exec(context.Background())
		}},
		{"page size", cql.ErrRange, func(s *vecql.Session) error {
			return s.Query("INSERT x").PageSize(math.MaxInt).Exec(context.Background())
		}},
	} {
		t.Run(m.name, func(t *testing.T) {
			if m.name == "page size" && math.MaxInt == math.MaxInt32 {
				t.Skip("on 32-bit processors no int exceeds an [int]; other processors run this case")
			}
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, fakecql.V5, 1)
				markers := make([]fakecql.Column, len(values))
				for i := range markers {
					markers[i] = fakecql.Columns("c text")[0]
				}
				c.Prepare(single, fakecql.Prepared{Bind: fakecql.Columns("id text"), PK: []int{0}})
				c.Prepare(composite, fakecql.Prepared{Bind: fakecql.Columns("id bigint", "name text"), PK: []int{0, 1}})
				c.Prepare(many, fakecql.Prepared{Bind: markers})
				line := &fakecql.CutLine{Left: math.MaxInt}
				c.Wrap = func(_ *fakecql.Node, end net.Conn) net.Conn { return line.Wrap(end) }
				frames := 0
				c.On(func(r *fakecql.Request) bool {
					if r.Op != fakecql.OpPrepare {
						frames++
					}
					return false
				})
				s := sessionOn(c, func(cfg *vecql.ClusterConfig) { cfg.Protocol.Version = 5 })
				_ = m.run(s) // prepares the statements of the request
				require.NoError(t, s.Query("INSERT x").Exec(t.Context()))
				dials, sent, seen := c.MadeCount(), line.Passed(), frames
				err := m.run(s)
				require.ErrorIs(t, err, m.want)
				require.Less(t, len(err.Error()), 1000)
				require.False(t, vecql.MayHaveApplied(err))
				require.Equal(t, sent, line.Passed(), "no byte of the request is sent")
				require.NoError(t, s.Query("INSERT x").Exec(t.Context()))
				require.Equal(t, seen+1, frames)
				require.Equal(t, dials, c.MadeCount(), "on the same connection")
			})
		})
	}
}

// A keeper is an Unmarshaler that keeps the bytes it receives.
type keeper struct{ data []byte }

func (k *keeper) UnmarshalCQL(_ cql.TypeInfo, data []byte) error { k.data = data; return nil }

// retained is a CQL type with a value for each i and the destinations of Scan for it.
type retained struct {
	t     cql.TypeInfo
	value func(i int) any
	dests []any // pointers
}

// retainedTypes returns all types with all their destinations.
func retainedTypes() []retained {
	udt := cql.UDTTypeInfo{Keyspace: "ks", Name: "u", Elements: []cql.UDTField{{Name: "a", Type: tText}, {Name: "b", Type: cql.NativeType(cql.TypeBlob)}}}
	type user struct {
		A string `cql:"a"`
		B []byte `cql:"b"`
	}
	text := func(i int) string { return strings.Repeat(fmt.Sprint("text ", i, " "), 1+i%5) }
	uuid := func(i int) cql.UUID { return cql.UUID{byte(i), byte(i >> 8), 3} }
	list, set := func(t cql.TypeInfo) cql.TypeInfo { return cql.NewListType(t) }, func(t cql.TypeInfo) cql.TypeInfo { return cql.NewSetType(t) }
	return []retained{
		{tText, func(i int) any { return text(i) }, []any{new(string), new([]byte), new(*string), new(any), new(json.RawMessage), new(keeper), new(cql.Null[string])}},
		{cql.NativeType(cql.TypeAscii), func(i int) any { return text(i) }, []any{new(string), new([]byte)}},
		{cql.NativeType(cql.TypeBlob), func(i int) any { return []byte(text(i)) }, []any{new([]byte), new(string), new(any), new(*[]byte), new(keeper)}},
		{tBigint, func(i int) any { return i }, []any{new(int64), new(*int64), new(**int64), new(any), new(cql.Null[int64]), new(string), new(big.Int)}},
		{cql.NativeType(cql.TypeBoolean), func(i int) any { return i%2 == 0 }, []any{new(bool), new(*bool), new(any)}},
		{cql.NativeType(cql.TypeDouble), func(i int) any { return float64(i) / 3 }, []any{new(float64), new(*float64), new(any)}},
		{cql.NativeType(cql.TypeTimestamp), func(i int) any { return time.UnixMilli(int64(i) * 1e9) }, []any{new(time.Time), new(int64), new(any)}},
		{cql.NativeType(cql.TypeDuration), func(i int) any { return cql.Duration{Months: int32(i), Days: 2, Nanoseconds: 3} }, []any{new(cql.Duration), new(any)}},
		{cql.NativeType(cql.TypeVarint), func(i int) any { return new(big.Int).Lsh(big.NewInt(int64(i+1)), 70) }, []any{new(big.Int), new(*big.Int), new(any)}},
		{cql.NativeType(cql.TypeDecimal), func(i int) any { return inf.NewDec(int64(i)*1e9, 3) }, []any{new(inf.Dec), new(*inf.Dec), new(any)}},
		{cql.NativeType(cql.TypeInet), func(i int) any { return net.IPv4(10, 1, byte(i>>8), byte(i)).To4() }, []any{new(net.IP), new(string), new(netip.Addr), new(any)}},
		{cql.NativeType(cql.TypeUUID), func(i int) any { return uuid(i) }, []any{new(cql.UUID), new([]byte), new(string), new([16]byte), new(any)}},
		{list(tText), func(i int) any { return []string{text(i), "bc"} }, []any{new([]string), new([2]string), new(any), new([][]byte), new([]*string), new([]any)}},
		{list(cql.NativeType(cql.TypeInt)), func(i int) any { return []int32{int32(i), 7} }, []any{new([]int32), new([2]int32), new([]int), new(any)}},
		{list(list(tText)), func(i int) any { return [][]string{{text(i)}, {}} }, []any{new([][]string), new(any)}},
		{set(cql.NativeType(cql.TypeBlob)), func(i int) any { return [][]byte{[]byte(text(i))} }, []any{new([][]byte), new(map[string]struct{}), new(any)}},
		{cql.NewMapType(tText, tText), func(i int) any { return map[string]string{text(i): "v"} }, []any{new(map[string]string), new(map[string][]byte), new(map[string]any), new(any)}},
		{cql.NewMapType(tText, list(tVector)), func(i int) any { return map[string][][]float32{text(i): {{float32(i), 1, 2}}} }, []any{new(map[string][][]float32), new(any)}},
		{cql.TupleTypeInfo{Elems: []cql.TypeInfo{tText, cql.NativeType(cql.TypeBlob)}}, func(i int) any { return []any{text(i), []byte("b")} }, []any{new([]any), new(user), new(any)}},
		{udt, func(i int) any { return map[string]any{"a": text(i), "b": []byte("b")} }, []any{new(user), new(map[string]any), new(any), new(*user)}},
		{tVector, func(i int) any { return []float32{float32(i), 2, 3} }, []any{new([]float32), new([3]float32), new(any), new(*[]float32)}},
		{cql.VectorType{SubType: cql.NativeType(cql.TypeDouble), Dimensions: 2}, func(i int) any { return []float64{float64(i), 2} }, []any{new([]float64), new([2]float64), new(any)}},
		{cql.VectorType{SubType: tBigint, Dimensions: 2}, func(i int) any { return []int64{int64(i), 2} }, []any{new([]int64), new([]int), new(any)}},
		{cql.VectorType{SubType: tText, Dimensions: 2}, func(i int) any { return []string{text(i), "w"} }, []any{new([]string), new([][]byte), new(any)}},
		{cql.VectorType{SubType: cql.NativeType(cql.TypeUUID), Dimensions: 1}, func(i int) any { return []cql.UUID{uuid(i)} }, []any{new([]cql.UUID), new([][16]byte), new(any)}},
		{list(tVector), func(i int) any { return [][]float32{{float32(i), 2, 3}} }, []any{new([][]float32), new(any)}},
		{list(udt), func(i int) any { return []map[string]any{{"a": text(i), "b": nil}} }, []any{new([]user), new([]map[string]any), new(any)}},
		{cql.CustomType{Class: "com.example.Secret"}, func(i int) any { return []byte(text(i)) }, []any{new([]byte), new(any)}},
	}
}

// TestFault34Retention keeps every row of a thousand pages, scanned into every type of destination, while the memory of
// the pages is released, overwritten (in builds with -race or the tag poison) and reused. At the end all rows must be
// unchanged.
func TestFault34Retention(t *testing.T) {
	const pages, variants = 1000, 40
	perPage := 2
	if pooled.Poisoned {
		perPage = 1
	}
	types := retainedTypes()
	var columns []fakecql.Column
	var dests []any
	var of []int // column -> its entry of types
	for i, typ := range types {
		for _, dest := range typ.dests {
			columns = append(columns, fakecql.Columns(fmt.Sprint("c", len(columns), " ", cqlOf(typ.t)))...)
			dests = append(dests, dest)
			of = append(of, i)
		}
	}
	cells := make([][][]byte, variants)
	want := make([][]any, variants) // by row and column
	for v := range variants {
		for c, i := range of {
			cell, err := vecql.Marshal(types[i].t, types[i].value(v))
			require.NoError(t, err)
			dest := reflect.New(reflect.TypeOf(dests[c]).Elem())
			require.NoError(t, vecql.Unmarshal(types[i].t, slices.Clone(cell), dest.Interface()), "%s into %T", types[i].t, dests[c])
			cells[v] = append(cells[v], cell)
			want[v] = append(want[v], dest.Elem().Interface())
		}
	}
	rowOf := func(n int) int { return n * 7 % variants }
	bodies := map[int][]byte{}
	for n := range pages {
		res := fakecql.Rows{Columns: columns, NoMetadata: true, State: fmt.Sprintf("%04d", n)}
		if n == pages-1 {
			res.State = ""
		}
		for r := range perPage {
			res.Cells = append(res.Cells, cells[rowOf(n*perPage+r)]...)
		}
		bodies[n] = res.Body(true)
	}
	for _, version := range []byte{fakecql.V4, fakecql.V5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, version, 1)
				c.Prepare("SELECT c", fakecql.Prepared{Result: columns, ResultID: "m"})
				page := 0
				c.On(func(r *fakecql.Request) bool {
					if r.Op != fakecql.OpExecute {
						return false
					}
					if len(r.State) == 0 {
						page = 0
					}
					body := bodies[page]
					if version < fakecql.V5 { // v4 sends the metadata in each response
						head := ints(2, 0, int32(len(columns)))
						if page < pages-1 {
							head = message(ints(2, fakecql.HasMorePages, int32(len(columns)), 4), fmt.Sprintf("%04d", page))
						}
						skip := 12
						if page < pages-1 {
							skip += 4 + 4
						}
						body = message(fakecql.AppendColumns(head, columns), body[skip:])
					}
					page++
					r.Conn.Reply(r.Stream, fakecql.OpResult, body)
					return true
				})
				s := sessionOn(c, func(cfg *vecql.ClusterConfig) { cfg.Protocol.Version = int(version) })
				var kept [][]any // pointers, by row
				it := s.Query("SELECT c").Iter(t.Context())
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
							t.Fatalf("row %d, %s into %T: got %v, want %v", n, columns[i].Type, dest, got, want[rowOf(n)][i])
						}
					}
				}
			})
		})
	}
	t.Run("verbs", func(t *testing.T) { testRetentionOfVerbs(t) })
}

// testRetentionOfVerbs repeats TestFault34Retention for the other ways to read rows.
func testRetentionOfVerbs(t *testing.T) {
	const pages, perPage = 1000, 3
	type row struct {
		ID   int64
		Name string
		V    []float32
	}
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, fakecql.V5, 1)
		columns := threeColumns(c)
		c.On(func(r *fakecql.Request) bool {
			if r.Op != fakecql.OpExecute {
				return false
			}
			n := 0
			if len(r.State) > 0 {
				_, _ = fmt.Sscan(string(r.State), &n)
			}
			res := fakecql.Rows{Columns: columns, Cells: rowCells(n*perPage, perPage), State: fmt.Sprint(n + 1)}
			if n == pages-1 {
				res.State = ""
			}
			r.Rows(res)
			return true
		})
		s := sessionOn(c)
		ctx := context.Background()
		kept := map[string][]row{}
		keep := func(verb string, id any, name any, v []float32) {
			text, ok := name.(string)
			if !ok {
				text = string(name.([]byte))
			}
			kept[verb] = append(kept[verb], row{reflect.ValueOf(id).Int(), text, v})
		}
		for r, err := range vecql.Rows[row](ctx, s.Query(selectRows)) {
			require.NoError(t, err)
			keep("Rows", r.ID, r.Name, r.V)
		}
		maps, err := s.Query(selectRows).Iter(t.Context()).SliceMap()
		require.NoError(t, err)
		for _, m := range maps {
			keep("SliceMap", m["id"], m["name"], m["v"].([]float32))
		}
		type raw struct {
			id      int64
			name, v []byte
		}
		var scanned []raw
		scanner := s.Query(selectRows).Iter(t.Context()).Scanner()
		for scanner.Next() {
			var r raw
			var v []float32
			require.NoError(t, scanner.Scan(&r.id, &r.name, &v))
			scanned = append(scanned, r)
			keep("Scanner", r.id, r.name, v)
		}
		require.NoError(t, scanner.Err())
		var batches []*column.Batch
		for b, err := range s.Query(selectRows).Batches(ctx) {
			require.NoError(t, err)
			batches = append(batches, b)
		}
		for _, b := range batches {
			ids, err := column.Slice[int64](&b.Columns[0])
			require.NoError(t, err)
			names, err := b.Columns[1].Text()
			require.NoError(t, err)
			vectors, err := column.MatrixOf[float32](&b.Columns[2])
			require.NoError(t, err)
			for r := range perPage {
				keep("Batches", ids[r], names.String(r), vectors.Row(r))
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
