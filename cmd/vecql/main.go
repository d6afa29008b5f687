// SPDX-License-Identifier: Apache-2.0

// Command vecql works with tables of Cassandra and ScyllaDB: see README.md, or vecql help.
package main

import (
	"os"

	"github.com/vecql/vecql/cmd/vecql/internal/tool"
)

func main() { os.Exit(tool.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
