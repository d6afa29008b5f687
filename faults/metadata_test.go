// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/pooled"
)

// Faults 17 and 18: metadata changes, and pages.

// TestFault17AlterBeforeReply: a table is altered while a request is in flight. Rows without metadata must be decoded
// with the metadata that was current when the request was sent, even if another request has received newer metadata
// since. Rows with new metadata must be decoded with it.
func TestFault17AlterBeforeReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, fakecql.V5, 1)
		columns := threeColumns(c)
		altered := fakecql.Columns("extra text", "v vector<float, 3>", "name text", "id bigint")
		cells := func(i int) [][]byte {
			old := rowCells(i, 1)
			return [][]byte{fakecql.Cell("text", "new"), old[2], old[1], old[0]}
		}
		var held *fakecql.Request
		var asked []string
		executes := 0
		c.On(func(r *fakecql.Request) bool {
			if r.Op != fakecql.OpExecute {
				return false
			}
			asked = append(asked, r.MetadataID)
			require.True(t, r.SkipMetadata)
			switch executes++; executes {
			case 1:
				held = r
			case 2, 3: // sent before the driver knew the change, and after
				r.Rows(fakecql.Rows{Columns: altered, Cells: cells(2), NewID: "m2"})
			default:
				r.Rows(fakecql.Rows{Columns: altered, Cells: cells(4)})
			}
			return true
		})
		s := sessionOn(c)
		type row struct {
			ID    int64
			Name  string
			V     []float32
			Extra *string
		}
		read := func() (rows []row, err error) {
			for r, e := range vecql.Rows[row](context.Background(), s.Query(selectRows)) {
				if e != nil {
					return rows, e
				}
				rows = append(rows, r)
			}
			return rows, nil
		}
		done := make(chan error, 1)
		go func() {
			rows, err := read()
			if err == nil && (len(rows) != 1 || rows[0].ID != 1 || rows[0].Name != "name 1" || rows[0].Extra != nil) {
				err = fmt.Errorf("got %+v", rows)
			}
			done <- err
		}()
		synctest.Wait()
		for i := range 4 {
			rows, err := read()
			require.NoError(t, err)
			want := 2
			if i >= 2 {
				want = 4
			}
			require.Len(t, rows, 1)
			require.Equal(t, fmt.Sprint("name ", want), rows[0].Name, "typed rows follow the columns")
			require.EqualValues(t, want, rows[0].ID)
			require.Equal(t, "new", *rows[0].Extra)
		}
		held.Rows(fakecql.Rows{Columns: columns, Cells: rowCells(1, 1)})
		require.NoError(t, <-done)
		require.Equal(t, []string{"m1", "m1", "m2", "m2", "m2"}, asked)
	})
}

// TestFault17TypedPages: columns change their order and type between the pages of one result. Typed rows, scanned rows
// and maps must be decoded page by page.
func TestFault17TypedPages(t *testing.T) {
	for _, version := range []byte{fakecql.V4, fakecql.V5} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, version, 1)
			columns := threeColumns(c)
			other := fakecql.Columns("v vector<float, 3>", "name blob", "id varint")
			c.On(func(r *fakecql.Request) bool {
				if r.Op != fakecql.OpExecute {
					return false
				}
				id := func(of string) string { // the new metadata id, if the client has another one
					if version < fakecql.V5 || r.MetadataID == of {
						return ""
					}
					return of
				}
				switch string(r.State) {
				case "":
					r.Rows(fakecql.Rows{Columns: columns, Cells: rowCells(0, 2), State: "1", NewID: id("m1")})
				default:
					res := fakecql.Rows{Columns: other, NewID: id("m2")}
					for i := 2; i < 4; i++ {
						cells := rowCells(i, 1)
						res.Cells = append(res.Cells, cells[2], cells[1], fakecql.Cell("varint", i))
					}
					r.Rows(res)
				}
				return true
			})
			s := sessionOn(c)
			type row struct {
				ID   int64
				Name string
				V    []float32
			}
			var got []row
			for r, err := range vecql.Rows[row](context.Background(), s.Query(selectRows)) {
				require.NoError(t, err)
				got = append(got, r)
			}
			require.Len(t, got, 4)
			for i, r := range got {
				require.Equal(t, row{int64(i), fmt.Sprint("name ", i), []float32{float32(i), 1, 2}}, r)
			}
			n := 0
			for r, err := range vecql.Rows[map[string]any](context.Background(), s.Query(selectRows)) {
				require.NoError(t, err)
				require.Equal(t, []float32{float32(n), 1, 2}, r["v"])
				n++
			}
			require.Equal(t, 4, n)
		})
	}
}

