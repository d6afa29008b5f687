// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest/internal/engine"
)

func fromHex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.NewReplacer(" ", "", "\n", "", "\t", "").Replace(s))
	require.NoError(t, err)
	return b
}

// TestErrorsOfV3 compares the errors of v4 with those that a client of v3 receives.
func TestErrorsOfV3(t *testing.T) {
	for code, want := range map[int32]int32{
		CodeReadFailure: CodeReadTimeout, CodeWriteFailure: CodeWriteTimeout, CodeFunctionFailure: CodeInvalid, CodeSyntax: CodeSyntax,
	} {
		e := &Error{Code: code, Message: "m", Received: 1, Required: 2}
		old := *e
		if old.Code = want; want == CodeInvalid {
			old.Message = "ERROR FUNCTION_FAILURE: m"
		} else if want != code {
			old.Message = ""
		}
		require.Equal(t, appendError(nil, &old, 4, false), appendError(nil, e, 3, false))
	}
}

func TestChecksums(t *testing.T) { // values computed by Cassandra
	require.EqualValues(t, 8251255, crc24(fromHex(t, "000000")))
	require.EqualValues(t, 5891942, crc24(fromHex(t, "40e201")))
	require.EqualValues(t, 8775784, crc24(fromHex(t, "40e2010000")))
	require.EqualValues(t, 1148681939, segmentCRC32(nil))
	require.EqualValues(t, uint32(3536190002), segmentCRC32([]byte{1, 2, 3, 4, 5, 6}))
}

func TestFrame(t *testing.T) {
	b := appendFrame(nil, header{version: 4, flags: flagWarning, stream: -1, op: OpEvent}, []byte("body"))
	require.Equal(t, fromHex(t, "84 08 ffff 0c 00000004 626f6479"), b)
	require.Equal(t, header{version: 4, response: true, flags: flagWarning, stream: -1, op: OpEvent, length: 4}, parseHeader(b))
}

func TestReader(t *testing.T) {
	body := fromHex(t, `01 0002 00000003 0000000000000004 00026162 000000026364 00016f ffffffff 00000000 0001 00016b 000176 0002 000131 000132
		0001 00016b 00000001ff`)
	read := func(r *reader) []any {
		return []any{
			r.byte(), r.short(), r.int(), r.long(), r.string(), r.longString(), r.shortBytes(), r.bytes(), r.bytes(), r.stringMap(), r.stringList(),
			r.bytesMap(),
		}
	}
	r := reader{b: body}
	require.Equal(t, []any{
		byte(1), uint16(2), int32(3), int64(4), "ab", "cd", []byte("o"), []byte(nil),
		[]byte{},
		map[string]string{"k": "v"},
		[]string{"1", "2"},
		map[string][]byte{"k": {0xFF}},
	}, read(&r))
	require.NoError(t, r.err)
	for n := range body { // every prefix fails, and the error stays
		r := reader{b: body[:n:n]}
		read(&r)
		require.ErrorIs(t, r.err, errMalformed)
		require.Zero(t, r.int())
	}
	for _, lie := range []string{"ffff", "ffff00", "0002 0001"} {
		r := reader{b: fromHex(t, lie)}
		r.stringList()
		require.ErrorIs(t, r.err, errMalformed)
	}
}

func TestSegments(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for _, lz4 := range []bool{false, true} {
		for _, sizes := range [][]int{{0}, {1, 2, 3}, {maxSegment - headerSize}, {maxSegment - headerSize + 1}, {10, 400_000, 10}, {100_000, 100_000}} {
			t.Run(fmt.Sprint(lz4, sizes), func(t *testing.T) {
				var frames []byte
				for i, n := range sizes {
					body := make([]byte, n)
					for k := range body {
						body[k] = byte(r.UintN(4))
					}
					frames = appendFrame(frames, header{version: 5, stream: int16(i)}, body)
				}
				wire := appendSegments(nil, frames, lz4)
				in := &segmentReader{src: bufio.NewReader(bytes.NewReader(wire)), lz4: lz4}
				got, err := io.ReadAll(in)
				require.NoError(t, err)
				require.Equal(t, frames, got)
				head := segmentHeadSize(lz4)
				first, err := parseSegmentHead(wire[:head])
				require.NoError(t, err)
				require.Equal(t, sizes[0]+headerSize <= maxSegment, first.selfContained)

				for _, at := range []int{0, head - 1, head, len(wire) - 1} {
					bad := bytes.Clone(wire)
					bad[at] ^= 1
					_, err := io.ReadAll(&segmentReader{src: bufio.NewReader(bytes.NewReader(bad)), lz4: lz4})
					require.Error(t, err, at)
				}
			})
		}
	}
	// A segment of one byte, spelled out.
	require.Equal(t, fromHex(t, "010002"), appendSegments(nil, []byte("x"), false)[:3])
	require.Len(t, appendSegments(nil, []byte("x"), false), 3+3+1+4)
}

