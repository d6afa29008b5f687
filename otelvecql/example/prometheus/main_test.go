// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/doctest"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), nil, func(handler http.Handler) error { return readOnce(handler, &out) }))
	require.Equal(t, doctest.Prints(t), out.String())
}

// notYet are metrics of the dashboard that have no value before something happens.
var notYet = []string{"vecql_attempt_errors_total", "vecql_connections_ended_total"}

// names matches the names of metrics and of their labels in an expression.
var names = regexp.MustCompile(`\b(vecql|db_client|error|network)_\w+`)

// TestDashboard requires that each metric and label of grafana.json is exported, and that each metric of Observe is in
// grafana.json.
func TestDashboard(t *testing.T) {
	metrics := scrape(t)
	for _, name := range notYet {
		metrics += "# TYPE " + name + " counter\n"
	}
	metrics += `{error_type="",vecql_connection_end_cause=""}`
	data, err := os.ReadFile("../../grafana.json")
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	require.NoError(t, json.Unmarshal(data, &dashboard))
	require.NotEmpty(t, dashboard.Panels)
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			for _, name := range names.FindAllString(target.Expr+" "+target.LegendFormat, -1) {
				exported := strings.Contains(metrics, "# TYPE "+name+" ") || strings.Contains(metrics, name+`="`)
				require.True(t, exported, "%s: %s is not exported", panel.Title, name)
			}
		}
	}
	for _, m := range regexp.MustCompile(`# TYPE (vecql_\w+) `).FindAllStringSubmatch(metrics, -1) {
		require.Contains(t, string(data), m[1])
	}
}

// scrape returns the metrics of the command.
func scrape(t *testing.T) string {
	t.Helper()
	answer := httptest.NewRecorder()
	require.NoError(t, run(t.Context(), nil, func(handler http.Handler) error {
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return nil
	}))
	require.Equal(t, http.StatusOK, answer.Code)
	return answer.Body.String()
}
