// SPDX-License-Identifier: Apache-2.0

//go:build race

package tests

// underRace says that the race detector is on: everything takes ten times as long, so tests of many requests make do with fewer.
const underRace = true
