// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
)

// Metrics for Prometheus.

var (
	metricComment = regexp.MustCompile(`^# (HELP|TYPE) ([a-z_]+) (.+)$`)
	metricSample  = regexp.MustCompile(`^([a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+)\} (\S+)$`)
)

// parseMetrics reads a page as Prometheus does: each metric has its help, its type and then all of its samples. It
// returns the samples by name and labels.
func parseMetrics(t *testing.T, page string) map[string]float64 {
	t.Helper()
	samples, types := map[string]float64{}, map[string]string{}
	family, kind := "", ""
	require.True(t, strings.HasSuffix(page, "\n"))
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		if m := metricComment.FindStringSubmatch(line); m != nil {
			if m[1] == "HELP" {
				require.NotContains(t, types, m[2], "a metric is in one place")
				family = m[2]
			} else {
				require.Equal(t, family, m[2])
				types[family], kind = m[3], m[3]
			}
			continue
		}
		m := metricSample.FindStringSubmatch(line)
		require.NotNil(t, m, line)
		name := m[1]
		if kind == "histogram" {
			name = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		}
		require.Equal(t, family, name)
		require.Equal(t, kind == "counter", strings.HasSuffix(name, "_total"), name)
		v, err := strconv.ParseFloat(m[3], 64)
		require.NoError(t, err, line)
		require.NotContains(t, samples, m[1]+"{"+m[2]+"}")
		samples[m[1]+"{"+m[2]+"}"] = v
	}
	return samples
}

// A watchedStream is standard error of a run, which a test reads meanwhile.
type watchedStream struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *watchedStream) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *watchedStream) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// TestMetricsOfLoad reads the metrics of a load whose last requests wait.
func TestMetricsOfLoad(t *testing.T) {
	x := newTesterOf(t, cqltest.Config{}, shop)
	const rows = 200
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, "{\"id\":%d,\"name\":\"a\"}\n", i)
	}
	text.WriteString("{\"id\":\"none\"}\n")
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	open := make(chan struct{})
	release := sync.OnceFunc(func() { close(open) })
	defer release()
	x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT", Skip: rows - 3, Until: open})
	var errs watchedStream
	e := newEnv(strings.NewReader(""), io.Discard, &errs)
	e.getenv = func(name string) string { return x.env[name] }
	code := make(chan int, 1)
	go func() {
		code <- run(x.ctx, e, []string{
			"load", "shop.items", path, "--allow-missing", "--max-errors", "1", "--metrics-listen", "127.0.0.1:0", "--batch-partitions", "1",
		})
	}()
	address := ""
	require.Eventually(t, func() bool {
		m := regexp.MustCompile(`(?m)^metrics: (http://\S+)$`).FindStringSubmatch(errs.String())
		if m != nil {
			address = m[1]
		}
		return m != nil
	}, 10*time.Second, 5*time.Millisecond, errs.String())
	var samples map[string]float64
	require.Eventually(t, func() bool {
		samples = parseMetrics(t, get(t, address))
		return samples[`vecql_rows_total{verb="load"}`] == rows-3 && samples[`vecql_rejected_rows_total{verb="load"}`] == 1 &&
			samples[`vecql_in_flight_writes{verb="load"}`] == 3 && samples[`vecql_requests_total{session="1"}`] >= rows
	}, 10*time.Second, 5*time.Millisecond)
	require.EqualValues(t, 3, samples[`vecql_pending_rows{verb="load"}`])
	require.NotZero(t, samples[`vecql_bytes_total{verb="load"}`])
	require.Contains(t, samples, `vecql_done_ratio{verb="load"}`)
	inFlight, answered := 0.0, 0.0
	for _, n := range x.Nodes() {
		labels := fmt.Sprintf(`session="1",node="%v"`, n.Addr())
		require.NotZero(t, samples["vecql_node_connections{"+labels+"}"])
		inFlight += samples["vecql_node_in_flight_requests{"+labels+"}"]
		total := samples["vecql_node_latency_seconds_count{"+labels+"}"]
		answered += total
		var counts []float64
		for _, bound := range latencyBounds {
			counts = append(counts, samples[fmt.Sprintf(`vecql_node_latency_seconds_bucket{%s,le="%v"}`, labels, bound)])
		}
		require.True(t, slices.IsSorted(counts))
		require.Equal(t, total, samples["vecql_node_latency_seconds_bucket{"+labels+`,le="+Inf"}`])
		require.LessOrEqual(t, counts[len(counts)-1], total)
	}
	require.EqualValues(t, 3, inFlight)
	require.GreaterOrEqual(t, answered, float64(rows-3))
	release()
	require.Equal(t, exitRejected, <-code, errs.String())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	_, err := client.Do(request(t, address)) //nolint:bodyclose // there is no response
	require.Error(t, err, "the address is closed after the work")
}

func request(t *testing.T, address string) *http.Request {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	return r
}

func get(t *testing.T, address string) string {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request(t, address))
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	require.Equal(t, "text/plain; version=0.0.4; charset=utf-8", response.Header.Get("Content-Type"))
	page, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(page)
}

// TestMetricsListen: an address that is taken fails the verb before its work, and other verbs serve, too.
func TestMetricsListen(t *testing.T) {
	x := newTester(t, shop, "CREATE TABLE shop.copy (id int PRIMARY KEY, name text, price double, tags set<text>, v vector<float, 3>)")
	taken, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	line := x.requireFailure(1, "count", "shop.items", "--metrics-listen", taken.Addr().String())
	require.Contains(t, line, "vecql count: --metrics-listen: listen tcp "+taken.Addr().String())
	for _, args := range [][]string{
		{"unload", "shop.items", filepath.Join(t.TempDir(), "a.csv")},
		{"copy", "shop.items", "shop.copy"},
		{"verify", "shop.items", "shop.copy"},
		{"count", "shop.items"},
	} {
		code, _, stderr := x.run(append(args, "--metrics-listen", "127.0.0.1:0")...)
		require.Zero(t, code, stderr)
		require.Regexp(t, `^metrics: http://127\.0\.0\.1:\d+/metrics\n$`, stderr, args)
	}
}

// TestMetricsText requires escaped labels and all numbers of a state.
func TestMetricsText(t *testing.T) {
	m := metricsContent{verb: "a\"b\\c\nd", state: state{
		fraction: 1.5, counts: counts{rows: 1, bytes: 2, skipped: 3, rejected: 4, retries: 5, differences: 6, inFlight: 7, pending: 8},
	}}
	samples := parseMetrics(t, string(m.text()))
	verb := `{verb="a\"b\\c\nd"}`
	require.Equal(t, map[string]float64{
		"vecql_done_ratio" + verb: 1, "vecql_rows_total" + verb: 1, "vecql_bytes_total" + verb: 2, "vecql_skipped_rows_total" + verb: 3,
		"vecql_rejected_rows_total" + verb: 4, "vecql_retries_total" + verb: 5, "vecql_differences_total" + verb: 6,
		"vecql_in_flight_writes" + verb: 7, "vecql_pending_rows" + verb: 8,
	}, samples)
	m.state.fraction = -1
	require.NotContains(t, string(m.text()), "vecql_done_ratio", "unknown")
}
