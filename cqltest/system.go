// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"strconv"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/engine"
)

// The system tables that differ from node to node: system.local, system.peers and the like.

const partitioner = "org.apache.cassandra.dht.Murmur3Partitioner"

// A Row is a row of a system table, by column name. Values are string, int, int64, bool, [16]byte, netip.Addr,
// []string, map[string]string, time.Time, or nil for NULL.
type Row = map[string]any

// EditSystem changes the rows that the nodes return about themselves and their peers, so that clients meet rows that
// are NULL, duplicate, stale or missing. edit receives the rows of node n for the table of the keyspace system
// ("local", "peers", "peers_v2") and returns the rows to show; it may change its argument. nil restores the true rows.
func (c *Cluster) EditSystem(edit func(n *Node, table string, rows []Row) []Row) {
	if edit == nil {
		c.edit.Store(nil)
		return
	}
	c.edit.Store(&edit)
}

// edited returns the rows after the edit of EditSystem.
func (c *Cluster) edited(n *Node, table string, rows []Row) []Row {
	if edit := c.edit.Load(); edit != nil {
		return (*edit)(n, table, rows)
	}
	return rows
}

// addSystemTables adds the system tables to the data.
func (c *Cluster) addSystemTables() {
	add := func(keyspace, name, columns string, rows func(n *Node) []Row) {
		c.db.AddVirtual(engine.Virtual{
			Keyspace: keyspace, Name: name, Columns: columns,
			Rows: func(node any) []map[string]any {
				n, _ := node.(*Node)
				if n == nil { // Exec has no node: use the first one
					all := c.topo.Load().nodes
					if len(all) == 0 {
						return nil
					}
					n = all[0]
				}
				return rows(n)
			},
		})
	}
	scylla := c.cfg.Scylla != nil
	if scylla {
		add("system", "local", `key text p; bootstrapped text; broadcast_address inet; cluster_name text; cql_version text;
			data_center text; gossip_generation int; host_id uuid; listen_address inet;
			native_protocol_version text; partitioner text; rack text; release_version text; rpc_address inet;
			schema_version uuid; supported_features text; tokens set<text>; truncated_at map<uuid, blob>`, c.localRows)
		add("system", "clients", `address inet p; port int c; client_type text c; client_options map<text, text>;
			connection_stage text; driver_name text; driver_version text; hostname text; protocol_version int; shard_id int; ssl_cipher_suite text;
			ssl_enabled boolean; ssl_protocol text; username text`, c.clientRows)
		add("system", "client_routes", `connection_id text p; host_id uuid c; address text; port int; tls_port int;
			alternator_port int; alternator_https_port int`, c.routeRows)
		add("system", "versions", "key text p; build_id text; build_mode text; version text", c.versionRows)
		c.streams.addTables(add)
	} else {
		add("system", "local", `key text p; bootstrapped text; broadcast_address inet; broadcast_port int; cluster_name text;
			cql_version text; data_center text; gossip_generation int; host_id uuid; listen_address inet;
			listen_port int; native_protocol_version text; partitioner text; rack text; release_version text;
			rpc_address inet; rpc_port int; schema_version uuid; tokens set<text>;
			truncated_at map<uuid, blob>`, c.localRows)
		add("system", "peers_v2", `peer inet p; peer_port int c; data_center text; host_id uuid; native_address inet; native_port int;
			preferred_ip inet; preferred_port int; rack text; release_version text; schema_version uuid;
			tokens set<text>`, func(n *Node) []Row { return c.peerRows(n, true) })
		add("system_views", "clients", `address inet p; port int c; client_options map<text, text>; connection_stage text;
			driver_name text; driver_version text; hostname text; keyspace_name text; protocol_version int;
			request_count bigint; ssl_cipher_suite text; ssl_enabled boolean; ssl_protocol text; username text`, c.clientRows)
		add("system_views", "settings", "name text p; value text", c.settingRows)
		c.addAuthTables(add)
	}
	add("system", "peers", `peer inet p; data_center text; host_id uuid; preferred_ip inet; rack text; release_version text;
			rpc_address inet; schema_version uuid; tokens set<text>`, func(n *Node) []Row { return c.peerRows(n, false) })
	add("system_traces", "sessions", `session_id uuid p; client inet; command text; coordinator inet; coordinator_port int; duration int;
			parameters map<text, text>; request text; started_at timestamp`, func(*Node) []Row { return c.traces.sessionRows() })
	add("system_traces", "events", `session_id uuid p; event_id timeuuid c; activity text; source inet; source_elapsed int;
			source_port int; thread text`, func(*Node) []Row { return c.traces.eventRows() })
}

