// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"encoding/hex"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// Edges of rows, of values of queries, and of conversions.

// TestScanOfColumnsHasTheMeaningsOfTheDialect scans a row whose columns the driver decodes, NULL among them.
func TestScanOfColumnsHasTheMeaningsOfTheDialect(t *testing.T) {
	s := newSession(t, wideSchema)
	insertWide(t, s, V1)
	for _, d := range []*Dialect{V1, V2, Fork} {
		text, n, at, addr := "old", int64(7), []byte("old"), "old"
		require.True(t, query(t, s, d, `SELECT s, n, b, addr FROM ks.t WHERE id = 1`).Scan(&text, &n, &at, &addr))
		require.Equal(t, []any{"", int64(0), []byte(nil), ""}, []any{text, n, at, addr})
		var u uint64
		require.True(t, query(t, s, d, `SELECT n FROM ks.t WHERE id = 2`).Scan(&u), "a bigint of all 64 bits")
		require.Equal(t, uint64(1<<63+1), u)
	}
}

// TestTupleOfOneElement scans a tuple that has as many elements as the row has columns.
func TestTupleOfOneElement(t *testing.T) {
	s := newSession(t, `CREATE TABLE ks.one (id int PRIMARY KEY, t frozen<tuple<int>>); INSERT INTO ks.one (id, t) VALUES (1, (5))`)
	n := 0
	rows := query(t, s, V1, `SELECT t FROM ks.one`)
	require.True(t, rows.Scan(&n))
	require.NoError(t, rows.Close())
	require.Equal(t, 5, n)
}

func TestSliceMapHasAllRows(t *testing.T) {
	s := newSession(t, `CREATE TABLE ks.many (id int, n int, PRIMARY KEY (id, n))`)
	for n := range 3 {
		require.NoError(t, query(t, s, V1, `INSERT INTO ks.many (id, n) VALUES (1, ?)`, n).Close())
	}
	maps, err := query(t, s, V1, `SELECT n FROM ks.many WHERE id = 1`).SliceMap()
	require.NoError(t, err)
	require.Equal(t, []map[string]any{{"n": 0}, {"n": 1}, {"n": 2}}, maps)
}

// TestBlobsInMaps has a blob without bytes and NULL, in a new variable and in the program's.
func TestBlobsInMaps(t *testing.T) {
	s := newSession(t, wideSchema)
	require.NoError(t, s.Query(`INSERT INTO ks.t (id, b, s) VALUES (1, 0x, '')`).Exec(t.Context()))
	require.NoError(t, s.Query(`INSERT INTO ks.t (id) VALUES (2)`).Exec(t.Context()))
	for _, c := range []struct {
		d           *Dialect
		empty, null []byte
		elements    []int // NULL
	}{
		{V1, []byte{}, []byte{}, []int{}},
		{V2, []byte{}, nil, nil},
		{Fork, []byte{}, nil, nil},
	} {
		for id, want := range map[int][]byte{1: c.empty, 2: c.null} {
			m := map[string]any{}
			require.True(t, query(t, s, c.d, `SELECT b, l FROM ks.t WHERE id = ?`, id).MapScan(m))
			require.Equal(t, map[string]any{"b": want, "l": c.elements}, m)
			mine := []byte("old")
			m = map[string]any{"b": &mine}
			require.True(t, query(t, s, c.d, `SELECT b FROM ks.t WHERE id = ?`, id).MapScan(m))
			require.Empty(t, mine)
		}
	}
}

// TestBlobOfTheProgramInAMapStaysNil: it is no new variable.
func TestBlobOfTheProgramInAMapStaysNil(t *testing.T) {
	s := newSession(t, wideSchema)
	require.NoError(t, s.Query(`INSERT INTO ks.t (id, b) VALUES (1, 0x)`).Exec(t.Context()))
	var mine []byte
	m := map[string]any{"b": &mine}
	require.True(t, query(t, s, V2, `SELECT b FROM ks.t WHERE id = 1`).MapScan(m))
	require.Nil(t, mine)
	require.Equal(t, map[string]any{"b": []byte(nil)}, m)
}

