// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"context"
	"log/slog"
	"sync"

	"github.com/apache/arrow-adbc/go/adbc"

	"github.com/vecql/vecql"
)

// The driver and its databases.

// A Driver makes databases. It implements adbc.Driver and adbc.DriverWithContext, and is stateless.
type Driver struct{}

// NewDriver returns a driver.
func NewDriver() *Driver { return &Driver{} }

// NewDatabase returns a database with options; see the package documentation. It does not connect. The error is an
// adbc.Error, as the errors of all methods of this package are.
func (d *Driver) NewDatabase(opts map[string]string) (adbc.Database, error) {
	return d.NewDatabaseWithContext(context.Background(), opts)
}

// NewDatabaseWithContext implements adbc.DriverWithContext.
func (*Driver) NewDatabaseWithContext(_ context.Context, opts map[string]string) (adbc.Database, error) {
	db := &database{
		optionSet: optionSet{scope: ofDatabase, values: map[string]string{}}, sessions: map[string]*vecql.Session{},
		logger: slog.New(slog.DiscardHandler),
	}
	return db, db.SetOptions(opts)
}

// A database implements adbc.Database. Its connections share a session for each keyspace.
type database struct {
	optionSet

	logger *slog.Logger

	lock     sync.Mutex
	sessions map[string]*vecql.Session // by keyspace
	closed   bool
}

// SetOptions implements adbc.Database. Options of the cluster apply to sessions that are opened later.
func (db *database) SetOptions(opts map[string]string) error {
	for key, value := range opts {
		if key == adbc.OptionKeyURI {
			continue
		}
		if err := db.SetOption(key, value); err != nil {
			return err
		}
	}
	if uri, ok := opts[adbc.OptionKeyURI]; ok {
		return db.SetOption(adbc.OptionKeyURI, uri)
	}
	return nil
}

// SetOption implements adbc.PostInitOptions. The parameters of a URI set further options, unless those are set.
func (db *database) SetOption(key, value string) error {
	if key == adbc.OptionKeyURI {
		if err := applyURI(&db.optionSet, value); err != nil {
			return err
		}
	}
	return db.optionSet.SetOption(key, value)
}

// GetOption implements adbc.GetSetOptions. The URI cannot be read, because it may have a password.
func (db *database) GetOption(key string) (string, error) {
	if key == adbc.OptionKeyURI {
		key = adbc.OptionKeyPassword
	}
	return db.optionSet.GetOption(key)
}

// SetLogger implements adbc.DatabaseLogging, for sessions that are opened later. The default discards the log.
func (db *database) SetLogger(logger *slog.Logger) { db.logger = logger }

// session returns the session of a keyspace.
func (db *database) session(ctx context.Context, keyspace string) (*vecql.Session, error) {
	db.lock.Lock()
	defer db.lock.Unlock()
	if db.closed {
		return nil, failed(adbc.StatusInvalidState, "the database is closed")
	}
	if s := db.sessions[keyspace]; s != nil {
		return s, nil
	}
	cfg, err := clusterConfig(&db.optionSet, keyspace)
	if err != nil {
		return nil, err
	}
	cfg.Logger = db.logger
	s, err := vecql.NewSession(ctx, *cfg)
	if err != nil {
		return nil, wrapped("connect to "+db.get(optionContactPoints), err)
	}
	db.sessions[keyspace] = s
	return s, nil
}

// Open implements adbc.Database.
func (db *database) Open(ctx context.Context) (adbc.Connection, error) {
	s, err := db.session(ctx, db.get(adbc.OptionKeyCurrentDbSchema))
	if err != nil {
		return nil, err
	}
	return &connection{optionSet: db.inherit(ofConnection), db: db, session: s}, nil
}

// Close implements adbc.Database. It ends the sessions, so that open connections fail.
func (db *database) Close() error {
	db.lock.Lock()
	defer db.lock.Unlock()
	if db.closed {
		return failed(adbc.StatusInvalidState, "the database is closed already")
	}
	db.closed = true
	for _, s := range db.sessions {
		s.Close()
	}
	return nil
}
