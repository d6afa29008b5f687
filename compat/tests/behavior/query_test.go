// SPDX-License-Identifier: Apache-2.0

package behavior

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/vecql/vecql/cqltest"
)

// Queries: states of pages, values without markers, connections that are lost, zero values.

// pages returns the rows of each page of a query that begins at a state.
func pages(s *session, size int, state []byte) string {
	var all []string
	for range 10 {
		it := s.Query("SELECT id FROM items").PageSize(size).PageState(state).Iter()
		rows, id := 0, 0
		for it.Scan(&id) {
			rows++
		}
		state = it.PageState()
		all = append(all, fmt.Sprintf("%d rows of %d, state %v, %s", rows, it.NumRows(), len(state) > 0, kind(it.Close())))
		if len(state) == 0 {
			break
		}
	}
	return strings.Join(all, "; ")
}

func TestStatesOfPages(t *testing.T) {
	s := open(t, cluster(t, 3))
	for i := range 5 {
		if err := s.Query(insert, i, "a").Exec(); err != nil {
			t.Fatal(err)
		}
	}
	var scenarios []scenario
	for name, state := range map[string][]byte{"nil": nil, "empty": {}, "wrong": []byte("x")} {
		for _, size := range []int{2, 5, 100} {
			scenarios = append(scenarios, scenario{fmt.Sprintf("%s, pages of %d", name, size), func() string {
				return pages(s, size, state)
			}})
		}
	}
	compare(t, scenarios, nil)
}

// withoutMarkers are statements with values but without markers.
var withoutMarkers = []string{
	"CREATE TABLE IF NOT EXISTS extra (id int PRIMARY KEY)",
	"ALTER TABLE extra ADD more text",
	"TRUNCATE extra",
	"DROP TABLE extra",
	"CREATE KEYSPACE IF NOT EXISTS other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	"DROP KEYSPACE other",
	"CREATE TABLE with a fault",
	"SELECT id FROM items",
	"INSERT INTO items (id) VALUES (1)",
	"TRUNCATE",
	"",
}

func TestValuesWithoutMarkers(t *testing.T) {
	s := open(t, cluster(t, 3))
	var scenarios []scenario
	for i, stmt := range withoutMarkers {
		for n, values := range [][]any{{}, {1}, {"a", nil, []int{2}}} {
			for verb, run := range map[string]func(*query) error{
				"Exec": (*query).Exec, "Iter": func(q *query) error { return q.Iter().Close() },
				"Scan": func(q *query) error { return q.Scan() },
			} {
				scenarios = append(scenarios, scenario{fmt.Sprintf("%02d %s, %d values, %s", i, stmt, n, verb), func() string {
					return kind(run(s.Query(stmt, values...)))
				}})
			}
		}
		scenarios = append(scenarios, scenario{fmt.Sprintf("%02d %s, a binding", i, stmt), func() string {
			return kind(s.Bind(stmt, func(*queryInfo) ([]any, error) { return []any{1}, nil }).Exec())
		}})
	}
	compare(t, scenarios, nil)
}

func TestLostConnection(t *testing.T) {
	var scenarios []scenario
	for name, f := range map[string]cqltest.Fault{
		"closed within an answer":   {Op: cqltest.OpExecute, Close: true, CloseAfter: 12},
		"closed after the header":   {Op: cqltest.OpExecute, Close: true, CloseAfter: 9},
		"closed within the request": {Op: cqltest.OpExecute, CloseRequestAfter: 12},
	} {
		for verb, stmt := range map[string]string{"select": "SELECT id FROM items WHERE id = ?", "insert": "INSERT INTO items (id) VALUES (?)"} {
			scenarios = append(scenarios, scenario{name + ", " + verb, func() string {
				c := cluster(t, 3)
				w := &watcher{short: true}
				s := open(t, c)
				defer s.Close()
				err := s.Query(stmt, 1).Exec()
				f.Times = 1
				c.Inject(f)
				lost := s.Query(stmt, 1).Observer(w).RetryPolicy(&simpleRetry{}).Exec()
				return kind(err) + ", " + text(lost) + ", " + w.String()
			}})
		}
	}
	compare(t, scenarios, lostDifferences)
}

func TestZeroValues(t *testing.T) {
	var scenarios []scenario
	for name, zero := range map[string]any{
		"HostInfo": &hostInfo{}, "Iter": &iter{}, "Query": &query{}, "Batch": &batch{}, "ClusterConfig": &clusterConfig{},
		"SimpleRetryPolicy": &simpleRetry{}, "DowngradingConsistencyRetryPolicy": &downgradeRetry{},
	} {
		v := reflect.ValueOf(zero)
		for i := range v.NumMethod() {
			method := v.Type().Method(i).Name
			if v.Method(i).Type().NumIn() > 0 || method == "String" || method == "CreateSession" ||
				method == "CreateSessionNonBlocking" || method == "Vecql" {
				continue
			}
			scenarios = append(scenarios, scenario{name + "." + method, func() string {
				var texts []string
				for _, out := range v.Method(i).Call(nil) {
					switch value := out.Interface().(type) {
					case error:
						texts = append(texts, text(value))
					default:
						texts = append(texts, render(out))
					}
				}
				return strings.Join(texts, ", ")
			}})
		}
	}
	scenarios = append(scenarios, filterScenarios()...)
	compare(t, scenarios, zeroDifferences)
}

// render returns a value without its address.
func render(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Chan, reflect.Interface:
		return fmt.Sprintf("%s nil=%v", v.Type().Kind(), v.IsNil())
	}
	return fmt.Sprintf("%v", v.Interface())
}

// TestTextsOfErrors: programs print and compare them.
func TestTextsOfErrors(t *testing.T) {
	var scenarios []scenario
	for name, err := range sentinels {
		scenarios = append(scenarios, scenario{name, func() string { return err.Error() }})
	}
	for _, n := range []int{0, 1, 15, 17} {
		scenarios = append(scenarios, scenario{fmt.Sprintf("a UUID of %d bytes", n), func() string {
			_, err := uuidFrom(make([]byte, n))
			return text(err)
		}})
	}
	for _, s := range []string{"", "x", strings.Repeat("0", 31), strings.Repeat("g", 32), strings.Repeat("0-", 32)} {
		scenarios = append(scenarios, scenario{fmt.Sprintf("the UUID %q", s), func() string {
			_, err := parseUUID(s)
			return text(err)
		}})
	}
	compare(t, scenarios, nil)
}
