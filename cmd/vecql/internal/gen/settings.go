// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
)

// The file of the settings.

// SettingsFile is the name of the file that ReadSettings reads by default.
const SettingsFile = "vecql.gen.toml"

// ReadSettings reads the settings of a file. An empty path means SettingsFile, which may be missing. Paths in the file
// are relative to its folder.
func ReadSettings(path string) (Options, error) {
	var o Options
	named := path != ""
	if !named {
		path = SettingsFile
	}
	meta, err := toml.DecodeFile(path, &o)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return o, nil
	}
	if err != nil {
		return o, fmt.Errorf("read %s: %w", path, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		names := make([]string, len(unknown))
		for i, key := range unknown {
			names[i] = key.String()
		}
		return o, fmt.Errorf("%w: %s has unknown keys: %s", ErrOptions, path, strings.Join(names, ", "))
	}
	folder := filepath.Dir(path)
	for i, file := range o.Schema {
		o.Schema[i] = within(folder, file)
	}
	o.Out = within(folder, o.Out)
	if err := o.check(); err != nil {
		return o, fmt.Errorf("%s: %w", path, err)
	}
	return o, nil
}

// within returns a path that is relative to a folder.
func within(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}
