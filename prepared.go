// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/token"
)

// Prepared statements: the plan that a PREPARE yields. internal/flight caches plans. A statement is prepared once per
// session, on one node. A node that does not have the statement answers EXECUTE with UNPREPARED
// (native_protocol_v5.spec, section 8, 0x2500), and the session prepares it there.

// statement is a prepared statement: all that stays the same between executions.
type statement struct {
	text      string
	keyspace  string // of the request (v5), not of the table
	id        []byte
	bind      []cql.ColumnInfo
	pkIndexes []int           // bind markers of the partition key, in its order
	sorters   []*codec.Sorter // of the bind markers, nil for all but sets and maps of the partition key; nil if all are
	lwt       bool            // known to be conditional
	reads     bool            // a SELECT, which writes nothing
	cdc       bool            // its table is a CDC log of ScyllaDB, with a partitioner of its own
	outdated  atomic.Bool     // the schema has changed: values encoded for the statement are not sent any more
	encoders  []atomic.Pointer[encodePlan]
	result    atomic.Pointer[resultPlan] // for rows without metadata
	seen      atomic.Pointer[resultPlan] // of the last rows with metadata
	bodySize  atomic.Int64               // of the last EXECUTE; initial capacity of the next body
	// memory of the answers to expect, see noteAnswer; 0 means unknown; not set without a memory budget
	answerSize atomic.Int64
}

// encodePlan is the encoder of one bind marker for the last Go type bound to it.
type encodePlan struct {
	goType reflect.Type
	encode codec.Encoder
}

// resultPlan is the result metadata of a statement. A new resultPlan replaces it when the server reports a change. Rows
// are decoded with the plan that was current when the request was sent.
type resultPlan struct {
	metadataID []byte // nil without metadata ids
	frame.KnownColumns
	decoders []atomic.Pointer[decodePlan]     // by column: a list by destination type
	foreign  atomic.Pointer[foreignDecoders]  // of the other API that has read rows last; nil means none
	batches  atomic.Pointer[codec.ColumnPlan] // nil until the first batch
}

// foreignDecoders are the decoders of another API, beside the driver's.
type foreignDecoders struct {
	of       *codec.Foreign
	decoders []atomic.Pointer[decodePlan]
}

// decodersOf returns the decoders of the columns for another API, nil for the driver. p may be nil.
func (p *resultPlan) decodersOf(api *codec.Foreign) []atomic.Pointer[decodePlan] {
	switch {
	case p == nil:
		return nil
	case api == nil:
		return p.decoders
	}
	f := p.foreign.Load()
	if f == nil || f.of != api {
		f = &foreignDecoders{of: api, decoders: make([]atomic.Pointer[decodePlan], len(p.Columns))}
		p.foreign.Store(f)
	}
	return f.decoders
}

// columnPlan returns the plan for reading pages as batches.
func (p *resultPlan) columnPlan() *codec.ColumnPlan {
	plan := p.batches.Load()
	if plan == nil {
		plan = codec.NewColumnPlan(p.Columns)
		p.batches.Store(plan)
	}
	return plan
}

// decodePlan is the decoder of one column for one type of destination.
type decodePlan struct {
	codec.ScanPlan
	next *decodePlan
}

// maxDecoders bounds the decode plans that a column keeps.
const maxDecoders = 4

func newResultPlan(metadataID []byte, known frame.KnownColumns) *resultPlan {
	return &resultPlan{
		metadataID: metadataID, KnownColumns: known,
		decoders: make([]atomic.Pointer[decodePlan], len(known.Columns)),
	}
}

// newStatement returns the statement of a PREPARED response. text is the statement as sent and keyspace the keyspace of
// the request, "" for none.
func newStatement(text, keyspace string, p *frame.PreparedResult) *statement {
	s := &statement{
		text: text, keyspace: keyspace, id: p.ID, bind: p.Bind.Columns, pkIndexes: p.PKIndexes,
		lwt: p.LWT || cqltext.IsConditional(text), reads: cqltext.IsSelect(text),
		encoders: make([]atomic.Pointer[encodePlan], len(p.Bind.Columns)),
	}
	if len(s.pkIndexes) == 1 {
		pk := &s.bind[s.pkIndexes[0]]
		s.cdc = pk.Name == "cdc$stream_id" && strings.HasSuffix(pk.Table, "_scylla_cdc_log")
	}
	for _, i := range s.pkIndexes {
		if sorter := codec.NewSorter(s.bind[i].TypeInfo); sorter != nil {
			s.sorters = append(s.sorters, make([]*codec.Sorter, len(s.bind)-len(s.sorters))...)
			s.sorters[i] = sorter
		}
	}
	plan := newResultPlan(p.ResultMetadataID, p.Result.Known())
	s.result.Store(plan)
	s.seen.Store(plan)
	return s
}

