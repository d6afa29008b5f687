// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// The configuration for servers, DRIVER_CONFIG.

// A part is what the common schema of ScyllaDB's drivers says of a value, version 1: the kind of a plain value, the
// keys of an object, or the objects to choose from, by the value of "type".
type part struct {
	kind  string // "bool", "positive", "count" (0 or more), "text", or texts separated by "|"
	keys  map[string]part
	must  string // required keys
	types map[string]part
	null  bool
}

var customPart = part{keys: map[string]part{"type": {kind: "custom"}, "name": {kind: "text"}, "max-retries": {kind: "count"}}, must: "type name"}

func keys(must string, keys map[string]part) part { return part{keys: keys, must: must} }

func one(key, kind string) part { return keys(key, map[string]part{key: {kind: kind}}) }

// withType returns an object whose key "type" is required.
func withType(must string, all map[string]part) part {
	all["type"] = part{kind: "text"}
	return keys("type "+must, all)
}

var preferencePart = part{types: map[string]part{
	"dc":   withType("local-dc", map[string]part{"local-dc": {kind: "text"}}),
	"rack": withType("local-dc local-rack", map[string]part{"local-dc": {kind: "text"}, "local-rack": {kind: "text"}}),
}}

var levels = "ANY|ONE|TWO|THREE|QUORUM|ALL|LOCAL_QUORUM|EACH_QUORUM|LOCAL_ONE|SERIAL|LOCAL_SERIAL"

var configPart = keys("version connection control-plane query", map[string]part{
	"version": {kind: "positive"},
	"connection": keys("connect requests pool socket reconnection", map[string]part{
		"connect":  one("timeout-ms", "positive"),
		"requests": keys("in-flight", map[string]part{"in-flight": one("max", "positive"), "orphaned": one("max", "count")}),
		"pool":     keys("shard-aware", map[string]part{"shard-aware": one("enabled", "bool")}),
		"socket": keys("tcp-no-delay keep-alive reuse-address", map[string]part{
			"tcp-no-delay": {kind: "bool"}, "keep-alive": {kind: "bool"}, "reuse-address": {kind: "bool"},
		}),
		"reconnection": keys("policy", map[string]part{"policy": {null: true, types: map[string]part{
			"exponential": withType("base-ms max-ms", map[string]part{"base-ms": {kind: "positive"}, "max-ms": {kind: "positive"}, "max-attempts": {kind: "positive"}}),
			"constant":    withType("delay-ms", map[string]part{"delay-ms": {kind: "count"}, "max-attempts": {kind: "positive"}}),
			"custom":      customPart,
		}}}),
		"tls": keys("", map[string]part{"hostname-verification": {kind: "bool"}}),
	}),
	"control-plane": keys("queries schema", map[string]part{
		"queries": keys("system", map[string]part{"system": keys("timeout", map[string]part{"timeout": keys("", map[string]part{"client-side-ms": {kind: "positive"}})})}),
		"schema":  keys("agreement", map[string]part{"agreement": one("timeout-ms", "count")}),
	}),
	"query": keys("defaults retry load-balancing", map[string]part{
		"defaults": keys("consistency idempotence", map[string]part{
			"consistency": {kind: levels}, "serial-consistency": {kind: "SERIAL|LOCAL_SERIAL"}, "idempotence": {kind: "bool"},
			"client-timestamps": {kind: "bool"}, "page": one("size", "positive"), "request": one("timeout-ms", "positive"),
		}),
		"retry": keys("policy", map[string]part{
			"policy": {types: map[string]part{
				"standard-error-aware":    withType("", map[string]part{"max-retries": {kind: "count"}}),
				"simple":                  withType("max-retries", map[string]part{"max-retries": {kind: "count"}}),
				"downgrading-consistency": withType("", map[string]part{"max-retries": {kind: "count"}}),
				"custom":                  customPart,
			}},
			"backoff": {types: map[string]part{
				"exponential": withType("base-ms", map[string]part{"base-ms": {kind: "positive"}, "max-ms": {kind: "positive"}}),
			}},
		}),
		"load-balancing": keys("policy", map[string]part{
			"policy": {types: map[string]part{
				"token-aware": withType("load-distribution fallback-to-non-preferred-nodes", map[string]part{
					"load-distribution": {kind: "shuffle|round-robin|replica-set"}, "fallback-to-non-preferred-nodes": {kind: "bool"},
					"adaptive-ordering": keys("signals", map[string]part{"signals": {kind: "signals"}}),
				}),
				"custom": customPart,
			}},
			"node-preference": preferencePart,
		}),
		"speculative-execution": keys("policy", map[string]part{"policy": {types: map[string]part{
			"constant": withType("max-executions delay-ms", map[string]part{"max-executions": {kind: "positive"}, "delay-ms": {kind: "count"}}),
			"custom":   customPart,
		}}}),
	}),
})

