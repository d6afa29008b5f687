// SPDX-License-Identifier: Apache-2.0

package gocql

// ScyllaDB's properties of a node.

// ScyllaHostFeatures are the extensions of a node. The fields of a HostInfo that the program made are empty.
type ScyllaHostFeatures struct { // the order of the API, which programs print
	partitioner    string
	shardAlgorithm string
	shards         int
	msbIgnore      uint64
	lwtMask        int
	rateLimitCode  int
	shardPort      uint16
	shardPortTLS   uint16
	present        bool
	metadataID     bool
}

// IsPresent reports whether the node is a ScyllaDB node.
func (f ScyllaHostFeatures) IsPresent() bool { return f.present }

// Partitioner returns the partitioner.
func (f ScyllaHostFeatures) Partitioner() string { return f.partitioner }

// ShardingAlgorithm returns the algorithm.
func (f ScyllaHostFeatures) ShardingAlgorithm() string { return f.shardAlgorithm }

// ShardsCount returns the number of shards.
func (f ScyllaHostFeatures) ShardsCount() int { return f.shards }

// MSBIgnore returns how many of the most significant bits of a token do not count for its shard.
func (f ScyllaHostFeatures) MSBIgnore() uint64 { return f.msbIgnore }

// LWTFlagMask returns the flag of a conditional statement.
func (f ScyllaHostFeatures) LWTFlagMask() int { return f.lwtMask }

// ShardAwarePort returns the shard-aware port, 0 for none.
func (f ScyllaHostFeatures) ShardAwarePort() uint16 { return f.shardPort }

// ShardAwarePortTLS returns the shard-aware port with TLS, 0 for none.
func (f ScyllaHostFeatures) ShardAwarePortTLS() uint16 { return f.shardPortTLS }

// RateLimitErrorCode returns the code of the rate limit error.
func (f ScyllaHostFeatures) RateLimitErrorCode() int { return f.rateLimitCode }

// IsMetadataIDSupported reports whether results have metadata ids.
func (f ScyllaHostFeatures) IsMetadataIDSupported() bool { return f.metadataID }

// ScyllaConnectionFeatures are the extensions of a connection. No function returns them.
type ScyllaConnectionFeatures struct {
	ScyllaHostFeatures
	shard int
}

// Shard returns the shard of the connection.
func (f ScyllaConnectionFeatures) Shard() int { return f.shard }

// ScyllaFeatures returns the extensions of the node.
func (h *HostInfo) ScyllaFeatures() ScyllaHostFeatures { return ScyllaHostFeatures{} }

// ScyllaShardAwarePort returns the shard-aware port, 0 for none.
func (h *HostInfo) ScyllaShardAwarePort() uint16 { return h.ScyllaFeatures().shardPort }

// ScyllaShardAwarePortTLS returns the shard-aware port with TLS, 0 for none.
func (h *HostInfo) ScyllaShardAwarePortTLS() uint16 { return h.ScyllaFeatures().shardPortTLS }

// ScyllaShardCount returns the number of shards, 0 for none.
func (h *HostInfo) ScyllaShardCount() int { return h.ScyllaFeatures().shards }
