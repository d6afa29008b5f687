// SPDX-License-Identifier: Apache-2.0

package fakehttp

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// A client sends requests to the handler of a cluster, which has the table shop.items.
type client struct {
	t       *testing.T
	url     string
	cluster *cqltest.Cluster
	session *vecql.Session
}

func newClient(t *testing.T, cfg cqltest.Config) *client {
	log := &Log{}
	cfg.OnRequest = log.Record
	cluster := cqltest.New(t, cfg)
	require.NoError(t, cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
		CREATE TABLE shop.items (id int PRIMARY KEY, name text)`))
	config := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
	config.Logger = slog.New(slog.DiscardHandler)
	session, err := vecql.NewSession(t.Context(), *config)
	require.NoError(t, err)
	t.Cleanup(session.Close)
	server := httptest.NewServer(New(cluster, session, log))
	t.Cleanup(server.Close)
	return &client{t, server.URL, cluster, session}
}

// do sends a request and returns status and body of the answer.
func (c *client) do(method, path, body string) (status int, answer string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	require.NoError(c.t, err)
	answered, err := http.DefaultClient.Do(r)
	require.NoError(c.t, err)
	defer func() { _ = answered.Body.Close() }()
	text, err := io.ReadAll(answered.Body)
	require.NoError(c.t, err)
	return answered.StatusCode, strings.TrimSpace(string(text))
}

// ok sends a request that succeeds.
func (c *client) ok(method, path, body string) string {
	c.t.Helper()
	status, answer := c.do(method, path, body)
	require.Less(c.t, status, 300, answer)
	return answer
}

func (c *client) insert(id int, name string) error {
	return c.session.Query("INSERT INTO shop.items (id, name) VALUES (?, ?)", id, name).Idempotent(true).
		Exec(c.t.Context())
}

func TestNodes(t *testing.T) {
	c := newClient(t, cqltest.Config{})
	state := func() (up []bool) {
		var nodes []nodeInfo
		require.NoError(t, json.Unmarshal([]byte(c.ok("GET", "/nodes", "")), &nodes))
		for _, n := range nodes {
			up = append(up, n.Up)
		}
		return up
	}
	require.Equal(t, []bool{true, true, true}, state())
	require.Contains(t, c.ok("POST", "/nodes/1/kill", ""), `"up":false`)
	require.Equal(t, []bool{true, false, true}, state())
	c.ok("POST", "/nodes/1/restart", "")
	c.ok("POST", "/nodes/1/pause", "")
	c.ok("POST", "/nodes/1/resume", "")
	c.ok("POST", "/nodes/1/forget", "")
	c.ok("POST", "/nodes/1/disconnect", "")
	require.Contains(t, c.ok("POST", "/nodes", `{"rack": "rack2"}`), `"number":3`)
	c.ok("DELETE", "/nodes/0", "")
	require.Equal(t, []bool{true, true, true}, state())
	for path, want := range map[string]string{
		"/nodes/0/kill": "node 0: not found", "/nodes/x/kill": `node \"x\": not found`,
		"/nodes/1/burn": `action \"burn\": not found`,
	} {
		status, answer := c.do("POST", path, "")
		require.Equal(t, http.StatusNotFound, status)
		require.Equal(t, `{"error":"`+want+`"}`, answer)
	}
	c.ok("DELETE", "/nodes/1", "")
	c.ok("DELETE", "/nodes/2", "")
	status, answer := c.do("DELETE", "/nodes/3", "")
	require.Equal(t, http.StatusBadRequest, status)
	require.Equal(t, `{"error":"the only node cannot be removed"}`, answer)
}

func TestStatements(t *testing.T) {
	c := newClient(t, cqltest.Config{})
	c.ok("POST", "/cql", "INSERT INTO shop.items (id, name) VALUES (1, 'lamp'); INSERT INTO shop.items (id) VALUES (2)")
	require.JSONEq(t, `[{"id": 1, "name": "lamp"}]`, c.ok("POST", "/query", "SELECT * FROM shop.items WHERE id = 1;\n"))
	require.Equal(t, `[]`, c.ok("POST", "/query", "-- a; b\nSELECT * FROM shop.items WHERE id = 3 -- none\n; // c"))
	for _, path := range []string{"/cql", "/query"} {
		status, answer := c.do("POST", path, "SELECT * FROM shop.nothing")
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, answer, "nothing")
	}
}

