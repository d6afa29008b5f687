// SPDX-License-Identifier: Apache-2.0

// Package cassandra runs real Apache Cassandra nodes for tests, from the jars published on Maven Central. It needs
// Linux and Java 17, or Java 11 for Cassandra 4, but neither Docker nor a distribution of Cassandra.
//
//	c, err := cassandra.Start(ctx, cassandra.Options{Nodes: 3, Log: t.Log})
//	defer c.Close()
//	cluster := &vecql.ClusterConfig{Hosts: c.Hosts()}
//
// The first start on a machine resolves about a hundred jars (67 MB) and records a class-data archive. Both are cached
// in [os.UserCacheDir]/vecql or the folder named by VECQL_CACHE. Later starts take seconds. A node needs 300 to 450 MB
// of memory.
//
// Nodes listen on port 9042 of 127.a.b.1, 127.a.b.2 and so on. Each cluster picks a random network 127.a.b and owns it,
// so that clusters and processes can run side by side; with [Options.Takes] one cluster takes the addresses of another
// whose nodes are down. No node outlives the process that started it.
package cassandra

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
)

// Options, Start and the Cluster.

// Port is the port of the native protocol on every node.
const Port = 9042

// Username and Password name the superuser role that every cluster with [Options.Auth] has from the start.
const (
	Username = "cassandra"
	Password = "cassandra"
)

// TLS is the TLS mode of a cluster's native port. Connections between the nodes are never encrypted.
type TLS string

const (
	TLSOff      TLS = ""
	TLSOptional TLS = "optional" // plain and TLS connections on the same port
	TLSRequired TLS = "required" // plain connections are refused
	TLSMutual   TLS = "mutual"   // like TLSRequired; clients also need a certificate of the cluster's own authority
)

// Options configures a cluster. The zero value means one node without TLS and password.
type Options struct {
	// Version is the version of Cassandra: "4.1.10", or a release line, "4.1", for the newest version of the line that this
	// package was tried with. "" means the version of the environment variable VECQL_TEST_CASSANDRA, else [Version].
	Version string

	Nodes int      // 0 means 1; at most 250
	DCs   []string // data center of each node, "datacenter1" beyond the list; every rack is "rack1"
	TLS   TLS
	Auth  bool // PasswordAuthenticator and CassandraAuthorizer: log in as Username, Password

	// Takes is a cluster whose addresses the nodes take. Its nodes must be down while these run, and it must be closed
	// after this cluster. Nil means a network of its own.
	Takes *Cluster

	// Set changes cassandra.yaml. Names are as in the file, with dots between the parts of a nested one; values are
	// anything JSON can represent: {"read_request_timeout": "100ms", "memtable.configurations.default.inherits":
	// "skiplist"}. Start refuses addresses, ports, seeds and default_keyspace_rf, which this package sets.
	//
	// The default memtable is the trie, not Cassandra's skip list: with the skip list, more concurrent writers than
	// processors + 1 on a table with a vector index fail with WriteFailure (CASSANDRA-21644).
	Set map[string]any

	JVM []string       // options for java, which override the defaults: "-Xmx1g", "-Dcassandra.ring_delay_ms=5000"
	Log func(a ...any) // gets one line per slow step or change of the machine, as t.Log does; nil means none
}

// ErrUnsupported means that the operating system is not Linux. Nodes need addresses 127.a.b.c without setup, and a
// kernel that kills them when their parent process dies.
var ErrUnsupported = errors.New("cassandra: nodes run on Linux only")

// A Cluster is a set of nodes and their files. Its methods are safe for concurrent use.
type Cluster struct {
	Nodes []*Node // running or not, in the order of Hosts

	options Options
	network string       // "127.a.b."
	claim   net.Listener // owns the network
	dir     *workDir
	creds   *credentials // nil without TLS

	closeOnce sync.Once
	closeErr  error
}

// Start creates a cluster and returns when it is ready: every node accepts CQL (with Auth, also logins), has the gossip
// state of every other node, sees it up, and has the same schema version. ctx bounds the start, not the life of the
// cluster. The caller closes the cluster.
//
// Start installs Java 17 and Maven where they are missing, on a machine with apt-get and the right to use it, and puts
// Java 11 of a Python package into the cache. Elsewhere the error is a [*MissingError].
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if !supported {
		return nil, ErrUnsupported
	}
	o, err := o.checked()
	if err != nil {
		return nil, err
	}
	rt, err := prepareRuntime(ctx, o.Version, o.Log)
	if err != nil {
		return nil, err
	}
	return start(ctx, o, rt)
}

