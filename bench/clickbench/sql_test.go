// SPDX-License-Identifier: Apache-2.0

package clickbench_test

import (
	"path/filepath"
	"testing"

	"github.com/vecql/vecql/bench/clickbench"
	"github.com/vecql/vecql/bench/sqltest"
)

// The statements of the command vecql sql return DuckDB's answers.
func TestStatements(t *testing.T) {
	references, n := readReferences(t), clickbench.NewScale(small.Rows)
	vecql := sqltest.Build(t)
	for i := range clickbench.Queries {
		q := &clickbench.Queries[i]
		t.Run(q.Name, func(t *testing.T) {
			b := sqltest.Run(t, vecql, q.SQL("vecql", sqltest.Files(filepath.Join(folder, q.Table)), n))
			if err := references[q.Name].Check(clickbench.NewAnswer(b)); err != nil {
				t.Error(err)
			}
		})
	}
}
