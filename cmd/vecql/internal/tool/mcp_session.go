// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"

	"github.com/vecql/vecql"
)

// The session of the calls of mcp.

// A sharedSession opens a session at the first use that succeeds. The session then follows the cluster by itself: a use
// while the cluster is lost fails, and later ones find it again.
type sharedSession struct {
	open    func(context.Context) (*vecql.Session, error)
	turns   chan struct{} // capacity 1: the goroutine that has sent may use the session below, then receives
	session *vecql.Session
}

func newSharedSession(open func(context.Context) (*vecql.Session, error)) *sharedSession {
	return &sharedSession{open: open, turns: make(chan struct{}, 1)}
}

// get returns the session. One caller opens it while the others wait.
func (s *sharedSession) get(ctx context.Context) (*vecql.Session, error) {
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.session != nil {
		return s.session, nil
	}
	session, err := s.open(ctx)
	if err == nil {
		s.session = session
	}
	return session, err
}

// close closes the session. Callers must not use it any more.
func (s *sharedSession) close() {
	s.turns <- struct{}{}
	defer func() { <-s.turns }()
	if s.session != nil {
		s.session.Close()
	}
}