func tokenTexts(tokens []int64) []string {
	list := make([]string, len(tokens))
	for i, t := range tokens {
		list[i] = strconv.FormatInt(t, 10)
	}
	return list
}

// storagePort returns the port between nodes, where nothing listens. Where nodes share an address it differs from node
// to node, because it is part of the key of peers_v2.
func (n *Node) storagePort() int {
	if n.cluster.cfg.Network == Ports {
		return int(n.Addr().Port())
	}
	return 7000
}

// describe returns the columns that local and peers share.
func (n *Node) describe() Row {
	return Row{
		"data_center": n.dc, "rack": n.rack, "host_id": n.id, "release_version": n.cluster.cfg.Version,
		"schema_version": n.schemaVersion(), "tokens": tokenTexts(n.tokens), "rpc_address": n.Addr().Addr(),
	}
}

// localRows returns the row of system.local that a node returns, after edits of the test.
func (c *Cluster) localRows(n *Node) []Row {
	row := n.describe()
	addr := n.Addr()
	for k, v := range (Row{
		"key": "local", "bootstrapped": "COMPLETED", "broadcast_address": addr.Addr(), "cluster_name": c.cfg.ClusterName,
		"gossip_generation": int(n.started.Unix()), "listen_address": addr.Addr(),
		"native_protocol_version": strconv.Itoa(c.cfg.Protocol),
		"partitioner":             partitioner,
	}) {
		row[k] = v
	}
	if c.cfg.Scylla != nil {
		row["cql_version"], row["supported_features"] = "3.3.1", "LWT,TABLETS"
		return c.edited(n, "local", []Row{row})
	}
	row["cql_version"] = "3.4.7"
	row["broadcast_port"], row["listen_port"], row["rpc_port"] = n.storagePort(), n.storagePort(), int(addr.Port())
	return c.edited(n, "local", []Row{row})
}

// versionRows returns the row of system.versions of ScyllaDB. A release has a date and a commit after its number.
func (c *Cluster) versionRows(*Node) []Row {
	version := c.cfg.Scylla.Version
	if !strings.Contains(version, "-") {
		version += "-0.20260901.6f3b9d1a2c4e"
	}
	return []Row{{
		"key": "local", "version": version, "build_mode": "release", "build_id": "5c1e0d3f7a9b2468ace013579bdf2468ace01357",
	}}
}

// peerRows returns node n's rows about all other nodes, up or down.
func (c *Cluster) peerRows(n *Node, ports bool) []Row {
	var rows []Row
	for _, o := range c.topo.Load().nodes {
		if o == n {
			continue
		}
		row := o.describe()
		row["peer"] = o.Addr().Addr()
		if ports {
			row["peer_port"] = o.storagePort()
			row["native_address"], row["native_port"] = row["rpc_address"], int(o.Addr().Port())
			delete(row, "rpc_address")
		}
		rows = append(rows, row)
	}
	if ports {
		return c.edited(n, "peers_v2", rows)
	}
	return c.edited(n, "peers", rows)
}

// clientRows returns the rows of system_views.clients in Cassandra, of system.clients in ScyllaDB.
func (c *Cluster) clientRows(n *Node) []Row {
	var rows []Row
	for _, i := range n.Conns() {
		stage := "READY"
		if !i.Ready {
			stage = "ESTABLISHED"
		}
		total := 0
		for _, k := range i.Requests {
			total += k
		}
		_, cfg := c.security()
		row := Row{
			"address": i.Remote.Addr(), "port": int(i.Remote.Port()), "client_options": i.Options, "connection_stage": stage,
			"driver_name": i.Options["DRIVER_NAME"], "driver_version": i.Options["DRIVER_VERSION"],
			"hostname": i.Remote.Addr().String(), "protocol_version": int(i.Version), "request_count": int64(total),
			"shard_id": i.Shard, "ssl_enabled": cfg != nil,
		}
		if i.User != "" {
			row["username"] = i.User
		} else {
			row["username"] = "anonymous"
		}
		if i.Keyspace != "" {
			row["keyspace_name"] = i.Keyspace
		}
		if c.cfg.Scylla != nil {
			row["client_type"] = "cql"
			delete(row, "keyspace_name")
			delete(row, "request_count")
		}
		rows = append(rows, row)
	}
	return rows
}
