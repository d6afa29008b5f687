// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/tests/cassandra"
)

func TestMain(m *testing.M) {
	cassandra.Supervise()
	os.Exit(m.Run())
}

// TestDemo runs the demo on every kind of server. Exit code 0 means that all rows were verified and recall was high
// enough.
func TestDemo(t *testing.T) {
	t.Run("cqltest", func(t *testing.T) { requireDemo(t) })
	if hosts := os.Getenv("VECQL_TEST_HOSTS"); hosts != "" {
		t.Run("hosts", func(t *testing.T) { requireDemo(t, "--hosts", hosts) })
		return
	}
	t.Run("hosts", func(t *testing.T) { // it alone starts the shared server
		server, err := cassandra.Shared(t.Context())
		require.NoError(t, err)
		requireDemo(t, "--hosts", server.Host, "--user", cassandra.Username, "--password", cassandra.Password)
	})
	t.Run("cassandra", func(t *testing.T) {
		soak.Only(t)
		requireDemo(t, "--server", "cassandra")
	})
}

// requireDemo runs the demo with further arguments.
func requireDemo(t *testing.T, args ...string) {
	keyspace := fmt.Sprint("vecql_demo_test_", os.Getpid()) // another process may use the same server
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), append([]string{"demo", "--keyspace", keyspace}, args...), &stdout, &stderr)
	t.Log(stdout.String(), stderr.String())
	require.Zero(t, code)
	require.Contains(t, stdout.String(), "2911 rows verified bit for bit, 970 NULLs among them")
	require.Contains(t, stdout.String(), "Recall of the 60 answers")
}

// TestDemoKeepsExistingKeyspace requires that the demo drops an existing keyspace only with --drop.
func TestDemoKeepsExistingKeyspace(t *testing.T) {
	cluster, err := cqltest.Start(cqltest.Config{})
	require.NoError(t, err)
	defer cluster.Close()
	session, err := vecql.NewCluster(cluster.Hosts()...).CreateSession()
	require.NoError(t, err)
	defer session.Close()
	for _, stmt := range []string{
		"CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}",
		"CREATE TABLE shop.items (id int PRIMARY KEY)", "INSERT INTO shop.items (id) VALUES (7)",
	} {
		require.NoError(t, session.Query(stmt).Exec())
	}
	demo := func(args ...string) (code int, errorText string) {
		var stdout, stderr bytes.Buffer
		args = append([]string{"demo", "--keyspace", "shop", "--hosts", strings.Join(cluster.Hosts(), ",")}, args...)
		return run(t.Context(), args, &stdout, &stderr), stderr.String()
	}
	code, text := demo()
	require.Equal(t, 1, code)
	require.Contains(t, text, "keyspace shop exists")
	require.Contains(t, text, "--drop")
	code, text = demo("--keep")
	require.Zero(t, code, text)
	var id int
	require.NoError(t, session.Query("SELECT id FROM shop.items").Scan(&id))
	require.Equal(t, 7, id)
	code, text = demo("--drop")
	require.Zero(t, code, text)
	require.Error(t, session.Query("SELECT id FROM shop.items WHERE id = 7").Scan(&id))
}

func TestReadSymbols(t *testing.T) {
	rows, err := readSymbols(context.Background())
	require.NoError(t, err)
	require.Len(t, rows, 2911)
	ids, nulls := map[int64]bool{}, 0
	for _, r := range rows {
		ids[r.ID] = true
		if r.Signature == nil {
			nulls++
		}
		require.NotEmpty(t, r.Package)
		require.Len(t, r.Embedding, dimension)
		require.InDelta(t, 1, math.Sqrt(dot(r.Embedding, r.Embedding)), 1e-3, "%s.%s is of unit length", r.Package, r.Symbol)
	}
	require.Len(t, ids, len(rows), "ids are unique")
	require.Equal(t, 970, nulls)
}

func TestExactSearch(t *testing.T) {
	ctx := context.Background()
	rows, err := readSymbols(ctx)
	require.NoError(t, err)
	questions, err := readQuestions(ctx)
	require.NoError(t, err)
	require.Len(t, questions, 20)
	for _, q := range questions {
		hits := exact(rows, q.Embedding, neighbors)
		require.Len(t, hits, neighbors)
		last := math.Inf(1)
		for _, h := range hits {
			require.LessOrEqual(t, h.similarity, last, q.Text)
			last = h.similarity
		}
		better := 0
		for _, r := range rows {
			if dot(r.Embedding, q.Embedding) > hits[neighbors-1].similarity {
				better++
			}
		}
		require.Less(t, better, neighbors, q.Text)
	}
	for i := 0; i < len(rows); i += 100 {
		hit := exact(rows, rows[i].Embedding, 1)[0]
		require.InDelta(t, 1, hit.similarity, 1e-3, "a row is nearest to itself")
	}
	require.Empty(t, exact(nil, questions[0].Embedding, 3))
}

func TestDifference(t *testing.T) {
	text, other := "func f()", "func g()"
	a := symbol{ID: 1, Package: "p", Symbol: "f", Kind: "func", Synopsis: "s", Signature: &text, Lines: 3, Embedding: []float32{1, float32(math.NaN())}}
	require.Empty(t, difference(&a, &a), "a NaN has bits like everything else")
	for want, change := range map[string]func(*symbol){
		"package":   func(s *symbol) { s.Package = "q" },
		"symbol":    func(s *symbol) { s.Symbol = "g" },
		"kind":      func(s *symbol) { s.Kind = "type" },
		"synopsis":  func(s *symbol) { s.Synopsis = "" },
		"signature": func(s *symbol) { s.Signature = &other },
		"lines":     func(s *symbol) { s.Lines++ },
		"embedding": func(s *symbol) { s.Embedding = []float32{1, 1} },
	} {
		b := a
		change(&b)
		require.Equal(t, want, difference(&a, &b))
	}
	b := a
	b.Signature = nil
	require.Equal(t, "signature", difference(&a, &b), "NULL is not a text")
	b = a
	b.Embedding = a.Embedding[:1]
	require.Equal(t, "embedding", difference(&a, &b))
}

func TestRun(t *testing.T) {
	for _, m := range []struct {
		args string
		code int
		want string // part of the only line on stderr, or of stdout when the code is 0
	}{
		{"", 0, "Flags of demo"},
		{"help", 0, "-workers"},
		{"version", 0, "vecql "},
		{"demo --help", 0, "Flags of demo"},
		{"dance", 2, `unknown command "dance"`},
		{"demo --color", 2, "not defined: -color"},
		{"demo now", 2, `unexpected argument "now"`},
		{"demo --server oracle", 2, "--server"},
		{"demo --workers 0", 2, "--workers"},
		{"demo --workers many", 2, "invalid value"},
		{"demo --keyspace a;b", 2, "--keyspace"},
		{"demo --hosts 127.0.0.1:1", 1, "refused"},
		{"demo --hosts 127.0.0.1:1 --ca no-such-file", 1, "no-such-file"},
		{"demo --hosts 127.0.0.1:1 --ca main.go", 1, "no certificate"},
	} {
		t.Run(m.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			require.Equal(t, m.code, run(context.Background(), strings.Fields(m.args), &stdout, &stderr))
			if m.code == 0 {
				require.Contains(t, stdout.String(), m.want)
				require.Empty(t, stderr.String())
				return
			}
			require.Contains(t, stderr.String(), m.want)
			require.Equal(t, 1, strings.Count(stderr.String(), "\n"), "one line: %s", stderr.String())
		})
	}
}
