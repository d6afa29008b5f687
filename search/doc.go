// SPDX-License-Identifier: Apache-2.0

// Package search finds the rows of a table whose vectors are nearest to a query: by the vector index of Apache
// Cassandra 5 or ScyllaDB, or exactly, by reading the rows.
//
//	type Product struct {
//		ID    cql.UUID
//		Name  string
//		Price float64
//	}
//
//	products, err := search.Open[Product](ctx, session, "shop.products")
//	for hit, err := range products.Nearest(ctx, embedding, 10) {
//		// hit.Row.Name, hit.Score, hit.Distance
//	}
//	result, err := products.Where("price < ? and in_stock", 20).MinScore(0.8).Oversample(4).All(ctx, embedding, 10)
//	batch, err := products.Exact().Batch(ctx, queries, 100) // many queries, one scan
//	fmt.Println(products.Where("price < ?", 20).Explain(10)) // the CQL, the index, and why
//
// CreateIndex creates an index with the options of either server, WaitReady waits until it serves, Recall compares an
// index with the exact answer. Over searches batches of any source, such as package parquetscan. Fuse joins the results
// of several searches, Diverse and BestOf choose among hits.
//
// # Scores and distances
//
// The similarity is the one of the index. A Score is what the similarity function of the server returns, which both
// servers define alike; a greater score is nearer. A Distance is the distance of package vector; a smaller distance is
// nearer.
//
//	index          Score                                   Distance
//	cosine         similarity_cosine       (1+cos)/2       vector.Cosine  1-cos, from 0 to 2
//	euclidean      similarity_euclidean    1/(1+|x-q|²)    vector.L2      |x-q|
//	dot_product    similarity_dot_product  (1+x·q)/2       vector.Dot     -(x·q)
//
// The score is always computed from the stored vector, also if the index is quantized. Hits are in the order of their
// scores, and of their primary keys where scores are equal.
//
// # Filters
//
// Where takes a text of package expr with a ? for each value. Together with an index the server evaluates it: each
// condition is a comparison of a column with a value by =, <, <=, > or >=, on ScyllaDB also IN, joined by AND, and each
// column must be one that the index serves. ScyllaDB serves the primary key and the filter columns of the index.
// Cassandra serves a partition whose whole key is stated by =, and columns that have a storage-attached index: text,
// boolean and uuid by = alone. A condition that the index cannot serve is a *FilterError, not a slow scan.
// Exact searches and Over evaluate any text of package expr.
//
// # What is checked before a request is sent
//
// The dimension and the elements of a query (finite; not zero for cosine; within ±1e17 on Cassandra), k, the filter,
// and that the table has a vector index for the column. The similarity of Metric must be the one of the index.
package search
