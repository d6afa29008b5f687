// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
)

// Frames of a real Cassandra (testdata/captures, recorded by TestCapture of package tests): segments, compression,
// messages and cells that this project did not write.

// exchange is a request and its response.
type exchange struct {
	op        frame.Opcode
	statement string // the text, also for EXECUTE
	env       frame.Envelope
	supported map[string][]string
	res       frame.Result
	err       error // of ERROR
}

// capturedConn is one connection of a capture.
type capturedConn struct {
	exchanges []exchange
	events    []any
}

// readCapture parses a file of testdata/captures. The test fails at malformed content.
func readCapture(t *testing.T, file string) (conns []capturedConn) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	name := strings.TrimSuffix(filepath.Base(file), ".hex")
	version := strings.TrimPrefix(name, "cassandra-v")[0] - '0'
	var compressor cql.Compressor
	switch {
	case strings.HasSuffix(name, "lz4"):
		compressor = LZ4Compressor{}
	case strings.HasSuffix(name, "snappy"):
		compressor = SnappyCompressor{}
	}
	for _, part := range strings.Split(string(text), "# connection ")[1:] {
		var sent, received []byte
		for _, line := range strings.Split(strings.TrimSpace(part), "\n")[1:] {
			direction, digits, _ := strings.Cut(line, " ")
			b, err := hex.DecodeString(digits)
			require.NoError(t, err)
			if direction == ">" {
				sent = append(sent, b...)
			} else {
				received = append(received, b...)
			}
		}
		requests := readFrames(t, sent, version, compressor)
		conns = append(conns, pairUp(t, requests, readFrames(t, received, version, compressor), version))
	}
	return conns
}

type rawFrame struct {
	header wire.Header
	body   []byte
}

// readFrames splits one direction of a connection into frames. In v5 segments begin after STARTUP and its response.
func readFrames(t *testing.T, stream []byte, version byte, compressor cql.Compressor) (frames []rawFrame) {
	var in io.Reader = bytes.NewReader(stream)
	for {
		var head [wire.HeaderSize]byte
		if _, err := io.ReadFull(in, head[:]); err == io.EOF {
			return frames
		} else {
			require.NoError(t, err)
		}
		h, err := wire.ParseHeader(head[:])
		require.NoError(t, err)
		require.Equal(t, version, h.Version)
		body := make([]byte, h.Length)
		_, err = io.ReadFull(in, body)
		require.NoError(t, err)
		if h.Flags&wire.FlagCompressed != 0 {
			require.Less(t, version, byte(frame.V5))
			body, err = compressor.AppendDecompressedWithLength(nil, body, wire.MaxBody)
			require.NoError(t, err)
		}
		frames = append(frames, rawFrame{h, body})
		if op := frame.Opcode(h.Opcode); version >= frame.V5 && (op == frame.OpStartup || op == frame.OpReady) {
			var decompress func(dst, src []byte, n int) ([]byte, error)
			if compressor != nil {
				decompress = compressor.AppendDecompressed
			}
			if _, already := in.(*wire.SegmentReader); !already {
				in = wire.NewSegmentReader(in, decompress)
			}
		}
	}
}

