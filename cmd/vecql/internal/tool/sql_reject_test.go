// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Records that are not rows, in verbs that only read.

// TestReadRejected leaves out bad records of statements and of descriptions, up to a number or a share.
func TestReadRejected(t *testing.T) {
	x := newTester(t, shop)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("x.csv", []byte("id,name\n1,a\n2,b, c\n3\n4,d\n\"5\"x,e\n"), 0o600))
	sql := []string{"sql", "SELECT count(*) AS n, sum(id) AS ids FROM 'x.csv'", "-o", "csv"}
	wrong := "x.csv, line 3: the record has 3 fields, the header 2"
	for _, args := range [][]string{sql, {"describe", "x.csv"}, {"agg", "x.csv"}} {
		x.requireFailureContains(wrong, args...)
		x.requireFailureContains("--max-errors leaves out such records, --rejected keeps them", args...)
		code, _, lines := x.run(append(args, "--max-errors", "2")...)
		require.Equal(t, exitFailed, code, lines)
		require.Contains(t, lines, "3 records were rejected, the last one: x.csv, line 6", args)
	}
	for _, more := range []string{"3", "60%"} { // 3 of 5 records
		code, out, lines := x.run(append(sql, "--max-errors", more)...)
		require.Equal(t, exitRejected, code)
		require.Equal(t, "n,ids\n2,5\n", out)
		require.Regexp(t, "^rejected: "+wrong+".*\nrejected: x.csv, line 4: .*\nrejected: x.csv, line 6: .*\n"+
			"vecql sql: 3 records were rejected; --rejected keeps them in a file\n$", lines)
	}
	_, _, lines := x.run(append(sql, "--max-errors", "59%")...) // tested at the end
	require.Contains(t, lines, "3 of 5 records were rejected, more than 59%")

	x.note = "rejected: 3 records, in bad.jsonl\n"
	bad := []string{"--max-errors", "100%", "--rejected", "bad.jsonl"}
	require.Equal(t, "n,ids\n2,5\n", x.requireRun(append(sql, bad...)...))
	require.Equal(t, "line,record\n3,\"2,b, c\"\n4,3\n6,\"\"\"5\"\"x,e\"\n",
		x.requireRun("sql", "SELECT line, record FROM 'bad.jsonl'", "-o", "csv"))
	require.Equal(t, "column_name,column_type,null\nid,int64,YES\nname,string,YES\n",
		x.requireRun(append([]string{"sql", "DESCRIBE 'x.csv'", "-o", "csv"}, bad...)...))
	require.Contains(t, x.requireRun(append([]string{"describe", "x.csv"}, bad...)...), "    id bigint,\n    name text,\n")
	require.Equal(t, "loaded 2 rows from 1 file, 3 rejected\n",
		x.requireRun(append([]string{"load", "shop.made", "x.csv", "--create", "--primary-key", "id"}, bad...)...))

	x.requireFailureContains("--rejected is x.csv, which is read", append(sql, "--max-errors", "3", "--rejected", "x.csv")...)
	x.requireFailureContains(`--max-errors is "few", want a number or a percentage`, append(sql, "--max-errors", "few")...)
	require.NoError(t, os.WriteFile("none.csv", []byte("id,name\n1\n"), 0o600))
	code, _, lines := x.run("sql", "SELECT id FROM 'none.csv'", "--max-errors", "1", "--rejected", "bad.jsonl")
	require.Equal(t, exitFailed, code)
	require.Contains(t, lines, "none of 1 record is a row")
}

