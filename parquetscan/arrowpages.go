// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// Pages that arrow-go reads, and pages that it decodes.

// arrowPages implements pages with arrow-go: it reads encrypted column chunks, and is the reference of pageWalker for
// all others.
type arrowPages struct {
	file  *footer.File
	r     file.PageReader
	page  page
	limit int
}

// newArrowPages returns the pages of a column chunk of a file that has a decrypting reader.
func newArrowPages(f *footer.File, group, leaf int, meta *footer.ChunkMeta, limit int) (_ *arrowPages, err error) {
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
	return &arrowPages{file: f, r: r, limit: min(limit, maxPageBytes)}, nil
}

// peek implements pages. It does not look ahead.
func (p *arrowPages) peek() (pageHeader, error) { return pageHeader{typ: indexPage}, nil }

// skip implements pages.
func (p *arrowPages) skip() error {
	_, err := p.next()
	return err
}

// next implements pages.
func (p *arrowPages) next() (_ *page, err error) {
	defer failure.Guard(&err)
	p.file.Keys.Lock()
	defer p.file.Keys.Unlock()
	if !p.r.Next() {
		if err := p.r.Err(); err != nil {
			return nil, failure.Corrupt("%w", err)
		}
		return nil, io.EOF
	}
	p.page = page{data: p.r.Page().Data()}
	p.page.numValues, p.page.encoding = p.r.Page().NumValues(), int32(p.r.Page().Encoding())
	switch pg := p.r.Page().(type) {
	case *file.DataPageV1:
		p.page.typ = dataPage
		p.page.defEncoding, p.page.repEncoding = int32(pg.DefinitionLevelEncoding()), int32(pg.RepetitionLevelEncoding())
	case *file.DataPageV2:
		p.page.typ = dataPageV2
		p.page.numRows = pg.NumRows()
		p.page.defLength, p.page.repLength = pg.DefinitionLevelByteLen(), pg.RepetitionLevelByteLen()
		if p.page.defLength < 0 || p.page.repLength < 0 ||
			int64(p.page.defLength)+int64(p.page.repLength) > int64(len(p.page.data)) {
			return nil, failure.Corrupt("levels are longer than their page")
		}
	case *file.DictionaryPage:
		p.page.typ = dictionaryPage
	default:
		return nil, fmt.Errorf("%w: page %T", failure.ErrUnsupported, pg)
	}
	if len(p.page.data) > p.limit {
		return nil, fmt.Errorf("%w: page of %d bytes", failure.ErrTooLarge, len(p.page.data))
	}
	return &p.page, nil
}

// onePage is a file.PageReader that returns one page.
type onePage struct {
	page file.Page
	done bool
}

func (p *onePage) SetMaxPageHeaderSize(int) {}

func (p *onePage) Page() file.Page { return p.page }

func (p *onePage) Next() bool {
	next := !p.done
	p.done = true
	return next
}

func (p *onePage) Err() error { return nil }

func (p *onePage) Reset(parquet.BufferedReader, int64, compress.Compression, *file.CryptoContext) {}

func (p *onePage) GetDictionaryPage() (*file.DictionaryPage, error) { return nil, nil }

func (p *onePage) SeekToPageWithRow(int64) error {
	return fmt.Errorf("%w: seeking", failure.ErrUnsupported)
}

func (p *onePage) Close() error { return nil }
