// SPDX-License-Identifier: Apache-2.0

package valuetest_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/internal/valuetest"
)

// A bound is a row of the statement of a path.
type bound struct {
	ID int
	V  any
}

// A path writes a Go value with a statement that has the markers :id and :v.
type path struct {
	name  string
	write func(ctx context.Context, s *vecql.Session, text string, id int, v any) error
}

var paths = []path{
	{"query", func(ctx context.Context, s *vecql.Session, text string, id int, v any) error {
		return s.Query(text, id, v).Exec(ctx)
	}},
	{"named", func(ctx context.Context, s *vecql.Session, text string, id int, v any) error {
		return s.Query(text, cql.NamedValue("v", v), cql.NamedValue("id", id)).Exec(ctx)
	}},
	{"batch", func(ctx context.Context, s *vecql.Session, text string, id int, v any) error {
		return s.Batch(cql.UnloggedBatch).Query(text, id, v).Exec(ctx)
	}},
	{"Prepare", func(ctx context.Context, s *vecql.Session, text string, id int, v any) error {
		st, err := vecql.Prepare[bound](ctx, s.Query(text))
		if err != nil {
			return err
		}
		return st.Exec(ctx, &bound{id, v})
	}},
	{"bulk.Rows", func(ctx context.Context, s *vecql.Session, text string, id int, v any) error {
		return withWriter(ctx, s, text, func(w *bulk.Writer) error { return bulk.Rows(ctx, w, []bound{{id, v}}) })
	}},
}

// columnPaths write the first row of a batch with the columns id and v.
var columnPaths = []struct {
	name  string
	write func(ctx context.Context, s *vecql.Session, text string, b *column.Batch) error
}{
	{"ExecRows", func(ctx context.Context, s *vecql.Session, text string, b *column.Batch) error {
		return s.Query(text).ExecRows(ctx, b)
	}},
	{"bulk.Writer", func(ctx context.Context, s *vecql.Session, text string, b *column.Batch) error {
		return withWriter(ctx, s, text, func(w *bulk.Writer) error { return w.Write(ctx, b) })
	}},
}

// withWriter writes by a writer of package bulk and returns the error of a row.
func withWriter(ctx context.Context, s *vecql.Session, text string, write func(*bulk.Writer) error) error {
	var rejected error
	w, err := bulk.New(ctx, s, text, bulk.Options{
		WriteNulls: true, Rejected: func(r bulk.Rejection) error { rejected = r.Err; return nil },
	})
	if err != nil {
		return err
	}
	err = write(w)
	if closed := w.Close(ctx); err == nil {
		err = closed
	}
	if err == nil {
		err = rejected
	}
	return err
}

// A cell is one value in one Go form by one path.
type cell struct {
	value valuetest.Value
	path  string
	form  any
	write func(ctx context.Context, s *vecql.Session, text string, id int) error
}

// cells returns each value of the table in each Go form by each path, and by columns that are read from the literals,
// whose rows have the numbers of the table.
func (s *server) cells() (all []cell) {
	for i, v := range valuetest.All() {
		if v.Recorded().Refused || v.Type == "counter" || !s.asRecorded[v.Name()] {
			continue
		}
		for _, form := range append(slices.Clone(v.Go), v.Unsorted...) {
			for _, p := range paths {
				all = append(all, cell{v, p.name, form, func(ctx context.Context, session *vecql.Session, text string, id int) error {
					return p.write(ctx, session, text, id, form)
				}})
			}
		}
		for _, p := range columnPaths {
			all = append(all, cell{v, p.name, "a column", func(ctx context.Context, session *vecql.Session, text string, id int) error {
				query := fmt.Sprintf("SELECT id, %s AS v FROM v WHERE id = ?", s.column(v))
				for b, err := range session.Query(query, i).Batches(ctx) {
					if err != nil {
						return err
					}
					b.Columns[0] = column.Of("id", []int32{int32(id)})
					return p.write(ctx, session, text, b)
				}
				return fmt.Errorf("no row of %s", v.Name())
			}})
		}
	}
	return all
}

