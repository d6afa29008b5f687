// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// The handshake: versions, OPTIONS, STARTUP, SASL and REGISTER (native_protocol_v5.spec, sections 2.3.1, 4.1).

// stage is the progress of the handshake.
type stage int

const (
	stageStart stage = iota // expects OPTIONS or STARTUP
	stageAuth               // expects AUTH_RESPONSE
	stageReady
)

// handshake is the result of the handshake. Only the goroutine that reads the connection writes it.
type handshake struct {
	users       passwords // valid when the connection opened; nil means no authentication
	stage       stage
	version     byte
	compression string
	options     map[string]string
	user        string
	events      atomic.Pointer[[]string]
	keyspace    atomic.Pointer[string]

	metadataIDs, lwtMark, rateLimit, tabletsV1, tabletsV2 bool
}

// registered reports whether the client registered for events of the type.
func (c *conn) registered(typ string) bool {
	events := c.events.Load()
	return events != nil && slices.Contains(*events, typ)
}

func (c *conn) currentKeyspace() string {
	if k := c.keyspace.Load(); k != nil {
		return *k
	}
	return ""
}

// info describes the connection.
func (c *conn) info() ConnInfo {
	c.infoMu.Lock()
	defer c.infoMu.Unlock()
	i := ConnInfo{
		ID: c.id, Local: c.local, Remote: c.remote, ShardAware: c.aware, Shard: c.shard, Version: c.version,
		Compression: c.compression, Keyspace: c.currentKeyspace(), User: c.user, Ready: c.stage == stageReady,
		Options: maps.Clone(c.options), Requests: c.counts.read(),
	}
	if events := c.events.Load(); events != nil {
		i.Events = slices.Clone(*events)
	}
	return i
}

// betaVersion is the version that nodes of v5 serve to clients that set USE_BETA, as Cassandra 4.0 to 6.0 do. Its
// frames are frames of v5.
const betaVersion = 6

// highest returns the highest version that is served to a request with these flags.
func (c *conn) highest(flags byte) byte {
	highest := byte(c.cluster.cfg.Protocol)
	if highest == betaVersion-1 && flags&flagBeta != 0 {
		return betaVersion
	}
	return highest
}

// wireVersion returns the version of the frames that answer h: its own, or the highest supported one.
func (c *conn) wireVersion(h header) byte {
	if c.version != 0 {
		return c.version
	}
	if highest := c.highest(h.flags); h.version > highest || h.version < 3 {
		return highest
	}
	return h.version
}

// checkHeader returns the error of a header that makes the rest of the stream unreadable.
func (c *conn) checkHeader(h header) *Error {
	highest := c.highest(h.flags)
	switch {
	case h.version == betaVersion && highest == betaVersion-1:
		return protocolError("Beta version of the protocol used (6/v6-beta), but USE_BETA flag is unset")
	case h.version > highest || h.version < 3:
		text := fmt.Sprintf("Invalid or unsupported protocol version (%d); supported versions are (%s)", h.version,
			strings.Join(versionNames(c.cluster.cfg.Protocol), ", "))
		if c.cluster.cfg.Scylla != nil {
			text = fmt.Sprintf("Invalid or unsupported protocol version: %d", h.version)
		}
		return protocolError("%s", text)
	case c.version != 0 && h.version != c.version:
		return protocolError("Invalid message version. Got %d but previous messages on this connection had version %d",
			h.version, c.version)
	case h.response:
		return protocolError("Wrong protocol direction: a client sends no responses")
	case h.length > 256<<20:
		return protocolError("a body of %d bytes is more than the protocol allows", h.length)
	}
	return nil
}

// versionNames returns the names of the versions that are served.
func versionNames(highest int) []string {
	var names []string
	for v := 3; v <= highest; v++ {
		names = append(names, fmt.Sprintf("%d/v%d", v, v))
	}
	if highest == betaVersion-1 {
		names = append(names, "6/v6-beta")
	}
	return names
}

// supported returns the options of SUPPORTED.
func (c *conn) supported() map[string][]string {
	cfg := &c.cluster.cfg
	if cfg.Scylla == nil {
		m := map[string][]string{
			"CQL_VERSION": {"3.4.7"}, "COMPRESSION": {"snappy", "lz4"}, "PROTOCOL_VERSIONS": versionNames(cfg.Protocol),
		}
		if cfg.GracefulDisconnect {
			m[gracefulDisconnect] = []string{"true"}
		}
		return m
	}
	s := cfg.Scylla
	m := map[string][]string{
		"CQL_VERSION": {"3.3.1"}, "COMPRESSION": {"lz4", "snappy"},
		"SCYLLA_SHARD":               {strconv.Itoa(c.shard)},
		"SCYLLA_NR_SHARDS":           {strconv.Itoa(c.node.shardCount())},
		"SCYLLA_SHARDING_ALGORITHM":  {"biased-token-round-robin"},
		"SCYLLA_SHARDING_IGNORE_MSB": {strconv.Itoa(s.IgnoreMSB)},
		"SCYLLA_PARTITIONER":         {partitioner},
		"SCYLLA_HOST_ID":             {uuidString(c.node.id)},
		"CLIENT_OPTIONS":             {""},
	}
	if aware := c.node.ShardAwareAddr(); aware.IsValid() {
		key := "SCYLLA_SHARD_AWARE_PORT"
		if c.sock != c.raw {
			key += "_SSL"
		}
		m[key] = []string{strconv.Itoa(int(aware.Port()))}
	}
	if !s.NoLWTMark {
		m[optionLWT] = []string{"LWT_OPTIMIZATION_META_BIT_MASK=" + strconv.FormatUint(lwtMark, 10)}
	}
	if !s.NoRateLimit {
		m[optionRateLimit] = []string{"ERROR_CODE=" + strconv.Itoa(int(CodeRateLimit))}
	}
	if !s.NoMetadataID {
		m[optionMetadataID] = []string{""}
	}
	if s.Tablets > 0 {
		m[optionTabletsV1] = []string{""}
		if s.TabletsV2 {
			m[optionTabletsV2] = []string{""}
		}
	}
	return m
}

