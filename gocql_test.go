// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	gocql "github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// A program for gocql v2 (github.com/apache/cassandra-gocql-driver/v2) that compiles with this package instead: names
// that both packages have, have the same signatures. The differences are:
//
//   - ClusterConfig: TLS (*tls.Config) for SslOpts; Logger is a *slog.Logger; MaxRequestsPerConn, Throttle, Profiles
//     and the fields of ScyllaDB are new. Without counterpart: ConvictionPolicy, DisableSkipMetadata (see
//     Query.SkipMetadata), IgnorePeerAddr (which gocql does not read), MaxRoutingKeyInfo, RegisteredTypes,
//     SocketKeepalive (see Dialer), Tracer, WriteCoalesceWaitTime, WriteTimeout.
//   - HostDialer.DialHost receives the address to dial and returns a net.Conn, where gocql returns a *DialedHost.
//   - A zero field of ClusterConfig means its default, and NewCluster sets only Hosts. ServerTimestamps, also of Query
//     and Batch, is the opposite of DefaultTimestamp.
//   - Setters of Query and Batch are named by their options, getters are Get and the option: Keyspace and GetKeyspace
//     for SetKeyspace and Keyspace, HostID for SetHostID, Timestamp for WithTimestamp, NowInSeconds for
//     WithNowInSeconds, SpeculativeExecutionPolicy for SetSpeculativeExecutionPolicy, RequestTimeout for
//     SetRequestTimeout, GetIdempotent for IsIdempotent, SkipMetadata(false) for NoSkipMetadata.
//   - Functions passed to Bind receive a StatementMetadata too: ID, BindMarkers, ResultColumns and PartitionKey replace
//     Id, Args, Rval and PKeyColumns of gocql's QueryInfo, and BindMarkers and PartitionKey replace BindColumns and
//     PKBindColumnIndexes of its StatementMetadata.
//   - Iter.Latency and HostMetrics.TotalLatency are of type time.Duration, in gocql int64 nanoseconds.
//   - DataCentreHostFilter is missing: DataCenterHostFilter has one spelling.
//   - Names deprecated in gocql v2 are missing: Session.NewBatch, ExecuteBatch and similar, WithContext,
//     SetConsistency, Batch.Cons.
//   - RetryPolicy has one method, Decide; AdaptRetryPolicy converts a policy with two methods. RetryType begins with
//     Rethrow.
//   - HostSelectionPolicy returns the tier of a node (Tier); HostPicker has Pick. Policies are stateless; sessions
//     may share one.
//   - ParseConsistency returns an error, where gocql panics. Error codes are of type Code, which is an error itself.
//   - The compressors are in this package. TypeInfo does not marshal: Marshal and Unmarshal do. A tuple is one
//     destination.
//   - HostInfo.Version is a string, HostInfo.State a NodeState.

