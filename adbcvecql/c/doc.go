// SPDX-License-Identifier: Apache-2.0

// Command c is the shared library of package adbcvecql, with the C interface of ADBC 1.1. "make adbc" builds it; the
// build needs cgo, the tag driverlib and the folder of adbc.h.
package main
