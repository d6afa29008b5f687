// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/crypt"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/input"
)

// Opening files. Each footer is read once and parsed once (parquet-format, README.md, "File format").

// A Config configures how files are opened. The zero Config suits most programs; [Open] uses it.
type Config struct {
	// Cache keeps parsed footers from one Open to the next. nil means no cache.
	Cache *Cache
	// Decryption contains the keys of encrypted files. nil means that encrypted files and columns are an ErrEncrypted.
	Decryption *Decryption
	// NoMmap reads local files instead of mapping them into memory.
	NoMmap bool
	// ReadBytes is the size of one read from a file that is not mapped; a longer page is read at once. Default 4 MiB.
	// Each column being read holds a buffer of that size.
	ReadBytes int
	// NoChecksums leaves the checksums of pages unverified.
	NoChecksums bool
}

// A Dataset is a set of open files of one schema, read as one table: the rows of the first file, then the rows of the
// second, and so on. It is safe for concurrent use.
type Dataset struct {
	cfg         Config
	files       []*dataFile
	rows        int64
	groups      int
	footerReads atomic.Int64

	mu     sync.RWMutex // held for reading while bytes of files are read
	closed bool
}

// A dataFile is an open file.
type dataFile struct {
	footer.File
	src   Source
	first int64 // rows in the files before
}

// newFile returns a file that is not mapped.
func newFile(src Source) *dataFile {
	return &dataFile{File: footer.File{File: input.File{Reader: src.Reader, Size: src.Size}}, src: src}
}

// Open opens files with the zero Config: see [Config.Open].
func Open(ctx context.Context, patterns ...string) (*Dataset, error) {
	return Config{}.Open(ctx, patterns...)
}

// OpenSources opens sources with the zero Config: see [Config.OpenSources].
func OpenSources(ctx context.Context, sources ...Source) (*Dataset, error) {
	return Config{}.OpenSources(ctx, sources...)
}

