// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Tests of UUID against the examples of RFC 9562, appendix A, and against the order in which servers compare time
// UUIDs.

func hexBytes(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(tb, err)
	return b
}

// rfcTime is the time of the example UUIDs of RFC 9562, appendix A.
var rfcTime = time.Date(2022, 2, 22, 19, 22, 22, 0, time.UTC)

func TestUUIDGolden(t *testing.T) {
	for _, row := range []struct {
		name, text string
		version    int
		variant    int
		clock      uint32
		node       string
		time       time.Time
	}{
		{"RFC 9562 version 1", "c232ab00-9414-11ec-b3c8-9f6bdeced846", 1, VariantIETF, 0x33C8, "9f6bdeced846", rfcTime},
		{"RFC 9562 version 4", "919108f7-52d1-4320-9bac-f847db4148a8", 4, VariantIETF, 0, "", time.Time{}},
		{"first moment", "00000000-0000-1000-8000-000000000000", 1, VariantIETF, 0, "000000000000", time.Date(1582, 10, 15, 0, 0, 0, 0, time.UTC)},
		{"nil", "00000000-0000-0000-0000-000000000000", 0, VariantNCSCompat, 0, "", time.Time{}},
		{"Microsoft", "00000000-0000-0000-c000-000000000046", 0, VariantMicrosoft, 0, "", time.Time{}},
		{"max", "ffffffff-ffff-ffff-ffff-ffffffffffff", 15, VariantFuture, 0, "", time.Time{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			u, err := ParseUUID(row.text)
			require.NoError(t, err)
			require.Equal(t, row.text, u.String())
			require.Equal(t, row.version, u.Version())
			require.Equal(t, row.variant, u.Variant())
			require.Equal(t, row.clock, u.Clock())
			require.Equal(t, row.node, hex.EncodeToString(u.Node()))
			require.Equal(t, row.time, u.Time())
			require.Equal(t, u == UUID{}, u.IsEmpty())
			again, err := UUIDFromBytes(u.Bytes())
			require.NoError(t, err)
			require.Equal(t, u, again)
			if row.version == 1 {
				require.Equal(t, u, TimeUUIDWith(u.Timestamp(), u.Clock(), u.Node()))
			}
		})
	}
}

func TestUUIDBytesIsACopy(t *testing.T) {
	u := MustRandomUUID()
	want := u
	u.Bytes()[0]++
	UUID(u).Node()
	require.Equal(t, want, u)
}

func TestParseUUID(t *testing.T) {
	want := UUID(hexBytes(t, "c232ab00941411ecb3c89f6bdeced846"))
	for _, s := range []string{"c232ab00-9414-11ec-b3c8-9f6bdeced846", "C232AB00-9414-11EC-B3C8-9F6BDECED846", "c232ab00941411ecb3c89f6bdeced846"} {
		got, err := ParseUUID(s)
		require.NoError(t, err, s)
		require.Equal(t, want, got, s)
	}
	for _, s := range []string{
		"", "c232ab00-9414-11ec-b3c8-9f6bdeced84", "c232ab00-9414-11ec-b3c8-9f6bdeced8466", "c232ab00-9414-11ec-b3c89-f6bdeced846",
		"c232ab009414-11ec-b3c8-9f6bdeced846-", "{c232ab00-9414-11ec-b3c8-9f6bdeced846}", "g232ab00-9414-11ec-b3c8-9f6bdeced846",
		"c232ab00941411ecb3c89f6bdeced84-", "c232ab00-9414-11ec-b3c8-9f6bdeced84é",
	} {
		got, err := ParseUUID(s)
		require.ErrorContains(t, err, "is not a UUID", s)
		require.Zero(t, got, s)
	}
	for _, n := range []int{0, 15, 17} {
		_, err := UUIDFromBytes(make([]byte, n))
		require.EqualError(t, err, fmt.Sprintf("vecql: %d bytes are not a UUID", n))
	}
}

