// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Authentication in v1.7 and the fork.

// An Authenticator answers the authentication of a server.
type Authenticator interface {
	Challenge(req []byte) (resp []byte, auth Authenticator, err error)
	Success(data []byte) error
}

// PasswordAuthenticator is SASL PLAIN. AllowedAuthenticators are the classes of the server that may receive the
// password; nil means the classes known to accept SASL PLAIN.
type PasswordAuthenticator struct {
	Username              string
	Password              string
	AllowedAuthenticators []string
}

// Challenge implements Authenticator.
func (p PasswordAuthenticator) Challenge(req []byte) ([]byte, Authenticator, error) {
	resp, _, err := vecql.PasswordAuthenticator(p).Challenge(req)
	return resp, nil, err
}

// Success implements Authenticator.
func (p PasswordAuthenticator) Success(data []byte) error { return nil }

// AdaptAuthentication returns a and provider as vecql has them, nil for nil.
func AdaptAuthentication[H any](
	a Authenticator, provider func(H) (Authenticator, error), hostOf func(*cql.Host) H,
) (cql.Authenticator, func(*cql.Host) (cql.Authenticator, error)) {
	if provider == nil {
		return adaptAuthenticator(a), nil
	}
	return adaptAuthenticator(a), func(node *cql.Host) (cql.Authenticator, error) {
		of, err := provider(hostOf(node))
		return adaptAuthenticator(of), err
	}
}

// authenticator adapts an Authenticator.
type authenticator struct{ of Authenticator }

// adaptAuthenticator returns a as vecql's interface, nil for nil. A PasswordAuthenticator becomes vecql's own, whose
// password appears in no text.
func adaptAuthenticator(a Authenticator) cql.Authenticator {
	switch a := a.(type) {
	case nil:
		return nil
	case PasswordAuthenticator:
		return vecql.PasswordAuthenticator(a)
	case *PasswordAuthenticator:
		return vecql.PasswordAuthenticator(*a)
	}
	return authenticator{a}
}

// Challenge implements vecql.Authenticator.
func (a authenticator) Challenge(req []byte) ([]byte, cql.Authenticator, error) {
	resp, next, err := a.of.Challenge(req)
	return resp, adaptAuthenticator(next), err
}

// Success implements vecql.Authenticator.
func (a authenticator) Success(data []byte) error { return a.of.Success(data) }
