// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-adbc/go/adbc"

	"github.com/vecql/vecql"
)

// The configuration of a session from the options of a database.

// applyURI sets the options that a URI has. Options that were set already win.
func applyURI(o *optionSet, text string) error {
	u, err := parseURI(text)
	if err != nil {
		return err
	}
	found := map[string]string{optionContactPoints: u.Host, adbc.OptionKeyUsername: u.User.Username()}
	found[adbc.OptionKeyPassword], _ = u.User.Password()
	found[adbc.OptionKeyCurrentDbSchema] = strings.Trim(u.Path, "/")
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return failed(adbc.StatusInvalidArgument, "the parameters of the uri: %v", err)
	}
	for key, values := range query {
		name := "vecql." + key
		if _, ok := options[name]; !ok {
			return failed(adbc.StatusInvalidArgument, "unknown parameter %q of the uri", key)
		}
		found[name] = values[len(values)-1]
	}
	for key, value := range found {
		if _, set := o.values[key]; set || value == "" {
			continue
		}
		if err := o.SetOption(key, value); err != nil {
			return err
		}
	}
	return nil
}

// parseURI parses the URI of a database. Package net/url refuses ports in lists of hosts, so that the hosts are cut out
// first. Errors do not contain the URI, which may have a password.
func parseURI(text string) (*url.URL, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme != "cassandra" && scheme != "scylla" {
		return nil, failed(adbc.StatusInvalidArgument, "the uri does not begin with cassandra:// or scylla://")
	}
	authority, path := rest, ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	hosts := authority[strings.LastIndex(authority, "@")+1:]
	user := strings.TrimSuffix(authority, hosts)
	u, err := url.Parse(scheme + "://" + user + "host" + path)
	if err != nil {
		return nil, failed(adbc.StatusInvalidArgument, "the uri cannot be parsed")
	}
	u.Host = hosts
	return u, nil
}

// clusterConfig returns the configuration of a session with a keyspace.
func clusterConfig(o *optionSet, keyspace string) (*vecql.ClusterConfig, error) {
	hosts := strings.Split(o.get(optionContactPoints), ",")
	if hosts[0] == "" {
		return nil, failed(adbc.StatusInvalidArgument, "no contact points: set the option uri or %s", optionContactPoints)
	}
	cfg := vecql.NewCluster(hosts...)
	cfg.Keyspace = keyspace
	cfg.ApplicationInfo = vecql.ApplicationInfo{ApplicationName: "adbcvecql"}
	cfg.Consistency, _ = vecql.ParseConsistency(o.get(optionConsistency)) // SetOption has checked the values
	cfg.Timeout, _ = time.ParseDuration(o.get(optionTimeout))
	cfg.ConnectTimeout, _ = time.ParseDuration(o.get(optionConnectTimeout))
	cfg.ProtoVersion, _ = strconv.Atoi(o.get(optionProtocol))
	switch o.get(optionCompression) {
	case "lz4":
		cfg.Compressor = vecql.LZ4Compressor{}
	case "snappy":
		cfg.Compressor = vecql.SnappyCompressor{}
	}
	if user := o.get(adbc.OptionKeyUsername); user != "" {
		cfg.Authenticator = vecql.PasswordAuthenticator{Username: user, Password: o.get(adbc.OptionKeyPassword)}
	}
	if name := o.get(optionDataCenter); name != "" {
		cfg.PoolConfig.HostSelectionPolicy = vecql.TokenAwareHostPolicy(vecql.DCAwareRoundRobinPolicy(name))
	}
	var err error
	cfg.TLS, err = tlsConfig(o)
	return cfg, err
}

// tlsConfig returns the configuration of TLS, nil for connections without TLS.
func tlsConfig(o *optionSet) (*tls.Config, error) {
	ca, cert, key, name := o.get(optionCA), o.get(optionCert), o.get(optionKey), o.get(optionServerName)
	verify := o.get(optionVerify) == "true"
	if o.get(optionTLS) == "false" && verify && ca+cert+key+name == "" {
		return nil, nil
	}
	cfg := &tls.Config{ServerName: name, InsecureSkipVerify: !verify}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		cfg.RootCAs = x509.NewCertPool()
		if err == nil && !cfg.RootCAs.AppendCertsFromPEM(pem) {
			err = fmt.Errorf("%s has no certificate in PEM form", ca)
		}
		if err != nil {
			return nil, failed(adbc.StatusInvalidArgument, "option %s: %v", optionCA, err)
		}
	}
	if cert+key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, failed(adbc.StatusInvalidArgument, "options %s and %s: %v", optionCert, optionKey, err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}
