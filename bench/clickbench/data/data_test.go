// SPDX-License-Identifier: Apache-2.0

package data_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/vecql/vecql/bench/clickbench/data"
)

// The same options make the same files, another seed makes other files.
func TestWriteIsDeterministic(t *testing.T) {
	files := func(seed uint64) map[string][]byte {
		dir := t.TempDir()
		o := data.Options{Rows: 2_000, Scale: 0.0005, Seed: seed}
		if err := data.Write(t.Context(), dir, o, func(string) {}); err != nil {
			t.Fatal(err)
		}
		if got, err := data.Open(dir); err != nil || got != o {
			t.Fatalf("%+v, %v", got, err)
		}
		files := map[string][]byte{}
		for _, name := range []string{data.Hits, data.LineItem} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			files[name] = b
		}
		return files
	}
	first, again, other := files(1), files(1), files(2)
	for name, b := range first {
		if !bytes.Equal(b, again[name]) {
			t.Errorf("%s differs", name)
		}
		if bytes.Equal(b, other[name]) {
			t.Errorf("%s does not depend on the seed", name)
		}
	}
}

// The number of goroutines does not change the file, which has several batches.
func TestWorkersMakeTheSameFile(t *testing.T) {
	var files [2][]byte
	for i, workers := range []int{0, 3} {
		dir := t.TempDir()
		o := data.Options{Rows: 100_000, Seed: 1, Workers: workers}
		if err := data.Write(t.Context(), dir, o, func(string) {}); err != nil {
			t.Fatal(err)
		}
		var err error
		if files[i], err = os.ReadFile(filepath.Join(dir, data.Hits)); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the files differ")
	}
}

// Write refuses options that make no table.
func TestWriteChecks(t *testing.T) {
	for _, o := range []data.Options{{Rows: 1_999}, {Rows: 1 << 31}, {Rows: 2_000, Scale: -1}} {
		if err := data.Write(t.Context(), t.TempDir(), o, func(string) {}); err == nil {
			t.Errorf("no error for %+v", o)
		}
	}
}
