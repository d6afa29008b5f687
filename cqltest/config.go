// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"
)

// Config describes a cluster. The zero value is a Cassandra of three nodes in one data centre, on ports of 127.0.0.1.
type Config struct {
	Nodes       int          // default 3; not used with DataCenters
	DataCenters []DataCenter // default one, "datacenter1" with all nodes in "rack1"
	VNodes      int          // tokens of each node; default 16
	ClusterName string       // default "cqltest"
	Version     string       // release_version; default "5.0.9", with Scylla "3.0.8"

	// Protocol is the highest version of the native protocol: 4 or 5. Default 5, with Scylla 4 (it has no other). 3 makes a server that
	// refuses 4 and 5, and answers that in frames of v3, which is all that it can say.
	Protocol int
	// Network says where the nodes listen. Default Ports, with Scylla Addresses.
	Network Network
	// Window is the number of bytes that a connection InMemory holds in each direction before writes wait. Default 64 KiB.
	Window int
	TLS    *tls.Config // wraps every connection; default none
	// Users are the passwords by user name (SASL PLAIN). Default nil: no authentication.
	Users map[string]string
	// Authenticator is the class that AUTHENTICATE names. Default org.apache.cassandra.auth.PasswordAuthenticator.
	Authenticator string
	// MaxRequest is the largest body of a request, in bytes. Larger ones are refused. Default 16 MiB, as Cassandra's
	// native_transport_max_frame_size.
	MaxRequest int
	// BatchSizeFail is the size in bytes above which a batch over several partitions is refused. Default 50 KiB, with Scylla 1 MiB; negative:
	// no limit.
	BatchSizeFail int
	// KeepPrepared makes the nodes prepare statements again by themselves when a table has changed, so that clients hear of it by
	// Metadata_changed. Default: they forget such statements, and answer UNPREPARED.
	KeepPrepared bool

	Scylla *Scylla // emulates ScyllaDB; default nil: Cassandra

	// Now is the clock of the cluster; default time.Now. See also Cluster.StepClock.
	Now func() time.Time
	// OnRequest, when not nil, is called for each request that can be read, before it is executed, on the connection's goroutine.
	OnRequest func(Request)
}

// DataCenter describes a data centre. Nodes are spread over its racks in turns.
type DataCenter struct {
	Name  string
	Racks []string // default "rack1"
	Nodes int      // default 3
}

// Scylla describes what is particular to ScyllaDB.
type Scylla struct {
	Shards    int  // of each node; default 2
	IgnoreMSB int  // bits of the token that sharding ignores; default 12
	Tablets   int  // tablets of each table, for all keyspaces with NetworkTopologyStrategy. Default 0: vnodes
	TabletsV2 bool // also offers TABLETS_ROUTING_V2_EXPERIMENTAL
	// NAT loses the client's source ports, as address translation does: the shard-aware port connects to any shard.
	NAT bool
	// NoShardAwarePort leaves only the plain port.
	NoShardAwarePort bool
	// NoMetadataID, NoLWTMark and NoRateLimit leave out the extensions of these names, as older releases do.
	NoMetadataID, NoLWTMark, NoRateLimit bool
}

// Network says where nodes listen.
type Network int

// The networks.
const (
	DefaultNetwork Network = iota
	// Ports: 127.0.0.1, each node with a port of its own, as system.peers_v2 can tell.
	Ports
	// Addresses: 127.x.y.z, the same port for all, as clients expect that read system.peers. Needs a system that answers to all of
	// 127.0.0.0/8, as Linux does.
	Addresses
	// InMemory: 10.0.0.0/8, port 9042, reachable through Cluster.Dialer only. No socket is opened, so a cluster that is started in a
	// testing/synctest bubble lives in its time.
	InMemory
)

const (
	defaultWindow     = 64 << 10
	defaultMaxRequest = 16 << 20
)

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// withDefaults returns c with its zero fields filled in, or all its faults joined.
func (c Config) withDefaults() (Config, error) {
	var errs []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("cqltest: Config: "+format, args...))
		}
	}
	protocol, network, version, batch := 5, Ports, "5.0.9", 0
	if c.Scylla != nil {
		s := *c.Scylla
		c.Scylla = &s
		setDefault(&s.Shards, 2)
		setDefault(&s.IgnoreMSB, 12)
		*c.Scylla = s
		fault(s.Shards < 1 || s.Shards > 1024, "Scylla.Shards is %d", s.Shards)
		fault(s.IgnoreMSB < 0 || s.IgnoreMSB > 63, "Scylla.IgnoreMSB is %d", s.IgnoreMSB)
		fault(s.Tablets < 0, "Scylla.Tablets is %d", s.Tablets)
		protocol, network, version, batch = 4, Addresses, "3.0.8", 1<<20
	}
	setDefault(&c.Nodes, 3)
	setDefault(&c.VNodes, 16)
	setDefault(&c.ClusterName, "cqltest")
	setDefault(&c.Version, version)
	setDefault(&c.Protocol, protocol)
	setDefault(&c.Network, network)
	setDefault(&c.Window, defaultWindow)
	setDefault(&c.Authenticator, "org.apache.cassandra.auth.PasswordAuthenticator")
	setDefault(&c.MaxRequest, defaultMaxRequest)
	setDefault(&c.BatchSizeFail, batch)
	if c.Now == nil {
		c.Now = time.Now
	}
	if len(c.DataCenters) == 0 {
		c.DataCenters = []DataCenter{{Name: "datacenter1", Nodes: c.Nodes}}
	} else {
		c.DataCenters = append([]DataCenter(nil), c.DataCenters...)
	}
	names := map[string]bool{}
	for i := range c.DataCenters {
		dc := &c.DataCenters[i]
		setDefault(&dc.Nodes, 3)
		if len(dc.Racks) == 0 {
			dc.Racks = []string{"rack1"}
		}
		fault(dc.Name == "" || names[dc.Name], "DataCenters: the name %q is empty or not its own", dc.Name)
		fault(dc.Nodes < 1, "DataCenters: %s has %d nodes", dc.Name, dc.Nodes)
		names[dc.Name] = true
	}
	fault(c.Nodes < 1, "Nodes is %d", c.Nodes)
	fault(c.VNodes < 1, "VNodes is %d", c.VNodes)
	fault(c.Protocol < 3 || c.Protocol > 5, "Protocol is %d, must be 3, 4 or 5", c.Protocol)
	fault(c.Scylla != nil && c.Protocol > 4, "Protocol is %d, ScyllaDB has 4", c.Protocol)
	fault(c.Network < Ports || c.Network > InMemory, "Network is %d", c.Network)
	fault(c.Window < 1, "Window is %d", c.Window)
	fault(c.MaxRequest < 1 || c.MaxRequest > 256<<20, "MaxRequest is %d", c.MaxRequest)
	return c, errors.Join(errs...)
}
