// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// Values that the API takes more leniently than vecql.

// Unsigned values beyond the signed maximum wrap, and read back.
func TestUnsignedValuesWrap(t *testing.T) {
	_, s := open(t)
	const hash = uint64(1<<63 + 12345)
	require.NoError(t, s.Query("INSERT INTO items (id, big) VALUES (?, ?)", 1, hash).Exec())
	var back uint64
	require.NoError(t, s.Query("SELECT big FROM items WHERE id = 1").Scan(&back))
	require.Equal(t, hash, back)
}

// A time becomes a timeuuid.
func TestTimeBecomesTimeUUID(t *testing.T) {
	_, s := open(t)
	at := time.UnixMilli(1700000000000).UTC()
	require.NoError(t, s.Query("INSERT INTO items (id, tid) VALUES (?, ?)", 1, at).Exec())
	var id gocql.UUID
	require.NoError(t, s.Query("SELECT tid FROM items WHERE id = 1").Scan(&id))
	require.True(t, at.Equal(id.Time()))
}