// Open opens the files that patterns match (see [filepath.Glob]; a path that exists is not a pattern), in the order of
// the patterns, the matches of one pattern in lexical order. A pattern without a match is an error (fs.ErrNotExist). So
// is a file that occurs twice, because its rows would count twice. Files are mapped into memory where the system
// supports it; they must not be truncated while they are open.
func (cfg Config) Open(ctx context.Context, patterns ...string) (*Dataset, error) {
	paths, err := expand(patterns)
	if err != nil {
		return nil, err
	}
	d := &Dataset{cfg: cfg, files: make([]*dataFile, len(paths))}
	err = d.openAll(ctx, func(i int) (*dataFile, error) {
		src, local, err := openFile(paths[i])
		if err != nil {
			return nil, &Error{paths[i], -1, "", -1, err}
		}
		f := newFile(src)
		f.Local = local
		if !cfg.NoMmap {
			if err := f.Map(); err != nil {
				local.Close()
				return nil, &Error{paths[i], -1, "", -1, fmt.Errorf("mapping: %w", err)}
			}
		}
		return f, nil
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// OpenSources opens files that are remote or in memory. Several goroutines use the readers of the sources at once,
// until Close. Close does not close the readers.
func (cfg Config) OpenSources(ctx context.Context, sources ...Source) (*Dataset, error) {
	seen := map[string]bool{}
	for _, s := range sources {
		if seen[s.Name] {
			return nil, fmt.Errorf("parquetscan: %s is named twice", s.Name)
		}
		seen[s.Name] = true
	}
	d := &Dataset{cfg: cfg, files: make([]*dataFile, len(sources))}
	err := d.openAll(ctx, func(i int) (*dataFile, error) {
		return newFile(sources[i]), nil
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// expand returns the paths that patterns match.
func expand(patterns []string) ([]string, error) {
	var paths []string
	seen := map[string]bool{}
	for _, p := range patterns {
		matches := []string{p}
		if _, err := os.Stat(p); err != nil {
			if matches, err = filepath.Glob(p); err != nil {
				return nil, fmt.Errorf("parquetscan: %q: %w", p, err)
			}
			if len(matches) == 0 {
				return nil, fmt.Errorf("parquetscan: %q: %w", p, os.ErrNotExist)
			}
		}
		for _, m := range matches {
			same, err := filepath.Abs(m)
			if err != nil {
				return nil, fmt.Errorf("parquetscan: %q: %w", m, err)
			}
			if seen[same] {
				return nil, fmt.Errorf("parquetscan: %s is named twice", m)
			}
			seen[same] = true
			paths = append(paths, m)
		}
	}
	return paths, nil
}

// littleEndian reports whether numbers in memory have the byte order of files.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// openAll opens the dataset's files, several at once, by calling open and reading the footer of what it returns.
func (d *Dataset) openAll(ctx context.Context, open func(i int) (*dataFile, error)) error {
	if !littleEndian {
		return fmt.Errorf("parquetscan: %w: big-endian machines", failure.ErrUnsupported)
	}
	if len(d.files) == 0 {
		return errors.New("parquetscan: no files")
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	for i := range d.files {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			f, err := open(i)
			if err != nil {
				return err
			}
			d.files[i] = f
			return f.readFooter(d)
		})
	}
	if err := g.Wait(); err != nil {
		d.Close()
		return err
	}
	for _, f := range d.files {
		f.first = d.rows
		if f.Rows > math.MaxInt64-d.rows {
			d.Close()
			return &Error{f.src.Name, -1, "", -1, failure.Corrupt("the files have more than 2^63-1 rows")}
		}
		d.rows += f.Rows
		d.groups += len(f.Groups)
	}
	return nil
}

// Close waits for running reads to end, and closes the files. Later reads return ErrClosed. Batches stay valid.
func (d *Dataset) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	var errs []error
	for _, f := range d.files {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// NumRows returns the number of rows in the footers.
func (d *Dataset) NumRows() int64 { return d.rows }

// NumRowGroups returns the number of row groups of all files.
func (d *Dataset) NumRowGroups() int { return d.groups }

// FooterReads returns the number of footers read so far: one per file, less those found in the Cache.
func (d *Dataset) FooterReads() int64 { return d.footerReads.Load() }

// Files returns the names of the files, in the order in which they are read.
func (d *Dataset) Files() []string {
	names := make([]string, len(d.files))
	for i, f := range d.files {
		names[i] = f.src.Name
	}
	return names
}

// Schema returns the columns of the first file, with every list as a List. [Scan.Schema] returns the columns as they
// are read.
func (d *Dataset) Schema() column.Schema {
	fields := make(column.Schema, len(d.files[0].Nodes))
	for i, n := range d.files[0].Nodes {
		fields[i] = n.Field
	}
	return fields
}

// Metadata returns the key-value metadata of a file.
func (d *Dataset) Metadata(file int) map[string]string {
	m := map[string]string{}
	for _, kv := range slices.Backward(d.files[file].KeyValues) { // the first value of a key counts
		if m[string(kv.Key)] = string(kv.Value); kv.Value == nil {
			delete(m, string(kv.Key))
		}
	}
	return m
}

// readFooter reads and parses the file's footer, or finds it in the cache.
func (f *dataFile) readFooter(d *Dataset) (err error) {
	defer func() {
		if err != nil {
			err = &Error{File: f.src.Name, RowGroup: -1, Row: -1, Err: err}
		}
	}()
	if d.cfg.Decryption == nil { // cached footers have no keys
		f.Footer = d.cfg.Cache.get(&f.src)
	}
	if f.Footer == nil {
		d.footerReads.Add(1)
		if f.Footer, err = f.ParseFooter((*crypt.Keys)(d.cfg.Decryption)); err != nil {
			return err
		}
		if err := f.CheckRows(f.Size); err != nil {
			return err
		}
		d.cfg.Cache.put(&f.src, f.Footer)
	}
	return nil
}
