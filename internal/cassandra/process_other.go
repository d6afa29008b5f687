// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package cassandra

import (
	"context"
	"os"
	"os/exec"
)

// Stubs for other operating systems. Start returns ErrUnsupported before it calls any of them.

const supported = false

type signal int

const (
	sigKill signal = iota
	sigStop
	sigPause
	sigResume
)

type process struct{}

func startProcess([]string, *os.File) (*process, error) { return nil, ErrUnsupported }

func (*process) ended() bool                { return true }
func (*process) send(signal) error          { return ErrUnsupported }
func (*process) wait(context.Context) error { return ErrUnsupported }

func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, name, args...)
}

func startDetached(string, []string, *os.File) (<-chan struct{}, error) { return nil, ErrUnsupported }

func incarnation(int) string { return "" }
func goCommand() int         { return 0 }

func tryLock(*os.File) (bool, error)  { return false, ErrUnsupported }
func tryShare(*os.File) (bool, error) { return false, ErrUnsupported }
