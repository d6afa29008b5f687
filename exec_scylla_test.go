// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// This file tests requests in the words of ScyllaDB's extensions, also in clusters whose nodes differ.

// scyllaCluster is a cluster of v4 nodes without shards; has tells which extensions the node at an address has.
func scyllaCluster(t *testing.T, n int, has func(ip string) map[string][]string) *fakeCluster {
	return newFakeCluster(t, protoV4, n, func(n *fakeNode) {
		n.server.supported = func(*fakePeer) map[string][]string { return has(n.ip) }
	})
}

// onlyKeys returns what a ScyllaDB node lists, of these keys.
func onlyKeys(keys ...string) map[string][]string {
	m := map[string][]string{}
	for _, k := range keys {
		m[k] = scyllaSupported()[k]
	}
	return m
}

func TestMetadataIDOnV4(t *testing.T) {
	c := scyllaCluster(t, 1, func(string) map[string][]string { return onlyKeys(keyMetadataID) })
	text, number := NativeType(TypeVarchar), NativeType(TypeInt)
	c.prepare("SELECT v", preparedSpec{result: []ColumnInfo{col("v", number)}, resultID: "one"})
	c.prepare("INSERT", preparedSpec{bind: []ColumnInfo{col("v", number)}, resultID: "none"})
	c.prepare("SELECT roles", preparedSpec{resultID: "empty"})
	var mu sync.Mutex
	var asked []string
	changed := false
	c.on(func(r *fakeRequest) bool {
		mu.Lock()
		defer mu.Unlock()
		if r.op != opExecute {
			return false
		}
		asked = append(asked, fmt.Sprintf("%s %s %v", r.stmt, r.metadataID, r.skipMetadata))
		switch {
		case r.stmt == "SELECT roles":
			r.rows(fakeResult{columns: []ColumnInfo{col("role", text)}, cells: [][]byte{[]byte("admin")}})
		case r.stmt != "SELECT v":
			return false
		case !changed:
			r.rows(fakeResult{columns: []ColumnInfo{col("v", number)}, cells: [][]byte{{0, 0, 0, 7}}})
		default:
			res := fakeResult{columns: []ColumnInfo{col("v", text)}, cells: [][]byte{[]byte("seven")}}
			if r.metadataID != "two" {
				res.newID = "two"
			}
			r.rows(res)
		}
		return true
	})
	s := c.session()
	for range 2 {
		var v int
		require.NoError(t, s.Query("SELECT v").Scan(&v))
		require.Equal(t, 7, v)
	}
	mu.Lock()
	changed = true
	mu.Unlock()
	for range 2 {
		var v string
		require.NoError(t, s.Query("SELECT v").Scan(&v))
		require.Equal(t, "seven", v)
	}
	require.NoError(t, s.Query("INSERT", 1).Exec())
	var role string
	require.NoError(t, s.Query("SELECT roles").Scan(&role))
	require.Equal(t, "admin", role)
	require.Equal(t, []string{
		"SELECT v one true", "SELECT v one true", "SELECT v one true", "SELECT v two true", "INSERT none false", "SELECT roles empty false",
	}, asked, "without columns in the prepared result the id does not tell of a change")
}

// TestMetadataIDInMixedCluster upgrades one of two nodes: every request must fit the node that it goes to, whatever it was written for.
func TestMetadataIDInMixedCluster(t *testing.T) {
	for _, newer := range []string{"127.0.0.1", "127.0.0.2"} {
		for _, hint := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s has it, written for it %v", newer, hint), func(t *testing.T) {
				c := scyllaCluster(t, 2, func(ip string) map[string][]string {
					if ip == newer {
						return onlyKeys(keyMetadataID)
					}
					return nil
				})
				number := NativeType(TypeInt)
				c.prepare("SELECT v", preparedSpec{bind: []ColumnInfo{col("k", number)}, result: []ColumnInfo{col("v", number)}, resultID: "one"})
				var mu sync.Mutex
				var faults []string
				served := map[string]int{}
				c.on(func(r *fakeRequest) bool {
					if r.op != opExecute {
						return false
					}
					mu.Lock()
					defer mu.Unlock()
					has := r.node.ip == newer
					served[r.node.ip]++
					if r.skipMetadata && !has || len(r.rest) > 0 || r.stmt != "SELECT v" || r.metadataID != "" && r.metadataID != "one" {
						faults = append(faults, fmt.Sprintf("%s: %+v", r.node.ip, r))
					}
					res := fakeResult{columns: []ColumnInfo{col("v", number)}, cells: [][]byte{{0, 0, 0, 7}}}
					if has && r.metadataID != "one" {
						res.newID = "one"
					}
					r.rows(res)
					return true
				})
				s := c.session()
				for i := range 40 {
					s.metadataIDs.Store(hint != (i%5 == 0)) // it changes with each connection that is opened
					var v int
					require.NoError(t, s.Query("SELECT v", 1).CustomPayload(map[string][]byte{"a": []byte("b")}).Scan(&v))
					require.Equal(t, 7, v)
				}
				require.Empty(t, faults)
				require.Len(t, served, 2)
			})
		}
	}
}

