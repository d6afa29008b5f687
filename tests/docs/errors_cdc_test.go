// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cdc"
	"github.com/vecql/vecql/cqltest"
)

// Errors of package cdc.

// inLog returns a function that calls f with a shop on ScyllaDB, whose table shop.sales has a change log.
func inLog(f func(t *testing.T, s *shop) error) func(*testing.T) error {
	return onCluster(cqltest.Config{Scylla: &cqltest.Scylla{}}, func(t *testing.T, s *shop) error {
		require.NoError(t, s.cluster.Exec("CREATE TABLE shop.sales (id int PRIMARY KEY) WITH cdc = {'enabled': true}"))
		require.NoError(t, s.start(t))
		return f(t, s)
	})
}

func cdcSituations() []situation {
	open := func(t *testing.T, s *shop, table string, cfg cdc.Config) (*cdc.Reader, error) {
		return cdc.Open(t.Context(), s.Session, table, cfg)
	}
	return []situation{
		{"cdc.ErrDisabled", "read the changes of a table without a log", is(cdc.ErrDisabled), inLog(func(t *testing.T, s *shop) error {
			_, err := open(t, s, "shop.items", cdc.Config{})
			return err
		})},
		{"cdc.ErrDropped", "drop a table while its changes are read", is(cdc.ErrDropped), inLog(func(t *testing.T, s *shop) error {
			r, err := open(t, s, "shop.sales", cdc.Config{})
			require.NoError(t, err)
			time.AfterFunc(time.Minute, func() { _ = s.cluster.Exec("DROP TABLE shop.sales") })
			return r.Run(t.Context(), nil)
		})},
		{"cdc.ErrCheckpoint", "resume a reader of another table", is(cdc.ErrCheckpoint), inLog(func(t *testing.T, s *shop) error {
			_, err := open(t, s, "shop.sales", cdc.Config{Checkpoint: &cdc.Checkpoint{Table: "shop.items"}})
			return err
		})},
		{"cdc.ErrRunning", "run a reader that is running", is(cdc.ErrRunning), inLog(func(t *testing.T, s *shop) error {
			require.NoError(t, s.cluster.Exec("INSERT INTO shop.sales (id) VALUES (1)"))
			r, err := open(t, s, "shop.sales", cdc.Config{})
			require.NoError(t, err)
			for _, failed := range r.Batches(t.Context()) {
				return errors.Join(failed, r.Run(t.Context(), nil))
			}
			return nil
		})},
		{"cdc.ExpiredError", "resume a reader after the TTL of the log", as[*cdc.ExpiredError](), inLog(func(t *testing.T, s *shop) error {
			r, err := open(t, s, "shop.sales", cdc.Config{})
			require.NoError(t, err)
			c := r.Checkpoint()
			time.Sleep(25 * time.Hour)
			_, err = open(t, s, "shop.sales", cdc.Config{Checkpoint: &c})
			return err
		})},
		{"cdc.ReadError", "a replica fails every read of a log", as[*cdc.ReadError](), inLog(func(t *testing.T, s *shop) error {
			r, err := open(t, s, "shop.sales", cdc.Config{Workers: 1})
			require.NoError(t, err)
			s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "cdc$stream_id", Error: &cqltest.Error{Code: cqltest.CodeReadFailure}})
			return r.Run(t.Context(), nil)
		})},
	}
}
