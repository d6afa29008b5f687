// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/vecql/vecql/bench/workload"
	"github.com/vecql/vecql/cql"
)

// TestServer checks that the server rejects wrong values and unknown statements, and that results have the right number
// of rows.
func TestServer(t *testing.T) {
	addr := workload.Addr(t)
	for _, version := range []int{4, 5} {
		t.Run(fmt.Sprintf("version=%d", version), func(t *testing.T) {
			s := &session{Session: connect(t, addr, version)}
			if err := s.InsertVector(workload.InsertID, workload.InsertedVector); err != nil {
				t.Error(err)
			}
			if err := s.InsertVector(workload.InsertID, workload.Vector(1, workload.Dim)); err == nil {
				t.Error("insert of another vector succeeded")
			}
			if err := s.InsertSmall(workload.SmallKey, workload.SmallValue+1); err == nil {
				t.Error("insert of another value succeeded")
			}
			if _, err := s.ReadVector(workload.UUID(1000)); err == nil {
				t.Error("read of another row succeeded")
			}
			if err := s.Query("SELECT id FROM ks.other").Exec(t.Context()); err == nil {
				t.Error("an unknown statement succeeded")
			}
			for _, size := range []int{1, 7, 100, workload.PageSize} {
				it := s.Query(workload.ScanSmall, 3).PageSize(size).Iter(t.Context())
				n := 0
				for it.Scan(nil, nil, nil, nil, nil, nil, nil, nil, nil, nil) {
					n++
				}
				if err := it.Close(); err != nil || n != 3*size {
					t.Errorf("page size %d: %d rows, want %d: %v", size, n, 3*size, err)
				}
			}
		})
	}
}

// TestScans checks every row of two pages, with and without metadata in each page.
func TestScans(t *testing.T) {
	addr := workload.Addr(t)
	for _, version := range []int{4, 5} {
		s := &session{Session: connect(t, addr, version)}
		for rows := range scans {
			if n, err := s.Scan(rows, 2, 3*workload.PageSize, true); err != nil || n != 2*workload.PageSize {
				t.Errorf("version %d, %s rows: %d rows, want %d: %v", version, rows, n, 2*workload.PageSize, err)
			}
		}
		it := s.Query(workload.ScanVectors, 2).SkipMetadata(false).Iter(context.Background())
		var id cql.UUID
		var v []float32
		n := 0
		for ; it.Scan(&id, &v); n++ {
			if err := (&workload.VectorRow{ID: id, V: v}).Check(n); err != nil {
				t.Fatal(err)
			}
		}
		if err := it.Close(); err != nil || n != 2*workload.PageSize {
			t.Errorf("version %d, with metadata: %d rows, want %d: %v", version, n, 2*workload.PageSize, err)
		}
	}
}
