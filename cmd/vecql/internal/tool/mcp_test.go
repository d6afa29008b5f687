// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
)

// The verb mcp with the client of the SDK: in this process over pipes, and as a process.

// An mcpClient is a client that is connected to the verb mcp.
type mcpClient struct {
	*mcp.ClientSession
	t    *testing.T
	code chan int // gets the exit code
	log  *lockedBuffer
}

// A lockedBuffer is a buffer that one goroutine writes while another reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serveMCP runs the verb mcp until the test ends, and requires that it then succeeds.
func (x *tester) serveMCP(args ...string) *mcpClient {
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	c := &mcpClient{t: x.t, code: make(chan int, 1), log: &lockedBuffer{}}
	e := newEnv(serverIn, serverOut, c.log)
	e.getenv = func(name string) string { return x.env[name] }
	go func() {
		c.code <- run(context.WithoutCancel(x.ctx), e, append([]string{"mcp"}, args...))
		_ = serverOut.Close()
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	var err error
	c.ClientSession, err = client.Connect(x.t.Context(), &mcp.IOTransport{Reader: clientIn, Writer: clientOut}, nil)
	require.NoError(x.t, err, c.log)
	x.t.Cleanup(func() {
		_ = c.Close()
		require.Zero(x.t, <-c.code, c.log)
	})
	return c
}

// try calls a tool and returns its text, which is the text of an error if isError.
func (c *mcpClient) try(ctx context.Context, tool string, arguments map[string]any) (r *mcp.CallToolResult, text string) {
	c.t.Helper()
	r, err := c.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(c.t, err, c.log)
	require.Len(c.t, r.Content, 1)
	return r, r.Content[0].(*mcp.TextContent).Text
}

// requireCall calls a tool and requires success. It returns the text of the result.
func (c *mcpClient) requireCall(tool string, arguments map[string]any) string {
	c.t.Helper()
	r, text := c.try(c.t.Context(), tool, arguments)
	require.False(c.t, r.IsError, text)
	structured, err := json.Marshal(r.StructuredContent)
	require.NoError(c.t, err)
	require.JSONEq(c.t, text, string(structured))
	return text
}

// requireRefused calls a tool and requires an error. It returns its text.
func (c *mcpClient) requireRefused(tool string, arguments map[string]any) string {
	c.t.Helper()
	r, text := c.try(c.t.Context(), tool, arguments)
	require.True(c.t, r.IsError, text)
	require.Nil(c.t, r.StructuredContent)
	return text
}

// arguments is short for the arguments of a call.
type arguments = map[string]any

// TestMCPTools requires the tools of each set of flags, with schemas of the form that clients expect.
func TestMCPTools(t *testing.T) {
	x := newTester(t, shop)
	dir := t.TempDir()
	for _, m := range []struct {
		env   map[string]string
		args  []string
		tools string
	}{
		{x.env, nil, "describe query search"},
		{x.env, []string{"--files", dir}, "describe files query search sql"},
		{nil, []string{"--files", dir}, "files sql"},
		{nil, []string{"--files", dir, "--hosts", x.Hosts()[0]}, "describe files query search sql"},
		{nil, nil, "describe query search"},
	} {
		x := &tester{Cluster: x.Cluster, t: t, ctx: t.Context(), env: m.env}
		c := x.serveMCP(m.args...)
		require.Equal(t, "vecql", c.InitializeResult().ServerInfo.Name)
		require.NotEmpty(t, c.InitializeResult().Instructions)
		listed, err := c.ListTools(t.Context(), nil)
		require.NoError(t, err)
		var names []string
		for _, tool := range listed.Tools {
			names = append(names, tool.Name)
			require.True(t, tool.Annotations.ReadOnlyHint, tool.Name)
			require.NotEmpty(t, tool.Description)
			require.Equal(t, "object", tool.InputSchema.(map[string]any)["type"])
			require.Equal(t, "object", tool.OutputSchema.(map[string]any)["type"])
		}
		require.Equal(t, m.tools, strings.Join(names, " "))
	}
}

func TestMCPUsage(t *testing.T) {
	x := newTester(t, shop)
	for args, want := range map[string]string{
		"--max-rows 0":         "2 vecql mcp: --max-rows is 0, want at least 1; see vecql mcp --help",
		"--max-bytes -1":       "2 vecql mcp: --max-bytes is -1, want at least 1; see vecql mcp --help",
		"--max-time 0s":        "2 vecql mcp: --max-time is 0s, want a time above 0; see vecql mcp --help",
		"--files none":         "1 vecql mcp: --files: lstat none: no such file or directory",
		"--files mcp_test.go":  "1 vecql mcp: --files: open " + absolute("mcp_test.go") + ": not a directory",
		"--consistency ANY":    "1 vecql mcp: the consistency level ANY is for writes; choose another one for reads, such as ONE",
		"--profile none":       `1 vecql mcp: there is no profile "none", because ` + defaultConfigFile() + " does not exist or is empty",
		"now":                  `2 vecql mcp: unknown command "now" for "vecql mcp"; see vecql mcp --help`,
		"--consistency SERIAL": "0",
		"":                     "0",
	} {
		code, out, text := x.run(append([]string{"mcp"}, strings.Fields(args)...)...)
		require.Equal(t, want, strings.TrimRight(fmt.Sprint(code, " ", text), " \n"), args)
		require.Empty(t, out)
	}
}

func TestMCPQuery(t *testing.T) {
	x := newTester(t, shop)
	c := x.serveMCP("--max-rows", "3", "--max-bytes", "300")
	query := func(statement string, values ...any) string {
		args := arguments{"statement": statement}
		if values != nil {
			args["values"] = values
		}
		return c.requireCall("query", args)
	}
	require.JSONEq(t, `{"columns":[{"name":"id","type":"int"},{"name":"name","type":"text"},{"name":"price","type":"double"},`+
		`{"name":"tags","type":"set<text>"},{"name":"v","type":"vector<float, 3>"}],`+
		`"rows":[{"id":1,"name":"chair","price":49.5,"tags":["new","wood"],"v":[0.5,1,-2]},{"id":2,"name":"table","price":null,"tags":null,"v":null}]}`,
		query(items))
	require.JSONEq(t, `{"columns":[{"name":"name","type":"text"}],"rows":[{"name":"table"}]}`,
		query("/* one */ select name FROM shop.items -- of two\n WHERE id = ?;", 2))
	require.JSONEq(t, `{"columns":[{"name":"id","type":"int"}],"rows":[]}`, query("SELECT id FROM shop.items WHERE id = ?", 9))
	require.Contains(t, query("SELECT count(*) FROM shop.items"), `"warnings":["Aggregation query used without partition key"]`)

	for id := 3; id < 8; id++ {
		require.NoError(t, x.Exec(fmt.Sprintf("INSERT INTO shop.items (id, name) VALUES (%d, '%s')", id, strings.Repeat("x", 40*id))))
	}
	var out rowsResult
	require.NoError(t, json.Unmarshal([]byte(query("SELECT id FROM shop.items")), &out))
	require.Len(t, out.Rows, 3)
	require.Equal(t, "there are more rows: a result has at most 3 rows", out.Cut)
	require.NoError(t, json.Unmarshal([]byte(query("SELECT name FROM shop.items WHERE id IN (4, 5, 6)")), &out))
	require.Len(t, out.Rows, 1)
	require.Equal(t, "there are more rows: the next one has 211 bytes, and the rows of a result have at most 300 bytes; select fewer columns", out.Cut)
	require.NotContains(t, query("SELECT id FROM shop.items WHERE id IN (1, 2, 3)"), "cut", "as many rows as the limit")

	for statement, want := range map[string]string{
		"SELECT id, id FROM shop.items":              `the result has two columns "id": name one of them with AS`,
		"SELECT id FROM shop.none":                   "invalid request: table none does not exist",
		"SELECT id FORM shop.items":                  "syntax error: ",
		"SELECT id FROM shop.items WHERE id = ?":     "0 values for 1 marker: want id int",
		"SELECT id FROM shop.items WHERE name = 'a'": "ALLOW FILTERING",
		"":                                  "want exactly one SELECT: this tool reads: the statement is empty",
		"USE shop":                          `want exactly one SELECT: this tool reads: the statement begins with "USE"`,
		"SELECT id FROM shop.items; SELECT": `want exactly one SELECT: this tool reads: "SELECT" follows the first statement`,
	} {
		require.Contains(t, c.requireRefused("query", arguments{"statement": statement}), want)
	}
	require.Equal(t, "value 1, id int: \"x\" is not a value of type int32",
		c.requireRefused("query", arguments{"statement": "SELECT id FROM shop.items WHERE id = ?", "values": []any{"x"}}))
	for want, args := range map[string]arguments{
		"required":   {"values": []any{1}},
		"type":       {"statement": 1},
		"additional": {"statement": "SELECT id FROM shop.items", "write": true},
	} {
		text := c.requireRefused("query", args)
		require.Contains(t, text, "the arguments do not match the schema of the tool")
		require.Contains(t, text, want)
	}
}

// rowsResult is a rowsOutput as a client sees it.
type rowsResult struct {
	Columns []columnText
	Rows    []map[string]any
	Cut     string

	Warnings []string
}

// TestMCPValues binds values of every type and requires that they come back.
func TestMCPValues(t *testing.T) {
	x := newTester(t, shop, "CREATE TYPE shop.place (street text, zip int)")
	c := x.serveMCP()
	tables := 0
	for typ, value := range map[string]string{
		"ascii": `"a"`, "bigint": `9007199254740993`, "blob": `"0x01ff"`, "boolean": `true`, "date": `"2026-05-01"`, "decimal": `1.50`,
		"double": `0.1`, "float": `0.5`, "inet": `"10.0.0.1"`, "int": `-1`, "smallint": `7`, "text": `"it's; -- \"x\""`, "time": `"10:00:00.000000001"`,
		"timestamp": `"2026-05-01T10:00:00Z"`, "timeuuid": `"7a28ff5c-64a5-11ee-9d8e-3f0e3b8f6f1a"`, "tinyint": `-8`,
		"uuid": `"7a28ff5c-64a5-4c27-9d8e-3f0e3b8f6f1a"`, "varint": `123456789012345678901234567890`,
		"frozen<list<int>>": `[1,2]`, "frozen<set<text>>": `["a","b"]`, "frozen<map<text, int>>": `{"a":1}`, "vector<float, 2>": `[0.5,1]`,
		"frozen<tuple<int, text>>": `[1,"a"]`, "frozen<place>": `{"street":"s","zip":1}`, "frozen<list<frozen<list<int>>>>": `[[1],[]]`,
	} {
		tables++
		table := fmt.Sprint("shop.v", tables)
		require.NoError(t, x.Exec("CREATE TABLE "+table+" (k "+strings.Replace(typ, "<place>", "<shop.place>", 1)+" PRIMARY KEY)"))
		x.in = `{"k":` + value + "}\n"
		x.requireRun("load", table, "-", "--format", "json", "--summary", "json")
		text := c.requireCall("query", arguments{"statement": "SELECT k FROM " + table + " WHERE k = ?", "values": []any{json.RawMessage(value)}})
		_, rows, _ := strings.Cut(text, `"rows":`)
		require.Equal(t, `[{"k":`+value+`}]}`, rows, typ)
	}
	require.JSONEq(t, `{"columns":[{"name":"id","type":"int"}],"rows":[{"id":1},{"id":2}]}`, c.requireCall("query",
		arguments{"statement": "SELECT id FROM shop.items WHERE id IN ? LIMIT ?", "values": []any{[]int{1, 2}, 2}}))
}

// TestMCPTime requires that a call ends in time, with the rows that it has.
func TestMCPTime(t *testing.T) {
	x := newTester(t, shop)
	c := x.serveMCP("--max-time", "300ms")
	const slow = "the call took longer than 300ms and was ended: read less, or raise --max-time of the server"
	c.requireCall("query", arguments{"statement": "SELECT id FROM shop.items"})
	rule := x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "FROM shop.items", Drop: true})
	require.Equal(t, slow, c.requireRefused("query", arguments{"statement": "SELECT id FROM shop.items"}))
	rule.Remove()

	c = x.serveMCP("--max-time", "300ms", "--max-rows", "2000")
	for id := range 1500 {
		require.NoError(t, x.Exec(fmt.Sprintf("INSERT INTO shop.items (id) VALUES (%d)", id)))
	}
	c.requireCall("query", arguments{"statement": "SELECT id FROM shop.items"})
	rule = x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "FROM shop.items", Skip: 1, Drop: true})
	var out rowsResult
	require.NoError(t, json.Unmarshal([]byte(c.requireCall("query", arguments{"statement": "SELECT id FROM shop.items"})), &out))
	require.Len(t, out.Rows, 1000, "the first page")
	require.Equal(t, "there may be more rows: "+slow, out.Cut)
	rule.Remove()

	ctx, cancel := context.WithCancel(t.Context())
	rule = x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "FROM shop.items", Drop: true})
	go func() {
		_ = rule.Wait(t.Context(), 1)
		cancel()
	}()
	_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "query", Arguments: arguments{"statement": "SELECT id FROM shop.items"}})
	require.ErrorIs(t, err, context.Canceled)
	rule.Remove()
	c.requireCall("query", arguments{"statement": "SELECT id FROM shop.items WHERE id = 1"})
}

