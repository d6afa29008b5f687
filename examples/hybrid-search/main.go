// SPDX-License-Identifier: Apache-2.0

// Command hybrid-search answers questions about Go's standard library by words and by meaning, and joins both answers
// by reciprocal rank fusion. A table of words is the index of the text.
//
//	go run ./examples/hybrid-search [host:port ...]
//
// Without hosts it starts a cluster in its own process. The last numbers are the ranks by meaning and by
// words, 0 for none. It prints:
//
//	wait for a group of goroutines to finish
//	  sync.WaitGroup [5 1]
//	  testing/synctest.Wait [4 3]
//	  runtime.Gosched [8 5]
//	walk a directory tree
//	  io/fs.WalkDir [1 3]
//	  path/filepath.Walk [3 1]
//	  path/filepath.WalkFunc [6 2]
//
// In production, let a search engine rank by words, or write the table of words with the rows.
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
	if err := indexWords(ctx, library.Session); err != nil {
		return err
	}
	for _, i := range []int{2, 12} {
		question := library.Questions[i]
		byMeaning, err := docs.All(ctx, question.Embedding, 50)
		if err != nil {
			return err
		}
		byWords, err := searchWords(ctx, library.Session, question.Text)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, question.Text)
		for _, best := range search.Fuse(godoc.Doc.Name, byMeaning.Hits, byWords)[:3] {
			fmt.Fprintf(out, "  %s %v\n", best.Row.Name(), best.Ranks)
		}
	}
	return nil
}
