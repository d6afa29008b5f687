// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// This file is a server that does nothing, in a process of its own: it answers PREPARE with the metadata of (id uuid, v vector<float, 1536>),
// EXECUTE with VOID, and the few statements by which a driver learns of the cluster. What a benchmark measures against it is the client.

const nullServerEnv = "VECQL_NULL_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(nullServerEnv) != "" {
		nullServer()
		return
	}
	os.Exit(m.Run())
}

// startNullServer runs this test's own program as the server and returns its address.
func startNullServer(b testing.TB) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), nullServerEnv+"=1")
	stdin, err := cmd.StdinPipe() // the server ends when it is closed
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func nullServer() {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(ln.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		go serveNull(conn)
	}
}

// serveNull speaks v4 and v5 on one connection. Answers to frames that came with one read leave with one write.
func serveNull(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 256<<10)
	var frames, answers, out []byte // frames: those read and not answered yet, without segments
	segmented := false
	for {
		if segmented {
			header, err := in.Peek(6)
			if err != nil {
				return
			}
			n := int(binary.LittleEndian.Uint32(header) & (1<<17 - 1))
			segment := make([]byte, 0)
			if segment, err = in.Peek(6 + n + 4); err != nil {
				return
			}
			frames = append(frames, segment[6:6+n]...)
			_, _ = in.Discard(6 + n + 4)
		} else {
			header, err := in.Peek(9)
			if err != nil {
				return
			}
			n := 9 + int(binary.BigEndian.Uint32(header[5:]))
			at := len(frames)
			frames = append(frames, make([]byte, n)...)
			if _, err := io.ReadFull(in, frames[at:]); err != nil {
				return
			}
		}
		for len(frames) >= 9 {
			n := 9 + int(binary.BigEndian.Uint32(frames[5:]))
			if len(frames) < n {
				break
			}
			version, opcode := frames[0], frames[4]
			answers = appendAnswer(answers, frames[:n])
			frames = append(frames[:0], frames[n:]...)
			if opcode == 0x01 && version == 5 { // the answer to STARTUP is the last one without segments
				if _, err := conn.Write(answers); err != nil {
					return
				}
				answers, segmented = answers[:0], true
			}
		}
		if in.Buffered() > 0 && len(answers) < 64<<10 || len(answers) == 0 {
			continue
		}
		out = append(out[:0], answers...)
		if segmented {
			out = appendSegment(out[:0], answers)
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
		answers = answers[:0]
	}
}

var crc32Seed = crc32.ChecksumIEEE([]byte{0xFA, 0x2D, 0x55, 0xCA})

// appendSegment wraps whole frames, less than 128 KiB of them, in a self-contained segment.
func appendSegment(dst, frames []byte) []byte {
	h := uint32(len(frames)) | 1<<17
	dst = append(dst, byte(h), byte(h>>8), byte(h>>16))
	crc := uint32(0x875060)
	for _, b := range dst[len(dst)-3:] {
		crc ^= uint32(b) << 16
		for range 8 {
			if crc <<= 1; crc&0x1000000 != 0 {
				crc ^= 0x1974F0B
			}
		}
	}
	dst = append(dst, byte(crc), byte(crc>>8), byte(crc>>16))
	dst = append(dst, frames...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Update(crc32Seed, crc32.IEEETable, frames))
}

func appendAnswer(dst, frame []byte) []byte {
	version, body := frame[0], frame[9:]
	opcode, answer := byte(0x08), []byte("\x00\x00\x00\x01") // RESULT void
	switch frame[4] {
	case 0x05: // OPTIONS
		opcode, answer = 0x06, []byte("\x00\x00")
	case 0x01, 0x0B: // STARTUP, REGISTER
		opcode, answer = 0x02, nil
	case 0x09: // PREPARE
		answer = prepared(version)
	case 0x07: // QUERY
		answer = systemRows(string(body[4 : 4+binary.BigEndian.Uint32(body)]))
	}
	dst = append(dst, version|0x80, 0, frame[2], frame[3], opcode)
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(answer))), answer...)
}

func str(s string) string { return string([]byte{byte(len(s) >> 8), byte(len(s))}) + s }

func prepared(version byte) []byte {
	b := "\x00\x00\x00\x04" + str("id00")
	if version >= 5 {
		b += str("meta")
	}
	b += "\x00\x00\x00\x01" + "\x00\x00\x00\x02" + "\x00\x00\x00\x01\x00\x00" // one table, two markers, the key is the first
	b += str("ks") + str("t") + str("id") + "\x00\x0C"
	b += str("v") + "\x00\x00" + str("org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 1536)")
	return []byte(b + "\x00\x00\x00\x04\x00\x00\x00\x00") // no result columns
}

// systemRows answers for one node that owns the whole ring.
func systemRows(query string) []byte {
	type column struct{ name, typ, cell string }
	var columns []column
	switch {
	case strings.Contains(query, "system.local"):
		columns = []column{
			{"host_id", "\x00\x0C", "0123456789abcdef"}, {"data_center", "\x00\x0D", "dc1"}, {"rack", "\x00\x0D", "r1"},
			{"release_version", "\x00\x0D", "5.0.0"}, {"partitioner", "\x00\x0D", "org.apache.cassandra.dht.Murmur3Partitioner"},
			{"tokens", "\x00\x22\x00\x0D", "\x00\x00\x00\x01\x00\x00\x00\x010"},
		}
	case strings.Contains(query, "system_schema.keyspaces"):
		columns = []column{
			{"keyspace_name", "\x00\x0D", "ks"},
			{"replication", "\x00\x21\x00\x0D\x00\x0D", "\x00\x00\x00\x02\x00\x00\x00\x05class\x00\x00\x00\x0eSimpleStrategy\x00\x00\x00\x12replication_factor\x00\x00\x00\x011"},
		}
	}
	b := "\x00\x00\x00\x02\x00\x00\x00\x01" + string(binary.BigEndian.AppendUint32(nil, uint32(len(columns)))) + str("system") + str("t")
	cells := ""
	for _, c := range columns {
		b += str(c.name) + c.typ
		cells += string(binary.BigEndian.AppendUint32(nil, uint32(len(c.cell)))) + c.cell
	}
	rows := "\x00\x00\x00\x01"
	if len(columns) == 0 {
		b = "\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x01" + str("system") + str("peers") + str("host_id") + "\x00\x0C"
		rows = "\x00\x00\x00\x00"
	}
	return []byte(b + rows + cells)
}
