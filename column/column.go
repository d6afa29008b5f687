// SPDX-License-Identifier: Apache-2.0

package column

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/vecql/vecql/internal/bitmap"
)

// Column: the buffers of one column in Arrow's layout, and their rules.

// A Column holds the values of one column. Its fields are buffers in Arrow's layout, which packages that produce or
// consume columns access directly. Programs make columns with constructors such as [Of], [Matrix] and [Strings], and
// read them with [Slice], [MatrixOf], [Column.Text] and [Column.Value]. A copy of a Column shares the buffers.
//
//	kinds             Values                    Offsets     Dict   Children
//	fixed, Vector     ValueWidth bytes/row
//	text              bytes of all rows         Len+1
//	text with codes   a uint32 code per row                 yes
//	List              -                         Len+1              the element
//	Map               -                         Len+1              key and value
//	Struct, Tuple     -                                            the fields, Len rows each
//
// Values and Offsets may be longer than that. The bytes of row i of a text are Values[Offsets[i]:Offsets[i+1]], and the
// elements of row i of a List are rows Offsets[i] to Offsets[i+1] of the child. The first offset need not be 0, because
// a slice of a column shares its buffers. The value of a NULL row is undefined, but its offsets are valid. The readers
// of this module store zeros for NULL.
type Column struct {
	Name string
	Type Type
	Len  int // rows
	// Nulls is the number of NULL rows. Validity has one bit per row, counted from the lowest of each byte, 0 for NULL.
	// Validity is ignored if Nulls is 0.
	Nulls    int
	Validity []byte
	Values   []byte // aligned to 8 bytes
	Offsets  []int32
	Dict     *Dictionary // of text; nil if the values are in the column itself
	Children []Column

	missing error // the error of Batch.Column if it found no column
}

// Null reports whether row i is NULL.
func (c *Column) Null(i int) bool { return c.Nulls != 0 && c.Validity[i>>3]>>(i&7)&1 == 0 }

// ValidityBits returns one bit per row, 0 for NULL, counted from the lowest of each byte, or nil if no row is NULL. It
// is the column's own memory.
func (c *Column) ValidityBits() []byte {
	if c.Nulls == 0 {
		return nil
	}
	n := (c.Len + 7) / 8
	return c.Validity[:n:n]
}

// WithValidity returns the column with NULLs: row i is NULL if bit i is 0, bits counted from the lowest of each byte.
// nil means that no row is NULL. The column keeps the slice. It panics if there are fewer bits than Len.
func (c Column) WithValidity(bits []byte) Column {
	c.Validity, c.Nulls = nil, 0
	if bits == nil {
		return c
	}
	if len(bits) < (c.Len+7)/8 {
		panic(fmt.Sprintf("column: %s: validity of %d bytes for %d rows", c.Name, len(bits), c.Len))
	}
	if c.Nulls = c.Len - bitmap.Count(bits, 0, c.Len); c.Nulls > 0 {
		c.Validity = bits
	}
	return c
}

// WithNulls returns the column with NULLs: row i is NULL if null[i]. It panics unless null has Len elements.
func (c Column) WithNulls(null []bool) Column {
	if len(null) != c.Len {
		panic(fmt.Sprintf("column: %s: %d NULL flags for %d rows", c.Name, len(null), c.Len))
	}
	bits := make([]byte, (c.Len+7)/8)
	for i, isNull := range null {
		if !isNull {
			bits[i>>3] |= 1 << (i & 7)
		}
	}
	return c.WithValidity(bits)
}

// As returns the column with another name.
func (c Column) As(name string) Column { c.Name = name; return c }

