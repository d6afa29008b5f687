// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/soak"
)

// TestCRC compares the checksums with values from Cassandra's implementation.
func TestCRC(t *testing.T) {
	for _, row := range []struct {
		hex  string
		want uint32
	}{
		{"000000", 8251255}, {"0000000000", 11185162}, {"40e201", 5891942}, {"40e2010000", 8775784},
	} {
		b, err := hex.DecodeString(row.hex)
		require.NoError(t, err)
		require.Equal(t, row.want, CRC24(b), row.hex)
	}
	for _, row := range []struct {
		hex  string
		want uint32
	}{
		{"", 1148681939}, {"0000000000", 1178391023}, {"010203040506", 3536190002},
	} {
		b, err := hex.DecodeString(row.hex)
		require.NoError(t, err)
		require.Equal(t, row.want, CRC32(b), row.hex)
	}
}

// crc24Bitwise computes CRC24 without a table.
func crc24Bitwise(b []byte) uint32 {
	crc := uint32(crc24Init)
	for _, c := range b {
		for i := 7; i >= 0; i-- {
			top := crc>>23 ^ uint32(c>>i)
			crc = crc << 1 & 0xFFFFFF
			if top&1 != 0 {
				crc ^= crc24Poly & 0xFFFFFF
			}
		}
	}
	return crc
}

func FuzzCRC24(f *testing.F) {
	f.Add([]byte{0x40, 0xE2, 0x01})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := CRC24(b), crc24Bitwise(b); got != want {
			t.Fatalf("got %06x, want %06x", got, want)
		}
	})
}

func TestSegmentHeader(t *testing.T) {
	for _, row := range []struct {
		name, hex string
		h         SegmentHeader
	}{
		// The first three bytes of each header are derived from section 2.1, the checksums come from TestCRC.
		{"empty", "000000" + "77e77d", SegmentHeader{}},
		{"123456 bytes", "40e201" + "66e759", SegmentHeader{Length: 123456}},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := make([]byte, SegmentHeaderSize)
			PutSegmentHeader(b, row.h)
			require.Equal(t, row.hex, hex.EncodeToString(b))
			got, err := ParseSegmentHeader(b)
			require.NoError(t, err)
			require.Equal(t, row.h, got)
		})
	}
	for _, row := range []struct {
		name, hex string
		h         SegmentHeader
	}{
		{"empty", "0000000000" + "0aacaa", SegmentHeader{}},
		{"123456 bytes stored", "40e2010000" + "68e885", SegmentHeader{Length: 123456}},
	} {
		t.Run("lz4 "+row.name, func(t *testing.T) {
			b := make([]byte, SegmentHeaderSizeLZ4)
			PutSegmentHeaderLZ4(b, row.h)
			require.Equal(t, row.hex, hex.EncodeToString(b))
			got, err := ParseSegmentHeaderLZ4(b)
			require.NoError(t, err)
			require.Equal(t, row.h, got)
		})
	}
	// The fields without their checksums.
	b := make([]byte, SegmentHeaderSizeLZ4)
	PutSegmentHeader(b, SegmentHeader{Length: 50, SelfContained: true})
	require.Equal(t, "320002", hex.EncodeToString(b[:3]))
	PutSegmentHeader(b, SegmentHeader{Length: MaxPayload})
	require.Equal(t, "ffff01", hex.EncodeToString(b[:3]))
	PutSegmentHeaderLZ4(b, SegmentHeader{Length: 1, Uncompressed: 50, SelfContained: true})
	require.Equal(t, "0100640004", hex.EncodeToString(b[:5]))
	PutSegmentHeaderLZ4(b, SegmentHeader{Length: MaxPayload, Uncompressed: MaxPayload, SelfContained: true})
	require.Equal(t, "ffffffff07", hex.EncodeToString(b[:5]))
}

// deflated and inflate replace LZ4, which this package does not implement.
func deflated(dst, src []byte) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	w, err := flate.NewWriter(buf, flate.BestSpeed)
	if err != nil {
		return dst, err
	}
	_, err = w.Write(src)
	err = errors.Join(err, w.Close())
	return buf.Bytes(), err
}

