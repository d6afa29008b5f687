// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"fmt"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/vecql/vecql/cqltest/internal/engine"
)

// Traces of requests, shown in system_traces.

// maxTraces is the number of traces kept; older ones are dropped.
const maxTraces = 1000

// traces are the traced requests of a cluster.
type traces struct {
	mu   sync.Mutex
	list []traced
}

// traced is one traced request, a row of system_traces.sessions.
type traced struct {
	id          [16]byte
	coordinator *Node
	client      netip.AddrPort
	began       time.Time
	took        time.Duration
	op          Opcode
	text        string
	parameters  map[string]string
	activities  []string
}

// add records a request and returns the id of its trace, a timeuuid.
func (t *traces) add(req *request, took time.Duration) [16]byte {
	c := req.conn
	began := c.cluster.now().Add(-took)
	e := traced{
		id: engine.TimeUUID(began), coordinator: c.node, client: c.remote, began: began, took: max(took, time.Microsecond),
		op: req.head.op, text: req.text, parameters: req.traceParameters(), activities: req.activities(),
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.list) >= maxTraces {
		t.list = append([]traced(nil), t.list[maxTraces/2:]...)
	}
	t.list = append(t.list, e)
	return e.id
}

// all returns the kept traces.
func (t *traces) all() []traced {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list[:len(t.list):len(t.list)]
}

func uuidString(id [16]byte) string { return uuid.UUID(id).String() }

// sessionRows returns the rows of system_traces.sessions.
func (t *traces) sessionRows() []Row {
	var rows []Row
	for _, e := range t.all() {
		rows = append(rows, Row{
			"session_id": e.id, "client": e.client.Addr(), "command": "QUERY", "coordinator": e.coordinator.Addr().Addr(),
			"coordinator_port": int(e.coordinator.Addr().Port()), "duration": int(e.took.Microseconds()),
			"parameters": e.parameters, "request": requestName(e.op), "started_at": e.began,
		})
	}
	return rows
}

func requestName(op Opcode) string {
	switch op {
	case OpPrepare:
		return "Preparing CQL3 query"
	case OpExecute:
		return "Execute CQL3 prepared query"
	case OpBatch:
		return "Execute batch of CQL3 queries"
	}
	return "Execute CQL3 query"
}

// traceParameters returns the parameters of the trace: text, levels, page size and bound values.
func (req *request) traceParameters() map[string]string {
	serial := req.params.SerialConsistency
	if serial == 0 {
		serial = clSerial
	}
	m := map[string]string{
		"query": req.text, "consistency_level": engine.ConsistencyName(req.params.Consistency),
		"serial_consistency_level": engine.ConsistencyName(serial),
	}
	if req.params.PageSize > 0 {
		m["page_size"] = strconv.Itoa(req.params.PageSize)
	}
	for i, v := range boundValues(nil, req.statement, req.params.Values) {
		m[fmt.Sprintf("bound_var_%d_%s", i, v.Name)] = v.Text()
	}
	return m
}

// activities returns what a single Cassandra node traces for the request. It traces conditional statements like others.
func (req *request) activities() []string {
	var list []string
	if req.head.op != OpExecute && req.head.op != OpBatch {
		list = append(list, "Parsing "+req.text, "Preparing statement")
	}
	s := req.statement
	if len(req.batch.statements) > 0 {
		s = req.batch.statements[0].Statement
	}
	read := fmt.Sprintf("Read %d live rows and 0 tombstone cells", req.rows)
	switch {
	case s == nil || req.head.op == OpPrepare:
	case s.Kind == engine.StatementSelect && s.ReadOne:
		list = append(list, "Executing single-partition query on "+s.Table.Table, "Acquiring sstable references",
			"Merging memtable contents", read)
	case s.Kind == engine.StatementSelect:
		list = append(list, "Computing ranges to query",
			"Submitting range requests on 1 ranges with a concurrency of 1 (0.0 rows per range expected)",
			"Submitted 1 concurrent range requests",
			"Executing seq scan across 0 sstables for (min(-9223372036854775808), min(-9223372036854775808))", read)
	case s.Table.Table != "":
		list = append(list, "Determining replicas for mutation", "Appending to commitlog",
			"Adding to "+s.Table.Table+" memtable")
	}
	return list
}

// eventRows returns the rows of system_traces.events.
func (t *traces) eventRows() []Row {
	var rows []Row
	for _, e := range t.all() {
		for i, activity := range e.activities {
			elapsed := time.Duration(i) * e.took / time.Duration(len(e.activities))
			id := engine.TimeUUID(e.began.Add(elapsed))
			copy(id[8:], e.id[8:]) // the same on every read
			id[15] = byte(i)
			rows = append(rows, Row{
				"session_id": e.id, "event_id": id, "activity": activity, "source": e.coordinator.Addr().Addr(),
				"source_port": int(e.coordinator.Addr().Port()), "source_elapsed": int(elapsed.Microseconds()),
				"thread": "Native-Transport-Requests-1",
			})
		}
	}
	return rows
}
