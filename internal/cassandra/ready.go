// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// The readiness check. It uses a small raw CQL client (native_protocol_v4.spec), so that it does not depend on the
// driver under test.

// readyTimeout bounds every wait for a node. A warm start takes seconds; a machine that runs other tests needs longer.
const readyTimeout = 4 * time.Minute

// probeTimeout bounds one connection to a node, scanTimeout its scan at ALL.
const (
	probeTimeout = 15 * time.Second
	scanTimeout  = 3 * time.Second
)

var errEnded = errors.New("process exited")

// awaitReady returns when all started nodes are ready. It skips nodes that were killed, stopped or paused: the other
// nodes may still see them up.
func (c *Cluster) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		culprit, err := c.agree(ctx)
		if err == nil {
			return nil
		}
		if errors.Is(err, errEnded) {
			return culprit.fault(err)
		}
		select {
		case <-ctx.Done():
			return culprit.fault(fmt.Errorf("not ready: %w; last check: %w", context.Cause(ctx), err))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// agree checks every started node in turn. It returns the first that is not ready, and the reason.
func (c *Cluster) agree(ctx context.Context) (*Node, error) {
	var up []*Node
	for _, n := range c.Nodes {
		switch n.state() {
		case crashed:
			return n, errEnded
		case running:
			up = append(up, n)
		}
	}
	schemas := map[string][]byte{} // by release line, because the digests of lines differ
	for _, n := range up {
		got, err := n.ready(ctx, up)
		if err != nil {
			return n, err
		}
		l := line(n.line().newest)
		if schema := schemas[l]; schema != nil && !bytes.Equal(got, schema) {
			return n, fmt.Errorf("schema version is %x, the node before has %x", got, schema)
		}
		schemas[l] = got
	}
	return nil, nil
}

// ready returns the node's schema version if the node responds and, in a cluster of several nodes, has the current
// gossip generation of every other node, has every column of system.peers_v2 that drivers read, and counts at least as
// many nodes up as are running. Cassandra 4.0 has no table of the generations.
func (n *Node) ready(ctx context.Context, up []*Node) (schema []byte, err error) {
	p, err := n.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer p.end()
	if others := len(n.cluster.Nodes) - 1; others > 0 {
		tail, err := p.query("SELECT count(host_id), count(native_address), count(data_center), count(schema_version) FROM system.peers_v2", 4*12)
		if err != nil {
			return nil, err
		}
		for ; len(tail) > 0; tail = tail[12:] { // [int 8] [bigint]
			if got := binary.BigEndian.Uint64(tail[4:]); got != uint64(others) {
				return nil, fmt.Errorf("system.peers_v2 has complete rows of %d of %d nodes", got, others)
			}
		}
		if tokens, err := p.run("SELECT tokens FROM system.peers_v2", consistencyOne); err != nil {
			return nil, err
		} else if bytes.Contains(tokens, null) { // which count() of Cassandra 4 cannot count
			return nil, errors.New("system.peers_v2 has a row without tokens")
		}
		for _, other := range up {
			if n.line().noGossipTable {
				break
			}
			tail, err := p.query("SELECT max(generation) FROM system_views.gossip_info WHERE address = '"+other.host+
				"' ALLOW FILTERING", 4)
			if err != nil {
				return nil, err
			}
			// A null is encoded as length -1 without bytes, so it reads as an old generation.
			if int64(int32(binary.BigEndian.Uint32(tail))) < other.started().Unix() {
				return nil, fmt.Errorf("has no gossip of %s since its start", other.host)
			}
		}
	}
	schema, err = p.query("SELECT schema_version FROM system.local", 16)
	if err == nil && len(n.cluster.Nodes) > 1 {
		err = p.countAlive(len(up))
	}
	return schema, err
}

// probe is a connection to one node that sends one request at a time.
type probe struct {
	net.Conn
	stop func() bool
}

// The opcodes, consistencies and error codes that the probe uses (native_protocol_v4.spec, sections 2.4, 3 and 9).
const (
	opError, opStartup, opAuthenticate, opQuery, opAuthResponse = 0x00, 0x01, 0x03, 0x07, 0x0f

	consistencyOne, consistencyAll = 0x0001, 0x0005

	errorUnavailable = 0x1000
)

// null is the length of a cell without a value. Nothing else in a row of tokens, which are decimal, has such bytes.
var null = []byte{0xff, 0xff, 0xff, 0xff}

// startupBody is the [string map] {"CQL_VERSION": "3.0.0"}.
var startupBody = []byte("\x00\x01\x00\x0bCQL_VERSION\x00\x053.0.0")

// serverError is the body of an ERROR.
type serverError []byte

func (e serverError) Error() string { return fmt.Sprintf("server: %q", []byte(e)) }

// dial connects and, with Auth, logs in. Login may fail at first: the node creates the default role a moment after it
// opens the port.
func (n *Node) dial(ctx context.Context) (*probe, error) {
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(ctx, "tcp", n.Addr())
	if err != nil {
		return nil, err
	}
	p := &probe{Conn: conn, stop: context.AfterFunc(ctx, func() { conn.Close() })}
	if tlsMode := n.cluster.options.TLS; tlsMode == TLSRequired || tlsMode == TLSMutual {
		config := n.cluster.TLSConfig()
		config.ServerName = n.host
		p.Conn = tls.Client(conn, config)
	}
	if err := p.SetDeadline(time.Now().Add(probeTimeout)); err != nil {
		p.end()
		return nil, err
	}
	op, _, err := p.call(opStartup, startupBody)
	if err == nil && op == opAuthenticate {
		_, _, err = p.call(opAuthResponse, saslPlain(Username, Password))
	}
	if err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

// end closes the connection.
func (p *probe) end() {
	p.stop()
	p.Close()
}

// saslPlain returns the token as [bytes].
func saslPlain(user, password string) []byte {
	token := "\x00" + user + "\x00" + password
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(token))), token...)
}

