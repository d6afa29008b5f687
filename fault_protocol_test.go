// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/internal/wire"
)

// This file holds faults 9 and 13 to 15: answers that lie about their lengths, that hold what the driver does not know, that bring all that
// can stand before a message, and servers of other versions.

// answerWith runs a statement in a session whose node answers its EXECUTE with opcode, flags and body, in whole frames, and gives the session to
// use. The session must work afterwards, on the connection that it had.
func answerWith(t *testing.T, version byte, op opcode, flags byte, body []byte, use func(t *testing.T, s *Session)) {
	t.Helper()
	before := outstanding.Load()
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster(t, version, 1)
		c.on(func(r *fakeRequest) bool {
			if r.op != opExecute || r.stmt != "SELECT x" {
				return false
			}
			h := wire.Header{Version: version, Response: true, Flags: flags, Stream: r.stream, Opcode: byte(op), Length: len(body)}
			frame := make([]byte, wire.HeaderSize)
			wire.PutHeader(frame, h)
			if frame = append(frame, body...); version >= protoV5 {
				frame, _ = wire.AppendSegments(nil, frame, nil)
			}
			_, _ = r.peer.conn.Write(frame)
			return true
		})
		s := c.session(func(cfg *ClusterConfig) { cfg.ProtoVersion = int(version) })
		require.NoError(t, s.Query("INSERT").Exec())
		dials := c.madeCount()
		use(t, s)
		require.NoError(t, s.Query("INSERT").Exec())
		require.Equal(t, dials, c.madeCount(), "frames can still be told apart: the connection goes on")
	})
	require.Equal(t, before, outstanding.Load(), "buffers not released")
}

// ints returns the numbers as [int].
func ints(v ...int32) (b []byte) {
	for _, x := range v {
		b = wire.AppendInt(b, x)
	}
	return b
}

// message returns the parts, which are []byte, string (its bytes) or int (a [short]), one after the other.
func message(parts ...any) (b []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case []byte:
			b = append(b, p...)
		case string:
			b = append(b, p...)
		case int:
			b = wire.AppendShort(b, uint16(p))
		}
	}
	return b
}

