// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"encoding/csv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
)

// The flags of files: format, punctuation of CSV, spellings of values.

// fileFlags are the flags of verbs that read or write files of rows.
type fileFlags struct {
	format, encoding                  string
	copyForm                          string // copyTo, copyFrom or ""
	delimiter, quote, escape, comment string
	noHeader                          bool
	fields                            []string
	skipLines                         int

	nulls                    textsFlag
	quotedNulls              bool
	booleans                 string
	dates, times, timestamps []string // layouts; the first one is written
	zone                     string
	epochUnit                time.Duration
	decimal, thousands       string
	binary                   string
}

// The values of --dialect: what COPY of cqlsh writes is not what it reads.
const (
	copyTo   = "copy-to"
	copyFrom = "copy-from"
)

// add defines the flags of a verb. reading adds those that matter for input only.
func (f *fileFlags) add(c *cobra.Command, reading bool) {
	set := pflag.NewFlagSet("files", pflag.ContinueOnError)
	set.StringVar(&f.format, "format", "auto", "`format` of files: parquet, csv, json (one object per line), arrow, or auto, by name")
	set.StringVar(&f.copyForm, "dialect", "", "`dialect` of CSV: copy-from, as COPY FROM of cqlsh reads it, or copy-to, as COPY TO writes it, which is only read")
	set.StringVar(&f.delimiter, "delimiter", "", "`character` between fields of CSV; \\t is a tab; default a comma, in .tsv files a tab")
	set.StringVar(&f.quote, "quote", `"`, "`character` around fields of CSV")
	set.StringVar(&f.escape, "escape", "", "`character` before a quote in a field of CSV; default the quote itself")
	set.BoolVar(&f.noHeader, "no-header", false, "CSV has no header")
	set.Var(&f.nulls, "null", "`text,...` that is NULL in CSV; the first is written; '' is the empty text, the default")
	set.StringVar(&f.booleans, "booleans", "", "words of `true,false`")
	set.StringArrayVar(&f.dates, "date-format", nil, "`layout` of dates, by the example 2006-01-02 of package time of Go, iso, or epoch: days; repeat for several")
	set.StringArrayVar(&f.times, "time-format", nil, "`layout` of times, by the example 15:04:05.000, iso, or epoch: nanoseconds; repeat for several")
	set.StringArrayVar(&f.timestamps, "timestamp-format", nil, "`layout` of timestamps, by the example 2006-01-02T15:04:05Z07:00, iso, or epoch; repeat for several")
	set.StringVar(&f.zone, "time-zone", "UTC", "time `zone` of timestamps without one, such as Europe/Berlin")
	set.DurationVar(&f.epochUnit, "epoch-unit", 0, "`unit` of timestamps that are numbers: 1s, 1ms, 1us, 1ns (default 1ms)")
	set.StringVar(&f.decimal, "decimal-point", ".", "`character` before the fraction of numbers in CSV")
	set.StringVar(&f.binary, "blobs", "hex", "`encoding` of blobs: hex, with 0x, or base64")
	if reading {
		set.StringVar(&f.encoding, "encoding", "", "`encoding` of CSV and JSON, such as utf-16le, latin1 or windows-1252; default UTF-8, and UTF-16 with a byte order mark")
		set.StringVar(&f.comment, "comment", "", "`character` at the start of lines of CSV that are no records")
		set.StringSliceVar(&f.fields, "fields", nil, "`names` of the fields of CSV; default the names in the header")
		set.IntVar(&f.skipLines, "skip-lines", 0, "`lines` of CSV before the header")
		set.BoolVar(&f.quotedNulls, "quoted-nulls", false, "a text of --null in quotes is NULL, too")
		set.StringVar(&f.thousands, "thousands", "", "`character` between groups of digits in CSV")
	}
	addGroup(c, set, fileGroup)
	must(c.RegisterFlagCompletionFunc("format",
		cobra.FixedCompletions([]string{"auto", "parquet", "csv", "json", "arrow"}, cobra.ShellCompDirectiveNoFileComp)))
	must(c.RegisterFlagCompletionFunc("dialect",
		cobra.FixedCompletions([]string{copyFrom, copyTo}, cobra.ShellCompDirectiveNoFileComp)))
}

// character returns the one character of a flag, 0 for an empty value.
func character(flag, value string) (byte, error) {
	if value == `\t` {
		value = "\t"
	}
	switch len(value) {
	case 0:
		return 0, nil
	case 1:
		return value[0], nil
	}
	return 0, usagef("--%s is %q, want one ASCII character", flag, value)
}

