// SPDX-License-Identifier: Apache-2.0

package semcache

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/product"
)

// TestStatements requires the time to live of rows on ScyllaDB, and none that leaves keys in the index.
func TestStatements(t *testing.T) {
	config := Config{Table: "a.b", Model: "m", Dimension: 3, TTL: time.Hour}
	cassandra, err := tableText(&config, product.Server{Release: "5.0.9"})
	require.NoError(t, err)
	require.Contains(t, cassandra, "expires timestamp, ")
	scylla, err := tableText(&config, product.Server{Scylla: true, Release: "2026.2.5"})
	require.NoError(t, err)
	require.Contains(t, scylla, "expires timestamp TTL, ")
	_, err = tableText(&config, product.Server{Scylla: true, Release: "2026.1.5"})
	require.ErrorIs(t, err, ErrTTL)
	config.TTL = 0
	old, err := tableText(&config, product.Server{Scylla: true, Release: "2026.1.5"})
	require.NoError(t, err)
	require.Contains(t, old, "expires timestamp, ")
}
