// SPDX-License-Identifier: Apache-2.0

package nullserver

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A Server responds to statements.
type Server struct {
	mu         sync.Mutex
	byText     map[string]*Statement
	statements atomic.Pointer[[]*Statement] // by id; copied when a statement is added
	tables     map[string][]field
	tls        *tls.Config
	segments   sync.Map // compressed segments of canned rows by their rows
}

// Serve accepts connections on ln until ln is closed, with TLS and without it. It returns the error of Accept.
func Serve(ln net.Listener, cert tls.Certificate, statements []*Statement) error {
	s := &Server{
		byText: map[string]*Statement{}, tables: systemTables(ln.Addr().(*net.TCPAddr)),
		tls: &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13},
	}
	s.statements.Store(&[]*Statement{})
	for _, st := range statements {
		s.add(st)
	}
	for {
		conn, err := ln.Accept()
		if err != nil {
			return err
		}
		go s.handle(conn)
	}
}

func (s *Server) add(st *Statement) {
	all := append(slices.Clone(*s.statements.Load()), st)
	st.id = uint32(len(all) - 1)
	st.want = make(map[string]int, len(st.Want))
	for i, values := range st.Want {
		st.want[string(values)] = i
	}
	s.statements.Store(&all)
	s.byText[st.Text] = st
}

// statement returns the statement with that text, nil if there is none.
func (s *Server) statement(text string) *Statement {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.byText[text]
	if st == nil {
		if st = systemStatement(s.tables, text); st != nil {
			s.add(st)
		}
	}
	return st
}

func (s *Server) byID(id []byte) *Statement {
	all := *s.statements.Load()
	if i := binary.BigEndian.Uint32(id); int(i) < len(all) {
		return all[i]
	}
	return nil
}

const (
	opError, opStartup, opReady, opOptions, opSupported, opQuery, opResult, opPrepare = 0x00, 0x01, 0x02, 0x05, 0x06, 0x07,
		0x08, 0x09
	opExecute, opRegister, opBatch = 0x0A, 0x0B, 0x0D
)

const (
	errProtocol, errInvalid = 0x000A, 0x2200
)

// Flags of [query_parameters], and of the metadata of Rows.
const (
	queryValues, querySkipMetadata, queryPageSize, queryPagingState, queryNames = 0x01, 0x02, 0x04, 0x08, 0x40
	rowsGlobalTable, rowsMorePages, rowsNoMetadata, rowsMetadataChanged         = 0x01, 0x02, 0x04, 0x08
)

var (
	void      = []byte("\x00\x00\x00\x01")
	supported = []byte("\x00\x03" + str("CQL_VERSION") + "\x00\x01" + str("3.4.7") + str("COMPRESSION") + "\x00\x01" +
		str("lz4") + str("PROTOCOL_VERSIONS") + "\x00\x02" + str("4/v4") + str("5/v5"))
)

// answer responds to one request with one call of c.add or c.addPage.
func (c *conn) answer(frame []byte) {
	version, body := frame[0], frame[9:]
	if version != 4 && version != 5 {
		frame[0] = 5
		c.fail(frame, errProtocol, "Invalid or unsupported protocol version; supported versions are (4/v4, 5/v5)")
		return
	}
	switch frame[4] {
	case opOptions:
		c.add(frame, opSupported, supported)
	case opStartup:
		c.add(frame, opReady, nil)
		c.lz4 = bytes.Contains(body, []byte(str("COMPRESSION")+str("lz4"))) // READY has no compression
	case opRegister:
		c.add(frame, opReady, nil)
	case opBatch:
		c.add(frame, opResult, void)
	case opPrepare:
		n := binary.BigEndian.Uint32(body)
		text := string(body[4 : 4+n])
		st := c.server.statement(text)
		if st == nil {
			c.fail(frame, errInvalid, "unknown statement: "+text)
			return
		}
		c.add(frame, opResult, st.prepared(version))
	case opQuery:
		n := binary.BigEndian.Uint32(body)
		text := string(body[4 : 4+n])
		if word, ks, _ := strings.Cut(text, " "); strings.EqualFold(word, "USE") {
			c.add(frame, opResult, []byte("\x00\x00\x00\x03"+str(strings.Trim(ks, `"; `))))
			return
		}
		c.execute(frame, c.server.statement(text), "", body[4+n:])
	case opExecute:
		if len(body) < 8 || body[1] != 4 { // every id has 4 bytes
			c.fail(frame, errInvalid, "unknown statement id")
			return
		}
		st, rest := c.server.byID(body[2:]), body[6:]
		id := ""
		if version >= 5 {
			n := binary.BigEndian.Uint16(rest)
			id, rest = string(rest[2:2+n]), rest[2+n:]
		}
		c.execute(frame, st, id, rest)
	default:
		c.fail(frame, errProtocol, "unknown opcode")
	}
}

