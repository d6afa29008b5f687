// SPDX-License-Identifier: Apache-2.0

// Package quiet uses what is the same.
package quiet

import "GOCQL"

var Cluster = gocql.ClusterConfig{Hosts: []string{"localhost"}, ProtoVersion: 5}
