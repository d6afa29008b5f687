// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// invalid returns the error of ScyllaDB with a text.
func invalid(text string) error {
	return &cql.ServerError{Code: cql.CodeInvalid, Message: text}
}

// readFailure returns the error of Cassandra with a text and the reasons of replicas.
func readFailure(text string, reasons ...uint16) error {
	e := &cql.ReadFailureError{ServerError: cql.ServerError{Code: cql.CodeReadFailure, Message: text}}
	for i, reason := range reasons {
		if e.ReasonMap == nil {
			e.ReasonMap = map[netip.Addr]uint16{}
		}
		e.ReasonMap[netip.AddrFrom4([4]byte{127, 0, 0, byte(i)})] = reason
	}
	return e
}

// TestNotReady converts the answers of both servers.
func TestNotReady(t *testing.T) {
	const store = "Vector Store error: HTTP status "
	const building = "Index shop.ann is not available yet as it is still being constructed, progress: "
	const other = -2 // not an error of an index that does not serve yet
	for _, c := range []struct {
		name      string
		err       error
		progress  float64
		transient bool
	}{
		{"building", invalid(store + `503 Service Unavailable, message: {"reason":"INDEX_BUILDING","message":"` + building + `12.345%"}`), 0.12345, false},
		{"building, as text", invalid(store + "503 Service Unavailable, message: " + building + "7.000%"), 0.07, false},
		{"building, wrapped", fmt.Errorf("x: %w", invalid(store+"503 Service Unavailable, message: "+building+"100.000%")), 1, false},
		{"building, the status alone", invalid(store + "503"), -1, false},
		{"building, no number", invalid(store + "503, message: progress: x%"), -1, false},
		{"building, above the whole", invalid(store + "503, message: progress: 101%"), -1, false},
		{"building, not a number", invalid(store + "503, message: progress: NaN%"), -1, false},
		{"starting", invalid(store + `503 Service Unavailable, message: {"reason":"NODE_BOOTSTRAPPING"}`), -1, true},
		{"missing", invalid(store + "404 Not Found, message: missing index: shop.ann"), -1, false},
		{"missing, the status alone", invalid(store + "404"), -1, false},
		{"scanned", invalid(store + "500 Internal Server Error, message: Index shop.ann is not serving, but full scan did finish."), 1, true},
		{"failed", invalid(store + "500 Internal Server Error, message: distance is NaN"), other, false},
		{"dimension", invalid(store + "400 Bad Request, message: wrong dimension"), other, false},
		{"TLS", invalid(store + "403 Forbidden, message: TLS required"), other, false},
		{"no status", invalid(store + "x"), other, false},
		{"unavailable", invalid("Vector Store service is unavailable"), other, true},
		{"disabled", invalid("Vector Store is disabled"), other, false},
		{"aborted", invalid("Vector Store request was aborted"), other, false},
		{"another code", &cql.ServerError{Code: cql.CodeServer, Message: store + "503"}, other, false},
		{"Cassandra, v5", readFailure("Operation failed", 6), -1, false},
		{"Cassandra, one of two", readFailure("Operation failed", 2, 6), -1, false},
		{"Cassandra, v4", readFailure("Operation failed - received 0 responses and 1 failures: INDEX_NOT_AVAILABLE from /127.0.0.1:7000"), -1, false},
		{"Cassandra 6, v5", readFailure("Operation failed", 503), -1, false},
		{"Cassandra 6, v4", readFailure("Operation failed - received 0 responses and 1 failures: INDEX_BUILD_IN_PROGRESS from /127.0.0.1:7000"), -1, false},
		{"Cassandra, another reason", readFailure("Operation failed - received 0 responses and 1 failures: TIMEOUT from /127.0.0.1:7000", 2), other, false},
		{"another error", context.Canceled, other, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := notReady("shop.ann", c.err)
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.transient, transient(c.err))
			require.Equal(t, c.transient, transient(err))
			var waiting *IndexNotReadyError
			if c.progress == other {
				require.Equal(t, c.err, err)
				return
			}
			require.ErrorAs(t, err, &waiting)
			require.Equal(t, "shop.ann", waiting.Index)
			require.InDelta(t, c.progress, waiting.Progress, 1e-9)
		})
	}
	require.NoError(t, notReady("shop.ann", nil))
	require.False(t, transient(nil))
	require.EqualError(t, notReady("shop.ann", invalid(store+"503, message: progress: 12.345%")),
		"search: index shop.ann does not serve yet, 12.3 % are built: server: invalid request: Vector Store error: HTTP status 503, message: progress: 12.345%")
}
