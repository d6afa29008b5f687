// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// Migrations on cqltest.

// folder writes files and returns their folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func TestRead(t *testing.T) {
	files, err := Read(folder(t, map[string]string{
		"010_prices.cql":    "ALTER TABLE shop.items ADD price double;",
		"9_first.up.cql":    "-- a comment\r\nCREATE TABLE shop.items (id int PRIMARY KEY);\r\n\r\nINSERT INTO shop.items (id) VALUES (1) ;",
		"9_first.down.cql":  "DROP TABLE shop.items;",
		"V20260705__x.cql":  "BEGIN BATCH INSERT INTO shop.items (id) VALUES (2); INSERT INTO shop.items (id) VALUES (3); APPLY BATCH;",
		"notes.txt":         "",
		"20260706.cql":      "SELECT id FROM shop.items;",
		"20260707 last.cql": "SELECT ';' FROM shop.items;",
	}))
	require.NoError(t, err)
	var got []string
	for _, f := range files {
		got = append(got, f.Name)
	}
	require.Equal(t, []string{"9_first.up.cql", "010_prices.cql", "V20260705__x.cql", "20260706.cql", "20260707 last.cql"}, got)
	require.Equal(t, []string{"CREATE TABLE shop.items (id int PRIMARY KEY)", "INSERT INTO shop.items (id) VALUES (1)"}, files[0].Statements)
	require.Len(t, files[2].Statements, 1)
	for want, files := range map[string]map[string]string{
		"has no file such as":             {"a.txt": ""},
		"the name begins with no version": {"items.cql": "SELECT 1;"},
		"have the version 1":              {"1_a.cql": "SELECT 1;", "01_b.cql": "SELECT 1;"},
		"the file may be cut off":         {"1_a.cql": "SELECT 1; SELECT 2"},
		"the file has no statement":       {"1_a.cql": "-- nothing\n"},
		"USE has no effect":               {"1_a.cql": "use shop;"},
		"more than 18 digits":             {"99999999999999999999_a.cql": "SELECT 1;"},
	} {
		_, err := Read(folder(t, files))
		require.ErrorIs(t, err, ErrFile, want)
		require.ErrorContains(t, err, want)
	}
	_, err = Read("none")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestChecksum has what changes a checksum.
func TestChecksum(t *testing.T) {
	of := func(text string) string {
		f, err := parse("1.cql", text)
		require.NoError(t, err)
		return f.checksum(len(f.Statements))
	}
	require.Equal(t, of("SELECT a FROM t; SELECT b FROM t;"), of("-- new\nSELECT a FROM t;\r\n\r\n/* x */ SELECT b FROM t ;\n"))
	for _, other := range []string{
		"SELECT a FROM t;", "SELECT b FROM t; SELECT a FROM t;", "SELECT a FROM t; SELECT b FROM u;",
		"SELECT a FROM t; SELECT b  FROM t;",
	} {
		require.NotEqual(t, of("SELECT a FROM t; SELECT b FROM t;"), of(other), other)
	}
}

// A runs is a cluster with a keyspace, and the statements that runs executed.
type runs struct {
	t        *testing.T
	cluster  *cqltest.Cluster
	session  *vecql.Session
	executed []string
}