// TestFault09LyingLengths: an answer whose frame is whole has counts and lengths in it that are negative, or larger than what is there. The
// request must fail with a *ProtocolError, nothing may be allocated for what is not there, and the connection goes on.
func TestFault09LyingLengths(t *testing.T) {
	const most = 1<<31 - 1
	room := make([]byte, 64)
	table := message(2, "ks", 1, "t") // a global table
	unknown := ints(int32(CodeUnprepared))
	for _, m := range []struct {
		name string
		op   opcode
		body []byte
	}{
		{"unknown kind", opResult, ints(6)},
		{"negative kind", opResult, ints(-1)},
		{"negative columns without metadata", opResult, message(ints(2, metadataNoMetadata, -1, 0), room)},
		{"more columns than bytes", opResult, message(ints(2, 0, 1<<30), room)},
		{"more columns of a global table than bytes", opResult, message(ints(2, 1, 1<<30), room)},
		{"negative rows without metadata", opResult, message(ints(2, metadataNoMetadata, 1, -1), room)},
		{"more rows than bytes", opResult, message(ints(2, metadataNoMetadata, 2, 9), room)},
		{"rows without columns", opResult, message(ints(2, metadataNoMetadata, 0, most), room)},
		{"more pages, state null", opResult, message(ints(2, metadataHasMorePages|metadataNoMetadata, 1, -1, 0), room)},
		{"more pages, state empty", opResult, message(ints(2, metadataHasMorePages|metadataNoMetadata, 1, 0, 0), room)},
		{"paging state longer than the body", opResult, message(ints(2, metadataHasMorePages|metadataNoMetadata, 1, 1<<30), room)},
		{"metadata changed, none sent", opResult, message(ints(2, metadataChanged|metadataNoMetadata, 1, 0, 0), room)},
		{"negative markers", opResult, message(ints(4), 1, "i", 0, ints(0, -1, 0), room)},
		{"more markers than bytes", opResult, message(ints(4), 1, "i", 0, ints(0, 1<<30, 0), room)},
		{"more key columns than bytes", opResult, message(ints(4), 1, "i", 0, ints(0, 1, 1<<30), room)},
		{"key column without marker", opResult, message(ints(4), 1, "i", 0, ints(0, 1, 1, 1<<16), room)},
		{"negative columns", opResult, message(ints(2, 0, -1), room)},
		{"2^31-1 columns", opResult, message(ints(2, 0, most), room)},
		{"2^31-1 columns of one table", opResult, message(ints(2, 1, most), table, room)},
		{"2^31-1 columns and rows", opResult, message(ints(2, metadataNoMetadata, most, most), room)},
		{"negative rows", opResult, message(ints(2, 1, 0), table, ints(-1), room)},
		{"2^31-1 rows of no columns", opResult, message(ints(2, 1, 0), table, ints(most), room)},
		{"2^31-1 rows", opResult, message(ints(2, 1, 1), table, 1, "c", int(TypeInt), ints(most), room)},
		{"one row more than there is", opResult, message(ints(2, 1, 1), table, 1, "c", int(TypeInt), ints(2), ints(0))},
		{"paging state of 2^31-1 bytes", opResult, message(ints(2, metadataHasMorePages, 1, most), room)},
		{"keyspace past the end", opResult, message(ints(2, 1, 1), 65535, room)},
		{"table past the end", opResult, message(ints(2, 1, 1), 2, "ks", 65535, room)},
		{"column past the end", opResult, message(ints(2, 1, 1), table, 65535, room)},
		{"class name past the end", opResult, message(ints(2, 1, 1), table, 1, "c", 0, 65535, room)},
		{"tuple of 65535", opResult, message(ints(2, 1, 1), table, 1, "c", int(TypeTuple), 65535, room)},
		{"type of 65535 fields", opResult, message(ints(2, 1, 1), table, 1, "c", int(TypeUDT), 0, 0, 65535, room)},
		{"vector of 2^31-1", opResult, message(ints(2, 1, 1), table, 1, "c", appendOption(nil, VectorType{NativeType(TypeFloat), most}), room)},
		{"lists in lists without end", opResult, message(ints(2, 1, 1), table, 1, "c", strings.Repeat("\x00\x20", 5000), room)},
		{"keyspace in use past the end", opResult, message(ints(int32(resultSetKeyspace)), 65535, room)},
		{"arguments past the end", opResult, message(ints(int32(resultSchemaChange)), 7, "CREATED", 8, "FUNCTION", 0, 0, 65535, room)},
		{"statement id past the end", opResult, message(ints(int32(resultPrepared)), 65535, room)},
		{"message past the end", opError, message(ints(0), 65535, room)},
		{"unknown statement past the end", opError, message(unknown, 0, 65535, room)},
		{"2^31-1 reasons", opError, message(ints(int32(CodeReadFailure)), 0, int(Quorum), ints(1, 2, most), room)},
		{"nothing", opResult, nil},
		{"half a kind", opResult, []byte{0, 0}},
	} {
		t.Run(m.name, func(t *testing.T) {
			answerWith(t, protoV5, m.op, 0, m.body, func(t *testing.T, s *Session) {
				require.NoError(t, s.Query("SELECT y").Exec()) // its memory is not counted
				var err error
				n := allocated(func() { _, err = s.Query("SELECT x").Iter().SliceMap() })
				var broken *ProtocolError
				require.ErrorAs(t, err, &broken)
				require.True(t, MayHaveApplied(err), "the server answered, whatever it meant")
				require.Less(t, n, uint64(256<<10))
			})
		})
	}
}

// TestFault09LyingEnvelope: what stands before the message lies about its lengths.
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
			answerWith(t, protoV5, opResult, m.flags, m.body, func(t *testing.T, s *Session) {
				require.NoError(t, s.Query("SELECT y").Exec())
				var err error
				n := allocated(func() { err = s.Query("SELECT x").Exec() })
				var broken *ProtocolError
				require.ErrorAs(t, err, &broken)
				require.Less(t, n, uint64(256<<10))
			})
		})
	}
}

