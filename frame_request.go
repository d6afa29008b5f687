// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/wire"
)

// Bodies of requests (native_protocol_v5.spec, section 4.1). Every function appends to dst; on an error it returns dst
// unchanged. OPTIONS has an empty body and no function.

// maxCount is the largest [short]: the limit of values in a statement, statements in a batch, and entries in a map.
const maxCount = math.MaxUint16

// Flags of query parameters (section 4.1.4): a [byte] in v4, an [int] in v5. Those above 0x40 are v5 only.
const (
	queryFlagValues            = 0x01
	queryFlagSkipMetadata      = 0x02
	queryFlagPageSize          = 0x04
	queryFlagPagingState       = 0x08
	queryFlagSerialConsistency = 0x10
	queryFlagTimestamp         = 0x20
	queryFlagNames             = 0x40
	queryFlagKeyspace          = 0x80
	queryFlagNowInSeconds      = 0x100
)

// prepareFlagKeyspace is the only flag of PREPARE (v5, section 4.1.5).
const prepareFlagKeyspace = 0x01

// binder contains the bound values of one statement.
type binder interface {
	// count returns the number of values, and reports whether each has a name.
	count() (n int, named bool)
	// appendBound appends, for each value, a [string] name if named, then a [value].
	appendBound(dst []byte) ([]byte, error)
}

// queryParams are the parameters of QUERY and EXECUTE. BATCH uses only consistencies, timestamp, keyspace and
// nowInSeconds.
type queryParams struct {
	values            binder // nil means none
	consistency       cql.Consistency
	serialConsistency cql.Consistency // 0 means none
	skipMetadata      bool
	pageSize          int    // rows; 0 means none
	pagingState       []byte // empty means none
	timestamp         int64  // microseconds since 1970, if hasTimestamp
	hasTimestamp      bool
	keyspace          string // v5 only
	nowInSeconds      int32  // seconds since 1970, if hasNowInSeconds; v5 only
	hasNowInSeconds   bool

	consistencyAt int // offset of the consistency in the body, set when it is written
}

// batchEntry is one statement of a batch.
type batchEntry struct {
	id     []byte // of the prepared statement; nil means that stmt is sent as text
	stmt   string
	values binder // nil means none
}

// bodyWriter appends the fields of a body. The first field that does not fit sets err; nothing is appended after that.
type bodyWriter struct {
	start int // start of the body in out
	out   []byte
	err   error
}

func newBodyWriter(dst []byte) bodyWriter { return bodyWriter{start: len(dst), out: dst} }

// finish returns the written bytes, or dst and the error.
func (w *bodyWriter) finish(dst []byte) ([]byte, error) {
	if w.room(0); w.err != nil {
		return dst, w.err
	}
	return w.out, nil
}

// room sets err if the body with n more bytes would exceed the maximum frame length.
func (w *bodyWriter) room(n int) {
	if w.err == nil && n > wire.MaxBody-(len(w.out)-w.start) {
		w.err = errtext.Errorf("encode the body of a request: %w", ErrFrameTooBig)
	}
}

func (w *bodyWriter) fail(what string, err error) {
	if w.err == nil {
		w.err = errtext.Errorf("%s: %w", what, err)
	}
}

func (w *bodyWriter) byte(v byte) {
	if w.err == nil {
		w.out = append(w.out, v)
	}
}

func (w *bodyWriter) short(v uint16) {
	if w.err == nil {
		w.out = wire.AppendShort(w.out, v)
	}
}

func (w *bodyWriter) int(v int32) {
	if w.err == nil {
		w.out = wire.AppendInt(w.out, v)
	}
}

func (w *bodyWriter) long(v int64) {
	if w.err == nil {
		w.out = wire.AppendLong(w.out, v)
	}
}

// string and shortBytes take the name of the field for the error about its length.

func (w *bodyWriter) string(what, s string) {
	if w.err != nil {
		return
	}
	var err error
	if w.out, err = wire.AppendString(w.out, s); err != nil {
		w.fail(what, err)
	}
}

func (w *bodyWriter) shortBytes(what string, b []byte) {
	if w.err != nil {
		return
	}
	var err error
	if w.out, err = wire.AppendShortBytes(w.out, b); err != nil {
		w.fail(what, err)
	}
}

func (w *bodyWriter) longString(s string) {
	if w.room(len(s)); w.err == nil {
		w.out, w.err = wire.AppendLongString(w.out, s)
	}
}

func (w *bodyWriter) bytes(b []byte) {
	if w.room(len(b)); w.err == nil {
		w.out, w.err = wire.AppendBytes(w.out, b)
	}
}

// values writes a [short] n and n bound values.
func (w *bodyWriter) values(b binder, n int) {
	if n > maxCount {
		w.fail(fmt.Sprintf("%d values", n), ErrTooManyValues)
	}
	w.short(uint16(n))
	if w.err == nil && n > 0 {
		w.out, w.err = b.appendBound(w.out)
	}
	w.room(0)
}

