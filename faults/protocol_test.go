// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/pooled"
	"github.com/vecql/vecql/internal/wire"
)

// Faults 8, 9, 13 and 14: responses that are malformed, unknown or full of optional parts.

// answerWith calls use with a session whose node responds to EXECUTE with opcode, flags and body in whole frames.
// Afterwards the session must work on the same connection.
func answerWith(t *testing.T, version byte, op fakecql.Opcode, flags byte, body []byte, use func(t *testing.T, s *vecql.Session)) {
	t.Helper()
	before := pooled.Held.Load()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, version, 1)
		c.On(func(r *fakecql.Request) bool {
			if r.Op != fakecql.OpExecute || r.Stmt != "SELECT x" {
				return false
			}
			h := wire.Header{Version: version, Response: true, Flags: flags, Stream: r.Stream, Opcode: byte(op), Length: len(body)}
			frame := make([]byte, wire.HeaderSize)
			wire.PutHeader(frame, h)
			if frame = append(frame, body...); version >= fakecql.V5 {
				frame, _ = wire.AppendSegments(nil, frame, nil)
			}
			_, _ = r.Conn.Conn.Write(frame)
			return true
		})
		s := sessionOn(c, func(cfg *vecql.ClusterConfig) { cfg.Protocol.Version = int(version) })
		require.NoError(t, s.Query("INSERT").Exec(t.Context()))
		dials := c.MadeCount()
		use(t, s)
		require.NoError(t, s.Query("INSERT").Exec(t.Context()))
		require.Equal(t, dials, c.MadeCount(), "the frame is whole, so the connection stays in use")
	})
	require.Equal(t, before, pooled.Held.Load(), "buffers not released")
}

