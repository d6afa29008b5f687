// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Captures of the traffic between a driver and a real Cassandra (testdata/captures of the module).

// capturedFrame is a frame of a capture.
type capturedFrame struct {
	header
	body []byte
}

// capturedConn is one connection of a capture: the frames of each direction, in order.
type capturedConn struct {
	sent, received []capturedFrame
}

// capture is one capture file.
type capture struct {
	version     byte
	compression string
	conns       []capturedConn
}

// driverCaptures are the captures of the driver's traffic, nodeCaptures those that TestRecordCaptures writes.
const (
	driverCaptures = "../testdata/captures/*.hex"
	nodeCaptures   = "testdata/captures/*.hex"
)

func readCaptures(t testing.TB, pattern string) map[string]capture {
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	captures := map[string]capture{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		name := strings.TrimSuffix(filepath.Base(file), ".hex")
		parts := strings.Split(name, "-") // cassandra-v5-lz4
		c := capture{version: parts[1][1] - '0', compression: strings.TrimPrefix(parts[2], "none")}
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
			c.conns = append(c.conns, capturedConn{c.frames(t, sent), c.frames(t, received)})
		}
		captures[name] = c
	}
	return captures
}

// frames parses one direction. Segments start after STARTUP and its answer.
func (c capture) frames(t testing.TB, b []byte) (frames []capturedFrame) {
	src := bufio.NewReader(bytes.NewReader(b))
	var in io.Reader = src
	for {
		var head [headerSize]byte
		if _, err := io.ReadFull(in, head[:]); err == io.EOF {
			return frames
		} else {
			require.NoError(t, err)
		}
		f := capturedFrame{header: parseHeader(head[:])}
		f.body = make([]byte, f.length)
		_, err := io.ReadFull(in, f.body)
		require.NoError(t, err)
		if f.flags&flagCompressed != 0 && f.version < 5 {
			f.body, err = decompressBody(c.compression, f.body, 1<<20)
			require.NoError(t, err)
		}
		frames = append(frames, f)
		if _, ok := in.(*segmentReader); !ok && c.version >= 5 && (f.op == OpStartup || f.op == OpReady) {
			in = &segmentReader{src: src, lz4: c.compression == "lz4"}
		}
	}
}

// TestCapturedSegments parses the segments and compressed bodies of a real server: each request has an answer.
func TestCapturedSegments(t *testing.T) {
	for name, c := range readCaptures(t, driverCaptures) {
		t.Run(name, func(t *testing.T) {
			total := 0
			for _, conn := range c.conns {
				answers := 0
				for _, f := range conn.received {
					require.True(t, f.response)
					require.Equal(t, c.version, f.version)
					if f.stream != eventStream {
						require.Equal(t, conn.sent[answers].stream, f.stream)
						answers++
					}
				}
				require.Equal(t, len(conn.sent), answers)
				total += answers
			}
			require.Greater(t, total, 20)
		})
	}
}

// TestCapturedRequests parses the requests of a driver.
func TestCapturedRequests(t *testing.T) {
	seen := map[Opcode]int{}
	for name, c := range readCaptures(t, driverCaptures) {
		for _, conn := range c.conns {
			for _, f := range conn.sent {
				r := reader{b: f.body}
				switch f.op {
				case OpStartup:
					require.Equal(t, "3.0.0", r.stringMap()["CQL_VERSION"])
				case OpQuery:
					text := r.longString()
					readParams(&r, c.version, false)
					require.Regexp(t, "^[A-Z]", text)
				case OpPrepare:
					readPrepare(&r, c.version)
				case OpExecute:
					require.Len(t, r.shortBytes(), 16)
					if c.version >= 5 {
						require.Len(t, r.shortBytes(), 16)
					}
					p := readParams(&r, c.version, false)
					require.Equal(t, 2, p.PageSize)
					require.True(t, p.HasTimestamp)
				case OpRegister:
					require.Len(t, r.stringList(), 3)
				case OpBatch:
					readBatch(&r, c.version)
				}
				require.NoError(t, r.err, "%s: %v %x", name, f.op, f.body)
				require.Empty(t, r.b, "%s: %v", name, f.op)
				seen[f.op]++
			}
		}
	}
	for _, op := range []Opcode{OpStartup, OpOptions, OpQuery, OpPrepare, OpExecute, OpRegister} {
		require.NotZero(t, seen[op], op)
	}
}
