// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Quantiles by merging t-digests (T. Dunning, O. Ertl, Computing extremely accurate quantiles using t-digests,
// arXiv:1902.04023). A group with few values keeps all of them, and its quantiles are exact. Beyond that, neighboring
// values are merged into centroids, each with a mean and a weight. By the scale function k1(q) = c/(2 pi) asin(2q-1),
// where c is the compression, a centroid spans at most 1; centroids at both ends are therefore small.
//
// Encoding of states, version 1. A group without values takes no bytes. Otherwise: the version; 1 or 2; and then
//  - 1, values: 8 bytes each, little-endian, in any order.
//  - 2, centroids: the least and the greatest value, 8 bytes each; then the centroids in ascending order: the mean, 8
//    bytes, and the weight, a uvarint of 1 to 2^53.

// Quantile computes the value below which the fraction q of the values of a column of numbers lies, 0 <= q <= 1:
// PERCENTILE_CONT, interpolated between neighbors. Float64; NULL if all values are NULL. NaNs are skipped, like NULLs.
// Integers are converted to the nearest float64; the scale of a Decimal64 is applied.
//
// It is exact for up to 512 values of a group. Beyond that it is an estimate. The rank of the result is off by up to
// about 1.6 % in the middle, usually far less, and the error shrinks toward both ends; the least and greatest value
// are exact. The estimate depends on the order of rows. Between -Inf and +Inf it is NaN.
//
// Memory: 18 bytes per group, and 8 to 24 per value, up to about 4 KiB.
func Quantile(name string, q float64) Aggregate {
	return newQuantiles(call("quantile", []string{name}, q), defaultCompression, []float64{q}, true)
}

// Median computes Quantile(name, 0.5).
func Median(name string) Aggregate {
	return newQuantiles(call("median", []string{name}), defaultCompression, []float64{0.5}, true)
}

// Quantiles computes several quantiles at the cost of one. The result is a vector of Float64 with one element for each
// of qs; see [Quantile].
func Quantiles(name string, qs ...float64) Aggregate {
	return newQuantiles(call("quantiles", []string{name}, anys(qs)...), defaultCompression, slices.Clone(qs), false)
}

// QuantilesCompression computes Quantiles with another compression, 20 to 10000; the default is 100. The error is
// inversely proportional to it. The memory is proportional to it, and so is the number of values up to which results
// are exact: the least power of two that is at least 5*compression.
func QuantilesCompression(name string, compression int, qs ...float64) Aggregate {
	a := newQuantiles(call("quantiles", []string{name}, anys(qs)...), compression, slices.Clone(qs), false)
	a.params = append(a.params, compression)
	return a
}

func anys(qs []float64) []any {
	params := make([]any, len(qs))
	for i, q := range qs {
		params[i] = q
	}
	return params
}

const defaultCompression = 100

// checkQuantiles returns an error unless compression is from 20 to 10000 and qs are from 0 to 1.
func checkQuantiles(compression int, qs []float64) error {
	if compression < 20 || compression > 10000 {
		return fmt.Errorf("compression is %d, want 20 to 10000", compression)
	}
	if len(qs) == 0 {
		return errors.New("the list of quantiles is empty")
	}
	for _, q := range qs {
		if !(q >= 0 && q <= 1) {
			return fmt.Errorf("quantile is %v, want 0 to 1", q)
		}
	}
	return nil
}