// TestFault09LyingLengths: counts and lengths in a response are negative or exceed its bytes; the frame itself is
// whole. The request must fail with a *ProtocolError, memory must be bounded by the bytes received, and the connection
// must stay usable.
func TestFault09LyingLengths(t *testing.T) {
	const most = 1<<31 - 1
	room := make([]byte, 64)
	table := message(2, "ks", 1, "t") // a global table
	unknown := ints(int32(cql.CodeUnprepared))
	for _, m := range []struct {
		name string
		op   fakecql.Opcode
		body []byte
	}{
		{"unknown kind", fakecql.OpResult, ints(6)},
		{"negative kind", fakecql.OpResult, ints(-1)},
		{"negative columns without metadata", fakecql.OpResult, message(ints(2, fakecql.NoMetadata, -1, 0), room)},
		{"more columns than bytes", fakecql.OpResult, message(ints(2, 0, 1<<30), room)},
		{"more columns of a global table than bytes", fakecql.OpResult, message(ints(2, 1, 1<<30), room)},
		{"negative rows without metadata", fakecql.OpResult, message(ints(2, fakecql.NoMetadata, 1, -1), room)},
		{"more rows than bytes", fakecql.OpResult, message(ints(2, fakecql.NoMetadata, 2, 9), room)},
		{"rows without columns", fakecql.OpResult, message(ints(2, fakecql.NoMetadata, 0, most), room)},
		{"more pages, state null", fakecql.OpResult, message(ints(2, fakecql.HasMorePages|fakecql.NoMetadata, 1, -1, 0), room)},
		{"more pages, state empty", fakecql.OpResult, message(ints(2, fakecql.HasMorePages|fakecql.NoMetadata, 1, 0, 0), room)},
		{"paging state longer than the body", fakecql.OpResult, message(ints(2, fakecql.HasMorePages|fakecql.NoMetadata, 1, 1<<30), room)},
		{"metadata changed, none sent", fakecql.OpResult, message(ints(2, fakecql.MetadataChanged|fakecql.NoMetadata, 1, 0, 0), room)},
		{"negative markers", fakecql.OpResult, message(ints(4), 1, "i", 0, ints(0, -1, 0), room)},
		{"more markers than bytes", fakecql.OpResult, message(ints(4), 1, "i", 0, ints(0, 1<<30, 0), room)},
		{"more key columns than bytes", fakecql.OpResult, message(ints(4), 1, "i", 0, ints(0, 1, 1<<30), room)},
		{"key column without marker", fakecql.OpResult, message(ints(4), 1, "i", 0, ints(0, 1, 1, 1<<16), room)},
		{"negative columns", fakecql.OpResult, message(ints(2, 0, -1), room)},
		{"2^31-1 columns", fakecql.OpResult, message(ints(2, 0, most), room)},
		{"2^31-1 columns of one table", fakecql.OpResult, message(ints(2, 1, most), table, room)},
		{"2^31-1 columns and rows", fakecql.OpResult, message(ints(2, fakecql.NoMetadata, most, most), room)},
		{"negative rows", fakecql.OpResult, message(ints(2, 1, 0), table, ints(-1), room)},
		{"2^31-1 rows of no columns", fakecql.OpResult, message(ints(2, 1, 0), table, ints(most), room)},
		{"2^31-1 rows", fakecql.OpResult, message(ints(2, 1, 1), table, 1, "c", int(cql.TypeInt), ints(most), room)},
		{"one row too many", fakecql.OpResult, message(ints(2, 1, 1), table, 1, "c", int(cql.TypeInt), ints(2), ints(0))},
		{"paging state of 2^31-1 bytes", fakecql.OpResult, message(ints(2, fakecql.HasMorePages, 1, most), room)},
		{"keyspace past the end", fakecql.OpResult, message(ints(2, 1, 1), 65535, room)},
		{"table past the end", fakecql.OpResult, message(ints(2, 1, 1), 2, "ks", 65535, room)},
		{"column past the end", fakecql.OpResult, message(ints(2, 1, 1), table, 65535, room)},
		{"class name past the end", fakecql.OpResult, message(ints(2, 1, 1), table, 1, "c", 0, 65535, room)},
		{"tuple of 65535", fakecql.OpResult, message(ints(2, 1, 1), table, 1, "c", int(cql.TypeTuple), 65535, room)},
		{"type of 65535 fields", fakecql.OpResult, message(ints(2, 1, 1), table, 1, "c", int(cql.TypeUDT), 0, 0, 65535, room)},
		{"vector of 2^31-1", fakecql.OpResult, message(ints(2, 1, 1), table, 1, "c", fakecql.AppendOption(nil, fmt.Sprintf("vector<float, %d>", most)), room)},
		{"lists in lists without end", fakecql.OpResult, message(ints(2, 1, 1), table, 1, "c", strings.Repeat("\x00\x20", 5000), room)},
		{"keyspace in use past the end", fakecql.OpResult, message(ints(int32(fakecql.ResultSetKeyspace)), 65535, room)},
		{"arguments past the end", fakecql.OpResult, message(ints(int32(fakecql.ResultSchemaChange)), 7, "CREATED", 8, "FUNCTION", 0, 0, 65535, room)},
		{"statement id past the end", fakecql.OpResult, message(ints(int32(fakecql.ResultPrepared)), 65535, room)},
		{"message past the end", fakecql.OpError, message(ints(0), 65535, room)},
		{"unknown statement past the end", fakecql.OpError, message(unknown, 0, 65535, room)},
		{"2^31-1 reasons", fakecql.OpError, message(ints(int32(cql.CodeReadFailure)), 0, int(cql.Quorum), ints(1, 2, most), room)},
		{"nothing", fakecql.OpResult, nil},
		{"half a kind", fakecql.OpResult, []byte{0, 0}},
	} {
		t.Run(m.name, func(t *testing.T) {
			answerWith(t, fakecql.V5, m.op, 0, m.body, func(t *testing.T, s *vecql.Session) {
				require.NoError(t, s.Query("SELECT y").Exec(t.Context())) // its memory is not measured
				var err error
				n := allocated(func() { _, err = s.Query("SELECT x").Iter(t.Context()).SliceMap() })
				var broken *cql.ProtocolError
				require.ErrorAs(t, err, &broken)
				require.True(t, vecql.MayHaveApplied(err), "the server may have executed the request")
				require.Less(t, n, uint64(256<<10))
			})
		})
	}
}

