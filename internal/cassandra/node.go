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

// The life cycle of a node: start, pause, stop, kill, and a new start on the same files.

// A Node is one server. Its methods are safe for concurrent use.
type Node struct {
	cluster *Cluster
	index   int
	host    string
	dir     string

	mu      sync.Mutex // guards the fields below
	release release
	argv    []string
	// classpath and management are of nodetool: the jars, and the port if the node was upgraded.
	classpath  string
	management int
	proc       *process // nil unless started; kept if the process exits by itself
	since      time.Time
	paused     bool
}

// state is the state of a node's process.
type state int

const (
	down state = iota // never started, killed or stopped
	running
	paused
	crashed // exited by itself
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

// Log returns the log of the node, over all its starts.
func (n *Node) Log() (string, error) {
	b, err := os.ReadFile(n.logFile())
	return string(b), err
}

func (n *Node) logFile() string { return filepath.Join(n.dir, "log") }

// A NodeError names the node that failed and contains the end of its log.
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
	log, _ := n.Log() // the log may be missing; err is the error to report
	all := strings.Split(strings.TrimSpace(log), "\n")
	return &NodeError{Addr: n.Addr(), Err: err, Tail: strings.Join(all[max(0, len(all)-lines):], "\n")}
}

// state returns what the node's process does now. A process that has ended on its own is crashed.
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

// line returns the release line of the node.
func (n *Node) line() release {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.release
}

func (n *Node) started() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.since
}

// Start starts a node that was killed or stopped, and returns when it is ready and the other running nodes see it up.
// If Start fails, the node is down again.
func (n *Node) Start(ctx context.Context) error {
	if err := n.launch(); err != nil {
		return err
	}
	if err := n.cluster.awaitReady(ctx); err != nil {
		return errors.Join(err, n.Kill())
	}
	return nil
}

// launch starts the process and does not wait until it is ready.
func (n *Node) launch() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc != nil && !n.proc.ended() {
		return fmt.Errorf("cassandra: start node %s: it is already running", n.Addr())
	}
	out, err := os.OpenFile(n.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("cassandra: node %s: %w", n.Addr(), err)
	}
	defer out.Close() // the process has its own descriptor
	n.since, n.paused = time.Now(), false
	if n.proc, err = startProcess(n.argv, out); err != nil {
		return fmt.Errorf("cassandra: node %s: %w", n.Addr(), err)
	}
	return nil
}

// Kill ends the node as kill -9 does and returns when its process has exited. It does nothing to a node that is not
// running.
func (n *Node) Kill() error { return n.end(context.Background(), sigKill) }

// Stop shuts the node down cleanly and returns when its process has exited. A stop takes two to three seconds, and the
// node announces it to its peers. If ctx ends first, Stop returns an error while the node is still stopping.
func (n *Node) Stop(ctx context.Context) error { return n.end(ctx, sigStop) }

// end sends how to the process and blocks until it has exited. It holds no lock while it waits, so that the state can
// be read.
func (n *Node) end(ctx context.Context, how signal) error {
	n.mu.Lock()
	proc := n.proc
	n.mu.Unlock()
	if proc == nil {
		return nil
	}
	err := proc.send(how)
	if err == nil && how == sigStop {
		err = proc.send(sigResume) // a paused process does not handle signals
	}
	if err != nil {
		return fmt.Errorf("cassandra: node %s: %w", n.Addr(), err)
	}
	if err := proc.wait(ctx); err != nil {
		return fmt.Errorf("cassandra: node %s: wait for its exit: %w", n.Addr(), err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == proc { // unless Start has replaced the process
		n.proc, n.paused = nil, false
	}
	return nil
}

// Pause suspends the process: connections stay open and the node does not respond until Resume.
func (n *Node) Pause() error { return n.halt(sigPause, true) }

// Resume continues a paused process.
func (n *Node) Resume() error { return n.halt(sigResume, false) }

// halt sends how to the running process, which pauses or resumes it.
func (n *Node) halt(how signal, paused bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc == nil || n.proc.ended() {
		return fmt.Errorf("cassandra: node %s is not running", n.Addr())
	}
	if err := n.proc.send(how); err != nil {
		return fmt.Errorf("cassandra: node %s: %w", n.Addr(), err)
	}
	n.paused = paused
	return nil
}
