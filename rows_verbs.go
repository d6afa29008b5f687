// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"iter"
	"reflect"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Typed rows page by page, and single typed rows.

// A Page holds the rows of one page of a result.
type Page[T any] struct {
	Rows   []T           // at least one, unless Query.PageState was set; the caller may keep them
	Source column.Source // the node, the token of the next page, warnings, the tracing id
}

// Pages runs q and returns its rows as values of T, page by page. An error ends the loop as its last pair. T is as in
// [Rows]. Pages without rows are skipped. The next page is requested while the loop reads one, unless [Query.PageState]
// was set: then the loop has exactly one page, perhaps without rows, and Source.NextPage is the token of the next one.
func Pages[T any](ctx context.Context, q *Query) iter.Seq2[Page[T], error] {
	return func(yield func(Page[T], error) bool) {
		it := q.Iter(ctx)
		defer func() { _ = it.Close() }()
		var mapping rowMapping
		var page Page[T]
		yielded := false
		for it.nextRow() {
			if mapping.plan != it.plan {
				if err := mapping.set(it.plan, reflect.TypeFor[T](), 0); err != nil {
					it.fail(err)
					break
				}
			}
			if page.Rows == nil {
				page = Page[T]{Rows: make([]T, 0, it.res.Rows.RowCount), Source: it.Source()}
			}
			page.Rows = append(page.Rows, *new(T))
			if !mapping.scan(it, unsafe.Pointer(&page.Rows[len(page.Rows)-1])) {
				break
			}
			if it.row == it.res.Rows.RowCount {
				it.releasePage() // the rows are copies of its cells
				if yielded = true; !yield(page, nil) {
					return
				}
				page = Page[T]{}
			}
		}
		source := it.Source()
		switch err := it.Close(); {
		case err != nil:
			yield(Page[T]{}, err)
		case q.manualPaging && !yielded: // a server may return a page without rows before others
			yield(Page[T]{Source: source}, nil)
		}
	}
}

// OneRow runs q and returns its only row. T is as in [Rows]. The error is ErrNotFound if there is no row, and
// ErrTooManyRows if there are several.
func OneRow[T any](ctx context.Context, q *Query) (T, error) {
	var row, none T
	two := *q
	two.pageSize, two.prefetch = 2, -1 // two rows suffice to distinguish one row from several
	rows := 0
	for r, err := range Rows[T](ctx, &two) {
		if err != nil {
			return none, err
		}
		if rows++; rows > 1 {
			return none, ErrTooManyRows
		}
		row = r
	}
	if rows == 0 {
		return none, ErrNotFound
	}
	return row, nil
}
