// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/flight"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
)

// Typed statements.

const insertThree = "INSERT INTO ks.t (id, name, v) VALUES (?, ?, ?)"

// recordExecutes responds to every EXECUTE with VOID. The function it returns returns the cells of the last EXECUTE.
func recordExecutes(c *fakecql.Cluster) func() [][]byte {
	var mu sync.Mutex
	var last [][]byte
	c.On(func(r *fakecql.Request) bool {
		if r.Op != fakecql.OpExecute {
			return false
		}
		in := wire.NewReader(r.Body)
		in.ShortBytes()
		if c.Version >= frame.V5 {
			in.ShortBytes()
		}
		in.Short()
		if c.Version >= frame.V5 {
			in.Int()
		} else {
			in.Byte()
		}
		mu.Lock()
		defer mu.Unlock()
		last = nil
		for range in.Short() {
			cell := in.Ahead()
			if v, null := in.Value(); !null {
				cell = v
			} else {
				cell = cell[:4] // NULL or unset
			}
			last = append(last, append([]byte{}, cell...))
		}
		r.Void()
		return true
	})
	return func() [][]byte {
		mu.Lock()
		defer mu.Unlock()
		return last
	}
}

func TestStatement(t *testing.T) {
	for _, v := range []byte{frame.V4, frame.V5} {
		t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) { testStatement(t, v) })
	}
}

func testStatement(t *testing.T, v byte) {
	c := newFakeCluster(t, v, 1)
	columns := threeColumns(c)
	c.Prepare(insertThree, fakecql.Prepared{Bind: columns, PK: []int{0}})
	cells := recordExecutes(c)
	s := sessionOn(c)
	ctx := context.Background()
	null, unset := wire.AppendInt(nil, wire.Null), wire.AppendInt(nil, wire.Unset)

	type base struct {
		Key int32 `cql:"id"`
	}
	type row struct {
		base          // fields of embedded structs are promoted
		Label *string `cql:"name"`
		V     [3]float32
	}
	embedded, err := Prepare[row](ctx, s.Query(insertThree).Consistency(cql.One))
	require.NoError(t, err)
	require.NoError(t, embedded.Exec(ctx, &row{base: base{7}}))
	require.Equal(t, [][]byte{{0, 0, 0, 0, 0, 0, 0, 7}, null, make([]byte, 12)}, cells())

	type item struct {
		ID    int32
		Label *string `cql:"name"`
		V     [3]float32
		Other string
	}
	insert, err := Prepare[item](ctx, s.Query(insertThree).Consistency(cql.One))
	require.NoError(t, err)
	label := "one"
	require.NoError(t, insert.Exec(ctx, &item{ID: 7, Label: &label, V: [3]float32{1, 2, 3}}))
	want := [][]byte{{0, 0, 0, 0, 0, 0, 0, 7}, []byte("one"), fakecql.Cell("vector<float, 3>", []float32{1, 2, 3})}
	require.Equal(t, want, cells())
	require.NoError(t, insert.Exec(ctx, &item{ID: 7}))
	require.Equal(t, null, cells()[1])
	require.NoError(t, insert.Query(&item{ID: 7, Label: &label, V: [3]float32{1, 2, 3}}).Consistency(cql.Quorum).Exec(t.Context()))
	require.Equal(t, want, cells())
	require.ErrorIs(t, insert.Exec(ctx, nil), cql.ErrNull)

	type loose struct{ ID, Name, V any }
	any3, err := Prepare[loose](ctx, s.Query(insertThree))
	require.NoError(t, err)
	require.NoError(t, any3.Exec(ctx, &loose{ID: 7, Name: cql.UnsetValue}))
	require.Equal(t, [][]byte{{0, 0, 0, 0, 0, 0, 0, 7}, unset, null}, cells())
	var bad *cql.MarshalError
	require.ErrorAs(t, any3.Exec(ctx, &loose{ID: "x"}), &bad)
	require.Equal(t, "id", bad.Column)

	type sliced struct {
		ID   int
		Name string
		V    []float32
	}
	sl, err := Prepare[sliced](ctx, s.Query(insertThree))
	require.NoError(t, err)
	err = sl.Exec(ctx, &sliced{V: []float32{1}})
	require.ErrorIs(t, err, cql.ErrDimension)
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "v", bad.Column)
	require.False(t, MayHaveApplied(err))

	_, err = Prepare[struct{ ID, Name int }](ctx, s.Query(insertThree))
	require.ErrorIs(t, err, cql.ErrConversion)
	require.ErrorContains(t, err, `"v"`)
	_, err = Prepare[int](ctx, s.Query(insertThree))
	require.ErrorIs(t, err, ErrValueCount)
}

