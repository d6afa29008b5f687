// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-adbc/go/adbc"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// Executions with bound rows: one for each row.

// parameters are the bind markers of a query under names that differ.
type parameters struct {
	text    string   // of the query, with named markers only
	names   []string // of the markers, each once
	columns []string // of rows that are bound by name: the names by the user, or the columns of markers ?
	named   bool     // by the user
}

// newParameters returns the parameters of a query. Markers ? get names, because two of them may be about one column.
func newParameters(query string, markers []cql.ColumnInfo) *parameters {
	p := &parameters{text: query, named: true}
	found := cqltext.BindMarkers(query)
	if len(found) > 0 && found[0] == "" {
		p.named = false
		var text strings.Builder
		end, n := 0, 0
		for at, token := range cqltext.Tokens(query) {
			if token == "?" {
				text.WriteString(query[end:at] + " :adbc" + strconv.Itoa(n) + " ")
				end = at + 1
				n++
			}
		}
		p.text = text.String() + query[end:]
	}
	for i, m := range markers {
		name := m.Name
		if !p.named {
			name = "adbc" + strconv.Itoa(i)
		}
		if !slices.Contains(p.names, name) {
			p.names, p.columns = append(p.names, name), append(p.columns, m.Name)
		}
	}
	return p
}

// batch returns bound rows with the names of the markers. The batch shares memory with b.
func (p *parameters) batch(b *column.Batch, byName bool) (*column.Batch, error) {
	positions, err := p.positions(b, byName)
	if err != nil {
		return nil, err
	}
	out := *b
	out.Columns = slices.Clone(b.Columns)
	for i, at := range positions {
		out.Columns[at] = out.Columns[at].As(p.names[i])
	}
	return &out, nil
}

// positions returns the position of the column of each marker: by name if byName, or if the user named the markers and
// the rows have all names, else the position of the marker.
func (p *parameters) positions(b *column.Batch, byName bool) ([]int, error) {
	at := make([]int, len(p.columns))
	missing := ""
	for i, name := range p.columns {
		if at[i] = b.Index(name); at[i] < 0 && missing == "" {
			missing = name
		}
		if byName && slices.Index(p.columns, name) < i {
			return nil, failed(adbc.StatusInvalidArgument, "two markers ? are about %q: name them to bind by name", name)
		}
	}
	switch {
	case byName && missing != "":
		return nil, failed(adbc.StatusInvalidArgument, "no value for the parameter %q: the bound rows have %v", missing, b.Schema())
	case missing == "" && (byName || p.named):
		return at, nil
	case len(b.Columns) != len(p.names):
		return nil, failed(adbc.StatusInvalidArgument, "the query has %d parameters, the bound rows have %d columns",
			len(p.names), len(b.Columns))
	}
	for i := range at {
		at[i] = i
	}
	return at, nil
}

// renamed gives the error of a value the user's name of its marker, and returns it.
func (p *parameters) renamed(err error) error {
	var value *cql.MarshalError
	if errors.As(err, &value) {
		if i := slices.Index(p.names, value.Column); i >= 0 {
			value.Column = p.columns[i]
		}
	}
	return err
}

// rowStatements prepares the query for each schema of the bound rows, and passes the batches with their statements.
func (st *statement) rowStatements(ctx context.Context, m *vecql.StatementMetadata, pageSize int,
	f func(rows *vecql.RowStatement, b *column.Batch) (bool, error),
) error {
	p := newParameters(st.query, m.BindMarkers)
	var rows *vecql.RowStatement
	schema := ""
	for b, err := range st.bound() {
		if err != nil {
			return wrapped("read the bound rows", err)
		}
		if b, err = p.batch(b, st.get(optionBindByName) == "true"); err != nil {
			return err
		}
		if s := fmt.Sprint(b.Schema()); rows == nil || s != schema {
			schema = s
			if rows, err = st.conn.session.Query(p.text).PageSize(pageSize).PrepareRows(ctx, b.Schema()); err != nil {
				return wrapped("bind", p.renamed(err))
			}
		}
		if more, err := f(rows, b); err != nil || !more {
			return wrapped("execute", p.renamed(err))
		}
	}
	return nil
}

// executeRows executes the query with the bound rows, many at a time, and returns their number. The results are
// dropped.
func (st *statement) executeRows(ctx context.Context) (int64, error) {
	m, err := st.metadata(ctx)
	if err != nil {
		return -1, err
	}
	n := int64(0)
	err = st.rowStatements(ctx, m, 0, func(rows *vecql.RowStatement, b *column.Batch) (bool, error) {
		n += int64(b.Rows)
		return true, rows.Exec(ctx, b)
	})
	if err != nil {
		return -1, err
	}
	return n, nil
}

// boundPages returns the pages of the results of the query with each bound row, in the order of the rows.
func (st *statement) boundPages(ctx context.Context, m *vecql.StatementMetadata) batches {
	size := pageRows(m.ResultColumns, st.count(optionPageBytes))
	return func(yield func(*column.Batch, error) bool) {
		err := st.rowStatements(ctx, m, size, func(rows *vecql.RowStatement, b *column.Batch) (bool, error) {
			for i := range b.Rows {
				for page, err := range rows.Query(b, i).Batches(ctx) {
					if err != nil {
						return false, err
					}
					if !yield(page, nil) {
						return false, nil
					}
				}
			}
			return true, nil
		})
		if err != nil {
			yield(nil, err)
		}
	}
}
