// SPDX-License-Identifier: Apache-2.0

//go:build race || poison

package vecql

// poison overwrites buffers when they are released, and counts those that are not.
const poison = true
