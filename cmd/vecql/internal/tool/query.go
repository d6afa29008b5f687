// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// The verb query: statements from arguments, files, standard input or the shell.

// queryOptions are the flags of query, which commands of the shell change.
type queryOptions struct {
	sources         []source
	timing, tracing bool
	expand          bool // a cell on each line
	noPager         bool
	null            *string // text of NULL that PSET has set; nil means the one of the format
	pageSize        int
	consistency     consistencyFlag // that CONSISTENCY has set
	serial          consistencyFlag // that SERIAL CONSISTENCY has set
}

// newQueryCommand returns the verb query.
func newQueryCommand(e *env) *cobra.Command {
	o := &queryOptions{}
	c := &cobra.Command{
		Use:   "query [STATEMENT...]",
		Short: "Execute CQL, or start a shell",
		Long: `Query executes CQL statements, separated by ";", and prints their results. Without
a statement it reads standard input; on a terminal it is a shell with history and
completion. Commands of the shell such as CONSISTENCY ONE and SOURCE 'more.cql'
work in arguments and files, too: vecql query HELP lists them. A script ends at the
first statement that fails, with exit code 1.

The cluster is that of the flags, of the environment (VECQL_HOSTS for --hosts, and
so on), or of a profile. A profile is a table of ` + "`config.toml`" + ` in the folder vecql
of the user's configuration; its keys are the names of flags:

  [default]
  hosts = ["10.0.0.1", "10.0.0.2"]
  user = "reader"`,
		Example: `  vecql query "SELECT id, name FROM shop.items LIMIT 3"
  vecql query --output json "SELECT * FROM shop.items" > items.json
  vecql query --chart bar "SELECT name, price FROM shop.items"
  vecql query --execute "USE shop" --file schema.cql
  echo "DESCRIBE KEYSPACES" | vecql query`,
		RunE: func(c *cobra.Command, args []string) error { return e.query(c.Context(), o, args) },
	}
	e.addClusterFlags(c)
	e.addChartFlags(c)
	c.Flags().VarP(sourceFlag{&o.sources, false}, "execute", "e", "execute `statements`; repeat it, also with --file, in the order to execute")
	c.Flags().VarP(sourceFlag{&o.sources, true}, "file", "f", "execute the statements in a `file`; - is standard input")
	c.Flags().BoolVarP(&o.expand, "expand", "x", false, "print each cell of a table on a line")
	c.Flags().BoolVar(&o.timing, "timing", false, "print the time of each statement to standard error")
	c.Flags().BoolVar(&o.tracing, "tracing", false, "trace each request and print the trace to standard error")
	c.Flags().IntVar(&o.pageSize, "page-size", 1000, "`rows` in a page of a result")
	must(c.MarkFlagFilename("file"))
	return c
}

