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

	"github.com/vecql/vecql/internal/wire"
)

// This file tests what listeners are told, and what storms and rumours of events do: nothing. Most of it runs in virtual time.

// listenerLog is every listener. It writes down what it is told.
type listenerLog struct {
	mu    sync.Mutex
	told  []string
	block chan struct{}  // each call waits for it, unless nil
	then  func(s string) // called after each
}

func (r *listenerLog) tell(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if r.block != nil {
		<-r.block
	}
	r.mu.Lock()
	r.told = append(r.told, s)
	r.mu.Unlock()
	if r.then != nil {
		r.then(s)
	}
}

// take returns what was told since it was called last.
func (r *listenerLog) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := strings.Join(r.told, ", ")
	r.told = nil
	return told
}

func (r *listenerLog) OnSessionReady(*Session)    { r.tell("ready") }
func (r *listenerLog) OnHostUp(e HostUpEvent)     { r.tell("up %s", e.Host.ConnectAddress()) }
func (r *listenerLog) OnHostDown(e HostDownEvent) { r.tell("down %s", e.Host.ConnectAddress()) }
func (r *listenerLog) OnNewHost(e NewHostEvent)   { r.tell("new %s", e.Host.ConnectAddress()) }
func (r *listenerLog) OnRemovedHost(e RemovedHostEvent) {
	r.tell("removed %s", e.Host.ConnectAddress())
}
func (r *listenerLog) OnKeyspaceCreated(e OnKeyspaceCreatedEvent) { r.tell("+%s", e.Keyspace.Name) }
func (r *listenerLog) OnKeyspaceUpdated(e OnKeyspaceUpdatedEvent) {
	r.tell("~%s %v %v", e.New.Name, e.Old.DurableWrites, e.New.DurableWrites)
}
func (r *listenerLog) OnKeyspaceDropped(e OnKeyspaceDroppedEvent) { r.tell("-%s", e.Keyspace.Name) }
func (r *listenerLog) OnTableCreated(e OnTableCreatedEvent) {
	r.tell("+%s.%s", e.Table.Keyspace, e.Table.Name)
}

func (r *listenerLog) OnTableUpdated(e OnTableUpdatedEvent) {
	r.tell("~%s.%s %d %d", e.New.Keyspace, e.New.Name, len(e.Old.Columns), len(e.New.Columns))
}

func (r *listenerLog) OnTableDropped(e OnTableDroppedEvent) {
	r.tell("-%s.%s", e.Table.Keyspace, e.Table.Name)
}

func (r *listenerLog) OnUserTypeCreated(e OnUserTypeCreatedEvent) {
	r.tell("+type %s", e.UserType.Name)
}

func (r *listenerLog) OnUserTypeUpdated(e OnUserTypeUpdatedEvent) {
	r.tell("~type %s %d", e.New.Name, len(e.New.FieldNames))
}

func (r *listenerLog) OnUserTypeDropped(e OnUserTypeDroppedEvent) {
	r.tell("-type %s", e.UserType.Name)
}

func (r *listenerLog) OnFunctionCreated(e OnFunctionCreatedEvent) {
	r.tell("+function %s", e.Function.Name)
}

func (r *listenerLog) OnFunctionUpdated(e OnFunctionUpdatedEvent) { r.tell("~function %s", e.New.Name) }

func (r *listenerLog) OnFunctionDropped(e OnFunctionDroppedEvent) {
	r.tell("-function %s", e.Function.Name)
}

func (r *listenerLog) OnAggregateCreated(e OnAggregateCreatedEvent) {
	r.tell("+aggregate %s", e.Aggregate.Name)
}

func (r *listenerLog) OnAggregateUpdated(e OnAggregateUpdatedEvent) {
	r.tell("~aggregate %s", e.New.Name)
}

func (r *listenerLog) OnAggregateDropped(e OnAggregateDroppedEvent) {
	r.tell("-aggregate %s", e.Aggregate.Name)
}

