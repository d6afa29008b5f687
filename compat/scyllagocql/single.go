// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"math/rand/v2"

	api "github.com/vecql/vecql/compat/api"
)

// SingleHostQueryExecutor: a session that sends all requests to one node.

// A SingleHostQueryExecutor executes statements on one node with consistency ONE.
type SingleHostQueryExecutor struct {
	session *Session
	hostID  string
}

// NewSingleHostQueryExecutor connects to one of the contact points and selects it for all statements.
func NewSingleHostQueryExecutor(cfg *ClusterConfig) (e SingleHostQueryExecutor, err error) {
	if len(cfg.Hosts) == 0 {
		return e, ErrNoHosts
	}
	c := *cfg
	at := rand.IntN(len(c.Hosts))
	for i := range c.Hosts { // the first contact point that can be reached, from one at random
		c.Hosts = []string{cfg.Hosts[(at+i)%len(cfg.Hosts)]}
		c.NumConns, c.DisableInitialHostLookup, c.HostFilter = 1, true, nil
		c.QueryObserver, c.BatchObserver, c.PoolConfig = nil, nil, PoolConfig{}
		if e.session, err = NewSession(c); err == nil {
			break
		}
	}
	if err != nil {
		return e, err
	}
	hosts := e.session.GetHosts()
	if len(hosts) == 0 {
		e.Close()
		return SingleHostQueryExecutor{}, ErrNoConnections
	}
	e.hostID = hosts[0].HostID()
	return e, nil
}

// errNoExecutor means that a program did not use NewSingleHostQueryExecutor.
var errNoExecutor = errors.New("gocql: the executor is not connected")

// Exec executes a statement.
func (e SingleHostQueryExecutor) Exec(stmt string, values ...any) error {
	return e.Iter(stmt, values...).Close()
}

// Iter executes a statement.
func (e SingleHostQueryExecutor) Iter(stmt string, values ...any) *Iter {
	if e.session == nil {
		it := &Iter{}
		api.SetError(&it.iter, errNoExecutor)
		return it
	}
	return e.session.Query(stmt, values...).Consistency(One).SetHostID(e.hostID).Iter()
}

// Close closes the connection.
func (e SingleHostQueryExecutor) Close() { e.session.Close() }
