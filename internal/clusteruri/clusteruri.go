// SPDX-License-Identifier: Apache-2.0

// Package clusteruri reads the URI of a cluster, which is the same for vecql.ParseURI, the command and the drivers of
// other interfaces:
//
//	cassandra://user:password@host1:9042,host2/keyspace?data_center=dc1&tls.ca=/etc/ca.pem
//
// A text of settings has three forms: the URI, the settings by name ([Parse], [Format]), and their values ([Read]).
// [TLS] reads the files of certificates for the flags of the command, too.
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

	"github.com/vecql/vecql/cql"
)

// An Error means that a URI or one of its settings is not valid. It has neither the URI nor the password.
type Error struct {
	Setting string // empty for the URI as a whole
	Err     error
}

func (e *Error) Error() string {
	if e.Setting == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("the setting %s of the uri: %v", e.Setting, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// fault returns an Error with a text.
func fault(setting, format string, args ...any) error {
	return &Error{setting, fmt.Errorf(format, args...)}
}

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
// several parameters of one name applies. Errors are of type *Error.
func Parse(text string) (map[string]string, error) {
	u, err := parse(text)
	if err != nil {
		return nil, err
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, fault("", "the parameters of the uri cannot be parsed")
	}
	found := map[string]string{
		ContactPoints: u.Host, Username: u.User.Username(), Keyspace: strings.Trim(u.Path, "/"),
	}
	found[Password], _ = u.User.Password()
	for name, values := range query {
		if name == Username || name == Password || name == Keyspace {
			return nil, fault("", "the uri has the parameter %s: want scheme://user:password@host/keyspace", name)
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
		return nil, fault("", "the uri does not begin with cassandra:// or scylla://")
	}
	authority, path := rest, ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	hosts := authority[strings.LastIndex(authority, "@")+1:]
	user := strings.TrimSuffix(authority, hosts)
	if strings.Contains(rest, "#") || strings.Contains(path, "@") { // or a part of a password would be something else
		return nil, fault("", "the uri has a # or, after the hosts, an @: write # / ? @ of a password or a value as %%23 %%2F %%3F %%40")
	}
	u, err := url.Parse(scheme + "://" + user + "host" + path)
	if err != nil {
		return nil, fault("", "the uri cannot be parsed")
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
		case name == ContactPoints:
			if err := checkHosts(settings[name]); err != nil {
				return &Error{name, err}
			}
		case !ok:
			return fault(name, "there is no such setting: want one of %q", slices.Sorted(maps.Keys(parameters)))
		case s.Check != nil:
			if err := s.Check(settings[name]); err != nil {
				return fault(name, "%q: %w", settings[name], err)
			}
		}
	}
	return nil
}

// Format returns a URI with settings: [Parse] returns them again.
func Format(settings map[string]string) string {
	query := url.Values{}
	for name, value := range settings {
		if name != Username && name != Password && name != Keyspace {
			query.Set(name, value)
		}
	}
	user := url.UserPassword(settings[Username], settings[Password]).String()
	path := strings.ReplaceAll(url.PathEscape(settings[Keyspace]), "@", "%40")
	return "cassandra://" + user + "@/" + path + "?" + query.Encode()
}

// Settings are the values of settings.
type Settings struct {
	Hosts                   []string // host or host:port
	Username, Password      string
	Keyspace, DataCenter    string // empty for none
	Consistency             cql.Consistency
	Timeout, ConnectTimeout time.Duration
	Compression             string      // none, lz4 or snappy
	Protocol                int         // 0 means the highest
	TLS                     *tls.Config // nil means none
}

// Read returns the values of a URI's settings, and reads the files of certificates. Errors are of type *Error.
func Read(text string) (*Settings, error) {
	settings, err := Parse(text)
	if err == nil {
		err = Check(settings)
	}
	if err != nil {
		return nil, err
	}
	value := func(name string) string {
		if v := settings[name]; v != "" {
			return v
		}
		return parameters[name].Default
	}
	s := &Settings{
		Username: value(Username), Password: value(Password), Keyspace: value(Keyspace), DataCenter: value("data_center"),
		Compression: value("compression"),
	}
	s.Consistency, _ = cql.ParseConsistency(value("consistency")) // the values are checked
	s.Timeout, _ = time.ParseDuration(value("timeout"))
	s.ConnectTimeout, _ = time.ParseDuration(value("connect_timeout"))
	s.Protocol, _ = strconv.Atoi(value("protocol"))
	if s.Hosts = strings.Split(value(ContactPoints), ","); s.Hosts[0] == "" {
		return nil, &Error{ContactPoints, errNoName}
	}
	if s.Username == "" && s.Password != "" {
		return nil, &Error{Username, errors.New("there is a password without a user name")}
	}
	s.TLS, err = tlsConfig(value)
	return s, err
}

// errNoName means that a contact point is empty, or that there is none.
var errNoName = errors.New("a contact point has no name: want host[:port],host[:port]")

// checkHosts returns an error for a list of contact points. The error leaves them out: in a URI without an @ the
// password stands in the place of a port.
func checkHosts(list string) error {
	for host := range strings.SplitSeq(list, ",") {
		name, port, found := strings.Cut(host, ":")
		if strings.Contains(port, ":") { // an address of IPv6
			continue
		}
		if name == "" {
			return errNoName
		}
		if n, err := strconv.Atoi(port); found && (err != nil || n < 1 || n >= 1<<16) {
			return errors.New("the port of a contact point is not a number: want user:password@host[:port],host[:port]")
		}
	}
	return nil
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
	cfg, err := t.Config("tls.")
	if err != nil {
		return nil, &Error{"tls", err}
	}
	return cfg, nil
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