// TestFault09LyingCells: a cell says that it, or what is in it, is longer than it is. The row must fail with the column's name, into the type
// that fits and into *any alike, without memory for what is not there.
func TestFault09LyingCells(t *testing.T) {
	const most = 1<<31 - 1
	list, text := NewListType(tText), tText
	udt := UDTTypeInfo{Keyspace: "ks", Name: "u", Elements: []UDTField{{"a", tText}, {"b", tBigint}}}
	tuple := TupleTypeInfo{Elems: []TypeInfo{tText, tBigint}}
	for _, m := range []struct {
		name string
		typ  TypeInfo
		cell []byte
		dest any
	}{
		{"list of 2^31-1", list, message(ints(most), ints(0)), new([]string)},
		{"list of -1", list, message(ints(-1), ints(0)), new([]string)},
		{"list longer than the cell", list, message(ints(3), ints(0), ints(0)), new([]string)},
		{"list element past the end", list, message(ints(1), ints(most), "abc"), new([]string)},
		{"list of ints of 2^31-1", NewListType(NativeType(TypeInt)), message(ints(most), ints(4, 1)), new([]int32)},
		{"list without a count", list, []byte{0, 0, 1}, new([]string)},
		{"list of lists", NewListType(list), message(ints(1, 8, most, 0)), new([][]string)},
		{"set of 2^30", NewSetType(text), message(ints(1<<30), ints(0)), new(map[string]struct{})},
		{"map of 2^31-1", NewMapType(text, text), message(ints(most), ints(0, 0)), new(map[string]string)},
		{"map of -2", NewMapType(text, text), message(ints(-2), ints(0, 0)), new(map[string]string)},
		{"map value past the end", NewMapType(text, text), message(ints(1, 0, most), "abc"), new(map[string]string)},
		{"tuple element past the end", tuple, message(ints(most), "abc"), new([]any)},
		{"user type's field past the end", udt, message(ints(most), "abc"), new(map[string]any)},
		{"vector cut off", tVector, make([]byte, 11), new([]float32)},
		{"vector with a byte too many", tVector, make([]byte, 13), new([]float32)},
		{"vector of 8192", VectorType{NativeType(TypeFloat), 8192}, make([]byte, 12), new([]float32)},
		{"vector of 2^31-1 texts", VectorType{tText, most}, make([]byte, 12), new([]string)},
		{"vector element of 2^63 bytes", VectorType{tText, 2}, message("\xFF\x80\x00\x00\x00\x00\x00\x00\x00", "abc"), new([]string)},
		{"vector element of 2^64-1 bytes", VectorType{tText, 2}, message(strings.Repeat("\xFF", 9), "abc"), new([]string)},
		{"bigint of 7 bytes", tBigint, make([]byte, 7), new(int64)},
		{"uuid of 15 bytes", NativeType(TypeUUID), make([]byte, 15), new(UUID)},
		{"inet of 5 bytes", NativeType(TypeInet), make([]byte, 5), new(netip.Addr)},
		{"decimal of 3 bytes", NativeType(TypeDecimal), make([]byte, 3), new(inf.Dec)},
		{"duration cut off", NativeType(TypeDuration), []byte{0, 0xFF}, new(Duration)},
	} {
		t.Run(m.name, func(t *testing.T) {
			body := message(ints(2, 0, 1), appendColumns(nil, []ColumnInfo{col("c", m.typ)}), ints(1, int32(len(m.cell))), m.cell)
			answerWith(t, protoV5, opResult, 0, body, func(t *testing.T, s *Session) {
				require.NoError(t, s.Query("SELECT y").Exec())
				for _, dest := range []any{m.dest, new(any)} {
					var err error
					n := allocated(func() { err = s.Query("SELECT x").Scan(dest) })
					var bad *UnmarshalError
					require.ErrorAs(t, err, &bad, "%T", dest)
					require.Equal(t, "c", bad.Column)
					require.True(t, MayHaveApplied(err))
					require.Less(t, n, uint64(256<<10), "%T", dest)
				}
			})
		})
	}
	for name, cell := range map[string][]byte{
		"past the end": message(ints(most), "abc"), "by one": message(ints(4), "abc"), "without a length": {0, 0},
	} {
		t.Run("the cell itself "+name, func(t *testing.T) {
			body := message(ints(2, 0, 2), appendColumns(nil, []ColumnInfo{col("a", tText), col("b", tText)}), ints(1, 5), "abcde", cell)
			answerWith(t, protoV5, opResult, 0, body, func(t *testing.T, s *Session) {
				var broken *ProtocolError
				require.ErrorAs(t, s.Query("SELECT x").Scan(new(string), new(string)), &broken)
				require.ErrorAs(t, s.Query("SELECT x").MapScan(map[string]any{}), &broken)
				for _, err := range Rows[struct{ A, B string }](context.Background(), s.Query("SELECT x")) {
					require.ErrorAs(t, err, &broken)
				}
			})
		})
	}
}

