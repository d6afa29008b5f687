// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"crypto/md5"

	"github.com/vecql/vecql/cqltest/internal/engine"
)

// Prepared statements of a node.

// prepared is a prepared statement.
type prepared struct {
	id        []byte
	resultID  []byte
	statement *engine.Statement
	keyspace  string
	text      string
}

// recall returns the statement that was prepared as id; nil means none.
func (n *Node) recall(id []byte) *prepared {
	if len(id) != md5.Size {
		return nil
	}
	n.cacheMu.RLock()
	defer n.cacheMu.RUnlock()
	return n.prepared[[16]byte(id)]
}

// remember prepares a statement on the node. As in Cassandra 5, the id of a statement on rows whose names are all
// qualified is independent of the keyspace in use; in ScyllaDB it always depends on it.
func (n *Node) remember(keyspace, text string) (*prepared, error) {
	db := n.cluster.db
	var s *engine.Statement
	err := error(nil)
	if keyspace != "" && n.cluster.cfg.Scylla == nil {
		if s, err = db.Prepare("", text); err == nil && s.OnRows() {
			keyspace = ""
		}
	}
	if s == nil || keyspace != "" {
		if s, err = db.Prepare(keyspace, text); err != nil {
			return nil, err
		}
	}
	id := idOf(keyspace, text)
	p := &prepared{id: id[:], resultID: metadataID(s.Result), statement: s, keyspace: keyspace, text: text}
	n.cacheMu.Lock()
	defer n.cacheMu.Unlock()
	n.prepared[id] = p
	return p, nil
}

func idOf(keyspace, text string) [md5.Size]byte { return md5.Sum([]byte(keyspace + text)) }

// current returns p, or its replacement after a change of the schema; nil means that the node has dropped the
// statement.
func (c *conn) current(p *prepared) *prepared {
	if p == nil || c.cluster.db.Valid(p.statement) {
		return p
	}
	if c.cluster.cfg.KeepPrepared {
		if next, err := c.node.remember(p.keyspace, p.text); err == nil {
			return next
		}
	}
	n := c.node
	n.cacheMu.Lock()
	defer n.cacheMu.Unlock()
	if id := [16]byte(p.id); n.prepared[id] == p {
		delete(n.prepared, id)
	}
	return nil
}

// prepare answers PREPARE.
func (c *conn) prepare(req *request) (*Answer, error) {
	var p *prepared
	for _, keyspace := range []string{req.keyspace, ""} {
		id := idOf(keyspace, req.text)
		if p = c.node.recall(id[:]); p != nil && p.keyspace == keyspace && c.cluster.db.Valid(p.statement) {
			break
		}
		p = nil
	}
	if p == nil {
		var err error
		if p, err = c.node.remember(req.keyspace, req.text); err != nil {
			return nil, err
		}
	}
	return &Answer{Op: OpResult, Body: appendPrepared(nil, p, c.version, c.metadataIDs, c.lwtMark)}, nil
}
