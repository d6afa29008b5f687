// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/vecql/vecql"
)

// Sessions of a worker: one for each cluster, shared by all DoFns of the process.

// closeAfter is how long a session is kept that no bundle uses. Runners do not tear down every DoFn, so that the last
// bundle of a pipeline is not recognizable.
var closeAfter = 10 * time.Second

var sessions = sessionPool{open: map[string]*sharedSession{}}

// A sessionPool holds the sessions of a process.
type sessionPool struct {
	mu   sync.Mutex
	open map[string]*sharedSession // by cluster
}

// A sharedSession is the session of a cluster.
type sharedSession struct {
	dialing sync.Mutex // held while the session is made
	session *vecql.Session

	uses int // guarded by sessionPool.mu
	idle *time.Timer
}

// A lease is the use of a session by one DoFn. The zero value uses none.
type lease struct {
	cluster string
	shared  *sharedSession
}

// acquire returns the session of a cluster, which remains open until release.
func (l *lease) acquire(ctx context.Context, cluster string) (*vecql.Session, error) {
	if l.shared != nil {
		return l.shared.session, nil
	}
	s := sessions.use(cluster)
	s.dialing.Lock()
	defer s.dialing.Unlock()
	if s.session == nil {
		cfg, err := clusterConfig(cluster)
		if err == nil {
			s.session, err = vecql.NewSession(ctx, cfg)
		}
		if err != nil {
			sessions.release(cluster, s)
			return nil, fmt.Errorf("beamvecql: connect: %w", err)
		}
	}
	l.cluster, l.shared = cluster, s
	return s.session, nil
}

// release ends the use of the session.
func (l *lease) release() {
	if l.shared != nil {
		sessions.release(l.cluster, l.shared)
		l.shared = nil
	}
}

// use counts a use of the session of a cluster.
func (p *sessionPool) use(cluster string) *sharedSession {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.open[cluster]
	if s == nil {
		s = &sharedSession{}
		p.open[cluster] = s
	}
	s.uses++
	if s.idle != nil {
		s.idle.Stop()
	}
	return s
}

// release counts the end of a use. The session is closed when it remains unused.
func (p *sessionPool) release(cluster string, s *sharedSession) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.uses--; s.uses == 0 {
		s.idle = time.AfterFunc(closeAfter, func() { p.close(cluster, s) })
	}
}

// close closes a session that is not in use.
func (p *sessionPool) close(cluster string, s *sharedSession) {
	p.mu.Lock()
	unused := s.uses == 0 && p.open[cluster] == s
	if unused {
		delete(p.open, cluster)
	}
	p.mu.Unlock()
	if !unused {
		return
	}
	s.dialing.Lock()
	defer s.dialing.Unlock()
	if s.session != nil {
		s.session.Close()
	}
}
