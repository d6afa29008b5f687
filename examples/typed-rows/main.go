// SPDX-License-Identifier: Apache-2.0

// Command typed-rows writes structs to a table and reads rows as structs.
//
//	go run ./examples/typed-rows [host:port ...]
//
// Without hosts it starts a cluster in its own process. It prints:
//
//	1 Overture 4m12s, not rated
//	2 Interlude 48s, rated 3.5
//	3 Finale 7m30s, rated 5.0
//	track 2 is rated 4.5 now
//	track 9 does not exist
//
// In production, prepare each statement once for the life of the session, and replicate the keyspace by
// NetworkTopologyStrategy.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// A Track is a row of the table tracks. A field has the column of its name, or of its tag.
type Track struct {
	Album  string
	Number int
	Title  string
	Length int64             `cql:"seconds"`
	Rating cql.Null[float32] // or *float32
}

// A Rating is the part of a row that an UPDATE needs.
type Rating struct {
	Album  string
	Number int
	Rating float32
}

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, hosts []string, out io.Writer) error {
	if len(hosts) == 0 {
		cluster, err := cqltest.Start(cqltest.Config{})
		if err != nil {
			return err
		}
		defer cluster.Close()
		hosts = cluster.Hosts()
	}
	session, err := vecql.NewSession(ctx, vecql.ClusterConfig{Hosts: hosts})
	if err != nil {
		return err
	}
	defer session.Close()
	for _, ddl := range []string{
		"CREATE KEYSPACE IF NOT EXISTS examples WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		`CREATE TABLE IF NOT EXISTS examples.tracks (album text, number int, title text, seconds bigint, rating float,
			PRIMARY KEY (album, number))`,
	} {
		if err := session.Query(ddl).Exec(ctx); err != nil {
			return err
		}
	}
	insert, err := vecql.Prepare[Track](ctx, session.Query(vecql.InsertInto[Track]("examples.tracks")).Idempotent(true))
	if err != nil {
		return err
	}
	for _, track := range []Track{
		{"Blue Hour", 1, "Overture", 252, cql.Null[float32]{}},
		{"Blue Hour", 2, "Interlude", 48, cql.NullOf[float32](3.5)},
		{"Blue Hour", 3, "Finale", 450, cql.NullOf[float32](5)},
	} {
		if err := insert.Exec(ctx, &track); err != nil { // without an allocation
			return err
		}
	}
	album := session.Query(vecql.SelectFrom[Track]("examples.tracks")+" WHERE album = ?", "Blue Hour")
	for track, err := range vecql.Rows[Track](ctx, album) {
		if err != nil {
			return err
		}
		rating := "not rated"
		if track.Rating.Valid {
			rating = fmt.Sprintf("rated %.1f", track.Rating.V)
		}
		fmt.Fprintf(out, "%d %s %v, %s\n", track.Number, track.Title, time.Duration(track.Length)*time.Second, rating)
	}
	update := session.Query(vecql.UpdateWhere[Rating]("examples.tracks", "album", "number")).Idempotent(true)
	rate, err := vecql.Prepare[Rating](ctx, update)
	if err != nil {
		return err
	}
	if err := rate.Exec(ctx, &Rating{"Blue Hour", 2, 4.5}); err != nil {
		return err
	}
	for _, number := range []int{2, 9} {
		one := session.Query(vecql.SelectFrom[Rating]("examples.tracks")+" WHERE album = ? AND number = ?", "Blue Hour", number)
		track, err := vecql.OneRow[Rating](ctx, one)
		switch {
		case errors.Is(err, vecql.ErrNotFound):
			fmt.Fprintln(out, "track", number, "does not exist")
		case err != nil:
			return err
		default:
			fmt.Fprintf(out, "track %d is rated %.1f now\n", number, track.Rating)
		}
	}
	return nil
}
