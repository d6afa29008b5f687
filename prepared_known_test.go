// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// This file measures and tests the way to a plan that every request goes.

func BenchmarkStatementsKnown(b *testing.B) {
	c := newStatements(1000)
	key := statementKey{text: "INSERT INTO items (id, name, embedding) VALUES (?, ?, ?)"}
	_, err := c.get(context.Background(), key, func() (*statement, error) { return &statement{}, nil })
	require.NoError(b, err)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if c.known(key) == nil {
				b.Error("not known")
			}
		}
	})
}

func TestStatementsKnown(t *testing.T) {
	const most = 10
	c := newStatements(most)
	key := func(i int) statementKey {
		return statementKey{keyspace: fmt.Sprint(i % 3), text: fmt.Sprint("SELECT ", i)}
	}
	stmts := map[int]*statement{}
	for i := range 5 * most {
		stmts[i] = &statement{text: fmt.Sprint(i)}
		_, err := c.get(t.Context(), key(i), func() (*statement, error) { return stmts[i], nil })
		require.NoError(t, err)
		require.Same(t, stmts[i], c.known(key(i)))
		require.Same(t, stmts[i], c.known(key(i)))
	}
	known := 0
	for i, stmt := range stmts {
		if got := c.known(key(i)); got != nil {
			require.Same(t, stmt, got)
			known++
		}
	}
	require.Equal(t, most, known, "what the cache forgot is not known")
	last := 5*most - 1
	c.drop(key(last), stmts[last])
	require.Nil(t, c.known(key(last)))
	require.Nil(t, c.known(statementKey{text: "SELECT 1"}), "another keyspace")
}