// TestFault09LyingEnvelope: the lengths of tracing id, warnings or custom payload are wrong.
func TestFault09LyingEnvelope(t *testing.T) {
	room := make([]byte, 64)
	for name, m := range map[string]struct {
		flags byte
		body  []byte
	}{
		"warnings past the end":      {wire.FlagWarning, message(65535, room)},
		"a warning past the end":     {wire.FlagWarning, message(1, 65535, room)},
		"payload past the end":       {wire.FlagCustomPayload, message(65535, room)},
		"payload key past the end":   {wire.FlagCustomPayload, message(1, 65535, room)},
		"payload value past the end": {wire.FlagCustomPayload, message(1, 1, "k", ints(1<<31-1), room)},
		"half a tracing id":          {wire.FlagTracing, room[:8]},
	} {
		t.Run(name, func(t *testing.T) {
			answerWith(t, fakecql.V5, fakecql.OpResult, m.flags, m.body, func(t *testing.T, s *vecql.Session) {
				require.NoError(t, s.Query("SELECT y").Exec(t.Context()))
				var err error
				n := allocated(func() { err = s.Query("SELECT x").Exec(t.Context()) })
				var broken *cql.ProtocolError
				require.ErrorAs(t, err, &broken)
				require.Less(t, n, uint64(256<<10))
			})
		})
	}
}

