// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/stats"
)

// Texts of errors: what was done, to what, on which node, after how many attempts and how long, and why it failed.

func TestRequestFailureText(t *testing.T) {
	const other = "INSERT INTO ks.t (id) VALUES (2)"
	second := func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(context.Background(), time.Second)
	}
	for name, m := range map[string]struct {
		run  func(t *testing.T, s *Session, c *fakecql.Cluster) error
		is   error
		want string // NODE is the address of a node
		may  bool
	}{
		"the deadline of a context": {func(t *testing.T, s *Session, c *fakecql.Cluster) error {
			c.Answer(func(*fakecql.Request, int) {})
			ctx, cancel := second()
			defer cancel()
			return s.Query(idempotentInsert).Exec(ctx)
		}, context.DeadlineExceeded, `vecql: execute "INSERT INTO ks.t (id) VALUES (1)": context deadline exceeded (node NODE, 1 attempt, 1s)`, true},
		"a canceled context": {func(t *testing.T, s *Session, c *fakecql.Cluster) error {
			ctx, cancel := context.WithCancel(context.Background())
			c.Answer(func(*fakecql.Request, int) { time.Sleep(1234567 * time.Microsecond); cancel() }) // seen at the next tick
			return s.Query(idempotentInsert).Exec(ctx)
		}, context.Canceled, `vecql: execute "INSERT INTO ks.t (id) VALUES (1)": context canceled (node NODE, 1 attempt, 1.24s)`, true},
		"a timeout after an error": {func(t *testing.T, s *Session, c *fakecql.Cluster) error {
			c.Answer(func(r *fakecql.Request, nth int) {
				if nth == 0 {
					time.Sleep(time.Second)
					r.Fail(int32(cql.CodeServer))
				}
			})
			return s.Query(idempotentInsert).Idempotent(true).RetryPolicy(SimpleRetryPolicy{NumRetries: 1}).Exec(t.Context())
		}, conn.ErrTimeout, `vecql: execute "INSERT INTO ks.t (id) VALUES (1)": no answer from the server in time (node NODE, 2 attempts, 6s)`, true},
		"a PREPARE that takes too long": {func(t *testing.T, s *Session, c *fakecql.Cluster) error {
			c.On(func(r *fakecql.Request) bool { return r.Op == fakecql.OpPrepare })
			ctx, cancel := second()
			defer cancel()
			return s.Query(other, 1).Exec(ctx)
		}, context.DeadlineExceeded, `vecql: prepare "INSERT INTO ks.t (id) VALUES (2)": context deadline exceeded (node NODE, 1 attempt, 1s)`, false},
		"a refused PREPARE": {func(t *testing.T, s *Session, c *fakecql.Cluster) error {
			c.On(func(r *fakecql.Request) bool { r.Fail(int32(cql.CodeSyntax)); return true })
			return s.Query("SELEKT\n\t1\n", 1).Exec(t.Context())
		}, cql.CodeSyntax, `vecql: prepare "SELEKT 1": server: syntax error: scripted (node NODE, 1 attempt, 0s)`, false},
		"a batch": {func(t *testing.T, s *Session, c *fakecql.Cluster) error {
			c.Answer(func(r *fakecql.Request, _ int) { r.Fail(int32(cql.CodeUnavailable), unavailableFields(cql.Quorum)...) })
			return s.Batch(cql.LoggedBatch).Query(idempotentInsert).Query(other).RetryPolicy(SimpleRetryPolicy{}).Exec(t.Context())
		}, cql.CodeUnavailable, `vecql: execute batch of 2, the first "INSERT INTO ks.t (id) VALUES (1)": server: unavailable: scripted ` +
			`(QUORUM: 1 replicas alive, 2 required) (node NODE, 1 attempt, 0s)`, false},
		"an unknown host": {func(t *testing.T, s *Session, _ *fakecql.Cluster) error {
			_, err := s.prepare(t.Context(), s.defaultPolicies, "", idempotentInsert)
			require.NoError(t, err)
			return s.Query(idempotentInsert).HostID(cql.UUID{15: 1}).Exec(t.Context())
		}, ErrNoConnections, `vecql: execute "INSERT INTO ks.t (id) VALUES (1)": no connection to any node of the query plan, ` +
			`which has only the node with host id 00000000-0000-0000-0000-000000000001 (0 attempts, 0s)`, false},
		"a long statement": {func(t *testing.T, s *Session, c *fakecql.Cluster) error {
			c.On(func(r *fakecql.Request) bool { r.Fail(int32(cql.CodeInvalid)); return true })
			return s.Query("SELECT "+strings.Repeat("é", 1000), 1).Exec(t.Context())
		}, cql.CodeInvalid, `vecql: prepare "SELECT ` + strings.Repeat("é", 93) + `…": server: invalid request: scripted (node NODE, 1 attempt, 0s)`, false},
		"a closed session": {func(t *testing.T, s *Session, _ *fakecql.Cluster) error {
			s.Close()
			return s.Query(idempotentInsert).Exec(t.Context())
		}, ErrSessionClosed, `vecql: prepare "INSERT INTO ks.t (id) VALUES (1)": session is closed (0 attempts, 0s)`, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
				s := sessionOn(c)
				err := m.run(t, s, c)
				text := err.Error()
				for _, n := range c.Nodes {
					text = strings.ReplaceAll(text, n.Addr(), "NODE")
				}
				require.Equal(t, m.want, text)
				require.ErrorIs(t, err, m.is)
				require.Equal(t, m.may, MayHaveApplied(err))
				var f *RequestFailure
				require.ErrorAs(t, err, &f)
				time.Sleep(time.Minute) // until late answers have arrived
			})
		})
	}
}