// check requires that a value is as the schema says.
func (p part) check(t *testing.T, path string, v any) {
	t.Helper()
	if p.null && v == nil {
		return
	}
	if p.types != nil {
		typ, _ := v.(map[string]any)["type"].(string)
		require.Contains(t, p.types, typ, path)
		p = p.types[typ]
	}
	if p.keys == nil {
		require.True(t, p.holds(v), "%s is %v, must be %s", path, v, p.kind)
		return
	}
	got, ok := v.(map[string]any)
	require.True(t, ok, path)
	for _, key := range strings.Fields(p.must) {
		require.Contains(t, got, key, path)
	}
	for key, value := range got {
		require.Contains(t, p.keys, key, path)
		p.keys[key].check(t, path+"."+key, value)
	}
	if base, most := got["base-ms"], got["max-ms"]; base != nil && most != nil {
		require.LessOrEqual(t, base, most, path)
	}
}

// holds reports whether a plain value has the kind.
func (p part) holds(v any) bool {
	switch v := v.(type) {
	case bool:
		return p.kind == "bool"
	case float64:
		return v == math.Trunc(v) && (p.kind == "count" && v >= 0 || p.kind == "positive" && v >= 1)
	case string:
		return v != "" && (p.kind == "text" || slices.Contains(strings.Split(p.kind, "|"), v))
	case []any:
		return p.kind == "signals" && len(v) > 0 && !slices.ContainsFunc(v, func(s any) bool { return s != "recovery-state" && s != "in-flight-requests" })
	}
	return false
}

// reportOf returns the report of a configuration with its defaults.
func reportOf(t *testing.T, change ...func(*ClusterConfig)) (report map[string]any, text string) {
	t.Helper()
	cfg := ClusterConfig{Hosts: []string{"a"}}
	for _, f := range change {
		f(&cfg)
	}
	effective, err := cfg.withDefaults()
	require.NoError(t, err)
	text = effective.driverConfig()
	require.Equal(t, text, effective.driverConfig(), "the text is always the same")
	require.NoError(t, json.Unmarshal([]byte(text), &report))
	configPart.check(t, "", report)
	return report, text
}

// at returns the value at a path of keys.
func at(report map[string]any, path string) any {
	var v any = report
	for _, key := range strings.Split(path, "/") {
		o, _ := v.(map[string]any)
		v = o[key]
	}
	return v
}

