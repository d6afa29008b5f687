// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// TestCreateIndexUnknown has changes of the schema whose result the server does not report: Cassandra 6 answers so
// while it writes the rows of the table to disk, with the index.
func TestCreateIndexUnknown(t *testing.T) {
	const remote = "java.util.concurrent.ExecutionException: org.apache.cassandra.net.MessageDelivery$GivingUpException: Could not " +
		"succeed sending TCM_COMMIT_REQ to CandidateIterator{candidates=[/127.0.67.1:7000], checkLive=true}; policy " +
		"Retry{remainingMs=0, attempts=2} exhausted attempts"
	const local = "java.lang.IllegalStateException: Timed out while waiting for the follower to enact the epoch Epoch{epoch=12}"
	for name, c := range map[string]struct {
		code    int32
		message string
		execute bool // the change is made nevertheless
	}{
		"remote, made":     {cqltest.CodeInvalid, remote, true},
		"remote, not made": {cqltest.CodeInvalid, remote, false},
		"local, made":      {cqltest.CodeServer, local, true},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := newCluster(t, cqltest.Config{}, indexedTable)
			session := connect(t, cluster, 0)
			unknown := func(statement string) *cqltest.Rule {
				return cluster.Inject(cqltest.Fault{
					Op: cqltest.OpQuery, Statement: statement, Times: 2, Execute: c.execute,
					Error: &cqltest.Error{Code: c.code, Message: c.message},
				})
			}
			create, filter, drop := unknown("CREATE CUSTOM INDEX"), unknown("CREATE INDEX"), unknown("DROP INDEX")
			options := search.IndexOptions{Filter: []string{"price"}}
			require.NoError(t, search.CreateIndex(t.Context(), session, "products", vector.Cosine, options))
			require.EqualValues(t, 2, create.Hits())
			require.EqualValues(t, 2, filter.Hits())
			require.Equal(t, "embedding", optionsOf(t, session, "products_embedding_idx")["target"])
			require.Equal(t, "price", optionsOf(t, session, "products_price_idx")["target"])
			require.NoError(t, search.DropIndex(t.Context(), session, "shop.products(embedding)"))
			require.EqualValues(t, 2, drop.Hits())
			ks, err := session.KeyspaceMetadata(t.Context(), "shop")
			require.NoError(t, err)
			require.NotContains(t, ks.Indexes, "products_embedding_idx")
		})
	}
}

// TestCreateIndexRefusedIsSentOnce has changes of the schema that the server refuses: each is sent once.
func TestCreateIndexRefusedIsSentOnce(t *testing.T) {
	for _, code := range []int32{cqltest.CodeInvalid, cqltest.CodeServer, cqltest.CodeUnauthorized} {
		cluster := newCluster(t, cqltest.Config{}, indexedTable)
		session := connect(t, cluster, 0)
		rule := cluster.Inject(cqltest.Fault{
			Op: cqltest.OpQuery, Statement: "CREATE CUSTOM INDEX", Error: &cqltest.Error{Code: code, Message: "not today"},
		})
		err := search.CreateIndex(t.Context(), session, "products", vector.Cosine, search.IndexOptions{})
		require.ErrorIs(t, err, cql.Code(code))
		require.EqualValues(t, 1, rule.Hits())
	}
}
