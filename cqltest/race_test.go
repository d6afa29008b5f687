// SPDX-License-Identifier: Apache-2.0

//go:build race

package cqltest

const (
	raced      = true
	raceFactor = 20 // the race detector slows code down
)
