// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/pooled"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/tablescan"
)

// A storm of schema changes under load.

// stamp is the value of row number stamp in every column. Its bytes depend on the row and on the type of the column, so
// that bytes written for another type or another row are recognized.
type stamp int32

// as returns the value for a type.
func (s stamp) as(info cql.TypeInfo) any {
	switch info.Type() {
	case cql.TypeInt:
		return int32(s)*1000 + 1
	case cql.TypeBigInt:
		return int64(s)*1000 + 1
	case cql.TypeVarint:
		return int64(s)*1000 + 1
	case cql.TypeFloat:
		return float32(s) + .5
	case cql.TypeDouble:
		return float64(s) + .25
	case cql.TypeTimestamp:
		return time.UnixMilli(int64(s)*1000 + 2).UTC()
	case cql.TypeBlob:
		return []byte{0xB0, byte(s)}
	case cql.TypeUDT:
		fields := map[string]any{}
		for _, f := range info.(cql.UDTTypeInfo).Elements {
			fields[f.Name] = s.as(f.Type)
		}
		return fields
	default:
		return fmt.Sprint("text ", int(s))
	}
}

// MarshalCQL implements cql.Marshaler.
func (s stamp) MarshalCQL(info cql.TypeInfo) ([]byte, error) {
	return vecql.Marshal(info, s.as(info))
}

// isIn reports whether data is the stamp in that type, or NULL. A value of a user-defined type may lack fields that
// were added later, and a node may return new values with the type from before the change.
func (s stamp) isIn(info cql.TypeInfo, data []byte) bool {
	udt, ok := info.(cql.UDTTypeInfo)
	if data == nil || !ok {
		want, err := s.MarshalCQL(info)
		return data == nil || err == nil && bytes.Equal(data, want)
	}
	for i := 0; i < len(udt.Elements) && len(data) > 0; i++ {
		if len(data) < 4 {
			return false
		}
		n := int(int32(binary.BigEndian.Uint32(data)))
		data = data[4:]
		if n < 0 {
			continue
		}
		if n > len(data) || !s.isIn(udt.Elements[i].Type, data[:n]) {
			return false
		}
		data = data[n:]
	}
	return true
}

// rawCell is a destination that stores a cell with the type in which the driver decodes it.
type rawCell struct {
	info cql.TypeInfo
	data []byte
}

// UnmarshalCQL implements cql.Unmarshaler.
func (c *rawCell) UnmarshalCQL(info cql.TypeInfo, data []byte) error {
	c.info, c.data = info, data
	return nil
}

// storm is a table under load whose schema changes.
type storm struct {
	t        *testing.T
	s, other *vecql.Session // of the load, and of another client
	ks       string
	replicas int
	// A change takes longer than a request, so that a column may get another type of the same size: the protocol does not
	// let a node recognize values that were encoded before a change and arrive after it.
	slow         bool
	bulk         *bulk.Writer
	rejected     atomic.Pointer[error] // the last one of bulk
	insert       *vecql.Statement[stormRow]
	rows, failed atomic.Int64
	mu           sync.Mutex
	errs         map[string]int
}

// stormRow has stamps for all columns.
type stormRow struct {
	K          int
	A, B, C, D stamp
	U          stamp
}

func newStormRow(k int) *stormRow {
	s := stamp(k)
	return &stormRow{k, s, s, s, s, s}
}

// stormKeys is the number of rows.
const stormKeys = 60

func (st *storm) text(format string) string { return strings.ReplaceAll(format, "ks.", st.ks+".") }

const (
	stormInsert = "INSERT INTO ks.storm (k, a, b, c, d, u) VALUES (?, ?, ?, ?, ?, ?)"
	stormShort  = "INSERT INTO ks.storm (k, d) VALUES (?, ?)"
)

// bad records a result that the schema does not explain.
func (st *storm) bad(format string, args ...any) { st.t.Errorf(format, args...) }

// requireStamp checks a value of row k.
func (st *storm) requireStamp(what string, k int, name string, info cql.TypeInfo, data []byte) {
	if !stamp(k).isIn(info, data) {
		st.bad("%s: row %d, column %s: % x is not its value of type %v", what, k, name, data, info)
	}
}

// requireValue is requireStamp for a value that the driver has decoded.
func (st *storm) requireValue(what string, k int, name string, info cql.TypeInfo, v any) {
	if name == "k" || name == "key" || v == nil {
		return
	}
	data, err := vecql.Marshal(info, v)
	if err != nil {
		st.bad("%s: row %d, column %s: %v of type %v: %v", what, k, name, v, info, err)
		return
	}
	st.requireStamp(what, k, name, info, data)
}

