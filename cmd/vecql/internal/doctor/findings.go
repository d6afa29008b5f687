// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// What is wrong or slow, and what to do about it.

// A Severity is how urgent a finding is.
type Severity string

// The severities. A Problem makes requests fail or results differ; Advice is what may become one.
const (
	Problem Severity = "problem"
	Advice  Severity = "advice"
)

// A Finding is something that is wrong or slow.
type Finding struct {
	Severity Severity `json:"severity"`
	What     string   `json:"what"`
	Do       string   `json:"do"`
}

// The bounds of findings.
const (
	maxSkew       = 500 * time.Millisecond
	certificateIn = 30 * 24 * time.Hour // before a certificate ends
	slowFactor    = 4                   // of the median of the other nodes of the data center
	slowAtLeast   = 10 * time.Millisecond
	pauseFactor   = 20 // of the 99th percentile over the median of a node
	pauseAtLeast  = 250 * time.Millisecond
)

// Problems returns the number of findings that are problems.
func (r *Report) Problems() int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == Problem {
			n++
		}
	}
	return n
}

// findings returns the findings of a report: problems first.
func (r *Report) findings(now time.Time) []Finding {
	var list []Finding
	add := func(severity Severity, do, what string, args ...any) {
		list = append(list, Finding{severity, fmt.Sprintf(what, args...), do})
	}
	if r.SchemaError != "" {
		add(Problem, "check the permissions of the user", "the schema cannot be read: %s", r.SchemaError)
	}
	for i := range r.Nodes {
		r.nodeFindings(&r.Nodes[i], now, add)
	}
	r.schemaFindings(add)
	r.versionFindings(add)
	r.latencyFindings(add)
	r.keyspaceFindings(add)
	if r.password && len(r.Nodes) > 0 && r.Nodes[0].TLS == nil && r.Nodes[0].TLSError == "" {
		add(Advice, "enable TLS on the servers and set --tls or --ca", "the password crosses the network unencrypted")
	}
	slices.SortStableFunc(list, func(a, b Finding) int { return -strings.Compare(string(a.Severity), string(b.Severity)) })
	return list
}

// A reporter adds a finding.
type reporter func(severity Severity, do, what string, args ...any)

// nodeFindings adds what concerns one node: its connection, certificate and clock.
func (r *Report) nodeFindings(n *Node, now time.Time, add reporter) {
	if n.Error != "" {
		add(Problem, "check that the node runs (nodetool status) and that this machine reaches its address", "%s does not answer: %s",
			n.Address, n.Error)
	}
	if n.TLSError != "" && n.Error == "" {
		add(Advice, "compare the addresses and names in the certificate", "%s: TLS: %s", n.Address, n.TLSError)
	}
	if n.TLS != nil && !n.TLS.NotAfter.IsZero() && n.TLS.NotAfter.Sub(now) < certificateIn {
		add(Advice, "renew it", "the certificate of %s ends on %s", n.Address, n.TLS.NotAfter.Format(time.DateOnly))
	}
	if skew := n.Clock.Ahead.Abs() - n.Clock.Uncertainty; n.Clock.Known && skew > maxSkew {
		direction := "ahead of"
		if n.Clock.Ahead < 0 {
			direction = "behind"
		}
		add(Problem, "synchronize the clocks (chronyc tracking): write times decide which value remains",
			"the clock of %s is %v %s this machine's", n.Address, Round(n.Clock.Ahead.Abs()), direction)
	}
}

// schemaFindings adds a disagreement of the nodes about the schema.
func (r *Report) schemaFindings(add reporter) {
	byVersion := map[string][]string{}
	for i := range r.Nodes {
		if n := &r.Nodes[i]; n.SchemaVersion != "" {
			byVersion[n.SchemaVersion] = append(byVersion[n.SchemaVersion], n.Address)
		}
	}
	if len(byVersion) < 2 {
		return
	}
	var groups []string
	for _, nodes := range byVersion {
		groups = append(groups, strings.Join(nodes, ", "))
	}
	slices.Sort(groups)
	add(Problem, "wait a minute; if it stays, compare nodetool describecluster and restart the nodes that differ",
		"the nodes disagree on the schema: %s", strings.Join(groups, " / "))
}

