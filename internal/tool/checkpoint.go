// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql/internal/atomicfile"
)

// Checkpoints: what copy and verify have done, in a file.

// checkpointEvery is how often a checkpoint is stored.
const checkpointEvery = 5 * time.Second

// A checkpointFile is the flags of a checkpoint.
type checkpointFile struct {
	path   string
	resume bool
}

// add gives a verb the flags.
func (f *checkpointFile) add(c *cobra.Command) {
	c.Flags().StringVar(&f.path, "checkpoint", "", "`file` that stores what is done, until all is done")
	c.Flags().BoolVar(&f.resume, "resume", false, "continue the work of --checkpoint")
	must(c.MarkFlagFilename("checkpoint"))
}

// read reads the checkpoint to resume into a value.
func (f *checkpointFile) read(to any) error {
	if f.path == "" {
		if f.resume {
			return usageError{errors.New("--resume needs --checkpoint")}
		}
		return nil
	}
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.resume:
		return fmt.Errorf("there is no checkpoint %s to resume", f.path)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular(): // such as a device without end
		return fmt.Errorf("the checkpoint %s is not a regular file", f.path)
	case !f.resume:
		return advise(fmt.Errorf("the checkpoint %s exists", f.path), "--resume continues its work; remove it to start again")
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("read the checkpoint %s: %w", f.path, err)
	}
	return nil
}

// save stores a checkpoint.
func (f *checkpointFile) save(checkpoint any) error {
	if f.path == "" {
		return nil
	}
	text, err := json.Marshal(checkpoint)
	if err == nil {
		err = atomicfile.Replace(f.path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the checkpoint: %w", err)
	}
	return nil
}

// saveEvery stores checkpoints until stop is called. The first failure is passed to fail.
func (f *checkpointFile) saveEvery(interval time.Duration, checkpoint func() any, fail func(error)) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if err := f.save(checkpoint()); err != nil {
					fail(err)
					return
				}
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// end removes the checkpoint of work that is done. Otherwise it stores the last one, and adds to the error how to
// continue.
func (f *checkpointFile) end(checkpoint any, err error) error {
	switch {
	case f.path == "":
		return err
	case err == nil:
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the checkpoint: %w", err)
		}
		return nil
	}
	if checkpoint != nil {
		err = errors.Join(err, f.save(checkpoint))
	}
	return advise(err, "--resume continues")
}
