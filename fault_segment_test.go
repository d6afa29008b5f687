// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// This file holds faults 7 and 8: damaged segments, frames cut into segments in unusual ways, and compressed bytes that lie about what they
// hold.

// askRaw connects to a server that answers a question with the bytes of answer, which are given the question's stream id, and returns
// what the caller got. Nothing of the connection may be left afterwards.
func askRaw(t *testing.T, version byte, compressor Compressor, question string, answer func(p *fakePeer, stream int16) []byte) (got string, err error) {
	t.Helper()
	before := outstanding.Load()
	synctest.Test(t, func(t *testing.T) {
		s := &fakeServer{version: version, compressor: compressor, handle: func(p *fakePeer, h wire.Header, _ []byte) {
			_, _ = p.conn.Write(answer(p, h.Stream))
		}}
		c := s.memory(t)
		got, err = c.ask(context.Background(), question)
		endConn(c, s)
	})
	require.Equal(t, before, outstanding.Load(), "buffers not released")
	return got, err
}

// TestFault07FlippedBit: one bit of a segment is wrong: in its header, the header's CRC24, the payload or the payload's CRC32, as it is or
// compressed. The connection must end with an error that says which checksum it was.
func TestFault07FlippedBit(t *testing.T) {
	body := strings.Repeat("0123456789", 60)
	for _, m := range []struct {
		compressor Compressor
		header     int
		body       string
	}{{nil, wire.SegmentHeaderSize, body[:20]}, {LZ4Compressor{}, wire.SegmentHeaderSizeLZ4, body}} {
		t.Run(fmt.Sprintf("compressor=%T", m.compressor), func(t *testing.T) {
			size := 1 << 20 // of the segment, once it is known
			for bit := 0; bit < 8*size; bit++ {
				_, err := askRaw(t, protoV5, m.compressor, "question", func(p *fakePeer, stream int16) []byte {
					b := p.frame(stream, opResult, []byte(m.body))
					size = len(b)
					b[bit/8] ^= 1 << (bit % 8)
					return b
				})
				want := wire.ErrCRC32
				if bit/8 < m.header {
					want = wire.ErrCRC24
				}
				require.ErrorIs(t, err, ErrConnectionClosed, "bit %d", bit)
				require.ErrorIs(t, err, want, "bit %d", bit)
				require.True(t, mayHaveLeft(err))
			}
			require.Less(t, size, 200)
		})
	}
}

// sealedSegment returns payload as a segment, whatever is in it. uncompressed is what an LZ4 header says, negative: a plain header.
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

// plainFrame returns an answer without segments.
func plainFrame(version byte, flags byte, stream int16, body []byte) []byte {
	b := make([]byte, wire.HeaderSize)
	wire.PutHeader(b, wire.Header{Version: version, Response: true, Flags: flags, Stream: stream, Opcode: byte(opResult), Length: len(body)})
	return append(b, body...)
}

// TestFault07DamagedBlock: one bit of an LZ4 block is wrong, and no checksum tells: v4 has none, in v5 the peer computed it afterwards.
// The answer must be an error or have exactly the length that was announced.
func TestFault07DamagedBlock(t *testing.T) {
	body := []byte(strings.Repeat("0123456789", 60))
	for _, version := range []byte{protoV4, protoV5} {
		t.Run(fmt.Sprint("version=", version), func(t *testing.T) {
			failed := 0
			for bit, size := 0, 1<<20; bit < 8*size; bit++ {
				got, err := askRaw(t, version, LZ4Compressor{}, "question", func(_ *fakePeer, stream int16) []byte {
					if version == protoV4 {
						packed, _ := LZ4Compressor{}.AppendCompressedWithLength(nil, body)
						size = len(packed) - 4
						packed[4+bit/8] ^= 1 << (bit % 8)
						return plainFrame(version, wire.FlagCompressed, stream, packed)
					}
					frame := plainFrame(version, 0, stream, body)
					packed, _ := LZ4Compressor{}.AppendCompressed(nil, frame)
					size = len(packed)
					if bit/8 >= 2 && bit/8 < 2+wire.HeaderSize { // the frame's own header would say something else, and be right
						bit = 8 * (2 + wire.HeaderSize)
					}
					packed[bit/8] ^= 1 << (bit % 8)
					return sealedSegment(packed, len(frame), true)
				})
				if err == nil {
					require.Len(t, got, len(body), "bit %d", bit)
					continue
				}
				failed++
				var broken *ProtocolError
				require.ErrorIs(t, err, ErrConnectionClosed, "bit %d", bit)
				require.ErrorAs(t, err, &broken, "bit %d", bit)
			}
			require.Greater(t, failed, 50, "many a bit makes no block any more")
		})
	}
}

