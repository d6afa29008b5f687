// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/clusteruri"
	"github.com/vecql/vecql/internal/conn"
)

// The configuration as text: the URI of a cluster, and the effective configuration, for logs and for servers. The
// latter has no secrets: of an Authenticator that is not a PasswordAuthenticator, and of other values of the program,
// it has the type only.

// ParseURI returns the configuration that a URI describes, to which a program adds what a URI does not have:
//
//	cassandra://user:password@host1:9042,host2/keyspace?data_center=dc1&tls.ca=/etc/ca.pem
//
// The scheme is cassandra or scylla. All but the hosts may be left out:
//
//	data_center              the local data center
//	consistency              default QUORUM
//	timeout                  of a request, such as 11s
//	connect_timeout          of a connection
//	compression              none, lz4 or snappy
//	protocol                 3, 4 or 5; default the highest
//	tls                      true connects with TLS; implied by the next ones
//	tls.ca, .cert, .key      PEM files, which ParseURI reads
//	tls.server_name          the name in the certificates of the nodes
//	tls.verify               false trusts every certificate
//
// Percent-encode / ? # in a password, and @ in a parameter. Errors are of type *URIError.
func ParseURI(uri string) (*ClusterConfig, error) {
	s, err := clusteruri.Read(uri)
	var e *clusteruri.Error
	if errors.As(err, &e) {
		return nil, &URIError{e.Setting, e.Err}
	}
	cfg := &ClusterConfig{
		Hosts: s.Hosts, Keyspace: s.Keyspace, TLS: s.TLS, Timeout: s.Timeout, ConnectTimeout: s.ConnectTimeout,
		Defaults: Profile{Consistency: s.Consistency}, Protocol: ProtocolConfig{Version: s.Protocol},
	}
	switch s.Compression {
	case "lz4":
		cfg.Compressor = LZ4Compressor{}
	case "snappy":
		cfg.Compressor = SnappyCompressor{}
	}
	if s.Username != "" {
		cfg.Authenticator = PasswordAuthenticator{Username: s.Username, Password: s.Password}
	}
	if s.DataCenter != "" {
		cfg.HostSelectionPolicy = TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: s.DataCenter}}
	}
	return cfg, nil
}

// A setting is a field of the configuration by its name, such as "Throttle.MaxRequests".
type setting struct{ name, value string }

// String returns the effective configuration, defaults included, without secrets. Each line is "Name: value".
func (c ClusterConfig) String() string {
	var b strings.Builder
	for _, s := range c.settings() {
		fmt.Fprintf(&b, "%s: %s\n", s.name, s.value)
	}
	return b.String()
}

// Format implements fmt.Formatter: every verb formats the text of String.
func (c ClusterConfig) Format(f fmt.State, verb rune) {
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), c.String())
}

// LogValue implements slog.LogValuer: a group with an attribute for each line of String.
func (c ClusterConfig) LogValue() slog.Value {
	var attrs []slog.Attr
	for _, s := range c.settings() {
		attrs = append(attrs, slog.String(s.name, s.value))
	}
	return slog.GroupValue(attrs...)
}

// MarshalJSON implements json.Marshaler: an object with a string for each line of String.
func (c ClusterConfig) MarshalJSON() ([]byte, error) {
	object := map[string]string{}
	for _, s := range c.settings() {
		object[s.name] = s.value
	}
	return json.Marshal(object)
}

func (c ClusterConfig) settings() []setting {
	effective, _ := c.withDefaults() // an invalid configuration has a text too
	return appendSettings(nil, "", reflect.ValueOf(effective))
}

// appendSettings appends the fields of a struct of this package. The fields of a struct in it get its name as prefix.
func appendSettings(dst []setting, prefix string, v reflect.Value) []setting {
	for i, field := range reflect.VisibleFields(v.Type()) {
		name, value := prefix+field.Name, v.Field(i)
		profiles, isProfiles := value.Interface().(map[string]Profile)
		switch {
		case isProfiles:
			dst = appendProfiles(dst, name, profiles)
		case value.Kind() == reflect.Struct:
			dst = appendSettings(dst, name+".", value)
		default:
			dst = append(dst, setting{name, settingText(value.Interface())})
		}
	}
	return dst
}

// appendProfiles appends the fields that the profiles set.
func appendProfiles(dst []setting, name string, profiles map[string]Profile) []setting {
	if len(profiles) == 0 {
		return append(dst, setting{name, "none"})
	}
	for _, profile := range slices.Sorted(maps.Keys(profiles)) {
		v := reflect.ValueOf(profiles[profile])
		for i, field := range reflect.VisibleFields(v.Type()) {
			if !v.Field(i).IsZero() {
				dst = append(dst, setting{
					fmt.Sprintf("%s[%q].%s", name, profile, field.Name), settingText(v.Field(i).Interface()),
				})
			}
		}
	}
	return dst
}