// Keys in STARTUP of ScyllaDB's extensions (docs/dev/protocol-extensions.md).
const (
	optionLWT        = "SCYLLA_LWT_ADD_METADATA_MARK"
	optionRateLimit  = "SCYLLA_RATE_LIMIT_ERROR"
	optionMetadataID = "SCYLLA_USE_METADATA_ID"
	optionTabletsV1  = "TABLETS_ROUTING_V1"
	optionTabletsV2  = "TABLETS_ROUTING_V2_EXPERIMENTAL"
)

// startup applies the options of STARTUP.
func (c *conn) startup(h header, r *reader) (*Answer, error) {
	if c.stage != stageStart {
		return nil, protocolError("Unexpected message STARTUP: the connection has been started")
	}
	options := r.stringMap()
	if r.err != nil {
		return nil, r.err
	}
	if options["CQL_VERSION"] == "" {
		return nil, protocolError("Missing value CQL_VERSION in STARTUP message")
	}
	compression := options["COMPRESSION"]
	switch {
	case compression == "":
	case compression != "lz4" && compression != "snappy":
		return nil, protocolError("Unknown compression algorithm: %s", compression)
	case compression == "snappy" && h.version >= 5:
		return nil, protocolError("Snappy compression is not supported in protocol v5")
	}
	offered := c.supported()
	asked := func(key string) bool {
		_, offers := offered[key]
		_, wants := options[key]
		return offers && wants
	}
	c.infoMu.Lock()
	c.options, c.compression = options, compression
	c.metadataIDs = h.version >= 5 || asked(optionMetadataID)
	c.lwtMark, c.rateLimit, c.tabletsV2 = asked(optionLWT), asked(optionRateLimit), asked(optionTabletsV2)
	c.tabletsV1 = asked(optionTabletsV1) && !c.tabletsV2
	if c.stage = stageReady; c.users != nil {
		c.stage = stageAuth
	}
	c.infoMu.Unlock()
	if h.version >= 5 { // segments start after the answer
		c.in = &segmentReader{src: c.src, lz4: compression == "lz4"}
	}
	if c.stage == stageAuth {
		return &Answer{Op: OpAuthenticate, Body: appendString(nil, c.cluster.authenticator())}, nil
	}
	return &Answer{Op: OpReady}, nil
}

// authenticate checks a SASL PLAIN token: identity to act as, NUL, user, NUL, password.
func (c *conn) authenticate(r *reader) (*Answer, error) {
	if c.stage != stageAuth {
		return nil, protocolError("Unexpected message AUTH_RESPONSE: no authentication is in progress")
	}
	token := r.bytes()
	if r.err != nil {
		return nil, r.err
	}
	parts := bytes.Split(token, []byte{0})
	if len(parts) != 3 {
		return nil, &Error{Code: CodeCredentials, Message: "Password must not be null"}
	}
	user, password := string(parts[1]), string(parts[2])
	if want, ok := c.users()[user]; !ok || want != password {
		return nil, &Error{
			Code:    CodeCredentials,
			Message: fmt.Sprintf("Provided username %s and/or password are incorrect", user),
		}
	}
	c.infoMu.Lock()
	c.user, c.stage = user, stageReady
	c.infoMu.Unlock()
	return &Answer{Op: OpAuthSuccess, Body: appendBytes(nil, nil)}, nil
}

// gracefulDisconnect is an event without fields, and the key in SUPPORTED that offers it.
const gracefulDisconnect = "GRACEFUL_DISCONNECT"

var eventTypes = []string{"TOPOLOGY_CHANGE", "STATUS_CHANGE", "SCHEMA_CHANGE"}

// register adds the event types to those that the client registered for.
func (c *conn) register(r *reader) (*Answer, error) {
	types := r.stringList()
	if r.err != nil {
		return nil, r.err
	}
	for _, t := range types {
		if !slices.Contains(eventTypes, t) && (c.cluster.cfg.Scylla == nil || t != eventRoutes) &&
			(!c.cluster.cfg.GracefulDisconnect || t != gracefulDisconnect) {
			return nil, protocolError("Invalid value '%s' for Type", t)
		}
	}
	if old := c.events.Load(); old != nil {
		types = append(slices.Clone(*old), types...)
	}
	c.events.Store(&types)
	return &Answer{Op: OpReady}, nil
}
