// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

func TestTLSOptions(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	ca := write("ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	bad := write("bad.pem", []byte("no certificate"))

	for _, row := range []struct {
		options    TLSOptions
		unverified bool
	}{
		{TLSOptions{}, false},
		{TLSOptions{EnableHostVerification: true}, false},
		{TLSOptions{Config: &tls.Config{}}, false},
		{TLSOptions{Config: &tls.Config{InsecureSkipVerify: true}}, true},
		{TLSOptions{Config: &tls.Config{InsecureSkipVerify: true}, EnableHostVerification: true}, false},
	} {
		config, err := row.options.TLSConfig()
		require.NoError(t, err)
		require.Equal(t, row.unverified, config.InsecureSkipVerify)
		_, err = tls.Dial("tcp", server.Listener.Addr().String(), config)
		require.Equal(t, row.unverified, err == nil, "%v", err)
		row.options.CaPath = ca
		config, err = row.options.TLSConfig()
		require.NoError(t, err)
		conn, err := tls.Dial("tcp", server.Listener.Addr().String(), config)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	}
	mine := &tls.Config{InsecureSkipVerify: true, ServerName: "kept"}
	config, err := TLSOptions{Config: mine, EnableHostVerification: true, CaPath: ca}.TLSConfig()
	require.NoError(t, err)
	require.Equal(t, "kept", config.ServerName)
	require.True(t, mine.InsecureSkipVerify, "unchanged")
	require.Nil(t, mine.RootCAs)

	secret, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	require.NoError(t, err)
	key := write("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	mine.Certificates = make([]tls.Certificate, 1, 2)
	config, err = TLSOptions{Config: mine, CertPath: ca, KeyPath: key}.TLSConfig()
	require.NoError(t, err)
	require.Len(t, config.Certificates, 2)
	require.Equal(t, [][]byte{server.Certificate().Raw}, config.Certificates[1].Certificate)
	require.Empty(t, mine.Certificates[:2][1].Certificate, "unchanged")
	mine.RootCAs = x509.NewCertPool()
	config, err = TLSOptions{Config: mine, CaPath: ca}.TLSConfig()
	require.NoError(t, err)
	require.False(t, config.RootCAs.Equal(mine.RootCAs))
	require.True(t, mine.RootCAs.Equal(x509.NewCertPool()), "unchanged")

	_, err = TLSOptions{CaPath: dir + "/none"}.TLSConfig()
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, options := range []TLSOptions{{CaPath: bad}, {CaPath: dir + "/none"}, {CertPath: bad, KeyPath: bad}, {KeyPath: bad}, {CertPath: ca}} {
		_, err := options.TLSConfig()
		require.Error(t, err)
	}
}

func TestLogger(t *testing.T) {
	var lines []string
	log := Logger(slog.LevelInfo, func(level slog.Level, message string, attrs []slog.Attr) {
		lines = append(lines, level.String()+" "+LogText(message, attrs))
	})
	log.Debug("hidden")
	log.Info("one", "a", 1)
	log.With("b", 2).WithGroup("g").With("c", 3).WithGroup("").Warn("two", "d", slog.GroupValue(slog.Int("e", 4)), slog.Attr{})
	require.Equal(t, []string{"INFO one a=1", "WARN two b=2 g.c=3 g.d.e=4"}, lines)
}

// version has a value that is only asked for when it is logged.
type version struct{ major, minor int }

func (v version) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("major", v.major), slog.Int("minor", v.minor))
}