// TestDriverConfig: the report of the defaults, and what each setting changes.
func TestDriverConfig(t *testing.T) {
	_, text := reportOf(t)
	require.JSONEq(t, `{"version": 1,
		"connection": {
			"connect": {"timeout-ms": 11000},
			"requests": {"in-flight": {"max": 32768}, "orphaned": {"max": 1024}},
			"pool": {"shard-aware": {"enabled": true}},
			"socket": {"tcp-no-delay": true, "keep-alive": true, "reuse-address": false},
			"reconnection": {"policy": {"type": "exponential", "base-ms": 100, "max-ms": 5000}}},
		"control-plane": {
			"queries": {"system": {"timeout": {"client-side-ms": 11000}}},
			"schema": {"agreement": {"timeout-ms": 60000}}},
		"query": {
			"defaults": {"consistency": "QUORUM", "idempotence": false, "client-timestamps": true, "page": {"size": 5000}, "request": {"timeout-ms": 11000}},
			"retry": {"policy": {"type": "standard-error-aware", "max-retries": 4}},
			"load-balancing": {"policy": {"type": "token-aware", "load-distribution": "shuffle", "fallback-to-non-preferred-nodes": true, "adaptive-ordering": {"signals": ["recovery-state"]}}}}}`, text)
	const (
		reconnection = "connection/reconnection/policy"
		balancing    = "query/load-balancing/policy"
		preference   = "query/load-balancing/node-preference"
		speculation  = "query/speculative-execution/policy"
		retry        = "query/retry/policy"
	)
	object := func(pairs ...any) map[string]any {
		o := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			o[pairs[i].(string)] = pairs[i+1]
		}
		return o
	}
	for _, c := range []struct {
		name string
		set  func(c *ClusterConfig)
		path string
		want any
	}{
		{"TLS", func(c *ClusterConfig) { c.TLS = &tls.Config{MinVersion: tls.VersionTLS13} }, "connection/tls", object("hostname-verification", true)},
		{"unverified", func(c *ClusterConfig) { c.TLS = &tls.Config{InsecureSkipVerify: true} }, "connection/tls", object("hostname-verification", false)}, //nolint:gosec // not used
		{"verified by the program", func(c *ClusterConfig) {
			c.TLS = &tls.Config{InsecureSkipVerify: true, VerifyPeerCertificate: func([][]byte, [][]*x509.Certificate) error { return nil }} //nolint:gosec // not used
		}, "connection/tls", object()},
		{"TLS of a HostDialer", func(c *ClusterConfig) {
			c.TLS, c.Pool.HostDialer = &tls.Config{MinVersion: tls.VersionTLS13}, secretDialer{}
		}, "connection/tls", nil},
		{"no keep-alive", func(c *ClusterConfig) { c.Pool.Dialer = &net.Dialer{KeepAlive: -1} }, "connection/socket/keep-alive", false},
		{"few streams", func(c *ClusterConfig) { c.Pool.MaxRequestsPerConn = 100 }, "connection/requests", object("in-flight", object("max", 100.), "orphaned", object("max", 25.))},
		{"no shard-aware port", func(c *ClusterConfig) { c.Pool.DisableShardAwarePort = true }, "connection/pool/shard-aware/enabled", false},
		{"a Dialer without ports", func(c *ClusterConfig) { c.Pool.Dialer = dialerOfProgram{} }, "connection/pool/shard-aware/enabled", false},
		{"a part of a millisecond", func(c *ClusterConfig) { c.ConnectTimeout = 1 }, "connection/connect/timeout-ms", 1.},
		{"the longest time", func(c *ClusterConfig) { c.ConnectTimeout = math.MaxInt64 }, "connection/connect/timeout-ms", math.Ceil(math.MaxInt64 / 1e6)},
		{"no reconnection", func(c *ClusterConfig) { c.Pool.ReconnectionPolicy = NoReconnectionPolicy{} }, reconnection, nil},
		{"no retry", func(c *ClusterConfig) { c.Pool.ReconnectionPolicy = ConstantReconnectionPolicy{MaxRetries: -1} }, reconnection, nil},
		{"constant", func(c *ClusterConfig) {
			c.Pool.ReconnectionPolicy = &ConstantReconnectionPolicy{MaxRetries: 3, Interval: time.Minute}
		}, reconnection, object("type", "constant", "delay-ms", 60000., "max-attempts", 3.)},
		{"exponential", func(c *ClusterConfig) {
			c.Pool.ReconnectionPolicy = ExponentialReconnectionPolicy{InitialInterval: time.Minute, MaxInterval: time.Second}
		}, reconnection, object("type", "exponential", "base-ms", 1000., "max-ms", 1000.)},
		{"own reconnection", func(c *ClusterConfig) { c.Pool.ReconnectionPolicy = &secretPolicy{} }, reconnection, object("type", "custom", "name", "*vecql.secretPolicy")},
		{"simple retries", func(c *ClusterConfig) { c.Defaults.RetryPolicy = SimpleRetryPolicy{NumRetries: 2} }, retry, object("type", "simple", "max-retries", 2.)},
		{"no retries", func(c *ClusterConfig) { c.Defaults.RetryPolicy = &SimpleRetryPolicy{NumRetries: -2} }, retry, object("type", "simple", "max-retries", 0.)},
		{"downgrading", func(c *ClusterConfig) {
			c.Defaults.RetryPolicy = DowngradingConsistencyRetryPolicy{ConsistencyLevelsToTry: []cql.Consistency{cql.One}}
		}, retry, object("type", "downgrading-consistency", "max-retries", 1.)},
		{"backoff", func(c *ClusterConfig) {
			c.Defaults.RetryPolicy = ExponentialBackoffRetryPolicy{NumRetries: 7, Max: time.Second}
		}, "query/retry", object("policy", object("type", "custom", "name", "vecql.ExponentialBackoffRetryPolicy", "max-retries", 7.), "backoff", object("type", "exponential", "base-ms", 100., "max-ms", 1000.))},
		{"own retries", func(c *ClusterConfig) { c.Defaults.RetryPolicy = &secretPolicy{} }, retry, object("type", "custom", "name", "*vecql.secretPolicy")},
		{"speculation", func(c *ClusterConfig) {
			c.Defaults.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: 99, TimeoutDelay: time.Second}
		}, speculation, object("type", "constant", "max-executions", 16., "delay-ms", 1000.)},
		{"no attempts", func(c *ClusterConfig) { c.Defaults.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{} }, speculation, nil},
		{"no speculation", func(c *ClusterConfig) { c.Defaults.SpeculativeExecutionPolicy = NonSpeculativeExecution{} }, speculation, nil},
		{"own speculation", func(c *ClusterConfig) { c.Defaults.SpeculativeExecutionPolicy = &secretPolicy{} }, speculation, object("type", "custom", "name", "*vecql.secretPolicy")},
		{"data center", func(c *ClusterConfig) {
			c.HostSelectionPolicy = TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "dc1", NoFailover: true}, MaxInFlight: 5, KeepOrder: true}
		}, "query/load-balancing", object("policy", object("type", "token-aware", "load-distribution", "replica-set", "fallback-to-non-preferred-nodes", false, "adaptive-ordering", object("signals", []any{"recovery-state", "in-flight-requests"})), "node-preference", object("type", "dc", "local-dc", "dc1"))},
		{"rack", func(c *ClusterConfig) {
			c.HostSelectionPolicy = &TokenAwarePolicy{Fallback: &RackAwarePolicy{DataCenter: "dc1", Rack: "r1"}}
		}, preference, object("type", "rack", "local-dc", "dc1", "local-rack", "r1")},
		{"not token-aware", func(c *ClusterConfig) { c.HostSelectionPolicy = DCAwarePolicy{DataCenter: "dc1"} }, "query/load-balancing", object("policy", object("type", "custom", "name", "vecql.DCAwarePolicy"), "node-preference", object("type", "dc", "local-dc", "dc1"))},
		{"own fallback", func(c *ClusterConfig) { c.HostSelectionPolicy = TokenAwarePolicy{Fallback: &secretPolicy{}} }, "query/load-balancing", object("policy", object("type", "custom", "name", "vecql.TokenAwarePolicy"))},
		{"no pages", func(c *ClusterConfig) { c.Defaults.PageSize = -1 }, "query/defaults/page", nil},
		{"request timeout", func(c *ClusterConfig) { c.Defaults.RequestTimeout = time.Second }, "query/defaults/request/timeout-ms", 1000.},
		{"timeout", func(c *ClusterConfig) { c.Timeout = time.Second }, "query/defaults/request/timeout-ms", 1000.},
		{"serial", func(c *ClusterConfig) { c.Defaults.SerialConsistency = cql.LocalSerial }, "query/defaults/serial-consistency", "LOCAL_SERIAL"},
		{"server timestamps", func(c *ClusterConfig) { c.Defaults.ServerTimestamps = true }, "query/defaults/client-timestamps", false},
		{"idempotent", func(c *ClusterConfig) { c.Defaults.Idempotent = true }, "query/defaults/idempotence", true},
		{"agreement", func(c *ClusterConfig) { c.Schema.MaxWaitAgreement = time.Second }, "control-plane/schema/agreement/timeout-ms", 1000.},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, _ := reportOf(t, c.set)
			require.Equal(t, c.want, at(report, c.path))
		})
	}
	for level := cql.Any; level <= cql.LocalOne; level++ {
		report, _ := reportOf(t, func(c *ClusterConfig) { c.Defaults.Consistency = level })
		require.Equal(t, cmpOrQuorum(level), at(report, "query/defaults/consistency"))
	}
	large := ClusterConfig{Hosts: []string{"a"}, HostSelectionPolicy: DCAwarePolicy{DataCenter: strings.Repeat("d", maxDriverConfig)}}
	require.Empty(t, large.driverConfig(), "a report that is too large is left out")
}

