// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/examples/internal/authority"
	"github.com/vecql/vecql/internal/doctest"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), nil, &out))
	require.Equal(t, doctest.Prints(t), out.String())
}

// TestFiles connects to hosts with certificates from files.
func TestFiles(t *testing.T) {
	ours, err := authority.New("ours")
	require.NoError(t, err)
	node, err := ours.Issue("db.example")
	require.NoError(t, err)
	client, err := ours.Issue("client")
	require.NoError(t, err)
	cluster := cqltest.New(t, cqltest.Config{TLS: &tls.Config{
		Certificates: []tls.Certificate{node}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ours.Pool(),
	}})
	folder := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	key, err := x509.MarshalPKCS8PrivateKey(client.PrivateKey)
	require.NoError(t, err)
	trusted := []string{"-ca", write("ca.pem", "CERTIFICATE", ours.Certificate.Certificate[0])}
	identity := []string{"-cert", write("cert.pem", "CERTIFICATE", client.Certificate[0]), "-key", write("key.pem", "PRIVATE KEY", key)}
	name := []string{"-name", "db.example"}
	connect := func(flags ...[]string) (string, error) {
		var args []string
		for _, f := range flags {
			args = append(args, f...)
		}
		var out strings.Builder
		err := run(t.Context(), append(args, cluster.Hosts()[0]), &out)
		return out.String(), err
	}

	printed, err := connect(trusted, identity, name)
	require.NoError(t, err)
	require.Equal(t, "connected to version 5.0.9\n", printed)

	_, err = connect(identity, name)
	require.ErrorAs(t, err, new(x509.UnknownAuthorityError))
	_, err = connect(trusted, identity)
	require.ErrorAs(t, err, new(x509.HostnameError))
	_, err = connect(trusted, name)
	require.Error(t, err)
	_, err = connect([]string{"-ca", write("empty.pem", "NONE", nil)})
	require.ErrorContains(t, err, "empty.pem: no certificate")
	_, err = connect([]string{"-cert", filepath.Join(folder, "missing.pem")})
	require.ErrorContains(t, err, "missing.pem")
}
