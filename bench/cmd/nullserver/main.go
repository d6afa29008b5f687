// SPDX-License-Identifier: Apache-2.0

// Command nullserver runs the server of the benchmarks. It prints its address and exits at the end of its input.
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
