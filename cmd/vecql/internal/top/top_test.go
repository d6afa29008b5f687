// SPDX-License-Identifier: Apache-2.0

package top

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// TestSince requires rates of the time between two samples of each node, and none for a node that did not answer or
// that has started again.
func TestSince(t *testing.T) {
	began := time.Unix(1e9, 0)
	items := func(count int64) map[string]int64 { return map[string]int64{"shop.items": count, "shop.idle": 7} }
	before := &Sample{[]node{
		{address: "a", at: began, completed: 100, reads: items(10), writes: items(0)},
		{address: "b", at: began, completed: 100, reads: items(20), writes: items(0)},
		{address: "c", at: began, err: errors.New("closed")},
	}}
	lost := errors.New("no answer")
	now := &Sample{[]node{
		{address: "b", at: began.Add(4 * time.Second), completed: 50, reads: items(28), writes: items(8)},
		{
			address: "a", at: began.Add(2 * time.Second), completed: 400, reads: items(20),
			answer: time.Second, clients: 3, tasks: []string{"cleanup"},
		},
		{address: "c", at: began, completed: 9, reads: items(5)},
		{address: "d", err: lost},
	}}
	r := now.Since(before)
	require.Equal(t, []Node{
		{Address: "b"},
		{Address: "a", Answer: time.Second, Requests: 150, Clients: 3, Tasks: []string{"cleanup"}},
		{Address: "c"},
		{Address: "d", Err: lost},
	}, r.Nodes)
	require.Equal(t, []Table{{Name: "shop.items", Reads: 5 + 2, Writes: 2}}, r.Tables)
}

// TestTakeWithoutTables requires ErrNoTables for a server that has no such tables.
func TestTakeWithoutTables(t *testing.T) {
	cluster, err := cqltest.Start(cqltest.Config{Nodes: 2, Scylla: &cqltest.Scylla{}})
	require.NoError(t, err)
	defer cluster.Close()
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	_, err = Take(t.Context(), session)
	require.ErrorIs(t, err, ErrNoTables)
}
