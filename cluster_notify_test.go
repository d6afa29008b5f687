// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/internal/pooled"
	"github.com/vecql/vecql/internal/schema"
	"github.com/vecql/vecql/internal/wire"
)

// Events of listeners, and the resistance to floods of events. Most tests run in virtual time.

// listenerLog implements all listeners and records their events.
type listenerLog struct {
	mu     sync.Mutex
	events []string
	block  chan struct{}  // each call receives from it; nil means no wait
	then   func(s string) // called after each
}

func (r *listenerLog) record(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if r.block != nil {
		<-r.block
	}
	r.mu.Lock()
	r.events = append(r.events, s)
	r.mu.Unlock()
	if r.then != nil {
		r.then(s)
	}
}

// take returns the events since the last call.
func (r *listenerLog) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := strings.Join(r.events, ", ")
	r.events = nil
	return events
}

func (r *listenerLog) node(c NodeChange) { r.record("%v %s", c.Kind, c.Host.Address.Addr()) }

func (r *listenerLog) schema(c SchemaChange) {
	switch {
	case c.Old == nil:
		r.record("+%s", objectName(c.New))
	case c.New == nil:
		r.record("-%s", objectName(c.Old))
	default:
		r.record("~%s %s", objectName(c.New), difference(c))
	}
}

// objectName returns the name of an object of the schema, and its kind unless it is a keyspace or a table.
func objectName(object any) string {
	switch o := object.(type) {
	case *cql.KeyspaceMetadata:
		return o.Name
	case *cql.TableMetadata:
		return o.Keyspace + "." + o.Name
	case *cql.UserTypeMetadata:
		return "type " + o.Name
	case *cql.FunctionMetadata:
		return "function " + o.Name
	case *cql.AggregateMetadata:
		return "aggregate " + o.Name
	}
	return fmt.Sprintf("%T", object)
}

// difference returns a property of an object before and after a change.
func difference(c SchemaChange) string {
	switch old := c.Old.(type) {
	case *cql.KeyspaceMetadata:
		return fmt.Sprint(old.DurableWrites, c.New.(*cql.KeyspaceMetadata).DurableWrites)
	case *cql.TableMetadata:
		return fmt.Sprint(len(old.Columns), len(c.New.(*cql.TableMetadata).Columns))
	case *cql.UserTypeMetadata:
		return fmt.Sprint(len(old.FieldNames), len(c.New.(*cql.UserTypeMetadata).FieldNames))
	case *cql.AggregateMetadata:
		return old.InitCond + ", " + c.New.(*cql.AggregateMetadata).InitCond
	}
	return fmt.Sprintf("%T", c.Old)
}

// listen makes r receive all changes.
func (r *listenerLog) listen(cfg *ClusterConfig) {
	cfg.Nodes.OnChange, cfg.Schema.OnChange = r.node, r.schema
}

