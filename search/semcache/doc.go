// SPDX-License-Identifier: Apache-2.0

// Package semcache is a semantic cache: it returns the value that was stored for a prompt, such as the answer of a
// language model, for prompts with nearly the same meaning. Values are rows of a table of Apache Cassandra 5 or
// ScyllaDB, found by the embedding of the prompt.
//
//	config := semcache.Config{Table: "shop.answers", Model: "all-MiniLM-L6-v2", Dimension: 384, TTL: 24 * time.Hour}
//	err := semcache.Create(ctx, session, config) // once: the table and its index
//	answers, err := semcache.Open[string](ctx, session, config)
//
//	answer, err := answers.Do(ctx, embedding, func(ctx context.Context) (string, error) {
//		return model.Answer(ctx, prompt)
//	})
//
// # What matches
//
// An entry matches if its Model is the one of the cache and its embedding has a cosine distance of at most Threshold.
// The nearest such entry is the hit. A lookup first reads the entry of an equal embedding by its key, which sees each
// value that was stored, then searches by the index. The index of ScyllaDB has an entry about one second after it was
// stored; until then only equal embeddings find it.
//
// Calibrate computes the threshold from pairs of prompts.
//
// # Time to live
//
// On Cassandra rows are written with USING TTL. On ScyllaDB a cell with a time to live of its own leaves its key in the
// index when it expires, and searches return fewer rows from then on. Create therefore uses the time to live of rows,
// which ScyllaDB has from 2026.2 on: the column expires is the time when a row expires, by the clock of the writer.
// ScyllaDB removes such rows in the background, and lookups skip them before.
//
// # Errors
//
// Errors of the cache are *Error, so that they differ from errors of the function of Do. With Config.OnError a cache
// that fails does not fail Do: the function is called, and OnError has the error.
package semcache
