// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// The tool search of mcp: the search of the verb search.

var searchTool = toolText{
	"search", "Search by vectors",
	"Return the rows of a table whose vectors are nearest to a vector, or to the vector of a row, the nearest first, with rank, score " +
		"(greater is nearer) and distance (smaller is nearer). It uses the vector index of the column; describe shows columns and indexes.",
}

// searchInput is the arguments of the tool search.
type searchInput struct {
	Table       string            `json:"table" jsonschema:"the table, shop.items, or its column of vectors, shop.items(v), if it has several"`
	Vector      []float32         `json:"vector,omitempty" jsonschema:"the query, a number for each dimension"`
	Like        []json.RawMessage `json:"like,omitempty" jsonschema:"in place of vector: the primary key of a row whose vector is the query, its values in order"`
	K           int               `json:"k,omitempty" jsonschema:"the number of rows; default 10"`
	Where       string            `json:"where,omitempty" jsonschema:"only rows for which this is true, such as price < 100; by an index each condition compares an indexed column with a value by =, <, <=, >, >= or IN, joined by AND"`
	Columns     []string          `json:"columns,omitempty" jsonschema:"the columns to return; default all without vectors"`
	Metric      string            `json:"metric,omitempty" jsonschema:"cosine, euclidean or dot; default the similarity of the index"`
	Exact       bool              `json:"exact,omitempty" jsonschema:"read all rows of the table and compare them, without an index; slow"`
	MinScore    *float32          `json:"min_score,omitempty" jsonschema:"leave out rows with a smaller score"`
	MaxDistance *float32          `json:"max_distance,omitempty" jsonschema:"leave out rows with a greater distance"`
}

// searchVectors searches as the verb search does.
func (m *mcpServer) searchVectors(ctx context.Context, in searchInput) (out rowsOutput, err error) {
	x := m.newSearch(in)
	if err := m.checkSearch(x, in); err != nil {
		return out, err
	}
	session, err := m.cluster.get(ctx)
	if err != nil {
		return out, err
	}
	if err := x.open(ctx, session, in.Table); err != nil {
		return out, x.failed(err, in.Table)
	}
	if in.Like != nil {
		key := infosOf(x.table.Metadata, clustertable.Names(clustertable.PrimaryKey(x.table.Metadata)))
		if x.key, err = bindJSON(ctx, key, in.Like); err != nil {
			return out, fmt.Errorf("like: %w", err)
		}
	}
	found, err := x.find(ctx, [][]float32{in.Vector})
	if err != nil {
		return out, x.failed(err, in.Table)
	}
	rows := m.newRows()
	for _, r := range found {
		rows.warn(r.Warnings)
	}
	b, err := x.batchOf(found)
	if err != nil {
		return out, err
	}
	if err := rows.setColumns(x.infosOf(b)); err != nil {
		return out, err
	}
	return rows.end(ctx, rows.Write(b))
}

// infosOf describes the columns of a batch of batchOf: the columns of the search, then the columns of the table.
func (x *vectorSearch) infosOf(b *column.Batch) []cql.ColumnInfo {
	var infos []cql.ColumnInfo
	for i := range len(b.Columns) - len(x.columns) {
		typ := cql.TypeFloat
		if b.Columns[i].Type.Kind == column.Int32 {
			typ = cql.TypeInt
		}
		infos = append(infos, cql.ColumnInfo{Name: b.Columns[i].Name, TypeInfo: cql.NativeType(typ)})
	}
	return append(infos, infosOf(x.table.Metadata, x.columns)...)
}

// newSearch returns the search of the arguments.
func (m *mcpServer) newSearch(in searchInput) *vectorSearch {
	x := &vectorSearch{env: m.env, searchFlags: m.search, k: in.K, columns: in.Columns, oversample: 1}
	x.isTool, x.where, x.metric, x.exact = true, in.Where, in.Metric, in.Exact
	if x.k == 0 {
		x.k = min(10, m.maxRows)
	}
	isSet := map[string]bool{"columns": in.Columns != nil}
	if in.MinScore != nil {
		x.minScore, isSet["min-score"] = *in.MinScore, true
	}
	if in.MaxDistance != nil {
		x.maxDistance, isSet["max-distance"] = *in.MaxDistance, true
	}
	x.isSet = func(flag string) bool { return isSet[flag] }
	return x
}

// checkSearch returns an error for arguments that contradict each other, or the limits.
func (m *mcpServer) checkSearch(x *vectorSearch, in searchInput) error {
	if (in.Vector == nil) == (in.Like == nil) {
		return errors.New("want one query: vector or like")
	}
	if x.k > m.maxRows {
		return fmt.Errorf("k is %d, and a result has at most %s", x.k, counted(m.maxRows, "row"))
	}
	if err := x.checkMetric(); err != nil {
		return err
	}
	return checkFlags(x.faults())
}