// after sleeps for d and waits until all goroutines are idle.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestListenersOfSchema(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		f := richSchema()
		c.On(f.Answer)
		var r listenerLog
		sessionOn(c, r.listen)
		after(2 * time.Second)
		require.Empty(t, r.take(), "the state at the start is not reported")
		event := func(fields ...any) string {
			c.Event(frame.EventSchema, fields...)
			after(2 * eventDelay)
			return r.take()
		}
		require.Empty(t, event("UPDATED", "TABLE", "ks", "t"), "nothing has changed")
		f.Columns("ks", "t2", "more int")
		require.Equal(t, "~ks.t2 1 2", event("UPDATED", "TABLE", "ks", "t2"))
		f.Drop("ks", "zip")
		f.UserType("ks", "zip", "code text", "country text")
		require.Equal(t, "~type zip 1 2", event("UPDATED", "TYPE", "ks", "zip"))
		f.Add("indexes", fakecql.Row{"keyspace_name": "ks", "table_name": "t2", "index_name": "i", "kind": "KEYS", "options": map[string]string{"target": "more"}})
		require.Equal(t, "~ks.t2 2 2", event("UPDATED", "TABLE", "ks", "t2"))
		f.Keyspace("new", "SimpleStrategy", nil)
		f.Table("new", "n", "id frozen<u> partition_key")
		f.UserType("new", "u", "x int")
		require.Equal(t, "+new, +type u, +new.n", event("CREATED", "KEYSPACE", "new"))
		f.Drop("new", "")
		require.Equal(t, "-new.n, -type u, -new", event("DROPPED", "TABLE", "new", "n"))
		f.Mu.Lock()
		f.Rows["keyspaces"][1]["durable_writes"] = false
		f.Rows["functions"] = f.Rows["functions"][1:]
		f.Rows["aggregates"][0]["initcond"] = "5"
		f.Mu.Unlock()
		require.Equal(t, "-function f, ~ks true false, ~aggregate agg 0, 5", event("UPDATED", "KEYSPACE", "ks"))

		// This change has no event. The next read of the schema version reveals it.
		f.Drop("ks", "t2")
		c.Mu.Lock()
		c.Nodes[0].Schema = cql.UUID{9}
		c.Mu.Unlock()
		after(2 * time.Minute)
		require.Equal(t, "-ks.t2", r.take())
		f.Reads()
		after(time.Hour)
		require.Empty(t, f.Reads(), "no reads without changes")
	})
}

func TestListenersOfHosts(t *testing.T) {
	bubble(t, 4, func(t *testing.T, c *fakecql.Cluster) {
		c.Peers = c.Nodes[:3]
		c.Nodes[2].Stop()
		var r listenerLog
		sessionOn(c, r.listen, func(cfg *ClusterConfig) { cfg.Schema.OnChange = nil })
		after(time.Second)
		require.Equal(t, "down 127.0.0.3", r.take())
		c.Nodes[2].Start()
		after(10 * time.Second)
		require.Equal(t, "up 127.0.0.3", r.take(), "found without an event")
		c.Nodes[1].Stop()
		after(time.Second)
		require.Equal(t, "down 127.0.0.2", r.take())
		c.Peers = []*fakecql.Node{c.Nodes[0], c.Nodes[2], c.Nodes[3]}
		c.Event(frame.EventTopology, "NEW_NODE", net.IP{127, 0, 0, 4})
		after(2 * eventDelay)
		require.Equal(t, "removed 127.0.0.2, added 127.0.0.4, up 127.0.0.4", r.take())
		c.Nodes[2].MoveTo("127.0.0.9") // the same host id
		c.Nodes[2].Stop()
		c.Event(frame.EventStatus, "DOWN", net.IP{127, 0, 0, 3})
		after(2 * eventDelay)
		events := r.take()
		require.True(t, strings.HasPrefix(events, "down 127.0.0."), events)
		require.NotContains(t, events, ",")
		c.Nodes[2].Start()
		after(10 * time.Second)
		require.Equal(t, "up 127.0.0.9", r.take())
	})
}

// TestListenersMisbehave: listeners panic, block, use the session, and close it.
func TestListenersMisbehave(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		f := richSchema()
		c.On(f.Answer)
		var s *Session
		r := listenerLog{block: make(chan struct{}, 1000)}
		r.then = func(events string) {
			switch events {
			case "+ks.t2a":
				panic("in a listener")
			case "+ks.t3":
				if _, err := s.TableMetadata(t.Context(), "ks", "t3"); err != nil {
					t.Error(err)
				}
			case "-ks.t4":
				s.Close()
				s.Close()
			}
		}
		for range 2 {
			r.block <- struct{}{}
		}
		s = sessionOn(c, r.listen)
		event := func(change, table string) {
			c.Event(frame.EventSchema, change, "TABLE", "ks", table)
			after(2 * eventDelay)
		}
		f.Table("ks", "t2a", "id int partition_key")
		event("CREATED", "t2a")
		f.Table("ks", "t3", "id int partition_key")
		event("CREATED", "t3")
		require.Equal(t, "+ks.t2a, +ks.t3", r.take())
		f.Table("ks", "t4", "id int partition_key")
		event("CREATED", "t4") // the listener blocks in this call
		for i := range 100 {   // these are merged
			f.Table("ks", fmt.Sprintf("u%d", i), "id int partition_key")
			event("CREATED", fmt.Sprintf("u%d", i))
			f.Drop("ks", fmt.Sprintf("u%d", i))
			event("DROPPED", fmt.Sprintf("u%d", i))
		}
		require.NoError(t, s.Query("INSERT").Exec(t.Context()), "requests do not wait for a listener")
		f.Drop("ks", "t4")
		event("DROPPED", "t4")
		for range 100 {
			r.block <- struct{}{}
		}
		after(time.Second)
		require.Equal(t, "+ks.t4, -ks.t4", r.take())
		require.True(t, s.Closed())
	})
}

