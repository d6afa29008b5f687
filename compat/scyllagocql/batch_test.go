// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gocql/gocql"
)

// TestMethodsOfABatch are exactly those of gocql: gocqlx looks for them by reflection.
func TestMethodsOfABatch(t *testing.T) {
	var methods []string
	for i := range reflect.TypeFor[*gocql.Batch]().NumMethod() {
		methods = append(methods, reflect.TypeFor[*gocql.Batch]().Method(i).Name)
	}
	want := []string{
		"AddAttempts", "AddLatency", "Attempts", "Bind", "Cancel", "Context", "DefaultTimestamp", "Exec", "GetConsistency",
		"GetCustomPartitioner", "GetHostID", "GetRequestTimeout", "GetRoutingKey", "GetSession", "IsIdempotent", "IsLWT",
		"Keyspace", "Latency", "Observer", "Query", "RetryPolicy", "SerialConsistency", "SetConsistency", "SetHostID",
		"SetKeyspace", "SetRequestTimeout", "Size", "SpeculativeExecutionPolicy", "Table", "Trace", "WithContext",
		"WithNowInSeconds", "WithTimestamp",
	}
	if !slices.Equal(methods, want) {
		t.Error(methods)
	}
}
