// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/cmd/vecql/internal/tablecopy"
	"github.com/vecql/vecql/column"
)

// The verb load: rows of files to a table.

// A load is the flags and the state of the verb load.
type load struct {
	files  fileFlags
	types  typeFlags
	o      bulk.Options
	create bool
	key    string

	table, statement          string
	mapped                    []string
	refuseExtra, allowMissing bool
	ttl                       time.Duration
	ttlField, timestampField  string
	timestamp                 int64
	counters, times           bool
	checkpoint                checkpointFile
	dryRun                    bool
	summary                   string

	statements  []loadStatement
	fields      column.Schema // of the rows
	copied      []string      // the columns of the table in the order of COPY
	keys        []string      // the fields of the partition key
	consistency consistencyFlag
	target      clustertable.Table // with --times
	plan        *tablecopy.Plan    // nil without --times
	input       string             // the part of the job that identifies the input
	stream      *inputLog          // nil unless standard input is read with a checkpoint
	rejects     rejects
}

// newLoadCommand returns the verb with its flags.
func newLoadCommand(e *env) *cobra.Command {
	l := &load{}
	c := &cobra.Command{
		Use:   "load TABLE FILE...",
		Short: "Write the rows of files to a table",
		Long: `Load writes the rows of Parquet, CSV, JSON lines and Arrow files to a table, plain
or in gzip or zstd. A file may be a pattern, a folder, or - for standard input. A
field goes to the column of its name; --map changes that:

  --map price=cost             the field cost
  --map 'added=toTimestamp(now())'  a call; --map "kind='book'" is a literal
  --map note=                  no value
  --map 'price="net(EUR)"'     a field whose name looks like a call

NULL leaves a column as it is. With --checkpoint a load that was interrupted, or
killed, continues with --resume: no row is lost, and a row is written again only
where that changes nothing. --resume without a checkpoint starts the load, so that
one command line serves both. The input must be that of the first run: --checkpoint
keeps the size, the time and the SHA-256 of each file, and hashes of standard input.
A statement that is not idempotent leaves at most 64 rows in doubt after a kill,
which are rejected.

With --create the table is made first, unless it exists, with the columns of the
files; --primary-key names its key. vecql describe prints the statement.

--max-errors allows a number of bad records, or a percentage of all records, which
is tested from 1,000 records on and at the end. The first rejected records are
printed, and the exit code is 3, unless --rejected keeps them in a file.`,
		Example: `  vecql load shop.items items.parquet
  vecql load shop.items 'items-*.csv.gz' --max-errors 1% --rejected bad.jsonl
  vecql load shop.made items.parquet --create --primary-key id
  vecql load shop.items new/ --checkpoint load.json
  vecql load shop.items new/ --checkpoint load.json --resume
  vecql load --statement "DELETE FROM shop.items WHERE id = :id" gone.csv
  zcat items.csv.gz | vecql load shop.items - --format csv`,
		RunE: func(c *cobra.Command, args []string) error { return e.load(c.Context(), l, args) },
	}
	e.addClusterFlags(c)
	e.addProgressFlag(c)
	l.files.add(c, true)
	l.addFlags(c)
	return c
}

// addFlags defines the verb's flags of statements, bounds and errors.
func (l *load) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&l.statement, "statement", "", "execute this `INSERT, UPDATE or DELETE` with markers such as :id, in place of TABLE")
	f.BoolVar(&l.create, "create", false, "create the table for the columns of the files, unless it exists; needs --primary-key")
	f.StringVar(&l.key, "primary-key", "", "primary `key` of the table that --create makes, CQL such as id or (tenant, day), id")
	l.types.add(c)
	f.StringArrayVar(&l.mapped, "map", nil, "value of a column, `COLUMN=FIELD`; repeat for several")
	f.BoolVar(&l.refuseExtra, "refuse-extra", false, "fields that have no column are an error")
	f.BoolVar(&l.allowMissing, "allow-missing", false, "columns that have no field are NULL")
	f.BoolVar(&l.o.WriteNulls, "write-nulls", false, "NULL deletes the value of its column, and leaves a tombstone")
	f.DurationVar(&l.ttl, "ttl", 0, "time to live of all rows, a `duration` such as 24h")
	f.StringVar(&l.ttlField, "ttl-field", "", "`field` with the time to live of each row, in seconds")
	f.Int64Var(&l.timestamp, "timestamp", 0, "write time of all rows, in `microseconds` since 1970")
	f.StringVar(&l.timestampField, "timestamp-field", "", "`field` with the write time of each row, in microseconds since 1970")
	f.BoolVar(&l.times, "times", false, "keep the write time and the time to live of each column, from files of unload --times")
	f.BoolVar(&l.counters, "counters", false, "add to counters")
	f.BoolVar(&l.o.AssumeIdempotent, "idempotent", false, "executing --statement twice has the effect of executing it once")
	l.rejects.addFlags(c)
	l.checkpoint.add(c)
	f.BoolVar(&l.dryRun, "dry-run", false, "read and check all records, and write nothing")
	addBulkFlags(c, &l.o)
	f.StringVar(&l.summary, "summary", "text", "`form` of the summary at the end: text or json")
}

