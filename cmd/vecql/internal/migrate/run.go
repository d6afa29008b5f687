// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// Runs, and their table.

// A LockedError means that another run has the lock.
type LockedError struct {
	Owner string
	For   time.Duration // the lock ends this long after that run has ended without releasing it, at most
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("migrations are being applied by %s; if that run was killed, its lock ends by itself within %v", e.Owner, e.For)
}

// A Runner applies migrations. Its methods are for one goroutine.
type Runner struct {
	Session *vecql.Session
	// Keyspace and Table name the table of the records, which is made.
	Keyspace, Table string
	// Owner identifies the run to others.
	Owner string
	// LockFor is the time to live of the lock, which each statement renews. Wait is how long to wait for it.
	LockFor, Wait time.Duration
	// Executed takes a statement for executed whose execution an earlier run has begun, and not recorded.
	Executed bool
	// Report is called before and after each statement.
	Report func(s *State, statement int, executed bool)
}

// table returns the table as CQL.
func (r *Runner) table() string { return cqltext.QualifiedName(r.Keyspace, r.Table) }

// create makes the table.
func (r *Runner) create(ctx context.Context) error {
	err := r.Session.Query("CREATE TABLE IF NOT EXISTS " + r.table() + ` (part text, version bigint, name text, steps int,
		done int, started int, prefix text, applied timestamp, owner text, PRIMARY KEY (part, version))`).Exec(ctx)
	if err != nil {
		return fmt.Errorf("create the table of migrations: %w", err)
	}
	return nil
}

// Status returns the state of each file. It changes nothing: without a table no file is applied.
func (r *Runner) Status(ctx context.Context, files []File) ([]State, error) {
	_, err := r.Session.TableMetadata(ctx, r.Keyspace, r.Table)
	if errors.Is(err, vecql.ErrNoTable) {
		return plan(files, nil)
	}
	if err != nil {
		return nil, err
	}
	return r.states(ctx, files)
}

// states compares files with the table.
func (r *Runner) states(ctx context.Context, files []File) ([]State, error) {
	records, err := vecql.AllRows[Record](ctx, r.Session.Query("SELECT version, name, steps, done, started, prefix, applied FROM "+
		r.table()+" WHERE part = 'migration'"))
	if err != nil {
		return nil, err
	}
	return plan(files, records)
}

