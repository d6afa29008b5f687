// SPDX-License-Identifier: Apache-2.0

package behavior

import (
	"fmt"
	"maps"
	"net"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/compat/compattest"
	"github.com/vecql/vecql/internal/cassandra"
)

// The metadata of a keyspace with everything that Cassandra has.

// schema is the keyspace. The test replaces KS by its name.
const schema = `
	CREATE KEYSPACE KS WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1} AND durable_writes = false;
	CREATE TYPE KS.address (street text, number int, tags frozen<set<text>>);
	CREATE TYPE KS."Person" ("Name" varchar, home frozen<address>, phones map<text, frozen<list<text>>>);
	CREATE TABLE KS.natives (a ascii, b bigint, bl blob, bo boolean, d date, de decimal, do double, du duration, f float, i inet,
		n int, s smallint, t text, ti time, ts timestamp, tu timeuuid, ty tinyint, u uuid, v varchar, vi varint, PRIMARY KEY (n));
	CREATE TABLE KS.nested (id int, day date, name text, l list<text>, s set<varchar>, m map<text, frozen<list<varchar>>>,
		tu tuple<int, text, frozen<tuple<text, blob>>>, fl frozen<list<frozen<map<int, text>>>>, ad address, fad frozen<address>,
		p frozen<"Person">, lp list<frozen<"Person">>, ve vector<float, 3>, vt vector<text, 2>, lve list<frozen<vector<int, 2>>>,
		st text static, PRIMARY KEY ((id, day), name)) WITH CLUSTERING ORDER BY (name DESC);
	CREATE TABLE KS.counters (id text PRIMARY KEY, n counter);
	CREATE TABLE KS."QuotedTable" ("Key" int, "select" text, "b q""x" text, PRIMARY KEY ("Key", "select"))
		WITH comment = 'it''s' AND default_time_to_live = 77 AND gc_grace_seconds = 99
		AND compaction = {'class': 'LeveledCompactionStrategy'} AND caching = {'keys': 'NONE', 'rows_per_partition': '10'};
	CREATE TABLE KS.keys_only (a int, b int, c int, PRIMARY KEY (a, b, c));
	CREATE TABLE KS.indexed (id int PRIMARY KEY, t text, m map<text, text>, ve vector<float, 2>);
	CREATE INDEX by_t ON KS.indexed (t);
	CREATE INDEX by_keys ON KS.indexed (keys(m));
	CREATE INDEX by_ve ON KS.indexed (ve) USING 'sai' WITH OPTIONS = {'similarity_function': 'dot_product'}`

// vectors finds the columns and the index that Cassandra 4 cannot have.
var vectors = regexp.MustCompile(`(?s), (ve|vt|lve) [^,]*vector<[^>]*>+|;\s*CREATE INDEX by_ve .*`)

// further are statements that a server may refuse by its configuration.
var further = []string{
	"CREATE MATERIALIZED VIEW KS.by_text AS SELECT id, t FROM KS.indexed WHERE id IS NOT NULL AND t IS NOT NULL PRIMARY KEY (t, id)",
	"CREATE FUNCTION KS.state (s int, v text) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return s;'",
	"CREATE FUNCTION KS.final (s int) RETURNS NULL ON NULL INPUT RETURNS text LANGUAGE java AS 'return \"\";'",
	"CREATE AGGREGATE KS.agg (text) SFUNC state STYPE int FINALFUNC final INITCOND 7",
}

// keyspaceVariable names the keyspace that the process of the API itself has made.
const keyspaceVariable = "BEHAVIOR_KEYSPACE"

func TestMetadataOfAKeyspace(t *testing.T) {
	server, err := cassandra.Shared(t.Context())
	require.NoError(t, err)
	open := func() *session {
		return compattest.Open(t, func() (*session, error) {
			cfg := newCluster(server.Host)
			cfg.ProtoVersion, cfg.Timeout, cfg.ConnectTimeout = 4, time.Minute, time.Minute
			quiet(cfg)
			cfg.Authenticator = passwordAuthenticator{Username: cassandra.Username, Password: cassandra.Password}
			return cfg.CreateSession()
		})
	}
	keyspace := os.Getenv(keyspaceVariable)
	if keyspace == "" {
		keyspace = fmt.Sprintf("metadata_%d", time.Now().UnixNano())
		t.Setenv(keyspaceVariable, keyspace)
		creator := open()
		createSchema(t, creator, keyspace)
		t.Cleanup(func() { _ = creator.Query("DROP KEYSPACE " + keyspace).Exec() })
	}
	s := open() // the creator's cache may lack the last changes of the schema
	var scenarios []scenario
	k, err := s.KeyspaceMetadata(keyspace)
	for end := time.Now().Add(time.Minute); err != nil && time.Now().Before(end); { // v2 refreshes the schema later
		time.Sleep(100 * time.Millisecond)
		k, err = s.KeyspaceMetadata(keyspace)
	}
	require.NoError(t, err)
	v := reflect.ValueOf(k).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		if v.Field(i).Kind() != reflect.Map || v.Field(i).Type().Elem().Kind() == reflect.Interface {
			scenarios = append(scenarios, scenario{field.Name, func() string { return tree(v.Field(i)) }})
			continue
		}
		for _, key := range v.Field(i).MapKeys() {
			scenarios = append(scenarios, scenario{field.Name + " " + key.String(), func() string { return tree(v.Field(i).MapIndex(key)) }})
		}
	}
	for name, failing := range map[string]string{"a missing keyspace": "none_such", "no keyspace": ""} {
		scenarios = append(scenarios, scenario{name, func() string {
			none, err := s.KeyspaceMetadata(failing)
			// The fork reads the parts of a keyspace at the same time, and returns the error that comes first. The others
			// return the same error each time.
			for range 100 {
				if err == nil || !strings.Contains(err.Error(), "error querying keyspace schema") {
					break
				}
				none, err = s.KeyspaceMetadata(failing)
			}
			return fmt.Sprint(none == nil, text(err))
		}})
	}
	compare(t, scenarios, metadataDifferences)
}

