// SPDX-License-Identifier: Apache-2.0

package pipe

import "github.com/vecql/vecql/column"

// Lengths: files are asked for the lengths of texts of which groups need strlen alone, so that no text is copied.

// readLengths asks the source for lengths in place of columns of which nothing before the first groups needs the texts.
// Conditions that the source evaluates as a filter do not need them.
func (b *binder) readLengths(ops []operation) {
	o, ok := b.source.(*openedParquet)
	if !ok {
		return
	}
	lengths, texts, replaced := map[string][]*computeOp{}, map[string]bool{}, map[string]bool{}
	for _, c := range o.selected {
		add(texts, c.e.Columns())
	}
	for _, op := range ops {
		switch op := op.(type) {
		case *selectOp:
		case *filterOp:
			for _, c := range op.conjuncts {
				add(texts, c.e.Columns())
			}
		case *computeOp:
			if name := op.lengthOf(o.fields); name != "" && !replaced[name] {
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
			o.readLengths(lengths, texts)
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

// readLengths makes columns of lengths those of the source.
func (o *openedParquet) readLengths(lengths map[string][]*computeOp, texts map[string]bool) {
	for name, ops := range lengths {
		if texts[name] {
			continue
		}
		o.lengths = append(o.lengths, name)
		for _, op := range ops {
			op.from = name
		}
	}
}