// gocqlProgram only has to compile. It is never run.
func gocqlProgram(ctx context.Context, w io.Writer) error {
	cluster := gocql.NewCluster("192.168.1.1", "192.168.1.2:9042")
	cluster.Keyspace = "example"
	cluster.Consistency = cql.LocalQuorum
	cluster.SerialConsistency = cql.LocalSerial
	cluster.ProtoVersion = 4
	cluster.CQLVersion = "3.4.5"
	cluster.Port = 9042
	cluster.Timeout = 5 * time.Second
	cluster.ConnectTimeout = 5 * time.Second
	cluster.NumConns = 4
	cluster.PageSize = 1000
	cluster.NextPagePrefetch = 0.5
	cluster.MaxPreparedStmts = 500
	cluster.ServerTimestamps = false
	cluster.DefaultIdempotence = false
	cluster.ReconnectInterval = time.Minute
	cluster.MaxWaitSchemaAgreement = time.Minute
	cluster.Compressor = gocql.SnappyCompressor{}
	cluster.Authenticator = gocql.PasswordAuthenticator{Username: "user", Password: "password"}
	cluster.AuthProvider = func(h *gocql.HostInfo) (gocql.Authenticator, error) { return gocql.PasswordAuthenticator{}, nil }
	cluster.DisableInitialHostLookup = true
	cluster.TLS = &tls.Config{MinVersion: tls.VersionTLS13}
	cluster.Dialer = &net.Dialer{}
	cluster.RetryPolicy = &gocql.SimpleRetryPolicy{NumRetries: 3}
	cluster.RetryPolicy = &gocql.ExponentialBackoffRetryPolicy{NumRetries: 5, Min: 100 * time.Millisecond, Max: 10 * time.Second}
	cluster.RetryPolicy = &gocql.DowngradingConsistencyRetryPolicy{ConsistencyLevelsToTry: []cql.Consistency{cql.One}}
	cluster.RetryPolicy = gocql.AdaptRetryPolicy(gocqlRetry{})
	cluster.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 10, Interval: 8 * time.Second}
	cluster.ReconnectionPolicy = &gocql.ExponentialReconnectionPolicy{MaxRetries: 10, InitialInterval: time.Second, MaxInterval: time.Minute}
	cluster.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy(), gocql.ShuffleReplicas())
	cluster.PoolConfig.HostSelectionPolicy = gocql.ShuffledTokenAwareHostPolicy(gocql.DCAwareRoundRobinPolicy("dc1"), gocql.NonLocalReplicasFallback())
	cluster.PoolConfig = gocql.PoolConfig{HostSelectionPolicy: gocql.RackAwareRoundRobinPolicy("dc1", "rack1")}
	cluster.HostFilter = gocql.DataCenterHostFilter("dc1")
	cluster.HostFilter = gocql.WhiteListHostFilter("192.168.1.1")
	cluster.HostFilter = gocql.HostFilterFunc(func(host *gocql.HostInfo) bool { return host.Rack() != "rack3" })
	cluster.AddressTranslator = gocql.AddressTranslatorFunc(func(addr net.IP, port int) (net.IP, int) { return addr, port })
	cluster.AddressTranslator = gocql.IdentityTranslator()
	cluster.Events.DisableNodeStatusEvents = true
	cluster.Events.DisableTopologyEvents = true
	cluster.Events.DisableSchemaEvents = true
	cluster.QueryObserver, cluster.BatchObserver, cluster.ConnectObserver = gocqlObserver{}, gocqlObserver{}, gocqlObserver{}
	cluster.FrameHeaderObserver, cluster.StreamObserver = gocqlObserver{}, gocqlObserver{}
	cluster.Metadata.CacheMode = gocql.KeyspaceOnly
	cluster.Metadata.HostListener.HostStateChangeListener = gocqlListener{}
	cluster.Metadata.HostListener.TopologyChangeListener = gocqlListener{}
	cluster.Metadata.SchemaListener.KeyspaceChangeListener = gocqlListener{}
	cluster.Metadata.SchemaListener.TableChangeListener = gocqlListener{}
	cluster.Metadata.SessionReadyListener = gocqlListener{}
	session, err := cluster.CreateSession()
	if errors.Is(err, gocql.ErrNoHosts) || errors.Is(err, gocql.ErrNoConnectionsStarted) {
		session, err = gocql.NewSession(*cluster)
	}
	if err != nil {
		return err
	}
	defer session.Close()
	if err := gocqlQueries(ctx, session, w); err != nil {
		return err
	}
	return errors.Join(gocqlBatches(ctx, session), gocqlSchema(ctx, session), gocqlErrors(err))
}

