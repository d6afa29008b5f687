// SPDX-License-Identifier: Apache-2.0

package valuetest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/valuetest"
)

// TestTableHoldsEveryType requires a record of each value, a name for one value only, and at least two values of each
// native type.
func TestTableHoldsEveryType(t *testing.T) {
	names, types := map[string]bool{}, map[cql.Type]int{}
	for _, v := range valuetest.All() {
		require.False(t, names[v.Name()], v.Name())
		names[v.Name()] = true
		require.False(t, v.Recorded().Refused && len(v.Go) > 0, "the server refuses %s", v.Name())
		types[v.Info().Type()]++
	}
	for typ := cql.TypeAscii; typ <= cql.TypeDuration; typ++ {
		if typ != cql.TypeText { // the server sends TypeVarchar
			require.GreaterOrEqual(t, types[typ], 2, typ)
		}
	}
	for _, typ := range []cql.Type{cql.TypeCustom, cql.TypeList, cql.TypeSet, cql.TypeMap, cql.TypeTuple, cql.TypeUDT} {
		require.GreaterOrEqual(t, types[typ], 2, typ)
	}
}
