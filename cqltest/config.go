// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"
)

// A Config describes a cluster. The zero value is a Cassandra of three nodes in one data center, on ports of 127.0.0.1.
type Config struct {
	Nodes       int          // default 3; not used with DataCenters
	DataCenters []DataCenter // default one, "datacenter1" with all nodes in "rack1"
	VNodes      int          // tokens per node; default 16
	ClusterName string       // default "cqltest"; it also determines the nodes' host ids
	Version     string       // release_version; default "5.0.9", with Scylla "3.0.8"

	// Protocol is the highest version of the native protocol: 3, 4 or 5. Default 5, with Scylla 4.
	Protocol int
	// Network is where the nodes listen. Default Ports, with Scylla Addresses.
	Network Network
	// Addrs are the addresses of the nodes, e.g. the address of a killed node of another cluster. Default free ones. The
	// shard-aware port of an address is the next one, InMemory 19042.
	Addrs []netip.AddrPort
	// Window is the number of bytes that an InMemory connection buffers in each direction before writes block. Default
	// 64 KiB.
	Window int
	TLS    *tls.Config // wraps every connection; default none
	// Users are the passwords by user name (SASL PLAIN). Default nil, which means no authentication.
	Users map[string]string
	// Authenticator is the class that AUTHENTICATE names. Default org.apache.cassandra.auth.PasswordAuthenticator.
	Authenticator string
	// MaxRequest is the largest body of a request, in bytes. Larger ones are refused. Default 16 MiB, as Cassandra's
	// native_transport_max_frame_size.
	MaxRequest int
	// BatchSizeFail is the size in bytes above which a batch over several partitions is refused. Default 50 KiB, with
	// Scylla 1 MiB; negative means no limit.
	BatchSizeFail int
	// GracefulDisconnect makes the nodes offer the event GRACEFUL_DISCONNECT (CEP-59), which Node.Shutdown sends.
	GracefulDisconnect bool
	// KeepPrepared makes the nodes prepare statements again themselves when a table has changed: clients receive the
	// new columns with Metadata_changed. By default nodes drop such statements and answer UNPREPARED.
	KeepPrepared bool

	Scylla *Scylla // emulates ScyllaDB; default nil, which means Cassandra
	SAI    SAI     // searches by vectors of Cassandra

	// Now is the clock of the cluster; default time.Now. See also Cluster.StepClock.
	Now func() time.Time
	// OnRequest, if not nil, is called for each well-formed request before it is executed, on the connection's
	// goroutine.
	OnRequest func(Request)
}

// redacted has the fields of a Config and none of its methods.
type redacted Config

func (c Config) redacted() redacted {
	users := make(map[string]string, len(c.Users))
	for user := range c.Users {
		users[user] = "***"
	}
	if c.Users != nil {
		c.Users = users
	}
	return redacted(c)
}

// String returns the fields with *** for each password.
func (c Config) String() string { return fmt.Sprintf("%+v", c.redacted()) }

// Format implements fmt.Formatter: no verb prints a password.
func (c Config) Format(f fmt.State, verb rune) {
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), c.redacted())
}

// LogValue implements slog.LogValuer, without the passwords.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalJSON implements json.Marshaler: the text of String, since functions have no JSON.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.String()) }

// passwords returns the passwords by user name; nil means no authentication. Package fmt prints fields, but not the
// variables of a function.
type passwords func() map[string]string

func hide(users map[string]string) passwords {
	if users == nil {
		return nil
	}
	return func() map[string]string { return users }
}

// A DataCenter describes a data center. Nodes are spread over its racks round-robin.
type DataCenter struct {
	Name  string
	Racks []string // default "rack1"
	Nodes int      // default 3
}

