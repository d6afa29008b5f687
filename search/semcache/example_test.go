// SPDX-License-Identifier: Apache-2.0

package semcache_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"log"
	"strings"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/search/semcache"
)

// embed is a simple model: it hashes the words of a text into the elements of a vector. Articles have no meaning.
func embed(text string) []float32 {
	v := make([]float32, 64)
	for _, word := range strings.Fields(strings.ToLower(strings.Trim(text, "?.!"))) {
		if word == "the" || word == "a" {
			continue
		}
		h := fnv.New32a()
		h.Write([]byte(word))
		v[h.Sum32()%64]++
	}
	return v
}

// An answer is computed once for questions with the same meaning.
func Example() {
	cluster, err := cqltest.Start(cqltest.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	ctx := context.Background()
	session, err := vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: cluster.Hosts()})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	err = session.Query("CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3}").Exec(ctx)
	if err != nil {
		log.Fatal(err)
	}

	// The threshold, from pairs of questions that people have judged.
	var pairs []semcache.Pair
	for _, p := range []struct {
		a, b string
		same bool
	}{
		{"What is the capital of France?", "what is the capital of france", true},
		{"What is the capital of France?", "What is capital of the France", true},
		{"What is the capital of France?", "What is the capital of Spain?", false},
		{"What is the capital of France?", "How large is France?", false},
	} {
		pairs = append(pairs, semcache.Pair{A: embed(p.a), B: embed(p.b), Same: p.same})
	}
	report, err := semcache.Calibrate(pairs, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("threshold %.2f, recall %.0f %%\n", report.Best.Threshold, 100*report.Best.Recall)

	config := semcache.Config{
		Table: "shop.answers", Model: "words-1", Dimension: 64,
		Threshold: report.Best.Threshold, TTL: 24 * time.Hour,
		OnError: func(err error) { log.Print(err) }, // and go on without a cache
	}
	if err := semcache.Create(ctx, session, config); err != nil {
		log.Fatal(err)
	}
	answers, err := semcache.Open[string](ctx, session, config)
	if err != nil {
		log.Fatal(err)
	}
	for _, question := range []string{"What is the capital of France?", "What is capital of the France?", "What is the capital of Spain?"} {
		answer, err := answers.Do(ctx, embed(question), func(context.Context) (string, error) {
			fmt.Println("asking the model")
			return "an answer to: " + question, nil
		})
		fmt.Println(answer, err)
	}
	stats := answers.Stats()
	fmt.Println(stats.Hits, "hits,", stats.Misses, "misses")
	// Output:
	// threshold 0.10, recall 100 %
	// asking the model
	// an answer to: What is the capital of France? <nil>
	// an answer to: What is the capital of France? <nil>
	// asking the model
	// an answer to: What is the capital of Spain? <nil>
	// 1 hits, 2 misses
}