// TestFault09LyingPrepared: the answer to PREPARE lies. The statement must not be used.
func TestFault09LyingPrepared(t *testing.T) {
	room := make([]byte, 64)
	head := message(ints(int32(resultPrepared)), 2, "id", 1, "m")
	for name, body := range map[string][]byte{
		"negative markers":          message(head, ints(0, -1, 0), room),
		"2^31-1 markers":            message(head, ints(0, 1<<31-1, 0), room),
		"2^31-1 key columns":        message(head, ints(1, 0, 1<<31-1), room),
		"key column without marker": message(head, ints(1, 0, 1), 7, 0, 0, room),
		"rows instead":              fakeResult{}.body(false),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newFakeCluster(t, protoV5, 1)
				lie := true
				c.on(func(r *fakeRequest) bool {
					if r.op == opPrepare && lie {
						r.peer.reply(r.stream, opResult, body)
						return true
					}
					return false
				})
				s := c.session()
				var err error
				n := allocated(func() { err = s.Query("INSERT x").Exec() })
				var broken *ProtocolError
				require.ErrorAs(t, err, &broken)
				require.False(t, MayHaveApplied(err), "a statement that could not be prepared was not executed")
				require.Less(t, n, uint64(256<<10))
				lie = false
				require.NoError(t, s.Query("INSERT x").Exec())
			})
		})
	}
}

// TestFault09LyingHeader announces 256 MiB, or more, or less than nothing, and sends a few bytes.
func TestFault09LyingHeader(t *testing.T) {
	for name, m := range map[string]struct {
		length []byte
		want   string
	}{
		"256 MiB":          {[]byte{0x10, 0, 0, 0}, io.ErrUnexpectedEOF.Error()},
		"above 256 MiB":    {[]byte{0x10, 0, 0, 1}, "frame header"},
		"2^31-1":           {[]byte{0x7F, 0xFF, 0xFF, 0xFF}, "frame header"},
		"a negative count": {[]byte{0xFF, 0, 0, 0}, "frame header"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &fakeServer{version: 4, handle: func(p *fakePeer, h wire.Header, _ []byte) {
					_, _ = p.conn.Write(append(append([]byte{0x84, 0, 0, byte(h.Stream), 8}, m.length...), 1, 2, 3))
					_ = p.conn.Close()
				}}
				c := s.memory(t)
				var err error
				n := allocated(func() { _, err = c.ask(context.Background(), "question") })
				require.ErrorIs(t, err, ErrConnectionClosed)
				require.ErrorContains(t, err, m.want)
				require.True(t, mayHaveLeft(err))
				require.Less(t, n, uint64(4*readStep))
				endConn(c, s)
			})
		})
	}
}

