// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The shared server with a fake in place of Cassandra. Users, supervisors and the go command are processes of this
// program.

// roleEnv names the variable that makes this program a process of these tests: "user", "holder" (a program that calls
// Hold), "go user" or "go holder", or, if supervisorEnv is set too, a supervisor of a fake server. folderEnv names the
// variable with the folder that they share.
const (
	roleEnv   = "VECQL_FAKE_ROLE"
	folderEnv = "VECQL_FAKE_FOLDER"
)

func TestMain(m *testing.M) {
	role, s := os.Getenv(roleEnv), &share{dir: os.Getenv(folderEnv), log: func(...any) {}}
	switch {
	case role == "":
		Supervise()
		os.Exit(m.Run())
	case os.Getenv(supervisorEnv) != "":
		exit(s.supervise(context.Background(), startFake(s)))
	case role == "user", role == "holder":
		server, lock, err := s.join(context.Background(), s.startSupervisor)
		if role == "user" && err == nil {
			err = s.noteCommands()
		}
		exit(report(server, err, lock))
	default: // a go command, which runs a user or a holder to its end
		cmd := exec.Command(os.Getenv(roleEnv + "_PROGRAM"))
		cmd.Env = append(os.Environ(), roleEnv+"="+strings.TrimPrefix(role, "go "))
		out, err := cmd.Output() // a user without standard input ends at once
		exit(report(&Server{Host: strings.TrimSpace(string(out))}, err, nil))
	}
}

func exit(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// report prints the server and returns at the end of standard input.
func report(server *Server, err error, _ *os.File) error {
	if err == nil {
		fmt.Println(server.Host)
		_, err = io.Copy(io.Discard, os.Stdin)
	}
	return err
}

// fakeServer is a server whose name is the process id of its supervisor. Files in the folder control it.
type fakeServer struct{ s *share }

func startFake(s *share) func(context.Context, func(...any)) (supervised, error) {
	return func(context.Context, func(...any)) (supervised, error) {
		if _, err := os.Stat(s.file("fails")); err == nil {
			return nil, errors.New("no Java")
		}
		return fakeServer{s}, nil
	}
}

func (f fakeServer) server() *Server { return &Server{Host: strconv.Itoa(os.Getpid())} }

func (f fakeServer) ended() bool {
	_, err := os.Stat(f.s.file("ends"))
	return err == nil
}

func (f fakeServer) Close() error { return nil }

// user is a process that uses the shared server.
type user struct {
	cmd   *exec.Cmd
	stdin io.Closer
	out   *bufio.Reader
}

func fakeShare(t *testing.T) *share {
	if runtime.GOOS != "linux" {
		t.Skip(ErrUnsupported)
	}
	t.Setenv(runVariable, "")
	s := &share{dir: t.TempDir(), log: func(...any) {}}
	t.Cleanup(func() { s.requireStopped(t) })
	return s
}

// start starts a user, a holder, or the go command of one.
func (s *share) start(t *testing.T, role string) *user {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), roleEnv+"="+role, folderEnv+"="+s.dir, roleEnv+"_PROGRAM="+program)
	if strings.HasPrefix(role, "go ") { // a process has the name of its file
		cmd.Path = filepath.Join(t.TempDir(), "go")
		require.NoError(t, os.Symlink(program, cmd.Path))
	}
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	u := &user{cmd, stdin, bufio.NewReader(out)}
	t.Cleanup(u.kill)
	return u
}

// server returns the line that the user prints: the server or an error.
func (u *user) server(t *testing.T) string {
	t.Helper()
	line, err := u.out.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// end lets the process end by itself.
func (u *user) end() {
	_ = u.stdin.Close() // it may have ended
	_ = u.cmd.Wait()    // its output is what the tests check
}

func (u *user) kill() {
	_ = u.cmd.Process.Kill() // it may have ended
	_ = u.cmd.Wait()
}

// requireStopped fails the test unless the supervisor ends.
func (s *share) requireStopped(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		runs, err := s.supervised()
		return err == nil && !runs
	}, 30*time.Second, time.Millisecond, "the supervisor still runs")
}

func TestSharedByConcurrentUsers(t *testing.T) {
	s := fakeShare(t)
	users, servers := make([]*user, 8), make([]string, 8)
	var wg sync.WaitGroup
	for i := range users {
		users[i] = s.start(t, "user")
		wg.Go(func() { servers[i] = users[i].server(t) })
	}
	wg.Wait()
	for i, u := range users {
		require.Equal(t, servers[0], servers[i])
		runs, err := s.supervised()
		require.NoError(t, err)
		require.True(t, runs, "the server stopped before its last use")
		u.end()
	}
	s.requireStopped(t)
	require.NoFileExists(t, s.file("server.json"))
	last := s.start(t, "user")
	require.NotEqual(t, servers[0], last.server(t), "the use after a stop starts another server")
	last.end()
}

