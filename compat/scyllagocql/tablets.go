// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"errors"

	"github.com/gocql/gocql/tablets"
	"github.com/vecql/vecql"
)

// Tablets: those that the session has learned from responses.

// The sentinel errors of metadata.
var (
	ErrNoTable        = errors.New("no table name provided")
	ErrTabletsNotUsed = errors.New("tablets not used")
)

// TabletsMetadata returns the tablets of all tables.
//
// Deprecated: use TableTabletsMetadata or ForEachTablet.
func (s *Session) TabletsMetadata() (out tablets.TabletInfoList, err error) {
	err = s.forEachTable(func(keyspace, table string, of []vecql.Tablet) bool {
		out = append(out, tabletInfos(keyspace, table, of)...)
		return true
	})
	return out, err
}

// TableTabletsMetadata returns the tablets of a table, nil for none.
func (s *Session) TableTabletsMetadata(keyspace, table string) (tablets.TabletEntryList, error) {
	v, err := s.withTablets()
	switch {
	case err != nil:
		return nil, err
	case keyspace == "":
		return nil, ErrNoKeyspace
	case table == "":
		return nil, ErrNoTable
	}
	return tabletEntries(keyspace, table, v.Tablets(keyspace, table)), nil
}

// ForEachTablet calls fn for each table with tablets, until fn returns false. It reads the schema for the names.
func (s *Session) ForEachTablet(fn func(keyspace, table string, entries tablets.TabletEntryList) bool) error {
	if fn == nil {
		return nil
	}
	return s.forEachTable(func(keyspace, table string, of []vecql.Tablet) bool {
		return fn(keyspace, table, tabletEntries(keyspace, table, of))
	})
}

// withTablets returns the session of vecql, ErrTabletsNotUsed if it has not learned a tablet.
func (s *Session) withTablets() (*vecql.Session, error) {
	v, err := s.started()
	if err != nil {
		return nil, err
	}
	if stats := v.Stats(); stats.TabletHints == 0 {
		return nil, ErrTabletsNotUsed
	}
	return v, nil
}

// forEachTable calls fn for each table with tablets, until fn returns false.
func (s *Session) forEachTable(fn func(keyspace, table string, of []vecql.Tablet) bool) error {
	v, err := s.withTablets()
	if err != nil {
		return err
	}
	keyspaces, err := v.AllKeyspaceMetadata(context.Background())
	if err != nil {
		return plain(err)
	}
	for keyspace, k := range keyspaces {
		for table := range k.Tables {
			if of := v.Tablets(keyspace, table); len(of) > 0 && !fn(keyspace, table, of) {
				return nil
			}
		}
	}
	return nil
}

// tabletInfos converts the tablets of a table.
func tabletInfos(keyspace, table string, of []vecql.Tablet) tablets.TabletInfoList {
	var out tablets.TabletInfoList
	for _, t := range of {
		info, err := tablets.NewTabletInfo(keyspace, table, t.FirstToken, t.LastToken, tabletReplicas(t))
		if err == nil { // vecql stores no others
			out = append(out, info)
		}
	}
	return out
}

func tabletEntries(keyspace, table string, of []vecql.Tablet) tablets.TabletEntryList {
	var out tablets.TabletEntryList
	for _, info := range tabletInfos(keyspace, table, of) {
		out = append(out, tablets.TabletEntry(info))
	}
	return out
}

func tabletReplicas(t vecql.Tablet) []tablets.ReplicaInfo {
	out := make([]tablets.ReplicaInfo, 0, len(t.Replicas))
	for _, r := range t.Replicas {
		if id, err := tablets.ParseHostUUID(r.HostID.String()); err == nil {
			out = append(out, tablets.NewReplicaInfo(id, r.Shard))
		}
	}
	return out
}
