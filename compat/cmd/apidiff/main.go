// SPDX-License-Identifier: Apache-2.0

// Command apidiff compares the exported names of a compat module with the names of the API that it stands for:
// constants and their values, variables, functions, types, fields and their order, methods of values and of pointers.
//
//	apidiff [-apis dir] [-compat dir] [-all] [-update] gocql|gocqlv2|scyllagocql ...
//
// It prints the differences that apis/NAME/differences.txt does not list with a reason, or with -all every difference,
// one a line: missing, extra or differs. It exits with 1 if there is one. -update rewrites the file.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/vecql/vecql/compat/cmd/internal/table"
)

// main compares the named APIs. It exits with 1 if one has a difference that is not listed, and with 2 on wrong usage.
func main() {
	o := options{out: os.Stdout}
	flag.StringVar(&o.apis, "apis", "../apis", "the folder of the lists")
	flag.StringVar(&o.compat, "compat", "..", "the folder of the compat modules")
	flag.BoolVar(&o.all, "all", false, "print listed differences too")
	flag.BoolVar(&o.update, "update", false, "rewrite the lists of differences")
	flag.Parse()
	code := 0
	for _, name := range flag.Args() {
		i := slices.IndexFunc(table.All, func(a *table.API) bool { return a.Name == name })
		if i < 0 {
			fmt.Fprintf(os.Stderr, "apidiff: no API is named %q\n", name)
			os.Exit(2)
		}
		if err := o.run(table.All[i]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if flag.NArg() == 0 {
		flag.Usage()
		code = 2
	}
	os.Exit(code)
}

type options struct {
	apis, compat string // folders
	all, update  bool
	out          io.Writer
}

// run compares one API. Packages that do not compile are compared as far as they go.
func (o options) run(a *table.API) error {
	lines, compileErr, err := o.differences(a)
	if err != nil {
		return err
	}
	if compileErr != nil {
		fmt.Fprintf(o.out, "%s does not compile:\n%v\n", a.Name, compileErr)
	}
	known, err := readList(goldenPath(o.apis, a.Name))
	if err != nil {
		return err
	}
	if o.update {
		known = known.with(lines)
		if err := known.write(goldenPath(o.apis, a.Name), a.Name); err != nil {
			return err
		}
	}
	if o.all {
		for _, line := range lines {
			fmt.Fprintln(o.out, line)
		}
	}
	if compileErr != nil {
		return fmt.Errorf("%s does not compile", a.Name)
	}
	return known.check(lines)
}

// differences loads both sides and compares them. compileErr means that the compat module has errors.
func (o options) differences(a *table.API) (lines []string, compileErr, err error) {
	original, err := loadReal(a)
	if err != nil {
		return nil, nil, err
	}
	compat, err := loadCompat(a, filepath.Join(o.compat, a.Name))
	if compat == nil {
		return nil, nil, err
	}
	return compare(original, compat), err, nil
}