// call sends one request on stream 0 and returns the response. It returns an ERROR as a serverError.
func (p *probe) call(op byte, body []byte) (byte, []byte, error) {
	const headLen, maxBody = 9, 1 << 20
	head := append(make([]byte, 0, headLen+len(body)), 4, 0, 0, 0, op)
	head = binary.BigEndian.AppendUint32(head, uint32(len(body)))
	if _, err := p.Write(append(head, body...)); err != nil {
		return 0, nil, err
	}
	head = head[:headLen]
	if _, err := io.ReadFull(p, head); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[5:])
	if head[0] != 0x84 || n > maxBody {
		return 0, nil, fmt.Errorf("not a response of protocol v4: header % x", head)
	}
	body = make([]byte, n)
	if _, err := io.ReadFull(p, body); err != nil {
		return 0, nil, err
	}
	if head[4] == opError {
		return opError, nil, serverError(body)
	}
	return head[4], body, nil
}

// query runs a statement at ONE whose result is one row, and returns the last n bytes of that row. Its last cells must
// have fixed widths.
func (p *probe) query(statement string, n int) ([]byte, error) {
	body, err := p.run(statement, consistencyOne)
	if err == nil && len(body) < n {
		err = fmt.Errorf("%s: response of %d bytes is too short", statement, len(body))
	}
	if err != nil {
		return nil, err
	}
	return body[len(body)-n:], nil
}

func (p *probe) run(statement string, consistency uint16) ([]byte, error) {
	body := binary.BigEndian.AppendUint32(nil, uint32(len(statement)))
	body = append(body, statement...)
	body = binary.BigEndian.AppendUint16(body, consistency)
	_, body, err := p.call(opQuery, append(body, 0))
	return body, err
}

// countAlive returns an error unless the node counts at least want nodes up, itself included. Every node is a replica
// of system_traces (see default_keyspace_rf), so a scan at ALL succeeds if all nodes are up, and otherwise fails at
// once with their number.
func (p *probe) countAlive(want int) error {
	// Until failure detection notices a killed node, the scan waits for it.
	if err := p.SetDeadline(time.Now().Add(scanTimeout)); err != nil {
		return err
	}
	_, err := p.run("SELECT session_id FROM system_traces.sessions LIMIT 1", consistencyAll)
	var refused serverError
	if !errors.As(err, &refused) {
		return err
	}
	// [int code] [string message] [short consistency] [int required] [int alive]
	if len(refused) < 4+2+2+4+4 || binary.BigEndian.Uint32(refused) != errorUnavailable {
		return err
	}
	if alive := binary.BigEndian.Uint32(refused[len(refused)-4:]); uint64(alive) < uint64(want) {
		return fmt.Errorf("sees %d nodes up, want %d", alive, want)
	}
	return nil
}