// TestLoggersOfOneLoggerAreIndependent: the attributes of one are not the attributes of another.
func TestLoggersOfOneLoggerAreIndependent(t *testing.T) {
	var line string
	log := Logger(slog.LevelInfo, func(_ slog.Level, message string, attrs []slog.Attr) { line = LogText(message, attrs) })
	parent := log.With("a", 1, "b", 2, "c", 3)
	one, two := parent.With("one", 1), parent.With("two", 2)
	one.Info("m", "d", 4)
	require.Equal(t, "m a=1 b=2 c=3 one=1 d=4", line)
	two.Info("m")
	require.Equal(t, "m a=1 b=2 c=3 two=2", line)
	parent.Info("m", "v", version{4, 1})
	require.Equal(t, "m a=1 b=2 c=3 v.major=4 v.minor=1", line)
	require.True(t, log.Handler().WithGroup("") == log.Handler())
	log.Info("m", slog.Group("", slog.Int("inline", 1)))
	require.Equal(t, "m inline=1", line)
}

// failing is a compressor whose decompression fails after it has written some bytes.
type failing struct{ xor }

func (f failing) Decode([]byte) ([]byte, error) { return []byte("too long"), errors.New("corrupt") }

func (f failing) AppendDecompressedWithLength(dst, _ []byte) ([]byte, error) {
	return append(dst, "too long"...), errors.New("corrupt")
}

func TestErrorOfACompressorIsReturned(t *testing.T) {
	for _, c := range []cql.Compressor{AdaptBlockCompressor(failing{xor{"other"}}), AdaptAppendCompressor(failing{xor{"other"}})} {
		_, err := c.AppendDecompressedWithLength(nil, []byte("a"), 1)
		require.EqualError(t, err, "corrupt")
		_, err = c.AppendDecompressedWithLength([]byte("before"), []byte("a"), 8)
		require.EqualError(t, err, "corrupt")
	}
}

// xor is a compressor of both APIs that changes each byte.
type xor struct{ name string }

func (x xor) Name() string { return x.name }
func (x xor) Encode(data []byte) ([]byte, error) {
	return bytes.Map(func(r rune) rune { return r ^ 1 }, data), nil
}
func (x xor) Decode(data []byte) ([]byte, error)                         { return x.Encode(data) }
func (x xor) AppendCompressedWithLength(dst, src []byte) ([]byte, error) { return x.append(dst, src) }

func (x xor) AppendDecompressedWithLength(dst, src []byte) ([]byte, error) { return x.append(dst, src) }

func (x xor) AppendCompressed(dst, src []byte) ([]byte, error) { return x.append(dst, src) }

func (x xor) AppendDecompressed(dst, src []byte, _ uint32) ([]byte, error) { return x.append(dst, src) }

func (x xor) append(dst, src []byte) ([]byte, error) {
	out, err := x.Encode(src)
	return append(dst, out...), err
}

func TestCompressors(t *testing.T) {
	require.Equal(t, vecql.LZ4Compressor{}, AdaptBlockCompressor(xor{"lz4"}))
	require.Equal(t, vecql.SnappyCompressor{}, AdaptAppendCompressor(xor{"snappy"}))
	for _, c := range []cql.Compressor{AdaptBlockCompressor(xor{"other"}), AdaptAppendCompressor(xor{"other"})} {
		require.Equal(t, "other", c.Name())
		out, err := c.AppendCompressedWithLength([]byte(">"), []byte("ab"))
		require.NoError(t, err)
		require.Equal(t, ">`c", string(out))
		out, err = c.AppendDecompressedWithLength([]byte(">"), []byte("ab"), 2)
		require.NoError(t, err)
		require.Equal(t, ">`c", string(out))
		_, err = c.AppendDecompressedWithLength([]byte(">"), []byte("ab"), 1)
		require.Error(t, err)
	}
	block, whole := AdaptBlockCompressor(xor{"other"}), AdaptAppendCompressor(xor{"other"})
	_, err := block.AppendCompressed(nil, []byte("a"))
	require.Error(t, err)
	_, err = block.AppendDecompressed(nil, []byte("a"), 1)
	require.Error(t, err)
	out, err := whole.AppendDecompressed(nil, []byte("a"), 1)
	require.NoError(t, err)
	require.Equal(t, "`", string(out))
	out, err = whole.AppendCompressed(nil, []byte("a"))
	require.NoError(t, err)
	require.Equal(t, "`", string(out))
}
