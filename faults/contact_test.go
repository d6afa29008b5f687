// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/fakecql"
)

// silentDialer never connects to addresses of 10.9.0.0/16, and ends with its context unless deaf.
type silentDialer struct {
	vecql.Dialer
	deaf chan struct{} // nil means that the context ends a dial; else only closing it does
}

func (d silentDialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if !strings.HasPrefix(addr, "10.9.") {
		return d.Dialer.DialContext(ctx, network, addr)
	}
	if d.deaf != nil {
		<-d.deaf
		return nil, net.ErrClosed
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestFault45SilentContactPoints starts a session whose first five contact points do not answer. Each delays the start
// by a quarter of a second, not by the connect timeout. If none answers, the start fails after one connect timeout.
func TestFault45SilentContactPoints(t *testing.T) {
	const each = 250 * time.Millisecond
	silent := []string{"10.9.0.1", "10.9.0.2", "10.9.0.3", "10.9.0.4", "10.9.0.5"}
	for name, deaf := range map[string]bool{"dials end with their contexts": false, "dials ignore their contexts": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
				cfg := configOf(c)
				cfg.ConnectTimeout = 10 * time.Second
				d := silentDialer{Dialer: cfg.Pool.Dialer}
				if deaf {
					d.deaf = make(chan struct{})
					defer close(d.deaf)
				}
				cfg.Pool.Dialer = d
				good := cfg.Hosts
				cfg.Hosts = append(append([]string{}, silent...), good...)
				began := time.Now()
				s, err := vecql.NewSession(t.Context(), *cfg)
				took := time.Since(began)
				require.NoError(t, err)
				evidence(t, "five silent contact points, "+name, "started after %v", took)
				require.LessOrEqual(t, took, 5*each+100*time.Millisecond)
				s.Close()
				if deaf {
					return
				}
				cfg.Hosts = silent
				began = time.Now()
				_, err = vecql.NewSession(t.Context(), *cfg)
				require.ErrorIs(t, err, vecql.ErrNoConnectionsStarted)
				require.LessOrEqual(t, time.Since(began), cfg.ConnectTimeout+5*each)
				for _, addr := range silent {
					require.ErrorContains(t, err, fmt.Sprint(addr, ":"))
				}
			})
		})
	}
}

// TestFault45NameOfDeadAddresses starts a session on a name that resolves to four addresses: at two nothing answers, at
// the third the connection is refused, and at the last there is a node. Time is real, because the resolver of the
// standard library starts goroutines that outlive a test in virtual time.
func TestFault45NameOfDeadAddresses(t *testing.T) {
	c := newCluster(t, fakecql.V5, 1)
	resolveTo(t, "10.9.0.1", "10.9.0.2", "10.7.0.1", "10.8.0.1")
	answerAt(c, "10.8.0.1", c.Nodes[0])
	cfg := configOf(c)
	cfg.Hosts, cfg.Pool.Dialer = []string{"cluster.vecql.test"}, silentDialer{Dialer: cfg.Pool.Dialer}
	cfg.ConnectTimeout = 10 * time.Second
	began := time.Now()
	s := openSession(t, cfg)
	require.Less(t, time.Since(began), cfg.ConnectTimeout/2, "not after the timeout of the first addresses")
	require.NotEmpty(t, c.DialsSince(began, "10.7.0.1"), "the refused address comes before the good one")
	require.NoError(t, s.Query("INSERT").Exec(t.Context()))
}

// resolveTo makes every name resolve to these IPv4 addresses during the test.
func resolveTo(t *testing.T, addrs ...string) {
	old := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = old })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe() // not a packet connection, so the resolver speaks DNS over TCP
		go func() {
			defer server.Close()
			in := make([]byte, 2)
			if _, err := io.ReadFull(server, in); err != nil {
				return
			}
			in = make([]byte, binary.BigEndian.Uint16(in))
			if _, err := io.ReadFull(server, in); err == nil {
				_, _ = server.Write(dnsAnswer(in, addrs))
			}
		}()
		return client, nil
	}}
}

// dnsAnswer returns the response to a DNS query with one question, with its length (RFC 1035, section 4): the addresses
// for type A, nothing for other types.
func dnsAnswer(query []byte, addrs []string) []byte {
	question := query[12:]
	question = question[:bytes.IndexByte(question, 0)+5]
	if kind := question[len(question)-4:]; kind[1] != 1 {
		addrs = nil
	}
	b := append([]byte{}, query[:2]...)
	b = append(b, 0x85, 0x80, 0, 1, 0, byte(len(addrs)), 0, 0, 0, 0)
	b = append(b, question...)
	for _, a := range addrs {
		b = append(b, 0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4) // the name of the question, type A, class IN, 1 s, 4 bytes
		b = append(b, net.ParseIP(a).To4()...)
	}
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...)
}
