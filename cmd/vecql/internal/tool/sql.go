// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/cmd/vecql/internal/sql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/pipe"
	"github.com/vecql/vecql/tablescan"
)

// The verb sql: SELECT statements on files and tables.

// sqlOptions are the flags of sql and of agg.
type sqlOptions struct {
	explain, stats bool
	sources        []string
	workers        int
	memory         int64
	spill          string
	files          fileFlags
	types          typeFlags
	rejects        rejects
}

// add defines the flags of a verb.
func (o *sqlOptions) add(e *env, c *cobra.Command) {
	e.addChartFlags(c)
	c.Flags().BoolVar(&o.explain, "explain", false, "print the plan, and read no rows")
	c.Flags().BoolVar(&o.stats, "stats", false, "print the rows and the time of each step to standard error")
	c.Flags().IntVar(&o.workers, "workers", 0, "`goroutines`; default the number of processors")
	c.Flags().Int64Var(&o.memory, "memory-limit", 0, "`bytes` of groups in memory, beyond which --spill-dir is needed; default no limit")
	c.Flags().StringVar(&o.spill, "spill-dir", "", "`folder` of a temporary file for groups beyond --memory-limit")
	must(c.MarkFlagDirname("spill-dir"))
	o.files.add(c, true)
	o.types.add(c)
	o.rejects.addFlags(c)
}

// newSQLCommand returns the verb sql.
func newSQLCommand(e *env) *cobra.Command {
	o := &sqlOptions{}
	c := &cobra.Command{
		Use:   "sql STATEMENT",
		Short: "Run a SELECT on files or on a whole table",
		Long: `Sql runs a SELECT statement here, not on a server: on files (Parquet, CSV, JSON
lines or Arrow; a pattern, a folder, or '-' for standard input) or on a whole
table, whose rows it reads by token ranges. "-" in place of the statement reads it
from standard input. It has this shape:

  [DESCRIBE] [WITH name AS (statement), ...]
  SELECT [DISTINCT] * [EXCLUDE (column, ...)] | expression [[AS] name], ...
  [FROM read('*.parquet', ...) | 'file.csv' | [keyspace.]table | (statement)
  [[AS] name]]
  [WHERE condition] [GROUP BY expression | ROLLUP (...) | CUBE (...), ... | ALL]
  [HAVING condition]
  [UNION [ALL] | INTERSECT | EXCEPT ...]
  [ORDER BY expression [ASC|DESC] [NULLS FIRST|LAST], ...] [LIMIT n] [OFFSET n]

Columns of CSV and JSON have the narrowest type of the first records. Aggregates
are count(*), count(x), count(distinct x), approx_count_distinct, sum,
avg, min, max, stddev, stddev_pop, variance, variance_pop, corr(x, y), median,
quantile(x, 0.9), median_exact, quantile_exact(x, 0.9), quantile_disc(x, 0.9),
mode, any_value, first, last, arg_min(x, by), arg_max(x, by), array_agg(x) and
string_agg(x, ', ' ORDER BY y), perhaps with FILTER (WHERE condition). GROUP BY
and ORDER BY accept names and positions of columns of the result. NULL comes last.
Decimals are exact; the quotient of integers is an integer. Subqueries are values,
(SELECT max(x) FROM t), members, x IN (SELECT ...), and EXISTS (SELECT ...); each
runs once, before the statement around it. Joins, window functions and the like
are refused. A name may differ from the column in case, and have the name of the
source before it. --max-errors leaves out records of files that are not rows.`,
		Example: `  vecql sql "SELECT count(*), avg(price) FROM 'items.parquet'"
  vecql sql "SELECT name, sum(price) AS total FROM 'items*.parquet' GROUP BY name"
  vecql sql "SELECT name, count(*) FROM shop.items GROUP BY name" --output csv
  vecql sql "SELECT name, max(price) FROM 'items.parquet' GROUP BY name" --chart bar
  vecql sql "SELECT max(id) FROM items" --source items=items.parquet --explain
  vecql sql "SELECT id, price FROM '-' WHERE price > 9" < items-1.csv.gz
  vecql sql "DESCRIBE 'items.parquet'"
  echo "SELECT DISTINCT name FROM 'items.parquet'" | vecql sql -`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return e.sql(c.Context(), o, args[0]) },
	}
	e.addClusterFlags(c)
	o.add(e, c)
	c.Flags().StringArrayVar(&o.sources, "source", nil, "files as a table without a keyspace: `name=pattern`")
	return c
}

