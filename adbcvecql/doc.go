// SPDX-License-Identifier: Apache-2.0

// Package adbcvecql is an ADBC driver (Arrow Database Connectivity, version 1.1) for ScyllaDB and Cassandra: results of
// CQL as Arrow record batches, bulk ingest of record batches, and table scans in partitions. A vector column arrives as
// one block of floats.
//
//	db, err := adbcvecql.NewDriver().NewDatabase(map[string]string{"uri": "cassandra://127.0.0.1/shop"})
//	conn, err := db.Open(ctx)
//	stmt, err := conn.NewStatement()
//	err = stmt.SetSqlQuery("SELECT id, embedding FROM items")
//	records, _, err := stmt.ExecuteQuery(ctx)
//
// The folder c has the same driver as a shared library with the C interface of ADBC, for Python, R, DuckDB and others.
//
// # Options
//
// A database takes the options of its cluster, as keys of NewDatabase or, without the prefix "vecql.", as parameters of
// the URI: cassandra://user:password@host1:9042,host2/keyspace?data_center=dc1&tls.ca=/etc/ca.pem.
//
//	uri                         see above; the scheme is cassandra or scylla
//	username, password
//	vecql.contact_points        host[:port],... in place of the hosts of the URI
//	vecql.tls                   true connects with TLS; implied by the next ones
//	vecql.tls.ca, .cert, .key   PEM files
//	vecql.tls.server_name       the name in the certificates of the nodes
//	vecql.tls.verify            false trusts every certificate
//	vecql.data_center           the local data center
//	vecql.consistency           default QUORUM
//	vecql.timeout               of a request, such as 11s
//	vecql.connect_timeout       of a connection
//	vecql.compression           none, lz4 or snappy
//	vecql.protocol              3, 4 or 5; default the highest
//
// A database, a connection and a statement take the options below; each inherits the options of the object it is made
// from.
//
//	adbc.connection.db_schema   the keyspace of tables without one; not on a statement
//	vecql.page_bytes            aim of a page of a result; default 1048576
//	vecql.workers               token ranges that are read at a time; 1 reads page after page; default 8
//	vecql.partitions            the largest number of partitions of ExecutePartitions; default 32
//	vecql.uuid                  extension (arrow.uuid) or string; default extension
//	vecql.decimal               string, or decimal256(76,S) with a scale S; default string
//	vecql.varint                string or decimal256; default string
//	vecql.duration              interval (month_day_nano) or string; default interval
//	vecql.ingest.primary_key    of tables that ingest creates, as in CQL: id, or (a, b), c
//
// A statement takes the option adbc.statement.bind_by_name: true binds the columns of bound rows by name, a marker ?
// by the name of its column. The default is false.
//
// # Types
//
//	CQL                         Arrow
//	boolean, tinyint ... double the type of the same width
//	counter                     int64
//	ascii, text, varchar, inet  utf8; inet in canonical form
//	blob, a custom class        binary
//	uuid, timeuuid              fixed_size_binary(16) as extension arrow.uuid; utf8 by option
//	decimal, varint             utf8; decimal256 by option, where a value that does not fit is an error
//	date                        date32
//	time                        time64(ns)
//	timestamp                   timestamp(ms, UTC)
//	duration                    month_day_nano_interval; utf8 by option
//	vector<T, n>                fixed_size_list of float, double, int32, int64, arrow.uuid; list of any other type
//	list, set                   list
//	map                         map
//	tuple                       struct with the fields 0, 1, ...
//	user-defined type           struct
//
// Parameters and ingested columns may have any Arrow type whose values fit, see package vecql, section Columns; text
// binds to decimal, varint and duration. A value that does not fit is an error. No value is narrowed.
//
// # Statements
//
// A SELECT without WHERE, LIMIT and the like that has more than one page is read by token ranges, vecql.workers at a
// time: its rows arrive in any order. Parameters bind by position, or by name if all markers are named and the record
// has a column for each. A statement with bound rows runs once for each row. Another query releases them.
//
// Ingest writes with package bulk. A NULL leaves its column unset. Modes that create a table need a primary key:
// vecql.ingest.primary_key, or the metadata cassandra.kind (partition_key, clustering) and cassandra.position of the
// fields, as GetTableSchema returns them. There is no default, because rows with equal keys replace each other.
//
// A statement with the option vecql.search searches a table with package search: each bound row is a query, a column of
// vectors of float. The result has the columns of the table, and query, rank, score and distance.
//
//	vecql.search                the table, or the table and its column: shop.items(embedding)
//	vecql.search.k              rows for each query; default 10
//	vecql.search.filter         a condition of package expr, such as price < 20 and in_stock
//	vecql.search.columns        names separated by commas; default all columns
//	vecql.search.min_score      leaves out rows with a lower score
//	vecql.search.metric         cosine, l2 or dot; default the one of the index
//	vecql.search.exact          true reads the table in place of the index; default false
//
// A partition of ExecutePartitions is JSON: a set of token ranges. Any process can read it. The partitions of a
// statement contain every row of a table once.
//
// Contexts cancel requests, and the reading of a result. There are no transactions.
package adbcvecql
