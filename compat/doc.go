// SPDX-License-Identifier: Apache-2.0

// Package compat holds what the compat modules for programs written for gocql share: gocql's meanings of values, rows,
// errors and policies on package vecql. Programs use the modules, compat/gocql, compat/gocqlv2 and compat/scyllagocql,
// instead.
package compat
