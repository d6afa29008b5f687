// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
)

// Situations of package bulk.

// write writes a batch to shop.items and returns the first error.
func (s *shop) write(t *testing.T, o bulk.Options, b *column.Batch) error {
	w, err := bulk.Insert(t.Context(), s.Session, "shop.items", o)
	if err != nil {
		return err
	}
	err = w.Write(t.Context(), b)
	if closed := w.Close(t.Context()); err == nil {
		err = closed
	}
	return err
}

func bulkSituations() []situation {
	ids := column.NewBatch(column.Of("id", []int32{1, 2}))
	missing := bulk.Options{AllowMissing: true}
	return []situation{
		{"bulk.ErrOptions", "limit the requests to -1", is(bulk.ErrOptions), inShop(func(t *testing.T, s *shop) error {
			return s.write(t, bulk.Options{MaxInFlight: -1}, ids)
		})},
		{"bulk.ErrClosed", "write after Close", is(bulk.ErrClosed), inShop(func(t *testing.T, s *shop) error {
			w, err := bulk.Insert(t.Context(), s.Session, "shop.items", missing)
			require.NoError(t, err)
			require.NoError(t, w.Close(t.Context()))
			return w.Write(t.Context(), ids)
		})},
		{"bulk.ErrColumns", "write batches without most columns", is(bulk.ErrColumns), inShop(func(t *testing.T, s *shop) error {
			return s.write(t, bulk.Options{}, ids)
		})},
		{"bulk.ErrCounters", "update a counter", is(bulk.ErrCounters), inShop(func(t *testing.T, s *shop) error {
			if err := s.cluster.Exec("CREATE TABLE shop.hits (id int PRIMARY KEY, n counter)"); err != nil {
				return err
			}
			_, err := bulk.New(t.Context(), s.Session, "UPDATE shop.hits SET n = n + :n WHERE id = :id", bulk.Options{})
			return err
		})},
		{"bulk.ErrCheckpoint", "resume from a damaged checkpoint", is(bulk.ErrCheckpoint), inShop(func(t *testing.T, s *shop) error {
			t.Chdir(t.TempDir())
			require.NoError(t, os.WriteFile("load.json", []byte(`{"job": `), 0o600))
			return s.write(t, bulk.Options{Checkpoint: "load.json"}, ids)
		})},
		{"bulk.JobError", "resume from a checkpoint of another job", as[*bulk.JobError](), inShop(func(t *testing.T, s *shop) error {
			t.Chdir(t.TempDir())
			require.NoError(t, os.WriteFile("load.json", []byte(`{"job": "DELETE FROM shop.items WHERE id = :id"}`), 0o600))
			return s.write(t, bulk.Options{Checkpoint: "load.json"}, ids)
		})},
		{"bulk.RejectedError", "write a row without a key", as[*bulk.RejectedError](), inShop(func(t *testing.T, s *shop) error {
			b := column.NewBatch(column.Of("id", []int32{1, 2}).WithNulls([]bool{false, true}))
			b.Source = column.Source{File: "items.parquet", FirstRow: 700}
			return s.write(t, missing, b)
		})},
		{"bulk.ErrInDoubt", "resume additions to a counter after a crash", is(bulk.ErrInDoubt), inShop(func(t *testing.T, s *shop) error {
			require.NoError(t, s.cluster.Exec("CREATE TABLE shop.hits (id int PRIMARY KEY, n counter)"))
			const update = "UPDATE shop.hits SET n = n + 1 WHERE id = :id"
			path := filepath.Join(t.TempDir(), "hits.json")
			require.NoError(t, os.WriteFile(path, []byte(`{"job": "`+update+`", "sources": {"": {"done": [[0, 1]], "started": [[0, 2]]}}}`), 0o600))
			w, err := bulk.New(t.Context(), s.Session, update, bulk.Options{Counters: true, Checkpoint: path})
			require.NoError(t, err)
			require.Error(t, w.Write(t.Context(), ids))
			err = w.Close(t.Context())
			require.False(t, vecql.MayHaveApplied(err))
			return err
		})},
	}
}
