// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
)

// TestFlink runs the pipeline of TestPipeline on Flink, whose job server it starts. make beam-flink runs it: it needs
// Java 17 and Maven, and takes minutes.
func TestFlink(t *testing.T) {
	cache := os.Getenv("VECQL_BEAM_FLINK")
	if cache == "" {
		t.Skip("not run: make beam-flink runs it")
	}
	startFlink(t, cache)
	_, uri := start(t, cqltest.Config{}, embeddingsTable)
	pattern, rows := writeEmbeddings(t, 4)
	want, err := centroidConfig.Aggregate(t.Context(), rows...)
	require.NoError(t, err)

	p, s := beam.NewPipelineWithRoot()
	got := collect(t, s, nightly(s, uri, pattern))
	began := time.Now()
	_, err = beam.Run(t.Context(), "universal", p)
	require.NoError(t, err)
	t.Logf("the job took %v", time.Since(began).Round(time.Second))
	require.Len(t, got(), 1)
	require.Empty(t, column.Diff(got()[0], want))
	t.Logf("\n%v", got()[0])

	// A worker fails once in the middle of the rows: Flink repeats what it did, and no row is lost.
	var failures atomic.Int32
	failing.Store(&failures)
	require.NoError(t, connect(t, uri).Query("CREATE TABLE IF NOT EXISTS "+strings.TrimPrefix(strings.TrimSuffix(itemsTable, ";"),
		"CREATE TABLE ")).Exec(t.Context()))
	p, s = beam.NewPipelineWithRoot()
	made := beam.ParDo(s, failOnce, beam.Reshuffle(s, beam.ParDo(s, &makeFn{0, 500}, beam.Impulse(s))))
	Write(s, uri, "shop.items", made, WriteOptions{})
	_, err = beam.Run(t.Context(), "universal", p)
	require.NoError(t, err)
	require.GreaterOrEqual(t, failures.Load(), int32(2), "the batch of the failure came again")
	require.Len(t, idsOf(t, uri), 500)

	// A worker fails in the middle of a read, and another one after the groups are merged.
	p, s = beam.NewPipelineWithRoot()
	got = collect(t, s, failingGroups(s, uri, "Flink Read", "Flink GroupBy"))
	_, err = beam.Run(t.Context(), "universal", p)
	require.NoError(t, err)
	require.Greater(t, countOf("Flink Read"), 3, "the read was repeated")
	require.Greater(t, countOf("Flink GroupBy"), 1, "the groups were repeated")
	require.Len(t, got(), 1)
	require.Empty(t, column.Diff(got()[0], want))
}

// countOf returns the number of batches that a failFn has received.
func countOf(name string) int {
	failures.Lock()
	defer failures.Unlock()
	return failures.batches[name]
}

// startFlink starts Beam's job server with a Flink, and sets the options of jobs to it.
func startFlink(t *testing.T, cache string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	require.NoError(t, listener.Close())
	logPath := filepath.Join(t.TempDir(), "flink.log")
	log, err := os.Create(logPath)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	server := exec.CommandContext(ctx, "flink/run.sh", cache, fmt.Sprint(port))
	server.Stdout, server.Stderr = log, log
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		stop()
		_ = server.Wait() // it was killed
		if text, err := os.ReadFile(logPath); t.Failed() && err == nil {
			t.Logf("the end of Flink's log:\n%s", text[max(0, len(text)-8000):])
		}
	})
	*jobopts.Endpoint = fmt.Sprintf("127.0.0.1:%d", port)
	*jobopts.EnvironmentType, *jobopts.Parallelism = "LOOPBACK", 2
	require.Eventually(t, func() bool {
		conn, err := net.DialTimeout("tcp", *jobopts.Endpoint, time.Second)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, 5*time.Minute, 500*time.Millisecond, "the job server does not listen")
}
