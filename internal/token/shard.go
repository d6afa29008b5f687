// SPDX-License-Identifier: Apache-2.0

package token

import "math/bits"

// The shard of a ScyllaDB node that serves a token or a connection (ScyllaDB's docs/dev/protocols.md and
// docs/dev/protocol-extensions.md, algorithm biased-token-round-robin).

// ShardOf returns the shard, from 0 to shards-1, that owns token t on a node with that many shards that ignores the
// ignoreMSB most significant bits of a token. shards must be positive.
func ShardOf(t int64, shards int32, ignoreMSB uint8) int32 {
	biased := (uint64(t) + 1<<63) << ignoreMSB
	shard, _ := bits.Mul64(biased, uint64(shards))
	return int32(shard)
}

// ShardOfPort returns the shard that serves connections from a client's local port to the shard-aware port of a node,
// provided that nothing in between changes the port. shards must be positive.
func ShardOfPort(port uint16, shards int32) int32 { return int32(port) % shards }
