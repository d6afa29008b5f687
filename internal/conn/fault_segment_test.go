// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/internal/wire"
)

// Faults 7 and 8 on one connection: damaged segments, frames cut into segments in unusual ways, and compressed bytes
// with a wrong length.

// askRaw connects to a server that responds to a request with the bytes of answer(stream id), and returns what the
// caller received. The connection must leave no goroutine or buffer.
func askRaw(t *testing.T, version byte, compressor cql.Compressor, answer func(p *fakecql.Conn, stream int16) []byte) (got string, err error) {
	t.Helper()
	before := outstanding.Load()
	synctest.Test(t, func(t *testing.T) {
		s := &fakecql.Server{Version: version, Compressor: compressor, Handle: func(p *fakecql.Conn, h wire.Header, _ []byte) {
			_, _ = p.Conn.Write(answer(p, h.Stream))
		}}
		c := connectInMemory(t, s)
		got, err = c.ask(context.Background(), "question")
		endConn(c, s)
	})
	require.Equal(t, before, outstanding.Load(), "buffers not released")
	return got, err
}

// TestFault07FlippedBit: one bit of a plain or compressed segment is wrong: in the header, its CRC24, the payload or
// its CRC32. The connection must close with an error that names the checksum.
func TestFault07FlippedBit(t *testing.T) {
	body := strings.Repeat("0123456789", 60)
	for _, m := range []struct {
		compressor cql.Compressor
		header     int
		body       string
	}{{nil, wire.SegmentHeaderSize, body[:20]}, {frame.LZ4{}, wire.SegmentHeaderSizeLZ4, body}} {
		t.Run(fmt.Sprintf("compressor=%T", m.compressor), func(t *testing.T) {
			size := 1 << 20 // of the segment; set by the first run
			for bit := 0; bit < 8*size; bit++ {
				_, err := askRaw(t, frame.V5, m.compressor, func(p *fakecql.Conn, stream int16) []byte {
					b := p.Frame(stream, fakecql.OpResult, []byte(m.body))
					size = len(b)
					b[bit/8] ^= 1 << (bit % 8)
					return b
				})
				want := wire.ErrCRC32
				if bit/8 < m.header {
					want = wire.ErrCRC24
				}
				require.ErrorIs(t, err, ErrClosed, "bit %d", bit)
				require.ErrorIs(t, err, want, "bit %d", bit)
				require.True(t, mayHaveLeft(err))
			}
			require.Less(t, size, 200)
		})
	}
}

// sealedSegment returns payload as a segment with valid checksums. uncompressed is the length in an LZ4 header;
// negative means a plain header.
func sealedSegment(payload []byte, uncompressed int, selfContained bool) (b []byte) {
	h := wire.SegmentHeader{Length: len(payload), Uncompressed: uncompressed, SelfContained: selfContained}
	if uncompressed < 0 {
		b = make([]byte, wire.SegmentHeaderSize)
		wire.PutSegmentHeader(b, h)
	} else {
		b = make([]byte, wire.SegmentHeaderSizeLZ4)
		wire.PutSegmentHeaderLZ4(b, h)
	}
	b = append(b, payload...)
	return binary.LittleEndian.AppendUint32(b, wire.CRC32(payload))
}

// plainFrame returns a response without segments.
func plainFrame(version byte, flags byte, stream int16, body []byte) []byte {
	b := make([]byte, wire.HeaderSize)
	wire.PutHeader(b, wire.Header{Version: version, Response: true, Flags: flags, Stream: stream, Opcode: byte(frame.OpResult), Length: len(body)})
	return append(b, body...)
}

// TestFault07DamagedBlock: one bit of an LZ4 block is wrong and no checksum reveals it: v4 has none, and in v5 the
// server computed it over the damaged block. The result must be an error or a body of the announced length.
func TestFault07DamagedBlock(t *testing.T) {
	body := []byte(strings.Repeat("0123456789", 60))
	for _, version := range []byte{frame.V4, frame.V5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			failed := 0
			for bit, size := 0, 1<<20; bit < 8*size; bit++ {
				got, err := askRaw(t, version, frame.LZ4{}, func(_ *fakecql.Conn, stream int16) []byte {
					if version == frame.V4 {
						packed, _ := frame.LZ4{}.AppendCompressedWithLength(nil, body)
						size = len(packed) - 4
						packed[4+bit/8] ^= 1 << (bit % 8)
						return plainFrame(version, wire.FlagCompressed, stream, packed)
					}
					plain := plainFrame(version, 0, stream, body)
					packed, _ := frame.LZ4{}.AppendCompressed(nil, plain)
					size = len(packed)
					if bit/8 >= 2 && bit/8 < 2+wire.HeaderSize { // the change would make another valid frame header
						bit = 8 * (2 + wire.HeaderSize)
					}
					packed[bit/8] ^= 1 << (bit % 8)
					return sealedSegment(packed, len(plain), true)
				})
				if err == nil {
					require.Len(t, got, len(body), "bit %d", bit)
					continue
				}
				failed++
				var broken *cql.ProtocolError
				require.ErrorIs(t, err, ErrClosed, "bit %d", bit)
				require.ErrorAs(t, err, &broken, "bit %d", bit)
			}
			require.Greater(t, failed, 50, "many flips make the block invalid")
		})
	}
}

