// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/placement"
	"github.com/vecql/vecql/stats"
)

// The probes of one node.

// probeText reads the row of the node on itself, and its clock to 100 ns.
const probeText = "SELECT schema_version, release_version, now() FROM system.local WHERE key = 'local'"

// maxFailures is the number of failed probes after which a node is not asked again.
const maxFailures = 3

// examine asks one node.
func examine(ctx context.Context, session *vecql.Session, h *cql.Host, o Options) Node {
	n := Node{
		id: h.ID, Address: h.Address.String(), HostID: h.ID.String(), DataCenter: h.DataCenter, Rack: h.Rack,
		Version: h.Version,
	}
	if o.TLS != nil {
		n.checkTLS(ctx, o)
	}
	failures := 0
	for i := 0; i <= o.Probes && failures < maxFailures && ctx.Err() == nil; i++ {
		err := n.probe(ctx, session, o, i > 0) // the first one also prepares the statement
		if err != nil {
			failures++
			n.Error = errorText(err)
		}
	}
	n.addStats(session)
	if len(n.Latency) > 0 {
		n.Error = ""
		slices.Sort(n.Latency)
	}
	return n
}

// addStats adds the session's statistics of the node after the probes.
func (n *Node) addStats(session *vecql.Session) {
	for _, node := range session.Stats().Nodes {
		if node.HostID != n.HostID {
			continue
		}
		n.Connections, n.Shards = node.Connections, countShards(node.Conns)
		if n.Error != "" && node.LastError != nil {
			n.Error = errorText(node.LastError) // the cause of the failed requests
		}
	}
}

// errorText returns the text of an error without the name of the driver.
func errorText(err error) string { return strings.TrimPrefix(err.Error(), "vecql: ") }

// countShards returns the number of shards that have a connection.
func countShards(conns []stats.Conn) int {
	var shards []int
	for _, c := range conns {
		if c.Shard >= 0 {
			shards = append(shards, c.Shard)
		}
	}
	slices.Sort(shards)
	return len(slices.Compact(shards))
}

// probe sends one request. The clock comes from the fastest answer, whose time is known best.
func (n *Node) probe(ctx context.Context, session *vecql.Session, o Options, measured bool) error {
	var schema, now cql.UUID
	q := session.Query(probeText).HostID(n.id).Consistency(cql.One).RequestTimeout(o.Timeout).
		RetryPolicy(noRetry{})
	began := time.Now()
	err := q.Scan(ctx, &schema, &n.Version, &now)
	took := time.Since(began)
	if err != nil {
		return err
	}
	n.SchemaVersion = schema.String()
	if !measured {
		return nil
	}
	n.Latency = append(n.Latency, took)
	if !n.Clock.Known || took/2 < n.Clock.Uncertainty {
		n.Clock = Clock{Ahead: now.Time().Sub(began.Add(took / 2)), Uncertainty: took / 2, Known: true}
	}
	return nil
}

// noRetry measures single attempts.
type noRetry struct{}

// Decide implements vecql.RetryPolicy.
func (noRetry) Decide(context.Context, vecql.Attempt) vecql.Decision {
	return vecql.Decision{Type: vecql.Rethrow}
}

// checkTLS makes a connection of its own, because the driver does not show those that it has.
func (n *Node) checkTLS(ctx context.Context, o Options) {
	cfg := o.TLS.Clone()
	if cfg.ServerName == "" {
		cfg.ServerName, _, _ = net.SplitHostPort(n.Address)
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	c, err := (&tls.Dialer{Config: cfg}).DialContext(ctx, "tcp", n.Address)
	if err != nil {
		n.TLSError = err.Error()
		return
	}
	defer func() { _ = c.Close() }() // nothing was sent
	state := c.(*tls.Conn).ConnectionState()
	n.TLS = &TLS{Version: tls.VersionName(state.Version), Cipher: tls.CipherSuiteName(state.CipherSuite)}
	if len(state.PeerCertificates) > 0 {
		leaf := state.PeerCertificates[0]
		n.TLS.Subject, n.TLS.NotAfter = leaf.Subject.String(), leaf.NotAfter
	}
}

// shortName returns the name of a class without its package.
func shortName(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }

// factorsOf returns the replication factors of a keyspace by data center. Factors of transient replication, "3/1",
// count all replicas, and lists of racks their racks.
func factorsOf(options map[string]any) map[string]int {
	factors := map[string]int{}
	for dc, value := range options {
		text, _ := value.(string)
		if of, isRack := placement.RackOption(dc); isRack {
			if text != "" {
				factors[of]++
			}
			continue
		}
		text, _, _ = strings.Cut(text, "/")
		if n, err := strconv.Atoi(text); err == nil {
			if dc == "replication_factor" {
				dc = ""
			}
			factors[dc] = n
		}
	}
	return factors
}
