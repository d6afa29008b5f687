// SPDX-License-Identifier: Apache-2.0

package clickbench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vecql/vecql/bench/clickbench"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

// The statements of the command vecql sql return DuckDB's answers.
func TestStatements(t *testing.T) {
	references, n := readReferences(t), clickbench.NewScale(small.Rows)
	vecql := filepath.Join(t.TempDir(), "vecql")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../..", "-o", vecql, "./cmd/vecql").CombinedOutput(); err != nil {
		t.Fatalf("build the command: %v\n%s", err, out)
	}
	for i := range clickbench.Queries {
		q := &clickbench.Queries[i]
		t.Run(q.Name, func(t *testing.T) {
			path := filepath.Join(folder, q.Table)
			b := runSQL(t, vecql, q.SQL("vecql", "read('"+strings.ReplaceAll(path, "'", "''")+"')", n))
			if err := references[q.Name].Check(clickbench.NewAnswer(b)); err != nil {
				t.Error(err)
			}
		})
	}
}

// runSQL returns the answer of the command to a statement. The command writes nothing for an answer without rows.
func runSQL(t *testing.T, vecql, statement string) *column.Batch {
	t.Helper()
	path := filepath.Join(t.TempDir(), "answer.parquet")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var messages strings.Builder
	cmd := exec.CommandContext(t.Context(), vecql, "sql", "--output", "parquet", statement)
	cmd.Stdout, cmd.Stderr = out, &messages
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, messages.String())
	}
	if end, err := out.Seek(0, 1); err != nil || end == 0 {
		return &column.Batch{}
	}
	files, err := parquetscan.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	b, err := pipe.Dataset(files).Batch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b
}
