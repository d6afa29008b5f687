// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cdc"
	"github.com/vecql/vecql/cqltest"
)

// A table with changes, for the program to read.

// demo makes four changes, and writes them to the folder.
func demo(ctx context.Context, hosts []string, folder string, out io.Writer) error {
	var cfg cdc.Config
	if len(hosts) == 0 {
		cluster, err := cqltest.Start(cqltest.Config{Scylla: &cqltest.Scylla{Tablets: 1}})
		if err != nil {
			return err
		}
		defer cluster.Close()
		hosts, cfg.Confidence = cluster.Hosts(), time.Millisecond // all clocks are one
	}
	session, err := vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: hosts})
	if err != nil {
		return err
	}
	defer session.Close()
	if err := change(ctx, session); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	cfg.Until, cfg.PageRows = time.Now().Add(5*time.Millisecond), 1
	return capture(ctx, session, cfg, folder, out)
}

// change creates the table, and changes it four times.
func change(ctx context.Context, session *vecql.Session) error {
	for _, text := range []string{
		"CREATE KEYSPACE IF NOT EXISTS examples WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}",
		"CREATE TABLE IF NOT EXISTS examples.orders (shop int, id int, total double, PRIMARY KEY (shop, id)) WITH cdc = {'enabled': true}",
		"INSERT INTO examples.orders (shop, id, total) VALUES (1, 1, 9.5)",
		"UPDATE examples.orders SET total = 12 WHERE shop = 1 AND id = 1",
		"INSERT INTO examples.orders (shop, id, total) VALUES (1, 2, 3.25)",
		"DELETE FROM examples.orders WHERE shop = 1 AND id = 1",
	} {
		if err := session.Query(text).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}
