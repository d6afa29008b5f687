// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"maps"
	"slices"

	"github.com/vecql/vecql/cql"
)

// Differences between two versions of the schema.

// Changes are the differences between two versions of the schema, keyspace by keyspace in order of names, and within a
// keyspace in order of names or signatures. A created or dropped index is an update of its table; views are not
// compared.
type Changes struct {
	Keyspaces  Difference[*cql.KeyspaceMetadata] // an update concerns the keyspace itself, not its objects
	Tables     Difference[*cql.TableMetadata]
	UserTypes  Difference[*cql.UserTypeMetadata]
	Functions  Difference[*cql.FunctionMetadata]
	Aggregates Difference[*cql.AggregateMetadata]
}

// A Difference lists the created, dropped and updated objects of one kind.
type Difference[T any] struct {
	Created, Dropped []T
	Updated          []Update[T]
}

// An Update is an object before and after a change.
type Update[T any] struct{ Old, New T }

// compare adds the differences between two maps. Objects of equal fingerprints are equal.
func (d *Difference[T]) compare(before, after map[string]object[T]) {
	for _, name := range slices.Sorted(maps.Keys(after)) {
		old, ok := before[name]
		switch now := after[name]; {
		case !ok:
			d.Created = append(d.Created, now.meta)
		case old.fingerprint != now.fingerprint:
			d.Updated = append(d.Updated, Update[T]{old.meta, now.meta})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, ok := after[name]; !ok {
			d.Dropped = append(d.Dropped, before[name].meta)
		}
	}
}

// Diff returns the differences between two versions, each by name. All objects of a created or dropped keyspace count
// as created or dropped. A Keyspace that both versions share is skipped.
func Diff(before, after map[string]*Keyspace) Changes {
	var d Changes
	d.Keyspaces.compare(keyspaceObjects(before), keyspaceObjects(after))
	names := maps.Clone(before)
	if names == nil {
		names = map[string]*Keyspace{}
	}
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, now := before[name], after[name]
		if old == now {
			continue
		}
		if old == nil {
			old = &Keyspace{}
		}
		if now == nil {
			now = &Keyspace{}
		}
		d.Tables.compare(old.tables, now.tables)
		d.UserTypes.compare(old.userTypes, now.userTypes)
		d.Functions.compare(old.functions, now.functions)
		d.Aggregates.compare(old.aggregates, now.aggregates)
	}
	return d
}

// keyspaceObjects returns the keyspaces as objects with the fingerprints of their own rows.
func keyspaceObjects(keyspaces map[string]*Keyspace) map[string]object[*cql.KeyspaceMetadata] {
	m := make(map[string]object[*cql.KeyspaceMetadata], len(keyspaces))
	for name, k := range keyspaces {
		m[name] = object[*cql.KeyspaceMetadata]{k.Metadata, k.fingerprint}
	}
	return m
}