// TestFault13Unknown: an answer has an opcode, a kind, an error code or a type that the driver does not know, or bytes behind its end. It
// must be an error of its own kind, or be read as far as it is known; the connection goes on.
func TestFault13Unknown(t *testing.T) {
	oneRow := func(typ []byte, cell []byte) []byte {
		return message(ints(2, 1, 1), 2, "ks", 1, "t", 1, "c", typ, ints(1, int32(len(cell))), cell)
	}
	protocolError := func(t *testing.T, s *Session) {
		var broken *ProtocolError
		err := s.Query("SELECT x").Exec()
		require.ErrorAs(t, err, &broken)
		require.True(t, MayHaveApplied(err))
	}
	fine := func(t *testing.T, s *Session) { require.NoError(t, s.Query("SELECT x").Exec()) }
	class := func(name string) []byte { return message(0, mustString(nil, name)) }
	for _, m := range []struct {
		name  string
		op    opcode
		flags byte
		body  []byte
		check func(t *testing.T, s *Session)
	}{
		{"opcode", 0x42, 0, nil, protocolError},
		{"opcode of a request", opQuery, 0, nil, protocolError},
		{"an answer to something else", opReady, 0, nil, protocolError},
		{"an event as an answer", opEvent, 0, message(5, "OTHER"), protocolError},
		{"result kind", opResult, 0, ints(6), protocolError},
		{"type", opResult, 0, oneRow(message(0x0099), nil), protocolError},
		{"class name that is none", opResult, 0, oneRow(class("Vector("), nil), protocolError},
		{"error code", opError, 0, message(ints(0x7777), 4, "what", "and fields"), func(t *testing.T, s *Session) {
			err := s.Query("SELECT x").Exec()
			var e *ServerError
			require.ErrorAs(t, err, &e)
			require.Equal(t, 0x7777, e.Code())
			require.Equal(t, "what", e.Message())
			require.ErrorIs(t, err, Code(0x7777))
			require.True(t, MayHaveApplied(err), "who knows")
		}},
		{"consistency and write type", opError, 0, message(ints(int32(CodeWriteTimeout)), 0, 999, ints(1, 2), 4, "WHAT"), func(t *testing.T, s *Session) {
			err := s.Query("SELECT x").Exec()
			var e *RequestErrWriteTimeout
			require.ErrorAs(t, err, &e)
			require.Equal(t, "WHAT", e.WriteType)
			require.NotEmpty(t, err.Error())
		}},
		{"custom type", opResult, 0, oneRow(class("com.example.Secret(a:b)"), []byte("bytes")), func(t *testing.T, s *Session) {
			var b []byte
			require.NoError(t, s.Query("SELECT x").Scan(&b))
			require.Equal(t, "bytes", string(b))
			var v any
			require.NoError(t, s.Query("SELECT x").Scan(&v))
			require.ErrorIs(t, s.Query("SELECT x").Scan(new(int)), ErrConversion)
		}},
		{"schema change of something else", opResult, 0, message(ints(int32(resultSchemaChange)), 7, "CREATED", 4, "ROLE", 4, "what"), fine},
		{"flags", opResult, 0xF0, ints(1), fine},
		{"metadata flags", opResult, 0, message(ints(2, 0x7FFFFF01&^0x0E, 0), 0, 0, ints(0)), fine},
		{"bytes behind VOID", opResult, 0, message(ints(1), "more"), fine},
		{"bytes behind SET_KEYSPACE", opResult, 0, message(ints(3), 2, "ks", "more"), fine},
		{"bytes behind ROWS", opResult, 0, message(oneRow(message(int(TypeInt)), ints(7)), "more"), func(t *testing.T, s *Session) {
			var n int
			require.NoError(t, s.Query("SELECT x").Scan(&n))
			require.Equal(t, 7, n)
		}},
		{"bytes behind ERROR", opError, 0, message(ints(int32(CodeUnavailable)), 0, int(Quorum), ints(2, 1), "more"), func(t *testing.T, s *Session) {
			var e *RequestErrUnavailable
			require.ErrorAs(t, s.Query("SELECT x").Exec(), &e)
			require.Equal(t, 2, e.Required)
		}},
	} {
		for _, version := range []byte{protoV4, protoV5} {
			t.Run(fmt.Sprintf("%s/version=%d", m.name, version), func(t *testing.T) {
				answerWith(t, version, m.op, m.flags, m.body, m.check)
			})
		}
	}
}

