// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"errors"

	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe/internal/parquet"
)

// Parquet files as a source.

type parquetSource struct {
	patterns []string
	files    *parquetscan.Dataset // nil means patterns
}

func (s *parquetSource) open(ctx context.Context, config Config) (opened, error) {
	if s.files != nil {
		return openParquet(s.files, config.lists, func() error { return nil })
	}
	files, err := parquetscan.Open(ctx, s.patterns...)
	if err != nil {
		return nil, failed("Parquet", quoted(s.patterns), err)
	}
	o, err := openParquet(files, config.lists, files.Close)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return o, nil
}

// openParquet returns a source, whose columns named in lists are read as lists, if it has them.
func openParquet(files *parquetscan.Dataset, lists []string, done func() error) (opened, error) {
	rows, err := parquet.New(files, lists, done)
	if err != nil {
		return nil, failed("Parquet", quoted(files.Files()), err)
	}
	return &input{rows: rows, verb: "Parquet", text: quoted(files.Files())}, nil
}

// Without one of these methods, files would be read without that ability.
var _ interface {
	Filterer
	selecter
	summarized
	measurer
	narrower
	lateReader
	reporter
} = (*parquet.Rows)(nil)
