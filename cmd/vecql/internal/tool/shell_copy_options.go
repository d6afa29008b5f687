// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The options of COPY as flags of load and unload.

// A copyOption is an option of COPY.
type copyOption struct {
	name   string
	isLoad bool // of FROM only
	// flags returns the flags for a value. nil means that the value is not what want says.
	flags func(value string) []string
	want  string
}

// copyOptions are the options that the verbs have, too.
var copyOptions = []copyOption{
	{"HEADER", false, headerFlag, "true or false"},
	{"DELIMITER", false, characterFlag("delimiter"), "one ASCII character"},
	{"QUOTE", false, characterFlag("quote"), "one ASCII character"},
	{"ESCAPE", false, characterFlag("escape"), "one ASCII character"},
	{"NULL", false, func(value string) []string { return []string{listFlag("null", value)} }, ""},
	{"DECIMALSEP", false, characterFlag("decimal-point"), "one ASCII character"},
	{"BOOLSTYLE", false, booleansFlag, "two words with a comma, such as yes,no"},
	{"THOUSANDSSEP", true, characterFlag("thousands"), "one ASCII character"},
	{"ENCODING", true, textFlag("encoding"), ""},
	{"SKIPCOLS", true, skipFlags, ""},
	{"TTL", true, numberFlag("ttl", "s"), "a number of seconds, at least 1"},
	{"INGESTRATE", true, numberFlag("rows-per-second", ""), "a number of rows, at least 1"},
	{"MAXPARSEERRORS", true, errorsFlag, "a number of records, or -1 for any number"},
	{"ERRFILE", true, textFlag("rejected"), ""},
}

// otherCopyOptions are the further options of cqlsh.
var otherCopyOptions = strings.Fields(`BEGINTOKEN CHUNKSIZE CONFIGFILE DATETIMEFORMAT DOUBLEPRECISION ENDTOKEN FLOATPRECISION
MAXATTEMPTS MAXBATCHSIZE MAXINSERTERRORS MAXOUTPUTSIZE MAXREQUESTS MAXROWS MINBATCHSIZE NUMPROCESSES PAGESIZE PAGETIMEOUT
PREPAREDSTATEMENTS RATEFILE REPORTFREQUENCY SKIPROWS`)

// flags returns the flags of an option.
func (v copyValue) flags(isLoad bool) ([]string, error) {
	var names []string
	for _, o := range copyOptions {
		if isLoad || !o.isLoad {
			names = append(names, o.name)
		}
		switch {
		case o.name != v.name:
			continue
		case o.isLoad && !isLoad:
			return nil, fmt.Errorf("%s is an option of COPY FROM, not of COPY TO", o.name)
		}
		flags := o.flags(v.value)
		if flags == nil {
			return nil, fmt.Errorf("%s is %q, want %s", o.name, v.value, o.want)
		}
		return flags, nil
	}
	if slices.Contains(otherCopyOptions, v.name) {
		return nil, fmt.Errorf("the option %s of COPY is not supported: leave it out; vecql load --help and vecql unload --help "+
			"list what there is", v.name)
	}
	err := fmt.Errorf("COPY has no option %s, want %s", v.name, alternatives(names))
	return nil, didYouMean(err, nearest(v.name, names))
}

func textFlag(flag string) func(string) []string {
	return func(value string) []string {
		return []string{"--" + flag + "=" + value}
	}
}

func characterFlag(flag string) func(string) []string {
	return func(value string) []string {
		if c, err := character(flag, value); err != nil || c == 0 || c >= 0x80 {
			return nil
		}
		return []string{"--" + flag + "=" + value}
	}
}

// numberFlag returns the flag of a positive number with a unit.
func numberFlag(flag, unit string) func(string) []string {
	return func(value string) []string {
		if n, err := strconv.Atoi(value); err != nil || n < 1 {
			return nil
		}
		return []string{"--" + flag + "=" + value + unit}
	}
}

// listFlag returns a flag whose value is a list, which is a record of CSV.
func listFlag(flag string, values ...string) string {
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
	}
	return "--" + flag + "=" + strings.Join(quoted, ",")
}

func headerFlag(value string) []string {
	switch strings.ToLower(value) {
	case "true":
		return []string{"--no-header=false"}
	case "false":
		return []string{"--no-header"}
	}
	return nil
}

// booleansFlag leaves out the spaces around the two words, as cqlsh does.
func booleansFlag(value string) []string {
	yes, no, ok := strings.Cut(value, ",")
	yes, no = strings.TrimSpace(yes), strings.TrimSpace(no)
	if !ok || yes == "" || no == "" || strings.Contains(no, ",") {
		return nil
	}
	return []string{"--booleans=" + yes + "," + no}
}

// skipFlags returns the flags of columns whose fields are not loaded.
func skipFlags(value string) (flags []string) {
	for name := range strings.SplitSeq(value, ",") {
		flags = append(flags, skipFlag(strings.TrimSpace(name)))
	}
	return flags
}

// errorsFlag returns the flag of a number of bad records.
func errorsFlag(value string) []string {
	n, err := strconv.Atoi(value)
	switch {
	case err != nil || n < -1:
		return nil
	case n < 0:
		return []string{"--max-errors=100%"}
	}
	return []string{"--max-errors=" + value}
}
