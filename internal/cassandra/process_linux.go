// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Processes that die with their parent, process groups and file locks: all of them Linux only.

const supported = true

type signal = syscall.Signal

const (
	sigKill   = syscall.SIGKILL
	sigStop   = syscall.SIGTERM
	sigPause  = syscall.SIGSTOP
	sigResume = syscall.SIGCONT
)

// process is a child that leads its own process group, so that a ^C meant for the tests does not reach it.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the child has been reaped
}

// startProcess starts argv and writes its output to out. The kernel kills the child when this process ends for any
// reason.
func startProcess(argv []string, out *os.File) (*process, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The kernel sends the death signal when the forking thread ends, so this thread must outlive the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the node's log is more informative than an exit status
		}
		close(p.done)
	}()
	return p, <-started
}

func (p *process) ended() bool { return closed(p.done) }

// send sends a signal. It does nothing if the process has exited.
func (p *process) send(s signal) error {
	if err := p.cmd.Process.Signal(s); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// wait returns when the whole process group has exited.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	group := -p.cmd.Process.Pid
	for range 500 {
		if err := syscall.Kill(group, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("process group %d is still running", -group)
}

// command is exec.CommandContext, except that it also kills the grandchildren: mvn is a script.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// startDetached starts a program that outlives this process and has no terminal. ended is closed when it has ended.
func startDetached(program string, env []string, out *os.File) (ended <-chan struct{}, err error) {
	cmd := exec.Command(program)
	cmd.Env, cmd.Dir = env, "/"
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the log is more informative than an exit status
		close(done)
	}()
	return done, nil
}

// incarnation identifies a running process: ids are reused, but not with the same start time. It is "" if the process
// has ended, even if its parent has not reaped it.
func incarnation(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	const state, startTime = 0, 19 // proc(5) counts them as 3 and 22: from 1, with id and name
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= startTime || bytes.ContainsAny(fields[state], "ZX") {
		return ""
	}
	return fmt.Sprintf("%d-%s", pid, fields[startTime])
}

// goCommand returns the id of the go command that runs this test, 0 if another program runs it.
func goCommand() int {
	parent := os.Getppid()
	if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent)); err != nil || string(name) != "go\n" {
		return 0
	}
	return parent
}

// tryLock takes the lock of an open file and reports whether it was free. The kernel releases the lock when the file is
// closed or the owner ends.
func tryLock(f *os.File) (bool, error) { return flock(f, syscall.LOCK_EX) }

// tryShare is tryLock for a lock that any number of processes may share.
func tryShare(f *os.File) (bool, error) { return flock(f, syscall.LOCK_SH) }

func flock(f *os.File, how int) (bool, error) {
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