// TestOnServerEveryPath writes each value of the table in each Go form by each path, compares the stored bytes with
// the literal's, and reads them into the Go form again. Columns that are read from the literals and written again
// differ as docs/values.md lists, and in nothing else.
func TestOnServerEveryPath(t *testing.T) {
	soak.NoRace(t)
	s := newServer(t)
	for i, v := range valuetest.All() {
		if !v.Recorded().Refused && s.has(v.Type) {
			s.asRecorded[v.Name()] = reflect.DeepEqual(s.store(i, v), v.Recorded()) // as it is with Cassandra 5
		}
	}
	all := s.cells()
	differ := make([]string, len(all))
	inParallel(len(all), func(i int) { differ[i] = s.difference(all[i], 100_000+i) })
	doc, err := os.ReadFile("../../docs/values.md")
	require.NoError(t, err)
	for i, d := range differ {
		want := ""
		v := all[i].value
		if again := valuetest.StoredAgain(doc, v); all[i].form == "a column" && again != valuetest.Text(v.Recorded().Cell) {
			want = "stored " + again
		}
		if d != want {
			t.Errorf("%s by %s of %T: %s, docs/values.md: %q", all[i].value.Name(), all[i].path, all[i].form, d, want)
		}
	}
	require.Greater(t, len(all), 6000)
}

// inParallel calls f with each number below n, on several goroutines.
func inParallel(n int, f func(i int)) {
	var workers sync.WaitGroup
	var next atomic.Int64
	for range 16 {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	workers.Wait()
}

// TestOnServerRefusesUnfitValues binds Go values that do not fit by each path: the error is a MarshalError, and no row
// is written.
func TestOnServerRefusesUnfitValues(t *testing.T) {
	s := newServer(t)
	unfit := slices.DeleteFunc(valuetest.Unfits(), func(u valuetest.Unfit) bool { return !s.has(u.Type) })
	for _, p := range paths {
		inParallel(len(unfit), func(i int) {
			u := unfit[i]
			text := fmt.Sprintf("INSERT INTO v (id, %s) VALUES (:id, :v)", s.column(valuetest.Value{Type: u.Type}))
			err := p.write(t.Context(), s.session, text, i, u.Go)
			var refused *cql.MarshalError
			if !errors.As(err, &refused) {
				t.Errorf("%s from %T %v by %s: %v", u.Type, u.Go, u.Go, p.name, err)
			}
		})
	}
	var n int
	require.NoError(t, s.session.Query("SELECT count(*) FROM v").Scan(t.Context(), &n))
	require.Zero(t, n)
}

func (s *server) column(v valuetest.Value) string {
	return fmt.Sprint("c", slices.Index(s.types, v.Type))
}

// difference writes a cell and returns how the stored value differs from the literal's, "" for not at all.
func (s *server) difference(c cell, id int) string {
	name := s.column(c.value)
	text := fmt.Sprintf("INSERT INTO v (id, %s) VALUES (:id, :v)", name)
	if err := c.write(s.Context(), s.session, text, id); err != nil {
		return fmt.Sprintf("%v", err)
	}
	it := s.session.Query(fmt.Sprintf("SELECT %s FROM v WHERE id = ?", name), id).Iter(s.Context())
	raw := make([][]byte, 1)
	if !it.NextRaw(raw) {
		return fmt.Sprintf("no row: %v", it.Close())
	}
	stored := slices.Clone(raw[0])
	if err := it.Close(); err != nil {
		return fmt.Sprintf("%v", err)
	}
	if want := c.value.Recorded().Cell; !slices.Equal(want, stored) || (want == nil) != (stored == nil) {
		if stored == nil {
			return "stored NULL"
		}
		return fmt.Sprintf("stored 0x%x", stored)
	}
	if c.form == "a column" || stored == nil {
		return ""
	}
	into := reflect.New(reflect.TypeOf(c.form))
	info := c.value.Info()
	if err := vecql.Unmarshal(info, stored, into.Interface()); err != nil {
		return fmt.Sprintf("read: %v", err)
	}
	again, err := vecql.Marshal(info, into.Elem().Interface())
	if err != nil || !slices.Equal(sorted(info, again), sorted(info, stored)) {
		return fmt.Sprintf("read as %v, which is 0x%x: %v", into.Elem(), again, err)
	}
	return ""
}

// sorted returns the content of a cell with sorted sets and maps.
func sorted(info cql.TypeInfo, content []byte) []byte {
	whole := append(binary.BigEndian.AppendUint32(nil, uint32(len(content))), content...)
	return codec.NewSorter(info).SortCell(whole, 0)[4:]
}
