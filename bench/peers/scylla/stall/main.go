// SPDX-License-Identifier: Apache-2.0

//go:build fork

// Command stall is the load program of ScyllaDB's gocql.
package main

import (
	"github.com/gocql/gocql"

	"github.com/vecql/vecql/bench/stall/load"
)

func main() { load.Main("scylla", "github.com/gocql/gocql", connect) }

type client struct {
	*gocql.Session
	read, insert, vector string
}

func connect(o load.Options) (load.Client, error) {
	cfg := gocql.NewCluster(o.Hosts...)
	cfg.Timeout, cfg.Consistency = o.Timeout, gocql.LocalQuorum
	cfg.Logger = silent{}
	if o.TLS != nil {
		cfg.SslOpts = &gocql.SslOptions{Config: o.TLS, EnableHostVerification: true}
	}
	s, err := cfg.CreateSession()
	return client{s, o.ReadStatement(), o.InsertStatement(), o.VectorStatement()}, err
}

func (c client) Read(key int) (v int, err error) {
	q := c.Query(c.read, key)
	defer q.Release()
	err = q.Scan(&v)
	return v, err
}

func (c client) ReadVector(key int) (v []float32, err error) {
	q := c.Query(c.vector, key)
	defer q.Release()
	err = q.Scan(&v)
	return v, err
}

func (c client) Insert(key, value int) error {
	q := c.Query(c.insert, key, value)
	defer q.Release()
	return q.Exec()
}

type silent struct{}

func (silent) Print(...any)          {}
func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}