func gocqlQueries(ctx context.Context, session *gocql.Session, w io.Writer) error {
	id, err := cql.RandomUUID()
	if err != nil {
		return err
	}
	if err := session.Query(`INSERT INTO tweet (timeline, id, text) VALUES (?, ?, ?)`, "me", cql.TimeUUID(), "hello world").ExecContext(ctx); err != nil {
		return err
	}
	var text string
	q := session.Query(`SELECT id, text FROM tweet WHERE timeline = ? LIMIT 1`, "me").Consistency(cql.One).
		SerialConsistency(cql.Serial).Idempotent(true).ServerTimestamps(false).Timestamp(1).NowInSeconds(1).Keyspace("other").
		PageSize(10).PageState(nil).Prefetch(0.5).RoutingKey([]byte{1}).RetryPolicy(nil).SkipMetadata(false).Observer(gocqlObserver{}).
		SpeculativeExecutionPolicy(&gocql.SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: time.Millisecond}).
		Trace(gocql.NewTraceWriter(session, w)).CustomPayload(map[string][]byte{"k": nil}).HostID(id.String()).Bind("you")
	_, _, _, _ = q.GetConsistency(), q.GetIdempotent(), q.Statement(), q.Values()
	_, _, _ = q.GetKeyspace(), q.GetHostID(), q.String()
	if err := q.ScanContext(ctx, &id, &text); errors.Is(err, gocql.ErrNotFound) {
		return err
	}
	iter := session.Query(`SELECT id, text FROM tweet`).IterContext(ctx)
	for iter.Scan(&id, &text) {
	}
	_, _, _, _, _ = iter.Attempts(), iter.Latency(), iter.Host(), iter.Keyspace(), iter.Table()
	_, _, _, _, _ = iter.NumRows(), iter.PageState(), iter.Warnings(), iter.WillSwitchPage(), iter.GetCustomPayload()
	row, err := iter.RowData()
	if err != nil || len(row.Columns) != len(row.Values) {
		return err
	}
	for _, column := range iter.Columns() {
		_, _, _, _ = column.Keyspace, column.Table, column.Name, column.TypeInfo.Type() == cql.TypeUUID
	}
	if err := iter.Close(); err != nil {
		return err
	}
	scanner := session.Query(`SELECT id, text FROM tweet`).Iter().Scanner()
	for scanner.Next() {
		if err := scanner.Scan(&id, &text); err != nil {
			return err
		}
	}
	if err := scanner.Err(); err != nil {
		return err
	}
	m := map[string]any{}
	if err := session.Query(`SELECT * FROM tweet`).MapScan(m); err != nil {
		return err
	}
	if _, err := session.Query(`SELECT * FROM tweet`).Iter().SliceMap(); err != nil {
		return err
	}
	if applied, err := session.Query(`INSERT INTO tweet (id) VALUES (?) IF NOT EXISTS`, id).ScanCASContext(ctx, &text); err != nil || !applied {
		return err
	}
	if _, err := session.Query(`INSERT INTO tweet (id) VALUES (?) IF NOT EXISTS`, id).MapScanCAS(m); err != nil {
		return err
	}
	bound := session.Bind(`SELECT * FROM tweet WHERE id = ?`, func(m gocql.StatementMetadata) ([]any, error) {
		_, _, _, _ = m.ID, m.BindMarkers, m.ResultColumns, m.PartitionKey
		return []any{id}, nil
	})
	meta, err := session.StatementMetadata(ctx, `SELECT * FROM tweet WHERE id = ?`, "example")
	_, _, _, _, _ = meta.Keyspace, meta.Table, meta.BindMarkers, meta.PartitionKey, meta.ResultColumns
	return errors.Join(err, bound.Exec(), session.AwaitSchemaAgreement(ctx))
}

func gocqlBatches(ctx context.Context, session *gocql.Session) error {
	b := session.Batch(gocql.UnloggedBatch)
	b.Query(`INSERT INTO tweet (id) VALUES (?)`, cql.TimeUUID())
	b.Entries = append(b.Entries, gocql.BatchEntry{Stmt: `INSERT INTO tweet (id) VALUES (?)`, Args: []any{cql.TimeUUID()}, Idempotent: true})
	b.Bind(`INSERT INTO tweet (id) VALUES (?)`, func(gocql.StatementMetadata) ([]any, error) { return []any{cql.TimeUUID()}, nil })
	b = b.Consistency(cql.Quorum).SerialConsistency(cql.Serial).ServerTimestamps(false).Timestamp(1).Keyspace("other").
		RetryPolicy(nil).SpeculativeExecutionPolicy(gocql.NonSpeculativeExecution{}).Observer(gocqlObserver{}).Trace(nil)
	if b.Size() > gocql.BatchSizeMaximum || b.Type != gocql.UnloggedBatch || b.GetIdempotent() {
		return gocql.ErrTooManyStmts
	}
	var text string
	_, iter, err := session.Batch(gocql.LoggedBatch).ExecCASContext(ctx, &text)
	if err == nil {
		err = iter.Close()
	}
	_, _, mapErr := session.Batch(gocql.CounterBatch).MapExecCAS(map[string]any{})
	return errors.Join(err, mapErr, b.ExecContext(ctx), b.Exec(), b.IterContext(ctx).Close())
}

