// SPDX-License-Identifier: Apache-2.0

// Command vecql demonstrates the driver. "vecql demo" writes real embeddings to a cluster, reads them back bit for bit,
// and searches them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
)

const usage = `vecql demonstrates the driver.

  vecql demo [flags]   write real embeddings, read them back bit for bit, and search them
  vecql version        print the version
  vecql help           print this text

Flags of demo:
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns the exit code: 0 for success, 1 for an error, 2 for wrong arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	verb := "help"
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	switch verb {
	case "demo":
		return runDemo(ctx, args, stdout, stderr)
	case "version", "--version", "-version":
		fmt.Fprintln(stdout, "vecql", version())
		return 0
	case "help", "--help", "-help", "-h":
		fmt.Fprint(stdout, usage)
		flags, _ := demoFlags(stdout)
		flags.PrintDefaults()
		return 0
	}
	fmt.Fprintf(stderr, "vecql: unknown command %q; see vecql help\n", verb)
	return 2
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// demoFlags returns the flags of demo and the options that they set.
func demoFlags(output io.Writer) (*flag.FlagSet, *demoOptions) {
	o := &demoOptions{}
	f := flag.NewFlagSet("demo", flag.ContinueOnError)
	f.SetOutput(output)
	f.StringVar(&o.server, "server", serverEmbedded,
		"servers to start: `cqltest`, a cluster in this process, or cassandra, a real node")
	f.StringVar(&o.hosts, "hosts", "", "contact points, `host[:port],...`; the demo then starts no servers")
	f.StringVar(&o.user, "user", "", "user name")
	f.StringVar(&o.password, "password", "", "password; the environment variable VECQL_PASSWORD is safer")
	f.StringVar(&o.ca, "ca", "", "connect with TLS and trust the certificates in this PEM `file`")
	f.StringVar(&o.keyspace, "keyspace", "vecql_demo",
		"keyspace to create; it must not exist, unless --keep or --drop")
	f.IntVar(&o.workers, "workers", 32, "concurrent writes")
	f.BoolVar(&o.keep, "keep", false, "use the keyspace and table if they exist, and keep them at the end")
	f.BoolVar(&o.drop, "drop", false, "drop the keyspace with all its tables first if it exists")
	f.BoolVar(&o.verbose, "verbose", false, "log the driver and the server")
	return f, o
}

// runDemo executes "vecql demo" and returns the exit code: 2 for wrong arguments, 1 for any other error.
func runDemo(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags, o := demoFlags(io.Discard)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return 0
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case err == nil && o.server != serverEmbedded && o.server != serverCassandra:
		err = fmt.Errorf("--server is %q, want cqltest or cassandra", o.server)
	case err == nil && o.workers < 1:
		err = fmt.Errorf("--workers is %d, want at least 1", o.workers)
	case err == nil && !plainName(o.keyspace):
		err = fmt.Errorf("--keyspace is %q, want letters, digits and underscores", o.keyspace)
	}
	if err != nil {
		fmt.Fprintf(stderr, "vecql demo: %s; see vecql help\n", oneLine(err))
		return 2
	}
	if o.password == "" {
		o.password = os.Getenv("VECQL_PASSWORD")
	}
	d := &demo{demoOptions: *o, out: stdout, log: stderr}
	if err := d.run(ctx); err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		fmt.Fprintf(stderr, "vecql demo: %s\n", oneLine(err))
		return 1
	}
	return 0
}

// plainName reports whether s is an identifier that needs no quotes.
func plainName(s string) bool {
	for i, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != "" && len(s) <= 48
}

// oneLine returns the text of an error on one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
