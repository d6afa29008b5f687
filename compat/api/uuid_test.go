// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

func TestUUIDHasSixteenBytes(t *testing.T) {
	want := cql.UUID{0xb4, 0xf0, 0, 0x40, 0x9c, 0xe5, 0x11, 0xe0, 0xb5, 0x44, 0, 0x16, 0xce, 0xd2, 0xb0, 0x46}
	u, err := UUIDFromBytes(want[:])
	require.NoError(t, err)
	require.Equal(t, want, u)
	for _, bytes := range [][]byte{nil, want[:15], append(want[:], 0)} {
		u, err := UUIDFromBytes(bytes)
		require.EqualError(t, err, "UUIDs must be exactly 16 bytes long")
		require.Zero(t, u)
	}
}

func TestUUIDTextHasDashesBetweenBytesOnly(t *testing.T) {
	want := cql.UUID{0xb4, 0xf0, 0, 0x40, 0x9c, 0xe5, 0x11, 0xe0, 0xb5, 0x44, 0, 0x16, 0xce, 0xd2, 0xb0, 0x46}
	for _, text := range []string{
		"b4f000409ce511e0b5440016ced2b046", "b4f00040-9ce5-11e0-b544-0016ced2b046", "-B4F00040-9CE511E0B5440016CE-D2B046-",
		"b4-f0-00-40-9c-e5-11-e0-b5-44-00-16-ce-d2-b0-46",
	} {
		u, err := ParseUUID(text)
		require.NoError(t, err)
		require.Equal(t, want, u)
	}
	for _, text := range []string{
		"", "-", "b4f000409ce511e0b5440016ced2b0", "b4f000409ce511e0b5440016ced2b046b4", "b-4f000409ce511e0b5440016ced2b046",
		"b4f000409-ce511e0b5440016ced2b046", "x4f000409ce511e0b5440016ced2b046", "b4f000409ce511e0b5440016ced2b04x",
	} {
		u, err := ParseUUID(text)
		require.ErrorContains(t, err, "invalid UUID", text)
		require.Zero(t, u, text)
	}
}
