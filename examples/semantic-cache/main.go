// SPDX-License-Identifier: Apache-2.0

// Command semantic-cache keeps the answers of a slow function in a table, and finds them by the meaning of the
// question: math/rand/v2.Perm has the answer for math/rand.Perm, whose doc comment is nearly the same.
//
//	go run ./examples/semantic-cache [host:port ...]
//
// Without hosts it starts a cluster in its own process. It prints:
//
//	math/rand.Perm: an expensive answer about math/rand.Perm
//	math/rand/v2.Perm: an expensive answer about math/rand.Perm
//	strings.Cut: an expensive answer about strings.Cut
//	math/rand.Perm: an expensive answer about math/rand.Perm
//	2 hits, 2 misses
//
// In production, compute the threshold with semcache.Calibrate from pairs of questions that people have judged, and set
// Config.OnError, so that the program works without the table.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/examples/internal/godoc"
	"github.com/vecql/vecql/search/semcache"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, hosts []string, out io.Writer) error {
	library, err := godoc.Open(ctx, hosts)
	if err != nil {
		return err
	}
	defer library.Close()
	config := semcache.Config{
		Table: "examples.answers", Model: "all-MiniLM-L6-v2", Dimension: 384, Threshold: 0.01, TTL: time.Hour,
	}
	if err := semcache.Create(ctx, library.Session, config); err != nil {
		return err
	}
	answers, err := semcache.Open[string](ctx, library.Session, config)
	if err != nil {
		return err
	}
	if err := answers.InvalidateAll(ctx); err != nil { // of an earlier run
		return err
	}
	keys := [][]any{{"math/rand", "Perm"}, {"math/rand/v2", "Perm"}, {"strings", "Cut"}, {"math/rand", "Perm"}}
	for _, key := range keys {
		// the embedding of a question, which a model computes
		read := library.Session.Query("SELECT embedding FROM examples.docs WHERE package = ? AND symbol = ?", key...)
		embedding, err := vecql.OneRow[[]float32](ctx, read)
		if err != nil {
			return err
		}
		answer, err := answers.Do(ctx, embedding, func(context.Context) (string, error) {
			return fmt.Sprintf("an expensive answer about %s.%s", key...), nil
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s.%s: %s\n", key[0], key[1], answer)
	}
	stats := answers.Stats()
	fmt.Fprintln(out, stats.Hits, "hits,", stats.Misses, "misses")
	return nil
}
