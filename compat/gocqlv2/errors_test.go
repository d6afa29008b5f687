// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/vecql/vecql/cqltest"
)

// Errors as programs look at them: by type switch, by ==, by value.

const insert = "INSERT INTO items (id) VALUES (?)"

// Errors that v2 alone has types for.
func TestServerErrorsWithoutFields(t *testing.T) {
	cluster, s := open(t)
	for code, want := range map[int32]gocql.RequestError{
		cqltest.CodeOverloaded: &gocql.RequestErrOverloaded{}, cqltest.CodeBootstrapping: &gocql.RequestErrBootstrapping{},
		cqltest.CodeInvalid: &gocql.RequestErrInvalid{}, cqltest.CodeConfig: &gocql.RequestErrConfig{},
		cqltest.CodeCredentials: &gocql.RequestErrCredentials{}, cqltest.CodeSyntax: &gocql.RequestErrSyntax{},
		cqltest.CodeTruncate: &gocql.RequestErrTruncate{}, cqltest.CodeUnauthorized: &gocql.RequestErrUnauthorized{},
	} {
		rule := cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: &cqltest.Error{Code: code, Message: "as sent"}})
		err := s.Query(insert, 1).Exec()
		rule.Remove()
		require.IsType(t, want, err)
		require.EqualError(t, err, "as sent")
		require.Equal(t, int(code), err.(gocql.RequestError).Code())
	}
}

func TestSentinelsOfVerbsWithAContext(t *testing.T) {
	_, s := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.True(t, s.Query(insert, 1).ExecContext(ctx) == context.Canceled)
	require.True(t, s.Query(insert, 1).SetHostID(gocql.MustRandomUUID().String()).Exec() == gocql.ErrNoConnections)
	s.Close()
	require.True(t, s.Batch(gocql.LoggedBatch).Query(insert, 1).ExecContext(context.Background()) == gocql.ErrSessionClosed)
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

// observe is a QueryObserver of a function.
type observe func(o gocql.ObservedQuery)

func (f observe) ObserveQuery(_ context.Context, o gocql.ObservedQuery) { f(o) }