// listen has r told of everything, some of it by way of a mux.
func (r *listenerLog) listen(cfg *ClusterConfig) {
	schema := SchemaListenersMux{
		Keyspaces: []KeyspaceChangeListener{r}, Tables: []TableChangeListener{r}, UserTypes: []UserTypeChangeListener{r},
		Functions: []FunctionChangeListener{r}, Aggregates: []AggregateChangeListener{r},
	}
	hosts := HostListenersMux{HostStateChangeListeners: []HostStatusChangeListener{r}, TopologyChangeListeners: []TopologyChangeListener{r}}
	cfg.Metadata = MetadataConfig{
		HostListener:         HostListenersConfig{HostStateChangeListener: hosts, TopologyChangeListener: hosts},
		SchemaListener:       SchemaListenersConfig{schema, schema, schema, schema, schema},
		SessionReadyListener: SessionReadyListenersMux{SessionReady: []SessionReadyListener{r}},
	}
}

// after lets that much time pass and all that follows from it happen.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestListenersOfSchema(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakeCluster) {
		f := richSchema()
		c.on(f.answer)
		var r listenerLog
		c.session(r.listen)
		after(2 * time.Second)
		require.Equal(t, "ready", r.take(), "what was there at the start is not told")
		event := func(fields ...any) string {
			c.event(eventSchema, fields...)
			after(2 * eventDelay)
			return r.take()
		}
		require.Empty(t, event("UPDATED", "TABLE", "ks", "t"), "nothing is different")
		f.columns("ks", "t2", "more int")
		require.Equal(t, "~ks.t2 1 2", event("UPDATED", "TABLE", "ks", "t2"))
		f.drop("ks", "zip")
		f.userType("ks", "zip", "code text", "country text")
		require.Equal(t, "~type zip 2", event("UPDATED", "TYPE", "ks", "zip"))
		f.add("indexes", row{"keyspace_name": "ks", "table_name": "t2", "index_name": "i", "kind": "KEYS", "options": map[string]string{"target": "more"}})
		require.Equal(t, "~ks.t2 2 2", event("UPDATED", "TABLE", "ks", "t2"))
		f.keyspace("new", "SimpleStrategy", nil)
		f.table("new", "n", "id frozen<u> partition_key")
		f.userType("new", "u", "x int")
		require.Equal(t, "+new, +type u, +new.n", event("CREATED", "KEYSPACE", "new"))
		f.drop("new", "")
		require.Equal(t, "-new.n, -type u, -new", event("DROPPED", "TABLE", "new", "n"))
		f.mu.Lock()
		f.rows["keyspaces"][1]["durable_writes"] = false
		f.rows["functions"] = f.rows["functions"][1:]
		f.rows["aggregates"][0]["initcond"] = "5"
		f.mu.Unlock()
		require.Equal(t, "-function f, ~ks true false, ~aggregate agg", event("UPDATED", "KEYSPACE", "ks"))

		// No event tells of this one, only the schema's version when the node is asked next.
		f.drop("ks", "t2")
		c.mu.Lock()
		c.nodes[0].schema = UUID{9}
		c.mu.Unlock()
		after(2 * time.Minute)
		require.Equal(t, "-ks.t2", r.take())
		f.reads()
		after(time.Hour)
		require.Empty(t, f.reads(), "nothing is read while nothing happens")
	})
}

func TestListenersOfHosts(t *testing.T) {
	bubble(t, 4, func(t *testing.T, c *fakeCluster) {
		c.peers = c.nodes[:3]
		c.nodes[2].stop()
		var r listenerLog
		c.session(r.listen, func(cfg *ClusterConfig) { cfg.Metadata.SchemaListener = SchemaListenersConfig{} })
		after(time.Second)
		require.Equal(t, "ready, down 127.0.0.3", r.take())
		c.nodes[2].start()
		after(10 * time.Second)
		require.Equal(t, "up 127.0.0.3", r.take(), "without an event")
		c.nodes[1].stop()
		after(time.Second)
		require.Equal(t, "down 127.0.0.2", r.take())
		c.peers = []*fakeNode{c.nodes[0], c.nodes[2], c.nodes[3]}
		c.event(eventTopology, "NEW_NODE", net.IP{127, 0, 0, 4})
		after(2 * eventDelay)
		require.Equal(t, "removed 127.0.0.2, new 127.0.0.4, up 127.0.0.4", r.take())
		c.nodes[2].moveTo("127.0.0.9") // the same host id
		c.nodes[2].stop()
		c.event(eventStatus, "DOWN", net.IP{127, 0, 0, 3})
		after(2 * eventDelay)
		told := r.take()
		require.True(t, strings.HasPrefix(told, "down 127.0.0."), told)
		require.NotContains(t, told, ",")
		c.nodes[2].start()
		after(10 * time.Second)
		require.Equal(t, "up 127.0.0.9", r.take())
	})
}

