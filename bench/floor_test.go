// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"

	"github.com/vecql/vecql/bench/nullserver"
	"github.com/vecql/vecql/bench/workload"
)

// The floor is the limit of the machine and its kernel: prepared frames, and responses that are counted but not
// decoded. One goroutine suffices, because it sends as many frames as it has received responses.

type socket struct {
	net.Conn
	version byte
	in      []byte
}

func dialFloor(b *testing.B, version int) *socket {
	conn, err := net.Dial("tcp", workload.Addr(b))
	if err != nil {
		b.Fatal(err)
	}
	return startFloor(b, conn, version)
}

// dialFloorTLS is dialFloor over TLS. Its client encrypts a write in as few records as it fits.
func dialFloorTLS(b *testing.B, version int) *socket {
	cfg := workload.TLS(b)
	cfg.DynamicRecordSizingDisabled = true
	conn, err := tls.Dial("tcp", workload.Addr(b), cfg)
	if err != nil {
		b.Fatal(err)
	}
	return startFloor(b, conn, version)
}

func startFloor(b *testing.B, conn net.Conn, version int) *socket {
	b.Cleanup(func() { _ = conn.Close() })
	s := &socket{Conn: conn, in: make([]byte, 256<<10)}
	startup := "\x00\x01\x00\x0BCQL_VERSION\x00\x053.0.0"
	s.version = byte(version)
	if _, err := s.Write(s.frame(0, 0x01, []byte(startup))); err != nil {
		b.Fatal(err)
	}
	if _, err := io.ReadFull(s, s.in[:9]); err != nil || s.in[4] != 0x02 {
		b.Fatal(s.in[:9], err)
	}
	return s
}

func (s *socket) frame(stream int, opcode byte, body []byte) []byte {
	return workload.AppendFrame(nil, s.version, stream, opcode, body)
}

// message returns a frame as sent: in v5, in a segment.
func (s *socket) message(frame []byte) []byte {
	if s.version >= 5 {
		return nullserver.AppendSegment(nil, frame)
	}
	return frame
}

// prepare returns the statement id as EXECUTE encodes it; in v5 the id of the result metadata follows.
func (s *socket) prepare(b *testing.B, stmt string) []byte {
	b.Helper()
	body := append(binary.BigEndian.AppendUint32(nil, uint32(len(stmt))), stmt...)
	if s.version >= 5 {
		body = append(body, 0, 0, 0, 0)
	}
	if _, err := s.Write(s.message(s.frame(0, 0x09, body))); err != nil {
		b.Fatal(err)
	}
	n, err := s.Read(s.in)
	if err != nil {
		b.Fatal(err)
	}
	frame := s.in[:n]
	if s.version >= 5 {
		frame = frame[6:]
	}
	if frame[4] != 0x08 {
		b.Fatalf("%q", frame)
	}
	id := frame[13:19]
	if s.version >= 5 {
		id = frame[13:25]
	}
	return slices.Clone(id)
}

// execute returns an EXECUTE request as sent.
func (s *socket) execute(stream int, id []byte, values [][]byte, paging []byte) []byte {
	return s.message(workload.ExecuteFrame(s.version, stream, id, values, paging))
}

// roundTrips sends n frames with at most inFlight outstanding. size is the length of a response.
func (s *socket) roundTrips(n, inFlight, size int, frames []byte) error {
	each := len(frames) / inFlight
	sent, answered, partial := 0, 0, 0
	for answered < n {
		if more := min(n-sent, inFlight-(sent-answered)); more > 0 {
			first := sent % inFlight
			more = min(more, inFlight-first) // up to the end of the ring
			if _, err := s.Write(frames[first*each : (first+more)*each]); err != nil {
				return err
			}
			sent += more
			if first+more == inFlight && sent-answered < inFlight && sent < n {
				continue
			}
		}
		got, err := s.Read(s.in[partial:])
		if err != nil {
			return err
		}
		whole, rest := s.count(s.in[:partial+got])
		if whole%size != 0 {
			return fmt.Errorf("%d bytes are not a multiple of a response of %d", whole, size)
		}
		answered += whole / size
		partial = copy(s.in, s.in[partial+got-rest:partial+got])
	}
	return nil
}