// TestFault09LyingCells: the length of a cell, or of an element in it, exceeds its bytes. Scanning the row must fail
// with the column's name, both into a suitable type and into *any, and memory must be bounded by the bytes received.
func TestFault09LyingCells(t *testing.T) {
	const most = 1<<31 - 1
	list, text := cql.NewListType(tText), tText
	udt := cql.UDTTypeInfo{Keyspace: "ks", Name: "u", Elements: []cql.UDTField{{Name: "a", Type: tText}, {Name: "b", Type: tBigint}}}
	tuple := cql.TupleTypeInfo{Elems: []cql.TypeInfo{tText, tBigint}}
	for _, m := range []struct {
		name string
		typ  cql.TypeInfo
		cell []byte
		dest any
	}{
		{"list of 2^31-1", list, message(ints(most), ints(0)), new([]string)},
		{"list of -1", list, message(ints(-1), ints(0)), new([]string)},
		{"list longer than the cell", list, message(ints(3), ints(0), ints(0)), new([]string)},
		{"list element past the end", list, message(ints(1), ints(most), "abc"), new([]string)},
		{"list of ints of 2^31-1", cql.NewListType(cql.NativeType(cql.TypeInt)), message(ints(most), ints(4, 1)), new([]int32)},
		{"list without a count", list, []byte{0, 0, 1}, new([]string)},
		{"list of lists", cql.NewListType(list), message(ints(1, 8, most, 0)), new([][]string)},
		{"set of 2^30", cql.NewSetType(text), message(ints(1<<30), ints(0)), new(map[string]struct{})},
		{"map of 2^31-1", cql.NewMapType(text, text), message(ints(most), ints(0, 0)), new(map[string]string)},
		{"map of -2", cql.NewMapType(text, text), message(ints(-2), ints(0, 0)), new(map[string]string)},
		{"map value past the end", cql.NewMapType(text, text), message(ints(1, 0, most), "abc"), new(map[string]string)},
		{"tuple element past the end", tuple, message(ints(most), "abc"), new([]any)},
		{"user type's field past the end", udt, message(ints(most), "abc"), new(map[string]any)},
		{"vector cut off", tVector, make([]byte, 11), new([]float32)},
		{"vector with a byte too many", tVector, make([]byte, 13), new([]float32)},
		{"vector of 8192", cql.VectorType{SubType: cql.NativeType(cql.TypeFloat), Dimensions: 8192}, make([]byte, 12), new([]float32)},
		{"vector of 2^31-1 texts", cql.VectorType{SubType: tText, Dimensions: most}, make([]byte, 12), new([]string)},
		{"vector element of 2^63 bytes", cql.VectorType{SubType: tText, Dimensions: 2}, message("\xFF\x80\x00\x00\x00\x00\x00\x00\x00", "abc"), new([]string)},
		{"vector element of 2^64-1 bytes", cql.VectorType{SubType: tText, Dimensions: 2}, message(strings.Repeat("\xFF", 9), "abc"), new([]string)},
		{"bigint of 7 bytes", tBigint, make([]byte, 7), new(int64)},
		{"uuid of 15 bytes", cql.NativeType(cql.TypeUUID), make([]byte, 15), new(cql.UUID)},
		{"inet of 5 bytes", cql.NativeType(cql.TypeInet), make([]byte, 5), new(netip.Addr)},
		{"decimal of 3 bytes", cql.NativeType(cql.TypeDecimal), make([]byte, 3), new(inf.Dec)},
		{"duration cut off", cql.NativeType(cql.TypeDuration), []byte{0, 0xFF}, new(cql.Duration)},
	} {
		t.Run(m.name, func(t *testing.T) {
			body := message(ints(2, 0, 1), fakecql.AppendColumns(nil, fakecql.Columns("c "+cqlOf(m.typ))), ints(1, int32(len(m.cell))), m.cell)
			answerWith(t, fakecql.V5, fakecql.OpResult, 0, body, func(t *testing.T, s *vecql.Session) {
				require.NoError(t, s.Query("SELECT y").Exec(t.Context()))
				for _, dest := range []any{m.dest, new(any)} {
					var err error
					n := allocated(func() { err = s.Query("SELECT x").Scan(t.Context(), dest) })
					var bad *cql.UnmarshalError
					require.ErrorAs(t, err, &bad, "%T", dest)
					require.Equal(t, "c", bad.Column)
					require.True(t, vecql.MayHaveApplied(err))
					require.Less(t, n, uint64(256<<10), "%T", dest)
				}
			})
		})
	}
	for name, cell := range map[string][]byte{
		"past the end": message(ints(most), "abc"), "by one": message(ints(4), "abc"), "without a length": {0, 0},
	} {
		t.Run("the cell itself "+name, func(t *testing.T) {
			body := message(ints(2, 0, 2), fakecql.AppendColumns(nil, fakecql.Columns("a text", "b text")), ints(1, 5), "abcde", cell)
			answerWith(t, fakecql.V5, fakecql.OpResult, 0, body, func(t *testing.T, s *vecql.Session) {
				var broken *cql.ProtocolError
				require.ErrorAs(t, s.Query("SELECT x").Scan(t.Context(), new(string), new(string)), &broken)
				require.ErrorAs(t, s.Query("SELECT x").MapScan(t.Context(), map[string]any{}), &broken)
				for _, err := range vecql.Rows[struct{ A, B string }](context.Background(), s.Query("SELECT x")) {
					require.ErrorAs(t, err, &broken)
				}
			})
		})
	}
}

// TestFault09LyingPrepared: the response to PREPARE is malformed. The statement must not be executed.
func TestFault09LyingPrepared(t *testing.T) {
	room := make([]byte, 64)
	head := message(ints(int32(fakecql.ResultPrepared)), 2, "id", 1, "m")
	for name, body := range map[string][]byte{
		"negative markers":          message(head, ints(0, -1, 0), room),
		"2^31-1 markers":            message(head, ints(0, 1<<31-1, 0), room),
		"2^31-1 key columns":        message(head, ints(1, 0, 1<<31-1), room),
		"key column without marker": message(head, ints(1, 0, 1), 7, 0, 0, room),
		"rows instead":              fakecql.Rows{}.Body(false),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, fakecql.V5, 1)
				lie := true
				c.On(func(r *fakecql.Request) bool {
					if r.Op == fakecql.OpPrepare && lie {
						r.Conn.Reply(r.Stream, fakecql.OpResult, body)
						return true
					}
					return false
				})
				s := sessionOn(c)
				var err error
				n := allocated(func() { err = s.Query("INSERT x").Exec(t.Context()) })
				var broken *cql.ProtocolError
				require.ErrorAs(t, err, &broken)
				require.False(t, vecql.MayHaveApplied(err), "a statement that could not be prepared was not executed")
				require.Less(t, n, uint64(256<<10))
				lie = false
				require.NoError(t, s.Query("INSERT x").Exec(t.Context()))
			})
		})
	}
}

