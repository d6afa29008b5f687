// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// TestErrorsOfServersAreFoundByTypeSwitch, type assertion and errors.As, by pointer and by interface.
func TestErrorsOfServersAreFoundByTypeSwitch(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c)
	fail(c, "INSERT", cqltest.Error{Code: cqltest.CodeWriteTimeout, Message: "late", Received: 1, Required: 2, WriteType: "SIMPLE"})
	err := s.Query("INSERT INTO items (id) VALUES (?)", 1).Exec()
	switch e := err.(type) {
	case *gocql.RequestErrWriteTimeout:
		if e.Received != 1 || e.BlockFor != 2 || e.WriteType != "SIMPLE" || e.Consistency != gocql.Quorum || e.Error() != "late" ||
			e.Code() != gocql.ErrCodeWriteTimeout {
			t.Errorf("%+v", e)
		}
	default:
		t.Fatalf("%T %v", err, err)
	}
	var byInterface gocql.RequestError
	var byPointer *gocql.RequestErrWriteTimeout
	if !errors.As(err, &byInterface) || !errors.As(err, &byPointer) || byInterface.Message() != "late" {
		t.Error(byInterface, byPointer)
	}
	var byValue gocql.RequestErrWriteTimeout
	if errors.As(err, &byValue) { // false, as with gocql, but no panic
		t.Error(byValue)
	}
}

// TestServerErrorWithoutFieldsHasItsCode.
func TestServerErrorWithoutFieldsHasItsCode(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}))
	err := s.Query("SELECT nothing FROM items").Exec()
	e, ok := err.(gocql.RequestError)
	if !ok || e.Code() != gocql.ErrCodeInvalid || e.Message() != e.Error() || e.Message() == "" {
		t.Fatalf("%T %v", err, err)
	}
}

// TestSentinelsCompareWithTheOperator.
func TestSentinelsCompareWithTheOperator(t *testing.T) {
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
	if err := s.Query("SELECT id FROM items").WithContext(ctx).Exec(); err != context.Canceled {
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

// TestTimeoutsAreSentinels: that of the session and that of a context.
func TestTimeoutsAreSentinels(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) { cfg.Timeout = 20 * time.Millisecond })
	rule := c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Drop: true})
	if err := s.Query("INSERT INTO items (id) VALUES (?)", 1).Exec(); err != gocql.ErrTimeoutNoResponse {
		t.Errorf("%T %v", err, err)
	}
	long, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if err := s.Query("INSERT INTO items (id) VALUES (?)", 1).WithContext(long).Exec(); err != gocql.ErrTimeoutNoResponse {
		t.Errorf("with the deadline of a context: %T %v", err, err)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := s.Query("INSERT INTO items (id) VALUES (?)", 1).WithContext(short).Exec(); err != context.DeadlineExceeded {
		t.Errorf("%T %v", err, err)
	}
	rule.Remove()
}

// TestStartWithoutAReachableHost.
func TestStartWithoutAReachableHost(t *testing.T) {
	if _, err := gocql.NewCluster().CreateSession(); err != gocql.ErrNoHosts {
		t.Errorf("%T %v", err, err)
	}
	c := newCluster(t, cqltest.Config{})
	cfg := gocql.NewCluster(c.Hosts()...)
	cfg.Keyspace = "none"
	if _, err := cfg.CreateSession(); err != gocql.ErrNoConnectionsStarted {
		t.Errorf("a missing keyspace: %T %v", err, err)
	}
	c.Close()
	if _, err := cfg.CreateSession(); err == nil || !errors.Is(err, vecql.ErrNoConnectionsStarted) || !strings.Contains(err.Error(), c.Hosts()[0]) {
		t.Errorf("no node: %T %v", err, err)
	}
}

var errOfProgram = errors.New("of the program")

// refusing is a value that refuses to encode and decode itself.
type refusing struct{}

