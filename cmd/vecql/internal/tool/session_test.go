// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Recorded sessions: the README of the tool, and the examples of its help.

// readme is the README of the tool.
const readme = "../../README.md"

// TestReadme runs the blocks of the README that begin with ```console, one after the other, in a folder and a cluster
// of their own. "..." in the recorded output stands for any text, and for any lines where it stands alone. The first
// cat of a file creates it.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(readme)
	require.NoError(t, err)
	x := newTester(t)
	x.env["LANG"] = "C.UTF-8"
	t.Chdir(t.TempDir())
	blocks := strings.Split(string(text), "```console\n")[1:]
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```\n")
		for _, step := range strings.Split("\n"+block, "\n$ ")[1:] {
			command, want, _ := strings.Cut(step+"\n", "\n")
			want = strings.TrimRight(want, "\n")
			if file, ok := strings.CutPrefix(command, "cat "); ok {
				if _, err := os.Stat(file); err != nil {
					require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
					require.NoError(t, os.WriteFile(file, []byte(want+"\n"), 0o600))
				}
			}
			got := strings.TrimRight(x.requireCommand(command), "\n")
			pattern := strings.ReplaceAll(regexp.QuoteMeta(want), `\.\.\.`, `.*`)
			pattern = strings.ReplaceAll("\n"+pattern+"\n", "\n.*\n", "\n(?s:.*)\n")
			require.Regexp(t, "^"+pattern+"$", "\n"+got+"\n", command)
		}
	}
}

// notRun are examples that tests cannot run, because they name servers or start a real one.
var notRun = []string{
	"vecql demo",
	"vecql demo --server cassandra",
	"vecql demo --hosts 10.0.0.1 --keyspace try --keep",
	"vecql query --hosts node1:9042 --user ada",
	"vecql unload shop.items parts/ --part-rows 1000000 --resume",
	"zcat items.csv.gz | vecql load shop.items - --format csv",
}

// TestExamples runs the examples of each verb.
func TestExamples(t *testing.T) {
	x := newTester(t, shop, "CREATE TYPE shop.address (street text)")
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("schema.cql", []byte("CREATE TABLE shop.more (id int PRIMARY KEY);"), 0o600))
	require.NoError(t, os.Mkdir("migrations", 0o700))
	require.NoError(t, os.WriteFile("migrations/001_notes.cql", []byte("CREATE TABLE notes (id int PRIMARY KEY);"), 0o600))
	require.NoError(t, os.WriteFile("gone.csv", []byte("id\n7\n"), 0o600))
	for _, path := range []string{"items.parquet", "items-1.csv.gz", "new/"} {
		x.requireRun("unload", "shop.items", path)
	}
	for _, c := range newRoot(newEnv(nil, io.Discard, io.Discard)).Commands() {
		for line := range strings.Lines(c.Example) {
			if line = strings.TrimSpace(line); !slices.Contains(notRun, line) {
				x.requireCommand(line)
			}
		}
	}
}

// equivalents is the document with the commands of other tools, and the commands that take their place.
const equivalents = "../../../../docs/equivalents.md"

// TestEquivalents runs the commands in the tables of the document, one after the other, in a folder and a cluster of
// their own.
func TestEquivalents(t *testing.T) {
	text, err := os.ReadFile(equivalents)
	require.NoError(t, err)
	x := newTester(t, shop, "CREATE TABLE shop.copies (id int PRIMARY KEY, name text, price double, tags set<text>, v vector<float, 3>)")
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{
		"more.cql":  "CREATE TABLE shop.more (id int PRIMARY KEY);",
		"more.csv":  "nr,title\n4,desk\n",
		"plain.csv": "7;lamp\n",
		"nulls.csv": "id,name\n8,NULL\n",
	} {
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
	commands := regexp.MustCompile("`(vecql [^`]+)`").FindAllStringSubmatch(tables(string(text)), -1)
	require.Greater(t, len(commands), 50)
	for _, command := range commands {
		if !slices.Contains(notRun, command[1]) {
			x.requireCommand(command[1])
		}
	}
}

// tables returns the lines of a document that are rows of tables.
func tables(text string) string {
	return strings.Join(regexp.MustCompile(`(?m)^\|.*$`).FindAllString(text, -1), "\n")
}

// requireCommand runs a line of a shell that succeeds: cat, or the tool, which may write to a file, or read from one or
// from echo. It returns the output.
func (x *tester) requireCommand(line string) string {
	x.t.Helper()
	words := shellWords(line)
	if words[0] == "cat" {
		text, err := os.ReadFile(words[1])
		require.NoError(x.t, err)
		return string(text)
	}
	x.in = ""
	if words[0] == "echo" {
		require.Equal(x.t, "|", words[2], line)
		x.in, words = words[1]+"\n", words[3:]
	}
	require.Equal(x.t, "vecql", words[0], line)
	file := ""
	switch n := len(words); {
	case n > 2 && words[n-2] == ">":
		file, words = words[n-1], words[:n-2]
	case n > 2 && words[n-2] == "<":
		text, err := os.ReadFile(words[n-1])
		require.NoError(x.t, err)
		x.in, words = string(text), words[:n-2]
	}
	code, out, text := x.run(words[1:]...)
	require.Zero(x.t, code, "%s: %s", line, text)
	if file != "" {
		require.NoError(x.t, os.WriteFile(file, []byte(out), 0o600))
		out = ""
	}
	return out + text
}

// shellWords returns the words of a line, without the quotes around them.
func shellWords(line string) (words []string) {
	for _, quoted := range regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`).FindAllString(line, -1) {
		if c := quoted[0]; c == '"' || c == '\'' {
			quoted = quoted[1 : len(quoted)-1]
		}
		words = append(words, quoted)
	}
	return words
}