// TestErrorOfADestinationEndsTheRows, whichever method reads them. A Scanner goes on.
func TestErrorOfADestinationEndsTheRows(t *testing.T) {
	s := newSession(t, `CREATE TABLE ks.many (id int, n int, PRIMARY KEY (id, n))`)
	for n := range 3 {
		require.NoError(t, query(t, s, V1, `INSERT INTO ks.many (id, n) VALUES (1, ?)`, n).Close())
	}
	n, wrong := 0, false
	rows := query(t, s, V1, `SELECT n FROM ks.many`)
	require.False(t, rows.Scan(&n, &n))
	require.False(t, rows.Scan(&n))
	require.EqualError(t, rows.Close(), "gocql: not enough columns to scan into: have 2 want 1")
	rows = query(t, s, V1, `SELECT n FROM ks.many`)
	require.False(t, rows.MapScan(map[string]any{"n": &wrong}))
	require.False(t, rows.MapScan(map[string]any{}))
	var e *cql.UnmarshalError
	_, err := rows.RowData()
	require.ErrorAs(t, err, &e)
	require.ErrorAs(t, rows.Close(), &e)

	scanner := query(t, s, V1, `SELECT n FROM ks.many`).Scanner()
	require.True(t, scanner.Next())
	require.ErrorAs(t, scanner.Scan(&wrong), &e)
	require.True(t, scanner.Next())
	require.NoError(t, scanner.Scan(&n))
	require.ErrorContains(t, scanner.Scan(&n), "call Next first", "once for each row")
	require.NoError(t, scanner.Err())
}

func TestErrorOfARequestIsThatOfItsRows(t *testing.T) {
	s := newSession(t, wideSchema)
	rows := func() *Rows { return query(t, s, V1, `SELECT nothing FROM ks.t`) }
	require.False(t, rows().Scan(new(int)))
	require.False(t, rows().Scan())
	require.False(t, rows().MapScan(map[string]any{}))
	require.False(t, rows().Scanner().Next())
	_, rowData := rows().RowData()
	all, sliceMap := rows().SliceMap()
	require.Nil(t, all)
	for _, err := range []error{rows().Close(), rows().Scanner().Err(), rowData, sliceMap} {
		require.IsType(t, &cql.ServerError{}, err)
	}
	done := query(t, s, V1, `INSERT INTO ks.t (id) VALUES (1)`)
	require.False(t, done.Scan())
	require.False(t, done.MapScan(map[string]any{}))
	require.NoError(t, done.Close())
}

func TestRowDataOfATypeWithoutGoTypeIsAnInterface(t *testing.T) {
	s := newSession(t, `CREATE TABLE ks.odd (id int PRIMARY KEY, m map<frozen<list<int>>, int>)`)
	data, err := query(t, s, V1, `SELECT id, m FROM ks.odd`).RowData()
	require.NoError(t, err)
	require.Equal(t, RowData{Columns: []string{"id", "m"}, Values: []any{new(int), new(any)}}, data)
}

// TestAppliedStatementHasNoOtherColumns: the destinations of ScanCAS are not used.
func TestAppliedStatementHasNoOtherColumns(t *testing.T) {
	s := newSession(t, wideSchema)
	i := 7
	applied, err := query(t, s, V1, `INSERT INTO ks.t (id, i) VALUES (1, 5) IF NOT EXISTS`).ScanCAS(&i)
	require.NoError(t, err)
	require.True(t, applied)
	require.Equal(t, 7, i)
}