// newQuantiles returns a with the accumulator of quantiles qs. scalar means that the result is a number, not a vector
// of one.
func newQuantiles(a Aggregate, compression int, qs []float64, scalar bool) Aggregate {
	a.err = checkQuantiles(compression, qs)
	return a.newWith(func(t column.Type) (Accumulator, error) {
		d := &digests{compression: float64(compression), qs: qs, scalar: scalar, limit: 4}
		for d.limit < 5*compression {
			d.limit *= 2
		}
		switch t.Kind {
		case column.Int8:
			d.add = addDigest[int8]
		case column.Int16:
			d.add = addDigest[int16]
		case column.Int32:
			d.add = addDigest[int32]
		case column.Int64:
			d.add = addDigest[int64]
		case column.Uint8:
			d.add = addDigest[uint8]
		case column.Uint16:
			d.add = addDigest[uint16]
		case column.Uint32:
			d.add = addDigest[uint32]
		case column.Uint64:
			d.add = addDigest[uint64]
		case column.Float32:
			d.add = addDigest[float32]
		case column.Float64:
			d.add = addDigest[float64]
		case column.Decimal64:
			d.add = func(d *digests, ids []uint32, col *column.Column) {
				d.out = scaled(d.out, col)
				addDigest[float64](d, ids, asFloats(col, d.out))
			}
		default:
			return nil, refused(0, wantNumber)
		}
		return d, nil
	})
}

// digests are the quantiles by group. The list of a group contains its values. If the group has centroids, the list
// contains instead the least and the greatest value, the means, the weights, and then the values that are not merged
// yet. It has at most limit elements.
type digests struct {
	compression float64
	limit       int
	qs          []float64
	scalar      bool
	add         func(d *digests, ids []uint32, col *column.Column)
	data        lists[float64]
	centroids   []uint32 // number of centroids, by group
	scratch     []centroid
	buf         textBuffer
	out         []float64
}

type centroid struct{ mean, weight float64 }

func (d *digests) Types() ([]column.Type, column.Field) {
	return []column.Type{typeBytes}, fieldOf(d.typ())
}

// typ returns the type of the result.
func (d *digests) typ() column.Type {
	if d.scalar {
		return typeFloat64
	}
	return column.VectorOf(column.Float64, len(d.qs))
}

func (d *digests) Resize(n int)        { d.data.resize(n); d.centroids = grown(d.centroids, n) }
func (d *digests) Reset()              { d.data.reset(); d.centroids = d.centroids[:0] }
func (d *digests) Add(rows Rows) error { d.add(d, rows.IDs, &rows.Args[0]); return nil }

func (d *digests) Size() int64 {
	return d.data.size() + 4*int64(cap(d.centroids)) + 16*int64(cap(d.scratch)) + d.buf.size() + 8*int64(cap(d.out))
}

func addDigest[T number](d *digests, ids []uint32, col *column.Column) {
	x := view[T](col)[:len(ids)]
	if col.Nulls != 0 {
		forValid(col, func(i int) { d.push(ids[i], float64(x[i])) })
		return
	}
	for i, id := range ids {
		d.push(id, float64(x[i]))
	}
}

// push adds a value.
func (d *digests) push(id uint32, x float64) {
	if id == 0 || x != x {
		return
	}
	if int(d.data.of[id].n) == d.limit {
		d.compress(id)
	}
	d.data.push(id, x)
}

// parts returns the parts of the list of a group with centroids.
func (d *digests) parts(id uint32) (ends, means, weights, values []float64) {
	l, n := d.data.list(id), int(d.centroids[id])
	return l[:2], l[2 : 2+n], l[2+n : 2+2*n], l[2+2*n:]
}

// finish merges values that are not in centroids yet, if there are any.
func (d *digests) finish(id uint32) {
	if _, _, _, values := d.parts(id); len(values) > 0 {
		d.compress(id)
	}
}

// compress merges all values of a group into centroids.
func (d *digests) compress(id uint32) { d.compressWith(id, d.scratch[:0], math.Inf(1), math.Inf(-1)) }

