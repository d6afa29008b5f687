// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/cmd/vecql/internal/tablecopy"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/tablescan"
)

// The verb copy: the rows of a table to another one.

// A copyJob is the flags of copy.
type copyJob struct {
	*env
	target     targetCluster
	checkpoint checkpointFile
	columns    []string
	where      string
	noTimes    bool
	workers    int
	bulk       bulk.Options
	saved      copyCheckpoint // Tables only
}

// newCopyCommand returns the verb copy.
func newCopyCommand(e *env) *cobra.Command {
	x := &copyJob{env: e}
	c := &cobra.Command{
		Use:   "copy TABLE TARGET",
		Short: "Copy a table to another table or cluster",
		Long: `Copy reads a table by token ranges and writes its rows to another table that has
the same columns, with the write time and the time to live of each column. A value
of the target that is newer stays. Rows that only the target has stay, too.

Values are copied as the bytes that the source sends, and elements of sets, maps and
user-defined types with their own times. CQL cannot write the elements of a list one
by one: they get the latest write time and the longest time to live of their list.
Servers before Cassandra 5.0 do not report write times of collections: these get the
latest write time of their row. A note names such columns before the first row.
Tables of counters are refused.

With --checkpoint a copy that was interrupted, or killed, continues with --resume.`,
		Example: `  vecql copy shop.items backup.items
  vecql copy shop.items shop.items --to-hosts 10.1.0.1,10.1.0.2
  vecql copy shop.items shop.items --to-profile new --checkpoint copy.json
  vecql copy shop.items shop.cheap --where "price < 10 ALLOW FILTERING"`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: e.completeTables,
		RunE:              func(c *cobra.Command, args []string) error { return x.run(c.Context(), args[0], args[1]) },
	}
	e.addClusterFlags(c)
	e.addTargetFlags(c, &x.target)
	e.addProgressFlag(c)
	x.checkpoint.add(c)
	f := c.Flags()
	f.StringSliceVar(&x.columns, "columns", nil, "`names` of the columns to copy beside the key; default all")
	f.StringVar(&x.where, "where", "", "copy the rows of a `condition`")
	f.BoolVar(&x.noTimes, "no-times", false, "write with the time of now and the time to live of the target")
	f.IntVar(&x.workers, "workers", 8, "`ranges` that are read at a time")
	addBulkFlags(c, &x.bulk)
	return c
}

// run copies a table.
func (x *copyJob) run(ctx context.Context, from, to string) error {
	if x.workers < 1 {
		return usagef("--workers is %d, want at least 1", x.workers)
	}
	if err := x.checkOutputs(nil, outputFile{"--checkpoint", x.checkpoint.path}); err != nil {
		return err
	}
	var saved copyCheckpoint
	if err := x.checkpoint.read(&saved); err != nil {
		return err
	}
	tables, end, err := x.openBoth(ctx, x.target, from, to)
	if err != nil {
		return err
	}
	defer end()
	x.saved.Tables = fmt.Sprintf("%s %s to %s %s, columns %q, times %t", tables[0].Name(), tables[0].Metadata.Id,
		tables[1].Name(), tables[1].Metadata.Id, x.columns, !x.noTimes)
	if saved.Scan != nil && saved.Tables != x.saved.Tables {
		return advise(fmt.Errorf("the checkpoint %s is of another copy: it is of %s, want %s", x.checkpoint.path, saved.Tables,
			x.saved.Tables), "--resume needs the tables and the columns of the first run")
	}
	began := x.now()
	job, err := tablecopy.New(ctx, tables[0], tables[1], tablecopy.Config{
		Columns: x.columns, Where: x.where, NoTimes: x.noTimes, Bulk: x.bulk,
		Scan: tablescan.Config{Workers: x.workers, Checkpoint: saved.Scan},
	})
	if err != nil {
		return adviseTarget(err)
	}
	x.noteLists(job.Plan())
	x.noteUntimed(job.Plan())
	if err := x.copy(ctx, job); err != nil {
		return adviseTarget(err)
	}
	x.printCopied(job.Report(), x.now().Sub(began))
	return nil
}

