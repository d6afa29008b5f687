// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/tablescan"
)

// The outputs of unload: standard output, a file, and parts in a folder.

// A streamOutput writes to standard output.
type streamOutput struct{ rowfile.Writer }

func newStreamOutput(w io.Writer, schema column.Schema, o rowfile.WriterOptions) (*streamOutput, error) {
	writer, err := rowfile.NewWriter(w, schema, o)
	return &streamOutput{writer}, err
}

func (s *streamOutput) write(_ context.Context, b rowfile.Block) error {
	return standardOutput(b.Write(s.Writer))
}
func (s *streamOutput) finish() error                     { return standardOutput(s.Close()) }
func (*streamOutput) abandon(context.Context, bool) error { return nil }
func (*streamOutput) files() int                          { return 1 }

func standardOutput(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) { // its text has another name of standard output
		err = at.Err
	}
	if err != nil {
		return fmt.Errorf("write standard output: %w", err)
	}
	return nil
}

// A fileOutput writes one file.
type fileOutput struct{ *rowfile.File }

func newFileOutput(path string, schema column.Schema, o rowfile.WriterOptions) (*fileOutput, error) {
	f, err := rowfile.Create(path, schema, o)
	return &fileOutput{f}, err
}

func (f *fileOutput) write(_ context.Context, b rowfile.Block) error { return f.WriteBlock(b) }
func (f *fileOutput) finish() error                                  { return f.Close() }
func (f *fileOutput) abandon(context.Context, bool) error            { return f.Abort() }
func (*fileOutput) files() int                                       { return 1 }

// checkpointName is the name of the file in a folder that is not complete. Readers of folders skip such names.
const checkpointName = "_checkpoint.json"

// An unloadCheckpoint is what a folder has: the first Parts files, with the rows that Scan has acknowledged.
type unloadCheckpoint struct {
	Parts int                  `json:"parts"`
	Scan  tablescan.Checkpoint `json:"scan"`
}

// A partsOutput writes parts to a folder. After each part it stores a checkpoint. Parts after the checkpoint belong to
// no run: a run that resumes removes them and reads their rows again.
type partsOutput struct {
	*rowfile.Parts
	u       *unload
	first   int
	resumed *tablescan.Checkpoint // nil means a new unload
	// checkpoint returns the checkpoint of the scan; nil means that the rows are not read by ranges.
	checkpoint func() tablescan.Checkpoint
}

// openFolder reads the checkpoint of a folder that is resumed, and refuses a folder with parts otherwise.
func (u *unload) openFolder() (*partsOutput, error) {
	p := &partsOutput{u: u}
	var c unloadCheckpoint
	err := readJSON(filepath.Join(u.path, checkpointName), &c)
	parts, globErr := filepath.Glob(filepath.Join(u.path, "part-*"))
	isNew := errors.Is(err, fs.ErrNotExist)
	switch {
	case isNew && len(parts) == 0 && globErr == nil:
		return p, nil // one command line starts and continues the work
	case !u.resume:
		return nil, advise(fmt.Errorf("%s has parts of another unload", u.path), "remove them, or continue it with --resume")
	case isNew:
		return nil, fmt.Errorf("%s has parts and no unload to resume: there is no %s", u.path, checkpointName)
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", filepath.Join(u.path, checkpointName), err)
	}
	p.first, p.resumed = c.Parts, &c.Scan
	u.written, u.before = c.Scan.Rows, c.Scan.Rows
	return p, nil
}

// start opens the folder and stores the first checkpoint.
func (p *partsOutput) start() (err error) {
	o := rowfile.PartsOptions{WriterOptions: p.u.o, Rows: p.u.partRows, Bytes: p.u.partBytes, First: p.first}
	if p.Parts, err = rowfile.NewParts(p.u.path, p.u.schema, o); err != nil {
		return err
	}
	return p.save(context.Background())
}

// write adds the rows of a page. A part ends where a page does not fit, so that the checkpoint has whole pages.
func (p *partsOutput) write(ctx context.Context, b rowfile.Block) error {
	if !p.Fits(b.Batch) {
		if err := p.save(ctx); err != nil {
			return err
		}
	}
	return p.WriteBlock(b)
}

// save completes the current part and stores a checkpoint.
func (p *partsOutput) save(ctx context.Context) error {
	if err := p.Cut(); err != nil {
		return err
	}
	if p.checkpoint == nil {
		return nil
	}
	// A page is acknowledged a moment after page has returned. The lock keeps further pages out.
	c := p.checkpoint()
	for ; c.Rows != p.u.written; c = p.checkpoint() {
		if !background.Sleep(ctx, 100*time.Microsecond) {
			return context.Cause(ctx)
		}
	}
	return writeJSON(filepath.Join(p.u.path, checkpointName), unloadCheckpoint{p.Files(), c})
}

// finish completes the last part and removes the checkpoint.
func (p *partsOutput) finish() error {
	if err := p.Close(); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(p.u.path, checkpointName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// abandon stores what was read, or removes the part that is not complete.
func (p *partsOutput) abandon(ctx context.Context, keep bool) error {
	if keep {
		return p.save(ctx)
	}
	return p.Abort()
}

func (p *partsOutput) files() int { return p.Files() }
