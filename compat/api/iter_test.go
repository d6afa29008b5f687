// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

func TestIterHasTheResultOfThePage(t *testing.T) {
	m := openModule(t)
	for id := range 3 {
		m.exec(t, insertItem, id, "lamp")
	}
	m.exec(t, "SELECT id, name FROM items")
	m.cluster.Inject(cqltest.Fault{
		Statement: "SELECT", Warnings: []string{"slow"}, Payload: map[string][]byte{"key": {1}},
	})
	it := m.iter(m.query("SELECT id, name FROM items").PageSize(2).Prefetch(0), nil)
	require.Equal(t, []string{"id", "name"}, it.Columns())
	require.Same(t, &it.Columns()[0], &it.Columns()[0], "the columns are converted once")
	require.Equal(t, 2, it.NumRows())
	require.NotEmpty(t, it.PageState())
	require.Equal(t, []string{"slow"}, it.Warnings())
	require.Equal(t, map[string][]byte{"key": {1}}, it.GetCustomPayload())
	require.NotEmpty(t, it.Host().HostID())
	data, err := it.RowData()
	require.NoError(t, err)
	require.Equal(t, RowData{Columns: []string{"id", "name"}, Values: []any{new(int), new(string)}}, data)
	of, rows := ResultOf(it)
	require.NotNil(t, of)
	require.NotNil(t, rows)
	var id int
	var name string
	require.False(t, it.WillSwitchPage())
	require.True(t, it.Scan(&id, &name))
	require.False(t, it.WillSwitchPage())
	require.True(t, it.MapScan(map[string]any{}))
	require.True(t, it.WillSwitchPage())
	require.True(t, it.Scan(&id, nil))
	require.False(t, it.Scan(&id, &name))
	require.NoError(t, it.Close())

	all, err := m.iter(m.query("SELECT name FROM items"), nil).SliceMap()
	require.NoError(t, err)
	require.Equal(t, []map[string]any{{"name": "lamp"}, {"name": "lamp"}, {"name": "lamp"}}, all)
}

func TestIterWithoutAResultIsEmpty(t *testing.T) {
	var it Iter[host, string]
	SetError(&it, ErrNoHosts)
	require.False(t, it.Scan(new(int)) || it.MapScan(nil) || it.WillSwitchPage())
	require.Zero(t, it.NumRows())
	require.Nil(t, it.Columns())
	require.Nil(t, it.PageState())
	require.Nil(t, it.Warnings())
	require.Nil(t, it.GetCustomPayload())
	require.Nil(t, it.Host())
	of, rows := ResultOf(&it)
	require.Nil(t, of)
	require.Nil(t, rows)
	_, err := it.SliceMap()
	require.Equal(t, ErrNoHosts, err)
	_, err = it.RowData()
	require.Equal(t, ErrNoHosts, err)
	s := it.Scanner()
	require.False(t, s.Next())
	require.Equal(t, ErrNoHosts, s.Scan(new(int)))
	require.Equal(t, ErrNoHosts, s.Err())
	require.Equal(t, ErrNoHosts, it.Close())
}

