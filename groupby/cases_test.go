// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
)

// This file makes cases for tests: a Config, batches, and limits small enough for little data to meet everything that is done with much. The same
// code makes them of random numbers and of the bytes of a fuzzer.

// A chooser makes the choices that a case consists of: n returns one of 0 to limit-1.
type chooser interface{ n(limit int) int }

type randomChooser struct{ *rand.Rand }

func (r randomChooser) n(limit int) int { return r.IntN(limit) }

// A byteChooser chooses what bytes say, and when there are no more, at random: but the same for the same first bytes.
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

// A groupCase is something to be grouped, in one way.
type groupCase struct {
	config  Config
	limits  limits
	batches []Batch
	workers int // goroutines, each with a Worker, or 0 for Grouper.Add
}

func (gc *groupCase) String() string {
	var names []string
	for _, a := range gc.config.Aggregates {
		names = append(names, fmt.Sprint(a.Name, a.Args))
	}
	rows := 0
	for _, b := range gc.batches {
		rows += b.Rows
	}
	return fmt.Sprintf("keys %v, values %v, aggregates %v, drop %v, order %+v, limit %d, %d of %d workers, limits %+v, %d rows in %d batches", gc.config.Keys,
		gc.config.Values, names, gc.config.DropNulls, gc.config.Order, gc.config.Limit, gc.workers, gc.config.Workers, gc.limits, rows, len(gc.batches))
}

// Lists of key columns that are treated each in its own way.
var keyLists = [][]Type{
	{Int64},
	{Int64},
	{Int64},
	{Uint32},
	{Int32},
	{Float64},
	{String},
	{String},
	{String, String},
	{ID},
	{Int32, Int32},
	{Int64, Int64},
	{String, Int64},
	{Int16, Int64, Int16},
	{Bool},
	{Bool, Float32, Int8},
	{ID, String},
	{Int64, Int64, Int64},
	{String, String, String},
}

// Scenarios that would be rare otherwise: keys close to each other, and many rows of few groups before the others.
const (
	directScenario = iota
	frozenScenario
)

var directLists = [][]Type{{Int64}, {Uint64}, {Uint32}, {Int32}, {Int16, Int16}, {Bool, Uint16}}

// makeCase makes a case of about so many rows at most.
func makeCase(c chooser, maxRows int) *groupCase {
	pick := func(of ...int) int { return of[c.n(len(of))] }
	gc := &groupCase{}
	scenario := c.n(8)
	switch {
	case scenario == directScenario:
		gc.config.Keys = directLists[c.n(len(directLists))]
	case c.n(4) == 0:
		for range c.n(6) {
			gc.config.Keys = append(gc.config.Keys, scalarTypes[c.n(len(scalarTypes))])
		}
	default:
		gc.config.Keys = keyLists[c.n(len(keyLists))]
	}
	cardinality := pick(1, 2, 10, 100, 1000, 5000, 20000)
	gc.limits = defaultLimits
	gc.limits.local, gc.limits.merge = pick(1, 10, 100, 1000, 1000, defaultLimits.local), pick(0, 50, defaultLimits.merge)
	gc.limits.sample, gc.limits.fold = pick(1, 1000, defaultLimits.sample, math.MaxInt), int64(pick(0, 100, 10000, int(defaultLimits.fold)))
	gc.limits.morsel = pick(64, 2048, scatterRows, defaultLimits.morsel)
	gc.limits.blockRows, gc.limits.blockText = pick(16, 200, defaultLimits.blockRows), pick(256, defaultLimits.blockText)
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
	for i, t := range gc.config.Keys {
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
		gc.config.Values = append(gc.config.Values, t)
		values = append(values, newValueMaker(c, t))
	}
	ordered := gc.addAggregates(c, values)
	switch o := c.n(5); {
	case o == 0:
		gc.config.Order = Unordered
	case o == 1:
		gc.config.Order = ByKeys
	case o == 2 && len(ordered) > 0:
		gc.config.Order = ByAggregate(ordered[c.n(len(ordered))], c.n(2) == 0)
	}
	if c.n(3) == 0 {
		gc.config.Limit = 1 + c.n(pick(3, 50, 5000))
	}
	gc.addBatches(c, maxRows, cardinality, scenario, keys, values)
	return gc
}

