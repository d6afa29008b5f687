// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The commands that make a report of the results of benchmarks.

// A Reporter reads results and returns a report in Markdown and a plot, "" for none. name is the name of the report,
// and of the plot, without an extension.
type Reporter func(results io.Reader, name string) (text, svg string, err error)

// Main is the main function of a command whose arguments are a file of results, then files with versions of peers. It
// writes the report and the plot beside the results and exits.
func Main(usage string, report Reporter) {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage:", usage)
		os.Exit(2)
	}
	if err := Write(os.Args[1], os.Args[2:], report); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

// Write writes the report of a file of results, and its plot, beside the file: results.txt has the report results.md.
// The report ends with the versions that the other files list (see [Versions]).
func Write(path string, versions []string, report Reporter) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	base := strings.TrimSuffix(path, filepath.Ext(path))
	text, svg, err := report(f, filepath.Base(base))
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	var all []string
	for _, file := range versions {
		v, err := Versions(file)
		if err != nil {
			return err
		}
		all = append(all, v...)
	}
	if len(all) > 0 {
		text += fmt.Sprintf("\nVersions: %s.\n", strings.Join(all, ", "))
	}
	if svg != "" {
		if err := os.WriteFile(base+".svg", []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(base+".md", []byte(text), 0o644)
}