// start creates a cluster, starts all its nodes and blocks until they are ready. It removes everything after an error.
func start(ctx context.Context, o Options, rt *runtimeFiles) (c *Cluster, err error) {
	c, err = create(o, rt)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
			c = nil
		}
	}()
	for _, n := range c.Nodes {
		if err := n.launch(); err != nil {
			return c, err
		}
	}
	if err := c.awaitReady(ctx); err != nil || !rt.fixedReplicas || o.Nodes == 1 {
		return c, err
	}
	return c, c.replicate(ctx)
}

// replicate does by statements what default_keyspace_rf does: every node becomes a replica of roles and traces.
func (c *Cluster) replicate(ctx context.Context) error {
	p, err := c.Nodes[0].dial(ctx)
	if err != nil {
		return err
	}
	defer p.end()
	for _, keyspace := range []string{"system_auth", "system_traces"} {
		if _, err := p.run(fmt.Sprintf("ALTER KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %d}",
			keyspace, len(c.Nodes)), consistencyOne); err != nil {
			return err
		}
	}
	return c.awaitReady(ctx)
}

// checked returns o with its defaults filled in, or an error that lists every invalid option.
func (o Options) checked() (Options, error) {
	var faults []error
	version, err := VersionOf(o.Version)
	if err != nil {
		faults = append(faults, err)
	}
	o.Version = version
	if o.Nodes == 0 {
		o.Nodes = 1
	}
	if o.Nodes < 1 || o.Nodes > maxNodes {
		faults = append(faults, fmt.Errorf("cassandra: Nodes is %d, want 1 to %d", o.Nodes, maxNodes))
	}
	if len(o.DCs) > max(o.Nodes, 1) {
		faults = append(faults, fmt.Errorf("cassandra: Options lists %d DCs for %d nodes", len(o.DCs), o.Nodes))
	}
	switch o.TLS {
	case TLSOff, TLSOptional, TLSRequired, TLSMutual:
	default:
		faults = append(faults, fmt.Errorf("cassandra: TLS is %q, want optional, required or mutual", o.TLS))
	}
	for name := range o.Set {
		if top, _, _ := strings.Cut(name, "."); reserved[top] {
			faults = append(faults, fmt.Errorf("cassandra: Set cannot change %s, which the package sets", top))
		}
	}
	if o.Log == nil {
		o.Log = func(...any) {}
	}
	return o, errors.Join(faults...)
}

// create writes the files of a cluster without starting its nodes.
func create(o Options, rt *runtimeFiles) (c *Cluster, err error) {
	c = &Cluster{options: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
			c = nil
		}
	}()
	if o.Takes != nil {
		c.network = o.Takes.network // which o.Takes has claimed
		err = addressesFree(c.network, o.Nodes)
	} else {
		c.network, c.claim, err = claimNetwork(o.Nodes)
	}
	if err != nil {
		return c, err
	}
	if c.dir, err = newWorkDir(); err != nil {
		return c, err
	}
	for i := range o.Nodes {
		c.Nodes = append(c.Nodes, newNode(c, i))
	}
	if o.TLS != TLSOff {
		if c.creds, err = newCredentials(c.dir.path, c.Hosts()); err != nil {
			return c, err
		}
	}
	for _, n := range c.Nodes {
		if err := n.writeFiles(o, rt); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Hosts returns the addresses of all nodes, running or not, without port.
func (c *Cluster) Hosts() []string {
	hosts := make([]string, len(c.Nodes))
	for i, n := range c.Nodes {
		hosts[i] = n.host
	}
	return hosts
}

// TLSConfig returns a client configuration that trusts only this cluster's authority, verifies the server's name and
// presents a client certificate. It returns nil without TLS. A node's certificate names its address and "localhost".
// The caller owns the result.
func (c *Cluster) TLSConfig() *tls.Config {
	if c.creds == nil {
		return nil
	}
	return c.creds.config.Clone()
}

// TLSFiles returns the paths of the authority's certificate, the client's certificate and its key, all PEM. The paths
// are empty without TLS. Close removes the files.
func (c *Cluster) TLSFiles() (ca, cert, key string) {
	if c.creds == nil {
		return "", "", ""
	}
	return c.creds.caFile, c.creds.certFile, c.creds.keyFile
}

// Close kills every node, removes all files and releases the network. It returns an error if a process or a file
// remains. Later calls return the same error.
func (c *Cluster) Close() error {
	c.closeOnce.Do(func() {
		var faults []error
		for _, n := range c.Nodes {
			faults = append(faults, n.Kill())
		}
		if c.dir != nil {
			faults = append(faults, c.dir.remove())
		}
		if c.claim != nil {
			faults = append(faults, c.claim.Close())
		}
		c.closeErr = errors.Join(faults...)
	})
	return c.closeErr
}
