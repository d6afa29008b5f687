// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql/cmd/vecql/internal/migrate"
	"github.com/vecql/vecql/column"
)

// The verb migrate: files of CQL, each once.

// A migration is the flags of the verb.
type migration struct {
	table            string
	status, dryRun   bool
	to               int64
	executed         bool
	lockFor, waitFor time.Duration
}

// newMigrateCommand returns the verb migrate.
func newMigrateCommand(e *env) *cobra.Command {
	m := &migration{}
	c := &cobra.Command{
		Use:   "migrate FOLDER",
		Short: "Apply files of CQL to a keyspace, each once",
		Long: `Migrate executes the statements of the files of a folder that were not executed
yet, in the order of their versions: the numbers at the start of their names, as in
001_create_items.cql or V2__prices.cql. A table of the keyspace (--keyspace) has
what was applied. A file that was applied must not change, except for comments and
space between statements.

Each statement waits for the schema agreement of the one before. After a failure,
or a kill, mend the statement and run again: the run continues with it. One run
works at a time, by a lock in the table, which ends by itself if its run is killed.
Files that end in .down.cql are left out.`,
		Example: `  vecql migrate migrations --keyspace shop
  vecql migrate migrations --keyspace shop --status
  vecql migrate migrations --keyspace shop --dry-run
  vecql migrate migrations --keyspace shop --to 1`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return e.migrate(c.Context(), m, args[0]) },
	}
	e.addClusterFlags(c)
	e.addOutputFlag(c)
	f := c.Flags()
	f.BoolVar(&m.status, "status", false, "print the state of each file, and execute nothing")
	f.BoolVar(&m.dryRun, "dry-run", false, "print the statements to execute, and execute nothing")
	f.Int64Var(&m.to, "to", math.MaxInt64, "apply files up to this `version`")
	f.BoolVar(&m.executed, "executed", false, "the statement that an earlier run was ended in was executed")
	f.StringVar(&m.table, "table", "vecql_migrations", "`name` of the table of what was applied")
	f.DurationVar(&m.lockFor, "lock-for", 5*time.Minute, "`time` after which the lock of a killed run ends; longer than a statement takes")
	f.DurationVar(&m.waitFor, "wait", 0, "`time` to wait for another run")
	return c
}

// migrate executes the verb.
func (e *env) migrate(ctx context.Context, m *migration, folder string) error {
	if m.lockFor < time.Second || m.waitFor < 0 {
		return usagef("--lock-for is %v and --wait %v, want at least 1s and 0s", m.lockFor, m.waitFor)
	}
	files, err := migrate.Read(folder)
	if err != nil {
		return err
	}
	cfg, err := e.readConfig()
	if err != nil {
		return err
	}
	if cfg.Keyspace == "" {
		return usagef("--keyspace is not set: it has the table of what was applied, and the tables of statements without a keyspace")
	}
	session, err := e.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer session.Close()
	host, _ := os.Hostname() // of people; the process is enough for the lock
	r := &migrate.Runner{
		Session: session, Keyspace: cfg.Keyspace, Table: m.table, LockFor: m.lockFor, Wait: m.waitFor, Executed: m.executed,
		Owner:  fmt.Sprintf("process %d on %s since %s", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339)),
		Report: e.reportStatement,
	}
	if m.status || m.dryRun {
		states, err := r.Status(ctx, files)
		if err == nil && m.dryRun {
			e.printPending(states, m.to)
			return nil
		}
		return withEnd(e.printStates(states), adviseMigration(err))
	}
	return adviseMigration(r.Apply(ctx, files, m.to))
}

// reportStatement prints a statement that was executed.
func (e *env) reportStatement(s *migrate.State, statement int, executed bool) {
	if executed {
		first, _, _ := strings.Cut(s.Statements[statement], "\n")
		fmt.Fprintf(e.text, "%s: %d of %d: %s\n", s.Name, statement+1, len(s.Statements), first)
	}
}

// printStates prints a row for each file.
func (e *env) printStates(states []migrate.State) error {
	versions, names, texts := make([]int64, len(states)), make([]string, len(states)), make([]string, len(states))
	applied, never := make([]int64, len(states)), make([]bool, len(states))
	for i := range states {
		s := &states[i]
		versions[i], names[i], texts[i] = s.Version, s.Name, s.String()
		if never[i] = s.Record == nil || s.Record.Applied == nil; !never[i] {
			applied[i] = s.Record.Applied.UnixMilli()
		}
	}
	at := column.Of("applied", applied).WithNulls(never)
	at.Type = column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true}
	b := column.NewBatch(column.Of("version", versions), column.Strings("file", names), column.Strings("state", texts), at)
	return e.writeResult(func(yield func(*column.Batch, error) bool) { yield(b, nil) })
}

// printPending prints the statements that a run up to a version would execute.
func (e *env) printPending(states []migrate.State, to int64) {
	for i := range states {
		s := &states[i]
		if pending := s.Pending(); s.Version <= to && len(pending) > 0 {
			fmt.Fprintf(e.out, "-- %s\n%s;\n", s.Name, strings.Join(pending, ";\n"))
		}
	}
}

// adviseMigration adds what to do about an error.
func adviseMigration(err error) error {
	var statement *migrate.StatementError
	switch {
	case errors.As(err, &statement) && statement.Doubtful:
		return advise(err, "the statement may have been executed: look at the schema; --executed continues after it, a further run executes it")
	case errors.As(err, &statement):
		return advise(err, "mend the statement and run again: the run continues with it")
	case errors.Is(err, migrate.ErrChanged):
		return advise(err, "restore it, and write what is new to a new file")
	case errors.Is(err, migrate.ErrOlder):
		return advise(err, "give the new file a later version")
	}
	return err
}
