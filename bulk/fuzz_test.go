// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// The requests of a writer, as a cluster receives them, are those that a reference forms.

// groupSchema has a table for each number of replicas, of three nodes. A row without n, a clustering column, is refused
// by the server.
const groupSchema = `CREATE KEYSPACE of%[1]d WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %[1]d};
	CREATE TABLE of%[1]d.events (id bigint, n int, m int, a text, PRIMARY KEY (id, n, m))`

// A groupRow is a row of groupSchema. NULL is nil.
type groupRow struct {
	id   *int64
	n, m *int32
	a    *string
}

// groupRows makes rows from bytes, up to five a row: few partitions, long and short texts, NULLs.
func groupRows(data []byte) (rows []groupRow) {
	next := func() (b byte) {
		if len(data) > 0 {
			b, data = data[0], data[1:]
		}
		return b
	}
	row := groupRow{id: new(int64), n: new(int32), m: new(int32), a: new(string)}
	for len(data) > 0 && len(rows) < 300 {
		how := next()
		if how&1 != 0 { // another partition
			row.id = pointerTo(int64(next() % 16))
		}
		if n := int32(1); how&2 == 0 { // by default the next row
			if row.n != nil {
				n += *row.n
			}
			row.n = &n
		} else {
			row.n = pointerTo(int32(next() % 4))
		}
		if how&4 != 0 {
			row.m = pointerTo(int32(next() % 4))
		}
		if how&8 != 0 {
			b := next()
			row.a = pointerTo(strings.Repeat(string('a'+rune(b%16)), int(b>>4)*int(b>>4)*30))
		}
		out := row
		switch {
		case how>>4 == 15:
			out.id = nil
		case how>>4 == 14:
			out.n = nil
		case how>>4 >= 11:
			out.a = nil
		}
		rows = append(rows, out)
	}
	return rows
}

func pointerTo[T any](v T) *T { return &v }

// batchOf returns the rows as a batch.
func batchOf(rows []groupRow) *column.Batch {
	b := column.NewBatch(columnOf("id", rows, func(r groupRow) *int64 { return r.id }),
		columnOf("n", rows, func(r groupRow) *int32 { return r.n }),
		columnOf("m", rows, func(r groupRow) *int32 { return r.m }), textsOf("a", rows))
	b.Source = column.Source{File: "rows"}
	return b
}

func columnOf[T int32 | int64](name string, rows []groupRow, of func(r groupRow) *T) column.Column {
	values, null := make([]T, len(rows)), make([]bool, len(rows))
	for i, r := range rows {
		if v := of(r); v != nil {
			values[i] = *v
		} else {
			null[i] = true
		}
	}
	return column.Of(name, values).WithNulls(null)
}

func textsOf(name string, rows []groupRow) column.Column {
	values, null := make([]string, len(rows)), make([]bool, len(rows))
	for i, r := range rows {
		if r.a != nil {
			values[i] = *r.a
		} else {
			null[i] = true
		}
	}
	return column.Strings(name, values).WithNulls(null)
}

// texts returns the values of the row as cqltest shows them.
func (r groupRow) texts() [4]string {
	text := [4]string{"null", "null", "null", "null"}
	if r.id != nil {
		text[0] = fmt.Sprint(*r.id)
	}
	if r.n != nil {
		text[1] = fmt.Sprint(*r.n)
	}
	if r.m != nil {
		text[2] = fmt.Sprint(*r.m)
	}
	if r.a != nil {
		text[3] = "'" + *r.a + "'"
	}
	return text
}

// size returns the length of the values in a request: four bytes each besides their content.
func (r groupRow) size() int {
	size := 4 * 4
	if r.id != nil {
		size += 8
	}
	if r.n != nil {
		size += 4
	}
	if r.m != nil {
		size += 4
	}
	if r.a != nil {
		size += len(*r.a)
	}
	return size
}

// A groupReference forms batches by the rules of the package documentation, with maps.
type groupReference struct {
	rows           []groupRow
	replicas       []map[vecql.Replica]bool // of each row
	most, mostKeys int
}