// adviceNotNull is what to do about a table with a column that is NOT NULL, a constraint of Cassandra 6: each statement
// has to write the column, so that elements cannot be written one by one.
const adviceNotNull = "a column of the target is NOT NULL: --no-times writes whole rows"

// adviceCDC is what to do about a table of ScyllaDB with change data capture, which refuses writes of earlier times.
const adviceCDC = "the target has change data capture: --no-times writes with the time of now; or enable it after the copy"

// adviseTarget adds what to do about a target that refuses rows with their times.
func adviseTarget(err error) error {
	switch {
	case !errors.Is(err, cql.CodeInvalid):
	case strings.Contains(err.Error(), "has to be specified as part of this query"):
		return advise(err, adviceNotNull)
	case strings.Contains(err.Error(), "cdc: attempted to get a stream from an earlier generation"):
		return advise(err, adviceCDC)
	}
	return err
}

// copy runs a copy, and stores its checkpoints.
func (x *copyJob) copy(ctx context.Context, job *tablecopy.Copy) error {
	stop, err := x.startProgress(func() state {
		p, s := job.Progress(), job.Stats()
		return state{p.Done, fmt.Sprintf("%s, %.0f rows/s", counted(p.Rows, "row"), s.RowsPerSecond), countsOf(s)}
	})
	if err != nil {
		return cmp.Or(err, closeCopy(job))
	}
	defer stop()
	// A copy that is killed at once can be resumed, and a path that cannot be written to is an error before the first row.
	if err := x.checkpoint.save(x.of(job.Checkpoint())); err != nil {
		return cmp.Or(err, closeCopy(job))
	}
	err = x.checkpoint.run(ctx, job.Run, func(ctx context.Context) (any, error) {
		c, err := job.Flush(ctx)
		return x.of(c), err
	})
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.grace(err))
	defer cancel()
	checkpoint, closeErr := job.Close(ending)
	stop()
	if closeErr != nil { // not all rows of the checkpoint are written: the last one that was stored remains
		if err == nil || ctx.Err() == nil {
			err = closeErr
		}
		return x.checkpoint.end(nil, err)
	}
	return x.checkpoint.end(x.of(checkpoint), err)
}

// A copyCheckpoint is what is left of a copy.
type copyCheckpoint struct {
	Tables string                `json:"tables"` // with their ids, and what is copied
	Scan   *tablescan.Checkpoint `json:"scan"`
}

// of returns the checkpoint of this copy.
func (x *copyJob) of(scan tablescan.Checkpoint) copyCheckpoint {
	return copyCheckpoint{x.saved.Tables, &scan}
}

// grace is how long a copy waits for the rows in flight: as long as they are sent again, or a moment after an error.
func (x *copyJob) grace(err error) time.Duration {
	if err == nil {
		return x.bulk.RetryFor + time.Minute
	}
	return 5 * time.Second
}

// noteLists prints which columns of a plan get other times than they have, before the first row is written.
func (e *env) noteLists(p *tablecopy.Plan) {
	if p == nil || len(p.Lists()) == 0 {
		return
	}
	fmt.Fprintf(e.err, "note: CQL cannot write the elements of a list one by one: where their times differ, the elements of %s "+
		"get the latest write time and the longest time to live of their list\n", strings.Join(p.Lists(), ", "))
}

// noteUntimed prints which columns have no times at the source, before the first row is read.
func (e *env) noteUntimed(p *tablecopy.Plan) {
	if p == nil {
		return
	}
	if untimed := p.Untimed(); len(untimed) > 0 {
		fmt.Fprintf(e.err, "note: the source does not report the write times of %s: their elements get the latest of the row\n",
			strings.Join(untimed, ", "))
	}
}

// closeCopy ends a copy that has not begun.
func closeCopy(job *tablecopy.Copy) error {
	_, err := job.Close(context.Background()) // it has no rows
	return err
}

// printCopied prints the result.
func (x *copyJob) printCopied(r tablecopy.Report, took time.Duration) {
	fmt.Fprintf(x.out, "Copied %s in %v.\n", counted(r.Rows, "row"), took.Round(time.Millisecond))
	if r.Latest > 0 {
		fmt.Fprintf(x.out, "%s had elements with several write times: their elements got the latest.\n", counted(r.Latest, "list"))
	}
}
