// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/cmd/vecql/internal/tablediff"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
)

// The verb verify: whether two tables, or files and a table, have the same rows.

// A verifyJob is the flags of verify.
type verifyJob struct {
	*env
	target     targetCluster
	checkpoint checkpointFile
	files      fileFlags
	mapped     []string
	rejects    rejects
	cfg        tablediff.Config
}

// newVerifyCommand returns the verb verify.
func newVerifyCommand(e *env) *cobra.Command {
	x := &verifyJob{env: e}
	c := &cobra.Command{
		Use:   "verify TABLE|FILE... TARGET",
		Short: "Compare a table with another table or with files",
		Long: `Verify compares the rows of a table with those of the target, which may be in
another cluster, and prints the first differences. Both tables are read once, in the
order of their tokens. Their primary keys must have the same columns.

A file, a pattern or a folder in place of TABLE is compared with what loading it
into an empty table results in: each row is read by its primary key, and the table
is then searched for other rows. The exit code is 1 if there is a difference.
--map names the fields of columns, as for load: --map price=cost, or --map note=
for none. --max-errors leaves out records that are not rows, as load does.

With --checkpoint a comparison that was interrupted continues with --resume.`,
		Example: `  vecql verify shop.items backup.items
  vecql verify shop.items shop.items --to-hosts 10.1.0.1 --write-times
  vecql verify 'items-*.parquet' shop.items --tolerance 1e-6
  vecql verify shop.items backup.items --checkpoint verify.json --resume`,
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: e.completeTables,
		RunE:              func(c *cobra.Command, args []string) error { return x.run(c.Context(), args) },
	}
	e.addClusterFlags(c)
	e.addTargetFlags(c, &x.target)
	e.addProgressFlag(c)
	x.checkpoint.add(c)
	x.files.add(c, true)
	x.rejects.addFlags(c)
	f := c.Flags()
	f.StringArrayVar(&x.mapped, "map", nil, "field of a column, `COLUMN=FIELD`; repeat for several")
	f.StringSliceVar(&x.cfg.Columns, "columns", nil, "`names` of the columns to compare beside the key; default all of the source")
	f.Float64Var(&x.cfg.Tolerance, "tolerance", 0, "`difference` of equal floating-point numbers, relative to the larger of both and 1")
	f.BoolVar(&x.cfg.WriteTimes, "write-times", false, "also compare the write times of columns that are no collections")
	f.BoolVar(&x.cfg.AllowExtra, "allow-extra", false, "the target may have rows that the source does not have")
	f.IntVar(&x.cfg.Shown, "shown", 10, "`number` of differences to print")
	f.IntVar(&x.cfg.Workers, "workers", 0, "`ranges` of a table, default 8, or rows of files, default 64, at a time")
	return c
}

// run compares a table or files with a table.
func (x *verifyJob) run(ctx context.Context, args []string) error {
	switch {
	case x.cfg.Workers < 0:
		return usagef("--workers is %d, want at least 1", x.cfg.Workers)
	case x.cfg.Shown < 1:
		return usagef("--shown is %d, want at least 1", x.cfg.Shown)
	case !(x.cfg.Tolerance >= 0):
		return usagef("--tolerance is %v, want at least 0", x.cfg.Tolerance)
	}
	err := x.checkOutputs(args, outputFile{"--checkpoint", x.checkpoint.path}, outputFile{"--rejected", x.rejects.path})
	if err != nil {
		return err
	}
	if err := x.rejects.setMost(); err != nil {
		return err
	}
	if err := x.checkpoint.read(&x.cfg.Checkpoint); err != nil {
		return err
	}
	sources, target := args[:len(args)-1], args[len(args)-1]
	if _, err := os.Stat(target); err == nil {
		return usagef("%s is a file, want a table as the target: files come first", target)
	}
	if len(sources) > 1 || isFile(sources[0]) {
		return x.compareFiles(ctx, sources, target)
	}
	return x.compareTables(ctx, sources[0], target)
}

// isFile reports whether an argument is a file, a pattern or a folder, and not a table.
func isFile(arg string) bool {
	format, _ := rowfile.ByName(arg)
	return format != 0 || strings.ContainsAny(arg, `/\*?-`)
}

// compareTables compares two tables.
func (x *verifyJob) compareTables(ctx context.Context, from, to string) error {
	tables, end, err := x.openBoth(ctx, x.target, from, to)
	if err != nil {
		return err
	}
	defer end()
	d, err := tablediff.New(ctx, tables[0], tables[1], x.cfg)
	if err != nil {
		return err
	}
	return x.compare(ctx, d, d.Done, d.Run)
}

// compare runs a comparison, shows its progress, stores its checkpoints and prints its report.
func (x *verifyJob) compare(ctx context.Context, d interface {
	Report() tablediff.Report
	Checkpoint() tablediff.Checkpoint
}, done func() float64, run func(ctx context.Context) error,
) error {
	stop, err := x.startProgress(func() state {
		r := d.Report()
		return state{
			done(), counted(r.Rows, "row") + ", " + counted(r.Differences(), "difference"),
			counts{rows: uint64(r.Rows), differences: uint64(r.Differences())},
		}
	})
	if err != nil {
		return err
	}
	defer stop()
	err = x.checkpoint.run(ctx, run, func(context.Context) (any, error) { return d.Checkpoint(), nil })
	stop()
	if err = x.checkpoint.end(d.Checkpoint(), err); err != nil {
		return err
	}
	return x.printReport(d.Report())
}

