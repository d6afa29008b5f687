// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/internal/cqltext"
)

// The files of a folder.

// ErrFile means that a file cannot be applied.
var ErrFile = errors.New("not a migration")

// A File is a migration.
type File struct {
	Version    int64
	Name       string // of the file
	Statements []string
}

// fileName is a version, a separator and a description: 001_create_items.cql, V2__prices.cql, 20260705-x.up.cql.
var fileName = regexp.MustCompile(`^[vV]?([0-9]+)(?:[_. -].*)?\.cql$`)

// Read returns the files of a folder whose names end in .cql, by version. Files whose names end in .down.cql, which
// undo others for golang-migrate, are left out.
func Read(folder string) ([]File, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || filepath.Ext(name) != ".cql" || strings.HasSuffix(name, ".down.cql") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		f, err := parse(name, string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(folder, name), err)
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Version, b.Version) })
	for i := range files[:max(0, len(files)-1)] {
		if a, b := &files[i], &files[i+1]; a.Version == b.Version {
			return nil, fmt.Errorf("%w: %s and %s have the version %d", ErrFile, a.Name, b.Name, a.Version)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%w: %s has no file such as 001_create_items.cql", ErrFile, folder)
	}
	return files, nil
}

// parse returns the migration of a file.
func parse(name, text string) (File, error) {
	f := File{Name: name}
	match := fileName.FindStringSubmatch(name)
	if match == nil {
		return f, fmt.Errorf("%w: the name begins with no version, as 001_create_items.cql does", ErrFile)
	}
	var err error
	if f.Version, err = strconv.ParseInt(match[1], 10, 64); err != nil {
		return f, fmt.Errorf("%w: the version has more than 18 digits", ErrFile)
	}
	text = strings.TrimPrefix(text, "\ufeff")
	statements, rest := cqltext.Split(strings.ReplaceAll(text, "\r\n", "\n"))
	switch {
	case rest != "":
		return f, fmt.Errorf("%w: no semicolon ends the last statement: the file may be cut off", ErrFile)
	case len(statements) == 0:
		return f, fmt.Errorf("%w: the file has no statement", ErrFile)
	}
	for i, s := range statements {
		if cqltext.IsUse(s) {
			return f, fmt.Errorf("%w: statement %d: USE has no effect here: name the keyspace of each table, or set --keyspace",
				ErrFile, i+1)
		}
	}
	f.Statements = statements
	return f, nil
}

// checksum returns the SHA-256 of the first statements, in hexadecimal digits. Comments before statements, and the
// space between them, do not count.
func (f *File) checksum(statements int) string {
	hash := sha256.New()
	for _, s := range f.Statements[:statements] {
		fmt.Fprintf(hash, "%d:%s;", len(s), s)
	}
	return hex.EncodeToString(hash.Sum(nil))
}
