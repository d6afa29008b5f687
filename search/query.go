// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"slices"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/vector"
)

// MaxHits is the greatest number of hits of a search by an index: max_ann_query_limit of ScyllaDB,
// cassandra.sai.vector_search.max_top_k of Cassandra.
const MaxHits = 1000

// A Query searches the rows of one table as values of T, which is
//   - a struct: each field is read from the column of its tag `cql:"name"`, else of its name, ignoring case;
//   - map[string]any: all columns of the table by name, with nil for NULL;
//   - any other type: the primary key, which must have one column.
//
// Setters do not modify a Query; they return a changed copy. The first error of a setter is returned by the verbs. A
// Query may be used by any number of goroutines.
type Query[T any] struct {
	session *vecql.Session
	schema  *schema
	columns []string // that T reads

	filter     []expr.Expr
	oversample float64
	cutoff
	metric      vector.Metric // 0 means the one of the index
	exact       bool
	progress    func(rows int64)
	consistency *cql.Consistency
	annOptions  string
	err         error
}

// Open reads the schema of a table and of its indexes, for any number of searches. target names a table and its column
// of vectors in CQL: "shop.products(embedding)", or "shop.products" if the table has one column of vectors; without a
// keyspace the one of the session. Later searches follow changes of the schema that the session learns of.
//
// The error wraps ErrTarget, vecql.ErrNoTable or vecql.ErrKeyspaceDoesNotExist for the target, or ErrRow for T.
func Open[T any](ctx context.Context, session *vecql.Session, target string) (*Query[T], error) {
	parsed, err := parseTarget(target, session.Query("").GetKeyspace())
	if err != nil {
		return nil, err
	}
	sc, err := openSchema(ctx, session, parsed)
	if err != nil {
		return nil, err
	}
	columns, err := columnsOf[T](sc.table())
	if err != nil {
		return nil, err
	}
	return &Query[T]{session: session, schema: sc, columns: columns, oversample: 1}, nil
}

// with returns a copy that change has changed.
func (q *Query[T]) with(change func(*Query[T]) error) *Query[T] {
	out := *q
	out.filter = slices.Clone(q.filter)
	if err := change(&out); out.err == nil {
		out.err = err
	}
	return &out
}

// Where limits the search to the rows for which a condition is true: a text of package expr, with a ? for each of args.
// Conditions of several calls are joined by AND. See the package documentation for the conditions that an index serves.
func (q *Query[T]) Where(condition string, args ...any) *Query[T] {
	return q.with(func(q *Query[T]) error {
		e, err := expr.Parse(condition, args...)
		if err != nil {
			return errorf("filter: %w", err)
		}
		q.filter = append(q.filter, e)
		return nil
	})
}

// Columns limits the columns that are read, to some of those that T reads. Rows of a struct have the zero value in the
// fields of the others; maps and batches do not have them.
func (q *Query[T]) Columns(names ...string) *Query[T] {
	return q.with(func(q *Query[T]) error {
		for _, name := range names {
			if !slices.Contains(q.columns, name) {
				return errorf("%w: rows have no column %s; they have: %s", ErrRow, name, strings.Join(q.columns, ", "))
			}
		}
		q.columns = slices.Clone(names)
		return nil
	})
}

// MinScore leaves out hits whose score is below a bound, and hits whose score is NaN. Servers have no bound: the k
// nearest rows are read and then left out.
func (q *Query[T]) MinScore(score float32) *Query[T] {
	return q.with(func(q *Query[T]) error { q.minScore = &score; return nil })
}

// MaxDistance leaves out hits whose distance is above a bound, and hits whose distance is NaN, as MinScore does.
func (q *Query[T]) MaxDistance(distance float32) *Query[T] {
	return q.with(func(q *Query[T]) error { q.maxDistance = &distance; return nil })
}

// Oversample asks the index for factor times as many rows as hits are wanted, up to MaxHits, and returns the nearest by
// their exact scores. It raises the recall of an index that is approximate or quantized. The factor is at least 1.
func (q *Query[T]) Oversample(factor float64) *Query[T] {
	return q.with(func(q *Query[T]) error {
		if q.oversample = factor; !(factor >= 1 && factor <= MaxHits) {
			return errorf("%w: oversample by %v: want 1 to %d", ErrOption, factor, MaxHits)
		}
		return nil
	})
}

// Metric states the similarity of the search. By an index it must be the similarity of the index; a search does not
// need it then. An exact search of a column without an index needs it.
func (q *Query[T]) Metric(m vector.Metric) *Query[T] {
	return q.with(func(q *Query[T]) error {
		_, err := functionOf(m)
		if q.metric = m; m == vector.SquaredL2 {
			q.metric = vector.L2
		}
		return err
	})
}

// Exact searches without an index: all rows of the table are read, or the rows of the partitions that the filter
// states, and compared on the client. The answer is exact, and any condition of package expr may be a filter. The cost
// is the cost of a scan (package tablescan).
func (q *Query[T]) Exact() *Query[T] {
	return q.with(func(q *Query[T]) error { q.exact = true; return nil })
}

// Progress calls f after each page of an exact search with the number of rows that were read, one call at a time.
func (q *Query[T]) Progress(f func(rows int64)) *Query[T] {
	return q.with(func(q *Query[T]) error { q.progress = f; return nil })
}

// Consistency sets the consistency level. By default searches by an index of Cassandra have LOCAL_ONE, because
// Cassandra reads from one replica at every level. All other requests have the level of the session.
func (q *Query[T]) Consistency(level cql.Consistency) *Query[T] {
	return q.with(func(q *Query[T]) error {
		if level.IsSerial() {
			return errorf("%w: consistency level %v: servers do not search by a serial level", ErrOption, level)
		}
		q.consistency = &level
		return nil
	})
}

// ANNOptions appends options of a search in CQL, as DataStax servers have them: "{'rerank_k': 100}". Apache Cassandra
// and ScyllaDB refuse them.
func (q *Query[T]) ANNOptions(options string) *Query[T] {
	return q.with(func(q *Query[T]) error { q.annOptions = options; return nil })
}
