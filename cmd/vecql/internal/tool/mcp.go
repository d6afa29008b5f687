// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/vecql/vecql"
)

// The verb mcp: a server of the Model Context Protocol that reads a cluster, and files of a folder.

// An mcpServer is one run of mcp, with its flags.
type mcpServer struct {
	*env
	maxRows, maxBytes int
	maxTime           time.Duration
	files             string

	folder  *folder        // of --files; nil means none
	cluster *sharedSession // nil means none
	search  searchFlags    // what searches have of the command line
	sql     sqlOptions     // of all statements on files
	log     *slog.Logger
}

// newMCPCommand returns the verb mcp.
func newMCPCommand(e *env) *cobra.Command {
	m := &mcpServer{env: e}
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve reads of a cluster and of files to clients of MCP",
		Long: `Mcp serves the Model Context Protocol on standard input and output until the input
ends. Its tools read, and do not write:

  describe   keyspaces, CREATE statements, vector columns with their indexes
  query      one SELECT with bound values
  search     the rows nearest to a vector, or to the vector of a row
  files      the files below the folder of --files
  sql        a SELECT on these files, as vecql sql runs it

A result has at most --max-rows and --max-bytes, and says what was cut. With --files
and without --hosts, VECQL_HOSTS or a profile there are no tools of a cluster.

The server refuses statements other than SELECT. What a login may read is decided by
its role, so give it one that can only read:

  CREATE ROLE reader WITH PASSWORD = '...' AND LOGIN = true;
  GRANT SELECT ON KEYSPACE shop TO reader;`,
		Example: `  vecql mcp --hosts 10.0.0.1 --user reader
  vecql mcp --files data
  vecql mcp --profile production --files data --max-rows 20 --max-time 10s`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return m.run(c.Context()) },
	}
	e.addClusterFlags(c)
	c.Flags().StringVar(&m.files, "files", "", "`folder` whose files the tool sql reads; default none")
	c.Flags().IntVar(&m.maxRows, "max-rows", 100, "most `rows` of a result")
	c.Flags().IntVar(&m.maxBytes, "max-bytes", 100_000, "most `bytes` of the rows of a result, as JSON")
	c.Flags().DurationVar(&m.maxTime, "max-time", 30*time.Second, "`time` that a call may take; --timeout bounds each of its requests")
	must(c.MarkFlagDirname("files"))
	return c
}

// run serves the protocol until the input or ctx ends.
func (m *mcpServer) run(ctx context.Context) error {
	if err := m.check(); err != nil {
		return err
	}
	if err := m.open(); err != nil {
		return err
	}
	defer m.close()
	err := m.server(ctx).Run(ctx, &stdioTransport{m.in, m.streams[0]})
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe):
		return nil // the client has gone
	}
	return fmt.Errorf("the connection with the client broke: %w", err)
}

// check returns a usage error for limits out of range.
func (m *mcpServer) check() error {
	switch {
	case m.maxRows < 1:
		return usagef("--max-rows is %d, want at least 1", m.maxRows)
	case m.maxBytes < 1:
		return usagef("--max-bytes is %d, want at least 1", m.maxBytes)
	case m.maxTime <= 0:
		return usagef("--max-time is %v, want a time above 0", m.maxTime)
	}
	return nil
}

// open opens the folder, and prepares the session with the cluster, which the first call opens.
func (m *mcpServer) open() error {
	if m.flags.set.Changed("consistency") {
		m.search.consistency = &m.flags.consistency.level
	}
	cfg, err := m.readConfig()
	if err != nil {
		return err
	}
	m.log = slog.New(slog.DiscardHandler)
	if m.flags.verbose {
		m.log = cfg.Logger
	}
	if m.files == "" || m.flags.set.Changed("hosts") {
		m.cluster = newSharedSession(func(ctx context.Context) (*vecql.Session, error) { return m.env.open(ctx, cfg) })
	}
	if m.files == "" {
		return nil
	}
	m.sql.setDefaults()
	m.folder, err = openFolder(m.files)
	return err
}

// close closes the session and the folder.
func (m *mcpServer) close() {
	if m.cluster != nil {
		m.cluster.close()
	}
	if m.folder != nil {
		m.folder.close()
	}
}

// server returns the server with its tools, whose calls end with ctx.
func (m *mcpServer) server(ctx context.Context) *mcp.Server {
	instructions := "Every tool reads and none writes. A result with the field cut is not whole."
	if m.cluster != nil {
		instructions += " The cluster is Apache Cassandra or ScyllaDB: call describe first, then query with CQL or search by vectors."
	}
	if m.folder != nil {
		instructions += " The tool files lists the files that the tool sql reads."
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "vecql", Version: version()}, &mcp.ServerOptions{
		Instructions: instructions, Logger: m.log, Capabilities: &mcp.ServerCapabilities{},
	})
	if m.cluster != nil {
		addTool(ctx, m, s, describeTool, m.describeSchema)
		addTool(ctx, m, s, queryTool, m.queryCQL)
		addTool(ctx, m, s, searchTool, m.searchVectors)
	}
	if m.folder != nil {
		addTool(ctx, m, s, filesTool, m.listFiles)
		addTool(ctx, m, s, sqlTool, m.querySQL)
	}
	return s
}
