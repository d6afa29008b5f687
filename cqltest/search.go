// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"errors"
	"fmt"
	"time"
)

// Configuration of searches by vectors: ScyllaDB's vector store, and Cassandra's storage-attached indexes.

// A VectorStore configures the service that answers ScyllaDB's searches by vectors. With the zero value each index is
// ready at once, contains each write at once, and finds all rows. Times are of the cluster's clock (Config.Now,
// Cluster.StepClock).
type VectorStore struct {
	// Bootstrap is how long the service starts with the cluster: searches get 503 NODE_BOOTSTRAPPING.
	Bootstrap time.Duration
	// Discovery is how long the service does not know a new index: searches get 404.
	Discovery time.Duration
	// Build is how long the service then builds the index: searches get 503 INDEX_BUILDING, with the progress.
	Build time.Duration
	// Settle is how long the index then does not serve yet: searches get 500.
	Settle time.Duration
	// Lag is the time from a write until indexes contain it.
	Lag time.Duration
	// Recall is the share of rows that a search finds, more than 0. Default 1. An index with the option oversampling
	// misses fewer rows by that factor.
	Recall float64
	// Seed chooses the rows that searches miss.
	Seed uint64
}

// check returns the errors of the fields.
func (s *VectorStore) check() error {
	var errs []error
	for name, d := range map[string]time.Duration{
		"Bootstrap": s.Bootstrap, "Discovery": s.Discovery, "Build": s.Build, "Settle": s.Settle, "Lag": s.Lag,
	} {
		if d < 0 {
			errs = append(errs, fmt.Errorf("cqltest: Config: VectorStore.%s is %v, must not be negative", name, d))
		}
	}
	if !(s.Recall > 0 && s.Recall <= 1) {
		errs = append(errs, fmt.Errorf("cqltest: Config: VectorStore.Recall is %v, must be more than 0 and at most 1", s.Recall))
	}
	return errors.Join(errs...)
}

// SAI configures the storage-attached indexes of Cassandra. With the zero value an index on vectors is ready at once
// and finds all rows.
type SAI struct {
	// Build is how long a new index on vectors is built: searches get a read failure with the reason INDEX_NOT_AVAILABLE.
	Build time.Duration
	// Approximate makes searches miss rows as a graph does: the fewer candidates Cassandra keeps for the LIMIT and the
	// index's option optimize_for, the more.
	Approximate bool
	// Seed chooses the rows that searches miss.
	Seed uint64
	// CustomParameters allows the options maximum_node_connections and construction_beam_width, as the system property
	// cassandra.sai.vector.allow_custom_parameters does.
	CustomParameters bool
}