// pairUp finds the request of each response: the responses on a stream are in the order of its requests.
func pairUp(t *testing.T, requests, responses []rawFrame, version byte) (c capturedConn) {
	waiting := map[int16][]exchange{}
	ids := map[string]string{} // statement texts
	answered := 0
	for _, f := range requests {
		x := exchange{op: frame.Opcode(f.header.Opcode)}
		r := wire.NewReader(f.body)
		switch x.op {
		case frame.OpQuery, frame.OpPrepare:
			x.statement = r.LongString()
		case frame.OpExecute:
			x.statement = string(r.ShortBytes()) // the id for now
		}
		require.NoError(t, r.Err())
		waiting[f.header.Stream] = append(waiting[f.header.Stream], x)
	}
	for _, f := range responses {
		env, r, err := frame.ReadEnvelope(f.header.Flags, f.body)
		require.NoError(t, err)
		require.True(t, f.header.Response)
		if frame.Opcode(f.header.Opcode) == frame.OpEvent {
			require.EqualValues(t, -1, f.header.Stream)
			event, err := frame.ParseEvent(&r)
			require.NoError(t, err)
			require.Zero(t, r.Len())
			c.events = append(c.events, event)
			continue
		}
		queue := waiting[f.header.Stream]
		require.NotEmpty(t, queue, "a response without a request")
		x := queue[0]
		waiting[f.header.Stream] = queue[1:]
		answered++
		x.env = *env
		switch op := frame.Opcode(f.header.Opcode); op {
		case frame.OpReady:
		case frame.OpSupported:
			x.supported, err = frame.ParseSupported(&r)
		case frame.OpResult:
			x.res, err = frame.ParseResult(&r, version, false, nil)
		case frame.OpError:
			x.err = frame.ParseError(&r, version, 0)
		default:
			t.Fatalf("unexpected %v", op)
		}
		require.NoError(t, err)
		if x.op == frame.OpExecute {
			x.statement = ids[x.statement]
			require.True(t, x.statement != "" || errors.Is(x.err, cql.CodeUnprepared))
		}
		if x.res.Kind == frame.ResultPrepared {
			ids[string(x.res.Prepared.ID)] = x.statement
		}
		if x.res.Kind != frame.ResultRows {
			require.Zero(t, r.Len(), "%v %q: bytes are left", x.op, x.statement)
		}
		c.exchanges = append(c.exchanges, x)
	}
	require.Equal(t, len(requests), answered)
	return c
}

func TestCaptures(t *testing.T) {
	files, err := filepath.Glob("testdata/captures/*.hex")
	require.NoError(t, err)
	require.Len(t, files, 4)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".hex"), func(t *testing.T) {
			conns := readCapture(t, file)
			require.Len(t, conns, 2, "control connection and data connection")
			testCapturedControl(t, conns[0])
			testCapturedData(t, conns[1], strings.Contains(file, "-v5-"))
		})
	}
}

// TestCaptureOfV3 parses what a real Cassandra sends to a client of v3, as package cqltest has recorded it: PREPARED
// without a partition key, and class names for the types of later versions.
func TestCaptureOfV3(t *testing.T) {
	conns := readCapture(t, "cqltest/testdata/captures/cassandra-v3-none.hex")
	require.Len(t, conns, 1)
	var prepared []*frame.PreparedResult
	types := map[string]string{}
	for _, x := range conns[0].exchanges {
		require.Empty(t, x.env.Warnings, "v3 has none")
		switch columns := x.res.Rows.Meta.Columns; x.res.Kind {
		case frame.ResultPrepared:
			require.Nil(t, x.res.Prepared.PKIndexes)
			prepared = append(prepared, x.res.Prepared)
		case frame.ResultRows:
			if x.res.Rows.Meta.NoColumns {
				columns = prepared[len(prepared)-1].Result.Columns
			}
			decoded(t, &x.res, columns)
			for _, c := range columns {
				types[c.Name] = c.TypeInfo.String()
			}
		}
	}
	require.Len(t, prepared, 2)
	var bound []string
	for _, c := range prepared[0].Bind.Columns {
		bound = append(bound, c.Name+" "+c.TypeInfo.String())
	}
	require.Equal(t, []string{"k int", "c int", "sm smallint", "da date"}, bound)
	for name, want := range map[string]string{
		"sm": "smallint", "ti": "tinyint", "da": "date", "tm": "time", "du": "duration", "ts": "timestamp", "l": "list<smallint>",
		"m": "map<date, text>", "tp": "tuple<tinyint, text>", "v": "vector<smallint, 2>",
	} {
		require.Equal(t, want, types[name], name)
	}
}

