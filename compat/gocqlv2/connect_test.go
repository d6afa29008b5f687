// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/lz4"
	"github.com/apache/cassandra-gocql-driver/v2/snappy"
)

// Connections: dialers, TLS, authentication, compression, protocol versions.

func TestAllowedAuthenticators(t *testing.T) {
	cluster, cfg := start(t, 1)
	cluster.SetUsers(map[string]string{"ann": "secret"})
	cfg.Authenticator = gocql.PasswordAuthenticator{Username: "ann", Password: "secret", AllowedAuthenticators: []string{"other"}}
	_, err := cfg.CreateSession()
	require.Error(t, err)
}

func TestCompressors(t *testing.T) {
	for _, c := range []struct {
		compressor gocql.Compressor
		version    int
	}{
		{lz4.LZ4Compressor{}, 5},
		{&lz4.LZ4Compressor{}, 4},
		{snappy.SnappyCompressor{}, 4},
		{&snappy.SnappyCompressor{}, 3},
	} {
		cluster, cfg := start(t, 1)
		cfg.Compressor, cfg.ProtoVersion = c.compressor, c.version
		s := connect(t, cfg)
		require.NoError(t, s.Query(insert, 1).Exec())
		for _, conn := range cluster.Node(0).Conns() {
			if !conn.Ready {
				continue
			}
			require.Equal(t, c.compressor.Name(), conn.Compression)
			require.EqualValues(t, max(c.version, 4), conn.Version)
		}
	}
}

// The options of protocol v5 have no effect on v4.
func TestOptionsOfProtocolV5(t *testing.T) {
	cluster, cfg := start(t, 1)
	require.NoError(t, cluster.Exec("CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"))
	require.NoError(t, cluster.Exec("CREATE TABLE other.items (id int PRIMARY KEY)"))
	for _, version := range []int{4, 5} {
		cfg.ProtoVersion = version
		s := connect(t, cfg)
		require.NoError(t, s.Query(insert, version).SetKeyspace("other").WithNowInSeconds(1).Exec())
		require.NoError(t, s.Batch(gocql.LoggedBatch).SetKeyspace("other").WithNowInSeconds(1).Query(insert, 10+version).Exec())
	}
	s := connect(t, cfg)
	var n int
	require.NoError(t, s.Query("SELECT count(*) FROM other.items").Scan(&n))
	require.Equal(t, 2, n)
	require.NoError(t, s.Query("SELECT count(*) FROM shop.items").Scan(&n))
	require.Equal(t, 2, n)
}