// TestFault17ManyDestinations: a column has another type on the second page, and is scanned into more types of
// destinations than a statement keeps decoders of. No value may be decoded by a decoder of the first page.
func TestFault17ManyDestinations(t *testing.T) {
	for _, version := range []byte{fakecql.V4, fakecql.V5} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			c := newCluster(t, version, 1)
			const text = "SELECT v FROM ks.t"
			c.Prepare(text, fakecql.Prepared{Result: fakecql.Columns("v bigint"), ResultID: "m1"})
			const rows = 8
			cells := func(typ string) (list [][]byte) {
				for i := range rows {
					list = append(list, fakecql.Cell(typ, i))
				}
				return list
			}
			c.On(func(r *fakecql.Request) bool {
				switch {
				case r.Op != fakecql.OpExecute:
					return false
				case len(r.State) == 0:
					r.Rows(fakecql.Rows{Columns: fakecql.Columns("v bigint"), Cells: cells("bigint"), State: "1"})
				case version == fakecql.V5:
					r.Rows(fakecql.Rows{Columns: fakecql.Columns("v int"), Cells: cells("int"), NewID: "m2"})
				default:
					r.Rows(fakecql.Rows{Columns: fakecql.Columns("v int"), Cells: cells("int")})
				}
				return true
			})
			last := new(int16) // of a type whose decoder only the Iter keeps
			dest := []any{new(int64), new(int), new(uint64), new(uint32), last, last, last, last}
			it := sessionOn(c, func(cfg *vecql.ClusterConfig) { cfg.Protocol.Version = int(version) }).Query(text).Prefetch(0).Iter(t.Context())
			for range 2 {
				for i, d := range dest {
					if !it.Scan(d) {
						t.Fatalf("row %d: %v", i, it.Close())
					}
				}
				require.EqualValues(t, rows-1, *last)
			}
			require.NoError(t, it.Close())
		})
	}
}

// TestFault17ChangeWhilePaging: a column is added between two pages. Each page must be decoded with its own metadata.
func TestFault17ChangeWhilePaging(t *testing.T) {
	c := newCluster(t, fakecql.V5, 1)
	columns := threeColumns(c)
	wider := append(slices.Clone(columns), fakecql.Columns("extra bigint")...)
	var asked []string
	c.On(func(r *fakecql.Request) bool {
		if r.Op != fakecql.OpExecute {
			return false
		}
		asked = append(asked, r.MetadataID)
		switch string(r.State) {
		case "":
			r.Rows(fakecql.Rows{Columns: columns, Cells: rowCells(0, 2), State: "1"})
		case "1": // the table was altered, and this page has the new metadata
			cells := append(rowCells(2, 1), fakecql.Cell("bigint", 77))
			r.Rows(fakecql.Rows{Columns: wider, Cells: cells, State: "2", NewID: "m2"})
		default:
			cells := append(rowCells(3, 1), fakecql.Cell("bigint", 78))
			r.Rows(fakecql.Rows{Columns: wider, Cells: cells})
		}
		return true
	})
	s := sessionOn(c)
	rows, err := s.Query(selectRows).Prefetch(0).Iter(t.Context()).SliceMap()
	require.NoError(t, err)
	require.Len(t, rows, 4)
	require.NotContains(t, rows[1], "extra")
	require.EqualValues(t, 77, rows[2]["extra"])
	require.EqualValues(t, 78, rows[3]["extra"])
	require.Equal(t, []string{"m1", "m1", "m2"}, asked, "later requests use the new id")
	_, prepares := c.Count(selectRows)
	require.Equal(t, 1, prepares)
}

// TestFault17WithoutMetadata: rows lack the metadata that was requested. They must not be decoded with other metadata.
func TestFault17WithoutMetadata(t *testing.T) {
	c := newCluster(t, fakecql.V4, 1)
	columns := threeColumns(c)
	c.On(func(r *fakecql.Request) bool {
		if r.Op == fakecql.OpExecute {
			require.False(t, r.SkipMetadata, "v4 cannot report a change of metadata, so every request asks for it")
			r.Rows(fakecql.Rows{Columns: columns, Cells: rowCells(0, 1), NoMetadata: true})
		}
		return r.Op == fakecql.OpExecute
	})
	var broken *cql.ProtocolError
	require.ErrorAs(t, sessionOn(c).Query(selectRows).Exec(t.Context()), &broken)
}

