// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"context"
	"encoding/json"
	"errors"
	"math"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/tablescan"
)

// Partitions of a result: token ranges of its table. A statement that cannot be read by token ranges is one partition.

// A partition is the content of an id in adbc.Partitions, as JSON.
type partition struct {
	Keyspace  string `json:"keyspace"` // of tables without one
	Statement string `json:"statement"`
	// Scan is a part of the scan of the statement; nil means the whole result.
	Scan *tablescan.Checkpoint `json:"scan,omitempty"`
}

// ExecutePartitions implements adbc.Statement. The statement is a SELECT without parameters. A partition can be read
// more than once, and by other processes; the rows are read then.
func (st *statement) ExecutePartitions(ctx context.Context) (*arrow.Schema, adbc.Partitions, int64, error) {
	none := adbc.Partitions{}
	schema, err := st.ExecuteSchema(ctx)
	if err != nil {
		return nil, none, -1, err
	}
	if !cqltext.IsSelect(st.query) || len(cqltext.BindMarkers(st.query)) > 0 {
		return nil, none, -1, failed(adbc.StatusNotImplemented, "only a SELECT without parameters has partitions")
	}
	whole := partition{Keyspace: st.conn.get(adbc.OptionKeyCurrentDbSchema), Statement: st.query}
	list := []partition{whole}
	_, err = tablescan.New(ctx, st.conn.session, st.query, st.scanConfig())
	var refused *tablescan.StatementError
	switch {
	case err == nil:
		list = divided(whole, st.count(optionPartitions))
	case !errors.As(err, &refused) && !errors.Is(err, tablescan.ErrPartitioner):
		return nil, none, -1, wrapped("plan a scan", err)
	}
	out := adbc.Partitions{NumPartitions: uint64(len(list))}
	for _, p := range list {
		id, err := json.Marshal(p)
		if err != nil {
			return nil, none, -1, wrapped("encode a partition", err)
		}
		out.PartitionIDs = append(out.PartitionIDs, id)
	}
	return schema, out, -1, nil
}

// divided returns n partitions of equal parts of the ring. Tokens are hashes, so that the parts have about equal sizes
// unless few partition keys have most of the rows.
func divided(whole partition, n int) []partition {
	ranges := vecql.TokenRange{Start: math.MinInt64, End: math.MaxInt64}.Split(n)
	list := make([]partition, len(ranges))
	for i, r := range ranges {
		list[i] = whole
		list[i].Scan = &tablescan.Checkpoint{
			Statement: whole.Statement, Left: []tablescan.Part{{Start: r.Start, End: r.End}},
			Total: float64(uint64(r.End) - uint64(r.Start)),
		}
	}
	return list
}

// ReadPartition implements adbc.Connection. Results have the options of the connection.
func (c *connection) ReadPartition(ctx context.Context, id []byte) (array.RecordReader, error) {
	var p partition
	if err := json.Unmarshal(id, &p); err != nil || !cqltext.IsSelect(p.Statement) {
		return nil, failed(adbc.StatusInvalidArgument, "not a partition of this driver")
	}
	session, err := c.db.session(ctx, p.Keyspace)
	if err != nil {
		return nil, err
	}
	m, err := session.StatementMetadata(ctx, p.Statement, "")
	if err != nil {
		return nil, wrapped("prepare", err)
	}
	schema, err := c.shape().schema(m.ResultColumns)
	if err != nil {
		return nil, err
	}
	if p.Scan == nil {
		q := session.Query(p.Statement).PageSize(pageRows(m.ResultColumns, c.count(optionPageBytes)))
		return c.records(ctx, schema, q.Batches(ctx)), nil
	}
	cfg := c.scanConfig()
	cfg.Checkpoint = p.Scan
	scan, err := tablescan.New(ctx, session, p.Statement, cfg)
	if err != nil {
		return nil, wrapped("plan a scan", err)
	}
	return c.records(ctx, schema, scan.Batches(ctx)), nil
}
