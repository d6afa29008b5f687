// SPDX-License-Identifier: Apache-2.0

// Package sqltest runs statements of the command vecql in tests.
package sqltest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

// Build builds the command from a folder two below the root of module bench, and returns its path.
func Build(t *testing.T) string {
	t.Helper()
	vecql := filepath.Join(t.TempDir(), "vecql")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-C", "../..", "-o", vecql, "./cmd/vecql")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the command: %v\n%s", err, out)
	}
	return vecql
}

// Files returns the table of a statement that reads a Parquet file.
func Files(path string) string { return "read('" + strings.ReplaceAll(path, "'", "''") + "')" }

// Run returns the answer of the command to a statement. The command writes nothing for an answer without rows.
func Run(t *testing.T, vecql, statement string) *column.Batch {
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
