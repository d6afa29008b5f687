// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"strconv"
	"strings"
)

// Releases of ScyllaDB that differ in searches by vectors, and in the CQL of SELECT.

// release is the numbers of a release.
type release [3]int

// The first releases with a feature.
var (
	quantizations    = release{2026, 1, 0} // quantization, oversampling, rescoring
	filteredSearches = release{2026, 1, 2} // by regular columns: pull request 29437
	attachedNames    = release{2026, 2, 0} // the class names of SAI, source_model
	inferredLiterals = release{2026, 4, 0} // types of literals in a SELECT clause, without a cast
	optionalFrom     = release{2026, 4, 0} // SELECT without FROM
	nullRelations    = release{2026, 4, 0} // IS NULL and IS NOT NULL in WHERE: pull request 30671
)

// has reports whether the configured release is r or a later one.
func (o *Options) has(r release) bool {
	if o.Release == "" {
		return true
	}
	var own release
	parts := strings.FieldsFunc(o.Release, func(c rune) bool { return c == '.' || c == '-' })
	for i := range min(len(own), len(parts)) {
		own[i], _ = strconv.Atoi(parts[i]) // 0 for a release candidate
	}
	return slices.Compare(own[:], r[:]) >= 0
}
