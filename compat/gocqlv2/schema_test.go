// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// Metadata, listeners and nodes.

func TestKeyspaceMetadata(t *testing.T) {
	_, s := open(t)
	k, err := s.KeyspaceMetadata("shop")
	require.NoError(t, err)
	again, err := s.KeyspaceMetadata("shop")
	require.NoError(t, err)
	require.Same(t, k, again)
	rows := k.Tables["rows"]
	require.Equal(t, []string{"c", "p", "v"}, rows.OrderedColumns, "by name, as in system_schema.columns")
	require.Equal(t, "p", rows.PartitionKey[0].Name)
	require.Same(t, rows.Columns["c"], rows.ClusteringColumns[0])
	require.Equal(t, gocql.ColumnClusteringKey, rows.Columns["c"].Kind)
	require.Equal(t, "clustering_key", rows.Columns["c"].Kind.String())
	require.Equal(t, gocql.TypeText, rows.Columns["v"].Type.Type(), "schemas write text")
	require.Equal(t, gocql.ASC, rows.Columns["c"].Order)
	tags := k.Tables["items"].Columns["tags"].Type.(gocql.CollectionType)
	require.Equal(t, gocql.TypeSet, tags.Type())
	require.Equal(t, gocql.TypeText, tags.Elem.Type())
	home := k.Tables["items"].Columns["home"].Type.(gocql.UDTTypeInfo)
	require.Equal(t, "address", home.Name)
	require.Equal(t, []string{"street", "number"}, k.UserTypes["address"].FieldNames)
	require.Equal(t, gocql.TypeInt, k.UserTypes["address"].FieldTypes[1].Type())

	c := k.Clone()
	require.Equal(t, k, c)
	c.Tables["rows"].Columns["v"].Name = "changed"
	c.UserTypes["address"].FieldNames[0] = "changed"
	require.Equal(t, "v", rows.Columns["v"].Name)
	require.Equal(t, "street", k.UserTypes["address"].FieldNames[0])
	require.Nil(t, (*gocql.KeyspaceMetadata)(nil).Clone())

	all, err := s.AllKeyspaceMetadata()
	require.NoError(t, err)
	require.Contains(t, all, "system")
	require.Equal(t, k, all["shop"])
}

func TestStatementMetadata(t *testing.T) {
	_, s := open(t)
	m, err := s.StatementMetadata(context.Background(), "SELECT v FROM rows WHERE c = ? AND p = ?", "shop")
	require.NoError(t, err)
	require.Equal(t, "shop", m.Keyspace)
	require.Equal(t, "rows", m.Table)
	require.Equal(t, []string{"c", "p"}, names(m.BindColumns))
	require.Equal(t, []int{1}, m.PKBindColumnIndexes)
	require.Equal(t, []string{"v"}, names(m.ResultColumns))
	_, err = s.StatementMetadata(context.Background(), "SELECT x FROM rows", "")
	require.IsType(t, &gocql.RequestErrInvalid{}, err)
}

// changes records the calls of listeners.
type changes struct {
	mu    sync.Mutex
	calls []string
}

func (c *changes) add(call string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, call)
}

func (c *changes) has(call string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, have := range c.calls {
		if have == call {
			return true
		}
	}
	return false
}

func (c *changes) OnSessionReady(s *gocql.Session)        { c.add("ready") }
func (c *changes) OnHostUp(e gocql.HostUpEvent)           { c.add("up " + e.Host.HostID()) }
func (c *changes) OnHostDown(e gocql.HostDownEvent)       { c.add("down " + e.Host.HostID()) }
func (c *changes) OnNewHost(e gocql.NewHostEvent)         { c.add("new") }
func (c *changes) OnRemovedHost(e gocql.RemovedHostEvent) { c.add("removed") }
func (c *changes) OnKeyspaceCreated(e gocql.OnKeyspaceCreatedEvent) {
	c.add("created " + e.Keyspace.Name)
}

