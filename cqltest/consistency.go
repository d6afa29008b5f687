// SPDX-License-Identifier: Apache-2.0

package cqltest

import "github.com/vecql/vecql/cqltest/internal/engine"

// Consistency levels: how many replicas each needs, and whether enough are alive.

const (
	clAny uint16 = iota
	clOne
	clTwo
	clThree
	clQuorum
	clAll
	clLocalQuorum
	clEachQuorum
	clSerial
	clLocalSerial
	clLocalOne
)

// checkConsistency returns the error of a level that the statement does not allow.
func checkConsistency(s *engine.Statement, cl uint16) *Error {
	serial := cl == clSerial || cl == clLocalSerial
	switch s.Kind {
	case engine.StatementSelect:
		switch cl {
		case clAny:
			return invalid("ANY ConsistencyLevel is only supported for writes")
		case clEachQuorum:
			return nil
		}
	case engine.StatementInsert, engine.StatementUpdate, engine.StatementDelete, engine.StatementBatch:
		switch {
		case serial && s.Conditional:
			return invalid("%s is not supported as conditional update commit consistency. "+
				"Use ANY if you mean \"make sure it is accepted but I don't care how many replicas commit it for non-SERIAL reads\"",
				engine.ConsistencyName(cl))
		case serial:
			return invalid("You must use conditional updates for serializable writes")
		case s.Counter && cl == clAny:
			return invalid("Counter operations are inherently non-serializable; ANY is not supported for them")
		}
	}
	return nil
}

// touched is a partition, or with all a whole table, that a request reads or writes.
type touched struct {
	table engine.Name
	token int64
	all   bool
}

// requireAlive returns Unavailable when fewer live replicas exist than cl needs. Paused replicas count as alive, as
// they do for a coordinator before failure detection.
func (c *Cluster) requireAlive(coordinator *Node, t touched, cl uint16, write bool) *Error {
	p := c.placement(t.table.Keyspace)
	if p == nil || cl == clAny && write {
		return nil
	}
	if !t.all || c.topo.Load().allUp() {
		return p.unavailable(coordinator.dc, c.replicasOf(p, t.table, t.token), cl)
	}
	for _, replicas := range c.allReplicas(p, t.table) {
		if e := p.unavailable(coordinator.dc, replicas, cl); e != nil {
			return e
		}
	}
	return nil
}

// unavailable returns the error when fewer of replicas are alive than cl needs, counted from data center dc.
func (p *placement) unavailable(dc string, replicas []*Node, cl uint16) *Error {
	alive, local := 0, 0
	for _, n := range replicas {
		if n.IsUp() {
			alive++
			if n.dc == dc {
				local++
			}
		}
	}
	need, have := 1, alive
	switch cl {
	case clTwo:
		need = 2
	case clThree:
		need = 3
	case clQuorum, clSerial:
		need = p.total/2 + 1
	case clAll:
		need = p.total
	case clLocalOne:
		if p.factors != nil {
			have = local
		}
	case clLocalQuorum, clLocalSerial:
		need = p.total/2 + 1
		if p.factors != nil {
			need, have = p.factors[dc]/2+1, local
		}
	case clEachQuorum:
		if p.factors == nil {
			need = p.total/2 + 1
			break
		}
		for _, name := range p.dcs {
			have = 0
			for _, n := range replicas {
				if n.dc == name && n.IsUp() {
					have++
				}
			}
			if need = p.factors[name]/2 + 1; have < need {
				break
			}
		}
	}
	if have >= need {
		return nil
	}
	return &Error{Code: CodeUnavailable, Consistency: cl, Required: need, Alive: have}
}
