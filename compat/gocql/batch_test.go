// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// TestBatchWithoutASession has no defaults.
func TestBatchWithoutASession(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	b := gocql.NewBatch(gocql.UnloggedBatch)
	b.Query("INSERT INTO items (id) VALUES (?)", 1)
	b.SetConsistency(gocql.One)
	if err := s.ExecuteBatch(b); err != nil || b.Attempts() != 1 || b.GetConsistency() != gocql.One {
		t.Error(err, b.Attempts(), b.GetConsistency())
	}
}

// TestMethodsOfABatch are exactly those of gocql: gocqlx looks for them by reflection.
func TestMethodsOfABatch(t *testing.T) {
	var methods []string
	for i := range reflect.TypeFor[*gocql.Batch]().NumMethod() {
		methods = append(methods, reflect.TypeFor[*gocql.Batch]().Method(i).Name)
	}
	want := []string{
		"AddAttempts", "AddLatency", "Attempts", "Bind", "Cancel", "Context", "DefaultTimestamp", "GetConsistency",
		"GetRoutingKey", "IsIdempotent", "Keyspace", "Latency", "Observer", "Query", "RetryPolicy", "SerialConsistency",
		"SetConsistency", "Size", "SpeculativeExecutionPolicy", "Table", "Trace", "WithContext", "WithTimestamp",
	}
	if !slices.Equal(methods, want) {
		t.Error(methods)
	}
}