// sql runs a statement.
func (e *env) sql(ctx context.Context, o *sqlOptions, text string) error {
	if text == "-" {
		input, err := io.ReadAll(e.in)
		if err != nil {
			return err
		}
		text, e.inUsed = string(input), true
	}
	s, err := sql.Parse(strings.TrimSpace(text))
	if err != nil {
		return placed(err)
	}
	return e.runStatement(ctx, o, s)
}

// runStatement runs a statement and prints its rows or its plan.
func (e *env) runStatement(ctx context.Context, o *sqlOptions, s *sql.Statement) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	out, err := e.newSink()
	if err != nil {
		return err
	}
	stats := &pipe.Stats{}
	open := func(ctx context.Context, from sql.Source) (pipe.Pipe, func() error, error) {
		return e.openSource(ctx, o, from)
	}
	defer func() { err = o.rejects.end(e, err) }()
	plan, end, err := o.plan(ctx, open, s, stats)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, end()) }()
	if o.explain {
		text, err := plan.Pipe.Explain(ctx)
		if err == nil {
			_, err = io.WriteString(e.out, text)
		}
		return placed(plan.Locate(err))
	}
	if err := writePlan(ctx, out, s, plan); err != nil || s.Describe || !o.stats {
		return err
	}
	_, err = fmt.Fprint(e.err, stats)
	return err
}

// A sourceOpener opens the files or the table of a source. The caller calls end after the last row.
type sourceOpener func(ctx context.Context, from sql.Source) (p pipe.Pipe, end func() error, err error)

// plan opens the sources of a statement and plans the statement. The caller calls end after the last row.
func (o *sqlOptions) plan(ctx context.Context, open sourceOpener, s *sql.Statement, stats *pipe.Stats,
) (plan *sql.Plan, end func() error, err error) {
	var ends []func() error // of the sources
	end = func() (err error) {
		for _, end := range ends {
			err = cmp.Or(err, end())
		}
		return err
	}
	options := sql.Options{
		Config: pipe.Config{Workers: o.workers, MemoryLimit: o.memory, SpillDir: o.spill}, DryRun: o.explain,
	}
	options.Open = func(ctx context.Context, from sql.Source) (pipe.Pipe, column.Schema, error) {
		source, end, err := open(ctx, from)
		if err != nil {
			return source, nil, err
		}
		ends = append(ends, end)
		schema, err := source.Schema(ctx)
		return source, schema, err
	}
	plan, err = s.PlanOn(ctx, options)
	if err != nil {
		_ = end() // the first error is the cause
		return nil, nil, placed(err)
	}
	config := options.Config
	config.Stats = stats
	plan.Pipe = plan.Pipe.Configure(config)
	return plan, end, nil
}

// writePlan writes the rows of the plan of a statement as one result, or its columns for DESCRIBE.
func writePlan(ctx context.Context, out rowfile.Writer, s *sql.Statement, plan *sql.Plan) (err error) {
	if s.Describe {
		return describePlan(ctx, out, plan)
	}
	defer func() { err = closeResult(out, err) }()
	if s, ok := out.(*chartSink); ok { // a result that cannot be drawn is refused before it is computed
		schema, err := plan.Pipe.Schema(ctx)
		if err == nil {
			err = s.start(schema)
		}
		if err != nil {
			return placed(plan.Locate(err))
		}
	}
	for b, err := range plan.Pipe.Batches(ctx) {
		if err == nil {
			err = out.Write(b)
		}
		if err != nil {
			return placed(plan.Locate(err))
		}
	}
	return nil
}

