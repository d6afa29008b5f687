// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/search"
)

// recallOf runs vecql recall and returns the lines without the latencies, which differ from run to run.
func (x *tester) recallOf(args ...string) []string {
	x.t.Helper()
	rows, err := csv.NewReader(strings.NewReader(x.requireRun(append([]string{"recall", "-o", "csv"}, args...)...))).ReadAll()
	require.NoError(x.t, err)
	require.Equal(x.t, "k,oversample,limit,recall,lowest,short,p50_ms,p95_ms,p99_ms", strings.Join(rows[0], ","))
	var lines []string
	for _, row := range rows[1:] {
		lines = append(lines, strings.Join(row[:6], ","))
	}
	return lines
}

// TestRecall measures with rows of the table, with the vectors of a file, and with a filter.
func TestRecall(t *testing.T) {
	x := newTester(t, products)
	t.Chdir(t.TempDir())
	// a row of the table is not its own neighbor: one row more is requested
	require.Equal(t, []string{"1,1,2,1,1,0", "1,2,4,1,1,0", "3,1,4,1,1,0", "3,2,8,1,1,0"},
		x.recallOf("shop.products", "--k", "1,3", "--oversample", "1,2", "--sample", "20"))
	require.NoError(t, os.WriteFile("q.csv", []byte("emb\n\"[0,0]\"\n\"[6,8]\"\n"), 0o600))
	require.Equal(t, []string{"2,1,2,1,1,0"}, x.recallOf("shop.products(v)", "--queries", "q.csv", "--k", "2", "--oversample", "1"))
	require.Equal(t, []string{"1,1,1,1,1,0"},
		x.recallOf("shop.products", "--queries", "q.csv:emb", "--k", "1", "--oversample", "1", "--where", "price > 100"))
	text := x.requireRun("recall", "shop.products", "--queries", "q.csv", "--k", "1", "--oversample", "1", "--metric", "euclidean")
	require.Regexp(t, `^Index shop\.products_v, 2 queries, exact answers in \S+\.

k  oversample  limit  recall  lowest  short +p50_ms +p95_ms +p99_ms
.*
1           1      1       1       1      0 .*
1 row
$`, text)
}

// TestRecallApproximate measures an index that misses rows: with more rows requested it misses fewer.
func TestRecallApproximate(t *testing.T) {
	x := newTesterOf(t, cqltest.Config{Nodes: 1, SAI: cqltest.SAI{Approximate: true}}, products)
	t.Chdir(t.TempDir())
	random := rand.New(rand.NewPCG(1, 2))
	var rows strings.Builder
	for id := range 400 {
		fmt.Fprintf(&rows, "{\"id\":%d,\"v\":[%g,%g]}\n", id+10, random.Float32(), random.Float32())
	}
	x.in = rows.String()
	x.requireRun("load", "shop.products", "-", "--format", "json", "--map", "name=", "--map", "price=", "--map", "rank=")
	var recalls []float64
	for _, line := range x.recallOf("shop.products", "--k", "20", "--oversample", "1,2,10", "--svg", "recall.svg") {
		fields := strings.Split(line, ",")
		recall, err := strconv.ParseFloat(fields[3], 64)
		require.NoError(t, err)
		lowest, err := strconv.ParseFloat(fields[4], 64)
		require.NoError(t, err)
		require.LessOrEqual(t, lowest, recall)
		recalls = append(recalls, recall)
	}
	require.Len(t, recalls, 3)
	require.Less(t, recalls[0], 1.0)
	require.Less(t, recalls[0], recalls[1])
	require.Less(t, recalls[1], recalls[2])
}

