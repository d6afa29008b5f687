// SPDX-License-Identifier: Apache-2.0

//go:build race

package codec

// race reports whether the race detector is on. It makes these tests slow, so they use fewer values.
const race = true
