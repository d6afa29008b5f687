// SPDX-License-Identifier: Apache-2.0

package clustertable

import (
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/wire"
)

// NewRowPlan returns the plan that encodes rows of a schema for columns.
func NewRowPlan(columns []*cql.ColumnMetadata, schema column.Schema) (*codec.RowPlan, error) {
	infos := make([]cql.ColumnInfo, len(columns))
	for i, c := range columns {
		infos[i] = cql.ColumnInfo{Keyspace: c.Keyspace, Table: c.Table, Name: c.Name, TypeInfo: c.Type}
	}
	return codec.NewRowPlan(infos, schema)
}

// A Row is the cells of a row of a batch, as a server stores them.
type Row struct {
	Plan  *codec.RowPlan
	Cells [][]byte // by column of the plan, in body; nil is NULL
	body  []byte
}

// Read sets the cells.
func (r *Row) Read(b *column.Batch, row int) (err error) {
	r.body = r.body[:0]
	for i := range r.Cells {
		if r.body, err = r.Plan.Append(r.body, b, row, i, wire.Null); err != nil {
			return err
		}
	}
	reader := wire.NewReader(r.body)
	for i := range r.Cells {
		r.Cells[i] = reader.Bytes()
	}
	return reader.Err()
}
