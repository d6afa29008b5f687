// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/vecql/vecql/column"
)

// Test cases: a Config, batches, and limits so small that little data reaches every strategy. The same code makes cases
// from random numbers and from the bytes of a fuzzer.

// A chooser makes the choices of a case: n returns a number from 0 to limit-1.
type chooser interface{ n(limit int) int }

type randomChooser struct{ *rand.Rand }

func (r randomChooser) n(limit int) int { return r.IntN(limit) }

// A byteChooser takes choices from bytes, then at random with a seed derived from the first bytes.
type byteChooser struct {
	data []byte
	rest *rand.Rand
}

func newByteChooser(data []byte) *byteChooser {
	seed := uint64(1)
	for i, b := range data[:min(8, len(data))] {
		seed += uint64(b) << (8 * i)
	}
	return &byteChooser{data[min(8, len(data)):], rand.New(rand.NewPCG(seed, 0))}
}

func (b *byteChooser) n(limit int) int {
	x := 0
	for limit := limit - 1; limit > 0; limit >>= 8 {
		if len(b.data) == 0 {
			x = b.rest.IntN(math.MaxInt32)
			break
		}
		x = x<<8 | int(b.data[0])
		b.data = b.data[1:]
	}
	return x % limit
}

// A groupCase is a Config with its input and the number of workers.
type groupCase struct {
	config  Config
	limits  limits
	batches []*column.Batch
	rows    [][]int32 // the selected rows of each batch; nil means all rows of all batches
	keys    []column.Type
	values  []column.Type
	workers int // goroutines, each with a Worker; 0 means Grouper.Add
}

func (gc *groupCase) String() string {
	var names []string
	for _, a := range gc.config.Aggregates {
		names = append(names, fmt.Sprint(a.Name, " ", a.key()))
	}
	rows := 0
	for _, b := range gc.batches {
		rows += b.Rows
	}
	return fmt.Sprintf("keys %v, values %v, aggregates %v, drop %v, order %+v, limit %d, %d of %d workers, limits %+v, %d rows in %d batches",
		gc.keys, gc.values, names, gc.config.DropNulls, gc.config.Order, gc.config.Limit, gc.workers, gc.config.Workers, gc.limits, rows, len(gc.batches))
}

// Lists of key columns; each takes another path through the package.
var keyLists = [][]column.Type{
	{typeInt64},
	{typeInt64},
	{typeTimestamp},
	{typeUint32},
	{typeDate},
	{typeFloat64},
	{typeString},
	{typeString},
	{typeString, typeString},
	{typeUUID},
	{typeInt32, typeInt32},
	{typeInt64, typeInt64},
	{typeString, typeInt64},
	{typeInt16, typeInt64, typeInt16},
	{typeBool},
	{typeBool, typeFloat32, typeInt8},
	{typeUUID, typeString},
	{typeInt64, typeInt64, typeInt64},
	{typeString, typeString, typeString},
	{{Kind: column.Fixed, Width: 5}},
	{{Kind: column.Decimal256, Precision: 76}, typeBytes},
	{{Kind: column.Duration}},
	{typeFloat16, typeDecimal64},
}

// Scenarios that would otherwise be rare: keys close to each other, and many rows of few groups before the others.
const (
	directScenario = iota
	frozenScenario
)

var directLists = [][]column.Type{{typeInt64}, {typeUint64}, {typeUint32}, {typeInt32}, {typeInt16, typeInt16}, {typeBool, typeUint16}}

