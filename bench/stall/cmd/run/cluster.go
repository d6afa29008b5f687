// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/cassandra"
)

// Clusters of three nodes, with one table.

const table = "stall.t"

// A node can be paused: it keeps its connections open, and does nothing.
type node interface {
	Pause() error
	Resume() error
}

// A cluster has three nodes that listen on port 9042.
type cluster struct {
	nodes []node
	hosts []string
	close func() error
}

// startCluster starts nodes of Cassandra, or nodes of package cqltest in this process.
func startCluster(ctx context.Context, name string) (*cluster, error) {
	switch name {
	case "cassandra":
		log := func(a ...any) { fmt.Fprintln(os.Stderr, a...) }
		real, err := cassandra.Start(ctx, cassandra.Options{Nodes: 3, Log: log})
		if err != nil {
			return nil, err
		}
		c := &cluster{hosts: real.Hosts(), close: real.Close}
		for _, n := range real.Nodes {
			c.nodes = append(c.nodes, n)
		}
		return c, nil
	case "cqltest":
		var addrs []netip.AddrPort
		a, b := byte(16+rand.IntN(200)), byte(rand.IntN(256))
		for i := range byte(3) {
			addrs = append(addrs, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, a, b, i + 1}), cassandra.Port))
		}
		fake, err := cqltest.Start(cqltest.Config{Addrs: addrs})
		if err != nil {
			return nil, err
		}
		c := &cluster{close: func() error { fake.Close(); return nil }}
		for i, n := range fake.Nodes() {
			c.nodes = append(c.nodes, embedded{n})
			c.hosts = append(c.hosts, addrs[i].Addr().String())
		}
		return c, nil
	}
	return nil, fmt.Errorf("-servers: %q is not cassandra or cqltest", name)
}

// embedded is a node of package cqltest.
type embedded struct{ *cqltest.Node }

func (n embedded) Pause() error  { n.Node.Pause(); return nil }
func (n embedded) Resume() error { n.Node.Resume(); return nil }

// fill creates the table and inserts its rows.
func fill(ctx context.Context, c *cluster, keys int) error {
	cfg := &vecql.ClusterConfig{Hosts: c.hosts}
	cfg.Timeout, cfg.Defaults.Consistency = 30*time.Second, cql.All
	cfg.Logger = slog.New(slog.DiscardHandler)
	s, err := vecql.NewSession(ctx, *cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, text := range []string{
		"CREATE KEYSPACE stall WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3}",
		"CREATE TABLE " + table + " (k int PRIMARY KEY, v int)",
	} {
		if err := s.Query(text).Exec(ctx); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for k := range keys {
		g.Go(func() error {
			return s.Query("INSERT INTO "+table+" (k, v) VALUES (?, ?)", k, k).Idempotent(true).Exec(ctx)
		})
	}
	return g.Wait()
}
