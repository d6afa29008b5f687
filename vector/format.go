// SPDX-License-Identifier: Apache-2.0

package vector

// Formats of elements in memory.

// A Format is the representation of the elements of a row.
type Format uint8

const (
	// Float32 is IEEE 754 binary32 in the byte order of the machine: the memory of a []float32.
	Float32 Format = iota
	// Float32Big is binary32, the most significant byte first: a CQL vector<float, n> on the wire.
	Float32Big
	// Float32Little is binary32, the least significant byte first: values of a Parquet page.
	Float32Little
	// Float16 is IEEE 754 binary16, the least significant byte first.
	Float16
	// BFloat16 is the upper half of a binary32, the least significant byte first.
	BFloat16
	// Int8 is a signed byte, from -127 to 127, that is multiplied by the scale of its row.
	Int8
	// Bits has one bit per element, counted from the lowest of each byte. Its only metric is Hamming.
	Bits

	formats = iota
)

var formatNames = [formats]string{
	"float32", "float32 big-endian", "float32 little-endian", "float16", "bfloat16", "int8", "bits",
}

// String returns the name of the format.
func (f Format) String() string {
	if f.valid() {
		return formatNames[f]
	}
	return "unknown format"
}

// Size returns the bytes of a row of dim elements, without a header.
func (f Format) Size(dim int) int {
	switch f {
	case Float16, BFloat16:
		return 2 * dim
	case Int8:
		return dim
	case Bits:
		return (dim + 7) / 8
	}
	return 4 * dim
}

func (f Format) valid() bool { return f < formats }