// dataset is the tables from which TestRecallDataset makes the files of VectorDBBench. The third neighbor of query 8 is
// wrong.
const dataset = `
	CREATE TABLE shop.train (id bigint PRIMARY KEY, emb list<float>);
	INSERT INTO shop.train (id, emb) VALUES (1, [0, 0]); INSERT INTO shop.train (id, emb) VALUES (2, [3, 4]);
	INSERT INTO shop.train (id, emb) VALUES (3, [0, 1]); INSERT INTO shop.train (id, emb) VALUES (4, [6, 8]);
	CREATE TABLE shop.test (id bigint PRIMARY KEY, emb list<double>);
	INSERT INTO shop.test (id, emb) VALUES (7, [0, 0]); INSERT INTO shop.test (id, emb) VALUES (8, [6, 8]);
	CREATE TABLE shop.neighbors (id bigint PRIMARY KEY, neighbors_id list<bigint>);
	INSERT INTO shop.neighbors (id, neighbors_id) VALUES (7, [1, 3, 2, 4]); INSERT INTO shop.neighbors (id, neighbors_id) VALUES (8, [4, 2, 1]);
	CREATE TABLE shop.vectors (id bigint PRIMARY KEY, v vector<float, 2>);
	CREATE CUSTOM INDEX vectors_v ON shop.vectors (v) USING 'StorageAttachedIndex' WITH OPTIONS = {'similarity_function': 'euclidean'};`

// TestRecallDataset loads a dataset with the layout of VectorDBBench and measures against its exact answers.
func TestRecallDataset(t *testing.T) {
	x := newTester(t, products, dataset)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("data", 0o700))
	for _, name := range []string{"train", "test", "neighbors"} {
		x.requireRun("unload", "shop."+name, "data/"+name+".parquet")
	}
	x.requireRun("load", "shop.vectors", "data/train.parquet", "--map", "v=emb") // as the help has it
	want := []string{"1,1,1,1,1,0", "3,1,3,0.8333,0.6667,0"}
	require.Equal(t, want, x.recallOf("shop.vectors", "--dataset", "data", "--k", "1,3", "--oversample", "1"))
	require.Equal(t, want, x.recallOf("shop.vectors", "--queries", "data/test.parquet", "--truth", "data/neighbors.parquet", "--k", "1,3", "--oversample", "1"))
	text := x.requireRun("recall", "shop.vectors", "--dataset", "data", "--k", "1", "--oversample", "1")
	require.True(t, strings.HasPrefix(text, "Index shop.vectors_v, 2 queries.\n\n"), text)

	x.requireRun("unload", "shop.test", "doubles.parquet")
	x.requireRun("load", "shop.vectors", "doubles.parquet", "--map", "v=emb")
	require.Equal(t, "{\"v\":[6,8]}\n", x.requireRun("query", "SELECT v FROM shop.vectors WHERE id = 8", "--output", "json"))

	require.NoError(t, x.Exec("DELETE FROM shop.neighbors WHERE id = 8"))
	x.requireRun("unload", "shop.neighbors", "few.parquet")
	require.NoError(t, os.WriteFile("text.jsonl", []byte(`{"id":7,"neighbors_id":null}`+"\n"), 0o600))
	for args, want := range map[string]string{
		"--dataset data --k 4":                     "1 vecql recall: unsupported option: the exact answer of query N has 3 rows, want 4",
		"--dataset none":                           "1 vecql recall: stat none/neighbors.parquet: no such file or directory",
		"--dataset data --truth few.parquet --k 1": "1 vecql recall: data/test.parquet: row N: few.parquet has no neighbors of the query with id 8",
		"--dataset data --truth text.jsonl":        "1 vecql recall: text.jsonl: row N: a value is NULL, want an integer or a list of integers",
		"--dataset data --where id=1":              "2 vecql recall: neighbors.parquet has the neighbors among all rows: --truth names those among the rows of --where; see vecql recall --help",
	} {
		line := x.requireFailure(int(want[0]-'0'), append([]string{"recall", "shop.vectors"}, strings.Fields(args)...)...)
		line = regexp.MustCompile(`(row|query) [01]\b`).ReplaceAllString(line, "$1 N") // unload writes ranges as they end
		require.Equal(t, want[2:], line, args)
	}
}

