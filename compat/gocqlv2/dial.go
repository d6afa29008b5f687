// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"slices"

	"github.com/vecql/vecql/compat"
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// What v2 has otherwise than the other editions: authentication, compression and the list of nodes.

type (
	// An Authenticator answers the authentication of a server.
	Authenticator = cql.Authenticator
	// A Compressor compresses the bodies of frames.
	Compressor = compat.AppendCompressor
)

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

// WhiteListHostFilter accepts the nodes at the given hosts. Names are resolved during this call. It panics if none can
// be resolved.
func WhiteListHostFilter(hosts ...string) HostFilter {
	f, resolved, err := api.FilterAddresses(hosts, api.ConnectAddressOf[*HostInfo])
	if resolved == 0 {
		panic(fmt.Errorf("gocql: WhiteListHostFilter: no host of %q can be resolved: %w", hosts, err))
	}
	return f
}
