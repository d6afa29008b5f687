// SPDX-License-Identifier: Apache-2.0

// Package cassandra runs real Apache Cassandra nodes for tests: from the jars published on Maven Central, without Docker and
// without a distribution, on Linux with Java 17.
//
//	c, err := cassandra.Start(ctx, cassandra.Options{Nodes: 3, Log: t.Log})
//	defer c.Close()
//	cluster := vecql.NewCluster(c.Hosts()...)
//
// The first start on a machine resolves about a hundred jars (67 MB) and records a class-data archive, both kept in
// [os.UserCacheDir]/vecql or the folder named by VECQL_CACHE. Every later start takes seconds. A node needs 300 to 450 MB.
//
// Nodes listen on port 9042 of 127.a.b.1, 127.a.b.2 ..., a network picked at random and owned by one cluster, so that any number of
// clusters and processes run beside each other. No node outlives the process that started it.
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

// This file holds what a test sees: Options, Start and the Cluster.

// Version is the version of Cassandra that runs.
const Version = "5.0.9"

// Port is the port of the native protocol on every node.
const Port = 9042

// Username and Password are the role every cluster with [Options.Auth] is born with; it is a superuser.
const (
	Username = "cassandra"
	Password = "cassandra"
)

// TLS says what a cluster does on its native port. Connections between the nodes are never encrypted.
type TLS string

const (
	TLSOff      TLS = ""
	TLSOptional TLS = "optional" // plain and TLS connections on the same port
	TLSRequired TLS = "required" // plain connections are refused
	TLSMutual   TLS = "mutual"   // as TLSRequired, and the client must show a certificate of the cluster's own authority
)

// Options describes a cluster. The zero value is one node, plain, without password.
type Options struct {
	Nodes int      // 0 means 1; at most 250
	DCs   []string // data centre of each node; a node beyond the list is in "datacenter1". All nodes are in "rack1"
	TLS   TLS
	Auth  bool // PasswordAuthenticator and CassandraAuthorizer: log in as Username, Password

	// Set changes cassandra.yaml: names as there, the parts of a nested one joined by dots; values are anything JSON can say.
	// {"read_request_timeout": "100ms", "memtable.configurations.default.inherits": "skiplist"}. Addresses, ports, seeds and
	// default_keyspace_rf belong to this package and are refused.
	//
	// Default memtable is the trie, not Cassandra's skip list: with the latter, more concurrent writers than processors + 1
	// on a table with a vector index fail with WriteFailure (CASSANDRA-21644).
	Set map[string]any

	JVM []string       // more options for java, after ours: "-Xmx1g", "-Dcassandra.ring_delay_ms=5000"
	Log func(a ...any) // told of what takes long or changes the machine, one line each; t.Log and log.Println fit. nil: silent
}

// ErrUnsupported is returned on an operating system other than Linux: nodes need addresses 127.a.b.c that nobody has to set up, and
// a kernel that ends them when their parent dies.
var ErrUnsupported = errors.New("cassandra: nodes run on Linux only")

// A Cluster is a set of nodes and their files. Its methods may be called from several goroutines.
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

// Start makes a cluster and returns when it is ready: every node answers CQL, logs in where there is a password, knows all the others, sees
// them up, and agrees with them on the schema. ctx bounds the start, not the life of the cluster. Close ends it.
//
// Where Java 17 or Maven is missing, on a machine with apt-get and the right to use it, their packages are installed; elsewhere the
// error is a [*MissingError].
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if !supported {
		return nil, ErrUnsupported
	}
	o, err := o.checked()
	if err != nil {
		return nil, err
	}
	rt, err := prepareRuntime(ctx, o.Log)
	if err != nil {
		return nil, err
	}
	return start(ctx, o, rt)
}

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
	return c, c.awaitReady(ctx)
}

// checked returns o with defaults filled in, or every fault in it.
func (o Options) checked() (Options, error) {
	var faults []error
	if o.Nodes == 0 {
		o.Nodes = 1
	}
	if o.Nodes < 1 || o.Nodes > maxNodes {
		faults = append(faults, fmt.Errorf("cassandra: Nodes is %d, want 1 to %d", o.Nodes, maxNodes))
	}
	if len(o.DCs) > max(o.Nodes, 1) {
		faults = append(faults, fmt.Errorf("cassandra: %d DCs for %d nodes", len(o.DCs), o.Nodes))
	}
	switch o.TLS {
	case TLSOff, TLSOptional, TLSRequired, TLSMutual:
	default:
		faults = append(faults, fmt.Errorf("cassandra: TLS is %q, want optional, required or mutual", o.TLS))
	}
	for name := range o.Set {
		if top, _, _ := strings.Cut(name, "."); reserved[top] {
			faults = append(faults, fmt.Errorf("cassandra: Set may not change %s", top))
		}
	}
	if o.Log == nil {
		o.Log = func(...any) {}
	}
	return o, errors.Join(faults...)
}

// create writes the files of a cluster whose nodes do not run yet.
func create(o Options, rt *runtimeFiles) (c *Cluster, err error) {
	c = &Cluster{options: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
			c = nil
		}
	}()
	if c.network, c.claim, err = claimNetwork(o.Nodes); err != nil {
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
		if err := n.writeFiles(rt); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Hosts returns the addresses of all nodes, without port, running or not.
func (c *Cluster) Hosts() []string {
	hosts := make([]string, len(c.Nodes))
	for i, n := range c.Nodes {
		hosts[i] = n.host
	}
	return hosts
}

// TLSConfig returns a client configuration that trusts this cluster's authority alone, verifies the name and shows a client certificate;
// nil without TLS. The certificate of a node names its address and "localhost". The caller owns the result.
func (c *Cluster) TLSConfig() *tls.Config {
	if c.creds == nil {
		return nil
	}
	return c.creds.config.Clone()
}

// TLSFiles returns the paths of the same in PEM form: the authority's certificate, the client's certificate and its key; empty without TLS.
// They are gone after Close.
func (c *Cluster) TLSFiles() (ca, cert, key string) {
	if c.creds == nil {
		return "", "", ""
	}
	return c.creds.caFile, c.creds.certFile, c.creds.keyFile
}

// Close kills every node, removes all files and gives the network back. It returns an error when a process or a file is left. Later calls
// return what the first did.
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
