// SPDX-License-Identifier: Apache-2.0

// Package answers stores the answers of an engine in a file, by the names of the queries.
package answers

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Read reads a value from a file of JSON. Numbers in an any are of type json.Number.
func Read[T any](path string) (v T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return v, err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return v, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// Add adds an answer to a file, in the place of an earlier one of the same name.
func Add[T any](path, name string, answer T) error {
	all, err := Read[map[string]T](path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if all == nil {
		all = map[string]T{}
	}
	all[name] = answer
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}