// cmpOrQuorum returns the name of a level; the zero value is the default.
func cmpOrQuorum(level cql.Consistency) string {
	if level == 0 {
		return cql.Quorum.String()
	}
	return level.String()
}

// TestDriverConfigHasEachField: for each field of the configuration it was decided whether servers get it.
func TestDriverConfigHasEachField(t *testing.T) {
	reported := `TLS Timeout ConnectTimeout HostSelectionPolicy Pool.MaxRequestsPerConn Pool.Dialer Pool.HostDialer
		Pool.ReconnectionPolicy Pool.DisableShardAwarePort Schema.MaxWaitAgreement Defaults.Consistency Defaults.SerialConsistency
		Defaults.RequestTimeout Defaults.PageSize Defaults.Idempotent Defaults.ServerTimestamps Defaults.RetryPolicy
		Defaults.SpeculativeExecutionPolicy`
	secrets := "Hosts Port Keyspace Authenticator AuthProvider Nodes.ClusterName Nodes.AddressTranslator Nodes.HostFilter Nodes.ClientRoutes"
	sentAlone := `Compressor Protocol.Version Protocol.CQLVersion Protocol.ApplicationInfo.ApplicationName
		Protocol.ApplicationInfo.ApplicationVersion Protocol.ApplicationInfo.ClientID Protocol.DisableDriverConfig`
	withoutKey := `Profiles Logger Nodes.LoadBalanced Nodes.DisableInitialHostLookup Nodes.ReconnectInterval Nodes.OnChange Pool.NumConns
		Pool.HeartbeatInterval Pool.HeartbeatTimeout Pool.ShardAwareLocalPorts Pool.ConnectObserver Schema.Metadata Schema.OnChange
		Limits.Throttle.MaxRequests Limits.Throttle.MaxWaiting Limits.MemoryBudget Limits.MaxPreparedStmts
		Protocol.Events.DisableNodeStatusEvents Protocol.Events.DisableTopologyEvents Protocol.Events.DisableSchemaEvents
		Protocol.Beta Protocol.ExperimentalTabletsRoutingV2 Defaults.TotalTimeout Defaults.Prefetch Defaults.DisableSelectIdempotence Defaults.Observer`
	decided := strings.Fields(strings.Join([]string{reported, secrets, sentAlone, withoutKey}, " "))
	require.ElementsMatch(t, settingNames(nil, "", reflect.TypeFor[ClusterConfig]()), decided, "decide whether servers get a new field")
}