func TestErrorOfScanCASIsReturned(t *testing.T) {
	s := newSession(t, wideSchema)
	require.NoError(t, query(t, s, V1, `INSERT INTO ks.t (id, i) VALUES (1, 5)`).Close())
	var wrong float32
	_, err := query(t, s, V1, `UPDATE ks.t SET i = 6 WHERE id = 1 IF i = 4`).ScanCAS(&wrong)
	var e *cql.UnmarshalError
	require.ErrorAs(t, err, &e)
	_, err = query(t, s, V1, `UPDATE ks.t SET i = 6 WHERE id = 1 IF i = 4`).MapScanCAS(map[string]any{"i": &wrong})
	require.ErrorAs(t, err, &e)
}

func TestScannerHasNoRowAfterErr(t *testing.T) {
	s := newSession(t, wideSchema)
	require.NoError(t, query(t, s, V1, `INSERT INTO ks.t (id, i) VALUES (1, 5)`).Close())
	scanner := query(t, s, V1, `SELECT i FROM ks.t`).Scanner()
	require.True(t, scanner.Next())
	require.NoError(t, scanner.Err())
	require.ErrorContains(t, scanner.Scan(new(int)), "call Next first")
}

// TestValuesOfAQuery binds the values that a query holds, the values of a copy of the query, and none.
func TestValuesOfAQuery(t *testing.T) {
	s := newSession(t, wideSchema)
	insert := func(bound []any) {
		t.Helper()
		require.NoError(t, s.Query(`INSERT INTO ks.t (id, n) VALUES (?, ?)`, bound...).Exec(t.Context()))
	}
	read := func(id int) (n int64) {
		t.Helper()
		require.NoError(t, s.Query(`SELECT n FROM ks.t WHERE id = ?`, id).Scan(t.Context(), &n))
		return n
	}
	var v Values
	require.Nil(t, v.Bind())
	v.Init(V1, []any{1, uint64(1<<63 + 1)}) // which the driver refuses
	require.Equal(t, []any{1, uint64(1<<63 + 1)}, v.Get())
	insert(v.Bind())
	require.EqualValues(t, -1<<63+1, read(1))

	shared := v // as a program copies a query
	shared.Set([]any{2, uint64(1<<63 + 2)})
	insert(shared.Bind())
	insert(v.Bind())
	require.EqualValues(t, -1<<63+2, read(2))
	own := v
	own.Own()
	own.Set([]any{3, int64(3)})
	insert(own.Bind())
	require.EqualValues(t, 3, read(3))
	require.Equal(t, []any{1, uint64(1<<63 + 1)}, v.Get())
	v.Set(nil)
	require.Nil(t, v.Bind())
}

// TestFailedDecodingLeavesSlices requires that a slice is unchanged when an element cannot be decoded.
func TestFailedDecodingLeavesSlices(t *testing.T) {
	list := []uint8{7} // a slice that the dialect decodes, since -1 is 255 in it
	cell := "\x00\x00\x00\x02" + "\x00\x00\x00\x04\x00\x00\x00\x01" + "\x00\x00\x00\x04\x00\x00\x01\x00"
	require.ErrorContains(t, V1.Unmarshal(typeOf(t, "list<int>"), []byte(cell), &list), "element 1")
	require.Equal(t, []uint8{7}, list)
	require.ErrorContains(t, V1.Unmarshal(typeOf(t, "vector<int, 2>"), []byte("\x00\x00\x00\x01\x00\x00\x01\x00"), &list), "element 1")
	require.Equal(t, []uint8{7}, list)
}

// TestFieldsThatCannotBeSetAreErrors: fields without a capital, and fields of a nil pointer.
func TestFieldsThatCannotBeSetAreErrors(t *testing.T) {
	type Inner struct{ Name string }
	udt := cql.UDTTypeInfo{Elements: []cql.UDTField{{Name: "Name", Type: cql.NativeType(cql.TypeVarchar)}}}
	cell := []byte("\x00\x00\x00\x01a")
	with := struct{ *Inner }{&Inner{}}
	require.NoError(t, V1.Unmarshal(udt, cell, &with))
	require.Equal(t, "a", with.Name)
	err := V1.Unmarshal(udt, cell, &struct{ *Inner }{})
	require.ErrorIs(t, err, cql.ErrConversion)
	require.ErrorContains(t, err, "nil pointer")
	err = V1.Unmarshal(person, cell, &struct{ name string }{})
	require.ErrorIs(t, err, cql.ErrConversion)
	require.ErrorContains(t, err, "unexported")
	check(t, udt, struct{ *Inner }{}, "ffffffff")
	check(t, udt, with, "0000000161")
}

