// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
)

// WaitReady: polls an index until it serves.

// Progress is the state of an index that WaitReady waits for.
type Progress struct {
	Index string // keyspace.index
	// Built is the part that is built, from 0 to 1. It is negative if the server does not say, as Cassandra while it
	// writes rows from memory to disk. The last part takes as long as the others together on Cassandra.
	Built float64
	// Nodes is the number of connected nodes of Cassandra. Each node builds the index of its rows. Ready is the number of
	// nodes whose index serves. Both are 0 on ScyllaDB.
	Nodes, Ready int
}

// WaitReady waits until the vector index of a column serves: the newest one if there are several. target names a table
// and its column of vectors, as in Open. progress is called with the first state and each change; nil means that it is
// not called.
//
// WaitReady polls with a search for one row. On Cassandra it asks each connected node, also whether the
// storage-attached indexes of other columns of the table serve; it does not learn of nodes that are down. On ScyllaDB
// one instance of the vector store that serves is enough; if another index of the column serves already, WaitReady
// returns at once.
//
// Errors that pass, such as timeouts, are ignored until ctx ends; then the error wraps context.Cause(ctx) and the last
// error. It wraps ErrNoIndex at once if the index does not exist or is dropped meanwhile.
func WaitReady(ctx context.Context, session *vecql.Session, target string, progress func(Progress)) error {
	named, err := parseTarget(target, session.Query("").GetKeyspace())
	if err != nil {
		return err
	}
	sc, err := openSchema(ctx, session, named)
	if err != nil {
		return err
	}
	i, err := sc.table().serving()
	if err != nil {
		return err
	}
	w := waiter{session: session, schema: sc, index: i.name, progress: progress}
	return w.wait(ctx)
}

// A waiter waits for an index.
type waiter struct {
	session  *vecql.Session
	schema   *schema
	index    string // the name
	progress func(Progress)
	// serves reports whether the index serves; nil means that a search shows it.
	serves func(ctx context.Context, keyspace, index string) (bool, error)

	last  *Progress             // that was reported; nil means none
	built map[cql.UUID]float64  // the greatest part by node of Cassandra
	ready map[cql.UUID]struct{} // nodes of Cassandra whose index serves
}

// The waits between polls.
const (
	firstPoll = 50 * time.Millisecond
	lastPoll  = time.Second
)

// maxUnindexed bounds the answers that the column has no index although the schema has it: a node may be late to create
// it, and the event that a large index is dropped may be late.
const maxUnindexed = 8

// wait polls until the index serves.
func (w *waiter) wait(ctx context.Context) error {
	unindexed := 0
	for retry := 0; ; retry++ {
		p, err := w.poll(ctx)
		if p.Index != "" {
			w.report(p)
		}
		if isUnindexed(err) {
			unindexed++
		}
		switch {
		case err == nil:
			return nil
		case unindexed == maxUnindexed:
			return errorf("%w: index %s of %s: %w", ErrNoIndex, w.index, w.schema.table().target, err)
		case !passes(err) && !isUnindexed(err):
			return err
		case !background.Sleep(ctx, background.Exponential(firstPoll, lastPoll, retry)):
			return errorf("wait for index %s of %s: %w; the last answer: %w", w.index, w.schema.table().target,
				context.Cause(ctx), err)
		}
	}
}

// report calls the function of the caller if the state has changed.
func (w *waiter) report(p Progress) {
	if w.progress != nil && (w.last == nil || *w.last != p) {
		w.last = &p
		w.progress(p)
	}
}

// poll asks once whether the index serves.
func (w *waiter) poll(ctx context.Context) (Progress, error) {
	t, err := w.schema.read(ctx, w.session)
	if err != nil {
		return Progress{}, err
	}
	at := slices.IndexFunc(t.indexes, func(i index) bool { return i.name == w.index })
	if at < 0 {
		return Progress{}, errorf("%w: index %s of %s was dropped", ErrNoIndex, w.index, t.target)
	}
	i := &t.indexes[at]
	switch {
	case w.serves != nil:
		return w.pollServes(ctx, t, i)
	case t.server.Scylla:
		return w.pollStore(ctx, t, i)
	}
	return w.pollNodes(ctx, t, i)
}

// errServes marks an error of the caller's function.
var errServes = errors.New("the function Serves failed")

