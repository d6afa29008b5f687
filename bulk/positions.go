// SPDX-License-Identifier: Apache-2.0

package bulk

import "slices"

// Sets of row numbers.

// An interval is the numbers from the first one up to but not including the second.
type interval [2]int64

// An intervals is a set of numbers as sorted intervals with gaps between them.
type intervals []interval

// add adds the numbers from i up to but not including j.
func (s *intervals) add(i, j int64) {
	if i >= j {
		return
	}
	set := *s
	// the intervals from first up to but not including last touch the new one
	first := len(set)
	if first > 0 && i <= set[first-1][1] { // most numbers come at the end
		first, _ = slices.BinarySearchFunc(set, i, func(v interval, i int64) int {
			if v[1] < i {
				return -1
			}
			return 1
		})
	}
	last := first
	for last < len(set) && set[last][0] <= j {
		last++
	}
	if first == last {
		*s = slices.Insert(set, first, interval{i, j})
		return
	}
	set[first] = interval{min(i, set[first][0]), max(j, set[last-1][1])}
	*s = slices.Delete(set, first+1, last)
}

// without returns the numbers of the set that the other one does not have.
func (s intervals) without(other intervals) (rest intervals) {
	for _, v := range s {
		for _, o := range other {
			if o[1] <= v[0] || o[0] >= v[1] {
				continue
			}
			rest.add(v[0], o[0])
			v[0] = min(o[1], v[1])
		}
		rest.add(v[0], v[1])
	}
	return rest
}

// count returns how many numbers from i up to but not including j the set contains.
func (s intervals) count(i, j int64) (n int64) {
	for _, v := range s {
		n += max(0, min(j, v[1])-max(i, v[0]))
	}
	return n
}

// has reports whether the set contains n.
func (s intervals) has(n int64) bool {
	_, ok := s.find(n)
	return ok
}

// find returns the interval with n.
func (s intervals) find(n int64) (interval, bool) {
	at, _ := slices.BinarySearchFunc(s, n, func(v interval, n int64) int {
		if v[1] <= n {
			return -1
		}
		return 1
	})
	if at < len(s) && s[at][0] <= n {
		return s[at], true
	}
	return interval{}, false
}

// valid reports whether the intervals are sorted, not empty, and have gaps between them.
func (s intervals) valid() bool {
	for i, v := range s {
		if v[0] < 0 || v[0] >= v[1] || i > 0 && v[0] <= s[i-1][1] {
			return false
		}
	}
	return true
}