// groups returns the rows of each request, the rows of a batch that the server refuses followed by its rows one by
// one. A row without a partition key has no replicas, and a request of its own.
func (g *groupReference) groups() (groups [][]int) {
	var group []int
	end := func() {
		if len(group) > 0 {
			groups = append(groups, group)
		}
		refused := slices.ContainsFunc(group, func(i int) bool { return g.rows[i].n == nil })
		for _, i := range group {
			if refused && len(group) > 1 {
				groups = append(groups, []int{i})
			}
		}
		group = nil
	}
	for i, r := range g.rows {
		if len(group) > 0 && !g.mayHold(append(slices.Clone(group), i)) {
			end()
		}
		group = append(group, i)
		if r.id == nil {
			end()
		}
	}
	end()
	return groups
}

// mayHold reports whether a request may have these rows.
func (g *groupReference) mayHold(group []int) bool {
	keys, size, partitions := map[[3]string]bool{}, 0, 0
	common := map[vecql.Replica]int{}
	for at, i := range group {
		r := g.rows[i]
		if r.id == nil {
			return false
		}
		text := r.texts()
		keys[[3]string(text[:3])] = true
		size += r.size()
		if at == 0 || *r.id != *g.rows[group[at-1]].id {
			partitions++
		}
		for replica := range g.replicas[i] {
			common[replica]++
		}
	}
	shared := false
	for _, n := range common {
		shared = shared || n == len(group)
	}
	if len(group) > g.most || len(keys) < len(group) {
		return false
	}
	return partitions == 1 && size <= batchBytes || partitions <= g.mostKeys && size <= acrossBytes && shared
}

// A groupCluster is a cluster with the tables of groupSchema that records the requests to them.
type groupCluster struct {
	*vecql.Session

	mu   sync.Mutex
	seen []groupRequest
}

type groupRequest struct {
	rows [][4]string
	node cql.UUID
}

func newGroupCluster(t testing.TB) *groupCluster {
	cluster := cqltest.New(t, cqltest.Config{Network: cqltest.InMemory})
	for replicas := 1; replicas <= 3; replicas++ {
		require.NoError(t, cluster.Exec(fmt.Sprintf(groupSchema, replicas)))
	}
	cfg := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
	cfg.Pool.Dialer, cfg.Defaults.Consistency = cluster.Dialer(), cql.One
	session, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	t.Cleanup(session.Close)
	require.NoError(t, session.Ready(t.Context()))
	c := &groupCluster{Session: session}
	for _, op := range []cqltest.Opcode{cqltest.OpExecute, cqltest.OpBatch} {
		cluster.Observe(cqltest.Fault{Op: op, Statement: "events", Match: c.record})
	}
	return c
}

// record stores the rows of a request.
func (c *groupCluster) record(q cqltest.Request) bool {
	one := groupRequest{node: q.Node.HostID()}
	for values := q.Values; len(values) >= 4; values = values[4:] {
		var row [4]string
		for k := range row {
			row[k] = values[k].Text()
		}
		one.rows = append(one.rows, row)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, one)
	return true
}

// targets returns the targets of each row.
func (c *groupCluster) targets(t *testing.T, table string, b *column.Batch) []map[vecql.Replica]bool {
	t.Helper()
	st, err := c.Query("INSERT INTO "+table+" (id, n, m, a) VALUES (:id, :n, :m, :a)").PrepareRows(t.Context(), b.Schema())
	require.NoError(t, err)
	all := make([]map[vecql.Replica]bool, b.Rows)
	var encoded vecql.EncodedRows
	for i := range all {
		if all[i] = map[vecql.Replica]bool{}; st.Encode(t.Context(), &encoded, b, i) == nil {
			for _, target := range encoded.Targets(nil) {
				all[i][target] = true
			}
		}
	}
	return all
}

