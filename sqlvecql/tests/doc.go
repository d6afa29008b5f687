// SPDX-License-Identifier: Apache-2.0

// Package tests runs packages that are built on database/sql with the driver of package sqlvecql: sqlx, and goose with
// a store in CQL. It is a module of its own, so that users of the driver do not inherit the requirements of goose,
// which name the drivers of ten databases.
package tests
