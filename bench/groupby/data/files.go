// SPDX-License-Identifier: Apache-2.0

package data

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
)

// Writing and reading of folders.

// A Set is a list of cases and their tables, stored in a folder or generated on request.
type Set struct {
	Manifest
	dir   string
	specs map[string]*tableSpec
}

// Make returns a set that is generated in memory, of the cases whose names match; nil matches all.
func Make(rows int, seed uint64, match *regexp.Regexp) *Set {
	s := &Set{Manifest: Manifest{Seed: seed, Rows: rows}, specs: map[string]*tableSpec{}}
	for _, spec := range specs(rows, match) {
		t := &Table{Name: spec.name, Rows: spec.rows}
		for _, c := range spec.columns {
			f := &ColumnFile{Name: c.name, Type: c.typ, File: c.file + "." + c.typ}
			if c.typ == String {
				f.Offsets = c.file + ".offsets"
			}
			if c.null {
				f.Validity = c.file + ".validity"
			}
			t.Columns = append(t.Columns, f)
		}
		s.specs[spec.name] = spec
		s.Tables, s.Cases = append(s.Tables, t), append(s.Cases, spec.cases...)
	}
	return s
}

// Open returns the set in a folder.
func Open(dir string) (*Set, error) {
	s := &Set{dir: dir}
	return s, ReadManifest(dir, &s.Manifest)
}

// manifest is the name of the file that describes a folder.
const manifest = "manifest.json"

// ReadManifest reads the manifest of a folder into a value.
func ReadManifest(dir string, to any) error {
	b, err := os.ReadFile(filepath.Join(dir, manifest))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("%s: %w", manifest, err)
	}
	return nil
}

// WriteManifest writes the manifest of a folder.
func WriteManifest(dir string, value any) error {
	b, err := json.MarshalIndent(value, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, manifest), append(b, '\n'), 0o644)
}

// Table returns the columns of a table.
func (s *Set) Table(name string) (Columns, error) {
	for _, t := range s.Tables {
		if t.Name != name {
			continue
		}
		columns := Columns{}
		for i, f := range t.Columns {
			if s.specs != nil {
				columns[f.Name] = s.specs[name].columns[i].column(s.Seed, s.Rows).head(t.Rows)
				continue
			}
			c, err := s.read(f, t.Rows)
			if err != nil {
				return nil, fmt.Errorf("table %s, column %s: %w", name, f.Name, err)
			}
			columns[f.Name] = c
		}
		return columns, nil
	}
	return nil, fmt.Errorf("the set has no table %q", name)
}

// Answers sets the answers of all cases of a table.
func (s *Set) Answers(name string, columns Columns) {
	refs := map[string]*Reference{} // by keys
	for _, c := range s.Cases {
		if c.Table != name {
			continue
		}
		k := fmt.Sprint(c.Keys)
		if refs[k] == nil {
			values := map[string]bool{}
			var names []string
			for _, o := range s.Cases {
				if o.Table == name && fmt.Sprint(o.Keys) == k {
					for _, v := range o.Values() {
						if !values[v] {
							values[v], names = true, append(names, v)
						}
					}
				}
			}
			refs[k] = Group(columns, c.Keys, names)
		}
		a := refs[k].Answer(c.Aggs)
		c.Answer = Sum(c, a, false)
		if zero := Sum(c, a, true); !zero.Equal(c.Answer) {
			c.AnswerNullIsZero = zero
		}
	}
}

// Write generates all tables and answers and writes them to a folder, the manifest last. It calls progress with the
// name of each table.
func (s *Set) Write(dir string, progress func(table string)) error {
	if s.specs == nil {
		return errors.New("the set was opened from a folder; only a generated one can be written")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	written := map[string]bool{}
	for _, t := range s.Tables {
		progress(t.Name)
		// Columns are generated with all rows of the set, because other tables may use more of them.
		columns := Columns{}
		for i, f := range t.Columns {
			c := s.specs[t.Name].columns[i].column(s.Seed, s.Rows)
			if !written[f.File] {
				if err := write(dir, f, c); err != nil {
					return err
				}
				written[f.File] = true
			}
			columns[f.Name] = c.head(t.Rows)
		}
		s.Answers(t.Name, columns)
	}
	return WriteManifest(dir, s.Manifest)
}

func write(dir string, f *ColumnFile, c *Column) error {
	var b []byte
	switch c.Type {
	case Int64:
		for _, x := range c.Ints {
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		}
	case Float64:
		for _, x := range c.Floats {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
	case String:
		b = c.Text
	}
	err := os.WriteFile(filepath.Join(dir, f.File), b, 0o644)
	if f.Offsets != "" && err == nil {
		b = nil
		for _, x := range c.Offsets {
			b = binary.LittleEndian.AppendUint32(b, uint32(x))
		}
		err = os.WriteFile(filepath.Join(dir, f.Offsets), b, 0o644)
	}
	if f.Validity != "" && err == nil {
		err = os.WriteFile(filepath.Join(dir, f.Validity), c.Valid, 0o644)
	}
	return err
}

// read reads the first rows of a column.
func (s *Set) read(f *ColumnFile, rows int) (*Column, error) {
	c := &Column{Type: f.Type}
	var err error
	switch f.Type {
	case Int64:
		c.Ints = make([]int64, rows)
		err = s.words(f.File, 8*rows, func(i int, b []byte) { c.Ints[i] = int64(binary.LittleEndian.Uint64(b)) })
	case Float64:
		c.Floats = make([]float64, rows)
		err = s.words(f.File, 8*rows, func(i int, b []byte) {
			c.Floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
		})
	case String:
		var b []byte
		if b, err = s.head(f.Offsets, 4*(rows+1)); err != nil {
			return nil, err
		}
		c.Offsets = make([]int32, rows+1)
		for i := range c.Offsets {
			c.Offsets[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
		}
		c.Text, err = s.head(f.File, int(c.Offsets[rows]))
	default:
		err = fmt.Errorf("unknown type %q", f.Type)
	}
	if f.Validity != "" && err == nil {
		c.Valid, err = s.head(f.Validity, (rows+7)/8)
	}
	return c, err
}

// words reads n bytes of a file, 8 at a time.
func (s *Set) words(file string, n int, f func(i int, b []byte)) error {
	in, err := os.Open(filepath.Join(s.dir, file))
	if err != nil {
		return err
	}
	defer in.Close()
	var buf [1 << 16]byte
	for at := 0; at < n; {
		b := buf[:min(len(buf), n-at)]
		if _, err := io.ReadFull(in, b); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for i := 0; i < len(b); i += 8 {
			f((at+i)/8, b[i:])
		}
		at += len(b)
	}
	return nil
}

// head reads the first n bytes of a file.
func (s *Set) head(file string, n int) ([]byte, error) {
	in, err := os.Open(filepath.Join(s.dir, file))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b := make([]byte, n)
	if _, err := io.ReadFull(in, b); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return b, nil
}
