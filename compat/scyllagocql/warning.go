// SPDX-License-Identifier: Apache-2.0

package gocql

import "github.com/vecql/vecql/cql"

// Warnings of servers.

// A WarningHandler receives the warnings of servers.
type WarningHandler interface {
	HandleWarnings(qry ExecutableQuery, host *HostInfo, warnings []string)
}

// A WarningHandlerBuilder returns the WarningHandler of a session, nil for none.
type WarningHandlerBuilder func(session *Session) WarningHandler

// DefaultWarningHandler writes warnings to the logger of the session.
type DefaultWarningHandler struct{ logger StdLogger }

// DefaultWarningHandlerBuilder returns a DefaultWarningHandler.
func DefaultWarningHandlerBuilder(session *Session) WarningHandler {
	return DefaultWarningHandler{session.cfg.Logger}
}

// NoopWarningHandlerBuilder returns nil.
func NoopWarningHandlerBuilder(session *Session) WarningHandler { return nil }

// HandleWarnings implements WarningHandler.
func (d DefaultWarningHandler) HandleWarnings(qry ExecutableQuery, host *HostInfo, warnings []string) {
	switch {
	case d.logger == nil:
	case host != nil && host.HostID() != "":
		d.logger.Printf("[%s] warnings: %v", host.HostID(), warnings)
	default:
		d.logger.Printf("Cluster warnings: %v", warnings)
	}
}

// warn passes the warnings of the first page of a request to the WarningHandler.
func (s *Session) warn(request any, node *cql.Host, warnings []string) {
	if q, ok := request.(*Query); ok && q.quiet || s.warns == nil {
		return
	}
	s.warns.HandleWarnings(request.(ExecutableQuery), s.hosts.Of(node), warnings)
}
