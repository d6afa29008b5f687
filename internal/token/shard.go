// SPDX-License-Identifier: Apache-2.0

package token

import "math/bits"

// This file computes which shard of a ScyllaDB node serves a token, or a connection (ScyllaDB's docs/dev/protocols.md and
// docs/dev/protocol-extensions.md, algorithm biased-token-round-robin).

// ShardOf returns the shard, from 0 to shards-1, that owns token t on a node of that many shards, which ignores the ignoreMSB most
// significant bits of a token. shards must be positive.
func ShardOf(t int64, shards int32, ignoreMSB uint8) int32 {
	biased := (uint64(t) + 1<<63) << ignoreMSB
	shard, _ := bits.Mul64(biased, uint64(shards))
	return int32(shard)
}

// ShardOfPort returns the shard that a connection from a client's local port gets on the shard-aware port of a node of that many shards,
// provided that nothing on the way changes the port. shards must be positive.
func ShardOfPort(port uint16, shards int32) int32 { return int32(port) % shards }
