// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bytes"
	"errors"
	"testing"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/tablescan"
)

// Situations of scans of whole tables.

// newScan returns a function that makes a scan of a statement and runs it.
func newScan(statement string, cfg tablescan.Config, f func(*column.Batch) error) func(t *testing.T) error {
	return inShop(func(t *testing.T, s *shop) error {
		scan, err := tablescan.New(t.Context(), s.Session, statement, cfg)
		if err != nil {
			return err
		}
		return scan.Run(t.Context(), func(_ int, b *column.Batch) error { return f(b) })
	})
}

func scanSituations() []situation {
	const items = "SELECT name FROM shop.items"
	// another partitioner: the marker of the token is a varint
	varint := func(a *cqltest.Answer) {
		a.Body = bytes.ReplaceAll(a.Body, []byte("partition key token\x00\x02"), []byte("partition key token\x00\x0e"))
	}
	return []situation{
		{
			"tablescan.StatementError", "scan with an aggregate", as[*tablescan.StatementError](),
			newScan("SELECT count(*) FROM shop.items", tablescan.Config{}, nil),
		},
		{
			"tablescan.ErrCheckpoint", "resume the scan of another statement", is(tablescan.ErrCheckpoint),
			newScan(items, tablescan.Config{Checkpoint: &tablescan.Checkpoint{Statement: "SELECT id FROM shop.items"}}, nil),
		},
		{"tablescan.ErrPartitioner", "scan a table whose tokens are no bigints", is(tablescan.ErrPartitioner), inShop(func(t *testing.T, s *shop) error {
			s.cluster.Inject(cqltest.Fault{Op: cqltest.OpPrepare, Edit: varint})
			_, err := tablescan.New(t.Context(), s.Session, items, tablescan.Config{})
			return err
		})},
		{"tablescan.ErrRunning", "run a scan that is running", is(tablescan.ErrRunning), inShop(func(t *testing.T, s *shop) error {
			scan, err := tablescan.New(t.Context(), s.Session, items, tablescan.Config{})
			if err != nil {
				return err
			}
			for _, failed := range scan.Batches(t.Context()) {
				err = errors.Join(failed, scan.Run(t.Context(), nil))
			}
			return err
		})},
		{"tablescan.RangeError", "a replica fails every read", as[*tablescan.RangeError](), inShop(func(t *testing.T, s *shop) error {
			s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token", Error: &cqltest.Error{Code: cqltest.CodeReadFailure}})
			scan, err := tablescan.New(t.Context(), s.Session, items, tablescan.Config{Workers: 1})
			if err != nil {
				return err
			}
			return scan.Run(t.Context(), nil)
		})},
	}
}