func (c *changes) OnKeyspaceUpdated(e gocql.OnKeyspaceUpdatedEvent) { c.add("updated " + e.New.Name) }

func (c *changes) OnKeyspaceDropped(e gocql.OnKeyspaceDroppedEvent) {
	c.add("dropped " + e.Keyspace.Name)
}
func (c *changes) OnTableCreated(e gocql.OnTableCreatedEvent) { c.add("created " + e.Table.Name) }
func (c *changes) OnTableDropped(e gocql.OnTableDroppedEvent) { c.add("dropped " + e.Table.Name) }
func (c *changes) OnTableUpdated(e gocql.OnTableUpdatedEvent) {
	if len(e.New.Columns) > len(e.Old.Columns) {
		c.add("updated " + e.New.Name)
	}
}

func (c *changes) OnUserTypeCreated(e gocql.OnUserTypeCreatedEvent) {
	c.add("created " + e.UserType.Name)
}

func (c *changes) OnUserTypeUpdated(e gocql.OnUserTypeUpdatedEvent) { c.add("updated " + e.New.Name) }

func (c *changes) OnUserTypeDropped(e gocql.OnUserTypeDroppedEvent) {
	c.add("dropped " + e.UserType.Name)
}

func TestListeners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster, cfg := start(t, 2)
		c := &changes{}
		hosts := gocql.HostListenersMux{
			HostStateChangeListeners: []gocql.HostStatusChangeListener{c}, TopologyChangeListeners: []gocql.TopologyChangeListener{c},
		}
		schemas := gocql.SchemaListenersMux{
			Keyspaces: []gocql.KeyspaceChangeListener{c}, Tables: []gocql.TableChangeListener{c},
			UserTypes: []gocql.UserTypeChangeListener{c},
		}
		cfg.Metadata.SessionReadyListener = gocql.SessionReadyListenersMux{SessionReady: []gocql.SessionReadyListener{c}}
		cfg.Metadata.HostListener = gocql.HostListenersConfig{HostStateChangeListener: hosts, TopologyChangeListener: hosts}
		cfg.Metadata.SchemaListener = gocql.SchemaListenersConfig{
			KeyspaceChangeListener: schemas, TableChangeListener: schemas, UserTypeChangeListener: schemas,
			FunctionChangeListener: schemas, AggregateChangeListener: schemas,
		}
		cfg.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 1000, Interval: time.Millisecond}
		s := connect(t, cfg)
		require.True(t, c.has("ready"))
		eventually := func(call string) {
			t.Helper()
			require.Eventually(t, func() bool { return c.has(call) }, 20*time.Second, time.Millisecond, call)
		}
		exec := func(text, call string) {
			t.Helper()
			require.NoError(t, s.Query(text).Exec())
			eventually(call)
		}
		exec("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", "created k")
		exec("ALTER KEYSPACE k WITH durable_writes = false", "updated k")
		exec("CREATE TABLE k.t (id int PRIMARY KEY)", "created t")
		exec("ALTER TABLE k.t ADD v text", "updated t")
		exec("CREATE TYPE k.u (a int)", "created u")
		exec("ALTER TYPE k.u ADD b int", "updated u")
		exec("DROP TYPE k.u", "dropped u")
		exec("DROP TABLE k.t", "dropped t")
		exec("DROP KEYSPACE k", "dropped k")

		id := gocql.UUID(cluster.Node(1).HostID()).String()
		cluster.Node(1).Kill()
		eventually("down " + id)
		require.NoError(t, cluster.Node(1).Restart())
		eventually("up " + id)
		_, err := cluster.AddNode("datacenter1", "rack1")
		require.NoError(t, err)
		eventually("new")
		cluster.RemoveNode(cluster.Node(1))
		eventually("removed")
	})
}

