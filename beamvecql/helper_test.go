// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/beamvecql/internal/beamtest"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
)

func TestMain(m *testing.M) { beamtest.Main(m) }

// start starts a cluster with the keyspace shop and further CQL, and returns it with its URI.
func start(t *testing.T, cfg cqltest.Config, cql string) (*cqltest.Cluster, string) {
	t.Helper()
	cluster := cqltest.New(t, cfg)
	require.NoError(t, cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};`+cql))
	uri := "cassandra://" + strings.Join(cluster.Hosts(), ",") + "/shop"
	t.Cleanup(func() { closeSessions(uri) })
	return cluster, uri
}

// closeSessions closes the session of a cluster at once.
func closeSessions(uri string) {
	sessions.mu.Lock()
	s := sessions.open[uri]
	sessions.mu.Unlock()
	if s != nil {
		sessions.close(uri, s)
	}
}

// connect returns a session of the test's own.
func connect(t *testing.T, uri string) *vecql.Session {
	t.Helper()
	cfg, err := uriConfig(uri, true)
	require.NoError(t, err)
	session, err := vecql.NewSession(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(session.Close)
	return session
}

// run runs a pipeline on Prism and returns its counters.
func run(t *testing.T, build func(s beam.Scope)) (map[string]int64, error) {
	t.Helper()
	p, s := beam.NewPipelineWithRoot()
	build(s)
	result, err := beam.Run(context.Background(), "prism", p)
	if err != nil {
		return nil, err
	}
	counters := map[string]int64{}
	for _, c := range result.Metrics().AllMetrics().Counters() {
		if c.Namespace() == namespace {
			counters[c.Name()] += c.Result()
		}
	}
	return counters, nil
}

// collected are the elements that collectors have received, by name. Workers are goroutines of the test.
var collected = struct {
	sync.Mutex
	batches map[string][]*column.Batch
}{batches: map[string][]*column.Batch{}}

func init() {
	beam.RegisterDoFn(&collectFn{})
}

// collectFn stores batches under a name.
type collectFn struct{ Name string }

func (fn *collectFn) ProcessElement(b *column.Batch) {
	collected.Lock()
	defer collected.Unlock()
	collected.batches[fn.Name] = append(collected.batches[fn.Name], b)
}

// collect adds a collector to a pipeline and returns a function that returns its batches.
func collect(t *testing.T, s beam.Scope, batches beam.PCollection) func() []*column.Batch {
	t.Helper()
	name := fmt.Sprintf("%s %p", t.Name(), &s)
	beam.ParDo0(s, &collectFn{name}, batches)
	return func() []*column.Batch {
		collected.Lock()
		defer collected.Unlock()
		return collected.batches[name]
	}
}
