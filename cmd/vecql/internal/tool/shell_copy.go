// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/internal/cqltext"
)

// The command COPY of cqlsh: the verbs load and unload in the shell.

// copySyntax is how COPY is written.
const copySyntax = "COPY table [(column, ...)] TO|FROM 'file' [WITH option = value AND ...]"

// copyCommands is COPY.
func copyCommands() []command {
	return []command{{
		name: "COPY", args: "table TO|FROM 'file' ...", text: "write a table to CSV, or load CSV", isLong: true,
		more: `  ` + copySyntax + `;
  TO writes CSV as COPY FROM of cqlsh reads it, FROM reads it. Several files have
  commas between them, STDOUT and STDIN are the streams. Options of both are HEADER,
  DELIMITER, QUOTE, ESCAPE, NULL, DECIMALSEP and BOOLSTYLE; of FROM also
  THOUSANDSSEP, ENCODING, SKIPCOLS, TTL, INGESTRATE, MAXPARSEERRORS, and ERRFILE for
  rejected records, as JSON lines. More: vecql load --help, vecql unload --help.
`, run: (*runner).copyTable,
	}}
}

// A copyStatement is a COPY.
type copyStatement struct {
	table   string   // CQL
	columns []string // nil means all
	isLoad  bool
	file    string // "" means a stream
	options []copyValue
}

// A copyValue is an option with its value.
type copyValue struct{ name, value string }

// copyTable runs the verb of a COPY on the cluster, the keyspace and the consistency of the shell.
func (r *runner) copyTable(ctx context.Context, arg string) error {
	s, err := parseCopy(arg)
	if err != nil {
		return err
	}
	e, cfg, level := *r.e, *r.cfg, r.consistency()
	cfg.Defaults.Consistency = level.level
	e.cfg = &cfg
	verb := newUnloadCommand(&e)
	if s.isLoad {
		verb = newLoadCommand(&e)
	}
	flags, err := s.flags()
	if err != nil {
		return err
	}
	skipped, err := r.skipped(ctx, s)
	if err != nil {
		return err
	}
	files, err := r.copyFiles(s)
	if err == nil {
		err = verb.ParseFlags(append(flags, skipped...))
	}
	if err != nil {
		return err
	}
	if s.isLoad || s.columns == nil {
		files = append([]string{s.table}, files...)
	}
	e.flags.consistency = level
	verb.SetContext(ctx)
	err = verb.RunE(verb, files)
	var usage usageError
	if errors.As(err, &usage) { // of flags that are not the user's
		return usage.err
	}
	return err
}

// copyFiles returns the files of a COPY as arguments of its verb.
func (r *runner) copyFiles(s *copyStatement) ([]string, error) {
	if s.file == "" {
		if s.isLoad && (r.shell != nil || r.e.inUsed) {
			return nil, errors.New("COPY FROM STDIN: standard input has the statements; name a file")
		}
		return []string{rowfile.Stdin}, nil
	}
	files := []string{s.file}
	if s.isLoad {
		files = strings.Split(s.file, ",")
	}
	for i, name := range files {
		if files[i] = strings.TrimSpace(name); files[i] == rowfile.Stdin {
			files[i] = "./" + files[i]
		}
		if format, _ := rowfile.ByName(name); format != 0 && format != rowfile.CSV {
			return nil, fmt.Errorf("COPY is for CSV, and the name %s is of another format: vecql load and vecql unload have it", name)
		}
	}
	return files, nil
}

// skipped returns the flags of the columns that a list of columns leaves out.
func (r *runner) skipped(ctx context.Context, s *copyStatement) (flags []string, err error) {
	if !s.isLoad || s.columns == nil {
		return nil, nil
	}
	t, err := findTable(ctx, r.session, s.table)
	if err != nil {
		return nil, err
	}
	for _, name := range s.columns {
		if t.Metadata.Columns[name] == nil {
			err := fmt.Errorf("COPY: table %s has no column %s", t.Metadata.Name, name)
			return nil, didYouMean(err, nearest(name, t.Metadata.OrderedColumns))
		}
	}
	for _, name := range t.Metadata.OrderedColumns {
		if !slices.Contains(s.columns, name) {
			flags = append(flags, skipFlag(name))
		}
	}
	return flags, nil
}

// skipFlag returns the flag of a column without a value.
func skipFlag(column string) string { return "--map=" + cqltext.QuoteIdentifier(column) + "=" }

// flags returns the flags of the verb. Options that are left out have the defaults of cqlsh.
func (s *copyStatement) flags() ([]string, error) {
	flags := []string{"--format=csv", "--dialect=" + copyFrom, "--delimiter=,", "--no-header"}
	switch {
	case s.columns != nil && s.isLoad:
		flags = append(flags, listFlag("fields", s.columns...))
	case s.columns != nil:
		quoted := make([]string, len(s.columns))
		for i, name := range s.columns {
			quoted[i] = cqltext.QuoteIdentifier(name)
		}
		flags = append(flags, "--statement=SELECT "+strings.Join(quoted, ", ")+" FROM "+s.table)
	}
	for _, v := range s.options {
		more, err := v.flags(s.isLoad)
		if err != nil {
			return nil, err
		}
		flags = append(flags, more...)
	}
	return flags, nil
}
