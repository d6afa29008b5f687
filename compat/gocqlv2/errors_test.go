// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// Errors as programs look at them: by type switch, by ==, by value.

const insert = "INSERT INTO items (id) VALUES (?)"

func TestServerErrorsByTypeSwitch(t *testing.T) {
	cluster, s := open(t)
	failed := map[netip.Addr]uint16{netip.MustParseAddr("10.0.0.7"): 3}
	for _, c := range []struct {
		send cqltest.Error
		want gocql.RequestError
	}{
		{cqltest.Error{Code: cqltest.CodeUnavailable, Consistency: 4, Required: 2, Alive: 1}, &gocql.RequestErrUnavailable{Consistency: gocql.Quorum, Required: 2, Alive: 1}},
		{cqltest.Error{Code: cqltest.CodeWriteTimeout, Consistency: 4, Received: 1, Required: 2, WriteType: "SIMPLE"}, &gocql.RequestErrWriteTimeout{Consistency: gocql.Quorum, Received: 1, BlockFor: 2, WriteType: "SIMPLE"}},
		{cqltest.Error{Code: cqltest.CodeReadTimeout, Consistency: 4, Received: 1, Required: 2, DataPresent: true}, &gocql.RequestErrReadTimeout{Consistency: gocql.Quorum, Received: 1, BlockFor: 2, DataPresent: 1}},
		{cqltest.Error{Code: cqltest.CodeReadFailure, Consistency: 4, Required: 2, Failures: failed}, &gocql.RequestErrReadFailure{Consistency: gocql.Quorum, BlockFor: 2, NumFailures: 1, ErrorMap: gocql.ErrorMap{"10.0.0.7": 3}}},
		{cqltest.Error{Code: cqltest.CodeWriteFailure, Consistency: 4, Required: 2, WriteType: "BATCH", Failures: failed}, &gocql.RequestErrWriteFailure{Consistency: gocql.Quorum, BlockFor: 2, NumFailures: 1, WriteType: "BATCH", ErrorMap: gocql.ErrorMap{"10.0.0.7": 3}}},
		{cqltest.Error{Code: cqltest.CodeCASWriteUnknown, Consistency: 8, Received: 1, Required: 2}, &gocql.RequestErrCASWriteUnknown{Consistency: gocql.Serial, Received: 1, BlockFor: 2}},
		{cqltest.Error{Code: cqltest.CodeAlreadyExists, Keyspace: "k", Table: "t"}, &gocql.RequestErrAlreadyExists{Keyspace: "k", Table: "t"}},
		{cqltest.Error{Code: cqltest.CodeFunctionFailure, Keyspace: "k", Function: "f", ArgTypes: []string{"int"}}, &gocql.RequestErrFunctionFailure{Keyspace: "k", Function: "f", ArgTypes: []string{"int"}}},
		{cqltest.Error{Code: cqltest.CodeOverloaded}, &gocql.RequestErrOverloaded{}},
		{cqltest.Error{Code: cqltest.CodeBootstrapping}, &gocql.RequestErrBootstrapping{}},
		{cqltest.Error{Code: cqltest.CodeInvalid}, &gocql.RequestErrInvalid{}},
		{cqltest.Error{Code: cqltest.CodeConfig}, &gocql.RequestErrConfig{}},
		{cqltest.Error{Code: cqltest.CodeCredentials}, &gocql.RequestErrCredentials{}},
		{cqltest.Error{Code: cqltest.CodeSyntax}, &gocql.RequestErrSyntax{}},
		{cqltest.Error{Code: cqltest.CodeTruncate}, &gocql.RequestErrTruncate{}},
		{cqltest.Error{Code: cqltest.CodeUnauthorized}, &gocql.RequestErrUnauthorized{}},
		{cqltest.Error{Code: cqltest.CodeCDCWriteFailure}, &gocql.RequestErrCDCWriteFailure{}},
	} {
		c.send.Message = "as sent"
		rule := cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: &c.send})
		err := s.Query(insert, 1).Exec()
		rule.Remove()
		require.IsType(t, c.want, err)
		require.EqualError(t, err, "as sent")
		got := err.(gocql.RequestError)
		require.Equal(t, int(c.send.Code), got.Code())
		require.Equal(t, "as sent", got.Message())
		requireFields(t, c.want, got)
	}
	cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeServer, Message: "broken"}})
	err := s.Query(insert, 1).Exec()
	var re gocql.RequestError
	require.True(t, errors.As(err, &re))
	require.Equal(t, gocql.ErrCodeServer, re.Code())
}

