// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"encoding/binary"
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Sequences: regular expressions that match in one pass, many times as fast as package regexp, which is the reference.

// A sequence is a regular expression at the start of a text: literals, optional literals, single characters and greedy
// runs of characters, in this order, with groups around them. No character of a run can begin what follows the run, so
// that only optional literals need a second attempt.
type sequence struct {
	items  []sequenceItem
	groups int // number of capturing groups, 0 included
}

// A sequenceItem is a part of a sequence.
type sequenceItem struct {
	kind  sequenceKind
	text  string     // of literals
	word  uint64     // of literals of up to 8 bytes: the bytes, the first lowest
	mask  uint64     // of the bytes of word; 0 means that the literal is empty or longer
	set   *[256]bool // of characters: their first bytes; all bytes from 0x80 on are in the set, or none
	least int        // characters of a run
	stop  int        // of a run: the only byte that is not in the set; -1 if there are none or several
	group int        // of sequenceOpen and sequenceClose
}

type sequenceKind uint8

const (
	sequenceLiteral sequenceKind = iota
	sequenceOptional
	sequenceChar
	sequenceRun
	sequenceOpen
	sequenceClose
	sequenceEnd // of the text
)

// maxOptional bounds the optional literals: each doubles the attempts.
const maxOptional = 4

// newSequence returns the sequence of a pattern; nil if the pattern is none.
func newSequence(pattern string) *sequence {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	parts := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		parts = re.Sub
	}
	if len(parts) == 0 || parts[0].Op != syntax.OpBeginText {
		return nil
	}
	s := &sequence{groups: re.MaxCap() + 1}
	for _, part := range parts[1:] {
		if !s.add(part) {
			return nil
		}
	}
	optional := 0
	for i, item := range s.items {
		if item.kind == sequenceOptional {
			optional++
		}
		if item.kind == sequenceRun && !disjoint(item.set, s.firsts(i+1)) {
			return nil
		}
	}
	if optional > maxOptional {
		return nil
	}
	return s
}

// add appends a part of the expression; false if sequences do not have it.
func (s *sequence) add(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return true
	case syntax.OpLiteral:
		text, ok := plainLiteral(re)
		s.items = append(s.items, newLiteral(sequenceLiteral, text))
		return ok
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		set := firstBytes(re)
		s.items = append(s.items, sequenceItem{kind: sequenceChar, set: set})
		return set != nil
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		return s.addRepeated(re)
	case syntax.OpEndText:
		s.items = append(s.items, sequenceItem{kind: sequenceEnd})
		return true
	case syntax.OpCapture:
		s.items = append(s.items, sequenceItem{kind: sequenceOpen, group: re.Cap})
		ok := s.add(re.Sub[0])
		s.items = append(s.items, sequenceItem{kind: sequenceClose, group: re.Cap})
		return ok
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !s.add(sub) {
				return false
			}
		}
		return true
	}
	return false
}

// addRepeated appends a greedy run of characters, or an optional literal.
func (s *sequence) addRepeated(re *syntax.Regexp) bool {
	sub := re.Sub[0]
	switch {
	case re.Flags&syntax.NonGreedy != 0:
		return false
	case re.Op == syntax.OpQuest:
		if sub.Op != syntax.OpLiteral {
			return false
		}
		text, ok := plainLiteral(sub)
		s.items = append(s.items, newLiteral(sequenceOptional, text))
		return ok
	}
	item := sequenceItem{kind: sequenceRun, set: firstBytes(sub)}
	if re.Op == syntax.OpPlus {
		item.least = 1
	}
	if item.set == nil {
		return false
	}
	item.stop = stopOf(item.set)
	s.items = append(s.items, item)
	return true
}

// stopOf returns the only byte that is not in a set; -1 if there are none or several.
func stopOf(set *[256]bool) int {
	stop := -1
	for b, in := range set {
		if in {
			continue
		}
		if stop >= 0 {
			return -1
		}
		stop = b
	}
	return stop
}

// run returns the end of a run in text from a position on.
func (item *sequenceItem) run(text string, pos int) int {
	if item.stop >= 0 {
		if n := strings.IndexByte(text[pos:], byte(item.stop)); n >= 0 {
			return pos + n
		}
		return len(text)
	}
	for pos < len(text) && item.set[text[pos]] {
		pos++
	}
	return pos
}

func newLiteral(kind sequenceKind, text string) sequenceItem {
	item := sequenceItem{kind: kind, text: text}
	if len(text) > 0 && len(text) <= 8 {
		for i := range len(text) {
			item.word |= uint64(text[i]) << (8 * i)
		}
		item.mask = math.MaxUint64 >> (64 - 8*len(text))
	}
	return item
}

// begins reports whether a text begins with the literal. It compares a word where 8 bytes can be read.
func (item *sequenceItem) begins(text string) bool {
	if item.mask != 0 && len(text) >= 8 {
		b := (*[8]byte)(unsafe.Pointer(unsafe.StringData(text)))
		return binary.LittleEndian.Uint64(b[:])&item.mask == item.word
	}
	return strings.HasPrefix(text, item.text)
}

// plainLiteral returns the text of a literal; false if the literal also matches other bytes.
func plainLiteral(re *syntax.Regexp) (string, bool) {
	for _, r := range re.Rune {
		if r == utf8.RuneError { // which also matches invalid bytes
			return "", false
		}
	}
	return string(re.Rune), re.Flags&syntax.FoldCase == 0
}

