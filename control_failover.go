// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// This file says which node the control connection goes to when it has lost the one it had.

// failoverOrder returns the addresses of nodes for a control connection after one to last has ended: first those that are connected, of
// these first those in the data centre of last, and last itself at the end of them. Equals stand in a random order, so that the clients of a
// node that went down spread over the others.
func failoverOrder(nodes []*node, last string, isUp func(*node) bool) (up, down []string) {
	var dc string
	for _, n := range nodes {
		if n.info.addr.String() == last {
			dc = n.info.dc
		}
	}
	rank := func(n *node) int {
		switch {
		case n.info.addr.String() == last:
			return 2
		case n.info.dc == dc:
			return 0
		}
		return 1
	}
	nodes = slices.Clone(nodes)
	rand.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	slices.SortStableFunc(nodes, func(a, b *node) int { return cmp.Compare(rank(a), rank(b)) })
	for _, n := range nodes {
		if isUp(n) {
			up = append(up, n.info.addr.String())
		} else {
			down = append(down, n.info.addr.String())
		}
	}
	return up, down
}