// boundCount is b.count for a b that may be nil.
func boundCount(b binder) (n int, named bool) {
	if b == nil {
		return 0, false
	}
	return b.count()
}

// queryFlags returns the flags of p, without those of its values, and ErrUnsupported for parameters that version lacks.
func queryFlags(version byte, p *queryParams) (flags int32, err error) {
	if p.serialConsistency != 0 {
		flags |= queryFlagSerialConsistency
	}
	if p.hasTimestamp {
		flags |= queryFlagTimestamp
	}
	if p.keyspace != "" {
		flags |= queryFlagKeyspace
	}
	if p.hasNowInSeconds {
		flags |= queryFlagNowInSeconds
	}
	switch {
	case version >= protoV5:
		return flags, nil
	case p.keyspace != "":
		return 0, errtext.Errorf("keyspace of a request: %w", ErrUnsupported)
	case p.hasNowInSeconds:
		return 0, errtext.Errorf("now_in_seconds: %w", ErrUnsupported)
	}
	return flags, nil
}

func (w *bodyWriter) flags(version byte, flags int32) {
	if version >= protoV5 {
		w.int(flags)
	} else {
		w.byte(byte(flags))
	}
}

// queryParams writes the <query_parameters> of QUERY and EXECUTE (section 4.1.4).
func (w *bodyWriter) queryParams(version byte, p *queryParams) {
	flags, err := queryFlags(version, p)
	if err != nil && w.err == nil {
		w.err = err
	}
	n, named := boundCount(p.values)
	if n > 0 {
		flags |= queryFlagValues
		if named {
			flags |= queryFlagNames
		}
	}
	if p.skipMetadata {
		flags |= queryFlagSkipMetadata
	}
	if p.pageSize != 0 {
		flags |= queryFlagPageSize
		if p.pageSize < 0 || p.pageSize > math.MaxInt32 {
			w.fail(fmt.Sprintf("page size %d", p.pageSize), cql.ErrRange)
		}
	}
	if len(p.pagingState) > 0 {
		flags |= queryFlagPagingState
	}
	p.consistencyAt = len(w.out)
	w.short(uint16(p.consistency))
	w.flags(version, flags)
	if n > 0 {
		w.values(p.values, n)
	}
	if p.pageSize != 0 {
		w.int(int32(p.pageSize))
	}
	if len(p.pagingState) > 0 {
		w.bytes(p.pagingState)
	}
	w.tail(p)
}

// tail writes the last parameters of QUERY, EXECUTE and BATCH.
func (w *bodyWriter) tail(p *queryParams) {
	if p.serialConsistency != 0 {
		w.short(uint16(p.serialConsistency))
	}
	if p.hasTimestamp {
		w.long(p.timestamp)
	}
	if p.keyspace != "" {
		w.string("keyspace", p.keyspace)
	}
	if p.hasNowInSeconds {
		w.int(p.nowInSeconds)
	}
}

// appendStartup appends the body of STARTUP (section 4.1.1), its options sorted by key.
func appendStartup(dst []byte, options map[string]string) ([]byte, error) {
	w := newBodyWriter(dst)
	if len(options) > maxCount {
		w.fail("STARTUP options", wire.ErrTooLong)
	}
	w.short(uint16(len(options)))
	for _, k := range slices.Sorted(maps.Keys(options)) {
		w.string("STARTUP option", k)
		w.string("STARTUP option "+k, options[k])
	}
	return w.finish(dst)
}

// appendAuthResponse appends the body of AUTH_RESPONSE (section 4.1.2); a nil token is written as null.
func appendAuthResponse(dst, token []byte) ([]byte, error) {
	w := newBodyWriter(dst)
	w.bytes(token)
	return w.finish(dst)
}

// appendRegister appends the body of REGISTER (section 4.1.8).
func appendRegister(dst []byte, events []string) ([]byte, error) {
	w := newBodyWriter(dst)
	if len(events) > maxCount {
		w.fail("event types", wire.ErrTooLong)
	}
	w.short(uint16(len(events)))
	for _, e := range events {
		w.string("event type", e)
	}
	return w.finish(dst)
}

// appendQuery appends the body of QUERY (section 4.1.4).
func appendQuery(dst []byte, version byte, stmt string, p *queryParams) ([]byte, error) {
	w := newBodyWriter(dst)
	w.longString(stmt)
	w.queryParams(version, p)
	return w.finish(dst)
}

// appendPrepare appends the body of PREPARE (section 4.1.5). A non-empty keyspace requires v5.
func appendPrepare(dst []byte, version byte, stmt, keyspace string) ([]byte, error) {
	w := newBodyWriter(dst)
	w.longString(stmt)
	switch {
	case version < protoV5 && keyspace != "":
		w.fail("keyspace of PREPARE", ErrUnsupported)
	case version < protoV5:
	case keyspace == "":
		w.int(0)
	default:
		w.int(prepareFlagKeyspace)
		w.string("keyspace", keyspace)
	}
	return w.finish(dst)
}

