// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// This file holds what only Linux offers: processes that die with their parent, process groups, file locks.

const supported = true

type signal = syscall.Signal

const (
	sigKill   = syscall.SIGKILL
	sigStop   = syscall.SIGTERM
	sigPause  = syscall.SIGSTOP
	sigResume = syscall.SIGCONT
)

// process is a child that leads its own process group, out of reach of a ^C meant for the tests.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the child has been reaped
}

// startProcess starts argv with its output going to out. The kernel kills the child when this process ends, however it ends.
func startProcess(argv []string, out *os.File) (*process, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The death signal comes when the thread that forked ends, so that thread has to outlive the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // an exit status says less than the node's log
		}
		close(p.done)
	}()
	return p, <-started
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// send does nothing to a process that has ended.
func (p *process) send(s signal) error {
	if err := p.cmd.Process.Signal(s); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// wait returns when the process and whatever it started have gone.
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
	return fmt.Errorf("process group %d does not end", -group)
}

// command is exec.CommandContext whose end takes the grandchildren along: mvn is a script.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// tryLock takes the lock of an open file and reports whether it was free. The kernel gives it back when the file is closed or the owner ends.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
