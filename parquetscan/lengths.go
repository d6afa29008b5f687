// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"slices"
)

// Lengths of texts in place of the texts: lengths of plain texts are found within their page, and no text is copied.

// addLengths marks the columns of Options.Lengths.
func (s *Scan) addLengths() error {
	for _, name := range s.o.Lengths {
		found := false
		for i := range s.columns[:s.outputs] {
			c := &s.columns[i]
			if c.Name != name {
				continue
			}
			if n := c.node; n.Leaf == nil || !n.Field.Type.Kind.IsText() || n.Leaf.Type != n.Field.Type {
				return fmt.Errorf("parquetscan: Lengths: column %s is %v, not a String or Binary", name, n.Field.Type)
			}
			if slices.Contains(s.chosen, i) {
				return fmt.Errorf("parquetscan: Lengths: the Selector needs the texts of column %s", name)
			}
			c.Lengths, found = true, true
		}
		if !found {
			return fmt.Errorf("parquetscan: Lengths: column %s is not read", name)
		}
	}
	return nil
}
