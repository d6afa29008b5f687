// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"strconv"
)

// The tables of system_auth and the settings of a node.

// roles returns the names of the users; none means that there is no authentication.
func (c *Cluster) roles() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users == nil {
		return nil
	}
	return sortedKeys(c.users())
}

// addAuthTables adds the tables of system_auth. Only roles has rows: there are no permissions.
func (c *Cluster) addAuthTables(add func(keyspace, name, columns string, rows func(*Node) []Row)) {
	const ks = "system_auth"
	none := func(*Node) []Row { return nil }
	add(ks, "roles", "role text p; can_login boolean; is_superuser boolean; member_of set<text>; salted_hash text", c.roleRows)
	add(ks, "role_members", "role text p; member text c", none)
	add(ks, "role_permissions", "role text p; resource text c; permissions set<text>", none)
	//nolint:misspell // Cassandra's name
	add(ks, "resource_role_permissons_index", "resource text p; role text c", none)
	add(ks, "network_permissions", "role text p; dcs frozen<set<text>>", none)
	add(ks, "cidr_groups", "cidr_group text p; cidrs frozen<set<frozen<tuple<inet, smallint>>>>", none)
	add(ks, "cidr_permissions", "role text p; cidr_groups frozen<set<text>>", none)
	add(ks, "identity_to_role", "identity text p; role text", none)
}

// roleRows returns the users as superusers. Without authentication there is Cassandra's default role.
func (c *Cluster) roleRows(*Node) []Row {
	names := c.roles()
	if len(names) == 0 {
		names = []string{"cassandra"}
	}
	rows := make([]Row, len(names))
	for i, name := range names {
		rows[i] = Row{"role": name, "can_login": true, "is_superuser": true}
	}
	return rows
}

// settingRows returns those settings of a node that the cluster has.
func (c *Cluster) settingRows(n *Node) []Row {
	addr := n.Addr()
	var rows []Row
	for name, value := range map[string]string{
		"cluster_name": c.cfg.ClusterName, "endpoint_snitch": "GossipingPropertyFileSnitch",
		"listen_address": addr.Addr().String(), "native_transport_port": strconv.Itoa(int(addr.Port())),
		"num_tokens": strconv.Itoa(len(n.tokens)), "partitioner": partitioner, "rpc_address": addr.Addr().String(),
		"storage_port": strconv.Itoa(n.storagePort()),
	} {
		rows = append(rows, Row{"name": name, "value": value})
	}
	return rows
}
