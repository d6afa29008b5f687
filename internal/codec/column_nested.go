// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/bitmap"
	"github.com/vecql/vecql/internal/wire"
)

// Cells of composite and checked types, appended to a column one by one: collections, tuples, UDTs, vectors read as
// lists, and the elements of all of them.

// A decodeNode appends the cells of one type to a column. It is immutable.
type decodeNode struct {
	field       column.Field
	info        cql.TypeInfo
	step        step
	width       int // bytes of a cell of a fixed kind
	null        int // bytes of a column that a NULL takes, without the bytes of its fields
	children    []decodeNode
	emptyIsNull bool
	fixed       int // of a vector read as a list: bytes per element, negative if elements have lengths
}

// newDecodeNode returns the node that decodes cells of type info to a column of field f, with a node for each child.
func newDecodeNode(f column.Field, info cql.TypeInfo) decodeNode {
	n := decodeNode{field: f, info: info, step: stepOf(f.Type), emptyIsNull: EmptyIsNull(info)}
	n.null = max(f.Type.ValueWidth(), nullBytes)
	if n.step > stepText {
		n.width = f.Type.ValueWidth()
	}
	add := func(i int, info cql.TypeInfo) { n.children = append(n.children, newDecodeNode(f.Fields[i], info)) }
	switch info := info.(type) {
	case cql.CollectionType:
		if info.Type() == cql.TypeMap {
			add(0, info.Key)
			add(1, info.Elem)
			break
		}
		add(0, info.Elem)
	case cql.TupleTypeInfo:
		for i, elem := range info.Elems {
			add(i, elem)
		}
	case cql.UDTTypeInfo:
		for i, elem := range info.Elements {
			add(i, elem.Type)
		}
	case cql.VectorType:
		if f.Type.Kind == column.List {
			add(0, info.SubType)
			n.fixed = fixedSize(info.SubType)
		}
	}
	return n
}

// reset makes c an empty column of the node, in its existing memory.
func (n *decodeNode) reset(c *column.Column) {
	c.Name, c.Type, c.Len, c.Nulls, c.Dict = n.field.Name, n.field.Type, 0, 0, nil
	c.Values, c.Validity = c.Values[:0], c.Validity[:0]
	if k := c.Type.Kind; k.IsText() || k.IsList() {
		c.Offsets = append(c.Offsets[:0], 0)
	} else {
		c.Offsets = nil
	}
	if len(c.Children) != len(n.children) {
		c.Children = make([]column.Column, len(n.children))
	}
	for i := range n.children {
		n.children[i].reset(&c.Children[i])
	}
	if len(n.children) == 0 {
		c.Children = nil
	}
}

// finish completes the column after its last row.
func (n *decodeNode) finish(c *column.Column) {
	if c.Nulls > 0 {
		growValidity(c)
	}
	for i := range n.children {
		n.children[i].finish(&c.Children[i])
	}
}

// growValidity makes room for one bit per row. New bits are 1.
func growValidity(c *column.Column) {
	for len(c.Validity) < (c.Len+7)/8 {
		c.Validity = append(c.Validity, 0xff)
	}
}

// appendNull appends a row that is NULL, and takes its memory from the room of the page: a NULL takes 4 bytes of a page
// or, as a field that is missing at the end or within another NULL, none, and as many bytes of a column as a value.
func (n *decodeNode) appendNull(c *column.Column, room *pageRoom) error {
	if room.left -= n.null; room.left < 0 {
		return fmt.Errorf("%w: NULLs of a page need more than %d MiB and %d times its bytes: reduce the page size",
			cql.ErrRange, maxNulls>>20, nullFactor)
	}
	switch k := c.Type.Kind; {
	case k.IsText() || k.IsList():
		c.Offsets = append(c.Offsets, c.Offsets[c.Len])
	case k == column.Struct || k == column.Tuple:
		for i := range n.children {
			if err := n.children[i].appendNull(&c.Children[i], room); err != nil {
				return err
			}
		}
	default:
		n.extend(c)
	}
	c.Len++
	if c.Nulls == 0 {
		c.Validity = c.Validity[:0]
	}
	c.Nulls++
	growValidity(c)
	bitmap.Set(c.Validity, c.Len-1, 0)
	return nil
}

// extend appends zeros for one row of a fixed kind and returns their address.
func (n *decodeNode) extend(c *column.Column) unsafe.Pointer {
	width, at := c.Type.ValueWidth(), len(c.Values)
	if cap(c.Values) < at+width {
		c.Values = append(growBytes(nil, max(64, 2*at+width))[:0], c.Values...)
	}
	c.Values = c.Values[:at+width]
	clear(c.Values[at:])
	return unsafe.Pointer(unsafe.SliceData(c.Values[at:]))
}

