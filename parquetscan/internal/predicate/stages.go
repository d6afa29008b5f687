// SPDX-License-Identifier: Apache-2.0

package predicate

import "slices"

// Stages: a filter column by column. If no row of a batch is left after a stage, the columns of later stages are not
// decoded, and their pages not decompressed.

// addStages makes the stages: arguments of And, each as soon as its columns are read. Columns of a fixed width are
// read before texts, and texts are searched for parts at last, in the rows that are left.
func (p *Predicate) addStages() {
	nodes := []*term{&p.root}
	if p.root.leaf == nil && p.root.op == And {
		nodes = nil
		for i := range p.root.args {
			nodes = append(nodes, &p.root.args[i])
		}
	}
	slices.SortStableFunc(nodes, func(a, b *term) int { return p.cost(a) - p.cost(b) })
	read := map[int]int{} // the stages of the columns
	for _, node := range nodes {
		at, fresh := 0, []int{}
		for _, c := range node.columns(nil) {
			if s, ok := read[c]; ok {
				at = max(at, s)
			} else if !slices.Contains(fresh, c) {
				fresh = append(fresh, c)
			}
		}
		if len(fresh) > 0 || len(p.Stages) == 0 {
			at = len(p.Stages)
			p.Stages = append(p.Stages, Stage{Columns: fresh})
		}
		for _, c := range node.columns(nil) {
			if s, ok := read[c]; ok && s != at {
				p.Stages[s].Shared, p.Stages[at].Shared = true, true
			}
		}
		for _, c := range fresh {
			read[c] = at
		}
		p.Stages[at].nodes = append(p.Stages[at].nodes, node)
	}
}

// cost returns the place of a node among the stages: 0 without texts, 2 if a text is searched, otherwise 1.
func (p *Predicate) cost(node *term) int {
	switch l := node.leaf; {
	case l == nil:
	case l.part != nil:
		return 2
	case l.typ.Kind.IsText():
		return 1
	}
	most := 0
	for i := range node.args {
		most = max(most, p.cost(&node.args[i]))
	}
	return most
}

// columns appends the columns that a node tests.
func (node *term) columns(into []int) []int {
	if node.leaf != nil {
		return append(into, node.leaf.column)
	}
	for i := range node.args {
		into = node.args[i].columns(into)
	}
	return into
}
