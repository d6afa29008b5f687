// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"fmt"
	"io"
	"math"
)

// Comparisons of vecql with its peers over many queries.

// BestPeer is the name of the fastest peer of each query.
const BestPeer = "best peer"

// A Comparison compares us with one peer, or with the best peer of each query, over the queries that both answered.
type Comparison struct {
	Against         string
	Queries, Faster int
	Mean, Least     float64 // time of the peer divided by our time: the geometric mean, and the least of a query
	Worst           string  // the query with the least ratio
}

// Compare returns a comparison with the best peer and one with each peer. samples returns the times of an
// implementation in a query.
func Compare(ours string, peers, queries []string, samples func(query, impl string) []float64) (all []Comparison) {
	for _, against := range append([]string{BestPeer}, peers...) {
		s, logs := Comparison{Against: against, Least: math.Inf(1)}, 0.0
		for _, q := range queries {
			impl := against
			if impl == BestPeer {
				impl = Best(peers, func(impl string) []float64 { return samples(q, impl) })
			}
			us, them := samples(q, ours), samples(q, impl)
			if len(us) == 0 || len(them) == 0 {
				continue
			}
			x := Median(them) / Median(us)
			s.Queries++
			logs += math.Log(x)
			if x > 1 {
				s.Faster++
			}
			if x < s.Least {
				s.Least, s.Worst = x, q
			}
		}
		if s.Mean = math.Exp(logs / float64(s.Queries)); s.Queries > 0 {
			all = append(all, s)
		}
	}
	return all
}

// WriteComparisons writes a table of comparisons.
func WriteComparisons(w io.Writer, queries, ours string, all []Comparison) {
	Header(w, "against", queries, "geometric mean", "least", ours+" is faster in")
	for _, s := range all {
		fmt.Fprintf(w, "| %s | %d | %.2f | %.2f (%s) | %d |\n", s.Against, s.Queries, s.Mean, s.Least, s.Worst, s.Faster)
	}
}
