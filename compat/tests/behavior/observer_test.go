// SPDX-License-Identifier: Apache-2.0

package behavior

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vecql/vecql/compat/compattest"
	"github.com/vecql/vecql/cqltest"
)

// Sessions and observers of the scenarios.

// open opens a session of the API in the keyspace shop.
func open(t *testing.T, c *cqltest.Cluster, change ...func(*clusterConfig)) *session {
	t.Helper()
	cfg := newCluster(c.Node(0).Addr().Addr().String())
	cfg.Port, cfg.ProtoVersion, cfg.Keyspace = int(c.Node(0).Addr().Port()), 4, "shop"
	cfg.Timeout, cfg.ConnectTimeout = time.Minute, time.Minute
	quiet(cfg)
	for _, f := range change {
		f(cfg)
	}
	return compattest.Open(t, cfg.CreateSession)
}

// cluster starts nodes with one port, as all drivers can use them.
func cluster(t *testing.T, nodes int) *cqltest.Cluster {
	t.Helper()
	return compattest.NewCluster(t, cqltest.Config{Nodes: nodes, Network: cqltest.Addresses})
}

// kind returns the type of an error and what programs compare it with.
func kind(err error) string {
	if err == nil {
		return "nil"
	}
	text := strings.NewReplacer("*errors.errorString", "errors", "*fmt.wrapError", "fmt", "*gocql.sentinel", "errors",
		"gocql.errorFrame", "errorFrame").Replace(fmt.Sprintf("%T", err))
	for name, target := range map[string]error{
		"canceled": context.Canceled, "deadline": context.DeadlineExceeded, "EOF": io.EOF,
	} {
		switch {
		case err == target:
			text += " == " + name
		case errors.Is(err, target):
			text += " is " + name
		}
	}
	return text
}

// observed returns the kind of an error that an observer sees. The fork wraps the end of a context sometimes.
func observed(err error) string {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return "the end of the context"
	}
	return kind(err)
}

// watcher records the attempts that observers see.
type watcher struct {
	mu    sync.Mutex
	lines []string
	short bool // only the number and the error of an attempt
}

func (w *watcher) add(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

func (w *watcher) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.lines, "; ")
}

// ObserveQuery implements QueryObserver.
func (w *watcher) ObserveQuery(ctx context.Context, o observedQuery) {
	if w.short {
		w.add("%d %s", o.Attempt, kind(o.Err))
		return
	}
	w.add("query %s %q values=%v rows=%d attempt=%d err=%s host=%v known=%v metrics=%v times=%v ctx=%v%s",
		o.Keyspace, o.Statement, o.Values, o.Rows, o.Attempt, observed(o.Err), o.Host != nil, o.Host != nil && o.Host.IsUp(),
		o.Metrics.Attempts > 0 && o.Metrics.Attempts <= o.Attempt+1, !o.Start.IsZero() && !o.End.Before(o.Start), ctx != nil, extra(o))
}

// ObserveBatch implements BatchObserver.
func (w *watcher) ObserveBatch(ctx context.Context, o observedBatch) {
	if w.short {
		w.add("%d %s", o.Attempt, kind(o.Err))
		return
	}
	w.add("batch %s %q values=%v attempt=%d err=%s host=%v known=%v metrics=%v times=%v ctx=%v",
		o.Keyspace, o.Statements, o.Values, o.Attempt, observed(o.Err), o.Host != nil, o.Host != nil && o.Host.IsUp(),
		o.Metrics.Attempts > 0 && o.Metrics.Attempts <= o.Attempt+1, !o.Start.IsZero() && !o.End.Before(o.Start), ctx != nil)
}