func TestFaults(t *testing.T) {
	c := newClient(t, cqltest.Config{})
	require.Equal(t, `{"id":1}`, c.ok("POST", "/faults",
		`{"op": "execute", "values": {"name": "'lamp'"}, "error": {"code": "invalid", "message": "full"}, "delay": "1ms"}`))
	require.Equal(t, `{"id":2}`, c.ok("POST", "/faults", `{"statement": "INSERT INTO shop.items", "observe": true}`))
	require.NoError(t, c.insert(1, "table"))
	require.ErrorIs(t, c.insert(2, "lamp"), cql.CodeInvalid)
	require.JSONEq(t, `{"id": 1, "hits": 1, "fault": {"op": "execute", "values": {"name": "'lamp'"},
		"error": {"code": 8704, "message": "full"}, "delay": "1ms"}}`, c.ok("GET", "/faults/1?hits=1&wait=1m", ""))
	require.Contains(t, c.ok("GET", "/faults", ""), `"id":2,"hits":`)
	c.ok("DELETE", "/faults/1", "")
	require.NoError(t, c.insert(2, "lamp"))
	status, answer := c.do("GET", "/faults/1", "")
	require.Equal(t, http.StatusNotFound, status, answer)
	c.ok("DELETE", "/faults", "")
	require.Equal(t, `[]`, c.ok("GET", "/faults", ""))
	// a wait that ends returns the fault as it is
	require.Equal(t, `{"id":3}`, c.ok("POST", "/connection-faults", `{"node": 0, "refuse": true}`))
	require.Contains(t, c.ok("GET", "/faults/3?hits=9&wait=1ms", ""), `"hits":0`)
	c.ok("DELETE", "/faults", "")
	c.ok("POST", "/faults", `{"op": "execute", "statement": "INSERT", "skip": 1, "times": 1, "error": {"code": "invalid"}}`)
	require.NoError(t, c.insert(3, "skipped"))
	require.ErrorIs(t, c.insert(4, "met"), cql.CodeInvalid)
	require.NoError(t, c.insert(5, "after all times"))
}

func TestBadFaults(t *testing.T) {
	c := newClient(t, cqltest.Config{})
	for body, want := range map[string]string{
		`{"opp": "EXECUTE"}`:           `unknown field`,
		`{"op": "RESULT"}`:             `op \"RESULT\": want one of [STARTUP`,
		`{"error": {"code": "BUSY"}}`:  `error code \"BUSY\": want a number or one of BAD_CREDENTIALS`,
		`{"error": {"code": true}}`:    `error code true: want a number or a name`,
		`{"delay": "soon"}`:            `invalid duration`,
		`{"corrupt": "everything"}`:    `corrupt \"everything\": want one of compressed_body frame_length`,
		`{"node": 7}`:                  `node 7: not found`,
		`{"error": {"code": "0x1001"}`: `unexpected EOF`,
	} {
		status, answer := c.do("POST", "/faults", body)
		require.GreaterOrEqual(t, status, 400, body)
		require.Contains(t, answer, want, body)
	}
	require.Equal(t, `{"id":1}`, c.ok("POST", "/faults", `{"error": {"code": "0x1001"}, "skip": 1000}`))
	require.Equal(t, `{"id":2}`, c.ok("POST", "/faults", `{"error": {"code": 4097}, "skip": 1000}`))
}

func TestRequests(t *testing.T) {
	c := newClient(t, cqltest.Config{})
	require.NoError(t, c.insert(7, "lamp"))
	var sent []request
	require.NoError(t, json.Unmarshal([]byte(c.ok("GET", "/requests?statement=INSERT", "")), &sent))
	at := slices.IndexFunc(sent, func(r request) bool { return r.Op == "EXECUTE" }) // among PREPAREs to other nodes
	require.Equal(t, []value{{"id", "int", "7"}, {"name", "text", "'lamp'"}}, sent[at].Values)
	require.Equal(t, `[]`, c.ok("GET", "/requests?statement=DELETE", ""))
	require.Contains(t, c.ok("GET", "/stats", ""), `"EXECUTE":`)
	c.ok("DELETE", "/requests", "")
	c.ok("DELETE", "/stats", "")
	require.NotContains(t, c.ok("GET", "/requests", ""), `"EXECUTE"`)
	require.NotContains(t, c.ok("GET", "/stats", ""), `"EXECUTE"`)
}

func TestLogKeepsTheLast(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1})
	l := &Log{}
	for i := range maxRequests + 10 {
		l.Record(cqltest.Request{Node: cluster.Node(0), Statement: "SELECT", Op: cqltest.Opcode(i % 200)})
	}
	kept := l.list("")
	require.Len(t, kept, maxRequests)
	require.Equal(t, cqltest.Opcode(10).String(), kept[0].Op)
	require.Equal(t, cqltest.Opcode((maxRequests+9)%200).String(), kept[maxRequests-1].Op)
}

func TestClockAndTablets(t *testing.T) {
	c := newClient(t, cqltest.Config{Scylla: &cqltest.Scylla{Tablets: 4}})
	c.ok("POST", "/clock", `{"step": "24h"}`)
	require.Contains(t, c.ok("POST", "/query", "SELECT toDate(now()) AS day FROM system.local"),
		time.Now().Add(24*time.Hour).UTC().Format(time.DateOnly))
	require.NoError(t, c.cluster.Exec(`
		CREATE KEYSPACE t WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1};
		CREATE TABLE t.items (id int PRIMARY KEY)`))
	before, _ := c.cluster.Tablet("t", "items", 0)
	c.ok("POST", "/tablets", `{"count": 8, "move": true}`)
	after, _ := c.cluster.Tablet("t", "items", 0)
	require.NotEqual(t, before.Last-before.First, after.Last-after.First)
	require.Contains(t, c.ok("GET", "/", ""), "POST   /nodes/0/ACTION")
}