// firstBytes returns the first bytes of the characters of a class; nil if the class has some of the characters from
// 0x80 on, but not all.
func firstBytes(re *syntax.Regexp) *[256]bool {
	var pairs []rune
	switch re.Op {
	case syntax.OpAnyChar:
		pairs = []rune{0, utf8.MaxRune}
	case syntax.OpAnyCharNotNL:
		pairs = []rune{0, '\n' - 1, '\n' + 1, utf8.MaxRune}
	case syntax.OpCharClass:
		pairs = re.Rune
	case syntax.OpLiteral:
		if len(re.Rune) != 1 || re.Flags&syntax.FoldCase != 0 {
			return nil
		}
		pairs = []rune{re.Rune[0], re.Rune[0]}
	default:
		return nil
	}
	set := new([256]bool)
	for i := 0; i < len(pairs); i += 2 {
		lo, hi := pairs[i], pairs[i+1]
		for r := lo; r <= min(hi, utf8.RuneSelf-1); r++ {
			set[r] = true
		}
		if hi < utf8.RuneSelf {
			continue
		}
		if lo > utf8.RuneSelf || hi != utf8.MaxRune {
			return nil
		}
		for b := utf8.RuneSelf; b < len(set); b++ {
			set[b] = true
		}
	}
	return set
}

// firsts returns the bytes with which the items from i on can begin.
func (s *sequence) firsts(i int) *[256]bool {
	first := new([256]bool)
	for _, item := range s.items[i:] {
		switch item.kind {
		case sequenceLiteral, sequenceOptional:
			if item.text != "" {
				first[item.text[0]] = true
			}
			if item.kind == sequenceLiteral && item.text != "" {
				return first
			}
		case sequenceChar, sequenceRun:
			for b, in := range item.set {
				first[b] = first[b] || in
			}
			if item.kind == sequenceChar || item.least > 0 {
				return first
			}
		case sequenceEnd:
			return first
		}
	}
	return first
}

func disjoint(a, b *[256]bool) bool {
	for i := range a {
		if a[i] && b[i] {
			return false
		}
	}
	return true
}

// match returns the end of the match, -1 if there is none, and sets the ends of the groups in at: -1 of a group that
// does not take part. at has two positions for each group.
func (s *sequence) match(text string, at []int) int {
	end := s.matchFrom(0, 0, text, at)
	at[0], at[1] = 0, end
	return end
}

// matchFrom matches the items from i on at a position.
func (s *sequence) matchFrom(i, pos int, text string, at []int) int {
	for ; i < len(s.items); i++ {
		switch item := &s.items[i]; item.kind {
		case sequenceLiteral:
			if !item.begins(text[pos:]) {
				return -1
			}
			pos += len(item.text)
		case sequenceOptional:
			if item.begins(text[pos:]) {
				if end := s.matchFrom(i+1, pos+len(item.text), text, at); end >= 0 {
					return end
				}
			}
		case sequenceChar:
			if pos == len(text) || !item.set[text[pos]] {
				return -1
			}
			pos += len(firstChar(text[pos:]))
		case sequenceRun:
			start := pos
			if pos = item.run(text, pos); item.least > 0 && pos == start {
				return -1
			}
		case sequenceOpen:
			at[2*item.group] = pos
		case sequenceClose:
			at[2*item.group+1] = pos
		case sequenceEnd:
			if pos != len(text) {
				return -1
			}
		}
	}
	return pos
}

// A piece is a part of a replacement: a group or, if group is -1, a text.
type piece struct {
	group int
	text  string
}

// parsePieces splits a replacement as regexp.Expand does; false if it has names of groups.
func parsePieces(with string) (pieces []piece, ok bool) {
	for with != "" {
		at := strings.IndexByte(with, '$')
		if at < 0 {
			at = len(with)
		}
		if at > 0 {
			pieces, with = append(pieces, piece{-1, with[:at]}), with[at:]
			continue
		}
		rest, braces := strings.CutPrefix(with[1:], "{")
		digits := 0
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		group, err := strconv.Atoi(rest[:digits])
		after := rest[digits:]
		switch {
		case err != nil || group > 99 || rest[0] == '0' && digits > 1: // "00" is a name
			return nil, false
		case braces:
			if after == "" || after[0] != '}' {
				return nil, false
			}
			after = after[1:]
		case after != "" && (after[0] == '_' || after[0] >= utf8.RuneSelf || isLetter(after[0])):
			return nil, false
		}
		pieces, with = append(pieces, piece{group: group}), after
	}
	return pieces, true
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// replacer returns a function that replaces the matches of a pattern, as regexp.ReplaceAllString does.
func replacer(pattern, with string) func(string) string {
	s := newSequence(pattern)
	pieces, ok := parsePieces(with)
	if s == nil || !ok {
		re := regexp.MustCompile(pattern)
		return func(text string) string { return re.ReplaceAllString(text, with) }
	}
	at := make([]int, 2*s.groups)
	return func(text string) string {
		for i := range at {
			at[i] = -1
		}
		end := s.match(text, at)
		switch {
		case end < 0:
			return text
		case end == len(text) && len(pieces) == 1 && pieces[0].group >= 0:
			return pieces[0].of(text, at) // shares the memory of the text
		}
		var out strings.Builder
		for _, p := range pieces {
			out.WriteString(p.of(text, at))
		}
		out.WriteString(text[end:])
		return out.String()
	}
}

// of returns the piece of a match. A group that does not exist or takes no part is empty.
func (p piece) of(text string, at []int) string {
	switch {
	case p.group < 0:
		return p.text
	case 2*p.group >= len(at) || at[2*p.group] < 0 || at[2*p.group+1] < 0:
		return ""
	}
	return text[at[2*p.group]:at[2*p.group+1]]
}

// matcher returns a function that reports whether a text has a match of a pattern.
func matcher(pattern string) func(string) bool {
	s := newSequence(pattern)
	if s == nil {
		return regexp.MustCompile(pattern).MatchString
	}
	at := make([]int, 2*s.groups)
	return func(text string) bool { return s.match(text, at) >= 0 }
}
