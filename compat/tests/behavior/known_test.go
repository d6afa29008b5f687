// SPDX-License-Identifier: Apache-2.0

package behavior

import (
	"regexp"
	"slices"
)

// The differences on purpose.
var (
	resent = difference{
		regexp.MustCompile(`^(insert|batch), idempotent false, `),
		"a request that may have been executed is sent again only if it is idempotent",
	}
	indexes = difference{
		regexp.MustCompile(`^(Tables indexed|MaterializedViews by_text)$`),
		"the index of a column is described, which the API knows for servers before Cassandra 3 only",
	}
	userTypes = difference{
		regexp.MustCompile(`^(Tables nested|UserTypes Person)$`),
		"a user-defined type in a column is described, which is a custom type without a name in the API",
	}
	functions = difference{
		regexp.MustCompile(`^(Functions|Aggregates) `),
		"functions and aggregates are read, which the API leaves out for Cassandra",
	}
	partOfAFrame = difference{
		regexp.MustCompile(`^closed (within an answer|after the header), `),
		"a connection that is closed within a frame is ErrConnectionClosed or io.EOF, not a text of the reader",
	}
)

// ofSide returns the known differences of the API that this process is built with.
func ofSide(known map[string][]difference) []difference { return slices.Clone(known[tag]) }

var (
	unsentDifferences   []difference
	filledDifferences   []difference
	policyDifferences   []difference
	zeroDifferences     []difference
	attemptsDifferences = ofSide(map[string][]difference{"": {resent}, "fork": {resent}})
	lostDifferences     = []difference{partOfAFrame}
	metadataDifferences = ofSide(map[string][]difference{"": {indexes}, "v2": {indexes, userTypes}, "fork": {functions}})
)
