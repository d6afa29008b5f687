// SPDX-License-Identifier: Apache-2.0

// Package sql runs packages that are built on database/sql with the driver of package sqlvecql: sqlx, and goose with a
// store in CQL. It is not in the module of the driver, so that its users do not inherit the requirements of goose,
// which name the drivers of ten databases.
package sql
