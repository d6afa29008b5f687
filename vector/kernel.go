// SPDX-License-Identifier: Apache-2.0

package vector

// Kernels: sets of loops. The processor's features select one set at the start.

// An op is the sum that a kernel computes for a row x and a query q.
type op uint8

const (
	opDot     op = iota // the sum of q*x
	opL2                // the sum of (q-x)²
	opSquares           // the sum of x²
	ops
)

// A together selects a kernel that multiplies rows with several queries.
type together uint8

const (
	togetherDot     together = iota // opDot of pairs of queries
	togetherL2                      // opL2 of pairs of queries
	togetherSquares                 // opDot of a query, the sum of x², and opDot of pairs of queries
	togethers
)

// sums are the arguments of a kernel that computes one sum for each row. The kernels of an instruction set add the
// terms in the same order for all formats, and for each number of rows.
type sums struct {
	dst    *float32 // one sum for each row
	src    *byte    // the first row
	stride uintptr  // bytes from the start of a row to the next one
	rows   uintptr
	query  *byte // dim elements, of float32 unless the kernel adds bytes
	dim    uintptr
	scales *float32 // of Int8: one for each row

	// Of kernels that multiply each row with several queries, one after the other in memory. dst has the sums of the
	// first row, then of the second one.
	pairs   uintptr  // of queries; opDot with squares has one query more, the first one
	squares *float32 // nil unless opDot with squares: the squares of each row
}

// Shape of a tile.
const (
	lanes   = 16 // queries in a panel
	maxRows = 12 // rows in a tile, at most
)

// A tile has the arguments and results of a kernel that multiplies a few rows of native floats with a panel of queries.
// Element d of the queries is panel[d*lanes : (d+1)*lanes]. The kernel adds the terms of an inner product in the order
// of the elements to the scores from, and stores them to to. It sets bit q of masks[r] unless
//
//	score < above[q]*rows.scale + (slope[q]*rows.length + rows.bias)
//
// so that NaN sets the bit. Without limits the masks remain.
type tile struct {
	src    *byte    // 0: the first row
	stride uintptr  // 8
	panel  *float32 // 16
	dim    uintptr  // 24
	next   uintptr  // 32: the address of the memory to prefetch
	limits *limits  // 40
	params *params  // 48: of the first row
	from   *float32 // 56: the scores of the elements before, lanes for each row
	to     *float32 // 64: may be from
	any    uint64   // 72: not zero if a mask is not zero
	masks  [maxRows]uint16
}

// noScores are the scores before the first element.
var noScores [maxRows * lanes]float32

// limits are the parameters of the queries of a panel, and the bounds that they were computed from.
type limits struct {
	above, slope [lanes]float32
	bounds       [lanes]key
}

// params are the parameters of a row of a tile.
type params struct{ scale, length, bias, _ float32 }

// A kernel is the set of loops for an instruction set.
type kernel struct {
	name string
	// tile is nil if direct sums of each query are faster.
	tile func(*tile)
	rows int // of a tile
	// aliased has the same sums and smaller tiles, for rows that share sets of the first-level cache. nil means none.
	aliased *kernel
	// sums is nil for formats whose rows are widened first.
	sums [formats][ops]func(*sums)
	// together is nil if rows are multiplied with one query after the other. The results are equal to the sums of one
	// query.
	together [formats][togethers]func(*sums)
	// widen converts a row of n elements. Rows of Bits are never widened.
	widen [formats]func(dst *float32, src *byte, n uintptr, scale float32)
	// hamming counts the differing bits of each row and the query, whose dim is its number of bytes.
	hamming func(*sums)
	// integers is the sum of the products of each row of Int8 and a query of signed bytes, which is an int32 at dst.
	// integerSquares is the sum of the squares of each row.
	integers, integerSquares func(*sums)
}

// best is the fastest kernel of the machine.
var best = func() *kernel { all := kernels(); return &all[len(all)-1] }()

// forDim returns the kernel for rows of dim elements. Rows whose lengths are multiples of 4096 bytes share a set of the
// first-level cache, which has 8 or 12 ways: a tile of 12 rows evicts its own rows. Measured with 1024 elements: 64
// Gflop/s instead of 80. Segments of longer rows are copied.
func (k *kernel) forDim(dim int) *kernel {
	if k.aliased != nil && 4*dim%4096 == 0 && dim <= longRow {
		return k.aliased
	}
	return k
}

// KernelName returns the name of the loops that the features of the processor selected: go, avx2, avx512, neon, or
// dotprod, which is neon with sums of bytes by SDOT.
func KernelName() string { return best.name }
