// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// TestSentinels.
func TestSentinels(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c)
	var id int
	if err := s.Query("SELECT id FROM items WHERE id = ?", 1).Scan(&id); err != gocql.ErrNotFound {
		t.Error(err)
	}
	if err := s.Query("SELECT id FROM items WHERE id = ?", 1).MapScan(map[string]any{}); err != gocql.ErrNotFound {
		t.Error(err)
	}
	if err := s.Query("USE shop").Exec(); err != gocql.ErrUseStmt {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Query("SELECT id FROM items").WithContext(ctx).Exec(); !is(err, context.Canceled) {
		t.Errorf("%T %v", err, err)
	}
	if _, err := s.KeyspaceMetadata(""); err != gocql.ErrNoKeyspace {
		t.Error(err)
	}
	if _, err := s.KeyspaceMetadata("none"); err != gocql.ErrKeyspaceDoesNotExist {
		t.Error(err)
	}
	big := s.NewBatch(gocql.UnloggedBatch)
	big.Entries = make([]gocql.BatchEntry, gocql.BatchSizeMaximum+1)
	if err := s.ExecuteBatch(big); err != gocql.ErrTooManyStmts {
		t.Error(err)
	}
	s.Close()
	if err := s.Query("SELECT id FROM items").Exec(); err != gocql.ErrSessionClosed {
		t.Error(err)
	}
	if !s.Closed() {
		t.Error("the session is open")
	}
}

// TestTimeoutsAreSentinels: the error of the session and the error of a context.
func TestTimeoutsAreSentinels(t *testing.T) { synctest.Test(t, timeoutsAreSentinels) }

func timeoutsAreSentinels(t *testing.T) {
	c := newCluster(t, cqltest.Config{Network: cqltest.InMemory})
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) {
		cfg.Timeout, cfg.Dialer = 20*time.Millisecond, c.Dialer()
	})
	rule := c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Drop: true})
	if err := s.Query("INSERT INTO items (id) VALUES (?)", 1).Exec(); !is(err, gocql.ErrTimeoutNoResponse) {
		t.Errorf("%T %v", err, err)
	}
	long, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if err := s.Query("INSERT INTO items (id) VALUES (?)", 1).WithContext(long).Exec(); !is(err, gocql.ErrTimeoutNoResponse) {
		t.Errorf("with the deadline of a context: %T %v", err, err)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := s.Query("INSERT INTO items (id) VALUES (?)", 1).WithContext(short).Exec(); !is(err, context.DeadlineExceeded) {
		t.Errorf("%T %v", err, err)
	}
	rule.Remove()
}

// is reports whether an error is a sentinel: by the operator, unless verbs wrap errors.
func is(err, sentinel error) bool { return err == sentinel || wraps && errors.Is(err, sentinel) }

// TestSentinelsAreThoseOfVecqlToo, for programs that use both, and have the texts that programs compare.
func TestSentinelsAreThoseOfVecqlToo(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	err := s.Query("SELECT id FROM items WHERE id = ?", 1).Scan(new(int))
	if err != gocql.ErrNotFound || !errors.Is(err, vecql.ErrNotFound) || err.Error() != "not found" {
		t.Errorf("%T %v", err, err)
	}
	if _, err := gocql.NewCluster().CreateSession(); err != gocql.ErrNoHosts || err.Error() != "no hosts provided" {
		t.Errorf("%T %v", err, err)
	}
}

// TestSchemaDisagreementIsNoError: a change of the schema succeeds although the nodes do not agree in time.
func TestSchemaDisagreementIsNoError(t *testing.T) {
	c := newCluster(t, cqltest.Config{Nodes: 2})
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) { cfg.MaxWaitSchemaAgreement = time.Millisecond })
	c.Node(1).SetSchemaVersion(&[16]byte{1})
	run(t, s, "CREATE TABLE other (id int PRIMARY KEY)")
}

// has returns a check of an error of a server: it has the type E, unwrapped unless verbs wrap errors, and its fields.
func has[E error](fields func(E) bool) func(error) bool {
	return func(err error) bool {
		var e E
		return errors.As(err, &e) && (wraps || err == error(e)) && fields(e)
	}
}

