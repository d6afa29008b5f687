// SPDX-License-Identifier: Apache-2.0

package gocql

import api "github.com/vecql/vecql/compat/api"

// Token awareness. Around a policy of this package it is vecql's. Around a policy of the program, or inside one, it
// orders the replicas that vecql reports for each request.

// tokenAwareHostPolicy implements TokenAwareHostPolicy. The nodes and their events come from fallback.
type tokenAwareHostPolicy struct {
	aware
	fallback HostSelectionPolicy

	_ []byte // not comparable, as in gocql
}

// Init implements HostSelectionPolicy.
func (p *tokenAwareHostPolicy) Init(*Session) {}

// KeyspaceChanged implements HostSelectionPolicy.
func (p *tokenAwareHostPolicy) KeyspaceChanged(KeyspaceUpdateEvent) {}

// Pick implements HostSelectionPolicy: local replicas, with NonLocalReplicasFallback the other replicas by tier, then
// the nodes of the fallback.
func (p *tokenAwareHostPolicy) Pick(q ExecutableQuery) NextHost {
	rest := func() NextHost { return p.fallback.Pick(q) }
	return api.PickAware(&p.aware, *api.OrderOf(&p.aware), q, choose, rest)
}