// TestFault13Unknown: a response has an unknown opcode, result kind, error code or type, or bytes after its end. It
// must be a typed error, or be read except for the unknown part. The connection must stay usable.
func TestFault13Unknown(t *testing.T) {
	oneRow := func(typ []byte, cell []byte) []byte {
		return message(ints(2, 1, 1), 2, "ks", 1, "t", 1, "c", typ, ints(1, int32(len(cell))), cell)
	}
	protocolError := func(t *testing.T, s *vecql.Session) {
		var broken *cql.ProtocolError
		err := s.Query("SELECT x").Exec(t.Context())
		require.ErrorAs(t, err, &broken)
		require.True(t, vecql.MayHaveApplied(err))
	}
	fine := func(t *testing.T, s *vecql.Session) { require.NoError(t, s.Query("SELECT x").Exec(t.Context())) }
	class := func(name string) []byte { return message(0, fakecql.AppendString(nil, name)) }
	for _, m := range []struct {
		name  string
		op    fakecql.Opcode
		flags byte
		body  []byte
		check func(t *testing.T, s *vecql.Session)
	}{
		{"opcode", 0x42, 0, nil, protocolError},
		{"opcode of a request", fakecql.OpQuery, 0, nil, protocolError},
		{"a response to another request", fakecql.OpReady, 0, nil, protocolError},
		{"an event as a response", fakecql.OpEvent, 0, message(5, "OTHER"), protocolError},
		{"result kind", fakecql.OpResult, 0, ints(6), protocolError},
		{"type", fakecql.OpResult, 0, oneRow(message(0x0099), nil), protocolError},
		{"malformed class name", fakecql.OpResult, 0, oneRow(class("Vector("), nil), protocolError},
		{"error code", fakecql.OpError, 0, message(ints(0x7777), 4, "what", "and fields"), func(t *testing.T, s *vecql.Session) {
			err := s.Query("SELECT x").Exec(t.Context())
			var e *cql.ServerError
			require.ErrorAs(t, err, &e)
			require.Equal(t, cql.Code(0x7777), e.Code)
			require.Equal(t, "what", e.Message)
			require.ErrorIs(t, err, cql.Code(0x7777))
			require.True(t, vecql.MayHaveApplied(err), "the server may have executed the request")
		}},
		{"consistency and write type", fakecql.OpError, 0, message(ints(int32(cql.CodeWriteTimeout)), 0, 999, ints(1, 2), 4, "WHAT"), func(t *testing.T, s *vecql.Session) {
			err := s.Query("SELECT x").Exec(t.Context())
			var e *cql.WriteTimeoutError
			require.ErrorAs(t, err, &e)
			require.Equal(t, "WHAT", e.WriteType)
			require.NotEmpty(t, err.Error())
		}},
		{"custom type", fakecql.OpResult, 0, oneRow(class("com.example.Secret(a:b)"), []byte("bytes")), func(t *testing.T, s *vecql.Session) {
			var b []byte
			require.NoError(t, s.Query("SELECT x").Scan(t.Context(), &b))
			require.Equal(t, "bytes", string(b))
			var v any
			require.NoError(t, s.Query("SELECT x").Scan(t.Context(), &v))
			require.ErrorIs(t, s.Query("SELECT x").Scan(t.Context(), new(int)), cql.ErrConversion)
		}},
		{"schema change of something else", fakecql.OpResult, 0, message(ints(int32(fakecql.ResultSchemaChange)), 7, "CREATED", 4, "ROLE", 4, "what"), fine},
		{"flags", fakecql.OpResult, 0xF0, ints(1), fine},
		{"metadata flags", fakecql.OpResult, 0, message(ints(2, 0x7FFFFF01&^0x0E, 0), 0, 0, ints(0)), fine},
		{"bytes after VOID", fakecql.OpResult, 0, message(ints(1), "more"), fine},
		{"bytes after SET_KEYSPACE", fakecql.OpResult, 0, message(ints(3), 2, "ks", "more"), fine},
		{"bytes after ROWS", fakecql.OpResult, 0, message(oneRow(message(int(cql.TypeInt)), ints(7)), "more"), func(t *testing.T, s *vecql.Session) {
			var n int
			require.NoError(t, s.Query("SELECT x").Scan(t.Context(), &n))
			require.Equal(t, 7, n)
		}},
		{"bytes after ERROR", fakecql.OpError, 0, message(ints(int32(cql.CodeUnavailable)), 0, int(cql.Quorum), ints(2, 1), "more"), func(t *testing.T, s *vecql.Session) {
			var e *cql.UnavailableError
			require.ErrorAs(t, s.Query("SELECT x").Exec(t.Context()), &e)
			require.Equal(t, 2, e.Required)
		}},
	} {
		for _, version := range []byte{fakecql.V4, fakecql.V5} {
			t.Run(fmt.Sprintf("%s/version=%d", m.name, version), func(t *testing.T) {
				answerWith(t, version, m.op, m.flags, m.body, m.check)
			})
		}
	}
}

