// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql/internal/atomicfile"
)

// Checkpoints: what load, copy and verify have done, in a file.

// A checkpointFile is the flags of a checkpoint.
type checkpointFile struct {
	path   string
	resume bool
	every  time.Duration // between two writes
}

// add defines the flags of a verb.
func (f *checkpointFile) add(c *cobra.Command) {
	c.Flags().StringVar(&f.path, "checkpoint", "", "`file` that stores what is done, until all is done")
	c.Flags().BoolVar(&f.resume, "resume", false, "continue the work of --checkpoint, or start it if there is none")
	c.Flags().DurationVar(&f.every, "checkpoint-every", 5*time.Second, "`time` between two writes of the checkpoint")
	must(c.MarkFlagFilename("checkpoint"))
}

// exists reports whether there is a checkpoint to resume. Without one the work starts, also with --resume, so that one
// command line starts the work and continues it.
func (f *checkpointFile) exists() (bool, error) {
	switch {
	case f.every <= 0:
		return false, usagef("--checkpoint-every is %v, must be positive", f.every)
	case f.path == "" && f.resume:
		return false, usageError{errors.New("--resume needs --checkpoint")}
	case f.path == "":
		return false, nil
	}
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.Mode().IsRegular(): // such as a device without end
		return false, fmt.Errorf("the checkpoint %s is not a regular file", f.path)
	case !f.resume:
		return false, advise(fmt.Errorf("the checkpoint %s exists", f.path),
			"--resume continues its work; remove it to start again")
	}
	return true, nil
}

// read reads the checkpoint to resume into a value.
func (f *checkpointFile) read(to any) error {
	exists, err := f.exists()
	if err != nil || !exists {
		return err
	}
	if err := readJSON(f.path, to); err != nil {
		return fmt.Errorf("read the checkpoint %s: %w", f.path, err)
	}
	return nil
}

// readJSON reads a file into a value.
func readJSON(path string, to any) error {
	text, err := atomicfile.Read(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// writeJSON stores a value in a file.
func writeJSON(path string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return atomicfile.Replace(path, append(text, '\n'))
}

// save stores a checkpoint.
func (f *checkpointFile) save(checkpoint any) error {
	if f.path == "" {
		return nil
	}
	if err := writeJSON(f.path, checkpoint); err != nil {
		return fmt.Errorf("write the checkpoint: %w", err)
	}
	return nil
}

// run runs work, and stores its checkpoints meanwhile. The work ends when a checkpoint cannot be made or stored.
func (f *checkpointFile) run(ctx context.Context, work func(context.Context) error,
	checkpoint func(context.Context) (any, error),
) error {
	if f.path == "" {
		return work(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := every(f.every, func() {
		c, err := checkpoint(ctx)
		if err == nil {
			err = f.save(c)
		}
		if err != nil {
			cancel(err)
		}
	}, func() {})
	defer stop()
	return work(ctx)
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
		err = withEnd(err, f.save(checkpoint))
	}
	return advise(err, "--resume continues")
}
