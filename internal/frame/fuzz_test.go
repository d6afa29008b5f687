// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/leak"
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
	for _, body := range readHexBodies(f, "responses.hex") {
		f.Add(body, V3, false)
		f.Add(body, V4, false)
		f.Add(body, V4, true)
		f.Add(body, V5, true)
	}
	f.Fuzz(func(t *testing.T, body []byte, version byte, hasMetadataID bool) {
		requireOwned(t, body, func(body []byte) any {
			r := wire.NewReader(body)
			res, err := ParseResult(&r, version, hasMetadataID, nil)
			requireProtocolError(t, err)
			if m := res.Rows.Meta; err == nil && res.Kind == ResultRows {
				if res.Rows.RowCount < 0 || m.ColumnCount < 0 || res.Rows.RowCount*m.ColumnCount > len(res.Rows.Cells)/4 {
					t.Fatalf("%d rows of %d columns in %d bytes", res.Rows.RowCount, m.ColumnCount, len(res.Rows.Cells))
				}
				if !m.NoColumns && len(m.Columns) != m.ColumnCount {
					t.Fatalf("%d columns, counted %d", len(m.Columns), m.ColumnCount)
				}
				_, err = readCells(res.Rows)
				requireProtocolError(t, err)
			}
			if p := res.Prepared; p != nil {
				for _, i := range p.PKIndexes {
					if i >= len(p.Bind.Columns) {
						t.Fatalf("partition key at marker %d of %d", i, len(p.Bind.Columns))
					}
				}
			}
			if res.Kind == ResultRows && err == nil {
				known, again := res.Rows.Meta.Known(), wire.NewReader(body)
				same, err := ParseResult(&again, version, hasMetadataID, &known)
				require.NoError(t, err)
				require.Equal(t, res, same, "with known columns")
			}
			res.Rows.Cells, res.Rows.Meta.spec = nil, nil
			return res
		})
	})
}

func FuzzParseError(f *testing.F) {
	for _, body := range readHexBodies(f, "errors.hex") {
		f.Add(body, V3, int32(0))
		f.Add(body, V4, int32(testRateLimitCode))
		f.Add(body, V5, int32(0))
	}
	f.Fuzz(func(t *testing.T, body []byte, version byte, rateLimitCode int32) {
		requireOwned(t, body, func(body []byte) any {
			r := wire.NewReader(body)
			err := ParseError(&r, version, rateLimitCode)
			var server *cql.ServerError
			if !errors.As(err, &server) {
				requireProtocolError(t, err)
			}
			return err.Error() // the text must not fail for any fields
		})
	})
}

func FuzzParseEvent(f *testing.F) {
	for _, body := range readHexBodies(f, "responses.hex") {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		requireOwned(t, body, func(body []byte) any {
			r := wire.NewReader(body)
			event, err := ParseEvent(&r)
			requireProtocolError(t, err)
			return event
		})
	})
}

func FuzzSupported(f *testing.F) {
	f.Add(readHexBodies(f, "responses.hex")["supported"])
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
			e, r, err := ReadEnvelope(flags, body)
			requireProtocolError(t, err)
			if err == nil && r.Offset()+r.Len() != len(body) {
				t.Fatalf("%d bytes read, %d left of %d", r.Offset(), r.Len(), len(body))
			}
			return e
		})
	})
}

// TestFault09ParseAllocations is fault 9 for the parsers alone. It overwrites each two bytes and each four bytes of
// every golden body with the largest count. The allocations of the parsers stay bounded by the length of their input.
func TestFault09ParseAllocations(t *testing.T) {
	all := map[string]func(r *wire.Reader) (any, error){
		"result v3": func(r *wire.Reader) (any, error) { return ParseResult(r, V3, false, nil) },
		"result v4": func(r *wire.Reader) (any, error) { return ParseResult(r, V4, false, nil) },
		"result v5": func(r *wire.Reader) (any, error) { return ParseResult(r, V5, true, nil) },
		"error v4":  func(r *wire.Reader) (any, error) { return nil, ParseError(r, V4, testRateLimitCode) },
		"error v5":  func(r *wire.Reader) (any, error) { return nil, ParseError(r, V5, testRateLimitCode) },
	}
	for name, parse := range parsers {
		all[name] = parse
	}
	bodies := readHexBodies(t, "responses.hex")
	for name, body := range readHexBodies(t, "errors.hex") {
		bodies["error "+name] = body
	}
	for name, body := range bodies {
		for _, lie := range []string{"\x7F\xFF\xFF\xFF", "\xFF\xFF", "\xFF\xFF\xFF\xFF"} {
			for at := 0; at+len(lie) <= len(body); at++ {
				scratch := bytes.Clone(body)
				copy(scratch[at:], lie)
				n := leak.Allocated(func() {
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
