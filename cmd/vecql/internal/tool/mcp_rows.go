// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Rows of a result of mcp, within the limits of the server.

// rowsOutput is the result of the tools that return rows.
type rowsOutput struct {
	Columns  []columnText `json:"columns"`
	Rows     []rowText    `json:"rows" jsonschema:"an object for each row, with the columns in their order"`
	Cut      string       `json:"cut,omitempty" jsonschema:"why rows are missing; without it the result is whole"`
	Warnings []string     `json:"warnings,omitempty"`
}

// A columnText describes a column to clients.
type columnText struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// A rowText is an object of JSON.
type rowText []byte

// MarshalJSON implements json.Marshaler.
func (r rowText) MarshalJSON() ([]byte, error) { return r, nil }

// errCut ends the rows of a result that has reached a limit.
var errCut = errors.New("the result is cut")

// limitedRows collects rows within limits. It implements rowfile.Writer.
type limitedRows struct {
	rowsOutput
	maxRows, maxBytes int
	bytes             int
}

// newRows returns an empty result with the limits of the server.
func (m *mcpServer) newRows() *limitedRows {
	return &limitedRows{
		rowsOutput: rowsOutput{Columns: []columnText{}, Rows: []rowText{}}, maxRows: m.maxRows, maxBytes: m.maxBytes,
	}
}

// Write implements rowfile.Writer. It returns errCut at a limit.
func (l *limitedRows) Write(b *column.Batch) error {
	if len(l.Columns) == 0 {
		for _, f := range b.Schema() {
			name := f.Name
			f.Name, f.Nullable = "", false
			l.Columns = append(l.Columns, columnText{name, strings.TrimSpace(f.String())})
		}
		if err := l.checkNames(); err != nil {
			return err
		}
	}
	for i := range b.Rows {
		if len(l.Rows) == l.maxRows {
			l.Cut = fmt.Sprintf("there are more rows: a result has at most %s", counted(l.maxRows, "row"))
			return errCut
		}
		row, err := rowfile.AppendJSON(nil, b, i)
		if err != nil {
			return err
		}
		if l.bytes += len(row); l.bytes > l.maxBytes {
			l.Cut = fmt.Sprintf("there are more rows: the next one has %d bytes, and the rows of a result have at most %d bytes; "+
				"select fewer columns", len(row), l.maxBytes)
			return errCut
		}
		l.Rows = append(l.Rows, row)
	}
	return nil
}

// Close implements rowfile.Writer.
func (l *limitedRows) Close() error { return nil }

// setColumns sets columns with types of CQL. Without it the types are the types of batches.
func (l *limitedRows) setColumns(infos []cql.ColumnInfo) error {
	for _, info := range infos {
		l.Columns = append(l.Columns, columnText{info.Name, fmt.Sprint(info.TypeInfo)})
	}
	return l.checkNames()
}

// checkNames returns an error for names that the members of an object cannot have: two columns of one name would be one
// member.
func (l *limitedRows) checkNames() error {
	for i, c := range l.Columns {
		if !utf8.ValidString(c.Name) {
			return fmt.Errorf("the name of column %q is not UTF-8", c.Name)
		}
		if slices.Contains(namesOf(l.Columns[:i]), c.Name) {
			return fmt.Errorf("the result has two columns %q: name one of them with AS", c.Name)
		}
	}
	return nil
}

func namesOf(columns []columnText) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// warn adds warnings, each once.
func (l *limitedRows) warn(warnings []string) {
	for _, w := range warnings {
		if w = printableLine(w); !slices.Contains(l.Warnings, w) {
			l.Warnings = append(l.Warnings, w)
		}
	}
}

// end returns the result after the last row, or after the error that ended the rows. The rows before the time of the
// call was over are a result.
func (l *limitedRows) end(ctx context.Context, err error) (rowsOutput, error) {
	slow := slowCall(ctx)
	switch {
	case errors.Is(err, errCut):
		err = nil
	case err != nil && slow != nil && len(l.Rows) > 0:
		l.Cut, err = "there may be more rows: "+slow.Error(), nil
	}
	return l.rowsOutput, err
}