// TestMCPClusterLost requires that calls fail while there is no cluster, and succeed again after it has come back,
// before the first connection too.
func TestMCPClusterLost(t *testing.T) {
	t.Parallel() // a search waits for its whole time
	x := newTesterOf(t, cqltest.Config{Nodes: 2}, strings.ReplaceAll(shop, "'datacenter1': 1", "'datacenter1': 2"))
	lose := func() {
		for _, n := range x.Nodes() {
			n.Kill()
		}
	}
	restart := func() {
		for _, n := range x.Nodes() {
			require.NoError(t, n.Restart())
		}
	}
	lose()
	c := x.serveMCP("--max-time", "5s")
	calls := map[string]arguments{
		"query":    {"statement": "SELECT name FROM shop.items WHERE id = 1"},
		"describe": {"name": "shop.items"},
		"search":   {"table": "shop.items", "vector": []int{1, 2, 3}, "exact": true, "metric": "dot"},
	}
	require.Contains(t, c.requireRefused("query", calls["query"]), "connection refused; check that the server runs and that the port is right")
	restart()
	for range 2 {
		for tool, args := range calls {
			require.Eventually(t, func() bool {
				r, _ := c.try(t.Context(), tool, args)
				return !r.IsError
			}, 20*time.Second, 20*time.Millisecond, tool)
		}
		lose()
		for _, tool := range []string{"query", "search"} {
			require.NotEmpty(t, c.requireRefused(tool, calls[tool]))
		}
		restart()
	}
	require.Eventually(t, func() bool {
		_, text := c.try(t.Context(), "query", calls["query"])
		return strings.Contains(text, `"rows":[{"name":"chair"}]`)
	}, 20*time.Second, 20*time.Millisecond)
}