// TestFault13Events: events of a type, a change or a target that the driver does not know, and with bytes behind their end, are dropped or
// passed on as far as they are known; one that is cut off, or no event at all, ends the connection.
func TestFault13Events(t *testing.T) {
	address := message([]byte{4, 127, 0, 0, 1}, ints(9042))
	known := netip.MustParseAddrPort("127.0.0.1:9042")
	synctest.Test(t, func(t *testing.T) {
		s := &fakeServer{version: 5, handle: func(p *fakePeer, h wire.Header, body []byte) {
			for _, event := range [][]byte{
				message(5, "OTHER"), message(5, "OTHER", "with fields"),
				message(13, "STATUS_CHANGE", 5, "ASIDE", address),
				message(13, "STATUS_CHANGE", 2, "UP", address, "more"),
				message(13, "SCHEMA_CHANGE", 7, "CREATED", 4, "ROLE", "what"),
			} {
				p.reply(-1, opEvent, event)
			}
			echo(p, h, body)
		}}
		var got []any
		c := s.memory(t, func(cfg *connConfig) { cfg.onEvent = func(e any) { got = append(got, e) } })
		_, err := c.ask(context.Background(), "question")
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, []any{
			statusEvent{"ASIDE", known}, statusEvent{"UP", known}, schemaEvent{change: "CREATED", target: "ROLE"},
		}, got)
		endConn(c, s)
	})
	for name, frame := range map[string]func(p *fakePeer){
		"cut off":             func(p *fakePeer) { p.reply(-1, opEvent, message(13, "STATUS_CHANGE", 2, "UP", 0)) },
		"a port that is none": func(p *fakePeer) { p.reply(-1, opEvent, message(13, "STATUS_CHANGE", 2, "UP", address[:5], ints(-1))) },
		"no event":            func(p *fakePeer) { p.reply(-1, opResult, ints(1)) },
		"another version":     func(p *fakePeer) { _, _ = p.conn.Write([]byte{0x83, 0, 0, 0, 8, 0, 0, 0, 0}) },
		"a request":           func(p *fakePeer) { _, _ = p.conn.Write([]byte{4, 0, 0, 0, 7, 0, 0, 0, 0}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &fakeServer{version: 4, handle: func(p *fakePeer, _ wire.Header, _ []byte) { frame(p) }}
				c := s.memory(t)
				_, err := c.ask(context.Background(), "question")
				var broken *ProtocolError
				require.ErrorIs(t, err, ErrConnectionClosed)
				require.ErrorAs(t, err, &broken)
				require.True(t, mayHaveLeft(err))
				endConn(c, s)
			})
		})
	}
}

// traceIDs keeps the tracing ids it is given.
type traceIDs [][]byte

func (ids *traceIDs) Trace(id []byte) { *ids = append(*ids, id) }