// TestVerifyMessyFiles compares a file whose fields have other names, and that has a record which is not a row.
func TestVerifyMessyFiles(t *testing.T) {
	x := newTester(t, shop)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("x.csv", []byte("nr,title,cost\n1,chair,49.5\n2\n2,table,\n"), 0o600))
	fields := []string{"--map", "id=nr", "--map", "name=title", "--map", "price=cost", "--map", "tags=", "--map", "v="}
	verify := append([]string{"verify", "x.csv", "shop.items"}, fields...)
	x.requireFailureContains("line 3: the record has 1 fields, the header 3; --max-errors leaves out such records", verify...)
	x.requireFailureContains(`there is no column "id"; there are: nr, title, cost; --no-header if the first line is a row; --map COLUMN=FIELD takes another field, --columns names`, verify[:3]...)
	x.requireFailureContains(`there is no column "id"; there are: nr, title, cost; --no-header if the first line is a row; --map COLUMN=FIELD takes another field, --allow-missing takes NULL`,
		"load", "shop.items", "x.csv")
	x.requireFailureContains("x.csv is a file, want a table as the target: files come first", "verify", "shop.items", "x.csv")
	code, out, lines := x.run(append(verify, "--max-errors", "1")...)
	require.Equal(t, exitRejected, code)
	require.Equal(t, "2 rows are equal.\n", out)
	require.Contains(t, lines, "rejected: x.csv, line 3: the record has 1 fields")
	x.note = "rejected: 1 record, in bad.jsonl\n"
	bad := []string{"--max-errors", "40%", "--rejected", "bad.jsonl"}
	require.Equal(t, "2 rows are equal.\n", x.requireRun(append(verify, bad...)...))
	require.NoError(t, x.Exec("UPDATE shop.items SET name = 'desk' WHERE id = 2"))
	code, out, _ = x.run(append(verify, bad...)...)
	require.Equal(t, exitFailed, code)
	require.Contains(t, out, `id=2: name: "table" in the source, "desk" in the target`)
	require.Equal(t, "2 rows are equal.\n", x.requireRun(append(append(verify, bad...), "--map", "name=")...))
	code, _, lines = x.run(append(verify, "--map", "price=7")...)
	require.Equal(t, exitUsage, code)
	require.Contains(t, lines, "--map price=7: want the name of a field")
}

// TestReadRejectedShare counts the records of the sample and of the rows once each.
func TestReadRejectedShare(t *testing.T) {
	x := &tester{t: t, ctx: t.Context()}
	t.Chdir(t.TempDir())
	var b strings.Builder
	b.WriteString("id,name\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "%d,a\n", i)
		if i%100 == 99 {
			b.WriteString("x\n")
		}
	}
	require.NoError(t, os.WriteFile("x.csv", []byte(b.String()), 0o600))
	sql := []string{"sql", "SELECT count(*) AS n FROM 'x.csv'", "-o", "csv", "--rejected", "bad.jsonl", "--max-errors"}
	x.note = "rejected: 30 records, in bad.jsonl\n"
	require.Equal(t, "n\n3000\n", x.requireRun(append(sql, "1%")...)) // of 3030
	code, _, lines := x.run(append(sql, "0.9%")...)
	require.Equal(t, exitFailed, code)
	require.Contains(t, lines, "--max-errors allows such records")
}

// TestSpellingsOfNull has empty texts and texts in quotes that are NULL only with a flag.
func TestSpellingsOfNull(t *testing.T) {
	x := newTester(t, shop)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("x.csv", []byte("id,price\n10,N/A\n11,\n12,-\n13,\"\"\n14,\"N/A\"\n"), 0o600))
	load := []string{"load", "shop.items", "x.csv", "--allow-missing"}
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--null", "N/A"}, `line 3, column price: "" is not a value of type float64: --null '' makes the empty text NULL`},
		{[]string{"--null", "N/A,-", "--null", ""}, `line 5, column price: "" is not a value of type float64: a field in quotes is not NULL, unless --quoted-nulls is set`},
		{[]string{"--null", ",N/A"}, `line 4, column price: "-" is not a value`},
	} {
		x.requireFailureContains(c.want, append(load, c.flags...)...)
	}
	require.Equal(t, "loaded 5 rows from 1 file, 0 rejected\n", x.requireRun(append(load, "--null", ",N/A", "--null", "-", "--quoted-nulls")...))
	require.Equal(t, "n\n0\n", x.requireRun("sql", "SELECT count(price) AS n FROM shop.items WHERE id >= 10", "-o", "csv"))
	require.Contains(t, x.requireRun("describe", "x.csv", "--null", ",N/A,-", "--quoted-nulls"), "price text")
}

