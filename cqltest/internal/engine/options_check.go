// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Cassandra 5's checks and defaults of a table's options: the names of strategies, compressors and their options, not
// the values.

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

// complete checks the options of a statement that are maps, and adds what Cassandra adds to them. given names the
// options.
func (o *tableOptions) complete(given []string) (err error) {
	for _, name := range given {
		m, _ := o.values[name].(map[string]string)
		switch name {
		case "compaction":
			m, err = completeCompaction(m)
		case "compression":
			m, err = completeCompression(m)
		case "caching":
			m, err = completeCaching(m)
		default:
			continue
		}
		if err != nil {
			return err
		}
		o.values[name] = m
	}
	return nil
}

// known returns the last part of a class in its package; false means that there is no such class.
func known(class, prefix string, options map[string][]string) (string, bool) {
	short, ok := strings.CutPrefix(class, prefix)
	return short, ok && options[short] != nil
}

// completeCompaction checks a compaction strategy and returns it with the default thresholds.
func completeCompaction(given map[string]string) (map[string]string, error) {
	class, ok := given["class"]
	if !ok {
		return nil, configError("Missing sub-option 'class' for the 'compaction' option")
	}
	short, ok := known(class, compactionPackage, compactionOptions)
	if !ok {
		return nil, configError("Unable to find compaction strategy class '%s'", class)
	}
	allowed := slices.Concat(commonCompactionOptions, compactionOptions[short])
	if unknown := surplus(given, allowed); unknown != "" {
		return nil, configError("Properties specified [%s] are not understood by %s", unknown, short)
	}
	m := map[string]string{}
	if slices.Contains(allowed, "min_threshold") {
		m["min_threshold"], m["max_threshold"] = "4", "32"
	}
	maps.Copy(m, given)
	return m, nil
}

// surplus returns the keys of m that are not allowed, joined; "" means none.
func surplus(m map[string]string, allowed []string) string {
	return strings.Join(slices.DeleteFunc(sortedKeys(m), func(k string) bool { return slices.Contains(allowed, k) }), ", ")
}

// completeCompression checks a compressor and returns it with the default length of chunks. No options, and
// enabled = false, mean no compression.
func completeCompression(given map[string]string) (map[string]string, error) {
	if len(given) == 0 || strings.EqualFold(given["enabled"], "false") {
		return map[string]string{"enabled": "false"}, nil
	}
	m := map[string]string{"chunk_length_in_kb": "16"}
	maps.Copy(m, given)
	delete(m, "enabled")
	class, ok := m["class"]
	if !ok {
		return nil, configError("Missing sub-option 'class' for the 'compression' option.")
	}
	short, ok := known(class, compressionPackage, compressionOptions)
	if !ok {
		return nil, configError("Could not create Compression for type %s", class)
	}
	if unknown := surplus(m, slices.Concat(commonCompressionOptions, compressionOptions[short])); unknown != "" {
		return nil, configError("Unknown compression options %s", unknown)
	}
	return m, nil
}

// completeCaching checks what is cached. What the statement does not name is not cached.
func completeCaching(given map[string]string) (map[string]string, error) {
	m := map[string]string{"keys": "NONE", "rows_per_partition": "NONE"}
	if unknown := surplus(given, sortedKeys(m)); unknown != "" {
		return nil, configError("Invalid caching sub-options [%s]: only 'keys' and 'rows_per_partition' are allowed", unknown)
	}
	for name, v := range given {
		m[name] = strings.ToUpper(v)
	}
	return m, nil
}

// check makes the checks of the execution of a statement: numbers are not negative.
func (o *tableOptions) check(given []string) error {
	for _, name := range given {
		if n, ok := o.values[name].(int); ok && n < 0 {
			return configError("%s must be greater than or equal to 0 (got %d)", name, n)
		}
	}
	return nil
}

// same reports whether two tables have the same options.
func (o *tableOptions) same(p *tableOptions) bool { return reflect.DeepEqual(o.values, p.values) }