// traceIDs records tracing ids.
type traceIDs [][]byte

func (ids *traceIDs) Trace(id []byte) { *ids = append(*ids, id) }

// TestFault14Envelope: warnings, tracing id and custom payload, in each combination, precede ROWS, VOID and ERROR. All
// of them and the message must be read.
func TestFault14Envelope(t *testing.T) {
	id := cql.UUID{0xAB, 15: 0xCD}
	answers := map[string]struct {
		op   fakecql.Opcode
		body []byte
	}{
		"rows":  {fakecql.OpResult, fakecql.Rows{Columns: fakecql.Columns("c text"), Cells: [][]byte{[]byte("v")}}.Body(false)},
		"void":  {fakecql.OpResult, ints(1)},
		"error": {fakecql.OpError, message(ints(int32(cql.CodeUnavailable)), 4, "gone", int(cql.Quorum), ints(3, 1))},
	}
	for name, m := range answers {
		for _, flags := range []byte{0, 2, 4, 6, 8, 10, 12, 14} {
			for _, version := range []byte{fakecql.V4, fakecql.V5} {
				t.Run(fmt.Sprintf("%s/flags=%d/version=%d", name, flags, version), func(t *testing.T) {
					var b []byte
					if flags&wire.FlagTracing != 0 {
						b = append(b, id[:]...)
					}
					var warnings []string
					if flags&wire.FlagWarning != 0 {
						warnings = []string{"first", ""}
						b = message(b, 2, 5, "first", 0)
					}
					var payload map[string][]byte
					if flags&wire.FlagCustomPayload != 0 {
						payload = map[string][]byte{"k": []byte("v"), "null": nil}
						b = message(b, 2, 1, "k", ints(1), "v", 4, "null", ints(-1))
					}
					answerWith(t, version, m.op, flags, message(b, m.body), func(t *testing.T, s *vecql.Session) {
						var ids traceIDs
						it := s.Query("SELECT x").Trace(&ids).Iter(t.Context())
						if name == "error" {
							var e *cql.UnavailableError
							require.ErrorAs(t, it.Close(), &e)
							require.Equal(t, "gone", e.Message)
							require.Equal(t, 3, e.Required)
							return
						}
						require.Equal(t, warnings, it.Warnings())
						require.Equal(t, payload, it.GetCustomPayload())
						if flags&wire.FlagTracing != 0 {
							require.Equal(t, traceIDs{id[:]}, ids)
						} else {
							require.Empty(t, ids)
						}
						var v string
						require.Equal(t, name == "rows", it.Scan(&v))
						require.NoError(t, it.Close())
						if name == "rows" {
							require.Equal(t, "v", v)
						}
					})
				})
			}
		}
	}
}

