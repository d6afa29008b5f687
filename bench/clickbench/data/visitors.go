// SPDX-License-Identifier: Apache-2.0

package data

import (
	"fmt"
	"math"

	groups "github.com/vecql/vecql/bench/groupby/data"
)

// Visitors: users with the properties that their hits share.

const (
	// literalUser is the UserID of query 20, of one session on literalDay on literalCounter.
	literalUser = 435090932899640449
	literalDay  = 14
	robots      = 100
)

// A visitor is a user: bits select the properties.
type visitor struct {
	id64 int64
	ip   int32 // two users share an address
	bits uint64
}

// anyVisitor returns a visitor by a random number in [0, 1). There is one visitor for three rows, and low numbers are
// more frequent.
func anyVisitor(o Options, u float64) visitor {
	return newVisitor(o, robots+uint64(float64(o.Rows)*0.35*u*math.Sqrt(u)))
}

func newVisitor(o Options, number uint64) visitor {
	h := hash(o.Seed+2, number)
	return visitor{id64: int64(h >> 1), ip: int32(hash(o.Seed+3, number/2)), bits: groups.Mix(h)}
}

func literalVisitor(o Options) visitor {
	v := newVisitor(o, 0)
	v.id64 = literalUser
	return v
}

// part returns the i-th property's random bits.
func (v *visitor) part(i uint64) uint64 { return hash(v.bits, i) }

const regions = 9000

// region returns one of 9,000 regions; the first one has a tenth of the users.
func (v *visitor) region() int32 {
	u := unit(v.part(0))
	u *= u
	return 1 + int32(groups.Mix(uint64(regions*u*u))%100_000)
}

var (
	widths = choose([]int16{1366, 1280, 1920, 1024, 1440, 1600, 1680, 1152, 1360, 2560, 800, 320, 0},
		58, 44, 52, 20, 18, 22, 20, 6, 4, 4, 2, 3)
	heights = choose([]int16{768, 1024, 1080, 600, 900, 1050, 1200, 480, 0}, 70, 50, 60, 8, 40, 20, 2, 4)
	systems = choose([]int16{44, 2, 3, 42, 98, 7, 110, 17, 0}, 90, 70, 40, 20, 12, 8, 6, 6)
	agents  = choose([]int16{7, 5, 3, 2, 82, 42, 33, 1, 4}, 90, 50, 40, 30, 16, 14, 8, 4)
	ages    = choose([]int16{31, 22, 39, 26, 50, 16, 55, 0}, 50, 40, 40, 30, 16, 10, 6)
	zones   = choose([]int16{135, 157, 181, 3, 124, -1}, 140, 50, 30, 16, 12)
	tongues = choose([]string{"ru", "uk", "en", "be", "kk", "de"}, 200, 20, 16, 8, 8)
)

func (v *visitor) width() int16 { return widths[v.part(1)&255] }

func (v *visitor) height() int16 { return heights[v.part(2)&255] }

// mobile returns the number of a phone's maker; most users have none.
func (v *visitor) mobile() int16 {
	h := v.part(3)
	if h%20 != 0 {
		return 0
	}
	u := unit(h)
	return 1 + int16(80*u*u*u)
}

var models = func() []string {
	names := []string{
		"iPad", "iPhone", "A500", "N8-00", "iPho",
		"ONE TOUCH 6030A", "GT-P7300B", "3110000", "GT-I9500", "eagle75",
	}
	makers := []string{"GT-", "XT", "LG-P", "HTC Desire ", "Lumia ", "ST", "Nexus ", "IdeaTab A"}
	for i := range 150 {
		names = append(names, fmt.Sprintf("%s%04d", makers[i%len(makers)], hash(7, uint64(i))%10_000))
	}
	return names
}()

// model returns the phone's model, which is unknown for one phone in eight.
func (v *visitor) model() string {
	h := v.part(4)
	if v.mobile() == 0 || h%8 == 0 {
		return ""
	}
	u := unit(h)
	return models[int(float64(len(models))*u*u*u)]
}
