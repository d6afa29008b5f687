// SPDX-License-Identifier: Apache-2.0

//go:build !race

package cqltest

const (
	raced      = false
	raceFactor = 5 // also enough for a busy machine
)
