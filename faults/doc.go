// SPDX-License-Identifier: Apache-2.0

// Package faults tests the driver under faults of networks, servers, clusters and programs. The tests use only the
// public API, on the scripted cluster of internal/fakecql or, if a test needs data, on package cqltest. FAULTS.md is
// the catalog of the faults.
package faults