func TestSharedEndsWithKilledUsers(t *testing.T) {
	s := fakeShare(t)
	first, second := s.start(t, "user"), s.start(t, "user")
	server := first.server(t)
	require.Equal(t, server, second.server(t))
	first.kill()
	third := s.start(t, "user")
	require.Equal(t, server, third.server(t), "the process that started the server was killed")
	second.kill()
	third.kill()
	s.requireStopped(t)
}

// TestSharedOutlivesUsersOfAGoCommand checks that the server runs from one package to the next.
func TestSharedOutlivesUsersOfAGoCommand(t *testing.T) {
	s := fakeShare(t)
	command := s.start(t, "go user")
	server := command.server(t) // its user has ended
	require.Never(t, func() bool {
		runs, err := s.supervised()
		return err != nil || !runs
	}, 5*useCheck, useCheck/10, "the server stopped before the go command ended")
	next := s.start(t, "user")
	require.Equal(t, server, next.server(t))
	next.end()
	command.end()
	s.requireStopped(t)
}

// TestSharedOutlivesGoCommandsOfARun checks that the server runs until the process of runVariable has ended.
func TestSharedOutlivesGoCommandsOfARun(t *testing.T) {
	s := fakeShare(t)
	run := fakeShare(t).start(t, "holder")
	t.Setenv(runVariable, strconv.Itoa(run.cmd.Process.Pid))
	command := s.start(t, "go user")
	server := command.server(t)
	command.end()
	require.Never(t, func() bool {
		runs, err := s.supervised()
		return err != nil || !runs
	}, 5*useCheck, useCheck/10, "the server stopped before the run ended")
	next := s.start(t, "user")
	require.Equal(t, server, next.server(t))
	next.end()
	run.end()
	s.requireStopped(t)
}

// TestHold holds the server between the go commands of users. A holder's own go command does not hold it.
func TestHold(t *testing.T) {
	s := fakeShare(t)
	ended := s.start(t, "go holder")
	server := ended.server(t)
	s.requireStopped(t)
	holder := s.start(t, "holder")
	held := holder.server(t)
	require.NotEqual(t, server, held)
	for range 2 {
		command := s.start(t, "go user")
		require.Equal(t, held, command.server(t))
		command.end()
	}
	require.Never(t, func() bool {
		runs, err := s.supervised()
		return err != nil || !runs
	}, 5*useCheck, useCheck/10, "the server stopped before the holder ended")
	holder.end()
}

func TestSharedAfterKilledSupervisor(t *testing.T) {
	s := fakeShare(t)
	first := s.start(t, "user")
	server := first.server(t)
	pid, err := strconv.Atoi(server)
	require.NoError(t, err)
	supervisor, err := os.FindProcess(pid)
	require.NoError(t, err)
	require.NoError(t, supervisor.Kill())
	s.requireStopped(t)
	second := s.start(t, "user")
	require.NotEqual(t, server, second.server(t))
	first.end()
	second.end()
}

func TestSharedStartFails(t *testing.T) {
	s := fakeShare(t)
	require.NoError(t, os.WriteFile(s.file("fails"), nil, 0o644))
	for range 2 {
		require.Equal(t, "no Java", s.start(t, "user").server(t))
	}
	require.NoError(t, os.Remove(s.file("fails")))
	u := s.start(t, "user")
	require.Regexp(t, `^\d+$`, u.server(t))
	u.end()
}

func TestSharedServerEndsByItself(t *testing.T) {
	s := fakeShare(t)
	first := s.start(t, "user")
	server := first.server(t)
	require.NoError(t, os.WriteFile(s.file("ends"), nil, 0o644))
	s.requireStopped(t)
	require.NoError(t, os.Remove(s.file("ends")))
	second := s.start(t, "user")
	require.NotEqual(t, server, second.server(t))
	first.end()
	second.end()
}

// TestSharedName checks that programs whose servers differ, as two checkouts of the module may, do not share one.
func TestSharedName(t *testing.T) {
	options := func(change func(o *Options)) Options {
		o := Options{TLS: TLSOptional, Set: map[string]any{"a": 1, "b.c": []any{"d", true}}, JVM: []string{"-Da=1"}}
		change(&o)
		return o
	}
	name := sharedName("5.0.9", options(func(*Options) {}))
	require.Equal(t, name, sharedName("5.0.9", options(func(o *Options) { o.Log = t.Log })))
	names := map[string]bool{name: true, sharedName("5.0.10", options(func(*Options) {})): true}
	for _, change := range []func(o *Options){
		func(o *Options) { o.TLS = TLSOff },
		func(o *Options) { o.Auth = true },
		func(o *Options) { o.Nodes = 2 },
		func(o *Options) { o.Set["a"] = 2 },
		func(o *Options) { o.JVM = nil },
	} {
		names[sharedName("5.0.9", options(change))] = true
	}
	require.Len(t, names, 7)
}
