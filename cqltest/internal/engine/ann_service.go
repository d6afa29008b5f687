// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"net/http"
	"time"
)

// Readiness of vector indexes: ScyllaDB's vector store with its HTTP errors, and the build of an index of Cassandra.

// A VectorStore configures the service that answers ScyllaDB's searches by vectors. The zero value has each index ready
// at once, sees each write at once, and finds all rows. Package cqltest has the same type for its users.
type VectorStore struct {
	Bootstrap time.Duration
	Discovery time.Duration
	Build     time.Duration
	Settle    time.Duration
	Lag       time.Duration
	Recall    float64
	Seed      uint64
}

// SAI configures Cassandra's storage-attached indexes. Package cqltest has the same type for its users.
type SAI struct {
	Build            time.Duration
	Approximate      bool
	Seed             uint64
	CustomParameters bool
}

// storeError is the error of an answer of the vector store.
func storeError(status int, format string, args ...any) error {
	return invalid("Vector Store error: HTTP status %d %s, message: %s", status, http.StatusText(status),
		fmt.Sprintf(format, args...))
}

// discovered reports whether the vector store knows an index.
func (v *VectorStore) discovered(i *index, now time.Time) bool {
	return now.Sub(i.vector.created) >= v.Discovery
}

// buildStart returns when the vector store begins to build an index.
func (v *VectorStore) buildStart(i *index, started time.Time) time.Time {
	at := i.vector.created.Add(v.Discovery)
	if up := started.Add(v.Bootstrap); at.Before(up) {
		return up
	}
	return at
}

// serves reports whether an index is built.
func (v *VectorStore) serves(i *index, started, now time.Time) bool {
	return v.discovered(i, now) && !now.Before(v.buildStart(i, started).Add(v.Build+v.Settle))
}

// notServing returns the error of an index that the vector store knows and that is not built.
func (v *VectorStore) notServing(ks string, i *index, started, now time.Time) error {
	built := now.Sub(v.buildStart(i, started))
	switch {
	case now.Sub(started) < v.Bootstrap:
		return storeError(http.StatusServiceUnavailable, `{"reason":"NODE_BOOTSTRAPPING"}`)
	case built < v.Build:
		return storeError(http.StatusServiceUnavailable, `{"reason":"INDEX_BUILDING","message":"Index %s.%s is not `+
			`available yet as it is still being constructed, progress: %.3f%%"}`, ks, i.name,
			100*float64(built)/float64(v.Build))
	}
	return storeError(http.StatusInternalServerError, "Index %s.%s is not serving, but full scan did finish.", ks, i.name)
}