// appendExecute appends the body of EXECUTE (section 4.1.6). It writes resultMetadataID always on v5, and on v4 if it
// is not nil (ScyllaDB's extension SCYLLA_USE_METADATA_ID).
func appendExecute(dst []byte, version byte, id, resultMetadataID []byte, p *queryParams) ([]byte, error) {
	w := newBodyWriter(dst)
	w.shortBytes("statement id", id)
	if version >= protoV5 || resultMetadataID != nil {
		w.shortBytes("result metadata id", resultMetadataID)
	}
	w.queryParams(version, p)
	return w.finish(dst)
}

// appendBatch appends the body of BATCH (section 4.1.7). It returns ErrUnsupported for named values: the protocol puts
// their flag after the values, where no server can use it (CASSANDRA-10246).
func appendBatch(dst []byte, version byte, typ cql.BatchType, entries []batchEntry, p *queryParams) ([]byte, error) {
	w := newBodyWriter(dst)
	if len(entries) > maxCount {
		w.fail(fmt.Sprintf("%d statements", len(entries)), ErrTooManyStmts)
	}
	w.byte(byte(typ))
	w.short(uint16(len(entries)))
	for i := range entries {
		if w.err != nil {
			break
		}
		w.batchEntry(&entries[i])
	}
	w.batchParams(version, p)
	return w.finish(dst)
}

// appendRowBatch is appendBatch for an unlogged batch of one prepared statement with n values, whose rows are encoded:
// row i ends at cells[ends[i]].
func appendRowBatch(dst []byte, version byte, id []byte, n int, cells []byte, ends []int, p *queryParams,
) ([]byte, error) {
	w := newBodyWriter(dst)
	w.byte(byte(cql.UnloggedBatch))
	w.short(uint16(len(ends)))
	start := 0
	for _, end := range ends {
		w.byte(batchKindID)
		w.shortBytes("statement id", id)
		w.short(uint16(n))
		if w.room(end - start); w.err == nil {
			w.out = append(w.out, cells[start:end]...)
		}
		start = end
	}
	w.batchParams(version, p)
	return w.finish(dst)
}

// batchParams writes the parameters of a BATCH, which follow its statements.
func (w *bodyWriter) batchParams(version byte, p *queryParams) {
	p.consistencyAt = len(w.out)
	w.short(uint16(p.consistency))
	flags, err := queryFlags(version, p)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.flags(version, flags)
	w.tail(p)
}

// The kinds of a statement in a BATCH: its text, or the id of a prepared statement.
const batchKindText, batchKindID = 0, 1

// batchEntry writes one statement of a BATCH: kind, text or id, and values (native_protocol_v5.spec, section 4.1.7).
// Named values are an error: servers cannot resolve names in a batch (section 4.1.7).
func (w *bodyWriter) batchEntry(e *batchEntry) {
	if e.id == nil {
		w.byte(batchKindText)
		w.longString(e.stmt)
	} else {
		w.byte(batchKindID)
		w.shortBytes("statement id", e.id)
	}
	n, named := boundCount(e.values)
	if named && n > 0 {
		w.fail("named values in a batch", ErrUnsupported)
	}
	w.values(e.values, n)
}

// appendCustomPayload appends a custom payload, sorted by key. It precedes the message (section 4) in a frame with
// wire.FlagCustomPayload.
func appendCustomPayload(dst []byte, payload map[string][]byte) ([]byte, error) {
	w := newBodyWriter(dst)
	if len(payload) > maxCount {
		w.fail("custom payload", wire.ErrTooLong)
	}
	w.short(uint16(len(payload)))
	for _, k := range slices.Sorted(maps.Keys(payload)) {
		w.string("custom payload key", k)
		w.bytes(payload[k])
	}
	return w.finish(dst)
}

// translateExecute converts the message of a v4 EXECUTE for a connection with other ScyllaDB extensions (scylladb
// docs/dev/protocol-extensions.md): it removes the result metadata id or inserts an empty one. message was written by
// appendExecute. hasID reports whether message has an id, wantID whether the result needs one. Without an id the server
// cannot report a change of metadata, so the flag to skip metadata is cleared. An empty id never equals that of the
// server's metadata, so the server sends the metadata with their id.
func translateExecute(dst, message []byte, hasID, wantID bool) ([]byte, error) {
	r := wire.NewReader(message)
	id := r.ShortBytes()
	if hasID {
		r.ShortBytes()
	}
	const parameters = 2 + 1 // consistency and flags
	rest := r.Rest()
	if err := malformed("EXECUTE", &r); err != nil || len(rest) < parameters {
		return dst, &cql.ProtocolError{Message: "EXECUTE to translate is truncated", Err: err}
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(id)))
	dst = append(dst, id...)
	if wantID {
		dst = append(dst, 0, 0)
	}
	flags := len(dst) + parameters - 1
	dst = append(dst, rest...)
	dst[flags] &^= queryFlagSkipMetadata
	return dst, nil
}