// TestSeveralLayoutsOfDates loads dates in several layouts, and writes the first one.
func TestSeveralLayoutsOfDates(t *testing.T) {
	x := newTester(t, shop, "CREATE TABLE shop.days (id int PRIMARY KEY, day date, at timestamp)")
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("x.csv", []byte("id,day,at\n1,05.07.2026,05.07.2026 12:30\n2,2026-07-06,2026-07-06T12:30:00+02:00\n"), 0o600))
	layouts := []string{"--date-format", "02.01.2006", "--date-format", "iso", "--timestamp-format", "ISO", "--timestamp-format", "02.01.2006 15:04"}
	x.requireFailureContains(`line 2, column at: "05.07.2026 12:30" is not a value of type timestamp`, "load", "shop.days", "x.csv")
	require.Contains(t, x.requireRun(append([]string{"describe", "x.csv"}, layouts...)...), "    day date,\n    at timestamp,\n")
	x.requireRun(append([]string{"load", "shop.days", "x.csv", "--summary", "json"}, layouts...)...)
	x.requireRun(append([]string{"unload", "shop.days", "y.csv", "--summary", "json"}, layouts...)...)
	require.Equal(t, "id,day,at\n1,05.07.2026,2026-07-05T12:30:00Z\n2,06.07.2026,2026-07-06T10:30:00Z\n",
		x.requireRun("sql", "SELECT id, day, at FROM 'y.csv' ORDER BY id", "-o", "csv", "--type", "day=text", "--type", "at=text"))
}

// TestKeysOfOtherNames creates tables whose keys are names that need quotes in CQL.
func TestKeysOfOtherNames(t *testing.T) {
	x := newTester(t, shop)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("x.csv", []byte("Nr.,order,Größe (cm)\n1,2,3\n"), 0o600))
	for key, want := range map[string]string{
		"Nr.": `("Nr.")`, `"Nr."`: `("Nr.")`, "order": `("order")`, "Größe (cm)": `("Größe (cm)")`,
		"(Nr., order), \"Größe (cm)\"": `(("Nr.", "order"), "Größe (cm)")`,
	} {
		require.Contains(t, x.requireRun("describe", "x.csv", "--primary-key", key), "PRIMARY KEY "+want+"\n")
		require.NoError(t, x.Exec("DROP TABLE IF EXISTS shop.made"))
		x.requireRun("load", "shop.made", "x.csv", "--create", "--primary-key", key, "--summary", "json")
	}
	x.requireRun("load", "shop.items", "x.csv", "--map", "id=Nr.", "--map", "price=Größe (cm)", "--map", "name=order", "--allow-missing", "--summary", "json")
	require.Equal(t, "name,price\n2,3\n", x.requireRun("query", "SELECT name, price FROM shop.items WHERE id = 1", "-o", "csv"))
}

// TestAggregatesOfDecimals names the cast that makes a decimal of CQL one of a scale.
func TestAggregatesOfDecimals(t *testing.T) {
	x := newTester(t, shop, "CREATE TABLE shop.prices (id int PRIMARY KEY, price decimal)", "INSERT INTO shop.prices (id, price) VALUES (1, 1.5)")
	_, _, lines := x.run("sql", "SELECT avg(price) AS mean FROM shop.prices")
	require.Contains(t, lines, "a decimal of CQL has any scale: cast(x as decimal(38, 2)) has one")
	require.Equal(t, "mean\n1.5\n", x.requireRun("sql", "SELECT avg(cast(price as decimal(38, 2))) AS mean FROM shop.prices", "-o", "csv"))
}
