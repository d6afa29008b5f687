// SPDX-License-Identifier: Apache-2.0

// Package tablets has ScyllaDB's tablets: ranges of tokens of a table, with their replicas.
package tablets

import (
	"encoding/hex"
	"fmt"
	"slices"
)

// A HostUUID is the id of a node.
type HostUUID [16]byte

// String returns the id with dashes.
func (u HostUUID) String() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// IsEmpty reports whether the id is zero.
func (u HostUUID) IsEmpty() bool { return u == HostUUID{} }

// ParseHostUUID parses an id with dashes.
func ParseHostUUID(s string) (HostUUID, error) {
	var u HostUUID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return u, fmt.Errorf("gocql: %.60q is not a host id", s)
	}
	if _, err := hex.Decode(u[:], []byte(s[:8]+s[9:13]+s[14:18]+s[19:23]+s[24:])); err != nil {
		return HostUUID{}, fmt.Errorf("gocql: %.60q is not a host id", s)
	}
	return u, nil
}

// MustParseHostUUID is ParseHostUUID but panics on an error.
func MustParseHostUUID(s string) HostUUID {
	u, err := ParseHostUUID(s)
	if err != nil {
		panic(err)
	}
	return u
}

// A ReplicaInfo is a replica: a shard of a node.
type ReplicaInfo struct {
	host  HostUUID
	shard int
}

// NewReplicaInfo returns a replica.
func NewReplicaInfo(hostID HostUUID, shardID int) ReplicaInfo { return ReplicaInfo{hostID, shardID} }

// HostID returns the id of the node as text.
func (r ReplicaInfo) HostID() string { return r.host.String() }

// HostUUIDValue returns the id of the node.
func (r ReplicaInfo) HostUUIDValue() HostUUID { return r.host }

// ShardID returns the shard.
func (r ReplicaInfo) ShardID() int { return r.shard }

// String returns the fields.
func (r ReplicaInfo) String() string {
	return fmt.Sprintf("ReplicaInfo{hostId:%s, shardId:%d}", r.host, r.shard)
}

// A TabletInfo is a tablet with its table.
type TabletInfo struct {
	keyspace, table string
	first, last     int64
	replicas        []ReplicaInfo
}

// A TabletInfoList is a list of tablets.
type TabletInfoList []TabletInfo

// NewTabletInfo returns a tablet.
func NewTabletInfo(keyspace, table string, firstToken, lastToken int64, replicas []ReplicaInfo) (TabletInfo, error) {
	if firstToken > lastToken {
		return TabletInfo{}, fmt.Errorf("gocql: the first token %d of a tablet is greater than its last token %d", firstToken,
			lastToken)
	}
	return TabletInfo{keyspace, table, firstToken, lastToken, replicas}, nil
}

// KeyspaceName returns the keyspace.
func (t TabletInfo) KeyspaceName() string { return t.keyspace }

// TableName returns the table.
func (t TabletInfo) TableName() string { return t.table }

// FirstToken returns the first token.
func (t TabletInfo) FirstToken() int64 { return t.first }

// LastToken returns the last token.
func (t TabletInfo) LastToken() int64 { return t.last }

// Replicas returns a copy of the replicas.
func (t TabletInfo) Replicas() []ReplicaInfo { return slices.Clone(t.replicas) }

// ReplicasUnsafe returns the replicas, which must not be changed.
func (t TabletInfo) ReplicasUnsafe() []ReplicaInfo { return t.replicas }

// A TabletEntry is a tablet of a table.
type TabletEntry TabletInfo

// A TabletEntryList is a list of tablets of a table.
type TabletEntryList []TabletEntry

// FirstToken returns the first token.
func (e TabletEntry) FirstToken() int64 { return e.first }

// LastToken returns the last token.
func (e TabletEntry) LastToken() int64 { return e.last }

// Replicas returns a copy of the replicas.
func (e TabletEntry) Replicas() []ReplicaInfo { return slices.Clone(e.replicas) }

// ReplicasUnsafe returns the replicas, which must not be changed.
func (e TabletEntry) ReplicasUnsafe() []ReplicaInfo { return e.replicas }

// A TabletInfoBuilder makes a TabletInfo. Each of Replicas has the id of a node, a UUID or its text, and an int, the
// shard.
type TabletInfoBuilder struct {
	KeyspaceName string
	TableName    string
	Replicas     [][]any
	FirstToken   int64
	LastToken    int64
}

// NewTabletInfoBuilder returns an empty builder.
func NewTabletInfoBuilder() TabletInfoBuilder { return TabletInfoBuilder{} }

// Build returns the tablet.
func (b TabletInfoBuilder) Build() (TabletInfo, error) {
	replicas := make([]ReplicaInfo, 0, len(b.Replicas))
	for _, fields := range b.Replicas {
		r, err := replica(fields)
		if err != nil {
			return TabletInfo{}, err
		}
		replicas = append(replicas, r)
	}
	return NewTabletInfo(b.KeyspaceName, b.TableName, b.FirstToken, b.LastToken, replicas)
}

// replica returns the replica of a builder.
func replica(fields []any) (ReplicaInfo, error) {
	if len(fields) != 2 {
		return ReplicaInfo{}, fmt.Errorf("gocql: a replica has a node and a shard, not %d values", len(fields))
	}
	shard, ok := fields[1].(int)
	if !ok {
		return ReplicaInfo{}, fmt.Errorf("gocql: the shard of a replica is an int, not a %T", fields[1])
	}
	var host HostUUID
	switch v := fields[0].(type) {
	case interface{ Bytes() []byte }:
		id := v.Bytes()
		if len(id) != len(host) {
			return ReplicaInfo{}, fmt.Errorf("gocql: a host id has %d bytes, not %d", len(host), len(id))
		}
		copy(host[:], id)
	case string:
		return parsedReplica(v, shard)
	case fmt.Stringer:
		return parsedReplica(v.String(), shard)
	default:
		return ReplicaInfo{}, fmt.Errorf("gocql: the node of a replica is a UUID, not a %T", v)
	}
	return ReplicaInfo{host, shard}, nil
}

func parsedReplica(host string, shard int) (ReplicaInfo, error) {
	id, err := ParseHostUUID(host)
	return ReplicaInfo{id, shard}, err
}
