// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"slices"
	"strings"

	"github.com/vecql/vecql/internal/cqltext"
)

// The parts of a statement that creates an object.

// A statementText is a statement and its tokens.
type statementText struct {
	text   string
	tokens []textToken
}

// A textToken is a token with its offset and the number of open brackets before it.
type textToken struct {
	at, depth int
	word      string
}

// scan returns the tokens of a statement.
func scan(text string) *statementText {
	s := &statementText{text: text}
	depth := 0
	for at, word := range cqltext.Tokens(text) {
		if strings.Contains(")]}>", word) {
			depth--
		}
		s.tokens = append(s.tokens, textToken{at, depth, word})
		if strings.Contains("([{<", word) {
			depth++
		}
	}
	return s
}

// at returns a token, "" beyond the last one.
func (s *statementText) at(i int) string {
	if i < 0 || i >= len(s.tokens) {
		return ""
	}
	return s.tokens[i].word
}

// words returns the verb and the noun of the statement in capitals.
func (s *statementText) words() string {
	first := strings.ToUpper(s.at(0))
	if first == "USE" {
		return first
	}
	return first + " " + strings.ToUpper(s.at(1))
}

// name returns the position of the name of the object that the statement creates, changes or drops.
func (s *statementText) name() int {
	for i := 2; i < len(s.tokens); i++ {
		if !slices.Contains([]string{"VIEW", "IF", "NOT", "EXISTS"}, strings.ToUpper(s.at(i))) {
			return i
		}
	}
	return len(s.tokens)
}

// qualified returns the name at a position, with its keyspace if it has one.
func (s *statementText) qualified(i int) string {
	if s.at(i+1) == "." {
		return s.at(i) + "." + s.at(i+2)
	}
	return s.at(i)
}

// find returns the position of the first token outside of brackets that is a word, -1 for none.
func (s *statementText) find(word string) int {
	return slices.IndexFunc(s.tokens, func(t textToken) bool { return t.depth == 0 && strings.EqualFold(t.word, word) })
}

// before returns the statement up to a word outside of brackets.
func (s *statementText) before(word string) string {
	if i := s.find(word); i >= 0 {
		return s.text[:s.tokens[i].at]
	}
	return s.text
}

// unmasked returns the statement without the masks of the columns that it adds: email text MASKED WITH DEFAULT. A
// statement that changes a mask alone is returned as it is.
func (s *statementText) unmasked() string {
	if s.changesMask() {
		return s.text
	}
	text, done := "", 0
	for i, t := range s.tokens {
		if strings.EqualFold(t.word, "MASKED") && strings.EqualFold(s.at(i+1), "WITH") {
			text += s.text[done:t.at]
			done = s.end(s.afterCall(i + 2))
		}
	}
	return text + s.text[done:]
}

// changesMask reports whether the statement changes the mask of a column: ALTER TABLE a ALTER b DROP MASKED.
func (s *statementText) changesMask() bool {
	name := s.name()
	return s.find("MASKED") >= 0 && (strings.EqualFold(s.at(name+1), "ALTER") || strings.EqualFold(s.at(name+3), "ALTER"))
}

// afterCall returns the position after a name and the arguments in brackets that may follow it.
func (s *statementText) afterCall(i int) int {
	if i++; s.at(i) == "." {
		i += 2
	}
	if s.at(i) != "(" {
		return i
	}
	for depth := s.tokens[i].depth; i < len(s.tokens); i++ {
		if s.at(i) == ")" && s.tokens[i].depth == depth {
			return i + 1
		}
	}
	return i
}

// end returns the offset of a token, the end of the text beyond the last one.
func (s *statementText) end(i int) int {
	if i < len(s.tokens) {
		return s.tokens[i].at
	}
	return len(s.text)
}

// vectorTarget returns the column of vectors in the target of a vector_index, which may have a partition key in
// brackets before it and further columns after it: ON items ((tenant), embedding, price).
func (s *statementText) vectorTarget() string {
	for i := s.find("ON"); i >= 0 && i < len(s.tokens); i++ {
		if t := s.tokens[i]; t.depth == 1 && t.word != "(" && t.word != ")" && t.word != "," {
			return t.word
		}
	}
	return ""
}
