// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// steps is an Authenticator of a program. It records what the server sent.
type steps struct {
	next Authenticator
	err  error
	seen []string
}

func (s *steps) Challenge(req []byte) ([]byte, Authenticator, error) {
	s.seen = append(s.seen, "challenge "+string(req))
	return []byte("response"), s.next, s.err
}

func (s *steps) Success(data []byte) error {
	s.seen = append(s.seen, "success "+string(data))
	return s.err
}

const passwordClass = "org.apache.cassandra.auth.PasswordAuthenticator"

func TestPasswordIsSentToAllowedAuthenticators(t *testing.T) {
	p := PasswordAuthenticator{Username: "ann", Password: "secret"}
	resp, next, err := p.Challenge([]byte(passwordClass))
	require.NoError(t, err)
	require.Nil(t, next)
	require.Equal(t, "\x00ann\x00secret", string(resp))
	require.NoError(t, p.Success(nil))
	_, _, err = p.Challenge([]byte("com.example.Other"))
	require.Error(t, err)
	p.AllowedAuthenticators = []string{"com.example.Other"}
	_, _, err = p.Challenge([]byte("com.example.Other"))
	require.NoError(t, err)
}

// TestPasswordAuthenticatorIsConverted to the type of vecql, which prints no password.
func TestPasswordAuthenticatorIsConverted(t *testing.T) {
	p := PasswordAuthenticator{Username: "ann", Password: "secret"}
	for _, a := range []Authenticator{p, &p} {
		of, provider := AdaptAuthentication[string](a, nil, nil)
		require.Equal(t, vecql.PasswordAuthenticator(p), of)
		require.Nil(t, provider)
	}
	of, provider := AdaptAuthentication[string](nil, nil, nil)
	require.Nil(t, of)
	require.Nil(t, provider)
}

func TestAuthenticatorOfTheProgramGetsTheMessagesOfTheServer(t *testing.T) {
	second := &steps{}
	first := &steps{next: second}
	a, _ := AdaptAuthentication[string](first, nil, nil)
	resp, next, err := a.Challenge([]byte("class"))
	require.NoError(t, err)
	require.Equal(t, "response", string(resp))
	_, last, err := next.Challenge([]byte("more"))
	require.NoError(t, err)
	require.Nil(t, last)
	require.NoError(t, next.Success([]byte("done")))
	require.Equal(t, []string{"challenge class"}, first.seen)
	require.Equal(t, []string{"challenge more", "success done"}, second.seen)

	second.err = errors.New("refused")
	require.Equal(t, second.err, next.Success(nil))
	_, _, err = next.Challenge(nil)
	require.Equal(t, second.err, err)
}

func TestAuthProviderIsAskedForEachNode(t *testing.T) {
	failure := errors.New("no password")
	var asked []string
	provider := func(host string) (Authenticator, error) {
		asked = append(asked, host)
		if host == "b" {
			return nil, failure
		}
		return PasswordAuthenticator{Username: "ann"}, nil
	}
	nodes := map[*cql.Host]string{}
	a, b := new(cql.Host), new(cql.Host)
	nodes[a], nodes[b] = "a", "b"
	own := &steps{}
	of, adapted := AdaptAuthentication(own, provider, func(node *cql.Host) string { return nodes[node] })
	require.NotNil(t, of)
	first, err := adapted(a)
	require.NoError(t, err)
	require.Equal(t, vecql.PasswordAuthenticator{Username: "ann"}, first)
	second, err := adapted(b)
	require.Equal(t, failure, err)
	require.Nil(t, second)
	require.Equal(t, []string{"a", "b"}, asked)
}
