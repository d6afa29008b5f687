// SPDX-License-Identifier: Apache-2.0

package clickbench_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/vecql/vecql/bench/clickbench"
	"github.com/vecql/vecql/internal/sql"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

// The statements of the command vecql sql return DuckDB's answers.
func TestStatements(t *testing.T) {
	references, n := readReferences(t), clickbench.NewScale(small.Rows)
	for i := range clickbench.Queries {
		q := &clickbench.Queries[i]
		t.Run(q.Name, func(t *testing.T) {
			path := filepath.Join(folder, q.Table)
			s, err := sql.Parse(q.SQL("vecql", "read('"+strings.ReplaceAll(path, "'", "''")+"')", n))
			if err != nil {
				t.Fatal(err)
			}
			files, err := parquetscan.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer files.Close()
			plan, err := s.Plan(pipe.Dataset(files), files.Schema())
			if err != nil {
				t.Fatal(err)
			}
			b, err := plan.Pipe.Batch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := references[q.Name].Check(clickbench.NewAnswer(b)); err != nil {
				t.Error(err)
			}
		})
	}
}
