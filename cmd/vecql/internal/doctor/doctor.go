// SPDX-License-Identifier: Apache-2.0

// Package doctor examines a cluster: it asks each node for its state, measures latencies and clocks, and lists what is
// wrong or slow, with what to do about it.
package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/cql"
)

// Options of an examination.
type Options struct {
	Probes  int           // requests to each node; default 20
	Timeout time.Duration // of each request and connection; default 2 s
	TLS     *tls.Config   // of the session; nil means plain TCP
	// Password means that the session sends a password.
	Password bool
}

// A Report is the state of a cluster.
type Report struct {
	Cluster   string     `json:"cluster"`
	Protocol  int        `json:"protocol"` // version of the native protocol
	Nodes     []Node     `json:"nodes"`
	Keyspaces []Keyspace `json:"keyspaces"` // without the system's
	// SchemaError is why Keyspaces is empty, if the schema cannot be read.
	SchemaError string    `json:"schema_error,omitempty"`
	Findings    []Finding `json:"findings"`

	password bool
}

// A Node is the state of a node.
type Node struct {
	Address       string    `json:"address"`
	HostID        string    `json:"host_id"`
	DataCenter    string    `json:"data_center"`
	Rack          string    `json:"rack"`
	Version       string    `json:"version"`
	SchemaVersion string    `json:"schema_version,omitempty"`
	Error         string    `json:"error,omitempty"` // why it does not answer; the fields below are then zero
	TLS           *TLS      `json:"tls,omitempty"`
	TLSError      string    `json:"tls_error,omitempty"`
	Connections   int       `json:"connections"`
	Shards        int       `json:"shards,omitempty"`  // with a connection; 0 without shards
	Tablets       int       `json:"tablets,omitempty"` // replicas on the node
	Clock         Clock     `json:"clock"`
	Latency       Latencies `json:"latency"`

	id cql.UUID
}

// TLS describes the encryption of connections to a node.
type TLS struct {
	Version  string    `json:"version"`
	Cipher   string    `json:"cipher"`
	Subject  string    `json:"subject"`
	NotAfter time.Time `json:"not_after"`
}

// A Clock is the difference between the clock of a node and the clock of this machine.
type Clock struct {
	Ahead       time.Duration `json:"ahead_ns"` // of the node; negative means behind
	Uncertainty time.Duration `json:"uncertainty_ns"`
	Known       bool          `json:"known"`
}

// Latencies are the round trips of the probes, sorted.
type Latencies []time.Duration

// Quantile returns the latency that a share q of all do not exceed, 0 if there are none.
func (l Latencies) Quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[min(int(q*float64(len(l))), len(l)-1)]
}

// A Keyspace is the replication of a keyspace.
type Keyspace struct {
	Name     string         `json:"name"`
	Strategy string         `json:"strategy"`
	Factors  map[string]int `json:"factors"` // by data center; SimpleStrategy has the one of ""
	Tables   int            `json:"tables"`
	Tablets  int            `json:"tablets,omitempty"`
}

// Examine asks all nodes at once and returns a report. Failures are part of the report.
func Examine(ctx context.Context, session *vecql.Session, o Options) *Report {
	if o.Probes <= 0 {
		o.Probes = 20
	}
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Second
	}
	r := &Report{Protocol: session.ProtoVersion(), password: o.Password}
	awaitNodes(ctx, session, o.Timeout)
	hosts := session.GetHosts()
	r.Nodes = make([]Node, len(hosts))
	var probes sync.WaitGroup
	for i, h := range hosts {
		r.Cluster = cmp.Or(r.Cluster, h.ClusterName)
		probes.Go(func() { r.Nodes[i] = examine(ctx, session, h, o) })
	}
	probes.Wait()
	slices.SortFunc(r.Nodes, func(a, b Node) int {
		return cmp.Or(strings.Compare(a.DataCenter, b.DataCenter), strings.Compare(a.Address, b.Address))
	})
	r.readKeyspaces(ctx, session)
	r.Findings = r.findings(time.Now())
	return r
}

// awaitNodes waits until the nodes have connections, at most for the timeout.
func awaitNodes(ctx context.Context, session *vecql.Session, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_ = session.Ready(ctx) // the report has the nodes that are not ready
}

// readKeyspaces reads the keyspaces of programs, and the tablets of their tables.
func (r *Report) readKeyspaces(ctx context.Context, session *vecql.Session) {
	all, err := session.AllKeyspaceMetadata(ctx)
	if err != nil {
		r.SchemaError = errorText(err)
		return
	}
	replicas := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if clustertable.IsSystem(name) {
			continue
		}
		metadata := all[name]
		k := Keyspace{Name: name, Strategy: shortName(metadata.StrategyClass), Tables: len(metadata.Tables)}
		k.Factors = factorsOf(metadata.StrategyOptions)
		for table := range metadata.Tables {
			k.Tablets += countTablets(ctx, session, name, table, replicas)
		}
		r.Keyspaces = append(r.Keyspaces, k)
	}
	for i := range r.Nodes {
		r.Nodes[i].Tablets = replicas[r.Nodes[i].HostID]
	}
}

// countTablets returns the number of tablets of a table, and adds their replicas by host id.
func countTablets(ctx context.Context, session *vecql.Session, keyspace, table string, replicas map[string]int) int {
	ranges, err := session.TokenRanges(ctx, keyspace, table)
	if err != nil {
		return 0
	}
	tablets := 0
	for _, tablet := range ranges {
		if len(tablet.Replicas) == 0 || tablet.Replicas[0].Shard < 0 { // a range of the ring
			continue
		}
		tablets++
		for _, replica := range tablet.Replicas {
			replicas[replica.HostID.String()]++
		}
	}
	return tablets
}