// secretPolicy is a policy of the program with a secret, for each interface.
type secretPolicy struct{ Secret string }

func (*secretPolicy) GetInterval(int) time.Duration            { return time.Second }
func (*secretPolicy) GetMaxRetries() int                       { return 0 }
func (*secretPolicy) Decide(context.Context, Attempt) Decision { return Decision{} }
func (*secretPolicy) Attempts() int                            { return 0 }
func (*secretPolicy) Delay() time.Duration                     { return 0 }
func (*secretPolicy) Tier(*cql.Host) int                       { return 0 }
func (p *secretPolicy) String() string                         { return p.Secret }

// secretDialer is a HostDialer with a secret. It records what is written on its connections.
type secretDialer struct {
	Secret string
	dial   func(ctx context.Context, network, addr string) (net.Conn, error)
	log    *writeLog
}

func (d secretDialer) DialHost(ctx context.Context, _ *cql.Host, addr string) (net.Conn, error) {
	c, err := d.dial(ctx, "tcp", addr)
	return loggedConn{c, d.log}, err
}

// writeLog has the bytes that connections wrote.
type writeLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

type loggedConn struct {
	net.Conn
	log *writeLog
}

func (c loggedConn) Write(b []byte) (int, error) {
	c.log.mu.Lock()
	c.log.b.Write(b)
	c.log.mu.Unlock()
	return c.Conn.Write(b)
}