// append appends a row that is not NULL. After an error the contents of c are undefined.
func (n *decodeNode) append(c *column.Column, cell []byte, room *pageRoom) (err error) {
	if len(cell) == 0 && n.emptyIsNull {
		room.empty++
		return n.appendNull(c, room)
	}
	switch n.field.Type.Kind {
	case column.String, column.Binary, column.Inet, column.Varint, column.Decimal:
		err = n.appendText(c, cell)
	case column.Duration:
		err = n.appendDuration(c, cell)
	case column.Time:
		err = n.appendTime(c, cell)
	case column.Struct, column.Tuple:
		err = n.appendFields(c, cell, room)
	case column.Map:
		err = n.appendMap(c, cell, room)
	case column.List:
		if _, ok := n.info.(cql.VectorType); ok {
			err = n.appendVector(c, cell, room)
		} else {
			err = n.appendList(c, cell, room)
		}
	default:
		if len(cell) != n.width {
			return exactSize(len(cell), n.width)
		}
		storeFixed(n.step, n.extend(c), cell)
	}
	if err != nil {
		return err
	}
	c.Len++
	return nil
}

// appendText appends a cell of a kind with offsets as its bytes, after a check of the length that readers of the kind
// rely on.
func (n *decodeNode) appendText(c *column.Column, cell []byte) error {
	switch kind := n.field.Type.Kind; {
	case kind == column.Inet && len(cell) != 4 && len(cell) != 16:
		return exactSize(len(cell), 16)
	case kind == column.Varint && len(cell) == 0:
		return fmt.Errorf("%w: a varint of 0 bytes", cql.ErrMissing)
	case kind == column.Decimal && len(cell) < 5:
		return fmt.Errorf("%w: a decimal of %d bytes", cql.ErrMissing, len(cell))
	}
	c.Values = append(c.Values, cell...)
	return n.endRow(c, len(c.Values))
}

// endRow ends a row of a column with offsets; end is the length of its values or children.
func (n *decodeNode) endRow(c *column.Column, end int) error {
	if end > math.MaxInt32 {
		return column.ErrTooLarge
	}
	c.Offsets = append(c.Offsets, int32(end))
	return nil
}

func (n *decodeNode) appendDuration(c *column.Column, cell []byte) error {
	d, err := parseDuration(cell)
	if err != nil {
		return err
	}
	*(*cql.Duration)(n.extend(c)) = d
	return nil
}

func (n *decodeNode) appendTime(c *column.Column, cell []byte) error {
	if len(cell) != 8 {
		return exactSize(len(cell), 8)
	}
	v := int64(binary.BigEndian.Uint64(cell))
	if v < 0 || v >= nanosPerDay {
		return fmt.Errorf("%w: %d ns is not a time of day", cql.ErrRange, v)
	}
	*(*int64)(n.extend(c)) = v
	return nil
}

const nanosPerDay = 24 * 3600 * 1e9

// appendFields appends the fields of a tuple or UDT. Fields missing at the end are NULL.
func (n *decodeNode) appendFields(c *column.Column, cell []byte, room *pageRoom) error {
	for i := range n.children {
		child, to := &n.children[i], &c.Children[i]
		var err error
		if len(cell) == 0 {
			err = child.appendNull(to, room)
		} else {
			cell, err = child.appendNext(to, cell, room)
		}
		if err != nil {
			return fmt.Errorf("field %q: %w", child.field.Name, err)
		}
	}
	if len(cell) > 0 {
		return fmt.Errorf("%w: %d bytes after the last field", cql.ErrTrailing, len(cell))
	}
	return nil
}

// appendNext appends the [bytes] at the start of rest and returns the remainder.
func (n *decodeNode) appendNext(c *column.Column, rest []byte, room *pageRoom) ([]byte, error) {
	if len(rest) < 4 {
		return nil, fmt.Errorf("%w: %d bytes for a length", cql.ErrMissing, len(rest))
	}
	size := int(int32(binary.BigEndian.Uint32(rest)))
	rest = rest[4:]
	if size < 0 {
		return rest, n.appendNull(c, room)
	}
	if size > len(rest) {
		return nil, fmt.Errorf("%w: a value of %d bytes, %d left", cql.ErrMissing, size, len(rest))
	}
	if n.appendShort(c, rest, size) {
		return rest[size:], nil
	}
	return rest[size:], n.append(c, rest[:size:size], room)
}

