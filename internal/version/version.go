// SPDX-License-Identifier: Apache-2.0

// Package version has the version of this repository's modules.
package version

// Version is sent to servers and written to files. .ci/release sets it.
const Version = "0.1.0"
