// SPDX-License-Identifier: Apache-2.0

// Package scyllagocql imports the packages of ScyllaDB's fork of gocql that the module compat/scyllagocql stands for.
// The packages of one CQL type each (serialization/...), which the fork uses itself, are left out.
package scyllagocql

import (
	_ "github.com/gocql/gocql"
	_ "github.com/gocql/gocql/debounce"
	_ "github.com/gocql/gocql/dialer"
	_ "github.com/gocql/gocql/dialer/recorder"
	_ "github.com/gocql/gocql/dialer/replayer"
	_ "github.com/gocql/gocql/events"
	_ "github.com/gocql/gocql/hostpolicy"
	_ "github.com/gocql/gocql/scyllacloud"
	_ "github.com/gocql/gocql/tablets"
)
