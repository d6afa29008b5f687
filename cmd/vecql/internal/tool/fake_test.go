// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A running is a cluster of the verb fake in this process.
type running struct {
	Hosts   []string `json:"hosts"`
	Control string   `json:"control"`
}

// startFake runs fake with further arguments until the test ends, which requires the exit code 0.
func startFake(t *testing.T, args ...string) (f running) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	reader, writer := io.Pipe()
	var errOut bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		code := run(ctx, newEnv(strings.NewReader(""), writer, &errOut),
			append([]string{"fake", "--port", "0", "--control", "127.0.0.1:0", "--json"}, args...))
		_ = writer.CloseWithError(io.ErrUnexpectedEOF)
		ended <- code
	}()
	t.Cleanup(func() {
		cancel()
		require.Zero(t, <-ended, errOut.String())
	})
	require.NoError(t, json.NewDecoder(reader).Decode(&f))
	return f
}

// do sends a request to the control and returns the answer.
func (f running) do(t *testing.T, method, path, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, f.Control+path, strings.NewReader(body))
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Less(t, answer.StatusCode, 300, string(text))
	return strings.TrimSpace(string(text))
}

func TestFake(t *testing.T) {
	dir := t.TempDir()
	schema, rows := filepath.Join(dir, "schema.cql"), filepath.Join(dir, "items.csv")
	require.NoError(t, os.WriteFile(schema, []byte(shop), 0o600))
	require.NoError(t, os.WriteFile(rows, []byte("id,name\n7,lamp\n8,\n"), 0o600))
	f := startFake(t, "--file", schema, "--load", "shop.items="+rows, "--users", "ann=secret", "--nodes", "2")
	require.Len(t, f.Hosts, 2)
	x := &tester{t: t, ctx: t.Context(), env: map[string]string{
		"VECQL_HOSTS": f.Hosts[0], "VECQL_USER": "ann", "VECQL_PASSWORD": "secret",
	}}
	require.Equal(t, "4\n", x.requireRun("count", "shop.items"))
	require.JSONEq(t, `[{"name": "lamp"}]`, f.do(t, "POST", "/query", "SELECT name FROM shop.items WHERE id = 7"))
	f.do(t, "POST", "/faults", `{"statement": "shop.items", "op": "QUERY", "error": {"code": "INVALID", "message": "no"}}`)
	f.do(t, "POST", "/faults", `{"statement": "shop.items", "op": "PREPARE", "error": {"code": "INVALID", "message": "no"}}`)
	require.Equal(t, "vecql query: invalid request: no", x.requireFailure(exitFailed, "query", "SELECT * FROM shop.items"))
	require.Contains(t, f.do(t, "GET", "/requests", ""), "INSERT INTO")
	x.env["VECQL_PASSWORD"] = "wrong"
	require.Contains(t, x.requireFailure(exitFailed, "count", "shop.items"), "wrong user name or password")
}

func TestFakeScylla(t *testing.T) {
	f := startFake(t, "--scylla", "--tablets", "4", "--shards", "3", "--release", "3.0.9")
	require.Contains(t, f.do(t, "GET", "/nodes", ""), `"shards":3`)
	x := &tester{t: t, ctx: t.Context(), env: map[string]string{"VECQL_HOSTS": f.Hosts[0]}}
	require.Contains(t, x.requireRun("query", "-o", "table", "SELECT release_version FROM system.local"), "3.0.9")
}

func TestFakePorts(t *testing.T) {
	x := &tester{t: t, ctx: t.Context()}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer busy.Close()
	_, port, _ := net.SplitHostPort(busy.Addr().String())
	require.Contains(t, x.requireFailure(exitFailed, "fake", "--port", port), "address already in use; --port 0 chooses free ports")
	require.Contains(t, x.requireFailure(exitFailed, "fake", "--port", "0", "--control", busy.Addr().String()),
		"--control: listen tcp")
}

func TestFakeRefused(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.cql")
	require.NoError(t, os.WriteFile(bad, []byte("CREATE TABL x"), 0o600))
	x := &tester{t: t, ctx: t.Context()}
	for args, want := range map[string]string{
		"--nodes 0":                    "2 --nodes is 0, want at least 1; see vecql fake --help",
		"--address 127.0.0.1:9042":     `2 --address is "127.0.0.1:9042", want an IP address; --port sets the port; see vecql fake --help`,
		"--tablets 4":                  "2 --tablets needs --scylla; see vecql fake --help",
		"--port 0 --load x":            `2 --load is "x", want TABLE=FILE; see vecql fake --help`,
		"--port 0 --file /none.cql":    "1 --file /none.cql: open /none.cql: no such file or directory",
		"--port 0 --load shop.x=a.csv": "1 --load shop.x=a.csv: invalid request: keyspace shop does not exist",
		"--port 0 --protocol 9":        "1 cqltest: Config: Protocol is 9, must be 3, 4 or 5",
		"--port 0 --file " + bad:       "1 --file " + bad + ": cqltest: execute",
	} {
		code := exitFailed
		if want[0] == '2' {
			code = exitUsage
		}
		require.Contains(t, x.requireFailure(code, append([]string{"fake"}, strings.Fields(args)...)...), "vecql fake: "+want[2:])
	}
}

// TestFakeAddresses requires one address for each node at one port.
func TestFakeAddresses(t *testing.T) {
	f := &fakeServer{nodes: 3, address: "127.0.0.1", port: 9042}
	cfg, err := f.config()
	require.NoError(t, err)
	require.Equal(t, "127.0.0.3:9042", cfg.Addrs[2].String())
}