// Apply executes the pending statements of files up to a version, in order, while it has the lock. An error names the
// file and the statement; the statements before it are executed, and a further run continues with it.
func (r *Runner) Apply(ctx context.Context, files []File, to int64) (err error) {
	if err := r.create(ctx); err != nil {
		return err
	}
	if err := r.lock(ctx); err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, r.unlock(context.WithoutCancel(ctx))) }()
	states, err := r.states(ctx, files)
	if err != nil {
		return err
	}
	for i := range states {
		if s := &states[i]; s.Version <= to {
			if err := r.apply(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply executes the pending statements of a file.
func (r *Runner) apply(ctx context.Context, s *State) error {
	doubt := s.Record != nil && s.Record.Started > s.Record.Done // a run ended while the statement was executed
	for i := s.done(); i < len(s.Statements); i++ {
		if err := r.renew(ctx); err != nil {
			return err
		}
		if err := r.begin(ctx, s, i, i+1); err != nil {
			return err
		}
		r.Report(s, i, false)
		if err := r.execute(ctx, s.Statements[i], doubt); err != nil {
			if !doubt && !vecql.MayHaveApplied(err) {
				err = errors.Join(err, r.begin(context.WithoutCancel(ctx), s, i, i))
			}
			return &StatementError{s.Name, i + 1, len(s.Statements), doubt || vecql.MayHaveApplied(err), err}
		}
		doubt = false
		if err := r.end(ctx, s, i); err != nil {
			return fmt.Errorf("%s, statement %d of %d was executed, which is not recorded: %w", s.Name, i+1, len(s.Statements), err)
		}
		r.Report(s, i, true)
	}
	return nil
}

// A StatementError means that a statement failed.
type StatementError struct {
	File          string
	Statement, Of int
	Doubtful      bool // the statement may have been executed, in this run or an earlier one
	Err           error
}

func (e *StatementError) Error() string {
	return fmt.Sprintf("%s, statement %d of %d: %v", e.File, e.Statement, e.Of, e.Err)
}

func (e *StatementError) Unwrap() error { return e.Err }

// execute executes a statement. In doubt an error by which its effect exists means that an earlier run has executed it.
func (r *Runner) execute(ctx context.Context, stmt string, doubt bool) error {
	if doubt && r.Executed {
		return nil
	}
	err := r.Session.Query(stmt).Exec(ctx)
	exists := errors.Is(err, cql.CodeAlreadyExists) ||
		errors.Is(err, cql.CodeInvalid) && existsText.MatchString(err.Error())
	if doubt && exists {
		return nil
	}
	return err
}

// existsText is in the errors of statements that add a column or an index which exists: of Cassandra 3 and 4, and
// ScyllaDB.
var existsText = regexp.MustCompile("already exists|conflicts with an existing column")

// begin records that the statements before one were executed, and whether the execution of that one was begun.
func (r *Runner) begin(ctx context.Context, s *State, statement, started int) error {
	return r.Session.Query("INSERT INTO "+r.table()+` (part, version, name, steps, done, started, prefix)
		VALUES ('migration', ?, ?, ?, ?, ?, ?)`, s.Version, s.Name, len(s.Statements), statement, started,
		s.checksum(statement)).Idempotent(true).Exec(ctx)
}

// end records that a statement was executed.
func (r *Runner) end(ctx context.Context, s *State, statement int) error {
	var applied *time.Time
	if statement+1 == len(s.Statements) {
		now := time.Now().UTC().Truncate(time.Millisecond)
		applied = &now
	}
	return r.Session.Query("INSERT INTO "+r.table()+` (part, version, done, prefix, applied) VALUES ('migration', ?, ?, ?, ?)`,
		s.Version, statement+1, s.checksum(statement+1), applied).Idempotent(true).Exec(ctx)
}

// lock takes the lock. It asks again each second, for Wait.
func (r *Runner) lock(ctx context.Context) error {
	until := time.Now().Add(r.Wait)
	for {
		row := map[string]any{}
		applied, err := r.Session.Query("INSERT INTO "+r.table()+" (part, version, owner) VALUES ('lock', 0, ?) IF NOT EXISTS USING TTL ?",
			r.Owner, int(r.LockFor.Seconds())).MapScanCAS(ctx, row)
		switch owner, _ := row["owner"].(string); {
		case err != nil:
			return fmt.Errorf("take the lock of migrations: %w", err)
		case applied, owner == r.Owner: // the answer to an attempt was lost
			return nil
		case !time.Now().Before(until):
			return &LockedError{owner, r.LockFor}
		}
		select {
		case <-time.After(min(time.Second, time.Until(until))):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// renew extends the lock. It fails if the lock has ended.
func (r *Runner) renew(ctx context.Context) error {
	return r.owned(ctx, fmt.Sprintf("UPDATE %s USING TTL %d SET owner = ? WHERE part = 'lock' AND version = 0 IF owner = ?",
		r.table(), int(r.LockFor.Seconds())), r.Owner, r.Owner)
}

// unlock releases the lock.
func (r *Runner) unlock(ctx context.Context) error {
	return r.owned(ctx, "DELETE FROM "+r.table()+" WHERE part = 'lock' AND version = 0 IF owner = ?", r.Owner)
}

// owned executes a statement that changes the lock.
func (r *Runner) owned(ctx context.Context, stmt string, values ...any) error {
	row := map[string]any{}
	applied, err := r.Session.Query(stmt, values...).MapScanCAS(ctx, row)
	if err != nil {
		return fmt.Errorf("keep the lock of migrations: %w", err)
	}
	if !applied {
		owner, _ := row["owner"].(string)
		return &LockedError{cmp.Or(owner, "nobody: the lock had ended"), r.LockFor}
	}
	return nil
}
