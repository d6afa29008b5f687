// SPDX-License-Identifier: Apache-2.0

package answers_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/vecql/vecql/bench/answers"
)

func TestAdd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.json")
	for _, a := range []struct {
		name  string
		value uint64
	}{{"q1", 1}, {"q2", 1<<64 - 1}, {"q1", 3}} {
		if err := answers.Add(path, a.name, a.value); err != nil {
			t.Fatal(err)
		}
	}
	got, err := answers.Read[map[string]uint64](path)
	if want := map[string]uint64{"q1": 3, "q2": 1<<64 - 1}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := answers.Add(path, "q1", 1); err == nil {
		t.Error("no error for a file that is cut off")
	}
}
