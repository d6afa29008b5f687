// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// The server that the test processes of a user share: how a process gets it. Files in one folder connect users and
// supervisor:
//
//	users        users hold a shared lock; the supervisor takes the exclusive lock to stop the server
//	start        held by the user that starts a supervisor
//	supervisor   held by the supervisor
//	server.json  the server, or the error of its start
//	commands/    a file for each process that runs users: go commands, and what runs those
//	log          output of the supervisor
//
// The kernel releases the locks of a process however it ends.

// A Server is the node that the test processes of a user share. Clients log in as [Username] and [Password], over TLS
// with a client certificate or without TLS.
type Server struct {
	Host          string // address without port
	CA, Cert, Key string // PEM files: the authority's certificate, the client's certificate, its key
}

// TLSConfig returns a configuration as [Cluster.TLSConfig] does.
func (s *Server) TLSConfig() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
	if err != nil {
		return nil, fmt.Errorf("cassandra: client certificate: %w", err)
	}
	authority, err := os.ReadFile(s.CA)
	if err != nil {
		return nil, fmt.Errorf("cassandra: certificate of the authority: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool(), Certificates: []tls.Certificate{pair}}
	config.RootCAs.AppendCertsFromPEM(authority)
	return config, nil
}

// use is this process's use of the shared server, which ends with the process.
var use struct {
	mu     sync.Mutex
	server *Server // nil unless the process uses it
	lock   *os.File
}

// runVariable is the variable with the id of a process that runs several go commands, such as .ci/run.
const runVariable = "VECQL_TEST_RUN"

// Shared returns the server that the test processes of this user share, and starts it if no process uses it. It runs
// until this process and every other user has ended, and the go commands that run them: so that one `go test ./...`
// starts it once. It also runs until the process has ended whose id the variable VECQL_TEST_RUN of a user has. TestMain
// of the calling package must call [Supervise] first. Lines on standard error report what a start waits for.
func Shared(ctx context.Context) (*Server, error) {
	if !supported {
		return nil, ErrUnsupported
	}
	use.mu.Lock()
	defer use.mu.Unlock()
	if use.server != nil {
		return use.server, nil
	}
	s, err := sharedOf("")
	if err != nil {
		return nil, err
	}
	server, lock, err := s.join(ctx, s.launch(ctx))
	if err != nil {
		return nil, err
	}
	if err := s.noteCommands(); err != nil {
		lock.Close()
		return nil, err
	}
	use.server, use.lock = server, lock
	return server, nil
}

// Hold starts the shared server of a version, named as in [Options.Version], unless it runs. The server runs until the
// result is closed, also between the processes that use it. The program must call [Supervise] first.
func Hold(ctx context.Context, version string) (io.Closer, error) {
	if !supported {
		return nil, ErrUnsupported
	}
	s, err := sharedOf(version)
	if err != nil {
		return nil, err
	}
	_, lock, err := s.join(ctx, s.launch(ctx))
	if err != nil {
		return nil, err
	}
	return lock, nil
}

// sharedOf returns the share of a version.
func sharedOf(version string) (*share, error) {
	version, err := VersionOf(version)
	if err != nil {
		return nil, err
	}
	cache, err := versionDir(version)
	if err != nil {
		return nil, fmt.Errorf("cassandra: cache: %w", err)
	}
	return &share{dir: filepath.Join(cache, sharedName(version, sharedOptions)), version: version, log: announce}, nil
}

// launch returns a launcher that prepares the cache in this process, so that its progress is visible.
func (s *share) launch(ctx context.Context) launcher {
	return func() (<-chan struct{}, error) {
		if _, err := prepareRuntime(ctx, s.version, s.log); err != nil {
			return nil, err
		}
		s.log(fmt.Sprintf("cassandra: starting Cassandra %s, one node for all packages; log: %s", s.version, s.file("log")))
		return s.startSupervisor()
	}
}

// announce writes a line to standard error of the go command that runs this test, because go test shows the output of
// a package not before its end. Where that is a file, which two processes must not write, or where there is no go
// command, the line goes to the standard error of this process.
func announce(a ...any) {
	var out io.Writer = os.Stderr
	if command := goCommand(); command != 0 {
		path := fmt.Sprintf("/proc/%d/fd/2", command)
		if info, err := os.Stat(path); err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0 {
			if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
				defer f.Close()
				out = f
			}
		}
	}
	fmt.Fprintln(out, a...)
}

// sharedName returns the name of the folder of a shared server. Programs whose servers differ have different folders.
func sharedName(version string, o Options) string {
	o.Takes, o.Log = nil, nil
	key := sha256.Sum256(fmt.Appendf(nil, "%+v", o)) // fmt sorts the keys of maps
	return fmt.Sprintf("shared-%s-%x", version, key[:4])
}

// share is the folder of a shared server.
type share struct {
	dir     string
	version string // of the server
	log     func(...any)
}

func (s *share) file(name string) string { return filepath.Join(s.dir, name) }