func TestPrefixOnce(t *testing.T) {
	inner := errors.Join(conn.ErrTimeout)
	for want, err := range map[string]error{
		"vecql: a: b: no answer from the server in time":                errtext.Errorf("a: %w", errtext.Errorf("b: %w", conn.ErrTimeout)),
		"vecql: not sent: connection is closed: protocol: x: too late":  &conn.NotSentError{Err: errtext.Errorf("%w: %w", conn.ErrClosed, &cql.ProtocolError{Message: "x", Err: errtext.Errorf("too late")})},
		"vecql: session is closed; a: no contact points":                errtext.Join(nil, ErrSessionClosed, errtext.Errorf("a: %w", ErrNoHosts)),
		"vecql: execute row 3 of a batch: session is closed":            &RowError{3, ErrSessionClosed},
		"vecql: no answer from the server in time (0 attempts, 12.3ms)": &RequestFailure{Err: inner, Elapsed: 12345678},
	} {
		require.EqualError(t, err, want)
		require.EqualError(t, fmt.Errorf("program: %w", err), "program: "+want)
	}
	err := errtext.Errorf("a: %w", errtext.Join(errtext.Errorf("b: %w", ErrNoHosts), &RequestFailure{Err: ErrThrottled, applied: true}))
	require.ErrorIs(t, err, ErrNoHosts)
	require.ErrorIs(t, err, ErrThrottled)
	require.True(t, MayHaveApplied(err))
	require.NoError(t, errtext.Join(nil, nil))
	require.Equal(t, ErrNoHosts, errtext.Join(nil, ErrNoHosts))
}

// TestServerErrorsByValue: errors.As finds each type of server errors by pointer and by value, and no other type.
func TestServerErrorsByValue(t *testing.T) {
	base := cql.ServerError{Code: cql.CodeServer, Message: "boom"}
	unavailable := cql.UnavailableError{ServerError: base, Consistency: cql.Quorum, Required: 2, Alive: 1}
	rows := []func(t *testing.T, wrap func(error) error){
		byValue(base), byValue(unavailable), byValue(cql.WriteTimeoutError{ServerError: base, Consistency: cql.Quorum, Received: 1, BlockFor: 2, WriteType: "SIMPLE", Contentions: 3}),
		byValue(cql.ReadTimeoutError{ServerError: base, Consistency: cql.Quorum, Received: 1, BlockFor: 2, DataPresent: 1}),
		byValue(cql.ReadFailureError{ServerError: base, Consistency: cql.Quorum, Received: 1, BlockFor: 2, NumFailures: 3, DataPresent: true, ReasonMap: map[netip.Addr]uint16{netip.IPv4Unspecified(): 1}}),
		byValue(cql.WriteFailureError{ServerError: base, Consistency: cql.Quorum, Received: 1, BlockFor: 2, NumFailures: 3, WriteType: "BATCH", ReasonMap: map[netip.Addr]uint16{netip.IPv4Unspecified(): 1}}),
		byValue(cql.FunctionFailureError{ServerError: base, Keyspace: "ks", Function: "f", ArgTypes: []string{"int"}}), byValue(cql.CDCWriteFailureError{ServerError: base}),
		byValue(cql.CASWriteUnknownError{ServerError: base, Consistency: cql.Serial, Received: 1, BlockFor: 2}), byValue(cql.AlreadyExistsError{ServerError: base, Keyspace: "ks", Table: "t"}),
		byValue(cql.UnpreparedError{ServerError: base, StatementID: []byte("id")}), byValue(cql.RateLimitError{ServerError: base, OpType: 1, RejectedByCoordinator: true}),
	}
	for _, row := range rows {
		row(t, func(err error) error { return err })
		row(t, func(err error) error { return &RequestFailure{Err: errtext.Errorf("a: %w", err)} })
	}
	var timeout cql.WriteTimeoutError
	require.False(t, errors.As(&unavailable, &timeout))
	var server cql.ServerError
	require.ErrorAs(t, &unavailable, &server)
	require.Equal(t, base, server)
	require.Zero(t, timeout)
}

// byValue returns a test of a type of server errors.
func byValue[E error](want E) func(t *testing.T, wrap func(error) error) {
	return func(t *testing.T, wrap func(error) error) {
		t.Helper()
		pointer := any(&want).(error) // as the driver returns it
		var value E
		require.ErrorAs(t, wrap(pointer), &value)
		require.Equal(t, want, value)
		var same *E
		require.True(t, errors.As(wrap(pointer), any(&same)))
		require.Same(t, &want, same)
		require.ErrorIs(t, wrap(want), cql.CodeServer)
		require.Equal(t, pointer.Error(), want.Error())
		var server *cql.ServerError
		require.ErrorAs(t, wrap(want), &server)
		require.Equal(t, "boom", server.Message)
	}
}

// TestErrorOfProgram: a program can make an error of a server, for its own tests.
func TestErrorOfProgram(t *testing.T) {
	err := errtext.Errorf("a: %w", &cql.ServerError{Code: cql.CodeUnavailable, Message: "own"})
	require.Equal(t, stats.ClassUnavailable, ErrorClassOf(err))
	require.False(t, attemptMayHaveApplied(err))
	require.True(t, attemptMayHaveApplied(errors.New("own")), "only a server knows that it did not execute a request")
}
