// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/google/uuid"
)

// This file holds the traces of requests: what system_traces shows.

// maxTraces is how many are kept; older ones are dropped.
const maxTraces = 1000

type traces struct {
	mu   sync.Mutex
	list []traced
}

type traced struct {
	id          [16]byte
	coordinator *Node
	client      netip.AddrPort
	began       time.Time
	took        time.Duration
	op          Opcode
	text        string
	consistency uint16
	pageSize    int
}

// add notes a request and returns the id of its trace, a timeuuid.
func (t *traces) add(req *request, took time.Duration) [16]byte {
	c := req.conn
	began := c.cluster.now().Add(-took)
	e := traced{
		id: timeUUID(began), coordinator: c.node, client: c.remote, began: began, took: max(took, time.Microsecond), op: req.head.op,
		text: req.text, consistency: req.params.Consistency, pageSize: req.params.PageSize,
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.list) >= maxTraces {
		t.list = append([]traced(nil), t.list[maxTraces/2:]...)
	}
	t.list = append(t.list, e)
	return e.id
}

// all returns what is kept.
func (t *traces) all() []traced {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list[:len(t.list):len(t.list)]
}

// timeUUID returns a version 1 UUID of that time with a random clock sequence and node.
func timeUUID(t time.Time) [16]byte {
	const sinceGregory = 0x01B21DD213814000 // 100 ns from 1582-10-15 to 1970-01-01
	ticks := uint64(t.UnixNano()/100) + sinceGregory
	var id [16]byte
	binary.BigEndian.PutUint32(id[0:], uint32(ticks))
	binary.BigEndian.PutUint16(id[4:], uint16(ticks>>32))
	binary.BigEndian.PutUint16(id[6:], uint16(ticks>>48)&0x0FFF|0x1000)
	binary.BigEndian.PutUint64(id[8:], rand.Uint64())
	id[8] = id[8]&0x3F | 0x80
	id[10] |= 1 // multicast: no real node has it
	return id
}

func uuidString(id [16]byte) string { return uuid.UUID(id).String() }

// sessionRows are system_traces.sessions.
func (t *traces) sessionRows() []Row {
	var rows []Row
	for _, e := range t.all() {
		parameters := map[string]string{"query": e.text, "consistency_level": consistencyName(e.consistency)}
		rows = append(rows, Row{
			"session_id": e.id, "client": e.client.Addr(), "command": "QUERY", "coordinator": e.coordinator.Addr().Addr(),
			"coordinator_port": int(e.coordinator.Addr().Port()), "duration": int(e.took.Microseconds()), "parameters": parameters,
			"request": requestName(e.op), "started_at": e.began,
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

// eventRows are system_traces.events: two for each request.
func (t *traces) eventRows() []Row {
	var rows []Row
	for _, e := range t.all() {
		for i, activity := range []string{"Parsing " + e.text, "Request complete"} {
			elapsed := time.Duration(i) * e.took
			id := timeUUID(e.began.Add(elapsed))
			copy(id[8:], e.id[8:]) // the same each time that it is read
			id[15] = byte(i)
			rows = append(rows, Row{
				"session_id": e.id, "event_id": id, "activity": activity, "source": e.coordinator.Addr().Addr(),
				"source_port": int(e.coordinator.Addr().Port()), "source_elapsed": int(elapsed.Microseconds()), "thread": "Native-Transport-Requests-1",
			})
		}
	}
	return rows
}
