// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The history of the shell: a file with a statement on each line.

// maxHistory is the number of statements that the shell remembers of earlier runs.
const maxHistory = 1000

// A history is the statements of this run and of earlier ones, the newest last. It implements term.History.
type history struct {
	file    string // "" means none
	entries []string
	shown   int // most entries that HISTORY prints
}

// historyShown is the number of entries that HISTORY prints unless it is set.
const historyShown = 50

// defaultHistoryFile returns the path of the history, "" if the user has no folder for it.
func defaultHistoryFile() string {
	config := defaultConfigFile()
	if config == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(config), "history")
}

// openHistory reads the history of earlier runs. A file that cannot be read is no error: the history is then empty.
func openHistory(file string) *history {
	h := &history{file: file, shown: historyShown}
	text, _ := os.ReadFile(file)
	for line := range bytes.Lines(text) {
		h.entries = append(h.entries, strings.TrimSpace(string(line)))
	}
	h.entries = h.entries[max(0, len(h.entries)-maxHistory):]
	return h
}

// append adds a statement to the history and its file. It leaves out statements with a password, and those with
// comments, which have no form on one line.
func (h *history) append(stmt string) {
	upper := strings.ToUpper(stmt)
	if strings.HasPrefix(upper, "LOGIN") { // its second word is a password
		return
	}
	for _, part := range []string{"PASSWORD", "--", "//"} {
		if strings.Contains(upper, part) {
			return
		}
	}
	stmt = strings.Join(strings.FieldsFunc(stmt, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	if n := len(h.entries); n > 0 && h.entries[n-1] == stmt {
		return
	}
	h.entries = append(h.entries, stmt)
	if h.file == "" {
		return
	}
	// Without a file the history has this run only.
	_ = os.MkdirAll(filepath.Dir(h.file), 0o700)
	if f, err := os.OpenFile(h.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_, _ = f.WriteString(stmt + "\n")
		f.Close()
	}
}

// clear removes all entries, and empties the file.
func (h *history) clear() error {
	h.entries = nil
	err := os.Truncate(h.file, 0)
	if h.file == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Add implements term.History. It does nothing, because entries are statements and not the lines of the terminal.
func (h *history) Add(string) {}

// Len implements term.History.
func (h *history) Len() int { return len(h.entries) }

// At implements term.History: 0 is the newest entry.
func (h *history) At(i int) string { return h.entries[len(h.entries)-1-i] }

// A historySearch finds the entries of a history with a text, one after the other.
type historySearch struct {
	text  string
	found string // the last result
	at    int    // its position
}

// next returns the newest entry that contains the line. If the line is the last result, it returns an earlier entry
// with the same text. Without one it returns the line.
func (s *historySearch) next(h *history, line string) string {
	if line != s.found || line == "" {
		s.text, s.at = line, -1
	}
	for i := s.at + 1; i < h.Len(); i++ {
		if entry := h.At(i); strings.Contains(strings.ToUpper(entry), strings.ToUpper(s.text)) && entry != line {
			s.found, s.at = entry, i
			return entry
		}
	}
	return line
}
