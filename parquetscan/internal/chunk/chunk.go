// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/vecql/vecql/parquetscan/internal/decode"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/page"
)

// A column chunk page by page.

// A chunk is the unread rest of a column chunk. It belongs to one Reader.
type chunk struct {
	leaf   *footer.Leaf
	pages  *page.Walker
	rows   int64         // not yet read, by the row group's metadata
	limit  int           // bytes of a page, or of a Column
	text   bool          // strings are read as text even if they are coded
	plain  bool          // a page so far had values that are no codes
	dim    *atomic.Int64 // of vectors: Shared.Dim
	values decode.Decoder

	// The levels of the current page: left of n levels (of values, for columns without levels).
	left     int
	rep, def decode.Hybrid

	repBuf []uint32
	defBuf []uint32
}

// open resets the chunk to another row group.
func (c *chunk) open(pages *page.Walker, rows int64) {
	c.pages, c.rows, c.left, c.plain = pages, rows, 0, false
	c.values.Open(c.leaf, c.limit)
}

// load makes the next data page current. It returns io.EOF after the last one.
func (c *chunk) load() error {
	for {
		p, err := c.pages.Next()
		if err != nil {
			return err
		}
		if p.Type == format.DictionaryPage {
			if err := c.values.LoadDictionary(p); err != nil {
				return err
			}
			continue
		}
		if p.NumValues == 0 {
			continue
		}
		return c.startPage(p)
	}
}

// must is load, but an error if there is no further page.
func (c *chunk) must() error {
	err := c.load()
	if errors.Is(err, io.EOF) {
		return failure.Corrupt("column chunk ends %d rows too early", c.rows)
	}
	return err
}

// startPage parses the part of the page before the values.
func (c *chunk) startPage(p *page.Page) error {
	n := int(p.NumValues)
	data := p.Data
	c.plain = c.plain || !p.DictionaryCoded()
	var err error
	if p.Type == format.DataPageV2 {
		rep, def := data[:p.RepLength], data[p.RepLength:p.RepLength+p.DefLength]
		data = data[p.RepLength+p.DefLength:]
		if err = c.rep.Start(rep, decode.LevelWidth(c.leaf.MaxRep)); err == nil {
			err = c.def.Start(def, decode.LevelWidth(c.leaf.MaxDef))
		}
	} else {
		if data, err = c.rep.StartV1(data, p.RepEncoding, c.leaf.MaxRep, n); err == nil {
			data, err = c.def.StartV1(data, p.DefEncoding, c.leaf.MaxDef, n)
		}
	}
	if err != nil {
		return err
	}
	c.left = n
	if c.values.CountsValues(&p.Header) {
		if n, err = c.countPresent(n); err != nil {
			return err
		}
	}
	return c.values.Start(&p.Header, data, n)
}

// ready returns how many of the next n rows can be read into one Column: strings come either as codes or as text.
func (c *chunk) ready(n int) (int, error) {
	if !c.leaf.Type.Kind.IsText() || c.leaf.MaxRep > 0 {
		return n, nil
	}
	if c.left == 0 {
		if err := c.must(); err != nil {
			return 0, err
		}
	}
	if c.text {
		return c.mostText(n), nil
	}
	if n <= c.left {
		return n, nil
	}
	next, err := c.pages.Peek()
	switch {
	case errors.Is(err, io.EOF):
		return c.left, nil
	case err != nil:
		return 0, err
	case (next.Type == format.DataPage || next.Type == format.DataPageV2) && next.DictionaryCoded() == c.values.Coded:
		return c.left + min(n-c.left, int(next.NumValues)), nil
	default:
		return c.left, nil
	}
}

// mostText returns how many of n rows surely fit into the text of a Column. Entries of a dictionary may repeat: the
// batch must stay within its limit even if all its rows are the longest entry.
func (c *chunk) mostText(n int) int {
	if c.values.Dict != nil && int64(c.values.Dict.Longest())*int64(n) > int64(c.limit) {
		return max(1, c.limit/c.values.Dict.Longest())
	}
	return n
}
