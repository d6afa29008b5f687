// SPDX-License-Identifier: Apache-2.0

package plot

import "strings"

// The names of drivers in pictures.

// driverNames are the drivers in words. A suffix of driverSuffixes may follow them.
var driverNames = map[string]string{
	"vecql-typed":            "vecql, typed statement",
	"vecql-batch":            "vecql, by columns",
	"vecql-into":             "vecql, into own memory",
	"vecql-rows":             "vecql, rows as structs",
	"vecql-append":           "vecql, append to a buffer",
	"vecql-parquet":          "vecql, Parquet",
	"apache2":                "Apache gocql 2",
	"scylla":                 "scylladb/gocql",
	"gocql1":                 "gocql 1",
	"rust":                   "ScyllaDB's Rust driver",
	"compat-gocqlv2":         "vecql as Apache gocql 2",
	"compat-scyllagocql":     "vecql as scylladb/gocql",
	"compat-gocql":           "vecql as gocql 1",
	"floor":                  "limit: a bare socket",
	"copy":                   "limit: a memory copy",
	"scalar":                 "a plain loop",
	"cqlsh":                  "cqlsh COPY",
	"cassandra-driver-numpy": "cassandra-driver, NumPy",
	"database/sql":           "database/sql with sqlvecql",
}

var driverSuffixes = []struct{ suffix, words string }{{"-nowait", ", no delay"}, {" (v4)", " (v4)"}}

// DriverName returns the driver of a benchmark in words.
func DriverName(driver string) string {
	for _, s := range driverSuffixes {
		if d, ok := strings.CutSuffix(driver, s.suffix); ok {
			return DriverName(d) + s.words
		}
	}
	if name := driverNames[driver]; name != "" {
		return name
	}
	return driver
}
