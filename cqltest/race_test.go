// SPDX-License-Identifier: Apache-2.0

//go:build race

package cqltest

const (
	raced      = true
	raceFactor = 20 // time goes slowly under the race detector
)
