// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnpadState removes the padding of a paging state, and refuses states that are too short for theirs.
func TestUnpadState(t *testing.T) {
	got, err := unpadState(padState([]byte("state"), 300))
	require.NoError(t, err)
	require.Equal(t, "state", string(got))
	for _, broken := range []string{"", "a", "\x00\x01", "ab\x00\x03"} {
		_, err := unpadState([]byte(broken))
		require.ErrorContains(t, err, "paging state", "%q", broken)
	}
}

// TestUnavailable: levels of the local data center count its replicas only, and EACH_QUORUM the replicas of each one.
func TestUnavailable(t *testing.T) {
	nodes := func(dcs ...string) (list []*Node) {
		for _, dc := range dcs {
			n := &Node{dc: dc}
			n.up.Store(true)
			list = append(list, n)
		}
		return list
	}
	p := &placement{total: 4, factors: map[string]int{"a": 1, "b": 3}, dcs: []string{"a", "b"}}
	for _, m := range []struct {
		level uint16
		alive []*Node
		want  bool
	}{
		{clOne, nodes("b"), true},
		{clLocalOne, nodes("b"), false},
		{clLocalOne, nodes("a"), true},
		{clLocalQuorum, nodes("b", "b", "b"), false},
		{clEachQuorum, nodes("b", "b", "b"), false},
		{clEachQuorum, nodes("a", "b"), false},
		{clEachQuorum, nodes("a", "b", "b"), true},
		{clQuorum, nodes("b", "b"), false},
		{clQuorum, nodes("b", "b", "b"), true},
		{clTwo, nodes("a"), false},
		{clAll, nodes("b", "b", "b"), false},
	} {
		require.Equal(t, m.want, p.unavailable("a", m.alive, m.level) == nil, "level %d, %d replicas", m.level, len(m.alive))
	}
}

// TestReadBody: a header alone does not make a node allocate the length that it claims.
func TestReadBody(t *testing.T) {
	body, err := readBody(strings.NewReader("body and more"), 4)
	require.NoError(t, err)
	require.Equal(t, "body", string(body))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = readBody(strings.NewReader("few"), 200<<20)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20))
}