// settingText returns the text of one field.
func settingText(value any) string {
	switch v := value.(type) {
	case nil:
		return "none"
	case *tls.Config:
		return tlsText(v)
	case []string:
		return settingText(strings.Join(v, ", "))
	case string:
		if v == "" {
			return "none"
		}
	case cql.Consistency:
		if v == 0 {
			return "none"
		}
	case PasswordAuthenticator, *PasswordAuthenticator:
		return fmt.Sprintf("%T%+v", v, v)
	}
	switch t := reflect.TypeOf(value); {
	case t.Kind() == reflect.Func && reflect.ValueOf(value).IsNil():
		return "none"
	case isBasic(t):
		return fmt.Sprint(value)
	case isPlain(t):
		return fmt.Sprintf("%T%+v", value, reflect.Indirect(reflect.ValueOf(value)))
	default:
		return t.String()
	}
}

// isBasic reports whether a type has neither fields nor references.
func isBasic(t reflect.Type) bool {
	if t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		return isBasic(t.Elem())
	}
	return t.Kind() <= reflect.Complex128 || t.Kind() == reflect.String
}

// isPlain reports whether t is a type of this package, or a pointer to one, whose fields are basic: a policy without
// values of the program.
func isPlain(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.PkgPath() != reflect.TypeFor[ClusterConfig]().PkgPath() {
		return false
	}
	return !slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
		return !f.IsExported() || !isBasic(f.Type)
	})
}

// tlsText summarizes a TLS configuration.
func tlsText(c *tls.Config) string {
	if c == nil {
		return "none"
	}
	verify, roots, name := "true", "system", "of the node"
	if c.InsecureSkipVerify {
		verify = "false"
	}
	if c.RootCAs != nil {
		roots = "own"
	}
	if c.ServerName != "" {
		name = c.ServerName
	}
	version := "default"
	if c.MinVersion != 0 {
		version = tls.VersionName(c.MinVersion)
	}
	return fmt.Sprintf("verify=%s roots=%s name=%q client-certificates=%d min-version=%s",
		verify, roots, name, len(c.Certificates), version)
}

// keyDriverConfig is the option of STARTUP with the configuration of the session, as a JSON object by the schema that
// the drivers of ScyllaDB share (scylladb/gocql, docs/driver-config-schema.json, version 1). ScyllaDB lists it in
// system.clients, Cassandra in system_views.clients.
const keyDriverConfig = "DRIVER_CONFIG"

// maxDriverConfig bounds the option, in bytes, as in ScyllaDB's drivers. A [string] has at most 65,535.
const maxDriverConfig = 32 << 10

// An object is an object of JSON. encoding/json sorts its keys, so that the text of a configuration is always the same.
type object map[string]any

// driverConfig returns the configuration for servers, empty if it is too large. It has neither addresses, names of
// users nor keyspaces, and of a value of the program its type only.
func (c *ClusterConfig) driverConfig() string {
	text, err := json.Marshal(object{
		"version":    1,
		"connection": c.connectionObject(),
		"control-plane": object{
			"queries": object{"system": object{"timeout": object{"client-side-ms": milliseconds(c.ConnectTimeout)}}},
			"schema":  object{"agreement": object{"timeout-ms": milliseconds(c.Schema.MaxWaitAgreement)}},
		},
		"query": c.queryObject(),
	})
	if err != nil || len(text) > maxDriverConfig {
		return ""
	}
	return string(text)
}

// milliseconds returns d in milliseconds, rounded up: the schema has no fractions, and 0 may mean another thing.
func milliseconds(d time.Duration) int64 {
	if d%time.Millisecond > 0 {
		return d.Milliseconds() + 1
	}
	return d.Milliseconds()
}

// connectionObject describes the connections.
func (c *ClusterConfig) connectionObject() object {
	keepAlive := true // the default of package net
	if d, ok := c.Pool.Dialer.(*net.Dialer); ok {
		keepAlive = d.KeepAlive >= 0
	}
	streams := c.Pool.MaxRequestsPerConn
	o := object{
		"connect":      object{"timeout-ms": milliseconds(c.ConnectTimeout)},
		"requests":     object{"in-flight": object{"max": streams}, "orphaned": object{"max": conn.MaxOrphans(streams)}},
		"pool":         object{"shard-aware": object{"enabled": c.usesShardPorts()}},
		"socket":       object{"tcp-no-delay": true, "keep-alive": keepAlive, "reuse-address": false},
		"reconnection": object{"policy": reconnectionObject(c.Pool.ReconnectionPolicy)},
	}
	if c.TLS == nil || c.Pool.HostDialer != nil { // a HostDialer may have TLS of its own
		return o
	}
	verification := object{}
	if own := c.TLS.VerifyConnection != nil || c.TLS.VerifyPeerCertificate != nil; !own || !c.TLS.InsecureSkipVerify {
		verification["hostname-verification"] = !c.TLS.InsecureSkipVerify
	}
	o["tls"] = verification
	return o
}

// policyValue returns a policy, or the struct of this package that it points to. A type of the program stays a pointer:
// its requests may change it meanwhile.
func policyValue(policy any) any {
	own := reflect.TypeFor[TokenAwarePolicy]().PkgPath()
	if v := reflect.ValueOf(policy); v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem().PkgPath() == own {
		return v.Elem().Interface()
	}
	return policy
}

