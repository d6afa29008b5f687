// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Sources, and local files as such.

// A Source is a file to read: a size, and a reader of byte ranges that is safe for concurrent use.
type Source struct {
	// Name identifies the file in Buckets and errors.
	Name   string
	Reader io.ReaderAt
	Size   int64
	// ETag is any text that changes when the content changes, such as an object store's etag. If it is empty, Buckets
	// detect only a change of size, and a [Cache] does not keep the footer.
	ETag string
}

// openFile opens a local file as a Source whose identity is its size and time of modification.
func openFile(path string) (Source, *os.File, error) {
	info, err := os.Stat(path) // opening a pipe would block until there is a writer
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return Source{}, nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return Source{}, nil, err
	}
	info, err = f.Stat()
	if err != nil {
		f.Close()
		return Source{}, nil, err
	}
	return Source{
		Name: path, Reader: f, Size: info.Size(),
		ETag: fmt.Sprintf("%d-%d", info.Size(), info.ModTime().UnixNano()),
	}, f, nil
}