// describePlan writes a row for each column of a plan.
func describePlan(ctx context.Context, out rowfile.Writer, plan *sql.Plan) (err error) {
	defer func() { err = closeResult(out, err) }()
	schema, err := plan.Pipe.Schema(ctx)
	if err != nil {
		return placed(plan.Locate(err))
	}
	var types, nulls []string
	for _, f := range schema {
		types = append(types, typeName(f))
		nulls = append(nulls, map[bool]string{true: "YES", false: "NO"}[f.Nullable])
	}
	return out.Write(column.NewBatch(column.Strings("column_name", schema.Names()), column.Strings("column_type", types),
		column.Strings("null", nulls)))
}

// typeName returns the type of a column, with its fields.
func typeName(f column.Field) string {
	if len(f.Fields) == 0 {
		return f.Type.String()
	}
	fields := make([]string, len(f.Fields))
	for i, field := range f.Fields {
		fields[i] = field.Name + " " + typeName(field)
	}
	return fmt.Sprintf("%v[%s]", f.Type, strings.Join(fields, ", "))
}

// check returns an error for flags that are out of range.
func (o *sqlOptions) check() error {
	switch {
	case o.workers < 0:
		return usagef("--workers is %d, want at least 0", o.workers)
	case o.memory < 0:
		return usagef("--memory-limit is %d, want at least 0", o.memory)
	case o.memory == 0 && o.spill != "":
		return usagef("--spill-dir has no effect without --memory-limit")
	}
	return o.rejects.setMost()
}

// openSource opens the files or the table of a statement. The caller calls end after the last row.
func (e *env) openSource(
	ctx context.Context, o *sqlOptions, from sql.Source,
) (p pipe.Pipe, end func() error, err error) {
	files := from.Files
	for _, named := range o.sources {
		name, pattern, ok := strings.Cut(named, "=")
		if !ok || name == "" || pattern == "" {
			return p, nil, usagef("--source is %q, want name=pattern", named)
		}
		if from.Keyspace == "" && strings.EqualFold(name, from.Table) {
			files = append(slices.Clip(files), pattern)
		}
	}
	if from.None() {
		return pipe.Batches(column.NewBatch(column.Of("\x00", []int8{0}))), func() error { return nil }, nil
	}
	if len(files) > 0 {
		return e.openFiles(ctx, o, files)
	}
	session, err := e.connect(ctx)
	if err != nil {
		return p, nil, advise(err, "a file needs quotes: FROM '%s'", fileName(from))
	}
	table := tablescan.Source{Session: session, Table: from.Name()}
	return pipe.From(table), func() error { session.Close(); return nil }, nil
}

// fileName returns the name of the file that the name of a table may mean.
func fileName(from sql.Source) string {
	if name := from.Keyspace + "." + from.Table; from.Keyspace != "" {
		if format, _ := rowfile.ByName(name); format != 0 {
			return name
		}
	}
	return from.Table + ".parquet"
}

// A placedError is an error with the line of the statement that it is about, and a caret below its place.
type placedError struct {
	err   error
	caret string
}

func (e placedError) Error() string { return e.err.Error() }
func (e placedError) Unwrap() error { return e.err }

// placed returns an error of a statement without the name of the package, and with its place: line and column.
func placed(err error) error {
	var e *sql.Error
	if !errors.As(err, &e) {
		return err
	}
	cause := e.Err
	if strings.HasPrefix(cause.Error(), "its type is decimal;") {
		cause = advise(cause, "a decimal of CQL has any scale: cast(x as decimal(38, 2)) has one")
	}
	if caret := e.Caret(); caret != "" {
		line, column := e.Place()
		return placedError{fmt.Errorf("line %d, column %d: %w", line, column, cause), caret}
	}
	return cause
}
