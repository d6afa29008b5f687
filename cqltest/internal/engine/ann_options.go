// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options of vector indexes.

// vectorIndex is the part of an index that only indexes of vectors have.
type vectorIndex struct {
	created time.Time
	version [16]byte // time UUID; ScyllaDB only
	local   []string // partition key of a local index of ScyllaDB; nil means a global one
	filters []string // columns to filter by, of ScyllaDB

	similarity   similarity
	recall       bool    // optimize_for of Cassandra is RECALL
	hamming      bool    // the quantization is b1
	oversampling float64 // at least 1
	rescoring    bool

	data *annData // not a copy: it changes with the rows of the table
}

// setOptions sets the fields that depend on valid options.
func (v *vectorIndex) setOptions(options map[string]string) {
	v.similarity = similarityOf(options["similarity_function"])
	v.recall = strings.EqualFold(options["optimize_for"], "RECALL")
	quantization := strings.ToLower(options["quantization"])
	v.hamming = quantization == "b1"
	v.rescoring = strings.EqualFold(options["rescoring"], "true") && quantization != "" && quantization != "f32"
	v.oversampling = 1
	if text := options["oversampling"]; text != "" {
		v.oversampling, _ = strconv.ParseFloat(text, 64) // valid
	}
}

// scyllaVectorOptions are the options of ScyllaDB's vector indexes: the check of a value, and the first release.
var scyllaVectorOptions = map[string]struct {
	check func(name, value string) error
	since release
}{
	"similarity_function":      {oneOf("cosine", "euclidean", "dot_product"), release{}},
	"maximum_node_connections": {atMost(512), release{}},
	"construction_beam_width":  {atMost(4096), release{}},
	"search_beam_width":        {atMost(4096), release{}},
	"quantization":             {oneOf("f32", "f16", "bf16", "i8", "b1"), quantizations},
	"oversampling":             {factor(1, 100), quantizations},
	"rescoring":                {oneOf("false", "true"), quantizations},
	"source_model":             {func(string, string) error { return nil }, attachedNames},
}

// checkVectorOptions checks the options of a vector index of ScyllaDB.
func (e *Engine) checkVectorOptions(options map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		o, ok := scyllaVectorOptions[name]
		if !ok || !e.options.has(o.since) {
			return invalid("Unsupported option %s for vector index", name)
		}
		if err := o.check(name, options[name]); err != nil {
			return err
		}
	}
	return nil
}

func badOption(name, value, why string) error {
	return invalid("Invalid value in option '%s' for vector index: '%s'%s", name, value, why)
}

// oneOf returns a check of a value without regard to case.
func oneOf(values ...string) func(name, value string) error {
	return func(name, value string) error {
		if slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, value) }) {
			return nil
		}
		return badOption(name, value, ". Supported are case-insensitive: "+strings.Join(values, ", "))
	}
}

// atMost returns a check of an integer from 1 to most.
func atMost(most int) func(name, value string) error {
	return func(name, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil {
			return badOption(name, value, " is not an integer")
		}
		if n < 1 || n > most {
			return badOption(name, value, " is out of valid range [1 - "+strconv.Itoa(most)+"]")
		}
		return nil
	}
}

// factor returns a check of a number from least to most.
func factor(least, most float64) func(name, value string) error {
	return func(name, value string) error {
		f, err := strconv.ParseFloat(value, 32)
		if err != nil {
			return badOption(name, value, " is not a float")
		}
		if !(f >= least && f <= most) {
			return badOption(name, value, " is out of valid range ["+strconv.FormatFloat(least, 'g', -1, 64)+" - "+
				strconv.FormatFloat(most, 'g', -1, 64)+"]")
		}
		return nil
	}
}

// minCaptureTTL is the least TTL of change data capture in seconds that a vector index accepts.
const minCaptureTTL = 24 * 60 * 60

// checkCapture returns an error if the options of a table switch change data capture off, or keep too little of it for
// a vector index. A vector index switches it on if there are no options.
func (o *tableOptions) checkCapture() error {
	cdc, ok := o.values["cdc"].(map[string]string)
	if !ok {
		return nil
	}
	if enabled, ok := cdc["enabled"]; ok && !strings.EqualFold(enabled, "true") {
		return invalid("Cannot create the vector index when CDC is explicitly disabled.\n"+
			"Please enable CDC with the required parameters first.\n"+
			"CDC's TTL must be at least %d seconds (24 hours), and the CDC's delta mode must be set to 'full' or postimage "+
			"must be enabled to enable Vector Search.", minCaptureTTL)
	}
	ttl, err := strconv.Atoi(cdc["ttl"])
	short := cdc["ttl"] != "" && (err != nil || ttl != 0 && ttl < minCaptureTTL)
	keys := strings.EqualFold(cdc["delta"], "keys") && !strings.EqualFold(cdc["postimage"], "true")
	if short || keys {
		return invalid("To enable Vector Search on this table, the CDC log must meet the minimal requirements for external "+
			"indexes.\nCDC's TTL must be at least %d seconds (24 hours), and the CDC's delta mode must be set to 'full' or "+
			"postimage must be enabled.", minCaptureTTL)
	}
	return nil
}
