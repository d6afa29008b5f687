// SPDX-License-Identifier: Apache-2.0

// Command cassandra starts one node of Cassandra, prints its address, host:port, and stops the node when it is
// interrupted: "cassandra -Xmx2g". Arguments are options of the JVM.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/vecql/vecql/internal/cassandra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cassandra:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, jvm []string) error {
	c, err := cassandra.Start(ctx, cassandra.Options{
		JVM: jvm,
		Log: func(a ...any) { fmt.Fprintln(os.Stderr, a...) },
		Set: map[string]any{"commitlog_total_space": "512MiB"},
	})
	if err != nil {
		return err
	}
	fmt.Println(c.Nodes[0].Addr())
	<-ctx.Done()
	return c.Close()
}
