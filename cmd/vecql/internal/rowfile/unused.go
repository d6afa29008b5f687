// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"slices"
	"sync"
)

// Fields of files for which there is no column.

// maxUnused bounds the names that are kept.
const maxUnused = 1000

// unusedNames are the names of fields that are not in Options.Fields, in the order in which they occur.
type unusedNames struct {
	mu    sync.Mutex
	names []string
	has   map[string]bool
}

// add adds the name of a field.
func (u *unusedNames) add(name []byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.has[string(name)] || len(u.names) == maxUnused {
		return
	}
	if u.has == nil {
		u.has = map[string]bool{}
	}
	u.has[string(name)] = true
	u.names = append(u.names, string(name))
}

// addUnused adds the columns of a file that the options do not want.
func (o *Options) addUnused(names []string) {
	if o.Fields == nil {
		return
	}
	for _, name := range names {
		if o.Fields.Index(name) < 0 {
			o.unused.add([]byte(name))
		}
	}
}

// Unused returns the names of the fields that were read, and are not in Options.Fields, in the order in which they
// occur: at most 1000. Their values are left out. Options.RefuseExtra makes them an error.
func (in *Input) Unused() []string {
	in.o.unused.mu.Lock()
	defer in.o.unused.mu.Unlock()
	return slices.Clone(in.o.unused.names)
}
