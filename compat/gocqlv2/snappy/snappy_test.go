// SPDX-License-Identifier: Apache-2.0

package snappy_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/snappy"
)

func TestRoundTrip(t *testing.T) {
	var c gocql.Compressor = snappy.SnappyCompressor{}
	require.Equal(t, "snappy", c.Name())
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

func TestNoSegments(t *testing.T) {
	c := snappy.SnappyCompressor{}
	require.Panics(t, func() { _, _ = c.AppendCompressed(nil, nil) })
	require.Panics(t, func() { _, _ = c.AppendDecompressed(nil, nil, 1) })
}
