// SPDX-License-Identifier: Apache-2.0

// Package sqlvecql is a driver of package database/sql for ScyllaDB and Cassandra, on vecql.
//
//	db, err := sql.Open("vecql", "cassandra://127.0.0.1/shop?consistency=local_quorum")
//	_, err = db.ExecContext(ctx, "INSERT INTO items (id, name, embedding) VALUES (?, ?, ?)", 1, "lamp", []float32{1, 2, 3})
//	var embedding []float32
//	err = db.QueryRowContext(ctx, "SELECT embedding FROM items WHERE id = ?", 1).Scan(&embedding)
//
// A program that has a session already passes it to [OpenDB]. [Session] returns the session of a sql.DB, for the verbs
// that package database/sql does not have.
//
// # Connections
//
// All connections of a sql.DB share one session, which prepares each statement once and sends a request to a replica of
// its partition. A connection is no socket and costs nothing, so that a limit of connections (SetMaxOpenConns) only
// limits the requests in flight, and Ping reaches any node. The first use of a sql.DB opens the session; Close closes
// it.
//
// # URI
//
// The form is cassandra://user:password@host1:9042,host2/keyspace?data_center=dc1&tls.ca=/etc/ca.pem; see
// [vecql.ParseURI] for its parameters.
//
// [ParseURI] returns the configuration, to which a program adds what a URI does not have. [WithQuery] sets options of
// single statements, such as their consistency.
//
// # Values
//
// Every Go type that vecql binds may be an argument: numbers, text, []float32 for a vector, slices, maps, structs of
// user-defined types, nil, cql.UnsetValue. Further types: a driver.Valuer, a float64 or an integer for a float or
// double if it is exactly representable, text or an integer for a decimal. Arguments are bound by position, or all by
// name: sql.Named("id", 1) binds to :id, and to a ? that stands for the column id. No value is narrowed.
//
// A column arrives in an *any as a type that package database/sql converts, or as the type that vecql has:
//
//	CQL                                                value in an *any
//	tinyint, smallint, int, bigint, counter            int64
//	float, double                                      float64
//	boolean                                            bool
//	ascii, text, varchar                               string
//	uuid, timeuuid, inet, decimal, varint, duration    string
//	blob, a custom class                               []byte
//	timestamp, date                                    time.Time in UTC
//	time                                               time.Duration
//	vector<float, n>, list<int>, map<text, int>, ...   []float32, []int, map[string]int, ...; see package vecql
//	tuple                                              []any
//	user-defined type                                  map[string]any
//
// Destinations are as in package database/sql, thus a []float32 for a vector and a cql.UUID for a uuid. [Scan] makes
// destinations of all other Go types that vecql decodes into, and [Of] fields of structs. NULL needs a pointer, a
// type such as sql.NullString or sql.Null[[]float32], or Scan.
//
// # Statements
//
// Rows are read page by page, the next page while one is read. The context of a query ends it and the reading of its
// rows. RowsAffected is 1 if a statement with a condition (IF) was applied and 0 if not, else [ErrNoRowsAffected].
// The rows of such a statement, by Query, have the column [applied] and the current values. LastInsertId and
// transactions are errors: [ErrNoLastInsertID], [ErrNoTransactions]. [ErrArguments] means that arguments cannot be
// bound at all, a [ScanError] that a value does not fit a destination of Scan. All other errors come from package
// vecql; driver.ErrBadConn is none of them, so that package database/sql never repeats a statement.
package sqlvecql