func TestStatementOfOneValue(t *testing.T) {
	c := newFakeCluster(t, frame.V5, 1)
	const stmt = "SELECT id, name, v FROM ks.t WHERE id = ?"
	columns := fakecql.Columns("id bigint", "name text", "v vector<float, 3>")
	c.Prepare(stmt, fakecql.Prepared{Bind: columns[:1], PK: []int{0}, Result: columns, ResultID: "m"})
	n := 1
	c.On(func(r *fakecql.Request) bool {
		if r.Op == fakecql.OpExecute {
			r.Rows(fakecql.Rows{Columns: columns, Cells: rowCells(5, n)})
		}
		return r.Op == fakecql.OpExecute
	})
	s := sessionOn(c)
	ctx := context.Background()
	get, err := Prepare[int64](ctx, s.Query(stmt))
	require.NoError(t, err)
	key, id, name := int64(5), int64(0), ""
	var v []float32
	require.NoError(t, get.Scan(ctx, &key, &id, &name, &v))
	require.Equal(t, "name 5", name)
	require.Equal(t, []float32{5, 1, 2}, v)
	rows := 0
	for r, err := range Rows[struct {
		ID   int64
		Name string
		V    []float32
	}](ctx, get.Query(&key)) {
		require.NoError(t, err)
		require.Equal(t, v, r.V)
		rows++
	}
	require.Equal(t, 1, rows)
	n = 0
	require.ErrorIs(t, get.Scan(ctx, &key, &id, &name, &v), ErrNotFound)
}

// TestStatementAfterAlter: the statement is prepared again with another type, and its fields are encoded as that type.
func TestStatementAfterAlter(t *testing.T) {
	c := newFakeCluster(t, frame.V5, 1)
	const stmt = "INSERT INTO ks.t (id) VALUES (?)"
	c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), ID: "old"})
	cells := recordExecutes(c)
	s := sessionOn(c)
	ctx := context.Background()
	insert, err := Prepare[struct{ ID int }](ctx, s.Query(stmt))
	require.NoError(t, err)
	require.NoError(t, insert.Exec(ctx, &struct{ ID int }{1}))
	require.Len(t, cells()[0], 8)
	c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id int"), ID: "new"})
	known, err := s.prepare(ctx, s.defaultPolicies, "", stmt)
	require.NoError(t, err)
	s.statements.Drop(flight.Key{Text: stmt}, known)
	require.NoError(t, insert.Exec(ctx, &struct{ ID int }{1}))
	require.Len(t, cells()[0], 4)
	c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("other text"), ID: "newer"})
	known, err = s.prepare(ctx, s.defaultPolicies, "", stmt)
	require.NoError(t, err)
	s.statements.Drop(flight.Key{Text: stmt}, known)
	require.ErrorIs(t, insert.Exec(ctx, &struct{ ID int }{1}), cql.ErrConversion)
}

func TestStatementConcurrent(t *testing.T) {
	c := newFakeCluster(t, frame.V5, 1)
	columns := threeColumns(c)
	c.Prepare(insertThree, fakecql.Prepared{Bind: columns, PK: []int{0}})
	var mu sync.Mutex
	seen := map[byte]int{}
	c.On(func(r *fakecql.Request) bool {
		if r.Op != fakecql.OpExecute {
			return false
		}
		at := bytes.Index(r.Body, []byte("name "))
		mu.Lock()
		seen[r.Body[at+5]]++
		mu.Unlock()
		r.Void()
		return true
	})
	s := sessionOn(c)
	type item struct {
		ID   int
		Name string
		V    []float32
	}
	insert, err := Prepare[item](context.Background(), s.Query(insertThree))
	require.NoError(t, err)
	var wg sync.WaitGroup
	for g := range byte(16) {
		wg.Go(func() {
			it := item{ID: int(g), Name: "name " + string(rune('a'+g)), V: make([]float32, 3)}
			for range 200 {
				if err := insert.Exec(context.Background(), &it); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.Len(t, seen, 16)
	for g, n := range seen {
		require.Equal(t, 200, n, "%c", g)
	}
}
