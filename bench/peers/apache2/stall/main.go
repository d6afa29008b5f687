// SPDX-License-Identifier: Apache-2.0

//go:build !fork

// Command stall is the load program of Apache's gocql v2.
package main

import (
	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/vecql/vecql/bench/stall/load"
)

func main() { load.Main("apache2", "github.com/apache/cassandra-gocql-driver/v2", connect) }

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
	err = c.Query(c.read, key).Scan(&v)
	return v, err
}

func (c client) ReadVector(key int) (v []float32, err error) {
	err = c.Query(c.vector, key).Scan(&v)
	return v, err
}

func (c client) Insert(key, value int) error { return c.Query(c.insert, key, value).Exec() }

type silent struct{}

func (silent) Error(string, ...gocql.LogField)   {}
func (silent) Warning(string, ...gocql.LogField) {}
func (silent) Info(string, ...gocql.LogField)    {}
func (silent) Debug(string, ...gocql.LogField)   {}