func inflate(dst, src []byte, n int) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(src)), int64(n)+1))
	return append(dst, b...), err
}

func frame(length int, fill func(body []byte)) []byte {
	b := make([]byte, HeaderSize+length)
	PutHeader(b, Header{Version: 5, Opcode: 7, Length: length})
	fill(b[HeaderSize:])
	return b
}

func noise(rnd *rand.Rand) func([]byte) {
	return func(b []byte) {
		for len(b) >= 8 { // byte by byte would dominate the time of the tests
			binary.LittleEndian.PutUint64(b, rnd.Uint64())
			b = b[8:]
		}
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
	}
}

func zeros([]byte) {}

// segmentHeaders walks the headers of a stream of segments.
func segmentHeaders(t *testing.T, stream []byte, lz4 bool) (headers []SegmentHeader) {
	t.Helper()
	size, parse := SegmentHeaderSize, ParseSegmentHeader
	if lz4 {
		size, parse = SegmentHeaderSizeLZ4, ParseSegmentHeaderLZ4
	}
	for len(stream) > 0 {
		h, err := parse(stream)
		require.NoError(t, err)
		headers = append(headers, h)
		stream = stream[size+h.Length+SegmentTrailerSize:]
	}
	return headers
}

func TestAppendSegmentsGolden(t *testing.T) {
	// READY on stream 1: header, CRC24, frame, CRC32.
	payload := frame(0, zeros)
	got, err := AppendSegments([]byte("head"), payload, nil)
	require.NoError(t, err)
	want := append([]byte("head"), 9, 0, 2)
	crc := crc24Bitwise(want[4:])
	want = append(want, byte(crc), byte(crc>>8), byte(crc>>16))
	want = append(want, payload...)
	crc = CRC32(payload)
	want = append(want, byte(crc), byte(crc>>8), byte(crc>>16), byte(crc>>24))
	require.Equal(t, want, got)
}

func TestAppendSegments(t *testing.T) {
	const seed = 1
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, seed))
	whole, part := true, false
	type segment struct {
		length        int
		selfContained bool
	}
	for _, row := range []struct {
		name   string
		bodies []int // of the frames
		want   []segment
	}{
		{"nothing", nil, nil},
		{"one empty frame", []int{0}, []segment{{9, whole}}},
		{"two frames share a segment", []int{0, 100}, []segment{{118, whole}}},
		{"a frame of the size of a segment", []int{MaxPayload - 9}, []segment{{MaxPayload, whole}}},
		{"one byte more", []int{MaxPayload - 8}, []segment{{MaxPayload, part}, {1, part}}},
		{"frames fill a segment", []int{60000, MaxPayload - 60018}, []segment{{MaxPayload, whole}}},
		{"frames fill a segment, one more", []int{60000, MaxPayload - 60018, 1}, []segment{{MaxPayload, whole}, {10, whole}}},
		{"frames that fit only alone", []int{100000, 100000, 10}, []segment{{100009, whole}, {100028, whole}}},
		{"large between small", []int{10, 300000, 20}, []segment{{19, whole}, {MaxPayload, part}, {MaxPayload, part}, {300009 - 2*MaxPayload, part}, {29, whole}}},
		{"two large", []int{MaxPayload, MaxPayload}, []segment{{MaxPayload, part}, {9, part}, {MaxPayload, part}, {9, part}}},
	} {
		var payload []byte
		for i, n := range row.bodies {
			fill := zeros
			if i%2 == 0 {
				fill = noise(rnd)
			}
			payload = append(payload, frame(n, fill)...)
		}
		for _, lz4 := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s lz4=%v", row.name, lz4), func(t *testing.T) {
				var compress func(dst, src []byte) ([]byte, error)
				var decompress func(dst, src []byte, n int) ([]byte, error)
				if lz4 {
					compress, decompress = deflated, inflate
				}
				stream, err := AppendSegments([]byte("head"), payload, compress)
				require.NoError(t, err)
				require.Equal(t, "head", string(stream[:4]))
				stream = stream[4:]
				var got []segment
				for _, h := range segmentHeaders(t, stream, lz4) {
					require.True(t, h.Uncompressed == 0 || h.Length < h.Uncompressed, "%+v", h)
					got = append(got, segment{max(h.Length, h.Uncompressed), h.SelfContained})
				}
				require.Equal(t, row.want, got)
				for name, wrap := range map[string]func(io.Reader) io.Reader{
					"whole": func(r io.Reader) io.Reader { return r }, "one byte": iotest.OneByteReader,
					"half": iotest.HalfReader, "data with error": iotest.DataErrReader,
				} {
					back, err := io.ReadAll(NewSegmentReader(wrap(bytes.NewReader(stream)), decompress))
					require.NoError(t, err, name)
					require.True(t, bytes.Equal(payload, back), name)
				}
			})
		}
	}
}

