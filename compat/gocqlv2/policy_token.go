// SPDX-License-Identifier: Apache-2.0

package gocql

import "math/rand/v2"

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
	return func(t *tokenAwareHostPolicy) { t.replicasFirst = true }
}

// TokenAwareHostPolicy sends a request to the replicas of its partition first, then to the nodes of fallback.
func TokenAwareHostPolicy(fallback HostSelectionPolicy, opts ...func(*tokenAwareHostPolicy)) HostSelectionPolicy {
	t := &tokenAwareHostPolicy{fallback: fallback}
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

type tokenAwareHostPolicy struct {
	fallback      HostSelectionPolicy
	shuffle       bool
	replicasFirst bool
}

// The nodes and events are those of the fallback.

func (t *tokenAwareHostPolicy) Init(s *Session) { t.fallback.Init(s) }

func (t *tokenAwareHostPolicy) IsLocal(host *HostInfo) bool { return t.fallback.IsLocal(host) }

func (t *tokenAwareHostPolicy) KeyspaceChanged(e KeyspaceUpdateEvent) { t.fallback.KeyspaceChanged(e) }

func (t *tokenAwareHostPolicy) SetPartitioner(partitioner string) {
	t.fallback.SetPartitioner(partitioner)
}
func (t *tokenAwareHostPolicy) AddHost(host *HostInfo)    { t.fallback.AddHost(host) }
func (t *tokenAwareHostPolicy) RemoveHost(host *HostInfo) { t.fallback.RemoveHost(host) }
func (t *tokenAwareHostPolicy) HostUp(host *HostInfo)     { t.fallback.HostUp(host) }
func (t *tokenAwareHostPolicy) HostDown(host *HostInfo)   { t.fallback.HostDown(host) }

// AddHosts passes several nodes to the fallback.
func (t *tokenAwareHostPolicy) AddHosts(hosts []*HostInfo) {
	for _, h := range hosts {
		t.AddHost(h)
	}
}

// Pick implements HostSelectionPolicy.
func (t *tokenAwareHostPolicy) Pick(statement ExecutableStatement) NextHost {
	routed, ok := statement.(interface{ replicas() []*HostInfo })
	if !ok {
		return t.fallback.Pick(statement)
	}
	replicas := routed.replicas()
	if t.shuffle {
		rand.Shuffle(len(replicas), func(i, j int) { replicas[i], replicas[j] = replicas[j], replicas[i] })
	}
	var local, remote []*HostInfo
	for _, h := range replicas {
		if t.IsLocal(h) {
			local = append(local, h)
		} else if t.replicasFirst {
			remote = append(remote, h)
		}
	}
	first, seen := inOrder(append(local, remote...)), map[*HostInfo]bool{}
	var others NextHost
	return func() SelectedHost {
		if next := first(); next != nil {
			seen[next.Info()] = true
			return next
		}
		if others == nil {
			others = t.fallback.Pick(statement)
		}
		for next := others(); next != nil; next = others() {
			if !seen[next.Info()] {
				seen[next.Info()] = true
				return next
			}
		}
		return nil
	}
}
