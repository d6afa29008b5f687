// SPDX-License-Identifier: Apache-2.0

//go:build !fork && !v2

package gocql_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// The functions that docs/gocql/verbs.md shows: of a program on gocql, and of the same program on vecql's own verbs.

type Item struct {
	ID    int
	Name  string
	Price int64
}

func insertBefore(session *gocql.Session, item Item) error {
	return session.Query("INSERT INTO shop.items (id, name, price) VALUES (?, ?, ?)", item.ID, item.Name, item.Price).Exec()
}

type Store struct {
	insert *vecql.Statement[Item]
}

func newStore(ctx context.Context, session *vecql.Session) (*Store, error) {
	insert, err := vecql.Prepare[Item](ctx, session.Query(vecql.InsertInto[Item]("shop.items")))
	return &Store{insert}, err
}

func (s *Store) Insert(ctx context.Context, item Item) error { return s.insert.Exec(ctx, &item) }

func itemsBefore(session *gocql.Session) ([]Item, error) {
	var items []Item
	var item Item
	it := session.Query("SELECT id, name, price FROM shop.items").Iter()
	for it.Scan(&item.ID, &item.Name, &item.Price) {
		items = append(items, item)
	}
	return items, it.Close()
}

func items(ctx context.Context, session *vecql.Session) iter.Seq2[Item, error] {
	return vecql.Rows[Item](ctx, session.Query(vecql.SelectFrom[Item]("shop.items")))
}

func itemBefore(session *gocql.Session, id int) (Item, error) {
	item := Item{ID: id}
	err := session.Query("SELECT name, price FROM shop.items WHERE id = ?", id).Scan(&item.Name, &item.Price)
	if err == gocql.ErrNotFound {
		return item, fmt.Errorf("no item %d", id)
	}
	return item, err
}

func item(ctx context.Context, session *vecql.Session, id int) (Item, error) {
	item, err := vecql.OneRow[Item](ctx, session.Query("SELECT id, name, price FROM shop.items WHERE id = ?", id))
	if errors.Is(err, vecql.ErrNotFound) {
		return item, fmt.Errorf("no item %d", id)
	}
	return item, err
}

func pageBefore(session *gocql.Session, state []byte) (names []string, next []byte, err error) {
	it := session.Query("SELECT name FROM shop.items").PageSize(2).PageState(state).Iter()
	next = it.PageState()
	var name string
	for scanner := it.Scanner(); scanner.Next(); names = append(names, name) {
		if err := scanner.Scan(&name); err != nil {
			return nil, nil, err
		}
	}
	return names, next, it.Close()
}

func page(ctx context.Context, session *vecql.Session, token cql.PageToken) ([]string, cql.PageToken, error) {
	query := session.Query("SELECT name FROM shop.items").PageSize(2).PageState(token)
	for page, err := range vecql.Pages[string](ctx, query) {
		return page.Rows, page.Source.NextPage, err
	}
	return nil, nil, nil
}

func insertAllBefore(session *gocql.Session, all []Item) error {
	requests := make(chan error, len(all))
	for _, item := range all {
		go func() { requests <- insertBefore(session, item) }()
	}
	var failed error
	for range all {
		failed = errors.Join(failed, <-requests)
	}
	return failed
}

func insertAll(ctx context.Context, session *vecql.Session, all []Item) error {
	w, err := bulk.New(ctx, session, vecql.InsertInto[Item]("shop.items"), bulk.Options{})
	if err != nil {
		return err
	}
	return errors.Join(bulk.Rows(ctx, w, all), w.Close(ctx))
}

func writeTimedOutBefore(err error) bool {
	_, ok := err.(*gocql.RequestErrWriteTimeout)
	return ok
}

func writeTimedOut(err error) bool {
	var timeout *cql.WriteTimeoutError
	return errors.As(err, &timeout)
}

func TestMove(t *testing.T) {
	ctx := context.Background()
	c := newCluster(t, cqltest.Config{})
	old := newSession(t, c)
	session := old.Vecql()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(insertBefore(old, Item{1, "lamp", 7}))
	store, err := newStore(ctx, session)
	check(err)
	check(store.Insert(ctx, Item{2, "chair", 8}))
	check(insertAllBefore(old, []Item{{3, "table", 9}}))
	check(insertAll(ctx, session, []Item{{4, "bed", 10}}))

	before, err := itemsBefore(old)
	check(err)
	var after []Item
	for row, err := range items(ctx, session) {
		check(err)
		after = append(after, row)
	}
	if len(before) != 4 || !slices.Equal(before, after) {
		t.Error(before, after)
	}
	for id := range 6 {
		one, err := itemBefore(old, id)
		two, errTwo := item(ctx, session, id)
		if fmt.Sprint(err) != fmt.Sprint(errTwo) || err == nil && one != two {
			t.Error(one, err, two, errTwo)
		}
	}
	names, state, err := pageBefore(old, nil)
	check(err)
	same, token, err := page(ctx, session, nil)
	check(err)
	if len(names) != 2 || !slices.Equal(names, same) || string(state) != string(token) {
		t.Error(names, state, same, token)
	}

	c.Inject(cqltest.Fault{Statement: "INSERT", Error: &cqltest.Error{Code: cqltest.CodeWriteTimeout, WriteType: "SIMPLE"}})
	if !writeTimedOutBefore(insertBefore(old, Item{})) || !writeTimedOut(store.Insert(ctx, Item{})) {
		t.Error("a write timeout was not recognized")
	}
}
