// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Batches.

// A BatchType is the type byte of a BATCH message (native_protocol_v5.spec, section 4.1.7).
type BatchType uint8

// Types of batches.
const (
	BatchLogged BatchType = iota
	BatchUnlogged
	BatchCounter
)

// A BatchEntry is one statement of a BATCH message.
type BatchEntry struct {
	Statement *Statement
	Values    []Value
}

// batchPlan is a prepared BEGIN BATCH ... APPLY BATCH.
type batchPlan struct {
	typ       BatchType
	plans     []*modifyPlan
	timestamp *node
}

// batchStatement prepares BEGIN BATCH, with the checks of Cassandra's BatchStatement.
func (c *compiler) batchStatement(s *cql.Batch) (*batchPlan, error) {
	b := &batchPlan{typ: BatchType(s.Kind)}
	for _, one := range s.Statements {
		var m *modifyPlan
		var err error
		switch one := one.(type) {
		case *cql.Insert:
			m, err = c.insert(one)
		case *cql.Update:
			m, err = c.update(one)
		case *cql.Delete:
			m, err = c.delete(one)
		default:
			err = invalid("Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.")
		}
		if err != nil {
			return nil, err
		}
		b.plans = append(b.plans, m)
	}
	if s.Using.TTL != nil {
		return nil, invalid("Global TTL on the BATCH statement is not supported.")
	}
	if s.Using.Timestamp != nil {
		var err error
		if b.timestamp, err = c.term(s.Using.Timestamp,
			Column{"[batch]", "[batch]", "[timestamp]", Native("bigint")}); err != nil {
			return nil, err
		}
		for _, p := range b.plans {
			if p.timestamp != nil {
				return nil, invalid("Timestamp must be set either on BATCH or individual statements")
			}
			if p.conditional() {
				return nil, invalid("Cannot provide custom timestamp for conditional BATCH")
			}
			if p.t.counter {
				return nil, invalid("Cannot provide custom timestamp for counter BATCH")
			}
		}
	}
	return b, checkBatch(b.typ, b.plans)
}

// checkBatch checks the statements of a batch against each other and against its type.
func checkBatch(typ BatchType, plans []*modifyPlan) error {
	conditional, counters, others := false, false, false
	for _, p := range plans {
		conditional = conditional || p.conditional()
		if p.t.counter {
			counters = true
		} else {
			others = true
		}
	}
	switch {
	case typ == BatchCounter && others:
		return invalid("Cannot include non-counter statement in a counter batch")
	case counters && others:
		return invalid("Counter and non-counter mutations cannot exist in the same batch")
	case typ == BatchLogged && counters:
		return invalid("Cannot include a counter statement in a logged batch")
	}
	if !conditional {
		return nil
	}
	for _, p := range plans {
		if p.t.name != plans[0].t.name || p.t.ks != plans[0].t.ks {
			return invalid("Batch with conditions cannot span multiple tables")
		}
		if p.timestamp != nil {
			return invalid("Cannot provide custom timestamp for conditional BATCH")
		}
	}
	return nil
}

// runBatch executes a prepared BEGIN BATCH. All its statements share one environment, because their markers are
// numbered together.
func (e *Engine) runBatch(x *env, r *Request, s *Statement) (*Result, error) {
	envs := make([]*env, len(s.batch.plans))
	for i := range envs {
		envs[i] = x
	}
	request := *r
	if s.batch.timestamp != nil {
		w, err := (&modifyPlan{t: &table{}, timestamp: s.batch.timestamp}).writing(x, 0)
		if err != nil {
			return nil, err
		}
		request.Timestamp, request.HasTimestamp = w.ts, true
	}
	return e.runPlans(x, &request, s.batch.typ, s.batch.plans, envs)
}

// Batch executes entries as one batch. It ignores r.Values and paging. Errors are as in Execute.
func (e *Engine) Batch(ctx context.Context, typ BatchType, entries []BatchEntry, r *Request) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if typ > BatchCounter {
		return nil, &Error{Code: CodeProtocol, Message: fmt.Sprintf("Invalid BATCH type %d", typ)}
	}
	plans := make([]*modifyPlan, len(entries))
	envs := make([]*env, len(entries))
	for i, entry := range entries {
		if entry.Statement.write == nil {
			return nil, invalid("Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.")
		}
		plans[i] = entry.Statement.write
		if want := len(entry.Statement.Bind); len(entry.Values) != want {
			return nil, invalid("There were %d markers(?) in CQL but %d bound variables", want, len(entry.Values))
		}
		x, err := e.env(entry.Statement, &Request{
			Values: entry.Values, NowInSeconds: r.NowInSeconds,
			HasNowInSeconds: r.HasNowInSeconds,
		})
		if err != nil {
			return nil, err
		}
		envs[i] = x
	}
	if err := checkBatch(typ, plans); err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return &Result{Kind: ResultVoid}, nil
	}
	return e.runPlans(envs[0], r, typ, plans, envs)
}

// runPlans executes the statements of a batch: all or none. Each has its environment in envs.
func (e *Engine) runPlans(x *env, r *Request, typ BatchType, plans []*modifyPlan, envs []*env) (*Result, error) {
	conditional := false
	for _, p := range plans {
		conditional = conditional || p.conditional()
	}
	if err := checkWrite(r, conditional); err != nil {
		return nil, err
	}
	for _, p := range plans {
		e.expire(p.t)
	}
	if conditional {
		return e.cas(x, r, plans, envs, true)
	}
	ts, err := e.timestamp(r)
	if err != nil {
		return nil, err
	}
	var all []*mutation
	for i, p := range plans {
		m, err := p.mutations(envs[i], ts)
		if err != nil {
			return nil, err
		}
		all = append(all, m...)
	}
	res := &Result{Kind: ResultVoid}
	if err := e.checkSize(all, res); err != nil {
		return nil, err
	}
	if err := e.apply(all, x.sec); err != nil {
		return nil, batchFailure(err, typ, all)
	}
	return res, nil
}

// batchFailure returns the error of a batch with its kind of write.
func batchFailure(err error, typ BatchType, all []*mutation) error {
	var e *Error
	another := func(m *mutation) bool { return m.t != all[0].t || string(m.key) != string(all[0].key) }
	if errors.As(err, &e) && e.Code == CodeWriteFailure && slices.ContainsFunc(all, another) {
		e.WriteType = map[BatchType]string{BatchLogged: "BATCH", BatchUnlogged: "UNLOGGED_BATCH"}[typ]
	}
	return err
}

// checkSize refuses batches that are too large and warns of large ones, if they touch several partitions.
func (e *Engine) checkSize(all []*mutation, res *Result) error {
	limit := e.options.BatchSizeFail
	size := 0
	for _, m := range all {
		size += m.size()
	}
	if limit < 0 || size <= limit/10 {
		return nil
	}
	tables, partitions := map[string]bool{}, map[string]bool{}
	for _, m := range all {
		name := m.t.ks + "." + m.t.name
		tables[name], partitions[name+"\x00"+string(m.key)] = true, true
	}
	if len(partitions) < 2 {
		return nil
	}
	names := strings.Join(sortedKeys(tables), ", ")
	if size > limit {
		return invalid("Batch too large")
	}
	res.Warnings = append(res.Warnings,
		fmt.Sprintf("Batch for [%s] is of size %d, exceeding specified threshold of %d by %d.",
			names, size, limit/10, size-limit/10))
	return nil
}
