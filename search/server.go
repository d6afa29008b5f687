// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/vecql/vecql"
)

// A server is what the nodes of a session are, as far as searches differ.
type server struct {
	scylla  bool
	release string // of ScyllaDB: version of system.versions; of Cassandra: release_version of a node
}

// serverOf finds what the nodes are: ScyllaDB alone has the table system.versions.
func serverOf(ctx context.Context, session *vecql.Session) (server, error) {
	_, err := session.TableMetadata(ctx, "system", "versions")
	switch {
	case errors.Is(err, vecql.ErrNoTable):
		for _, host := range session.GetHosts() {
			return server{release: host.Version}, nil
		}
		return server{}, nil
	case err != nil:
		return server{}, errorf("find out what the server is: %w", err)
	}
	release, err := vecql.OneRow[string](ctx, session.Query("SELECT version FROM system.versions WHERE key = 'local'").Idempotent(true))
	if err != nil {
		return server{}, errorf("read the release of ScyllaDB: %w", err)
	}
	return server{scylla: true, release: release}, nil
}

func (s server) String() string {
	name := "Cassandra"
	if s.scylla {
		name = "ScyllaDB"
	}
	return strings.TrimSpace(name + " " + s.release)
}

// before reports whether the release is older than the one with these numbers: 2026, 1 and so on. A release without
// numbers counts as new.
func (s server) before(numbers ...int) bool {
	text, _, _ := strings.Cut(s.release, "-")
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