// TestErrorsOfRowsAreThoseOfTheAPI, whichever method reads them.
func TestErrorsOfRowsAreThoseOfTheAPI(t *testing.T) {
	m := openModule(t)
	m.exec(t, insertItem, 1, "lamp")
	rows := func() *Iter[host, string] { return m.iter(m.query(selectName, 1), nil) }
	wrong := func(err error) {
		t.Helper()
		require.ErrorContains(t, err, "U vecql: ")
	}
	it := rows()
	require.False(t, it.Scan(new(bool)))
	wrong(it.Close())
	it = rows()
	require.False(t, it.MapScan(map[string]any{"name": new(bool)}))
	wrong(it.Close())
	s := rows().Scanner()
	require.True(t, s.Next())
	wrong(s.Scan(new(bool)))
	require.False(t, s.Next())
	require.NoError(t, s.Err(), "the rows have no error")
	it = rows()
	require.False(t, it.Scan())
	require.EqualError(t, it.Close(), "gocql: not enough columns to scan into: have 0 want 1")

	code := func(err error) {
		t.Helper()
		var server RequestError
		require.ErrorAs(t, err, &server)
		require.Equal(t, int(cqltest.CodeInvalid), server.Code())
	}
	m.cluster.Inject(cqltest.Fault{Statement: "SELECT", Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
	code(rows().Close())
	code(rows().Scanner().Err())
	all, err := rows().SliceMap()
	code(err)
	require.Empty(t, all)
	_, err = rows().RowData()
	code(err)
	code(m.query(selectName, 1).Scan(new(string)))
	code(m.query(selectName, 1).MapScan(map[string]any{}))

	whole := false // the error as vecql has it, with what is known of the request
	m.core.Failure = func(err error, _ bool) error {
		var failure *vecql.RequestFailure
		whole = errors.As(err, &failure)
		return err
	}
	require.Error(t, rows().Close())
	require.True(t, whole)
	it = rows()
	SetError(it, ErrUnknownRetryType)
	require.Equal(t, ErrUnknownRetryType, it.Close(), "in place of that of the result")
}

// TestSchemaDisagreementIsNoError: the change of the schema has succeeded.
func TestSchemaDisagreementIsNoError(t *testing.T) {
	r := &Results[host, string]{Failure: func(err error, idempotent bool) error {
		require.True(t, idempotent)
		return errors.New("plain: " + err.Error())
	}}
	own := errors.New("of the retry policy")
	require.NoError(t, r.outcome(nil, own, true))
	require.NoError(t, r.outcome(vecql.ErrSchemaAgreement, nil, true))
	require.Equal(t, own, r.outcome(vecql.ErrNotFound, own, true))
	require.EqualError(t, r.outcome(errors.New("x"), nil, true), "plain: x")
}

// TestValuesOfAModuleAreBoundByItsFunction, values of queries, of batches and of functions that bind values.
func TestValuesOfAModuleAreBoundByItsFunction(t *testing.T) {
	m := openModule(t)
	m.core.Values = func(values []any) []any {
		upper := append([]any{}, values...)
		for i, v := range upper {
			if text, ok := v.(string); ok {
				upper[i] = strings.ToUpper(text)
			}
		}
		return upper
	}
	bind := func(*QueryInfo[string]) ([]any, error) { return []any{3, "c"}, nil }
	m.exec(t, insertItem, 1, "a")
	require.NoError(t, m.execBatch(m.batch(entry(insertItem, 2, "b")), nil).Close())
	require.NoError(t, Exec(&m.bound(insertItem, bind).v1Query, nil))
	for id, want := range map[int]string{1: "A", 2: "B", 3: "C"} {
		var name string
		require.NoError(t, m.query(selectName, id).Scan(&name))
		require.Equal(t, want, name)
	}
}

func TestDestinationsOfAScannerAreThoseOfTheModule(t *testing.T) {
	m := openModule(t)
	m.exec(t, "INSERT INTO items (id, pair) VALUES (1, (7, 'seven'))")
	var pair [2]any
	n, text := 0, ""
	s := NewScanner(m.iter(m.query("SELECT pair FROM items"), nil), func(dest []any) []any {
		require.Equal(t, []any{&pair}, dest)
		return []any{&n, &text}
	})
	require.True(t, s.Next())
	require.NoError(t, s.Scan(&pair))
	require.Equal(t, 7, n)
	require.Equal(t, "seven", text)
	require.NoError(t, s.Err())
	require.Equal(t, "pair[1]", TupleColumnName("pair", 1))
}

// TestConditionalStatements: whether it was applied, and the current values.
func TestConditionalStatements(t *testing.T) {
	m := openModule(t)
	const insert, update = insertItem + " IF NOT EXISTS", "UPDATE items SET name = ? WHERE id = ? IF name = ?"
	var id int
	var name string
	m1 := map[string]any{}
	applied, err := m.query(insert, 1, "lamp").MapScanCAS(m1)
	require.NoError(t, err)
	require.True(t, applied)
	require.Empty(t, m1)
	applied, err = m.query(insert, 1, "desk").MapScanCAS(m1)
	require.NoError(t, err)
	require.False(t, applied)
	require.Equal(t, "lamp", m1["name"])
	require.NotContains(t, m1, "[applied]")
	applied, err = m.query(update, "bed", 1, "desk").ScanCAS(&name)
	require.NoError(t, err)
	require.False(t, applied)
	require.Equal(t, "lamp", name)
	applied, err = m.query(update, "bed", 1, "lamp").ScanCAS(&name)
	require.NoError(t, err)
	require.True(t, applied)
	_, err = m.query("UPDATE items SET name = 'x' WHERE id = 1").ScanCAS()
	require.Equal(t, ErrNotFound, err)
	require.NoError(t, m.query(selectName, 1).MapScan(m1))
	require.Equal(t, "x", m1["name"])
	require.Equal(t, ErrNotFound, m.query(selectName, 2).MapScan(m1))

	conditional := func(stmt string, args ...any) *Iter[host, string] {
		b := m.batch(entry(stmt, args...))
		b.content.Cons = level(cql.One)
		return m.execBatch(b, nil)
	}
	ok, it, err := ExecCAS(conditional(update, "bed", 1, "lamp"), []any{&id, &name})
	require.NoError(t, err)
	require.False(t, ok)
	require.Equal(t, "x", name)
	require.Equal(t, 1, id)
	require.NoError(t, it.Close())
	ok, it, err = MapExecCAS(conditional(update, "bed", 1, "x"), m1)
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, it.Close())
	ok, it, err = MapExecCAS(conditional(insertItem, 1, "x"), m1)
	require.Equal(t, ErrNotFound, err)
	require.False(t, ok)
	require.Nil(t, it)
}