// TestFault14Envelope: warnings, tracing id and custom payload, in each combination, stand before ROWS, VOID and ERROR. Each must be found,
// and the message behind them.
func TestFault14Envelope(t *testing.T) {
	id := UUID{0xAB, 15: 0xCD}
	answers := map[string]struct {
		op   opcode
		body []byte
	}{
		"rows":  {opResult, fakeResult{columns: []ColumnInfo{col("c", tText)}, cells: [][]byte{[]byte("v")}}.body(false)},
		"void":  {opResult, ints(1)},
		"error": {opError, message(ints(int32(CodeUnavailable)), 4, "gone", int(Quorum), ints(3, 1))},
	}
	for name, m := range answers {
		for _, flags := range []byte{0, 2, 4, 6, 8, 10, 12, 14} {
			for _, version := range []byte{protoV4, protoV5} {
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
					answerWith(t, version, m.op, flags, message(b, m.body), func(t *testing.T, s *Session) {
						var ids traceIDs
						it := s.Query("SELECT x").Trace(&ids).Iter()
						if name == "error" {
							var e *RequestErrUnavailable
							require.ErrorAs(t, it.Close(), &e)
							require.Equal(t, "gone", e.Message())
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

// TestFault15OtherVersions: the server speaks less, or more, than what the driver begins with, and says so in one of the ways that servers
// have. The session must end up with version 4, or fail at once with an error that names the version.
func TestFault15OtherVersions(t *testing.T) {
	refuse := func(version byte, text string) func(p *fakePeer, h wire.Header) {
		return func(p *fakePeer, h wire.Header) {
			body := message(ints(int32(CodeProtocol)), mustString(nil, text))
			b := make([]byte, wire.HeaderSize)
			wire.PutHeader(b, wire.Header{Version: version, Response: true, Stream: h.Stream, Length: len(body)})
			_, _ = p.conn.Write(append(b, body...))
		}
	}
	for _, m := range []struct {
		name   string
		speaks byte // 0: nothing that the driver does
		asked  int  // ClusterConfig.ProtoVersion
		refuse func(p *fakePeer, h wire.Header)
		want   string // of the error; empty: it works
	}{
		{"4 answers 5 in 4", 4, 0, refuse(4, "Invalid or unsupported protocol version (5); the lowest supported version is 3 and the greatest is 4"), ""},
		{"4 answers 5 in 5", 4, 0, refuse(5, "Invalid or unsupported protocol version: 5"), ""},
		{"4 answers 5 in 3", 4, 0, refuse(3, "Invalid or unsupported protocol version: 5"), ""},
		{"5 is a beta", 4, 0, refuse(4, "Beta version of the protocol used (5/v5-beta), but USE_BETA flag is unset"), ""},
		{"4 answers 5 in 6", 4, 0, refuse(6, "Invalid or unsupported protocol version (5)"), ""},
		{"4, 5 was asked for", 4, 5, refuse(4, "Invalid or unsupported protocol version (5)"), "v4"},
		{"5, 4 was asked for", 5, 4, refuse(5, "Invalid or unsupported protocol version (4)"), "v5"},
		{"3", 0, 0, refuse(3, "Invalid or unsupported protocol version: 4"), "v3"},
		{"6", 0, 0, refuse(6, "Invalid or unsupported protocol version (5)"), "v6"},
		{"3, 4 was asked for", 0, 4, refuse(3, "Invalid or unsupported protocol version: 4"), "v3"},
		{"a protocol error of another kind", 0, 0, refuse(5, "Unknown opcode 5"), "Unknown opcode 5"},
	} {
		t.Run(m.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newFakeCluster(t, protoV4, 1)
				c.nodes[0].server.version = m.speaks
				if m.speaks == protoV5 {
					c.version = protoV5
				}
				c.nodes[0].server.refuse = m.refuse
				cfg := c.config()
				cfg.ProtoVersion = m.asked
				began := time.Now()
				s, err := cfg.CreateSession()
				require.Less(t, time.Since(began), time.Second)
				if m.want != "" {
					require.ErrorIs(t, err, ErrNoConnectionsStarted)
					require.ErrorIs(t, err, CodeProtocol)
					require.ErrorContains(t, err, m.want)
					return
				}
				require.NoError(t, err)
				defer s.Close()
				require.EqualValues(t, m.speaks, s.ProtoVersion())
				require.NoError(t, s.Query("INSERT x").Exec())
			})
		})
	}
	t.Run("another version after the handshake", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &fakeServer{version: 4, handle: func(p *fakePeer, h wire.Header, _ []byte) { refuse(3, "no")(p, h) }}
			c := s.memory(t)
			_, err := c.ask(context.Background(), "question")
			var broken *ProtocolError
			require.ErrorAs(t, err, &broken)
			require.True(t, c.closed())
			endConn(c, s)
		})
	})
}
