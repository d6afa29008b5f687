// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vecql/vecql/internal/atomicfile"
)

// Generated files in their folder.

// ErrForeign means that a file of the name of a generated one was not generated.
var ErrForeign = errors.New("not written by vecql gen")

// read returns the text of a generated file, "" if there is none.
func read(path string) (string, error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err == nil && !strings.HasPrefix(string(text), Header+"\n"):
		err = fmt.Errorf("%s: %w: its first line is not %q; move the file, or choose another folder", path, ErrForeign, Header)
	}
	return string(text), err
}

// Write writes the files that differ to a folder, "" for the current one, and returns their paths. It makes the folder.
// It writes nothing if a file was not generated: the error wraps ErrForeign.
func Write(folder string, files []File) (written []string, err error) {
	changed := make([]bool, len(files))
	for i, f := range files {
		text, err := read(filepath.Join(folder, f.Name))
		if err != nil {
			return nil, err
		}
		changed[i] = text != f.Text
	}
	if err := os.MkdirAll(filepath.Clean(folder), 0o777); err != nil {
		return nil, err
	}
	for i, f := range files {
		if !changed[i] {
			continue
		}
		path := filepath.Join(folder, f.Name)
		if err := writeFile(path, f.Text); err != nil {
			return written, err
		}
		written = append(written, path)
	}
	return written, nil
}

func writeFile(path, text string) error {
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Abort() }() // nothing after Commit
	if _, err := f.Write([]byte(text)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return f.Commit()
}

// A Difference describes a file whose text is not the generated text.
type Difference struct {
	Path string
	Text string // the lines that differ: "-" before a line of the file, "+" before a line to be written
}

// Check returns the files of a folder that Write would write.
func Check(folder string, files []File) ([]Difference, error) {
	var all []Difference
	for _, f := range files {
		path := filepath.Join(folder, f.Name)
		text, err := read(path)
		if err != nil {
			return nil, err
		}
		if text != f.Text {
			all = append(all, Difference{path, difference(text, f.Text)})
		}
	}
	return all, nil
}

// maxLines bounds the lines of a difference on either side.
const maxLines = 20

// difference returns the lines between the first and the last that differ.
func difference(old, text string) string {
	if old == "" {
		return "the file does not exist\n"
	}
	a, b := strings.SplitAfter(old, "\n"), strings.SplitAfter(text, "\n")
	first := 0
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b, first = a[1:], b[1:], first+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return fmt.Sprintf("@@ line %d @@\n%s%s", first+1, marked("-", a), marked("+", b))
}

// marked returns lines with a mark before each.
func marked(mark string, lines []string) string {
	var text strings.Builder
	for i, line := range lines {
		if i == maxLines {
			fmt.Fprintf(&text, "%s... %d further lines\n", mark, len(lines)-i)
			break
		}
		text.WriteString(mark + strings.TrimSuffix(line, "\n") + "\n")
	}
	return text.String()
}
