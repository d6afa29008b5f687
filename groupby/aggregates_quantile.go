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
)

// This file holds quantiles, by merging t-digests (T. Dunning, O. Ertl, Computing extremely accurate quantiles using t-digests, arXiv:1902.04023). As
// long as a group has few values they are all kept, and quantiles are exact. Beyond that, neighbouring values become centroids, a mean and a
// weight each: by the scale function k1(q) = c/(2 pi) asin(2q-1), c being the compression, a centroid spans at most 1, so that those at the ends are
// small.
//
// Encoding of states, version 1. No values: no bytes. Otherwise the version; 1 or 2; and then
//   - 1, values: 8 bytes each, little-endian, in any order.
//   - 2, centroids: the least and the greatest value, 8 bytes each; then the centroids in ascending order: the mean, 8 bytes, and the weight, a
//     uvarint of 1 to 2^53.

// Quantile is the value below which the part q of a column of numbers lies, 0 <= q <= 1: PERCENTILE_CONT, interpolated between neighbours. float64;
// NULL if all values are. NaN values are left out, as NULLs are; integers count as the nearest float64.
//
// It is exact for up to 512 values of a group. Beyond that it is an estimate: the rank of the result is off by up to about 1.6 % in the middle,
// usually far less, and ever less towards both ends; least and greatest value stay exact. The estimate depends on the order of rows. Between
// -Inf and +Inf it is NaN.
//
// 18 bytes per group, and 8 to 24 per value, up to about 4 KiB.
func Quantile(value int, q float64) Aggregate {
	return newQuantiles("quantile", value, defaultCompression, []float64{q}, true)
}

// Median is Quantile(value, 0.5).
func Median(value int) Aggregate {
	return newQuantiles("median", value, defaultCompression, []float64{0.5}, true)
}

// Quantiles is several quantiles at the cost of one: Vector(Float64, len(qs)); see [Quantile].
func Quantiles(value int, qs ...float64) Aggregate {
	return QuantilesCompression(value, defaultCompression, qs...)
}

// QuantilesCompression is Quantiles with another compression than 100, 20 to 10000: the error is in inverse proportion to it, the memory and the number
// of values up to which it is exact (the power of two that is at least five times as great) in proportion. States of different compression
// merge.
func QuantilesCompression(value, compression int, qs ...float64) Aggregate {
	return newQuantiles("quantiles", value, compression, slices.Clone(qs), false)
}

const defaultCompression = 100

func newQuantiles(name string, value, compression int, qs []float64, scalar bool) Aggregate {
	return Aggregate{Name: name, Args: []int{value}, New: func(args []Type) (Accumulator, error) {
		if compression < 20 || compression > 10000 {
			return nil, fmt.Errorf("compression %d, not 20 to 10000", compression)
		}
		if len(qs) == 0 {
			return nil, errors.New("no quantiles")
		}
		for _, q := range qs {
			if !(q >= 0 && q <= 1) {
				return nil, fmt.Errorf("quantile %v, not 0 to 1", q)
			}
		}
		d := &digests{compression: float64(compression), qs: qs, scalar: scalar, limit: 4}
		for d.limit < 5*compression {
			d.limit *= 2
		}
		switch args[0] {
		case Int8:
			d.add = addDigest[int8]
		case Int16:
			d.add = addDigest[int16]
		case Int32:
			d.add = addDigest[int32]
		case Int64:
			d.add = addDigest[int64]
		case Uint8:
			d.add = addDigest[uint8]
		case Uint16:
			d.add = addDigest[uint16]
		case Uint32:
			d.add = addDigest[uint32]
		case Uint64:
			d.add = addDigest[uint64]
		case Float32:
			d.add = addDigest[float32]
		case Float64:
			d.add = addDigest[float64]
		default:
			return nil, badArgs(name, args, "numbers")
		}
		return d, nil
	}}
}

// digests are the quantiles by group. The list of a group is its values; or, if there are centroids, the least and the greatest value, the means,
// the weights, and then the values that are not in centroids yet. It has limit elements at most.
type digests struct {
	compression float64
	limit       int
	qs          []float64
	scalar      bool
	add         func(d *digests, ids []uint32, col *Column)
	data        lists[float64]
	centroids   []uint32 // their number
	scratch     []centroid
	buf         textBuffer
	out         []float64
}

type centroid struct{ mean, weight float64 }

func (d *digests) Types() ([]Type, Type) {
	if d.scalar {
		return []Type{String}, Float64
	}
	return []Type{String}, Vector(Float64, len(d.qs))
}

func (d *digests) Resize(n int)        { d.data.resize(n); d.centroids = grown(d.centroids, n) }
func (d *digests) Reset()              { d.data.reset(); d.centroids = d.centroids[:0] }
func (d *digests) Add(rows Rows) error { d.add(d, rows.IDs, &rows.Args[0]); return nil }

func (d *digests) Size() int64 {
	return d.data.size() + 4*int64(cap(d.centroids)) + 16*int64(cap(d.scratch)) + d.buf.size() + 8*int64(cap(d.out))
}

