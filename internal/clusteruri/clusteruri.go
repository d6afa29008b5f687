// SPDX-License-Identifier: Apache-2.0

// Package clusteruri makes the configuration of a session from a URI, for the drivers of other interfaces:
//
//	cassandra://user:password@host1:9042,host2/keyspace?data_center=dc1&tls.ca=/etc/ca.pem
//
// Its [TLS] reads the files of certificates for the flags of the command, too.
package clusteruri

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// The names of the settings that a URI has before its parameters.
const (
	ContactPoints = "contact_points" // host[:port],...
	Username      = "username"
	Password      = "password"
	Keyspace      = "keyspace"
)

// A Setting is the definition of a setting. Check returns an error for an invalid value; nil accepts all.
type Setting struct {
	Default string
	Check   func(value string) error
}

// Parameters returns the settings that are parameters of a URI, by name. ContactPoints as a parameter replaces the
// hosts.
func Parameters() map[string]Setting { return maps.Clone(parameters) }

var parameters = map[string]Setting{
	ContactPoints:     {"", nil},
	"tls":             {"false", isBool}, // implied by the next ones
	"tls.ca":          {"", nil},         // PEM files
	"tls.cert":        {"", nil},
	"tls.key":         {"", nil},
	"tls.server_name": {"", nil}, // in the certificates of the nodes
	"tls.verify":      {"true", isBool},
	"data_center":     {"", nil},
	"consistency":     {"QUORUM", isConsistency},
	"timeout":         {"11s", isTime},
	"connect_timeout": {"11s", isTime},
	"compression":     {"none", OneOf("none", "lz4", "snappy")},
	"protocol":        {"0", OneOf("0", "3", "4", "5")}, // 0 means the highest
}

func isBool(value string) error { return OneOf("true", "false")(value) }

func isTime(value string) error {
	if d, err := time.ParseDuration(value); err != nil || d <= 0 {
		return errors.New("want a time such as 500ms or 11s")
	}
	return nil
}

func isConsistency(value string) error {
	_, err := cql.ParseConsistency(value)
	return err
}

// OneOf returns a check that accepts some values.
func OneOf(values ...string) func(string) error {
	return func(value string) error {
		if slices.Contains(values, value) {
			return nil
		}
		return fmt.Errorf("want one of %q", values)
	}
}

// Parse returns the settings that a URI has, by name. It checks neither the names of parameters nor values. The last of
// several parameters of one name applies. Errors do not contain the URI, which may have a password.
func Parse(text string) (map[string]string, error) {
	u, err := parse(text)
	if err != nil {
		return nil, err
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("the parameters of the uri cannot be parsed")
	}
	found := map[string]string{
		ContactPoints: u.Host, Username: u.User.Username(), Keyspace: strings.Trim(u.Path, "/"),
	}
	found[Password], _ = u.User.Password()
	for name, values := range query {
		if name == Username || name == Password || name == Keyspace {
			return nil, fmt.Errorf("the uri has the parameter %s: want scheme://user:password@host/keyspace", name)
		}
		found[name] = values[len(values)-1]
	}
	maps.DeleteFunc(found, func(_, value string) bool { return value == "" })
	return found, nil
}

// parse parses a URI. Package net/url refuses ports in lists of hosts, so that the hosts are cut out first.
func parse(text string) (*url.URL, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme != "cassandra" && scheme != "scylla" {
		return nil, errors.New("the uri does not begin with cassandra:// or scylla://")
	}
	authority, path := rest, ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	hosts := authority[strings.LastIndex(authority, "@")+1:]
	user := strings.TrimSuffix(authority, hosts)
	u, err := url.Parse(scheme + "://" + user + "host" + path)
	if err != nil {
		return nil, errors.New("the uri cannot be parsed")
	}
	u.Host = hosts
	return u, nil
}

// Check returns an error for a setting of Parse that is unknown or whose value is invalid. The errors of unknown names
// list the parameters.
func Check(settings map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		s, ok := parameters[name]
		switch {
		case name == Username || name == Password || name == Keyspace:
		case !ok:
			return fmt.Errorf("unknown parameter %q of the uri: want one of %q", name, slices.Sorted(maps.Keys(parameters)))
		case s.Check != nil:
			if err := s.Check(settings[name]); err != nil {
				return fmt.Errorf("the parameter %s of the uri is %q: %w", name, settings[name], err)
			}
		}
	}
	return nil
}

// Config returns the configuration of a session. get returns the value of a setting, which Check accepts, or "" for its
// default. The error names the setting.
func Config(get func(name string) string) (*vecql.ClusterConfig, error) {
	value := func(name string) string {
		if v := get(name); v != "" {
			return v
		}
		return parameters[name].Default
	}
	hosts := strings.Split(value(ContactPoints), ",")
	if slices.Contains(hosts, "") {
		return nil, fmt.Errorf("a contact point of %q has no name: want host[:port],host[:port]", value(ContactPoints))
	}
	cfg := &vecql.ClusterConfig{Hosts: hosts}
	cfg.Keyspace = value(Keyspace)
	cfg.Defaults.Consistency, _ = cql.ParseConsistency(value("consistency")) // the values are checked
	cfg.Timeout, _ = time.ParseDuration(value("timeout"))
	cfg.ConnectTimeout, _ = time.ParseDuration(value("connect_timeout"))
	cfg.Protocol.Version, _ = strconv.Atoi(value("protocol"))
	switch value("compression") {
	case "lz4":
		cfg.Compressor = vecql.LZ4Compressor{}
	case "snappy":
		cfg.Compressor = vecql.SnappyCompressor{}
	}
	if user := value(Username); user != "" {
		cfg.Authenticator = vecql.PasswordAuthenticator{Username: user, Password: value(Password)}
	}
	if name := value("data_center"); name != "" {
		cfg.HostSelectionPolicy = vecql.TokenAwarePolicy{Fallback: vecql.DCAwarePolicy{DataCenter: name}}
	}
	var err error
	cfg.TLS, err = tlsConfig(value)
	return cfg, err
}

// tlsConfig returns the configuration of TLS, nil for connections without TLS.
func tlsConfig(value func(name string) string) (*tls.Config, error) {
	t := TLS{
		CA: value("tls.ca"), Cert: value("tls.cert"), Key: value("tls.key"),
		ServerName: value("tls.server_name"), Insecure: value("tls.verify") == "false",
	}
	if value("tls") == "false" && t == (TLS{}) {
		return nil, nil
	}
	return t.Config("tls.")
}

// A TLS has the settings of connections with TLS, whose files are PEM files.
type TLS struct {
	CA         string // authorities of the nodes; default the system's
	Cert, Key  string // of the client
	ServerName string // in the certificates of the nodes; default the contact point
	Insecure   bool   // trusts every certificate
}

// Config returns the configuration of package tls. Errors name the setting of a file, which is prefix with ca, cert or
// key.
func (t TLS) Config(prefix string) (*tls.Config, error) {
	cfg := &tls.Config{ServerName: t.ServerName, InsecureSkipVerify: t.Insecure}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		cfg.RootCAs = x509.NewCertPool()
		if err == nil && !cfg.RootCAs.AppendCertsFromPEM(pem) {
			err = fmt.Errorf("%s has no certificate in PEM form", t.CA)
		}
		if err != nil {
			return nil, fmt.Errorf("%sca: %w", prefix, err)
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, fmt.Errorf("%[1]scert and %[1]skey belong together: one of them is missing", prefix)
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("%[1]scert and %[1]skey: %[2]w", prefix, err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}