// Scylla configures the emulation of ScyllaDB.
type Scylla struct {
	Shards    int // per node; default 2
	IgnoreMSB int // most significant bits of the token that sharding ignores; default 12
	// Version is the release in system.versions. system.local has Config.Version, as in ScyllaDB. Default "2026.2.5".
	Version string
	// Tablets is the number per table, in keyspaces with NetworkTopologyStrategy. Default 0, which means vnodes; with
	// VectorStore, which needs tablets, 8.
	Tablets   int
	TabletsV2 bool // also offers TABLETS_ROUTING_V2_EXPERIMENTAL
	// NAT hides the client's source ports, as address translation does: the shard-aware port connects to any shard.
	NAT bool
	// NoShardAwarePort leaves only the plain port.
	NoShardAwarePort bool
	// NoMetadataID, NoLWTMark and NoRateLimit leave out the extensions of these names, like older releases.
	NoMetadataID, NoLWTMark, NoRateLimit bool
	// VectorStore answers searches by vectors (ORDER BY ... ANN OF). Default nil, which means that they are disabled.
	VectorStore *VectorStore
}

// A Network is where nodes listen.
type Network int

// The networks.
const (
	DefaultNetwork Network = iota
	// Ports is 127.0.0.1 with one port per node; system.peers_v2 lists the ports.
	Ports
	// Addresses is 127.x.y.z with the same port for all nodes, which clients that read system.peers expect. It needs a
	// system that accepts all of 127.0.0.0/8, such as Linux.
	Addresses
	// InMemory is 10.0.0.0/8, port 9042, reachable only through Cluster.Dialer. It opens no socket, so a cluster that
	// is started in a testing/synctest bubble uses the bubble's time.
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

// withDefaults returns c with its zero fields filled in, or all its errors joined.
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
		setDefault(&s.Version, "2026.2.5")
		if s.VectorStore != nil {
			store := *s.VectorStore
			s.VectorStore = &store
			setDefault(&s.Tablets, 8)
			setDefault(&store.Recall, 1)
			errs = append(errs, store.check())
		}
		*c.Scylla = s
		fault(s.Shards < 1 || s.Shards > 1024, "Scylla.Shards is %d, must be 1 to 1024", s.Shards)
		fault(s.IgnoreMSB < 0 || s.IgnoreMSB > 63, "Scylla.IgnoreMSB is %d, must be 0 to 63", s.IgnoreMSB)
		fault(s.Tablets < 0, "Scylla.Tablets is %d, must not be negative", s.Tablets)
		protocol, network, version, batch = 4, Addresses, "3.0.8", 1<<20
	}
	fault(c.SAI.Build < 0, "SAI.Build is %v, must not be negative", c.SAI.Build)
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
	names, nodes := map[string]bool{}, 0
	for i := range c.DataCenters {
		dc := &c.DataCenters[i]
		setDefault(&dc.Nodes, 3)
		if len(dc.Racks) == 0 {
			dc.Racks = []string{"rack1"}
		}
		fault(dc.Name == "" || names[dc.Name], "DataCenters: the name %q is empty or used twice", dc.Name)
		fault(dc.Nodes < 1, "DataCenters: %s has %d nodes, must have at least 1", dc.Name, dc.Nodes)
		names[dc.Name] = true
		nodes += dc.Nodes
	}
	fault(len(c.Addrs) != 0 && len(c.Addrs) != nodes, "Addrs has %d addresses for %d nodes", len(c.Addrs), nodes)
	fault(c.Nodes < 1, "Nodes is %d, must be at least 1", c.Nodes)
	fault(c.VNodes < 1, "VNodes is %d, must be at least 1", c.VNodes)
	fault(c.Protocol < 3 || c.Protocol > 5, "Protocol is %d, must be 3, 4 or 5", c.Protocol)
	fault(c.Scylla != nil && c.Protocol > 4, "Protocol is %d, ScyllaDB has 4", c.Protocol)
	fault(c.Network < Ports || c.Network > InMemory, "Network is %d, must be Ports, Addresses or InMemory", c.Network)
	fault(c.Window < 1, "Window is %d, must be at least 1", c.Window)
	fault(c.MaxRequest < 1 || c.MaxRequest > 256<<20, "MaxRequest is %d, must be 1 to %d", c.MaxRequest, 256<<20)
	return c, errors.Join(errs...)
}