// dialect returns the punctuation of CSV.
func (f *fileFlags) dialect() (d rowfile.Dialect, err error) {
	d = rowfile.Dialect{NoHeader: f.noHeader, Columns: f.fields, SkipLines: f.skipLines}
	for _, c := range []struct {
		to          *byte
		flag, value string
	}{
		{&d.Comma, "delimiter", f.delimiter},
		{&d.Quote, "quote", f.quote},
		{&d.Escape, "escape", f.escape},
		{&d.Comment, "comment", f.comment},
	} {
		if *c.to, err = character(c.flag, c.value); err != nil {
			return d, err
		}
	}
	switch {
	case f.copyForm == "":
	case f.copyForm != copyTo && f.copyForm != copyFrom:
		return d, usagef("--dialect is %q, want copy-from or copy-to", f.copyForm)
	case d.Escape == d.Quote: // ESCAPE='"' of COPY: a quote is doubled
		d.Escape = 0
	default:
		d.EscapeAny = true
		if d.Escape == 0 {
			d.Escape = '\\'
		}
	}
	return d, nil
}

// textsFlag is a flag of texts, divided by commas. It may be repeated, and an empty value is the empty text.
type textsFlag []string

// String implements pflag.Value.
func (t *textsFlag) String() string { return strings.Join(*t, ",") }

// Type implements pflag.Value.
func (*textsFlag) Type() string { return "strings" }

// Set implements pflag.Value.
func (t *textsFlag) Set(value string) error {
	if value == "" {
		*t = append(*t, "")
		return nil
	}
	more, err := csv.NewReader(strings.NewReader(value)).Read()
	*t = append(*t, more...)
	return err
}

// layouts returns the first layout of a flag, and the others.
func layouts(flag []string) (first string, more []string) {
	for i, layout := range flag {
		if strings.EqualFold(layout, "iso") {
			layout = ""
		}
		if i == 0 {
			first = layout
			continue
		}
		more = append(more, layout)
	}
	return first, more
}

// values returns the spellings of values.
func (f *fileFlags) values() (v rowfile.Values, err error) {
	v = rowfile.Values{
		Nulls: f.nulls, QuotedNulls: f.quotedNulls, EpochUnit: f.epochUnit, Base64: f.binary == "base64",
		CopyTo: f.copyForm == copyTo,
	}
	v.Date, v.MoreDates = layouts(f.dates)
	v.Time, v.MoreTimes = layouts(f.times)
	v.Timestamp, v.MoreTimestamps = layouts(f.timestamps)
	if f.binary != "hex" && f.binary != "base64" {
		return v, usagef("--blobs is %q, want hex or base64", f.binary)
	}
	if f.booleans != "" {
		var ok bool
		if v.True, v.False, ok = strings.Cut(f.booleans, ","); !ok {
			return v, usagef("--booleans is %q, want two words with a comma", f.booleans)
		}
	}
	if v.Zone, err = time.LoadLocation(f.zone); err != nil {
		return v, usagef("--time-zone: %w", err)
	}
	if v.DecimalPoint, err = character("decimal-point", f.decimal); err == nil {
		v.Thousands, err = character("thousands", f.thousands)
	}
	return v, err
}

// readOptions returns the options of rowfile for reading.
func (e *env) readOptions(f *fileFlags) (o rowfile.Options, err error) {
	o.Stdin = e.in
	if o.Format, err = rowfile.ParseFormat(f.format); err != nil {
		return o, usagef("--format: %w", err)
	}
	if o.Encoding, err = rowfile.ParseEncoding(f.encoding); err != nil {
		return o, usagef("--encoding: %w", err)
	}
	if o.Dialect, err = f.dialect(); err != nil {
		return o, err
	}
	o.Values, err = f.values()
	return o, err
}

// writeOptions returns the options of rowfile for writing.
func (f *fileFlags) writeOptions(compression string) (o rowfile.WriterOptions, err error) {
	if o.Format, err = rowfile.ParseFormat(f.format); err != nil {
		return o, usagef("--format: %w", err)
	}
	if o.Compression, err = rowfile.ParseCompression(compression); err != nil {
		return o, usagef("--file-compression: %w", err)
	}
	if o.Dialect, err = f.dialect(); err != nil {
		return o, err
	}
	o.Values, err = f.values()
	switch {
	case err != nil:
		return o, err
	case f.copyForm == copyTo:
		return o, usagef("--dialect copy-to is read only; COPY FROM reads copy-from")
	case f.copyForm == copyFrom && o.Values.Timestamp == "":
		o.Values.Timestamp = rowfile.Epoch // COPY FROM may cut a millisecond from other forms
	}
	return o, nil
}
