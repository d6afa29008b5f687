// SPDX-License-Identifier: Apache-2.0

// Command more-like-this finds functions and types of Go's standard library whose doc comments are similar to the doc
// comments of others. The vectors of the others are read from the table.
//
//	go run ./examples/more-like-this [host:port ...]
//
// Without hosts it starts a cluster in its own process. It prints:
//
//	strings.Cut
//	  0.94  bytes.Cut
//	  0.91  strings.Split
//	  0.91  strings.SplitN
//	  0.91  strings.SplitAfter
//	sync.Mutex
//	  0.88  sync.RWMutex
//	  0.80  runtime.SetMutexProfileFraction
//	  0.79  sync.Locker
//	  0.76  runtime.MutexProfile
//	crypto/sha256.New
//	  0.96  crypto/sha1.New
//	  0.93  crypto/sha256.New224
//	  0.93  crypto/md5.New
//	  0.93  crypto/sha512.New
//
// In production, add a filter such as Where("kind = ?", "func"). The column kind then needs a storage-attached index
// (Cassandra), or must be a filter column of the vector index (ScyllaDB).
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/vecql/vecql/examples/internal/godoc"
	"github.com/vecql/vecql/search"
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
	docs, err := search.Open[godoc.Doc](ctx, library.Session, "examples.docs")
	if err != nil {
		return err
	}
	for _, key := range [][]any{{"strings", "Cut"}, {"sync", "Mutex"}, {"crypto/sha256", "New"}} { // primary keys
		fmt.Fprintf(out, "%s.%s\n", key...)
		similar, err := docs.MinScore(0.75).Like(ctx, 4, key...)
		if err != nil {
			return err
		}
		for _, hit := range similar.Hits {
			fmt.Fprintf(out, "  %.2f  %s\n", hit.Score, hit.Row.Name())
		}
	}
	return nil
}
