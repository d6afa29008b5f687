// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/doctest"
)

func TestRun(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	for _, hosts := range [][]string{nil, cluster.Hosts(), cluster.Hosts()} { // a second run finds the rows of the first
		var out strings.Builder
		require.NoError(t, run(t.Context(), hosts, &out))
		require.Equal(t, doctest.Prints(t), out.String())
	}
}

// TestHandler covers what the program does not ask for: no orders, a damaged token, a page without rows that is not the
// last one, and a cluster that fails.
func TestHandler(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	require.NoError(t, run(t.Context(), cluster.Hosts(), &strings.Builder{}))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		handler(session).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, strings.TrimSpace(w.Body.String())
	}

	code, body := get("/orders/bob")
	require.Equal(t, http.StatusOK, code)
	require.JSONEq(t, `{"orders": []}`, body)

	code, body = get("/orders/ada?page=forged")
	require.Equal(t, http.StatusBadRequest, code)
	require.Equal(t, "invalid page", body)

	cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Times: 1, EmptyPage: true})
	code, body = get("/orders/ada")
	require.Equal(t, http.StatusOK, code)
	var page Page
	require.NoError(t, json.Unmarshal([]byte(body), &page))
	require.Empty(t, page.Orders)
	require.NotEmpty(t, page.Next)
	_, body = get("/orders/ada?page=" + page.Next.String())
	require.NoError(t, json.Unmarshal([]byte(body), &page))
	require.Equal(t, []Order{{1, "lamp"}, {2, "desk"}, {3, "rug"}}, page.Orders)

	cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeReadTimeout}})
	code, body = get("/orders/ada")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Equal(t, "the orders cannot be read", body)
}
