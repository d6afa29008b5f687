// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cqltest

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Benchmarks of whole tables: rows written by INSERT, alone and in batches, and read by pages. The client writes
// encoded requests to a socket and drops the answers, so that almost all processor time is the cluster's. One operation
// is one row.

// benchTable is a table of a benchmark.
type benchTable struct {
	name, columns, names string
	row                  func(i int) []string
}

var benchTables = []benchTable{
	{
		"small", "id bigint PRIMARY KEY, a int, b int, c bigint, price double, weight double, name text, city text, code text, sold boolean",
		"id, a, b, c, price, weight, name, city, code, sold", func(i int) []string {
			n := string(binary.BigEndian.AppendUint64(nil, uint64(i)))
			return []string{n, n[4:], n[4:], n, n, n, fmt.Sprintf("item %d", i), fmt.Sprintf("city %d", i%500), "1z141z4abcde", "\x01"}
		},
	},
	{"vectors", "id uuid PRIMARY KEY, embedding vector<float, 384>", "id, embedding", func(i int) []string {
		b := make([]byte, 4*384)
		for j := range b {
			b[j] = byte(i + j)
		}
		return []string{string(binary.BigEndian.AppendUint64(make([]byte, 8), uint64(i))), string(b)}
	}},
}

// benchClient is a client on a socket.
type benchClient struct {
	*testClient
	table        benchTable
	id, resultID []byte // of the INSERT
	used         int64  // processor time of the measured parts, in nanoseconds
}

func newBenchClient(b *testing.B, table benchTable) *benchClient {
	c, err := Start(Config{Nodes: 1, BatchSizeFail: -1, OnRequest: func(Request) {}})
	require.NoError(b, err)
	b.Cleanup(c.Close)
	sock, err := net.Dial("tcp", c.Hosts()[0])
	require.NoError(b, err)
	tc := newTestClient(b, sock, 5)
	require.NoError(b, sock.SetDeadline(time.Time{}))
	tc.src = bufio.NewReaderSize(sock, 1<<20)
	tc.in = tc.src
	tc.startup(OpReady)
	tc.query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	require.Equal(b, OpResult, tc.query("CREATE TABLE ks."+table.name+" ("+table.columns+")").op)
	x := &benchClient{testClient: tc, table: table}
	marks := strings.TrimSuffix(strings.Repeat("?, ", strings.Count(table.names, ",")+1), ", ")
	x.id, x.resultID = tc.prepare("INSERT INTO ks."+table.name+" ("+table.names+") VALUES ("+marks+")", true)
	return x
}

// frame appends a request frame to dst, without a segment.
func (x *benchClient) frame(dst []byte, op Opcode, body []byte) []byte {
	x.framed, x.stream = false, x.stream&0xFFF
	defer func() { x.framed = true }()
	return append(dst, x.bytes(op, 0, body)...)
}

// inserts returns EXECUTEs of rows from first to last as bytes on the wire.
func (x *benchClient) inserts(first, last int) []byte {
	var frames []byte
	for ; first < last; first++ {
		frames = x.frame(frames, OpExecute, x.executeBody(x.id, x.resultID, 0, x.table.row(first)...))
	}
	return appendSegments(nil, frames, false)
}

// batch returns an unlogged batch of rows from first to last.
func (x *benchClient) batch(first, last int) []byte {
	body := appendShort([]byte{1}, last-first)
	for ; first < last; first++ {
		row := x.table.row(first)
		body = appendShort(appendShortBytes(append(body, 1), x.id), len(row))
		for _, v := range row {
			body = appendBytes(body, []byte(v))
		}
	}
	return appendSegments(nil, x.frame(nil, OpBatch, appendInt(appendShort(body, int(clOne)), 0)), false)
}

// measured runs f and adds its processor time.
func (x *benchClient) measured(b *testing.B, f func()) {
	var before, after syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &before))
	b.StartTimer()
	f()
	b.StopTimer()
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &after))
	x.used += after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
}

// exchange sends requests and drops n answers.
func (x *benchClient) exchange(wire []byte, n int) {
	sent := make(chan error, 1)
	go func() {
		_, err := x.sock.Write(wire)
		sent <- err
	}()
	for range n {
		var head [headerSize]byte
		_, err := io.ReadFull(x.in, head[:])
		require.NoError(x.t, err)
		h := parseHeader(head[:])
		body := make([]byte, 0)
		if h.op != OpResult {
			body = make([]byte, h.length)
		}
		_, err = io.ReadFull(x.in, body)
		require.NoError(x.t, err)
		require.Equal(x.t, OpResult, h.op, "%q", body)
		_, err = io.CopyN(io.Discard, x.in, int64(h.length))
		require.NoError(x.t, err)
	}
	require.NoError(x.t, <-sent)
}

// fill writes n rows by INSERT, or by batches of size rows.
func (x *benchClient) fill(b *testing.B, n, size int) {
	for first := 0; first < n; {
		last, answers := min(first+256, n), 1
		var wire []byte
		if size > 0 {
			last = min(first+size, n)
			wire = x.batch(first, last)
		} else {
			wire, answers = x.inserts(first, last), last-first
		}
		x.measured(b, func() { x.exchange(wire, answers) })
		first = last
	}
}

// scan reads n rows in pages, of a table with as many rows or fewer.
func (x *benchClient) scan(b *testing.B, n, page int) {
	id, resultID := x.prepare("SELECT "+x.table.names+" FROM ks."+x.table.name, true)
	var paging []byte
	for n > 0 {
		body := appendInt(x.executeBody(id, resultID, paramSkipMetadata|paramPageSize), int32(page))
		if paging != nil {
			body = x.executeBody(id, resultID, paramSkipMetadata|paramPageSize|paramPagingState)
			body = appendBytes(appendInt(body, int32(page)), paging)
		}
		x.measured(b, func() {
			m := x.call(OpExecute, 0, body)
			r := reader{b: m.body}
			r.int()
			paging = nil
			flags, _ := r.int(), r.int()
			if flags&metaMorePages != 0 {
				paging = r.bytes()
			}
			n -= int(r.int())
		})
	}
}

func BenchmarkServe(b *testing.B) {
	for _, table := range benchTables {
		for _, way := range []struct {
			name string
			size int
		}{{"insert", 0}, {"batch", 30}, {"scan", 5000}} {
			b.Run("rows="+table.name+"/way="+way.name, func(b *testing.B) {
				b.StopTimer()
				x := newBenchClient(b, table)
				if way.name == "scan" {
					x.fill(b, 100_000, 0)
					x.used = 0
					b.ResetTimer()
					x.scan(b, b.N, way.size)
				} else {
					x.fill(b, b.N, way.size)
				}
				b.ReportMetric(float64(x.used)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
