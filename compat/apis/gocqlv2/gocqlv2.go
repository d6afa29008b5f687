// SPDX-License-Identifier: Apache-2.0

// Package gocqlv2 imports the packages of Apache gocql v2 that the module compat/gocqlv2 stands for.
package gocqlv2

import (
	_ "github.com/apache/cassandra-gocql-driver/v2"
	_ "github.com/apache/cassandra-gocql-driver/v2/gocqlzap"
	_ "github.com/apache/cassandra-gocql-driver/v2/gocqlzerolog"
	_ "github.com/apache/cassandra-gocql-driver/v2/hostpool"
	_ "github.com/apache/cassandra-gocql-driver/v2/lz4"
	_ "github.com/apache/cassandra-gocql-driver/v2/snappy"
)
