// SPDX-License-Identifier: Apache-2.0

// Package beamtest runs the tests of packages that have pipelines.
package beamtest

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Main is the TestMain of a package. Temporary files are in a folder that is removed at the end: each pipeline leaves
// an empty file (beamloopbackworker-*, https://github.com/apache/beam/issues/27569). The log of the runner is dropped.
func Main(m *testing.M) {
	flag.Parse()
	beam.Init()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	code, err := inFolder(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// inFolder runs tests with a folder for temporary files.
func inFolder(tests func() int) (code int, err error) {
	folder, err := os.MkdirTemp("", "beamvecql-*")
	if err != nil {
		return 0, err
	}
	if err := os.Setenv("TMPDIR", folder); err != nil {
		return 0, err
	}
	return tests(), os.RemoveAll(folder)
}
