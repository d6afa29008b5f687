// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
)

// The tool query of mcp: one SELECT of CQL.

var queryTool = toolText{
	"query", "Query the cluster",
	"Execute one SELECT of CQL and return its rows. CQL has no joins and no subqueries. A WHERE clause names the partition key or an " +
		"indexed column; other conditions need ALLOW FILTERING, which reads the whole table. Statements that write are refused.",
}

// queryInput is the arguments of the tool query.
type queryInput struct {
	Statement string            `json:"statement" jsonschema:"one SELECT; a ? stands for a value"`
	Values    []json.RawMessage `json:"values,omitempty" jsonschema:"the values of the ? in their order; a list, set or vector is an array, a map an object, a timestamp or a UUID text"`
}

// queryCQL executes a SELECT.
func (m *mcpServer) queryCQL(ctx context.Context, in queryInput) (out rowsOutput, err error) {
	stmt, err := onlySelect(in.Statement)
	if err != nil {
		return out, err
	}
	session, err := m.cluster.get(ctx)
	if err != nil {
		return out, err
	}
	meta, err := session.StatementMetadata(ctx, stmt, "")
	if err != nil {
		return out, err
	}
	values, err := bindJSON(ctx, meta.BindMarkers, in.Values)
	if err != nil {
		return out, err
	}
	rows := m.newRows()
	if err := rows.setColumns(meta.ResultColumns); err != nil {
		return out, err
	}
	const mostRows = 1000 // of a page
	for b, failed := range session.Query(stmt, values...).PageSize(min(m.maxRows+1, mostRows)).BorrowBatches(ctx) {
		if err = failed; err == nil {
			rows.warn(b.Source.Warnings)
			err = rows.Write(b)
		}
		if err != nil {
			break
		}
	}
	return rows.end(ctx, err)
}

// errNotSelect means that a statement is not exactly one SELECT.
var errNotSelect = errors.New("want exactly one SELECT: this tool reads")

// onlySelect returns a statement that is one SELECT, without comments and without the semicolon at its end; otherwise
// an error that wraps errNotSelect. The text that it returns begins with the word SELECT, has no comment, and is what
// the server receives: servers execute one statement for a request, and no text that begins with this word writes. A
// function that a SELECT calls cannot write either.
func onlySelect(text string) (string, error) {
	var b strings.Builder
	end := 0 // of the token before
	ended := false
	for at, token := range cqltext.Tokens(text) {
		switch {
		case b.Len() == 0 && !strings.EqualFold(token, "SELECT"):
			return "", fmt.Errorf("%w: the statement begins with %.40q", errNotSelect, token)
		case token == ";":
			ended = true
			continue
		case ended:
			return "", fmt.Errorf("%w: %.40q follows the first statement", errNotSelect, token)
		case at > end && b.Len() > 0:
			b.WriteByte(' ') // in place of white space and comments
		}
		b.WriteString(token)
		end = at + len(token)
	}
	if b.Len() == 0 {
		return "", fmt.Errorf("%w: the statement is empty", errNotSelect)
	}
	return b.String(), nil
}

// bindJSON returns the values of bind markers from JSON. The types of the markers decide how text is read, as in files.
func bindJSON(ctx context.Context, markers []cql.ColumnInfo, texts []json.RawMessage) ([]any, error) {
	if len(markers) != len(texts) {
		return nil, fmt.Errorf("%s for %s: want %s", counted(len(texts), "value"), counted(len(markers), "marker"),
			markerTypes(markers))
	}
	if len(markers) == 0 {
		return nil, nil
	}
	var schema column.Schema
	var line bytes.Buffer
	for i, marker := range markers {
		name := strconv.Itoa(i)
		schema = append(schema, codec.ColumnField(name, marker.TypeInfo))
		fmt.Fprintf(&line, `%c"%s":`, "{,"[min(i, 1)], name)
		if err := json.Compact(&line, texts[i]); err != nil { // a record is one line
			return nil, err
		}
	}
	line.WriteByte('}')
	in, err := rowfile.Open(rowfile.Options{Format: rowfile.JSON, Fields: schema, Stdin: &line}, rowfile.Stdin)
	if err != nil {
		return nil, err
	}
	values := make([]any, 0, len(markers))
	for b, err := range in.Batches(ctx) {
		var record *rowfile.RecordError
		if errors.As(err, &record) {
			err = record.Err
			if i, no := strconv.Atoi(record.Column); no == nil {
				err = fmt.Errorf("value %d, %s %v: %w", i+1, markers[i].Name, markers[i].TypeInfo, record.Err)
			}
		}
		if err != nil {
			return nil, err
		}
		for i := range b.Columns {
			values = append(values, b.Columns[i].Value(0))
		}
	}
	return values, nil
}

// markerTypes returns the names and the types of markers.
func markerTypes(markers []cql.ColumnInfo) string {
	texts := make([]string, len(markers))
	for i, m := range markers {
		texts[i] = fmt.Sprintf("%s %v", m.Name, m.TypeInfo)
	}
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}
