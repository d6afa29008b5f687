// SPDX-License-Identifier: Apache-2.0

package cqltext

import "strings"

// Identifiers for people.

// Identifier returns the CQL identifier of a name for people: in quotes unless it is in lower case and not reserved.
func Identifier(name string) string {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') || i == 0 && r == '_' {
			return QuoteIdentifier(name)
		}
	}
	if name == "" || reservedWords[name] {
		return QuoteIdentifier(name)
	}
	return name
}

// reservedWords are the words that are names only in quotes (CQL grammar, Appendix A).
var reservedWords = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`add allow alter and any apply asc authorize batch begin by columnfamily create default delete desc
		describe drop entries execute from full grant if in index inet infinity insert into is keyspace limit materialized mbean mbeans
		modify nan norecursive not null of on one or order password per permission permissions primary quorum rename replace revoke schema
		scylla_timeuuid_list_index scylla_counter_shard_list select set table three to token truncate ttl two unlogged unset update use
		using view where with writetime`) {
		words[w] = true
	}
	return words
}()
