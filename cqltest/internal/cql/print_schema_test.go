// SPDX-License-Identifier: Apache-2.0

package cql

// Schema statements as CQL.

func ifNotExists(yes bool) string {
	if yes {
		return "IF NOT EXISTS "
	}
	return ""
}

func ifExists(yes bool) string {
	if yes {
		return "IF EXISTS "
	}
	return ""
}

// String returns the statement as CQL.
func (s *CreateKeyspace) String() string {
	return statementString(func(w *writer) {
		w.words("CREATE KEYSPACE ", ifNotExists(s.IfNotExists), QuoteIdent(s.Name))
		w.options(s.Options)
	})
}

// String returns the statement as CQL.
func (s *AlterKeyspace) String() string {
	return statementString(func(w *writer) {
		w.words("ALTER KEYSPACE ", ifExists(s.IfExists), QuoteIdent(s.Name))
		w.options(s.Options)
	})
}

// String returns the statement as CQL.
func (s *DropKeyspace) String() string {
	return "DROP KEYSPACE " + ifExists(s.IfExists) + QuoteIdent(s.Name)
}

// String returns the statement as CQL.
func (s *CreateTable) String() string {
	return statementString(func(w *writer) {
		w.words("CREATE TABLE ", ifNotExists(s.IfNotExists), s.Name.String(), " (")
		w.list(len(s.Columns), func(i int) { w.columnDef(s.Columns[i]) })
		for i, key := range s.PrimaryKeys {
			w.opt(i > 0 || len(s.Columns) > 0, ", ")
			w.WriteString("PRIMARY KEY ((")
			w.idents(key.Partition)
			w.WriteByte(')')
			for _, c := range key.Clustering {
				w.words(", ", QuoteIdent(c))
			}
			w.WriteByte(')')
		}
		w.WriteByte(')')
		var parts []func()
		if s.CompactStorage {
			parts = append(parts, func() { w.WriteString("COMPACT STORAGE") })
		}
		if len(s.ClusteringOrder) > 0 {
			parts = append(parts, func() {
				w.WriteString("CLUSTERING ORDER BY (")
				w.list(len(s.ClusteringOrder), func(i int) {
					o := s.ClusteringOrder[i]
					w.WriteString(QuoteIdent(o.Column))
					w.opt(!o.Desc, " ASC")
					w.opt(o.Desc, " DESC")
				})
				w.WriteByte(')')
			})
		}
		for _, o := range s.Options {
			parts = append(parts, func() { w.option(o) })
		}
		w.opt(len(parts) > 0, " WITH ")
		w.joined(len(parts), " AND ", func(i int) { parts[i]() })
	})
}

func (w *writer) columnDef(c ColumnDef) {
	w.words(QuoteIdent(c.Name), " ")
	w.typeName(c.Type)
	w.opt(c.Static, " STATIC")
	w.opt(c.TTL, " TTL")
}

// String returns the statement as CQL.
func (s *AlterTable) String() string {
	return statementString(func(w *writer) {
		w.words("ALTER TABLE ", ifExists(s.IfExists), s.Name.String())
		switch s.Action {
		case AlterAdd:
			w.words(" ADD ", ifNotExists(s.IfColumn), "(")
			w.list(len(s.Columns), func(i int) { w.columnDef(s.Columns[i]) })
			w.WriteByte(')')
		case AlterDrop:
			w.words(" DROP ", ifExists(s.IfColumn), "(")
			w.idents(s.Drop)
			w.WriteByte(')')
			w.clause(" USING TIMESTAMP ", s.Timestamp)
		case AlterRename:
			w.words(" RENAME ", ifExists(s.IfColumn))
			w.renames(s.Renames)
		case AlterColumnType:
			w.words(" ALTER ", QuoteIdent(s.Column), " TYPE ", s.Type.String())
		case AlterOptions:
			w.options(s.Options)
		case AlterTTL:
			w.opt(s.Column == "", " TTL NULL")
			w.opt(s.Column != "", " TTL ", QuoteIdent(s.Column))
		}
	})
}

func (w *writer) renames(list []Rename) {
	w.joined(len(list), " AND ", func(i int) { w.words(QuoteIdent(list[i].From), " TO ", QuoteIdent(list[i].To)) })
}

// String returns the statement as CQL.
func (s *DropTable) String() string { return "DROP TABLE " + ifExists(s.IfExists) + s.Name.String() }

// String returns the statement as CQL.
func (s *CreateType) String() string {
	return statementString(func(w *writer) {
		w.words("CREATE TYPE ", ifNotExists(s.IfNotExists))
		w.userType(s.Name)
		w.WriteString(" (")
		w.list(len(s.Fields), func(i int) { w.fieldDef(s.Fields[i]) })
		w.WriteByte(')')
	})
}

func (w *writer) fieldDef(f FieldDef) { w.words(QuoteIdent(f.Name), " ", f.Type.String()) }

// String returns the statement as CQL.
func (s *AlterType) String() string {
	return statementString(func(w *writer) {
		w.words("ALTER TYPE ", ifExists(s.IfExists))
		w.userType(s.Name)
		switch s.Action {
		case AlterAdd:
			w.words(" ADD ", ifNotExists(s.IfField))
			w.list(len(s.Fields), func(i int) { w.fieldDef(s.Fields[i]) })
		case AlterRename:
			w.words(" RENAME ", ifExists(s.IfField))
			w.renames(s.Renames)
		case AlterColumnType:
			w.words(" ALTER ", QuoteIdent(s.Field), " TYPE ", s.Type.String())
		}
	})
}

// String returns the statement as CQL.
func (s *DropType) String() string {
	return statementString(func(w *writer) {
		w.words("DROP TYPE ", ifExists(s.IfExists))
		w.userType(s.Name)
	})
}

// String returns the statement as CQL.
func (s *CreateIndex) String() string {
	return statementString(func(w *writer) {
		w.WriteString("CREATE ")
		w.opt(s.Custom, "CUSTOM ")
		w.words("INDEX ", ifNotExists(s.IfNotExists))
		w.opt(s.Name != "", QuoteIdent(s.Name), " ")
		w.words("ON ", s.Table.String(), " (")
		w.list(len(s.Targets), func(i int) {
			t := s.Targets[i]
			w.WriteString(indexKinds[t.Kind])
			w.opt(t.Kind != IndexColumn, "(")
			if t.Columns == nil {
				w.WriteString(QuoteIdent(t.Column))
			} else {
				w.WriteByte('(')
				w.idents(t.Columns)
				w.WriteByte(')')
			}
			w.opt(t.Kind != IndexColumn, ")")
		})
		w.WriteByte(')')
		w.opt(s.Using != "", " USING ", QuoteString(s.Using))
		w.options(s.Options)
	})
}

// String returns the statement as CQL.
func (s *DropIndex) String() string { return "DROP INDEX " + ifExists(s.IfExists) + s.Name.String() }
