// SPDX-License-Identifier: Apache-2.0

// Package gocql imports the packages of gocql v1.7 that the module compat/gocql stands for.
package gocql

import _ "github.com/gocql/gocql"