// addAggregates adds some, and returns those whose values are exact, so that results can be ordered by them.
func (gc *groupCase) addAggregates(c chooser, values []*columnMaker) (exact []int) {
	add := func(a Aggregate, isExact bool) {
		if isExact {
			exact = append(exact, len(gc.config.Aggregates))
		}
		gc.config.Aggregates = append(gc.config.Aggregates, a)
	}
	for range c.n(6) {
		if len(values) == 0 || c.n(5) == 0 {
			add(Count(), true)
			continue
		}
		v := c.n(len(values))
		m := values[v]
		if c.n(3) == 0 || !m.typ.isNumber() {
			other := c.n(len(values))
			switch c.n(9) {
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
				if m.typ.isNumber() {
					add(ArgMin(v, other), true)
				}
			case 6:
				if m.typ.isNumber() {
					add(TopKOf(v, other, 3), false)
				}
			case 7:
				if m.typ.isNumber() && !m.wild {
					add(VariancePop(v), false)
				}
			default:
				add(CountOf(v), true)
			}
			continue
		}
		integer := !m.typ.isFloat()
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
			case 0: // as they come, all over
				groups[i] = c.n(cardinality)
			case 1: // skewed
				x := c.n(cardinality)
				groups[i] = x * (x + 1) / cardinality * (x + 1) / cardinality
			case 2: // new groups come late
				groups[i] = (int(start) + i) / 2 % cardinality
			case 3: // clustered
				groups[i] = (int(start) + i + c.n(10)) % cardinality
			default: // few for a long time, more and more, then only new ones
				if at := int(start) + i; at > maxRows/2 {
					groups[i] = at % cardinality
				} else {
					groups[i] = c.n(1 + cardinality*at/maxRows*at/maxRows)
				}
			}
		}
		b := Batch{Rows: n}
		if gc.workers > 0 {
			b.Start = start
		}
		start += int64(n)
		for _, m := range keys {
			b.Keys = append(b.Keys, m.column(c, groups))
		}
		for _, m := range values {
			b.Values = append(b.Values, m.column(c, groups))
		}
		gc.batches = append(gc.batches, b)
	}
	if gc.workers > 0 && c.n(2) == 0 { // not in the order of their rows
		for i := range gc.batches {
			j := c.n(i + 1)
			gc.batches[i], gc.batches[j] = gc.batches[j], gc.batches[i]
		}
	}
}

// A columnMaker makes columns of the values of a pool.
type columnMaker struct {
	typ     Type
	pool    any // a slice
	size    int
	stride  int // keys: group g has value g*stride of the pool; values: 0, any value
	nulls   int // per 100
	wild    bool
	strings []string
	dict    *Dictionary // of the pool twice
	rand    *rand.Rand
}

func newColumnMaker(c chooser, t Type, size, i, style int) *columnMaker {
	m := &columnMaker{typ: t, size: size, stride: 1 + i*(2*c.n(1000)+1), rand: rand.New(rand.NewPCG(uint64(c.n(1<<16)), 1))}
	if c.n(2) == 0 {
		m.nulls = [...]int{1, 5, 30, 100}[c.n(4)]
	}
	m.pool = makePool(m.rand, t, size, style)
	m.addDictionary()
	return m
}

// newValueMaker makes values of which sums are exact, or wild ones: great ones, infinities, NaN.
func newValueMaker(c chooser, t Type) *columnMaker {
	m := &columnMaker{typ: t, size: 64, rand: rand.New(rand.NewPCG(uint64(c.n(1<<16)), 2))}
	m.wild = c.n(3) == 0
	if c.n(2) == 0 {
		m.nulls = [...]int{1, 5, 50, 100}[c.n(4)]
	}
	switch {
	case t == Float32:
		m.pool = valueFloats[float32](m.rand, m.size, m.wild)
	case t == Float64:
		m.pool = valueFloats[float64](m.rand, m.size, m.wild)
	case m.wild:
		m.pool = makePool(m.rand, t, m.size, 3)
	default:
		m.pool = makePool(m.rand, t, m.size, 0)
	}
	m.addDictionary()
	return m
}

func (m *columnMaker) addDictionary() {
	if m.typ != String {
		return
	}
	m.strings = m.pool.([]string)
	entries := append(append([]string(nil), m.strings...), m.strings...)
	m.dict = NewDictionary(Values(entries))
	if m.rand.IntN(2) == 0 {
		m.dict = NewDictionary(textOf(entries))
	}
}

func textOf(s []string) Column {
	data := []byte("...") // the first row need not begin at 0
	offsets := []int32{3}
	for _, s := range s {
		data = append(data, s...)
		offsets = append(offsets, int32(len(data)))
	}
	return Text(data, offsets)
}