func testCapturedControl(t *testing.T, c capturedConn) {
	require.Contains(t, c.exchanges[0].supported["COMPRESSION"], "lz4")
	require.Contains(t, c.exchanges[0].supported["PROTOCOL_VERSIONS"], "5/v5")
	var versions []string
	for _, x := range c.exchanges {
		if strings.HasPrefix(x.statement, "SELECT * FROM system.local") {
			rows := decoded(t, &x.res, x.res.Rows.Meta.Columns)
			require.Len(t, rows, 1)
			versions = append(versions, rows[0]["release_version"].(string))
			require.Equal(t, "org.apache.cassandra.dht.Murmur3Partitioner", rows[0]["partitioner"])
			require.Len(t, rows[0]["tokens"], 1)
		}
	}
	require.NotEmpty(t, versions)
	require.Regexp(t, `^5\.`, versions[0])
	require.Contains(t, c.events, frame.SchemaEvent{Change: "CREATED", Target: "TABLE", Keyspace: "capture", Name: "everything"})
	require.Contains(t, c.events, frame.SchemaEvent{Change: "CREATED", Target: "TYPE", Keyspace: "capture", Name: "point"})
	require.Contains(t, c.events, frame.SchemaEvent{Change: "UPDATED", Target: "TABLE", Keyspace: "capture", Name: "paged"})
	require.Contains(t, c.events, frame.SchemaEvent{Change: "DROPPED", Target: "KEYSPACE", Keyspace: "capture"})
}

// decoded returns the rows of a result, every cell decoded into the type of its column.
func decoded(t *testing.T, res *frame.Result, columns []cql.ColumnInfo) (rows []map[string]any) {
	r := wire.NewReader(res.Rows.Cells)
	for range res.Rows.RowCount {
		row := map[string]any{}
		for _, col := range columns {
			cell, null := r.Value()
			if null {
				row[col.Name] = nil
				continue
			}
			var v any
			require.NoError(t, Unmarshal(col.TypeInfo, cell, &v), col.Name)
			row[col.Name] = v
			again, err := Marshal(col.TypeInfo, v)
			require.NoError(t, err, col.Name)
			if m := reflect.ValueOf(v); m.Kind() != reflect.Map || m.Len() < 2 { // a Go map has no order
				require.Equal(t, cell, again, "%s: our encoding differs from the server's", col.Name)
			}
		}
		rows = append(rows, row)
	}
	require.NoError(t, r.Err())
	require.Zero(t, r.Len())
	return rows
}