func newRuns(t *testing.T) *runs {
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1})
	require.NoError(t, cluster.Exec("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts(), Keyspace: "shop"})
	require.NoError(t, err)
	t.Cleanup(session.Close)
	return &runs{t: t, cluster: cluster, session: session}
}

func (x *runs) runner(owner string) *Runner {
	return &Runner{
		Session: x.session, Keyspace: "shop", Table: "vecql_migrations", Owner: owner, LockFor: time.Minute,
		Report: func(s *State, statement int, executed bool) {
			if executed {
				x.executed = append(x.executed, s.Statements[statement])
			}
		},
	}
}

// apply applies files and returns the statements that were executed.
func (x *runs) apply(files map[string]string) ([]string, error) {
	x.t.Helper()
	all, err := Read(folder(x.t, files))
	require.NoError(x.t, err)
	x.executed = nil
	err = x.runner("a").Apply(x.t.Context(), all, 1<<62)
	return x.executed, err
}

// states returns the names and states of files.
func (x *runs) states(files map[string]string) (string, error) {
	all, err := Read(folder(x.t, files))
	require.NoError(x.t, err)
	states, err := x.runner("a").Status(x.t.Context(), all)
	var texts []string
	for i := range states {
		texts = append(texts, states[i].Name+": "+states[i].String())
	}
	return strings.Join(texts, ", "), err
}

const (
	createItems = "CREATE TABLE items (id int PRIMARY KEY)"
	addPrice    = "ALTER TABLE items ADD price double"
	addName     = "ALTER TABLE items ADD name text"
)

func TestApply(t *testing.T) {
	x := newRuns(t)
	files := map[string]string{"1_items.cql": createItems + ";", "2_columns.cql": addPrice + ";\n" + addName + ";"}
	states, err := x.states(files)
	require.NoError(t, err)
	require.Equal(t, "1_items.cql: pending, 2_columns.cql: pending", states)
	executed, err := x.apply(files)
	require.NoError(t, err)
	require.Equal(t, []string{createItems, addPrice, addName}, executed)
	executed, err = x.apply(files)
	require.NoError(t, err)
	require.Empty(t, executed)
	states, err = x.states(files)
	require.NoError(t, err)
	require.Equal(t, "1_items.cql: applied, 2_columns.cql: applied", states)
	files["3_more.cql"] = "\ufeff-- names\n;CREATE INDEX ON items (name) -- by name\n; -- done; // all"
	executed, err = x.apply(files)
	require.NoError(t, err)
	require.Equal(t, []string{"CREATE INDEX ON items (name)"}, executed)
	require.NoError(t, x.session.Query("INSERT INTO items (id, price, name) VALUES (1, 2, 'a')").Exec(t.Context()))

	for _, c := range []struct {
		change func(files map[string]string)
		want   error
	}{
		{func(files map[string]string) { files["1_items.cql"] = "CREATE TABLE items (id bigint PRIMARY KEY);" }, ErrChanged},
		{func(files map[string]string) { files["1_items.cql"] += "DROP TABLE items;" }, ErrChanged},
		{func(files map[string]string) { files["2_columns.cql"] = addPrice + ";" }, ErrChanged},
		{func(files map[string]string) { delete(files, "2_columns.cql") }, ErrMissing},
		{func(files map[string]string) { delete(files, "3_more.cql") }, ErrMissing},
		{func(files map[string]string) {
			files["0_x.cql"] = "SELECT id FROM items;"
		}, ErrOlder},
	} {
		changed := map[string]string{}
		for name, text := range files {
			changed[name] = text
		}
		c.change(changed)
		_, err := x.states(changed)
		require.ErrorIs(t, err, c.want)
		executed, err := x.apply(changed)
		require.ErrorIs(t, err, c.want)
		require.Empty(t, executed)
	}
}

// TestApplyUpToAVersion leaves later files.
func TestApplyUpToAVersion(t *testing.T) {
	x := newRuns(t)
	all, err := Read(folder(t, map[string]string{"1_items.cql": createItems + ";", "2_columns.cql": addPrice + ";"}))
	require.NoError(t, err)
	require.NoError(t, x.runner("a").Apply(t.Context(), all, 1))
	require.Equal(t, []string{createItems}, x.executed)
}

// TestResume mends the statement that failed: the run continues with it. What was executed must not change.
func TestResume(t *testing.T) {
	x := newRuns(t)
	executed, err := x.apply(map[string]string{"1_items.cql": createItems + ";" + addPrice + "; ALTER TABLE nosuch ADD a int;"})
	require.ErrorIs(t, err, cql.CodeInvalid)
	require.ErrorContains(t, err, "1_items.cql, statement 3 of 3")
	require.Equal(t, []string{createItems, addPrice}, executed)
	states, err := x.states(map[string]string{"1_items.cql": createItems + ";" + addPrice + ";" + addName + ";"})
	require.NoError(t, err)
	require.Equal(t, "1_items.cql: 2 of 3 statements", states)
	_, err = x.apply(map[string]string{"1_items.cql": createItems + "; SELECT id FROM items;" + addName + ";"})
	require.ErrorIs(t, err, ErrChanged)
	executed, err = x.apply(map[string]string{"1_items.cql": createItems + ";" + addPrice + ";" + addName + "; SELECT id FROM items;"})
	require.NoError(t, err)
	require.Equal(t, []string{addName, "SELECT id FROM items"}, executed)
}

// TestKilledRun ends runs before and after a statement is recorded: the next run neither repeats nor leaves out one. A
// table that exists already is the statement that was executed; in another run it is an error.
func TestKilledRun(t *testing.T) {
	files := map[string]string{"1_items.cql": createItems + ";" + addPrice + ";"}
	for _, fault := range []string{"(part, version, name", "(part, version, done"} {
		for times := range 2 {
			x := newRuns(t)
			require.NoError(t, x.runner("a").create(t.Context()))
			rule := x.cluster.Inject(cqltest.Fault{
				Op: cqltest.OpExecute, Statement: fault, Skip: times, Times: 1, Error: &cqltest.Error{Code: cqltest.CodeInvalid},
			})
			_, err := x.apply(files)
			require.Error(t, err)
			require.Equal(t, 1, rule.Hits())
			_, err = x.apply(files)
			require.NoError(t, err)
			states, err := x.states(files)
			require.NoError(t, err)
			require.Equal(t, "1_items.cql: applied", states)
		}
	}
	x := newRuns(t)
	require.NoError(t, x.session.Query(createItems).Exec(t.Context()))
	_, err := x.apply(files)
	require.ErrorIs(t, err, cql.CodeAlreadyExists)
	_, err = x.apply(files)
	require.ErrorIs(t, err, cql.CodeAlreadyExists, "it is not the table of the first run, which was refused")
}

// TestDoubtfulStatement ends a run while it drops a column: whether it is gone is not known, unless the user says so.
func TestDoubtfulStatement(t *testing.T) {
	x := newRuns(t)
	files := map[string]string{"1_items.cql": createItems + ";" + addPrice + "; ALTER TABLE items DROP price;" + addName + ";"}
	require.NoError(t, x.runner("a").create(t.Context()))
	x.cluster.Inject(cqltest.Fault{
		Op: cqltest.OpExecute, Statement: "(part, version, done", Skip: 2, Times: 1, Error: &cqltest.Error{Code: cqltest.CodeInvalid},
	})
	_, err := x.apply(files)
	require.ErrorContains(t, err, "statement 3 of 4 was executed, which is not recorded")
	_, err = x.apply(files)
	var failed *StatementError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, StatementError{"1_items.cql", 3, 4, true, failed.Err}, *failed)
	all, err := Read(folder(t, files))
	require.NoError(t, err)
	r := x.runner("a")
	r.Executed = true
	require.NoError(t, r.Apply(t.Context(), all, 1))
	require.Equal(t, []string{"ALTER TABLE items DROP price", addName}, x.executed)
}

// TestLock has two runs at a time: the second one waits, or fails.
func TestLock(t *testing.T) {
	x := newRuns(t)
	all, err := Read(folder(t, map[string]string{"1_items.cql": createItems + ";"}))
	require.NoError(t, err)
	first, second := x.runner("a"), x.runner("b")
	require.NoError(t, first.create(t.Context()))
	require.NoError(t, first.lock(t.Context()))
	var locked *LockedError
	require.ErrorAs(t, second.Apply(t.Context(), all, 1), &locked)
	require.Equal(t, "a", locked.Owner)
	second.Wait = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, second.Apply(ctx, all, 1), context.DeadlineExceeded)
	done := make(chan error)
	go func() { done <- second.Apply(t.Context(), all, 1) }()
	require.NoError(t, first.renew(t.Context()))
	require.NoError(t, first.unlock(t.Context()))
	require.NoError(t, <-done)
	require.Equal(t, []string{createItems}, x.executed)
	require.True(t, errors.As(first.renew(t.Context()), &locked), "the lock is gone")
}
