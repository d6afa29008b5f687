// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Versions of Cassandra, and what a node of each needs.

// Version is the version of Cassandra that runs unless [Options.Version] or VECQL_TEST_CASSANDRA names another.
const Version = "5.0.9"

// VersionVariable names the environment variable with the version of nodes whose [Options.Version] is empty, so that
// the same tests run on each version.
const VersionVariable = "VECQL_TEST_CASSANDRA"

// ProtocolVariable names the environment variable with the version of the native protocol that tests on servers use, so
// that the same tests run with each version. Tests of several versions then run with this one alone.
const ProtocolVariable = "VECQL_TEST_PROTOCOL"

// release is a release line and what its nodes need.
type release struct {
	newest      string   // version on Maven Central that stands for the line
	java        int      // major version
	javaOptions []string // which only this line needs
	lacks       []string // settings of cassandra.yaml that the line does not have

	// oldNames are the names of settings before Cassandra 4.1, whose values have no unit. nil means none.
	oldNames map[string]oldName
	// fixedReplicas means that default_keyspace_rf is among the settings that the line lacks.
	fixedReplicas bool
	noGossipTable bool // system_views.gossip_info is missing
	noPEM         bool // key stores are JKS
}

// releases are the lines, by the first two numbers of their versions.
var releases = map[string]release{
	"4.0": {
		newest: "4.0.19", java: 11, javaOptions: java11Options,
		lacks:         []string{"memtable", "native_transport_timeout", "storage_compatibility_mode", "default_keyspace_rf"},
		oldNames:      oldNames,
		fixedReplicas: true, noGossipTable: true, noPEM: true,
	},
	"4.1": {
		newest: "4.1.10", java: 11, javaOptions: java11Options,
		lacks: []string{"memtable", "native_transport_timeout", "storage_compatibility_mode"},
	},
	"5.0": {newest: Version, java: 17, javaOptions: java17Options},
	"6.0": {newest: "6.0-alpha2", java: 17, javaOptions: java17Options},
}

// java17Options are the options without which Cassandra does not start on Java 17.
var java17Options = []string{
	"--add-opens", "java.base/java.io=ALL-UNNAMED",
	"--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED",
	"--add-opens", "java.base/jdk.internal.ref=ALL-UNNAMED",
	"--add-exports", "java.rmi/sun.rmi.registry=ALL-UNNAMED",
}

// java11Options lists the options of jvm11-server.options in Cassandra's distribution.
var java11Options = []string{
	"-Djdk.attach.allowAttachSelf=true",
	"--add-exports", "java.base/jdk.internal.misc=ALL-UNNAMED",
	"--add-exports", "java.base/jdk.internal.ref=ALL-UNNAMED",
	"--add-exports", "java.base/sun.nio.ch=ALL-UNNAMED",
	"--add-exports", "java.management.rmi/com.sun.jmx.remote.internal.rmi=ALL-UNNAMED",
	"--add-exports", "java.rmi/sun.rmi.registry=ALL-UNNAMED",
	"--add-exports", "java.rmi/sun.rmi.server=ALL-UNNAMED",
	"--add-exports", "java.sql/java.sql=ALL-UNNAMED",
	"--add-opens", "java.base/java.io=ALL-UNNAMED",
	"--add-opens", "java.base/java.lang.module=ALL-UNNAMED",
	"--add-opens", "java.base/jdk.internal.loader=ALL-UNNAMED",
	"--add-opens", "java.base/jdk.internal.ref=ALL-UNNAMED",
	"--add-opens", "java.base/jdk.internal.reflect=ALL-UNNAMED",
	"--add-opens", "java.base/jdk.internal.math=ALL-UNNAMED",
	"--add-opens", "java.base/jdk.internal.module=ALL-UNNAMED",
	"--add-opens", "java.base/jdk.internal.util.jar=ALL-UNNAMED",
	"--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED",
	"--add-opens", "jdk.management/com.sun.management.internal=ALL-UNNAMED",
}

// line returns the first two numbers of a version.
func line(version string) string {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return version
	}
	minor, _, _ := strings.Cut(parts[1], "-")
	return parts[0] + "." + minor
}

