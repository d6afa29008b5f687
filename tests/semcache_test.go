// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/search/semcache"
)

// TestSemanticCacheOnServer creates a cache on a server, and looks for entries of two models that are near to each
// other.
func TestSemanticCacheOnServer(t *testing.T) {
	s := connect(t, config(t, plainNode))
	requireOffered(t, productOf(t, s), "TestSemanticCacheOnServer")
	name := keyspace(t, s, 1)
	config := semcache.Config{Table: name + ".answers", Model: "model-1", Dimension: 32, TTL: time.Hour}
	require.NoError(t, semcache.Create(t.Context(), s, config))
	require.NoError(t, semcache.Create(t.Context(), s, config))
	one, err := semcache.Open[string](t.Context(), s, config)
	require.NoError(t, err)
	config.Model = "model-2"
	two, err := semcache.Open[string](t.Context(), s, config)
	require.NoError(t, err)

	r := rand.New(rand.NewPCG(1, 2))
	near := func(v []float32) []float32 {
		out := make([]float32, len(v))
		for i, x := range v {
			out[i] = x + 0.1*(r.Float32()-0.5)
		}
		return out
	}
	var prompts [][]float32
	for range 50 {
		v := make([]float32, 32)
		for i := range v {
			v[i] = 2*r.Float32() - 1
		}
		prompts = append(prompts, v)
		require.NoError(t, one.Put(t.Context(), v, semcache.Key(v)))
	}
	for _, v := range prompts {
		entry, ok, err := one.Get(t.Context(), near(v))
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, semcache.Key(v), entry.Value)
		require.InDelta(t, time.Hour, entry.Expires.Sub(entry.Created), float64(time.Millisecond))
		_, ok, err = two.Get(t.Context(), v)
		require.NoError(t, err)
		require.False(t, ok)
	}
	var ttl int
	require.NoError(t, s.Query("SELECT ttl(value) FROM "+config.Table+" LIMIT 1").Scan(t.Context(), &ttl))
	require.InDelta(t, 3600, ttl, 100)
	require.NoError(t, one.InvalidateModel(t.Context(), "model-1"))
	_, ok, err := one.Get(t.Context(), prompts[0])
	require.NoError(t, err)
	require.False(t, ok)
}