// column returns a column for rows of these groups; now and then it is a slice of a longer one.
func (m *columnMaker) column(c chooser, groups []int) Column {
	n, cut := len(groups), 0
	if n > 0 && c.n(4) == 0 {
		cut = 8 * (1 + c.n(3))
		groups = append(make([]int, cut), groups...)
	}
	at := make([]int, len(groups))
	for i, g := range groups {
		if m.stride == 0 {
			at[i] = m.rand.IntN(m.size)
		} else {
			at[i] = g * m.stride % m.size
		}
	}
	var validity []byte
	if m.nulls > 0 {
		validity = make([]byte, (len(at)+7)/8+m.rand.IntN(10))
		for i := range validity {
			validity[i] = 0xff
		}
		for i := range at {
			if m.rand.IntN(100) < m.nulls {
				validity[i/8] &^= 1 << (i % 8)
			}
		}
	}
	col := m.take(c, at, validity).WithValidity(validity)
	return col.Slice(cut, cut+n)
}

func (m *columnMaker) take(c chooser, at []int, validity []byte) Column {
	switch pool := m.pool.(type) {
	case []int8:
		return takeOf(pool, at)
	case []int16:
		return takeOf(pool, at)
	case []int32:
		return takeOf(pool, at)
	case []int64:
		return takeOf(pool, at)
	case []uint8:
		return takeOf(pool, at)
	case []uint16:
		return takeOf(pool, at)
	case []uint32:
		return takeOf(pool, at)
	case []uint64:
		return takeOf(pool, at)
	case []float32:
		return takeOf(pool, at)
	case []float64:
		return takeOf(pool, at)
	case []bool:
		return takeOf(pool, at)
	case [][16]byte:
		return takeOf(pool, at)
	}
	switch c.n(3) {
	case 0:
		codes := make([]uint32, len(at))
		for i, x := range at {
			codes[i] = uint32(x + m.rand.IntN(2)*len(m.strings))
			if validity != nil && validity[i/8]>>(i%8)&1 == 0 && m.rand.IntN(2) == 0 {
				codes[i] = math.MaxUint32 // nobody may look at it
			}
		}
		return Codes(codes, m.dict)
	case 1:
		s := make([]string, len(at))
		for i, x := range at {
			s[i] = m.strings[x]
		}
		return textOf(s)
	}
	return takeOf(m.strings, at)
}

func takeOf[T Value](pool []T, at []int) Column {
	s := make([]T, len(at))
	for i, x := range at {
		s[i] = pool[x]
	}
	return Values(s)
}

// makePool returns n values, in one of four styles: dense from 0; dense but for a few outliers; anything; extremes among small ones.
func makePool(r *rand.Rand, t Type, n, style int) any {
	switch t {
	case Int8:
		return poolInts[int8](r, n, style)
	case Int16:
		return poolInts[int16](r, n, style)
	case Int32:
		return poolInts[int32](r, n, style)
	case Int64:
		return poolInts[int64](r, n, style)
	case Uint8:
		return poolInts[uint8](r, n, style)
	case Uint16:
		return poolInts[uint16](r, n, style)
	case Uint32:
		return poolInts[uint32](r, n, style)
	case Uint64:
		return poolInts[uint64](r, n, style)
	case Float32:
		bits := []uint32{0x7fc00000, 0xffc00001, 0x7f800001, 0x80000000, 0, 0x7f800000, 0xff800000, 1}
		s := make([]float32, n)
		for i := range s {
			s[i] = float32(i)
			if style > 1 {
				s[i] = math.Float32frombits(r.Uint32())
			}
			if style > 0 && r.IntN(10) == 0 {
				s[i] = math.Float32frombits(bits[r.IntN(len(bits))])
			}
		}
		return s
	case Float64:
		bits := []uint64{0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001, 1 << 63, 0, 0x7ff0000000000000, 0xfff0000000000000, 1}
		s := make([]float64, n)
		for i := range s {
			s[i] = float64(i)
			if style > 1 {
				s[i] = math.Float64frombits(r.Uint64())
			}
			if style > 0 && r.IntN(10) == 0 {
				s[i] = math.Float64frombits(bits[r.IntN(len(bits))])
			}
		}
		return s
	case Bool:
		s := make([]bool, n)
		for i := range s {
			s[i] = i&1 != 0
		}
		return s
	case ID:
		s := make([][16]byte, n)
		for i := range s {
			for k := range s[i] {
				if style > 1 {
					s[i][k] = byte(r.Uint32())
				}
			}
			s[i][15], s[i][14], s[i][7] = byte(i), byte(i>>8), byte(i>>(style*4))
		}
		return s
	}
	lengths := [...]int{0, 1, 2, 3, 4, 5, 7, 8, 9, 14, 15, 16, 17, 33}
	length := lengths[r.IntN(len(lengths))]
	s := make([]string, n)
	for i := range s {
		if style > 0 {
			length = lengths[r.IntN(len(lengths))]
			if r.IntN(50) == 0 {
				length = 300
			}
		}
		s[i] = fmt.Sprint(strings.Repeat("/a", max(0, length-5)/2+1), i) // what is alike comes first
		s[i] = s[i][max(0, len(s[i])-length):]
		if style == 3 {
			s[i] = strings.ReplaceAll(s[i], "1", "\x00")
		}
	}
	return s
}

