// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tests that need no server.

func TestOptionsChecked(t *testing.T) {
	o, err := Options{}.checked()
	require.NoError(t, err)
	require.Equal(t, 1, o.Nodes)
	require.NotEmpty(t, o.Version)
	require.NotPanics(t, func() { o.Log("a log without a listener") })

	_, err = Options{
		Version: "3.11.19", Nodes: 251, TLS: "on", DCs: make([]string, 252),
		Set: map[string]any{"rpc_address": "0.0.0.0", "seed_provider.class_name": "x", "read_request_timeout": "1s"},
	}.checked()
	for _, want := range []string{`Version is "3.11.19", want a version of `, "Nodes is 251", `TLS is "on"`, "252 DCs", "rpc_address", "seed_provider"} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "read_request_timeout")
}

func TestVersionOf(t *testing.T) {
	for of, want := range map[string]string{
		"5.0": "5.0.9", "5.0.8": "5.0.8", "6.0": "6.0-alpha2", "6.0-alpha2": "6.0-alpha2", "6.0.0": "6.0.0", "4.1": "4.1.10", "4.0": "4.0.19",
	} {
		got, err := VersionOf(of)
		require.NoError(t, err)
		require.Equal(t, want, got, of)
	}
	for _, of := range []string{"5", "6", "2.2.19", "5.1", "6.1", "new"} {
		_, err := VersionOf(of)
		require.ErrorContains(t, err, `"`+of+`"`)
	}
	t.Setenv(VersionVariable, "6.0")
	got, err := VersionOf("")
	require.NoError(t, err)
	require.Equal(t, "6.0-alpha2", got)
	t.Setenv(VersionVariable, "")
	got, err = VersionOf("")
	require.NoError(t, err)
	require.Equal(t, Version, got)
}

func TestRename(t *testing.T) {
	s := map[string]any{"request_timeout": "20s", "key_cache_size": "8MiB", "sasi_indexes_enabled": true, "num_tokens": 1}
	require.NoError(t, releases["4.0"].rename(s))
	require.Equal(t, map[string]any{
		"request_timeout_in_ms": 20000, "key_cache_size_in_mb": 8, "enable_sasi_indexes": true, "num_tokens": 1,
	}, s)
	for _, value := range []any{"20", "20x", 20, nil} {
		require.ErrorContains(t, releases["4.0"].rename(map[string]any{"request_timeout": value}), "request_timeout is")
	}
	s = map[string]any{"request_timeout": "20s"}
	require.NoError(t, releases["4.1"].rename(s))
	require.Equal(t, map[string]any{"request_timeout": "20s"}, s)
}

func TestSet(t *testing.T) {
	s := map[string]any{"a": map[string]any{"b": 1, "c": 2}, "plain": 3}
	require.NoError(t, set(s, "a.b", "new"))
	require.NoError(t, set(s, "x.y.z", []int{4}))
	require.NoError(t, set(s, "plain", nil))
	require.Equal(t, map[string]any{
		"a":     map[string]any{"b": "new", "c": 2},
		"x":     map[string]any{"y": map[string]any{"z": []int{4}}},
		"plain": nil,
	}, s)
	require.ErrorContains(t, set(s, "a.b.c", 1), `"a.b" is not a group`)
}

func TestToken(t *testing.T) {
	require.Equal(t, "-9223372036854775808", token(0, 3))
	require.Equal(t, "-3074457345618258603", token(1, 3))
	require.Equal(t, "3074457345618258602", token(2, 3))
}

func TestReadManifest(t *testing.T) {
	lib := t.TempDir()
	write := func(name, content string) {
		require.NoError(t, os.WriteFile(filepath.Join(lib, name), []byte(content), 0o644))
	}
	require.Nil(t, readManifest(lib), "no manifest")
	write("a.jar", "aa")
	info, err := os.Stat(filepath.Join(lib, "a.jar"))
	require.NoError(t, err)
	write("manifest.json", `[{"Name":"a.jar","Size":2,"Modified":`+strconv.FormatInt(info.ModTime().UnixNano(), 10)+`}]`)
	require.Len(t, readManifest(lib), 1)
	write("b.jar", "")
	require.Nil(t, readManifest(lib), "one jar too many")
	require.NoError(t, os.Remove(filepath.Join(lib, "b.jar")))
	require.Len(t, readManifest(lib), 1)
	write("a.jar", "a")
	require.Nil(t, readManifest(lib), "a truncated jar")
	require.NoError(t, os.Remove(filepath.Join(lib, "a.jar")))
	require.Nil(t, readManifest(lib), "a missing jar")
}

func TestStartWithoutMaven(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip(ErrUnsupported)
	}
	t.Setenv("VECQL_CACHE", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	_, err := Start(t.Context(), Options{})
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
	require.Contains(t, missing.Packages, mavenPackage)
}

func TestMissingErrorIsOneLine(t *testing.T) {
	both := &MissingError{Packages: []string{javaPackage(17), mavenPackage}}
	require.EqualError(t, both, "cassandra: needs Java 17 and Maven: install packages openjdk-17-jre-headless and maven")
	tried := &MissingError{Packages: []string{mavenPackage}, Err: errors.New("E: no\n network")}
	require.EqualError(t, tried, "cassandra: needs Maven: install package maven (E: no network)")
}
