// SPDX-License-Identifier: Apache-2.0

// Package errtext makes the texts of the driver's errors.
package errtext

import "time"

// Round returns d with about three digits.
func Round(d time.Duration) time.Duration {
	unit := time.Nanosecond
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
