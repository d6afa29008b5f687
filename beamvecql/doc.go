// SPDX-License-Identifier: Apache-2.0

// Package beamvecql reads and writes tables of ScyllaDB and Cassandra in pipelines of Apache Beam's Go SDK, and groups
// rows with package groupby on many machines. The elements are batches of columns, *column.Batch:
//
//	var centroids = beamvecql.RegisterGroups("centroids", groupby.Config{
//		Keys:       groupby.By("label"),
//		Aggregates: []groupby.Aggregate{groupby.Count(), groupby.Mean("embedding").As("centroid")},
//	})
//
//	beam.Init()
//	p, s := beam.NewPipelineWithRoot()
//	items := beamvecql.Read(s, "cassandra://db1,db2/shop", "SELECT label, embedding FROM items", beamvecql.ReadOptions{})
//	groups := beamvecql.GroupBy(s, centroids, items)
//	written, rejected := beamvecql.Write(s, "cassandra://db1,db2/shop", "centroids", groups, beamvecql.WriteOptions{})
//	err := beamx.Run(ctx, p)
//
// [Read] is a splittable DoFn over token intervals, [Write] a DoFn over package bulk, [ReadParquet] reads files by row
// groups, [GroupBy] is a CombineFn whose accumulators are groupby's partials.
//
// A program that needs one machine only does not need this package: packages tablescan, groupby, bulk and pipe do the
// same without the encoding of elements.
//
// # Clusters
//
// Transforms take a cluster as a URI, or as a name of [RegisterCluster]. The URI is part of the pipeline, with the
// password in it; a registered configuration is made on the worker. A URI, as of adbcvecql and sqlvecql, has a list of
// hosts, a keyspace and parameters:
// cassandra://user:password@host1:9042,host2/keyspace?data_center=dc1&tls.ca=/etc/ca.pem.
//
//	data_center                 the local data center
//	consistency                 default QUORUM
//	timeout, connect_timeout    of a request and of a connection, such as 11s
//	compression                 none, lz4 or snappy
//	protocol                    3, 4 or 5; default the highest
//	tls                         true connects with TLS; implied by the next ones
//	tls.ca, tls.cert, tls.key   PEM files on the workers
//	tls.server_name             the name in the certificates of the nodes
//	tls.verify                  false trusts every certificate
//
// A process has one session for each cluster, which all DoFns share. It is closed when no bundle has used it for ten
// seconds: the SDK's workers do not call Teardown at the end of a pipeline.
//
// # Failures
//
// Requests are repeated by packages tablescan and bulk. A bundle that fails nevertheless, or whose worker is lost, is
// repeated by Flink, Spark and Dataflow. Read emits nothing but its elements, and Write is idempotent, so that no row
// is lost and no row is twice in a table. Prism, the SDK's default runner, ends the pipeline at the first bundle that
// fails.
//
// # Elements
//
// A *column.Batch is encoded as an Arrow IPC stream with the position of its rows and a checksum. Functions of a
// pipeline must not change a batch, which several may have; the memory belongs to it. Windows other than the global one
// are not supported by Write and Batches, whose last elements are emitted at the end of a bundle.
//
// Counters have the namespace beamvecql: rows_read, bytes_read, ranges_read, buckets_read, rows_written, bytes_written,
// rows_rejected.
package beamvecql
