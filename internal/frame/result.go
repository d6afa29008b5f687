// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"errors"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/wire"
)

// RESULT bodies (native_protocol_v5.spec, section 4.2.5). Only RowsBody.cells and the metadata.spec of rows are parts
// of the body; all else is copied.

// ResultKind is the [int] at the start of a RESULT.
type ResultKind int32

const (
	ResultVoid         ResultKind = 1
	ResultRows         ResultKind = 2
	ResultSetKeyspace  ResultKind = 3
	ResultPrepared     ResultKind = 4
	ResultSchemaChange ResultKind = 5
)

// The flags of metadata (section 4.2.5.2).
const (
	MetadataGlobalTablesSpec = 0x01
	metadataHasMorePages     = 0x02
	metadataNoMetadata       = 0x04
	metadataChanged          = 0x08 // v5, or SCYLLA_USE_METADATA_ID
)

// Metadata describes the columns of rows, or the bind markers of a statement.
type Metadata struct {
	Columns     []cql.ColumnInfo
	PagingState []byte // nil means no more pages
	NewID       []byte // new result metadata id; nil means unchanged
	spec        []byte // the bytes of columns
	ColumnCount int    // set even with NoColumns
	NoColumns   bool   // NO_METADATA: columns is nil; the prepared statement's columns apply
	Flags       int32
}

// PreparedResult is the response to PREPARE.
type PreparedResult struct {
	ID               []byte
	ResultMetadataID []byte // nil without metadata ids
	Bind             Metadata
	// the bind marker of each partition key column; empty unless all are bound. nil before v4, whose servers do not
	// report them
	PKIndexes []int
	Result    Metadata
	LWT       bool // conditional; set by the caller, which has the connection's features
}

// RowsBody is one page. cells is a part of the body: row after row, ColumnCount times [bytes] each. Reading the cells
// checks their lengths.
type RowsBody struct {
	Meta     Metadata
	RowCount int
	Cells    []byte
}

// Result is a RESULT; kind determines which of the other fields is set.
type Result struct {
	Kind     ResultKind
	Prepared *PreparedResult
	Change   *SchemaEvent
	Rows     RowsBody
}

// KnownColumns are columns parsed earlier, with their bytes. Equal bytes mean equal columns, so that metadata repeated
// with every page costs only a comparison.
type KnownColumns struct {
	Columns []cql.ColumnInfo
	spec    []byte
	global  bool // MetadataGlobalTablesSpec, which determines the format of spec
}

// Known returns the columns of m with a copy of their bytes.
func (m *Metadata) Known() KnownColumns {
	return KnownColumns{Columns: m.Columns, spec: bytes.Clone(m.spec), global: m.Flags&MetadataGlobalTablesSpec != 0}
}

// ParseResult reads a RESULT. hasMetadataID reports whether a v4 connection has result metadata ids
// (SCYLLA_USE_METADATA_ID); v5 always has them. known, which may be nil, are the columns that the rows probably have.
func ParseResult(r *wire.Reader, version byte, hasMetadataID bool, known *KnownColumns) (Result, error) {
	var res Result
	if err := res.Parse(r, version, hasMetadataID, known); err != nil {
		return Result{}, err
	}
	return res, nil
}

// Parse parses into a zero result, as ParseResult does, because a result is so large that copies of it cost time.
func (res *Result) Parse(r *wire.Reader, version byte, hasMetadataID bool, known *KnownColumns) error {
	hasMetadataID = hasMetadataID || version >= V5
	switch res.Kind = ResultKind(r.Int()); res.Kind {
	case ResultVoid:
	case ResultRows:
		res.Rows.read(r, hasMetadataID, known)
	case ResultSetKeyspace:
		_ = r.String() // the name of the keyspace: sessions do not send USE
	case ResultPrepared:
		res.Prepared = readPrepared(r, version, hasMetadataID)
	case ResultSchemaChange:
		change := readSchemaEvent(r)
		res.Change = &change
	default:
		r.Fail(errtext.Errorf("unknown kind %d", res.Kind))
	}
	return malformed("RESULT", r)
}

// read reads section 4.2.5.2 up to the cells. It checks the row count against the remaining bytes: a cell has at least
// 4.
func (rows *RowsBody) read(r *wire.Reader, hasMetadataID bool, known *KnownColumns) {
	rows.Meta.read(r, hasMetadataID, known)
	n := int(r.Int())
	if cols := rows.Meta.ColumnCount; n < 0 || (cols == 0 && n > 0) || (cols > 0 && n > r.Len()/4/cols) {
		r.Fail(errtext.Errorf("%w: %d rows of %d columns in %d bytes", wire.ErrLength, n, cols, r.Len()))
	}
	rows.RowCount = n
	rows.Cells = r.Rest()
}

