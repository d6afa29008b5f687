// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
)

// Reading of the keyspaces whose tablets have leaders.

// readLeaders returns the names of the strongly consistent keyspaces, nil if there are none. Only TABLETS_ROUTING_V2
// names leaders, so that a connection without the extension sends no statement. ScyllaDB refuses the consistency
// 'local', and a NULL means 'eventual'. Older releases lack the table or the column.
func readLeaders(ctx context.Context, conn *conn.Conn) (map[string]bool, error) {
	if !conn.Features.TabletsV2 {
		return nil, nil
	}
	rows, err := systemQuery(ctx, conn, "SELECT keyspace_name, consistency FROM system_schema.scylla_keyspaces")
	if err != nil {
		if errors.Is(err, cql.CodeInvalid) || errors.Is(err, cql.CodeConfig) {
			return nil, nil
		}
		return nil, errtext.Errorf("read system_schema.scylla_keyspaces: %w", err)
	}
	var leaders map[string]bool
	for _, row := range rows {
		if !strings.EqualFold(get[string](row, "consistency"), "global") {
			continue
		}
		if leaders == nil {
			leaders = map[string]bool{}
		}
		leaders[get[string](row, "keyspace_name")] = true
	}
	return leaders, nil
}
