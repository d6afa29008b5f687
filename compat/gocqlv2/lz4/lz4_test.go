// SPDX-License-Identifier: Apache-2.0

package lz4_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/lz4"
)

func TestRoundTrip(t *testing.T) {
	var c gocql.Compressor = lz4.LZ4Compressor{}
	require.Equal(t, "lz4", c.Name())
	src := bytes.Repeat([]byte("row "), 1000)
	packed, err := c.AppendCompressedWithLength([]byte("head"), src)
	require.NoError(t, err)
	require.Less(t, len(packed), len(src))
	back, err := c.AppendDecompressedWithLength([]byte("tail"), packed[4:])
	require.NoError(t, err)
	require.Equal(t, "tail"+string(src), string(back))
	_, err = c.AppendDecompressedWithLength(nil, []byte{1})
	require.Error(t, err)
}

func TestSegments(t *testing.T) {
	c := lz4.LZ4Compressor{}
	src := bytes.Repeat([]byte("row "), 1000)
	packed, err := c.AppendCompressed(nil, src)
	require.NoError(t, err)
	back, err := c.AppendDecompressed(nil, packed, uint32(len(src)))
	require.NoError(t, err)
	require.Equal(t, src, back)
	back, err = c.AppendDecompressed(nil, packed, 0)
	require.NoError(t, err)
	require.Nil(t, back)
	back, err = c.AppendDecompressedWithLength(nil, make([]byte, 4))
	require.NoError(t, err)
	require.Nil(t, back)
	_, err = c.AppendDecompressed(nil, packed, 1<<31)
	require.Error(t, err)
}