func TestAppendSegmentsRefuses(t *testing.T) {
	boom := errors.New("boom")
	large := frame(MaxPayload, zeros)
	tooLong := append([]byte(nil), large...)
	tooLong[5] = 0xFF
	for _, row := range []struct {
		name     string
		payload  []byte
		compress func(dst, src []byte) ([]byte, error)
		want     error
	}{
		{"frame not whole", large[:len(large)-1], nil, ErrShort},
		{"header not whole", append(frame(MaxPayload-12, zeros), frame(0, zeros)[:6]...), nil, ErrShort},
		{"impossible length", tooLong, nil, ErrLength},
		{"compress fails", large, func(dst, _ []byte) ([]byte, error) { return append(dst, 1, 2, 3), boom }, boom},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := AppendSegments([]byte("head"), row.payload, row.compress)
			require.ErrorIs(t, err, row.want)
			require.Equal(t, "head", string(got))
		})
	}
}

func TestAppendSegmentsAllocations(t *testing.T) {
	buf := make([]byte, 0, 1<<20)
	payload := append(frame(100, zeros), frame(300000, zeros)...)
	stored := func(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }
	require.Zero(t, testing.AllocsPerRun(10, func() {
		if _, err := AppendSegments(buf, payload, nil); err != nil {
			panic(err)
		}
		if _, err := AppendSegments(buf, payload, stored); err != nil {
			panic(err)
		}
	}))
}

// TestSegmentReaderEnd: a stream may end between segments. An end inside a segment is an error, returned after the
// complete segments.
func TestSegmentReaderEnd(t *testing.T) {
	first, second := frame(30, zeros), frame(20, zeros)
	stream, err := AppendSegments(nil, first, nil)
	require.NoError(t, err)
	border := len(stream)
	stream, err = AppendSegments(stream, second, nil)
	require.NoError(t, err)
	for n := range len(stream) + 1 {
		got, err := io.ReadAll(NewSegmentReader(bytes.NewReader(stream[:n]), nil))
		whole := 0
		if n >= border {
			whole = len(first)
		}
		if n == len(stream) {
			whole += len(second)
		}
		require.Len(t, got, whole, "%d bytes", n)
		if n == 0 || n == border || n == len(stream) {
			require.NoError(t, err, "%d bytes", n)
		} else {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d bytes", n)
		}
	}
}

// TestSegmentReaderFlippedBit flips each bit of a segment. No byte of it may be returned, now or later.
func TestSegmentReaderFlippedBit(t *testing.T) {
	payload := frame(30, zeros)
	for _, lz4 := range []bool{false, true} {
		var compress func(dst, src []byte) ([]byte, error)
		var decompress func(dst, src []byte, n int) ([]byte, error)
		headerSize := SegmentHeaderSize
		if lz4 {
			compress, decompress, headerSize = deflated, inflate, SegmentHeaderSizeLZ4
		}
		stream, err := AppendSegments(nil, payload, compress)
		require.NoError(t, err)
		size := len(stream)
		stream = append(stream, make([]byte, 2*MaxPayload)...) // so that a wrong length finds bytes
		for bit := range 8 * size {
			stream[bit/8] ^= 1 << (bit % 8)
			want := ErrCRC24
			if bit/8 >= headerSize {
				want = ErrCRC32
			}
			s := NewSegmentReader(bytes.NewReader(stream), decompress)
			for range 2 {
				n, err := s.Read(make([]byte, 100))
				require.ErrorIs(t, err, want, "bit %d", bit)
				require.Zero(t, n)
			}
			stream[bit/8] ^= 1 << (bit % 8)
		}
	}
}

