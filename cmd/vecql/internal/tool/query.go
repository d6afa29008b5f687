// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// The verb query: statements from arguments, files, standard input or the shell.

// queryOptions are the flags of query.
type queryOptions struct {
	files           []string
	timing, tracing bool
	pageSize        int
	consistency     consistencyFlag // that the shell has set
}

// newQueryCommand returns the verb query.
func newQueryCommand(e *env) *cobra.Command {
	o := &queryOptions{}
	c := &cobra.Command{
		Use:   "query [STATEMENT...]",
		Short: "Execute CQL, or start a shell",
		Long: `Query executes CQL statements, separated by ";", and prints their results. Without
a statement it reads standard input; on a terminal it is a shell with history and
completion.

The cluster is that of the flags, of the environment (VECQL_HOSTS for --hosts, and
so on), or of a profile. A profile is a table of ` + "`config.toml`" + ` in the folder vecql
of the user's configuration; its keys are the names of flags:

  [default]
  hosts = ["10.0.0.1", "10.0.0.2"]
  user = "reader"`,
		Example: `  vecql query "SELECT id, name FROM shop.items LIMIT 3"
  vecql query --output json "SELECT * FROM shop.items" > items.json
  vecql query --file schema.cql
  echo "DESCRIBE KEYSPACES" | vecql query`,
		RunE: func(c *cobra.Command, args []string) error { return e.query(c.Context(), o, args) },
	}
	e.addClusterFlags(c)
	e.addOutputFlag(c)
	c.Flags().StringArrayVarP(&o.files, "file", "f", nil, "execute the statements in a `file`; - is standard input")
	c.Flags().BoolVar(&o.timing, "timing", false, "print the time of each statement to standard error")
	c.Flags().BoolVar(&o.tracing, "tracing", false, "trace each request and print the trace to standard error")
	c.Flags().IntVar(&o.pageSize, "page-size", 1000, "`rows` in a page of a result")
	return c
}

// query executes the statements of the command line.
func (e *env) query(ctx context.Context, o *queryOptions, args []string) error {
	if len(args) > 0 && len(o.files) > 0 {
		return usageError{errors.New("statements are in arguments and in --file: one of them is too many")}
	}
	if o.pageSize < 1 {
		return usagef("--page-size is %d, want at least 1", o.pageSize)
	}
	stdin, _ := e.in.(*os.File)
	interactive := len(args)+len(o.files) == 0 && e.isTerminal && stdin != nil && term.IsTerminal(int(stdin.Fd()))
	var scripts []script
	if !interactive {
		var err error
		if scripts, err = e.readScripts(o, args); err != nil {
			return err
		}
	}
	cfg, err := e.clusterConfig()
	if err != nil {
		return err
	}
	r := &runner{e: e, o: *o, cfg: cfg}
	if r.session, err = e.open(ctx, cfg); err != nil {
		return err
	}
	defer func() { r.session.Close() }()
	if interactive {
		return e.shell(ctx, r, stdin)
	}
	for _, s := range scripts {
		for i, stmt := range s.statements {
			if err := r.run(ctx, stmt); err != nil {
				if len(s.statements) > 1 {
					err = fmt.Errorf("%sstatement %d: %w", s.name, i+1, err)
				}
				return err
			}
		}
	}
	return nil
}

// A script is a list of statements. name is the name of its file, with ": ".
type script struct {
	name       string
	statements []string
}

// readScripts returns the statements of the arguments, of the files, or of standard input.
func (e *env) readScripts(o *queryOptions, args []string) ([]script, error) {
	var scripts []script
	count := 0
	add := func(name, text string) {
		statements, rest := cqltext.Split(text)
		if rest != "" {
			statements = append(statements, rest)
		}
		count += len(statements)
		scripts = append(scripts, script{name, statements})
	}
	for _, arg := range args {
		add("", arg)
	}
	files := o.files
	if len(args)+len(files) == 0 {
		files = []string{"-"}
	}
	for _, name := range files {
		var text []byte
		var err error
		if name == "-" {
			name = "standard input"
			text, err = io.ReadAll(e.in)
		} else {
			text, err = os.ReadFile(name)
		}
		if err != nil {
			return nil, err
		}
		add(name+": ", string(text))
	}
	if (e.output == "parquet" || e.output == "arrow") && count > 1 {
		return nil, usagef("--output %s is for one statement, not %d", e.output, count)
	}
	return scripts, nil
}

// A runner executes statements and prints their results.
type runner struct {
	e       *env
	o       queryOptions
	cfg     *vecql.ClusterConfig
	session *vecql.Session
}

// run executes a statement and prints its rows.
func (r *runner) run(ctx context.Context, stmt string) error {
	if cqltext.IsUse(stmt) {
		return r.use(ctx, stmt)
	}
	consistency := r.consistency()
	if cqltext.IsSelect(stmt) {
		if err := consistency.refuseAny(); err != nil {
			return err
		}
	}
	began := r.e.now()
	q := r.session.Query(stmt).PageSize(r.o.pageSize)
	if r.o.tracing {
		q.Trace(vecql.NewTraceWriter(r.session, r.e.err))
	}
	q.Consistency(consistency.level)
	pages, node := 0, ""
	observed := func(yield func(*column.Batch, error) bool) {
		for b, err := range q.BorrowBatches(ctx) {
			if err == nil {
				pages++
				node = b.Source.Host.String()
				for _, warning := range b.Source.Warnings {
					fmt.Fprintln(r.e.err, "warning:", oneLine(warning))
				}
			}
			if !yield(b, err) {
				return
			}
		}
	}
	if err := r.e.writeAnswer(stmt, observed); err != nil {
		return err
	}
	if r.o.timing {
		fmt.Fprintf(r.e.err, "%v", r.e.now().Sub(began).Round(time.Microsecond))
		if pages > 0 {
			fmt.Fprintf(r.e.err, ", %s, node %s", counted(pages, "page"), node)
		}
		fmt.Fprintln(r.e.err)
	}
	return nil
}

// consistency returns the consistency level of statements: the shell's, else the one of the flags.
func (r *runner) consistency() consistencyFlag {
	for _, c := range []consistencyFlag{r.o.consistency, r.e.flags.consistency} {
		if c.isSet {
			return c
		}
	}
	return consistencyFlag{cql.Quorum, true}
}

// use executes USE by a new session, because a session has one keyspace.
func (r *runner) use(ctx context.Context, stmt string) error {
	var name string
	for _, token := range cqltext.Tokens(stmt) { // the last one
		name = token
	}
	cfg := *r.cfg
	cfg.Keyspace = cqltext.UnquoteIdentifier(name)
	session, err := r.e.open(ctx, &cfg)
	if err != nil {
		return err
	}
	r.session.Close()
	r.session, r.cfg = session, &cfg
	return nil
}

// writeAnswer prints the batches that a statement returned. As a table, the schema that DESCRIBE returns is its text.
func (e *env) writeAnswer(stmt string, batches iter.Seq2[*column.Batch, error]) error {
	if word := cqltext.FirstWord(stmt); (word == "DESCRIBE" || word == "DESC") && (e.output == "table" || e.output == "") {
		return e.writeSchema(batches)
	}
	return e.writeResult(batches)
}
