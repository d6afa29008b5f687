// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"errors"
	"fmt"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/page"
)

// Dictionaries.

// LoadDictionary reads a dictionary page, whose values are plain.
func (c *Decoder) LoadDictionary(p *page.Page) error {
	if c.DictLen >= 0 {
		return failure.Corrupt("second dictionary in a column chunk")
	}
	if p.Encoding != format.Plain && p.Encoding != format.PlainDictionary {
		return fmt.Errorf("%w: dictionary of encoding %d", failure.ErrUnsupported, p.Encoding)
	}
	n := int(p.NumValues)
	least := (int64(n) + 7) / 8 // bytes of n booleans
	if c.leaf.Physical == format.ByteArray {
		least = int64(n) * 4
	}
	if least > int64(len(p.Data)) {
		return failure.Corrupt("dictionary of %d values in %d bytes", n, len(p.Data))
	}
	c.Data, c.bit, c.Coded, c.bools, c.foundIn = p.Data, 0, false, false, -1
	// Columns keep a dictionary of strings, so it has its own memory.
	dst := buffer.Column{Type: c.leaf.Type, Values: c.DictValues[:0]}
	if dst.Type.Kind.IsText() {
		dst.Values, dst.Offsets = nil, make([]int32, 1, n+1)
	}
	if err := c.Append(&dst, n); err != nil {
		var e *failure.RowError
		if errors.As(err, &e) { // an entry, not a row
			err = fmt.Errorf("value %d of the dictionary: %w", e.Row, e.Err)
		}
		return err
	}
	c.DictLen = n
	c.Serial++
	if !dst.Type.Kind.IsText() {
		c.DictValues = dst.Values
		return nil
	}
	c.Dict = column.NewDictionary(dst.Values, dst.Offsets)
	return nil
}
