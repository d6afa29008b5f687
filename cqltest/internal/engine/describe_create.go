// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// CREATE statements of keyspaces, types, tables and indexes, as DESCRIBE returns them.

// virtualKeyspaces are the keyspaces whose tables are virtual in Cassandra. Other system keyspaces have tables that
// are not virtual.
var virtualKeyspaces = map[string]bool{"system_views": true, "system_virtual_schema": true}

func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// mapText returns a map of texts as a literal, sorted by key.
func mapText(m map[string]string) string {
	parts := make([]string, 0, len(m))
	for _, k := range sortedKeys(m) {
		parts = append(parts, quoteText(k)+": "+quoteText(m[k]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func createKeyspaceText(k *keyspace) string {
	name := quoteName(k.name)
	options := maps.Clone(k.replication)
	class := strings.TrimPrefix(options["class"], "org.apache.cassandra.locator.")
	delete(options, "class")
	replication := "{'class': " + quoteText(class)
	for _, o := range sortedKeys(options) {
		replication += ", " + quoteText(o) + ": " + quoteText(options[o])
	}
	return fmt.Sprintf("CREATE KEYSPACE %s WITH replication = %s}  AND durable_writes = %t;", name, replication, k.durable)
}

// createScyllaKeyspaceText returns CREATE KEYSPACE as ScyllaDB writes it (data_dictionary/data_dictionary.cc). tablets
// means that the cluster has tablets.
func createScyllaKeyspaceText(k *keyspace, tablets bool) string {
	parts := []string{"'class': " + quoteText(k.replication["class"])}
	for _, name := range sortedKeys(k.replication) {
		dc, isRack := RackOption(name)
		switch {
		case name == "class":
		case !isRack:
			parts = append(parts, quoteText(name)+": "+quoteText(k.replication[name]))
		case name == dc+":0" || name == dc+":-1":
			parts = append(parts, quoteText(dc)+": ["+strings.Join(k.racksOf(dc), ", ")+"]")
		}
	}
	text := fmt.Sprintf("CREATE KEYSPACE %s WITH replication = {%s} AND durable_writes = %t", quoteName(k.name),
		strings.Join(parts, ", "), k.durable)
	switch {
	case !tablets:
	case !k.usesTablets():
		text += " AND tablets = {'enabled': false}"
	case k.initial > 0:
		text += fmt.Sprintf(" AND tablets = {'enabled': true, 'initial': %d}", k.initial)
	default:
		text += " AND tablets = {'enabled': true}"
	}
	if k.consistency != "" {
		text += " AND consistency = " + quoteText(k.consistency)
	}
	return text + ";"
}

// racksOf returns the racks of a data center in a list of racks, as literals.
func (k *keyspace) racksOf(dc string) (racks []string) {
	for i := 0; ; i++ {
		rack, ok := k.replication[dc+":"+strconv.Itoa(i)]
		if !ok {
			return racks
		}
		racks = append(racks, quoteText(rack))
	}
}

func createTypeText(t *Type) string {
	fields := make([]string, len(t.Fields))
	for i, name := range t.Fields {
		fields[i] = "    " + quoteName(name) + " " + t.Elems[i].String()
	}
	return "CREATE TYPE " + quoteName(t.Keyspace) + "." + quoteName(t.Name) + " (\n" + strings.Join(fields, ",\n") + "\n);"
}

// createText returns CREATE INDEX for an index of t.
func (i *index) createText(t *table) string {
	custom, using := "", ""
	if i.kind == "CUSTOM" {
		custom, using = "CUSTOM ", " USING "+quoteText(i.options["class_name"])
		options := maps.Clone(i.options)
		delete(options, "class_name")
		delete(options, "index_version")
		if len(options) > 0 {
			using += " WITH OPTIONS = " + mapText(options)
		}
	}
	target := i.target
	if i.vector != nil {
		target = i.vector.cqlTarget(i.column)
	}
	return fmt.Sprintf("CREATE %sINDEX %s ON %s (%s)%s;", custom, quoteName(i.name), t.fullName(), target, using)
}

func (t *table) fullName() string { return quoteName(t.ks) + "." + quoteName(t.name) }

// createText returns CREATE TABLE. Internals are the table's id and its dropped columns.
func (t *table) createText(internals, scylla bool) string {
	var dropped []droppedColumn
	if internals {
		dropped = t.dropped
	}
	text := "CREATE TABLE " + t.fullName() + " (\n" + strings.Join(t.columnTexts(dropped), ",\n") + "\n) WITH " +
		strings.Join(t.optionTexts(internals, scylla), "\n    AND ") + ";"
	for _, d := range dropped {
		text += fmt.Sprintf("\nALTER TABLE %s DROP %s USING TIMESTAMP %d;", t.fullName(), quoteName(d.name), d.at)
		if again := t.byName[d.name]; again != nil {
			text += "\nALTER TABLE " + t.fullName() + " ADD " + again.text() + ";"
		}
	}
	return text
}

// text returns the column as in CREATE TABLE.
func (c *column) text() string {
	s := quoteName(c.name) + " " + c.typ.String()
	if c.kind == Static {
		s += " static"
	}
	return s
}

// columnTexts returns the lines between the parentheses of CREATE TABLE: the columns of the key, static and regular
// columns, those with a single cell first, and dropped columns.
func (t *table) columnTexts(dropped []droppedColumn) []string {
	rest := slices.Clone(t.rest)
	slices.SortStableFunc(rest, func(a, b *column) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(btoi(a.typ.multiCell()), btoi(b.typ.multiCell())))
	})
	var lines []string
	single := len(t.pk) == 1 && len(t.ck) == 0
	for _, c := range slices.Concat(t.pk, t.ck, rest) {
		if slices.ContainsFunc(dropped, func(d droppedColumn) bool { return d.name == c.name }) {
			continue
		}
		line := "    " + c.text()
		if c.name == t.expiry {
			line += " TTL"
		}
		if single && c.kind == PartitionKey {
			line += " PRIMARY KEY"
		}
		lines = append(lines, line)
	}
	for _, d := range dropped {
		lines = append(lines, "    "+d.text())
	}
	if !single {
		lines = append(lines, "    PRIMARY KEY ("+t.keyText()+")")
	}
	return lines
}

// keyText returns the columns of the primary key.
func (t *table) keyText() string {
	names := func(cols []*column) string {
		out := make([]string, len(cols))
		for i, c := range cols {
			out[i] = quoteName(c.name)
		}
		return strings.Join(out, ", ")
	}
	key := names(t.pk)
	if len(t.pk) > 1 {
		key = "(" + key + ")"
	}
	if len(t.ck) > 0 {
		key += ", " + names(t.ck)
	}
	return key
}

// describedOptions are the options of a table in the order of DESCRIBE, with those values that the schema leaves out.
var describedOptions = []struct {
	name    string
	missing any
}{
	{"additional_write_policy", nil},
	{"allow_auto_snapshot", true},
	{"bloom_filter_fp_chance", nil},
	{"caching", nil},
	{"cdc", false},
	{"comment", nil},
	{"compaction", nil},
	{"compression", nil},
	{"memtable", "default"},
	{"crc_check_chance", nil},
	{"default_time_to_live", nil},
	{"extensions", nil},
	{"gc_grace_seconds", nil},
	{"incremental_backups", true},
	{"max_index_interval", nil},
	{"memtable_flush_period_in_ms", nil},
	{"min_index_interval", nil},
	{"read_repair", nil},
	{"speculative_retry", nil},
}

// optionTexts returns the parts of WITH in CREATE TABLE.
func (t *table) optionTexts(internals, scylla bool) []string {
	var out []string
	if internals {
		out = append(out, "ID = "+formatUUID(t.id[:]))
	}
	if len(t.ck) > 0 {
		order := make([]string, len(t.ck))
		for i, c := range t.ck {
			order[i] = quoteName(c.name) + map[bool]string{false: " ASC", true: " DESC"}[c.desc]
		}
		out = append(out, "CLUSTERING ORDER BY ("+strings.Join(order, ", ")+")")
	}
	if scylla {
		return append(out, t.options.scyllaTexts()...)
	}
	for _, o := range describedOptions {
		v, ok := t.options.values[o.name]
		if !ok {
			v = o.missing
		}
		out = append(out, o.name+" = "+optionText(v))
	}
	return out
}

// scyllaDescribed are the options of a table in the order of ScyllaDB's DESCRIBE (schema_properties in
// schema/schema.cc), which leaves out options that were not set.
var scyllaDescribed = []string{
	"bloom_filter_fp_chance", "caching", "comment", "compaction", "compression", "crc_check_chance",
	"default_time_to_live", "gc_grace_seconds", "max_index_interval", "memtable_flush_period_in_ms", "min_index_interval",
	"speculative_retry", "tablets", "cdc", "paxos_grace_seconds", "per_partition_rate_limit", "tombstone_gc",
}

// scyllaTexts returns the options as ScyllaDB writes them.
func (o *tableOptions) scyllaTexts() (out []string) {
	for _, name := range scyllaDescribed {
		v, ok := o.values[name]
		if name == "cdc" {
			v = o.captureOptions()
		}
		if ok {
			out = append(out, name+" = "+optionText(v))
		}
	}
	return out
}

func optionText(v any) string {
	switch v := v.(type) {
	case string:
		return quoteText(v)
	case float64:
		return formatFloat(v, 64)
	case int:
		return strconv.Itoa(v)
	case bool:
		return strconv.FormatBool(v)
	case map[string]string:
		return mapText(v)
	}
	return "null"
}