// batch returns the rows from k as a batch.
func (st *storm) batch(k, n int) *column.Batch {
	var keys []int32
	var values []int64
	for i := k; i < k+n; i++ {
		keys, values = append(keys, int32(i)), append(values, int64(i)*1000+1)
	}
	return column.NewBatch(column.Of("k", keys), column.Of("d", values))
}

// operations are the requests of the load, by name.
func (st *storm) operations() map[string]func(ctx context.Context, k int) error {
	return map[string]func(context.Context, int) error{
		"insert": func(ctx context.Context, k int) error {
			s := stamp(k)
			return st.s.Query(st.text(stormInsert), k, s, s, s, s, s).Exec(ctx)
		},
		"insert idempotent": func(ctx context.Context, k int) error {
			s := stamp(k)
			return st.s.Query(st.text(stormInsert), k, s, s, s, s, s).Idempotent(true).Exec(ctx)
		},
		"speculative": func(ctx context.Context, k int) error {
			policy := &vecql.SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: time.Millisecond}
			s := stamp(k)
			return st.s.Query(st.text(stormInsert), k, s, s, s, s, s).Idempotent(true).SpeculativeExecutionPolicy(policy).Exec(ctx)
		},
		"typed": func(ctx context.Context, k int) error { return st.insert.Exec(ctx, newStormRow(k)) },
		"batch": func(ctx context.Context, k int) error {
			b := st.s.Batch(cql.LoggedBatch)
			for i := k; i < k+3; i++ {
				s := stamp(i)
				b.Query(st.text(stormInsert), i, s, s, s, s, s)
				b.Query(st.text("UPDATE ks.storm SET a = ?, u = ? WHERE k = ?"), s, s, i)
			}
			return b.Exec(ctx)
		},
		"exec rows": func(ctx context.Context, k int) error {
			return st.s.Query(st.text(stormShort)).ExecRows(ctx, st.batch(k, 5))
		},
		"bulk": func(ctx context.Context, k int) error {
			st.rejected.Store(nil)
			if err := st.bulk.Write(ctx, st.batch(k, 10)); err != nil {
				return err
			}
			if err := st.bulk.Flush(ctx); err != nil {
				return err
			}
			if err := st.rejected.Load(); err != nil {
				return *err
			}
			return nil
		},
		"conditional": func(ctx context.Context, k int) error {
			m := map[string]any{}
			_, err := st.s.Query(st.text("UPDATE ks.storm SET a = ? WHERE k = ? IF EXISTS"), stamp(k), k).MapScanCAS(ctx, m)
			return err
		},
		"one row": st.readOne,
		"rows":    st.readRows,
		"star":    st.readStar,
		"pages": func(ctx context.Context, _ int) error {
			return st.readBatches(st.s.Query(st.text("SELECT * FROM ks.storm")).PageSize(9).Batches(ctx))
		},
		"table scan": func(ctx context.Context, _ int) error {
			scan, err := tablescan.New(ctx, st.s, st.text("SELECT k, b, c FROM ks.storm"), tablescan.Config{})
			if err != nil {
				return err
			}
			return st.readBatches(scan.Batches(ctx))
		},
	}
}

func (st *storm) readOne(ctx context.Context, k int) error {
	m := map[string]any{}
	it := st.s.Query(st.text("SELECT a, b, u FROM ks.storm WHERE k = ?"), k).Iter(ctx)
	if it.MapScan(m) {
		for _, c := range it.Columns() {
			st.requireValue("one row", k, c.Name, c.TypeInfo, m[c.Name])
		}
	}
	return it.Close()
}

func (st *storm) readRows(ctx context.Context, _ int) error {
	type row struct {
		K             int
		D, C, B, A, U rawCell
	}
	for r, err := range vecql.Rows[row](ctx, st.s.Query(st.text("SELECT k, a, b, c, d, u FROM ks.storm")).PageSize(13)) {
		if err != nil {
			return err
		}
		for name, c := range map[string]rawCell{"a": r.A, "b": r.B, "c": r.C, "d": r.D, "u": r.U} {
			st.requireStamp("rows", r.K, name, c.info, c.data)
		}
		st.rows.Add(1)
	}
	return nil
}

// readStar reads all columns, which may change between two pages.
func (st *storm) readStar(ctx context.Context, _ int) error {
	it := st.s.Query(st.text("SELECT * FROM ks.storm")).PageSize(7).Iter(ctx)
	for {
		m := map[string]any{}
		if !it.MapScan(m) {
			return it.Close()
		}
		columns := it.Columns()
		k, ok := m[columns[0].Name].(int)
		if !ok || len(m) != len(columns) {
			st.bad("star: %v in columns %v", m, columns)
			continue
		}
		for _, c := range columns {
			st.requireValue("star", k, c.Name, c.TypeInfo, m[c.Name])
		}
		st.rows.Add(1)
	}
}