// TestFault17OtherColumnCount: rows without metadata have more or fewer columns than the statement.
func TestFault17OtherColumnCount(t *testing.T) {
	for name, columns := range map[string][]fakecql.Column{
		"fewer": fakecql.Columns("id bigint", "name text"),
		"more":  fakecql.Columns("id bigint", "name text", "v vector<float, 3>", "w int"),
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, fakecql.V5, 1)
			threeColumns(c)
			c.On(func(r *fakecql.Request) bool {
				if r.Op == fakecql.OpExecute {
					require.True(t, r.SkipMetadata)
					cells := make([][]byte, 6*len(columns)) // enough NULLs for rows of any of these numbers of columns
					r.Rows(fakecql.Rows{Columns: columns, Cells: cells, NoMetadata: true})
				}
				return r.Op == fakecql.OpExecute
			})
			it := sessionOn(c).Query(selectRows).Iter(t.Context())
			require.False(t, it.Scan(nil, nil, nil))
			var broken *cql.ProtocolError
			require.ErrorAs(t, it.Close(), &broken)
			require.ErrorContains(t, it.Close(), "the statement has 3 columns")
		})
	}
}

// TestFault18Pages: a thousand pages in a row are empty though more follow, and the paging state changes its size from
// page to page. All rows must arrive in order, however many pages are read ahead.
func TestFault18Pages(t *testing.T) {
	for _, version := range []byte{fakecql.V4, fakecql.V5} {
		for _, prefetch := range []float64{-1, 0.25} {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, version, 1)
				columns := threeColumns(c)
				pages := 1100
				if pooled.Poisoned {
					pages = 300
				}
				sizes := []int{1, 16, 3000, 70_000, 2, 500}
				page := 0
				c.On(func(r *fakecql.Request) bool {
					if r.Op != fakecql.OpExecute {
						return false
					}
					if page > 0 { // the state must be the state of the previous page, byte for byte
						require.Equal(t, strings.Repeat(string(rune('a'+(page-1)%26)), sizes[(page-1)%len(sizes)]), string(r.State))
					}
					res := fakecql.Rows{Columns: columns}
					if page < 3 || page >= pages-50 {
						res.Cells = rowCells(page, 1)
					}
					if page < pages-1 {
						res.State = strings.Repeat(string(rune('a'+page%26)), sizes[page%len(sizes)])
					}
					page++
					r.Rows(res)
					return true
				})
				s := sessionOn(c, func(cfg *vecql.ClusterConfig) { cfg.Protocol.Version = int(version) })
				it := s.Query(selectRows).Prefetch(prefetch).Iter(t.Context())
				var id int64
				var ids []int64
				for it.Scan(&id, nil, nil) {
					ids = append(ids, id)
				}
				require.NoError(t, it.Close())
				require.Len(t, ids, 3+50)
				require.Equal(t, []int64{0, 1, 2, int64(pages) - 50}, ids[:4])
				require.Equal(t, pages, page)
			})
		}
	}
}

// TestFault18OtherStatesPage: a paging state belongs to another statement or is damaged, and the server refuses it. The
// caller must get the error after the rows of earlier pages, and no request may be repeated.
func TestFault18OtherStatesPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, fakecql.V5, 2)
		columns := threeColumns(c)
		executes := 0
		c.On(func(r *fakecql.Request) bool {
			if r.Op != fakecql.OpExecute {
				return false
			}
			switch executes++; string(r.State) {
			case "":
				r.Rows(fakecql.Rows{Columns: columns, Cells: rowCells(0, 3), State: "of another statement"})
			case "of another statement":
				r.Fail(int32(cql.CodeInvalid))
			default:
				r.Fail(int32(cql.CodeProtocol))
			}
			return true
		})
		s := sessionOn(c, func(cfg *vecql.ClusterConfig) { cfg.Defaults.Idempotent = true })
		it := s.Query(selectRows).Iter(t.Context())
		n := 0
		for it.Scan(nil, nil, nil) {
			n++
		}
		require.Equal(t, 3, n)
		require.ErrorIs(t, it.Close(), cql.CodeInvalid)
		require.Equal(t, 2, executes)
		for _, m := range []struct {
			state string
			want  cql.Code
		}{{"of another statement", cql.CodeInvalid}, {"damaged", cql.CodeProtocol}} {
			it := s.Query(selectRows).PageState([]byte(m.state)).Iter(t.Context())
			require.False(t, it.Scan(nil, nil, nil))
			err := it.Close()
			require.ErrorIs(t, err, m.want)
			var f *vecql.RequestFailure
			require.ErrorAs(t, err, &f)
			require.Equal(t, 1, f.Attempts)
		}
	})
}