// TestFault08CompressorsRefuse: compressed bodies are damaged or have a wrong length. Compressors must return an error
// with bounded memory.
func TestFault08CompressorsRefuse(t *testing.T) {
	lz4Head := func(n uint32, block ...byte) []byte { return append(wire.AppendInt(nil, int32(n)), block...) }
	zeros, err := vecql.LZ4Compressor{}.AppendCompressedWithLength(nil, make([]byte, 1<<20))
	require.NoError(t, err)
	snappyZeros, err := vecql.SnappyCompressor{}.AppendCompressedWithLength(nil, make([]byte, 1<<20))
	require.NoError(t, err)
	const limit = 1<<20 - 1
	for _, row := range []struct {
		name string
		c    cql.Compressor
		src  []byte
	}{
		{"lz4 no length", vecql.LZ4Compressor{}, []byte{0, 0, 0}},
		{"lz4 length only", vecql.LZ4Compressor{}, lz4Head(5)},
		{"lz4 empty body with bytes", vecql.LZ4Compressor{}, lz4Head(0, 0x10, 'a')},
		{"lz4 negative", vecql.LZ4Compressor{}, lz4Head(0xFFFFFFFF, make([]byte, 64)...)},
		{"lz4 above limit", vecql.LZ4Compressor{}, zeros},
		{"lz4 length beyond the block", vecql.LZ4Compressor{}, lz4Head(1<<20-1, 0x10, 'a')},
		{"lz4 longer than its length", vecql.LZ4Compressor{}, lz4Head(4, 0x50, 'h', 'e', 'l', 'l', 'o')},
		{"lz4 shorter than its length", vecql.LZ4Compressor{}, lz4Head(6, 0x50, 'h', 'e', 'l', 'l', 'o')},
		{"lz4 literals cut", vecql.LZ4Compressor{}, lz4Head(5, 0x50, 'h', 'e', 'l', 'l')},
		{"lz4 offset 0", vecql.LZ4Compressor{}, lz4Head(13, 0x18, 'a', 0, 0)},
		{"lz4 offset before the start", vecql.LZ4Compressor{}, lz4Head(13, 0x18, 'a', 2, 0)},
		{"snappy nothing", vecql.SnappyCompressor{}, nil},
		{"snappy above limit", vecql.SnappyCompressor{}, snappyZeros},
		{"snappy length beyond the block", vecql.SnappyCompressor{}, []byte{0xFF, 0xFF, 0x3F, 0x00, 'a'}},
		{"snappy length above uint32", vecql.SnappyCompressor{}, []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0}},
		{"snappy length not ended", vecql.SnappyCompressor{}, []byte{0xFF, 0xFF}},
		{"snappy longer than its length", vecql.SnappyCompressor{}, []byte{4, 0x10, 'h', 'e', 'l', 'l', 'o'}},
		{"snappy shorter than its length", vecql.SnappyCompressor{}, []byte{6, 0x10, 'h', 'e', 'l', 'l', 'o'}},
		{"snappy offset before the start", vecql.SnappyCompressor{}, []byte{12, 0, 'a', 0x1d, 2}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []byte
			var err error
			n := allocated(func() { got, err = row.c.AppendDecompressedWithLength([]byte("head"), row.src, limit) })
			var p *cql.ProtocolError
			require.ErrorAs(t, err, &p)
			require.Equal(t, "head", string(got))
			require.Less(t, n, uint64(64<<10))
		})
	}
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
