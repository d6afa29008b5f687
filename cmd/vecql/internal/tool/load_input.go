// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
)

// The input of a load with a checkpoint. A run that resumes must read the same rows: rows are identified by the name
// of their file and by their number, so that other content would be mixed with the content of the first run.

// An inputPrint identifies the content of a file. A file whose time alone has changed is the same input.
type inputPrint struct {
	Name     string    `json:"name"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	SHA256   string    `json:"sha256"` // of the whole content; empty for standard input
}

// isSame reports whether two files have one name and one content.
func (p inputPrint) isSame(o inputPrint) bool {
	return p.Name == o.Name && p.Size == o.Size && p.SHA256 == o.SHA256
}

// inputMark separates the statement and the input in the job of a checkpoint.
const inputMark = "\ninput: "

// printInput returns the prints of files. It reads each of them once.
func printInput(ctx context.Context, files []string) ([]inputPrint, error) {
	prints := make([]inputPrint, len(files))
	for i, name := range files {
		prints[i] = inputPrint{Name: name}
		if name == rowfile.Stdin {
			continue
		}
		if err := prints[i].read(ctx); err != nil {
			return nil, err
		}
	}
	return prints, nil
}

// read sets the size, the time and the hash.
func (p *inputPrint) read(ctx context.Context) error {
	info, err := os.Stat(p.Name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return usagef("--checkpoint: %s is not a regular file, and cannot be compared with the input of another run", p.Name)
	}
	f, err := os.Open(p.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	hash := sha256.New()
	if p.Size, err = io.Copy(hash, contextReader{ctx, f}); err != nil {
		return fmt.Errorf("read %s: %w", p.Name, err)
	}
	p.Modified, p.SHA256 = info.ModTime().UTC(), hex.EncodeToString(hash.Sum(nil))
	return nil
}

// A contextReader ends when its context does.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

// input returns the part of the job that identifies files. job is the one of the checkpoint to resume, empty without
// one. input returns an error if that had another input.
func (f *checkpointFile) input(ctx context.Context, files []string, job string) (string, error) {
	prints, err := printInput(ctx, files)
	if err != nil {
		return "", err
	}
	if before, known := inputOfJob(job); known {
		if change := inputChange(before, prints); change != "" {
			return "", advise(fmt.Errorf("the checkpoint %s is of another input: %s", f.path, change),
				"--resume needs the files of the first run; remove the checkpoint to start with others")
		}
		prints = before // with their times
	}
	text, err := json.Marshal(prints)
	return inputMark + string(text), err
}

// inputOfJob returns the input that the job of a checkpoint names. known is false if it names none: another check
// refuses such a job.
func inputOfJob(job string) (prints []inputPrint, known bool) {
	_, input, found := strings.Cut(job, inputMark)
	known = found && json.NewDecoder(strings.NewReader(input)).Decode(&prints) == nil
	return prints, known
}

// inputChange describes the first difference between two inputs, empty if there is none.
func inputChange(before, now []inputPrint) string {
	for i := range max(len(before), len(now)) {
		switch {
		case i >= len(now):
			return before[i].Name + " is missing"
		case i >= len(before):
			return now[i].Name + " was not part of it"
		case before[i].Name != now[i].Name:
			return fmt.Sprintf("%s in place of %s", now[i].Name, before[i].Name)
		case before[i].Size != now[i].Size:
			return fmt.Sprintf("%s has %d bytes, and had %d", now[i].Name, now[i].Size, before[i].Size)
		case !before[i].isSame(now[i]):
			return now[i].Name + " has other content"
		}
	}
	return ""
}

// An inputLog reads a stream, and stores the hash of each piece before its rows are read. A run that resumes compares
// its stream with these hashes, so that no row of another stream is loaded.
type inputLog struct {
	in      io.Reader
	log     *os.File
	left    []byte // pieces of the earlier run, each a length of 4 bytes and a hash
	buf     []byte
	rest    []byte // of buf, verified and not read yet
	checked int64  // bytes
}

// A piece of a stream in its log.
const (
	pieceBytes  = 64 << 10
	pieceHeader = 4
	pieceSize   = pieceHeader + sha256.Size
)

// errOtherStream means that standard input differs from the input of the run that is resumed.
var errOtherStream = errors.New("standard input differs from the first run")

// openInputLog returns the reader of a stream. path is the file of its hashes.
func openInputLog(in io.Reader, path string, resumes bool) (*inputLog, error) {
	l := &inputLog{in: in, buf: make([]byte, pieceBytes)}
	mode := os.O_RDWR | os.O_CREATE | os.O_TRUNC
	if resumes {
		mode = os.O_RDWR | os.O_CREATE
	}
	var err error
	if l.log, err = os.OpenFile(path, mode, 0o600); err != nil {
		return nil, err
	}
	if l.left, err = io.ReadAll(l.log); err != nil {
		_ = l.log.Close() // the first error is the cause
		return nil, err
	}
	whole := len(l.left) / pieceSize * pieceSize // the last piece may be torn
	l.left = l.left[:whole]
	_, err = l.log.Seek(int64(whole), io.SeekStart)
	return l, err
}

// Read implements io.Reader.
func (l *inputLog) Read(b []byte) (int, error) {
	if len(l.rest) == 0 {
		if err := l.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// fill reads the next piece, and compares it with the earlier run's or stores its hash.
func (l *inputLog) fill() error {
	if len(l.left) == 0 {
		n, err := l.in.Read(l.buf)
		if n == 0 {
			return err
		}
		l.rest = l.buf[:n]
		_, err = l.log.Write(pieceOf(l.rest))
		return err
	}
	n := int(uint32(l.left[0])<<24 | uint32(l.left[1])<<16 | uint32(l.left[2])<<8 | uint32(l.left[3]))
	if n <= 0 || n > pieceBytes {
		return fmt.Errorf("%w: %s is damaged", errOtherStream, l.log.Name())
	}
	piece := l.buf[:n]
	read, err := io.ReadFull(l.in, piece)
	if read < n && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return err
	}
	if read < n || string(pieceOf(piece)) != string(l.left[:pieceSize]) {
		return advise(fmt.Errorf("%w: it differs after byte %d", errOtherStream, l.checked),
			"--resume needs the same input; remove the checkpoint to load another one")
	}
	l.left, l.rest, l.checked = l.left[pieceSize:], piece, l.checked+int64(n)
	return nil
}

// pieceOf returns the entry of a piece in the log.
func pieceOf(piece []byte) []byte {
	n := len(piece)
	hash := sha256.Sum256(piece)
	return append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, hash[:]...)
}

// close closes the log.
func (l *inputLog) close() error {
	if l == nil {
		return nil
	}
	return l.log.Close()
}