// supervisorEnv names the variable whose value is the folder that a supervisor serves.
const supervisorEnv = "VECQL_CASSANDRA_SUPERVISOR"

// startSupervisor runs this program again as the supervisor, which outlives this process. ended is closed when the
// supervisor has ended.
func (s *share) startSupervisor() (ended <-chan struct{}, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cassandra: path of this program: %w", err)
	}
	log, err := os.Create(s.file("log"))
	if err != nil {
		return nil, fmt.Errorf("cassandra: log of the shared server: %w", err)
	}
	defer log.Close()
	ended, err = startDetached(program, append(os.Environ(), supervisorEnv+"="+s.dir, VersionVariable+"="+s.version), log)
	if err != nil {
		return nil, fmt.Errorf("cassandra: start the supervisor: %w", err)
	}
	return ended, nil
}

// A launcher starts a supervisor. ended is closed when the supervisor has ended.
type launcher func() (ended <-chan struct{}, err error)

// join makes this process a user and returns the server. It launches a supervisor if none runs. The process remains a
// user until the lock is closed.
func (s *share) join(ctx context.Context, launch launcher) (*Server, *os.File, error) {
	if err := os.MkdirAll(s.file("commands"), 0o755); err != nil {
		return nil, nil, fmt.Errorf("cassandra: shared server: %w", err)
	}
	lock, err := lockFile(ctx, s.file("users"), tryShare, s.log, "the shared server of an earlier run stops")
	if err != nil {
		return nil, nil, fmt.Errorf("cassandra: shared server: %w", err)
	}
	server, err := s.await(ctx, launch)
	if err != nil {
		lock.Close()
		return nil, nil, err
	}
	return server, lock, nil
}

// noteCommands records the go command that runs this process as a user, and the process of runVariable: the server runs
// from one package, and from one command, to the next.
func (s *share) noteCommands() error {
	run, _ := strconv.Atoi(os.Getenv(runVariable)) // 0 without the variable
	for _, pid := range []int{goCommand(), run} {
		command := incarnation(pid)
		if command == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(s.file("commands"), command), nil, 0o644); err != nil {
			return fmt.Errorf("cassandra: shared server: %w", err)
		}
	}
	return nil
}

// await returns the server when it is ready.
func (s *share) await(ctx context.Context, launch launcher) (*Server, error) {
	starting, err := lockFile(ctx, s.file("start"), tryLock, s.log, "another process starts the shared server")
	if err != nil {
		return nil, fmt.Errorf("cassandra: shared server: %w", err)
	}
	defer starting.Close()
	if server, err := s.existing(ctx); server != nil || err != nil {
		return server, err
	}
	// Not earlier: the file of a supervisor that was killed must not be taken for its successor's.
	if err := os.Remove(s.file("server.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cassandra: shared server: %w", err)
	}
	ended, err := launch()
	if err != nil {
		return nil, err
	}
	for {
		over := closed(ended)
		if server, err := s.read(); !errors.Is(err, fs.ErrNotExist) {
			return server, err
		}
		if over { // perhaps because another supervisor was first
			if server, err := s.existing(ctx); server != nil || err != nil {
				return server, err
			}
			return nil, fmt.Errorf("cassandra: the supervisor has ended early; its log is %s", s.file("log"))
		}
		if err := s.sleep(ctx); err != nil {
			return nil, err
		}
	}
}

// existing returns the server of a supervisor that runs, when it is ready, or nil if there is no supervisor.
func (s *share) existing(ctx context.Context) (*Server, error) {
	for {
		if supervised, err := s.supervised(); !supervised || err != nil {
			return nil, err
		}
		if server, err := s.read(); err == nil {
			return server, nil
		}
		if err := s.sleep(ctx); err != nil {
			return nil, err
		}
	}
}

// sleep returns an error if ctx ends before the server should be looked for again.
func (s *share) sleep(ctx context.Context) error {
	if err := sleep(ctx, 50*time.Millisecond); err != nil {
		return fmt.Errorf("cassandra: wait for the shared server, whose log is %s: %w", s.file("log"), err)
	}
	return nil
}

// supervised reports whether a supervisor runs.
func (s *share) supervised() (bool, error) {
	f, err := os.OpenFile(s.file("supervisor"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return false, fmt.Errorf("cassandra: shared server: %w", err)
	}
	defer f.Close()
	free, err := tryShare(f) // not the exclusive lock, for which a supervisor may look at this moment
	return err == nil && !free, err
}

// outcome is the content of server.json.
type outcome struct {
	Server *Server
	Error  string // why the server could not start
}

// read returns the server or the error of its start. The error is fs.ErrNotExist while it starts.
func (s *share) read() (*Server, error) {
	b, err := os.ReadFile(s.file("server.json"))
	if err != nil {
		return nil, err
	}
	var o outcome
	if err := json.Unmarshal(b, &o); err != nil {
		return nil, fmt.Errorf("cassandra: %s: %w", s.file("server.json"), err)
	}
	if o.Server == nil {
		return nil, errors.New(o.Error)
	}
	return o.Server, nil
}
