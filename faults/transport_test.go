// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/pooled"
)

// Fault 1: a peer that closes the connection at any byte.

// requireBroken fails the test unless err is one of the errors that mean a broken connection.
func requireBroken(t *testing.T, err error, at int) {
	t.Helper()
	for _, want := range []error{
		vecql.ErrConnectionClosed, vecql.ErrNoConnections, io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, syscall.ECONNREFUSED,
	} {
		if errors.Is(err, want) {
			return
		}
	}
	t.Fatalf("cut after %d bytes: %v does not mean a broken connection", at, err)
}

// TestFault01PeerClosesAnywhere: the peer closes at each byte of a session, from OPTIONS to the RESULT of a prepared
// statement that is not idempotent, in either direction. Every call must end at once with a typed error, and
// MayHaveApplied must be true exactly if a byte of the EXECUTE was sent.
func TestFault01PeerClosesAnywhere(t *testing.T) {
	for _, version := range []byte{fakecql.V4, fakecql.V5} {
		for _, requests := range []bool{false, true} {
			t.Run(fmt.Sprintf("version=%d/requests=%v", version, requests), func(t *testing.T) {
				executed, whole := -1, 0 // bytes transferred before the EXECUTE, and in total
				synctest.Test(t, func(t *testing.T) { whole = peerCloses(t, version, requests, 1<<30, &executed) })
				require.Greater(t, executed, 400)
				require.Greater(t, whole, executed)
				for n := 0; n < whole && !t.Failed(); n++ {
					synctest.Test(t, func(t *testing.T) { peerCloses(t, version, requests, n, &executed) })
					if pooled.Poisoned && n < executed-200 {
						n += 7 // the race detector has covered the start often enough
					}
				}
			})
		}
	}
}

// peerCloses runs a session whose connections break after budget bytes of responses, or of requests, and returns the
// number of bytes transferred. Without a break it sets executed.
func peerCloses(t *testing.T, version byte, requests bool, budget int, executed *int) int {
	const stmt = "INSERT INTO ks.t (id) VALUES (?)"
	line := &fakecql.CutLine{Left: budget, HangUp: !requests}
	c := newCluster(t, version, 1, func(n *fakecql.Node) {
		n.Server.Auth = passwordAuthenticator
		if !requests {
			n.Server.Wrap = line.Wrap
		}
	})
	if requests {
		c.Wrap = func(_ *fakecql.Node, end net.Conn) net.Conn { return line.Wrap(end) }
	}
	c.Prepare(stmt, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
	c.On(func(r *fakecql.Request) bool {
		switch {
		case r.Op == fakecql.OpAuthResponse:
			r.Conn.Reply(r.Stream, fakecql.OpAuthSuccess, []byte{0xFF, 0xFF, 0xFF, 0xFF})
			return true
		case r.Op == fakecql.OpPrepare && requests && budget == 1<<30, r.Op == fakecql.OpExecute && !requests && budget == 1<<30:
			*executed = line.Passed()
		}
		return false
	})
	cfg := configOf(c)
	cfg.Protocol.Version = int(version)
	cfg.Authenticator = vecql.PasswordAuthenticator{Username: "u", Password: "p"}
	began := time.Now()
	s, err := vecql.NewSession(t.Context(), *cfg)
	if err != nil {
		require.Nil(t, s)
		require.ErrorIs(t, err, vecql.ErrNoConnectionsStarted, "cut after %d bytes", budget)
		requireBroken(t, err, budget)
	} else {
		defer s.Close()
		err = s.Query(stmt, 1).Exec(t.Context())
		sent := budget > *executed
		if !requests {
			sent = budget >= *executed // the connection breaks within the response
		}
		switch {
		case budget == 1<<30:
			require.NoError(t, err)
		case err == nil:
			t.Fatalf("cut after %d bytes: no error", budget)
		default:
			var f *vecql.RequestFailure
			require.ErrorAs(t, err, &f, "cut after %d bytes", budget)
			requireBroken(t, err, budget)
			require.Equal(t, sent, vecql.MayHaveApplied(err), "cut after %d bytes, the EXECUTE began at %d: %v", budget, *executed, err)
		}
	}
	require.Less(t, time.Since(began), time.Second, "cut after %d bytes: the error must come before the timeout", budget)
	return line.Passed()
}
