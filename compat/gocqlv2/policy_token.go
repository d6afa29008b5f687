// SPDX-License-Identifier: Apache-2.0

package gocql

import api "github.com/vecql/vecql/compat/api"

// The token-aware policy. Its Pick takes the replicas of a partition from vecql, which passes them with the statement.

// ShuffleReplicas spreads the requests of one partition over its replicas.
func ShuffleReplicas() func(*tokenAwareHostPolicy) {
	return func(t *tokenAwareHostPolicy) { t.shuffle = true }
}

// DoNotShuffleReplicas sends the requests of one partition to the same replica.
func DoNotShuffleReplicas() func(*tokenAwareHostPolicy) {
	return func(t *tokenAwareHostPolicy) { t.shuffle = false }
}

// NonLocalReplicasFallback tries remote replicas before local nodes that are not replicas.
func NonLocalReplicasFallback() func(policy *tokenAwareHostPolicy) {
	return func(t *tokenAwareHostPolicy) { t.nonLocal = true }
}

// TokenAwareHostPolicy sends a request to the replicas of its partition first, then to the nodes of fallback.
func TokenAwareHostPolicy(fallback HostSelectionPolicy, opts ...func(*tokenAwareHostPolicy)) HostSelectionPolicy {
	t := &tokenAwareHostPolicy{around: api.NewAround[*HostInfo](fallback), fallback: fallback}
	for _, opt := range opts {
		opt(t)
	}
	return t
}

// ShuffledTokenAwareHostPolicy is TokenAwareHostPolicy with ShuffleReplicas.
func ShuffledTokenAwareHostPolicy(fallback HostSelectionPolicy, opts ...func(*tokenAwareHostPolicy),
) HostSelectionPolicy {
	return TokenAwareHostPolicy(fallback, append([]func(*tokenAwareHostPolicy){ShuffleReplicas()}, opts...)...)
}

// tokenAwareHostPolicy is TokenAwareHostPolicy with its options. The nodes and events are those of the fallback.
type tokenAwareHostPolicy struct {
	around
	fallback HostSelectionPolicy
	shuffle  bool
	nonLocal bool
}

type around = api.Around[*HostInfo]

func (t *tokenAwareHostPolicy) order() api.TokenOrder[*HostInfo] {
	return api.TokenOrder[*HostInfo]{
		Tier: api.TierOf[*HostInfo](t.fallback), NonLocal: t.nonLocal, Shuffle: t.shuffle,
	}
}

// Init implements HostSelectionPolicy.
func (t *tokenAwareHostPolicy) Init(s *Session) { t.fallback.Init(s) }

// KeyspaceChanged implements HostSelectionPolicy.
func (t *tokenAwareHostPolicy) KeyspaceChanged(e KeyspaceUpdateEvent) { t.fallback.KeyspaceChanged(e) }

// Pick implements HostSelectionPolicy.
func (t *tokenAwareHostPolicy) Pick(statement ExecutableStatement) NextHost {
	routed, ok := statement.(interface{ replicas() []*HostInfo })
	if !ok {
		return t.fallback.Pick(statement)
	}
	others := func() NextHost { return t.fallback.Pick(statement) }
	return api.Chain[*HostInfo](nextOf(t.order().Replicas(routed.replicas())), others)
}