// TestListenersMisbehave has listeners that panic, call the session, take long, and close it.
func TestListenersMisbehave(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakeCluster) {
		f := richSchema()
		c.on(f.answer)
		var s *Session
		ready := make(chan struct{})
		r := listenerLog{block: make(chan struct{}, 1000)}
		r.then = func(told string) {
			switch told {
			case "ready":
				<-ready
				panic("in a listener")
			case "+ks.t3":
				if _, err := s.TableMetadata("ks", "t3"); err != nil {
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
		s = c.session(r.listen)
		close(ready)
		event := func(change, table string) {
			c.event(eventSchema, change, "TABLE", "ks", table)
			after(2 * eventDelay)
		}
		f.table("ks", "t3", "id int partition_key")
		event("CREATED", "t3")
		require.Equal(t, "ready, +ks.t3", r.take())
		f.table("ks", "t4", "id int partition_key")
		event("CREATED", "t4") // it is told of this one, and blocks
		for i := range 100 {   // so these are summed up
			f.table("ks", fmt.Sprintf("u%d", i), "id int partition_key")
			event("CREATED", fmt.Sprintf("u%d", i))
			f.drop("ks", fmt.Sprintf("u%d", i))
			event("DROPPED", fmt.Sprintf("u%d", i))
		}
		require.NoError(t, s.Query("INSERT").Exec(), "nobody waits for a listener")
		f.drop("ks", "t4")
		event("DROPPED", "t4")
		for range 100 {
			r.block <- struct{}{}
		}
		after(time.Second)
		require.Equal(t, "+ks.t4, -ks.t4", r.take())
		require.True(t, s.Closed())
	})
}

func TestListenersNeedTheirCache(t *testing.T) {
	var r listenerLog
	for _, m := range []struct {
		name string
		cfg  MetadataConfig
		want string
	}{
		{"nothing kept", MetadataConfig{CacheMode: Disabled, SchemaListener: SchemaListenersConfig{KeyspaceChangeListener: &r}}, "Disabled"},
		{"keyspaces kept", MetadataConfig{CacheMode: KeyspaceOnly, SchemaListener: SchemaListenersConfig{TableChangeListener: &r}}, "KeyspaceOnly"},
		{"no such mode", MetadataConfig{CacheMode: 7}, "CacheMode is 7"},
	} {
		t.Run(m.name, func(t *testing.T) {
			cfg := NewCluster("127.0.0.1")
			cfg.Metadata = m.cfg
			_, err := cfg.CreateSession()
			require.ErrorContains(t, err, m.want)
		})
	}
}

func TestListenersOfKeyspacesOnly(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakeCluster) {
		f := richSchema()
		c.on(f.answer)
		var r listenerLog
		c.session(func(cfg *ClusterConfig) {
			cfg.Metadata = MetadataConfig{CacheMode: KeyspaceOnly, SchemaListener: SchemaListenersConfig{KeyspaceChangeListener: &r}}
		})
		f.keyspace("new", "SimpleStrategy", nil)
		c.event(eventSchema, "CREATED", "KEYSPACE", "new")
		after(2 * eventDelay)
		require.Equal(t, "+new", r.take())
		f.reads()
		c.event(eventSchema, "CREATED", "TABLE", "new", "t")
		after(2 * eventDelay)
		require.Empty(t, f.reads())
	})
}

