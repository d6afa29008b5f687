// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"strconv"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/token"
)

// ScyllaDB's extensions of the protocol (scylladb docs/dev/protocol-extensions.md, docs/dev/protocols.md). A server
// lists its extensions in SUPPORTED, and a client repeats the key of each one that it uses in STARTUP. An invalid value
// counts as a missing key.

// Keys of SUPPORTED. Those up to SCYLLA_HOST_ID are not repeated in STARTUP.
const (
	keyShard             = "SCYLLA_SHARD"
	keyShards            = "SCYLLA_NR_SHARDS"
	keyPartitioner       = "SCYLLA_PARTITIONER"
	keyShardingAlgorithm = "SCYLLA_SHARDING_ALGORITHM"
	keyIgnoreMSB         = "SCYLLA_SHARDING_IGNORE_MSB"
	KeyShardAwarePort    = "SCYLLA_SHARD_AWARE_PORT"
	keyShardAwarePortSSL = "SCYLLA_SHARD_AWARE_PORT_SSL"
	KeyHostID            = "SCYLLA_HOST_ID"
	KeyLWTMark           = "SCYLLA_LWT_ADD_METADATA_MARK"
	KeyRateLimitError    = "SCYLLA_RATE_LIMIT_ERROR"
	KeyTabletsV1         = "TABLETS_ROUTING_V1"
	KeyTabletsV2         = "TABLETS_ROUTING_V2_EXPERIMENTAL" // name and format may still change
	KeyMetadataID        = "SCYLLA_USE_METADATA_ID"
)

// maxShards bounds the number of shards accepted from a node: the session opens a connection to each. The largest
// machines have fewer processors.
const maxShards = 1024

// Features are the extensions in use on one connection. They do not change after Config.Prepare. The zero value means
// none.
type Features struct {
	Shards    int32 // of the node; 0 means none, or an unknown sharding algorithm
	Shard     int32 // the shard that serves the connection
	IgnoreMSB uint8 // see token.ShardOf

	ShardAwarePort    uint16 // 0 means none
	ShardAwarePortSSL uint16

	HostID        cql.UUID // of the node, unless SUPPORTED has it, Config.Prepare may set it; zero means unknown
	lwtMask       uint32   // metadata flags that mark a conditional prepared statement; 0 means unknown
	RateLimitCode int32    // of the rate limit error; 0 means none
	tabletsV1     bool     // responses carry tablets
	TabletsV2     bool     // likewise, and each EXECUTE ends with one more byte; tabletsV1 is then false
	MetadataID    bool     // a v4 connection has result metadata ids like v5

	Graceful bool // the server announces its end, see register.go
}

// parseFeatures reads SUPPORTED. TabletsV2 enables the experimental extension.
func parseFeatures(supported map[string][]string, version byte, tabletsV2 bool) Features {
	var f Features
	f.readSharding(supported)
	if id, err := cql.ParseUUID(supportedValue(supported, KeyHostID)); err == nil {
		f.HostID = id
	}
	// The first four flags have a standard meaning.
	if mask, ok := supportedNumber(supported, KeyLWTMark, "LWT_OPTIMIZATION_META_BIT_MASK=", 1, 1<<32-1); ok &&
		mask&0xF == 0 {
		f.lwtMask = uint32(mask)
	}
	if code, ok := supportedNumber(supported, KeyRateLimitError, "ERROR_CODE=", 1, 1<<31-1); ok {
		if !cql.Code(code).IsStandard() { // a code of a standard error is not accepted
			f.RateLimitCode = int32(code)
		}
	}
	_, f.tabletsV1 = supported[KeyTabletsV1]
	if _, v2 := supported[KeyTabletsV2]; v2 && tabletsV2 {
		f.tabletsV1, f.TabletsV2 = false, true
	}
	_, f.MetadataID = supported[KeyMetadataID]
	f.MetadataID = f.MetadataID && version == frame.V4
	if version < frame.V4 { // without custom payloads, which carry tablets
		f.tabletsV1, f.TabletsV2 = false, false
	}
	f.Graceful = supportedValue(supported, frame.EventGraceful) == "true"
	return f
}

// readSharding reads the sharding parameters: all of them or none.
func (f *Features) readSharding(supported map[string][]string) {
	shards, ok := supportedNumber(supported, keyShards, "", 1, maxShards)
	if !ok {
		return
	}
	shard, okShard := supportedNumber(supported, keyShard, "", 0, shards-1)
	msb, okMSB := supportedNumber(supported, keyIgnoreMSB, "", 0, 63)
	if !okShard || !okMSB || supportedValue(supported, keyShardingAlgorithm) != "biased-token-round-robin" ||
		!strings.HasSuffix(supportedValue(supported, keyPartitioner), "Murmur3Partitioner") {
		return
	}
	f.Shards, f.Shard, f.IgnoreMSB = int32(shards), int32(shard), uint8(msb)
	port, _ := supportedNumber(supported, KeyShardAwarePort, "", 1, 0xFFFF)
	ssl, _ := supportedNumber(supported, keyShardAwarePortSSL, "", 1, 0xFFFF)
	f.ShardAwarePort, f.ShardAwarePortSSL = uint16(port), uint16(ssl)
}

// supportedValue returns the first value of a key, empty if there is none.
func supportedValue(supported map[string][]string, key string) string {
	if v := supported[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// supportedNumber returns the number behind prefix in the first value of a key that has the prefix. ok reports whether
// there is one between least and most; otherwise the number is 0.
func supportedNumber(supported map[string][]string, key, prefix string, least, most int64) (n int64, ok bool) {
	for _, v := range supported[key] {
		if text, found := strings.CutPrefix(v, prefix); found {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n < least || n > most {
				return 0, false
			}
			return n, true
		}
	}
	return 0, false
}

// startup adds the keys of the extensions in use to the options of STARTUP. Servers check the keys alone; the values
// are the options of SUPPORTED.
func (f *Features) startup(options map[string]string, supported map[string][]string) {
	for key, wanted := range map[string]bool{
		KeyLWTMark: f.lwtMask != 0, KeyRateLimitError: f.RateLimitCode != 0, KeyTabletsV1: f.tabletsV1,
		KeyTabletsV2:  f.TabletsV2,
		KeyMetadataID: f.MetadataID,
	} {
		if wanted {
			options[key] = supportedValue(supported, key)
		}
	}
}

// IsLWT reports whether the metadata flags of a prepared statement mark it as conditional; false without the extension.
func (f *Features) IsLWT(flags int32) bool {
	return f.lwtMask != 0 && uint32(flags)&f.lwtMask == f.lwtMask
}

// ShardOf returns the shard of a token on the connection's node, -1 if the node has no shards.
func (f *Features) ShardOf(tok int64) int32 {
	if f.Shards == 0 {
		return -1
	}
	return token.ShardOf(tok, f.Shards, f.IgnoreMSB)
}

// SameSharding reports whether two connections to a node agree on its shards. They differ after a restart with another
// number of shards.
func (f *Features) SameSharding(g *Features) bool {
	return f.Shards == g.Shards && f.IgnoreMSB == g.IgnoreMSB
}
