// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Versions of Cassandra, and what a node of each needs.

// Version is the version of Cassandra that runs unless [Options.Version] or VECQL_TEST_CASSANDRA names another.
const Version = "5.0.9"

// VersionVariable names the environment variable with the version of nodes whose [Options.Version] is empty, so that
// the same tests run on each version.
const VersionVariable = "VECQL_TEST_CASSANDRA"

// release is a release line and what its nodes need.
type release struct {
	newest      string   // version on Maven Central that stands for the line
	java        int      // major version
	javaOptions []string // which only this line needs
	lacks       []string // settings of cassandra.yaml that the line does not have
}

// releases are the lines, by the first two numbers of their versions.
var releases = map[string]release{
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

// versionOf returns the version that a value of [Options.Version] means: a release line means its newest version.
func versionOf(version string) (string, error) {
	if version == "" {
		version = os.Getenv(VersionVariable)
	}
	if version == "" {
		return Version, nil
	}
	r, ok := releases[line(version)]
	if !ok {
		return "", fmt.Errorf("cassandra: Version is %q, want a version of %s", version, strings.Join(lines(), ", "))
	}
	if version == line(version) {
		return r.newest, nil
	}
	return version, nil
}

// lines returns the release lines, the oldest first.
func lines() []string {
	var all []string
	for l := range releases {
		all = append(all, l)
	}
	slices.Sort(all)
	return all
}

// adapt removes the settings of cassandra.yaml that the line does not have.
func (r release) adapt(settings map[string]any) {
	for _, name := range r.lacks {
		delete(settings, name)
	}
}
