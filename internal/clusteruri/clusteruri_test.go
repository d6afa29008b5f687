// SPDX-License-Identifier: Apache-2.0

package clusteruri

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// config returns the configuration of a URI.
func config(text string) (*vecql.ClusterConfig, error) {
	settings, err := Parse(text)
	if err == nil {
		err = Check(settings)
	}
	if err != nil {
		return nil, err
	}
	return Config(func(name string) string { return settings[name] })
}

func TestConfig(t *testing.T) {
	cfg, err := config("cassandra://reader:p%40s%2Fs@host1:9043,[::1]:9042,host2/shop?consistency=local_one&timeout=5s" +
		"&connect_timeout=300ms&compression=lz4&protocol=4&data_center=dc1&tls=true&tls.server_name=node&tls.verify=false")
	require.NoError(t, err)
	require.Equal(t, []string{"host1:9043", "[::1]:9042", "host2"}, cfg.Hosts)
	require.Equal(t, "shop", cfg.Keyspace)
	require.Equal(t, cql.LocalOne, cfg.Defaults.Consistency)
	require.Equal(t, 5*time.Second, cfg.Timeout)
	require.Equal(t, 300*time.Millisecond, cfg.ConnectTimeout)
	require.Equal(t, vecql.LZ4Compressor{}, cfg.Compressor)
	require.Equal(t, 4, cfg.Protocol.Version)
	require.Equal(t, vecql.PasswordAuthenticator{Username: "reader", Password: "p@s/s"}, cfg.Authenticator)
	require.NotNil(t, cfg.HostSelectionPolicy)
	require.Equal(t, &tls.Config{ServerName: "node", InsecureSkipVerify: true}, cfg.TLS)
	cfg, err = config("scylla://host?compression=snappy&compression=none&protocol=")
	require.NoError(t, err)
	require.Equal(t, []string{"host"}, cfg.Hosts)
	require.Nil(t, cfg.TLS)
	require.Nil(t, cfg.Compressor)
	require.Nil(t, cfg.Authenticator)
	require.Equal(t, cql.Quorum, cfg.Defaults.Consistency)
	require.Equal(t, 11*time.Second, cfg.Timeout)
}

func TestFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(file, []byte("nothing"), 0o600))
	for uri, want := range map[string]string{
		"http://user:secret@host/":                                "cassandra://",
		"cassandra:host":                                          "cassandra://",
		"cassandra://user:secret%zz@host/":                        "cannot be parsed",
		"cassandra://user:secret@host/?timeout=%zz":               "parameters of the uri cannot be parsed",
		"cassandra://user:secret@host/?nothing=1":                 `unknown parameter "nothing"`,
		"cassandra://user:secret@host/?password=x":                "user:password@host",
		"cassandra://user:secret@host/?consistency=most":          "consistency",
		"cassandra://user:secret@host/?timeout=fast":              "want a time",
		"cassandra://user:secret@host/?timeout=-1s":               "want a time",
		"cassandra://user:secret@host/?tls=yes":                   `the parameter tls of the uri is "yes"`,
		"cassandra://user:secret@host/?compression=zip":           "snappy",
		"cassandra://user:secret@/shop":                           "contact point",
		"cassandra://user:secret@host1,,host2/shop":               "contact point",
		"cassandra://host/?tls.ca=" + file:                        "no certificate in PEM form",
		"cassandra://host/?tls.ca=" + file + ".none":              "tls.ca: open",
		"cassandra://host/?tls.cert=" + file:                      "tls.cert and tls.key belong together",
		"cassandra://host/?tls.key=" + file:                       "tls.cert and tls.key belong together",
		"cassandra://host/?tls.cert=" + file + "&tls.key=" + file: "tls.cert and tls.key: tls:",
	} {
		_, err := config(uri)
		require.ErrorContains(t, err, want, uri)
		require.NotContains(t, err.Error(), "secret", uri)
	}
}

// FuzzParse checks that no URI makes the parser panic, and that Config takes what Check accepts.
func FuzzParse(f *testing.F) {
	f.Add("cassandra://reader:p%40s@host1:9043,[::1]:9042/shop?consistency=local_one&timeout=5s")
	f.Add("scylla://@/?=&%")
	f.Fuzz(func(t *testing.T, text string) {
		settings, err := Parse(text)
		if err != nil || Check(settings) != nil || settings["tls.ca"]+settings["tls.cert"]+settings["tls.key"] != "" {
			return
		}
		cfg, err := Config(func(name string) string { return settings[name] })
		if err == nil {
			require.NotEmpty(t, cfg.Hosts)
		}
	})
}
