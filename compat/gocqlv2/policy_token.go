// SPDX-License-Identifier: Apache-2.0

package gocql

import api "github.com/vecql/vecql/compat/api"

// The token-aware policy. Its Pick takes the replicas of a partition from vecql, which passes them with the statement.

// DoNotShuffleReplicas sends the requests of one partition to the same replica.
func DoNotShuffleReplicas() func(*tokenAwareHostPolicy) {
	return func(t *tokenAwareHostPolicy) { api.OrderOf(&t.aware).Shuffle = false }
}

// ShuffledTokenAwareHostPolicy returns a TokenAwareHostPolicy that shuffles replicas (ShuffleReplicas).
func ShuffledTokenAwareHostPolicy(fallback HostSelectionPolicy, opts ...func(*tokenAwareHostPolicy),
) HostSelectionPolicy {
	return TokenAwareHostPolicy(fallback, append([]func(*tokenAwareHostPolicy){ShuffleReplicas()}, opts...)...)
}

// tokenAwareHostPolicy implements TokenAwareHostPolicy. The nodes and events come from the fallback.
type tokenAwareHostPolicy struct {
	aware
	fallback HostSelectionPolicy
}

// Init implements HostSelectionPolicy.
func (t *tokenAwareHostPolicy) Init(s *Session) { t.fallback.Init(s) }

// KeyspaceChanged implements HostSelectionPolicy.
func (t *tokenAwareHostPolicy) KeyspaceChanged(e KeyspaceUpdateEvent) { t.fallback.KeyspaceChanged(e) }

// Pick implements HostSelectionPolicy.
func (t *tokenAwareHostPolicy) Pick(statement ExecutableStatement) NextHost {
	rest := func() NextHost { return t.fallback.Pick(statement) }
	return api.PickAware(&t.aware, *api.OrderOf(&t.aware), statement, choose, rest)
}