func TestSegmentReaderDecompressFails(t *testing.T) {
	payload := frame(1000, zeros)
	stream, err := AppendSegments(nil, payload, deflated)
	require.NoError(t, err)
	boom := errors.New("boom")
	for _, row := range []struct {
		name       string
		decompress func(dst, src []byte, n int) ([]byte, error)
		want       error
	}{
		{"error", func(dst, _ []byte, _ int) ([]byte, error) { return dst, boom }, boom},
		{"too short", func(dst, _ []byte, n int) ([]byte, error) { return append(dst, make([]byte, n-1)...), nil }, ErrLength},
		{"too long", func(dst, _ []byte, n int) ([]byte, error) { return append(dst, make([]byte, n+1)...), nil }, ErrLength},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := NewSegmentReader(bytes.NewReader(stream), row.decompress)
			for range 2 {
				n, err := s.Read(make([]byte, 10))
				require.ErrorIs(t, err, row.want)
				require.Zero(t, n)
			}
		})
	}
}

// TestSegmentReaderSourceErrorPasses requires that reading continues after a deadline in the middle of a segment.
func TestSegmentReaderSourceErrorPasses(t *testing.T) {
	payload := frame(3000, zeros)
	stream, err := AppendSegments(nil, payload, nil)
	require.NoError(t, err)
	s := NewSegmentReader(iotest.TimeoutReader(iotest.HalfReader(bytes.NewReader(stream))), nil)
	var got []byte
	timeouts := 0
	for {
		p := make([]byte, 700)
		n, err := s.Read(p)
		got = append(got, p[:n]...)
		if err == iotest.ErrTimeout {
			timeouts++
			continue
		}
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
	}
	require.Equal(t, 1, timeouts)
	require.Equal(t, payload, got)
}

// TestSegmentReaderSkipsEmptySegments requires that Read never returns 0 bytes without an error, except for an empty p.
func TestSegmentReaderSkipsEmptySegments(t *testing.T) {
	empty := make([]byte, SegmentHeaderSize, SegmentHeaderSize+SegmentTrailerSize)
	PutSegmentHeader(empty, SegmentHeader{SelfContained: true})
	empty = appendTrailer(empty, SegmentHeaderSize)
	stream, err := AppendSegments(append([]byte(nil), empty...), frame(0, zeros), nil)
	require.NoError(t, err)
	s := NewSegmentReader(bytes.NewReader(append(stream, empty...)), nil)
	n, err := s.Read(nil)
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = s.Read(make([]byte, 100))
	require.NoError(t, err)
	require.Equal(t, HeaderSize, n)
	_, err = s.Read(make([]byte, 100))
	require.Equal(t, io.EOF, err)
}

func FuzzSegmentReader(f *testing.F) {
	for _, compress := range []func(dst, src []byte) ([]byte, error){nil, deflated} {
		stream, err := AppendSegments(nil, append(frame(5, zeros), frame(500, zeros)...), compress)
		require.NoError(f, err)
		f.Add(stream, false)
		f.Add(stream, true)
	}
	f.Fuzz(func(t *testing.T, stream []byte, lz4 bool) {
		var decompress func(dst, src []byte, n int) ([]byte, error)
		if lz4 {
			decompress = inflate
		}
		s := NewSegmentReader(bytes.NewReader(stream), decompress)
		if _, err := io.Copy(io.Discard, s); err == nil && s.pending > 0 {
			t.Fatalf("%d bytes pending at the end", s.pending)
		}
		if cap(s.plain) > 4*MaxPayload {
			t.Fatalf("%d bytes held", cap(s.plain))
		}
	})
}

