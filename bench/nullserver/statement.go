// SPDX-License-Identifier: Apache-2.0

// Package nullserver is a CQL server with canned responses for the statements it was given and for the queries by which
// drivers discover a cluster. It runs in a process of its own, so that a benchmark measures the client alone.
package nullserver

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
)

// A Type is the [option] by which the protocol encodes a type (native_protocol_v4.spec, section 4.2.5.2).
type Type string

// The types whose [option] has no value.
const (
	Bigint    Type = "\x00\x02"
	Blob      Type = "\x00\x03"
	Boolean   Type = "\x00\x04"
	Double    Type = "\x00\x07"
	Float     Type = "\x00\x08"
	Int       Type = "\x00\x09"
	Timestamp Type = "\x00\x0B"
	UUID      Type = "\x00\x0C"
	Text      Type = "\x00\x0D"
	Timeuuid  Type = "\x00\x0F"
	Inet      Type = "\x00\x10"
	Date      Type = "\x00\x11"
	Smallint  Type = "\x00\x13"
	Tinyint   Type = "\x00\x14"
)

// List returns the type list<elem>.
func List(elem Type) Type { return "\x00\x20" + elem }

// Set returns the type set<elem>.
func Set(elem Type) Type { return "\x00\x22" + elem }

// Map returns the type map<key, elem>.
func Map(key, elem Type) Type { return "\x00\x21" + key + elem }

// Vector returns the type vector<elem, dim>. class is Cassandra's class of the element, for example FloatType.
func Vector(class string, dim int) Type {
	const pkg = "org.apache.cassandra.db.marshal."
	return Type("\x00\x00" + str(fmt.Sprintf("%sVectorType(%s%s , %d)", pkg, pkg, class, dim)))
}

// A Column is a bind marker or a column of a result.
type Column struct {
	Name string
	Type Type
}

// A Statement is one statement text and the server's response to it.
type Statement struct {
	Text string
	Bind []Column
	Key  []int    // positions in Bind of the partition key's columns
	Want [][]byte // values of the first requests of a connection, each after its length; nil means any
	Rows []Column // nil means a void result

	// Row appends the cells of row i of a page, each after its length.
	Row func(dst []byte, i int) []byte
	// Paged reports whether the result has pages of the size that the client requests, as many as the int that is the
	// first bind value. Otherwise the result is one row: row i for the values Want[i].
	Paged bool
	// Tokens makes the result the rows of a token range, the first two bind values: one row for each token, the last
	// column, whose cell Row appends. All rows have one length.
	Tokens bool

	id    uint32
	want  map[string]int // positions in Want
	mu    sync.Mutex
	one   map[oneKey][]byte // results of one row, encoded once
	block map[int][]byte    // encoded rows of a page by their number; pages differ only in their head
}

// oneKey is a row in one of its encodings.
type oneKey struct {
	row           int
	skip, changed bool // without metadata, with a new id of the metadata
}

// rows returns the encoded rows of a page of n rows.
func (s *Statement) rows(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.block[n]; ok {
		return b
	}
	var b []byte
	for i := range n {
		b = s.Row(b, i)
	}
	if s.block == nil {
		s.block = map[int][]byte{}
	}
	s.block[n] = b
	return b
}

// single returns the result of one row, or of none if the statement has no Row.
func (s *Statement) single(key oneKey) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.one[key]; ok {
		return b
	}
	var b []byte
	if s.Row == nil {
		b = s.appendHead(nil, key.skip, key.changed, nil, 0)
	} else {
		b = s.Row(s.appendHead(nil, key.skip, key.changed, nil, 1), key.row)
	}
	if s.one == nil {
		s.one = map[oneKey][]byte{}
	}
	s.one[key] = b
	return b
}

// metadataID is the id of the result metadata in v5.
const metadataID = "meta"

// prepared returns the response to PREPARE.
func (s *Statement) prepared(version byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte("\x00\x00\x00\x04\x00\x04"), s.id)
	if version >= 5 {
		b = append(b, str(metadataID)...)
	}
	// flags: global_tables_spec
	b = binary.BigEndian.AppendUint32(append(b, 0, 0, 0, byte(min(len(s.Bind), 1))), uint32(len(s.Bind)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(s.Key)))
	for _, k := range s.Key {
		b = binary.BigEndian.AppendUint16(b, uint16(k))
	}
	b = s.appendColumns(b, s.Bind)
	if s.Rows == nil {
		return append(b, "\x00\x00\x00\x04\x00\x00\x00\x00"...)
	}
	b = binary.BigEndian.AppendUint32(append(b, "\x00\x00\x00\x01"...), uint32(len(s.Rows)))
	return s.appendColumns(b, s.Rows)
}

// appendColumns appends the table's name, which follows INTO or FROM, and the columns.
func (s *Statement) appendColumns(b []byte, columns []Column) []byte {
	if len(columns) == 0 {
		return b
	}
	b = append(b, str(s.keyspace())+str("t")...)
	for _, c := range columns {
		b = append(b, str(c.Name)+string(c.Type)...)
	}
	return b
}

func (s *Statement) keyspace() string {
	words := strings.Fields(s.Text)
	for i, w := range words[:max(len(words)-1, 0)] {
		if w = strings.ToUpper(w); w == "FROM" || w == "INTO" {
			ks, _, _ := strings.Cut(words[i+1], ".")
			return ks
		}
	}
	return "ks"
}

// appendHead appends the part of a page before its rows.
func (s *Statement) appendHead(b []byte, skip, changed bool, state []byte, rows int) []byte {
	flags := uint32(0)
	if skip {
		flags |= rowsNoMetadata
	} else {
		flags |= rowsGlobalTable
	}
	if changed {
		flags |= rowsMetadataChanged
	}
	if state != nil {
		flags |= rowsMorePages
	}
	b = binary.BigEndian.AppendUint32(append(b, "\x00\x00\x00\x02"...), flags)
	b = binary.BigEndian.AppendUint32(b, uint32(len(s.Rows)))
	if state != nil {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(state))), state...)
	}
	if changed {
		b = append(b, str(metadataID)...)
	}
	if !skip {
		b = s.appendColumns(b, s.Rows)
	}
	return binary.BigEndian.AppendUint32(b, uint32(rows))
}

func str(s string) string { return string([]byte{byte(len(s) >> 8), byte(len(s))}) + s }

// Cell appends a cell: the length of the content, then the content.
func Cell(dst []byte, content string) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(content))), content...)
}