// secretConfig returns a configuration with a secret wherever a program may put one.
func secretConfig(log *writeLog, dial func(ctx context.Context, network, addr string) (net.Conn, error)) ClusterConfig {
	policy := &secretPolicy{secret}
	profile := Profile{RetryPolicy: policy, SpeculativeExecutionPolicy: policy}
	return ClusterConfig{
		Logger: slog.New(slog.DiscardHandler), HostSelectionPolicy: policy, Defaults: profile, Profiles: map[string]Profile{secret: profile},
		Authenticator: PasswordAuthenticator{Username: secret, Password: secret, AllowedAuthenticators: []string{secret}},
		Pool:          PoolConfig{HostDialer: secretDialer{secret, dial, log}, ReconnectionPolicy: policy},
		Nodes: NodesConfig{
			HostFilter:        func(*cql.Host) bool { return true },
			AddressTranslator: func(a netip.AddrPort) netip.AddrPort { return a },
		},
	}
}

// secretCompressor is a Compressor of the program with a secret.
type secretCompressor struct {
	cql.Compressor

	Secret string
}

// secretValues have a value of the program with a secret for each interface of the configuration.
var secretValues = []any{
	&secretPolicy{secret},
	dialerOfProgram{secret},
	secretDialer{Secret: secret},
	secretCompressor{LZ4Compressor{}, secret},
	PasswordAuthenticator{Username: secret, Password: secret, AllowedAuthenticators: []string{secret}},
}

// fillSecrets sets what may have a secret in v, a part of a configuration: texts and bytes, functions, and interfaces.
// Of other packages it fills crypto/tls only.
func fillSecrets(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	home := reflect.TypeFor[ClusterConfig]().PkgPath()
	switch typ := v.Type(); typ.Kind() {
	case reflect.String:
		v.SetString(secret)
	case reflect.Struct:
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() && (typ.PkgPath() == home || typ.PkgPath() == "crypto/tls") {
				fillSecrets(t, path+"."+f.Name, v.Field(i))
			}
		}
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(secret))
			return
		}
		v.Set(reflect.MakeSlice(typ, 1, 1))
		fillSecrets(t, path+"[0]", v.Index(0))
	case reflect.Map:
		key, value := reflect.New(typ.Key()).Elem(), reflect.New(typ.Elem()).Elem()
		fillSecrets(t, path+" key", key)
		fillSecrets(t, path+" value", value)
		v.Set(reflect.MakeMap(typ))
		v.SetMapIndex(key, value)
	case reflect.Pointer:
		v.Set(reflect.New(typ.Elem()))
		fillSecrets(t, path, v.Elem())
	case reflect.Func:
		v.Set(reflect.MakeFunc(typ, func([]reflect.Value) (results []reflect.Value) {
			for i := range typ.NumOut() {
				results = append(results, reflect.Zero(typ.Out(i)))
			}
			return results
		}))
	case reflect.Interface:
		i := slices.IndexFunc(secretValues, func(x any) bool { return reflect.TypeOf(x).Implements(typ) })
		if i >= 0 {
			v.Set(reflect.ValueOf(secretValues[i]))
		}
		require.True(t, i >= 0 || !strings.HasPrefix(typ.PkgPath(), home), "%s: add a value to secretValues for %v", path, typ)
	}
}

