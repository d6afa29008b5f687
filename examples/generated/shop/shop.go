// SPDX-License-Identifier: Apache-2.0

package shop

import _ "embed"

//go:generate go run ../../../cmd/vecql gen

// Schema creates the tables.
//
//go:embed schema.cql
var Schema string
