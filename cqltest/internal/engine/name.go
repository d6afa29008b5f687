// SPDX-License-Identifier: Apache-2.0

package engine

import "strings"

// Quoting of names.

// reserved are the words that are names only if quoted.
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`add allow alter and apply asc authorize batch begin by columnfamily create default delete desc describe
		drop entries execute from full grant if in index infinity insert into is keyspace limit materialized mbean mbeans modify nan norecursive
		not null of on or order primary rename replace revoke schema select set table to token truncate unlogged unset update use using view
		where with`) {
		m[w] = true
	}
	return m
}()

// quoteName quotes a name if CQL requires it.
func quoteName(name string) string {
	plain := name != "" && !reserved[name]
	for i := 0; i < len(name) && plain; i++ {
		c := name[i]
		plain = c >= 'a' && c <= 'z' || i > 0 && (c >= '0' && c <= '9' || c == '_')
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
