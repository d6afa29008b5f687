// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pressly/goose/v3/database"
)

// A Store is a version table of goose in CQL. It implements database.StoreExtender of goose.
//
// Its provider needs goose.DialectCustom, and goose.WithIsolateDDL(true), which makes goose begin no transactions. A
// migration that failed runs again from its start, so that its statements should have IF EXISTS or IF NOT EXISTS. Two
// programs must not migrate at the same time.
type Store struct{ Keyspace, Table string }

var _ database.StoreExtender = Store{}

// Tablename implements database.Store.
func (s Store) Tablename() string { return s.Keyspace + "." + s.Table }

// TableExists implements database.StoreExtender.
func (s Store) TableExists(ctx context.Context, db database.DBTxConn) (bool, error) {
	const find = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?"
	err := db.QueryRowContext(ctx, find, s.Keyspace, s.Table).Scan(new(string))
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// CreateVersionTable implements database.Store. The table has one partition, in which versions descend.
func (s Store) CreateVersionTable(ctx context.Context, db database.DBTxConn) error {
	_, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+s.Tablename()+` (
		part int, version bigint, at timestamp, PRIMARY KEY (part, version)) WITH CLUSTERING ORDER BY (version DESC)`)
	return err
}

// Insert implements database.Store. A version that the table has is an error: another program has migrated too.
func (s Store) Insert(ctx context.Context, db database.DBTxConn, req database.InsertRequest) error {
	res, err := db.ExecContext(ctx, "INSERT INTO "+s.Tablename()+
		" (part, version, at) VALUES (0, ?, toTimestamp(now())) IF NOT EXISTS", req.Version)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return errors.Join(fmt.Errorf("version %d is in %s already", req.Version, s.Tablename()), err)
	}
	return nil
}

// Delete implements database.Store.
func (s Store) Delete(ctx context.Context, db database.DBTxConn, version int64) error {
	_, err := db.ExecContext(ctx, "DELETE FROM "+s.Tablename()+" WHERE part = 0 AND version = ? IF EXISTS", version)
	return err
}

// GetMigration implements database.Store.
func (s Store) GetMigration(ctx context.Context, db database.DBTxConn, version int64,
) (*database.GetMigrationResult, error) {
	found := &database.GetMigrationResult{IsApplied: true}
	row := db.QueryRowContext(ctx, "SELECT at FROM "+s.Tablename()+" WHERE part = 0 AND version = ?", version)
	if err := row.Scan(&found.Timestamp); err != nil {
		return nil, orNotFound(err)
	}
	return found, nil
}

// GetLatestVersion implements database.Store.
func (s Store) GetLatestVersion(ctx context.Context, db database.DBTxConn) (version int64, err error) {
	row := db.QueryRowContext(ctx, "SELECT version FROM "+s.Tablename()+" WHERE part = 0 LIMIT 1")
	return version, orNotFound(row.Scan(&version))
}

func orNotFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return database.ErrVersionNotFound
	}
	return err
}

// ListMigrations implements database.Store.
func (s Store) ListMigrations(ctx context.Context, db database.DBTxConn,
) (list []*database.ListMigrationsResult, err error) {
	rows, err := db.QueryContext(ctx, "SELECT version FROM "+s.Tablename()+" WHERE part = 0")
	if err != nil {
		return nil, err
	}
	for rows.Next() && err == nil {
		m := &database.ListMigrationsResult{IsApplied: true}
		err = rows.Scan(&m.Version)
		list = append(list, m)
	}
	return list, errors.Join(err, rows.Err(), rows.Close())
}
