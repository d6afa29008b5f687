// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package load

import "time"

func newSleep() func(d time.Duration) { return time.Sleep }