// A target of the value's type is allowed, as in programs that declare it without the star.
func TestErrorsAsByValue(t *testing.T) {
	cluster, s := open(t)
	cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeWriteTimeout}})
	err := s.Query(insert, 1).Exec()
	var value gocql.RequestErrWriteTimeout
	require.NotPanics(t, func() { errors.As(err, &value) })
	var pointer *gocql.RequestErrWriteTimeout
	require.True(t, errors.As(err, &pointer))
}

func TestSentinelsByComparison(t *testing.T) {
	cluster, cfg := start(t, 1)
	cfg.Timeout = 50 * time.Millisecond
	s := connect(t, cfg)
	require.NoError(t, s.Query(insert, 1).Exec(), "prepared")
	require.True(t, s.Query("USE shop").Exec() == gocql.ErrUseStmt)
	_, err := s.KeyspaceMetadata("")
	require.True(t, err == gocql.ErrNoKeyspace)
	_, err = s.KeyspaceMetadata("absent")
	require.True(t, err == gocql.ErrKeyspaceDoesNotExist)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.True(t, s.Query(insert, 1).ExecContext(ctx) == context.Canceled)
	require.True(t, s.Query(insert, 1).SetHostID(gocql.MustRandomUUID().String()).Exec() == gocql.ErrNoConnections)
	big := s.Batch(gocql.UnloggedBatch)
	big.Entries = make([]gocql.BatchEntry, gocql.BatchSizeMaximum+1)
	require.True(t, big.Exec() == gocql.ErrTooManyStmts)

	require.ErrorIs(t, gocql.ErrNotFound, vecql.ErrNotFound, "found by either name")
	require.EqualError(t, gocql.ErrNotFound, "not found", "programs compare texts")

	cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Drop: true})
	require.True(t, s.Query(insert, 1).Exec() == gocql.ErrTimeoutNoResponse)
	ctx, cancel = context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	require.True(t, s.Query(insert, 1).ExecContext(ctx) == gocql.ErrTimeoutNoResponse, "Timeout bounds attempts with a deadline too")
	ctx, cancel = context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	require.True(t, s.Query(insert, 1).ExecContext(ctx) == context.DeadlineExceeded)
	s.Close()
	require.True(t, s.Closed())
	require.True(t, s.Query(insert, 1).Exec() == gocql.ErrSessionClosed)
	require.True(t, s.Batch(gocql.LoggedBatch).Query(insert, 1).Exec() == gocql.ErrSessionClosed)
}

func TestStartErrors(t *testing.T) {
	_, err := gocql.NewCluster().CreateSession()
	require.True(t, err == gocql.ErrNoHosts)
	cluster, cfg := start(t, 1)
	cluster.Node(0).Kill()
	_, err = cfg.CreateSession()
	require.True(t, err == gocql.ErrNoConnectionsStarted, err)
	cfg.Authenticator = gocql.PasswordAuthenticator{}
	cfg.AuthProvider = func(*gocql.HostInfo) (gocql.Authenticator, error) { return nil, nil }
	_, err = cfg.CreateSession()
	require.ErrorContains(t, err, "AuthProvider")
}

func TestValueErrors(t *testing.T) {
	_, s := open(t)
	err := s.Query(insert, "text").Exec()
	require.IsType(t, gocql.MarshalError(""), err)
	require.NoError(t, s.Query("INSERT INTO items (id, name) VALUES (1, 'x')").Exec())
	var wrong []int
	err = s.Query("SELECT name FROM items WHERE id = 1").Scan(&wrong)
	require.IsType(t, gocql.UnmarshalError(""), err)
	require.Error(t, s.Query("SELECT name FROM items WHERE id = 1").Scan())
	require.Error(t, s.Query(insert).Exec(), "no value for a marker")
	require.Error(t, s.Query(insert, 1, 2).Exec(), "a value too many")
}