func TestTabletsV2EndsExecute(t *testing.T) {
	for _, want := range []bool{false, true} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			c := scyllaCluster(t, 1, func(string) map[string][]string { return onlyKeys(keyTabletsV1, keyTabletsV2) })
			var rest []byte
			c.on(func(r *fakeRequest) bool {
				if r.op == opExecute {
					rest = bytes.Clone(r.rest)
				}
				return false
			})
			s := c.session(func(cfg *ClusterConfig) { cfg.ExperimentalTabletsRoutingV2 = want })
			require.NoError(t, s.Query("INSERT").Exec())
			require.Equal(t, want, len(rest) == 1, "%x", rest)
		})
	}
}

func TestStatementLWT(t *testing.T) {
	for _, m := range []struct {
		name  string
		keys  []string
		flags int32
		want  bool
	}{
		{"marked", []string{keyLWTMark}, -0x80000000, true},
		{"not marked", []string{keyLWTMark}, 0, false},
		{"not told", nil, -0x80000000, false},
	} {
		t.Run(m.name, func(t *testing.T) {
			c := scyllaCluster(t, 1, func(string) map[string][]string { return onlyKeys(m.keys...) })
			c.prepare("UPDATE", preparedSpec{flags: m.flags, bind: []ColumnInfo{col("k", NativeType(TypeInt))}})
			s := c.session()
			require.NoError(t, s.Query("UPDATE", 1).Exec())
			stmt := s.statements.known(statementKey{text: "UPDATE"})
			require.NotNil(t, stmt)
			require.Equal(t, m.want, stmt.lwt)
		})
	}
}

func TestRateLimitError(t *testing.T) {
	for _, negotiated := range []bool{true, false} {
		t.Run(fmt.Sprint(negotiated), func(t *testing.T) {
			c := scyllaCluster(t, 1, func(string) map[string][]string {
				if negotiated {
					return onlyKeys(keyRateLimitError)
				}
				return nil
			})
			c.on(func(r *fakeRequest) bool {
				if r.op == opExecute {
					r.fail(17185, 1, 1)
				}
				return r.op == opExecute
			})
			s := c.session()
			err := s.Query("INSERT").Exec()
			var limit *RequestErrRateLimitReached
			require.Equal(t, negotiated, errors.As(err, &limit), "%v", err)
			if negotiated {
				require.True(t, limit.RejectedByCoordinator)
				require.EqualValues(t, 1, limit.OpType)
			}
			require.ErrorIs(t, err, Code(17185))
		})
	}
}

func TestTranslateExecute(t *testing.T) {
	params := &queryParams{consistency: Quorum, skipMetadata: true, pageSize: 100, hasTimestamp: true, timestamp: 5}
	with, err := appendExecute(nil, protoV4, []byte("id"), []byte("meta"), params)
	require.NoError(t, err)
	empty, err := appendExecute(nil, protoV4, []byte("id"), []byte{}, params)
	require.NoError(t, err)
	params.skipMetadata = false
	without, err := appendExecute(nil, protoV4, []byte("id"), nil, params)
	require.NoError(t, err)
	got, err := translateExecute([]byte("x"), with, true, false)
	require.NoError(t, err)
	require.Equal(t, append([]byte("x"), without...), got)
	got, err = translateExecute(nil, empty, true, false)
	require.NoError(t, err)
	require.Equal(t, without, got)
	got, err = translateExecute(nil, without, false, true)
	require.NoError(t, err)
	r := wire.NewReader(got)
	require.Equal(t, "id", string(r.ShortBytes()))
	require.Empty(t, r.ShortBytes())
	require.Equal(t, without[4:], r.Rest())
	for n := range 4 + 6 + 2 { // up to the flags
		_, err := translateExecute(nil, with[:n], true, false)
		require.Error(t, err, "%d bytes", n)
	}
}
