// SPDX-License-Identifier: Apache-2.0

// Package top reads what the nodes of a cluster do: Cassandra's virtual tables of each node, and the changes between
// two readings.
package top

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// ErrNoTables means that the server has no virtual tables of requests: ScyllaDB, and Cassandra before 4.0.
var ErrNoTables = errors.New("the server has no tables of its requests in system_views: Cassandra has them since 4.0, and " +
	"ScyllaDB serves such metrics to Prometheus, at port 9180")

// A Sample is the counters of the nodes at one time.
type Sample struct{ nodes []node }

// A node is the counters of a node.
type node struct {
	address   string
	at        time.Time
	err       error
	answer    time.Duration // for the first query
	clients   int
	completed int64 // requests since the start of the node
	active    int64 // tasks of all thread pools
	pending   int64
	blocked   int64
	tasks     []string // kinds of the tasks on files
	// Requests that the node has coordinated since its start, by table.
	reads, writes map[string]int64
}

// A counter is a row of system_views.coordinator_read_latency or coordinator_write_latency. The latencies there are not
// read: Cassandra 5.0.9 divides microseconds by a million to get milliseconds, and keeps three decimals.
type counter struct {
	Keyspace string `cql:"keyspace_name"`
	Table    string `cql:"table_name"`
	Count    int64
}

// A pool is a row of system_views.thread_pools.
type pool struct {
	Name      string
	Active    int64 `cql:"active_tasks"`
	Pending   int64 `cql:"pending_tasks"`
	Blocked   int64 `cql:"blocked_tasks"`
	Completed int64 `cql:"completed_tasks"`
}

// requestPool is the pool whose tasks are the requests of clients.
const requestPool = "Native-Transport-Requests"

// patience is how long a node may take for an answer.
const patience = 2 * time.Second

// Take reads the counters of all nodes, at the same time. It returns [ErrNoTables] if a node has none. A node that does
// not answer is in the sample, with its error.
func Take(ctx context.Context, session *vecql.Session) (*Sample, error) {
	hosts := session.GetHosts()
	s := &Sample{nodes: make([]node, len(hosts))}
	var reading sync.WaitGroup
	for i, h := range hosts {
		reading.Go(func() {
			n := &s.nodes[i]
			n.address = h.Address.String()
			n.err = n.read(ctx, session, h.ID)
			n.at = time.Now()
		})
	}
	reading.Wait()
	for _, n := range s.nodes {
		if errors.Is(n.err, cql.CodeInvalid) {
			return nil, ErrNoTables
		}
	}
	return s, ctx.Err()
}

// read reads the counters of a node.
func (n *node) read(ctx context.Context, session *vecql.Session, id cql.UUID) error {
	query := func(text string) *vecql.Query {
		return session.Query(text).HostID(id).Consistency(cql.One).Idempotent(true).RequestTimeout(patience)
	}
	pools := query("SELECT name, active_tasks, pending_tasks, blocked_tasks, completed_tasks FROM system_views.thread_pools")
	began := time.Now()
	for p, err := range vecql.Rows[pool](ctx, pools) {
		if err != nil {
			return err
		}
		n.active, n.pending, n.blocked = n.active+p.Active, n.pending+p.Pending, n.blocked+p.Blocked
		if p.Name == requestPool {
			n.completed = p.Completed
		}
	}
	n.answer = time.Since(began)
	for _, err := range vecql.Rows[struct{ Port int }](ctx, query("SELECT port FROM system_views.clients")) {
		if err != nil {
			return err
		}
		n.clients++
	}
	for t, err := range vecql.Rows[struct{ Kind string }](ctx, query("SELECT kind FROM system_views.sstable_tasks")) {
		if err != nil {
			return err
		}
		n.tasks = append(n.tasks, t.Kind)
	}
	var err error
	if n.reads, err = counts(ctx, query(countText+"coordinator_read_latency")); err == nil {
		n.writes, err = counts(ctx, query(countText+"coordinator_write_latency"))
	}
	return err
}

// countText reads the numbers of requests of a table, whose name follows.
const countText = "SELECT keyspace_name, table_name, count FROM system_views."

// counts returns numbers of requests by the name of their table.
func counts(ctx context.Context, q *vecql.Query) (map[string]int64, error) {
	all := map[string]int64{}
	for c, err := range vecql.Rows[counter](ctx, q) {
		if err != nil {
			return nil, err
		}
		all[c.Keyspace+"."+c.Table] = c.Count
	}
	return all, nil
}

// A Report is what happened between two samples.
type Report struct {
	Nodes  []Node
	Tables []Table // with reads or writes, the busiest ones first
}

// A Node is what a node does.
type Node struct {
	Address                  string
	Err                      error         // why the node does not answer; the other fields are zero
	Answer                   time.Duration // for a query of this package
	Clients                  int           // connections
	Requests                 float64       // a second, the ones of this package included
	Active, Pending, Blocked int64         // tasks of all thread pools
	Tasks                    []string      // kinds of the tasks on files, such as compactions
}

// A Table is the requests to a table that nodes coordinate, a second.
type Table struct {
	Name          string
	Reads, Writes float64
}

// Since returns what happened from the sample before to s.
func (s *Sample) Since(before *Sample) Report {
	var r Report
	tables := map[string]*Table{}
	for i := range s.nodes {
		n := &s.nodes[i]
		r.Nodes = append(r.Nodes, Node{
			Address: n.address, Err: n.err, Answer: n.answer, Clients: n.clients,
			Active: n.active, Pending: n.pending, Blocked: n.blocked, Tasks: n.tasks,
		})
		k := slices.IndexFunc(before.nodes, func(o node) bool { return o.address == n.address && o.err == nil })
		if n.err != nil || k < 0 {
			continue
		}
		old := &before.nodes[k]
		seconds := max(n.at.Sub(old.at).Seconds(), 1e-3)
		r.Nodes[i].Requests = rate(n.completed-old.completed, seconds)
		for name, count := range n.reads {
			tableOf(tables, name).Reads += rate(count-old.reads[name], seconds)
		}
		for name, count := range n.writes {
			tableOf(tables, name).Writes += rate(count-old.writes[name], seconds)
		}
	}
	for _, t := range tables {
		if t.Reads+t.Writes > 0 {
			r.Tables = append(r.Tables, *t)
		}
	}
	slices.SortFunc(r.Tables, func(a, b Table) int {
		return cmp.Or(cmp.Compare(b.Reads+b.Writes, a.Reads+a.Writes), cmp.Compare(a.Name, b.Name))
	})
	return r
}

func tableOf(tables map[string]*Table, name string) *Table {
	if tables[name] == nil {
		tables[name] = &Table{Name: name}
	}
	return tables[name]
}

// rate returns a number a second, 0 for the negative number of a node that has started again.
func rate(n int64, seconds float64) float64 { return max(0, float64(n)) / seconds }
