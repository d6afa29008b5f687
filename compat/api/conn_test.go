// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConnOfAProgramIsClosed: no function returns one that can be used.
func TestConnOfAProgramIsClosed(t *testing.T) {
	c := &Conn[int]{}
	require.True(t, c.Closed())
	require.Empty(t, c.Address())
	require.Zero(t, c.AvailableStreams())
	require.Nil(t, c.Pick(nil))
	n, err := c.Read(make([]byte, 1))
	require.Zero(t, n)
	require.ErrorIs(t, err, errNoConn)
	n, err = c.Write(make([]byte, 1))
	require.Zero(t, n)
	require.ErrorIs(t, err, errNoConn)
	require.ErrorIs(t, c.UseKeyspace("shop"), errNoConn)
	c.Close()
}

func TestNamesInFrameHeaders(t *testing.T) {
	require.Equal(t, "[version=4 direction=REQ]", ProtoVersion(4).String())
	require.Equal(t, "[version=5 direction=RESP]", ProtoVersion(0x85).String())
	for op, want := range map[FrameOp]string{
		0: "ERROR", 4: "UNKNOWN_OP_4", 8: "RESULT", 0x10: "AUTH_SUCCESS", 0x11: "UNKNOWN_OP_17", 0xff: "UNKNOWN_OP_255",
	} {
		require.Equal(t, want, op.String())
	}
	require.Equal(t, "[observed header version=[version=4 direction=RESP] flags=0xb stream=7 op=RESULT length=9]",
		ObservedFrameHeader[int]{Version: 0x84, Flags: 11, Stream: 7, Opcode: 8, Length: 9}.String())
}

func TestSnappyCompressorOfTheAPI(t *testing.T) {
	var s SnappyCompressor
	require.Equal(t, "snappy", s.Name())
	text := make([]byte, 5000)
	packed, err := s.Encode(text)
	require.NoError(t, err)
	require.Less(t, len(packed), len(text))
	back, err := s.Decode(packed)
	require.NoError(t, err)
	require.Equal(t, text, back)
	_, err = s.Decode(binary.AppendUvarint(nil, maxBody+1))
	require.ErrorContains(t, err, "limit")
}
