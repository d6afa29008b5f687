// SPDX-License-Identifier: Apache-2.0

// A program that uses gocql. A line that has a finding ends with its name.
package main

import (
	"crypto/tls"

	"GOCQL"
	_ "GOCQL/debounce" // want GOCQL/debounce
)

type wrapped struct{ *gocql.ClusterConfig }

func cluster(verify bool) *gocql.ClusterConfig {
	c := &gocql.ClusterConfig{
		ProtoVersion: 3,                                       // want gocql.ClusterConfig.ProtoVersion
		RetryPolicy:  &gocql.SimpleRetryPolicy{NumRetries: 3}, // want gocql.ClusterConfig.RetryPolicy
		SslOpts:      &gocql.SslOptions{CaPath: "ca.pem"},     // want gocql.SslOptions
	}
	c.ProtoVersion = 4
	c.ProtoVersion, c.WriteTimeout = 2, 1 // want gocql.ClusterConfig.ProtoVersion gocql.ClusterConfig.WriteTimeout
	wrapped{c}.RetryPolicy = nil          // want gocql.ClusterConfig.RetryPolicy
	c.SslOpts = &gocql.SslOptions{Config: &tls.Config{}}
	c.SslOpts = &gocql.SslOptions{EnableHostVerification: true}
	c.SslOpts = &gocql.SslOptions{EnableHostVerification: verify} // want gocql.SslOptions
	var _ *gocql.SslOptions
	return c
}

func read(q *gocql.Query) {
	var name []byte
	var text string
	q.Iter().Scan(&name)
	for it := q.RetryPolicy(nil).Iter(); it.Scan(&text, &name); { // want gocql.Query.RetryPolicy gocql.Iter.Scan
	}
	for it := q.Iter(); it.Scan(&text); {
	}
	for range 2 {
		var own []byte
		q.Iter().Scan(&own)
	}
}

func main() { read(nil); cluster(true) }
