// SPDX-License-Identifier: Apache-2.0

// Package product finds out whether the nodes of a session are Apache Cassandra or ScyllaDB, and their release.
package product

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/vecql/vecql"
)

// A Server is the product of the nodes of a session.
type Server struct {
	Scylla  bool
	Release string // of ScyllaDB: version of system.versions; of Cassandra: release_version of a node
}

// Of reads the product from the schema: ScyllaDB alone has the table system.versions.
func Of(ctx context.Context, session *vecql.Session) (Server, error) {
	_, err := session.TableMetadata(ctx, "system", "versions")
	switch {
	case errors.Is(err, vecql.ErrNoTable):
		for _, host := range session.GetHosts() {
			return Server{Release: host.Version}, nil
		}
		return Server{}, nil
	case err != nil:
		return Server{}, fmt.Errorf("find out what the server is: %w", err)
	}
	release, err := vecql.OneRow[string](ctx, session.Query("SELECT version FROM system.versions WHERE key = 'local'").Idempotent(true))
	if err != nil {
		return Server{}, fmt.Errorf("read the release of ScyllaDB: %w", err)
	}
	return Server{Scylla: true, Release: release}, nil
}

func (s Server) String() string {
	name := "Cassandra"
	if s.Scylla {
		name = "ScyllaDB"
	}
	return strings.TrimSpace(name + " " + s.Release)
}

// Before reports whether the release is older than the one with these numbers: 2026, 1 and so on. A release without
// numbers counts as new.
func (s Server) Before(numbers ...int) bool {
	text, _, _ := strings.Cut(s.Release, "-")
	for i, part := range strings.Split(text, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || i == len(numbers) {
			return false
		}
		if n != numbers[i] {
			return n < numbers[i]
		}
	}
	return false
}
