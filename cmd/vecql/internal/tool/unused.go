// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"strings"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
)

// reportUnused prints one line with the fields of files for which there is no column. advice is what to do.
func (e *env) reportUnused(in *rowfile.Input, advice string) {
	names := in.Unused()
	if len(names) == 0 {
		return
	}
	const most = 20
	quoted := make([]string, min(len(names), most))
	for i := range quoted {
		quoted[i] = fmt.Sprintf("%q", names[i])
	}
	list, noun := strings.Join(quoted, ", "), "fields"
	if len(names) > most {
		list += fmt.Sprintf(" and %d more", len(names)-most)
	}
	if len(names) == 1 {
		noun = "field"
	}
	fmt.Fprintf(e.err, "left out: the table has no column for the %s %s%s\n", noun, list, advice)
}
