// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// This file prepares statements: which ones, once, and again on a node that has forgotten them.

// firstWord returns the first word of a statement in upper case.
func firstWord(stmt string) string {
	stmt = strings.TrimLeft(stmt, " \t\r\n;(")
	end := strings.IndexFunc(stmt, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') })
	if end < 0 {
		end = len(stmt)
	}
	switch word := stmt[:end]; word { // the usual spelling needs no copy
	case "SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN":
		return word
	default:
		return strings.ToUpper(word)
	}
}

// preparable reports whether a statement without values is worth preparing: what may run again, not DDL.
func preparable(stmt string) bool {
	switch firstWord(stmt) {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN":
		return true
	}
	return false
}

// prepareFor is prepare for a call.
func (s *Session) prepareFor(ctx context.Context, c *call, keyspace, text string) (*statement, error) {
	if stmt := s.statements.known(statementKey{keyspace: keyspace, text: text}); stmt != nil {
		s.counters.of(c).preparedHits.Add(1)
		return stmt, nil
	}
	stmt, err := s.prepare(ctx, keyspace, text)
	c.req.began = time.Now() // it may have taken long
	return stmt, err
}

// prepare returns the plan of a statement.
func (s *Session) prepare(ctx context.Context, keyspace, text string) (*statement, error) {
	if s.closed.Load() {
		return nil, ErrSessionClosed
	}
	key := statementKey{keyspace: keyspace, text: text}
	if stmt := s.statements.known(key); stmt != nil {
		return stmt, nil
	}
	return s.statements.get(ctx, key, func() (*statement, error) {
		s.counters.prepares.Add(1)
		c := call{req: request{op: opPrepare, body: getBuffer(len(text) + len(keyspace) + 16)}, idempotent: true}
		defer c.req.body.release()
		var err error
		if c.req.body.b, err = appendPrepare(c.req.body.b[:0], s.version, text, keyspace); err != nil {
			return nil, err
		}
		err = s.send(s.ctx, &c)
		if err != nil && s.closed.Load() {
			err = ErrSessionClosed // rather than that s.ctx ended, which no caller cancelled
		}
		var failure *RequestFailure
		if errors.As(err, &failure) {
			failure.applied = false // whatever became of the PREPARE, the statement was not executed
		}
		if err != nil {
			return nil, fmt.Errorf("prepare %q: %w", text, err)
		}
		defer c.answer.page.release()
		if kind := c.answer.res.kind; kind != resultPrepared {
			return nil, &ProtocolError{Message: fmt.Sprintf("PREPARE answered with result kind %d", kind)}
		}
		return newStatement(text, keyspace, c.answer.res.prepared), nil
	})
}

// prepareAgain prepares stmt on a node that has forgotten it, or never knew.
func (s *Session) prepareAgain(ctx context.Context, c *conn, stmt *statement) error {
	body := getBuffer(len(stmt.text) + len(stmt.keyspace) + 16)
	defer body.release()
	var err error
	if body.b, err = appendPrepare(body.b[:0], s.version, stmt.text, stmt.keyspace); err != nil {
		return err
	}
	s.counters.preparesAgain.Add(1)
	prepare := call{req: request{op: opPrepare, body: body}}
	if err := s.attempt(ctx, c, &prepare); err != nil {
		return fmt.Errorf("prepare %q again: %w", stmt.text, err)
	}
	a := &prepare.answer
	defer a.page.release()
	if a.res.kind != resultPrepared || string(a.res.prepared.id) != string(stmt.id) {
		// The bound values were encoded for the old metadata: another id means that they may not fit any more.
		s.statements.drop(statementKey{keyspace: stmt.keyspace, text: stmt.text}, stmt)
		return &ProtocolError{Message: fmt.Sprintf("prepare %q again: node %s gives it another id", stmt.text, c.addr())}
	}
	return nil
}

// attemptPrepared is attempt; a node that does not know a prepared statement gets it and is asked once more per statement.
func (s *Session) attemptPrepared(ctx context.Context, conn *conn, c *call) error {
	for again := 0; ; again++ {
		err := s.attempt(ctx, conn, c)
		if err == nil || again > len(c.stmts) || !errors.Is(err, CodeUnprepared) {
			return err
		}
		stmt, err := missingStatement(c, err)
		if err != nil {
			return &refusedError{err}
		}
		if err := s.prepareAgain(ctx, conn, stmt); err != nil {
			return &refusedError{err}
		}
		c.req.began = time.Now()
	}
}

// missingStatement returns which of the call's statements the node does not know.
func missingStatement(c *call, err error) (*statement, error) {
	var unprepared *RequestErrUnprepared
	if errors.As(err, &unprepared) {
		for _, known := range c.stmts {
			if string(known.id) == string(unprepared.StatementId) {
				return known, nil
			}
		}
	}
	return nil, &ProtocolError{Message: "the node misses a statement that the request does not hold", Err: err}
}