// TestFault22EventStorm sends 100,000 events, and the control connection dies in the middle of them: requests are not delayed, memory
// does not grow with them, the system tables are read a few times, and afterwards the session knows what there is.
func TestFault22EventStorm(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakeCluster) {
		f := richSchema()
		var reads atomic.Int32
		c.on(func(r *fakeRequest) bool {
			if strings.Contains(r.stmt, "system.local") {
				reads.Add(1)
			}
			return f.answer(r)
		})
		var r listenerLog
		s := c.session(r.listen)
		after(2 * eventDelay)
		require.Equal(t, "ready", r.take())
		f.reads()
		reads.Store(0)
		storm := 100_000
		if poison {
			storm = 20_000
		}
		send := func(p *fakePeer, from, to int) {
			for i := from; i < to; i++ {
				switch i % 4 {
				case 0:
					p.push(eventBody(eventStatus, []string{"UP", "DOWN"}[i/4%2], net.IP{10, 0, byte(i >> 16), byte(i >> 8)}))
				case 1:
					p.push(eventBody(eventTopology, "NEW_NODE", net.IP{10, byte(i >> 16), byte(i >> 8), byte(i)}))
				default:
					p.push(eventBody(eventSchema, "CREATED", "TABLE", fmt.Sprint("ks", i%1000), fmt.Sprint("t", i)))
				}
				if i%100 == 0 {
					time.Sleep(10 * time.Millisecond) // 10,000 a second
				}
			}
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			p := c.control.Load()
			send(p, 0, storm/2)
			_ = p.conn.Close()
			for c.control.Load() == p {
				time.Sleep(time.Millisecond)
			}
			f.table("ks", "kept", "id int partition_key")
			send(c.control.Load(), storm/2, storm)
		}()
		var slowest time.Duration
		for running := true; running; {
			began := time.Now()
			require.NoError(t, s.Query("INSERT").Idempotent(true).Exec())
			slowest = max(slowest, time.Since(began))
			time.Sleep(50 * time.Millisecond)
			s.control.mu.Lock()
			require.LessOrEqual(t, len(s.control.due.up), maxRumours)
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
		require.Less(t, int(reads.Load()), 40, "once a second at most")
		require.Less(t, len(f.reads()), 40*len(schemaSources))
		for i, n := range c.nodes {
			require.Less(t, c.nodes[i].dialCount(), 10, n.ip)
		}
	})
}

// TestFault22EventsAreDropped fills the queue of a connection whose receiver is slow: what was dropped is one event that says so.
func TestFault22EventsAreDropped(t *testing.T) {
	c := newFakeCluster(t, protoV4, 1)
	s := c.session()
	conn := s.control.current()
	gate := make(chan struct{})
	var got []any
	var lost atomic.Bool
	handle := conn.cfg.onEvent
	first := true
	conn.cfg.onEvent = func(e any) {
		if first {
			first = false
			<-gate
		}
		got = append(got, e)
		handle(e)
		if _, ok := e.(eventsLost); ok {
			lost.Store(true)
		}
	}
	for i := range 3 * maxEvents {
		c.event(eventSchema, "CREATED", "TABLE", "ks", fmt.Sprint(i))
	}
	require.NoError(t, s.Query("INSERT").Exec(), "the reader did not wait")
	require.NoError(t, s.control.awaitSchemaAgreement(t.Context(), s.control.current), "all events have arrived")
	close(gate)
	require.True(t, within(lost.Load))
	require.Len(t, got, maxEvents+1)
	require.Equal(t, eventsLost{}, got[maxEvents])
}

// TestFault23Rumours has the server say UP and NEW_NODE of a node that does not listen yet, and DOWN of one that answers.
func TestFault23Rumours(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakeCluster) {
		c.nodes[2].stop()
		var r listenerLog
		s := c.session(r.listen, func(cfg *ClusterConfig) { cfg.Metadata.SchemaListener = SchemaListenersConfig{} })
		after(time.Minute) // the attempts to reach the third are far apart by now
		require.Equal(t, "ready, down 127.0.0.3", r.take())
		dials := c.nodes[2].dialCount()
		for range 100 { // ten seconds of rumours
			for _, e := range []string{"UP", "DOWN", "UP"} {
				c.event(eventStatus, e, net.IP{127, 0, 0, 3})
			}
			c.event(eventTopology, "NEW_NODE", net.IP{127, 0, 0, 3})
			c.event(eventStatus, "DOWN", net.IP{127, 0, 0, 2})
			require.NoError(t, s.Query("INSERT").SetHostID(c.nodes[1].id.String()).Exec(), "it is said to be down, and answers")
			after(100 * time.Millisecond)
		}
		after(2 * eventDelay)
		require.Empty(t, r.take(), "nobody is told of rumours")
		require.Less(t, c.nodes[2].dialCount()-dials, 100, "200 rumours do not cost an attempt each")
		require.EqualValues(t, 1, c.nodes[1].dialCount(), "the connection was kept")

		c.nodes[2].start()
		c.event(eventStatus, "UP", net.IP{127, 0, 0, 3})
		after(eventDelay + reconnectMin)
		require.Equal(t, "up 127.0.0.3", r.take(), "as soon as the delays are over")
	})
}

