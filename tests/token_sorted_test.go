// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/valuetest"
)

// TestTokensOfSortedKeys binds partition keys whose sets and maps are not sorted: the server stores the bytes of the
// literals, and the token of the route is the server's.
func TestTokensOfSortedKeys(t *testing.T) {
	s := connect(t, config(t, plainNode))
	ks := keyspace(t, s, 1)
	for _, text := range valuetest.CreateTypes(ks) {
		exec(t, s, strings.ReplaceAll(text, "vector<float, 2>", floats(s, 2)))
	}
	var columns, names []string
	var values []valuetest.Value
	for _, v := range valuetest.Stored() {
		udt := strings.HasPrefix(v.Type, "vt_")
		if frozen := strings.HasPrefix(v.Type, "frozen<") || strings.HasPrefix(v.Type, "tuple<") ||
			strings.HasPrefix(v.Type, "vector<"); len(v.Unsorted) == 0 || !frozen && !udt || strings.Contains(v.Type, "duration") {
			continue
		}
		if !hasVectors(s) && (strings.Contains(v.Type, "vector") || strings.Contains(v.Type, "vt_deep")) {
			continue
		}
		name, typ := fmt.Sprint("k", len(names)), v.Type
		if udt {
			typ = "frozen<" + typ + ">"
		}
		typ = strings.ReplaceAll(typ, "vt_", ks+".vt_")
		columns, names, values = append(columns, name+" "+typ), append(names, name), append(values, v)
	}
	require.Greater(t, len(values), 20)
	all := strings.Join(names, ", ")
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.many (%s, PRIMARY KEY ((%s)))", ks, strings.Join(columns, ", "), all))
	insert := fmt.Sprintf("INSERT INTO %s.many (%s) VALUES (?%s)", ks, all, strings.Repeat(", ?", len(names)-1))
	for round := range 4 { // Go maps have another order each time
		bound := make([]any, len(values))
		for i, v := range values {
			bound[i] = v.Unsorted[round%len(v.Unsorted)]
		}
		q := s.Query(insert, bound...)
		require.NoError(t, q.Exec(t.Context()))
		route, err := q.Route(t.Context())
		require.NoError(t, err)
		require.True(t, route.HasToken)
		requireOneRow(t, s, fmt.Sprintf("SELECT token(%s), %s FROM %s.many", all, all, ks), route.Token, values)
	}
	i := slices.IndexFunc(values, func(v valuetest.Value) bool { return v.Type == "frozen<set<inet>>" })
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.one (k frozen<set<inet>> PRIMARY KEY)", ks))
	for _, unsorted := range values[i].Unsorted {
		q := s.Query(fmt.Sprintf("INSERT INTO %s.one (k) VALUES (?)", ks), unsorted)
		require.NoError(t, q.Exec(t.Context()))
		route, err := q.Route(t.Context())
		require.NoError(t, err)
		requireOneRow(t, s, fmt.Sprintf("SELECT token(k), k FROM %s.one", ks), route.Token, values[i:i+1])
	}
}

// requireOneRow requires one row: a token, and cells with the bytes of values.
func requireOneRow(t *testing.T, s *vecql.Session, text string, token int64, values []valuetest.Value) {
	t.Helper()
	it := s.Query(text).Iter(t.Context())
	cells := make([][]byte, 1+len(values))
	require.Equal(t, 1, it.NumRows())
	require.True(t, it.NextRaw(cells))
	for i, v := range values {
		require.Equal(t, v.Sent(), cells[1+i], v.Name())
	}
	require.Equal(t, token, int64(binary.BigEndian.Uint64(cells[0])))
	require.NoError(t, it.Close())
}
