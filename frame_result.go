// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"errors"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/wire"
)

// RESULT bodies (native_protocol_v5.spec, section 4.2.5). Only rowsBody.cells and the metadata.spec of rows are parts
// of the body; all else is copied.

// resultKind is the [int] at the start of a RESULT.
type resultKind int32

const (
	resultVoid         resultKind = 1
	resultRows         resultKind = 2
	resultSetKeyspace  resultKind = 3
	resultPrepared     resultKind = 4
	resultSchemaChange resultKind = 5
)

// The flags of metadata (section 4.2.5.2).
const (
	metadataGlobalTablesSpec = 0x01
	metadataHasMorePages     = 0x02
	metadataNoMetadata       = 0x04
	metadataChanged          = 0x08 // v5, or SCYLLA_USE_METADATA_ID
)

// metadata describes the columns of rows, or the bind markers of a statement.
type metadata struct {
	columns     []cql.ColumnInfo
	pagingState []byte // nil means no more pages
	newID       []byte // new result metadata id; nil means unchanged
	spec        []byte // the bytes of columns
	columnCount int    // set even with noColumns
	noColumns   bool   // NO_METADATA: columns is nil; the prepared statement's columns apply
	flags       int32
}

// preparedResult is the response to PREPARE.
type preparedResult struct {
	id               []byte
	resultMetadataID []byte // nil without metadata ids
	bind             metadata
	pkIndexes        []int // the bind marker of each partition key column; empty unless all are bound
	result           metadata
	lwt              bool // conditional; set by the caller, which has the connection's features
}

// rowsBody is one page. cells is a part of the body: row after row, columnCount times [bytes] each. Reading the cells
// checks their lengths.
type rowsBody struct {
	meta     metadata
	rowCount int
	cells    []byte
}

// result is a RESULT; kind determines which of the other fields is set.
type result struct {
	kind     resultKind
	prepared *preparedResult
	change   *schemaEvent
	rows     rowsBody
}

// knownColumns are columns parsed earlier, with their bytes. Equal bytes mean equal columns, so that metadata repeated
// with every page costs only a comparison.
type knownColumns struct {
	columns []cql.ColumnInfo
	spec    []byte
	global  bool // metadataGlobalTablesSpec, which determines the format of spec
}

// known returns the columns of m with a copy of their bytes.
func (m *metadata) known() knownColumns {
	return knownColumns{columns: m.columns, spec: bytes.Clone(m.spec), global: m.flags&metadataGlobalTablesSpec != 0}
}

// parseResult reads a RESULT. hasMetadataID reports whether a v4 connection has result metadata ids
// (SCYLLA_USE_METADATA_ID); v5 always has them. known, which may be nil, are the columns that the rows probably have.
func parseResult(r *wire.Reader, version byte, hasMetadataID bool, known *knownColumns) (result, error) {
	var res result
	if err := res.parse(r, version, hasMetadataID, known); err != nil {
		return result{}, err
	}
	return res, nil
}

// parse is parseResult into a zero result, which is so large that copies of it cost time.
func (res *result) parse(r *wire.Reader, version byte, hasMetadataID bool, known *knownColumns) error {
	hasMetadataID = hasMetadataID || version >= protoV5
	switch res.kind = resultKind(r.Int()); res.kind {
	case resultVoid:
	case resultRows:
		res.rows.read(r, hasMetadataID, known)
	case resultSetKeyspace:
		_ = r.String() // the name of the keyspace: sessions do not send USE
	case resultPrepared:
		res.prepared = readPrepared(r, hasMetadataID)
	case resultSchemaChange:
		change := readSchemaEvent(r)
		res.change = &change
	default:
		r.Fail(errtext.Errorf("unknown kind %d", res.kind))
	}
	return malformed("RESULT", r)
}

// read reads section 4.2.5.2 up to the cells. It checks the row count against the remaining bytes: a cell has at least
// 4.
func (rows *rowsBody) read(r *wire.Reader, hasMetadataID bool, known *knownColumns) {
	rows.meta.read(r, hasMetadataID, known)
	n := int(r.Int())
	if cols := rows.meta.columnCount; n < 0 || (cols == 0 && n > 0) || (cols > 0 && n > r.Len()/4/cols) {
		r.Fail(errtext.Errorf("%w: %d rows of %d columns in %d bytes", wire.ErrLength, n, cols, r.Len()))
	}
	rows.rowCount = n
	rows.cells = r.Rest()
}

// read reads the <metadata> of Rows, which is also the <result_metadata> of Prepared, into zero metadata.
func (m *metadata) read(r *wire.Reader, hasMetadataID bool, known *knownColumns) {
	m.flags, m.columnCount = r.Int(), int(r.Int())
	m.noColumns = m.flags&metadataNoMetadata != 0
	if m.columnCount < 0 {
		r.Fail(errtext.Errorf("%w: %d columns", wire.ErrLength, m.columnCount))
	}
	if m.flags&metadataHasMorePages != 0 {
		// Without a state the next page cannot be requested, and an empty state would start over.
		if m.pagingState = bytes.Clone(r.Bytes()); len(m.pagingState) == 0 {
			r.Fail(errtext.Errorf("%w: more pages, but no paging state", wire.ErrLength))
		}
	}
	if hasMetadataID && m.flags&metadataChanged != 0 {
		// An id without columns would decode later rows with the columns of another id.
		if m.newID = bytes.Clone(r.ShortBytes()); m.noColumns {
			r.Fail(errors.New("flags Metadata_changed and No_metadata together"))
		}
	}
	if !m.noColumns {
		m.readColumns(r, known)
	}
}

// readColumns sets the columns; it reuses those of known if the bytes are equal.
func (m *metadata) readColumns(r *wire.Reader, known *knownColumns) {
	ahead := r.Ahead()
	if known != nil && len(known.columns) == m.columnCount && known.global == (m.flags&metadataGlobalTablesSpec != 0) &&
		bytes.HasPrefix(ahead, known.spec) && r.Err() == nil {
		r.Skip(len(known.spec))
		m.columns = known.columns
	} else {
		m.columns = readColumns(r, m.columnCount, m.flags)
	}
	m.spec = ahead[:len(ahead)-len(r.Ahead())]
}

// readPrepared reads section 4.2.5.4.
func readPrepared(r *wire.Reader, hasMetadataID bool) *preparedResult {
	p := &preparedResult{id: bytes.Clone(r.ShortBytes())}
	if hasMetadataID {
		p.resultMetadataID = bytes.Clone(r.ShortBytes())
	}
	p.bind = metadata{flags: r.Int(), columnCount: int(r.Int())}
	n := r.Count(2)
	p.pkIndexes = make([]int, 0, n)
	for range n {
		i := int(r.Short())
		if i >= p.bind.columnCount {
			r.Fail(errtext.Errorf("%w: partition key at bind marker %d of %d", wire.ErrLength, i, p.bind.columnCount))
		}
		p.pkIndexes = append(p.pkIndexes, i)
	}
	p.bind.columns = readColumns(r, p.bind.columnCount, p.bind.flags)
	p.result.read(r, hasMetadataID, nil)
	p.result.spec = bytes.Clone(p.result.spec)
	return p
}

// readColumns reads [<global_table_spec>]<col_spec_1>...<col_spec_n>. Columns of one table share the memory of its
// name.
func readColumns(r *wire.Reader, n int, flags int32) []cql.ColumnInfo {
	global := flags&metadataGlobalTablesSpec != 0
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