// compressWith is compress with further centroids, whose values lie between least and greatest. It overwrites the
// memory of all.
func (d *digests) compressWith(id uint32, all []centroid, least, greatest float64) {
	values := d.data.list(id)
	if d.centroids[id] > 0 {
		ends, means, weights, rest := d.parts(id)
		least, greatest = min(least, ends[0]), max(greatest, ends[1])
		for i, m := range means {
			all = append(all, centroid{m, weights[i]})
		}
		values = rest
	}
	for _, x := range values {
		all = append(all, centroid{x, 1})
		least, greatest = min(least, x), max(greatest, x)
	}
	slices.SortFunc(all, func(a, b centroid) int { return cmp.Compare(a.mean, b.mean) })
	d.scratch = all
	all = d.reduce(all)

	n := len(all)
	d.data.of[id].n = 0
	d.data.push(id, least)
	d.data.push(id, greatest)
	for _, c := range all {
		d.data.push(id, c.mean)
	}
	for _, c := range all {
		d.data.push(id, c.weight)
	}
	d.centroids[id] = uint32(n)
}

// reduce merges neighbors among sorted centroids as far as the scale function allows, in place. It returns fewer than
// compression + 3.
func (d *digests) reduce(all []centroid) []centroid {
	if len(all) == 0 {
		return all
	}
	total := 0.0
	for _, c := range all {
		total += c.weight
	}
	before := 0.0 // weight of the completed centroids
	limit := d.reach(0) * total
	n := 0
	for _, c := range all[1:] {
		last := &all[n]
		infinite := math.IsInf(last.mean, 0) || math.IsInf(c.mean, 0)
		if last.mean == c.mean && infinite || !infinite && before+last.weight+c.weight <= limit {
			last.merge(c)
			continue
		}
		before += last.weight
		limit = d.reach(before/total) * total
		n++
		all[n] = c
	}
	return all[:n+1]
}

// reach returns the greatest q at which a centroid that begins at q may end: where the scale function is greater by 1.
func (d *digests) reach(q float64) float64 {
	k := math.Asin(2*min(q, 1)-1) + 2*math.Pi/d.compression
	if k >= math.Pi/2 {
		return 1
	}
	return (math.Sin(k) + 1) / 2
}

// merge adds a centroid whose mean is at least the mean of c.
func (c *centroid) merge(o centroid) {
	w := c.weight + o.weight
	if o.mean != c.mean {
		c.mean = min(max(c.mean*(c.weight/w)+o.mean*(o.weight/w), c.mean), o.mean)
	}
	c.weight = w
}

const (
	digestValues    = 1
	digestCentroids = 2
	maxWeight       = 1 << 53
)

// State returns, by group, a version, a kind, and either all values or the ends and centroids. Numbers are
// little-endian Float64, weights uvarints. Another format needs another version, because states are stored in partials.
func (d *digests) State(i, j int) ([]column.Column, error) {
	c, err := d.buf.column(i, j, func(dst []byte, id uint32) []byte {
		if d.centroids[id] == 0 {
			l := d.data.list(id)
			if len(l) > 0 {
				dst = append(dst, sketchVersion, digestValues)
			}
			for _, x := range l {
				dst = appendFloat(dst, x)
			}
			return dst
		}
		d.finish(id)
		ends, means, weights, _ := d.parts(id)
		dst = append(dst, sketchVersion, digestCentroids)
		dst = appendFloat(appendFloat(dst, ends[0]), ends[1])
		for i, m := range means {
			dst = binary.AppendUvarint(appendFloat(dst, m), uint64(weights[i]))
		}
		return dst
	})
	return []column.Column{c}, err
}

func appendFloat(dst []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
}

// Merge merges the states of all rows except rows of group 0 and NULLs.
func (d *digests) Merge(ids []uint32, state []column.Column) error {
	for i, id := range ids {
		if id == 0 || state[0].Null(i) {
			continue
		}
		s := textAt(&state[0], i)
		if err := d.merge(id, unsafe.Slice(unsafe.StringData(s), len(s))); err != nil {
			return fmt.Errorf("groupby: state of quantiles: %w", err)
		}
	}
	return nil
}