func TestBodies(t *testing.T) {
	addr := netip.MustParseAddrPort("192.0.2.7:9042")
	column := func(name string, typ *engine.Type) engine.Column {
		return engine.Column{Keyspace: "capture", Table: "paged", Name: name, Type: typ}
	}
	vector := &engine.Type{Kind: engine.KindVector, Dim: 2, Elems: []*engine.Type{engine.Native("float")}}
	result := []engine.Column{column("id", engine.Native("bigint")), column("v", vector)}
	id := fromHex(t, "0fdd471721ffb615aa3ee651bf821cc8")
	point := &engine.Type{
		Kind: engine.KindUDT, Keyspace: "k", Name: "point", Fields: []string{"x", "y"}, Elems: []*engine.Type{engine.Native("int"), engine.Native("text")},
	}
	tuple := &engine.Type{Kind: engine.KindTuple, Elems: []*engine.Type{engine.Native("int"), engine.Native("text")}}
	for name, test := range map[string]struct {
		got  []byte
		want string
	}{
		"PREPARED as Cassandra 5.0.9 sends it": {
			appendPrepared(nil, &prepared{id: id, statement: &engine.Statement{Result: result}}, 4, false, false),
			`00000004 0010 0fdd471721ffb615aa3ee651bf821cc8 00000000 00000000 00000000 00000001 00000002 0007 63617074757265 0005 7061676564
			0002 6964 0002 0001 76 0000 0059 6f72672e6170616368652e63617373616e6472612e64622e6d61727368616c2e566563746f7254797065286f72672e61
			70616368652e63617373616e6472612e64622e6d61727368616c2e466c6f617454797065202c203229`,
		},
		"PREPARED of INSERT": {
			appendPrepared(nil, &prepared{id: []byte{1}, resultID: []byte{2}, statement: &engine.Statement{
				Bind: []engine.Column{column("v", engine.Native("int")), column("k", engine.Native("int"))}, PKIndexes: []int{1}, Conditional: true,
			}}, 5, true, false),
			`00000004 0001 01 0001 02 00000001 00000002 00000001 0001 0007 63617074757265 0005 7061676564 0001 76 0009 0001 6b 0009
			00000004 00000000`,
		},
		"LWT mark": {
			appendPrepared(nil, &prepared{id: []byte{1}, statement: &engine.Statement{Conditional: true}}, 4, false, true),
			`00000004 0001 01 80000000 00000000 00000000 00000004 00000000`,
		},
		"rows": {
			appendRows(nil, resultMetadata{columns: result[:1], paging: []byte{7}}, &engine.Result{Rows: [][][]byte{{{1}}, {nil}, {{}}}}, 4),
			`00000002 00000003 00000001 00000001 07 0007 63617074757265 0005 7061676564 0002 6964 0002 00000003 00000001 01 ffffffff 00000000`,
		},
		"rows without metadata": {appendRows(nil, resultMetadata{columns: result, none: true}, &engine.Result{}, 4), `00000002 00000005 00000002 00000000`},
		"rows with changed metadata": {
			appendRows(nil, resultMetadata{columns: result[:1], newID: []byte{9}}, &engine.Result{}, 5),
			`00000002 00000009 00000001 0001 09 0007 63617074757265 0005 7061676564 0002 6964 0002 00000000`,
		},
		"UDT, tuple and collections": {
			appendType(appendType(appendType(nil, point, 4), tuple, 4), engine.MapOf(engine.Native("uuid"), &engine.Type{Kind: engine.KindSet, Elems: []*engine.Type{engine.Native("inet")}}), 4),
			`0030 0001 6b 0005 706f696e74 0002 0001 78 0009 0001 79 000d 0031 0002 0009 000d 0021 000c 0022 0010`,
		},
		"duration in v4": {
			appendType(nil, engine.Native("duration"), 4), "0000 002c 6f72672e6170616368652e63617373616e6472612e64622e6d61727368616c2e4475726174696f6e54797065",
		},
		"duration in v5": {appendType(nil, engine.Native("duration"), 5), "0015"},
		"unavailable": {
			appendError(nil, &Error{Code: CodeUnavailable, Message: "m", Consistency: clQuorum, Required: 2, Alive: 1}, 4, false),
			`00001000 0001 6d 0004 00000002 00000001`,
		},
		"write timeout of CAS, v5": {
			appendError(nil, &Error{Code: CodeWriteTimeout, Message: "m", Received: 1, Required: 2, WriteType: "CAS", Contentions: 3}, 5, false),
			`00001100 0001 6d 0000 00000001 00000002 0003 434153 0003`,
		},
		"write timeout of CAS, v4": {
			appendError(nil, &Error{Code: CodeWriteTimeout, Message: "m", Received: 1, Required: 2, WriteType: "CAS", Contentions: 3}, 4, false),
			`00001100 0001 6d 0000 00000001 00000002 0003 434153`,
		},
		"read failure, v5": {
			appendError(nil, &Error{Code: CodeReadFailure, Message: "m", Failures: map[netip.Addr]uint16{addr.Addr(): 1}, DataPresent: true}, 5, false),
			`00001300 0001 6d 0000 00000000 00000000 00000001 04c0000207 0001 01`,
		},
		"write failure, v4": {
			appendError(nil, &Error{Code: CodeWriteFailure, Message: "m", Failures: map[netip.Addr]uint16{addr.Addr(): 1}}, 4, false),
			`00001500 0001 6d 0000 00000000 00000000 00000001 0006 53494d504c45`,
		},
		"function failure": {
			appendError(nil, &Error{Code: CodeFunctionFailure, Message: "m", Keyspace: "k", Function: "f", ArgTypes: []string{"int"}}, 4, false),
			`00001400 0001 6d 0001 6b 0001 66 0001 0003 696e74`,
		},
		"already exists": {
			appendError(nil, &Error{Code: CodeAlreadyExists, Message: "m", Keyspace: "k", Table: "t"}, 4, false), `00002400 0001 6d 0001 6b 0001 74`,
		},
		"unprepared":            {appendError(nil, &Error{Code: CodeUnprepared, Message: "m", StatementID: []byte{1, 2}}, 4, false), `00002500 0001 6d 0002 0102`},
		"rate limit":            {appendError(nil, &Error{Code: CodeRateLimit, Message: "m", Write: true}, 4, true), `0000f000 0001 6d 01 00`},
		"rate limit negotiated": {appendError(nil, &Error{Code: CodeRateLimit, Message: "m"}, 4, false), `00002300 0001 6d`},
		"UP":                    {Event{Type: "STATUS_CHANGE", Change: "UP", Node: addr}.body(), `000d 5354415455535f4348414e4745 0002 5550 04c0000207 00002352`},
		"schema change": {
			Event{Type: "SCHEMA_CHANGE", Change: "CREATED", Target: "TABLE", Keyspace: "k", Name: "t"}.body(),
			`000d 534348454d415f4348414e4745 0007 43524541544544 0005 5441424c45 0001 6b 0001 74`,
		},
		"schema change of a function": {
			Event{Type: "SCHEMA_CHANGE", Change: "DROPPED", Target: "FUNCTION", Keyspace: "k", Name: "f", Args: []string{"int"}}.body(),
			`000d 534348454d415f4348414e4745 0007 44524f50504544 0008 46554e4354494f4e 0001 6b 0001 66 0001 0003 696e74`,
		},
	} {
		require.Equal(t, hex.EncodeToString(fromHex(t, test.want)), hex.EncodeToString(test.got), name)
	}
	trace := [16]byte{15: 1}
	b, flags := appendEnvelope(nil, &trace, []string{"w"}, map[string][]byte{"k": nil})
	require.Equal(t, flagTracing|flagWarning|flagPayload, flags)
	require.Equal(t, fromHex(t, "00000000000000000000000000000001 0001 0001 77 0001 0001 6b ffffffff"), b)
}

