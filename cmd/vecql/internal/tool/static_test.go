// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStaticRowsComeBack unloads and loads a table that has partitions with static values only, in each format, with
// and without times, and compares it with its file.
func TestStaticRowsComeBack(t *testing.T) {
	const columns = " (id int, c int, s text STATIC, n int, PRIMARY KEY (id, c));"
	x := newTester(t, shop, "CREATE TABLE shop.a"+columns+"CREATE TABLE shop.b"+columns+`
		UPDATE shop.a SET s = 'alone' WHERE id = 1; UPDATE shop.a SET s = '' WHERE id = 2;
		INSERT INTO shop.a (id, c, s, n) VALUES (3, 1, 'both', 5); INSERT INTO shop.a (id, c) VALUES (4, 1)`)
	for _, name := range []string{"a.csv", "a.jsonl", "a.parquet", "a.arrow"} {
		for _, times := range [][]string{nil, {"--times"}} {
			path := filepath.Join(t.TempDir(), name)
			x.requireRun(append([]string{"unload", "shop.a", path}, times...)...)
			require.NoError(t, x.Exec("TRUNCATE shop.b"))
			checked := x.requireRun(append([]string{"load", "shop.b", path, "--dry-run"}, times...)...)
			require.Equal(t, "checked 4 rows from 1 file, 0 rejected\n", checked)
			loaded := x.requireRun(append([]string{"load", "shop.b", path}, times...)...)
			require.Equal(t, "loaded 4 rows from 1 file, 0 rejected\n", loaded)
			require.Equal(t, "4 rows are equal.\n", x.requireRun("verify", "shop.a", "shop.b"))
			if times == nil {
				require.Equal(t, "4 rows are equal.\n", x.requireRun("verify", path, "shop.b"))
			}
		}
	}
}
