// SPDX-License-Identifier: Apache-2.0

// Command collections writes and reads sets, lists, maps, tuples and user-defined types.
//
//	go run ./examples/collections [host:port ...]
//
// Without hosts it starts a cluster in its own process. It prints:
//
//	emails  [ada@example.com ada@work.example]
//	scores  [3 1 2]
//	phones  map[home:555-0100 work:555-0199]
//	seen    2026-01-02 in Paris
//	home    12 Rue Cler, Paris, no zip
//	work    1 Main St, Boston, 02108
//
// In production, keep collections small: servers read them whole. A frozen value can only be replaced as a whole.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// An Address is a value of the user-defined type address: a field has the name of its Go field, or of its tag.
type Address struct {
	Street string
	City   string
	Zip    *string // nil is NULL
}

// A Sighting is a tuple: fields in their order.
type Sighting struct {
	On   time.Time
	City string
}

// A Person is a row of the table people.
type Person struct {
	ID     int
	Emails []string // a set
	Scores []int    // a list
	Phones map[string]string
	Seen   Sighting
	Home   *Address
	Places map[string]Address
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
		"CREATE TYPE IF NOT EXISTS examples.address (street text, city text, zip text)",
		`CREATE TABLE IF NOT EXISTS examples.people (id int PRIMARY KEY, emails set<text>, scores list<int>, phones map<text, text>,
			seen tuple<date, text>, home frozen<address>, places map<text, frozen<address>>)`,
	} {
		if err := session.Query(ddl).Exec(ctx); err != nil {
			return err
		}
	}
	zip := "02108"
	insert, err := vecql.Prepare[Person](ctx, session.Query(vecql.InsertInto[Person]("examples.people")).Idempotent(true))
	if err != nil {
		return err
	}
	if err := insert.Exec(ctx, &Person{
		ID: 1, Emails: []string{"ada@example.com"}, Scores: []int{3, 1}, Phones: map[string]string{"home": "555-0100"},
		Seen: Sighting{time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), "Paris"}, Home: &Address{"12 Rue Cler", "Paris", nil},
		Places: map[string]Address{"work": {"1 Main St", "Boston", &zip}},
	}); err != nil {
		return err
	}
	// Elements are added without reading the row. scores + ? is not idempotent: twice adds two elements.
	update := session.Query("UPDATE examples.people SET emails = emails + ?, scores = scores + ?, phones[?] = ? WHERE id = ?",
		[]string{"ada@work.example"}, []int{2}, "work", "555-0199", 1)
	if err := update.Exec(ctx); err != nil {
		return err
	}
	ada, err := vecql.OneRow[Person](ctx, session.Query(vecql.SelectFrom[Person]("examples.people")+" WHERE id = ?", 1))
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "emails ", ada.Emails)
	fmt.Fprintln(out, "scores ", ada.Scores)
	fmt.Fprintln(out, "phones ", ada.Phones)
	fmt.Fprintln(out, "seen   ", ada.Seen.On.Format(time.DateOnly), "in", ada.Seen.City)
	fmt.Fprintln(out, "home   ", ada.Home)
	fmt.Fprintln(out, "work   ", ada.Places["work"])
	return nil
}

// String returns the address in one line.
func (a Address) String() string {
	zip := "no zip"
	if a.Zip != nil {
		zip = *a.Zip
	}
	return fmt.Sprintf("%s, %s, %s", a.Street, a.City, zip)
}
