// SPDX-License-Identifier: Apache-2.0

package clusteruri

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

func TestRead(t *testing.T) {
	s, err := Read("cassandra://reader:p%40s%2Fs@host1:9043,[::1]:9042,::1,host2/shop?consistency=local_one&timeout=5s" +
		"&connect_timeout=300ms&compression=lz4&protocol=4&data_center=dc1&tls=true&tls.server_name=node&tls.verify=false")
	require.NoError(t, err)
	require.Equal(t, &Settings{
		Hosts:    []string{"host1:9043", "[::1]:9042", "::1", "host2"},
		Username: "reader", Password: "p@s/s", Keyspace: "shop", DataCenter: "dc1",
		Consistency: cql.LocalOne, Timeout: 5 * time.Second, ConnectTimeout: 300 * time.Millisecond, Compression: "lz4", Protocol: 4,
		TLS: &tls.Config{ServerName: "node", InsecureSkipVerify: true},
	}, s)
	s, err = Read("scylla://u:a@b@host:65535?compression=snappy&compression=none&protocol=")
	require.NoError(t, err)
	require.Equal(t, &Settings{
		Hosts: []string{"host:65535"}, Username: "u", Password: "a@b", Consistency: cql.Quorum, Timeout: 11 * time.Second,
		ConnectTimeout: 11 * time.Second, Compression: "none",
	}, s)
}

func TestFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(file, []byte("nothing"), 0o600))
	for uri, want := range map[string]Error{
		"http://user:secret@host/":                                {"", errorText("cassandra://")},
		"cassandra:host":                                          {"", errorText("cassandra://")},
		"cassandra://user:secret%zz@host/":                        {"", errorText("cannot be parsed")},
		"cassandra://user:secret@host/?timeout=%zz":               {"", errorText("parameters of the uri cannot be parsed")},
		"cassandra://:secret@host/":                               {Username, errorText("a password without a user name")},
		"cassandra://user:secret@host/?nothing=1":                 {"nothing", errorText("no such setting")},
		"cassandra://user:secret@host/?password=x":                {"", errorText("user:password@host")},
		"cassandra://user:secret@host/?username=x":                {"", errorText("user:password@host")},
		"cassandra://user:secret@host/shop?keyspace=x":            {"", errorText("user:password@host")},
		"cassandra://user:secret@host/?timeout=0s":                {"timeout", errorText("want a time")},
		"cassandra://user:secret@host/?consistency=most":          {"consistency", errorText(`"most": `)},
		"cassandra://user:secret@host/?timeout=fast":              {"timeout", errorText("want a time")},
		"cassandra://user:secret@host/?timeout=-1s":               {"timeout", errorText("want a time")},
		"cassandra://user:secret@host/?tls=yes":                   {"tls", errorText(`"yes": want one of`)},
		"cassandra://user:secret@host/?compression=zip":           {"compression", errorText("snappy")},
		"cassandra://user:secret@/shop":                           {ContactPoints, errorText("no name")},
		"cassandra://user:secret@host1,,host2/shop":               {ContactPoints, errorText("no name")},
		"cassandra://user:secret@:9042":                           {ContactPoints, errorText("no name")},
		"cassandra://user:secret":                                 {ContactPoints, errorText("not a number")},
		"cassandra://user:secret/shop":                            {ContactPoints, errorText("not a number")},
		"cassandra://user:pass/secret@host/shop":                  {"", errorText("%2F")},
		"cassandra://user:pass?secret@host/shop":                  {"", errorText("%3F")},
		"cassandra://user:pass#secret@host/shop":                  {"", errorText("%23")},
		"cassandra://user:se@secret/secret@host/shop":             {"", errorText("%40")},
		"cassandra://host:65536":                                  {ContactPoints, errorText("not a number")},
		"cassandra://host:0":                                      {ContactPoints, errorText("not a number")},
		"cassandra://host/?tls.ca=" + file:                        {"tls", errorText("no certificate in PEM form")},
		"cassandra://host/?tls.ca=" + file + ".none":              {"tls", errorText("tls.ca: open")},
		"cassandra://host/?tls.cert=" + file:                      {"tls", errorText("tls.cert and tls.key belong together")},
		"cassandra://host/?tls.key=" + file:                       {"tls", errorText("tls.cert and tls.key belong together")},
		"cassandra://host/?tls.cert=" + file + "&tls.key=" + file: {"tls", errorText("tls.cert and tls.key: tls:")},
	} {
		_, err := Read(uri)
		var e *Error
		require.ErrorAs(t, err, &e, uri)
		require.Equal(t, want.Setting, e.Setting, uri)
		require.ErrorContains(t, err, want.Err.Error(), uri)
		require.NotContains(t, err.Error(), "secret", uri)
	}
	_, err := Read("cassandra://host/?tls.ca=" + file + ".none")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestCertificates requires the certificate of the client, the authorities of the file alone, and their verification.
func TestCertificates(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	folder := t.TempDir()
	certFile, keyFile := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	require.NoError(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	s, err := Read("cassandra://host?tls.ca=" + certFile + "&tls.cert=" + certFile + "&tls.key=" + keyFile)
	require.NoError(t, err)
	require.False(t, s.TLS.InsecureSkipVerify)
	require.Len(t, s.TLS.Certificates, 1)
	require.Equal(t, [][]byte{der}, s.TLS.Certificates[0].Certificate)
	want := x509.NewCertPool()
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	want.AddCert(certificate)
	require.True(t, want.Equal(s.TLS.RootCAs))
}

// errorText is a part of the text of an error.
type errorText string

func (e errorText) Error() string { return string(e) }

// FuzzParse checks that no URI makes the parser panic, that Format keeps what Parse returns, and that a URI which is
// read has contact points.
func FuzzParse(f *testing.F) {
	f.Add("cassandra://reader:p%40s@host1:9043,[::1]:9042/shop?consistency=local_one&timeout=5s")
	f.Add("scylla://@/?=&%")
	f.Add("cassandra://:%3A@a,b/%40%2F%3F?contact_points=%40&x=%23")
	f.Fuzz(func(t *testing.T, text string) {
		settings, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(Format(settings))
		require.NoError(t, err)
		require.Equal(t, settings, again)
		if settings["tls.ca"]+settings["tls.cert"]+settings["tls.key"] != "" {
			return
		}
		if s, err := Read(text); err == nil {
			require.NotEmpty(t, s.Hosts)
		}
	})
}
