// SPDX-License-Identifier: Apache-2.0

package sqlvecql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"

	"github.com/vecql/vecql"
)

// The driver and its connectors.

// Name is the name under which the driver is registered with package database/sql.
const Name = "vecql"

func init() { sql.Register(Name, Driver{}) }

// A Driver makes connectors from URIs. It implements driver.Driver and driver.DriverContext, and is stateless.
type Driver struct{}

var _ driver.DriverContext = Driver{}

// OpenConnector returns the connector of a URI. It does not connect. All connections of the connector share one
// session, which the first connection opens and Close of the sql.DB closes.
func (d Driver) OpenConnector(uri string) (driver.Connector, error) {
	cfg, err := ParseURI(uri)
	if err != nil {
		return nil, err
	}
	return &connector{cfg: cfg, turns: make(chan struct{}, 1)}, nil
}

// Open implements driver.Driver for programs that do not use package database/sql, which calls OpenConnector. The
// connection has a session of its own, which its Close closes.
func (d Driver) Open(uri string) (driver.Conn, error) {
	c, err := d.OpenConnector(uri)
	if err != nil {
		return nil, err
	}
	opened, err := c.Connect(context.Background())
	if err != nil {
		return nil, err
	}
	opened.(*conn).owned = c.(*connector)
	return opened, nil
}

// ParseURI returns the configuration that a URI describes, for programs that add policies, observers or a logger to it;
// see vecql.ParseURI, whose configuration it is with the name of this driver for the server.
func ParseURI(uri string) (*vecql.ClusterConfig, error) {
	cfg, err := vecql.ParseURI(uri)
	if err != nil {
		return nil, err
	}
	cfg.Protocol.ApplicationInfo = vecql.ApplicationInfo{ApplicationName: "sqlvecql"}
	return cfg, nil
}

// Connector returns a connector whose connections use a session of the program. Neither the connections nor the sql.DB
// close the session.
func Connector(session *vecql.Session) driver.Connector {
	return &connector{session: session, turns: make(chan struct{}, 1)}
}

// OpenDB returns a sql.DB that uses a session of the program. Its Close leaves the session open.
func OpenDB(session *vecql.Session) *sql.DB { return sql.OpenDB(Connector(session)) }

// A connector implements driver.Connector and io.Closer. Its connections share one session.
type connector struct {
	cfg   *vecql.ClusterConfig // of the session that the connector opens; nil for a session of the program
	turns chan struct{}        // capacity 1: a goroutine that has sent may use the fields below, then receives

	session *vecql.Session // nil before the first connection
	closed  bool
}

var _ io.Closer = (*connector)(nil)

// Driver implements driver.Connector.
func (c *connector) Driver() driver.Driver { return Driver{} }

// Connect implements driver.Connector. The first call opens the session. A call that fails leaves that to the next one.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	select {
	case c.turns <- struct{}{}:
		defer func() { <-c.turns }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.session == nil && !c.closed {
		session, err := vecql.NewSession(ctx, *c.cfg)
		if err != nil {
			return nil, err
		}
		c.session = session
	}
	if c.closed || c.session.Closed() {
		return nil, vecql.ErrSessionClosed
	}
	return &conn{session: c.session}, nil
}

// Close implements io.Closer: sql.DB.Close calls it. It closes the session unless that is the program's.
func (c *connector) Close() error {
	c.turns <- struct{}{}
	defer func() { <-c.turns }()
	if c.cfg != nil && c.session != nil && !c.closed {
		c.session.Close()
	}
	c.closed = true
	return nil
}

// Session returns the session of db, which the connections of db share, for the verbs that package database/sql does
// not have: batches of columns, typed rows, bulk loads. The error comes from connecting, or means that db has another
// driver.
func Session(ctx context.Context, db *sql.DB) (*vecql.Session, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	var session *vecql.Session
	err = c.Raw(func(driverConn any) error {
		own, ok := driverConn.(*conn)
		if !ok {
			return fmt.Errorf("sqlvecql: read the session of a database: its driver is another one (%T)", driverConn)
		}
		session = own.session
		return nil
	})
	if closeErr := c.Close(); err == nil {
		err = closeErr
	}
	return session, err
}
