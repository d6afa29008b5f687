// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
)

// This file holds the verbs that tell of the schema.

// KeyspaceMetadata describes a keyspace and all that is in it. The first call reads it from the system tables, later ones are answered from
// memory until something in it changes: by a statement of this session, or by an event of the server, which may arrive a moment after
// another session's change. Names are case-sensitive.
//
// Errors are ErrKeyspaceDoesNotExist, ErrNoMetadata and those of requests.
func (s *Session) KeyspaceMetadata(keyspace string) (*KeyspaceMetadata, error) {
	return s.KeyspaceMetadataContext(context.Background(), keyspace)
}

// KeyspaceMetadataContext is KeyspaceMetadata, given up when ctx ends.
func (s *Session) KeyspaceMetadataContext(ctx context.Context, keyspace string) (*KeyspaceMetadata, error) {
	if s.closed.Load() {
		return nil, ErrSessionClosed
	}
	return s.schema.keyspace(ctx, keyspace)
}

// AllKeyspaceMetadata describes all keyspaces, those of the system included, by name. The map is the caller's. Once it has been called the
// session keeps all keyspaces; see KeyspaceMetadata.
func (s *Session) AllKeyspaceMetadata() (map[string]*KeyspaceMetadata, error) {
	return s.AllKeyspaceMetadataContext(context.Background())
}

// AllKeyspaceMetadataContext is AllKeyspaceMetadata, given up when ctx ends.
func (s *Session) AllKeyspaceMetadataContext(ctx context.Context) (map[string]*KeyspaceMetadata, error) {
	if s.closed.Load() {
		return nil, ErrSessionClosed
	}
	return s.schema.all(ctx)
}

// TableMetadata describes a table; see KeyspaceMetadata. Errors are those of KeyspaceMetadata, ErrNoTable, and ErrNoMetadata in sessions
// that keep keyspaces only.
func (s *Session) TableMetadata(keyspace, table string) (*TableMetadata, error) {
	return s.TableMetadataContext(context.Background(), keyspace, table)
}

// TableMetadataContext is TableMetadata, given up when ctx ends.
func (s *Session) TableMetadataContext(ctx context.Context, keyspace, table string) (*TableMetadata, error) {
	ks, err := s.KeyspaceMetadataContext(ctx, keyspace)
	if err != nil {
		return nil, err
	}
	if s.cfg.Metadata.CacheMode == KeyspaceOnly {
		return nil, fmt.Errorf("%w: table %q.%q: the session keeps keyspaces only", ErrNoMetadata, keyspace, table)
	}
	if t := ks.Tables[table]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%w: %q.%q", ErrNoTable, keyspace, table)
}