// read reads the <metadata> of Rows, which is also the <result_metadata> of Prepared, into zero metadata.
func (m *Metadata) read(r *wire.Reader, hasMetadataID bool, known *KnownColumns) {
	m.Flags, m.ColumnCount = r.Int(), int(r.Int())
	m.NoColumns = m.Flags&metadataNoMetadata != 0
	if m.ColumnCount < 0 {
		r.Fail(errtext.Errorf("%w: %d columns", wire.ErrLength, m.ColumnCount))
	}
	if m.Flags&metadataHasMorePages != 0 {
		// Without a state the next page cannot be requested, and an empty state would start over.
		if m.PagingState = bytes.Clone(r.Bytes()); len(m.PagingState) == 0 {
			r.Fail(errtext.Errorf("%w: more pages, but no paging state", wire.ErrLength))
		}
	}
	if hasMetadataID && m.Flags&metadataChanged != 0 {
		// An id without columns would decode later rows with the columns of another id.
		if m.NewID = bytes.Clone(r.ShortBytes()); m.NoColumns {
			r.Fail(errors.New("flags Metadata_changed and No_metadata together"))
		}
	}
	if !m.NoColumns {
		m.readColumns(r, known)
	}
}

// readColumns sets the columns; it reuses the columns of known if the bytes are equal.
func (m *Metadata) readColumns(r *wire.Reader, known *KnownColumns) {
	ahead := r.Ahead()
	if known != nil && len(known.Columns) == m.ColumnCount && known.global == (m.Flags&MetadataGlobalTablesSpec != 0) &&
		bytes.HasPrefix(ahead, known.spec) && r.Err() == nil {
		r.Skip(len(known.spec))
		m.Columns = known.Columns
	} else {
		m.Columns = readColumns(r, m.ColumnCount, m.Flags)
	}
	m.spec = ahead[:len(ahead)-len(r.Ahead())]
}

// readPrepared reads section 4.2.5.4.
func readPrepared(r *wire.Reader, version byte, hasMetadataID bool) *PreparedResult {
	p := &PreparedResult{ID: bytes.Clone(r.ShortBytes())}
	if hasMetadataID {
		p.ResultMetadataID = bytes.Clone(r.ShortBytes())
	}
	p.Bind = Metadata{Flags: r.Int(), ColumnCount: int(r.Int())}
	if version >= V4 {
		p.PKIndexes = readMarkers(r, p.Bind.ColumnCount)
	}
	p.Bind.Columns = readColumns(r, p.Bind.ColumnCount, p.Bind.Flags)
	p.Result.read(r, hasMetadataID, nil)
	p.Result.spec = bytes.Clone(p.Result.spec)
	return p
}

// readMarkers reads the bind markers of the partition key, each below markers.
func readMarkers(r *wire.Reader, markers int) []int {
	n := r.Count(2)
	indexes := make([]int, 0, n)
	for range n {
		i := int(r.Short())
		if i >= markers {
			r.Fail(errtext.Errorf("%w: partition key at bind marker %d of %d", wire.ErrLength, i, markers))
		}
		indexes = append(indexes, i)
	}
	return indexes
}

// readColumns reads [<global_table_spec>]<col_spec_1>...<col_spec_n>. Columns of one table share the memory of its
// name.
func readColumns(r *wire.Reader, n int, flags int32) []cql.ColumnInfo {
	global := flags&MetadataGlobalTablesSpec != 0
	var keyspace, table string
	minSize := 4 * 2 // three empty [string] and an id
	if global {
		keyspace, table = r.String(), r.String()
		minSize = 2 * 2
	}
	if n < 0 || n > r.Len()/minSize {
		r.Fail(errtext.Errorf("%w: %d columns in %d bytes", wire.ErrLength, n, r.Len()))
	}
	if r.Err() != nil {
		return nil
	}
	columns := make([]cql.ColumnInfo, n)
	for i := range columns {
		if !global {
			keyspace = readShared(r, keyspace)
			table = readShared(r, table)
		}
		columns[i] = cql.ColumnInfo{Keyspace: keyspace, Table: table, Name: r.String(), TypeInfo: parseOption(r)}
		if r.Err() != nil {
			return nil
		}
	}
	return columns
}

// readShared reads a [string]. It returns last if they are equal, to save the allocation.
func readShared(r *wire.Reader, last string) string {
	if b := r.ShortBytes(); string(b) != last {
		return string(b)
	}
	return last
}