func gocqlSchema(ctx context.Context, session *gocql.Session) error {
	for _, host := range session.GetHosts() {
		_, _, _, _ = host.HostID(), host.DataCenter(), host.Rack(), host.Tokens()
		_, _, _, _ = host.ConnectAddress(), host.ConnectAddressAndPort(), host.HostnameAndPort(), host.Port()
		_, _, _, _, _ = host.Peer(), host.BroadcastAddress(), host.ListenAddress(), host.RPCAddress(), host.PreferredIP()
		_, _, _, _, _ = host.Partitioner(), host.ClusterName(), host.DSEVersion(), host.Graph(), host.WorkLoad()
		_, _, _ = host.IsUp(), host.Equal(host), host.String()
	}
	all, err := session.AllKeyspaceMetadata()
	if err != nil || session.Closed() || ctx.Err() != nil {
		return err
	}
	keyspace, err := session.KeyspaceMetadata("example")
	if errors.Is(err, gocql.ErrKeyspaceDoesNotExist) || errors.Is(err, gocql.ErrNoMetadata) {
		keyspace = all["example"].Clone()
	}
	_, _, _, _ = keyspace.Name, keyspace.DurableWrites, keyspace.StrategyClass, keyspace.StrategyOptions["replication_factor"]
	for _, table := range keyspace.Tables {
		_, _, _, _ = table.Keyspace, table.Name, table.PartitionKey, table.OrderedColumns
		for _, c := range table.ClusteringColumns {
			_, _, _, _ = c.Kind == cql.ColumnClusteringKey, c.Type, c.ClusteringOrder, c.Order == cql.DESC
		}
	}
	for _, t := range keyspace.UserTypes {
		_, _ = t.FieldNames, t.FieldTypes
	}
	_, _, _ = keyspace.Functions, keyspace.Aggregates, keyspace.MaterializedViews
	return nil
}

func gocqlErrors(err error) error {
	var server *cql.ServerError
	var unavailable *cql.UnavailableError
	var writeTimeout *cql.WriteTimeoutError
	var exists *cql.AlreadyExistsError
	switch {
	case errors.As(err, &unavailable):
		_, _, _ = unavailable.Consistency, unavailable.Required, unavailable.Alive
	case errors.As(err, &writeTimeout):
		_, _, _, _ = writeTimeout.Consistency, writeTimeout.Received, writeTimeout.BlockFor, writeTimeout.WriteType
	case errors.As(err, &exists):
		_, _ = exists.Keyspace, exists.Table
	case errors.As(err, &server):
		_, _ = server.Code, server.Message
	}
	for _, sentinel := range []error{
		gocql.ErrTimeoutNoResponse, gocql.ErrConnectionClosed, gocql.ErrNoStreams, gocql.ErrUnsupported, gocql.ErrUseStmt,
		gocql.ErrSessionClosed, gocql.ErrNoConnections, gocql.ErrNoKeyspace, gocql.ErrFrameTooBig,
	} {
		if errors.Is(err, sentinel) {
			return sentinel
		}
	}
	return nil
}

// gocqlRetry is a retry policy with gocql's methods.
type gocqlRetry struct{}

func (gocqlRetry) Attempt(q gocql.RetryableQuery) bool {
	q.SetConsistency(cql.One)
	return q.Attempts() <= 1 && q.Context().Err() == nil && q.GetConsistency() == cql.One
}
func (gocqlRetry) GetRetryType(error) gocql.RetryType { return gocql.RetryNextHost }

type gocqlObserver struct{}

func (gocqlObserver) ObserveQuery(_ context.Context, o gocql.ObservedQuery) {
	_, _, _, _, _ = o.Keyspace, o.Statement, o.Values, o.End.Sub(o.Start), o.Rows
	_, _, _, _, _ = o.Host.DataCenter(), o.Metrics.Attempts, o.Metrics.TotalLatency, o.Err, o.Attempt
	_ = o.Query.GetConsistency()
}