func createSchema(t *testing.T, s *session, keyspace string) {
	t.Helper()
	text := schema
	if !cassandra.HasVectors() {
		text = vectors.ReplaceAllString(text, "")
	}
	for _, stmt := range strings.Split(text, ";\n") {
		stmt = strings.ReplaceAll(stmt, "KS", keyspace)
		require.NoError(t, s.Query(stmt).Exec(), stmt)
	}
	for _, stmt := range further {
		if err := s.Query(strings.ReplaceAll(stmt, "KS", keyspace)).Exec(); err != nil {
			t.Log(err)
		}
	}
	require.NoError(t, s.AwaitSchemaAgreement(t.Context()))
	time.Sleep(3 * time.Second) // v2 collects the changes of the schema
}

// tree returns the exported fields of a value, a line for each, below their path.
func tree(v reflect.Value) string {
	var lines []string
	walk(&lines, "", v, 0)
	return strings.Join(lines, "\n")
}

// walk appends the lines of a value at a path.
func walk(lines *[]string, path string, v reflect.Value, depth int) {
	const deepest = 12
	add := func(format string, args ...any) { *lines = append(*lines, path+" = "+fmt.Sprintf(format, args...)) }
	switch {
	case !v.IsValid():
		add("nil")
		return
	case depth > deepest:
		add("...")
		return
	case v.CanInterface():
		switch value := v.Interface().(type) {
		case typeInfo:
			if !isNil(v) {
				add("%s", describe(value))
				return
			}
		case net.IP, fmt.Stringer:
			if v.Kind() == reflect.Array {
				add("%v", value)
				return
			}
		}
	}
	walkKind(lines, path, v, depth, add)
}

func walkKind(lines *[]string, path string, v reflect.Value, depth int, add func(string, ...any)) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			add("nil")
			return
		}
		walk(lines, path, v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				walk(lines, path+"."+f.Name, v.Field(i), depth+1)
			}
		}
	case reflect.Map:
		keys := map[string]reflect.Value{}
		for _, key := range v.MapKeys() {
			keys[fmt.Sprint(key)] = key
		}
		add("%d entries, nil=%v", v.Len(), v.IsNil())
		for _, name := range slices.Sorted(maps.Keys(keys)) {
			walk(lines, path+"["+name+"]", v.MapIndex(keys[name]), depth+1)
		}
	case reflect.Slice:
		add("%d elements, nil=%v", v.Len(), v.IsNil())
		for i := range v.Len() {
			walk(lines, fmt.Sprintf("%s[%d]", path, i), v.Index(i), depth+1)
		}
	default:
		add("%v", v)
	}
}

func isNil(v reflect.Value) bool {
	return (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) && v.IsNil()
}

// describe returns what programs see of a type: its Go type, its id, its text, its parts.
func describe(t typeInfo) string {
	name := fmt.Sprintf("%T", t)
	if dot := strings.LastIndexByte(name, '.'); name[dot+1:] == strings.ToLower(name[dot+1:dot+2])+name[dot+2:] {
		name = "type" // of v2, without an exported name
	}
	text := fmt.Sprintf("%s %d", name, int(t.Type()))
	if s, ok := t.(fmt.Stringer); ok && tag != "v2" { // the texts of v2 are texts of structs
		text += " " + s.String()
	}
	for _, method := range []string{"Custom", "Version"} {
		if m := reflect.ValueOf(t).MethodByName(method); m.IsValid() {
			text += fmt.Sprintf(" %s=%v", method, m.Call(nil)[0])
		}
	}
	v := reflect.Indirect(reflect.ValueOf(t))
	if v.Kind() != reflect.Struct {
		return text
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || f.Anonymous {
			continue
		}
		var lines []string
		walk(&lines, f.Name, v.Field(i), 0)
		text += " {" + strings.Join(lines, "; ") + "}"
	}
	return text
}
