// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Options of keyspaces and tables.

// tableOptions are the options of a table, as in system_schema.tables. Only the default time to live has an effect.
type tableOptions struct {
	values     map[string]any
	defaultTTL int32
}

// optionKind is the kind of value that an option requires.
type optionKind uint8

const (
	textOption optionKind = iota
	intOption
	doubleOption
	boolOption
	mapOption
)

// tableOptionKinds are the options of WITH in CREATE TABLE and ALTER TABLE.
var tableOptionKinds = map[string]optionKind{
	"additional_write_policy": textOption, "allow_auto_snapshot": boolOption, "bloom_filter_fp_chance": doubleOption,
	"caching": mapOption, "cdc": boolOption, "comment": textOption, "compaction": mapOption, "compression": mapOption,
	"crc_check_chance": doubleOption, "dclocal_read_repair_chance": doubleOption, "default_time_to_live": intOption,
	"extensions": mapOption, "gc_grace_seconds": intOption, "id": textOption, "incremental_backups": boolOption,
	"max_index_interval": intOption, "memtable": textOption, "memtable_flush_period_in_ms": intOption,
	"min_index_interval": intOption, "read_repair": textOption, "read_repair_chance": doubleOption,
	"speculative_retry": textOption,
	// ScyllaDB's options.
	"tombstone_gc": mapOption, "per_partition_rate_limit": mapOption, "paxos_grace_seconds": intOption,
	"synchronous_updates": boolOption, "tablets": mapOption,
}

const compactionPackage = "org.apache.cassandra.db.compaction."

// defaultOptions returns the options that a table has in Cassandra 5 without WITH.
func defaultOptions() tableOptions {
	return tableOptions{values: map[string]any{
		"additional_write_policy": "99p", "bloom_filter_fp_chance": 0.01,
		"caching": map[string]string{"keys": "ALL", "rows_per_partition": "NONE"}, "comment": "",
		"compaction": map[string]string{
			"class": compactionPackage + "SizeTieredCompactionStrategy", "max_threshold": "32", "min_threshold": "4",
		},
		"compression": map[string]string{
			"chunk_length_in_kb": "16",
			"class":              "org.apache.cassandra.io.compress.LZ4Compressor",
		},
		"crc_check_chance": 1.0, "dclocal_read_repair_chance": 0.0, "default_time_to_live": 0,
		"extensions": map[string]string{}, "gc_grace_seconds": 864000, "max_index_interval": 2048,
		"memtable_flush_period_in_ms": 0, "min_index_interval": 128, "read_repair": "BLOCKING", "read_repair_chance": 0.0,
		"speculative_retry": "99p",
	}}
}

// scyllaOptions are the options that Cassandra 5 does not have.
var scyllaOptions = []string{
	"tombstone_gc", "per_partition_rate_limit", "paxos_grace_seconds", "synchronous_updates", "read_repair_chance",
	"dclocal_read_repair_chance", "tablets",
}

// set applies options of a statement. It copies the map of o first. ScyllaDB's options are taken as they are.
func (o *tableOptions) set(options cql.Options, t *table, scylla bool) error {
	given, err := o.build(options, scylla)
	if err != nil {
		return err
	}
	if ttl, ok := o.values["default_time_to_live"].(int); ok && slices.Contains(given, "default_time_to_live") {
		if ttl < 0 {
			return configError("default_time_to_live must be greater than or equal to 0 (got %d)", ttl)
		}
		if ttl > maxTTL {
			return configError("default_time_to_live must be less than or equal to %d (got %d)", maxTTL, ttl)
		}
		if ttl > 0 && t.counter {
			return invalid("Cannot set default_time_to_live on a table with counters")
		}
		o.defaultTTL = int32(ttl)
	}
	if scylla {
		return nil
	}
	return o.check(given)
}

