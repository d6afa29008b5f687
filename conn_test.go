// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// Credentials of the program.

// TestPasswordIsSentToAllowedClasses requires that only the classes of AllowedAuthenticators receive the password:
// the classes known to accept SASL PLAIN, or the classes in the list of the program.
func TestPasswordIsSentToAllowedClasses(t *testing.T) {
	const own = "com.example.Own"
	auth := PasswordAuthenticator{Username: "u", Password: "p"}
	listed := auth
	listed.AllowedAuthenticators = []string{own}
	allowed := func(auth PasswordAuthenticator, class string) bool {
		resp, next, err := auth.Challenge([]byte(class))
		require.Nil(t, next)
		if err != nil {
			require.Empty(t, resp)
			require.ErrorContains(t, err, class)
			return false
		}
		require.Equal(t, "\x00u\x00p", string(resp))
		return true
	}
	for _, class := range passwordAuthenticators {
		require.True(t, allowed(auth, class))
		require.False(t, allowed(listed, class))
	}
	require.False(t, allowed(auth, own))
	require.True(t, allowed(listed, own))
}

// TestConcealedAuthenticator requires that an Authenticator in a session receives all that the server sends, and that
// no text has its password.
func TestConcealedAuthenticator(t *testing.T) {
	require.Nil(t, conceal(nil))
	a := &listening{}
	c := conceal(a)
	_, _, err := c.Challenge([]byte("challenge"))
	require.NoError(t, err)
	require.NoError(t, c.Success([]byte("done")))
	require.Equal(t, []string{"challenge"}, a.received[:1])
	require.Equal(t, "done", a.received[1])
	refuses := conceal(refusing{})
	require.ErrorIs(t, refuses.Success(nil), io.EOF)
	_, _, err = refuses.Challenge(nil)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	secret := conceal(PasswordAuthenticator{Username: "name", Password: "secret"})
	require.NotContains(t, fmt.Sprintf("%+v %#v", secret, secret), "secret")
}

// listening stores what it receives.
type listening struct{ received []string }

func (l *listening) Challenge(req []byte) ([]byte, cql.Authenticator, error) {
	l.received = append(l.received, string(req))
	return nil, l, nil
}

func (l *listening) Success(data []byte) error {
	l.received = append(l.received, string(data))
	return nil
}

// refusing fails.
type refusing struct{}

func (refusing) Challenge([]byte) ([]byte, cql.Authenticator, error) {
	return nil, nil, io.ErrUnexpectedEOF
}

func (refusing) Success([]byte) error { return io.EOF }
