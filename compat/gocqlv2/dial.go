// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"slices"
)

// Authentication.

// PasswordAuthenticator answers with a name and a password. AllowedAuthenticators are the classes of the server that it
// answers; empty means all.
type PasswordAuthenticator struct {
	Username              string
	Password              string
	AllowedAuthenticators []string
}

// Challenge implements Authenticator.
func (p PasswordAuthenticator) Challenge(req []byte) ([]byte, Authenticator, error) {
	if len(p.AllowedAuthenticators) > 0 && !slices.Contains(p.AllowedAuthenticators, string(req)) {
		return nil, nil, fmt.Errorf("gocql: the server's authenticator %q is not in AllowedAuthenticators", req)
	}
	return []byte("\x00" + p.Username + "\x00" + p.Password), nil, nil
}

// Success implements Authenticator.
func (p PasswordAuthenticator) Success([]byte) error { return nil }
