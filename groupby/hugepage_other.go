// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package groupby

import "unsafe"

func adviseHuge(unsafe.Pointer, int) {}
