// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	osexec "os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// The figures of docs/scale.md: memory and start of a session by the size of the cluster. The cluster runs in another
// process, so that the memory of this one is the driver's.

// scaleServer is the variable that makes this program the cluster of a benchmark: nodes and shards.
const scaleServer = "VECQL_SCALE_SERVER"

func init() {
	if size := os.Getenv(scaleServer); size != "" {
		serveScale(size)
		os.Exit(0)
	}
}

// serveScale runs a cluster until its input ends. Each line of the input is an event: its change and the number of its
// node, or -1 for an address that no node has.
func serveScale(size string) {
	cfg := cqltest.Config{VNodes: 16, Network: cqltest.Addresses}
	shards := 0
	if _, err := fmt.Sscan(size, &cfg.Nodes, &shards); err != nil {
		panic(err)
	}
	if shards > 0 {
		cfg.Scylla = &cqltest.Scylla{Shards: shards, Tablets: 64}
	}
	c, err := cqltest.Start(cfg)
	if err != nil {
		panic(err)
	}
	fmt.Println(strings.Join(c.Hosts(), " "))
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		event, node := cqltest.Event{Type: "STATUS_CHANGE", Node: netip.MustParseAddrPort("127.255.255.254:9042")}, 0
		if _, err := fmt.Sscan(lines.Text(), &event.Change, &node); err != nil {
			panic(err)
		}
		if node >= 0 {
			event.Node = c.Node(node).Addr()
		}
		c.Event(event)
	}
	c.Close()
}

// startScale starts a cluster in a process and returns the addresses of its nodes, and the input of the process.
func startScale(b *testing.B, nodes, shards int) (hosts []string, input io.Writer) {
	b.Helper()
	cmd := osexec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d", scaleServer, nodes, shards))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(b, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		require.NoError(b, stdin.Close())
		require.NoError(b, cmd.Wait())
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(b, err)
	return strings.Fields(line), stdin
}

// memoryInUse returns the bytes of live objects and of stacks.
func memoryInUse() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

// BenchmarkScale opens a session and waits until all connections are idle. Metrics: connections, the time of NewSession
// and until all connections are open, bytes and goroutines of each connection.
func BenchmarkScale(b *testing.B) {
	for _, size := range []struct{ nodes, shards, conns int }{
		{3, 0, 1}, {100, 0, 1}, {500, 0, 1}, {100, 0, 32}, {10, 32, 1}, {100, 32, 1},
	} {
		b.Run(fmt.Sprintf("nodes=%d/shards=%d/conns=%d", size.nodes, size.shards, size.conns), func(b *testing.B) {
			hosts, _ := startScale(b, size.nodes, size.shards)
			cfg := &vecql.ClusterConfig{Hosts: hosts[:min(3, len(hosts))]}
			cfg.Pool.NumConns, cfg.Logger = size.conns, slog.New(slog.DiscardHandler)
			cfg.Timeout, cfg.ConnectTimeout = time.Minute, time.Minute
			for b.Loop() {
				scaleSession(b, cfg, size.nodes*max(size.conns, size.shards))
			}
		})
	}
}

// scaleSession opens a session, waits for its connections, and reports the metrics.
func scaleSession(b *testing.B, cfg *vecql.ClusterConfig, conns int) {
	b.Helper()
	memory, goroutines, began := memoryInUse(), runtime.NumGoroutine(), time.Now()
	s, err := vecql.NewSession(b.Context(), *cfg)
	require.NoError(b, err)
	defer s.Close()
	opened := time.Since(began)
	for s.Stats().ConnectionsOpened < uint64(conns)+1 {
		require.Less(b, time.Since(began), 2*time.Minute, "connections are missing")
		time.Sleep(time.Millisecond)
	}
	filled := time.Since(began)
	time.Sleep(100 * time.Millisecond) // the goroutines of the start end
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(conns), "conns")
	b.ReportMetric(float64(opened.Milliseconds()), "ms-session")
	b.ReportMetric(float64(filled.Milliseconds()), "ms-all-conns")
	b.ReportMetric((memoryInUse()-memory)/float64(conns), "B/conn")
	b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/float64(conns), "goroutines/conn")
}
