// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/errtext"
)

// What a program may know of connections: how they log in, and how they name the program. Package internal/conn has the
// rest.

// passwordAuthenticators are the server classes that accept SASL PLAIN.
var passwordAuthenticators = []string{
	"org.apache.cassandra.auth.PasswordAuthenticator",
	"org.apache.cassandra.auth.MutualTlsWithPasswordFallbackAuthenticator",
	"com.scylladb.auth.SaslauthdAuthenticator",
	"com.scylladb.auth.TransitionalAuthenticator",
	"com.datastax.bdp.cassandra.auth.DseAuthenticator",
	"com.datastax.bdp.cassandra.auth.PasswordAuthenticator",
	"io.aiven.cassandra.auth.AivenAuthenticator",
	"com.ericsson.bss.cassandra.ecaudit.auth.AuditAuthenticator",
	"com.amazon.helenus.auth.HelenusAuthenticator",
	"com.instaclustr.cassandra.auth.SharedSecretAuthenticator",
	"com.instaclustr.cassandra.auth.InstaclustrPasswordAuthenticator",
}

// PasswordAuthenticator is SASL PLAIN with user name and password.
type PasswordAuthenticator struct {
	Username string
	Password string
	// AllowedAuthenticators are the server classes that receive the password. Default: the classes known to accept SASL
	// PLAIN.
	AllowedAuthenticators []string
}

// Challenge implements Authenticator.
func (p PasswordAuthenticator) Challenge(req []byte) ([]byte, cql.Authenticator, error) {
	allowed := p.AllowedAuthenticators
	if len(allowed) == 0 {
		allowed = passwordAuthenticators
	}
	if !slices.Contains(allowed, string(req)) {
		return nil, nil, errtext.Errorf("the server's authenticator %q is not in AllowedAuthenticators", req)
	}
	return []byte("\x00" + p.Username + "\x00" + p.Password), nil, nil
}

// Success implements Authenticator.
func (p PasswordAuthenticator) Success([]byte) error { return nil }

// hidden takes the place of a password in texts.
const hidden = "***"

// redacted has the fields of a PasswordAuthenticator and none of its methods.
type redacted PasswordAuthenticator

func (p PasswordAuthenticator) redacted() redacted {
	if p.Password != "" {
		p.Password = hidden
	}
	return redacted(p)
}

// String returns the fields with *** for the password.
func (p PasswordAuthenticator) String() string { return fmt.Sprintf("%+v", p.redacted()) }

// Format implements fmt.Formatter: no verb prints the password. An unexported field of a struct of the program is out
// of its reach: package fmt calls no methods of such fields.
func (p PasswordAuthenticator) Format(f fmt.State, verb rune) {
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), p.redacted())
}

// LogValue implements slog.LogValuer, without the password.
func (p PasswordAuthenticator) LogValue() slog.Value { return slog.AnyValue(p.redacted()) }

// MarshalJSON implements json.Marshaler, without the password.
func (p PasswordAuthenticator) MarshalJSON() ([]byte, error) { return json.Marshal(p.redacted()) }

// concealed is an Authenticator in a session. Package fmt prints the fields of a session, of a query and of everything
// else that refers to a session, but not the variables of a function.
type concealed func() cql.Authenticator

func conceal(a cql.Authenticator) cql.Authenticator {
	if a == nil {
		return nil
	}
	return concealed(func() cql.Authenticator { return a })
}

// Challenge implements Authenticator.
func (c concealed) Challenge(req []byte) ([]byte, cql.Authenticator, error) {
	return c().Challenge(req)
}

// Success implements Authenticator.
func (c concealed) Success(data []byte) error { return c().Success(data) }

// ApplicationInfo identifies the program to the server: ScyllaDB lists the values in system.clients, Cassandra in
// system_views.clients. Empty values are not sent.
type ApplicationInfo struct {
	ApplicationName    string
	ApplicationVersion string
	ClientID           string // of this process; a program may have several
}

// startup adds the values that are set to the options of STARTUP.
func (a ApplicationInfo) startup(options map[string]string) {
	for key, value := range map[string]string{
		"APPLICATION_NAME": a.ApplicationName, "APPLICATION_VERSION": a.ApplicationVersion, "CLIENT_ID": a.ClientID,
	} {
		if value != "" {
			options[key] = value
		}
	}
}
