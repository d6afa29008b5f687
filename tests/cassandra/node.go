// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// This file holds the life of one node: started, paused, stopped, killed, started again on the same files.

// A Node is one server. Its methods may be called from several goroutines.
type Node struct {
	cluster *Cluster
	index   int
	host    string
	dir     string
	argv    []string

	mu     sync.Mutex // guards what follows
	proc   *process   // nil unless started; kept when it ends by itself
	since  time.Time
	paused bool
}

// state is what a node's process does.
type state int

const (
	down state = iota // never started, killed or stopped
	running
	paused
	crashed // ended by itself
)

func newNode(c *Cluster, index int) *Node {
	return &Node{
		cluster: c,
		index:   index,
		host:    c.network + strconv.Itoa(index+1),
		dir:     filepath.Join(c.dir.path, "node"+strconv.Itoa(index+1)),
	}
}

// Host returns the node's address without port.
func (n *Node) Host() string { return n.host }

// Addr returns the node's address with port.
func (n *Node) Addr() string { return net.JoinHostPort(n.host, strconv.Itoa(Port)) }

// Log returns all that the node has logged so far, over all its lives.
func (n *Node) Log() (string, error) {
	b, err := os.ReadFile(n.logFile())
	return string(b), err
}

func (n *Node) logFile() string { return filepath.Join(n.dir, "log") }

// A NodeError tells which node failed, and how its log ends.
type NodeError struct {
	Addr string
	Err  error
	Tail string
}

func (e *NodeError) Error() string {
	if e.Tail == "" {
		return fmt.Sprintf("cassandra: node %s: %v", e.Addr, e.Err)
	}
	return fmt.Sprintf("cassandra: node %s: %v; its log ends:\n%s", e.Addr, e.Err, e.Tail)
}

func (e *NodeError) Unwrap() error { return e.Err }

func (n *Node) fault(err error) error {
	const lines = 30
	log, _ := n.Log() // may be missing; what is wrong is err
	all := strings.Split(strings.TrimSpace(log), "\n")
	return &NodeError{Addr: n.Addr(), Err: err, Tail: strings.Join(all[max(0, len(all)-lines):], "\n")}
}

func (n *Node) state() state {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.proc == nil:
		return down
	case n.proc.ended():
		return crashed
	case n.paused:
		return paused
	}
	return running
}

func (n *Node) started() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.since
}

// Start starts a node that was killed or stopped, and returns when it is ready and the other running nodes see it. On an error it is
// down again.
func (n *Node) Start(ctx context.Context) error {
	if err := n.launch(); err != nil {
		return err
	}
	if err := n.cluster.awaitReady(ctx); err != nil {
		return errors.Join(err, n.Kill())
	}
	return nil
}

func (n *Node) launch() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc != nil && !n.proc.ended() {
		return fmt.Errorf("cassandra: node %s runs already", n.Addr())
	}
	out, err := os.OpenFile(n.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("cassandra: node %s: %w", n.Addr(), err)
	}
	defer out.Close() // the process has its own
	n.since, n.paused = time.Now(), false
	if n.proc, err = startProcess(n.argv, out); err != nil {
		return fmt.Errorf("cassandra: node %s: %w", n.Addr(), err)
	}
	return nil
}

// Kill ends the node as kill -9 does and returns when its process is gone. A node that does not run is left alone.
func (n *Node) Kill() error { return n.end(context.Background(), sigKill) }

// Stop shuts the node down cleanly, as an operator does; it takes two to three seconds and the other nodes learn of it at once. When ctx
// ends first, the node is still stopping.
func (n *Node) Stop(ctx context.Context) error { return n.end(ctx, sigStop) }

func (n *Node) end(ctx context.Context, how signal) error {
	n.mu.Lock()
	proc := n.proc
	n.mu.Unlock()
	if proc == nil {
		return nil
	}
	err := proc.send(how)
	if err == nil && how == sigStop {
		err = proc.send(sigResume) // a paused process would not hear it
	}
	if err != nil {
		return fmt.Errorf("cassandra: node %s: %w", n.Addr(), err)
	}
	if err := proc.wait(ctx); err != nil {
		return fmt.Errorf("cassandra: node %s: waiting for its end: %w", n.Addr(), err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == proc { // not started again meanwhile
		n.proc, n.paused = nil, false
	}
	return nil
}

// Pause halts the process: connections stay open and nothing answers. Resume lets it go on.
func (n *Node) Pause() error { return n.halt(sigPause, true) }

// Resume ends what Pause began.
func (n *Node) Resume() error { return n.halt(sigResume, false) }

func (n *Node) halt(how signal, paused bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil || n.proc.ended() {
		return fmt.Errorf("cassandra: node %s does not run", n.Addr())
	}
	if err := n.proc.send(how); err != nil {
		return fmt.Errorf("cassandra: node %s: %w", n.Addr(), err)
	}
	n.paused = paused
	return nil
}
