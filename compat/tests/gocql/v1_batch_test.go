// SPDX-License-Identifier: Apache-2.0

//go:build !fork && !v2

package gocql_test

import (
	"testing"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// TestBatchWithoutASession has no defaults.
func TestBatchWithoutASession(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	b := gocql.NewBatch(gocql.UnloggedBatch) //nolint:staticcheck // deprecated names work too
	b.Query("INSERT INTO items (id) VALUES (?)", 1)
	b.SetConsistency(gocql.One)
	if err := s.ExecuteBatch(b); err != nil || b.Attempts() != 1 || b.GetConsistency() != gocql.One {
		t.Error(err, b.Attempts(), b.GetConsistency())
	}
}