// build applies options with the checks that Cassandra makes when it prepares the statement, and returns their names.
func (o *tableOptions) build(options cql.Options, scylla bool) (given []string, err error) {
	o.values = maps.Clone(o.values)
	for _, opt := range options {
		given = append(given, opt.Name)
		kind, ok := tableOptionKinds[opt.Name]
		if !ok || !scylla && slices.Contains(scyllaOptions, opt.Name) {
			return nil, unknownProperty(opt.Name)
		}
		if scylla && opt.Name == "cdc" {
			kind = mapOption
		}
		if o.values[opt.Name], err = kind.value(opt); err != nil {
			return nil, err
		}
	}
	if scylla {
		return given, nil
	}
	return given, o.complete(given)
}

func unknownProperty(name string) error { return syntaxError("Unknown property '%s'", name) }

// value returns the value of an option.
func (k optionKind) value(opt cql.Option) (any, error) {
	switch {
	case k == mapOption && opt.Map == nil:
		return nil, syntaxError("Invalid value for property '%s'. It should be a map.", opt.Name)
	case k != mapOption && opt.Map != nil:
		return nil, syntaxError("Invalid value for property '%s'. It should be a string", opt.Name)
	}
	switch k {
	case mapOption:
		return shortenClass(opt), nil
	case intOption:
		n, err := strconv.ParseInt(opt.Value, 10, 32)
		if err != nil {
			return nil, syntaxError("Invalid integer value %s for '%s'", opt.Value, opt.Name)
		}
		return int(n), nil
	case doubleOption:
		f, err := strconv.ParseFloat(opt.Value, 64)
		if err != nil {
			return nil, syntaxError("Invalid double value %s for '%s'", opt.Value, opt.Name)
		}
		return f, nil
	case boolOption:
		switch strings.ToLower(opt.Value) {
		case "true", "1", "yes":
			return true, nil
		case "false", "0", "no":
			return false, nil
		}
		return nil, syntaxError("Invalid boolean value %s for '%s'. Positive values can be '1', 'true' or 'yes'. "+
			"Negative values can be '0', 'false' or 'no'.", opt.Value, opt.Name)
	}
	return opt.Value, nil
}

// shortenClass returns the class of an option with its package.
func shortenClass(opt cql.Option) map[string]string {
	m := maps.Clone(opt.Map)
	packages := map[string]string{"compaction": compactionPackage, "compression": compressionPackage}
	if c, ok := m["class"]; ok && !strings.Contains(c, ".") {
		m["class"] = packages[opt.Name] + c
	}
	return m
}

// checkKeyspaceOptions makes the checks of WITH that precede the checks of the keyspace. create means CREATE
// KEYSPACE.
func (c *changer) checkKeyspaceOptions(options cql.Options, create bool) error {
	replication := c.e.options.Scylla || !create
	for _, opt := range options {
		switch opt.Name {
		case "replication":
			replication = true
			if opt.Map == nil {
				return syntaxError("Invalid value for property 'replication'. It should be a map.")
			}
			if _, ok := opt.Map["class"]; !ok && !c.e.options.Scylla {
				return configError("Missing replication strategy class")
			}
		case "durable_writes":
		case "tablets", "storage", "consistency":
			if !c.e.options.Scylla {
				return unknownProperty(opt.Name)
			}
		default:
			return unknownProperty(opt.Name)
		}
	}
	if !replication {
		return invalid("Missing mandatory option 'replication'")
	}
	return nil
}

// keyspaceOptions applies WITH of CREATE KEYSPACE or ALTER KEYSPACE.
func (c *changer) keyspaceOptions(k *keyspace, options cql.Options) error {
	for _, opt := range options {
		switch opt.Name {
		case "replication":
			k.replication = maps.Clone(opt.Map)
			if err := c.replication(k, k.replication); err != nil {
				return err
			}
		case "durable_writes":
			k.durable = !strings.EqualFold(opt.Value, "false")
		case "tablets":
			k.vnodes = strings.EqualFold(opt.Map["enabled"], "false")
			k.initial, _ = strconv.Atoi(opt.Map["initial"])
		case "consistency":
			if old := c.s.keyspaces[k.name]; old != nil && old.consistency != opt.Value {
				return invalid("Cannot alter consistency option")
			}
			k.consistency = opt.Value
		}
	}
	if k.replication == nil { // ScyllaDB's default
		k.replication = map[string]string{"class": networkStrategy}
	}
	return c.checkConsistency(k)
}

