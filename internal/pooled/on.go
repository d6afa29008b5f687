// SPDX-License-Identifier: Apache-2.0

//go:build race || poison

package pooled

// Poisoned reports whether released buffers are overwritten and counted.
const Poisoned = true
