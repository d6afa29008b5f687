// SPDX-License-Identifier: Apache-2.0

package gocql

import "github.com/gocql/gocql/tablets"

// Tablets.

// TabletsMetadata returns the tablets of all tables that the session knows.
//
// Deprecated: use TableTabletsMetadata or ForEachTablet.
func (s *Session) TabletsMetadata() (tablets.TabletInfoList, error) {
	if _, err := s.started(); err != nil {
		return nil, err
	}
	return nil, ErrTabletsNotUsed
}

// TableTabletsMetadata returns the tablets of a table that the session knows.
func (s *Session) TableTabletsMetadata(keyspace, table string) (tablets.TabletEntryList, error) {
	if _, err := s.started(); err != nil {
		return nil, err
	}
	return nil, ErrTabletsNotUsed
}

// ForEachTablet calls fn for each table with tablets that the session knows, until fn returns false.
func (s *Session) ForEachTablet(fn func(keyspace, table string, entries tablets.TabletEntryList) bool) error {
	if _, err := s.started(); err != nil {
		return err
	}
	return ErrTabletsNotUsed
}
