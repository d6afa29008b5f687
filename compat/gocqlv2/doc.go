// SPDX-License-Identifier: Apache-2.0

// Package gocql is the API of gocql v2 on vecql.
package gocql
