// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/soak"
)

// Texts of configurations.

const secret = "correct horse"

// secretive is an Authenticator of the program.
type secretive struct {
	PasswordAuthenticator

	Token string
}

// textsOf returns v in every form of packages fmt, slog and json. It leaves out the verbs p and w, which are for
// addresses and errors: package fmt calls no method for them, and vet refuses them for other values.
func textsOf(t *testing.T, v any) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, flags := range []string{"", "+", "#", "-40", "+#", "0", " "} {
		for verb := 'A'; verb <= 'z'; verb++ {
			if (verb <= 'Z' || verb >= 'a') && verb != 'p' && verb != 'w' {
				format := "%" + flags + string(verb)
				texts[format] = fmt.Sprintf(format, v)
			}
		}
	}
	var text, object bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("config", "config", v)
	slog.New(slog.NewJSONHandler(&object, nil)).Info("config", "config", v)
	texts["slog text"], texts["slog JSON"] = text.String(), object.String()
	if b, err := json.Marshal(v); err == nil {
		texts["JSON"] = string(b)
	}
	return texts
}

func TestNoTextHasASecret(t *testing.T) {
	soak.NoRace(t)
	password := PasswordAuthenticator{Username: "cassandra", Password: secret}
	cfg := &ClusterConfig{Hosts: []string{"127.0.0.1"}}
	cfg.Authenticator = password
	other := *cfg
	other.Authenticator = &secretive{password, secret}
	certificate := *cfg
	certificate.TLS = &tls.Config{Certificates: []tls.Certificate{{PrivateKey: []byte(secret)}}}
	session := sessionOn(newSocketCluster(t, frame.V5, 1), func(c *ClusterConfig) { c.Authenticator = password })
	for name, v := range map[string]any{
		"password": password, "its address": &password, "in a slice": []PasswordAuthenticator{password},
		"in a map": map[string]cql.Authenticator{"a": password}, "in a struct": struct{ Auth cql.Authenticator }{password},
		"config": *cfg, "its pointer": cfg, "config in a struct": struct{ Config ClusterConfig }{*cfg},
		"an Authenticator of the program": other, "TLS": certificate,
		"session": session, "query": session.Query("SELECT"), "batch": session.Batch(cql.LoggedBatch),
	} {
		for form, text := range textsOf(t, v) {
			require.NotContains(t, text, secret, "%s as %s", name, form)
			require.NotContains(t, strings.ToLower(text), hex.EncodeToString([]byte(secret)), "%s as %s", name, form)
			require.NotContains(t, text, fmt.Sprint([]byte(secret)), "%s as %s", name, form)
		}
	}
	require.Equal(t, "{Username:cassandra Password:*** AllowedAuthenticators:[]}", password.String())
	require.Equal(t, "{Username:cassandra Password: AllowedAuthenticators:[]}", PasswordAuthenticator{Username: "cassandra"}.String())
}

// settingNames appends the names of the fields of t, which String must list.
func settingNames(dst []string, prefix string, t reflect.Type) []string {
	for _, f := range reflect.VisibleFields(t) {
		if f.Type.Kind() == reflect.Struct {
			dst = settingNames(dst, prefix+f.Name+".", f.Type)
		} else {
			dst = append(dst, prefix+f.Name)
		}
	}
	return dst
}

// dialerOfProgram is a Dialer with a field that must not be shown.
type dialerOfProgram struct{ token string }

func (dialerOfProgram) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, nil
}

func TestConfigString(t *testing.T) {
	cfg := ClusterConfig{
		Hosts: []string{"a", "b:9043"}, Keyspace: "shop", Authenticator: PasswordAuthenticator{Username: "u", Password: "p"},
		TLS:                 &tls.Config{MinVersion: tls.VersionTLS13, ServerName: "db", InsecureSkipVerify: true}, //nolint:gosec // not used
		Defaults:            Profile{RetryPolicy: SimpleRetryPolicy{NumRetries: 3}},
		Pool:                PoolConfig{Dialer: dialerOfProgram{secret}},
		HostSelectionPolicy: DCAwarePolicy{DataCenter: "dc1"},
		Limits:              LimitsConfig{Throttle: Throttle{MaxRequests: 7}},
		Profiles:            map[string]Profile{"slow": {RequestTimeout: time.Minute, Consistency: cql.All}, "fast": {PageSize: 10}},
		Port:                -1, // invalid
		ConnectTimeout:      3 * time.Second,
	}
	cfg.Defaults.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: 1, TimeoutDelay: 50 * time.Millisecond}
	got := map[string]string{}
	var names []string
	for _, line := range strings.Split(strings.TrimSpace(cfg.String()), "\n") {
		name, value, ok := strings.Cut(line, ": ")
		require.True(t, ok, line)
		require.NotContains(t, got, name)
		got[name] = value
		if !strings.HasPrefix(name, "Profiles[") {
			names = append(names, name)
		}
	}
	want := settingNames(nil, "", reflect.TypeFor[ClusterConfig]())
	require.Subset(t, append(names, "Profiles"), want, "each field has a line")
	for name, value := range map[string]string{
		"Hosts": "a, b:9043", "Keyspace": "shop", "Port": "-1", "Timeout": "11s", "ConnectTimeout": "3s",
		"Authenticator":               "vecql.PasswordAuthenticator{Username:u Password:*** AllowedAuthenticators:[]}",
		"TLS":                         `verify=false roots=system name="db" client-certificates=0 min-version=TLS 1.3`,
		"Defaults.Consistency":        "QUORUM",
		"Defaults.SerialConsistency":  "none",
		"Compressor":                  "none",
		"Defaults.RetryPolicy":        "vecql.SimpleRetryPolicy{NumRetries:3}",
		"HostSelectionPolicy":         "vecql.DCAwarePolicy{DataCenter:dc1 NoFailover:false}",
		"Pool.ReconnectionPolicy":     "vecql.ExponentialReconnectionPolicy" + fmt.Sprintf("%+v", ExponentialReconnectionPolicy{}),
		"Pool.Dialer":                 "vecql.dialerOfProgram",
		"Logger":                      "*slog.Logger",
		"Schema.Metadata":             settingText(MetadataFull),
		"Limits.Throttle.MaxRequests": "7", `Profiles["slow"].RequestTimeout`: "1m0s", `Profiles["slow"].Consistency`: "ALL",
		`Profiles["fast"].PageSize`:           "10",
		"Defaults.SpeculativeExecutionPolicy": "*vecql.SimpleSpeculativeExecution{NumAttempts:1 TimeoutDelay:50ms}",
		"Pool.ShardAwareLocalPorts":           "[49152 65535]",
	} {
		require.Equal(t, value, got[name], name)
	}
	require.NotContains(t, got, `Profiles["fast"].Consistency`)
	b, err := json.Marshal(&cfg)
	require.NoError(t, err)
	object := map[string]string{}
	require.NoError(t, json.Unmarshal(b, &object))
	require.Equal(t, got, object)
	require.Equal(t, cfg.String(), fmt.Sprintf("%v", &cfg))
	require.Equal(t, "none", settingText((*tls.Config)(nil)))
}

// TestPolicyValue: the policy of a program is not copied, because requests may change it meanwhile.
func TestPolicyValue(t *testing.T) {
	own := &bytes.Buffer{}
	require.Same(t, own, policyValue(own))
	require.Equal(t, RoundRobinPolicy{}, policyValue(&RoundRobinPolicy{}))
	require.Equal(t, (*RoundRobinPolicy)(nil), policyValue((*RoundRobinPolicy)(nil)))
	require.Nil(t, policyValue(nil))
}
