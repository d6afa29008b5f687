// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// This file computes aggregates from plain lists of one group's rows, the slow and obvious way.

// referenceFloat returns a number as float64.
func referenceFloat(v any) float64 {
	switch x := v.(type) {
	case int8:
		return float64(x)
	case int16:
		return float64(x)
	case int32:
		return float64(x)
	case int64:
		return float64(x)
	case uint8:
		return float64(x)
	case uint16:
		return float64(x)
	case uint32:
		return float64(x)
	case uint64:
		return float64(x)
	case float32:
		return float64(x)
	}
	return v.(float64)
}

// referenceCompare compares two values of one type in the order of keys: NaN after all numbers.
func referenceCompare(a, b any) int {
	switch x := a.(type) {
	case int64:
		return cmp.Compare(x, b.(int64))
	case uint64:
		return cmp.Compare(x, b.(uint64))
	case bool:
		y := b.(bool)
		switch {
		case x == y:
			return 0
		case y:
			return -1
		}
		return 1
	case [16]byte:
		y := b.([16]byte)
		return bytes.Compare(x[:], y[:])
	case string:
		return cmp.Compare(x, b.(string))
	}
	x, y := referenceFloat(a), referenceFloat(b)
	if x != x || y != y {
		return -cmp.Compare(x, y) // Compare has NaN first
	}
	return cmp.Compare(x, y)
}

// referenceMoments is Variance and the like, by two passes.
func referenceMoments(pop, root bool) func(rows []referenceRow) (any, error) {
	return func(rows []referenceRow) (any, error) {
		var x []float64
		sum := 0.0
		for _, r := range rows {
			if r.args[0] != nil {
				x = append(x, referenceFloat(r.args[0]))
				sum += x[len(x)-1]
			}
		}
		n := float64(len(x))
		mean := sum / n
		squares := 0.0
		for _, v := range x {
			squares += (v - mean) * (v - mean)
		}
		if !pop {
			n--
		}
		if n <= 0 {
			return nil, nil
		}
		if root {
			return math.Sqrt(squares / n), nil
		}
		return squares / n, nil
	}
}

// referenceEdge is First or Last.
func referenceEdge(last bool) func(rows []referenceRow) (any, error) {
	return func(rows []referenceRow) (any, error) {
		var v any
		for _, r := range rows {
			if r.args[0] != nil && (last || v == nil) {
				v = r.args[0]
			}
		}
		return v, nil
	}
}

// referenceArgExtreme is ArgMin or ArgMax.
func referenceArgExtreme(least bool) func(rows []referenceRow) (any, error) {
	return func(rows []referenceRow) (any, error) {
		sorted := referenceSorted(rows, least)
		if len(sorted) == 0 {
			return nil, nil
		}
		return sorted[0].args[1], nil
	}
}

// referenceSorted returns the rows whose first argument is not NULL, the best one first.
func referenceSorted(rows []referenceRow, least bool) []referenceRow {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r referenceRow) bool { return r.args[0] == nil })
	slices.SortStableFunc(rows, func(a, b referenceRow) int {
		if least {
			return referenceCompare(a.args[0], b.args[0])
		}
		return referenceCompare(b.args[0], a.args[0])
	})
	return rows
}

// referenceBytes returns a scalar little-endian in its width.
func referenceBytes(v any) []byte {
	switch x := v.(type) {
	case string:
		return []byte(x)
	case [16]byte:
		return x[:]
	}
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return b
}

// referenceTop is TopK or BottomK.
func referenceTop(k int, least bool) func(rows []referenceRow) (any, error) {
	return func(rows []referenceRow) (any, error) {
		sorted := referenceSorted(rows, least)
		if len(sorted) == 0 {
			return nil, nil
		}
		sorted = sorted[:min(k, len(sorted))]
		var f32 []float32
		var f64 []float64
		var ints []byte
		for _, r := range sorted {
			switch x := r.args[0].(type) {
			case float32:
				f32 = append(f32, x)
			case float64:
				f64 = append(f64, x)
			case int8, int16, int32, int64:
				ints = append(ints, extended(referenceBytes(x), int8(referenceBytes(x)[len(referenceBytes(x))-1]) < 0)...)
			default:
				ints = append(ints, extended(referenceBytes(x), false)...)
			}
		}
		switch {
		case f32 != nil:
			for len(f32) < k {
				f32 = append(f32, float32(math.NaN()))
			}
			return f32, nil
		case f64 != nil:
			for len(f64) < k {
				f64 = append(f64, math.NaN())
			}
			return f64, nil
		}
		return string(ints), nil
	}
}

// extended returns a little-endian integer in 8 bytes.
func extended(b []byte, negative bool) []byte {
	fill := byte(0)
	if negative {
		fill = 0xff
	}
	for len(b) < 8 {
		b = append(b, fill)
	}
	return b
}

// referenceTopOf is TopKOf or BottomKOf.
func referenceTopOf(k int, least bool) func(rows []referenceRow) (any, error) {
	return func(rows []referenceRow) (any, error) {
		sorted := referenceSorted(rows, least)
		if len(sorted) == 0 {
			return nil, nil
		}
		var records []byte
		for _, r := range sorted[:min(k, len(sorted))] {
			if r.args[1] == nil {
				records = append(records, 0)
				continue
			}
			b := referenceBytes(r.args[1])
			records = append(binary.AppendUvarint(records, uint64(len(b))+1), b...)
		}
		return string(records), nil
	}
}

// referenceDistinct is CountDistinct.
func referenceDistinct(rows []referenceRow) (any, error) {
	distinct := map[any]bool{}
	for _, r := range rows {
		v := r.args[0]
		switch x := v.(type) {
		case nil:
			continue
		case float32:
			if x != x {
				v = "NaN"
			}
		case float64:
			if x != x {
				v = "NaN"
			}
		}
		distinct[v] = true
	}
	return int64(len(distinct)), nil
}

// referenceVector is VectorSum or VectorMean.
func referenceVector(mean bool) func(rows []referenceRow) (any, error) {
	return func(rows []referenceRow) (any, error) {
		var sum []float64
		n := 0.0
		for _, r := range rows {
			var v []float64
			switch x := r.args[0].(type) {
			case nil:
				continue
			case []float32:
				for _, e := range x {
					v = append(v, float64(e))
				}
			case []float64:
				v = x
			}
			if sum == nil {
				sum = make([]float64, len(v))
			}
			for j, e := range v {
				sum[j] += e
			}
			n++
		}
		if sum == nil {
			return nil, nil
		}
		if mean {
			for j := range sum {
				sum[j] /= n
			}
		}
		return sum, nil
	}
}
