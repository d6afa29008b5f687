// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/internal/soak"
)

// TestMutualTLSWithoutAuthenticate logs in by the certificate alone: Cassandra 6 answers STARTUP by READY, without
// AUTHENTICATE, where the certificate has an identity of a role (CEP-34).
func TestMutualTLSWithoutAuthenticate(t *testing.T) {
	soak.Only(t)
	const auth = "org.apache.cassandra.auth."
	c, err := cassandra.Start(t.Context(), cassandra.Options{
		Version: "6.0", TLS: cassandra.TLSOptional, Auth: true, Log: t.Log,
		Set: map[string]any{
			"client_encryption_options.require_client_auth": "optional",
			"authenticator": map[string]any{
				"class_name": auth + "MutualTlsWithPasswordFallbackAuthenticator",
				"parameters": map[string]any{"validator_class_name": auth + "SpiffeCertificateValidator"},
			},
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	password := vecql.PasswordAuthenticator{Username: cassandra.Username, Password: cassandra.Password}
	admin := connect(t, &vecql.ClusterConfig{Hosts: c.Hosts(), Authenticator: password})
	exec(t, admin, "CREATE ROLE reader WITH LOGIN = true")

	byCertificate := vecql.ClusterConfig{Hosts: c.Hosts(), TLS: c.TLSConfig()}
	_, err = vecql.NewSession(t.Context(), byCertificate)
	require.ErrorIs(t, err, cql.CodeCredentials, "the certificate has no role")

	exec(t, admin, "ADD IDENTITY '"+cassandra.Identity+"' TO ROLE 'reader'")
	for name, authenticator := range map[string]cql.Authenticator{"none": nil, "a password that is not asked for": password} {
		t.Run(name, func(t *testing.T) {
			cfg := byCertificate
			cfg.Authenticator = authenticator
			s := connect(t, &cfg)
			exec(t, s, "SELECT key FROM system.local")
			users := map[string]bool{}
			for row, err := range vecql.Rows[map[string]any](t.Context(),
				admin.Query("SELECT username, authentication_mode, ssl_enabled FROM system_views.clients")) {
				require.NoError(t, err)
				if row["ssl_enabled"] == true {
					require.Equal(t, "MutualTls", row["authentication_mode"])
					users[row["username"].(string)] = true
				}
			}
			require.Equal(t, map[string]bool{"reader": true}, users)
		})
	}
	t.Run("no certificate", func(t *testing.T) {
		cfg := byCertificate
		cfg.TLS = c.TLSConfig()
		cfg.TLS.Certificates = nil
		_, err := vecql.NewSession(t.Context(), cfg)
		require.ErrorContains(t, err, "the server requires credentials")
		cfg.Authenticator = password
		exec(t, connect(t, &cfg), "SELECT key FROM system.local")
	})
}
