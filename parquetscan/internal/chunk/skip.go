// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"errors"
	"io"

	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// Skipping rows of a column chunk: pages are not decompressed, values not decoded.

// skip skips n rows: whole pages if their headers contain the number of rows.
func (c *chunk) skip(n int64) error {
	for n > 0 {
		if rest := int64(c.left); rest > 0 && rest <= n && c.leaf.MaxRep == 0 && rest <= c.rows {
			c.left, c.rows, n = 0, c.rows-rest, n-rest // the rest of the page: each level is a row
			continue
		}
		if c.left == 0 {
			skipped, err := c.skipPages(n)
			if err != nil {
				return err
			}
			if n -= skipped; n == 0 {
				return nil
			}
		}
		skipped, err := c.skipRows(int(min(n, 1<<30)))
		if err != nil {
			return err
		}
		n -= int64(skipped)
	}
	return nil
}

// skipPages, called at the end of a page, skips pages that lie within the next n rows, and returns the number of rows
// skipped. It loads the dictionary.
func (c *chunk) skipPages(n int64) (int64, error) {
	done := int64(0)
	for c.left == 0 {
		h, err := c.pages.Peek()
		if errors.Is(err, io.EOF) {
			return done, nil
		}
		if err != nil {
			return 0, err
		}
		if h.Type == format.DictionaryPage {
			if err := c.takeDictionary(); err != nil {
				return 0, err
			}
			continue
		}
		rows := h.Rows(c.leaf)
		if rows < 0 || rows > n-done {
			return done, nil
		}
		c.plain = c.plain || !h.DictionaryCoded()
		if err := c.pages.Skip(); err != nil {
			return 0, err
		}
		done += rows
		c.rows -= rows
	}
	return done, nil
}

// takeDictionary loads the next page, a dictionary.
func (c *chunk) takeDictionary() error {
	p, err := c.pages.Next()
	if err != nil {
		return err
	}
	return c.values.LoadDictionary(p)
}

// skipRows skips up to n rows, at least one, without skipping whole pages: it stops where skipPages can go on. It
// returns the number of rows skipped.
func (c *chunk) skipRows(n int) (int, error) {
	if int64(n) > c.rows {
		return 0, failure.Corrupt("%d rows beyond the row group's end", n)
	}
	done := 0 // rows that have begun
	for {
		if c.left == 0 {
			if over, err := c.rowsEnd(done > 0); over || err != nil {
				c.rows -= int64(done)
				return done, err
			}
		}
		levels, present := min(n-done, c.left), min(n-done, c.left)
		switch {
		case c.leaf.MaxRep == 0 && c.leaf.MaxDef == 0:
			done += levels
		case c.leaf.MaxRep == 0 && c.leaf.MaxDef == 1:
			var err error
			if present, err = c.def.SkipOnes(levels); err != nil {
				return 0, err
			}
			done += levels
		default:
			_, defs, err := c.levelsOfRows(&done, n)
			if err != nil {
				return 0, err
			}
			levels, present = len(defs), 0
			for _, d := range defs {
				if int(d) == c.leaf.MaxDef {
					present++
				}
			}
		}
		if levels == 0 {
			c.rows -= int64(done)
			return done, nil
		}
		if err := c.values.Skip(present); err != nil {
			return 0, err
		}
		c.left -= levels
	}
}

// rowsEnd, called at the end of a page, reports whether rows that have begun end there. Otherwise it loads the next
// page.
func (c *chunk) rowsEnd(begun bool) (bool, error) {
	if begun {
		h, err := c.pages.Peek()
		if c.leaf.MaxRep == 0 || h.Type == format.DataPageV2 || errors.Is(err, io.EOF) {
			return true, nil
		}
	}
	err := c.load()
	if !errors.Is(err, io.EOF) {
		return false, err
	}
	if begun {
		return true, nil
	}
	return false, failure.Corrupt("column chunk ends %d rows too early", c.rows)
}

// readyLate returns how many of the next n rows after skip rows can be read into one Column, as ready does. Unlike
// ready it loads the page of those rows only if its rows are few, because the rows may turn out not to be selected. It
// also returns the number of rows skipped in whole pages.
func (c *chunk) readyLate(skip int64, n int) (ready int, skipped int64, err error) {
	if !c.leaf.Type.Kind.IsText() || c.leaf.MaxRep > 0 {
		return n, 0, nil
	}
	if rest := int64(c.left); rest <= skip {
		if err := c.skip(rest); err != nil {
			return 0, 0, err
		}
		pages, err := c.skipPages(skip - rest)
		if err != nil {
			return 0, 0, err
		}
		skipped = rest + pages
	}
	if c.left == 0 {
		h, err := c.pages.Peek()
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, 0, err
		}
		rows := h.Rows(c.leaf)
		left := rows - (skip - skipped)
		switch {
		case err != nil || left <= 0:
		case c.text:
			return c.mostText(n), skipped, nil
		case left >= int64(n) || rows >= int64(n/4):
			return int(min(left, int64(n))), skipped, nil
		}
	}
	if err := c.skip(skip - skipped); err != nil {
		return 0, 0, err
	}
	ready, err = c.ready(n)
	return ready, skip, err
}
