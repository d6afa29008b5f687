// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"golang.org/x/sync/errgroup"
)

// This file opens files: their footers are read once and parsed once (parquet-format, README.md, "File format").

// A Config says how files are opened. The zero Config is a good one.
type Config struct {
	// Cache keeps parsed footers from one Open to the next. nil keeps none.
	Cache *Cache
	// Decryption has the keys of encrypted files (parquet-format, Encryption.md).
	Decryption *parquet.FileDecryptionProperties
	// NoMmap reads local files rather than mapping them.
	NoMmap bool
	// ReadBytes is how many bytes are read at once where a file is not mapped, unless a page is longer. Default 4 MiB. Each column that is
	// being read has as much memory.
	ReadBytes int
	// NoChecksums leaves the checksums of pages unverified.
	NoChecksums bool
}

// A Dataset is some open files of one schema, read as one table: the rows of the first, those of the second, and so on. It may be used by many
// goroutines at once.
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
	*footer
	src    Source
	local  *os.File
	mapped []byte
	first  int64 // rows in the files before

	arrow func() (*file.Reader, error) // arrow-go's reader, for indexes, bloom filters and encrypted columns
	keys  sync.Mutex                   // held while arrow-go decrypts: the decryptors of a file keep what they are at
}

// checkSize returns an error if the file is mapped and has been cut short: what lay behind its new end in the last page of memory has become
// zeros, without a fault.
func (f *dataFile) checkSize() error {
	if f.mapped == nil {
		return nil
	}
	info, err := f.local.Stat()
	if err != nil {
		return err
	}
	if info.Size() < f.src.Size {
		return fmt.Errorf("%w: it has %d bytes instead of %d", ErrChanged, info.Size(), f.src.Size)
	}
	return nil
}

// lock holds the keys of a file that has some, until unlock is called.
func (f *dataFile) lock() (unlock func()) {
	if f.decrypting == nil {
		return func() {}
	}
	f.keys.Lock()
	return f.keys.Unlock
}

// A footer is what a file's footer says. It never changes, and is shared.
type footer struct {
	meta   *metadata.FileMetaData
	nodes  []*node
	groups []rowGroup
	rows   int64
	size   int64 // of the footer in the file
	// decrypting is arrow-go's reader that has the keys, of an encrypted file; nil otherwise.
	decrypting *file.Reader
}

// A rowGroup is a row group's place in its file.
type rowGroup struct {
	first, rows int64
}

