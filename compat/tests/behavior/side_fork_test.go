// SPDX-License-Identifier: Apache-2.0

//go:build fork

package behavior

import "github.com/gocql/gocql"

// ScyllaDB's fork and its compat module.
const (
	apiPath, compatFolder = "github.com/gocql/gocql", "../../scyllagocql"
	requirements, tag     = "fork", "fork"
)

func native(typ gocql.Type) typeInfo { return gocql.NewNativeType(4, typ) }