// TestControlFailsOver kills the control connection's node: another one takes over, the view is read from it, and what
// was kept of the schema is read again.
func TestControlFailsOver(t *testing.T) {
	bubble(t, 4, func(t *testing.T, c *fakeCluster) {
		f := richSchema()
		c.on(f.answer)
		s := c.session()
		_, err := s.TableMetadata("ks", "t3")
		require.ErrorIs(t, err, ErrNoTable)
		f.table("ks", "t3", "id int partition_key")
		c.mu.Lock()
		c.peers = c.nodes[1:]
		c.mu.Unlock()
		c.nodes[0].stop()
		after(time.Second)
		require.Len(t, s.GetHosts(), 3)
		require.NotEqual(t, c.nodes[0].addr(), s.control.current().addr())
		_, err = s.TableMetadata("ks", "t3")
		require.NoError(t, err)
	})
}

// TestControlRetriesWithJitter takes all nodes away: the attempts get rarer, and two sessions do not make them at the same moments.
func TestControlRetriesWithJitter(t *testing.T) {
	var attempts [2][]time.Duration
	for i := range attempts {
		bubble(t, 1, func(t *testing.T, c *fakeCluster) {
			c.session()
			began := time.Now()
			last := c.nodes[0].dialCount()
			c.nodes[0].stop()
			for time.Since(began) < time.Minute {
				after(time.Millisecond)
				if now := c.nodes[0].dialCount(); now != last {
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

func TestControlFailoverOrder(t *testing.T) {
	nodes := []*node{testNode(1, "a", "r"), testNode(2, "b", "r"), testNode(3, "a", "r"), testNode(4, "a", "r"), testNode(5, "b", "r")}
	firsts := map[string]int{}
	for range 200 {
		up, down := failoverOrder(nodes, "127.0.0.1:9042", func(n *node) bool { return n.info.id[15] != 4 })
		require.Equal(t, []string{"127.0.0.4:9042"}, down)
		require.Len(t, up, 4)
		require.Equal(t, "127.0.0.3:9042", up[0], "connected, and in the same data centre")
		require.Equal(t, "127.0.0.1:9042", up[3], "the one that was lost")
		firsts[up[1]]++
	}
	require.Len(t, firsts, 2, "equals in any order")
	up, _ := failoverOrder(nodes, "", func(*node) bool { return true })
	require.Len(t, up, 5)
}

func TestEventsAreSwitchedOff(t *testing.T) {
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
			c := newFakeCluster(t, protoV4, 1)
			var got atomic.Value
			c.on(func(r *fakeRequest) bool {
				if r.op == opRegister {
					in := wire.NewReader(r.body)
					got.Store(fmt.Sprint(in.StringList()))
				}
				return false
			})
			c.session(func(cfg *ClusterConfig) { cfg.Events = m.cfg })
			if m.want == "" {
				require.Nil(t, got.Load())
			} else {
				require.Equal(t, m.want, got.Load())
			}
		})
	}
}

// TestListenersLeaveNothing opens and closes sessions with listeners.
func TestListenersLeaveNothing(t *testing.T) {
	f := richSchema()
	c := newFakeCluster(t, protoV5, 2)
	c.on(f.answer)
	requireNothingLeft(t)
	before := runtime.NumGoroutine()
	for range 50 {
		var r listenerLog
		cfg := c.config()
		r.listen(cfg)
		s, err := cfg.CreateSession()
		require.NoError(t, err)
		s.Close()
		r.take()
		time.Sleep(0)
		require.Empty(t, r.take(), "after Close nobody is called")
	}
	require.True(t, within(func() bool { return runtime.NumGoroutine() <= before+10 }))
	f.lacks["columns"] = CodeServer // the start fails
	var r listenerLog
	cfg := c.config()
	r.listen(cfg)
	_, err := cfg.CreateSession()
	require.ErrorIs(t, err, CodeServer)
}