func (gocqlObserver) ObserveBatch(_ context.Context, o gocql.ObservedBatch) {
	_, _, _, _ = o.Keyspace, o.Statements, o.Values, o.End.Sub(o.Start)
	_, _, _, _, _ = o.Host, o.Metrics.Attempts, o.Err, o.Attempt, o.Batch.Size()
}

func (gocqlObserver) ObserveConnect(o gocql.ObservedConnect) {
	_, _, _ = o.Host, o.End.Sub(o.Start), o.Err
}

func (gocqlObserver) ObserveFrameHeader(_ context.Context, o gocql.ObservedFrameHeader) {
	_, _, _, _, _ = o.Flags, o.Stream, o.Length, o.End.Sub(o.Start), o.Host
}

func (gocqlObserver) StreamContext(context.Context) gocql.StreamObserverContext {
	return gocqlObserver{}
}
func (gocqlObserver) StreamStarted(o gocql.ObservedStream)   { _ = o.Host }
func (gocqlObserver) StreamAbandoned(o gocql.ObservedStream) { _ = o.Host }
func (gocqlObserver) StreamFinished(o gocql.ObservedStream)  { _ = o.Host }

type gocqlListener struct{}

func (gocqlListener) OnHostUp(e gocql.HostUpEvent)                          { _ = e.Host }
func (gocqlListener) OnHostDown(e gocql.HostDownEvent)                      { _ = e.Host }
func (gocqlListener) OnNewHost(e gocql.NewHostEvent)                        { _ = e.Host }
func (gocqlListener) OnRemovedHost(e gocql.RemovedHostEvent)                { _ = e.Host }
func (gocqlListener) OnKeyspaceCreated(e gocql.OnKeyspaceCreatedEvent)      { _ = e.Keyspace }
func (gocqlListener) OnKeyspaceUpdated(e gocql.OnKeyspaceUpdatedEvent)      { _, _ = e.Old, e.New }
func (gocqlListener) OnKeyspaceDropped(e gocql.OnKeyspaceDroppedEvent)      { _ = e.Keyspace }
func (gocqlListener) OnTableCreated(e gocql.OnTableCreatedEvent)            { _ = e.Table }
func (gocqlListener) OnTableUpdated(e gocql.OnTableUpdatedEvent)            { _, _ = e.Old, e.New }
func (gocqlListener) OnTableDropped(e gocql.OnTableDroppedEvent)            { _ = e.Table }
func (gocqlListener) OnSessionReady(session *gocql.Session)                 { _ = session.Closed() }
func (gocqlListener) Challenge([]byte) ([]byte, gocql.Authenticator, error) { return nil, nil, nil }
func (gocqlListener) Success([]byte) error                                  { return nil }

// gocqlType has codecs of its own.
type gocqlType struct{}

func (gocqlType) MarshalCQL(cql.TypeInfo) ([]byte, error)          { return nil, nil }
func (*gocqlType) UnmarshalCQL(cql.TypeInfo, []byte) error         { return nil }
func (gocqlType) MarshalUDT(string, cql.TypeInfo) ([]byte, error)  { return nil, nil }
func (*gocqlType) UnmarshalUDT(string, cql.TypeInfo, []byte) error { return nil }

var (
	_ cql.Marshaler                        = gocqlType{}
	_ cql.Unmarshaler                      = &gocqlType{}
	_ cql.UDTMarshaler                     = gocqlType{}
	_ cql.UDTUnmarshaler                   = &gocqlType{}
	_ gocql.Authenticator                  = gocqlListener{}
	_ gocql.SpeculativeExecutionPolicy     = &gocql.SimpleSpeculativeExecution{}
	_ gocql.ReconnectionPolicy             = &gocql.ExponentialReconnectionPolicy{}
	_ func(...string) *gocql.ClusterConfig = gocql.NewCluster
)

func TestGocqlProgramCompiles(t *testing.T) {
	_ = gocqlProgram
	for typ, want := range map[gocql.BatchType]int{gocql.LoggedBatch: 0, gocql.UnloggedBatch: 1, gocql.CounterBatch: 2} {
		if int(typ) != want {
			t.Errorf("batch type %d, want %d", typ, want)
		}
	}
}
