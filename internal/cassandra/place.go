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

// A network that no other cluster uses, and a work folder that is removed even after a crash.

// maxNodes reserves 127.a.b.254 for the claim.
const maxNodes = 250

// claimNetwork picks a network 127.a.b. whose first n addresses are free. The listener owns the network until it is
// closed or the process ends.
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

// addressesFree returns an error unless nodes can listen on the first n addresses of a network such as "127.0.1.".
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

// workPrefix is the prefix of the name of each work folder.
const workPrefix = "vecql-cassandra-"

// workDir is a cluster's folder under os.TempDir. The owner holds its lock while it lives, so that a later start can
// detect and remove the folder of a killed process.
type workDir struct {
	path string
	lock *os.File
}

// newWorkDir creates and locks a folder, after it has removed the folders of dead processes.
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

// sweep removes folders without an owner. A folder that cannot be removed, for example another user's, stays.
func sweep() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), workPrefix+"*", "lock"))
	for _, path := range left {
		lock, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		// An owner that has created its lock file but not yet locked it looks dead; this takes far less than the age
		// checked here.
		info, err := lock.Stat()
		if free, lockErr := tryLock(lock); err == nil && lockErr == nil && free && time.Since(info.ModTime()) > time.Minute {
			os.RemoveAll(filepath.Dir(path))
		}
		lock.Close()
	}
}

// lockFile blocks until try has taken a lock of the file at path, which it creates. The caller closes the file to
// release the lock. While another process holds the lock, lockFile logs that it waits.
func lockFile(ctx context.Context, path string, try func(*os.File) (bool, error), log func(...any), waits string,
) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for logged := false; ; logged = true {
		free, err := try(f)
		if free {
			return f, nil
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if !logged {
			log("cassandra: waiting: " + waits)
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
	}
}

// sleep returns after d, or earlier with the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// closed reports whether done is closed.
func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