func (st *storm) readBatches(seq func(func(*column.Batch, error) bool)) error {
	for b, err := range seq {
		if err != nil {
			return err
		}
		for i := range b.Rows {
			k, ok := b.Columns[0].Value(i).(int32)
			if !ok {
				st.bad("pages: the key is %v", b.Columns[0].Value(i))
				return nil
			}
			for n := range b.Columns[1:] {
				st.requireColumn(int(k), &b.Columns[1+n], i)
			}
		}
	}
	return nil
}

// requireColumn checks a value of a column of row k by its Go type, since a batch has no CQL types.
func (st *storm) requireColumn(k int, c *column.Column, i int) {
	var info cql.TypeInfo
	switch c.Value(i).(type) {
	case int32:
		info = cql.NativeType(cql.TypeInt)
	case int64:
		info = cql.NativeType(cql.TypeBigInt)
	case float32:
		info = cql.NativeType(cql.TypeFloat)
	case float64:
		info = cql.NativeType(cql.TypeDouble)
	case time.Time:
		info = cql.NativeType(cql.TypeTimestamp)
	default:
		return
	}
	st.requireValue("pages", k, c.Name, info, c.Value(i))
}

// run calls an operation, and records its error. Some errors never follow from a change of the schema.
func (st *storm) run(name string, op func(context.Context, int) error) error {
	ctx, cancel := context.WithTimeout(st.t.Context(), time.Minute)
	defer cancel()
	err := op(ctx, rand.IntN(stormKeys))
	if err == nil {
		return nil
	}
	st.failed.Add(1)
	var protocol *cql.ProtocolError
	var marshal *cql.MarshalError
	var unmarshal *cql.UnmarshalError
	fewer := errors.As(err, &unmarshal) && unmarshal.Column == "u" // fields in the type of a node than in the value of another
	if errors.As(err, &protocol) || errors.As(err, &marshal) || unmarshal != nil && !fewer ||
		errors.Is(err, cql.CodeSyntax) {
		st.bad("%s: %v", name, err)
	}
	cause := err
	var server *cql.ServerError
	if errors.As(err, &server) {
		cause = server
	}
	st.mu.Lock()
	st.errs[fmt.Sprintf("%s: %.160v", vecql.ErrorClassOf(err), cause)]++
	st.mu.Unlock()
	return err
}

// create creates the table, with other types than before.
func (st *storm) create(s *vecql.Session) {
	pick := func(types ...string) string { return types[rand.IntN(len(types))] }
	columns := []string{
		"a " + pick("int", "double"), "b " + pick("bigint", "float"), "c text", "d " + pick("int", "bigint"), "u frozen<pair>",
	}
	if st.slow {
		columns = []string{
			"a " + pick("int", "float"), "b " + pick("bigint", "double", "timestamp"), "c " + pick("text", "blob"),
			"d " + pick("int", "bigint", "varint"), "u frozen<pair>",
		}
	}
	rand.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
	st.change(s, "CREATE TABLE ks.storm (k int PRIMARY KEY, "+strings.Join(columns, ", ")+")")
}

// change executes a schema change.
func (st *storm) change(s *vecql.Session, stmt string) {
	st.t.Helper()
	ctx, cancel := context.WithTimeout(st.t.Context(), time.Minute)
	defer cancel()
	stmt = strings.ReplaceAll(st.text(stmt), "frozen<pair>", "frozen<"+st.ks+".pair>")
	if err := s.Query(stmt).Exec(ctx); err != nil {
		st.t.Errorf("%s: %v", stmt, err)
	}
}

// createKeyspace creates the keyspace with its type and its table.
func (st *storm) createKeyspace(s *vecql.Session) {
	dc := s.GetHosts()[0].DataCenter
	st.change(s, fmt.Sprintf("CREATE KEYSPACE %s WITH replication = {'class': 'NetworkTopologyStrategy', '%s': %d}", st.ks, dc, st.replicas))
	st.change(s, "CREATE TYPE ks.pair (x int, y text)")
	st.create(s)
}

