// SPDX-License-Identifier: Apache-2.0

// Command vecql shows the driver at work. "vecql demo" stores real embeddings in a cluster, reads them back bit for bit, and searches them.
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

const usage = `vecql shows the driver at work.

  vecql demo [flags]   store real embeddings, read them back bit for bit, and search them
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

// run returns the exit code: 0 when all went well, 1 when it did not, 2 when it was called in a wrong way.
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
	fmt.Fprintf(stderr, "vecql: unknown command %q, see vecql help\n", verb)
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
	f.StringVar(&o.server, "server", serverEmbedded, "what to start: `cqltest`, a cluster within this process, or cassandra, a real one")
	f.StringVar(&o.hosts, "hosts", "", "contact points of servers that run, `host[:port],...`; then none is started")
	f.StringVar(&o.user, "user", "", "user name")
	f.StringVar(&o.password, "password", "", "password; better in the environment as VECQL_PASSWORD")
	f.StringVar(&o.ca, "ca", "", "connect with TLS and trust the certificates in this PEM `file`")
	f.StringVar(&o.keyspace, "keyspace", "vecql_demo", "keyspace to create; one of that name is dropped first, unless --keep")
	f.IntVar(&o.workers, "workers", 32, "rows written at a time")
	f.BoolVar(&o.keep, "keep", false, "use the keyspace and table if they exist, and leave them in the end")
	f.BoolVar(&o.verbose, "verbose", false, "log what the driver and the server do")
	return f, o
}

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
		err = fmt.Errorf("--server %q: cqltest or cassandra", o.server)
	case err == nil && o.workers < 1:
		err = fmt.Errorf("--workers must be at least 1")
	case err == nil && !plainName(o.keyspace):
		err = fmt.Errorf("--keyspace %q: letters, digits and underscores only", o.keyspace)
	}
	if err != nil {
		fmt.Fprintf(stderr, "vecql demo: %s, see vecql help\n", oneLine(err))
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