func TestParams(t *testing.T) {
	for name, test := range map[string]struct {
		version byte
		body    string
		want    params
	}{
		"v4, everything": {
			4, `0006 7f 0003 0001 61 00000001 01 0001 62 ffffffff 0001 63 fffffffe 00000064 00000002 0102 0009 0000000000000005`,
			params{skipMetadata: true, Request: engine.Request{
				Values: []engine.Value{{Name: "a", Bytes: []byte{1}}, {Name: "b", State: engine.ValueNull}, {Name: "c", State: engine.ValueUnset}}, Named: true,
				Consistency: clLocalQuorum, SerialConsistency: clLocalSerial, PageSize: 100, PagingState: []byte{1, 2}, Timestamp: 5, HasTimestamp: true,
			}},
		},
		"v5 only": {5, `0001 00000180 0002 6b73 0000002a`, params{keyspace: "ks", Request: engine.Request{
			Consistency: clOne, NowInSeconds: 42, HasNowInSeconds: true,
		}}},
	} {
		r := reader{b: fromHex(t, test.body)}
		require.Equal(t, test.want, readParams(&r, test.version, false), name)
		require.NoError(t, r.err)
		require.Empty(t, r.b)
		for n := range fromHex(t, test.body) {
			r := reader{b: fromHex(t, test.body)[:n]}
			readParams(&r, test.version, false)
			require.ErrorIs(t, r.err, errMalformed)
		}
	}
	for name, body := range map[string]string{
		"keyspace in v4": "0001 80", "consistency": "0063 00", "serial": "0001 10 0063", "length": "0001 01 0001 fffffffd", "count": "0001 01 ffff",
	} {
		r := reader{b: fromHex(t, body)}
		readParams(&r, 4, false)
		require.ErrorIs(t, r.err, errMalformed, name)
	}
	r := reader{b: fromHex(t, "00 0000 0001 01")}
	readBatch(&r, 4)
	require.ErrorContains(t, r.err, "BATCH")
}