func addDigest[T number](d *digests, ids []uint32, col *Column) {
	x := view[T](col)[:len(ids)]
	if col.validity != nil {
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

// parts returns what the list of a group with centroids consists of.
func (d *digests) parts(id uint32) (ends, means, weights, values []float64) {
	l, n := d.data.list(id), int(d.centroids[id])
	return l[:2], l[2 : 2+n], l[2+n : 2+2*n], l[2+2*n:]
}

// finish is compress, if there are values that are not in centroids.
func (d *digests) finish(id uint32) {
	if _, _, _, values := d.parts(id); len(values) > 0 {
		d.compress(id)
	}
}

// compress brings all values of a group into centroids.
func (d *digests) compress(id uint32) { d.compressWith(id, d.scratch[:0], math.Inf(1), math.Inf(-1)) }

// compressWith is compress with further centroids, least and greatest being what they were made of. It uses their memory.
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

// reduce merges neighbours among sorted centroids as far as the scale function allows, in place. What is left is less than compression + 3.
func (d *digests) reduce(all []centroid) []centroid {
	if len(all) == 0 {
		return all
	}
	total := 0.0
	for _, c := range all {
		total += c.weight
	}
	before := 0.0 // weight of the centroids that are done
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

// reach returns the q up to which a centroid may reach that begins at q: that which the scale function is greater by 1 at.
func (d *digests) reach(q float64) float64 {
	k := math.Asin(2*min(q, 1)-1) + 2*math.Pi/d.compression
	if k >= math.Pi/2 {
		return 1
	}
	return (math.Sin(k) + 1) / 2
}

// merge merges a centroid whose mean is not less.
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

func (d *digests) State() ([]Column, error) {
	return []Column{d.buf.column(len(d.centroids), func(dst []byte, id uint32) []byte {
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
	})}, nil
}

func appendFloat(dst []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
}

func (d *digests) Merge(ids []uint32, state []Column) error {
	for i, id := range ids {
		if id == 0 || state[0].Null(i) {
			continue
		}
		s := state[0].text(i)
		if err := d.merge(id, unsafe.Slice(unsafe.StringData(s), len(s))); err != nil {
			return fmt.Errorf("groupby: state of quantiles: %w", err)
		}
	}
	return nil
}

func (d *digests) merge(id uint32, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if len(b) < 2 || b[0] != sketchVersion {
		return errors.New("not of version 1")
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
			return fmt.Errorf("values of %d bytes", len(b))
		}
		for len(b) > 0 {
			x := float()
			if x != x {
				return errors.New("a value is NaN")
			}
			d.push(id, x)
		}
		return nil
	case digestCentroids:
		if len(b) < 16+9 {
			return fmt.Errorf("centroids of %d bytes", len(b))
		}
		least, greatest := float(), float()
		all, last, total := d.scratch[:0], least, uint64(0)
		for len(b) > 0 {
			if len(b) < 9 {
				return errors.New("a centroid is cut off")
			}
			mean := float()
			weight, w := binary.Uvarint(b)
			if w <= 0 || weight == 0 || weight > maxWeight {
				return errors.New("malformed weight")
			}
			b = b[w:]
			if total += weight; total > maxWeight {
				return errors.New("weights beyond 1<<53")
			}
			if !(mean >= last && mean <= greatest) { // nor is any of them NaN
				return errors.New("means are not in ascending order")
			}
			all, last = append(all, centroid{mean, float64(weight)}), mean
		}
		d.compressWith(id, all, least, greatest)
		return nil
	}
	return fmt.Errorf("of kind %d", kind)
}

func (d *digests) Result() (Column, error) {
	n := len(d.centroids)
	d.out = grown(d.out[:0], n*len(d.qs))
	valid := make([]byte, (n+7)/8)
	for id := range n {
		l := d.data.list(uint32(id))
		if len(l) == 0 {
			continue
		}
		valid[id>>3] |= 1 << (id & 7)
		out := d.out[id*len(d.qs):][:len(d.qs)]
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
	t := Vector(Float64, len(d.qs))
	if d.scalar {
		t = Float64
	}
	return Column{typ: t, n: n, data: unsafe.Pointer(unsafe.SliceData(d.out)), validity: valid}, nil
}

// quantileOf interpolates between sorted values: the first is at q = 0, the last at 1.
func quantileOf(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return between(sorted[i], sorted[i+1], at-float64(i))
}

// between returns a + part*(b-a), a <= b, which is never beyond them nor an overflow.
func between(a, b, part float64) float64 {
	switch {
	case part <= 0 || a == b:
		return a
	case part >= 1:
		return b
	}
	return min(max(a*(1-part)+b*part, a), b)
}

// quantile interpolates between centroids of a group that is compressed. A centroid stands in the middle of the places, counted from 0, that
// its values had among all; the least and the greatest value stand in the first and the last.
func (d *digests) quantile(id uint32, q float64) float64 {
	ends, means, weights, _ := d.parts(id)
	total := 0.0
	for _, w := range weights {
		total += w
	}
	at := q * (total - 1)
	if at <= 0 { // of merged digests the first centroid may be one value that is not the least
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
