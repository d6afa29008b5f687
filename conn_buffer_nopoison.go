// SPDX-License-Identifier: Apache-2.0

//go:build !race && !poison

package vecql

// poison is on in builds with -race or the tag poison.
const poison = false
