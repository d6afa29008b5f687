// SPDX-License-Identifier: Apache-2.0

//go:build fork

package gocql_test

import (
	"errors"
	"testing"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// TestErrorsOfServersAreWrapped in a QueryError, and found by errors.As.
func TestErrorsOfServersAreWrapped(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	s := newSession(t, c)
	fail(c, "INSERT", cqltest.Error{Code: cqltest.CodeWriteTimeout, Message: "late", Received: 1, Required: 2, WriteType: "SIMPLE"})
	err := s.Query("INSERT INTO items (id) VALUES (?)", 1).Exec()
	var e *gocql.RequestErrWriteTimeout
	if !errors.As(err, &e) || e.Received != 1 || e.BlockFor != 2 || e.WriteType != "SIMPLE" || e.Consistency != gocql.Quorum ||
		e.Error() != "late" || e.Code != gocql.ErrCodeWriteTimeout || e.GetMessage() != "late" {
		t.Fatalf("%T %v", err, err)
	}
	sent, ok := err.(*gocql.QueryError)
	if !ok || !sent.PotentiallyExecuted() || sent.IsIdempotent() || sent.Error() != "late (potentially executed: true)" {
		t.Errorf("%T %v", err, err)
	}
	err = s.Query("SELECT nothing FROM items").Exec()
	if codeOf(err) != gocql.ErrCodeInvalid || !errors.As(err, &sent) || sent.PotentiallyExecuted() {
		t.Errorf("%T %v", err, err)
	}
}
