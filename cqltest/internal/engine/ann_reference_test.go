// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// nearestReference returns the keys that a search finds: all rows of the table by their similarity, those with equal
// ones in the order of the table.
func nearestReference(t *testing.T, e *Engine, s similarity, target []byte, where string, limit int) string {
	t.Helper()
	type scored struct {
		key   string
		score float32
	}
	var rows []scored
	for _, row := range mustRun(t, e, "SELECT p, c, v FROM t"+where).Rows {
		if row[2] == nil {
			continue
		}
		score := s.of(row[2], target)
		if s == cosine && (isZero(row[2]) || isZero(target)) {
			score = zeroScore(row[2], target)
		}
		rows = append(rows, scored{fmt.Sprintf("%d | %d", readInt(row[0]), readInt(row[1])), score})
	}
	slices.SortStableFunc(rows, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var keys []string
	for _, r := range rows[:min(limit, len(rows))] {
		keys = append(keys, r.key)
	}
	return strings.Join(keys, "\n")
}

// vectorText returns a vector as CQL.
func vectorText(v []byte) string {
	parts := make([]string, len(v)/4)
	for i := range parts {
		parts[i] = fmt.Sprint(float32(element32(v, i)))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// smallVector returns a vector of 3 small elements, so that many are equal.
func smallVector(b byte) []byte {
	var v []byte
	for i := range 3 {
		v = binary.BigEndian.AppendUint32(v, math.Float32bits(float32(int(b>>(2*i)&3)-1)))
	}
	return v
}

// FuzzSearch compares searches with the reference, after writes that program has: four bytes each.
func FuzzSearch(f *testing.F) {
	f.Add([]byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"), byte(0))
	long := make([]byte, 1200)
	for i := range long {
		long[i] = byte(i * i * 7 >> 3)
	}
	for mode := range byte(12) {
		f.Add(long, mode)
	}
	f.Fuzz(func(t *testing.T, program []byte, mode byte) {
		function := []string{"cosine", "euclidean", "dot_product"}[mode%3]
		using := "sai"
		e, _ := newCassandra(t, Options{})
		if mode/3%2 == 1 {
			e, _ = newVectorStore(t, Options{VectorStore: &VectorStore{Recall: 1}})
			using = vectorClass
		}
		create := "CREATE CUSTOM INDEX i ON t (v) USING '" + using + "' WITH OPTIONS = {'similarity_function': '" + function + "'}"
		mustRun(t, e, "CREATE TABLE t (p int, c int, v vector<float, 3>, PRIMARY KEY (p, c))")
		if mode/6%2 == 0 {
			mustRun(t, e, create)
		}
		program = program[:min(len(program), 1600)]
		for ; len(program) >= 4; program = program[4:] {
			p, c, v := program[0]%4, program[1]%8, smallVector(program[2])
			if using == "sai" && isZero(v) {
				v = smallVector(1)
			}
			switch key := fmt.Sprintf("p = %d AND c = %d", p, c); program[3] % 8 {
			case 0:
				mustRun(t, e, "DELETE FROM t WHERE "+key)
			case 1:
				mustRun(t, e, "DELETE v FROM t WHERE "+key)
			case 2:
				mustRun(t, e, fmt.Sprintf("DELETE FROM t WHERE p = %d AND c > %d", p, c))
			case 3:
				mustRun(t, e, fmt.Sprintf("UPDATE t SET v = %s WHERE %s", vectorText(v), key))
			default:
				mustRun(t, e, fmt.Sprintf("INSERT INTO t (p, c, v) VALUES (%d, %d, %s)", p, c, vectorText(v)))
			}
		}
		if mode/6%2 == 1 {
			mustRun(t, e, create)
		}
		for i, q := range []byte{2, 9, 38, 63, 21} {
			target := smallVector(q)
			if using == "sai" && isZero(target) {
				continue
			}
			for _, limit := range []int{1, 3, 40} {
				where, filtering := "", ""
				if i%2 == 1 {
					where, filtering = " WHERE p = 1", " ALLOW FILTERING"
				}
				want := nearestReference(t, e, similarityOf(function), target, where, limit)
				got := show(run(t, e, fmt.Sprintf("SELECT p, c FROM t%s ORDER BY v ANN OF %s LIMIT %d%s", where, vectorText(target), limit, filtering)))
				require.Equal(t, want, got)
			}
		}
	})
}
