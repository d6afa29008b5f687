// SPDX-License-Identifier: Apache-2.0

package frame

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

// Flags of query parameters (section 4.1.4): a [byte] before v5, an [int] in v5. Those above 0x40 are v5 only.
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

// Binder contains the bound values of one statement.
type Binder interface {
	// Count returns the number of values, and reports whether each has a name.
	Count() (n int, named bool)
	// AppendBound appends, for each value, a [string] name if named, then a [value].
	AppendBound(dst []byte) ([]byte, error)
}

// QueryParams are the parameters of QUERY and EXECUTE. BATCH uses only consistencies, timestamp, keyspace and
// NowInSeconds.
type QueryParams struct {
	Values            Binder // nil means none
	Consistency       cql.Consistency
	SerialConsistency cql.Consistency // 0 means none
	SkipMetadata      bool
	PageSize          int    // rows; 0 means none
	PagingState       []byte // empty means none
	Timestamp         int64  // microseconds since 1970, if HasTimestamp
	HasTimestamp      bool
	Keyspace          string // v5 only
	NowInSeconds      int32  // seconds since 1970, if HasNowInSeconds; v5 only
	HasNowInSeconds   bool

	ConsistencyAt int // offset of the consistency in the body, set when it is written
}

// BatchEntry is one statement of a batch.
type BatchEntry struct {
	ID     []byte // of the prepared statement; nil means that stmt is sent as text
	Stmt   string
	Values Binder // nil means none
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
		w.err = errtext.Errorf("encode the body of a request: %w", ErrTooBig)
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

// values writes a [short] n and n bound values. Before v4 a value that is not set is an error: servers close the
// connection of a length below -1.
func (w *bodyWriter) values(version byte, b Binder, n int, named bool) {
	if n > maxCount {
		w.fail(fmt.Sprintf("%d values", n), ErrTooManyValues)
	}
	w.short(uint16(n))
	at := len(w.out)
	if w.err == nil && n > 0 {
		w.out, w.err = b.AppendBound(w.out)
	}
	if w.room(0); version < V4 {
		w.refuseUnset(at, n, named)
	}
}

// refuseUnset sets err if one of the n values from position at is not set.
func (w *bodyWriter) refuseUnset(at, n int, named bool) {
	if w.err != nil {
		return
	}
	r := wire.NewReader(w.out[at:])
	for i := range n {
		if named {
			r.ShortBytes()
		}
		size := r.Int()
		if size == wire.Unset {
			w.fail(fmt.Sprintf("bind marker %d is not set (protocol v3 has NULL only)", i), ErrUnsupported)
			return
		}
		r.Skip(int(max(size, 0)))
	}
}

// boundCount returns b.count for a b that may be nil.
func boundCount(b Binder) (n int, named bool) {
	if b == nil {
		return 0, false
	}
	return b.Count()
}

// queryFlags returns the flags of p, without the flags of its values, and ErrUnsupported for parameters that version
// lacks.
func queryFlags(version byte, p *QueryParams) (flags int32, err error) {
	if p.SerialConsistency != 0 {
		flags |= queryFlagSerialConsistency
	}
	if p.HasTimestamp {
		flags |= queryFlagTimestamp
	}
	if p.Keyspace != "" {
		flags |= queryFlagKeyspace
	}
	if p.HasNowInSeconds {
		flags |= queryFlagNowInSeconds
	}
	switch {
	case version >= V5:
		return flags, nil
	case p.Keyspace != "":
		return 0, errtext.Errorf("keyspace of a request: %w", ErrUnsupported)
	case p.HasNowInSeconds:
		return 0, errtext.Errorf("now_in_seconds: %w", ErrUnsupported)
	}
	return flags, nil
}

func (w *bodyWriter) flags(version byte, flags int32) {
	if version >= V5 {
		w.int(flags)
	} else {
		w.byte(byte(flags))
	}
}

// QueryParams writes the <query_parameters> of QUERY and EXECUTE (section 4.1.4).
func (w *bodyWriter) queryParams(version byte, p *QueryParams) {
	flags, err := queryFlags(version, p)
	if err != nil && w.err == nil {
		w.err = err
	}
	n, named := boundCount(p.Values)
	if n > 0 {
		flags |= queryFlagValues
		if named {
			flags |= queryFlagNames
		}
	}
	if p.SkipMetadata {
		flags |= queryFlagSkipMetadata
	}
	if p.PageSize != 0 {
		flags |= queryFlagPageSize
		if p.PageSize < 0 || p.PageSize > math.MaxInt32 {
			w.fail(fmt.Sprintf("page size %d", p.PageSize), cql.ErrRange)
		}
	}
	if len(p.PagingState) > 0 {
		flags |= queryFlagPagingState
	}
	p.ConsistencyAt = len(w.out)
	w.short(uint16(p.Consistency))
	w.flags(version, flags)
	if n > 0 {
		w.values(version, p.Values, n, named)
	}
	if p.PageSize != 0 {
		w.int(int32(p.PageSize))
	}
	if len(p.PagingState) > 0 {
		w.bytes(p.PagingState)
	}
	w.tail(p)
}

// tail writes the last parameters of QUERY, EXECUTE and BATCH.
func (w *bodyWriter) tail(p *QueryParams) {
	if p.SerialConsistency != 0 {
		w.short(uint16(p.SerialConsistency))
	}
	if p.HasTimestamp {
		w.long(p.Timestamp)
	}
	if p.Keyspace != "" {
		w.string("keyspace", p.Keyspace)
	}
	if p.HasNowInSeconds {
		w.int(p.NowInSeconds)
	}
}

// AppendStartup appends the body of STARTUP (section 4.1.1), its options sorted by key.
func AppendStartup(dst []byte, options map[string]string) ([]byte, error) {
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

// AppendAuthResponse appends the body of AUTH_RESPONSE (section 4.1.2); a nil token is written as null.
func AppendAuthResponse(dst, token []byte) ([]byte, error) {
	w := newBodyWriter(dst)
	w.bytes(token)
	return w.finish(dst)
}

// AppendRegister appends the body of REGISTER (section 4.1.8).
func AppendRegister(dst []byte, events []string) ([]byte, error) {
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

// AppendQuery appends the body of QUERY (section 4.1.4).
func AppendQuery(dst []byte, version byte, stmt string, p *QueryParams) ([]byte, error) {
	w := newBodyWriter(dst)
	w.longString(stmt)
	w.queryParams(version, p)
	return w.finish(dst)
}

// AppendPrepare appends the body of PREPARE (section 4.1.5). A non-empty keyspace requires v5.
func AppendPrepare(dst []byte, version byte, stmt, keyspace string) ([]byte, error) {
	w := newBodyWriter(dst)
	w.longString(stmt)
	switch {
	case version < V5 && keyspace != "":
		w.fail("keyspace of PREPARE", ErrUnsupported)
	case version < V5:
	case keyspace == "":
		w.int(0)
	default:
		w.int(prepareFlagKeyspace)
		w.string("keyspace", keyspace)
	}
	return w.finish(dst)
}

// AppendExecute appends the body of EXECUTE (section 4.1.6). It writes ResultMetadataID always on v5, and on v4 if it
// is not nil (ScyllaDB's extension SCYLLA_USE_METADATA_ID).
func AppendExecute(dst []byte, version byte, id, resultMetadataID []byte, p *QueryParams) ([]byte, error) {
	w := newBodyWriter(dst)
	w.shortBytes("statement id", id)
	if version >= V5 || resultMetadataID != nil {
		w.shortBytes("result metadata id", resultMetadataID)
	}
	w.queryParams(version, p)
	return w.finish(dst)
}

// AppendBatch appends the body of BATCH (section 4.1.7). It returns ErrUnsupported for named values: the protocol puts
// their flag after the values, where no server can use it (CASSANDRA-10246).
func AppendBatch(dst []byte, version byte, typ cql.BatchType, entries []BatchEntry, p *QueryParams) ([]byte, error) {
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
		w.batchEntry(version, &entries[i])
	}
	w.batchParams(version, p)
	return w.finish(dst)
}

// AppendRowBatch appends an unlogged batch of one prepared statement with n values, whose rows are encoded: row i
// ends at cells[ends[i]].
func AppendRowBatch(dst []byte, version byte, id []byte, n int, cells []byte, ends []int, p *QueryParams,
) ([]byte, error) {
	w := newBodyWriter(dst)
	w.byte(byte(cql.UnloggedBatch))
	w.short(uint16(len(ends)))
	start := 0
	for _, end := range ends {
		w.byte(batchKindID)
		w.shortBytes("statement id", id)
		w.short(uint16(n))
		at := len(w.out)
		if w.room(end - start); w.err == nil {
			w.out = append(w.out, cells[start:end]...)
		}
		if version < V4 {
			w.refuseUnset(at, n, false)
		}
		start = end
	}
	w.batchParams(version, p)
	return w.finish(dst)
}

// batchParams writes the parameters of a BATCH, which follow its statements.
func (w *bodyWriter) batchParams(version byte, p *QueryParams) {
	p.ConsistencyAt = len(w.out)
	w.short(uint16(p.Consistency))
	flags, err := queryFlags(version, p)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.flags(version, flags)
	w.tail(p)
}

// The kinds of a statement in a BATCH: its text, or the id of a prepared statement.
const batchKindText, batchKindID = 0, 1

// BatchEntry writes one statement of a BATCH: kind, text or id, and values (native_protocol_v5.spec, section 4.1.7).
// Named values are an error: servers cannot resolve names in a batch (section 4.1.7).
func (w *bodyWriter) batchEntry(version byte, e *BatchEntry) {
	if e.ID == nil {
		w.byte(batchKindText)
		w.longString(e.Stmt)
	} else {
		w.byte(batchKindID)
		w.shortBytes("statement id", e.ID)
	}
	n, named := boundCount(e.Values)
	if named && n > 0 {
		w.fail("named values in a batch", ErrUnsupported)
	}
	w.values(version, e.Values, n, named)
}

// AppendCustomPayload appends a custom payload, sorted by key. It precedes the message (section 4) in a frame with
// wire.FlagCustomPayload, which v4 introduced.
func AppendCustomPayload(dst []byte, version byte, payload map[string][]byte) ([]byte, error) {
	w := newBodyWriter(dst)
	if version < V4 {
		w.fail("custom payload", ErrUnsupported)
	}
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

// TranslateExecute converts the message of a v4 EXECUTE for a connection with other ScyllaDB extensions (scylladb
// docs/dev/protocol-extensions.md): it removes the result metadata id or inserts an empty one. message was written by
// AppendExecute. hasID reports whether message has an id, wantID whether the result needs one. Without an id the
// server cannot report a change of metadata, so the flag to skip metadata is cleared. An empty id never equals the id
// of the server's metadata, so the server sends the metadata with their id.
func TranslateExecute(dst, message []byte, hasID, wantID bool) ([]byte, error) {
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
