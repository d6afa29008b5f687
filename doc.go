// SPDX-License-Identifier: Apache-2.0

// Package vecql is a CQL driver for ScyllaDB and Apache Cassandra. It encodes and decodes vectors at the speed of
// memory, and rows as structs, as batches of columns, or value by value.
//
// # A session
//
// A program has one [Session] for its whole life. The session finds the nodes of the cluster, keeps connections to
// them, and sends each request to a replica of its partition.
//
//	cluster := vecql.ClusterConfig{Hosts: []string{"10.0.0.1", "10.0.0.2"}, Keyspace: "shop"}
//	session, err := vecql.NewSession(ctx, cluster)
//	if err != nil {
//		return err
//	}
//	defer session.Close()
//
//	type Item struct {
//		ID        cql.UUID
//		Name      string
//		Embedding []float32
//	}
//	insert, err := vecql.Prepare[Item](ctx, session.Query(vecql.InsertInto[Item]("items")))
//	if err != nil {
//		return err
//	}
//	if err := insert.Exec(ctx, &Item{id, "lamp", embedding}); err != nil {
//		return err
//	}
//	for item, err := range vecql.Rows[Item](ctx, session.Query("SELECT id, name, embedding FROM items")) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(item.Name)
//	}
//
// Package search finds the rows that are nearest to a vector, by an index or exactly:
//
//	items, err := search.Open[Item](ctx, session, "items")
//	if err != nil {
//		return err
//	}
//	for hit, err := range items.Nearest(ctx, question, 10) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(hit.Row.Name, hit.Score)
//	}
//
// # Verbs
//
// Statements:
//
//   - [Session.Query] returns a [Query]: a statement with its values and options.
//   - [Query.Exec] runs a query without rows.
//   - [Prepare] takes the values from the fields of a struct. Executing its [Statement] allocates nothing.
//   - [Query.PrepareRows] takes the values from the rows of a batch of columns; [Query.ExecRows] executes it with all
//     of them.
//   - [Session.Batch] returns a [Batch]: several statements in one request.
//   - [InsertInto], [UpdateWhere] and [SelectFrom] write the text of a statement from the fields of a struct.
//
// Rows:
//
//   - [Rows] returns them as values of a Go type, one by one.
//   - [OneRow] returns the only row.
//   - [Pages] returns them page by page, with the token of the next page.
//   - [Query.Batches] returns a [column.Batch] per page: the fastest way to read many rows.
//   - [Query.Scan] stores the columns of the first row in variables.
//   - [Query.ScanCAS] runs a lightweight transaction.
//   - [Query.Iter] returns an [Iter], which scans rows one by one and mixes all ways to read.
//
// A setter of a query or batch is named by its option and returns the query or batch, so that calls can be chained:
//
//	session.Query(text, values...).Consistency(cql.One).Idempotent(true).PageSize(100)
//
// A statement is prepared when it is first used, once per session. The next page of a result is requested while one is
// read. The context of a verb ends that call and no other. A request that waits for its answer looks at its context: it
// returns at most 20 ms after a deadline, and at most 40 ms after a cancellation, or an eighth of the time waited and
// 20 ms, at most 120 ms.
//
// # Columns
//
// [Query.Batches] reads a page into a [column.Batch]. The CQL type decides the kind of the column. [Query.PrepareRows]
// binds rows of a batch; a bind marker takes the column of its name. This table lists both directions; "integer" is
// Int8 to Int64 and Uint8 to Uint64.
//
//	CQL                            read as               bound from
//	boolean                        Bool                  Bool
//	tinyint                        Int8                  integer
//	smallint                       Int16                 integer
//	int                            Int32                 integer
//	bigint, counter                Int64                 integer
//	varint                         Varint                Varint, integer, Decimal64, Decimal128 and Decimal256 of scale 0,
//	                                                     String
//	float                          Float32               Float32, Float16
//	double                         Float64               Float64, Float32, Float16
//	decimal                        Decimal               Decimal, Decimal64, Decimal128, Decimal256, integer, String
//	ascii, text, varchar           String                String, Binary
//	blob                           Binary                Binary, String, Fixed
//	a custom class                 Binary                Binary
//	uuid, timeuuid                 UUID                  UUID, Fixed of 16 bytes, Binary of 16 bytes, String
//	inet                           Inet                  Inet, Binary of 4 or 16 bytes, String
//	date                           Date                  Date, Timestamp (midnight), Int64 (ms since 1970, midnight)
//	time                           Time (ns)             Time, Int64 (ns since midnight)
//	timestamp                      Timestamp (ms, UTC)   Timestamp (whole ms), Date, Int64 (ms since 1970)
//	duration                       Duration              Duration, String
//	vector<T, n> of float, double, Vector                Vector or List of n rows that T is bound from, or
//	int, bigint, uuid, timeuuid                          Float64 for a float, rounded
//	any other vector<T, n>         List                  List of n rows that T is bound from
//	list<T>, set<T>                List                  List or Vector of what T is bound from
//	map<K, V>                      Map                   Map
//	tuple<...>                     Tuple                 Tuple, Struct (by position)
//	user-defined type              Struct                Struct (by name; a field that it lacks is NULL)
//
// PrepareRows refuses a pair that is not in the table with a [cql.MarshalError]. A value that does not fit, such as 300
// for a tinyint, is an error of its row, which is not sent. NULL is NULL in both directions; an element of a collection
// or vector cannot be bound from NULL. An empty cell of a type other than text, blob and collections is read as NULL.
//
// # Errors and retries
//
// A request goes to a replica of its partition, on ScyllaDB to the shard that owns the partition, and to another node
// when that node cannot be reached. In a cluster with several data centers, set ClusterConfig.HostSelectionPolicy to a
// policy that names the local one: see [DCAwarePolicy]. Nodes are identified by host id and may change their addresses.
// The session reconnects to a node for as long as the node belongs to the cluster.
//
// A statement that may have been executed is sent again only if it is idempotent, under every [RetryPolicy]: a SELECT,
// or a statement that is marked so ([Query.Idempotent]). [MayHaveApplied] reports whether a request that failed may
// have been executed. errors.Is finds the sentinel errors of this package and the server's codes ([cql.CodeUnavailable]
// and the others); errors.As finds a [RequestFailure], which names the statement, the node, the attempts and the time,
// and the errors of servers, such as a [cql.WriteTimeoutError]. [ErrorClassOf] sorts errors into classes.
// docs/errors.md lists all errors with their causes and remedies.
//
// A [SpeculativeExecutionPolicy] sends slow idempotent requests to a second node. A [Throttle] bounds the requests in
// flight, ClusterConfig.Limits.MemoryBudget the memory of requests and pages. A [Profile] is a set of settings of
// requests. [Session.Stats], observers ([Observer]), a [NodeChange] and a [SchemaChange] report what a session does,
// [Session.Health] which nodes serve. Package cqltest has a cluster for tests that needs no installation.
//
// # What goroutines may share
//
//   - A [Session], a [Statement], a [RowStatement], a [cql.TypeInfo] and a [cql.ColumnInfo]: any number of goroutines,
//     at the same time.
//   - A [Query] and a [Batch]: any number of goroutines may run one at the same time, as long as none calls a setter.
//   - A [ClusterConfig] until NewSession has returned, an [Iter], a [cql.Destination] and a batch of columns that is
//     being read into: one goroutine at a time.
//   - Bound values are read until the verb that runs the query returns, and not after. They must not change in between.
//
// # How long bytes live
//
// A value that a verb stores in a destination belongs to the caller: no slice, string, map or pointer of it shares
// memory with a buffer of the driver or with another row. Memory that a slice, map or pointer in the destination held
// before stays as it is. A [cql.Unmarshaler] receives bytes that it may keep.
//
// Four verbs use memory again, for loops that must not allocate. An array, and a slice in [Into], are decoded in place,
// row after row. [AppendTo] appends to a slice. [Borrow] sets a slice to the bytes of the current row, valid until the
// next one. [Query.BorrowBatches] reads all pages into one batch.
//
// # Conversions
//
// The first column of this table lists CQL types. The second lists the Go types that [Marshal] takes and that can be
// bound. The third lists the Go types that [Unmarshal] and Scan store, given a pointer to one; where it is empty, they
// are the types of the second. The fourth is the type that an *any, MapScan and SliceMap get. "integer" is every Go
// type of kind int, int8 to int64, uint, uint8 to uint64. A type that a program defines counts as its kind.
//
//	CQL                    from Go                                        to Go                               in an any
//	ascii, text, varchar   string, []byte                                                                     string
//	blob                   string, []byte                                                                     []byte
//	boolean                bool                                                                               bool
//	tinyint                integer, big.Int, string of decimal digits                                         int8
//	smallint               as tinyint                                                                         int16
//	int                    as tinyint                                                                         int
//	bigint, counter        as tinyint                                                                         int64
//	varint                 as tinyint                                                                         *big.Int
//	float                  float32                                                                            float32
//	double                 float64                                                                            float64
//	decimal                Decimal, inf.Dec                                                                   *inf.Dec
//	uuid                   UUID, [16]byte, []byte of 16, string                                               UUID
//	timeuuid               as uuid                                        as uuid, time.Time                  UUID
//	inet                   net.IP, netip.Addr, string                                                         net.IP
//	date                   time.Time (its day in UTC), int64 (ms since    time.Time (midnight UTC), int64,    time.Time
//	                       1970, midnight), string "2006-01-02"           string
//	time                   time.Duration, int64 (ns since midnight)                                           time.Duration
//	timestamp              time.Time (its ms), int64 (ms since 1970)                                          time.Time (UTC)
//	duration               Duration, time.Duration, int64 (ns), string    Duration, time.Duration if it has   Duration
//	                       "1h30m", "1y2mo3d" or "P1Y2M"                  neither months nor days, string
//	list<T>                slice, array                                                                       []T
//	set<T>                 slice, array, map[T]struct{}                                                       []T
//	map<K, V>              map[K]V                                                                            map[K]V
//	tuple<...>             slice, array, struct (fields in their order)                                       []any
//	user-defined type      struct, map[string]T, UDTMarshaler             struct, map[string]T,               map[string]any
//	                                                                      UDTUnmarshaler
//	vector<T, n>           slice or array of n elements; of float and double also float64 and float32         []T
//	a custom class         string, []byte                                                                     []byte
//
// For every type:
//
//   - nil, a nil pointer, a nil slice and a nil map are NULL. An empty slice or map is a value without elements, not
//     NULL.
//   - *T, [cql.Null] of T, and the Null types of database/sql stand for T, and can be NULL. So does an any that holds
//     one of them.
//   - A [cql.Marshaler] encodes itself, a [cql.Unmarshaler] decodes itself. A panic in one is an error of the value.
//   - [cql.UnsetValue] leaves a column as it is on the server; it cannot be part of another value.
//   - In an any, the keys of a map are string where the CQL type is blob, inet or varint. Keys of type decimal and of
//     nested types need a destination of a map type.
//   - NULL sets a destination to its zero value: use a pointer, [cql.Null], or *any where the zero value is a value,
//     too. [Rows] returns an error instead.
//   - An empty cell, of 0 bytes, is a value of a text, blob or custom class. Of any other type without parameters it is
//     no value: Cassandra stores such cells, and gocql writes one for a zero time.Time. It is read like NULL, also as
//     an element and into a column of a [column.Batch]; as the key of a map in a column it is [cql.ErrNull]. [Rows]
//     accepts an empty cell for every field. A [cql.Unmarshaler] and [Borrow] receive the empty bytes. Only a
//     [cql.Marshaler] that returns an empty slice writes such a cell.
//   - A number is written exactly or not at all, with one exception: an element of a vector<float, n> may be a float64,
//     which is rounded to the nearest float, as by the server's literal. A finite number beyond the floats is
//     [cql.ErrRange]. An element of a vector<double, n> may be a float32. A vector<float, n> can be read into
//     []float64.
//   - A time.Time is an instant: a timestamp stores its millisecond and a date its day in UTC. Integers and
//     columns must fit: milliseconds with a time of day for a date are ErrRange.
//   - An inet that is an IPv4 address mapped to IPv6, ::ffff:192.0.2.7, is written in 4 bytes, as by the server's
//     literal. Numbers are written in as few bytes as possible.
//   - Sets and maps are written in the order of the Go value, and sorted and without repeated elements, as by the
//     server's literal, where the server does not sort them: in a partition key, whose token depends on the order, and
//     within a tuple, user-defined type or vector.
//   - The fields of a struct are found by the tag `cql:"name"`, else by their name, else by their name in another case.
//     `cql:"-"` hides a field. A field of a user-defined type that the struct or map lacks is written as NULL and not
//     read. A key of a map, or a field of a struct, that is no field of the type is [cql.ErrConversion]: ALTER TYPE
//     adds a field before the program does. gocql ignores such fields of structs; so does vecql in a struct that has
//     the field _ struct{} with the tag `cql:"lenient"`.
//   - Fields of an embedded struct count as fields of the struct, without those that an outer field of the same name
//     hides. An embedded value of one column, such as a [cql.Duration], and an embedded struct with a tag are fields
//     themselves. A struct with two fields for one column name, or with fields behind an embedded pointer, is refused
//     with ErrConversion.
//   - The strings of one list or set, and the keys of one map, share one block of memory, which lives as long as one of
//     them does.
//   - Elements of a list, set, map or vector cannot be written as NULL; fields of a tuple or a user-defined type can.
//
// No conversion loses a part of a value silently. A number outside the range of the other type is [cql.ErrRange], a
// vector of another length [cql.ErrDimension], a cell with too few or too many bytes [cql.ErrMissing] or
// [cql.ErrTrailing], a pair of types that is not in the table [cql.ErrConversion]. They are wrapped by a
// [cql.MarshalError] or [cql.UnmarshalError], which names the column and both types. There are two exceptions: a
// time.Time loses its fraction of a millisecond in a timestamp, and its time of day in a date. The driver does not
// check that text is UTF-8 or ASCII; the server does.
//
// After an error a destination of Unmarshal or Scan is unchanged, with these exceptions. An array, and a struct that
// holds a tuple or user-defined type, is decoded in place: its elements before the faulty one may be new. So is the
// slice in [Into]. A [cql.Unmarshaler] is free to store anything. Scan has stored the columns before the faulty one.
//
// Package cql declares the types, values, interfaces and errors of these conversions.
//
// # Further verbs
//
//   - Queries: [Query.MapScan] and [Query.MapScanCAS] store a row in a map; [Session.Bind] computes the values when the
//     query runs.
//   - Batches: [Batch.Iter], [Batch.ExecCAS], [Batch.MapExecCAS], [Batch.Bind].
//   - Rows: [Iter.Scan], [Iter.MapScan], [Iter.SliceMap], [Iter.RowData], [Iter.Scanner].
//   - Traces as text: [NewTraceWriter].
//
// Programs written for gocql keep its names with the modules in compat.
package vecql
