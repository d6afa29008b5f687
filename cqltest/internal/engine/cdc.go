// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"strconv"
	"strings"
)

// Change data capture of ScyllaDB: the option of a table, and the table of its log (ScyllaDB's
// docs/features/cdc/cdc-log-table.rst).

// A Streams chooses the streams of the changes of tables.
type Streams interface {
	// Open is called when the log of a table is created, Drop when it is dropped.
	Open(t Name)
	Drop(t Name)
	// Of returns the stream of a change: the key of its partition of the log.
	Of(t Name, micros, token int64) (stream []byte, err error)
}

const (
	logSuffix  = "_scylla_cdc_log"
	defaultLog = 24 * 60 * 60 // TTL of a log in seconds
	streamID   = "cdc$stream_id"
	deletedOf  = "cdc$deleted_"
	elementsOf = "cdc$deleted_elements_"
)

// capture is the option cdc of a table that is on.
type capture struct {
	preimage, full, postimage, keys bool
	ttl                             int32
}

// capture returns the option of a table; nil means off.
func (o *tableOptions) capture() (*capture, error) {
	m, _ := o.values["cdc"].(map[string]string)
	x := &capture{ttl: defaultLog}
	enabled := false
	for name, v := range m {
		v = strings.ToLower(v)
		good := v == "true" || v == "false"
		switch name {
		case "enabled":
			enabled = v == "true"
		case "preimage":
			good = good || v == "full"
			x.preimage, x.full = v != "false", v == "full"
		case "postimage":
			x.postimage = v == "true"
		case "delta":
			good, x.keys = v == "full" || v == "keys", v == "keys"
		case "ttl":
			n, err := strconv.ParseInt(v, 10, 32)
			good, x.ttl = err == nil && n >= 0, int32(n)
		default:
			return nil, configError("Invalid CDC option: %s", name)
		}
		if !good {
			return nil, configError("Invalid value for CDC option \"%s\": %s", name, v)
		}
	}
	if !enabled {
		return nil, nil
	}
	return x, nil
}

// captureOptions returns the option with its defaults, as in system_schema.scylla_tables; nil means that it is not set.
func (o *tableOptions) captureOptions() map[string]string {
	given, ok := o.values["cdc"].(map[string]string)
	if !ok {
		return nil
	}
	out := map[string]string{
		"enabled": "false", "preimage": "false", "postimage": "false", "delta": "full", "ttl": strconv.Itoa(defaultLog),
	}
	maps.Copy(out, given)
	return out
}

// setCapture sets the capture of a new or altered table.
func (c *changer) setCapture(k *keyspace, t *table) error {
	t.capture = nil
	if c.e.options.Streams == nil || t.isLog {
		return nil
	}
	x, err := t.options.capture()
	if err != nil || x == nil {
		return err
	}
	t.capture = x
	if t.counter {
		return invalid("Cannot create CDC log for table %s.%s. Counter support not implemented", t.ks, t.name)
	}
	if log := k.tables.get(t.name + logSuffix); log != nil && !log.isLog {
		return invalid("Cannot create CDC log table for table %s.%s because a table of name %s.%s already exists",
			t.ks, t.name, t.ks, log.name)
	}
	return nil
}

// putLog creates the log of a table, or changes its columns, after the table.
func (c *changer) putLog(k *keyspace, t *table) {
	old := k.tables.get(t.name + logSuffix)
	if t.capture == nil && (old == nil || !old.isLog) {
		return
	}
	if old == nil {
		c.e.options.Streams.Open(Name{t.ks, t.name})
		c.putTable("CREATED", k, newLog(t, nil))
		return
	}
	if log := newLog(t, old); !log.sameColumns(old) {
		c.putTable("UPDATED", k, log)
	}
}

// dropLog drops the log of a table that was dropped.
func (c *changer) dropLog(k *keyspace, name string) {
	log := k.tables.get(name + logSuffix)
	if log == nil || !log.isLog {
		return
	}
	k.tables = k.tables.without(log.name)
	c.s = c.s.with(k)
	c.done("DROPPED", "TABLE", k.name, log.name)
	c.e.options.Streams.Drop(Name{k.name, name})
}

// checkDropLog refuses DROP TABLE of a log that is written, and reports the drop of another log.
func (c *changer) checkDropLog(k *keyspace, name string) error {
	log := k.tables.get(name)
	if !log.isLog {
		return nil
	}
	base := strings.TrimSuffix(name, logSuffix)
	if t := k.tables.get(base); t != nil && t.capture != nil {
		return invalid("Cannot drop table %s.%s: it is the CDC log of %s.%s, whose CDC is enabled", k.name, name, k.name, base)
	}
	c.e.options.Streams.Drop(Name{k.name, base})
	return nil
}

// newLog returns the log of a table. Columns of the old log keep their data.
func newLog(t, old *table) *table {
	log := &table{ks: t.ks, name: t.name + logSuffix, id: newID(), options: defaultOptions(), isLog: true}
	known := map[string]*column{}
	if old == nil {
		log.store = newStore()
	} else {
		log.id, log.options, log.store, log.nextID = old.id, old.options, old.store, old.nextID
		known = old.byName
	}
	add := func(name string, typ *Type, kind ColumnKind, pos int) *column {
		col := &column{name: name, typ: typ, kind: kind, pos: pos, id: log.nextID}
		if before := known[name]; before != nil && sameType(before.typ, typ) {
			col.id = before.id
		} else {
			log.nextID++
		}
		return col
	}
	log.pk = []*column{add(streamID, Native("blob"), PartitionKey, 0)}
	log.ck = []*column{
		add("cdc$time", Native("timeuuid"), Clustering, 0),
		add("cdc$batch_seq_no", Native("int"), Clustering, 1),
	}
	rest := func(name string, typ *Type) { log.rest = append(log.rest, add(name, typ, Regular, 0)) }
	rest("cdc$operation", Native("tinyint"))
	rest("cdc$ttl", Native("bigint"))
	rest("cdc$end_of_batch", Native("boolean"))
	for _, col := range t.all {
		typ, path := logTypes(col.typ)
		rest(col.name, typ)
		if col.isKey() {
			continue
		}
		rest(deletedOf+col.name, Native("boolean"))
		if path != nil {
			rest(elementsOf+col.name, &Type{Kind: KindSet, Elems: []*Type{path}, Frozen: true})
		}
	}
	log.finish()
	return log
}

// logTypes returns the type of a column in the log, and the type of the elements that a change deletes; nil means a
// column of one cell.
func logTypes(t *Type) (value, path *Type) {
	if !t.multiCell() {
		return t, nil
	}
	frozen := *t
	frozen.Frozen = true
	switch t.Kind {
	case KindList:
		return &Type{Kind: KindMap, Elems: []*Type{Native("timeuuid"), t.Elems[0]}, Frozen: true}, Native("timeuuid")
	case KindUDT:
		return &frozen, Native("smallint")
	}
	return &frozen, t.Elems[0]
}
