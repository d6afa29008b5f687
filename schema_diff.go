// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"maps"
	"slices"
)

// This file finds what is different between two snapshots of the schema. Listeners are told of differences rather than of events: however
// many events there were, and whatever got lost, what was told last and the differences make up what there is now.

// schemaChanges are differences between two snapshots, each kind in the order of names.
type schemaChanges struct {
	keyspaces  changes[*KeyspaceMetadata]
	tables     changes[*TableMetadata]
	userTypes  changes[*UserTypeMetadata]
	functions  changes[*FunctionMetadata]
	aggregates changes[*AggregateMetadata]
}

// changes are the differences of one kind of object.
type changes[T any] struct {
	created, dropped []T
	updated          []update[T]
}

type update[T any] struct{ before, after T }

// compare adds the differences between two maps. Objects of equal fingerprints are the same.
func (c *changes[T]) compare(before, after map[string]T, print func(T) uint64) {
	for _, name := range slices.Sorted(maps.Keys(after)) {
		old, ok := before[name]
		switch now := after[name]; {
		case !ok:
			c.created = append(c.created, now)
		case print(old) != print(now):
			c.updated = append(c.updated, update[T]{old, now})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, ok := after[name]; !ok {
			c.dropped = append(c.dropped, before[name])
		}
	}
}

// diffSchema returns the differences. What is in a keyspace that was created or dropped was itself created or dropped.
func diffSchema(before, after map[string]*KeyspaceMetadata) schemaChanges {
	var d schemaChanges
	d.keyspaces.compare(before, after, func(k *KeyspaceMetadata) uint64 { return k.print })
	names := maps.Clone(before)
	if names == nil {
		names = map[string]*KeyspaceMetadata{}
	}
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, now := before[name], after[name]
		if old == now {
			continue // shared by both snapshots
		}
		if old == nil {
			old = &KeyspaceMetadata{}
		}
		if now == nil {
			now = &KeyspaceMetadata{}
		}
		d.tables.compare(old.Tables, now.Tables, func(t *TableMetadata) uint64 { return t.print })
		d.userTypes.compare(old.UserTypes, now.UserTypes, func(t *UserTypeMetadata) uint64 { return t.print })
		d.functions.compare(old.functionsBySignature(), now.functionsBySignature(), func(f *FunctionMetadata) uint64 { return f.print })
		d.aggregates.compare(old.aggregatesBySignature(), now.aggregatesBySignature(), func(a *AggregateMetadata) uint64 { return a.print })
	}
	return d
}

// functionsBySignature returns the functions by what tells overloaded ones apart: which of them is under the bare name may change.
func (k *KeyspaceMetadata) functionsBySignature() map[string]*FunctionMetadata {
	m := make(map[string]*FunctionMetadata, len(k.Functions))
	for _, f := range k.Functions {
		m[f.signature] = f
	}
	return m
}

func (k *KeyspaceMetadata) aggregatesBySignature() map[string]*AggregateMetadata {
	m := make(map[string]*AggregateMetadata, len(k.Aggregates))
	for _, a := range k.Aggregates {
		m[a.signature] = a
	}
	return m
}
