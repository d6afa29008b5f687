// SPDX-License-Identifier: Apache-2.0

// Command chat-prompt finds what a language model needs for an answer (retrieval-augmented generation): the doc
// comments nearest to a question, but not to each other. It prints the prompt, and sends it to no model.
//
//	go run ./examples/chat-prompt [host:port ...]
//
// Without hosts it starts a cluster in its own process. It prints:
//
//	Answer the question from these sources alone. Name the number of the source of each fact.
//	[1] runtime.Goexit: Goexit terminates the goroutine that calls it.
//	[2] sync.WaitGroup: A WaitGroup is a counting semaphore typically used to wait for a group of goroutines or tasks to finish.
//	[3] time.Sleep: Sleep pauses the current goroutine for at least the duration d.
//	[4] time.AfterFunc: AfterFunc waits for the duration to elapse and then calls f in its own goroutine.
//	[5] testing/synctest.Wait: Wait blocks until every goroutine within the current bubble, other than the current goroutine, is durably blocked.
//	Question: wait for a group of goroutines to finish?
//
// In production, bound the prompt by tokens of the model, and put a semantic cache (package semcache) before it.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/vecql/vecql/examples/internal/godoc"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// A Passage is a doc comment with its vector, which Diverse compares.
type Passage struct {
	Package, Symbol, Synopsis string
	Embedding                 []float32
}

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
	passages, err := search.Open[Passage](ctx, library.Session, "examples.docs")
	if err != nil {
		return err
	}
	question := library.Questions[2]
	near, err := passages.MinScore(0.7).Oversample(2).All(ctx, question.Embedding, 20)
	if err != nil {
		return err
	}
	vectorOf := func(p Passage) []float32 { return p.Embedding }
	chosen, err := search.Diverse(near.Hits, vectorOf, vector.Cosine, 0.8, 5)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "Answer the question from these sources alone. Name the number of the source of each fact.")
	for i, hit := range chosen {
		fmt.Fprintf(out, "[%d] %s.%s: %s\n", i+1, hit.Row.Package, hit.Row.Symbol, hit.Row.Synopsis)
	}
	fmt.Fprintf(out, "Question: %s?\n", question.Text)
	return nil
}