// addBulkFlags defines a verb's flags of a writer.
func addBulkFlags(c *cobra.Command, o *bulk.Options) {
	f := c.Flags()
	f.Float64Var(&o.RowsPerSecond, "rows-per-second", 0, "highest `rate`; 0 means no limit")
	f.Float64Var(&o.BytesPerSecond, "bytes-per-second", 0, "highest `rate`; 0 means no limit")
	f.IntVar(&o.MaxInFlight, "max-in-flight", 1024, "highest `number` of requests at a time")
	f.IntVar(&o.BatchPartitions, "batch-partitions", 10, "highest `number` of partitions of a request of small rows")
	f.DurationVar(&o.RetryFor, "retry-for", 5*time.Minute, "`time` for which a row is sent again after a failure that may pass")
}

// check returns a usage error for flags that contradict each other, and sets the table and the files of arguments.
func (l *load) check(args []string) (files []string, err error) {
	if l.statement != "" {
		if l.statement, err = oneStatement(l.statement); err != nil {
			return nil, err
		}
	} else if len(args) > 0 {
		l.table, args = args[0], args[1:]
	}
	if err := checkFlags([]flagFault{
		{l.statement == "" && l.table == "", "a table or --statement is missing"},
		{len(args) == 0, "no file is named; - is standard input"},
		{
			l.statement != "" && (len(l.mapped) > 0 || l.using() != "" || l.counters),
			"--map, --ttl, --timestamp and --counters make a statement, but --statement is set",
		},
		{
			l.times && (len(l.mapped) > 0 || l.using() != "" || l.counters || l.statement != "" || l.o.WriteNulls),
			"--times has statements of its own: --statement, --map, --ttl, --timestamp, --counters and --write-nulls do not apply",
		},
		{l.create && l.statement != "", "--create makes the table of a name, but --statement is set"},
		{l.create && l.dryRun, "--dry-run writes nothing, and --create would make a table: vecql describe prints it"},
		{l.create != (l.key != ""), "--create and --primary-key belong together, such as --create --primary-key id"},
		{l.create && (l.times || l.counters), "--create makes tables without counters and times: --times and --counters do not apply"},
		{l.ttl != 0 && l.ttlField != "", "--ttl and --ttl-field are both set"},
		{l.ttl < 0 || l.ttl%time.Second != 0 || l.ttl/time.Second > math.MaxInt32, "--ttl is not a number of seconds"},
		{l.timestamp != 0 && l.timestampField != "", "--timestamp and --timestamp-field are both set"},
		{l.summary != "text" && l.summary != "json", "--summary is neither text nor json"},
	}); err != nil {
		return nil, err
	}
	l.o.Checkpoint, l.o.CheckpointEvery = l.checkpoint.path, l.checkpoint.every
	return args, l.rejects.setMost()
}

// load executes the verb.
func (e *env) load(ctx context.Context, l *load, args []string) (err error) {
	names, err := l.check(args)
	if err != nil {
		return err
	}
	o, err := e.readOptions(&l.files)
	if err != nil {
		return err
	}
	in, err := rowfile.Open(o, names...)
	if err != nil { // before a connection is opened
		return err
	}
	resumes, err := e.prepareInput(ctx, l, &o, in.Files())
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, l.stream.close()) }()
	cfg, err := e.clusterConfig()
	if err != nil {
		return err
	}
	l.consistency = e.flags.consistency
	session, err := e.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer session.Close()
	if l.create {
		if o.Types, err = l.types.fields(); err == nil {
			if l.rejects.allowed() { // such records are rejected when the rows are read
				o.Rejected = func(*rowfile.RecordError) error { return nil }
			}
			o, err = rowfile.Infer(ctx, o, l.types.sample, names...)
			err = adviseRecord(err)
		}
		if err == nil {
			err = l.createTable(ctx, session, o.Fields)
		}
		if err != nil {
			return err
		}
	}
	if err := l.setStatements(ctx, session); err != nil {
		return err
	}
	e.noteLists(l.plan)
	if err := l.rejects.open(resumes); err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, l.rejects.close()) }()
	o.Fields, o.RefuseExtra, o.AllowMissing = l.fields, l.refuseExtra, l.allowMissing
	if o.Dialect.NoHeader && o.Dialect.Columns == nil && l.files.copyForm != "" {
		o.Dialect.Columns = l.copied
	}
	if l.plan != nil { // files of servers that do not report them
		o.Optional = l.plan.CollectionTimes()
	}
	o.Records, o.Rejected = l.rejects.path != "", l.rejects.addRecord
	if in, err = rowfile.Open(o, names...); err != nil {
		return err
	}
	if l.dryRun {
		return e.loadRows(ctx, l, &rowChecker{l: l, session: session, began: time.Now()}, in)
	}
	w, err := l.open(ctx, session)
	if err != nil {
		return l.explained(err)
	}
	return e.loadRows(ctx, l, w, in)
}

// prepareInput checks the files of the flags and identifies the input. resumes reports whether an earlier run is
// continued.
func (e *env) prepareInput(ctx context.Context, l *load, o *rowfile.Options, files []string) (resumes bool, err error) {
	err = e.checkOutputs(files, outputFile{"--checkpoint", l.checkpoint.path}, outputFile{"--rejected", l.rejects.path})
	if err != nil {
		return false, err
	}
	if resumes, err = l.checkpoint.exists(); err != nil || l.checkpoint.path == "" || l.dryRun {
		return resumes, err
	}
	var earlier bulk.Checkpoint
	if err := l.checkpoint.read(&earlier); err != nil {
		return resumes, err
	}
	if l.input, err = l.checkpoint.input(ctx, files, earlier.Job); err != nil {
		return resumes, err
	}
	if slices.Contains(files, rowfile.Stdin) {
		l.stream, err = openInputLog(o.Stdin, l.checkpoint.path+".input", resumes)
		o.Stdin = l.stream
	}
	return resumes, err
}