func TestTypesWithoutGoType(t *testing.T) {
	for _, text := range []string{
		"map<frozen<list<int>>, int>", "list<frozen<map<frozen<list<int>>, int>>>", "map<text, frozen<map<frozen<list<int>>, int>>>",
		"vector<frozen<map<frozen<list<int>>, int>>, 2>", "map<frozen<map<frozen<list<int>>, int>>, int>",
		"map<frozen<vector<float, 2>>, int>",
	} {
		require.Nil(t, V2.GoType(typeOf(t, text)), text)
		require.Nil(t, V2.Zero(typeOf(t, text)), text)
	}
}

// TestDurationsOfTheFork are nanoseconds of days of 24 hours, which may be a day more than the days say.
func TestDurationsOfTheFork(t *testing.T) {
	info := typeOf(t, "duration")
	for _, row := range []struct {
		value cql.Duration
		want  any // nil means an error
	}{
		{cql.Duration{Days: 1, Nanoseconds: int64(24 * time.Hour)}, 48 * time.Hour},
		{cql.Duration{Days: 1, Nanoseconds: int64(48*time.Hour) - 1}, 72*time.Hour - 1},
		{cql.Duration{Days: 1, Nanoseconds: int64(48 * time.Hour)}, nil},
		{cql.Duration{Nanoseconds: int64(48 * time.Hour)}, 48 * time.Hour},
		{cql.Duration{Days: 106751}, 106751 * 24 * time.Hour},
		{cql.Duration{Days: 106752}, nil},
		{cql.Duration{Months: 1}, nil},
	} {
		cell, err := Fork.Marshal(info, row.value)
		require.NoError(t, err)
		unmarshals(t, Fork, info, hex.EncodeToString(cell), time.Duration(1), row.want)
	}
}

// TestDecimalsOfTheFork has scales of each digit.
func TestDecimalsOfTheFork(t *testing.T) {
	for text, want := range map[string]string{
		"9;-1": "00000009ff", "19;1": "0000001301", "-8;256": "fffffff80100", "2147483647;0": "7fffffff00",
	} {
		got, err := Fork.Marshal(typeOf(t, "decimal"), text)
		require.NoError(t, err)
		require.Equal(t, want, hex.EncodeToString(got))
	}
	for _, text := range []string{"a;1", "1;", ";1", "1;x", "2147483648;1", "1;1;1"} {
		_, err := Fork.Marshal(typeOf(t, "decimal"), text)
		require.ErrorIs(t, err, cql.ErrConversion, text)
	}
	for _, info := range []string{"decimal", "inet"} {
		unmarshals(t, Fork, typeOf(t, info), "", "x", map[string]string{"decimal": "0;0", "inet": "0.0.0.0"}[info])
	}
	unmarshals(t, Fork, typeOf(t, "inet"), "", [16]byte{1}, [16]byte{})
	unmarshals(t, Fork, typeOf(t, "inet"), "01020304", [4]byte{9, 9, 9, 9}, [4]byte{1, 2, 3, 4})
}

func TestAttributesOfALogger(t *testing.T) {
	var line string
	log := Logger(slog.LevelInfo, func(_ slog.Level, message string, attrs []slog.Attr) { line = LogText(message, attrs) })
	log.With("a", 1, "b", 2, "c", 3).Info("m", "d", 4)
	require.Equal(t, "m a=1 b=2 c=3 d=4", line)
	require.False(t, log.Enabled(t.Context(), slog.LevelDebug))
}
