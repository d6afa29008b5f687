// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// Pages that arrow-go reads.

// arrowPages implements Pages with arrow-go: it reads encrypted column chunks, and is the reference of Walker for
// all others.
type arrowPages struct {
	file  *footer.File
	r     file.PageReader
	page  Page
	limit int
}

// NewDecrypted returns the pages of a column chunk of a file that has a decrypting reader.
func NewDecrypted(f *footer.File, group, leaf int, meta *footer.ChunkMeta, limit int) (_ *arrowPages, err error) {
	defer failure.Guard(&err)
	f.Keys.Lock()
	defer f.Keys.Unlock()
	// arrow-go reads the whole chunk without checking its range.
	if _, _, err := f.Range(meta); err != nil {
		return nil, err
	}
	r, err := f.Decrypting.RowGroup(group).GetColumnPageReader(leaf)
	if err != nil {
		return nil, failure.Corrupt("%w", err)
	}
	return &arrowPages{file: f, r: r, limit: min(limit, MaxBytes)}, nil
}

// Peek implements Pages. It does not look ahead.
func (p *arrowPages) Peek() (Header, error) { return Header{Type: Index}, nil }

// Ahead implements Pages. arrow-go has read the whole chunk.
func (p *arrowPages) Ahead(bool) {}

// Skip implements Pages.
func (p *arrowPages) Skip() error {
	_, err := p.Next()
	return err
}

// Next implements Pages.
func (p *arrowPages) Next() (_ *Page, err error) {
	defer failure.Guard(&err)
	p.file.Keys.Lock()
	defer p.file.Keys.Unlock()
	if !p.r.Next() {
		if err := p.r.Err(); err != nil {
			return nil, failure.Corrupt("%w", err)
		}
		return nil, io.EOF
	}
	p.page = Page{Data: p.r.Page().Data()}
	p.page.NumValues, p.page.Encoding = p.r.Page().NumValues(), int32(p.r.Page().Encoding())
	switch pg := p.r.Page().(type) {
	case *file.DataPageV1:
		p.page.Type = Data
		p.page.DefEncoding, p.page.RepEncoding = int32(pg.DefinitionLevelEncoding()), int32(pg.RepetitionLevelEncoding())
	case *file.DataPageV2:
		p.page.Type = DataV2
		p.page.numRows = pg.NumRows()
		p.page.DefLength, p.page.RepLength = pg.DefinitionLevelByteLen(), pg.RepetitionLevelByteLen()
		if p.page.DefLength < 0 || p.page.RepLength < 0 ||
			int64(p.page.DefLength)+int64(p.page.RepLength) > int64(len(p.page.Data)) {
			return nil, failure.Corrupt("levels are longer than their page")
		}
	case *file.DictionaryPage:
		p.page.Type = Dictionary
	default:
		return nil, fmt.Errorf("%w: page %T", failure.ErrUnsupported, pg)
	}
	if len(p.page.Data) > p.limit {
		return nil, fmt.Errorf("%w: page of %d bytes", failure.ErrTooLarge, len(p.page.Data))
	}
	return &p.page, nil
}
