// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Cassandra 5's checks and defaults of a table's options.

const compressionPackage = "org.apache.cassandra.io.compress."

// compactionOptions are the options of compaction strategies besides those that all have.
var compactionOptions = map[string][]string{
	"SizeTieredCompactionStrategy": {"min_sstable_size", "bucket_low", "bucket_high", "min_threshold", "max_threshold"},
	"LeveledCompactionStrategy": {
		"sstable_size_in_mb", "fanout_size", "single_sstable_uplevel", "min_threshold", "max_threshold",
	},
	"TimeWindowCompactionStrategy": {
		"compaction_window_unit", "compaction_window_size", "timestamp_resolution", "min_sstable_size", "bucket_low",
		"bucket_high", "expired_sstable_check_frequency_seconds", "unsafe_aggressive_sstable_expiration", "min_threshold",
		"max_threshold",
	},
	"UnifiedCompactionStrategy": {
		"scaling_parameters", "target_sstable_size", "min_sstable_size", "base_shard_count", "flush_size_override",
		"overlap_inclusion_method", "sstable_growth", "parallelize_output_shards",
		"expired_sstable_check_frequency_seconds", "unsafe_aggressive_sstable_expiration",
	},
}

var commonCompactionOptions = []string{
	"class", "enabled", "tombstone_threshold", "tombstone_compaction_interval", "unchecked_tombstone_compaction",
	"only_purge_repaired_tombstones", "provide_overlapping_tombstones", "log_all",
}

// compressionOptions are the options of compressors besides those that all have.
var compressionOptions = map[string][]string{
	"LZ4Compressor": {"lz4_compressor_type", "lz4_high_compressor_level"}, "SnappyCompressor": {}, "DeflateCompressor": {},
	"ZstdCompressor": {"compression_level"}, "NoopCompressor": {},
}

var commonCompressionOptions = []string{"class", "chunk_length_in_kb", "min_compress_ratio"}