// count returns the number of bytes of whole frames in b and the number of remaining bytes. In v5 it counts the payload
// of segments, which contain whole frames here.
func (s *socket) count(b []byte) (whole, rest int) {
	for len(b) >= 9 {
		n := 9 + int(binary.BigEndian.Uint32(b[5:]))
		payload := n
		if s.version >= 5 {
			payload = int(binary.LittleEndian.Uint32(b) & (1<<17 - 1))
			n = 6 + payload + 4
		}
		if len(b) < n {
			break
		}
		whole += payload
		b = b[n:]
	}
	return whole, len(b)
}

func floorRequests(b *testing.B, part, stmt string, size int, answer int, values ...[]byte) {
	for _, inFlight := range []int{1, 16, 256} {
		for _, version := range []int{4, 5} {
			b.Run(fmt.Sprintf("driver=floor%s/inflight=%d/version=%d", part, inFlight, version), func(b *testing.B) {
				s := dialFloor(b, version)
				id := s.prepare(b, stmt)
				var frames []byte
				for i := range inFlight {
					frames = append(frames, s.execute(i, id, values, nil)...)
				}
				b.SetBytes(int64(size))
				workload.Measure(b, func() error { return s.roundTrips(b.N, inFlight, answer, frames) })
			})
		}
	}
}

func floorInsert(b *testing.B) {
	id, vector := workload.Bytes(workload.InsertID), workload.VectorBytes(workload.InsertedVector)
	floorRequests(b, "/row=vector", workload.InsertVector, 16+4*workload.Dim, 13, id, vector)
	floorRequests(b, "/row=small", workload.InsertSmall, 16, 13, workload.Bytes(workload.SmallKey), workload.Bytes(workload.SmallValue))
}

func floorReadRow(b *testing.B) {
	size := 16 + 4*workload.Dim
	floorRequests(b, "/row=vector", workload.ReadVector, size, 9+16+8+size, workload.Bytes(workload.InsertID))
}

// floorScan reads pages and discards them.
func floorScan(b *testing.B) {
	for _, rows := range []string{"vector", "small", "mixed"} {
		for _, version := range []int{4, 5} {
			b.Run(fmt.Sprintf("driver=floor/rows=%s/version=%d", rows, version), func(b *testing.B) {
				s := dialFloor(b, version)
				id := s.prepare(b, scans[rows])
				b.SetBytes(0)
				workload.Measure(b, func() error { return s.scan(id, b.N) })
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

// scan reads and discards the pages of a number of rows. It requests the next page before it reads the current one.
func (s *socket) scan(id []byte, rows int) error {
	pages := (rows + workload.PageSize - 1) / workload.PageSize
	page := func(i int) error {
		p := binary.BigEndian.AppendUint32(nil, workload.PageSize)
		p = binary.BigEndian.AppendUint32(append(p, 0, 0, 0, 4), uint32(i))
		_, err := s.Write(s.execute(0, id, [][]byte{workload.Bytes(1 << 30)}, p))
		return err
	}
	if err := page(0); err != nil {
		return err
	}
	for i := range pages {
		if i+1 < pages {
			if err := page(i + 1); err != nil {
				return err
			}
		}
		if err := s.drop(); err != nil {
			return err
		}
	}
	return nil
}

// drop discards one frame, which in v5 has segments of its own.
func (s *socket) drop() error {
	head := s.in[:15]
	at := 0
	if s.version >= 5 {
		at = 6
	}
	if _, err := io.ReadFull(s, head[:at+9]); err != nil {
		return err
	}
	if head[at+4] != 0x08 {
		return fmt.Errorf("response is not a RESULT: % x", head)
	}
	left := 9 + int(binary.BigEndian.Uint32(head[at+5:])) // bytes of the frame to read
	if s.version < 5 {
		return s.skip(left - 9)
	}
	for first := true; left > 0; first = false {
		done := 15
		if !first {
			if _, err := io.ReadFull(s, head[:6]); err != nil {
				return err
			}
			done = 6
		}
		n := int(binary.LittleEndian.Uint32(head) & (1<<17 - 1))
		if err := s.skip(6 + n + 4 - done); err != nil {
			return err
		}
		left -= n
	}
	return nil
}

func (s *socket) skip(n int) error {
	for n > 0 {
		got, err := s.Read(s.in[:min(n, len(s.in))])
		if err != nil {
			return err
		}
		n -= got
	}
	return nil
}
