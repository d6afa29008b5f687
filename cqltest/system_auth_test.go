// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// TestRolesAndSettings reads roles, settings and the tables that describe virtual tables.
func TestRolesAndSettings(t *testing.T) {
	c := New(t, Config{Network: InMemory, ClusterName: "shop", Users: map[string]string{"bob": "b", "Ann": "a"}})
	cfg := clusterConfig(c)
	cfg.Authenticator = vecql.PasswordAuthenticator{Username: "bob", Password: "b"}
	s, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	defer s.Close()
	texts := func(text string) []string {
		var out []string
		for v, err := range vecql.Rows[string](t.Context(), s.Query(text)) {
			require.NoError(t, err, text)
			out = append(out, v)
		}
		slices.Sort(out)
		return out
	}
	type role struct {
		Role         string
		Super, Login bool
		Options      map[string]string
		DCs          string `cql:"datacenters"`
	}
	ann, err := vecql.OneRow[role](t.Context(), s.Query("LIST ROLES OF 'Ann'"))
	require.NoError(t, err)
	require.Equal(t, role{"Ann", true, true, ann.Options, "ALL"}, ann)
	require.ErrorContains(t, s.Query("LIST ROLES OF nobody").Exec(t.Context()), "<role nobody> doesn't exist")
	require.Equal(t, []string{"Ann", "bob"}, texts("SELECT role FROM system_auth.roles"))
	require.Empty(t, texts("SELECT resource FROM system_auth.role_permissions"))
	require.Equal(t, []string{"shop"}, texts("SELECT value FROM system_views.settings WHERE name = 'cluster_name'"))
	require.Equal(t, []string{"system_views", "system_virtual_schema"}, texts("SELECT keyspace_name FROM system_virtual_schema.keyspaces"))
	require.Contains(t, texts("SELECT table_name FROM system_virtual_schema.tables"), "settings")
	require.Equal(t, []string{"name", "value"},
		texts("SELECT column_name FROM system_virtual_schema.columns WHERE keyspace_name = 'system_views' AND table_name = 'settings'"))
	require.NotContains(t, texts("SELECT keyspace_name FROM system_schema.keyspaces"), "system_views")
	require.Empty(t, texts("SELECT role FROM system_auth.cidr_permissions"))
	require.Equal(t, []string{"frozen<set<frozen<tuple<inet, smallint>>>>", "text"},
		texts("SELECT type FROM system_schema.columns WHERE keyspace_name = 'system_auth' AND table_name = 'cidr_groups'"))
	require.ErrorContains(t, s.Query("INSERT INTO system_views.settings (name) VALUES ('x')").Exec(t.Context()),
		"Modification is not supported by table system_views.settings")
	c.SetUsers(nil)
	require.ErrorIs(t, s.Query("LIST ROLES").Exec(t.Context()), cql.CodeUnauthorized)
}
