// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/cmd/vecql/internal/fakehttp"
	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// The verb fake: a cluster of package cqltest as a process.

// A fakeServer is the flags of fake, and its cluster.
type fakeServer struct {
	*env
	nodes, shards, tablets, protocol int
	address                          string
	port                             uint16
	scylla, json                     bool
	release, control                 string
	users                            map[string]string
	files, load                      []string

	cluster *cqltest.Cluster
	session *vecql.Session
}

// newFakeCommand returns the verb fake.
func newFakeCommand(e *env) *cobra.Command {
	x := &fakeServer{env: e}
	c := &cobra.Command{
		Use:   "fake",
		Short: "Run a cluster for tests, with faults on demand",
		Long: `Fake runs a cluster of package cqltest until it is interrupted: nodes that speak the
native protocol, with tables, consistency levels and events, in the memory of this
process. Any driver can use it. Node number n listens on the n-th address from
--address on; --port 0 chooses free ports of one address.

Tests change nodes, inject faults and read what clients have sent over HTTP. The
server answers its own address and localhost only, no page of another origin, and
takes content of the types application/json and application/cql, or without a type:

` + indented(fakehttp.Help),
		Example: `  vecql fake --file schema.cql --load shop.items=items.parquet
  vecql fake --nodes 3 --scylla --tablets 8 --port 0 --json
  curl localhost:9080/faults --json '{"error": {"code": "OVERLOADED"}}'
  curl 'localhost:9080/requests?statement=INSERT'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return x.run(c.Context()) },
	}
	f := c.Flags()
	f.IntVar(&x.nodes, "nodes", 1, "`number` of nodes")
	f.StringVar(&x.address, "address", "127.0.0.1", "`address` of the first node")
	f.Uint16Var(&x.port, "port", 9042, "`port` of the nodes; 0 means free ones")
	f.StringVar(&x.control, "control", "127.0.0.1:9080", "`host:port` of HTTP; port 0 means a free one")
	f.BoolVar(&x.scylla, "scylla", false, "emulate ScyllaDB")
	f.IntVar(&x.shards, "shards", 2, "`number` of shards of a node of ScyllaDB")
	f.IntVar(&x.tablets, "tablets", 0, "`number` of tablets of a table of ScyllaDB; 0 means a ring")
	f.IntVar(&x.protocol, "protocol", 0, "highest `version` of the native protocol: 3, 4 or 5")
	f.StringVar(&x.release, "release", "", "`version` of the server that nodes report")
	f.StringToStringVar(&x.users, "users", nil, "logins, `name=password,...`; default none is needed")
	f.StringArrayVarP(&x.files, "file", "f", nil, "execute the CQL of a `file`; repeat for several")
	f.StringArrayVar(&x.load, "load", nil, "write the rows of a file to a table, `TABLE=FILE`; repeat for several")
	f.BoolVar(&x.json, "json", false, "print hosts and control as JSON")
	return c
}

// indented returns a text with two spaces before each line.
func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ")
}

// run serves until ctx ends.
func (x *fakeServer) run(ctx context.Context) error {
	log := &fakehttp.Log{}
	cfg, err := x.config()
	if err != nil {
		return err
	}
	cfg.OnRequest = log.Record
	if x.cluster, err = cqltest.Start(cfg); err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return advise(err, "--port 0 chooses free ports")
		}
		return err
	}
	defer x.cluster.Close()
	if err := x.fill(ctx); err != nil {
		return err
	}
	defer x.session.Close()
	listener, err := net.Listen("tcp", x.control)
	if err != nil {
		return fmt.Errorf("--control: %w", err)
	}
	handler := fakehttp.Guard(fakehttp.New(x.cluster, x.session, log), x.control)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	defer func() { _ = server.Close() }()
	x.announce("http://" + listener.Addr().String())
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

// config returns the configuration of the cluster.
func (x *fakeServer) config() (cfg cqltest.Config, err error) {
	cfg = cqltest.Config{Nodes: x.nodes, Protocol: x.protocol, Version: x.release, Users: x.users}
	first, err := netip.ParseAddr(x.address)
	switch {
	case err != nil:
		return cfg, usagef("--address is %q, want an IP address; --port sets the port", x.address)
	case x.nodes < 1:
		return cfg, usagef("--nodes is %d, want at least 1", x.nodes)
	case x.tablets > 0 && !x.scylla:
		return cfg, usageError{errors.New("--tablets needs --scylla")}
	}
	if x.scylla {
		cfg.Scylla = &cqltest.Scylla{Shards: x.shards, Tablets: x.tablets}
		if x.tablets > 0 { // searches by vectors need tablets
			cfg.Scylla.VectorStore = &cqltest.VectorStore{}
		}
	}
	for range x.nodes {
		if x.port != 0 {
			cfg.Addrs = append(cfg.Addrs, netip.AddrPortFrom(first, x.port))
		}
		first = first.Next()
	}
	return cfg, nil
}

// fill executes the CQL files, opens the session and writes the rows of files.
func (x *fakeServer) fill(ctx context.Context) error {
	for _, name := range x.files {
		text, err := os.ReadFile(name)
		if err == nil {
			err = x.cluster.Exec(string(text))
		}
		if err != nil {
			return fmt.Errorf("--file %s: %w", name, err)
		}
	}
	cfg := &vecql.ClusterConfig{Hosts: x.cluster.Hosts()}
	cfg.Logger = slog.New(slog.DiscardHandler)
	cfg.Defaults.Consistency = cql.One
	for name, password := range x.users {
		cfg.Authenticator = vecql.PasswordAuthenticator{Username: name, Password: password}
	}
	var err error
	if x.session, err = vecql.NewSession(ctx, *cfg); err != nil {
		return err
	}
	for _, load := range x.load {
		table, file, ok := strings.Cut(load, "=")
		if !ok {
			err = usagef("--load is %q, want TABLE=FILE", load)
		} else if err = x.loadFile(ctx, table, file); err != nil {
			err = fmt.Errorf("--load %s: %w", load, err)
		}
		if err != nil {
			x.session.Close()
			return err
		}
	}
	return nil
}

// loadFile writes the rows of a file, a pattern or a folder to a table.
func (x *fakeServer) loadFile(ctx context.Context, table, file string) error {
	t, err := findTable(ctx, x.session, table)
	if err != nil {
		return err
	}
	o := rowfile.Options{AllowMissing: true, Stdin: x.in}
	if o.Fields, err = fieldsOf(t.Metadata, nil); err != nil {
		return err
	}
	in, err := rowfile.Open(o, file)
	if err != nil {
		return err
	}
	w, err := bulk.Insert(ctx, x.session, t.CQL(), bulk.Options{})
	if err != nil {
		return err
	}
	for b, readErr := range in.Batches(ctx) {
		if err = readErr; err == nil {
			err = w.Write(ctx, b)
		}
		if err != nil {
			break
		}
	}
	return cmp.Or(err, w.Close(ctx))
}

// announce prints where the nodes and the control listen. The cluster is ready.
func (x *fakeServer) announce(control string) {
	if x.json {
		_ = json.NewEncoder(x.out).Encode(map[string]any{"hosts": x.cluster.Hosts(), "control": control}) // Main reports it
		return
	}
	fmt.Fprintf(x.out, "hosts    %s\ncontrol  %s\n", strings.Join(x.cluster.Hosts(), ","), control)
}
