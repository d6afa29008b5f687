// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Fuzz targets of the frame layer: any bytes of a peer yield a value or a *ProtocolError, never a panic, and only the
// cells of a page are parts of the body.

func requireProtocolError(t *testing.T, err error) {
	t.Helper()
	var p *cql.ProtocolError
	if err != nil && !errors.As(err, &p) {
		t.Fatalf("got %T (%v), want a *ProtocolError", err, err)
	}
}

// requireOwned checks that parse returns the same for body and for a copy that is overwritten afterwards.
func requireOwned(t *testing.T, body []byte, parse func(body []byte) any) {
	t.Helper()
	want := parse(body)
	scratch := bytes.Clone(body)
	got := parse(scratch)
	for i := range scratch {
		scratch[i] ^= 0xFF
	}
	require.Equal(t, want, got)
}

func FuzzParseResult(f *testing.F) {
	for _, body := range readHexBodies(f, "frame_responses.hex") {
		f.Add(body, protoV4, false)
		f.Add(body, protoV4, true)
		f.Add(body, protoV5, true)
	}
	f.Fuzz(func(t *testing.T, body []byte, version byte, hasMetadataID bool) {
		requireOwned(t, body, func(body []byte) any {
			r := wire.NewReader(body)
			res, err := parseResult(&r, version, hasMetadataID, nil)
			requireProtocolError(t, err)
			if m := res.rows.meta; err == nil && res.kind == resultRows {
				if res.rows.rowCount < 0 || m.columnCount < 0 || res.rows.rowCount*m.columnCount > len(res.rows.cells)/4 {
					t.Fatalf("%d rows of %d columns in %d bytes", res.rows.rowCount, m.columnCount, len(res.rows.cells))
				}
				if !m.noColumns && len(m.columns) != m.columnCount {
					t.Fatalf("%d columns, counted %d", len(m.columns), m.columnCount)
				}
				_, err = readCells(res.rows)
				requireProtocolError(t, err)
			}
			if p := res.prepared; p != nil {
				for _, i := range p.pkIndexes {
					if i >= len(p.bind.columns) {
						t.Fatalf("partition key at marker %d of %d", i, len(p.bind.columns))
					}
				}
			}
			if res.kind == resultRows && err == nil {
				known, again := res.rows.meta.known(), wire.NewReader(body)
				same, err := parseResult(&again, version, hasMetadataID, &known)
				require.NoError(t, err)
				require.Equal(t, res, same, "with known columns")
			}
			res.rows.cells, res.rows.meta.spec = nil, nil
			return res
		})
	})
}

func FuzzParseError(f *testing.F) {
	for _, body := range readHexBodies(f, "frame_errors.hex") {
		f.Add(body, protoV4, int32(testRateLimitCode))
		f.Add(body, protoV5, int32(0))
	}
	f.Fuzz(func(t *testing.T, body []byte, version byte, rateLimitCode int32) {
		requireOwned(t, body, func(body []byte) any {
			r := wire.NewReader(body)
			err := parseError(&r, version, rateLimitCode)
			var server *cql.ServerError
			if !errors.As(err, &server) {
				requireProtocolError(t, err)
			}
			return err.Error() // the text must not fail for any fields
		})
	})
}

func FuzzParseEvent(f *testing.F) {
	for _, body := range readHexBodies(f, "frame_responses.hex") {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		requireOwned(t, body, func(body []byte) any {
			r := wire.NewReader(body)
			event, err := parseEvent(&r)
			requireProtocolError(t, err)
			return event
		})
	})
}

func FuzzSupported(f *testing.F) {
	f.Add(readHexBodies(f, "frame_responses.hex")["supported"])
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, parse := range parsers {
			requireOwned(t, body, func(body []byte) any {
				r := wire.NewReader(body)
				v, err := parse(&r)
				requireProtocolError(t, err)
				return v
			})
		}
	})
}

func FuzzParseEnvelope(f *testing.F) {
	f.Add(byte(0x0E), []byte("0123456789abcdef\x00\x01\x00\x01w\x00\x01\x00\x01k\x00\x00\x00\x01v"))
	f.Fuzz(func(t *testing.T, flags byte, body []byte) {
		requireOwned(t, body, func(body []byte) any {
			e, r, err := readEnvelope(flags, body)
			requireProtocolError(t, err)
			if err == nil && r.Offset()+r.Len() != len(body) {
				t.Fatalf("%d bytes read, %d left of %d", r.Offset(), r.Len(), len(body))
			}
			return e
		})
	})
}

func fuzzDecompress(f *testing.F, c Compressor) {
	const limit = 1 << 20
	for _, body := range compressibleBodies(f) {
		packed, err := c.AppendCompressedWithLength(nil, body)
		require.NoError(f, err)
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := c.AppendDecompressedWithLength([]byte("head"), src, limit)
		requireProtocolError(t, err)
		if err != nil {
			require.Equal(t, "head", string(got))
			return
		}
		if len(got)-4 > limit || cap(got) > 2*(255*(len(src)+1)+4)+64 {
			t.Fatalf("%d bytes from %d", cap(got), len(src))
		}
		packed, err := c.AppendCompressedWithLength(nil, got)
		require.NoError(t, err)
		again, err := c.AppendDecompressedWithLength(nil, packed, len(got))
		require.NoError(t, err)
		require.True(t, bytes.Equal(got, again))
	})
}

func FuzzDecompressLZ4(f *testing.F)    { fuzzDecompress(f, LZ4Compressor{}) }
func FuzzDecompressSnappy(f *testing.F) { fuzzDecompress(f, SnappyCompressor{}) }

// TestFault09ParseAllocations is fault 9 for the parsers alone. It overwrites each two bytes and each four bytes of
// every golden body with the largest count. The allocations of the parsers stay bounded by the length of their input.
func TestFault09ParseAllocations(t *testing.T) {
	all := map[string]func(r *wire.Reader) (any, error){
		"result v4": func(r *wire.Reader) (any, error) { return parseResult(r, protoV4, false, nil) },
		"result v5": func(r *wire.Reader) (any, error) { return parseResult(r, protoV5, true, nil) },
		"error v4":  func(r *wire.Reader) (any, error) { return nil, parseError(r, protoV4, testRateLimitCode) },
		"error v5":  func(r *wire.Reader) (any, error) { return nil, parseError(r, protoV5, testRateLimitCode) },
	}
	for name, parse := range parsers {
		all[name] = parse
	}
	bodies := readHexBodies(t, "frame_responses.hex")
	for name, body := range readHexBodies(t, "frame_errors.hex") {
		bodies["error "+name] = body
	}
	for name, body := range bodies {
		for _, lie := range []string{"\x7F\xFF\xFF\xFF", "\xFF\xFF", "\xFF\xFF\xFF\xFF"} {
			for at := 0; at+len(lie) <= len(body); at++ {
				scratch := bytes.Clone(body)
				copy(scratch[at:], lie)
				n := allocated(func() {
					for _, parse := range all {
						r := wire.NewReader(scratch)
						_, _ = parse(&r)
					}
				})
				if limit := uint64(len(all) * (64*len(body) + 16<<10)); n > limit {
					t.Errorf("%s: %x at %d: %d parsers allocate %d bytes, limit %d", name, lie, at, len(all), n, limit)
				}
			}
		}
	}
}
