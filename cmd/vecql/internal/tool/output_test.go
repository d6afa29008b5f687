// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	ptext "github.com/jedib0t/go-pretty/v6/text"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// TestArrowOutputIsAStream reads --output arrow with the reader of Arrow streams, also without rows.
func TestArrowOutputIsAStream(t *testing.T) {
	x := newTester(t, shop)
	path := filepath.Join(t.TempDir(), "items.parquet")
	x.requireRun("unload", "shop.items", path)
	for want, args := range map[int64][]string{
		2: {"query", "-o", "arrow", "SELECT id, name FROM shop.items"}, 0: {"query", "-o", "arrow", "SELECT id, name FROM shop.items WHERE id = 9"},
		1: {"sql", "-o", "arrow", "SELECT id, name FROM '" + path + "' WHERE id = 1"},
	} {
		r, err := ipc.NewReader(strings.NewReader(x.requireRun(args...)))
		require.NoError(t, err, args)
		require.Equal(t, "name", r.Schema().Field(1).Name)
		rows := int64(0)
		for r.Next() {
			rows += r.RecordBatch().NumRows()
		}
		require.NoError(t, r.Err())
		require.Equal(t, want, rows, args)
		r.Release()
	}
}

func TestTable(t *testing.T) {
	render := func(limit int, tb *table) string {
		var w bytes.Buffer
		require.NoError(t, tb.write(&w, limit))
		for line := range strings.Lines(w.String()) {
			if limit > 0 {
				require.LessOrEqual(t, ptext.StringWidth(strings.TrimSuffix(line, "\n")), limit)
			}
		}
		return w.String()
	}
	items := func() *table {
		tb := newTable(">id", "name", "text")
		tb.add("1", "chair", "made of wood, with four legs")
		tb.add("22", "机の上", "e\u0301")
		return tb
	}
	require.Equal(t, ""+
		"id  name    text\n"+
		"--  ------  ----------------------------\n"+
		" 1  chair   made of wood, with four legs\n"+
		"22  机の上  e\u0301\n", render(0, items()))
	require.Equal(t, ""+
		"id  name    text\n"+
		"--  ------  -------------\n"+
		" 1  chair   made of wood…\n"+
		"22  机の上  e\u0301\n", render(25, items()))
	require.Equal(t, ""+
		"id    1\n"+
		"name  chair\n"+
		"text  made of w…\n"+
		"\n"+
		"id    22\n"+
		"name  机の上\n"+
		"text  e\u0301\n"+
		"\n", render(16, items()))
	tb := items()
	render(25, tb)
	tb.add("3", "a", "b")
	require.Equal(t, " 3  a       b\n", render(25, tb), "names once")
	require.Equal(t, "机…", clip("机の上", 4))
	require.Equal(t, "…", clip("机の上", 1))
}

// TestTableSink requires that results of many pages are one table.
func TestTableSink(t *testing.T) {
	var w bytes.Buffer
	s := &tableSink{w: &w}
	ids := make([]int32, 2500)
	require.NoError(t, s.Write(column.NewBatch(column.Of("id", ids))))
	require.NoError(t, s.Write(column.NewBatch(column.Of("id", ids[:1]))))
	require.NoError(t, s.Close())
	require.Equal(t, "id\n--\n"+strings.Repeat(" 0\n", 2501)+"2501 rows\n", w.String())
	require.NoError(t, (&tableSink{}).Close())
	failed := &checkedWriter{err: errors.New("full")}
	s = &tableSink{w: failed}
	require.NoError(t, s.Write(column.NewBatch(column.Of("id", ids[:1]))))
	require.Equal(t, failed.err, s.Close())
}

// TestProgress requires the line on a terminal, plain lines, and silence in a pipe.
func TestProgress(t *testing.T) {
	fraction := func(of time.Duration) float64 { return float64(of) / float64(time.Minute) }
	show := func(mode string, width int, of time.Duration) string {
		var out string
		synctest.Test(t, func(t *testing.T) {
			var w bytes.Buffer
			e := &env{err: &w, errWidth: width, now: time.Now, progress: mode}
			began := time.Now()
			stop, err := e.startProgress(func() state {
				return state{fraction(time.Since(began)), "rows", counts{}}
			})
			require.NoError(t, err)
			time.Sleep(of)
			stop()
			stop()
			out = w.String()
		})
		return out
	}
	line := show(progressAuto, 80, 31*time.Second)
	require.Contains(t, line, "\r  50% [=========>..........]  [30s:30s] rows\x1b[0K")
	require.Regexp(t, `\x1b\[2K\r$`, line, "the line is removed")
	require.Empty(t, show(progressAuto, 0, time.Minute))
	require.Empty(t, show(progressNone, 80, time.Minute))
	require.Equal(t, " 17%  rows, 50s left\n 33%  rows, 40s left\n", show(progressPlain, 0, 25*time.Second))
	fraction = func(time.Duration) float64 { return -1 } // unknown: nothing draws after the end
	require.Regexp(t, `[-\\|/] +\[0s\] rows .*\x1b\[2K\r$`, show(progressAuto, 80, 900*time.Millisecond))
	require.Equal(t, "5 rows", state{-1, "5 rows", counts{}}.line(time.Second))
	require.Equal(t, "100%  all", state{1.5, "all", counts{}}.line(time.Second))
	_, err := (&env{progress: "loud"}).startProgress(nil)
	require.EqualError(t, err, `--progress is "loud", want auto, plain or none`)
}
