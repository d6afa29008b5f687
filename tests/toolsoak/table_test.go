// SPDX-License-Identifier: Apache-2.0

package toolsoak

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/parquetscan"
)

// A table of vectors on three Cassandra nodes, whose tool and nodes are killed.

const dim = 384

// idOf returns the id of row k, which compare.py takes apart.
func idOf(k int) (id [16]byte) {
	binary.BigEndian.PutUint64(id[:], uint64(k)<<16|0x4000) // version 4
	id[8] = 0x80
	return id
}

// rowsOf returns rows first to end-1. Every fifth text and every seventh vector is NULL, other texts are empty.
func rowsOf(first, end int) *column.Batch {
	n := end - first
	ids, texts, v := make([][16]byte, n), make([]string, n), make([]float32, n*dim)
	null, noVector := make([]bool, n), make([]bool, n)
	random := rand.New(rand.NewPCG(uint64(first), dim))
	for i := range n {
		k := first + i
		ids[i], null[i], noVector[i] = idOf(k), k%5 == 3, k%7 == 5
		if k%11 != 0 {
			texts[i] = fmt.Sprint("text of row ", k)
		}
	}
	for i := range v {
		v[i] = random.Float32()*2 - 1
	}
	return column.NewBatch(column.Of("id", ids), column.Strings("text", texts).WithNulls(null),
		column.Matrix("v", v, dim).WithNulls(noVector))
}

