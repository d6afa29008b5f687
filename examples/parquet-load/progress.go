// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/vecql/vecql/parquetscan"
)

// The progress file: the buckets of a job, and which are done.

// A progress is the content of the progress file. It is safe for concurrent use.
type progress struct {
	path string

	// Statement and Buckets are set when a job starts, and never change.
	Statement string               `json:"statement"`
	Buckets   []parquetscan.Bucket `json:"buckets"` // bucket i has the number i

	mu   sync.Mutex
	Done []int `json:"done"` // numbers of buckets, in the order in which they were done
}

// openProgress reads the progress file, and returns an error if it belongs to another statement or other files. If
// there is no file, it creates one with buckets of bucketBytes.
func openProgress(ctx context.Context, path, statement string, ds *parquetscan.Dataset, scan *parquetscan.Scan,
	bucketBytes int64,
) (*progress, error) {
	p := &progress{path: path, Statement: statement, Done: []int{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		p.Buckets = scan.SplitByBytes(bucketBytes)
		return p, p.save()
	}
	if err == nil {
		err = json.Unmarshal(text, p)
	}
	if err == nil {
		err = p.check(statement)
	}
	if err == nil {
		// The buckets match the files, and contain all of their rows.
		rows := int64(0)
		if len(p.Buckets) > 0 { // Count of nil is Count of all
			rows, err = scan.Count(ctx, p.Buckets...)
		}
		if err == nil && rows != ds.NumRows() {
			err = fmt.Errorf("its buckets have %d rows, the files %d", rows, ds.NumRows())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("progress file %s: %w", path, err)
	}
	return p, nil
}

// check returns an error if the content is invalid or belongs to another statement.
func (p *progress) check(statement string) error {
	if p.Statement != statement {
		return fmt.Errorf("it belongs to another job: %s", p.Statement)
	}
	for i, b := range p.Buckets {
		if b.Number != i {
			return fmt.Errorf("bucket %d has number %d", i, b.Number)
		}
	}
	seen := map[int]bool{}
	for _, n := range p.Done {
		if n < 0 || n >= len(p.Buckets) || seen[n] {
			return fmt.Errorf("invalid number %d of a done bucket, there are %d buckets", n, len(p.Buckets))
		}
		seen[n] = true
	}
	return nil
}

// left returns the buckets that are not done.
func (p *progress) left() []parquetscan.Bucket {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.Buckets), func(b parquetscan.Bucket) bool {
		return slices.Contains(p.Done, b.Number)
	})
}

// markDone records in the file that a bucket is done, and returns the number of done buckets.
func (p *progress) markDone(number int) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Done = append(p.Done, number)
	return len(p.Done), p.save()
}

// save replaces the file atomically: after a crash or a power cut there is the old or the new one.
func (p *progress) save() (err error) {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	f, err := os.Create(p.path + ".new")
	if err != nil {
		return err
	}
	if _, err = f.Write(append(text, '\n')); err == nil {
		err = f.Sync() // the content before the name
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), p.path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(p.path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
