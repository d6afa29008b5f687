// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/vector"
)

// Options of indexes and what the servers accept.

// An option is an option of an index in CQL.
type option struct{ name, value string }

// A bound is what a server accepts for an option: words, numbers from low to high, or any text.
type bound struct {
	words     []string
	low, high float64
	since     []int // the first release of ScyllaDB that has the option
}

// What Cassandra accepts: StorageAttachedIndex and IndexWriterConfig of 5.0.9.
var cassandraOptions = map[string]bound{
	"optimize_for":             {words: []string{"latency", "recall"}},
	"maximum_node_connections": {low: 1, high: 512},
	"construction_beam_width":  {low: 1, high: 3200},
}

// What ScyllaDB accepts: index/vector_index.cc.
var scyllaOptions = map[string]bound{
	"maximum_node_connections": {low: 1, high: 512},
	"construction_beam_width":  {low: 1, high: 4096},
	"search_beam_width":        {low: 1, high: 4096},
	"quantization":             {words: []string{"f32", "f16", "bf16", "i8", "b1"}, since: []int{2026, 1}},
	"oversampling":             {low: 1, high: 100, since: []int{2026, 1}},
	"rescoring":                {words: []string{"true", "false"}, since: []int{2026, 1}},
	"source_model":             {since: []int{2026, 2}},
}

// maxScyllaDim is the greatest dimension of ScyllaDB's vectors.
const maxScyllaDim = 16000

// given returns the options that are fields and not zero.
func (o *IndexOptions) given() []option {
	var out []option
	add := func(name, value string, isGiven bool) {
		if isGiven {
			out = append(out, option{name, value})
		}
	}
	add("optimize_for", o.OptimizeFor, o.OptimizeFor != "")
	add("maximum_node_connections", strconv.Itoa(o.MaximumNodeConnections), o.MaximumNodeConnections != 0)
	add("construction_beam_width", strconv.Itoa(o.ConstructionBeamWidth), o.ConstructionBeamWidth != 0)
	add("search_beam_width", strconv.Itoa(o.SearchBeamWidth), o.SearchBeamWidth != 0)
	add("quantization", o.Quantization, o.Quantization != "")
	add("oversampling", strconv.FormatFloat(o.Oversampling, 'f', -1, 64), o.Oversampling != 0)
	add("rescoring", "true", o.Rescoring)
	add("source_model", o.SourceModel, o.SourceModel != "")
	return out
}

// all returns the options of the statement.
func (c *creator) all() []option {
	function, _ := functionOf(c.metric)
	out := append([]option{{"similarity_function", function}}, c.given()...)
	for _, name := range slices.Sorted(maps.Keys(c.Other)) {
		out = append(out, option{name, c.Other[name]})
	}
	return out
}

// check returns an error for what the server would refuse.
func (c *creator) check() error {
	function, err := functionOf(c.metric)
	if err != nil {
		return err
	}
	if c.metric == vector.SquaredL2 {
		c.metric = vector.L2 // as metricOf
	}
	for _, o := range c.given() {
		if err := c.table.server.checkOption(o); err != nil {
			return err
		}
		if _, ok := c.Other[o.name]; ok {
			return errorf("%w: %s is set twice, also in Other", ErrOption, o.name)
		}
	}
	if other, ok := c.Other["similarity_function"]; ok {
		return errorf("%w: similarity_function is %q in Other and %q by the metric", ErrOption, other, function)
	}
	return c.checkColumns()
}

// checkOption returns an error if the server does not have an option or does not accept its value.
func (s server) checkOption(o option) error {
	options := cassandraOptions
	if s.Scylla {
		options = scyllaOptions
	}
	b, ok := options[o.name]
	if !ok {
		return errorf("%w: %v has no option %s; it has %s", ErrOption, s, o.name, strings.Join(slices.Sorted(maps.Keys(options)), ", "))
	}
	if len(b.since) > 0 && s.Before(b.since...) {
		return errorf("%w: %v has no option %s: %d.%d is the first release with it", ErrOption, s, o.name, b.since[0], b.since[1])
	}
	if !b.accepts(o.value) {
		return errorf("%w: %s is %s: %v accepts %v", ErrOption, o.name, o.value, s, b)
	}
	return nil
}

func (b bound) accepts(value string) bool {
	if b.words != nil {
		return slices.Contains(b.words, strings.ToLower(value))
	}
	number, err := strconv.ParseFloat(value, 64)
	return b.high == 0 || err == nil && number >= b.low && number <= b.high
}

func (b bound) String() string {
	if b.words != nil {
		return strings.Join(b.words, ", ")
	}
	return fmt.Sprintf("%v to %v", b.low, b.high)
}

// checkColumns returns an error for columns that the server cannot index.
func (c *creator) checkColumns() error {
	t := c.table
	switch {
	case c.Local && !t.server.Scylla:
		return errorf("%w: %v has no local indexes", ErrOption, t.server)
	case !t.server.Scylla && t.dim == 1 && c.metric == vector.Cosine:
		return errorf("%w: %v has no cosine similarity for vectors of one element", ErrOption, t.server)
	case t.server.Scylla && t.dim > maxScyllaDim:
		return errorf("%w: %s has %d elements: %v indexes at most %d", ErrTarget, t.target, t.dim, t.server, maxScyllaDim)
	case t.server.Scylla && t.meta.Columns[t.column].Kind != cql.ColumnRegular:
		return errorf("%w: %s is %v: %v indexes regular columns", ErrTarget, t.target, t.meta.Columns[t.column].Kind, t.server)
	}
	for _, name := range c.Filter {
		if err := c.checkFilter(name); err != nil {
			return err
		}
	}
	return nil
}

// checkFilter returns an error for a column that the server cannot filter by.
func (c *creator) checkFilter(name string) error {
	t := c.table
	column := t.meta.Columns[name]
	switch {
	case column == nil:
		return errorf("%w: Filter: table %s.%s has no column %s; it has: %s", ErrOption, t.keyspace, t.table, name, strings.Join(t.meta.OrderedColumns, ", "))
	case name == t.column:
		return errorf("%w: Filter: %s is the column of vectors", ErrOption, name)
	case t.server.Scylla && column.Kind == cql.ColumnStatic:
		return errorf("%w: Filter: %s is static: %v filters by other columns", ErrOption, name, t.server)
	case t.server.Scylla && !isNative(column.Type), column.Type.Type() == cql.TypeDuration:
		return errorf("%w: Filter: %v does not filter by column %s, which is %v", ErrOption, t.server, name, column.Type)
	}
	return nil
}

// isNative reports whether a type has no parts.
func isNative(info cql.TypeInfo) bool {
	_, ok := info.(cql.NativeType)
	return ok && info.Type() != cql.TypeCounter && info.Type() != cql.TypeCustom
}
