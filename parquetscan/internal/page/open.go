// SPDX-License-Identifier: Apache-2.0

package page

import (
	"errors"
	"io"

	"github.com/vecql/vecql/parquetscan/internal/crypt"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/input"
)

// Opening column chunks.

// Options configure how pages are read.
type Options struct {
	Limit     int  // bytes of a page
	ReadBytes int  // of one read from a file that is not mapped, 0 means the default
	Verify    bool // checksums
}

// Open returns the pages of a column chunk. It takes over w, which nothing uses any more; nil means none.
func Open(f *footer.File, group, leaf int, meta *footer.ChunkMeta, o Options, w *Walker) (*Walker, error) {
	start, length, err := f.Range(meta)
	if err != nil {
		return nil, err
	}
	if err := checkCodec(meta.Codec); err != nil {
		return nil, err
	}
	var chunk *crypt.Chunk
	if meta.Encrypted {
		if chunk, err = f.Secret(group, leaf, meta); err != nil {
			return nil, err
		}
	}
	if w == nil {
		w = newWalker(input.NewWindow(&f.File, o.ReadBytes), 0, 0)
	}
	w.win.SetFile(&f.File)
	w.win.StartMapped(start)
	*w = Walker{
		win: w.win, off: start, end: start + length, codec: meta.Codec,
		limit: min(o.Limit, MaxBytes), verify: o.Verify, memory: w.memory,
		notPlain: f.Writer.CompressesAll(),
		secret:   secret{chunk, crypt.Page{Dictionary: meta.Dictionary > 0}, w.secret.plain},
	}
	return w, nil
}

// StartsOf returns the first row of up to most pages of a column chunk, nil if a header lacks it or the chunk is
// damaged.
func StartsOf(f *footer.File, group int, l *footer.Leaf, most int) []int64 {
	meta, err := f.Chunk(group, l.Index)
	if err != nil {
		return nil
	}
	start, length, err := f.Range(&meta)
	if err != nil {
		return nil
	}
	if most > 1 {
		f.Need(start, length)
	}
	const headerBytes = 1 << 10
	unmapped := &input.File{Reader: f.Reader, Size: f.Size}
	w := newWalker(input.NewWindow(unmapped, headerBytes), start, start+length)
	var starts []int64
	for row := int64(0); len(starts) < most; {
		h, err := w.Peek()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || w.Skip() != nil {
			return nil
		}
		if h.Type != format.DataPage && h.Type != format.DataPageV2 {
			continue
		}
		rows := h.Rows(l)
		if rows < 0 || rows > f.Groups[group].Rows-row {
			return nil
		}
		if rows > 0 {
			starts = append(starts, row)
		}
		row += rows
	}
	return starts
}