// execute responds to a request with parameters p.
func (c *conn) execute(frame []byte, st *Statement, knownID string, p []byte) {
	if st == nil {
		c.fail(frame, errInvalid, "unknown statement")
		return
	}
	p = p[2:] // consistency
	flags := uint32(p[0])
	if frame[0] >= 5 {
		flags, p = binary.BigEndian.Uint32(p), p[3:]
	}
	p = p[1:]
	if st.Want != nil && !c.check(st, flags, p) {
		c.fail(frame, errInvalid, "the values differ from those expected")
		return
	}
	if st.Rows == nil {
		c.add(frame, opResult, void)
		return
	}
	skip, changed := flags&querySkipMetadata != 0, false
	if frame[0] >= 5 && skip && knownID != metadataID {
		skip, changed = false, true
	}
	if st.Tokens {
		c.addTokens(frame, st, flags, p, skip, changed)
		return
	}
	if !st.Paged {
		i := 0
		if len(st.Want) > 1 {
			i = st.want[string(st.values(flags, p))]
		}
		c.add(frame, opResult, st.single(oneKey{i, skip, changed}))
		return
	}
	size, page, pages := paging(flags, p)
	var state []byte
	if page+1 < pages {
		state = binary.BigEndian.AppendUint32(c.state[:0], page+1)
	}
	c.body = st.appendHead(c.body[:0], skip, changed, state, size)
	c.addPage(frame, c.body, st.rows(size))
}

// addTokens responds with a page of a token range.
func (c *conn) addTokens(frame []byte, st *Statement, flags uint32, p []byte, skip, changed bool) {
	size, state, _ := paging(flags, p)
	values := st.values(flags, p)
	first, last := int64(binary.BigEndian.Uint64(values[4:])), int64(binary.BigEndian.Uint64(values[16:]))
	if state > 0 { // the number of rows before this page
		first += int64(state)
	}
	size = int(min(uint64(size), uint64(last)-uint64(first)))
	rows := bytes.Clone(st.rows(size))
	for i := range size {
		binary.BigEndian.PutUint64(rows[(i+1)*len(rows)/size-8:], uint64(first)+uint64(i)+1)
	}
	var next []byte
	if first+int64(size) < last {
		next = binary.BigEndian.AppendUint32(c.state[:0], state+uint32(size))
	}
	c.body = st.appendHead(c.body[:0], skip, changed, next, size)
	c.addPage(frame, c.body, rows)
}

// paging returns the number of rows in a page, the number of this page, and the number of pages, which is the first
// bind value.
func paging(flags uint32, p []byte) (size int, page, pages uint32) {
	size, pages = 5000, 1
	if flags&queryValues != 0 {
		n := int(binary.BigEndian.Uint16(p))
		p = p[2:]
		for i := range n {
			if flags&queryNames != 0 {
				p = p[2+binary.BigEndian.Uint16(p):]
			}
			length := max(int32(binary.BigEndian.Uint32(p)), 0)
			if i == 0 && length == 4 {
				pages = binary.BigEndian.Uint32(p[4:])
			}
			p = p[4+length:]
		}
	}
	if flags&queryPageSize != 0 {
		size, p = int(binary.BigEndian.Uint32(p)), p[4:]
	}
	if flags&queryPagingState != 0 {
		page = binary.BigEndian.Uint32(p[4:])
	}
	return size, page, pages
}

// check compares the values of the first requests of a connection with the expected ones. It detects an incorrect
// driver before the timer of a benchmark starts, and costs nothing later.
func (c *conn) check(st *Statement, flags uint32, p []byte) bool {
	const checks = 8
	for len(c.checked) <= int(st.id) {
		c.checked = append(c.checked, 0)
	}
	if c.checked[st.id] >= checks {
		return true
	}
	c.checked[st.id]++
	_, known := st.want[string(st.values(flags, p))]
	return known
}

// values returns the bind values of request parameters, each after its length, nil if their number is wrong.
func (s *Statement) values(flags uint32, p []byte) []byte {
	if flags&queryValues == 0 || len(p) < 2 || int(binary.BigEndian.Uint16(p)) != len(s.Bind) {
		return nil
	}
	p = p[2:]
	n := 0
	for range s.Bind {
		n += 4 + max(int(int32(binary.BigEndian.Uint32(p[n:]))), 0)
	}
	return p[:n]
}
