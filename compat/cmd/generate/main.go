// SPDX-License-Identifier: Apache-2.0

// Command generate copies the declarations that the editions of gocql's API share. A file of a compat module with the
// line
//
//	//compat:copy gocqlv2 scyllagocql
//
// is copied to these modules as NAME_gen.go. What a module declares itself is left out of its copies, so a module has
// only what differs. Of two copies of one name the copy from the later edition stays.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:generate go run .

func main() {
	if err := write("../.."); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// write replaces the generated files of all modules below a folder.
func write(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	old, err := generated(root)
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for path, text := range files {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generated returns the paths of the generated files that exist.
func generated(root string) ([]string, error) {
	return filepath.Glob(filepath.Join(root, "*", "*"+suffix))
}

const (
	suffix    = "_gen.go"
	directive = "//compat:copy "
)

// generate returns the generated files of all modules by their paths. The sources are the files of v2, then of v1.7.
func generate(root string) (map[string][]byte, error) {
	c := copier{root: root, files: map[string][]byte{}, names: map[string]map[string]bool{}}
	for _, module := range []string{"gocqlv2", "gocql"} {
		paths, err := filepath.Glob(filepath.Join(root, module, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if strings.HasSuffix(path, suffix) {
				continue
			}
			if err := c.copy(path); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return c.files, nil
}

// A copier makes the generated files.
type copier struct {
	root  string
	files map[string][]byte          // by path
	names map[string]map[string]bool // that a module declares, by its folder
}

// copy makes the copies of a file that its directive names.
func (c *copier) copy(path string) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(source), "\n"+directive)
	modules, _, _ := strings.Cut(rest, "\n")
	for _, module := range strings.Fields(modules) {
		to := filepath.Join(c.root, module)
		if c.names[to] == nil {
			if c.names[to], err = declared(to); err != nil {
				return err
			}
		}
		from, err := filepath.Rel(c.root, path)
		if err != nil {
			return err
		}
		text, err := without(source, c.names[to], "compat/"+filepath.ToSlash(from))
		if err != nil {
			return err
		}
		c.files[filepath.Join(to, strings.TrimSuffix(filepath.Base(path), ".go")+suffix)] = text
	}
	return nil
}