// TestEveryErrorOfAServerHasItsType and its fields.
func TestEveryErrorOfAServerHasItsType(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c)
	run(t, s, "INSERT INTO items (id) VALUES (?)", 1)
	failed := map[netip.Addr]uint16{netip.MustParseAddr("10.0.0.7"): 3}
	for _, test := range []struct {
		send  cqltest.Error
		check func(error) bool
	}{
		{cqltest.Error{Code: cqltest.CodeUnavailable, Required: 2, Alive: 1}, has(func(e *gocql.RequestErrUnavailable) bool {
			return e.Required == 2 && e.Alive == 1 && e.Consistency == gocql.Quorum &&
				e.String() == "[request_error_unavailable consistency=QUORUM required=2 alive=1]"
		})},
		{cqltest.Error{Code: cqltest.CodeWriteTimeout, Received: 1, Required: 2, WriteType: "SIMPLE"}, has(func(e *gocql.RequestErrWriteTimeout) bool {
			return e.Received == 1 && e.BlockFor == 2 && e.WriteType == "SIMPLE" && e.Consistency == gocql.Quorum
		})},
		{cqltest.Error{Code: cqltest.CodeReadTimeout, Received: 1, Required: 2, DataPresent: true}, has(func(e *gocql.RequestErrReadTimeout) bool {
			return e.Received == 1 && e.BlockFor == 2 && e.DataPresent == 1 && e.Consistency == gocql.Quorum
		})},
		{cqltest.Error{Code: cqltest.CodeReadFailure, Received: 1, Required: 2, Failures: failed}, has(func(e *gocql.RequestErrReadFailure) bool {
			return e.Received == 1 && e.BlockFor == 2 && !e.DataPresent && e.NumFailures == 1 && (protocol < 5 || e.ErrorMap["10.0.0.7"] == 3)
		})},
		{cqltest.Error{Code: cqltest.CodeWriteFailure, Received: 1, Required: 2, WriteType: "BATCH", Failures: failed}, has(func(e *gocql.RequestErrWriteFailure) bool {
			return e.Received == 1 && e.BlockFor == 2 && e.WriteType == "BATCH" && e.NumFailures == 1 && (protocol < 5 || e.ErrorMap["10.0.0.7"] == 3)
		})},
		{cqltest.Error{Code: cqltest.CodeCASWriteUnknown, Received: 1, Required: 2}, has(func(e *gocql.RequestErrCASWriteUnknown) bool {
			return e.Received == 1 && e.BlockFor == 2 && e.Consistency == gocql.Quorum
		})},
		{cqltest.Error{Code: cqltest.CodeFunctionFailure, Keyspace: "k", Function: "f", ArgTypes: []string{"int"}}, has(func(e *gocql.RequestErrFunctionFailure) bool {
			return e.Keyspace == "k" && e.Function == "f" && len(e.ArgTypes) == 1
		})},
		{cqltest.Error{Code: cqltest.CodeAlreadyExists, Keyspace: "k", Table: "t"}, has(func(e *gocql.RequestErrAlreadyExists) bool {
			return e.Keyspace == "k" && e.Table == "t"
		})},
		{cqltest.Error{Code: cqltest.CodeCDCWriteFailure}, has(func(e *gocql.RequestErrCDCWriteFailure) bool { return true })},
		{cqltest.Error{Code: cqltest.CodeSyntax}, func(error) bool { return true }},
		{cqltest.Error{Code: cqltest.CodeServer}, func(error) bool { return true }},
	} {
		test.send.Message = "as sent"
		rule := c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: &test.send})
		err := s.Query("INSERT INTO items (id) VALUES (?)", 1).RetryPolicy(&gocql.SimpleRetryPolicy{}).Exec()
		rule.Remove()
		if codeOf(err) != int(test.send.Code) || !strings.HasPrefix(err.Error(), "as sent") || !test.check(err) {
			t.Errorf("%x: %T %v", test.send.Code, err, err)
		}
	}
}

// TestErrorsAsByValue finds nothing, as with gocql, but does not panic.
func TestErrorsAsByValue(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c)
	fail(c, "INSERT", cqltest.Error{Code: cqltest.CodeWriteTimeout})
	var byValue gocql.RequestErrWriteTimeout
	if errors.As(s.Query("INSERT INTO items (id) VALUES (?)", 1).Exec(), &byValue) {
		t.Error(byValue)
	}
}

var errOfProgram = errors.New("of the program")

// refusing is a value that refuses to encode and decode itself.
type refusing struct{}

func (refusing) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return nil, errOfProgram }
func (refusing) UnmarshalCQL(gocql.TypeInfo, []byte) error { return errOfProgram }

// TestErrorsOfTheProgramAreReturnedAsTheyAre: errors of values, at any depth, and of functions that bind values.
func TestErrorsOfTheProgramAreReturnedAsTheyAre(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	run(t, s, "INSERT INTO items (id, name, tags, home) VALUES (?, ?, ?, ?)", 1, "lamp", []string{"a"}, map[string]any{"street": "Elm"})
	bind := func(*gocql.QueryInfo) ([]any, error) { return nil, errOfProgram }
	batch := s.NewBatch(gocql.LoggedBatch)
	batch.Bind("INSERT INTO items (id) VALUES (?)", bind)
	for name, err := range map[string]error{
		"Marshaler":           s.Query("INSERT INTO items (id, name) VALUES (?, ?)", 1, refusing{}).Exec(),
		"Marshaler in a list": s.Query("INSERT INTO items (id, tags) VALUES (?, ?)", 1, []refusing{{}}).Exec(),
		"UDTMarshaler":        s.Query("INSERT INTO items (id, home) VALUES (?, ?)", 1, udtRefusing{}).Exec(),
		"Unmarshaler":         s.Query("SELECT name FROM items WHERE id = ?", 1).Scan(&refusing{}),
		"in a list":           s.Query("SELECT tags FROM items WHERE id = ?", 1).Scan(&[]refusing{}),
		"UDTUnmarshaler":      s.Query("SELECT home FROM items WHERE id = ?", 1).Scan(&udtRefusing{}),
		"Bind":                s.Bind("INSERT INTO items (id) VALUES (?)", bind).Exec(),
		"Batch.Bind":          s.ExecuteBatch(batch),
	} {
		if !is(err, errOfProgram) {
			t.Errorf("%s: %T %v", name, err, err)
		}
	}
}

// udtRefusing is refusing as a user-defined type only.
type udtRefusing struct{}

func (udtRefusing) MarshalUDT(string, gocql.TypeInfo) ([]byte, error) { return nil, errOfProgram }
func (udtRefusing) UnmarshalUDT(string, gocql.TypeInfo, []byte) error { return errOfProgram }