func TestSchemaChangesNeedACache(t *testing.T) {
	var r listenerLog
	for want, cfg := range map[string]ClusterConfig{
		"Schema.OnChange needs a cache": {Schema: SchemaConfig{Metadata: MetadataNone, OnChange: r.schema}},
		"Metadata is 7, must be":        {Schema: SchemaConfig{Metadata: 7}},
	} {
		cfg.Hosts = []string{"127.0.0.1"}
		_, err := NewSession(t.Context(), cfg)
		require.ErrorContains(t, err, want)
	}
}

func TestListenersOfKeyspacesOnly(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		f := richSchema()
		c.On(f.Answer)
		var r listenerLog
		sessionOn(c, func(cfg *ClusterConfig) {
			cfg.Schema.Metadata, cfg.Schema.OnChange = MetadataKeyspaces, r.schema
		})
		f.Keyspace("new", "SimpleStrategy", nil)
		c.Event(frame.EventSchema, "CREATED", "KEYSPACE", "new")
		after(2 * eventDelay)
		require.Equal(t, "+new", r.take())
		f.Reads()
		c.Event(frame.EventSchema, "CREATED", "TABLE", "new", "t")
		after(2 * eventDelay)
		require.Empty(t, f.Reads())
	})
}

// TestFault22EventStorm sends 100,000 events and breaks the control connection meanwhile: requests are not delayed,
// memory does not grow, the system tables are read a few times, and the final state of the session is correct.
func TestFault22EventStorm(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		f := richSchema()
		var reads atomic.Int32
		c.On(func(r *fakecql.Request) bool {
			if strings.Contains(r.Stmt, "system.local") {
				reads.Add(1)
			}
			return f.Answer(r)
		})
		var r listenerLog
		s := sessionOn(c, r.listen)
		after(2 * eventDelay)
		require.Empty(t, r.take())
		f.Reads()
		reads.Store(0)
		storm := 100_000
		if pooled.Poisoned {
			storm = 20_000
		}
		send := func(p *fakecql.Conn, from, to int) {
			for i := from; i < to; i++ {
				switch i % 4 {
				case 0:
					p.Push(fakecql.EventBody(frame.EventStatus, []string{"UP", "DOWN"}[i/4%2], net.IP{10, 0, byte(i >> 16), byte(i >> 8)}))
				case 1:
					p.Push(fakecql.EventBody(frame.EventTopology, "NEW_NODE", net.IP{10, byte(i >> 16), byte(i >> 8), byte(i)}))
				default:
					p.Push(fakecql.EventBody(frame.EventSchema, "CREATED", "TABLE", fmt.Sprint("ks", i%1000), fmt.Sprint("t", i)))
				}
				if i%100 == 0 {
					time.Sleep(10 * time.Millisecond) // 10,000 a second
				}
			}
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			p := c.Control()
			send(p, 0, storm/2)
			_ = p.Conn.Close()
			for c.Control() == p {
				time.Sleep(time.Millisecond)
			}
			f.Table("ks", "kept", "id int partition_key")
			send(c.Control(), storm/2, storm)
		}()
		var slowest time.Duration
		for running := true; running; {
			began := time.Now()
			require.NoError(t, s.Query("INSERT").Idempotent(true).Exec(t.Context()))
			slowest = max(slowest, time.Since(began))
			time.Sleep(50 * time.Millisecond)
			s.control.mu.Lock()
			require.LessOrEqual(t, len(s.control.due.up), maxUpHints)
			s.control.mu.Unlock()
			s.schema.mu.Lock()
			require.LessOrEqual(t, len(s.schema.stale.keyspaces), maxStaleKeyspaces)
			s.schema.mu.Unlock()
			select {
			case <-done:
				running = false
			default:
			}
		}
		require.Less(t, slowest, 10*time.Millisecond)
		after(3 * eventDelay)
		require.Equal(t, "+ks.kept", r.take())
		require.Less(t, int(reads.Load()), 40, "at most one read a second")
		require.Less(t, len(f.Reads()), 40*len(schema.Scope{}.Queries()))
		for i, n := range c.Nodes {
			require.Less(t, c.Nodes[i].DialCount(), 10, n.IP)
		}
	})
}

