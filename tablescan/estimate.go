// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// Estimates of the sizes of token ranges, as nodes have them. They are hints: they may be old, wrong or missing.

const (
	estimateTimeout = 5 * time.Second
	estimateQueries = 16      // at a time
	maxEstimates    = 1 << 20 // of a table
)

// An estimate is the number of bytes in a range of tokens, as a node estimates them.
type estimate struct {
	start, end int64
	bytes      float64
}

// A RangeSize is a token range of a table with an estimate of its bytes, 0 if unknown.
type RangeSize struct {
	vecql.TokenRange
	Bytes float64
}

// Sizes returns the token ranges of the table of a statement, in the order of their tokens, with the estimates of the
// nodes: whole partitions, compressed or not, whichever columns the statement has. They are hints, which may be old.
// A program that distributes the ranges itself plans with them. The statement and the errors are as in [New]; bind
// markers need no values.
func Sizes(ctx context.Context, session *vecql.Session, statement string) ([]RangeSize, error) {
	src, err := parse(statement)
	if err != nil {
		return nil, err
	}
	keyspace := cmp.Or(src.keyspace, session.Query("").GetKeyspace())
	s := &Scan{session: session, cfg: Config{Values: make([]any, len(cqltext.BindMarkers(statement)))}}
	id, err := s.setText(ctx, src, keyspace)
	if err != nil {
		return nil, err
	}
	ranges, err := session.TokenRanges(ctx, keyspace, src.table)
	if err != nil {
		return nil, err
	}
	sizes := sizesOf(ranges, readEstimates(ctx, session, tableName{keyspace, src.table, id}, hasTablets(ranges)))
	if ctx.Err() != nil {
		return nil, fmt.Errorf("tablescan: read the sizes for %q: %w", statement, context.Cause(ctx))
	}
	list := make([]RangeSize, len(ranges))
	for i, r := range ranges {
		list[i] = RangeSize{TokenRange: r, Bytes: sizes[i]}
	}
	return list, nil
}

// sizesOf distributes estimates over ranges, which cover the ring in order.
func sizesOf(ranges []vecql.TokenRange, estimates []estimate) []float64 {
	sizes := make([]float64, len(ranges))
	for _, e := range estimates {
		width := float64(uint64(e.end) - uint64(e.start))
		i := sort.Search(len(ranges), func(i int) bool { return ranges[i].End > e.start })
		for ; i < len(ranges) && ranges[i].Start < e.end; i++ {
			common := uint64(min(ranges[i].End, e.end)) - uint64(max(ranges[i].Start, e.start))
			sizes[i] += e.bytes * float64(common) / width
		}
	}
	return sizes
}

// newEstimates returns the estimate of a row of system.table_estimates, two for a range that wraps around, none for an
// impossible one.
func newEstimates(start, end string, partitionSize, partitions int64) []estimate {
	first, err1 := strconv.ParseInt(start, 10, 64)
	last, err2 := strconv.ParseInt(end, 10, 64)
	if err1 != nil || err2 != nil || partitionSize <= 0 || partitions <= 0 {
		return nil
	}
	bytes := float64(partitionSize) * float64(partitions)
	if last == math.MinInt64 { // the end of the ring
		last = math.MaxInt64
	}
	above, below := Part{Start: first, End: math.MaxInt64}.width(), Part{Start: math.MinInt64, End: last}.width()
	switch {
	case first < last:
		return []estimate{{first, last, bytes}}
	case first == last: // of the only token
		return []estimate{{math.MinInt64, math.MaxInt64, bytes}}
	case above == 0:
		return []estimate{{math.MinInt64, last, bytes}}
	}
	whole := above + below
	return []estimate{{math.MinInt64, last, bytes * below / whole}, {first, math.MaxInt64, bytes * above / whole}}
}

// hasTablets reports whether ranges are tablets.
func hasTablets(ranges []vecql.TokenRange) bool {
	return slices.ContainsFunc(ranges, func(r vecql.TokenRange) bool {
		return len(r.Replicas) > 0 && r.Replicas[0].Shard >= 0
	})
}

// A tableName names a table.
type tableName struct {
	keyspace, table string
	id              cql.UUID
}

// readEstimates asks all nodes for their estimates: system.table_estimates (Cassandra 4), else system.size_estimates.
// The former names the primary ranges of the whole cluster, the latter the ranges of each data center. For a table
// with tablets one node has the sizes of all tablets (ScyllaDB, system.tablet_sizes). A node that does not answer in
// time has no estimates.
func readEstimates(ctx context.Context, session *vecql.Session, name tableName, tablets bool) []estimate {
	ctx, cancel := context.WithTimeout(ctx, estimateTimeout)
	defer cancel()
	if tablets {
		return readTabletSizes(ctx, session, name.id)
	}
	var mu sync.Mutex
	var all []estimate
	var nodes sync.WaitGroup
	free := make(chan struct{}, estimateQueries)
	for _, h := range session.GetHosts() {
		if !session.IsUp(h) {
			continue
		}
		nodes.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			found, err := estimatesOf(ctx, session, "table_estimates", name, h)
			if err != nil {
				found, _ = estimatesOf(ctx, session, "size_estimates", name, h)
			}
			mu.Lock()
			all = append(all, found...)
			mu.Unlock()
		})
	}
	nodes.Wait()
	return all
}

// estimatesOf reads the estimates of a node from one of the two tables.
func estimatesOf(ctx context.Context, session *vecql.Session, table string, name tableName, h *cql.Host,
) (list []estimate, err error) {
	stmt := "SELECT range_start, range_end, mean_partition_size, partitions_count FROM system." + table +
		" WHERE keyspace_name = ? AND table_name = ?"
	if table == "table_estimates" {
		stmt += " AND range_type = 'primary'"
	}
	it := session.Query(stmt, name.keyspace, name.table).HostID(h.ID).Consistency(cql.One).Iter(ctx)
	var start, end string
	var size, count int64
	for len(list) < maxEstimates && it.Scan(&start, &end, &size, &count) {
		list = append(list, newEstimates(start, end, size, count)...)
	}
	return list, it.Close()
}

// readTabletSizes reads the sizes of the tablets of a table, from the largest replica of each; nil if there are none.
func readTabletSizes(ctx context.Context, session *vecql.Session, id cql.UUID) (list []estimate) {
	const stmt = "SELECT last_token, replicas FROM system.tablet_sizes WHERE table_id = ?"
	it := session.Query(stmt, id).Consistency(cql.One).Iter(ctx)
	start := int64(math.MinInt64)
	var end int64
	var replicas map[cql.UUID]int64
	for len(list) < maxEstimates && it.Scan(&end, &replicas) && start < end {
		size := int64(0)
		for _, bytes := range replicas {
			size = max(size, bytes)
		}
		list = append(list, estimate{start, end, float64(size)})
		start = end
	}
	_ = it.Close() // as on servers without the table
	return list
}
