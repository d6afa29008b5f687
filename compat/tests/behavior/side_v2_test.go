// SPDX-License-Identifier: Apache-2.0

//go:build v2

package behavior

import gocql "github.com/apache/cassandra-gocql-driver/v2"

// v2 and its compat module.
const (
	apiPath, compatFolder = "github.com/apache/cassandra-gocql-driver/v2", "../../gocqlv2"
	requirements, tag     = "api", "v2"
)

func native(typ gocql.Type) typeInfo { return gocql.NewNativeType(4, typ, "") }