func TestCacheModes(t *testing.T) {
	_, cfg := start(t, 1)
	c := &changes{}
	cfg.Metadata.CacheMode = gocql.Disabled
	cfg.Metadata.SchemaListener.KeyspaceChangeListener = c
	_, err := cfg.CreateSession()
	require.Error(t, err)
	cfg.Metadata.CacheMode = gocql.KeyspaceOnly
	cfg.Metadata.SchemaListener.TableChangeListener = c
	_, err = cfg.CreateSession()
	require.Error(t, err)
}

func TestHostInfo(t *testing.T) {
	cluster, s := open(t)
	h := s.GetHosts()[0]
	node := cluster.Node(0)
	require.Equal(t, node.Addr().String(), h.ConnectAddressAndPort())
	require.Equal(t, node.Addr().String(), h.HostnameAndPort())
	require.Equal(t, gocql.UUID(node.HostID()).String(), h.HostID())
	require.Contains(t, h.String(), "data_center=\"datacenter1\"")
	require.False(t, (*gocql.HostInfo)(nil).IsUp())

	other := hostIn(t, "10.0.0.9", "a", "r")
	require.True(t, other.IsUp(), "no session knows better")
	require.False(t, other.Equal(h))
	require.Equal(t, 9042, other.Port())
	_, err := gocql.NewTestHostInfoFromRow(map[string]any{"rack": "r"})
	require.ErrorContains(t, err, "address")
	_, err = gocql.NewTestHostInfoFromRow(map[string]any{"rack": 5})
	require.ErrorContains(t, err, "rack")
	byText, err := gocql.NewTestHostInfoFromRow(map[string]any{
		"rpc_address": "10.0.0.7", "host_id": "b7a98150-0000-4000-8000-000000000000", "native_port": 9999,
		"release_version": "4.0-rc1-SNAPSHOT",
	})
	require.NoError(t, err)
	require.Equal(t, "10.0.0.7:9999", byText.ConnectAddressAndPort())
	require.Equal(t, "4.0.0-rc1", byText.Version().String())
	_, err = gocql.NewHostInfoFromAddrPort(nil, 1)
	require.Error(t, err)
}

func TestLogger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster, cfg := start(t, 2)
		l := &logs{}
		cfg.Logger = l
		connect(t, cfg)
		cluster.RemoveNode(cluster.Node(1))
		require.Eventually(t, func() bool {
			l.mu.Lock()
			defer l.mu.Unlock()
			for _, r := range l.records {
				if r == "node removed" {
					return true
				}
			}
			return false
		}, 20*time.Second, time.Millisecond)
		l.mu.Lock()
		defer l.mu.Unlock()
		require.Contains(t, l.names, "node")
		require.Equal(t, []any{int64(5), true, "x", "<nil>", ""}, []any{
			gocql.NewLogFieldInt("a", 5).Value.Int64(), gocql.NewLogFieldBool("a", true).Value.Bool(),
			gocql.NewLogFieldString("a", "x").Value.Any(), gocql.NewLogFieldIP("a", nil).Value.String(),
			gocql.NewLogFieldError("a", nil).Value.String(),
		})
		require.Panics(t, func() { gocql.NewLogFieldInt("a", 5).Value.Bool() })
		require.Equal(t, "Int64", gocql.NewLogFieldInt("a", 5).Value.LogFieldValueType().String())
		require.Equal(t, "warn", gocql.LogLevelWarn.String())
	})
}

type logs struct {
	mu      sync.Mutex
	records []string
	names   []string
}

func (l *logs) log(msg string, fields []gocql.LogField) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, msg)
	for _, f := range fields {
		l.names = append(l.names, f.Name)
	}
}

func (l *logs) Error(msg string, fields ...gocql.LogField)   { l.log(msg, fields) }
func (l *logs) Warning(msg string, fields ...gocql.LogField) { l.log(msg, fields) }
func (l *logs) Info(msg string, fields ...gocql.LogField)    { l.log(msg, fields) }
func (l *logs) Debug(msg string, fields ...gocql.LogField)   { l.log(msg, fields) }
