// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/token"
)

// TestTokens compares tokens with the server's, for keys of every length around a block of the hash, for bytes with
// the sign bit set, and for composite keys.
func TestTokens(t *testing.T) {
	s := connect(t, config(t, plainNode))
	ks := keyspace(t, s, 1)
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.one (k blob PRIMARY KEY)", ks))
	exec(t, s, fmt.Sprintf("CREATE TABLE %s.two (a blob, b text, c int, PRIMARY KEY ((a, b), c))", ks))
	r := rand.New(rand.NewPCG(16, 32))
	for n := 1; n <= 40; n++ {
		key := make([]byte, n)
		for i := range key {
			key[i] = byte(r.UintN(256)) | byte(n%2)<<7
		}
		exec(t, s, fmt.Sprintf("INSERT INTO %s.one (k) VALUES (?)", ks), key)
		exec(t, s, fmt.Sprintf("INSERT INTO %s.two (a, b, c) VALUES (?, ?, 1)", ks), key, "text")
	}
	seen := 0
	it := s.Query(fmt.Sprintf("SELECT k, token(k) FROM %s.one", ks)).Iter(t.Context())
	var key []byte
	var want int64
	for it.Scan(&key, &want) {
		require.Equal(t, want, token.Murmur3(key), "%x", key)
		seen++
	}
	require.NoError(t, it.Close())
	require.Equal(t, 40, seen)
	it = s.Query(fmt.Sprintf("SELECT a, b, token(a, b) FROM %s.two", ks)).Consistency(cql.One).Iter(t.Context())
	var text string
	for it.Scan(&key, &text, &want) {
		composite, err := token.AppendComposite(nil, key)
		require.NoError(t, err)
		composite, err = token.AppendComposite(composite, []byte(text))
		require.NoError(t, err)
		require.Equal(t, want, token.Murmur3(composite))
		seen++
	}
	require.NoError(t, it.Close())
	require.Equal(t, 80, seen)
}