// makeCase makes a case of at most about maxRows rows.
func makeCase(c chooser, maxRows int) *groupCase {
	pick := func(of ...int) int { return of[c.n(len(of))] }
	gc := &groupCase{}
	scenario := c.n(8)
	switch {
	case scenario == directScenario:
		gc.keys = directLists[c.n(len(directLists))]
	case c.n(4) == 0:
		for range c.n(6) {
			gc.keys = append(gc.keys, scalarTypes[c.n(len(scalarTypes))])
		}
	default:
		gc.keys = keyLists[c.n(len(keyLists))]
	}
	cardinality := pick(1, 2, 10, 100, 1000, 5000, 20000)
	gc.limits = defaultLimits
	gc.limits.local, gc.limits.merge = pick(1, 10, 100, 1000, 1000, defaultLimits.local), pick(0, 50, defaultLimits.merge)
	gc.limits.sample, gc.limits.compactBytes = pick(1, 1000, defaultLimits.sample, math.MaxInt), int64(pick(0, 100, 10000, int(defaultLimits.compactBytes)))
	gc.limits.morsel = pick(64, 2048, scatterRows, defaultLimits.morsel)
	gc.limits.blockRows, gc.limits.blockText = pick(16, 200, defaultLimits.blockRows), pick(256, defaultLimits.blockText)
	gc.limits.prune = gc.limits.blockRows
	switch scenario {
	case directScenario:
		gc.limits.local, gc.limits.sample = defaultLimits.local, 1
	case frozenScenario:
		gc.limits.local, gc.limits.sample, gc.limits.morsel = pick(10, 100), math.MaxInt, pick(64, 2048)
	}
	gc.config.Workers = 1 + c.n(4)
	if c.n(3) == 0 {
		gc.workers = 1 + c.n(4)
	}
	gc.config.DropNulls = c.n(4) == 0
	var keys, values []*columnMaker
	for i, t := range gc.keys {
		gc.config.Keys = append(gc.config.Keys, fmt.Sprint("k", i))
		size := cardinality
		if i > 0 {
			size = 1 + c.n(cardinality)
		}
		style := c.n(4)
		if scenario == directScenario {
			style = c.n(2)
		}
		keys = append(keys, newColumnMaker(c, t, size, i, style))
	}
	for range c.n(4) {
		t := numberTypes[c.n(len(numberTypes))]
		if c.n(6) == 0 {
			t = scalarTypes[c.n(len(scalarTypes))]
		}
		gc.values = append(gc.values, t)
		values = append(values, newValueMaker(c, t))
	}
	ordered := gc.addAggregates(c, values)
	switch o := c.n(5); {
	case o == 0:
		gc.config.Order = Unordered
	case o == 1:
		gc.config.Order = ByKeys
	case o == 2 && len(ordered) > 0:
		name := gc.config.Aggregates[ordered[c.n(len(ordered))]].Name
		if gc.config.Order = Ascending(name); c.n(2) == 0 {
			gc.config.Order = Descending(name)
		}
	case o == 3 && len(gc.keys) > 1:
		gc.config.Order = Descending("k1")
	}
	if c.n(3) == 0 {
		gc.config.Limit = 1 + c.n(pick(3, 50, 5000))
	}
	gc.addBatches(c, maxRows, cardinality, scenario, keys, values)
	return gc
}