// pollServes calls the function of the caller.
func (w *waiter) pollServes(ctx context.Context, t *table, i *index) (Progress, error) {
	name := t.indexName(i)
	p := Progress{Index: name, Built: -1}
	serves, err := w.serves(ctx, t.keyspace, i.name)
	switch {
	case err != nil:
		return p, errorf("ask whether index %s serves: %w: %w", name, errServes, err)
	case !serves:
		return p, &IndexNotReadyError{Index: name, Progress: -1, Err: errors.New("the function Serves reports false")}
	}
	p.Built = 1
	return p, nil
}

// pollStore searches by ScyllaDB's vector store.
func (w *waiter) pollStore(ctx context.Context, t *table, i *index) (Progress, error) {
	p := Progress{Index: t.indexName(i), Built: 1}
	err := notReady(p.Index, w.probe(ctx, t, i, cql.UUID{}))
	if err != nil {
		p.Built = builtOf(err)
	}
	return p, err
}

// builtOf returns the progress of an *IndexNotReadyError, -1 of other errors.
func builtOf(err error) float64 {
	var waiting *IndexNotReadyError
	if errors.As(err, &waiting) {
		return waiting.Progress
	}
	return -1
}

// probe searches for one row, on a node or on any.
func (w *waiter) probe(ctx context.Context, t *table, i *index, host cql.UUID) error {
	query := make([]float32, t.dim)
	query[0] = 1
	var values []any
	where := ""
	if len(i.local) > 0 {
		var conditions []string
		for _, name := range i.local {
			conditions = append(conditions, quoteNames([]string{name})+" = ?")
			values = append(values, anyKey{})
		}
		where = " WHERE " + strings.Join(conditions, " AND ")
	}
	text := fmt.Sprintf("SELECT %s FROM %s%s ORDER BY %s ANN OF ? LIMIT 1", quoteNames(t.partitionKey()), t.inCQL(), where,
		quoteNames([]string{t.column}))
	q := w.session.Query(text, append(values, query)...).Idempotent(true).PageSize(1).HostID(host)
	if !t.server.Scylla {
		q.Consistency(cql.One)
	}
	return q.Exec(ctx)
}

// anyKey is a value of a partition key: any one, of the column's type.
type anyKey struct{}

// MarshalCQL implements cql.Marshaler.
func (anyKey) MarshalCQL(info cql.TypeInfo) ([]byte, error) {
	switch info.Type() {
	case cql.TypeTinyInt, cql.TypeBoolean, cql.TypeVarint, cql.TypeText, cql.TypeVarchar, cql.TypeAscii, cql.TypeBlob:
		return make([]byte, 1), nil
	case cql.TypeSmallInt:
		return make([]byte, 2), nil
	case cql.TypeInt, cql.TypeFloat, cql.TypeDate, cql.TypeInet, cql.TypeList, cql.TypeSet, cql.TypeMap:
		return make([]byte, 4), nil
	case cql.TypeDecimal:
		return make([]byte, 5), nil
	case cql.TypeBigInt, cql.TypeDouble, cql.TypeTime, cql.TypeTimestamp:
		return make([]byte, 8), nil
	case cql.TypeUUID:
		return make([]byte, 16), nil
	case cql.TypeTimeUUID:
		return []byte{6: 0x10, 15: 0}, nil // version 1
	case cql.TypeTuple, cql.TypeUDT:
		return []byte{0xff, 0xff, 0xff, 0xff}, nil // the first field is NULL
	}
	return nil, errorf("%w of a local index whose state is visible: a partition key is %v", ErrTarget, info)
}

// isUnindexed reports whether a node of Cassandra answers that the column has no index.
func isUnindexed(err error) bool {
	var server *cql.ServerError
	return errors.As(err, &server) && server.Code == cql.CodeInvalid && strings.Contains(server.Message, "requires the column to be indexed")
}

// passes reports whether an error may end by itself.
func passes(err error) bool {
	var waiting *IndexNotReadyError
	if errors.As(err, &waiting) || transient(err) {
		return true
	}
	for _, final := range []error{
		cql.CodeInvalid, cql.CodeSyntax, cql.CodeUnauthorized, cql.CodeConfig, cql.CodeProtocol, cql.CodeCredentials,
		vecql.ErrSessionClosed, vecql.ErrNoTable, vecql.ErrKeyspaceDoesNotExist, ErrTarget, ErrNoIndex, errServes,
	} {
		if errors.Is(err, final) {
			return false
		}
	}
	return true
}

// indexName returns keyspace.index.
func (t *table) indexName(i *index) string { return t.keyspace + "." + i.name }