// TestDriverConfigHasNoSecret looks for a secret in all bytes of a session whose server asks for no password, and in
// the report of a configuration with the secret in each field that takes one.
func TestDriverConfigHasNoSecret(t *testing.T) {
	c := cqltest.New(t, cqltest.Config{Network: cqltest.InMemory})
	log := &writeLog{}
	cfg := secretConfig(log, c.Dialer().DialContext)
	cfg.Hosts = c.Hosts()
	s, err := NewSession(t.Context(), cfg)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Query("SELECT key FROM system.local").Exec(t.Context()))
	log.mu.Lock()
	sent := log.b.Bytes()
	log.mu.Unlock()
	require.Contains(t, string(sent), "*vecql.secretPolicy")
	require.NotContains(t, string(sent), secret)

	for _, absent := range []string{"Dialer", "HostDialer"} { // with a HostDialer the report has no TLS
		var all ClusterConfig
		fillSecrets(t, "ClusterConfig", reflect.ValueOf(&all).Elem())
		require.Equal(t, secret, string(all.TLS.Certificates[0].Certificate[0]))
		reflect.ValueOf(&all.Pool).Elem().FieldByName(absent).SetZero()
		effective, _ := all.withDefaults() // not valid: fields exclude each other
		text := effective.driverConfig()
		require.Equal(t, absent == "HostDialer", strings.Contains(text, `"tls"`))
		require.Contains(t, text, "*vecql.secretPolicy")
		for _, form := range []string{
			secret, hex.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte(secret)), fmt.Sprint([]byte(secret)),
		} {
			require.NotContains(t, text, form)
		}
	}
}

// TestDriverConfigIsSent: the control connection sends the report, no other connection does, and one option disables
// it.
func TestDriverConfigIsSent(t *testing.T) {
	for _, scylla := range []*cqltest.Scylla{nil, {Shards: 2}} {
		c := cqltest.New(t, cqltest.Config{Network: cqltest.InMemory, Scylla: scylla})
		open := func(change func(*ClusterConfig)) *Session {
			cfg := ClusterConfig{Hosts: c.Hosts(), Logger: slog.New(slog.DiscardHandler)}
			cfg.Pool.Dialer = c.Dialer()
			change(&cfg)
			s, err := NewSession(t.Context(), cfg)
			require.NoError(t, err)
			return s
		}
		reports := func() (texts []string) {
			for _, n := range c.Nodes() {
				for _, i := range n.Conns() {
					text, has := i.Options["DRIVER_CONFIG"]
					require.Equal(t, len(i.Events) > 1, has, "of the control connection only")
					if has {
						texts = append(texts, text)
					}
				}
			}
			return texts
		}
		s := open(func(*ClusterConfig) {})
		texts := reports()
		require.Len(t, texts, 1)
		require.Equal(t, s.cfg.driverConfig(), texts[0])
		table := "system_views.clients"
		if scylla != nil {
			table = "system.clients"
		}
		var listed []string
		for _, n := range s.GetHosts() {
			q := s.Query("SELECT client_options FROM " + table).HostID(n.ID)
			for options, err := range Rows[map[string]string](t.Context(), q) {
				require.NoError(t, err)
				if text := options["DRIVER_CONFIG"]; text != "" {
					listed = append(listed, text)
				}
			}
		}
		require.Equal(t, texts, listed, "servers list it")
		s.Close()

		s = open(func(c *ClusterConfig) { c.Protocol.DisableDriverConfig = true })
		for _, n := range c.Nodes() {
			for _, i := range n.Conns() {
				require.NotContains(t, i.Options, "DRIVER_CONFIG")
			}
		}
		s.Close()

		s = open(func(c *ClusterConfig) {
			c.HostSelectionPolicy = DCAwarePolicy{DataCenter: strings.Repeat("d", maxDriverConfig)}
		})
		require.NoError(t, s.Query("SELECT key FROM system.local").Exec(t.Context()), "a report that is too large is left out")
		s.Close()
	}
}