// FuzzSegments cuts frames, flips at most one bit, and reads. The result must be the frames or an error.
func FuzzSegments(f *testing.F) {
	f.Add([]byte("body"), uint16(1), uint32(0), true)
	f.Add([]byte("body"), uint16(3000), uint32(77), false)
	f.Fuzz(func(t *testing.T, body []byte, repeat uint16, bit uint32, lz4 bool) {
		body = bytes.Repeat(body, 1+int(repeat)*16/(1+len(body)))
		payload := append(frame(len(body), func(b []byte) { copy(b, body) }), frame(0, zeros)...)
		var compress func(dst, src []byte) ([]byte, error)
		var decompress func(dst, src []byte, n int) ([]byte, error)
		if lz4 {
			compress, decompress = deflated, inflate
		}
		stream, err := AppendSegments(nil, payload, compress)
		if err != nil {
			t.Fatal(err)
		}
		damaged := bit != 0
		if damaged {
			stream[int(bit/8)%len(stream)] ^= 1 << (bit % 8)
		}
		got, err := io.ReadAll(NewSegmentReader(bytes.NewReader(stream), decompress))
		if damaged && !errors.Is(err, ErrCRC24) && !errors.Is(err, ErrCRC32) {
			t.Fatalf("flipped bit %d: got %v", bit, err)
		}
		if !damaged && err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(payload, got) || !damaged && len(got) != len(payload) {
			t.Fatal("not the payload")
		}
	})
}

func BenchmarkSegments(b *testing.B) {
	for _, body := range []int{100, 6000, 1 << 20} {
		payload := frame(body, zeros)
		stream, err := AppendSegments(nil, payload, nil)
		require.NoError(b, err)
		b.Run(fmt.Sprintf("op=append/body=%d", body), func(b *testing.B) {
			dst := make([]byte, 0, len(stream))
			b.ReportAllocs()
			b.SetBytes(int64(len(payload)))
			for b.Loop() {
				if _, err := AppendSegments(dst, payload, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("op=read/body=%d", body), func(b *testing.B) {
			src := bytes.NewReader(stream)
			s := NewSegmentReader(src, nil)
			p := make([]byte, len(payload))
			b.ReportAllocs()
			b.SetBytes(int64(len(payload)))
			for b.Loop() {
				src.Reset(stream)
				if _, err := io.ReadFull(s, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestSegmentBuilder compares the segments built in place with the segments of AppendSegments.
func TestSegmentBuilder(t *testing.T) {
	soak.NoRace(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		var frames []byte
		var b SegmentBuilder
		for range rnd.IntN(40) {
			n := rnd.IntN(20_000)
			switch rnd.IntN(20) {
			case 0:
				n = MaxPayload - HeaderSize + rnd.IntN(3) - 1
			case 1:
				n = rnd.IntN(5 * MaxPayload)
			case 2:
				n = 2*MaxPayload - HeaderSize
			case 3:
				n = 0
			}
			f := frame(n, noise(rnd))
			frames = append(frames, f...)
			b.Append(f[:HeaderSize], f[HeaderSize:])
		}
		got := b.Finish(nil)
		SealSegments(got)
		require.Empty(t, b.B)
		requireSegments(t, frames, got)
	}
}

// requireSegments fails the test unless got are valid segments of frames, cut like the result of AppendSegments for one
// group after the other.
func requireSegments(t *testing.T, frames, got []byte) {
	t.Helper()
	back, err := io.ReadAll(NewSegmentReader(bytes.NewReader(got), nil))
	require.NoError(t, err)
	require.True(t, bytes.Equal(frames, back), "other frames")
	want, err := AppendSegments(nil, frames, nil)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got), "other segments")
}

func FuzzSegmentBuilder(f *testing.F) {
	f.Add([]byte{1, 2, 3, 255, 254, 0, 9})
	f.Fuzz(func(t *testing.T, sizes []byte) {
		var frames []byte
		var b SegmentBuilder
		for i, s := range sizes[:min(len(sizes), 64)] {
			fr := frame(int(s)*1031, func(body []byte) {
				for j := range body {
					body[j] = byte(i + j)
				}
			})
			frames = append(frames, fr...)
			b.Append(fr[:HeaderSize], fr[HeaderSize:])
		}
		got := b.Finish(nil)
		SealSegments(got)
		requireSegments(t, frames, got)
	})
}
