// SPDX-License-Identifier: Apache-2.0

// Command vecql is the load program of vecql.
package main

import (
	"context"
	"log/slog"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bench/stall/load"
	"github.com/vecql/vecql/cql"
)

func main() { load.Main("vecql", "github.com/vecql/vecql", connect) }

type client struct {
	*vecql.Session
	read, insert, vector string
}

func connect(o load.Options) (load.Client, error) {
	cfg := &vecql.ClusterConfig{Hosts: o.Hosts}
	cfg.Timeout, cfg.Defaults.Consistency = o.Timeout, cql.LocalQuorum
	cfg.TLS = o.TLS
	cfg.Logger = slog.New(slog.DiscardHandler)
	s, err := vecql.NewSession(context.Background(), *cfg)
	return client{s, o.ReadStatement(), o.InsertStatement(), o.VectorStatement()}, err
}

func (c client) Read(key int) (v int, err error) {
	err = c.Query(c.read, key).Scan(context.Background(), &v)
	return v, err
}

func (c client) ReadVector(key int) (v []float32, err error) {
	err = c.Query(c.vector, key).Scan(context.Background(), &v)
	return v, err
}

func (c client) Insert(key, value int) error {
	return c.Query(c.insert, key, value).Exec(context.Background())
}