func testCapturedData(t *testing.T, c capturedConn, v5 bool) {
	// of returns the exchanges whose statement has the prefix, except PREPARE.
	of := func(prefix string) (found []exchange) {
		for _, x := range c.exchanges {
			if x.op != frame.OpPrepare && strings.HasPrefix(x.statement, prefix) {
				found = append(found, x)
			}
		}
		require.NotEmpty(t, found, prefix)
		return found
	}
	prepared := map[string]*frame.PreparedResult{}
	for _, x := range c.exchanges {
		if x.res.Kind == frame.ResultPrepared {
			prepared[x.statement] = x.res.Prepared
			require.Len(t, x.res.Prepared.ID, 16)
			require.Equal(t, v5, x.res.Prepared.ResultMetadataID != nil)
		}
	}
	rowsOf := func(x exchange) []map[string]any {
		columns := x.res.Rows.Meta.Columns
		if x.res.Rows.Meta.NoColumns {
			require.True(t, v5)
			columns = prepared[x.statement].Result.Columns
		}
		return decoded(t, &x.res, columns)
	}

	require.Equal(t, frame.ResultSetKeyspace, of(`USE "system"`)[0].res.Kind)
	require.Equal(t, &frame.SchemaEvent{Change: "CREATED", Target: "KEYSPACE", Keyspace: "capture"}, of("CREATE KEYSPACE")[0].res.Change)

	id, timeID := cql.UUID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, cql.UUID{}
	require.NoError(t, timeID.UnmarshalText([]byte("5f9a4f60-d7a2-11ee-8c99-0242ac120002")))
	vi, _ := new(big.Int).SetString("-123456789012345678901234567890", 10)
	want := map[string]any{
		"id": 1, "a": "ascii", "t": "naïve ☃", "b": []byte{0, 0xFF}, "bo": true, "ti": int8(-128), "si": int16(-32768),
		"i": -2147483648, "bi": int64(-9223372036854775808), "f": float32(1.5), "d": -2.25, "de": inf.NewDec(-12345, 3), "vi": vi,
		"u": id, "tu": timeID, "ip": netip.MustParseAddr("192.0.2.7"), "ip6": netip.MustParseAddr("2001:db8::1"),
		"da": time.Date(1969, 12, 30, 0, 0, 0, 0, time.UTC), "tm": 13*time.Hour + 5*time.Nanosecond,
		"ts": time.Date(2024, 2, 29, 13, 14, 15, 678e6, time.UTC), "du": cql.Duration{Months: 1, Days: 2, Nanoseconds: 3},
		"l": []string{"a", "bc"}, "s": []int{1, 2, 3}, "m": map[string]int64{"k": -1}, "tp": []any{7, "seven"},
		"ud": map[string]any{"x": 1, "y": "one"}, "v": []float32{1, -2, 0.5}, "vd": []float64{1.5, -2.5}, "vi2": []int{1, -1},
		"vb": []int64{1, -1}, "vu": []cql.UUID{id}, "vt": []string{"one", "three"}, "lv": [][]float32{{1, 2}, {3, 4}},
	}
	full := rowsOf(of("SELECT * FROM capture.everything WHERE id = 1")[0])
	require.Len(t, full, 1)
	for name, v := range full[0] {
		w := want[name]
		if ip, ok := w.(netip.Addr); ok {
			require.Equal(t, ip.String(), fmt.Sprint(v), name)
			continue
		}
		require.EqualValues(t, w, v, "%s: %T, %T", name, w, v)
	}
	require.Len(t, full[0], len(want))
	empty := rowsOf(of("SELECT * FROM capture.everything WHERE id = 2")[0])
	require.Len(t, empty, 1)
	for name, v := range empty[0] {
		if name != "id" {
			require.Nil(t, v, name)
		}
	}

	var ids []int64
	var vectors []any
	pages := of("SELECT id, v FROM capture.paged")
	require.Greater(t, len(pages), 1)
	for i, x := range pages {
		require.Equal(t, i == len(pages)-1, x.res.Rows.Meta.PagingState == nil)
		for _, row := range rowsOf(x) {
			ids, vectors = append(ids, row["id"].(int64)), append(vectors, row["v"])
		}
	}
	require.Equal(t, []int64{0, 1, 2, 3}, ids)
	require.Equal(t, []any{[]float32{0, 1}, []float32{1, 1}, nil, []float32{3, 1}}, vectors)

	applied := rowsOf(of("INSERT INTO capture.paged (k, id) VALUES (0, 1) IF NOT EXISTS")[0])
	require.Equal(t, false, applied[0]["[applied]"])
	require.Equal(t, []float32{1, 1}, applied[0]["v"])

	count := of("SELECT count(*)")[0]
	require.EqualValues(t, 4, rowsOf(count)[0]["count"])
	require.True(t, count.env.Traced)
	require.NotZero(t, count.env.TracingID)
	require.True(t, slices.ContainsFunc(count.env.Warnings, func(w string) bool { return strings.Contains(w, "Aggregation query") }), count.env.Warnings)

	changed := slices.IndexFunc(of("SELECT * FROM capture.paged"), func(x exchange) bool { return x.res.Rows.Meta.NewID != nil })
	if v5 {
		require.Positive(t, changed)
		meta := of("SELECT * FROM capture.paged")[changed].res.Rows.Meta
		require.Len(t, meta.NewID, 16)
		require.Equal(t, "extra", meta.Columns[2].Name)
	} else {
		require.Negative(t, changed)
	}

	failed := map[string]error{}
	for _, x := range c.exchanges {
		if x.err != nil {
			failed[x.statement] = x.err
		}
	}
	require.Len(t, failed, 5)
	var unprepared *cql.UnpreparedError // the server dropped it at the change of the table
	require.ErrorAs(t, failed["SELECT * FROM capture.paged"], &unprepared)
	require.Equal(t, prepared["SELECT * FROM capture.paged"].ID, unprepared.StatementID)
	require.ErrorIs(t, failed["SELEC"], cql.CodeSyntax)
	require.ErrorIs(t, failed["SELECT nothing FROM capture.paged"], cql.CodeInvalid)
	var exists *cql.AlreadyExistsError
	require.ErrorAs(t, failed["CREATE TABLE capture.paged (id int PRIMARY KEY)"], &exists)
	require.Equal(t, "capture paged", exists.Keyspace+" "+exists.Table)
	var unavailable *cql.UnavailableError
	require.ErrorAs(t, failed["SELECT id FROM capture.everything WHERE id = 1"], &unavailable)
	require.Equal(t, cql.Three, unavailable.Consistency)
	require.Equal(t, []int{3, 1}, []int{unavailable.Required, unavailable.Alive})
}
