// SPDX-License-Identifier: Apache-2.0

// Package pooled reports whether released buffers are overwritten and counted, as in builds with -race or the tag
// poison. There, tests detect a use after release and a missing release.
package pooled

import "sync/atomic"

// Held is the number of pooled buffers not yet released. It is 0 unless Poisoned.
var Held atomic.Int64