// query executes the statements of the command line.
func (e *env) query(ctx context.Context, o *queryOptions, args []string) (err error) {
	if len(args) > 0 && len(o.sources) > 0 {
		return usageError{errors.New("statements are in arguments and in --execute or --file: name them in one way")}
	}
	if o.pageSize < 1 {
		return usagef("--page-size is %d, want at least 1", o.pageSize)
	}
	if err := e.checkChart(); err != nil {
		return err
	}
	stdin, _ := e.in.(*os.File)
	interactive := len(args)+len(o.sources) == 0 && e.isTerminal && isTerminal(stdin)
	var scripts []script
	if !interactive {
		if scripts, err = e.readScripts(o.sources, args); err != nil {
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
	defer func() { err = cmp.Or(err, r.close()) }()
	if interactive {
		return e.shell(ctx, r, stdin)
	}
	for _, s := range scripts {
		if err := r.runScript(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// A runner executes statements and commands of the shell, and prints their results.
type runner struct {
	e       *env
	o       queryOptions
	cfg     *vecql.ClusterConfig
	session *vecql.Session
	shell   *shell   // nil means a script; commands that set something print it in the shell
	capture *os.File // gets the results; nil means none
	depth   int      // of SOURCE in files
}

// close ends the session, and the file of CAPTURE.
func (r *runner) close() error {
	r.session.Close()
	return r.endCapture()
}

// run executes a statement and prints its rows.
func (r *runner) run(ctx context.Context, stmt string) error {
	if cqltext.IsUse(stmt) {
		return r.use(ctx, stmt)
	}
	q, err := r.query(stmt)
	if err != nil {
		return err
	}
	began := r.e.now()
	out, end := r.output()
	var a answer
	err = out.writeAnswer(stmt, a.observe(q.BorrowBatches(ctx)))
	took := r.e.now().Sub(began) // without the time that the user spends in a pager at the end
	if err = cmp.Or(err, end()); errors.Is(err, errPagerEnded) {
		err = nil
	}
	for _, warning := range a.warnings {
		fmt.Fprintln(r.e.err, "warning:", warning)
	}
	if err != nil {
		return r.hint(ctx, stmt, describeError(err))
	}
	if r.o.timing {
		fmt.Fprintf(r.e.err, "%v", took.Round(time.Microsecond))
		if a.pages > 0 {
			fmt.Fprintf(r.e.err, ", %s, node %s", counted(a.pages, "page"), a.node)
		}
		fmt.Fprintln(r.e.err)
	}
	return nil
}

// query returns the request of a statement.
func (r *runner) query(stmt string) (*vecql.Query, error) {
	consistency := r.consistency()
	if cqltext.IsSelect(stmt) {
		if err := consistency.refuseAny(); err != nil {
			return nil, err
		}
	}
	q := r.session.Query(stmt).PageSize(r.o.pageSize).Consistency(consistency.level)
	if r.o.serial.isSet {
		q.SerialConsistency(r.o.serial.level)
	}
	if r.o.tracing {
		q.Trace(vecql.NewTraceWriter(r.session, r.e.err))
	}
	return q, nil
}

// An answer is what a result has beside its rows.
type answer struct {
	pages    int
	node     string
	warnings []string // each once
}

// observe returns the batches of a result and sets the answer meanwhile.
func (a *answer) observe(batches iter.Seq2[*column.Batch, error]) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		for b, err := range batches {
			if err == nil {
				a.pages++
				a.node = b.Source.Host.String()
				for _, warning := range b.Source.Warnings {
					if line := oneLine(warning); !slices.Contains(a.warnings, line) {
						a.warnings = append(a.warnings, line)
					}
				}
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// output returns an env whose out takes one result: the file of CAPTURE, a pager, or the output of the command. The
// caller calls end after the result.
func (r *runner) output() (out *env, end func() error) {
	e := *r.e
	e.expand, e.null = r.o.expand, r.o.null
	if r.capture != nil {
		e.out, e.width, e.isTerminal = r.capture, 0, false
		return &e, func() error { return nil }
	}
	stdin, _ := e.in.(*os.File)
	terminal, _ := e.streams[0].(*os.File)
	command := pagerCommand(e.getenv)
	// The trace of a request, which comes before the end of the result, would be written across a pager.
	if r.o.noPager || r.o.tracing || command == "" || !e.isTerminal || !isTerminal(terminal) || !isTerminal(stdin) {
		return &e, func() error { return nil }
	}
	p := &pager{out: e.raw, terminal: terminal, command: command, screen: terminalHeight(terminal)}
	e.out = &plainWriter{w: p}
	return &e, p.Close
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
	err := r.reconnect(ctx, &cfg)
	if !errors.Is(err, vecql.ErrKeyspaceDoesNotExist) {
		return err
	}
	err = fmt.Errorf("the keyspace %s does not exist", identifier(cfg.Keyspace))
	names, _ := readNames(ctx, r.session)
	if found := nearest(cfg.Keyspace, names.keyspaces("")); found != "" {
		return didYouMean(err, found)
	}
	return advise(err, "DESCRIBE KEYSPACES lists the keyspaces")
}

// reconnect replaces the session by one of another configuration. After an error the session stays.
func (r *runner) reconnect(ctx context.Context, cfg *vecql.ClusterConfig) error {
	session, err := r.e.open(ctx, cfg)
	if err != nil {
		return err
	}
	r.session.Close()
	r.session, r.cfg = session, cfg
	return nil
}

// writeAnswer prints the batches that a statement returned. As a table, the schema that DESCRIBE returns is its text.
func (e *env) writeAnswer(stmt string, batches iter.Seq2[*column.Batch, error]) error {
	word, isTable := cqltext.FirstWord(stmt), (e.output == "table" || e.output == "") && e.chart == ""
	if (word == "DESCRIBE" || word == "DESC") && isTable {
		return e.writeSchema(batches)
	}
	return e.writeResult(batches)
}
