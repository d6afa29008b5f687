// SPDX-License-Identifier: Apache-2.0

// Command lightweight-transactions opens an account once and withdraws from it without ever going below zero.
//
//	go run ./examples/lightweight-transactions [host:port ...]
//
// Without hosts it starts a cluster in its own process. It prints:
//
//	opened the account for ada
//	cannot open the account for bob: ada has it, with a balance of 55
//	5 of 10 withdrawals of 10 succeeded, 5 are left
//
// In production, a failed compare and set may have been applied (vecql.MayHaveApplied): read with consistency Serial to
// find out. Use LocalSerial, for all statements of a partition, if one data center decides.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"sync"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

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
		"CREATE TABLE IF NOT EXISTS examples.accounts (id int PRIMARY KEY, owner text, balance bigint)",
		"DELETE FROM examples.accounts WHERE id = 1 IF EXISTS", // of an earlier run
	} {
		if err := session.Query(ddl).Exec(ctx); err != nil {
			return err
		}
	}
	for _, owner := range []string{"ada", "bob"} {
		if err := open(ctx, session, owner, out); err != nil {
			return err
		}
	}
	var clients sync.WaitGroup
	errs := make([]error, 10)
	for i := range errs {
		clients.Go(func() { errs[i] = withdraw(ctx, session, 10) })
	}
	clients.Wait()
	succeeded := 0
	for _, err := range errs {
		switch {
		case err == nil:
			succeeded++
		case !errors.Is(err, errBalance):
			return err
		}
	}
	left, err := balance(ctx, session)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d of 10 withdrawals of 10 succeeded, %d are left\n", succeeded, left)
	return nil
}

// open creates the account unless it exists.
func open(ctx context.Context, session *vecql.Session, owner string, out io.Writer) error {
	insert := session.Query("INSERT INTO examples.accounts (id, owner, balance) VALUES (1, ?, 55) IF NOT EXISTS", owner)
	current := map[string]any{} // the row that exists, if the INSERT was not applied
	applied, err := insert.MapScanCAS(ctx, current)
	switch {
	case err != nil:
		return err
	case applied:
		fmt.Fprintln(out, "opened the account for", owner)
	default:
		fmt.Fprintf(out, "cannot open the account for %s: %v has it, with a balance of %v\n", owner, current["owner"],
			current["balance"])
	}
	return nil
}

// balance reads the result of all transactions that have ended: consistency Serial completes one that is unfinished.
func balance(ctx context.Context, session *vecql.Session) (int64, error) {
	query := session.Query("SELECT balance FROM examples.accounts WHERE id = 1").Consistency(cql.Serial)
	return vecql.OneRow[int64](ctx, query)
}

var errBalance = errors.New("the balance does not suffice")

// withdraw subtracts amount by compare and set, or returns errBalance.
func withdraw(ctx context.Context, session *vecql.Session, amount int64) error {
	current, err := balance(ctx, session)
	for err == nil && current >= amount {
		update := session.Query("UPDATE examples.accounts SET balance = ? WHERE id = 1 IF balance = ?", current-amount, current)
		var applied bool
		if applied, err = update.ScanCAS(ctx, &current); applied { // else current is the balance of another client
			return nil
		}
	}
	if err == nil {
		err = errBalance
	}
	return err
}
