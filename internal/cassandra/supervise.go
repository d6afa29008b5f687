// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The supervisor of the shared server: a process that starts the server and stops it after the last use. The kernel
// kills the server if the supervisor is killed.

// sharedOptions are the options of the shared server, with which clients can test each way to log in.
var sharedOptions = Options{
	TLS: TLSOptional, Auth: true, Set: map[string]any{"client_encryption_options.require_client_auth": "true"},
	// Without a flush after each change of the schema, CREATE TABLE takes a fifth of the time. A node that restarts
	// needs the flush; this one never does.
	JVM: []string{"-Dcassandra.test.flush_local_schema_changes=false"},
}

// useCheck is the time between two looks for users.
const useCheck = 200 * time.Millisecond

// Supervise does nothing in a process of tests. In a supervisor, which is the same program, it stops the shared server
// after its last use and ends the process. TestMain calls it before anything else.
func Supervise() {
	dir := os.Getenv(supervisorEnv)
	if dir == "" {
		return
	}
	s := &share{dir: dir, log: func(a ...any) { fmt.Fprintln(os.Stderr, a...) }}
	if err := s.supervise(context.Background(), startShared); err != nil {
		s.log(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// supervised is a running server.
type supervised interface {
	server() *Server
	ended() bool // by itself
	Close() error
}

// sharedCluster is the supervised server outside of tests.
type sharedCluster struct{ *Cluster }

func startShared(ctx context.Context, log func(...any)) (supervised, error) {
	o := sharedOptions
	o.Log = log
	c, err := Start(ctx, o)
	return sharedCluster{c}, err
}

func (c sharedCluster) server() *Server {
	s := &Server{Host: c.Nodes[0].host}
	s.CA, s.Cert, s.Key = c.TLSFiles()
	return s
}

func (c sharedCluster) ended() bool { return c.Nodes[0].state() == crashed }

// supervise starts a server and returns when it has stopped, or at once if another supervisor runs.
func (s *share) supervise(ctx context.Context, start func(context.Context, func(...any)) (supervised, error)) error {
	only, err := os.OpenFile(s.file("supervisor"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("cassandra: supervisor: %w", err)
	}
	defer only.Close()
	if first, err := s.claim(ctx, only); !first {
		return err
	}
	running, err := start(ctx, s.log)
	if err != nil {
		return errors.Join(err, s.write(outcome{Error: err.Error()}))
	}
	if err := s.write(outcome{Server: running.server()}); err != nil {
		return errors.Join(err, running.Close())
	}
	users, err := s.lastUse(running)
	if users != nil {
		defer users.Close() // when the server has stopped, so that the next user starts another one
	}
	return errors.Join(err, os.Remove(s.file("server.json")), running.Close())
}

// claim takes the supervisor's lock and reports whether it was free.
func (s *share) claim(ctx context.Context, only *os.File) (bool, error) {
	for range 10 { // users hold the lock for a moment, when they look for a supervisor
		if free, err := tryLock(only); free || err != nil {
			return free, err
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return false, err
		}
	}
	return false, nil
}

// write replaces server.json.
func (s *share) write(o outcome) error {
	b, err := json.Marshal(o)
	if err == nil {
		err = os.WriteFile(s.file("server.new"), b, 0o644)
	}
	if err == nil {
		err = os.Rename(s.file("server.new"), s.file("server.json"))
	}
	if err != nil {
		return fmt.Errorf("cassandra: supervisor: %w", err)
	}
	return nil
}

// lastUse returns when there are no users and no go commands that ran some, or when the server has ended. In the first
// case it returns the lock that keeps further users waiting.
func (s *share) lastUse(running supervised) (*os.File, error) {
	for ; ; time.Sleep(useCheck) {
		if running.ended() {
			return nil, errors.New("cassandra: the shared server has ended by itself")
		}
		if s.commandsRun() {
			continue
		}
		users, err := os.OpenFile(s.file("users"), os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, fmt.Errorf("cassandra: supervisor: %w", err)
		}
		free, err := tryLock(users)
		if err == nil && free && !s.commandsRun() { // again: a user may have come and gone
			return users, nil
		}
		users.Close()
		if err != nil {
			return nil, fmt.Errorf("cassandra: supervisor: lock: %w", err)
		}
	}
}

// commandsRun reports whether a go command runs that has run a user. It forgets those that have ended.
func (s *share) commandsRun() bool {
	run := false
	files, _ := filepath.Glob(filepath.Join(s.file("commands"), "*")) // the pattern is well formed
	for _, f := range files {
		var pid int
		if _, err := fmt.Sscan(filepath.Base(f), &pid); err == nil && incarnation(pid) == filepath.Base(f) {
			run = true
			continue
		}
		os.Remove(f)
	}
	return run
}
