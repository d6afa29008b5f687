// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// TestParseURI requires the configuration of each setting of a URI. Package clusteruri has the tests of the form.
func TestParseURI(t *testing.T) {
	cfg, err := ParseURI("cassandra://reader:p%40s%2Fs@host1:9043,[::1]:9042,host2/shop?consistency=local_one&timeout=5s" +
		"&connect_timeout=300ms&compression=lz4&protocol=4&data_center=dc1&tls=true&tls.server_name=node&tls.verify=false")
	require.NoError(t, err)
	want := &ClusterConfig{
		Hosts: []string{"host1:9043", "[::1]:9042", "host2"}, Keyspace: "shop", Timeout: 5 * time.Second, ConnectTimeout: 300 * time.Millisecond,
		Authenticator: PasswordAuthenticator{Username: "reader", Password: "p@s/s"}, Compressor: LZ4Compressor{},
		HostSelectionPolicy: TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "dc1"}},
		TLS:                 &tls.Config{ServerName: "node", InsecureSkipVerify: true},
	}
	want.Defaults.Consistency, want.Protocol.Version = cql.LocalOne, 4
	require.Equal(t, want.settings(), cfg.settings())
	require.Equal(t, want.Authenticator, cfg.Authenticator)
	require.Equal(t, want.TLS, cfg.TLS)

	cfg, err = ParseURI("cassandra://reader@host")
	require.NoError(t, err)
	require.Equal(t, PasswordAuthenticator{Username: "reader"}, cfg.Authenticator, "without a password")

	cfg, err = ParseURI("scylla://host?compression=snappy")
	require.NoError(t, err)
	require.Equal(t, SnappyCompressor{}, cfg.Compressor)
	require.Nil(t, cfg.TLS)
	require.Nil(t, cfg.Authenticator)
	cfg.Compressor = nil
	require.Equal(t, (&ClusterConfig{Hosts: []string{"host"}}).settings(), cfg.settings(), "the defaults")
}

func TestURIError(t *testing.T) {
	for uri, want := range map[string][2]string{
		"http://user:secret@host":              {"", "vecql: the uri does not begin with cassandra:// or scylla://"},
		"cassandra://user:secret@host?timeout": {},
		"cassandra://user:secret@host?timeout=soon": {
			"timeout", `vecql: the setting timeout of the uri: "soon": want a time such as 500ms or 11s`,
		},
		"cassandra://user:secret": {
			"contact_points", "vecql: the setting contact_points of the uri: the port of a contact point is not a number: want user:password@host[:port],host[:port]",
		},
		"cassandra://user:secret@host?tls.ca=none.pem": {"tls", "vecql: the setting tls of the uri: tls.ca: open none.pem: no such file or directory"},
	} {
		_, err := ParseURI(uri)
		if want[1] == "" {
			require.NoError(t, err)
			continue
		}
		var e *URIError
		require.ErrorAs(t, err, &e)
		require.Equal(t, want, [2]string{e.Setting, err.Error()})
		require.Equal(t, e.Setting == "tls", errors.Is(err, fs.ErrNotExist))
	}
}
