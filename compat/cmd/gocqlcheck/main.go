// SPDX-License-Identifier: Apache-2.0

// Command gocqlcheck lists where a program that uses gocql behaves differently on vecql's compat modules. Run it in the
// folder of the program's module, before or after the replace directive is added:
//
//	go run github.com/vecql/vecql/compat/cmd/gocqlcheck@latest ./...
//
// It reads uses of gocql v1, of Apache's gocql v2 and of ScyllaDB's fork, in tests too. Each line has a place, a name
// and what differs. The end is a summary with the directives to add.
//
// Exit codes: 0 means nothing to look at, 1 findings, 2 wrong usage or a program that cannot be loaded.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/vecql/vecql/compat/cmd/internal/table"
)

func main() {
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: gocqlcheck packages ...") }
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	os.Exit(run(".", flag.Args(), os.Stdout, os.Stderr))
}

// run checks the packages of the module in the folder and returns the exit code.
func run(dir string, patterns []string, out, problems io.Writer) int {
	r, err := check(dir, patterns)
	if err != nil {
		fmt.Fprintln(problems, "gocqlcheck:", err)
		return 2
	}
	for _, err := range r.errors {
		fmt.Fprintln(problems, "gocqlcheck:", err)
	}
	for _, f := range r.findings {
		fmt.Fprintf(out, "%s:%d: %s: %s\n", f.at.Filename, f.at.Line, f.name, f.text)
	}
	r.summary(out)
	if len(r.findings) > 0 {
		return 1
	}
	return 0
}

// summary writes the numbers of findings and packages, and what to add to go.mod.
func (r *report) summary(out io.Writer) {
	if len(r.used) == 0 {
		fmt.Fprintln(out, "No package uses gocql.")
		return
	}
	version, root := version(), sourceRoot()
	for _, a := range r.used {
		fmt.Fprintf(out, "\nThe program uses %s. Lines of go.mod that put vecql in its place:\n\n", a.Title)
		if version != "" {
			fmt.Fprintf(out, "\treplace %s => github.com/vecql/vecql/compat/%s %s\n", a.Module, a.Name, version)
			continue
		}
		fmt.Fprintf(out, "\treplace %s => %s/compat/%s\n", a.Module, root, a.Name)
		fmt.Fprintf(out, "\treplace github.com/vecql/vecql => %s\n", root)
	}
	if r.older != "" && slices.Contains(r.used, table.V1) {
		fmt.Fprintf(out, "\nThe program requires gocql %s. Move it to v1.7.0 first and run its tests: the compat module has the "+
			"names, the meanings and the defaults of v1.7, such as timeouts of 11 seconds in place of 600 milliseconds.\n\n"+
			"\tgo get %s@v1.7.0\n", r.older, table.V1.Module)
	}
	fmt.Fprintf(out, "\nfindings: %d, packages that use gocql: %d\n", len(r.findings), len(r.packages))
}

// version returns the version of this command, which is released with the compat modules, "" for a build of a working
// tree.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "(devel)" || strings.Contains(info.Main.Version, "+dirty") {
		return ""
	}
	return info.Main.Version
}

// sourceRoot returns the folder of the driver that this command was built from, "../vecql" if it is gone.
func sourceRoot() string {
	const below = 4 // compat/cmd/gocqlcheck/main.go
	_, root, _, _ := runtime.Caller(0)
	for range below {
		root = filepath.Dir(root)
	}
	if _, err := os.Stat(filepath.Join(root, "compat", "gocql", "go.mod")); err != nil {
		return "../vecql"
	}
	return root
}
