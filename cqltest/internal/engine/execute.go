// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Execution of statements.

// A ValueState distinguishes a value, NULL and "not set" (native_protocol_v5.spec, section 3, [value]).
type ValueState uint8

// States of a value.
const (
	ValueSet ValueState = iota
	ValueNull
	ValueUnset
)

// A Value is one bound value. The engine keeps Bytes; the caller must not change them afterwards.
type Value struct {
	Name  string // only if Request.Named
	Bytes []byte
	State ValueState
}

// A Request is what accompanies a statement: values, consistency, paging and time.
type Request struct {
	Values            []Value
	Named             bool   // values have names
	Consistency       uint16 // native_protocol_v5.spec, section 3
	SerialConsistency uint16 // 0 means none
	PageSize          int    // <= 0 means no paging
	PagingState       []byte // nil means from the start
	Timestamp         int64  // microseconds
	HasTimestamp      bool
	NowInSeconds      int32
	HasNowInSeconds   bool
	Node              any // passed to Virtual.Rows
	// Encode allows the rows to be in Result.Encoded, appended to Room.
	Encode bool
	Room   []byte
	// Commit is called before a conditional statement writes: its error is the statement's. Nil means none.
	Commit func() error
}

// A ResultKind is the kind of a Result, with the protocol's values (native_protocol_v5.spec, section 4.2.5).
type ResultKind uint8

// Kinds of results.
const (
	ResultVoid         ResultKind = 1
	ResultRows         ResultKind = 2
	ResultSetKeyspace  ResultKind = 3
	ResultSchemaChange ResultKind = 5
)

// A Change is a change of the schema (native_protocol_v5.spec, section 4.2.6, SCHEMA_CHANGE).
type Change struct {
	Change   string // "CREATED", "UPDATED", "DROPPED"
	Target   string // "KEYSPACE", "TABLE", "TYPE"
	Keyspace string
	Name     string // empty for KEYSPACE
}

// A Result is the result of a statement. The caller must not change the memory that it refers to.
type Result struct {
	Kind    ResultKind
	Columns []Column
	Rows    [][][]byte // a nil cell is NULL
	// Encoded are Count rows instead of Rows, each cell as [bytes] of the protocol. Only if Request.Encode is set.
	Encoded     []byte
	Count       int
	PagingState []byte  // nil means the last page
	Keyspace    string  // of ResultSetKeyspace
	Change      *Change // of ResultSchemaChange
	// Changes are all schema events: Change and the dependent ones (DROP KEYSPACE: of its tables and types).
	Changes  []Change
	Warnings []string
}

// Consistency levels that the engine distinguishes.
const (
	consistencyOne         = 0x0001
	consistencySerial      = 0x0008
	consistencyLocalSerial = 0x0009
	consistencyLocalOne    = 0x000A
)

var consistencyNames = []string{
	"ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "SERIAL", "LOCAL_SERIAL", "LOCAL_ONE",
}

// ConsistencyName returns the name of a consistency level, a number if it has none.
func ConsistencyName(level uint16) string {
	if int(level) < len(consistencyNames) {
		return consistencyNames[level]
	}
	return fmt.Sprintf("0x%04X", level)
}

// env returns the environment of a request, with its time.
func (e *Engine) env(s *Statement, r *Request) (*env, error) {
	values, err := s.values(r)
	if err != nil {
		return nil, err
	}
	x := &env{e: e, values: values, now: e.options.Now()}
	x.sec = x.now.Unix()
	if r.HasNowInSeconds {
		x.sec = int64(r.NowInSeconds)
		x.now = time.Unix(x.sec, 0)
	}
	return x, nil
}

// values returns the values of a request in the order of the markers.
func (s *Statement) values(r *Request) ([]Value, error) {
	values := r.Values
	if r.Named {
		values = make([]Value, len(s.Bind))
		for i := range s.Bind {
			at := slices.IndexFunc(r.Values, func(v Value) bool { return v.Name == s.Bind[i].Name })
			if at < 0 {
				return nil, invalid("Invalid amount of bind variables")
			}
			values[i] = r.Values[at]
		}
	}
	if len(values) != len(s.Bind) {
		return nil, invalid("Invalid amount of bind variables")
	}
	return values, nil
}