func TestRecallRefused(t *testing.T) {
	x := newTester(t, products)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("q.csv", []byte("emb\n\"[0,0]\"\n"), 0o600))
	const help = "; see vecql recall --help"
	for _, m := range [][2]string{
		{"", "2 accepts 1 arg(s), received 0" + help},
		{"shop.products --sample 0", "2 --sample is 0, want at least 1" + help},
		{"shop.products --k 0", "2 --k needs numbers of at least 1" + help},
		{"shop.products --k 2000", "1 unsupported number of hits: 2000: an index returns at most 1000, search exactly"},
		{"shop.products --oversample 0.5", "2 --oversample needs factors of at least 1" + help},
		{"shop.products --truth q.csv", "2 --truth needs its queries: --queries or --dataset" + help},
		{"shop.products --queries q.csv --sample 3", "2 if any flags in the group [sample queries dataset] are set none of the others can be; [queries sample] were all set" + help},
		{"shop.products --queries q.csv --svg q.csv --k 1", "2 --svg is q.csv, which is read: want another file" + help},
		{"shop.products --queries q.csv --svg none/a.svg --k 1", "1 open none/"},
		{"shop.plain --k 1", "1 shop.plain: no vector index"},
	} {
		args, want := m[0], m[1]
		code, _, text := x.run(append([]string{"recall"}, strings.Fields(args)...)...)
		require.Equal(t, int(want[0]-'0'), code, text)
		require.True(t, strings.HasPrefix(text, "vecql recall:"+want[1:]), text)
	}
}

// TestRecallChart requires a chart with titles, and a mark for each point, also of measurements of one point, and of
// perfect recall.
func TestRecallChart(t *testing.T) {
	x := newTester(t, products)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("q.csv", []byte("emb\n\"[0,0]\"\n\"[6,8]\"\n\"[1,1]\"\n"), 0o600))
	x.requireRun("recall", "shop.products", "--k", "1,2", "--oversample", "1,1.5", "--queries", "q.csv", "--svg", "recall.svg")
	drawn, err := os.ReadFile("recall.svg")
	require.NoError(t, err)
	texts, circles := parseChart(t, drawn)
	for _, want := range []string{
		"Recall and latency of the index shop.products_v, 3 queries", "Latency of a search (milliseconds)",
		"Recall (part of the exact answer)", "k = 1", "k = 2", "median", "95th percentile", "1, 1.5 times", "1.000",
	} {
		require.Contains(t, texts, want)
	}
	require.Equal(t, 2*2*2, circles, "numbers of rows, factors, median and 95th percentile")

	for _, row := range []search.RecallRow{
		{K: 10, Oversample: 1, Recall: 1, P50: time.Millisecond, P95: time.Millisecond},
		{K: 10, Oversample: 1, Recall: 0},
	} {
		var w bytes.Buffer
		require.NoError(t, drawRecall(&w, &search.RecallReport{Index: "a<b", Rows: []search.RecallRow{row}}))
		_, circles := parseChart(t, w.Bytes())
		require.Equal(t, 2, circles)
	}
}

// parseChart returns the texts and the number of circles of an SVG, and requires its rules for dark grounds.
func parseChart(t *testing.T, svg []byte) (texts []string, circles int) {
	require.Contains(t, string(svg), "@media (prefers-color-scheme: dark)")
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts, circles
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.CharData:
			texts = append(texts, string(token))
		case xml.StartElement:
			if token.Name.Local == "circle" {
				circles++
			}
		}
	}
}

// TestTicks requires marks that enclose a range, at most eight steps of 1, 2 or 5 and a power of ten.
func TestTicks(t *testing.T) {
	for _, m := range []struct {
		low, high float64
		want      string
	}{
		{0, 10, "0 2 4 6 8 10"},
		{0, 9.5, "0 2 4 6 8 10"},
		{0.82, 1, "0.80 0.85 0.90 0.95 1.00"},
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{0.99, 1, "0.990 0.992 0.994 0.996 0.998 1.000"},
		{0, 1234, "0 200 400 600 800 1000 1200 1400"},
		{0, 0.001, "0.0000 0.0002 0.0004 0.0006 0.0008 0.0010"},
	} {
		var labels []string
		for _, mark := range ticks(m.low, m.high) {
			labels = append(labels, mark.Label)
		}
		require.Equal(t, m.want, strings.Join(labels, " "))
	}
	for high := 0.001; high < 1e7; high *= 1.37 {
		marks := ticks(0, high)
		require.LessOrEqual(t, len(marks), 10)
		require.GreaterOrEqual(t, len(marks), 4)
		require.GreaterOrEqual(t, marks[len(marks)-1].Value, high*(1-1e-6))
		require.False(t, math.IsInf(marks[1].Value, 0))
	}
}