// custom describes a policy of the program by its type.
func custom(policy any) object { return object{"type": "custom", "name": fmt.Sprintf("%T", policy)} }

// reconnectionObject describes a policy, nil if it never retries.
func reconnectionObject(policy ReconnectionPolicy) any {
	var o object
	retries := 0
	switch p := policyValue(policy).(type) {
	case NoReconnectionPolicy:
		return nil
	case ConstantReconnectionPolicy:
		o, retries = object{"type": "constant", "delay-ms": milliseconds(p.GetInterval(0))}, p.MaxRetries
	case ExponentialReconnectionPolicy:
		first, longest := milliseconds(p.GetInterval(0)), milliseconds(p.GetInterval(64))
		o, retries = object{"type": "exponential", "base-ms": first, "max-ms": max(first, longest)}, p.MaxRetries
	default:
		return custom(policy)
	}
	if retries < 0 {
		return nil
	}
	if retries > 0 {
		o["max-attempts"] = retries
	}
	return o
}

// queryObject describes what requests have unless they set it.
func (c *ClusterConfig) queryObject() object {
	p := &c.Defaults
	defaults := object{
		"consistency": p.Consistency.String(), "idempotence": p.Idempotent, "client-timestamps": !p.ServerTimestamps,
		"request": object{"timeout-ms": milliseconds(cmp.Or(p.RequestTimeout, c.Timeout))},
	}
	if p.PageSize > 0 {
		defaults["page"] = object{"size": p.PageSize}
	}
	if p.SerialConsistency != 0 {
		defaults["serial-consistency"] = p.SerialConsistency.String()
	}
	o := object{
		"defaults": defaults, "retry": retryObject(p.RetryPolicy), "load-balancing": balancingObject(c.HostSelectionPolicy),
	}
	switch s := policyValue(p.SpeculativeExecutionPolicy).(type) {
	case nil, NonSpeculativeExecution:
	case SimpleSpeculativeExecution:
		if n := min(s.NumAttempts, maxSpeculative); n > 0 {
			o["speculative-execution"] = object{"policy": object{
				"type": "constant", "max-executions": n, "delay-ms": max(milliseconds(s.TimeoutDelay), 0),
			}}
		}
	default:
		o["speculative-execution"] = object{"policy": custom(p.SpeculativeExecutionPolicy)}
	}
	return o
}

// retryObject describes a policy, and the waits that it makes between attempts.
func retryObject(policy RetryPolicy) object {
	switch p := policyValue(policy).(type) {
	case nil, DefaultRetryPolicy:
		return object{"policy": object{"type": "standard-error-aware", "max-retries": maxAttempts - 1}}
	case SimpleRetryPolicy:
		return object{"policy": object{"type": "simple", "max-retries": max(p.NumRetries, 0)}}
	case DowngradingConsistencyRetryPolicy:
		return object{"policy": object{"type": "downgrading-consistency", "max-retries": len(p.ConsistencyLevelsToTry)}}
	case ExponentialBackoffRetryPolicy:
		o := custom(policy)
		o["max-retries"] = max(p.NumRetries, 0)
		first, longest := p.bounds()
		return object{"policy": o, "backoff": object{
			"type": "exponential", "base-ms": max(milliseconds(min(first, longest)), 1), "max-ms": max(milliseconds(longest), 1),
		}}
	}
	return object{"policy": custom(policy)}
}

// balancingObject describes a policy, and the place that it prefers.
func balancingObject(policy HostSelectionPolicy) object {
	near, failover := policy, true
	o := object{"policy": custom(policy)}
	aware, isTokenAware := policyValue(policy).(TokenAwarePolicy)
	if isTokenAware = isTokenAware || policy == nil; isTokenAware {
		near = aware.fallback()
	}
	switch p := policyValue(near).(type) {
	case RoundRobinPolicy:
	case DCAwarePolicy:
		failover = !p.NoFailover
		o["node-preference"] = object{"type": "dc", "local-dc": p.DataCenter}
	case RackAwarePolicy:
		failover = !p.NoFailover
		o["node-preference"] = object{"type": "rack", "local-dc": p.DataCenter, "local-rack": p.Rack}
	default:
		return o // a type of the program decides
	}
	if isTokenAware {
		o["policy"] = tokenAwareObject(&aware, failover)
	}
	return o
}

// tokenAwareObject describes the order of nodes. Silent ones are always last.
func tokenAwareObject(p *TokenAwarePolicy, failover bool) object {
	distribution, signals := "shuffle", []string{"recovery-state"}
	if p.KeepOrder {
		distribution = "replica-set"
	}
	if p.MaxInFlight > 0 {
		signals = append(signals, "in-flight-requests")
	}
	return object{
		"type": "token-aware", "load-distribution": distribution, "fallback-to-non-preferred-nodes": failover,
		"adaptive-ordering": object{"signals": signals},
	}
}

// usesShardPorts reports whether the session dials ScyllaDB's shard-aware port where a node has one.
func (c *ClusterConfig) usesShardPorts() bool {
	return !c.Pool.DisableShardAwarePort && choosesPorts(c.dialerOf(nil))
}