// keyMarkers returns the bind markers of the partition key with these columns, nil unless all are bound. Servers name a
// marker ? by its column. A marker with a name of its own says nothing about its column, so that a text with such
// markers has no key. Of two markers of a column the last one counts, as for servers that report the markers.
func keyMarkers(text string, bind []cql.ColumnInfo, key []string) []int {
	if slices.ContainsFunc(cqltext.BindMarkers(text), func(name string) bool { return name != "" }) {
		return nil
	}
	markers := make([]int, len(key))
	for i, column := range key {
		markers[i] = -1
		for at, c := range bind {
			if c.Name == column {
				markers[i] = at
			}
		}
	}
	if slices.Contains(markers, -1) {
		return nil
	}
	return markers
}

// isSame reports whether a PREPARED response has the id and the bind markers of the statement. A table that was dropped
// and created again has the same id and may have other columns. Responses of protocol v3 have no partition key.
func (s *statement) isSame(p *frame.PreparedResult) bool {
	sameKey := p.PKIndexes == nil || slices.Equal(s.pkIndexes, p.PKIndexes)
	return bytes.Equal(s.id, p.ID) && sameKey && reflect.DeepEqual(s.bind, p.Bind.Columns)
}

// hasTypes reports whether columns have the types of the bind markers.
func (s *statement) hasTypes(columns []cql.ColumnInfo) bool {
	return slices.EqualFunc(s.bind, columns, func(a, b cql.ColumnInfo) bool {
		return reflect.DeepEqual(a.TypeInfo, b.TypeInfo)
	})
}

// concerns reports whether a schema change may have changed the columns or bind markers of the statement.
func (s *statement) concerns(e *frame.SchemaEvent) bool {
	changed := func(c cql.ColumnInfo) bool {
		return c.Keyspace == e.Keyspace && (e.Target != "TABLE" || c.Table == e.Name)
	}
	return slices.ContainsFunc(s.bind, changed) || slices.ContainsFunc(s.seen.Load().Columns, changed)
}

// planFor returns the plan for rows that came with metadata. Only a new metadata id replaces the plan for rows without
// metadata: the columns of a conditional statement differ between responses.
func (s *statement) planFor(meta *frame.Metadata) *resultPlan {
	if meta.NewID != nil {
		plan := newResultPlan(meta.NewID, meta.Known())
		s.result.Store(plan)
		s.seen.Store(plan)
		return plan
	}
	if plan := s.seen.Load(); len(meta.Columns) == len(plan.Columns) &&
		(len(meta.Columns) == 0 || &meta.Columns[0] == &plan.Columns[0]) {
		return plan
	}
	plan := newResultPlan(nil, meta.Known())
	s.seen.Store(plan)
	return plan
}

// encoder returns the encoder of bind marker i for values of type t, and caches it.
func (s *statement) encoder(i int, t reflect.Type) codec.Encoder {
	if p := s.encoders[i].Load(); p != nil && p.goType == t {
		return p.encode
	}
	p := &encodePlan{goType: t, encode: codec.EncoderOf(s.bind[i].TypeInfo, t)}
	s.encoders[i].Store(p)
	return p.encode
}

// noteAnswer updates the memory of answers to expect: it rises to the size of an answer at once and falls by an eighth
// of the difference, because the last page of a result is smaller than the others.
func (s *statement) noteAnswer(size int64) {
	old := s.answerSize.Load()
	if size = max(size, old-(old-size)/8, 1); size != old { // the cache line is shared: store changes only
		s.answerSize.Store(size)
	}
}

// tokenOf returns the token of a single-column partition key.
func (s *statement) tokenOf(key []byte) int64 {
	if s.cdc {
		return token.CDC(key)
	}
	return token.Murmur3(key)
}

// table returns keyspace and table of the statement, empty when it has no bind marker. A transaction may have several
// tables: table returns the table of the partition key.
func (s *statement) table() (keyspace, table string) {
	if len(s.bind) == 0 {
		return "", ""
	}
	first := &s.bind[0]
	if len(s.pkIndexes) > 0 {
		first = &s.bind[s.pkIndexes[0]]
	}
	return first.Keyspace, first.Table
}
