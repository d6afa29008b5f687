// SPDX-License-Identifier: Apache-2.0

// Package vecql is a CQL driver for ScyllaDB and Apache Cassandra whose first concern is vectors.
//
// # A session
//
// A program has one [Session] for as long as it runs. The session finds the nodes of the cluster, keeps connections to them, and sends
// each request to a node that has the row, where it can tell.
//
//	cluster := vecql.NewCluster("10.0.0.1", "10.0.0.2")
//	cluster.Keyspace = "shop"
//	session, err := cluster.CreateSession()
//	if err != nil {
//		return err
//	}
//	defer session.Close()
//
//	err = session.Query("INSERT INTO items (id, name, embedding) VALUES (?, ?, ?)", id, "lamp", []float32{0.1, 0.2, 0.3}).ExecContext(ctx)
//
//	var name string
//	err = session.Query("SELECT name FROM items WHERE id = ?", id).ScanContext(ctx, &name)
//
// Rows come typed, one by one, with the error as the second value of the loop; the next page is on its way meanwhile:
//
//	type Item struct {
//		ID        vecql.UUID
//		Name      string
//		Embedding []float32
//	}
//	nearest := session.Query("SELECT id, name, embedding FROM items ORDER BY embedding ANN OF ? LIMIT 10", query)
//	for item, err := range vecql.Rows[Item](ctx, nearest) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(item.Name)
//	}
//
// [Query.IterContext] gives the same rows to Scan, MapScan and SliceMap, and [Query.Pages] gives whole columns. Statements are prepared
// when they are first used, once for all who use them. A context ends the call that it was given to, and nothing else.
//
// In a hot loop, [Prepare] binds the fields of a struct to a statement; executing it allocates nothing:
//
//	insert, err := vecql.Prepare[Item](ctx, session.Query("INSERT INTO items (id, name, embedding) VALUES (?, ?, ?)"))
//	...
//	err = insert.Exec(ctx, &item)
//
// # Where a request goes, and when it is sent again
//
// A request goes to a node that has its partition, on ScyllaDB to the shard that owns it, and to another one when that cannot be reached.
// With several data centres the local one must be named, in ClusterConfig.PoolConfig: see [DCAwareRoundRobinPolicy]. Nodes are known by
// their host ids and may change their addresses; those that cannot be reached are tried again for as long as they belong to the cluster.
//
// What may have been executed is sent again only if it is marked idempotent ([Query.Idempotent]), whatever a [RetryPolicy] says; of an error
// [MayHaveApplied] tells. A [SpeculativeExecutionPolicy] sends idempotent requests that take long to another node as well. [Throttle] bounds
// what is under way, a [Profile] names a set of such settings, and [Session.Stats], the observers and the listeners of ClusterConfig show
// what happens. Package cqltest has a cluster for tests that needs nothing installed.
//
// # What goroutines may share
//
//   - A [Session], a [Statement], a [TypeInfo] and a [ColumnInfo]: any number of goroutines, at the same time.
//   - A [Query] and a [Batch]: any number of goroutines may run one at the same time, as long as none calls a setter.
//   - A [ClusterConfig] until CreateSession has returned, an [Iter] and a [Page]: one goroutine at a time.
//   - Bound values are read while the verb runs that was given the context, and not after it has returned. Until then they must not change.
//
// # How long bytes live
//
// What a verb stores in a destination belongs to the caller for ever: no slice, string, map or pointer of it is part of a buffer that is
// used again, or of another row, and what a slice, map or pointer in the destination held before is left alone. An [Unmarshaler] gets
// bytes of its own, which it may keep. A program that wants its own memory filled says so: an array, or [Into] for a slice, is decoded in
// place, row after row, without an allocation; [AppendTo] adds to a slice, and [Borrow] shows the bytes where they lie until the next row.
// Only a [Page] ends as early, when its loop moves on; what was read from it does not.
//
// # Conversions
//
// The first column is what [Marshal] takes and a bound value can be, besides what is said for every type below. The second is what
// [Unmarshal] and Scan store, given as a pointer to it; it is the same as the first where it is empty. The third is what an *any, MapScan
// and SliceMap get. "integer" is every Go type of kind int, int8 to int64, uint, uint8 to uint64; a type of one's own counts as its kind.
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
//	decimal                inf.Dec                                                                            *inf.Dec
//	uuid                   UUID, [16]byte, []byte of 16, string                                               UUID
//	timeuuid               as uuid                                        as uuid, time.Time                  UUID
//	inet                   net.IP, netip.Addr, string                                                         net.IP
//	date                   time.Time (its day in UTC), int64 (ms since    time.Time (midnight UTC), int64,    time.Time
//	                       1970), string "2006-01-02"                     string
//	time                   time.Duration, int64 (ns since midnight)                                           time.Duration
//	timestamp              time.Time, int64 (ms since 1970)                                                   time.Time (UTC)
//	duration               Duration, time.Duration, int64 (ns), string    Duration, time.Duration if it has   Duration
//	                       "1h30m" or "1y2mo3d"                           neither months nor days, string
//	list<T>                slice, array                                                                       []T
//	set<T>                 slice, array, map[T]struct{}                                                       []T
//	map<K, V>              map[K]V                                                                            map[K]V
//	tuple<...>             slice, array, struct (fields in their order)                                       []any
//	user-defined type      struct, map[string]T, UDTMarshaler             struct, map[string]T,               map[string]any
//	                                                                      UDTUnmarshaler
//	vector<T, n>           slice or array of n elements                                                       []T
//	a custom class         string, []byte                                                                     []byte
//
// For every type:
//
//   - nil, a nil pointer, a nil slice and a nil map are NULL. An empty slice or map is a value without elements, not NULL.
//   - *T, [Null] of T, and the Null types of database/sql stand for T, and can be NULL. So does an any that holds one of them.
//   - [Marshaler] and [Unmarshaler] do as they please. A panic in them is an error of the value.
//   - [UnsetValue] leaves a column as it is; it can't be part of another value.
//   - In an any, the keys of a map are string where the CQL type is blob, inet or varint; those of decimal and of types made of others
//     need a map type of one's own.
//   - NULL makes a destination its zero value: use a pointer, [Null], or *any where that is a value too. [Rows] refuses it instead.
//   - The fields of a struct are found by the tag `cql:"name"`, else by their name, else by their name in another case. `cql:"-"` hides one.
//     A field of a user-defined type that the struct or map lacks is written as NULL; a key of a map that is no field is an error.
//   - The strings of one list or set, and the keys of one map, share one block of memory: it stays as long as one of them does.
//   - Elements of a list, set, map or vector can't be written as NULL; fields of a tuple or a user-defined type can.
//
// Nothing is cut or rounded in silence: a number that the other side can't hold is [ErrRange], a vector of another length
// [ErrDimension], a cell with bytes too few or too many [ErrMissing] or [ErrTrailing], and a pair that is not in the table
// [ErrConversion]; they come within a [MarshalError] or [UnmarshalError], which says the column and the two types. Two exceptions are
// the meaning of the types: a time.Time loses what is below a millisecond in a timestamp, and its time of day in a date. Texts are not
// checked to be UTF-8 or ASCII; the server does it.
package vecql