// writeTable writes -rows rows to a Parquet file.
func writeTable(t *testing.T, path string) {
	t.Helper()
	const step = 10_000
	f, err := parquetscan.Create(path, rowsOf(0, 1).Schema(), parquetscan.WriterOptions{})
	require.NoError(t, err)
	for first := 0; first < *size; first += step {
		require.NoError(t, f.Write(rowsOf(first, min(first+step, *size))))
	}
	require.NoError(t, f.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	t.Logf("%s: %d rows, %d MB", filepath.Base(path), *size, info.Size()>>20)
}

// startNodes starts three nodes with a table of three replicas. SSTables are not compacted, which takes disk and time.
func startNodes(t *testing.T) (*cassandra.Cluster, *vecql.Session) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	c, err := cassandra.Start(ctx, cassandra.Options{
		Nodes: 3, Log: t.Log, JVM: []string{"-Xmx1g", "-XX:TieredStopAtLevel=4"},
		Set: map[string]any{"commitlog_total_space": "512MiB"},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	cfg := &vecql.ClusterConfig{Hosts: c.Hosts()}
	cfg.Timeout, cfg.Logger = time.Minute, slog.New(slog.DiscardHandler)
	s, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	for _, stmt := range []string{
		"CREATE KEYSPACE soak WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3}",
		fmt.Sprintf("CREATE TABLE soak.items (id uuid PRIMARY KEY, text text, v vector<float, %d>) WITH compaction = "+
			"{'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}", dim),
	} {
		require.NoError(t, s.Query(stmt).Exec(ctx))
	}
	return c, s
}

// writesOf returns the number of writes to the table that a node has executed since its start.
func writesOf(t *testing.T, s *vecql.Session, n *cassandra.Node) (writes int64) {
	t.Helper()
	for _, h := range s.GetHosts() {
		if h.Address.String() == n.Addr() {
			q := s.Query("SELECT count FROM system_views.local_write_latency WHERE keyspace_name = 'soak' AND table_name = 'items'")
			require.NoError(t, q.HostID(h.ID).Scan(t.Context(), &writes))
			return writes
		}
	}
	t.Fatalf("no host at %s", n.Addr())
	return 0
}

// TestKilledTool loads a Parquet file into three nodes while the tool is killed -kills times and one node once. Then
// the table has each row once and equal, with its NULLs, and so have the files of an unload with as many kills.
func TestKilledTool(t *testing.T) {
	x := newTool(t)
	c, session := startNodes(t)
	x.use(c.Hosts())
	dir := t.TempDir()
	source, parts := filepath.Join(dir, "items.parquet"), filepath.Join(dir, "parts")
	timed(t, "wrote the file", func() { writeTable(t, source) })
	x.loadKilled(c, source)
	t.Logf("%d writes on the node that was always up, %d of them of rows written before", writesOf(t, session, c.Nodes[0]),
		writesOf(t, session, c.Nodes[0])-int64(*size))
	timed(t, "count", func() { require.Equal(t, fmt.Sprintln(*size), x.run("count", "soak.items")) })
	x.unloadKilled(c, parts)
	timed(t, "compare with pyarrow", func() { comparePython(t, source, parts) })
	timed(t, "verify", func() {
		require.Equal(t, fmt.Sprintf("%d rows are equal.\n", *size), x.run("verify", source, "soak.items"))
	})
}

// loadKilled loads the file. A node is killed after half of the kills, and restarted after three quarters.
func (x *tool) loadKilled(c *cassandra.Cluster, source string) {
	t, began, victim := x.t, time.Now(), victim{t: x.t, node: c.Nodes[2]}
	checkpoint := filepath.Join(t.TempDir(), "load.json")
	k := x.killUntilDone(job{
		args:     []string{"load", "soak.items", source, "--checkpoint", checkpoint, "--checkpoint-every", "1s", "--summary", "json"},
		progress: x.loaded(checkpoint),
		killed: func(n int) {
			rows := x.loaded(checkpoint)()
			t.Logf("kill %d of load: the checkpoint has %d rows after %v", n, rows, time.Since(began).Round(time.Millisecond))
			victim.after(n)
		},
	})
	victim.restart()
	took := time.Since(began)
	t.Logf("load: %d kills, %v, %.0f rows/s; the last process wrote %d rows at %.0f rows/s with %d retries; after --resume progress in %v",
		k.kills, took.Round(time.Millisecond), float64(*size)/took.Seconds(), k.Rows, k.RowsPerSecond, k.Retries, k.recovered)
	require.Zero(t, k.Rejected)
	require.Equal(t, *size, k.Rows+k.Skipped)
}

// A victim is a node that is killed after half of the kills of a job, and restarted after three quarters or at the end.
type victim struct {
	t    *testing.T
	node *cassandra.Node
	down bool
}

// after is called after the nth kill of the tool.
func (v *victim) after(n int) {
	switch {
	case n == (*kills+1)/2:
		require.NoError(v.t, v.node.Kill())
		v.down = true
		v.t.Log("killed the node")
	case n >= *kills*3/4:
		v.restart()
	}
}

// restart restarts the node if it is down.
func (v *victim) restart() {
	if v.down {
		require.NoError(v.t, v.node.Start(v.t.Context()))
		v.down = false
		v.t.Log("restarted the node")
	}
}

// unloadKilled unloads the table to about 50 files. A node is killed as during the load.
func (x *tool) unloadKilled(c *cassandra.Cluster, dir string) {
	t, began, victim := x.t, time.Now(), victim{t: x.t, node: c.Nodes[1]}
	progress := x.unloaded(filepath.Join(dir, "_checkpoint.json"))
	k := x.killUntilDone(job{
		args:     []string{"unload", "soak.items", dir + "/", "--part-rows", fmt.Sprint(max(1, *size/50)), "--summary", "json"},
		progress: progress,
		killed: func(n int) {
			t.Logf("kill %d of unload: the checkpoint has %d rows after %v", n, progress(), time.Since(began).Round(time.Millisecond))
			victim.after(n)
		},
	})
	victim.restart()
	took := time.Since(began)
	t.Logf("unload: %d kills, %v, %.0f rows/s; the last process wrote %d rows at %.0f rows/s; %d files; after --resume progress in %v",
		k.kills, took.Round(time.Millisecond), float64(*size)/took.Seconds(), k.Rows, k.RowsPerSecond, k.Files, k.recovered)
	require.Equal(t, *size, k.Rows+k.Skipped)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		require.Regexp(t, `^part-\d{6}\.parquet$`, e.Name(), "no other file remains")
	}
}

// comparePython compares the file with the parts by pyarrow, another reader of Parquet.
func comparePython(t *testing.T, source, parts string) {
	t.Helper()
	python := os.Getenv("VECQL_PEERS_PYTHON")
	if python == "" {
		venv := t.TempDir()
		python = filepath.Join(venv, "bin", "python")
		for _, args := range [][]string{{"python3", "-m", "venv", venv}, {python, "-m", "pip", "install", "--quiet", "pyarrow", "numpy"}} {
			out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
			require.NoError(t, err, "pyarrow cannot be installed, set VECQL_PEERS_PYTHON: %s", out)
		}
	}
	out, err := exec.Command(python, "compare.py", source, parts).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, fmt.Sprintf("%d rows are equal\n", *size), string(out))
}
