// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTableMap changes a tableMap and a map alike.
func TestTableMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var m tableMap
	want := map[string]*table{}
	for range 5000 {
		name := fmt.Sprint("t", random.IntN(700))
		before := m
		old := want[name]
		if random.IntN(3) == 0 {
			m = m.without(name)
			delete(want, name)
		} else {
			want[name] = &table{name: name}
			m = m.with(want[name])
		}
		require.Same(t, want[name], m.get(name))
		require.Same(t, old, before.get(name)) // the old map is unchanged
	}
	names := sortedKeys(want)
	require.Greater(t, len(names), 300)
	for i, tab := range m.sorted() {
		require.Equal(t, names[i], tab.name)
		require.Same(t, want[tab.name], tab)
	}
	require.Len(t, m.sorted(), len(names))
	for range m.all() {
		break
	}
}

// TestManyTables creates tables beside many others, which must not be copied.
func TestManyTables(t *testing.T) {
	e, _ := newEngine(t)
	create := func(from, n int) (bytes uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range n {
			mustRun(t, e, fmt.Sprintf("CREATE TABLE t%d (k int PRIMARY KEY)", from+i))
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / uint64(n)
	}
	few := create(0, 100)
	create(100, 3000)
	many := create(4000, 100)
	t.Logf("%d bytes a table, then %d", few, many)
	require.Less(t, many, few*3/2)
}
