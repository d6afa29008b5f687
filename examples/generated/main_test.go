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
	cluster.Close()
	require.Error(t, run(t.Context(), cluster.Hosts(), &strings.Builder{}))
}

// TestPages follows the tokens of a cart of three lines, two a page.
func TestPages(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	tables, err := fill(t.Context(), session)
	require.NoError(t, err)
	handler := service{tables, 2}.handler()
	ask := func(method, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w
	}
	for _, sku := range []string{"desk", "lamp", "rug"} {
		require.Equal(t, http.StatusOK, ask("PUT", "/carts/ada/"+sku).Code)
	}
	var found []string
	for page, next := 0, ""; page == 0 || next != ""; page++ {
		require.Less(t, page, 2)
		var answer cartPage
		require.NoError(t, json.Unmarshal(ask("GET", "/carts/ada?page="+next).Body.Bytes(), &answer))
		for _, line := range answer.Lines {
			found = append(found, line.SKU)
		}
		next = answer.Next.String()
	}
	require.Equal(t, []string{"desk", "lamp", "rug"}, found)
	require.Equal(t, http.StatusBadRequest, ask("GET", "/carts/ada?page=x").Code)
	require.Equal(t, http.StatusOK, ask("POST", "/products/sofa?name=Sofa").Code)
	require.Equal(t, http.StatusConflict, ask("POST", "/products/sofa?name=Sofa").Code)
}
