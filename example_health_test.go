// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/vecql/vecql"
)

// healthHandler answers 200 while a node serves requests, 503 otherwise, with the health of each node as JSON.
func healthHandler(session *vecql.Session) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		health := session.Health()
		w.Header().Set("Content-Type", "application/json")
		if !health.Serving {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(health)
	}
}

// A health check over HTTP. A program that must reach each node before it serves calls Ready at its start.
func ExampleSession_Health() {
	session, closeShop := openShop()
	defer closeShop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := session.Ready(ctx); err != nil {
		log.Fatal(err) // names the nodes that are not connected, and why
	}
	server := httptest.NewServer(healthHandler(session))
	defer server.Close()
	for range 2 {
		answer, err := http.Get(server.URL)
		if err != nil {
			log.Fatal(err)
		}
		var health struct {
			Serving, Ready bool
			Nodes          []struct{ Serving bool }
		}
		if err := json.NewDecoder(answer.Body).Decode(&health); err != nil {
			log.Fatal(err)
		}
		_ = answer.Body.Close()
		fmt.Println(answer.StatusCode, health)
		session.Close()
	}
	// Output:
	// 200 {true true [{true}]}
	// 503 {false false [{false}]}
}
