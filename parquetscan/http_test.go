// SPDX-License-Identifier: Apache-2.0

package parquetscan_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// Reading over HTTP, with the reader of the example.

// A fileServer serves one file, and records requests.
type fileServer struct {
	mu     sync.Mutex
	data   []byte
	etag   string
	ranges []string
	status int // the response instead, if not 0
}

func (s *fileServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	data, etag, status := s.data, s.etag, s.status
	if r.Method == http.MethodGet {
		s.ranges = append(s.ranges, r.Header.Get("Range"))
	}
	s.mu.Unlock()
	if status != 0 {
		w.WriteHeader(status)
		return
	}
	if etag != "" {
		w.Header().Set("ETag", etag)
	}
	http.ServeContent(w, r, "file", time.Time{}, bytes.NewReader(data))
}

func (s *fileServer) set(data []byte, etag string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data, s.etag, s.status, s.ranges = data, etag, status, nil
}

// sum returns the sum of the amounts of a file, read by several goroutines.
func sum(ctx context.Context, d *parquetscan.Dataset, buckets ...parquetscan.Bucket) (total float64, err error) {
	s, err := d.Scan(parquetscan.Options{Workers: 3})
	if err != nil {
		return 0, err
	}
	var mu sync.Mutex
	err = s.Borrow(ctx, buckets, func(_ int, b *column.Batch) error {
		mu.Lock()
		defer mu.Unlock()
		amounts, err := column.Slice[float64](b.Column("amount"))
		for _, v := range amounts {
			total += v
		}
		return err
	})
	return total, err
}

func TestHTTP(t *testing.T) {
	ctx := context.Background()
	handler := &fileServer{data: salesFile(), etag: `"1"`}
	server := httptest.NewServer(handler)
	defer server.Close()
	open := func(cfg parquetscan.Config) *parquetscan.Dataset {
		t.Helper()
		src, err := openHTTP(ctx, server.Client(), server.URL)
		require.NoError(t, err)
		d, err := cfg.OpenSources(ctx, src)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		return d
	}
	cache := parquetscan.NewCache(1 << 20)
	d := open(parquetscan.Config{Cache: cache})
	require.Len(t, handler.ranges, 1, "the footer, in one request")
	total, err := sum(ctx, d)
	require.NoError(t, err)
	require.EqualValues(t, 55, total)
	require.Len(t, handler.ranges, 1+3*2, "a request for each column chunk")

	handler.set(salesFile(), `"1"`, 0)
	d = open(parquetscan.Config{Cache: cache})
	require.Empty(t, handler.ranges, "the footer is cached")
	s, err := d.Scan(parquetscan.Options{})
	require.NoError(t, err)
	buckets := s.SplitByCount(2)

	// The file is replaced while it is open.
	handler.set(salesFile(), `"2"`, 0)
	_, err = sum(ctx, d)
	require.ErrorIs(t, err, parquetscan.ErrChanged)
	var e *parquetscan.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, server.URL, e.File)
	handler.set(salesFile(), `"2"`, 0)
	d = open(parquetscan.Config{Cache: cache})
	require.Len(t, handler.ranges, 1, "another footer")
	_, err = sum(ctx, d, buckets...)
	require.ErrorIs(t, err, parquetscan.ErrChanged)
	total, err = sum(ctx, d)
	require.NoError(t, err)
	require.EqualValues(t, 55, total)

	// The server fails.
	handler.set(salesFile(), `"2"`, http.StatusServiceUnavailable)
	_, err = sum(ctx, d)
	require.ErrorContains(t, err, "503")
	require.NotErrorIs(t, err, parquetscan.ErrChanged)
	require.ErrorAs(t, err, &e)
	_, err = openHTTP(ctx, server.Client(), server.URL)
	require.ErrorContains(t, err, "503")

	// The server has no ETags and truncates the file: reading detects the change by the size.
	handler.set(salesFile(), "", 0)
	d = open(parquetscan.Config{Cache: cache})
	require.Len(t, handler.ranges, 1, "nothing is cached without an ETag")
	handler.set(salesFile()[:10], "", 0)
	_, err = sum(ctx, d)
	require.ErrorIs(t, err, parquetscan.ErrChanged)
	require.NotErrorIs(t, err, io.EOF)
}