// Open opens one file, many, or those that patterns match (see [filepath.Glob]; a path that exists is not taken as a pattern), in the order given,
// matches in lexical order. A pattern without a match is an error (fs.ErrNotExist), and so is a file that is named twice: its rows would count
// twice. Files are mapped to memory, where the system can do that; they must not be cut short while they are open.
func Open(ctx context.Context, cfg Config, patterns ...string) (*Dataset, error) {
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
		f := &dataFile{src: src, local: local}
		if !cfg.NoMmap {
			if f.mapped, err = mapFile(local, src.Size); err != nil {
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

// OpenSources opens files that are not local, or are in memory. Their readers are used until Close, by several goroutines at once, and stay the
// caller's: Close does not close them.
func OpenSources(ctx context.Context, cfg Config, sources ...Source) (*Dataset, error) {
	seen := map[string]bool{}
	for _, s := range sources {
		if seen[s.Name] {
			return nil, fmt.Errorf("parquetscan: %s is named twice", s.Name)
		}
		seen[s.Name] = true
	}
	d := &Dataset{cfg: cfg, files: make([]*dataFile, len(sources))}
	err := d.openAll(ctx, func(i int) (*dataFile, error) {
		return &dataFile{src: sources[i]}, nil
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// expand returns the paths that patterns mean.
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

// littleEndian tells whether numbers lie in memory as they do in files.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// openAll opens the dataset's files, several at once, by calling open and reading the footer of what it returns.
func (d *Dataset) openAll(ctx context.Context, open func(i int) (*dataFile, error)) error {
	if !littleEndian {
		return fmt.Errorf("parquetscan: %w: big-endian machines", ErrUnsupported)
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
		if f.rows > math.MaxInt64-d.rows {
			d.Close()
			return &Error{f.src.Name, -1, "", -1, corrupt("number of rows")}
		}
		d.rows += f.rows
		d.groups += len(f.groups)
	}
	return nil
}

// Close closes the files. Reads that are under way are waited for; later ones return ErrClosed. Batches stay what they are.
func (d *Dataset) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	var errs []error
	for _, f := range d.files {
		if f == nil {
			continue
		}
		if f.mapped != nil {
			errs = append(errs, unmapFile(f.mapped))
			f.mapped = nil
		}
		if f.local != nil {
			errs = append(errs, f.local.Close())
		}
	}
	return errors.Join(errs...)
}

// NumRows returns the number of rows, as the footers say.
func (d *Dataset) NumRows() int64 { return d.rows }

// NumRowGroups returns the number of row groups of all files.
func (d *Dataset) NumRowGroups() int { return d.groups }

// FooterReads returns how many footers were read so far: one per file, less those found in the Cache.
func (d *Dataset) FooterReads() int64 { return d.footerReads.Load() }

// Files returns the names of the files, in the order in which they are read.
func (d *Dataset) Files() []string {
	names := make([]string, len(d.files))
	for i, f := range d.files {
		names[i] = f.src.Name
	}
	return names
}

// Fields returns the columns of the first file. Lists of floats stand there as List; see [Scan.Fields] for what is read.
func (d *Dataset) Fields() []Field {
	fields := make([]Field, len(d.files[0].nodes))
	for i, n := range d.files[0].nodes {
		fields[i] = n.field
	}
	return fields
}

// Metadata returns the key-value metadata of a file.
func (d *Dataset) Metadata(file int) map[string]string {
	kv := d.files[file].meta.KeyValueMetadata()
	m := make(map[string]string, len(kv))
	for _, k := range kv.Keys() {
		if v := kv.FindValue(k); v != nil {
			m[k] = *v
		}
	}
	return m
}

// The ends of files: magic numbers, and how much is read at once in the hope that the footer is in it.
const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
	footerGuess    = 64 << 10
)

// readFooter reads and parses the file's footer, or finds it in the cache.
func (f *dataFile) readFooter(d *Dataset) (err error) {
	defer func() {
		if err != nil {
			err = &Error{File: f.src.Name, RowGroup: -1, Row: -1, Err: err}
		}
	}()
	if d.cfg.Decryption == nil { // what is in the cache has no keys
		f.footer = d.cfg.Cache.get(&f.src)
	}
	if f.footer == nil {
		if f.footer, err = f.parseFooter(d); err != nil {
			return err
		}
		d.cfg.Cache.put(&f.src, f.footer)
	}
	f.arrow = sync.OnceValues(f.newArrow)
	return nil
}

// newArrow returns arrow-go's reader of the file.
func (f *dataFile) newArrow() (r *file.Reader, err error) {
	if f.decrypting != nil {
		return f.decrypting, nil
	}
	defer guard(&err)
	return file.NewParquetReader(io.NewSectionReader(f.src.Reader, 0, f.src.Size), file.WithMetadata(f.meta))
}

// guard turns a panic of arrow-go, which some malformed input causes, into an error.
func guard(err *error) {
	if r := recover(); r != nil {
		*err = corrupt("%v", r)
	}
}

func (f *dataFile) parseFooter(d *Dataset) (*footer, error) {
	d.footerReads.Add(1)
	size := f.src.Size
	if size < 12 {
		return nil, corrupt("%d bytes are no Parquet file", size)
	}
	tail := make([]byte, min(size, footerGuess))
	if err := f.readAt(tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	end := tail[len(tail)-8:]
	length := int64(binary.LittleEndian.Uint32(end))
	encrypted := string(end[4:]) == magicEncrypted
	if string(end[4:]) != magic && !encrypted {
		return nil, corrupt("no Parquet file: it ends in %q", end[4:])
	}
	if length == 0 || length > size-12 {
		return nil, corrupt("footer of %d bytes in a file of %d", length, size)
	}
	if encrypted {
		return f.parseEncrypted(d, length)
	}
	if length+8 <= int64(len(tail)) {
		tail = tail[int64(len(tail))-8-length : len(tail)-8]
	} else {
		tail = make([]byte, length)
		if err := f.readAt(tail, size-8-length); err != nil {
			return nil, err
		}
	}
	if err := checkFooter(tail); err != nil {
		return nil, err
	}
	if d.cfg.Decryption != nil { // columns may be encrypted
		return f.parseEncrypted(d, length)
	}
	hideUnknownTypes(tail)
	meta, err := parseMetadata(tail)
	if err != nil {
		return nil, err
	}
	meta.SetSourceFileSize(size) // bounds what indexes and bloom filters may claim
	return newFooter(meta, size-8-length, length)
}

func parseMetadata(b []byte) (meta *metadata.FileMetaData, err error) {
	defer guard(&err)
	if meta, err = metadata.NewFileMetaData(b, nil); err != nil {
		return nil, corrupt("footer: %w", err)
	}
	return meta, nil
}

// parseEncrypted has arrow-go parse the footer of an encrypted file, or of one whose columns are.
func (f *dataFile) parseEncrypted(d *Dataset, length int64) (_ *footer, err error) {
	if d.cfg.Decryption == nil {
		return nil, ErrEncrypted
	}
	defer guard(&err)
	props := parquet.NewReaderProperties(nil)
	props.FileDecryptProps = d.cfg.Decryption.Clone("")
	r, err := file.NewParquetReader(io.NewSectionReader(f.src.Reader, 0, f.src.Size), file.WithReadProps(props))
	if err != nil {
		return nil, fmt.Errorf("encrypted footer: %w", err)
	}
	out, err := newFooter(r.MetaData(), f.src.Size-8-length, length)
	if err == nil {
		out.decrypting = r
	}
	return out, err
}

// newFooter takes from metadata what is needed often, and checks it. Data ends at end.
func newFooter(meta *metadata.FileMetaData, end, size int64) (_ *footer, err error) {
	defer guard(&err)
	out := &footer{meta: meta, size: size}
	if out.nodes, err = nodesOf(meta.Schema); err != nil {
		return nil, err
	}
	out.groups = make([]rowGroup, meta.NumRowGroups())
	rows := int64(0)
	for i := range out.groups {
		g := meta.RowGroup(i)
		n := g.NumRows()
		if n < 0 || rows+n < rows || g.NumColumns() != meta.Schema.NumColumns() {
			return nil, corrupt("row group %d has %d rows and %d of %d columns", i, n, g.NumColumns(), meta.Schema.NumColumns())
		}
		out.groups[i] = rowGroup{first: rows, rows: n}
		rows += n
	}
	if rows != meta.NumRows && meta.NumRows != 0 { // some old writers leave it 0
		return nil, corrupt("%d rows, but row groups have %d", meta.NumRows, rows)
	}
	out.rows = rows
	return out, nil
}

// readAt fills b, from the map if there is one.
func (f *dataFile) readAt(b []byte, off int64) (err error) {
	if f.mapped != nil {
		defer catchFaults()()
		defer func() {
			if r := recover(); r != nil {
				err = faultError(r)
			}
		}()
		copy(b, f.mapped[off:])
		return nil
	}
	n, err := f.src.Reader.ReadAt(b, off)
	if n < len(b) {
		return shortRead(len(b), off, err)
	}
	return nil
}