// versionFindings adds nodes of different versions.
func (r *Report) versionFindings(add reporter) {
	versions := map[string]bool{}
	for i := range r.Nodes {
		if v := r.Nodes[i].Version; v != "" {
			versions[v] = true
		}
	}
	if len(versions) > 1 {
		add(Advice, "finish the upgrade", "the nodes have different versions: %s",
			strings.Join(slices.Sorted(maps.Keys(versions)), ", "))
	}
}

// latencyFindings adds nodes that are slower than the others of their data center, and nodes with long pauses.
func (r *Report) latencyFindings(add reporter) {
	for i := range r.Nodes {
		n := &r.Nodes[i]
		var others Latencies
		for k := range r.Nodes {
			if o := &r.Nodes[k]; k != i && o.DataCenter == n.DataCenter && len(o.Latency) > 0 {
				others = append(others, o.Latency.Quantile(.5))
			}
		}
		slices.Sort(others)
		median, p99 := n.Latency.Quantile(.5), n.Latency.Quantile(.99)
		switch typical := others.Quantile(.5); {
		case len(others) > 0 && median > slowFactor*typical && median-typical > slowAtLeast:
			add(Advice, "look at its load, disk and compactions (nodetool tpstats, nodetool compactionstats)",
				"%s is slow: half of its answers take more than %v, half of the other nodes' more than %v", n.Address, Round(median),
				Round(typical))
		case p99 > pauseFactor*median && p99 > pauseAtLeast:
			add(Advice, "look for pauses of the garbage collector or a full disk queue (nodetool gcstats, iostat)",
				"%s pauses: its slowest answer took %v, the median %v", n.Address, Round(p99), Round(median))
		}
	}
}

// keyspaceFindings adds replication that cannot be met, or that loses data with one node.
func (r *Report) keyspaceFindings(add reporter) {
	nodes := map[string]int{}
	for i := range r.Nodes {
		nodes[r.Nodes[i].DataCenter]++
	}
	for _, k := range r.Keyspaces {
		if k.Strategy == "SimpleStrategy" && len(nodes) > 1 {
			add(Advice, "use NetworkTopologyStrategy", "keyspace %s has SimpleStrategy in %d data centers", k.Name, len(nodes))
		}
		for _, dc := range slices.Sorted(maps.Keys(k.Factors)) {
			factor, there, place := k.Factors[dc], nodes[dc], dc
			if dc == "" {
				there, place = len(r.Nodes), "the cluster"
			}
			switch {
			case factor > there:
				add(Problem, "add nodes or lower the factor", "keyspace %s wants %d replicas in %s, which has %d nodes", k.Name, factor,
					place, there)
			case factor == 1 && there > 1:
				add(Advice, "raise the replication factor to 3 and repair", "keyspace %s has one replica: a lost node loses data",
					k.Name)
			}
		}
	}
}

// Round returns a duration with about three digits.
func Round(d time.Duration) time.Duration {
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}

// bounds are the upper bounds of the bars of Bars, except the last.
var bounds = []time.Duration{
	125 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 2 * time.Millisecond,
	4 * time.Millisecond, 8 * time.Millisecond, 16 * time.Millisecond, 32 * time.Millisecond, 64 * time.Millisecond,
	128 * time.Millisecond,
}

// Bars returns a histogram of the latencies as one character for each power of two: up to 125 µs, up to 250 µs, and so
// on, the last one above 128 ms. The height is the share of the most frequent one.
func (l Latencies) Bars() string {
	counts := make([]int, len(bounds)+1)
	for _, d := range l {
		i, _ := slices.BinarySearch(bounds, d)
		counts[i]++
	}
	most := slices.Max(counts)
	heights := []rune(" ▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, n := range counts {
		height := 0
		if n > 0 {
			height = max(1, n*(len(heights)-1)/most)
		}
		b.WriteRune(heights[height])
	}
	return b.String()
}
