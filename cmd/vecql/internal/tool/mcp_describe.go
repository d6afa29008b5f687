// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/search"
)

// The tool describe of mcp: the schema, as CQL, with what searches by vectors need.

var describeTool = toolText{
	"describe", "Describe the schema",
	"Return the schema of the cluster: without a name the keyspaces and their tables, for a keyspace or a table its CREATE statements and " +
		"its columns of vectors with their indexes.",
}

// describeInput is the arguments of the tool describe.
type describeInput struct {
	Name string `json:"name,omitempty" jsonschema:"a keyspace such as shop, or a table or a view such as shop.items"`
}

// describeOutput is the result of the tool describe.
type describeOutput struct {
	Keyspaces  []keyspaceText `json:"keyspaces,omitempty"`
	Statements []string       `json:"statements,omitempty" jsonschema:"the statements that create the keyspace or the table"`
	Vectors    []vectorText   `json:"vectors,omitempty" jsonschema:"the columns of type vector<float, n>"`
	Cut        string         `json:"cut,omitempty" jsonschema:"why something is missing; without it the result is whole"`

	room int // bytes that are left
}

// A keyspaceText is a keyspace with the names of its tables, as CQL.
type keyspaceText struct {
	Name   string   `json:"name"`
	Tables []string `json:"tables"`
}

// A vectorText describes a column of vectors.
type vectorText struct {
	Target     string `json:"target" jsonschema:"the table and the column, as the tool search takes them"`
	Dimension  int    `json:"dimension"`
	Index      string `json:"index,omitempty" jsonschema:"the index of the column; without it only exact searches are possible"`
	Similarity string `json:"similarity,omitempty" jsonschema:"cosine, euclidean or dot"`
}

// describeSchema reads the schema of what a name means.
func (m *mcpServer) describeSchema(ctx context.Context, in describeInput) (out describeOutput, err error) {
	out.room = m.maxBytes
	if in.Name != "" && !cqltext.IsTable(in.Name) {
		return out, fmt.Errorf("name is %.80q, want a keyspace or keyspace.table as in CQL", in.Name)
	}
	session, err := m.cluster.get(ctx)
	if err != nil {
		return out, err
	}
	if in.Name == "" {
		err = out.addKeyspaces(ctx, session)
	} else if err = out.addStatements(ctx, session, in.Name); err == nil {
		err = out.addVectors(ctx, session, in.Name)
	}
	if errors.Is(err, errCut) {
		err = nil
	}
	return out, err
}

// take reports errCut if texts do not fit the result.
func (d *describeOutput) take(texts ...string) error {
	for _, text := range texts {
		d.room -= len(text)
	}
	if d.room < 0 {
		d.Cut = "there is more: the limit of bytes is reached; describe a single keyspace or table"
		return errCut
	}
	return nil
}

// addKeyspaces adds the keyspaces except the system's.
func (d *describeOutput) addKeyspaces(ctx context.Context, session *vecql.Session) error {
	names, err := readNames(ctx, session)
	if err != nil {
		return err
	}
	d.Keyspaces = []keyspaceText{}
	for _, ks := range slices.Sorted(maps.Keys(names.tables)) {
		if clustertable.IsSystem(ks) {
			continue
		}
		k := keyspaceText{Name: identifier(ks)}
		for _, table := range slices.Sorted(maps.Keys(names.tables[ks])) {
			k.Tables = append(k.Tables, identifier(table))
		}
		if err := d.take(append(k.Tables, k.Name)...); err != nil {
			return err
		}
		d.Keyspaces = append(d.Keyspaces, k)
	}
	return nil
}

// addStatements adds the answer of the server to DESCRIBE. Quotes around the name make a word such as CLUSTER a name.
func (d *describeOutput) addStatements(ctx context.Context, session *vecql.Session, name string) error {
	keyspace, table := cqltext.SplitTable(name, "")
	quoted := cqltext.QuoteIdentifier(table)
	if keyspace != "" {
		quoted = cqltext.QualifiedName(keyspace, table)
	}
	for b, err := range session.Query("DESCRIBE " + quoted).BorrowBatches(ctx) {
		if err != nil {
			return describeError(err)
		}
		text, err := b.Column("create_statement").Text()
		if err != nil {
			return err
		}
		for r := range b.Rows {
			stmt := strings.TrimSpace(quoteComments(text.String(r)))
			if err := d.take(stmt); err != nil {
				return err
			}
			d.Statements = append(d.Statements, stmt)
		}
	}
	return nil
}

// addVectors adds the columns of vectors of the keyspace or the table that a name means.
func (d *describeOutput) addVectors(ctx context.Context, session *vecql.Session, name string) error {
	keyspace, table := cqltext.SplitTable(name, session.Query("").GetKeyspace())
	if ks, err := session.KeyspaceMetadata(ctx, table); err == nil && !strings.Contains(name, ".") {
		for _, t := range slices.Sorted(maps.Keys(ks.Tables)) {
			if err := d.addVectorsOf(ctx, session, ks.Tables[t]); err != nil {
				return err
			}
		}
		return nil
	}
	t, err := session.TableMetadata(ctx, keyspace, table)
	if errors.Is(err, vecql.ErrNoTable) || errors.Is(err, vecql.ErrKeyspaceDoesNotExist) {
		return nil // the name of something else, such as an index
	}
	if err != nil {
		return err
	}
	return d.addVectorsOf(ctx, session, t)
}

// addVectorsOf adds the columns of vectors of a table.
func (d *describeOutput) addVectorsOf(ctx context.Context, session *vecql.Session, t *cql.TableMetadata) error {
	for _, name := range t.OrderedColumns {
		typ, ok := t.Columns[name].Type.(cql.VectorType)
		if !ok || typ.SubType.Type() != cql.TypeFloat {
			continue
		}
		v := vectorText{
			Target:    identifier(t.Keyspace) + "." + identifier(t.Name) + "(" + identifier(name) + ")",
			Dimension: typ.Dimensions,
		}
		q, err := search.Open[map[string]any](ctx, session, v.Target)
		if err != nil {
			return err
		}
		if plan := q.Explain(1); plan.Err == nil {
			v.Index, v.Similarity = plan.Index, metricName(plan.Metric)
		}
		if err := d.take(v.Target, v.Index); err != nil {
			return err
		}
		d.Vectors = append(d.Vectors, v)
	}
	return nil
}
