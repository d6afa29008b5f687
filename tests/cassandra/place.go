// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"time"
)

// This file finds a cluster its place: a network nobody else uses, and a folder that does not stay behind.

// maxNodes leaves 127.a.b.254 to the claim.
const maxNodes = 250

// claimNetwork picks a network 127.a.b. whose first n addresses are free, and owns it until the listener is closed or the process ends.
func claimNetwork(n int) (network string, claim net.Listener, err error) {
	for range 100 {
		network = fmt.Sprintf("127.%d.%d.", 1+rand.IntN(254), rand.IntN(256))
		if claim, err = net.Listen("tcp", fmt.Sprintf("%s254:%d", network, Port)); err != nil {
			continue
		}
		if err = addressesFree(network, n); err == nil {
			return network, claim, nil
		}
		claim.Close()
	}
	return "", nil, fmt.Errorf("cassandra: no free loopback network (does a server listen on all addresses at port %d or %d?): %w",
		Port, storagePort, err)
}

func addressesFree(network string, n int) error {
	for i := range n {
		for _, port := range []int{Port, storagePort} {
			l, err := net.Listen("tcp", fmt.Sprintf("%s%d:%d", network, i+1, port))
			if err != nil {
				return err
			}
			l.Close()
		}
	}
	return nil
}

// workPrefix starts the name of every cluster's folder.
const workPrefix = "vecql-cassandra-"

// workDir is a cluster's folder under os.TempDir. Its lock is held as long as the owner lives, so that the next one can tell and remove what
// a killed one left.
type workDir struct {
	path string
	lock *os.File
}

func newWorkDir() (*workDir, error) {
	sweep()
	path, err := os.MkdirTemp("", workPrefix)
	if err != nil {
		return nil, fmt.Errorf("cassandra: %w", err)
	}
	lock, err := os.Create(filepath.Join(path, "lock"))
	if err == nil {
		_, err = tryLock(lock)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cassandra: %w", err), os.RemoveAll(path))
	}
	return &workDir{path, lock}, nil
}

func (w *workDir) remove() error {
	return errors.Join(os.RemoveAll(w.path), w.lock.Close())
}

// sweep removes folders without an owner. It is a courtesy: what cannot be removed, another user's for one, stays.
func sweep() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), workPrefix+"*", "lock"))
	for _, path := range left {
		lock, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		// Between creating and locking its file an owner looks dead; nobody takes that long.
		info, err := lock.Stat()
		if free, lockErr := tryLock(lock); err == nil && lockErr == nil && free && time.Since(info.ModTime()) > time.Minute {
			os.RemoveAll(filepath.Dir(path))
		}
		lock.Close()
	}
}

// lockFile waits for the lock of the file at path and returns its release.
func lockFile(ctx context.Context, path string, log func(...any)) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for told := false; ; {
		free, err := tryLock(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if free {
			return func() { f.Close() }, nil
		}
		if !told {
			log("cassandra: waiting for another process that prepares the jars")
			told = true
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}
