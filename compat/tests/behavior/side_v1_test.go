// SPDX-License-Identifier: Apache-2.0

//go:build !fork && !v2

package behavior

import "github.com/gocql/gocql"

// v1.7 and its compat module.
const (
	apiPath, compatFolder = "github.com/gocql/gocql", "../../gocql"
	requirements, tag     = "api", ""
)

func native(typ gocql.Type) typeInfo { return gocql.NewNativeType(4, typ, "") }
