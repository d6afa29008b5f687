// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Formats and compressions, and their names.

// A Format is a format of files. 0 means that the name or the first bytes of a file decide.
type Format uint8

// The formats.
const (
	Parquet Format = iota + 1
	CSV
	JSON // one object per line
	Arrow
)

var formatNames = [...]string{Parquet: "parquet", CSV: "csv", JSON: "json", Arrow: "arrow"}

// String returns the name of the format in lower case, "auto" for 0.
func (f Format) String() string {
	if f == 0 || int(f) >= len(formatNames) {
		return "auto"
	}
	return formatNames[f]
}

// ParseFormat returns the format of a name: parquet, csv, json or arrow; 0 for "auto" and "".
func ParseFormat(name string) (Format, error) {
	for f, n := range formatNames {
		if n != "" && strings.EqualFold(n, name) {
			return Format(f), nil
		}
	}
	if name == "" || strings.EqualFold(name, "auto") {
		return 0, nil
	}
	return 0, fmt.Errorf("unknown format %q, want parquet, csv, json or arrow", name)
}

// A Compression is the compression of a whole file.
type Compression uint8

// The compressions. Plain is none; pages of Parquet then have Snappy.
const (
	Plain Compression = iota
	Gzip
	Zstd
)

// ParseCompression returns the compression of a name: none, gzip or zstd.
func ParseCompression(name string) (Compression, error) {
	switch strings.ToLower(name) {
	case "", "none":
		return Plain, nil
	case "gzip", "gz":
		return Gzip, nil
	case "zstd", "zst":
		return Zstd, nil
	}
	return 0, fmt.Errorf("unknown compression %q, want none, gzip or zstd", name)
}

// Extension returns the extension of files of a format and a compression: ".csv.gz".
func Extension(f Format, c Compression) string {
	ending := [...]string{Plain: "", Gzip: ".gz", Zstd: ".zst"}[c]
	if f == Parquet { // Parquet compresses its pages
		ending = ""
	}
	return "." + f.String() + ending
}

var extensions = map[string]Format{
	".parquet": Parquet, ".parq": Parquet, ".csv": CSV, ".tsv": CSV, ".json": JSON, ".jsonl": JSON, ".ndjson": JSON,
	".arrow": Arrow, ".arrows": Arrow, ".ipc": Arrow, ".feather": Arrow,
}

// ByName returns the format and the compression that a file name ends with: items.csv.gz is CSV in gzip. The format is
// 0 if the name has no known extension.
func ByName(name string) (Format, Compression) {
	extension, compression := extensionOf(name)
	return extensions[extension], compression
}

// extensionOf returns the extension of a file name in lower case, the one before the ending of a compression.
func extensionOf(name string) (extension string, compression Compression) {
	name = strings.ToLower(name)
	switch filepath.Ext(name) {
	case ".gz", ".gzip":
		compression = Gzip
	case ".zst", ".zstd":
		compression = Zstd
	}
	if compression != Plain {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return filepath.Ext(name), compression
}

// Delimiter returns the character between the fields of a CSV file: a tab if the name ends in .tsv, perhaps before the
// ending of a compression, otherwise a comma.
func Delimiter(name string) byte {
	if extension, _ := extensionOf(name); extension == ".tsv" {
		return '\t'
	}
	return ','
}

// IsStream reports whether an Arrow file is a stream by its name, which ends in .arrows.
func IsStream(name string) bool {
	extension, _ := extensionOf(name)
	return extension == ".arrows"
}

// The first bytes of files.
var (
	magicParquet = []byte("PAR1")
	magicArrow   = []byte("ARROW1")
	magicGzip    = []byte{0x1f, 0x8b}
	arrowMarker  = []byte{0xff, 0xff, 0xff, 0xff} // before each message of a stream, since Arrow 0.15
	magicZstd    = []byte{0x28, 0xb5, 0x2f, 0xfd}

	byteOrderMark = []byte("\ufeff") // of UTF-8
)

// byContent returns the format that the first bytes of a file show. Text that does not begin with an object is CSV.
func byContent(head []byte) Format {
	switch {
	case bytes.HasPrefix(head, magicParquet):
		return Parquet
	case bytes.HasPrefix(head, magicArrow), bytes.HasPrefix(head, arrowMarker):
		return Arrow
	case bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(head, byteOrderMark), " \t\r\n"), []byte("{")):
		return JSON
	}
	return CSV
}

// A textContent is the text of a file in UTF-8.
type textContent struct {
	io.Reader
	encoding string // of the file
}

// errNotText returns the error for a text with bytes that are not characters.
func (c textContent) errNotText() error {
	if c.encoding == "" {
		return errors.New("the text is not UTF-8; --encoding names another encoding, such as windows-1252")
	}
	return fmt.Errorf("the text is not %s", c.encoding)
}

// text returns the text of a file, after its byte order mark, or an error for content that is not text.
func (o *Options) text(path string, c content) (textContent, error) {
	head, _ := c.Peek(sniffBytes)
	encoding, err := o.Encoding.of(head)
	switch {
	case err != nil:
		return textContent{}, fmt.Errorf("%s: %w", path, err)
	case encoding.order == nil && isBinary(head):
		return textContent{}, fmt.Errorf("%s: the file is %v, not %v; --format sets the format", path, byContent(head),
			c.format)
	}
	return textContent{encoding.reader(c.Reader), encoding.name}, nil
}

// isBinary reports whether a file begins as Parquet or Arrow does. Text may begin with the letters of their magic
// numbers, but has no control characters after them.
func isBinary(head []byte) bool {
	if f := byContent(head); f != Parquet && f != Arrow {
		return false
	}
	return bytes.ContainsFunc(head, func(c rune) bool { return c < '\t' || c > '\r' && c < ' ' })
}

// decompress returns the content of a file, and whether the file is compressed. The caller calls end.
func decompress(r *bufio.Reader) (content *bufio.Reader, end func(), compressed bool, err error) {
	head, _ := r.Peek(len(magicZstd))
	switch {
	case bytes.HasPrefix(head, magicGzip):
		d, err := gzip.NewReader(r)
		return bufio.NewReader(d), func() {}, true, err
	case bytes.HasPrefix(head, magicZstd):
		d, err := zstd.NewReader(r)
		if err != nil {
			return nil, nil, true, err
		}
		return bufio.NewReader(d), d.Close, true, nil
	}
	return r, func() {}, false, nil
}

// compress returns a writer whose Close ends the compressed stream, and leaves w open.
func compress(c Compression, w io.Writer) (io.WriteCloser, error) {
	switch c {
	case Gzip:
		return gzip.NewWriter(w), nil
	case Zstd:
		return zstd.NewWriter(w)
	}
	return nopWriteCloser{w}, nil
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }
