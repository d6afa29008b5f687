// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"sync"

	"github.com/vecql/vecql/column"
)

// The number of rows of pages, which are bounded in bytes.

const (
	firstRows = 16   // of the first page, because the size of a row is unknown
	maxRows   = 5000 // of a page
	growth    = 8    // of the rows from one page to the next
)

// A pager chooses the number of rows of the next page from the size of rows seen. All workers share one.
type pager struct {
	target int // bytes of a page

	mu     sync.Mutex
	rows   int     // of the next page
	perRow float64 // bytes, an estimate
}

func newPager(target int) *pager { return &pager{target: target, rows: firstRows} }

// next returns the number of rows for the next page.
func (p *pager) next() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rows
}

// read adapts the number of rows to a page of that many rows and bytes. The estimate of a row's size rises at once and
// falls slowly, because a page that is too large costs memory.
func (p *pager) read(rows, bytes int) {
	if rows == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	size := float64(bytes) / float64(rows)
	p.perRow = max(size, p.perRow*0.75+size*0.25, 1)
	p.rows = min(p.rows*growth, p.fitting())
}

// fitting returns the number of rows that fit into a page, 1 to maxRows. Callers hold p.mu.
func (p *pager) fitting() int { return int(max(min(float64(p.target)/p.perRow, maxRows), 1)) }

// full returns the number of rows that fit into a page, whether or not such pages have failed; firstRows while the size
// of a row is unknown.
func (p *pager) full() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.perRow == 0 {
		return firstRows
	}
	return p.fitting()
}

// failed makes the next page smaller, because a page may be too large for the server to read in time.
func (p *pager) failed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows = max(p.rows/4, 1)
}

// sizeOf returns the bytes of the columns of a batch.
func sizeOf(columns []column.Column) int {
	size := 0
	for i := range columns {
		c := &columns[i]
		size += len(c.Values) + 4*len(c.Offsets) + len(c.Validity) + sizeOf(c.Children)
	}
	return size
}