func poolInts[T signed | unsigned](r *rand.Rand, n, style int) []T {
	least, greatest := bounds[T]()
	extremes := []T{least, greatest, least + 1, greatest - 1, 0, 1, greatest / 2}
	base := T(0)
	if r.IntN(3) == 0 {
		base = T(r.Uint64())
	}
	s := make([]T, n)
	for i := range s {
		s[i] = base + T(i)
		switch style {
		case 0:
			s[i] = T(i)
		case 1:
			if r.IntN(500) == 0 {
				s[i] = T(r.Uint64())
			}
		case 2:
			s[i] = T(r.Uint64())
		case 3:
			if r.IntN(3) == 0 {
				s[i] = extremes[r.IntN(len(extremes))]
			}
		}
	}
	return s
}

func valueFloats[T float](r *rand.Rand, n int, wild bool) []T {
	s := make([]T, n)
	specials := []T{T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1)), T(math.Copysign(0, -1))}
	some := wild && r.IntN(2) == 0
	for i := range s {
		s[i] = T(r.IntN(16000)-8000) / 8 // any sum of these is exact
		if wild {
			s[i] = T(math.Pow(10, 30*r.Float64()-15)) // all positive: no cancellation
		}
		if some && r.IntN(10) == 0 {
			s[i] = specials[r.IntN(len(specials))]
		}
	}
	return s
}

// A met counts what was met while cases ran, to see that tests test something.
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

// A watch watches what a worker does from batch to batch.
type watch struct {
	mode    mode
	local   *folder
	direct  direct
	sampled bool // it was scattering from the first row on
}

func (s *watch) look(w *Worker, m *met) {
	old := *s
	s.mode, s.local, s.direct = w.mode, w.local, direct{}
	switch w.mode {
	case modeTable:
		m.add("table")
	case modeFrozen:
		m.add("frozen")
		for _, b := range w.out {
			if b != nil {
				m.add("frozen, strangers parted")
				break
			}
		}
	case modeScatter:
		m.add("scatter")
		switch {
		case old.mode == modeNew && w.rows == 0 && !w.half:
			s.sampled = true
			m.add("scatter by sample")
		case old.mode == modeTable:
			m.add("table left")
		case old.mode == modeFrozen:
			m.add("frozen thawed")
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

// everything is what must have been met in a run over random cases.
var everything = []string{
	"table", "frozen", "frozen, strangers parted", "scatter", "scatter by sample", "table left", "frozen thawed", "direct", "direct with NULL", "direct left",
	"direct moved", "partition compacted", "tables merged", "tables parted", "Grouper.Add by several", "overflow",
}

// run groups the case.
func (gc *groupCase) run(m *met) (*Result, error) {
	ctx := context.Background()
	g, err := New(gc.config)
	if err != nil {
		return nil, err
	}
	g.plan.limits = gc.limits
	watches := map[*Worker]*watch{}
	if gc.workers == 0 {
		for _, b := range gc.batches {
			if err := g.Add(ctx, b); err != nil {
				return nil, err
			}
			for _, w := range g.own {
				if watches[w] == nil {
					watches[w] = &watch{}
				}
				watches[w].look(w, m)
			}
		}
		if len(g.own) > 1 {
			m.add("Grouper.Add by several")
		}
	} else {
		workers := make([]*Worker, gc.workers)
		for k := range workers {
			workers[k] = g.Worker()
			watches[workers[k]] = &watch{}
		}
		err := parallel(gc.workers, func(k int) error {
			w := workers[k]
			for i := k; i < len(gc.batches); i += gc.workers {
				if err := w.Add(ctx, gc.batches[i]); err != nil {
					return err
				}
				watches[w].look(w, m)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	// States that are in partitions though no worker had any are from a compaction.
	tables, sampled := 0, true
	for _, s := range watches {
		if s.mode == modeTable {
			tables++
		}
		sampled = sampled && s.sampled
	}
	if len(watches) > 0 && sampled {
		for p := range g.store.parts {
			if g.store.parts[p].states > 0 {
				m.add("partition compacted")
				break
			}
		}
	}
	r, err := g.Finish(ctx)
	if tables > 1 && err == nil {
		if g.store.used.Load() {
			m.add("tables parted")
		} else {
			m.add("tables merged")
		}
	}
	return r, err
}
