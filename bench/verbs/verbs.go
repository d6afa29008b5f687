// SPDX-License-Identifier: Apache-2.0

// Package verbs runs the programs of the benchmarks, whose first argument is a verb.
package verbs

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// A Verb does the work of a verb with the arguments behind it, until an interrupt ends ctx.
type Verb func(ctx context.Context, args []string) error

// Main runs the verb in the first argument of the program. It exits with 2 if there is no such verb, and with 1 after
// an error, which it prints.
func Main(program string, all map[string]Verb) {
	if len(os.Args) < 2 || all[os.Args[1]] == nil {
		fmt.Fprintf(os.Stderr, "usage: %s %s ...\n", program, strings.Join(slices.Sorted(maps.Keys(all)), "|"))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := all[os.Args[1]](ctx, os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		stop()
		os.Exit(1)
	}
}
