// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/internal/lex"
	"github.com/vecql/vecql/pipe"
)

// Errors with their place in the statement, and the names of what is refused.

// ErrUnsupported means that a statement has a part of SQL that this package refuses.
var ErrUnsupported = errors.New("not supported")

// errOverflow means that a sum of integers or decimals is too large.
var errOverflow = errors.New("the sum of a group does not fit into its type; sum(cast(x as float64)) does not overflow")

// errAll means that * stands where an expression is needed.
var errAll = errors.New("found *, want an expression")

// An Error means that a statement cannot run.
type Error struct {
	Text   string // the statement
	Offset int    // of the part that is wrong, in the text; -1 means that no part is
	Err    error

	part string // the expression that does not compile, "" for other errors
}

func (e *Error) Error() string {
	if line, column := e.Place(); line > 0 {
		return fmt.Sprintf("sql: line %d, column %d: %v", line, column, e.Err)
	}
	return fmt.Sprintf("sql: %v", e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Place returns the line and the column, in characters, of the part that is wrong, both from 1; zeros if no part is.
func (e *Error) Place() (line, column int) {
	if e.Offset < 0 || e.Offset > len(e.Text) {
		return 0, 0
	}
	before := e.Text[:e.Offset]
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}

// caretWidth is the number of characters of a line that Caret shows.
const caretWidth = 76

// Caret returns the line of the statement with the part that is wrong, and a line with a caret below it; "" if no part
// is. A long line is cut.
func (e *Error) Caret() string {
	if e.Offset < 0 || e.Offset > len(e.Text) {
		return ""
	}
	start := strings.LastIndexByte(e.Text[:e.Offset], '\n') + 1
	rest, _, _ := strings.Cut(e.Text[e.Offset:], "\n")
	before, after := []rune(strings.Map(printable, e.Text[start:e.Offset])), []rune(strings.Map(printable, rest))
	if cut := len(before) - caretWidth/2; cut > 0 && len(before)+len(after) > caretWidth {
		before = append([]rune("..."), before[cut:]...)
	}
	if room := caretWidth - len(before); len(after) > room {
		after = append(after[:room:room], []rune("...")...)
	}
	return string(before) + string(after) + "\n" + strings.Repeat(" ", len(before)) + "^"
}

// printable returns r, or a space if r has no place of its own in a line.
func printable(r rune) rune {
	if r < ' ' || r == 0x7f || r == utf8.RuneError {
		return ' '
	}
	return r
}

// at returns the error of a statement with its place.
func at(text string, offset int, err error) error {
	return &Error{Text: text, Offset: offset, Err: err}
}

// located returns the error of an expression in a statement. Errors of package expr have a place.
func located(text string, err error) error {
	var own *Error
	var syntax *expr.SyntaxError
	var compile *expr.CompileError
	var row *expr.RowError
	switch {
	case err == nil || errors.As(err, &own):
		return err
	case errors.As(err, &syntax):
		return at(text, syntax.Offset, fmt.Errorf("found %s, want %s", syntax.Found, syntax.Want))
	case errors.As(err, &compile):
		return &Error{text, compile.Offset, fmt.Errorf("%s: %w", compile.Expr, compile.Err), compile.Expr}
	case errors.As(err, &row):
		return at(text, row.Offset, fmt.Errorf("%s%s: %w", inFile(err), row.Expr, row.Err))
	}
	return at(text, -1, err)
}

// inFile returns the place of the rows of an error of a file.
func inFile(err error) string {
	var p *pipe.Error
	if !errors.As(err, &p) || p.Source.File == "" {
		return ""
	}
	return fmt.Sprintf("in %s, row group %d, rows from %d: ", p.Source.File, p.Source.RowGroup, p.Source.FirstRow)
}

// refusals are the words that begin what is refused, by what it is.
var refusals = func() map[string]string {
	words := map[string]string{}
	for what, list := range map[string]string{
		"joins":                             "join inner left right full cross natural lateral outer semi anti asof on using",
		"set operations":                    "minus",
		"window functions":                  "over window partition qualify row_number rank dense_rank percent_rank ntile lag lead first_value last_value",
		"samples":                           "sample tablesample",
		"PIVOT":                             "pivot unpivot",
		"TOP":                               "top",
		"SELECT ... INTO":                   "into",
		"locks":                             "for",
		"ESCAPE":                            "escape",
		"COLLATE":                           "collate",
		"subqueries with ANY, ALL and SOME": "any all some",
		"DISTINCT but for the whole result and within aggregates": "distinct",
	} {
		for word := range strings.FieldsSeq(list) {
			words[word] = what
		}
	}
	return words
}()

// statements are the first words of statements that are not SELECT.
var statements = " insert update delete merge create drop alter truncate copy explain show set use begin commit " +
	"rollback call attach pragma load install grant revoke batch "

// refused returns the error of a statement whose parsing failed: ErrUnsupported if the token at the offset, or the one
// before it, is a word of refusals.
func refused(text string, offset int, err error) error {
	l := lex.Lexer{Text: text}
	before, beforeAt := "", -1
	for {
		if l.Scan() != "" || l.Token == lex.End || l.Start > offset {
			return at(text, offset, err)
		}
		word := ""
		if l.Token == lex.Word || l.Token == lex.Keyword {
			word = strings.ToLower(l.Word)
		}
		if l.Pos > offset {
			if what, ok := refusals[word]; ok {
				return at(text, l.Start, fmt.Errorf("%s: %w", what, ErrUnsupported))
			} else if what, ok := refusals[before]; ok && beforeAt > 0 {
				return at(text, beforeAt, fmt.Errorf("%s: %w", what, ErrUnsupported))
			}
			return at(text, offset, err)
		}
		before, beforeAt = word, l.Start
	}
}
