// SPDX-License-Identifier: Apache-2.0

package product_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/product"
)

func TestBefore(t *testing.T) {
	for _, c := range []struct {
		release string
		numbers []int
		before  bool
	}{
		{"2026.1.5", []int{2026, 2}, true},
		{"2026.2.0", []int{2026, 2}, false},
		{"2026.2", []int{2026, 2, 1}, false},
		{"2025.4.1", []int{2026, 1}, true},
		{"2026.10.0", []int{2026, 2}, false},
		{"2026.3.0-rc2", []int{2026, 3}, false},
		{"6.2.0", []int{2026, 1}, true},
		{"", []int{2026}, false},
		{"dev", []int{2026}, false},
	} {
		require.Equal(t, c.before, product.Server{Release: c.release}.Before(c.numbers...), "%s %v", c.release, c.numbers)
	}
}

func TestOf(t *testing.T) {
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cqltest.New(t, cqltest.Config{Version: "5.0.7"}).Hosts()})
	require.NoError(t, err)
	defer session.Close()
	s, err := product.Of(t.Context(), session)
	require.NoError(t, err)
	require.Equal(t, product.Server{Release: "5.0.7"}, s)
	require.Equal(t, "Cassandra 5.0.7", s.String())
	require.Equal(t, "ScyllaDB", product.Server{Scylla: true}.String())
}