// TestFault07CutFrames: frames are cut into segments of any size: a frame or a frame header spans several segments, or
// several frames share one, with empty segments in between. All frames must be read unchanged.
func TestFault07CutFrames(t *testing.T) {
	for _, compressor := range []cql.Compressor{nil, frame.LZ4{}} {
		t.Run(fmt.Sprintf("compressor=%T", compressor), func(t *testing.T) {
			for piece := 1; piece <= 3*(wire.HeaderSize+20); piece++ {
				questions := []string{"a question of 20 byt", "", "another of 20 bytes."}
				synctest.Test(t, func(t *testing.T) {
					var frames []byte
					n := 0
					s := &fakecql.Server{Version: frame.V5, Compressor: compressor, Handle: func(p *fakecql.Conn, h wire.Header, body []byte) {
						frames = append(frames, plainFrame(frame.V5, 0, h.Stream, body)...)
						if n++; n < len(questions) {
							return
						}
						var b []byte
						for rest := frames; len(rest) > 0; {
							cut := rest[:min(piece, len(rest))]
							rest = rest[len(cut):]
							switch {
							case compressor == nil:
								b = append(b, sealedSegment(cut, -1, false)...)
								b = append(b, sealedSegment(nil, -1, true)...)
							case len(cut)%2 == 0: // a block of literals
								packed, err := literals(cut)
								require.NoError(t, err)
								b = append(b, sealedSegment(packed, len(cut), false)...)
							default:
								b = append(b, sealedSegment(cut, 0, false)...)
							}
						}
						_, _ = p.Conn.Write(b)
					}}
					c := connectInMemory(t, s)
					got := make(chan error, len(questions))
					for _, question := range questions {
						go func() {
							answer, err := c.ask(context.Background(), question)
							if err == nil && answer != question {
								err = fmt.Errorf("got %q, want %q", answer, question)
							}
							got <- err
						}()
					}
					for range questions {
						require.NoError(t, <-got, "pieces of %d bytes", piece)
					}
					endConn(c, s)
				})
			}
		})
	}
	t.Run("a large frame over three segments", func(t *testing.T) {
		body := strings.Repeat("0123456789abcdef", 2*wire.MaxPayload/16) + "the end"
		got, err := askRaw(t, frame.V5, nil, func(p *fakecql.Conn, stream int16) []byte {
			b := p.Frame(stream, fakecql.OpResult, []byte(body))
			n := 0
			for rest := b; len(rest) > 0; n++ {
				h, err := wire.ParseSegmentHeader(rest)
				require.NoError(t, err)
				require.False(t, h.SelfContained)
				rest = rest[wire.SegmentHeaderSize+h.Length+wire.SegmentTrailerSize:]
			}
			require.Equal(t, 3, n)
			return b
		})
		require.NoError(t, err)
		require.True(t, got == body)
	})
}

// literals returns b as an LZ4 block of literals only.
func literals(b []byte) ([]byte, error) {
	if len(b) > 14+255 {
		return nil, errors.New("too long for one length byte")
	}
	if len(b) < 15 {
		return append([]byte{byte(len(b)) << 4}, b...), nil
	}
	return append([]byte{0xF0, byte(len(b) - 15)}, b...), nil
}

// TestFault08DecompressionBomb: the uncompressed length of a body or segment is 0, larger than possible, negative, 2
// GiB, or wrong by one. It must be refused without allocating that length.
func TestFault08DecompressionBomb(t *testing.T) {
	body := []byte(strings.Repeat("0123456789", 60))
	block, err := frame.LZ4{}.AppendCompressed(nil, body)
	require.NoError(t, err)
	snappy, err := frame.Snappy{}.AppendCompressedWithLength(nil, body)
	require.NoError(t, err)
	out := plainFrame(frame.V5, 0, 0, body)
	segment, err := frame.LZ4{}.AppendCompressed(nil, out)
	require.NoError(t, err)
	type row struct {
		name       string
		version    byte
		compressor cql.Compressor
		answer     func(stream int16) []byte
	}
	var rows []row
	for _, claimed := range []int64{0, 1, int64(len(body)) - 1, int64(len(body)) + 1, 1 << 20, wire.MaxBody, wire.MaxBody + 1, 1<<31 - 1, 1 << 31, 1<<32 - 1} {
		rows = append(rows, row{fmt.Sprint("lz4 body of ", claimed), frame.V4, frame.LZ4{}, func(stream int16) []byte {
			packed := append(binary.BigEndian.AppendUint32(nil, uint32(claimed)), block...)
			return plainFrame(frame.V4, wire.FlagCompressed, stream, packed)
		}}, row{fmt.Sprint("snappy body of ", claimed), frame.V4, frame.Snappy{}, func(stream int16) []byte {
			_, n := binary.Uvarint(snappy)
			packed := append(binary.AppendUvarint(nil, uint64(claimed)), snappy[n:]...)
			return plainFrame(frame.V4, wire.FlagCompressed, stream, packed)
		}})
	}
	for _, claimed := range []int{1, len(out) - 1, len(out) + 1, wire.MaxPayload} {
		rows = append(rows, row{fmt.Sprint("segment of ", claimed), frame.V5, frame.LZ4{}, func(int16) []byte {
			return sealedSegment(segment, claimed, true)
		}})
	}
	rows = append(rows, row{"lz4 body without a length", frame.V4, frame.LZ4{}, func(stream int16) []byte {
		return plainFrame(frame.V4, wire.FlagCompressed, stream, []byte{0, 0, 1})
	}}, row{"a compressed frame where none was agreed on", frame.V4, nil, func(stream int16) []byte {
		return plainFrame(frame.V4, wire.FlagCompressed, stream, body)
	}})
	for _, m := range rows {
		t.Run(m.name, func(t *testing.T) {
			var err error
			n := leak.Allocated(func() {
				_, err = askRaw(t, m.version, m.compressor, func(_ *fakecql.Conn, stream int16) []byte { return m.answer(stream) })
			})
			var broken *cql.ProtocolError
			require.ErrorIs(t, err, ErrClosed)
			require.ErrorAs(t, err, &broken)
			require.Less(t, n, uint64(4<<20), "only the buffers of a connection")
		})
	}
}
