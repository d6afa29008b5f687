// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// Situations of sessions, in virtual time on a cluster in memory.

const (
	fixture = `CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE shop.items (id int PRIMARY KEY, name text, price int, embedding vector<float, 3>);
		INSERT INTO shop.items (id, name) VALUES (1, 'lamp'); INSERT INTO shop.items (id, name) VALUES (2, 'desk')`
	readOne = "SELECT name FROM shop.items WHERE id = ?"
	insert  = "INSERT INTO shop.items (id, name) VALUES (?, ?)"
)

// shop is a session with its cluster of one node.
type shop struct {
	*vecql.Session

	cluster *cqltest.Cluster
}

// start opens a session, closed at the end of the test.
func (s *shop) start(t *testing.T, change ...func(*vecql.ClusterConfig)) error {
	cfg := &vecql.ClusterConfig{Hosts: s.cluster.Hosts()}
	cfg.Pool.Dialer, cfg.Pool.NumConns, cfg.Logger = s.cluster.Dialer(), 1, slog.New(slog.NewTextHandler(io.Discard, nil))
	cfg.Pool.HeartbeatInterval = -1
	for _, f := range change {
		f(cfg)
	}
	session, err := vecql.NewSession(t.Context(), *cfg)
	if err == nil {
		s.Session = session
		t.Cleanup(session.Close)
	}
	return err
}

// inShop returns a function that calls f in a bubble.
func inShop(f func(t *testing.T, s *shop) error, change ...func(*vecql.ClusterConfig)) func(*testing.T) error {
	return onCluster(cqltest.Config{}, func(t *testing.T, s *shop) error {
		require.NoError(t, s.start(t, change...))
		return f(t, s)
	})
}

// onCluster returns a function that calls f in a bubble, with no session yet.
func onCluster(cfg cqltest.Config, f func(t *testing.T, s *shop) error) func(*testing.T) error {
	return func(t *testing.T) (err error) {
		synctest.Test(t, func(t *testing.T) {
			cfg.Nodes, cfg.Network = 1, cqltest.InMemory
			s := &shop{cluster: cqltest.New(t, cfg)}
			require.NoError(t, s.cluster.Exec(fixture))
			err = f(t, s)
			time.Sleep(time.Minute) // until late answers have arrived
		})
		return err
	}
}

// holdStream sends a request whose answer is late, so that its stream stays in use.
func (s *shop) holdStream() {
	s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Times: 1, Delay: 30 * time.Second})
	go func() { _ = s.Query(readOne, 1).Exec(context.Background()) }()
	synctest.Wait()
}

// overload sends requests whose answers are late until one is refused, and returns its error.
func (s *shop) overload() error {
	s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Delay: time.Second})
	refused := make(chan error, 1)
	for len(refused) == 0 {
		go func() {
			if err := s.Query(readOne, 1).RequestTimeout(100 * time.Millisecond).Exec(context.Background()); errors.Is(err, vecql.ErrNodeBusy) {
				select {
				case refused <- err:
				default:
				}
			}
		}()
		time.Sleep(5 * time.Millisecond)
	}
	return <-refused
}

// oneStream allows one request per connection.
func oneStream(cfg *vecql.ClusterConfig) { cfg.Pool.MaxRequestsPerConn = 1 }