// VersionOf returns the version that a value of [Options.Version] means: a release line means its newest version.
func VersionOf(version string) (string, error) {
	if version == "" {
		version = os.Getenv(VersionVariable)
	}
	if version == "" {
		return Version, nil
	}
	r, ok := releases[line(version)]
	if !ok {
		return "", fmt.Errorf("cassandra: Version is %q, want a version of %s", version, strings.Join(Lines(), ", "))
	}
	if version == line(version) {
		return r.newest, nil
	}
	return version, nil
}

// HasVectors reports whether the nodes of tests have vectors, which Cassandra 5 introduced.
func HasVectors() bool {
	version, err := VersionOf("")
	return err == nil && version >= "5"
}

// Protocol returns the protocol version of [ProtocolVariable]: 0 for the latest of driver and server, -1, which drivers
// refuse, for what is no number.
func Protocol() int {
	text := os.Getenv(ProtocolVariable)
	version, err := strconv.Atoi(text)
	if text != "" && err != nil {
		return -1
	}
	return version
}

// Lines returns the release lines, the oldest first.
func Lines() []string {
	var all []string
	for l := range releases {
		all = append(all, l)
	}
	slices.Sort(all)
	return all
}

// oldName is the name of a setting whose value has a fixed unit.
type oldName struct {
	name string
	unit string // as cassandra.yaml writes it; "" for a value without a unit
}

// oldNames are the settings of this package, and of tests, that have other names in Cassandra 4.0.
var oldNames = map[string]oldName{
	"commitlog_sync_period":          {"commitlog_sync_period_in_ms", "ms"},
	"commitlog_total_space":          {"commitlog_total_space_in_mb", "MiB"},
	"materialized_views_enabled":     {"enable_materialized_views", ""},
	"user_defined_functions_enabled": {"enable_user_defined_functions", ""},
	"sasi_indexes_enabled":           {"enable_sasi_indexes", ""},
	"drop_compact_storage_enabled":   {"enable_drop_compact_storage", ""},
	"batch_size_warn_threshold":      {"batch_size_warn_threshold_in_kb", "KiB"},
	"batch_size_fail_threshold":      {"batch_size_fail_threshold_in_kb", "KiB"},
	"key_cache_size":                 {"key_cache_size_in_mb", "MiB"},
	"counter_cache_size":             {"counter_cache_size_in_mb", "MiB"},
	"file_cache_size":                {"file_cache_size_in_mb", "MiB"},
	"request_timeout":                {"request_timeout_in_ms", "ms"},
	"read_request_timeout":           {"read_request_timeout_in_ms", "ms"},
	"range_request_timeout":          {"range_request_timeout_in_ms", "ms"},
	"write_request_timeout":          {"write_request_timeout_in_ms", "ms"},
	"counter_write_request_timeout":  {"counter_write_request_timeout_in_ms", "ms"},
	"cas_contention_timeout":         {"cas_contention_timeout_in_ms", "ms"},
	"truncate_request_timeout":       {"truncate_request_timeout_in_ms", "ms"},
}

// units are the sizes of units, in milliseconds and bytes.
var units = map[string]int{"ms": 1, "s": 1000, "m": 60_000, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

// remove removes the settings of cassandra.yaml that the line does not have.
func (r release) remove(settings map[string]any) {
	for _, name := range r.lacks {
		delete(settings, name)
	}
}

// rename gives settings the names and units of the line.
func (r release) rename(settings map[string]any) error {
	for name, old := range r.oldNames {
		value, ok := settings[name]
		if !ok {
			continue
		}
		if old.unit != "" {
			var n int
			var unit string
			if _, err := fmt.Sscanf(fmt.Sprint(value), "%d%s", &n, &unit); err != nil || units[unit] == 0 {
				return fmt.Errorf("cassandra: %s is %v, want a number and its unit", name, value)
			}
			value = n * units[unit] / units[old.unit]
		}
		delete(settings, name)
		settings[old.name] = value
	}
	return nil
}