// compareFiles compares files with a table.
func (x *verifyJob) compareFiles(ctx context.Context, files []string, table string) (err error) {
	switch {
	case x.cfg.WriteTimes:
		return usageError{errors.New("--write-times is for two tables: files have no write times")}
	case x.target.isSet():
		return usageError{errors.New("--to-hosts and --to-profile are for two tables")}
	}
	o, err := x.readOptions(&x.files)
	if err != nil {
		return err
	}
	session, err := x.connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	target, err := findTable(ctx, session, table)
	if err != nil {
		return err
	}
	if o.Fields, err = fieldsOf(target.Metadata, x.cfg.Columns); err != nil {
		return err
	}
	columns, err := x.mapFields(target.Metadata, &o)
	if err != nil {
		return err
	}
	defer func() { err = x.rejects.end(x.env, err) }()
	in, err := x.openInput(&o, files)
	if err != nil {
		return err
	}
	source, err := x.inputOf(ctx, in.Files())
	if err != nil {
		return err
	}
	d, err := tablediff.NewBatches(source, target, x.cfg)
	if err != nil {
		return err
	}
	err = x.compareInput(ctx, in, columns, d)
	if errors.Is(err, rowfile.ErrColumns) {
		return advise(err, "--map COLUMN=FIELD takes another field, --columns names the columns to compare")
	}
	return adviseRecord(err)
}

// mapFields gives the fields of columns the names of --map, and returns the columns. A column without a field is left
// out.
func (x *verifyJob) mapFields(t *cql.TableMetadata, o *rowfile.Options) (columns []string, err error) {
	m, err := newMapping(t, x.mapped)
	if err != nil {
		return nil, err
	}
	var fields column.Schema
	for _, f := range o.Fields {
		value, ok := m[f.Name]
		field := cqltext.UnquoteIdentifier(strings.TrimPrefix(value, ":"))
		switch {
		case !ok:
			continue
		case value != marker(field):
			return nil, usagef("--map %s=%s: want the name of a field, whose values are compared", f.Name, value)
		}
		columns = append(columns, f.Name)
		f.Name = field
		fields = append(fields, f)
	}
	o.Fields = fields
	return columns, nil
}

// openInput returns the files. Records that are not rows are rejected within the bound of the flags.
func (x *verifyJob) openInput(o *rowfile.Options, files []string) (*rowfile.Input, error) {
	in, err := rowfile.Open(*o, files...)
	if err != nil || !x.rejects.allowed() {
		return in, err
	}
	if err := x.rejects.begin(x.env, in.Files()); err != nil {
		return nil, err
	}
	o.Rejected, o.Read = x.rejects.addRecord, &x.rejects.rows
	return rowfile.Open(*o, files...)
}

// inputOf returns the text that identifies the input in a checkpoint: the names of the files, and their content.
func (x *verifyJob) inputOf(ctx context.Context, files []string) (string, error) {
	names := strings.Join(files, " ")
	switch {
	case x.checkpoint.path == "":
		return names, nil
	case slices.Contains(files, rowfile.Stdin):
		return "", usageError{errors.New("--checkpoint needs files: standard input cannot be compared with the input of another run")}
	}
	job := ""
	if c := x.cfg.Checkpoint; c != nil {
		job = c.Job
	}
	input, err := x.checkpoint.input(ctx, files, job)
	return names + input, err
}

// fieldsOf returns the fields of files: the key and the named columns, or all.
func fieldsOf(t *cql.TableMetadata, columns []string) (fields column.Schema, err error) {
	all, err := clustertable.Columns(t, t, columns)
	for _, c := range all {
		fields = append(fields, codec.ColumnField(c.Name, c.Type))
	}
	return fields, err
}

// compareInput compares the rows of files, whose fields are these columns.
func (x *verifyJob) compareInput(ctx context.Context, in *rowfile.Input, columns []string, d *tablediff.Batches) error {
	done := func() float64 { return fractionOf(in.Progress()) }
	return x.compare(ctx, d, done, func(ctx context.Context) error {
		for b, err := range in.Batches(ctx) {
			if err == nil {
				for i := range b.Columns {
					b.Columns[i].Name = columns[i]
				}
				err = d.Add(ctx, b)
			}
			if err != nil {
				return err
			}
		}
		if x.cfg.Columns == nil && len(x.mapped) == 0 { // otherwise the fields to compare are named
			x.reportUnused(in, "")
		}
		return d.Finish(ctx)
	})
}

// printReport prints the differences and the number of rows. Differences are an error.
func (x *verifyJob) printReport(r tablediff.Report) error {
	for _, d := range r.First {
		fmt.Fprintln(x.text, printableLine(d.String()))
	}
	if more := r.Differences() - int64(len(r.First)); more > 0 {
		fmt.Fprintf(x.out, "... and %d more\n", more)
	}
	if r.Differences() == 0 {
		verb := "are"
		if r.Rows == 1 {
			verb = "is"
		}
		fmt.Fprintf(x.out, "%s %s equal.\n", counted(r.Rows, "row"), verb)
		return nil
	}
	return fmt.Errorf("%s: %d missing, %d different; %d only in the target", counted(r.Rows, "row"), r.Missing,
		r.Different, r.Extra)
}
