// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Count is a number of copies. Transient copies, included in All, store data only while a full copy cannot be
// reached: "3/1" is three copies, one of them transient.
type Count struct{ All, Transient int }

// A Strategy is the replication of a keyspace.
type Strategy struct {
	Class   string           // without package
	Factor  Count            // of SimpleStrategy
	Factors map[string]Count // of NetworkTopologyStrategy, by data center
}

// ParseStrategy parses the map "replication" of system_schema.keyspaces. An option that cannot be parsed counts as no
// replicas. A rack of a list of ScyllaDB counts as one replica.
func ParseStrategy(options map[string]string) Strategy {
	class := options["class"]
	s := Strategy{Class: class[strings.LastIndexByte(class, '.')+1:], Factors: map[string]Count{}}
	for k, v := range options {
		if k == "class" {
			continue
		}
		if dc, isRack := RackOption(k); isRack {
			if v != "" {
				s.Factors[dc] = Count{All: s.Factors[dc].All + 1}
			}
			continue
		}
		all, transient, found := strings.Cut(v, "/")
		var n Count
		var err error
		if n.All, err = parseCount(all); err == nil && found {
			n.Transient, err = parseCount(transient)
		}
		if err != nil || n.Transient < 0 || n.All < n.Transient {
			continue
		}
		if k == "replication_factor" {
			s.Factor = n
		} else {
			s.Factors[k] = n
		}
	}
	return s
}

// RackOption returns the data center of an option that names one of its racks. ScyllaDB stores a list of racks,
// {'dc': ['a', 'b']}, as {'dc:0': 'a', 'dc:1': 'b'}, and an empty list as {'dc:-1': ”} (its
// docs/dev/system_schema_keyspace.md).
func RackOption(name string) (dc string, ok bool) {
	at := strings.LastIndexByte(name, ':')
	if at < 0 {
		return "", false
	}
	_, err := strconv.Atoi(name[at+1:])
	return name[:at], err == nil
}

// Key returns a text that is equal for strategies with equal placement.
func (s Strategy) Key() string {
	dcs := make([]string, 0, len(s.Factors))
	for dc, n := range s.Factors {
		dcs = append(dcs, strconv.Quote(dc)+"="+n.String())
	}
	slices.Sort(dcs)
	return s.Class + " " + s.Factor.String() + " " + strings.Join(dcs, " ")
}

// String returns e.g. "3" or "3/1".
func (n Count) String() string {
	if n.Transient == 0 {
		return strconv.Itoa(n.All)
	}
	return strconv.Itoa(n.All) + "/" + strconv.Itoa(n.Transient)
}

// full returns how many of the taken members always store data. taken is less than All if there are too few members.
func (n Count) full(taken int) int {
	missing := n.All - taken // missing copies count as transient first
	return taken - max(0, n.Transient-missing)
}

// parseCount parses a number of replicas; one that exceeds an int, of 32 bits on some machines, is the greatest int.
func parseCount(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	return int(max(math.MinInt, min(n, math.MaxInt))), err
}
