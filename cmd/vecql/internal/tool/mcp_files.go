// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/cmd/vecql/internal/sql"
	"github.com/vecql/vecql/pipe"
)

// The tools files and sql of mcp: files below a folder.

var filesTool = toolText{
	"files", "List the files",
	"Return the paths and sizes of the files that the tool sql reads: Parquet, CSV, JSON lines and Arrow files below one folder.",
}

var sqlTool = toolText{
	"sql", "Query the files",
	"Run a SELECT on files and return its rows. It has one source and this shape: SELECT [DISTINCT] expressions FROM 'file.parquet' " +
		"[WHERE ...] [GROUP BY ...] [HAVING ...] [ORDER BY ...] [LIMIT n] [OFFSET n]. A file may be a pattern such as 'sales/*.csv' or a " +
		"folder; read('a.csv', 'b.csv') reads several. DESCRIBE 'file.csv' returns the columns and their types. Expressions may have " +
		"subqueries that are not correlated. There are no joins and no window functions.",
}

// filesInput is the arguments of the tool files.
type filesInput struct {
	Pattern string `json:"pattern,omitempty" jsonschema:"a path, a folder or a pattern such as sales/*.csv; default all files"`
}

// filesOutput is the result of the tool files.
type filesOutput struct {
	Files []fileText `json:"files"`
	Cut   string     `json:"cut,omitempty" jsonschema:"why files are missing; without it the list is whole"`
}

// A fileText describes a file.
type fileText struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// listFiles lists the files of a pattern.
func (m *mcpServer) listFiles(_ context.Context, in filesInput) (filesOutput, error) {
	out := filesOutput{Files: []fileText{}}
	names, err := m.folder.expand(cmp.Or(in.Pattern, "."))
	if errors.Is(err, errNoFiles) && in.Pattern == "" {
		return out, nil
	}
	room := m.maxBytes
	for _, name := range names {
		if room -= len(name); len(out.Files) == m.maxRows || room < 0 {
			out.Cut = fmt.Sprintf("there are %s: name a folder or a pattern", counted(len(names), "file"))
			break
		}
		info, err := m.folder.root.Stat(name)
		if err != nil {
			return out, err
		}
		out.Files = append(out.Files, fileText{filepath.ToSlash(name), info.Size()})
	}
	return out, err
}

// sqlInput is the arguments of the tool sql.
type sqlInput struct {
	Statement string `json:"statement" jsonschema:"one SELECT, or DESCRIBE 'file'"`
}

// maxGroupBytes bounds the memory of the groups of a statement.
const maxGroupBytes = 1 << 30

// setDefaults sets the flags of files to their default values.
func (o *sqlOptions) setDefaults() {
	c := &cobra.Command{}
	o.files.add(c, true)
	o.types.add(c)
	o.memory = maxGroupBytes
}

// querySQL runs a statement on files of the folder.
func (m *mcpServer) querySQL(ctx context.Context, in sqlInput) (out rowsOutput, err error) {
	s, err := sql.Parse(strings.TrimSpace(in.Statement))
	if err != nil {
		return out, placed(err)
	}
	plan, end, err := m.sql.plan(ctx, m.openInFolder, s, &pipe.Stats{})
	if err != nil {
		return out, err
	}
	rows := m.newRows()
	err = writePlan(ctx, rows, s, plan)
	if errors.Is(err, errCut) || err == nil {
		err = cmp.Or(end(), err)
	} else {
		_ = end() // the first error is the cause
	}
	return rows.end(ctx, err)
}

// openInFolder opens the files of a source if they are in the folder. It is called for each source within a statement.
func (m *mcpServer) openInFolder(ctx context.Context, from sql.Source) (p pipe.Pipe, end func() error, err error) {
	if from.Table != "" {
		return p, nil, fmt.Errorf("%s is a table: sql reads files, as in FROM '%s'", from.Name(), fileName(from))
	}
	if from.Files, err = m.folder.paths(from.Files); err != nil {
		return p, nil, err
	}
	return m.openSource(ctx, &m.sql, from)
}

// paths returns the paths of the files that names stand for.
func (f *folder) paths(names []string) ([]string, error) {
	var paths []string
	for _, name := range names {
		files, err := f.expand(name)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			paths = append(paths, filepath.Join(f.path, file))
		}
	}
	return paths, nil
}

// expand returns the files that a name stands for, relative to the folder: a file, the files of known formats in a
// folder and below it, or the files of a pattern. Nothing outside of the folder is looked at.
func (f *folder) expand(name string) ([]string, error) {
	clean := path.Clean(filepath.ToSlash(name))
	if name == "" || name == rowfile.Stdin || !filepath.IsLocal(name) || !fs.ValidPath(clean) {
		return nil, fmt.Errorf("%w: %.200q", errOutside, name)
	}
	matches := []string{clean}
	if _, err := f.root.Stat(clean); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, f.fault(name, err)
		}
		if matches, err = fs.Glob(f.root.FS(), clean); err != nil {
			return nil, fmt.Errorf("%.200q: %w", name, err)
		}
	}
	var files []string
	for _, match := range matches {
		found, err := f.within(match)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%.200q: %w", name, errNoFiles)
	}
	return files, nil
}
