// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/search/semcache"
)

// Situations of semantic caches.

func cacheSituations() []situation {
	create := func(server cqltest.Config, c semcache.Config) func(*testing.T) error {
		return onCluster(server, func(t *testing.T, s *shop) error {
			require.NoError(t, s.start(t))
			return semcache.Create(t.Context(), s.Session, c)
		})
	}
	of := func(table string, dimension int) semcache.Config {
		return semcache.Config{Table: table, Model: "model-1", Dimension: dimension, TTL: time.Hour}
	}
	old := cqltest.Config{Scylla: &cqltest.Scylla{Version: "2026.1.5"}}
	pairs := []semcache.Pair{{A: []float32{1}, B: []float32{1}, Same: true}}
	return []situation{
		{"semcache.Error", "create a cache for vectors of no elements", as[*semcache.Error](), create(cqltest.Config{}, of("shop.answers", 0))},
		{"semcache.ErrConfig", "create a cache as two tables", is(semcache.ErrConfig), create(cqltest.Config{}, of("shop.answers, shop.items", 3))},
		{"semcache.ErrSchema", "create a cache as a table that exists", is(semcache.ErrSchema), create(cqltest.Config{}, of("shop.items", 3))},
		{"semcache.ErrTTL", "create a cache with a TTL on an old ScyllaDB", is(semcache.ErrTTL), create(old, of("shop.answers", 3))},
		{"semcache.ErrPairs", "calibrate with one pair", is(semcache.ErrPairs), func(*testing.T) error { _, err := semcache.Calibrate(pairs, 0); return err }},
	}
}