func sessionSituations() []situation {
	read := func(dest ...any) func(t *testing.T, s *shop) error {
		return func(_ *testing.T, s *shop) error { return s.Query(readOne, 1).Scan(context.Background(), dest...) }
	}
	return []situation{
		{"vecql.ErrNotFound", "read a row that does not exist", is(vecql.ErrNotFound), inShop(func(t *testing.T, s *shop) error {
			return s.Query(readOne, 3).Scan(t.Context(), new(string))
		})},
		{"vecql.ErrTooManyRows", "read exactly one row of a table with two", is(vecql.ErrTooManyRows), inShop(func(t *testing.T, s *shop) error {
			_, err := vecql.OneRow[string](t.Context(), s.Query("SELECT name FROM shop.items"))
			return err
		})},
		{"vecql.ErrSessionClosed", "execute after Close", is(vecql.ErrSessionClosed), inShop(func(t *testing.T, s *shop) error {
			s.Close()
			return read(new(string))(t, s)
		})},
		{"vecql.ErrConnectionClosed", "the node hangs up before the answer", is(vecql.ErrConnectionClosed), inShop(func(t *testing.T, s *shop) error {
			s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Close: true})
			return read(new(string))(t, s)
		})},
		{"vecql.ErrNoConnections", "execute while no node is connected", is(vecql.ErrNoConnections), inShop(func(t *testing.T, s *shop) error {
			require.NoError(t, s.Query(readOne, 1).Exec(t.Context()))
			s.cluster.Node(0).Kill()
			time.Sleep(time.Minute)
			return read(new(string))(t, s)
		})},
		{"vecql.ErrNoConnections", "execute on a host id that the cluster does not have", is(vecql.ErrNoConnections), inShop(func(t *testing.T, s *shop) error {
			require.NoError(t, s.Query(readOne, 1).Exec(t.Context()))
			return s.Query(readOne, 1).HostID(cql.UUID{15: 1}).Exec(t.Context())
		})},
		{"vecql.ErrNoConnectionsStarted", "start while the contact point is down", is(vecql.ErrNoConnectionsStarted), onCluster(cqltest.Config{}, func(t *testing.T, s *shop) error {
			s.cluster.Node(0).Kill()
			return s.start(t)
		})},
		{
			"vecql.ErrNoConnectionsStarted", "start without credentials", is(vecql.ErrNoConnectionsStarted),
			onCluster(cqltest.Config{Users: map[string]string{"a": "b"}}, func(t *testing.T, s *shop) error { return s.start(t) }),
		},
		{
			"vecql.ErrNoConnectionsStarted", "start with a wrong password", is(cql.CodeCredentials),
			onCluster(cqltest.Config{Users: map[string]string{"a": "b"}}, func(t *testing.T, s *shop) error {
				return s.start(t, func(cfg *vecql.ClusterConfig) {
					cfg.Authenticator = vecql.PasswordAuthenticator{Username: "a", Password: "wrong"}
				})
			}),
		},
		{"vecql.ErrNoHosts", "start without contact points", is(vecql.ErrNoHosts), func(*testing.T) error {
			_, err := vecql.NewSession(context.Background(), vecql.ClusterConfig{Hosts: []string{}})
			return err
		}},
		{"vecql.ErrNoRoute", "start without client routes", is(vecql.ErrNoRoute), onCluster(
			cqltest.Config{Scylla: &cqltest.Scylla{}},
			func(t *testing.T, s *shop) error {
				return s.start(t, func(cfg *vecql.ClusterConfig) { cfg.Nodes.ClientRoutes = []string{"pl-1"} })
			},
		)},
		{"vecql.ErrTimeoutNoResponse", "a request gets no answer", is(vecql.ErrTimeoutNoResponse), inShop(func(t *testing.T, s *shop) error {
			s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Drop: true})
			return read(new(string))(t, s)
		})},
		{"vecql.ErrNoStreams", "all streams of the connection are in use", is(vecql.ErrNoStreams), inShop(func(t *testing.T, s *shop) error {
			require.NoError(t, s.Query(readOne, 1).Exec(t.Context()))
			s.holdStream()
			return s.Query(readOne, 1).RequestTimeout(time.Second).Exec(t.Context())
		}, oneStream)},
		{"vecql.ErrNodeBusy", "all answers come after the timeout", is(vecql.ErrNodeBusy), inShop(func(t *testing.T, s *shop) error {
			return s.overload()
		})},
		{"vecql.ErrThrottled", "the queue of the throttle is full", is(vecql.ErrThrottled), inShop(func(t *testing.T, s *shop) error {
			require.NoError(t, s.Query(readOne, 1).Exec(t.Context()))
			s.holdStream()
			return s.Query(readOne, 1).Exec(t.Context())
		}, func(cfg *vecql.ClusterConfig) { cfg.Limits.Throttle = vecql.Throttle{MaxRequests: 1, MaxWaiting: -1} })},
		{"vecql.MemoryBudgetError", "the memory budget is used by another request", as[*vecql.MemoryBudgetError](), inShop(func(t *testing.T, s *shop) error {
			require.NoError(t, s.Query(readOne, 1).Exec(t.Context()))
			s.holdStream()
			return s.Query(readOne, 1).RequestTimeout(time.Second).Exec(t.Context())
		}, func(cfg *vecql.ClusterConfig) { cfg.Limits.MemoryBudget = 500 })},
		{"vecql.ErrNoProfile", "use an unknown profile", is(vecql.ErrNoProfile), inShop(func(t *testing.T, s *shop) error {
			return s.Query(readOne, 1).Profile("slow").Exec(t.Context())
		})},
		{"vecql.ErrNoKeyspace", "read metadata without a keyspace", is(vecql.ErrNoKeyspace), inShop(func(t *testing.T, s *shop) error {
			_, err := s.KeyspaceMetadata(t.Context(), "")
			return err
		})},
		{
			"vecql.ErrKeyspaceDoesNotExist", "start in a keyspace that does not exist", is(vecql.ErrKeyspaceDoesNotExist),
			onCluster(cqltest.Config{}, func(t *testing.T, s *shop) error {
				return s.start(t, func(cfg *vecql.ClusterConfig) { cfg.Keyspace = "shopp" })
			}),
		},
		{"vecql.ErrKeyspaceDoesNotExist", "read metadata of a keyspace that does not exist", is(vecql.ErrKeyspaceDoesNotExist), inShop(func(t *testing.T, s *shop) error {
			_, err := s.KeyspaceMetadata(t.Context(), "shopp")
			return err
		})},
		{"vecql.ErrNoTable", "read metadata of a table that does not exist", is(vecql.ErrNoTable), inShop(func(t *testing.T, s *shop) error {
			_, err := s.TableMetadata(t.Context(), "shop", "item")
			return err
		})},
		{"vecql.ErrNoMetadata", "read metadata that is not cached", is(vecql.ErrNoMetadata), inShop(func(t *testing.T, s *shop) error {
			_, err := s.TableMetadata(t.Context(), "shop", "items")
			return err
		}, func(cfg *vecql.ClusterConfig) { cfg.Schema.Metadata = vecql.MetadataKeyspaces })},
		{"vecql.ErrUseStmt", "execute USE", is(vecql.ErrUseStmt), inShop(func(t *testing.T, s *shop) error {
			return s.Query("USE shop").Exec(t.Context())
		})},
		{"vecql.ErrTooManyStmts", "execute a batch of 65,536 statements", is(vecql.ErrTooManyStmts), inShop(func(t *testing.T, s *shop) error {
			b := s.Batch(cql.UnloggedBatch)
			for i := range vecql.BatchSizeMaximum + 1 {
				b.Query(insert, i, "")
			}
			return b.Exec(t.Context())
		})},
		{"vecql.ErrTooManyValues", "bind 65,536 values", is(vecql.ErrTooManyValues), inShop(func(t *testing.T, s *shop) error {
			values := make([]any, 65536)
			for i := range values {
				values[i] = i
			}
			return s.Query("SELECT name FROM shop.items WHERE id IN (?"+strings.Repeat(",?", len(values)-1)+")", values...).Exec(t.Context())
		})},
		{"vecql.ErrValueCount", "bind one value to two markers", is(vecql.ErrValueCount), inShop(func(t *testing.T, s *shop) error {
			return s.Query(insert, 1).Exec(t.Context())
		})},
		{"vecql.ErrValueCount", "bind a name without a marker", is(vecql.ErrValueCount), inShop(func(t *testing.T, s *shop) error {
			return s.Query("INSERT INTO shop.items (id) VALUES (:id)", cql.NamedValue("ID", 1)).Exec(t.Context())
		})},
		{"vecql.ErrColumnCount", "scan one column into two destinations", is(vecql.ErrColumnCount), inShop(read(new(string), new(string)))},
		{"vecql.ErrColumnCount", "read rows of two columns as strings", is(vecql.ErrColumnCount), inShop(func(t *testing.T, s *shop) error {
			_, err := vecql.OneRow[string](t.Context(), s.Query("SELECT id, name FROM shop.items WHERE id = 1"))
			return err
		})},
		{"vecql.ErrFrameTooBig", "bind a text of 256 MiB", is(vecql.ErrFrameTooBig), inShop(func(t *testing.T, s *shop) error {
			return s.Query(insert, 1, make([]byte, 256<<20)).Exec(t.Context())
		})},
		{"vecql.ErrStatementChanged", "send an encoded row after its table was created again", is(vecql.ErrStatementChanged), inShop(func(t *testing.T, s *shop) error {
			require.NoError(t, s.Query("CREATE TABLE shop.stock (id int PRIMARY KEY)").Exec(t.Context()))
			st, err := vecql.Prepare[int](t.Context(), s.Query("INSERT INTO shop.stock (id) VALUES (?)"))
			require.NoError(t, err)
			var rows vecql.EncodedRows
			require.NoError(t, st.Encode(t.Context(), &rows, new(int)))
			s.cluster.MuteEvents(true) // with an event the rows are not sent
			require.NoError(t, s.cluster.Exec("DROP TABLE shop.stock"))
			require.NoError(t, s.cluster.Exec("CREATE TABLE shop.stock (id bigint PRIMARY KEY)"))
			return rows.ExecOn(t.Context(), cql.UUID{})
		})},
		{"vecql.ErrUnsupported", "set the keyspace of a query on protocol v4", is(vecql.ErrUnsupported), inShop(func(t *testing.T, s *shop) error {
			return s.Query("SELECT name FROM items WHERE id = ?", 1).Keyspace("shop").Exec(t.Context())
		}, func(cfg *vecql.ClusterConfig) { cfg.Protocol.Version = 4 })},
		{
			"vecql.ErrSchemaAgreement", "create a table while the nodes disagree", is(vecql.ErrSchemaAgreement),
			onCluster(cqltest.Config{}, func(t *testing.T, s *shop) error {
				_, err := s.cluster.AddNode("datacenter1", "rack1")
				require.NoError(t, err)
				require.NoError(t, s.start(t, func(cfg *vecql.ClusterConfig) { cfg.Schema.MaxWaitAgreement = time.Second }))
				s.cluster.Node(0).SetSchemaVersion(&[16]byte{1})
				s.cluster.Node(1).SetSchemaVersion(&[16]byte{2})
				return s.Query("CREATE TABLE shop.more (id int PRIMARY KEY)").Exec(t.Context())
			}),
		},
		{"vecql.URIError", "parse a URI with a wrong setting", as[*vecql.URIError](), func(*testing.T) error {
			_, err := vecql.ParseURI("cassandra://shop:secret@10.0.0.1/shop?timeout=soon")
			return err
		}},
		{
			"vecql.PeerError", "start at a node of another cluster", as[*vecql.PeerError](),
			onCluster(cqltest.Config{}, func(t *testing.T, s *shop) error {
				return s.start(t, func(cfg *vecql.ClusterConfig) { cfg.Nodes.ClusterName = "prod" })
			}),
		},
		{"cql.ProtocolError", "the node answers EXECUTE with READY", as[*cql.ProtocolError](), inShop(func(t *testing.T, s *shop) error {
			s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Answer: &cqltest.Answer{Op: cqltest.OpReady}})
			return read(new(string))(t, s)
		})},
		{"cql.ProtocolError", "the node answers on a stream without a request", as[*cql.ProtocolError](), inShop(func(t *testing.T, s *shop) error {
			s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Stream: 7})
			return read(new(string))(t, s)
		})},
		{"vecql.RequestFailure", "the deadline of the context ends during a request", as[*vecql.RequestFailure](), inShop(func(t *testing.T, s *shop) error {
			s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Drop: true})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return s.Query(readOne, 1).Exec(ctx)
		})},
		{"vecql.RequestFailure", "the context is canceled during a PREPARE", as[*vecql.RequestFailure](), inShop(func(t *testing.T, s *shop) error {
			s.cluster.Inject(cqltest.Fault{Op: cqltest.OpPrepare, Drop: true})
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			return s.Query(readOne, 1).Exec(ctx)
		})},
		{"vecql.RowError", "write a batch of columns while the node is overloaded", as[*vecql.RowError](), inShop(func(t *testing.T, s *shop) error {
			s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
			insert := s.Query("INSERT INTO shop.items (id) VALUES (?)").RetryPolicy(vecql.SimpleRetryPolicy{})
			return insert.ExecRows(t.Context(), column.NewBatch(column.Of("id", []int32{5})))
		})},
		{"cql.SchemaError", "read metadata with a column type that does not parse", as[*cql.SchemaError](), inShop(func(t *testing.T, s *shop) error {
			s.cluster.Inject(cqltest.Fault{Statement: "system_schema.columns", Edit: func(a *cqltest.Answer) {
				a.Body = bytes.ReplaceAll(a.Body, []byte("vector<float, 3>"), []byte("vector<float; 3>"))
			}})
			ks, err := s.KeyspaceMetadata(t.Context(), "shop")
			require.NoError(t, err)
			require.Len(t, ks.Faults, 1)
			return ks.Faults[0]
		})},
		{"cqltest.Error", "execute CQL that does not parse on the cluster itself", as[*cqltest.Error](), inShop(func(t *testing.T, s *shop) error {
			return s.cluster.Exec("SELEKT 1")
		})},
	}
}
