// SPDX-License-Identifier: Apache-2.0

package main

import "GOCQL"

var _ *gocql.Conn // want gocql.Conn

var _ = gocql.TimeoutLimit // want gocql.TimeoutLimit