// TestFault07CutFrames: frames are cut into segments of any size, so that a frame spans three of them or a frame's header ends in the next
// one, or several frames stand in one segment, with empty segments in between. All must be read as they are.
func TestFault07CutFrames(t *testing.T) {
	for _, compressor := range []Compressor{nil, LZ4Compressor{}} {
		t.Run(fmt.Sprintf("compressor=%T", compressor), func(t *testing.T) {
			for piece := 1; piece <= 3*(wire.HeaderSize+20); piece++ {
				questions := []string{"a question of 20 byt", "", "another of 20 bytes."}
				synctest.Test(t, func(t *testing.T) {
					var frames []byte
					n := 0
					s := &fakeServer{version: protoV5, compressor: compressor, handle: func(p *fakePeer, h wire.Header, body []byte) {
						frames = append(frames, plainFrame(protoV5, 0, h.Stream, body)...)
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
						_, _ = p.conn.Write(b)
					}}
					c := s.memory(t)
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
		got, err := askRaw(t, protoV5, nil, "question", func(p *fakePeer, stream int16) []byte {
			b := p.frame(stream, opResult, []byte(body))
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

// literals returns b as an LZ4 block that compresses nothing.
func literals(b []byte) ([]byte, error) {
	if len(b) > 14+255 {
		return nil, errors.New("too long for one length byte")
	}
	if len(b) < 15 {
		return append([]byte{byte(len(b)) << 4}, b...), nil
	}
	return append([]byte{0xF0, byte(len(b) - 15)}, b...), nil
}

// TestFault08DecompressionBomb: a compressed body or segment says that it holds 0 bytes, more than it can, a negative number, 2 GiB, or one
// more or less than it does. It must be refused, without memory for what it claims.
func TestFault08DecompressionBomb(t *testing.T) {
	body := []byte(strings.Repeat("0123456789", 60))
	block, err := LZ4Compressor{}.AppendCompressed(nil, body)
	require.NoError(t, err)
	snappy, err := SnappyCompressor{}.AppendCompressedWithLength(nil, body)
	require.NoError(t, err)
	frame := plainFrame(protoV5, 0, 0, body)
	segment, err := LZ4Compressor{}.AppendCompressed(nil, frame)
	require.NoError(t, err)
	type row struct {
		name       string
		version    byte
		compressor Compressor
		answer     func(stream int16) []byte
	}
	var rows []row
	for _, said := range []int64{0, 1, int64(len(body)) - 1, int64(len(body)) + 1, 1 << 20, wire.MaxBody, wire.MaxBody + 1, 1<<31 - 1, 1 << 31, 1<<32 - 1} {
		rows = append(rows, row{fmt.Sprint("lz4 body of ", said), protoV4, LZ4Compressor{}, func(stream int16) []byte {
			packed := append(binary.BigEndian.AppendUint32(nil, uint32(said)), block...)
			return plainFrame(protoV4, wire.FlagCompressed, stream, packed)
		}}, row{fmt.Sprint("snappy body of ", said), protoV4, SnappyCompressor{}, func(stream int16) []byte {
			_, n := binary.Uvarint(snappy)
			packed := append(binary.AppendUvarint(nil, uint64(said)), snappy[n:]...)
			return plainFrame(protoV4, wire.FlagCompressed, stream, packed)
		}})
	}
	for _, said := range []int{1, len(frame) - 1, len(frame) + 1, wire.MaxPayload} {
		rows = append(rows, row{fmt.Sprint("segment of ", said), protoV5, LZ4Compressor{}, func(int16) []byte {
			return sealedSegment(segment, said, true)
		}})
	}
	rows = append(rows, row{"lz4 body without a length", protoV4, LZ4Compressor{}, func(stream int16) []byte {
		return plainFrame(protoV4, wire.FlagCompressed, stream, []byte{0, 0, 1})
	}}, row{"a compressed frame where none was agreed on", protoV4, nil, func(stream int16) []byte {
		return plainFrame(protoV4, wire.FlagCompressed, stream, body)
	}})
	for _, m := range rows {
		t.Run(m.name, func(t *testing.T) {
			var err error
			n := allocated(func() {
				_, err = askRaw(t, m.version, m.compressor, "question", func(_ *fakePeer, stream int16) []byte { return m.answer(stream) })
			})
			var broken *ProtocolError
			require.ErrorIs(t, err, ErrConnectionClosed)
			require.ErrorAs(t, err, &broken)
			require.Less(t, n, uint64(4<<20), "a connection's own buffers, and no more")
		})
	}
}
