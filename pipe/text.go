// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
)

// Texts: expressions as arguments of verbs, and names in errors and in Explain.

// A text is an expression as an argument of a verb.
type text struct {
	verb, text string
	args       []any
}

func newText(verb, s string, args []any) text { return text{verb, s, slices.Clone(args)} }

// quoted returns the text for errors: of "?" alone the expression that it stands for.
func (t text) quoted() string {
	if t.text == "?" && len(t.args) == 1 {
		if e, ok := t.args[0].(expr.Expr); ok {
			return fmt.Sprintf("%q", e.String())
		}
	}
	return fmt.Sprintf("%q", t.text)
}

// wrapper returns a function that wraps errors of rows.
func (t text) wrapper() func(error, column.Source) error {
	return func(err error, s column.Source) error {
		return &Error{Verb: t.verb, Text: t.quoted(), Source: s, Err: err}
	}
}

// quoted returns names as the arguments of a call.
func quoted(names []string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(parts, ", ")
}

// list returns names, "none" if there are none.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// counted returns a number with its noun: "1 batch", "2 batches".
func counted[N int | int64](n N, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
