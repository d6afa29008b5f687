// SPDX-License-Identifier: Apache-2.0

package predicate

import "github.com/vecql/vecql/column"

// A Predicate is a filter compiled for columns of known types. It is immutable: evaluators and goroutines share it.
//
// It contains no Not: Not of a leaf is the leaf inverted, and De Morgan's rules, which hold in SQL's logic too, move
// Not down to the leaves. Every leaf but IS NULL is false for NULL. So evaluation needs no third value.
type Predicate struct {
	Paths  []string      // as Node.ColumnNames
	types  []column.Type // of paths
	leaves []*leafTerm
	root   term
	Stages []Stage
}

// A term is And or Or of args, or a leaf. No argument of And is an And, and no argument of Or an Or.
type term struct {
	op   Op
	args []term
	leaf *leafTerm
}

// A Stage is a part of a predicate, which is the And of its stages.
type Stage struct {
	Columns []int // of Predicate.Paths, which no stage before needs
	nodes   []*term
	Shared  bool // the columns are needed in a later stage too, or the stage needs a column of an earlier one
}

// Everything reports whether the predicate selects all rows of any data.
func (p *Predicate) Everything() bool { return p.root.op == And && len(p.root.args) == 0 }