// complete checks and completes options as Cassandra does when it prepares a statement. given names them.
func (o *tableOptions) complete(given []string) error {
	for _, name := range given {
		var err error
		switch name {
		case "compaction":
			_, err = o.strategy()
		case "compression":
			err = o.checkCompression()
		case "caching":
			err = o.checkCaching()
		case "memtable":
			if v := o.values[name]; v != "default" {
				return configError("Memtable configuration \"%s\" not found.", v)
			}
			delete(o.values, name)
		case "speculative_retry", "additional_write_policy":
			o.values[name], err = canonicalRetry(o.values[name].(string))
		case "read_repair":
			if v := strings.ToUpper(o.values[name].(string)); v != "BLOCKING" && v != "NONE" {
				err = configError("Invalid value %s for option 'read_repair'", v)
			} else {
				o.values[name] = v
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// check makes the checks of the execution of a statement, in the order of its options.
func (o *tableOptions) check(given []string) error {
	for _, name := range given {
		var err error
		if n, ok := o.values[name].(int); ok && n < 0 {
			return configError("%s must be greater than or equal to 0 (got %d)", name, n)
		}
		switch name {
		case "bloom_filter_fp_chance":
			err = o.checkFalsePositives()
		case "crc_check_chance":
			if f := o.values[name].(float64); f < 0 || f > 1 {
				err = configError("%s must be larger than or equal to 0 and smaller than or equal to 1.0 (got %s)", name,
					formatFloat(f, 64))
			}
		case "compaction":
			err = o.checkCompaction(slices.Contains(given, "bloom_filter_fp_chance"))
		case "min_index_interval", "max_index_interval":
			err = o.checkIntervals()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *tableOptions) checkFalsePositives() error {
	const name, least = "bloom_filter_fp_chance", 6.71e-5
	f := o.values[name].(float64)
	if f == -1 { // means the default
		o.values[name] = defaultOptions().values[name]
		return nil
	}
	if f <= least || f > 1 {
		return configError("%s must be larger than 6.71E-5 and less than or equal to 1.0 (got %s)", name, formatFloat(f, 64))
	}
	return nil
}

// known returns the last part of a class in its package; false means that there is no such class.
func known(class, prefix string, options map[string][]string) (string, bool) {
	short, ok := strings.CutPrefix(class, prefix)
	return short, ok && options[short] != nil
}

// strategy returns the name of the compaction strategy.
func (o *tableOptions) strategy() (string, error) {
	class, ok := o.values["compaction"].(map[string]string)["class"]
	if !ok {
		return "", configError("Missing sub-option 'class' for the 'compaction' option")
	}
	short, ok := known(class, compactionPackage, compactionOptions)
	if !ok {
		return "", configError("Unable to find compaction strategy class '%s'", class)
	}
	return short, nil
}

// checkCompaction checks the strategy and adds its defaults. keep means that the statement sets the Bloom filter.
func (o *tableOptions) checkCompaction(keep bool) error {
	short, err := o.strategy()
	if err != nil {
		return err
	}
	m := maps.Clone(o.values["compaction"].(map[string]string))
	allowed := slices.Concat(commonCompactionOptions, compactionOptions[short])
	if unknown := surplus(m, allowed); unknown != "" {
		return configError("Properties specified [%s] are not understood by %s", unknown, short)
	}
	if err := checkCompactionValues(m); err != nil {
		return err
	}
	if slices.Contains(allowed, "min_threshold") {
		if err := completeThresholds(m); err != nil {
			return err
		}
	}
	if short == "LeveledCompactionStrategy" && !keep {
		o.values["bloom_filter_fp_chance"] = 0.1
	}
	o.values["compaction"] = m
	return nil
}

// checkCompactionValues checks the values of the options of a strategy, except thresholds.
func checkCompactionValues(m map[string]string) error {
	if v, ok := m["tombstone_threshold"]; ok {
		if f, err := strconv.ParseFloat(v, 32); err == nil && f <= 0 {
			return configError("tombstone_threshold must be greater than 0, but was %f", f)
		}
	}
	if v, ok := m["compaction_window_unit"]; ok && !slices.Contains([]string{"MINUTES", "HOURS", "DAYS"}, v) {
		return configError("%s is not valid for compaction_window_unit", v)
	}
	if v, ok := m["compaction_window_size"]; ok {
		if n, err := strconv.Atoi(v); err == nil && n < 1 {
			return configError("%d must be greater than 1 for compaction_window_size", n)
		}
	}
	if v, ok := m["sstable_size_in_mb"]; ok {
		if _, err := strconv.Atoi(v); err != nil {
			return configError("%s is not a parsable int (base10) for sstable_size_in_mb", v)
		}
	}
	if v, ok := m["enabled"]; ok && !strings.EqualFold(v, "true") && !strings.EqualFold(v, "false") {
		return configError("enabled should either be 'true' or 'false', not %s", v)
	}
	if v, ok := m["scaling_parameters"]; ok {
		if err := checkScaling(v); err != nil {
			return err
		}
	}
	if n, err := strconv.Atoi(m["base_shard_count"]); err == nil && n < 1 {
		return configError("Invalid configuration, base_shard_count should be positive: %d", n)
	}
	if v, ok := m["target_sstable_size"]; ok && !strings.HasSuffix(v, "B") {
		return configError("target_sstable_size %s is not a valid size in bytes: %s does not end in unit B", v, v)
	}
	for _, name := range []string{"bucket_low", "bucket_high"} {
		if v, ok := m[name]; ok {
			if _, err := strconv.ParseFloat(v, 64); err != nil {
				return configError("%s is not a parsable float for %s", v, name)
			}
		}
	}
	return nil
}

// scaling is the form of one parameter of UnifiedCompactionStrategy.
var scaling = regexp.MustCompile(`^(N|L[0-9]+|T[0-9]+|[+-]?[0-9]+)$`)

// checkScaling checks scaling_parameters: a list such as T4, N, L10, -8.
func checkScaling(list string) error {
	parts := strings.Split(list, ",")
	for len(parts) > 1 && parts[len(parts)-1] == "" { // as Java splits
		parts = parts[:len(parts)-1]
	}
	for _, p := range parts {
		p = strings.TrimSpace(p)
		if !scaling.MatchString(p) {
			return configError("Scaling parameter %s must match N|L[0-9]+|T[0-9]+|[+-]?[0-9]+", p)
		}
		if p == "N" {
			continue
		}
		digits := strings.TrimLeft(p, "LT")
		n, err := strconv.ParseInt(digits, 10, 32)
		if err != nil {
			return configError("%sUnifiedCompactionStrategy.validateOptions() threw an error: java.lang.NumberFormatException "+
				"For input string: \"%s\"", compactionPackage, digits)
		}
		if digits != p && n < 2 {
			return configError("Fan factor cannot be lower than 2 in %s", p)
		}
	}
	return nil
}

// completeThresholds adds the default thresholds of compaction, and checks them.
func completeThresholds(m map[string]string) error {
	limits := [2]int{4, 32}
	for i, name := range []string{"min_threshold", "max_threshold"} {
		if m[name] == "" {
			m[name] = strconv.Itoa(limits[i])
		}
		n, err := strconv.Atoi(m[name])
		if err != nil {
			return configError("Invalid value %s for '%s' compaction sub-option - must be an integer", m[name], name)
		}
		limits[i] = n
	}
	switch {
	case limits[0] < 2:
		return configError("Min compaction threshold cannot be less than 2 (got %d)", limits[0])
	case limits[0] > limits[1]:
		return configError("Min compaction threshold (got %d) cannot be greater than max compaction threshold (got %d)",
			limits[0], limits[1])
	}
	return nil
}

// surplus returns the keys of m that are not allowed, joined; "" means none.
func surplus(m map[string]string, allowed []string) string {
	return strings.Join(slices.DeleteFunc(sortedKeys(m), func(k string) bool { return slices.Contains(allowed, k) }), ", ")
}

// checkCompression checks the compressor and adds its defaults. No options, and enabled = false, mean no compression.
func (o *tableOptions) checkCompression() error {
	m := maps.Clone(o.values["compression"].(map[string]string))
	enabled, ok := m["enabled"]
	if delete(m, "enabled"); len(m) == 0 && !ok || strings.EqualFold(enabled, "false") {
		o.values["compression"] = map[string]string{"enabled": "false"}
		return nil
	}
	class, ok := m["class"]
	if !ok {
		return configError("Missing sub-option 'class' for the 'compression' option.")
	}
	short, ok := known(class, compressionPackage, compressionOptions)
	if !ok {
		return configError("Could not create Compression for type %s", class)
	}
	if unknown := surplus(m, slices.Concat(commonCompressionOptions, compressionOptions[short])); unknown != "" {
		return configError("Unknown compression options %s", unknown)
	}
	if v, ok := m["lz4_compressor_type"]; ok && v != "fast" && v != "high" {
		return configError("Invalid compressor type '%s' specified for LZ4 parameter 'lz4_compressor_type'. "+
			"Valid options are [high, fast].", v)
	}
	if err := completeRatio(m); err != nil {
		return err
	}
	if v, ok := m["compression_level"]; ok {
		n, err := strconv.ParseInt(v, 10, 32)
		if err != nil {
			return configError("ZstdCompressor.create() threw an error: java.lang.NumberFormatException For input string: \"%s\"", v)
		}
		if n < -(1<<17) || n > 22 {
			return configError("ZstdCompressor.create() threw an error: java.lang.IllegalArgumentException "+
				"compression_level=%s is invalid", v)
		}
	}
	if m["chunk_length_in_kb"] == "" {
		m["chunk_length_in_kb"] = "16"
	}
	switch n, err := strconv.Atoi(m["chunk_length_in_kb"]); {
	case err != nil:
		return configError("Invalid value for chunk_length_in_kb")
	case n <= 0 || n&(n-1) != 0:
		return configError("chunk_length_in_kb must be a power of 2")
	}
	o.values["compression"] = m
	return nil
}

// completeRatio checks min_compress_ratio and spells it as Cassandra stores it. 0 means none.
func completeRatio(m map[string]string) error {
	const name = "min_compress_ratio"
	v, ok := m[name]
	if !ok {
		return nil
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	switch {
	case v == "":
		return &Error{Code: CodeServer, Message: "java.lang.NumberFormatException: empty String"}
	case err != nil && !math.IsInf(f, 0):
		return &Error{Code: CodeServer, Message: "java.lang.NumberFormatException: For input string: \"" + v + "\""}
	case f < 0:
		return configError("Invalid negative %s", name)
	case f > 0 && f < 1:
		return configError("%s can either be 0 or greater than or equal to 1", name)
	}
	if m[name] = formatFloat(f, 64); f == 0 {
		delete(m, name)
	}
	return nil
}

// checkCaching checks what is cached. What the statement does not name is not cached.
func (o *tableOptions) checkCaching() error {
	m := map[string]string{"keys": "NONE", "rows_per_partition": "NONE"}
	given := o.values["caching"].(map[string]string)
	if unknown := surplus(given, sortedKeys(m)); unknown != "" {
		return configError("Invalid caching sub-options [%s]: only 'keys' and 'rows_per_partition' are allowed", unknown)
	}
	for name, v := range given {
		upper := strings.ToUpper(v)
		_, err := strconv.Atoi(v)
		switch {
		case upper == "ALL" || upper == "NONE":
		case name == "keys":
			return configError("Invalid value '%s' for caching sub-option 'keys': only 'ALL' and 'NONE' are allowed", v)
		case err != nil:
			return configError("Invalid value '%s' for caching sub-option 'rows_per_partition': only 'ALL', 'NONE', "+
				"and integer values are allowed", v)
		}
		m[name] = upper
	}
	o.values["caching"] = m
	return nil
}

func (o *tableOptions) checkIntervals() error {
	low, high := o.values["min_index_interval"].(int), o.values["max_index_interval"].(int)
	if low < 1 {
		return configError("min_index_interval must be greater than or equal to 1 (got %d)", low)
	}
	if high < low {
		return configError("max_index_interval must be greater than or equal to min_index_interval (%d) (got %d)", low, high)
	}
	return nil
}

// same reports whether two tables have the same options.
func (o *tableOptions) same(p *tableOptions) bool { return reflect.DeepEqual(o.values, p.values) }