func TestUUIDText(t *testing.T) {
	type doc struct {
		ID   UUID
		Keys map[UUID]*UUID
	}
	u := UUID(hexBytes(t, "c232ab00941411ecb3c89f6bdeced846"))
	in := doc{ID: u, Keys: map[UUID]*UUID{u: &u}}
	b, err := json.Marshal(in)
	require.NoError(t, err)
	const s = `"c232ab00-9414-11ec-b3c8-9f6bdeced846"`
	require.JSONEq(t, `{"ID":`+s+`,"Keys":{`+s+`:`+s+`}}`, string(b))
	var out doc
	require.NoError(t, json.Unmarshal(b, &out))
	require.Equal(t, in, out)
	require.NoError(t, json.Unmarshal([]byte(`{"ID":null}`), &out))
	require.Equal(t, u, out.ID, "null leaves the UUID unchanged")
	for _, bad := range []string{`1`, `""`, `"c232ab00"`, `[]`, `"`, ``} {
		require.ErrorContains(t, out.ID.UnmarshalJSON([]byte(bad)), "is not a UUID", bad)
		require.Equal(t, u, out.ID)
	}
}

func TestRandomUUID(t *testing.T) {
	seen := map[UUID]bool{}
	for range 1000 {
		u, err := RandomUUID()
		require.NoError(t, err)
		require.Equal(t, 4, u.Version())
		require.Equal(t, VariantIETF, u.Variant())
		require.False(t, seen[u])
		seen[u] = true
	}
}

// TestTimeUUIDConcurrent requires that all UUIDs are different, and that the UUIDs of each goroutine are ordered by
// time.
func TestTimeUUIDConcurrent(t *testing.T) {
	const goroutines, each = 8, 2000
	var mu sync.Mutex
	seen := map[int64]bool{}
	var wg sync.WaitGroup
	before := time.Now().Add(-time.Microsecond)
	for range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mine := make([]int64, each)
			for i := range mine {
				u := TimeUUID()
				if u.Version() != 1 || u.Variant() != VariantIETF {
					t.Errorf("%v is not a time UUID", u)
				}
				if mine[i] = u.Timestamp(); i > 0 && mine[i] <= mine[i-1] {
					t.Errorf("%d after %d", mine[i], mine[i-1])
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for _, ts := range mine {
				if seen[ts] {
					t.Errorf("%d twice", ts)
				}
				seen[ts] = true
			}
		}()
	}
	wg.Wait()
	last := TimeUUID().Time()
	require.True(t, last.After(before), "%v", last)
	require.Less(t, time.Until(last), time.Second)
}

func TestUUIDFromTime(t *testing.T) {
	at := rfcTime.Add(1234567 * 100 * time.Nanosecond)
	a, b := UUIDFromTime(at), UUIDFromTime(at)
	require.NotEqual(t, a, b)
	for _, u := range []UUID{a, b, MinTimeUUID(at), MaxTimeUUID(at)} {
		require.Equal(t, at, u.Time())
		require.Equal(t, 1, u.Version())
		require.Equal(t, VariantIETF, u.Variant())
		// Servers compare the time first, then the last 8 bytes as signed bytes.
		require.LessOrEqual(t, compareSigned(MinTimeUUID(at), u), 0)
		require.GreaterOrEqual(t, compareSigned(MaxTimeUUID(at), u), 0)
	}
	require.Equal(t, "c232ab00-9414-11ec-8080-808080808080", MinTimeUUID(rfcTime).String())
	require.Equal(t, "c232ab00-9414-11ec-bf7f-7f7f7f7f7f7f", MaxTimeUUID(rfcTime).String())
	require.NotZero(t, UUIDFromTime(at).Node()[0]&1, "the multicast bit of a random node")
}

// compareSigned compares the last 8 bytes as signed bytes.
func compareSigned(a, b UUID) int {
	for i := 8; i < 16; i++ {
		a[i] ^= 0x80
		b[i] ^= 0x80
	}
	return bytes.Compare(a[8:], b[8:])
}

func TestUUIDScan(t *testing.T) {
	want := MustRandomUUID()
	for _, src := range []any{want.String(), []byte(want.String()), want.Bytes()} {
		var got UUID
		require.NoError(t, got.Scan(src))
		require.Equal(t, want, got)
	}
	got := want
	require.ErrorIs(t, got.Scan(nil), ErrNull)
	require.ErrorIs(t, got.Scan(int64(1)), ErrConversion)
	require.ErrorContains(t, got.Scan([]byte("short")), "not a UUID")
	require.Equal(t, want, got, "unchanged after errors")
}