// changes are the schema changes. Each leaves a table that has the columns of the operations.
func (st *storm) changes() []func(s *vecql.Session, n int) {
	return []func(*vecql.Session, int){
		func(s *vecql.Session, n int) {
			st.change(s, fmt.Sprintf("ALTER TABLE ks.storm ADD aa%d int", n))
			st.change(s, fmt.Sprintf("ALTER TABLE ks.storm ADD bb%d text", n))
			st.change(s, fmt.Sprintf("ALTER TABLE ks.storm DROP aa%d", n))
		},
		func(s *vecql.Session, _ int) {
			st.change(s, "ALTER TABLE ks.storm RENAME k TO key")
			st.change(s, "ALTER TABLE ks.storm RENAME key TO k")
		},
		func(s *vecql.Session, _ int) {
			st.change(s, "DROP TABLE ks.storm")
			st.create(s)
		},
		func(s *vecql.Session, _ int) { st.change(s, "TRUNCATE ks.storm") },
		func(s *vecql.Session, n int) {
			st.change(s, fmt.Sprintf("ALTER TYPE ks.pair ADD z%d bigint", n))
			st.change(s, "ALTER TYPE ks.pair RENAME x TO xx")
			st.change(s, "ALTER TYPE ks.pair RENAME xx TO x")
		},
		func(s *vecql.Session, _ int) {
			st.change(s, "DROP KEYSPACE "+st.ks)
			st.createKeyspace(s)
		},
	}
}

// requireStable fails unless all operations succeed soon, and from then on.
func (st *storm) requireStable(after string, times int) {
	deadline := time.Now().Add(30 * time.Second)
	for name, op := range st.operations() {
		for {
			err := st.run(name, op)
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				st.t.Fatalf("%s still fails after %s: %v", name, after, err)
			}
			time.Sleep(time.Millisecond)
		}
	}
	for range times {
		for name, op := range st.operations() {
			require.NoError(st.t, st.run(name, op), "%s fails again after %s", name, after)
		}
	}
}

// TestFault52Storm changes the schema under load: columns, names of key columns and fields, other types, the table, the
// type and the keyspace again. Each value read must be one that was written for its column and its type. When the
// schema stays as it is, no operation fails any more.
func TestFault52Storm(t *testing.T) {
	for _, m := range []struct {
		name    string
		kind    kind
		version int
		soak    bool
	}{
		{"cqltest", embeddedThree, 5, false},
		{"cqltest", embeddedThree, 4, false},
		{"cqltest-scylla", embeddedScylla, 4, false},
		{"one", plainNode, 5, true},
		{"one", plainNode, 4, true},
		{"three", threeNodes, 5, true},
		{"three", threeNodes, 4, true},
	} {
		t.Run(fmt.Sprintf("%s/version=%d", m.name, m.version), func(t *testing.T) {
			if m.soak {
				soak.Only(t)
			}
			cfg := config(t, m.kind)
			cfg.Protocol.Version = m.version
			held := pooled.Held.Load()
			before := sockets()
			st := &storm{t: t, errs: map[string]int{}, replicas: 1, slow: !m.kind.embedded()}
			for _, s := range []**vecql.Session{&st.s, &st.other} {
				var err error
				*s, err = vecql.NewSession(t.Context(), *cfg)
				require.NoError(t, err)
				defer (*s).Close()
			}
			if m.kind != plainNode {
				st.replicas = 3
			}
			st.ks = fmt.Sprint("storm", time.Now().UnixNano()%1e9)
			st.play(soak.Time(0, 25*time.Second))
			require.NoError(t, st.bulk.Close(t.Context()))
			st.change(st.s, "DROP KEYSPACE "+st.ks)
			for _, n := range append(st.s.Stats().Nodes, st.other.Stats().Nodes...) {
				require.Zero(t, n.InFlight)
			}
			st.s.Close()
			st.other.Close()
			requireNothingLeft(t, before)
			require.Eventually(t, func() bool { return pooled.Held.Load() <= held }, 10*time.Second, time.Millisecond)
		})
	}
}

// play runs the load and the changes for a time.
func (st *storm) play(length time.Duration) {
	t := st.t
	st.createKeyspace(st.other)
	var err error
	st.insert, err = vecql.Prepare[stormRow](t.Context(), st.s.Query(st.text(stormInsert)))
	require.NoError(t, err)
	st.bulk, err = bulk.New(t.Context(), st.s, st.text(stormShort), bulk.Options{
		RetryFor: 5 * time.Second, MaxRejected: math.MaxInt32,
		Rejected: func(r bulk.Rejection) error { st.rejected.Store(&r.Err); return nil },
	})
	require.NoError(t, err)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for name, op := range st.operations() {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_ = st.run(name, op)
				}
			}
		})
	}
	changes := st.changes()
	n := 0
	for began := time.Now(); time.Since(began) < length || n < len(changes); n++ {
		s := st.other
		if n%3 == 0 {
			s = st.s
		}
		i := n
		if n >= len(changes) {
			i = rand.IntN(len(changes))
		}
		changes[i](s, n)
		if n%4 == 3 {
			st.requireStable(fmt.Sprint("change ", i), 1)
		}
	}
	close(done)
	wg.Wait()
	st.requireStable("all changes", 5)
	t.Logf("%d changes, %d rows read, %d operations failed", n, st.rows.Load(), st.failed.Load())
	for text, n := range st.errs {
		t.Logf("%6d %s", n, text)
	}
}