// TestFault22EventsAreDropped fills the queue of a connection with a slow receiver: one event replaces the dropped
// ones.
func TestFault22EventsAreDropped(t *testing.T) {
	c := newFakeCluster(t, frame.V4, 1)
	s := sessionOn(c)
	link := s.control.current()
	taken, gate := make(chan struct{}), make(chan struct{})
	var got []any
	var lost atomic.Bool
	handle := link.Config.OnEvent
	first := true
	link.Config.OnEvent = func(e any) {
		if first {
			first = false
			close(taken)
			<-gate
		}
		got = append(got, e)
		handle(e)
		if _, ok := e.(conn.EventsLost); ok {
			lost.Store(true)
		}
	}
	for i := range 3 * conn.MaxEvents {
		c.Event(frame.EventSchema, "CREATED", "TABLE", "ks", fmt.Sprint(i))
		if i == 0 {
			<-taken // it has left the queue, whose capacity the test measures
		}
	}
	require.NoError(t, s.Query("INSERT").Exec(t.Context()), "the reader did not wait")
	require.NoError(t, s.control.awaitSchemaAgreement(t.Context(), func() (*conn.Conn, bool) { return s.control.current(), true }), "all events have arrived")
	close(gate)
	require.True(t, fakecql.Within(lost.Load))
	require.Len(t, got, conn.MaxEvents+1)
	require.Equal(t, conn.EventsLost{}, got[conn.MaxEvents])
}

// TestControlFailsOver stops the node of the control connection: the session connects to another node, reads the view
// from it, and reads the cached schema again.
func TestControlFailsOver(t *testing.T) {
	bubble(t, 4, func(t *testing.T, c *fakecql.Cluster) {
		f := richSchema()
		c.On(f.Answer)
		s := sessionOn(c)
		_, err := s.TableMetadata(t.Context(), "ks", "t3")
		require.ErrorIs(t, err, ErrNoTable)
		f.Table("ks", "t3", "id int partition_key")
		c.Mu.Lock()
		c.Peers = c.Nodes[1:]
		c.Mu.Unlock()
		c.Nodes[0].Stop()
		after(time.Second)
		require.Len(t, s.GetHosts(), 3)
		require.NotEqual(t, c.Nodes[0].Addr(), s.control.current().Addr())
		_, err = s.TableMetadata(t.Context(), "ks", "t3")
		require.NoError(t, err)
	})
}

// TestControlRetriesWithJitter stops all nodes: attempts back off exponentially, and the attempts of two sessions do
// not coincide.
func TestControlRetriesWithJitter(t *testing.T) {
	var attempts [2][]time.Duration
	for i := range attempts {
		bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
			sessionOn(c)
			began := time.Now()
			last := c.Nodes[0].DialCount()
			c.Nodes[0].Stop()
			for time.Since(began) < time.Minute {
				after(10 * time.Millisecond)
				if now := c.Nodes[0].DialCount(); now != last {
					attempts[i] = append(attempts[i], time.Since(began))
					last = now
				}
			}
		})
	}
	require.NotEqual(t, attempts[0], attempts[1])
	for _, a := range attempts {
		require.Less(t, len(a), 100)
		require.Greater(t, len(a), 20)
	}
}