// merge merges one state into a group. It checks every property that quantile relies on, because a state may come from
// a file.
func (d *digests) merge(id uint32, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if len(b) < 2 || b[0] != sketchVersion {
		return errors.New("unknown version, want 1")
	}
	kind, b := b[1], b[2:]
	float := func() float64 {
		x := math.Float64frombits(binary.LittleEndian.Uint64(b))
		b = b[8:]
		return x
	}
	switch kind {
	case digestValues:
		if len(b)%8 != 0 {
			return fmt.Errorf("%d bytes of values are not a multiple of 8", len(b))
		}
		for len(b) > 0 {
			x := float()
			if x != x {
				return errors.New("value is NaN")
			}
			d.push(id, x)
		}
		return nil
	case digestCentroids:
		if len(b) < 16+9 {
			return fmt.Errorf("%d bytes of centroids are too short", len(b))
		}
		least, greatest := float(), float()
		all, last, total := d.scratch[:0], least, uint64(0)
		for len(b) > 0 {
			if len(b) < 9 {
				return errors.New("centroid is cut off")
			}
			mean := float()
			weight, w := binary.Uvarint(b)
			if w <= 0 || weight == 0 || weight > maxWeight {
				return errors.New("malformed weight")
			}
			b = b[w:]
			if total += weight; total > maxWeight {
				return errors.New("sum of weights exceeds 1<<53")
			}
			if !(mean >= last && mean <= greatest) { // also false for NaN
				return errors.New("means are not in ascending order")
			}
			all, last = append(all, centroid{mean, float64(weight)}), mean
		}
		d.compressWith(id, all, least, greatest)
		return nil
	}
	return fmt.Errorf("unknown kind %d", kind)
}

// Result returns the quantiles of each group: exact while the group has no centroids, which keeps all its values.
func (d *digests) Result(i, j int) (column.Column, error) {
	n := j - i
	d.out = grown(d.out[:0], n*len(d.qs))
	valid := make([]byte, (n+7)/8)
	for k := range n {
		id := i + k
		l := d.data.list(uint32(id))
		if len(l) == 0 {
			continue
		}
		valid[k>>3] |= 1 << (k & 7)
		out := d.out[k*len(d.qs):][:len(d.qs)]
		if d.centroids[id] == 0 {
			slices.Sort(l)
			for i, q := range d.qs {
				out[i] = quantileOf(l, q)
			}
			continue
		}
		d.finish(uint32(id))
		for i, q := range d.qs {
			out[i] = d.quantile(uint32(id), q)
		}
	}
	return columnOf(d.typ(), n, d.out).WithValidity(valid), nil
}

// quantileOf interpolates between sorted values: q = 0 is the first, q = 1 the last.
func quantileOf(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return between(sorted[i], sorted[i+1], at-float64(i))
}

// between returns a + part*(b-a) for a <= b, clamped to [a, b] and without overflow.
func between(a, b, part float64) float64 {
	switch {
	case part <= 0 || a == b:
		return a
	case part >= 1:
		return b
	}
	return min(max(a*(1-part)+b*part, a), b)
}

// quantile interpolates between the centroids of a compressed group. A centroid is located in the middle of the
// positions, counted from 0, that its values have in the sorted group. The least value is at the first position, the
// greatest at the last.
func (d *digests) quantile(id uint32, q float64) float64 {
	ends, means, weights, _ := d.parts(id)
	total := 0.0
	for _, w := range weights {
		total += w
	}
	at := q * (total - 1)
	if at <= 0 { // in merged digests the first centroid may be a single value other than the least
		return ends[0]
	}
	if at >= total-1 {
		return ends[1]
	}
	place, value := 0.0, ends[0]
	before := 0.0
	for i, m := range means {
		next := before + (weights[i]-1)/2
		if at < next {
			return between(value, m, (at-place)/(next-place))
		}
		place, value = next, m
		before += weights[i]
	}
	return between(value, ends[1], (at-place)/(total-1-place))
}