func (refusing) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return nil, errOfProgram }
func (refusing) UnmarshalCQL(gocql.TypeInfo, []byte) error { return errOfProgram }

// TestErrorsOfTheProgramAreReturnedAsTheyAre: those of values, at any depth, and of functions that bind values.
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
		if err != errOfProgram {
			t.Errorf("%s: %T %v", name, err, err)
		}
	}
}

// udtRefusing is refusing as a user-defined type only.
type udtRefusing struct{}

func (udtRefusing) MarshalUDT(string, gocql.TypeInfo) ([]byte, error) { return nil, errOfProgram }
func (udtRefusing) UnmarshalUDT(string, gocql.TypeInfo, []byte) error { return errOfProgram }

// TestSentinelsAreThoseOfVecqlToo, for programs that use both.
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

// TestEveryErrorOfAServerHasItsType and its fields.
func TestEveryErrorOfAServerHasItsType(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c)
	run(t, s, "INSERT INTO items (id) VALUES (?)", 1)
	for name, test := range map[string]struct {
		fault cqltest.Error
		check func(error) bool
	}{
		"unavailable": {cqltest.Error{Code: cqltest.CodeUnavailable, Required: 2, Alive: 1}, func(err error) bool {
			e, ok := err.(*gocql.RequestErrUnavailable)
			return ok && e.Required == 2 && e.Alive == 1 && e.Consistency == gocql.Quorum &&
				e.String() == "[request_error_unavailable consistency=QUORUM required=2 alive=1]"
		}},
		"read timeout": {cqltest.Error{Code: cqltest.CodeReadTimeout, Received: 1, Required: 2, DataPresent: true}, func(err error) bool {
			e, ok := err.(*gocql.RequestErrReadTimeout)
			return ok && e.Received == 1 && e.BlockFor == 2 && e.DataPresent == 1
		}},
		"read failure": {cqltest.Error{Code: cqltest.CodeReadFailure, Received: 1, Required: 2}, func(err error) bool {
			e, ok := err.(*gocql.RequestErrReadFailure)
			return ok && e.Received == 1 && e.BlockFor == 2 && !e.DataPresent
		}},
		"write failure": {cqltest.Error{Code: cqltest.CodeWriteFailure, Received: 1, Required: 2, WriteType: "BATCH"}, func(err error) bool {
			e, ok := err.(*gocql.RequestErrWriteFailure)
			return ok && e.BlockFor == 2 && e.WriteType == "BATCH"
		}},
		"CAS write unknown": {cqltest.Error{Code: cqltest.CodeCASWriteUnknown, Received: 1, Required: 2}, func(err error) bool {
			e, ok := err.(*gocql.RequestErrCASWriteUnknown)
			return ok && e.BlockFor == 2
		}},
		"function failure": {cqltest.Error{Code: cqltest.CodeFunctionFailure}, func(err error) bool {
			_, ok := err.(*gocql.RequestErrFunctionFailure)
			return ok
		}},
		"CDC write failure": {cqltest.Error{Code: cqltest.CodeCDCWriteFailure}, func(err error) bool {
			_, ok := err.(*gocql.RequestErrCDCWriteFailure)
			return ok
		}},
		"already exists": {cqltest.Error{Code: cqltest.CodeAlreadyExists}, func(err error) bool {
			_, ok := err.(*gocql.RequestErrAlreadyExists)
			return ok
		}},
		"syntax": {cqltest.Error{Code: cqltest.CodeSyntax, Message: "odd"}, func(err error) bool {
			e, ok := err.(gocql.RequestError)
			return ok && e.Code() == gocql.ErrCodeSyntax && err.Error() == "odd"
		}},
	} {
		fail(c, "INSERT", test.fault)
		if err := s.Query("INSERT INTO items (id) VALUES (?)", 1).Exec(); !test.check(err) {
			t.Errorf("%s: %T %v", name, err, err)
		}
	}
}
