// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql/cmd/vecql/internal/gen"
	"github.com/vecql/vecql/cql"
)

// The verb gen: Go code for the tables of a schema.

// A generation is the flags of the verb.
type generation struct {
	settings, out, packageName, null string
	tables, exclude                  []string
	unqualified, tests, check        bool
}

// newGenCommand returns the verb gen.
func newGenCommand(e *env) *cobra.Command {
	g := &generation{}
	c := &cobra.Command{
		Use:   "gen [FILE.cql...]",
		Short: "Write Go code for the tables of a schema",
		Long: `Gen writes a package of Go for the tables of a keyspace: a struct for each table and
each user-defined type, and the typed statements of each table. The schema is the
schema of CQL files, or of a cluster if no file is named. --tests also writes tests,
which need no cluster.

Settings are keys of the file vecql.gen.toml, and flags, which come first:

  schema = ["schema.cql"]     # files; without them, or with --hosts, a cluster
  keyspace = "shop"
  tables = ["items", "order*"]
  exclude = ["*_old"]
  package = "shop"
  out = "."                   # folder; paths are relative to the file
  null = "pointer"            # or "null" for cql.Null, "plain" for values
  not-null = ["items.name"]   # columns that are never NULL
  if-not-exists = ["items"]   # tables that get the method InsertIfNotExists
  unqualified = false         # statements use the keyspace of the session
  json-tags = false           # fields have tags for JSON
  tests = true
  [names]                     # of rows, columns and types
  items = "Product"
  "items.url" = "Link"

The line //go:generate vecql gen in a Go file runs it. --check writes nothing, and
exits with 1 if the code differs from the schema. A file that gen has not written is
never replaced.`,
		Example: `  vecql gen schema.cql --out shop
  vecql gen schema.cql --out shop --check
  vecql gen --keyspace shop --tables "item*" --out shop --tests`,
		ValidArgsFunction: cobra.FixedCompletions([]string{"cql"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE:              func(c *cobra.Command, args []string) error { return e.gen(c, g, args) },
	}
	e.addClusterFlags(c)
	f := c.Flags()
	f.StringVar(&g.settings, "settings", "", "`file` of settings; default "+gen.SettingsFile+" if it exists")
	f.StringVar(&g.out, "out", "", "`folder` of the package; default the current one")
	f.StringVar(&g.packageName, "package", "", "`name` of the package; default the keyspace")
	f.StringSliceVar(&g.tables, "tables", nil, "tables, `name-or-pattern,...`; default all")
	f.StringSliceVar(&g.exclude, "exclude", nil, "tables to leave out, `name-or-pattern,...`")
	f.StringVar(&g.null, "null", "", "`form` of columns that can be NULL: pointer, null or plain; default pointer")
	f.BoolVar(&g.unqualified, "unqualified", false, "statements use the keyspace of the session")
	f.BoolVar(&g.tests, "tests", false, "write tests, too")
	f.BoolVar(&g.check, "check", false, "compare the files with the schema, and write nothing")
	must(c.MarkFlagFilename("settings", "toml"))
	must(c.MarkFlagDirname("out"))
	must(c.RegisterFlagCompletionFunc("null", cobra.FixedCompletions([]string{gen.Pointer, gen.Null, gen.Plain},
		cobra.ShellCompDirectiveNoFileComp)))
	return c
}

// gen executes the verb.
func (e *env) gen(c *cobra.Command, g *generation, files []string) error {
	options, err := gen.ReadSettings(g.settings)
	if err != nil {
		return err
	}
	g.override(c, &options)
	if len(files) > 0 || c.Flags().Changed("hosts") {
		options.Schema = files
	}
	options.Keyspace = cmp.Or(e.flags.keyspace, options.Keyspace)
	ks, notes, err := e.readSchema(c.Context(), &options)
	if err != nil {
		return err
	}
	made, further, err := gen.Generate(ks, options)
	if err != nil {
		return err
	}
	for _, note := range slices.Concat(notes, further) {
		fmt.Fprintf(e.err, "note: %s\n", note)
	}
	if g.check {
		return e.checkGenerated(options.Out, made)
	}
	written, err := gen.Write(options.Out, made)
	for _, path := range written {
		fmt.Fprintf(e.text, "wrote %s\n", path)
	}
	return err
}

// override sets the settings that flags have.
func (g *generation) override(c *cobra.Command, o *gen.Options) {
	set := func(flag string, change func()) {
		if c.Flags().Changed(flag) {
			change()
		}
	}
	set("out", func() { o.Out = g.out })
	set("package", func() { o.Package = g.packageName })
	set("tables", func() { o.Tables = g.tables })
	set("exclude", func() { o.Exclude = g.exclude })
	set("null", func() { o.Null = g.null })
	set("unqualified", func() { o.NoKeyspace = g.unqualified })
	set("tests", func() { o.Tests = g.tests })
}

// readSchema returns the schema of files, or of the cluster of the flags, and notes about what is left out of it.
func (e *env) readSchema(ctx context.Context, o *gen.Options) (*cql.KeyspaceMetadata, []string, error) {
	if len(o.Schema) > 0 {
		return gen.ReadFiles(ctx, o.Keyspace, o.Schema)
	}
	cfg, err := e.readConfig()
	if err != nil {
		return nil, nil, err
	}
	keyspace := cmp.Or(o.Keyspace, cfg.Keyspace)
	if keyspace == "" {
		return nil, nil, usagef("neither files of CQL nor --keyspace: name the schema")
	}
	session, err := e.open(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	defer session.Close()
	ks, err := session.KeyspaceMetadata(ctx, keyspace)
	return ks, nil, err
}

// checkGenerated prints how files differ from the schema. The error names them.
func (e *env) checkGenerated(folder string, files []gen.File) error {
	different, err := gen.Check(folder, files)
	if err != nil || len(different) == 0 {
		return err
	}
	names := make([]string, len(different))
	for i, d := range different {
		names[i] = d.Path
		fmt.Fprintf(e.text, "%s\n%s", d.Path, d.Text)
	}
	return advise(fmt.Errorf("the code differs from the schema: %s", strings.Join(names, ", ")), "run the command without --check")
}
