// SPDX-License-Identifier: Apache-2.0

package pipe

import "github.com/vecql/vecql/column"

// Lengths: sources are asked for the lengths of texts, without a copy of the texts, where groups need only strlen.

// readLengths asks the source for lengths in place of columns whose texts are not needed before the first groups.
// Conditions that the source evaluates as a filter do not need them.
func readLengths(source opened, ops []operation) {
	m, ok := able[measurer](source)
	if !ok {
		return
	}
	lengths, texts, replaced := map[string][]*computeOp{}, map[string]bool{}, map[string]bool{}
	add(texts, columnsOf(source.input().selected))
	for _, op := range ops {
		switch op := op.(type) {
		case *selectOp:
		case *filterOp:
			add(texts, columnsOf(op.conjuncts))
		case *computeOp:
			if name := op.lengthOf(source.schema()); name != "" && !replaced[name] {
				lengths[name] = append(lengths[name], op)
			} else {
				add(texts, op.e.Columns())
			}
			replaced[op.name] = true
		case *groupOp:
			add(texts, op.keys)
			for _, a := range op.aggregates {
				add(texts, a.Args)
			}
			replaceTexts(m, lengths, texts)
			return
		default:
			return
		}
	}
}

// lengthOf returns the column whose lengths in bytes are the values of the operation; "" if they are none.
func (op *computeOp) lengthOf(fields column.Schema) string {
	n := op.e.Node()
	if len(n.Args) != 1 {
		return ""
	}
	name, _ := n.Args[0].Column()
	at := fields.Index(name)
	if at < 0 {
		return ""
	}
	kind := fields[at].Type.Kind
	if kind == column.String && n.Op == "strlen" || kind == column.Binary && n.Op == "length" {
		return name
	}
	return ""
}

// replaceTexts makes columns of lengths columns of the source, unless their texts are needed.
func replaceTexts(m measurer, lengths map[string][]*computeOp, texts map[string]bool) {
	for name, ops := range lengths {
		if texts[name] {
			continue
		}
		m.ReadLengths([]string{name})
		for _, op := range ops {
			op.from = name
		}
	}
}