// addAggregates adds aggregates, and returns those with exact values, by which results can be ordered.
func (gc *groupCase) addAggregates(c chooser, values []*columnMaker) (exact []int) {
	add := func(a Aggregate, isExact bool) {
		if isExact {
			exact = append(exact, len(gc.config.Aggregates))
		}
		gc.config.Aggregates = append(gc.config.Aggregates, a.As(fmt.Sprint("a", len(gc.config.Aggregates))))
	}
	for range c.n(6) {
		if len(values) == 0 || c.n(5) == 0 {
			add(Count(), true)
			continue
		}
		at := c.n(len(values))
		v, m := fmt.Sprint("v", at), values[at]
		if m.typ == typeWide && c.n(2) == 0 {
			add(SumOverflow(v, OverflowWrap), true)
			continue
		}
		if m.typ == typeString && c.n(3) == 0 {
			add([]func(name, separator string) Aggregate{StringAgg, StringAggDistinct}[c.n(2)](v, ", "), true)
			continue
		}
		if c.n(3) == 0 || !isNumber(m.typ) {
			otherAt := c.n(len(values))
			other := fmt.Sprint("v", otherAt)
			switch c.n(13) {
			case 0:
				add(First(v), true)
			case 1:
				add(Last(v), true)
			case 2:
				add(CountDistinct(v), true)
			case 3:
				add(Min(v), true)
			case 4:
				add(Max(v), true)
			case 5:
				if isNumber(m.typ) {
					add(ArgMin(v, other), true)
				}
			case 6:
				if isNumber(m.typ) {
					add(TopKOf(v, other, 3), false)
				}
			case 9:
				if isNumber(m.typ) {
					add(BottomK(v, 2), false)
				}
			case 7:
				if isNumber(m.typ) && !m.wild {
					add(VariancePop(v), false)
				}
			case 10:
				if o := values[otherAt]; isNumber(m.typ) && isNumber(o.typ) && !m.wild && !o.wild {
					add(Corr(v, other), false)
				}
			case 11:
				if isNumber(m.typ) {
					add(MedianExact(v), true)
				}
			case 12:
				if isNumber(m.typ) {
					add(QuantileExact(v, 0.9), true)
				}
			default:
				add(CountOf(v), true)
			}
			continue
		}
		integer := !isFloat(m.typ.Kind)
		switch c.n(8) {
		case 0:
			add(CountOf(v), true)
		case 1:
			add(Min(v), true)
		case 2:
			add(Max(v), true)
		case 3:
			add(Mean(v), !m.wild)
		case 4:
			if integer {
				add(SumOverflow(v, OverflowFloat), !m.wild)
			} else {
				add(SumCompensated(v), !m.wild)
			}
		case 5:
			add(SumOverflow(v, OverflowWrap), integer || !m.wild)
		default:
			if m.wild && integer && c.n(3) > 0 {
				add(SumOverflow(v, OverflowWrap), true)
			} else {
				add(Sum(v), integer || !m.wild)
			}
		}
	}
	return exact
}

var batchLengths = []int{0, 1, 63, 64, 65, 500, 2047, 2048, 2049, 8191, 8192, 8193, 20000, 70000}

func (gc *groupCase) addBatches(c chooser, maxRows, cardinality, scenario int, keys, values []*columnMaker) {
	how := c.n(5)
	switch scenario {
	case directScenario:
		how = 2
	case frozenScenario:
		how = 4
	}
	start := int64(0)
	if gc.workers > 0 {
		start = int64(c.n(2) * 1000)
	}
	batches, left, most := c.n(9), maxRows, maxRows
	if scenario <= frozenScenario {
		batches, most = 12, maxRows/8
	}
	for range batches {
		n := min(left, most, batchLengths[c.n(len(batchLengths))])
		left -= n
		groups := make([]int, n)
		for i := range groups {
			switch how {
			case 0: // uniform
				groups[i] = c.n(cardinality)
			case 1: // skewed
				x := c.n(cardinality)
				groups[i] = x * (x + 1) / cardinality * (x + 1) / cardinality
			case 2: // new groups throughout
				groups[i] = (int(start) + i) / 2 % cardinality
			case 3: // clustered
				groups[i] = (int(start) + i + c.n(10)) % cardinality
			default: // few at first, then more, then new ones only
				if at := int(start) + i; at > maxRows/2 {
					groups[i] = at % cardinality
				} else {
					groups[i] = c.n(1 + cardinality*at/maxRows*at/maxRows)
				}
			}
		}
		var keyCols, valueCols []column.Column
		for _, m := range keys {
			keyCols = append(keyCols, m.column(c, groups))
		}
		for _, m := range values {
			valueCols = append(valueCols, m.column(c, groups))
		}
		b := batchOf(0, keyCols, valueCols)
		b.Rows = n
		if gc.workers > 0 {
			b.Source.FirstRow = start
		}
		start += int64(n)
		gc.batches = append(gc.batches, b)
	}
	if gc.workers > 0 && c.n(2) == 0 { // batches out of order
		for i := range gc.batches {
			j := c.n(i + 1)
			gc.batches[i], gc.batches[j] = gc.batches[j], gc.batches[i]
		}
	}
	if gc.workers > 0 && c.n(2) == 0 {
		for _, b := range gc.batches {
			gc.rows = append(gc.rows, chooseRows(c, b.Rows))
		}
	}
}

