// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/flight"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
)

// The encoding of requests with ScyllaDB's extensions, also in clusters of different nodes.

// scyllaCluster returns a cluster of v4 nodes without shards. has returns the extensions of the node at an address.
func scyllaCluster(t *testing.T, n int, has func(ip string) map[string][]string) *fakecql.Cluster {
	return newFakeCluster(t, frame.V4, n, func(n *fakecql.Node) {
		n.Server.Supported = func(*fakecql.Conn) map[string][]string { return has(n.IP) }
	})
}

// onlyKeys returns the entries of these keys from the options of a ScyllaDB node.
func onlyKeys(keys ...string) map[string][]string {
	m := map[string][]string{}
	for _, k := range keys {
		m[k] = fakecql.ScyllaSupported()[k]
	}
	return m
}

func TestMetadataIDOnV4(t *testing.T) {
	c := scyllaCluster(t, 1, func(string) map[string][]string { return onlyKeys(conn.KeyMetadataID) })
	c.Prepare("SELECT v", fakecql.Prepared{Result: fakecql.Columns("v int"), ResultID: "one"})
	c.Prepare("INSERT", fakecql.Prepared{Bind: fakecql.Columns("v int"), ResultID: "none"})
	c.Prepare("SELECT roles", fakecql.Prepared{ResultID: "empty"})
	var mu sync.Mutex
	var asked []string
	changed := false
	c.On(func(r *fakecql.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if r.Op != fakecql.OpExecute {
			return false
		}
		asked = append(asked, fmt.Sprintf("%s %s %v", r.Stmt, r.MetadataID, r.SkipMetadata))
		switch {
		case r.Stmt == "SELECT roles":
			r.Rows(fakecql.Rows{Columns: fakecql.Columns("role text"), Cells: [][]byte{[]byte("admin")}})
		case r.Stmt != "SELECT v":
			return false
		case !changed:
			r.Rows(fakecql.Rows{Columns: fakecql.Columns("v int"), Cells: [][]byte{{0, 0, 0, 7}}})
		default:
			res := fakecql.Rows{Columns: fakecql.Columns("v text"), Cells: [][]byte{[]byte("seven")}}
			if r.MetadataID != "two" {
				res.NewID = "two"
			}
			r.Rows(res)
		}
		return true
	})
	s := sessionOn(c)
	for range 2 {
		var v int
		require.NoError(t, s.Query("SELECT v").Scan(t.Context(), &v))
		require.Equal(t, 7, v)
	}
	mu.Lock()
	changed = true
	mu.Unlock()
	for range 2 {
		var v string
		require.NoError(t, s.Query("SELECT v").Scan(t.Context(), &v))
		require.Equal(t, "seven", v)
	}
	require.NoError(t, s.Query("INSERT", 1).Exec(t.Context()))
	var role string
	require.NoError(t, s.Query("SELECT roles").Scan(t.Context(), &role))
	require.Equal(t, "admin", role)
	require.Equal(t, []string{
		"SELECT v one true", "SELECT v one true", "SELECT v one true", "SELECT v two true", "INSERT none false", "SELECT roles empty false",
	}, asked, "the id of a prepared result without columns does not reveal a change")
}

// TestMetadataIDOnV5 requires that an EXECUTE has the id of the metadata that the session knows.
func TestMetadataIDOnV5(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		ints := fakecql.Columns("v int")
		c.Prepare("SELECT v", fakecql.Prepared{Result: ints, ResultID: "one"})
		var ids []string
		c.Answer(func(r *fakecql.Request, nth int) {
			ids = append(ids, r.MetadataID)
			rows := fakecql.Rows{Columns: ints, Cells: [][]byte{{0, 0, 0, 7}}}
			if nth == 1 {
				rows.NewID = "two"
			}
			r.Rows(rows)
		})
		s := sessionOn(c)
		for range 3 {
			var v int
			require.NoError(t, s.Query("SELECT v").Scan(t.Context(), &v))
			require.Equal(t, 7, v)
		}
		require.Equal(t, []string{"one", "one", "two"}, ids)
	})
}

