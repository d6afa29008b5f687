// SPDX-License-Identifier: Apache-2.0

// Package clustertable has the type for a table of one of several clusters, which comparisons and copies pass around.
package clustertable

import (
	"context"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// A Table is a table or a view of a cluster.
type Table struct {
	Session  *vecql.Session
	Metadata *cql.TableMetadata
}

// Find returns the table of a name in CQL: shop.items, or items in the keyspace of the session. The server resolves the
// name.
func Find(ctx context.Context, session *vecql.Session, name string) (Table, error) {
	m, err := session.StatementMetadata(ctx, "SELECT * FROM "+name, "")
	if err != nil {
		return Table{}, err
	}
	t, err := session.TableMetadata(ctx, m.Keyspace, m.Table)
	return Table{session, t}, err
}

// Name returns the table with its keyspace, for people.
func (t Table) Name() string { return t.Metadata.Keyspace + "." + t.Metadata.Name }

// CQL returns the table with its keyspace as CQL.
func (t Table) CQL() string { return cqltext.QualifiedName(t.Metadata.Keyspace, t.Metadata.Name) }