// Slice returns rows i to j of the column. It shares the memory of c, except for the validity bits if i is not a
// multiple of 8. It panics if i or j is out of range.
func (c *Column) Slice(i, j int) Column {
	if i < 0 || j < i || j > c.Len {
		panic(fmt.Sprintf("column: slice %s: rows %d to %d of %d", c.Name, i, j, c.Len))
	}
	s := *c
	s.Len, s.Nulls, s.Validity = j-i, 0, nil
	if c.Nulls > 0 {
		if s.Nulls = s.Len - bitmap.Count(c.Validity, i, s.Len); s.Nulls > 0 {
			s.Validity = bitmap.Slice(c.Validity, i, s.Len)
		}
	}
	switch width := c.width(); {
	case c.Type.Kind == Struct || c.Type.Kind == Tuple:
		s.Children = make([]Column, len(c.Children))
		for k := range c.Children {
			s.Children[k] = c.Children[k].Slice(i, j)
		}
	case width > 0:
		s.Values = c.Values[i*width : j*width : j*width]
	case c.Type.Kind != Vector && len(c.Offsets) > 0:
		s.Offsets = c.Offsets[i : j+1 : j+1]
	}
	return s
}

// width returns the bytes per row in Values, including codes, and 0 if rows have offsets or children.
func (c *Column) width() int {
	if c.Dict != nil {
		return 4
	}
	return c.Type.ValueWidth()
}

// Field returns the name, type and children of the column. All fields except the keys of maps are nullable.
func (c *Column) Field() Field {
	f := Field{Name: c.Name, Type: c.Type, Nullable: true}
	for i := range c.Children {
		child := c.Children[i].Field()
		child.Nullable = c.Type.Kind != Map || i > 0
		f.Fields = append(f.Fields, child)
	}
	return f
}

// Check returns an error if the buffers violate the rules of Column: too short, decreasing or out-of-range offsets,
// codes beyond the dictionary, children of another length. Constructors check their arguments; a column made field by
// field is checked by this method only.
func (c *Column) Check() error {
	if c.missing != nil {
		return c.missing
	}
	if err := c.check(); err != nil {
		return fmt.Errorf("column: %s: %w", c.Name, err)
	}
	for i := range c.Children {
		if err := c.Children[i].Check(); err != nil {
			return fmt.Errorf("column: %s: %w", c.Name, err)
		}
	}
	return nil
}

// check returns an error unless the lengths of the column's slices agree with its type and Len, so that no accessor can
// exceed them. The contents of texts are not checked.
func (c *Column) check() error {
	if err := c.Type.Check(); err != nil {
		return err
	}
	if c.Len < 0 || c.Nulls < 0 || c.Nulls > c.Len {
		return fmt.Errorf("invalid counts: %d rows, %d NULLs", c.Len, c.Nulls)
	}
	if c.Nulls > 0 {
		if len(c.Validity) < (c.Len+7)/8 {
			return fmt.Errorf("validity of %d bytes for %d rows", len(c.Validity), c.Len)
		}
		if nulls := c.Len - bitmap.Count(c.Validity, 0, c.Len); nulls != c.Nulls {
			return fmt.Errorf("field Nulls is %d, validity has %d NULLs", c.Nulls, nulls)
		}
	}
	if want := map[Kind]int{
		List: 1, Map: 2, Struct: len(c.Children),
		Tuple: len(c.Children),
	}[c.Type.Kind]; len(c.Children) != want {
		return fmt.Errorf("%d children for type %v", len(c.Children), c.Type)
	}
	switch kind := c.Type.Kind; {
	case c.Dict != nil && !kind.IsText():
		return fmt.Errorf("type %v cannot have a dictionary", c.Type)
	case kind == Struct || kind == Tuple:
		return c.checkFields()
	case kind.IsList():
		return c.checkElements()
	case kind.IsText() && c.Dict == nil:
		return checkOffsets(c.Offsets, c.Len, len(c.Values))
	}
	if width := c.width(); c.Len > 0 && width > 0 && len(c.Values)/width < c.Len {
		return fmt.Errorf("%d bytes of values for %d rows of %d", len(c.Values), c.Len, width)
	}
	if c.Dict != nil {
		return c.checkCodes()
	}
	return nil
}

func (c *Column) checkFields() error {
	for i := range c.Children {
		if n := c.Children[i].Len; n != c.Len {
			return fmt.Errorf("field %s has %d rows, want %d", c.Children[i].Name, n, c.Len)
		}
	}
	return nil
}