// TestMetadataIDInMixedCluster upgrades one of two nodes: every request must have the encoding of the node that
// receives it.
func TestMetadataIDInMixedCluster(t *testing.T) {
	for _, newer := range []string{"127.0.0.1", "127.0.0.2"} {
		for _, hint := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s has it, written for it %v", newer, hint), func(t *testing.T) {
				c := scyllaCluster(t, 2, func(ip string) map[string][]string {
					if ip == newer {
						return onlyKeys(conn.KeyMetadataID)
					}
					return nil
				})
				c.Prepare("SELECT v", fakecql.Prepared{Bind: fakecql.Columns("k int"), Result: fakecql.Columns("v int"), ResultID: "one"})
				var mu sync.Mutex
				var faults []string
				served := map[string]int{}
				c.On(func(r *fakecql.Request) bool {
					if r.Op != fakecql.OpExecute {
						return false
					}
					mu.Lock()
					defer mu.Unlock()
					has := r.Node.IP == newer
					served[r.Node.IP]++
					if r.SkipMetadata && !has || len(r.Rest) > 0 || r.Stmt != "SELECT v" || r.MetadataID != "" && r.MetadataID != "one" {
						faults = append(faults, fmt.Sprintf("%s: %+v", r.Node.IP, r))
					}
					res := fakecql.Rows{Columns: fakecql.Columns("v int"), Cells: [][]byte{{0, 0, 0, 7}}}
					if has && r.MetadataID != "one" {
						res.NewID = "one"
					}
					r.Rows(res)
					return true
				})
				s := sessionOn(c)
				for i := range 40 {
					s.metadataIDs.Store(hint != (i%5 == 0)) // as when connections to either node are opened
					var v int
					require.NoError(t, s.Query("SELECT v", 1).CustomPayload(map[string][]byte{"a": []byte("b")}).Scan(t.Context(), &v))
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
			c := scyllaCluster(t, 1, func(string) map[string][]string { return onlyKeys(conn.KeyTabletsV1, conn.KeyTabletsV2) })
			var rest []byte
			c.On(func(r *fakecql.Request) bool {
				if r.Op == fakecql.OpExecute {
					rest = bytes.Clone(r.Rest)
				}
				return false
			})
			s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Protocol.ExperimentalTabletsRoutingV2 = want })
			require.NoError(t, s.Query("INSERT").Exec(t.Context()))
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
		{"marked", []string{conn.KeyLWTMark}, -0x80000000, true},
		{"not marked", []string{conn.KeyLWTMark}, 0, false},
		{"no mask", nil, -0x80000000, false},
	} {
		t.Run(m.name, func(t *testing.T) {
			c := scyllaCluster(t, 1, func(string) map[string][]string { return onlyKeys(m.keys...) })
			c.Prepare("UPDATE", fakecql.Prepared{Flags: m.flags, Bind: fakecql.Columns("k int")})
			s := sessionOn(c)
			require.NoError(t, s.Query("UPDATE", 1).Exec(t.Context()))
			stmt := s.statements.Known(flight.Key{Text: "UPDATE"})
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
					return onlyKeys(conn.KeyRateLimitError)
				}
				return nil
			})
			c.On(func(r *fakecql.Request) bool {
				if r.Op == fakecql.OpExecute {
					r.Fail(int32(17185), 1, 1)
				}
				return r.Op == fakecql.OpExecute
			})
			s := sessionOn(c)
			err := s.Query("INSERT").Exec(t.Context())
			var limit *cql.RateLimitError
			require.Equal(t, negotiated, errors.As(err, &limit), "%v", err)
			if negotiated {
				require.True(t, limit.RejectedByCoordinator)
				require.EqualValues(t, 1, limit.OpType)
			}
			require.ErrorIs(t, err, cql.Code(17185))
		})
	}
}

func TestTranslateExecute(t *testing.T) {
	params := &frame.QueryParams{Consistency: cql.Quorum, SkipMetadata: true, PageSize: 100, HasTimestamp: true, Timestamp: 5}
	with, err := frame.AppendExecute(nil, frame.V4, []byte("id"), []byte("meta"), params)
	require.NoError(t, err)
	empty, err := frame.AppendExecute(nil, frame.V4, []byte("id"), []byte{}, params)
	require.NoError(t, err)
	params.SkipMetadata = false
	without, err := frame.AppendExecute(nil, frame.V4, []byte("id"), nil, params)
	require.NoError(t, err)
	got, err := frame.TranslateExecute([]byte("x"), with, true, false)
	require.NoError(t, err)
	require.Equal(t, append([]byte("x"), without...), got)
	got, err = frame.TranslateExecute(nil, empty, true, false)
	require.NoError(t, err)
	require.Equal(t, without, got)
	got, err = frame.TranslateExecute(nil, without, false, true)
	require.NoError(t, err)
	r := wire.NewReader(got)
	require.Equal(t, "id", string(r.ShortBytes()))
	require.Empty(t, r.ShortBytes())
	require.Equal(t, without[4:], r.Rest())
	for n := range 4 + 6 + 2 { // up to the flags
		_, err := frame.TranslateExecute(nil, with[:n], true, false)
		require.Error(t, err, "%d bytes", n)
	}
}
