// SPDX-License-Identifier: Apache-2.0

package footer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/parquetscan/internal/format"
)

// The programs that wrote files, and their errors that readers must know.

// A Version is the version of the program that wrote a file.
type Version struct {
	program string
	number  [3]int // major, minor, patch
}

// spaces are the spaces in created_by.
const spaces = "\t\n\f\r "

// versionOf parses created_by, for example "parquet-mr version 1.8.0-rc1 (build abcd)", as the Java and C++
// implementations of the format do: the program is the text before the first "version" that such a rest follows.
func versionOf(createdBy string) (v Version) {
	const word = "version"
	s := strings.ToLower(createdBy)
	end, numbers := len(s), ""
	for at := strings.Index(s, word); at >= 0; {
		if text, ok := cutBuild(strings.TrimLeft(s[at+len(word):], spaces)); ok {
			end, numbers = at, text
			break
		}
		next := strings.Index(s[at+1:], word)
		if next < 0 {
			break
		}
		at += 1 + next
	}
	v.program = strings.TrimRight(s[:end], spaces)
	if strings.Contains(v.program, "\n") {
		return Version{program: "unknown"}
	}
	v.number = numbersOf(numbers)
	return v
}

// cutBuild returns the text before "(build ...)" at the end of s, and false if anything else is in parentheses.
func cutBuild(s string) (text string, ok bool) {
	text, build, found := strings.Cut(s, "(")
	if text = strings.TrimRight(text, spaces); !found {
		return text, true
	}
	build = strings.TrimLeft(build, spaces)
	return text, strings.HasPrefix(build, "build") && strings.IndexByte(build, ')') == len(build)-1
}

// numbersOf parses "1.8.0", which any text may follow, zeros if s is no version.
func numbersOf(s string) (number [3]int) {
	for i := range number {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n == 0 || i < 2 && !strings.HasPrefix(s[n:], ".") {
			return [3]int{}
		}
		number[i], _ = strconv.Atoi(s[:n]) // a number out of range is the greatest one
		s = strings.TrimPrefix(s[n:], ".")
	}
	return number
}

// before reports whether a program wrote the file in an earlier version.
func (v *Version) before(program string, number ...int) bool {
	return v.program == program && slices.Compare(v.number[:], number) < 0
}

// omitsDictionaryHeader reports whether the lengths of column chunks lack the header of the dictionary (PARQUET-816).
func (v *Version) omitsDictionaryHeader() bool { return v.before("parquet-mr", 1, 2, 9) }

// CompressesAll reports whether the writer of a file compresses the values of all pages V2: the pages of Arrow before
// 3.0 are marked as uncompressed (ARROW-17100). Later versions of Arrow have another name.
func (v *Version) CompressesAll() bool { return v.before("parquet-cpp", 2, 0, 0) }

// CorrectStatistics reports whether the writer of the file computed the statistics of a column correctly. signed means
// that values are compared as signed numbers.
func (v *Version) CorrectStatistics(l *Leaf, signed bool) bool {
	bytes := l.Physical == format.ByteArray || l.Physical == format.FixedLenByteArray
	if v.before("parquet-cpp", 1, 3, 0) || v.before("parquet-mr", 1, 10, 0) { // they compared bytes as signed numbers
		if !signed {
			return false
		}
		if !bytes {
			return true
		}
	}
	if l.Logical.Kind == format.LogicalDecimal && l.Physical == format.FixedLenByteArray &&
		(v.program == "parquet-cpp" || v.before("parquet-cpp-arrow", 4, 0, 0)) { // PARQUET-1655
		return false
	}
	return !v.before("parquet-mr", 1, 8, 0) // PARQUET-251
}