func (c *Column) checkElements() error {
	if c.Type.Kind == Map && c.Children[0].Len != c.Children[1].Len {
		return fmt.Errorf("%d keys and %d values", c.Children[0].Len, c.Children[1].Len)
	}
	return checkOffsets(c.Offsets, c.Len, c.Children[0].Len)
}

func (c *Column) checkCodes() error {
	limit, codes := uint32(c.Dict.Len()), cast[uint32](c.Values, c.Len)
	if len(codes) == 0 || slices.Max(codes) < limit {
		return nil
	}
	for i, code := range codes { // the code of a NULL row may be any
		if code >= limit && !c.Null(i) {
			return fmt.Errorf("row %d: code %d is beyond a dictionary of %d entries", i, code, limit)
		}
	}
	return nil
}

// checkOffsets returns an error unless there are n+1 offsets that do not decrease and are at most end. A column without
// rows needs no offsets.
func checkOffsets(offsets []int32, n, end int) error {
	if n == 0 && len(offsets) == 0 {
		return nil
	}
	if len(offsets) <= n {
		return fmt.Errorf("%d offsets for %d rows", len(offsets), n)
	}
	last, falls := int32(0), int64(0)
	for _, o := range offsets[:n+1] {
		falls |= int64(o) - int64(last) // negative if any offset is below its predecessor
		last = o
	}
	if falls < 0 {
		return fallingOffset(offsets)
	}
	if int(last) > end {
		return fmt.Errorf("offset %d is %d, beyond %d", n, last, end)
	}
	return nil
}

// fallingOffset is the error of the first offset below its predecessor.
func fallingOffset(offsets []int32) error {
	last := int32(0)
	for i, o := range offsets {
		if o < last {
			return fmt.Errorf("offset %d is %d, below its predecessor %d", i, o, last)
		}
		last = o
	}
	return nil
}

// A Dictionary holds the distinct values of a text column with codes. It is immutable. The columns of one Parquet
// column chunk share it, so a result computed for an entry is valid for all batches with the same *Dictionary. An entry
// may occur twice.
type Dictionary struct {
	bytes   []byte
	offsets []int32
	longest int
}

// NewDictionary returns a dictionary whose entry i is bytes[offsets[i]:offsets[i+1]]. The slices must not change
// afterwards. It panics if offsets decrease or exceed bytes.
func NewDictionary(bytes []byte, offsets []int32) *Dictionary {
	if len(offsets) == 0 {
		offsets = []int32{0}
	}
	if err := checkOffsets(offsets, len(offsets)-1, len(bytes)); err != nil {
		panic("column: dictionary: " + err.Error())
	}
	d := &Dictionary{bytes: bytes, offsets: offsets}
	for i := range d.Len() {
		d.longest = max(d.longest, int(offsets[i+1]-offsets[i]))
	}
	return d
}

// Len returns the number of entries.
func (d *Dictionary) Len() int { return len(d.offsets) - 1 }

// Longest returns the length in bytes of the longest entry.
func (d *Dictionary) Longest() int { return d.longest }

// Bytes returns entry i, which must be below Len. It is the dictionary's own memory.
func (d *Dictionary) Bytes(i uint32) []byte {
	return d.bytes[d.offsets[i]:d.offsets[i+1]:d.offsets[i+1]]
}

// Buffers returns the bytes and offsets of all entries. They are the dictionary's own memory.
func (d *Dictionary) Buffers() (bytes []byte, offsets []int32) { return d.bytes, d.offsets }

// cast returns b as n values of T. It panics if b is too short.
func cast[T any](b []byte, n int) []T {
	if n == 0 {
		return []T{}
	}
	var zero T
	_ = b[n*int(unsafe.Sizeof(zero))-1]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// bytesOf returns the memory of v.
func bytesOf[T any](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}

// maxOffset is the largest offset of text and lists.
const maxOffset = math.MaxInt32
