// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"errors"
	"fmt"
)

// Errors of arguments. No function changes its destination when it returns one.

var (
	// ErrK means that fewer than one neighbor was requested.
	ErrK = errors.New("k must be at least 1")
	// ErrMetric means that a metric does not exist, or does not apply to the format of the rows.
	ErrMetric = errors.New("unsupported metric")
	// ErrShape means that the memory of a matrix, a selection or a validity does not have the stated shape.
	ErrShape = errors.New("invalid shape")
	// ErrNonFinite means that a vector has an element that is NaN, infinite, or too large for the format.
	ErrNonFinite = errors.New("element is not finite")
	// ErrZero means that a query is zero, which has no direction for Cosine.
	ErrZero = errors.New("zero vector has no cosine")
	// ErrBlob means that bytes are not a quantized vector.
	ErrBlob = errors.New("not a quantized vector")
)

// A DimensionError means that a vector does not have the dimension of the others.
type DimensionError struct {
	What      string // the vector, such as "query" or "row"
	Got, Want int    // elements
}

func (e *DimensionError) Error() string {
	return fmt.Sprintf("vector: %s of dimension %d, want %d", e.What, e.Got, e.Want)
}

// An ElementError means that an element of a vector was refused. It wraps [ErrNonFinite].
type ElementError struct {
	What    string // the vector, such as "query 3"
	Element int
	Value   float32
	Format  Format // into which the element does not fit
}

func (e *ElementError) Error() string {
	return fmt.Sprintf("vector: %s: element %d is %v: not a finite %v", e.What, e.Element, e.Value, e.Format)
}

func (e *ElementError) Unwrap() error { return ErrNonFinite }
