// SPDX-License-Identifier: Apache-2.0

package fakehttp

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ask sends a request of HTTP as it is to a server behind a Guard, and returns the status.
func ask(t *testing.T, listen, request string) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "done") })
	server := &http.Server{Handler: Guard(served, listen)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	defer func() {
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-ended, http.ErrServerClosed)
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, strings.ReplaceAll(request, "\n", "\r\n"))
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, answer.StatusCode == http.StatusOK, string(body) == "done")
	return answer.StatusCode
}

// TestGuardRefusesPagesOfOthers sends what browsers send for pages of other origins, and what other clients send.
func TestGuardRefusesPagesOfOthers(t *testing.T) {
	name, err := os.Hostname()
	require.NoError(t, err)
	get := func(host, more string) string { return "GET /nodes HTTP/1.1\nHost: " + host + "\n" + more + "\n" }
	post := func(more string) string {
		return "POST /cql HTTP/1.1\nHost: 127.0.0.1:9080\nContent-Length: 2\n" + more + "\n{}"
	}
	const local = "127.0.0.1:9080"
	for _, c := range []struct {
		listen, request string
		want            int
	}{
		{local, get("127.0.0.1:9080", ""), 200},
		{local, get("localhost:9080", ""), 200},
		{local, get("LOCALHOST.", ""), 200},
		{local, get("[::1]:9080", ""), 200},
		{local, get("evil.example:9080", ""), 421},
		{local, get("127.0.0.1.evil.example", ""), 421},
		{local, get("localhost.evil.example", ""), 421},
		{local, get("10.0.0.7:9080", ""), 421},
		{local, get("", ""), 421},
		{local, "GET /nodes HTTP/1.0\n\n", 421},
		{"db.example:9100", get("db.example:9100", ""), 200},
		{"db.example:9100", get("other.example:9100", ""), 421},
		{":9100", get("10.0.0.7:9100", ""), 200},
		{"0.0.0.0:9100", get("10.0.0.7:9100", ""), 200},
		{"[::]:9100", get(name+":9100", ""), 200},
		{":9100", get("evil.example:9100", ""), 421},
		{local, get(local, "Origin: http://evil.example\n"), 403},
		{local, get(local, "Origin: null\n"), 403},
		{local, get(local, "Origin: http://127.0.0.1:8000\n"), 403},
		{local, get(local, "Origin: http://127.0.0.1:9080\n"), 200},
		{local, get(local, "Sec-Fetch-Site: cross-site\n"), 403},
		{local, get(local, "Sec-Fetch-Site: none\n"), 200},
		{local, post(""), 200},
		{local, post("Content-Type: application/json\n"), 200},
		{local, post("Content-Type: application/json; charset=utf-8\n"), 200},
		{local, post("Content-Type: application/cql\n"), 200},
		{local, post("Content-Type: text/plain\n"), 415},
		{local, post("Content-Type: text/plain; x=application/json\n"), 415},
		{local, post("Content-Type: application/x-www-form-urlencoded\n"), 415},
		{local, post("Content-Type: multipart/form-data; boundary=x\n"), 415},
		{local, post("Content-Type: application/json\nContent-Type: text/plain\n"), 415},
		{local, post("Content-Type: application/json\nOrigin: http://evil.example\n"), 403},
		{local, "OPTIONS /cql HTTP/1.1\nHost: 127.0.0.1:9080\nOrigin: http://evil.example\nAccess-Control-Request-Method: POST\n\n", 403},
	} {
		require.Equal(t, c.want, ask(t, c.listen, c.request), fmt.Sprintf("%q %q", c.listen, c.request))
	}
}
