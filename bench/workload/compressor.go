// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// The LZ4 of drivers without the rest of the driver: the part of LZ4's cost that a driver cannot avoid.

// A Compressor is the LZ4 of a driver. It has the functions of the payload of a v5 segment.
type Compressor struct {
	Driver     string
	InFlights  []int // frames that share a segment, as in a batch of as many requests in flight
	Compress   func(dst, src []byte) ([]byte, error)
	Decompress func(dst, src []byte, size int) ([]byte, error)
}

// ProductionCompressor compresses requests and decompresses their responses. One operation is one request.
func ProductionCompressor(b *testing.B, c Compressor) {
	for _, op := range ops {
		for _, inFlight := range c.InFlights {
			name := fmt.Sprintf("driver=%s-compressor/op=%s/net=none/compress=lz4/conns=1/deadline=none/version=5/inflight=%d",
				c.Driver, op.name, inFlight)
			b.Run(name, func(b *testing.B) {
				requests := segments(inFlight, func(i int) []byte { return ExecuteFrame(5, i, cannedID, op.values(i), nil) })
				responses, err := c.shrunk(segments(inFlight, func(i int) []byte { return resultFrame(i, op.response(i)) }))
				if err != nil {
					b.Fatal(err)
				}
				Measure(b, func() error { return c.repeat((b.N+inFlight-1)/inFlight, requests, responses) })
			})
		}
	}
}

// A block is compressed bytes with their length before compression.
type block struct {
	packed []byte
	length int
}

// shrunk compresses payloads, and leaves out those that LZ4 does not shrink: servers send them as they are.
func (c *Compressor) shrunk(payloads [][]byte) (blocks []block, err error) {
	for _, p := range payloads {
		packed, err := c.Compress(nil, p)
		if err != nil {
			return nil, err
		}
		if len(packed) < len(p) {
			blocks = append(blocks, block{packed, len(p)})
		}
	}
	return blocks, nil
}

// repeat compresses all requests and decompresses all responses n times.
func (c *Compressor) repeat(n int, requests [][]byte, responses []block) (err error) {
	var out []byte
	for range n {
		for _, request := range requests {
			if out, err = c.Compress(out[:0], request); err != nil {
				return err
			}
		}
		for _, response := range responses {
			if out, err = c.Decompress(out[:0], response.packed, response.length); err != nil {
				return err
			}
		}
	}
	return nil
}

// segments returns payloads with n frames, as few as the limit of a segment permits.
func segments(n int, frame func(i int) []byte) (payloads [][]byte) {
	const maxPayload = 1<<17 - 1
	var payload []byte
	for i := range n {
		f := frame(i)
		if len(payload)+len(f) > maxPayload {
			payloads, payload = append(payloads, payload), nil
		}
		payload = append(payload, f...)
	}
	return append(payloads, payload)
}

// cannedID is the id of a statement and of its result metadata, of the lengths that the null server has.
var cannedID = []byte("\x00\x04\x00\x00\x00\x02\x00\x04meta")

// AppendFrame appends a frame of a client.
func AppendFrame(dst []byte, version byte, stream int, opcode byte, body []byte) []byte {
	dst = append(dst, version, 0, byte(stream>>8), byte(stream), opcode)
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(body))), body...)
}

// ExecuteFrame returns an EXECUTE request with the values, consistency ONE and skip_metadata. id is the statement id as
// EXECUTE encodes it. paging is empty, or a page size and then the length and the bytes of a paging state.
func ExecuteFrame(version byte, stream int, id []byte, values [][]byte, paging []byte) []byte {
	body := append(append([]byte(nil), id...), 0, 1) // ONE
	flags := uint32(0x01 | 0x02)
	if len(paging) > 0 {
		flags |= 0x04
	}
	if len(paging) > 4 {
		flags |= 0x08
	}
	if version >= 5 {
		body = append(body, 0, 0, 0)
	}
	body = binary.BigEndian.AppendUint16(append(body, byte(flags)), uint16(len(values)))
	for _, v := range values {
		body = append(binary.BigEndian.AppendUint32(body, uint32(len(v))), v...)
	}
	return AppendFrame(nil, version, stream, 0x0A, append(body, paging...))
}

// resultFrame returns a RESULT in v5.
func resultFrame(stream int, body []byte) []byte {
	return AppendFrame(nil, 0x85, stream, 0x08, body)
}