// FuzzGroups writes rows and compares the requests that nodes receive with the reference's: the same rows together,
// in their order, each once, with all their values, on a node that is a replica of all. Each row is acknowledged or
// rejected.
func FuzzGroups(f *testing.F) {
	c := newGroupCluster(f)
	f.Add(byte(1), byte(0), bytes.Repeat([]byte{0}, 150))                                   // one partition
	f.Add(byte(1), byte(0), append([]byte{8, 0xF0}, bytes.Repeat([]byte{0}, 40)...))        // of long rows
	f.Add(byte(1), byte(0), []byte{6, 1, 1, 0, 6, 1, 2, 6, 1, 1, 6, 2, 1, 0, 6, 2, 1})      // rows with one key
	f.Add(byte(0), byte(4), bytes.Repeat([]byte{0, 0, 0xE0, 0}, 20))                        // refused ones
	f.Add(byte(2), byte(0x53), bytes.Repeat([]byte{1, 3, 0, 0xF0, 0, 1, 7, 0xE1, 5}, 20))   // without partition keys
	f.Add(byte(2), byte(0), bytes.Repeat([]byte{9, 1, 0x40, 9, 2, 0x10, 9, 3, 0x30, 0}, 8)) // of many sizes
	f.Add(byte(2), byte(0), []byte{1, 1, 1, 2, 8, 0xF0, 0})                                 // a large row after two partitions
	for replicas := range byte(3) {
		var across []byte
		for i := range byte(100) {
			across = append(across, 1, i*7)
		}
		f.Add(replicas, byte(0), across)
		f.Add(replicas, byte(0x30), across)
	}
	f.Fuzz(func(t *testing.T, replicas, bounds byte, data []byte) {
		rows := groupRows(data)
		b := batchOf(rows)
		table := fmt.Sprintf("of%d.events", replicas%3+1)
		want := &groupReference{rows: rows, replicas: c.targets(t, table, b), most: int(bounds & 15), mostKeys: int(bounds >> 4)}
		rejected := map[int64]int{}
		w, err := Insert(t.Context(), c.Session, table, Options{
			BatchRows: want.most, BatchPartitions: want.mostKeys, MaxRejectedPercent: 100,
			Rejected: func(r Rejection) error { rejected[r.Index]++; return nil },
		})
		require.NoError(t, err)
		want.most, want.mostKeys = w.o.BatchRows, w.o.BatchPartitions
		c.seen = nil
		require.NoError(t, w.Write(t.Context(), b))
		require.NoError(t, w.Close(t.Context()))

		var wanted []groupRequest
		for _, group := range want.groups() {
			var one groupRequest
			for _, i := range group {
				one.rows = append(one.rows, rows[i].texts())
			}
			wanted = append(wanted, one)
		}
		requireRequests(t, wanted, c.seen)
		refused := 0
		for i, r := range rows {
			if r.id == nil || r.n == nil {
				refused++
				require.Equal(t, 1, rejected[int64(i)], "row %d", i)
			}
		}
		require.Len(t, rejected, refused)
		st := w.Stats()
		require.EqualValues(t, len(rows)-refused, st.Rows)
		require.EqualValues(t, len(rows), w.Checkpoint().Sources["rows"].Watermark())
		require.Zero(t, st.Pending+st.InFlight+int(st.PendingBytes))
		for _, one := range c.seen {
			for _, row := range one.rows {
				i := slices.IndexFunc(rows, func(r groupRow) bool { return r.texts() == row })
				onReplica := rows[i].id == nil
				for target := range want.replicas[i] {
					onReplica = onReplica || target.HostID == one.node
				}
				require.True(t, onReplica, "row %v is not on the node that it was sent to", row)
			}
		}
	})
}

// requireRequests fails unless two lists have the same rows in each request, in any order of requests.
func requireRequests(t *testing.T, want, got []groupRequest) {
	t.Helper()
	for _, list := range [][]groupRequest{want, got} {
		slices.SortFunc(list, func(a, b groupRequest) int {
			return slices.CompareFunc(a.rows, b.rows, func(a, b [4]string) int { return slices.Compare(a[:], b[:]) })
		})
	}
	require.Equal(t, len(want), len(got))
	for i := range want {
		require.Equal(t, want[i].rows, got[i].rows)
	}
}
