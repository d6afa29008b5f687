// SPDX-License-Identifier: Apache-2.0

// Package compattest has the cluster of the tests of the compat modules.
package compattest

import (
	"context"
	"sync"
	"testing"

	"github.com/vecql/vecql/cqltest"
)

// Schema is the schema of the cluster.
const Schema = `
	CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};
	CREATE TYPE shop.address (street text, number int);
	CREATE TABLE shop.items (id int PRIMARY KEY, name text, price bigint, tags list<text>, added timestamp, node inet,
		pair tuple<int, text>, home frozen<address>, counts map<text, int>, u uuid, data blob)`

// NewCluster starts a cluster with the schema, until the test ends.
func NewCluster(t *testing.T, cfg cqltest.Config) *cqltest.Cluster {
	t.Helper()
	c := cqltest.New(t, cfg)
	if err := c.Exec(Schema); err != nil {
		t.Fatal(err)
	}
	return c
}

// Start starts a cluster with the schema, for examples. It panics on an error.
func Start() *cqltest.Cluster {
	c, err := cqltest.Start(cqltest.Config{})
	if err == nil {
		err = c.Exec(Schema)
	}
	if err != nil {
		panic(err)
	}
	return c
}

// Open opens a session, until the test ends.
func Open[S interface{ Close() }](t *testing.T, create func() (S, error)) S {
	t.Helper()
	s, err := create()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// NoError fails the test if a statement failed.
func NoError(t *testing.T, stmt string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
}

// Fail makes the next execution of a statement fail.
func Fail(c *cqltest.Cluster, statement string, e cqltest.Error) *cqltest.Rule {
	return c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: statement, Times: 1, Error: &e})
}

// An Observer records attempts: a module's ObservedQuery and ObservedBatch.
type Observer[Q, B any] struct {
	mu      sync.Mutex
	Queries []Q
	Batches []B
}

// ObserveQuery implements QueryObserver.
func (o *Observer[Q, B]) ObserveQuery(_ context.Context, q Q) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Queries = append(o.Queries, q)
}

// ObserveBatch implements BatchObserver.
func (o *Observer[Q, B]) ObserveBatch(_ context.Context, b B) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Batches = append(o.Batches, b)
}
