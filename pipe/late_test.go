// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

// Columns that are read late, for the rows of a result alone.

var errUnreadable = errors.New("unreadable")

// A brokenReader fails to read the byte at an offset.
type brokenReader struct {
	io.ReaderAt
	at int64
}

func (r *brokenReader) ReadAt(b []byte, at int64) (int, error) {
	if at <= r.at && r.at < at+int64(len(b)) {
		return 0, errUnreadable
	}
	return r.ReaderAt.ReadAt(b, at)
}

// TestLateColumnsFail has a file whose late column is unreadable: the error is the file's, as without an order.
func TestLateColumnsFail(t *testing.T) {
	b := numbers(20000)
	texts := make([]string, b.Rows)
	for i := range texts {
		texts[i] = fmt.Sprintf("needle %d %d", i, i*i)
	}
	b.Columns = append(b.Columns, column.Strings("s", texts))
	var file bytes.Buffer
	w, err := parquetscan.NewWriter(&file, b.Schema(), parquetscan.WriterOptions{NoDictionary: true})
	require.NoError(t, err)
	require.NoError(t, w.Write(b))
	require.NoError(t, w.Close())
	source := parquetscan.Source{
		Name: "rows.parquet", Size: int64(file.Len()),
		Reader: &brokenReader{bytes.NewReader(file.Bytes()), int64(bytes.Index(file.Bytes(), []byte("needle 0 ")))},
	}
	files, err := parquetscan.OpenSources(t.Context(), source)
	require.NoError(t, err)
	defer files.Close()
	top := pipe.Dataset(files).OrderBy(pipe.Ascending("v")).Limit(3)
	got, err := top.Select("v", "w").Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1, 2}, values64(t, got, "v"))
	require.Contains(t, planOf(t, top), "of these rows, columns w, s\n")
	for _, p := range []pipe.Pipe{top, top.Select("s"), pipe.Dataset(files).Select("s")} {
		_, err := p.Batch(t.Context())
		require.ErrorIs(t, err, errUnreadable)
	}
	_, err = top.Batch(t.Context())
	require.ErrorContains(t, err, `pipe: Parquet("rows.parquet"): parquetscan: rows.parquet, row group 0, column s`)
	var e *pipe.Error
	require.ErrorAs(t, err, &e)
}

// TestLateColumnsCountBytes requires that late columns count in the row groups of the result's rows, once each.
func TestLateColumnsCountBytes(t *testing.T) {
	b := numbers(1000)
	texts := make([]string, b.Rows)
	for i := range texts {
		texts[i] = strings.Repeat(fmt.Sprint(i), 1+i/100)
	}
	b.Columns = append(b.Columns, column.Strings("s", texts))
	files := openFile(t, parquetscan.WriterOptions{RowGroupRows: 100}, b)
	bytesOf := func(columns ...string) (groups []int64) {
		scan, err := files.Scan(parquetscan.Options{Columns: columns})
		require.NoError(t, err)
		for _, bucket := range scan.SplitByBytes(0) {
			groups = append(groups, bucket.Bytes)
		}
		require.Len(t, groups, 10)
		return groups
	}
	all := int64(0)
	for _, n := range bytesOf("v") {
		all += n
	}
	texts0 := bytesOf("s")
	for name, c := range map[string]struct {
		p    pipe.Pipe
		late int64
	}{
		"first row group": {pipe.Dataset(files).OrderBy(pipe.Ascending("v")).Limit(5), texts0[0]},
		"last row group":  {pipe.Dataset(files).OrderBy(pipe.Descending("v")).Limit(100), texts0[9]},
		"two row groups":  {pipe.Dataset(files).OrderBy(pipe.Descending("v")).Limit(101), texts0[9] + texts0[8]},
		"in between":      {pipe.Dataset(files).Where("v >= 350").OrderBy(pipe.Ascending("v")).Offset(40).Limit(30), texts0[3] + texts0[4]},
		"no rows":         {pipe.Dataset(files).Where("v < 0").OrderBy(pipe.Ascending("v")).Limit(5), 0},
	} {
		var stats pipe.Stats
		_, err := c.p.Select("v", "s").Configure(pipe.Config{Stats: &stats}).Batch(t.Context())
		require.NoError(t, err)
		require.Equal(t, all+c.late, stats.Bytes, name)
	}
}

// TestStepsAreTimed requires the time of steps that do something.
func TestStepsAreTimed(t *testing.T) {
	var stats pipe.Stats
	file := pipe.Dataset(openFile(t, parquetscan.WriterOptions{}, numbers(20000)))
	p := file.With("x", "v * w + 1").Where("x > 5").OrderBy(pipe.Descending("x")).Limit(50)
	_, err := p.Configure(pipe.Config{Stats: &stats}).Batch(t.Context())
	require.NoError(t, err)
	require.Positive(t, stats.Elapsed)
	for _, s := range stats.Steps {
		require.Positive(t, s.Time, s.Step)
	}
}