// TestControlConnectionIsTriedAgain stops the only node for a while: without an event and before the next regular
// reading, the session has a control connection again.
func TestControlConnectionIsTriedAgain(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Nodes.ReconnectInterval = time.Hour })
		c.Nodes[0].Stop()
		after(10 * time.Second)
		require.Nil(t, s.control.current())
		require.Error(t, s.Stats().Control.Err)
		c.Nodes[0].Start()
		after(2 * reconnectMax)
		require.NotNil(t, s.control.current())
		require.NoError(t, s.Stats().Control.Err)
	})
}

func TestControlFailoverOrder(t *testing.T) {
	nodes := []*node{testNode(1, "a", "r"), testNode(2, "b", "r"), testNode(3, "a", "r"), testNode(4, "a", "r"), testNode(5, "b", "r")}
	firsts := map[string]int{}
	for range 200 {
		up, down := failoverOrder(nodes, "127.0.0.1:9042", announcedAddr, func(n *node) bool { return n.info.ID[15] != 4 })
		require.Equal(t, []string{"127.0.0.4:9042"}, down)
		require.Len(t, up, 4)
		require.Equal(t, "127.0.0.3:9042", up[0], "a connected node in the same data center")
		require.Equal(t, "127.0.0.1:9042", up[3], "the lost node")
		firsts[up[1]]++
	}
	require.Len(t, firsts, 2, "equal nodes in random order")
	up, _ := failoverOrder(nodes, "", announcedAddr, func(*node) bool { return true })
	require.Len(t, up, 5)
}

func TestEventsAreDisabled(t *testing.T) {
	for _, m := range []struct {
		cfg  EventsConfig
		want string
	}{
		{EventsConfig{}, "[TOPOLOGY_CHANGE STATUS_CHANGE SCHEMA_CHANGE]"},
		{EventsConfig{DisableSchemaEvents: true}, "[TOPOLOGY_CHANGE STATUS_CHANGE]"},
		{EventsConfig{DisableTopologyEvents: true, DisableNodeStatusEvents: true}, "[SCHEMA_CHANGE]"},
		{EventsConfig{true, true, true}, ""},
	} {
		t.Run(m.want, func(t *testing.T) {
			c := newFakeCluster(t, frame.V4, 1)
			var got atomic.Value
			c.On(func(r *fakecql.Request) bool {
				if r.Op == fakecql.OpRegister {
					in := wire.NewReader(r.Body)
					got.Store(fmt.Sprint(in.StringList()))
				}
				return false
			})
			sessionOn(c, func(cfg *ClusterConfig) { cfg.Protocol.Events = m.cfg })
			if m.want == "" {
				require.Nil(t, got.Load())
			} else {
				require.Equal(t, m.want, got.Load())
			}
		})
	}
}

// TestListenersLeaveNothing opens and closes sessions with listeners: no goroutine is left.
func TestListenersLeaveNothing(t *testing.T) {
	f := richSchema()
	c := newFakeCluster(t, frame.V5, 2)
	c.On(f.Answer)
	leak.Require(t, pooled.Held.Load)
	before := runtime.NumGoroutine()
	for range 50 {
		var r listenerLog
		cfg := configOf(c)
		r.listen(cfg)
		s, err := NewSession(t.Context(), *cfg)
		require.NoError(t, err)
		s.Close()
		r.take()
		time.Sleep(0)
		require.Empty(t, r.take(), "no listener is called after Close")
	}
	require.True(t, fakecql.Within(func() bool { return runtime.NumGoroutine() <= before+10 }))
	f.Lacks["columns"] = int32(cql.CodeServer) // the start fails
	var r listenerLog
	cfg := configOf(c)
	r.listen(cfg)
	_, err := NewSession(t.Context(), *cfg)
	require.ErrorIs(t, err, cql.CodeServer)
}

func announcedAddr(h *cql.Host) string { return h.Address.String() }
