// SPDX-License-Identifier: Apache-2.0

package footer

import (
	"regexp"
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

// The form of created_by, as the Java and C++ implementations of the format parse it, and its version.
var (
	createdByForm = regexp.MustCompile(`^(.*?)\s*(?:(version\s*(?:([^(]*?)\s*(?:\(\s*build\s*([^)]*?)\s*\))?)?)?)$`)
	versionForm   = regexp.MustCompile(`^(\d+)\.(\d+)\.(\d+)([^-+]*)?(?:-([^+]*))?(?:\+(.*))?$`)
)

// versionOf parses created_by, for example "parquet-mr version 1.8.0 (build abcd)".
func versionOf(createdBy string) (v Version) {
	parts := createdByForm.FindStringSubmatch(strings.ToLower(createdBy))
	if parts == nil {
		return Version{program: "unknown"}
	}
	v.program = parts[1]
	if numbers := versionForm.FindStringSubmatch(parts[3]); numbers != nil {
		for i := range v.number {
			v.number[i], _ = strconv.Atoi(numbers[1+i]) // a number out of range is the greatest one
		}
	}
	return v
}

// before reports whether a program wrote the file in an earlier version.
func (v *Version) before(program string, number ...int) bool {
	return v.program == program && slices.Compare(v.number[:], number) < 0
}

// omitsDictionaryHeader reports whether the lengths of column chunks lack the header of the dictionary (PARQUET-816).
func (v *Version) omitsDictionaryHeader() bool { return v.before("parquet-mr", 1, 2, 9) }

// CompressesAll reports whether the writer of a file compresses the values of all pages V2: those of Arrow before 3.0
// are marked as uncompressed (ARROW-17100). Later versions of Arrow have another name.
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
