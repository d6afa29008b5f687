// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/adbcvecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/cassandra"
)

// Partitions read by several processes: this program again, as a reader.

// readerEnv names the variable with the URI of the cluster of a reader. Its partitions are the JSON values of standard
// input.
const readerEnv = "VECQL_ADBC_READER"

func TestMain(m *testing.M) {
	cassandra.Supervise()
	if uri := os.Getenv(readerEnv); uri != "" {
		if err := readPartitions(context.Background(), uri, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// readPartitions writes the rows of partitions, one a line. The partitions are read one after the other, as they come.
func readPartitions(ctx context.Context, uri string, in io.Reader, out io.Writer) (err error) {
	db, err := adbcvecql.NewDriver().NewDatabase(map[string]string{"uri": uri})
	if err != nil {
		return err
	}
	conn, err := db.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(), db.Close()) }()
	for ids := json.NewDecoder(in); ; {
		var id []byte
		if err := ids.Decode(&id); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		reader, err := conn.ReadPartition(ctx, id)
		if err != nil {
			return err
		}
		for reader.Next() {
			if err := array.RecordToJSON(reader.RecordBatch(), out); err != nil {
				return err
			}
		}
		if err := reader.Err(); err != nil {
			return err
		}
		reader.Release()
	}
}

// A readerProcess is a process that reads partitions.
type readerProcess struct {
	*exec.Cmd
	in       io.WriteCloser
	out, err output
}

// An output is what a process has written so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// startReader starts a process with its first partitions.
func startReader(t *testing.T, uri string, workers int, partitions [][]byte) *readerProcess {
	t.Helper()
	p := &readerProcess{Cmd: exec.CommandContext(t.Context(), os.Args[0])}
	p.Env = append(os.Environ(), fmt.Sprintf("%s=%s?page_bytes=1000&timeout=30s&workers=%d", readerEnv, uri, workers))
	p.Stdout, p.Stderr = &p.out, &p.err
	var err error
	p.in, err = p.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	p.read(t, partitions)
	return p
}

// read makes the process read further partitions after those that it has.
func (p *readerProcess) read(t *testing.T, partitions [][]byte) {
	t.Helper()
	for _, id := range partitions {
		require.NoError(t, json.NewEncoder(p.in).Encode(id), "%s", &p.err)
	}
}

// written returns the number of rows that the process has written so far.
func (p *readerProcess) written() int { return strings.Count(p.out.String(), "\n") }

// rows waits until the process has read its partitions and returns their rows.
func (p *readerProcess) rows(t *testing.T) []string {
	t.Helper()
	require.NoError(t, p.in.Close())
	require.NoError(t, p.Wait(), "%s", &p.err)
	text := strings.TrimSpace(p.out.String())
	require.NotEmpty(t, text)
	return strings.Split(text, "\n")
}

// partitionsOf writes n rows and returns count partitions of their table. Its connection is closed.
func partitionsOf(t *testing.T, uri string, n, count int) (ids [][]byte) {
	t.Helper()
	t.Run("plan", func(t *testing.T) {
		conn := open(t, uri, nil)
		ingest(t, conn, n)
		_, parts, _, err := newStatement(t, conn, "SELECT id, name, embedding FROM items", "vecql.partitions", strconv.Itoa(count)).
			ExecutePartitions(t.Context())
		require.NoError(t, err)
		ids = parts.PartitionIDs
	})
	return ids
}

// Four processes read the partitions of a statement. A node is killed while each of them waits for a page, and starts
// again while they read on; it serves pages afterwards. Every row is read once.
func TestProcessesReadEveryRowOnceWhileANodeRestarts(t *testing.T) {
	const rows, processes, workers = 6000, 4, 2
	cluster := cqltest.New(t, cqltest.Config{Nodes: 3})
	require.NoError(t, cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};`+items))
	uri := uriOf(cluster)
	shares := make([][][]byte, processes)
	for i, id := range partitionsOf(t, uri, rows, 14) {
		shares[i%processes] = append(shares[i%processes], id)
	}

	page := cqltest.Fault{Op: cqltest.OpExecute, Match: func(r cqltest.Request) bool {
		return strings.Contains(r.Statement, "token(")
	}}
	pages := cluster.Observe(page)
	const first, second = 40, 120 // later pages wait until the node is down, and until it is up
	down, up := make(chan struct{}), make(chan struct{})
	held := page
	held.Skip, held.Times, held.Until = first, second-first, down
	cluster.Inject(held)
	held.Times, held.Until = 0, up // does not count requests of the other fault
	cluster.Inject(held)

	var readers []*readerProcess
	for _, share := range shares {
		readers = append(readers, startReader(t, uri, workers, share))
	}
	node := cluster.Node(1)
	require.NoError(t, pages.Wait(t.Context(), first+(processes-1)*workers+1)) // so many that each process waits
	node.Kill()
	close(down)
	require.NoError(t, pages.Wait(t.Context(), second+1))
	require.NoError(t, node.Restart())
	require.Eventually(t, func() bool { return len(node.Conns()) >= processes }, 10*time.Second, time.Millisecond)
	node.ResetStats()
	close(up)

	var got []string
	for _, p := range readers {
		got = append(got, p.rows(t)...)
	}
	slices.Sort(got)
	require.Equal(t, expected(rows), got)
	require.Positive(t, node.Requests(cqltest.OpExecute), "the node that restarted served no page")
}
