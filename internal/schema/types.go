// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"maps"
	"slices"

	"github.com/vecql/vecql/cql"
)

// The types of columns, fields, functions and aggregates.

// buildTypes adds the user-defined types to ks. A type may refer to types of later rows.
func (k *keyspaceRows) buildTypes(ks *Keyspace) {
	ks.types = make(map[string]cql.UDTTypeInfo, len(k.types))
	ks.userTypes = make(map[string]object[*cql.UserTypeMetadata], len(k.types))
	ks.Metadata.UserTypes = make(map[string]*cql.UserTypeMetadata, len(k.types))
	r := typeResolver{rows: k, byName: make(map[string]*typeRow, len(k.types)), done: ks.types, open: map[string]bool{}}
	for i := range k.types {
		r.byName[k.types[i].meta.Name] = &k.types[i]
	}
	for _, name := range slices.Sorted(maps.Keys(r.byName)) {
		r.lookup(name)
		row := r.byName[name]
		ks.Metadata.UserTypes[name] = row.meta
		ks.userTypes[name] = object[*cql.UserTypeMetadata]{row.meta, row.fingerprint}
	}
}

// maxTypeDepth limits the nesting of user-defined types, as cql.ParseType limits the nesting in one type's text.
const maxTypeDepth = 64

// typeResolver resolves each user-defined type of a keyspace once.
type typeResolver struct {
	rows   *keyspaceRows
	byName map[string]*typeRow
	done   map[string]cql.UDTTypeInfo
	open   map[string]bool // types that are being resolved
}

// lookup returns the type with the given name. ok is false if the keyspace has no such type, or if the type is being
// resolved and so would contain itself.
func (r *typeResolver) lookup(name string) (t cql.UDTTypeInfo, ok bool) {
	if t, ok := r.done[name]; ok {
		return t, true
	}
	row := r.byName[name]
	if row == nil || r.open[name] || len(r.open) > maxTypeDepth {
		return cql.UDTTypeInfo{}, false
	}
	r.open[name] = true
	defer delete(r.open, name)
	row.meta.FieldTypes = make([]cql.TypeInfo, len(row.types))
	for i, text := range row.types {
		t, err := cql.ParseType(text, func(keyspace, name string) (cql.UDTTypeInfo, bool) {
			if keyspace != "" && keyspace != r.rows.name {
				return cql.UDTTypeInfo{}, false
			}
			return r.lookup(name)
		})
		if err != nil {
			r.rows.fault(name, row.meta.FieldNames[i], err)
			t = cql.CustomType{Class: text}
		}
		row.meta.FieldTypes[i] = t
	}
	t = row.meta.TypeInfo()
	r.done[name] = t
	return t, true
}

// resolve parses a type in CQL. A type that cannot be parsed becomes a CustomType with the text, and a fault of the
// object.
func (k *keyspaceRows) resolve(ks *Keyspace, object, column, text string) cql.TypeInfo {
	t, err := cql.ParseType(text, func(keyspace, name string) (cql.UDTTypeInfo, bool) {
		if keyspace != "" && keyspace != k.name {
			return cql.UDTTypeInfo{}, false
		}
		t, ok := ks.types[name]
		return t, ok
	})
	if err != nil {
		k.fault(object, column, err)
		return cql.CustomType{Class: text}
	}
	return t
}

// resolveAll is resolve for a list of types.
func (k *keyspaceRows) resolveAll(ks *Keyspace, object string, texts []string) []cql.TypeInfo {
	types := make([]cql.TypeInfo, len(texts))
	for i, text := range texts {
		types[i] = k.resolve(ks, object, "", text)
	}
	return types
}