// appendShort appends the first size bytes of rest if they are a text or a number that needs neither a check nor more
// memory, as most elements of collections are. Otherwise it leaves c as it was and returns false.
func (n *decodeNode) appendShort(c *column.Column, rest []byte, size int) bool {
	at := len(c.Values)
	switch {
	case n.step == stepText && size <= smallText && cap(rest) >= smallText && cap(c.Values)-at >= smallText &&
		at < math.MaxInt32-smallText:
		// two words, which may include bytes of what follows in the page, avoid a call of memmove
		*(*[smallText]byte)(c.Values[at : at+smallText : cap(c.Values)]) = [smallText]byte(rest[:smallText])
		c.Values = c.Values[:at+size]
		c.Offsets = append(c.Offsets, int32(at+size))
	case n.step == step4 && size == 4 && cap(c.Values)-at >= 4:
		c.Values = c.Values[:at+4]
		binary.NativeEndian.PutUint32(c.Values[at:], binary.BigEndian.Uint32(rest))
	case n.step == step8 && size == 8 && cap(c.Values)-at >= 8:
		c.Values = c.Values[:at+8]
		binary.NativeEndian.PutUint64(c.Values[at:], binary.BigEndian.Uint64(rest))
	default:
		return false
	}
	c.Len++
	return true
}

// elementCount reads the number of elements of a collection.
func (n *decodeNode) elementCount(cell []byte) (count int, rest []byte, err error) {
	if len(cell) < 4 {
		return 0, nil, fmt.Errorf("%w: %d bytes for a count", cql.ErrMissing, len(cell))
	}
	count, rest = int(int32(binary.BigEndian.Uint32(cell))), cell[4:]
	if count < 0 || count > len(rest)/4/len(n.children) {
		return 0, nil, fmt.Errorf("%w: %d elements in %d bytes", cql.ErrMissing, count, len(rest))
	}
	return count, rest, nil
}

// appendList appends a list or set: an [int] count and a [bytes] for each element.
func (n *decodeNode) appendList(c *column.Column, cell []byte, room *pageRoom) error {
	count, rest, err := n.elementCount(cell)
	if err != nil {
		return err
	}
	element, to := &n.children[0], &c.Children[0]
	for i := range count {
		if rest, err = element.appendNext(to, rest, room); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("%w: %d bytes after the last element", cql.ErrTrailing, len(rest))
	}
	return n.endRow(c, to.Len)
}

// appendMap appends a map: an [int] count and two [bytes] for each entry. A NULL key is an error, because keys of a
// column are never NULL, as in Arrow.
func (n *decodeNode) appendMap(c *column.Column, cell []byte, room *pageRoom) error {
	count, rest, err := n.elementCount(cell)
	if err != nil {
		return err
	}
	key, value := &n.children[0], &n.children[1]
	for i := range count {
		if rest, err = key.appendNext(&c.Children[0], rest, room); err != nil {
			return fmt.Errorf("key %d: %w", i, err)
		}
		if c.Children[0].Nulls > 0 {
			return fmt.Errorf("key %d: %w", i, cql.ErrNull)
		}
		if rest, err = value.appendNext(&c.Children[1], rest, room); err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("%w: %d bytes after the last entry", cql.ErrTrailing, len(rest))
	}
	return n.endRow(c, c.Children[0].Len)
}

// appendVector appends a vector as the elements of a list: without lengths if the elements have a fixed one, otherwise
// each after an unsigned vint.
func (n *decodeNode) appendVector(c *column.Column, cell []byte, room *pageRoom) error {
	info := n.info.(cql.VectorType)
	switch {
	case info.Dimensions < 0:
		return fmt.Errorf("%w: a dimension of %d", cql.ErrDimension, info.Dimensions)
	// no server has such vectors, and nothing but the type would limit their memory
	case n.fixed == 0 && info.Dimensions > 0:
		return fmt.Errorf("%w: dimension %d of elements without bytes", cql.ErrRange, info.Dimensions)
	case n.fixed > 0 && (len(cell)%n.fixed != 0 || len(cell)/n.fixed != info.Dimensions):
		return exactSize(len(cell), min(math.MaxInt32, info.Dimensions*n.fixed))
	case info.Dimensions > len(cell): // each length takes at least one byte
		return fmt.Errorf("%w: %d elements in %d bytes", cql.ErrMissing, info.Dimensions, len(cell))
	}
	element, to := &n.children[0], &c.Children[0]
	for i := range info.Dimensions {
		size := n.fixed
		if size < 0 {
			length, read := wire.Uvint(cell)
			if read == 0 || length > uint64(len(cell)-read) {
				return fmt.Errorf("element %d: %w: its length is %d, %d bytes left", i, cql.ErrMissing, length, len(cell)-read)
			}
			size, cell = int(length), cell[read:]
		}
		if err := element.append(to, cell[:size:size], room); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
		cell = cell[size:]
	}
	if len(cell) > 0 {
		return fmt.Errorf("%w: %d bytes after the last element", cql.ErrTrailing, len(cell))
	}
	return n.endRow(c, to.Len)
}