// A met counts events of the package, so that the test can require all of them.
type met struct {
	mu sync.Mutex
	n  map[string]int
}

func (m *met) add(what string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.n == nil {
		m.n = map[string]int{}
	}
	m.n[what]++
}

// A watch records the state of a worker between batches.
type watch struct {
	mode    mode
	local   *merger
	direct  direct
	sampled bool // scattering since the first row
}

func (s *watch) look(w *worker, m *met) {
	old := *s
	s.mode, s.local, s.direct = w.mode, w.local, direct{}
	switch w.mode {
	case modeTable:
		m.add("table")
	case modeFrozen:
		m.add("frozen")
		for _, b := range w.out {
			if b != nil {
				m.add("frozen, misses parted")
				break
			}
		}
	case modeScatter:
		m.add("scatter")
		switch {
		case old.mode == modeNew && w.rows == 0 && w.from == 0:
			s.sampled = true
			m.add("scatter by sample")
		case old.mode == modeTable:
			m.add("table left")
		case old.mode == modeFrozen:
			m.add("table abandoned")
		}
	}
	if w.local == nil {
		return
	}
	s.direct = w.local.t.direct
	if s.direct.ids != nil {
		m.add("direct")
		if s.direct.null != 0 {
			m.add("direct with NULL")
		}
	}
	if old.local == w.local && old.direct.ids != nil {
		switch {
		case s.direct.ids == nil:
			m.add("direct left")
		case s.direct.base != old.direct.base || len(s.direct.ids) != len(old.direct.ids):
			m.add("direct moved")
		}
	}
}

// everything lists the events that a run over random cases must produce.
var everything = []string{
	"table", "frozen", "frozen, misses parted", "scatter", "scatter by sample", "table left", "table abandoned", "direct", "direct with NULL", "direct left",
	"direct moved", "partition compacted", "tables merged", "tables parted", "Grouper.Add by several", "overflow", "selected rows",
}

// run groups the case and counts events in m.
func (gc *groupCase) run(m *met) (*column.Batch, error) {
	ctx := context.Background()
	g, err := gc.config.New()
	if err != nil {
		return nil, err
	}
	g.limits = gc.limits
	watches := map[*worker]*watch{}
	var mu sync.Mutex
	look := func(w *worker) {
		if w == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if watches[w] == nil {
			watches[w] = &watch{}
		}
		watches[w].look(w, m)
	}
	if gc.workers == 0 {
		for _, b := range gc.batches {
			if err := g.Add(ctx, b); err != nil {
				return nil, err
			}
			for _, w := range g.stages[0].own {
				look(w)
			}
			if len(g.stages[0].own) > 1 {
				m.add("Grouper.Add by several")
			}
		}
	} else {
		err := parallel(gc.workers, func(k int) error {
			w := g.Worker()
			for i := k; i < len(gc.batches); i += gc.workers {
				if err := gc.add(ctx, w, i, m); err != nil {
					return err
				}
				look(w.in)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(g.stages) == 0 {
		return g.Finish(ctx)
	}
	// If no worker had states, those in partitions are from compaction.
	tables, sampled := 0, true
	for _, s := range watches {
		if s.mode == modeTable {
			tables++
		}
		sampled = sampled && s.sampled
	}
	store := g.stages[0].store
	if len(watches) > 0 && sampled {
		for p := range store.parts {
			if store.parts[p].states > 0 {
				m.add("partition compacted")
				break
			}
		}
	}
	r, err := g.Finish(ctx)
	if tables > 1 && err == nil {
		if store.used.Load() {
			m.add("tables parted")
		} else {
			m.add("tables merged")
		}
	}
	return r, err
}