// timestamp returns the timestamp of a write without USING TIMESTAMP.
func (e *Engine) timestamp(r *Request) (int64, error) {
	if r.HasTimestamp {
		if r.Timestamp == noTimestamp {
			return 0, invalid("Out of bound timestamp, must be in [%d, %d]", int64(noTimestamp+1), int64(1<<63-1))
		}
		return r.Timestamp, nil
	}
	return e.micros(), nil
}

// Execute executes s. Errors are of type *Error, or the error of ctx.
func (e *Engine) Execute(ctx context.Context, s *Statement, r *Request) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x, err := e.env(s, r)
	if err != nil {
		return nil, err
	}
	for _, t := range s.tables {
		e.expire(t)
	}
	switch s.Kind {
	case StatementSelect:
		return s.read.run(ctx, x, r)
	case StatementInsert, StatementUpdate, StatementDelete:
		if err := checkWrite(r, s.Conditional); err != nil {
			return nil, err
		}
		if s.Conditional {
			return e.cas(x, r, []*modifyPlan{s.write}, []*env{x}, false)
		}
		ts, err := e.timestamp(r)
		if err != nil {
			return nil, err
		}
		mutations, err := s.write.mutations(x, ts)
		if err != nil {
			return nil, err
		}
		return &Result{Kind: ResultVoid}, e.apply(mutations, x.sec)
	case StatementBatch:
		return e.runBatch(x, r, s)
	case StatementTruncate:
		s.tables[0].store.clear()
		return &Result{Kind: ResultVoid}, nil
	case StatementUse:
		name := s.tree.(*cql.Use).Keyspace
		if e.schema.Load().keyspaces[name] == nil {
			return nil, invalid("Keyspace '%s' does not exist", name)
		}
		return &Result{Kind: ResultSetKeyspace, Keyspace: name}, nil
	case StatementDescribe:
		return e.describe(s, r)
	case StatementListRoles:
		return e.listRoles(s.tree.(*cql.ListRoles))
	}
	return e.changeSchema(s)
}

// checkWrite returns an error for a consistency level that a write cannot have.
func checkWrite(r *Request, conditional bool) error {
	if r.Consistency == consistencySerial || r.Consistency == consistencyLocalSerial {
		if conditional {
			return invalid("SERIAL is not supported as conditional update commit consistency. Use ANY if you mean \"make sure it is accepted " +
				"but I don't care how many replicas commit it for non-SERIAL reads\"")
		}
		return invalid("You must use conditional updates for serializable writes")
	}
	if s := r.SerialConsistency; conditional && s != 0 && s != consistencySerial && s != consistencyLocalSerial {
		return invalid("Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL")
	}
	return nil
}

// lock locks the stores of mutations for writing, each once and in a fixed order, and returns the function that unlocks
// them.
func lock(mutations []*mutation) (unlock func()) {
	if len(mutations) == 1 {
		s := mutations[0].t.store
		s.mu.Lock()
		return s.mu.Unlock
	}
	var stores []*store
	for _, m := range mutations {
		if !slices.Contains(stores, m.t.store) {
			stores = append(stores, m.t.store)
		}
	}
	slices.SortFunc(stores, func(a, b *store) int { return int(a.number - b.number) })
	for _, s := range stores {
		s.mu.Lock()
	}
	return func() {
		for _, s := range stores {
			s.mu.Unlock()
		}
	}
}

// apply writes all mutations, or none if one of them fails.
func (e *Engine) apply(mutations []*mutation, sec int64) error {
	defer lock(mutations)()
	return e.applyLocked(mutations, sec)
}

// applyLocked is apply for callers that hold the locks. Changes of tables with change data capture are logged.
func (e *Engine) applyLocked(mutations []*mutation, sec int64) error {
	for _, m := range mutations {
		if err := m.resolve(e, sec); err != nil {
			return err
		}
	}
	if !e.options.Scylla {
		if err := checkVectors(mutations); err != nil {
			return err
		}
	}
	var logs []*logged
	if e.options.Streams != nil && hasCapture(mutations) {
		var err error
		if logs, err = e.capture(mutations, sec); err != nil {
			return err
		}
	}
	for _, m := range mutations {
		m.apply(e)
		m.t.store.follow(m, e.options.Now)
		m.t.store.noteExpiry(m, sec)
	}
	e.writeLogs(logs, sec)
	return nil
}
