// SPDX-License-Identifier: Apache-2.0

//go:build !driverlib

package main

import "fmt"

func main() { fmt.Println("This is a shared library: see make adbc.") }