// TestMCPProcess runs the verb as a process, with a client over its standard streams.
func TestMCPProcess(t *testing.T) {
	x := newTester(t, shop)
	command := x.process("mcp", "--verbose", "--files", t.TempDir())
	var log lockedBuffer
	command.Stderr = &log
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	c, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	require.NoError(t, err, &log)
	var wait sync.WaitGroup
	for id := range 20 {
		wait.Go(func() {
			r, err := c.CallTool(t.Context(), &mcp.CallToolParams{
				Name: "query", Arguments: arguments{"statement": "SELECT name FROM shop.items WHERE id = ?", "values": []int{id % 2}},
			})
			if err != nil || r.IsError {
				t.Error(err, r)
			}
		})
	}
	wait.Wait()
	require.NoError(t, c.Close(), "the end of the input is no failure")
	require.Zero(t, command.ProcessState.ExitCode(), &log)
	require.Contains(t, log.String(), "msg=call tool=query time=")
}

// TestMCPSignals requires that SIGTERM and SIGINT end the process, without a word on standard output.
func TestMCPSignals(t *testing.T) {
	x := newTester(t, shop)
	for _, signal := range []os.Signal{os.Interrupt} {
		command := x.process("mcp")
		var out, log lockedBuffer
		command.Stdout, command.Stderr = &out, &log
		in, err := command.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, command.Start())
		_, err = io.WriteString(in, pingRequest)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return strings.HasSuffix(out.String(), "\n") }, 10*time.Second, time.Millisecond)
		require.NoError(t, command.Process.Signal(signal))
		require.Error(t, command.Wait())
		require.Equal(t, exitInterrupted, command.ProcessState.ExitCode(), &log)
		require.Equal(t, "vecql mcp: interrupted\n", log.String())
		for line := range strings.Lines(out.String()) {
			require.True(t, json.Valid([]byte(line)), line)
		}
	}
}

