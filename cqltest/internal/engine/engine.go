// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// The engine: options, clock and virtual tables.

// Options configure an Engine; the zero value works.
type Options struct {
	Now     func() time.Time // clock of timestamps, TTLs and now(); nil means time.Now
	Version string           // release_version; empty means "5.0.9"
	Cluster string           // name of the cluster, for DESCRIBE CLUSTER
	Scylla  bool             // lays out schema tables like ScyllaDB
	Release string           // of ScyllaDB; empty means a new one
	Tablets bool             // keyspaces of ScyllaDB with NetworkTopologyStrategy have tablets
	// VectorStore answers ScyllaDB's searches by vectors; nil means that they are disabled.
	VectorStore *VectorStore
	SAI         SAI // of Cassandra
	// Streams has the streams of ScyllaDB's change data capture; nil means that tables have no logs.
	Streams Streams
	// DataCenters returns the number of nodes by data center; nil means unknown. A replication_factor of
	// NetworkTopologyStrategy applies to each data center, and other names are refused.
	DataCenters func() map[string]int
	// Roles returns the names of the roles, for LIST ROLES; none, and nil, mean that clients are anonymous.
	Roles func() []string
	// BatchSizeFail is the size in bytes above which a batch over several partitions is refused ("Batch too large"), like
	// Cassandra's batch_size_fail_threshold. 0 means 50 KiB, negative means no limit.
	BatchSizeFail int
}

// An Engine is the data of a whole cluster. It is safe for concurrent use.
type Engine struct {
	options  Options
	schema   atomic.Pointer[schema]
	change   sync.Mutex // held while the schema is changed
	clock    atomic.Int64
	sequence atomic.Int64 // last number of a list element
	tick     atomic.Int64 // last time of a time UUID, in 100 ns
	node     [8]byte      // of time UUIDs: clock sequence and node
	started  time.Time
}

// New returns an Engine that has only the system keyspaces.
func New(options Options) *Engine {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Version == "" {
		options.Version = "5.0.9"
	}
	if options.BatchSizeFail == 0 {
		options.BatchSizeFail = 50 << 10
	}
	e := &Engine{options: options, started: options.Now()}
	id := newID()
	copy(e.node[:], id[8:])
	e.node[2] |= 1 // multicast bit: marks a random node id
	e.schema.Store(&schema{version: newID(), keyspaces: map[string]*keyspace{}})
	e.addSystem()
	return e
}

// micros returns a timestamp that is after all earlier ones and not before the clock.
func (e *Engine) micros() int64 {
	for {
		last := e.clock.Load()
		next := max(e.options.Now().UnixMicro(), last+1)
		if e.clock.CompareAndSwap(last, next) {
			return next
		}
	}
}

// A Virtual is a table whose rows are computed per query, for the node that received the request.
type Virtual struct {
	Keyspace, Name string
	// Columns is "name type" for each column, with semicolons between them. Key columns are listed in key order, and end
	// in " p" in the partition key, in " c" for clustering columns.
	Columns string
	// Rows returns all rows for the node of the request (Request.Node). Cells are Go values by the type of the column:
	// string, int, int64, bool, float64, [16]byte (uuid, timeuuid), netip.Addr, time.Time (timestamp), []byte (already
	// serialized), []string (set, list), map[string]string, nil. A missing key is NULL. A value that does not fit its
	// column fails the query.
	Rows    func(node any) []map[string]any
	Comment string
	// of replaces Rows for tables that describe the schema: it returns the rows of a part of the schema.
	of func(s *schema) []map[string]any
}

// AddVirtual adds the table, or replaces the one of the same name. A missing keyspace is created; clients cannot change
// it.
func (e *Engine) AddVirtual(v Virtual) {
	e.change.Lock()
	defer e.change.Unlock()
	s := e.schema.Load()
	k := s.keyspaces[v.Keyspace]
	if k == nil {
		k = &keyspace{name: v.Keyspace, durable: true, replication: map[string]string{"class": localStrategy}}
	}
	k = k.clone()
	k.system = true
	t := &table{
		ks: v.Keyspace, name: v.Name, id: nameID(v.Keyspace + "." + v.Name), virtual: &v,
		options: defaultOptions(),
	}
	t.options.values["comment"] = v.Comment
	for spec := range strings.SplitSeq(v.Columns, ";") {
		t.addVirtualColumn(strings.TrimSpace(spec))
	}
	t.finish()
	k.tables = k.tables.with(t)
	e.publish(s.with(k))
}

// addVirtualColumn adds a column of Virtual.Columns. A mistake in it is one of this module, not of a user.
func (t *table) addVirtualColumn(spec string) {
	name, typ, _ := strings.Cut(spec, " ")
	col := &column{name: name, kind: Regular, id: t.nextID}
	t.nextID++
	columns := &t.rest
	if rest, ok := strings.CutSuffix(typ, " p"); ok {
		typ, col.kind, columns = rest, PartitionKey, &t.pk
	} else if rest, ok := strings.CutSuffix(typ, " c"); ok {
		typ, col.kind, columns = rest, Clustering, &t.ck
	}
	n, err := cql.ParseType(typ)
	if err == nil {
		col.typ, err = (&schema{}).resolveType("", n, nil, 0)
	}
	if err != nil {
		panic(fmt.Sprintf("cqltest: %s: column %q: %v", t.name, spec, err))
	}
	if col.kind != Regular {
		col.pos = len(*columns)
	}
	*columns = append(*columns, col)
}

// publish makes s the current schema. Callers hold e.change.
func (e *Engine) publish(s *schema) {
	s.version = newID()
	e.schema.Store(s)
}
