// SPDX-License-Identifier: Apache-2.0

// Command nullserver is the server of the benchmarks. It prints its address and ends when its input does.
package main

import (
	"flag"

	"github.com/vecql/vecql/bench/workload"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address")
	flag.Parse()
	workload.Serve(*listen)
}
