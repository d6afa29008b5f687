// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
)

// TestInsertPartitionsWithoutRows writes partitions with static values only, several of one partition and beside rows.
// A row without its clustering column is rejected if it has another value, or none at all.
func TestInsertPartitionsWithoutRows(t *testing.T) {
	for _, batchRows := range []int{1, 64} {
		inShop(t, 1, func(t *testing.T, s *shop) {
			require.NoError(t, s.cluster.Exec(eventSchema))
			null := func(rows ...int) []bool {
				flags := make([]bool, 8)
				for _, row := range rows {
					flags[row] = true
				}
				return flags
			}
			b := column.NewBatch(
				column.Of("id", []int64{1, 1, 2, 2, 3, 4, 5, 6}),
				column.Of("n", []int32{0, 7, 0, 0, 1, 0, 0, 0}).WithNulls(null(0, 2, 3, 5, 6, 7)),
				column.Strings("a", []string{"", "row", "", "", "x", "", "value", ""}).WithNulls(null(0, 2, 3, 5, 7)),
				column.Strings("b", make([]string, 8)).WithNulls(null(0, 1, 2, 3, 4, 5, 6, 7)),
				column.Strings("s", []string{"one", "one", "two", "two", "", "", "", ""}).WithNulls(null(4, 6, 7)),
			)
			var rejected []int64
			w, err := Insert(t.Context(), s.Session, "shop.events", Options{BatchRows: batchRows, MaxRejected: 5, Rejected: func(r Rejection) error {
				rejected = append(rejected, r.Index)
				return nil
			}})
			require.NoError(t, err)
			require.NoError(t, w.Write(t.Context(), b))
			require.NoError(t, w.Close(t.Context()))
			slices.Sort(rejected)
			require.Equal(t, []int64{6, 7}, rejected)
			var got []string
			for page, err := range s.Query("SELECT id, n, a, b, s FROM shop.events").Batches(t.Context()) {
				require.NoError(t, err)
				for i := range page.Rows {
					row := map[string]any{}
					for k := range page.Columns {
						row[page.Columns[k].Name] = page.Columns[k].Value(i)
					}
					got = append(got, fmt.Sprint(row))
				}
			}
			slices.Sort(got)
			require.Equal(t, []string{
				"map[a:<nil> b:<nil> id:2 n:<nil> s:two]", "map[a:<nil> b:<nil> id:4 n:<nil> s:]",
				"map[a:row b:<nil> id:1 n:7 s:one]", "map[a:x b:<nil> id:3 n:1 s:<nil>]",
			}, got)
		})
	}
}

// TestPartitionWithoutRowsAlone has one row without its clustering column in a batch, with static values, and with
// another value, which is rejected: it is of a row.
func TestPartitionWithoutRowsAlone(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		require.NoError(t, s.cluster.Exec(eventSchema))
		w, err := Insert(t.Context(), s.Session, "shop.events", Options{MaxRejected: 5})
		require.NoError(t, err)
		for id, valued := range []bool{false, true} {
			require.NoError(t, w.Write(t.Context(), column.NewBatch(
				column.Of("id", []int64{int64(id), 9}),
				column.Of("n", []int32{0, 1}).WithNulls([]bool{true, false}),
				column.Strings("a", []string{"value", "x"}).WithNulls([]bool{!valued, false}),
				column.Strings("b", []string{"", ""}).WithNulls([]bool{true, true}),
				column.Strings("s", []string{"one", "two"}),
			)))
			require.NoError(t, w.Flush(t.Context()))
			require.EqualValues(t, id, w.Stats().Rejected)
		}
		require.NoError(t, w.Close(t.Context()))
		var one string
		require.NoError(t, s.Query("SELECT s FROM shop.events WHERE id = 0").Scan(t.Context(), &one))
		require.Equal(t, "one", one)
	})
}

// TestInsertOfAListWithWriteTimesIsNotRepeatable, unless the list is frozen.
func TestInsertOfAListWithWriteTimesIsNotRepeatable(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		require.NoError(t, s.cluster.Exec("CREATE TABLE shop.frozen (id bigint PRIMARY KEY, l frozen<list<bigint>>, name text)"))
		const insert, using = "INSERT INTO shop.%s (id, %s) VALUES (:id, :v)", " USING TIMESTAMP :ts"
		for _, c := range []struct {
			table, column string
			timestamps    bool
			want          bool
		}{
			{"logs", "l", true, false},
			{"logs", "l", false, true},
			{"frozen", "l", true, true},
			{"items", "name", true, true},
			{"items", "name", false, true},
		} {
			for _, assumed := range []bool{false, true} {
				o, stmt := Options{AssumeIdempotent: assumed}, fmt.Sprintf(insert, c.table, c.column)
				if c.timestamps {
					o.TimestampColumn, stmt = "ts", stmt+using
				}
				w, err := Insert(t.Context(), s.Session, "shop."+c.table, o)
				require.NoError(t, err)
				require.Equal(t, c.want || assumed, w.repeatable, "Insert %+v", c)
				require.NoError(t, w.Close(t.Context()))
				w, err = New(t.Context(), s.Session, stmt, Options{AssumeIdempotent: assumed})
				require.NoError(t, err)
				require.Equal(t, c.want || assumed, w.repeatable, stmt)
				require.NoError(t, w.Close(t.Context()))
			}
		}
	})
}

// TestListsWithWriteTimesAreNotRepeated rejects a row in doubt whose list a second write would double.
func TestListsWithWriteTimesAreNotRepeated(t *testing.T) {
	for name, open := range map[string]func(t *testing.T, s *shop, o Options) (*Writer, error){
		"Insert": func(t *testing.T, s *shop, o Options) (*Writer, error) {
			o.TimestampColumn = "ts"
			return Insert(t.Context(), s.Session, "shop.logs", o)
		},
		"New": func(t *testing.T, s *shop, o Options) (*Writer, error) {
			return New(t.Context(), s.Session, `INSERT INTO shop.logs (id, "l") VALUES (:id, :l) USING TIMESTAMP :ts`, o)
		},
	} {
		inShop(t, 1, func(t *testing.T, s *shop) {
			s.cluster.Inject(cqltest.Fault{
				Op: cqltest.OpExecute, Statement: "INSERT", Times: 1, Execute: true, Error: &cqltest.Error{Code: cqltest.CodeWriteTimeout},
			})
			w, err := open(t, s, Options{MaxRejected: math.MaxInt})
			require.NoError(t, err, name)
			b := column.NewBatch(column.Of("id", []int64{1}), column.Lists("l", []int32{0, 1}, column.Of("element", []int64{5})),
				column.Of("ts", []int64{1000}))
			require.NoError(t, w.Write(t.Context(), b))
			require.NoError(t, w.Close(t.Context()))
			require.EqualValues(t, 1, w.Stats().Rejected, name)
			var list []int64
			require.NoError(t, s.Query("SELECT l FROM shop.logs WHERE id = 1").Scan(t.Context(), &list))
			require.Equal(t, []int64{5}, list, name)
		})
	}
}