// A change of the schema succeeds although the nodes do not agree in time.
func TestSchemaDisagreementIsNoError(t *testing.T) {
	cluster, cfg := start(t, 2)
	cfg.MaxWaitSchemaAgreement = time.Millisecond
	s := connect(t, cfg)
	cluster.Node(1).SetSchemaVersion(&[16]byte{1})
	require.NoError(t, s.Query("CREATE TABLE other (id int PRIMARY KEY)").Exec())
}

// A failed PREPARE is an attempt: the Iter has its node, and the observer its keyspace.
func TestFailedPrepareIsAnAttempt(t *testing.T) {
	_, s := open(t)
	var seen gocql.ObservedQuery
	it := s.Query("SELECT nothing FROM items WHERE id = ?", 1).Observer(observe(func(o gocql.ObservedQuery) { seen = o })).Iter()
	require.IsType(t, &gocql.RequestErrInvalid{}, it.Close())
	require.Equal(t, 1, it.Attempts())
	require.Equal(t, s.GetHosts()[0].ConnectAddress(), it.Host().ConnectAddress())
	require.Equal(t, "shop", seen.Keyspace)
	require.IsType(t, &gocql.RequestErrInvalid{}, seen.Err)
	require.Same(t, it.Host(), seen.Host)
}

func requireFields(t *testing.T, want, got gocql.RequestError) {
	t.Helper()
	switch want := want.(type) {
	case *gocql.RequestErrUnavailable:
		got := got.(*gocql.RequestErrUnavailable)
		require.Equal(t, []any{want.Consistency, want.Required, want.Alive}, []any{got.Consistency, got.Required, got.Alive})
		require.Contains(t, got.String(), "alive=1")
	case *gocql.RequestErrWriteTimeout:
		got := got.(*gocql.RequestErrWriteTimeout)
		require.Equal(t, []any{want.Consistency, want.Received, want.BlockFor, want.WriteType}, []any{got.Consistency, got.Received, got.BlockFor, got.WriteType})
	case *gocql.RequestErrReadTimeout:
		got := got.(*gocql.RequestErrReadTimeout)
		require.Equal(t, []any{want.Consistency, want.Received, want.BlockFor, want.DataPresent}, []any{got.Consistency, got.Received, got.BlockFor, got.DataPresent})
	case *gocql.RequestErrReadFailure:
		got := got.(*gocql.RequestErrReadFailure)
		require.Equal(t, []any{want.Consistency, want.NumFailures, want.ErrorMap}, []any{got.Consistency, got.NumFailures, got.ErrorMap})
	case *gocql.RequestErrWriteFailure:
		got := got.(*gocql.RequestErrWriteFailure)
		require.Equal(t, []any{want.WriteType, want.NumFailures, want.ErrorMap}, []any{got.WriteType, got.NumFailures, got.ErrorMap})
	case *gocql.RequestErrCASWriteUnknown:
		got := got.(*gocql.RequestErrCASWriteUnknown)
		require.Equal(t, []any{want.Consistency, want.Received, want.BlockFor}, []any{got.Consistency, got.Received, got.BlockFor})
	case *gocql.RequestErrAlreadyExists:
		got := got.(*gocql.RequestErrAlreadyExists)
		require.Equal(t, []any{want.Keyspace, want.Table}, []any{got.Keyspace, got.Table})
	case *gocql.RequestErrFunctionFailure:
		got := got.(*gocql.RequestErrFunctionFailure)
		require.Equal(t, []any{want.Keyspace, want.Function, want.ArgTypes}, []any{got.Keyspace, got.Function, got.ArgTypes})
	}
}

// observe is a QueryObserver of a function.
type observe func(o gocql.ObservedQuery)

func (f observe) ObserveQuery(_ context.Context, o gocql.ObservedQuery) { f(o) }