// checkConsistency checks the option consistency, as keyspace_metadata::validate of ScyllaDB's
// data_dictionary/data_dictionary.cc does.
func (c *changer) checkConsistency(k *keyspace) error {
	switch k.consistency {
	case "", "eventual":
		return nil
	case "global", "local":
	default:
		return configError("Consistency option must be one of 'eventual', 'local', or 'global'; found: %s", k.consistency)
	}
	if !c.e.options.Tablets || !k.usesTablets() {
		return configError("Only eventual consistency is supported for non-tablet keyspaces")
	}
	if k.consistency == "local" {
		return configError("Local consistency is not supported yet")
	}
	return nil
}

// replication checks the options of a strategy and completes the name of its class.
func (c *changer) replication(k *keyspace, r map[string]string) error {
	class := r["class"]
	if class == "" && c.e.options.Scylla {
		class = networkStrategy
	}
	switch short := class[strings.LastIndexByte(class, '.')+1:]; short {
	case "SimpleStrategy":
		r["class"] = simpleStrategy
	case "NetworkTopologyStrategy":
		r["class"] = networkStrategy
	case "LocalStrategy":
		return invalid("Unable to use given strategy class: LocalStrategy is reserved for internal use.")
	default:
		if !strings.Contains(class, ".") {
			class = "org.apache.cassandra.locator." + class
		}
		return configError("Unable to find replication strategy class '%s'", class)
	}
	if r["class"] == simpleStrategy {
		if _, ok := r["replication_factor"]; !ok {
			r["replication_factor"] = "1" // Cassandra's default_keyspace_rf
		}
		for name := range r {
			if name != "class" && name != "replication_factor" {
				return configError("Unrecognized strategy option {%s} passed to SimpleStrategy for keyspace %s", name, k.name)
			}
		}
	}
	if dcs := c.e.options.DataCenters; dcs != nil && r["class"] == networkStrategy {
		if err := c.dataCenters(k, r, dcs()); err != nil {
			return err
		}
	}
	for name, v := range r {
		if _, isRack := RackOption(name); name == "class" || isRack && c.e.options.Scylla {
			continue
		}
		n, err := strconv.Atoi(v)
		if full, _, ok := strings.Cut(v, "/"); ok && err != nil {
			n, err = strconv.Atoi(full) // transient replicas
		}
		if err != nil {
			return configError("For input string: \"%s\"", v)
		}
		if n < 0 || n == 0 && r["class"] == simpleStrategy {
			return configError("Replication factor must be non-negative, found %s", v)
		}
	}
	return nil
}

// dataCenters checks the names of the data centers of a replication, and applies its replication_factor to the others.
func (c *changer) dataCenters(k *keyspace, r map[string]string, known map[string]int) error {
	factor, hasFactor := r["replication_factor"]
	delete(r, "replication_factor")
	given := map[string]bool{}
	for name := range r {
		dc, isRack := RackOption(name)
		if !isRack || !c.e.options.Scylla {
			dc = name
		}
		given[dc] = true
		if _, ok := known[dc]; name != "class" && !ok {
			return configError("Unrecognized strategy option {%s} passed to NetworkTopologyStrategy for keyspace %s", name, k.name)
		}
	}
	for dc := range known {
		if hasFactor && !given[dc] {
			r[dc] = factor
		}
	}
	return nil
}

// RackOption returns the data center of an option of ScyllaDB's NetworkTopologyStrategy that names a rack: a list of
// racks, {'dc': ['a', 'b']}, is stored as {'dc:0': 'a', 'dc:1': 'b'}, an empty one as {'dc:-1': ”}
// (docs/dev/system_schema_keyspace.md).
func RackOption(name string) (dc string, ok bool) {
	at := strings.LastIndexByte(name, ':')
	if at < 0 {
		return "", false
	}
	_, err := strconv.Atoi(name[at+1:])
	return name[:at], err == nil
}
