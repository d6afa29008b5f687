// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The command PSET: how results are printed.

// A printOption is an option of PSET.
type printOption struct {
	name     string
	isSwitch bool // without a value it changes between ON and OFF
	// set sets the option. An empty value prints it.
	set func(r *runner, value string) error
}

// printOptions are all options.
var printOptions = []printOption{
	{"format", false, (*runner).setFormat},
	{"null", false, (*runner).setNull},
	{"pager", true, (*runner).setPager},
	{"expanded", true, func(r *runner, value string) error { return r.onOff("Expanded", &r.o.expand, value) }},
}

// pset sets or prints an option, or prints all of them.
func (r *runner) pset(_ context.Context, arg string) error {
	name, value, _ := strings.Cut(arg, " ")
	value = strings.TrimSpace(value)
	var names []string
	for _, o := range printOptions {
		names = append(names, o.name)
		switch {
		case arg == "":
			_ = o.set(r, "") // prints it
		case !strings.EqualFold(o.name, name):
		case o.isSwitch:
			return o.set(r, cmp.Or(value, toggle))
		default:
			return o.set(r, value)
		}
	}
	if arg == "" {
		return nil
	}
	return didYouMean(fmt.Errorf("PSET has no option %s, want %s", name, alternatives(names)), nearest(name, names))
}

// psetFormats are the formats that have any number of results in a file.
var psetFormats = []string{"table", "json", "csv"}

// setFormat sets the format of the next results.
func (r *runner) setFormat(value string) error {
	if value != "" {
		format := strings.ToLower(unquoted(value))
		if !slices.Contains(psetFormats, format) {
			err := fmt.Errorf("FORMAT is %s, want %s; --output has formats of files", value, alternatives(psetFormats))
			return didYouMean(err, nearest(format, psetFormats))
		}
		if err := r.e.refuseBinary("is for one result in a file, and PSET would change the format"); err != nil {
			return err
		}
		r.e.output = format
	}
	r.printSetting(value, "Format is %s.\n", cmp.Or(r.e.output, "table"))
	return nil
}

// setNull sets the text of NULL.
func (r *runner) setNull(value string) error {
	if value != "" {
		text := unquoted(value)
		if strings.ContainsAny(text, ",\"\r\n") {
			return fmt.Errorf("NULL is %q, want a text without comma, double quote and line break, which csv needs", text)
		}
		r.o.null = &text
	}
	shown := "NULL in tables, empty in csv"
	if r.o.null != nil {
		shown = strconv.Quote(*r.o.null)
	}
	r.printSetting(value, "Null is %s.\n", shown)
	return nil
}

// setPager switches the pager.
func (r *runner) setPager(value string) error {
	on := !r.o.noPager
	err := r.onOff("Pager", &on, value)
	r.o.noPager = !on
	return err
}