// pingRequest is a message of the protocol.
const pingRequest = `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"

// initialize is the first messages of a client.
const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// TestMCPMessages sends messages as text, the last one before the end of the input.
func TestMCPMessages(t *testing.T) {
	x := newTester(t, shop)
	call := func(id int, statement string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"query","arguments":{"statement":"%s"}}}`+"\n", id, statement)
	}
	answers := func(in string) map[string]string {
		x.in = in
		code, out, text := x.run("mcp")
		require.Zero(t, code, text)
		found := map[string]string{}
		for line := range strings.Lines(out) {
			var message struct {
				ID     json.RawMessage
				Result struct{ IsError bool }
				Error  struct{ Message string }
			}
			require.NoError(t, json.Unmarshal([]byte(line), &message), line)
			found[string(message.ID)] = fmt.Sprint(message.Result.IsError, message.Error.Message)
		}
		return found
	}
	require.Equal(t, map[string]string{"0": "false", "1": "false", "2": "true"},
		answers(initialize+call(1, "SELECT id FROM shop.items")+call(2, "DROP TABLE shop.items")))
	require.Equal(t, map[string]string{"0": "false", "1": `falseunknown tool "none"`},
		answers(initialize+strings.Replace(call(1, ""), "query", "none", 1)))
	require.Empty(t, answers(""))
	x.requireRun("query", "SELECT id FROM shop.items")
}
